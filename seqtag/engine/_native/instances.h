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
  bool dense;  // every token has all features: `features` holds them once
  int32_t row(int64_t k, int64_t token) const { return features[dense ? k - token_ptr[token] : k]; }
};

}  // namespace seqtag
