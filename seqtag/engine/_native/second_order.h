// Exact Viterbi over label trigrams, pruned. reference.py: viterbi(), second order.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "limits.h"
#include "viterbi.h"

namespace seqtag {

// Trigram weights [a][b][c], c fastest and padded; a = K is the start of the sentence.
// With the bounds that prune states: call bound_row(a, b) after any change of row (a, b), then
// bound_onward(a), which is also due after a change of transition row a.
template <class Real> struct TrigramWeights {
  int labels = 0, stride = 0;
  std::vector<Real> w;                       // (K + 1, K, stride)
  std::vector<Real> row_max, row_min;        // (K + 1, stride) for a, b: over c
  std::vector<Real> onward;                  // (K, stride) for b, c: transition[b,c] + row_max[b,c]
  std::vector<Real> onward_max, onward_min;  // (stride) for b: over c; the latter with row_min
  TrigramWeights() = default;
  explicit TrigramWeights(int K)
      : labels(K), stride(padded<Real>(K)), w(size_t(K + 1) * K * stride, 0), row_max(size_t(K + 1) * stride, 0),
        row_min(size_t(K + 1) * stride, 0), onward(size_t(K) * stride, 0), onward_max(stride, 0),
        onward_min(stride, 0) {}
  bool any() const { return labels > 0; }
  Real* row(int a, int b) { return &w[(size_t(a) * labels + b) * stride]; }
  const Real* row(int a, int b) const { return &w[(size_t(a) * labels + b) * stride]; }
  void bound_row(int a, int b) {
    const Real* r = row(a, b);
    Real high = r[0], low = r[0];
    for (int c = 1; c < labels; ++c) {
      high = r[c] > high ? r[c] : high;
      low = r[c] < low ? r[c] : low;
    }
    row_max[size_t(a) * stride + b] = high;
    row_min[size_t(a) * stride + b] = low;
  }
  void bound_onward(int b, const ChainWeights<Real>& chain) {
    if (b == labels) return;
    const Real *tr = &chain.transition[size_t(b) * stride], *high = &row_max[size_t(b) * stride];
    const Real* low = &row_min[size_t(b) * stride];
    for (int c = 0; c < stride; ++c) onward[size_t(b) * stride + c] = tr[c] + high[c];
    onward_max[b] = tr[0] + high[0];
    onward_min[b] = tr[0] + low[0];
    for (int c = 1; c < labels; ++c) {
      onward_max[b] = std::max(onward_max[b], tr[c] + high[c]);
      onward_min[b] = std::min(onward_min[b], tr[c] + low[c]);
    }
  }
};

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

// States are pairs (a, b) of the last two labels: kept for few a and all b.
template <class Real> struct SecondOrderViterbi {
  std::vector<Real> v;           // states of all positions, one after another: (kept a, stride)
  std::vector<size_t> begin;     // per position: where its states begin in v; then where they end
  std::vector<int> kept;         // the a's of all positions
  std::vector<size_t> kept_ptr;  // (T + 1,)
  std::vector<Real> reach, limit, bound, star_row, scratch;
  int star;           // the kept b that bounds the others
  bool open = false;  // whether more labels follow, so that no state may be dropped for the end's sake

  void run(const Real* emission, size_t T, const ChainWeights<Real>& chain, const TrigramWeights<Real>& trigram,
           const Edges<Real>* edges, const int32_t* against, int32_t* out_labels) {
    if (T == 0) return;
    for (auto* row : {&reach, &limit, &bound, &star_row}) row->resize(chain.stride);
    if (edges) {
      check_states(T * size_t(chain.labels), chain);  // none will be dropped
      scratch.resize(size_t(chain.labels) * chain.stride);
    }
    // If every path is forbidden, all scores are one huge number that swallows the rest: ties to
    // the plain search, which pruning by the rest would break otherwise.
    if (edges || !search(emission, T, chain, trigram, edges, true, against, out_labels))
      search(emission, T, chain, trigram, edges, false, against, out_labels);
  }

 private:
  // Whether an allowed path was found.
  bool search(const Real* emission, size_t T, const ChainWeights<Real>& chain, const TrigramWeights<Real>& trigram,
              const Edges<Real>* edges, bool prune, const int32_t* against, int32_t* out_labels) {
    const int K = chain.labels, S = chain.stride;
    bool allowed = true;
    if (!prune) check_states(T * size_t(K), chain);
    kept.assign(1, K);
    kept_ptr.assign({0, 1});
    begin.assign({0, size_t(S)});
    make_room(S);
    for (int j = 0; j < S; ++j) v[j] = chain.start[j] + emission[j];
    const Real high = largest(&v[0], S);
    allowed &= high > kForbidden / 2;
    subtract(&v[0], high, S);

    for (size_t t = 1; t < T; ++t) {
      const size_t first = kept.size();
      const Real* matrix = chain.transition.data();
      if (edges) {
        edges->fill(t, scratch.data());
        matrix = scratch.data();
      }
      const bool ends = t + 1 == T && !open;
      select(t - 1, chain, trigram, prune, ends);
      make_room(begin[t] + size_t(K) * S);
      arrive(t - 1, trigram, matrix, prune, ends, &v[begin[t]]);
      Real* now = &v[begin[t]];
      const size_t rows = kept.size() - first;
      kept_ptr.push_back(kept.size());
      begin.push_back(begin[t] + rows * S);
      Vector<Real> top = splat(Real(kPadding));
      for (size_t r = 0; r < rows; ++r)
        for (int c = 0; c < S; c += lanes<Real>) {
          const Vector<Real> sum = load(now + r * S + c) + load(emission + t * S + c);
          store(now + r * S + c, sum);
          top = maximum<Real>(top, sum);
        }
      const Real highest = largest_lane<Real>(top);
      allowed &= highest > kForbidden / 2;
      subtract(&v[begin[t]], highest, int(rows) * S);
    }
    return backtrace(T, chain, trigram, against, out_labels) > kForbidden / 2 && allowed;
  }

  // More than rounding can change a sum of four weights of up to a thousand in float32.
  static constexpr Real kSlack = Real(1e-3);

  const Real* states(size_t t, size_t r, int S) const { return &v[begin[t] + r * size_t(S)]; }
  // Half the room, because growing copies it.
  static constexpr size_t kMostStates = kMostRoom / 2 / sizeof(Real);
  static void check_states(size_t rows, const ChainWeights<Real>& chain) {
    check_room(rows, 2 * size_t(chain.stride) * sizeof(Real));
  }
  void make_room(size_t size) {
    if (v.size() >= size) return;
    check_room(size, 2 * sizeof(Real));
    v.resize(std::min(2 * size, kMostStates));
  }

  // Which b at position t may be on the best path, as the a's of position t + 1. With (a*, b*) any
  // state, b is dominated when for all a, c and d
  //   v[a,b] + tri[a,b,c] + tr[b,c] + tri[b,c,d] < v[a*,b*] + tri[a*,b*,c] + tr[b*,c] + tri[b*,c,d]
  // (without the last terms if c ends the sentence). Here the two pairs of terms are bounded each by
  // itself; those that pass are compared c by c in arrive(). Leaves reach[b] = max over a and c of
  // v[a,b] + tri[a,b,c] and in limit[b] what a state (a, b) must reach to matter.
  void select(size_t t, const ChainWeights<Real>& chain, const TrigramWeights<Real>& trigram, bool prune, bool ends) {
    const Real* most = ends ? chain.row_max.data() : trigram.onward_max.data();
    const Real* least = ends ? chain.row_min.data() : trigram.onward_min.data();
    const int K = chain.labels, S = chain.stride;
    const size_t rows = kept_ptr[t + 1] - kept_ptr[t];
    Vector<Real> top = splat(Real(kPadding) * 3);  // of limit + bound
    for (size_t r = 0; r < rows; ++r) {
      const size_t a = size_t(kept[kept_ptr[t] + r]);
      const Real *state = states(t, r, S), *high = &trigram.row_max[a * S], *low = &trigram.row_min[a * S];
      for (int b = 0; b < S; b += lanes<Real>) {
        const Vector<Real> x = load(state + b), up = x + load(high + b), down = x + load(low + b);
        store(&reach[b], r == 0 ? up : maximum<Real>(load(&reach[b]), up));
        store(&limit[b], r == 0 ? down : maximum<Real>(load(&limit[b]), down));
      }
    }
    for (int b = 0; b < S; b += lanes<Real>) {
      const Vector<Real> x = load(&limit[b]) + load(least + b);
      store(&bound[b], x);
      top = maximum<Real>(top, x);
    }
    const Real high = largest_lane<Real>(top);
    star = first_of(bound.data(), high, K, S);
    if (!prune) {
      for (int b = 0; b < K; ++b) kept.push_back(b);
      return;
    }
    const Real floor = bound[star] - kSlack;
    for (int b = 0; b < S; b += lanes<Real>) {
      for_each_lane<Real>(load(&reach[b]) + load(most + b) >= splat(floor), [&](int lane) {
        if (b + lane < K) kept.push_back(b + lane);
      });
    }
  }

  // out[r][c] = max over a of v[t][a,b] + tri[a,b,c] + tr[b,c] for the r-th b that can matter; those
  // that turn out dominated by b* at every c are dropped from kept.
  void arrive(size_t t, const TrigramWeights<Real>& trigram, const Real* matrix, bool prune, bool ends, Real* out) {
    const int S = trigram.stride;
    const size_t first = kept_ptr.back(), rows = kept_ptr[t + 1] - kept_ptr[t], chosen = kept.size();
    auto arrivals = [&](int b, Real* best) {
      bool reached = false;
      for (size_t r = 0; r < rows; ++r) {
        const int a = kept[kept_ptr[t] + r];
        const Real state = states(t, r, S)[b];
        if (state + trigram.row_max[size_t(a) * S + b] < limit[b]) continue;
        const Vector<Real> from = splat(state);
        const Real* row = trigram.row(a, b);
        for (int c = 0; c < S; c += lanes<Real>)
          store(best + c, reached ? maximum<Real>(load(best + c), from + load(row + c)) : from + load(row + c));
        reached = true;
      }
      add(best, matrix + size_t(b) * S, S);
    };
    auto matters = [&](auto arrival) {  // arrival(c): the most from c on, a vector
      for (int c = 0; c < S; c += lanes<Real>)
        if (any(arrival(c) >= load(&bound[c]))) return true;
      return false;
    };
    arrivals(star, star_row.data());
    for (int c = 0; c < S; c += lanes<Real>) {
      const Vector<Real> after = ends ? Vector<Real>{} : load(&trigram.row_min[size_t(star) * S + c]);
      store(&bound[c], load(&star_row[c]) + after - splat(kSlack));
    }
    for (int c = trigram.labels; c < S; ++c) bound[c] = -Real(kPadding);
    size_t filled = 0;
    for (size_t n = first; n < chosen; ++n) {
      const int b = kept[n];
      Real* best = out + filled * S;
      if (b == star) {
        std::copy_n(star_row.begin(), S, best);
      } else {
        const Real* onward = ends ? matrix + size_t(b) * S : &trigram.onward[size_t(b) * S];
        const Real* after = &trigram.row_max[size_t(b) * S];
        const Vector<Real> from = splat(reach[b]);
        if (prune && !matters([&](int c) { return from + load(onward + c); })) continue;
        arrivals(b, best);
        if (prune && !matters([&](int c) { return ends ? load(best + c) : load(best + c) + load(after + c); }))
          continue;
      }
      kept[first + filled++] = b;
    }
    kept.resize(first + filled);
  }

  // Returns the score of the best path since the last subtraction.
  Real backtrace(size_t T, const ChainWeights<Real>& chain, const TrigramWeights<Real>& trigram, const int32_t* against,
                 int32_t* out_labels) {
    const int K = chain.labels, S = chain.stride;
    auto rows = [&](size_t t) { return kept_ptr[t + 1] - kept_ptr[t]; };
    // last label: best over a; then, going back, the a of the pair (a, b) given b and c
    auto best_of = [&](int b) {
      Real high = states(T - 1, 0, S)[b];
      for (size_t r = 1; r < rows(T - 1); ++r) {
        const Real x = states(T - 1, r, S)[b];
        high = x > high ? x : high;
      }
      return high + chain.stop[b];
    };
    int b = Viterbi<Real>::argmax(K, against ? against[T - 1] : -1, best_of);
    const Real score = best_of(b);
    out_labels[T - 1] = b;
    int c = -1;
    for (size_t t = T - 1; t > 0; --t) {
      const size_t n = rows(t);
      const int gold = against ? against[t - 1] : -1;
      const int* names = &kept[kept_ptr[t]];
      int gold_row = -1;
      for (size_t r = 0; r < n; ++r)
        if (names[r] == gold) gold_row = int(r);
      const int row = Viterbi<Real>::argmax(int(n), gold_row, [&](int r) {
        const Real x = states(t, size_t(r), S)[b];
        return c < 0 ? x : x + trigram.row(names[r], b)[c];
      });
      c = b;
      b = names[row];
      out_labels[t - 1] = b;
    }
    return score;
  }
};

}  // namespace seqtag
