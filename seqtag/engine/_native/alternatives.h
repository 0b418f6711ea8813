// Alternatives to the best labels: given labels, max-marginals, margins. alternatives.py.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "engines.h"
#include "second_order.h"
#include "viterbi.h"

namespace seqtag {

constexpr float kExcluded = -1e34f;  // arrays.py: EXCLUDED

// Excludes all labels that the tokens of the sentence that begins at one may not have. alternatives.py: restrict().
inline void restrict(const Allowed& allowed, size_t begin, size_t T, const ChainWeights<float>& chain,
                     float* emission) {
  if (!allowed.ptr) return;
  std::vector<float> kept;
  for (size_t t = 0; t < T; ++t) {
    const int32_t *first = allowed.labels + allowed.ptr[begin + t], *last = allowed.labels + allowed.ptr[begin + t + 1];
    if (first == last) continue;
    float* row = emission + t * size_t(chain.stride);
    kept.clear();
    for (const int32_t* j = first; j < last; ++j) kept.push_back(row[*j]);
    if (*std::max_element(kept.begin(), kept.end()) <= kForbidden / 2) std::fill(kept.begin(), kept.end(), 0.0f);
    std::fill(row, row + chain.labels, kExcluded);
    for (const int32_t* j = first; j < last; ++j) row[*j] = kept[size_t(j - first)];
  }
}

// The label chain as it is when a sentence is read from its last token to its first.
struct Mirrored {
  ChainWeights<float> chain;
  TrigramWeights<float> trigram;

  Mirrored(const ChainWeights<float>& weights, const TrigramWeights<float>& trigrams, int order)
      : chain(weights.labels, order), trigram(trigrams.any() ? trigrams.labels : 0) {
    const int K = weights.labels, S = weights.stride;
    for (int i = 0; i < K; ++i) chain.start[size_t(i)] = weights.stop[size_t(i)];
    if (order == 0) return;
    for (int i = 0; i < K; ++i) {
      for (int j = 0; j < K; ++j) chain.set(i, j, weights.transition[size_t(j) * size_t(S) + size_t(i)]);
      chain.bound_row(i);
    }
    if (!weights.lead.empty()) chain.compare_rows();
    if (!trigrams.any()) return;
    for (int a = 0; a < K; ++a)
      for (int b = 0; b < K; ++b)
        for (int c = 0; c < K; ++c) trigram.row(c, b)[a] = trigrams.row(a, b)[c];
    for (int a = 0; a <= K; ++a) {
      for (int b = 0; b < K; ++b) trigram.bound_row(a, b);
      trigram.bound_onward(a, chain);
    }
  }
};

// Position-dependent transitions, as they are from the last token to the first.
struct MirroredEdges final : Edges<float> {
  const Edges<float>& edges;
  size_t T;
  int labels, stride;
  std::vector<float>& scratch;
  MirroredEdges(const Edges<float>& from, size_t length, const ChainWeights<float>& chain, std::vector<float>& space)
      : edges(from), T(length), labels(chain.labels), stride(chain.stride), scratch(space) {}
  void fill(size_t s, float* matrix) const override {
    const size_t K = size_t(labels), S = size_t(stride);
    scratch.resize(K * S);
    edges.fill(T - s, scratch.data());
    for (size_t i = 0; i < K; ++i) {
      for (size_t j = 0; j < K; ++j) matrix[i * S + j] = scratch[j * S + i];
      std::fill(matrix + i * S + K, matrix + (i + 1) * S, kPadding);
    }
  }
};

// Best labels of a sentence, and for each label at each token the score of the best sequence with it.
//
// Prefixes are searched as in decoding, and suffixes by the same search of the mirrored sentence.
// Both searches drop what another prefix (or suffix) beats whatever the next two labels are: no best
// sequence through any label there has it, so the maxima are exact.
class MaxMarginals {
 public:
  std::vector<int32_t> labels;  // (T,) of the best sequence
  std::vector<float> m;         // (T, stride): from a number that is another for each token

  void run(const float* emission, size_t T, const ChainWeights<float>& chain, const TrigramWeights<float>& trigram,
           const Mirrored& mirrored, int order, const Edges<float>* edges) {
    const size_t S = size_t(chain.stride);
    check_room(T, 2 * S * sizeof(float));
    labels.resize(T);
    m.assign(emission, emission + T * S);
    if (T == 0) return;
    if (order == 0) return forward_.run(emission, T, chain, false, edges, nullptr, labels.data());
    reversed_.resize(T * S);
    for (size_t t = 0; t < T; ++t) std::copy_n(emission + t * S, S, &reversed_[(T - 1 - t) * S]);
    unused_.resize(T);
    std::optional<MirroredEdges> mirror;
    if (edges) mirror.emplace(*edges, T, chain, scratch_);
    const Edges<float>* back = mirror ? &*mirror : nullptr;
    if (order == 1) {
      forward_.run(emission, T, chain, true, edges, nullptr, labels.data());
      backward_.run(reversed_.data(), T, mirrored.chain, true, back, nullptr, unused_.data());
      for (size_t t = 0; t < T; ++t)
        for (size_t j = 0; j < S; ++j)
          m[t * S + j] = forward_.v[t * S + j] + backward_.v[(T - 1 - t) * S + j] - emission[t * S + j];
      return;
    }
    second_forward_.run(emission, T, chain, trigram, edges, nullptr, labels.data());
    second_backward_.open = true;  // the first token follows, to which the start is two labels away
    second_backward_.run(reversed_.data(), T - 1, mirrored.chain, mirrored.trigram, back, nullptr, unused_.data());
    meet_first(emission, T, chain, trigram, edges);
    for (size_t t = 1; t < T; ++t) join(t, emission + t * S, T, chain, trigram);
  }

