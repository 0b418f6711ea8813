// What one thread needs to tag with a frozen model. frozen.h: Frozen.
#pragma once
#include <cstdint>
#include <vector>

#include "large.h"
#include "scattered.h"
#include "second_order.h"
#include "tuples.h"
#include "viterbi.h"
#include "wanted_rows.h"

namespace seqtag {

struct Favourite {  // the label that a token's own features score highest, and by how much
  int32_t label, lead;
};

// The memory of one thread, and the sums of local templates per type: bound to one numbering of the
// types (an Encoder of encoder.py). Types beyond `capacity` are summed anew each time.
template <class Sum> struct FrozenWorkspace {
  struct TypeSums {
    LargeVector<Sum> rows;        // (types + 3, width of the columns); 0, 1: beyond the ends; last: zeros
    std::vector<uint8_t> known;   // per type
    std::vector<Sum> highest;     // if favourites count: of each row
    std::vector<int32_t> spread;  // from its lowest to its highest
    std::vector<Favourite> favourites;
    Tuples tuples;              // if there are several columns: what stands for a type
    std::vector<size_t> place;  // of the tuple at each token
  };
  std::vector<TypeSums> sums;  // per column, or columns, that local templates look at
  size_t capacity = 0;
  WantedRows<Sum> wanted;            // of the types of a block that are new
  std::vector<size_t> fresh;         // where the sums of those types are
  std::vector<const Sum*> local;     // rows of one token
  std::vector<Sum> nothing;          // a row of zeros
  std::vector<uint64_t> hashes;      // what ScatteredTemplates works with
  ScatteredTemplates::Keys keys[2];  // of this block of tokens and the next
  std::vector<uint64_t> edge_keys;
  struct Found {
    uint64_t key;
    uint32_t place, token;  // of the block
  };
  std::vector<Found> found;
  std::vector<Favourite> favourites;   // of the tokens of a block
  std::vector<uint32_t> places;        // where in the sums of a column those of a token's type are
  std::vector<Sum> sum;                // of rows: (T, width of a row)
  int64_t origin = 0;                  // token to which the first row belongs
  std::vector<float> parts, emission;  // scores of one token's parts; of labels (T, chain stride)
  Decoder<float> decoder;
  SecondOrderDecoder<float> second;
};

}  // namespace seqtag
