// What training reads. arrays.py: Instances.
#pragma once
#include <cstddef>
#include <cstdint>

namespace seqtag {

// A corpus as nested ragged arrays. arrays.py: Instances.
template <class Real> struct Instances {
  const int64_t *sentence_ptr, *token_ptr;
  const int32_t* features;
  const Real* values;       // or null: all 1
  const int64_t* edge_ptr;  // or null: no label bigrams conjoined with observations
  const int32_t* edges;
  size_t sentences;
  bool dense;                           // every token has all features: `features` holds them once
  const int64_t* bundle_ptr = nullptr;  // or rows [bundle_ptr[b], bundle_ptr[b + 1]) are feature -1 - b
  const int32_t* bundles = nullptr;
  const int32_t* set_of = nullptr;  // or null: every token may have any label; else its set, -1: any
  const int64_t* set_ptr = nullptr;
  const int32_t* set_labels = nullptr;
  int32_t row(int64_t k, int64_t token) const { return features[dense ? k - token_ptr[token] : k]; }
};

}  // namespace seqtag
