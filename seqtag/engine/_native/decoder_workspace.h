// Memory of one thread that decodes with a QuantizedModel.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "keys.h"
#include "large.h"
#include "quantized_rows.h"
#include "scattered_templates.h"
#include "second_order.h"
#include "secret.h"
#include "viterbi.h"

namespace seqtag {

// Numbers of tuples of types, in the order in which they come.
class Tuples {
 public:
  // The number of the types that some columns have at token m; `most` if it is new and there are
  // so many already.
  size_t number(const Columns& x, const std::vector<int32_t>& columns, int64_t m, size_t most) {
    const size_t C = columns.size();
    if (slots_.size() < 2 * (count_ + 1)) grow(C);
    at_.resize(C);
    for (size_t i = 0; i < C; ++i) at_[i] = x.types[size_t(columns[i]) * x.tokens + size_t(m)];
    size_t slot = home(at_.data(), C);
    for (; slots_[slot]; slot = (slot + 1) & (slots_.size() - 1))
      if (std::equal(at_.begin(), at_.end(), &types_[(slots_[slot] - 1) * C])) return slots_[slot] - 1;
    if (count_ >= most) return most;
    types_.insert(types_.end(), at_.begin(), at_.end());
    slots_[slot] = uint32_t(++count_);
    return count_ - 1;
  }

 private:
  std::vector<uint32_t> slots_;  // number + 1, or 0
  std::vector<int32_t> types_, at_;
  size_t count_ = 0;
  Secret secret_ = process_secret();
  size_t home(const int32_t* types, size_t C) const {
    uint64_t h = 0;
    for (size_t i = 0; i < C; ++i) h = secret_.mixed(h + uint64_t(uint32_t(types[i])) + 1);
    return size_t(h) & (slots_.size() - 1);
  }
  void grow(size_t C) {
    slots_.assign(std::max<size_t>(1024, 2 * slots_.size()), 0);
    for (size_t n = 0; n < count_; ++n) {
      size_t slot = home(&types_[n * C], C);
      while (slots_[slot]) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = uint32_t(n + 1);
    }
  }
};

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

struct Favorite {  // the label that a token's own features score highest, and by how much
  int32_t label, lead;
};

// The memory of one thread, and the sums of local templates per type: bound to one numbering of the
// types (an Encoder of encoder.py). Types beyond the
// `capacity` of a column are summed again each time.
template <class Sum> struct DecoderWorkspace {
  DecoderWorkspace() = default;
  DecoderWorkspace(DecoderWorkspace&&) = default;
  DecoderWorkspace& operator=(DecoderWorkspace&&) = default;
  struct TypeSums {
    size_t capacity = 0;          // types that are held at most
    UnsetMemory<Sum> rows;        // (types + 3, width of the columns); 0, 1: beyond the ends; last: zeros
    std::vector<uint8_t> known;   // per type: whether its row is set
    std::vector<Sum> highest;     // if favorites count: of each row
    std::vector<int32_t> spread;  // from its lowest to its highest
    std::vector<Favorite> favorites;
    Tuples tuples;              // if there are several columns: their types together
    std::vector<size_t> place;  // of the tuple at each token
  };
  std::vector<TypeSums> sums;        // per column, or columns, that local templates look at
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
  std::vector<Favorite> favorites;         // of the tokens of a block
  std::vector<uint32_t> places;            // where in the sums of a column those of a token's type are
  std::vector<Sum> sum;                    // of rows: (T, width of a row)
  int64_t origin = 0;                      // token to which the first row belongs
  std::vector<uint16_t> allowed, of_word;  // labels that a token may have
  std::vector<float> parts, emission;      // scores of one token's parts; of labels (T, chain stride)
  Viterbi<float> decoder;
  SecondOrderViterbi<float> second;
};

}  // namespace seqtag