 private:
  Viterbi<float> forward_, backward_;
  SecondOrderViterbi<float> second_forward_, second_backward_;
  std::vector<float> reversed_, scratch_, most_, best_;
  std::vector<int32_t> unused_;

  // The states of one position: for each row a label before (or after), and scores by label.
  struct States {
    const float* v;
    const int* names;
    size_t rows, stride;
    const float* row(size_t r) const { return v + r * stride; }
  };
  static States states(const SecondOrderViterbi<float>& search, size_t t, size_t S) {
    return {&search.v[search.begin[t]], &search.kept[search.kept_ptr[t]], search.kept_ptr[t + 1] - search.kept_ptr[t],
            S};
  }
  // The best score of the suffixes of each label.
  void find_most(const States& after, int S) {
    most_.assign(size_t(S), kPadding);
    for (size_t r = 0; r < after.rows; ++r)
      for (int j = 0; j < S; j += lanes<float>)
        store(&most_[size_t(j)], maximum<float>(load(&most_[size_t(j)]), load(after.row(r) + j)));
  }

  // Prefixes that end in b at t and suffixes that begin with it, over the trigram that joins them.
  void join(size_t t, const float* emission, size_t T, const ChainWeights<float>& chain,
            const TrigramWeights<float>& trigram) {
    const int K = chain.labels, S = chain.stride;
    const States before = states(second_forward_, t, size_t(S)), after = states(second_backward_, T - 1 - t, size_t(S));
    find_most(after, S);
    best_.assign(size_t(S), kPadding);
    for (size_t r = 0; r < before.rows; ++r) {
      const float *prefix = before.row(r), *most = &trigram.row_max[size_t(before.names[r]) * size_t(S)];
      for (int j = 0; j < S; j += lanes<float>) {
        Vector<float> bound = load(prefix + j) + load(&most_[size_t(j)]);
        if (t + 1 == T) {  // nothing follows
          store(&best_[size_t(j)], maximum<float>(load(&best_[size_t(j)]), bound));
          continue;
        }
        bound = bound + load(most + j);
        if (!any(bound > load(&best_[size_t(j)]))) continue;
        for (int b = j; b < j + lanes<float> && b < K; ++b) {
          const float* tri = trigram.row(before.names[r], b);
          float& best = best_[size_t(b)];
          for (size_t q = 0; q < after.rows; ++q)
            best = std::max(best, prefix[b] + tri[after.names[q]] + after.row(q)[b]);
        }
      }
    }
    for (int b = 0; b < K; ++b)  // both have the emission in them
      m[t * size_t(S) + size_t(b)] = best_[size_t(b)] - emission[b];
  }
  // The same for the first token, whose own suffixes were not searched for.
  void meet_first(const float* emission, size_t T, const ChainWeights<float>& chain,
                  const TrigramWeights<float>& trigram, const Edges<float>* edges) {
    const int K = chain.labels, S = chain.stride;
    if (T == 1) {
      for (int b = 0; b < K; ++b) m[size_t(b)] = chain.start[size_t(b)] + emission[b] + chain.stop[size_t(b)];
      return;
    }
    const float* matrix = chain.transition.data();
    if (edges) {
      scratch_.resize(size_t(K) * size_t(S));
      edges->fill(1, scratch_.data());
      matrix = scratch_.data();
    }
    const States after = states(second_backward_, T - 2, size_t(S));
    find_most(after, S);
    for (int b = 0; b < K; ++b) {
      const float *pair = matrix + size_t(b) * size_t(S), *first = trigram.row(K, b);
      const float* most = &trigram.row_max[size_t(b) * size_t(S)];
      float best = kPadding;
      for (int j = 0; j < S; j += lanes<float>) {
        Vector<float> bound = load(pair + j) + load(first + j) + load(&most_[size_t(j)]);
        if (T > 2) bound = bound + load(most + j);
        if (!any(bound > splat(best))) continue;
        for (int c = j; c < j + lanes<float> && c < K; ++c) {
          const float* tri = trigram.row(b, c);
          for (size_t q = 0; q < after.rows; ++q)
            best = std::max(best, pair[c] + first[c] + (T > 2 ? tri[after.names[q]] : 0.0f) + after.row(q)[c]);
        }
      }
      m[size_t(b)] = best + (chain.start[size_t(b)] + emission[b]);
    }
  }
};

// How much better the best labels are than others, by groups of labels. alternatives.py: margins().
inline void margins_of(const MaxMarginals& found, size_t T, int K, int S, const int32_t* groups, double* out_margin,
                       int32_t* out_rival) {
  for (size_t t = 0; t < T; ++t) {
    const float* m = &found.m[t * size_t(S)];
    float high = m[0];
    for (int j = 1; j < K; ++j) high = std::max(high, m[j]);
    const int32_t own = groups[found.labels[t]];
    int32_t rival = -1;
    for (int32_t j = 0; j < K; ++j)
      if (groups[j] != own && (rival < 0 || m[j] > m[rival])) rival = j;
    if (rival >= 0 && !(m[rival] - high > kForbidden / 2)) rival = -1;
    out_rival[t] = rival;
    out_margin[t] = rival < 0 ? std::numeric_limits<double>::infinity() : double(m[found.labels[t]]) - double(m[rival]);
  }
}

}  // namespace seqtag
