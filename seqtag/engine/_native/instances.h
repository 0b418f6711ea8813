// What training reads. arrays.py: Instances.
#pragma once
#include <cstddef>
#include <cstdint>

namespace seqtag {

// Rows that follow from the type at one position, and runs of templates. arrays.py: LocalRows.
struct LocalRows {
  struct Run {
    int64_t column, offset, width, first;
  };
  const int32_t* types = nullptr;
  size_t tokens = 0;
  const int64_t* sentence_ptr = nullptr;
  size_t sentences = 0;
  const Run* runs = nullptr;
  size_t count = 0, stored = 0;  // runs, and those among them whose rows are stored token by token
  const int32_t* rows = nullptr;
  const uint8_t* numbers = nullptr;  // the stored rows, `bytes` each, and a byte more
  size_t bytes = 4;
  uint32_t absent() const { return uint32_t(-1) >> (8 * (4 - bytes)); }
  uint32_t number(const uint8_t* at) const {
    const uint32_t low = at[0] | uint32_t(at[1]) << 8 | uint32_t(at[2]) << 16 | uint32_t(at[3]) << 24;
    return low & absent();
  }
  const uint8_t* of_token(int64_t token) const { return numbers + size_t(token) * stored * bytes; }
};

// A corpus as nested ragged arrays. arrays.py: Instances.
template <class Real> struct Instances {
  const int64_t *sentence_ptr, *token_ptr;
  const int32_t* features;
  const Real* values;       // or null: all 1
  const int64_t* edge_ptr;  // or null: no label bigrams conjoined with observations
  const int32_t* edges;
  size_t sentences;
  bool dense;                       // every token has all features: `features` holds them once
  LocalRows local = {};             // if it has runs, they are all that a token has
  const int32_t* set_of = nullptr;  // or null: every token may have any label; else its set, -1: any
  const int64_t* set_ptr = nullptr;
  const int32_t* set_labels = nullptr;
  int32_t row(int64_t k, int64_t token) const { return features[dense ? k - token_ptr[token] : k]; }
};

}  // namespace seqtag
