// Memory of one thread that decodes with a QuantizedModel.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "islands.h"
#include "keys.h"
#include "large.h"
#include "quantized_rows.h"
#include "scattered_templates.h"
#include "second_order.h"
#include "token_decoder.h"
#include "viterbi.h"

namespace seqtag {

// Asks for the memory of all rows before it waits for that of any: they lie far from each other.
template <class Sum> class WantedRows {
 public:
  void want(const QuantizedRows& rows, uint64_t key, Sum* acc) {
    rows.prefetch_slot(key);
    wanted_.push_back({key, acc, QuantizedRows::kNone});
  }
  void add_all(const QuantizedRows& rows) {
    for (Wanted& w : wanted_) rows.prefetch_whole_row(w.place = rows.candidate(w.key));
    for (const Wanted& w : wanted_)
      if (w.place != QuantizedRows::kNone) rows.add(w.acc, w.key, w.place);
    wanted_.clear();
  }

 private:
  struct Wanted {
    uint64_t key;
    Sum* acc;
    uint32_t place;
  };
  std::vector<Wanted> wanted_;
};

// The memory of one thread, and the sums of local templates per type: bound to one numbering of the
// types (an Encoder of encoder.py). Types beyond the
// `capacity` of a column are summed again each time.
template <class Sum> struct DecoderWorkspace {
  DecoderWorkspace() = default;
  DecoderWorkspace(DecoderWorkspace&&) = default;
  DecoderWorkspace& operator=(DecoderWorkspace&&) = default;
  ~DecoderWorkspace() { end.was_much = bytes() >= size_t(4) << 20; }
  struct End {
    bool was_much = false;
    ~End() {
      if (was_much) give_back_memory();
    }
  };
  End end;  // first, so that it ends last
  struct TypeSums {
    size_t capacity = 0;        // types that are held at most
    size_t count = 0;           // rows that are set
    size_t width = 0;           // of each
    UnsetMemory<Sum> rows;      // (types + 3, width of the columns); 0, 1: beyond the ends; last: zeros
    std::vector<bool> known;    // per type: whether its row is set; bits, as they are read in any order
    Tuples tuples;              // if there are several columns: their types together
    std::vector<size_t> place;  // of the tuple at each token
  };
  std::vector<TypeSums> sums;        // per column, or columns, that local templates look at
  WantedRows<Sum> wanted;            // of the types of a block that are new
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
  std::vector<uint32_t> places;            // where in the sums of a column those of a token's type are
  std::vector<Sum> sum;                    // of rows: (T, width of a row)
  int64_t origin = 0;                      // token to which the first row belongs
  std::vector<uint16_t> allowed, of_word;  // labels that a token may have
  std::vector<float> parts, emission;      // scores of one token's parts; of labels (T, chain stride)
  Viterbi<float> decoder;
  Islands::Workspace islands;
  SecondOrderViterbi<float> second;
  TokenWorkspace<Sum> tokens;  // of a TokenDecoder

  // Bytes of sums, and of what numbers them.
  size_t bytes() const {
    size_t total = tokens.bytes();
    for (const TypeSums& each : sums)
      total += each.count * each.width * sizeof(Sum) + each.known.size() / 8 + each.tuples.bytes();
    return total;
  }
};

}  // namespace seqtag
