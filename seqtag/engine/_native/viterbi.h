// The one decoder: exact Viterbi over the potentials of a sentence. reference.py: viterbi().
#pragma once
#include <vector>

#include "simd.h"

namespace seqtag {

constexpr float kForbidden = -1e30f;  // reference.py: FORBIDDEN
constexpr float kPadding = -1e38f;    // potential of the lanes that pad a row: never the best

// Weights of the label chain, as rows padded to `stride`, with the bounds that prune predecessors.
template <class Real> struct ChainWeights {
  int labels = 0, stride = 0;
  std::vector<Real> start, stop, transition;  // (stride), (stride), (labels, stride) above order 0
  std::vector<Real> into;                     // the transition matrix transposed: (labels, stride)
  std::vector<Real> row_max, row_min;         // of each transition row, over the real labels
  std::vector<Real> lead;                     // (labels, stride): of b, i the most that i has over b; or nothing

  ChainWeights(int K, int order) : labels(K), stride(padded<Real>(K)), start(stride, 0), stop(stride, 0) {
    for (int j = K; j < stride; ++j) start[j] = stop[j] = Real(kPadding);
    if (order == 0) return;
    transition.assign(size_t(K) * stride, 0);
    into.assign(size_t(K) * stride, 0);
    row_max.assign(stride, Real(kPadding));
    row_min.assign(stride, 0);
    for (int j = K; j < stride; ++j)
      for (int i = 0; i < K; ++i) transition[size_t(i) * stride + j] = into[size_t(i) * stride + j] = Real(kPadding);
    for (int i = 0; i < K; ++i) row_max[i] = 0;
  }
  void set(int i, int j, Real weight) {  // then bound_row(i)
    transition[size_t(i) * stride + j] = weight;
    into[size_t(j) * stride + i] = weight;
  }
  void bound_row(int i) {  // call after any change of row i
    const Real* row = &transition[size_t(i) * stride];
    Real high = row[0], low = row[0];
    for (int j = 1; j < labels; ++j) {
      high = row[j] > high ? row[j] : high;
      low = row[j] < low ? row[j] : low;
    }
    row_max[i] = high;
    row_min[i] = low;
  }
  void compare_rows() {  // tighter bounds, for weights that do not change any more
    lead.assign(size_t(labels) * stride, 0);
    for (int b = 0; b < labels; ++b)
      for (int i = 0; i < labels; ++i) {
        const Real *mine = &transition[size_t(b) * stride], *other = &transition[size_t(i) * stride];
        Real most = other[0] - mine[0];
        for (int j = 1; j < labels; ++j) most = other[j] - mine[j] > most ? other[j] - mine[j] : most;
        lead[size_t(b) * stride + i] = most;
      }
  }
};

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

// Transition matrices that depend on the position. Searches take a pointer to them, or null.
template <class Real> struct Edges {
  virtual void fill(size_t t, Real* matrix) const = 0;  // (labels, stride)

 protected:
  ~Edges() = default;
};

template <class Real> struct Viterbi {
  std::vector<Real> v, best_in, scratch;  // prefix scores of all positions; arrivals; one matrix
  std::vector<int> survivors, only;       // only: the one predecessor that a position has, or -1

  // emission: (T, stride), padding lanes 0. against: gold labels that lose ties, or null.
  void run(const Real* emission, size_t T, const ChainWeights<Real>& chain, bool label_features,
           const Edges<Real>* edges, const int32_t* against, int32_t* out_labels) {
    const int K = chain.labels, S = chain.stride;
    if (T == 0) return;
    if (!label_features) {  // order 0: all label potentials are 0, tokens are independent
      for (size_t t = 0; t < T; ++t)
        out_labels[t] =
            against ? argmax(K, against[t], [&](int j) { return emission[t * S + j]; }) : highest(emission + t * S, K);
      return;
    }
    make_room(T, chain);
    if (edges) scratch.resize(size_t(K) * S);
    // If every path is forbidden, all scores are one huge number that swallows the rest: ties to
    // the plain search, which pruning by the rest would break otherwise.
    const Real *start = chain.start.data(), *stop = chain.stop.data();
    if (edges || !search(emission, T, chain, start, stop, edges, true, against, out_labels))
      search(emission, T, chain, start, stop, edges, false, against, out_labels);
  }

  // The same for some tokens of a sentence that has an allowed path: start and stop have the weights (stride) of
  // transitions from the label before them and to the label after them.
  void run_between(const Real* emission, size_t T, const ChainWeights<Real>& chain, const Real* start, const Real* stop,
                   int32_t* out_labels) {
    make_room(T, chain);
    search(emission, T, chain, start, stop, nullptr, true, nullptr, out_labels);
  }

  // Lowest label of the highest score; `against` only if it is the one and only.
  template <class Score> static int argmax(int K, int against, Score score) {
    int best = -1;
    Real high = 0;
    for (int j = 0; j < K; ++j) {
      const Real x = score(j);
      if (best < 0 || x > high || (x == high && best == against)) {
        best = j;
        high = x;
      }
    }
    return best;
  }

 private:
  // Lowest label of the largest of K scores.
  static int highest(const Real* score, int K) {
    Real most = score[0];
    int j = 0;
    if (K >= lanes<Real>) {
      Vector<Real> top = load(score);
      for (j = lanes<Real>; j + lanes<Real> <= K; j += lanes<Real>) top = maximum<Real>(top, load(score + j));
      most = largest_lane<Real>(top);
    }
    for (; j < K; ++j) most = score[j] > most ? score[j] : most;
    return first_of(score, most, K, K / lanes<Real> * lanes<Real>);
  }

  void make_room(size_t T, const ChainWeights<Real>& chain) {
    v.resize(T * chain.stride);
    best_in.resize(chain.stride);
    survivors.resize(chain.labels);
    only.resize(T);
  }

  // Whether an allowed path was found.
  bool search(const Real* emission, size_t T, const ChainWeights<Real>& chain, const Real* start, const Real* stop,
              const Edges<Real>* edges, bool prune, const int32_t* against, int32_t* out_labels) {
    const int K = chain.labels, S = chain.stride;
    bool allowed = true;
    for (int j = 0; j < S; ++j) v[j] = start[j] + emission[j];
    Real high = largest(&v[0], S);
    subtract(&v[0], high, S);
    for (size_t t = 1; t < T; ++t) {
      allowed &= high > kForbidden / 2;
      const Real* before = &v[(t - 1) * S];
      const Real* matrix = matrix_at(t, chain, edges);
      int n = K;
      if (prune)
        n = surviving(before, chain);
      else
        for (int i = 0; i < K; ++i) survivors[i] = i;
      only[t] = n == 1 ? survivors[0] : -1;
      arrive(before, matrix, n, S);
      Real* now = &v[t * S];
      Vector<Real> top = splat(Real(kPadding));
      for (int j = 0; j < S; j += lanes<Real>) {
        const Vector<Real> sum = load(&best_in[j]) + load(emission + t * S + j);
        store(now + j, sum);
        top = maximum<Real>(top, sum);
      }
      high = largest_lane<Real>(top);
      subtract(now, high, S);
    }

    const Real* last = &v[(T - 1) * S];
    int y = argmax(K, against ? against[T - 1] : -1, [&](int j) { return last[j] + stop[j]; });
    allowed &= high > kForbidden / 2 && last[y] + stop[y] > kForbidden / 2;
    out_labels[T - 1] = y;
    for (size_t t = T - 1; t > 0; --t) {  // no back-pointers: where several may lead here, search again
      const Real* before = &v[(t - 1) * S];
      if (only[t] >= 0) {
        y = only[t];
      } else if (!edges && !against) {
        y = argmax_of_sum(before, &chain.into[size_t(y) * S], S);
      } else {
        const Real* matrix = matrix_at(t, chain, edges);
        y = argmax(K, against ? against[t - 1] : -1, [&](int i) { return before[i] + matrix[size_t(i) * S + y]; });
      }
      out_labels[t - 1] = y;
    }
    return allowed;
  }
  const Real* matrix_at(size_t t, const ChainWeights<Real>& chain, const Edges<Real>* edges) {
    if (!edges) return chain.transition.data();
    edges->fill(t, scratch.data());
    return scratch.data();
  }

  // Predecessors that can be the best for some label, or as good. With b the best prefix, i is
  // dominated when v[i] + max_j transition[i,j] < v[b] + min_j transition[b,j], or by the tighter
  // v[i] + max_j (transition[i,j] - transition[b,j]) < v[b]; rounding is monotone, so the maxima
  // (and with them the labels) are exactly those of the full search.
  int surviving(const Real* before, const ChainWeights<Real>& chain) {
    const int K = chain.labels, S = chain.stride;
    const int b = first_of(before, Real(0), K, S);  // the best prefix scores 0
    const bool tight = !chain.lead.empty();
    const Real* most = tight ? &chain.lead[size_t(b) * S] : chain.row_max.data();
    const Real floor = tight ? before[b] : before[b] + chain.row_min[b];
    int n = 0;
    survivors[n++] = b;
    for (int i = 0; i < S; i += lanes<Real>) {
      for_each_lane<Real>(load(before + i) + load(most + i) >= splat(floor), [&](int lane) {
        if (i + lane < K && i + lane != b) survivors[n++] = i + lane;
      });
    }
    return n;
  }

  // best_in[j] = max over survivors i of before[i] + matrix[i, j]
  void arrive(const Real* before, const Real* matrix, int n, int S) {
    for (int s = 0; s < n; ++s) {
      const int i = survivors[s];
      const Vector<Real> from = splat(before[i]);
      const Real* row = matrix + size_t(i) * S;
      if (s == 0)
        for (int j = 0; j < S; j += lanes<Real>) store(&best_in[j], from + load(row + j));
      else
        for (int j = 0; j < S; j += lanes<Real>)
          store(&best_in[j], maximum<Real>(load(&best_in[j]), from + load(row + j)));
    }
  }
};

}  // namespace seqtag
