// Label weights of a frozen model as the decoders take them. engine/frozen.py: Frozen.
#pragma once
#include "second_order.h"
#include "viterbi.h"

namespace seqtag {

// Start, stop and transition weights, readied for decoding.
inline ChainWeights<float> chain_of(int K, int order, const float* start, const float* stop, const float* transition) {
  constexpr int kFewLabels = 256;  // comparing the rows of more takes a second
  ChainWeights<float> chain(K, order);
  for (int i = 0; i < K; ++i) {
    chain.start[size_t(i)] = start[i];
    chain.stop[size_t(i)] = stop[i];
    if (order == 0) continue;
    for (int j = 0; j < K; ++j) chain.set(i, j, transition[size_t(i) * size_t(K) + size_t(j)]);
    chain.bound_row(i);
  }
  if (order == 1 && K <= kFewLabels) chain.compare_rows();
  return chain;
}

// Trigram weights from sparse rows; the key of a row is its number plus 1.
inline TrigramWeights<float> trigrams_of(int K, const uint64_t* keys, size_t rows, const int64_t* row_ptr,
                                         const uint16_t* labels, const int8_t* weights,
                                         const ChainWeights<float>& chain) {
  TrigramWeights<float> trigram(K);
  for (size_t r = 0; r < rows; ++r) {
    float* row = trigram.row(int((keys[r] - 1) / uint64_t(K)), int((keys[r] - 1) % uint64_t(K)));
    for (int64_t i = row_ptr[r]; i < row_ptr[r + 1]; ++i) row[labels[i]] = float(weights[i]);
  }
  for (int a = 0; a <= K; ++a) {
    for (int b = 0; b < K; ++b) trigram.bound_row(a, b);
    trigram.bound_onward(a, chain);
  }
  return trigram;
}

}  // namespace seqtag
