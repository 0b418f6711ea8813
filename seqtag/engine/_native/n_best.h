// The n best label sequences of a sentence. alternatives.py: n_best().
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "alternatives.h"

namespace seqtag {

// Each state keeps its n best prefixes, as in the reference, but only labels that can matter are
// states. What the best sequence through a label lacks to the best of all is known from the
// max-marginals; with a limit on it few labels are left, and if n sequences are found within the
// limit no other can be among the n best. Else the limit is raised.
class NBest {
 public:
  // Appends the sequences of a sentence and their scores, the best first; returns how many.
  template <class Edges>
  size_t run(const MaxMarginals& found, const float* emission, size_t T, const ChainWeights<float>& chain,
             const TrigramWeights<float>& trigram, int order, const Edges& edges, size_t n,
             std::vector<double>& out_score, std::vector<int32_t>& out_labels) {
    const Problem p{emission, T, chain, trigram, order};
    if (Edges::any && T) fill_matrices(p, edges);
    const double best = score(p, found.labels.data(), Edges::any, true);
    if (T == 0 || best <= kForbidden / 2) {  // every sequence breaks a rule
      out_score.push_back(T == 0 ? 0.0 : score(p, found.labels.data(), Edges::any, false));
      out_labels.insert(out_labels.end(), found.labels.begin(), found.labels.end());
      return 1;
    }
    find_losses(p, found);
    ranked_.clear();
    for (float loss : losses_)
      if (loss < -kForbidden / 2) ranked_.push_back(loss);
    const float most = *std::max_element(ranked_.begin(), ranked_.end());
    size_t rank = T - 1 + n;  // those of the best sequence, T of 0, come first
    while (true) {
      float limit = most;
      if (rank < ranked_.size()) {
        std::nth_element(ranked_.begin(), ranked_.begin() + int64_t(rank), ranked_.end());
        limit = ranked_[rank];
      }
      search(p, limit, n, Edges::any);
      const bool all = limit == most;
      if (all || (ends_.size() >= n && ends_[n - 1].score >= best - double(limit))) break;
      rank = 2 * rank + 1;
    }
    const size_t before = out_score.size();
    check_room(std::min(n, ends_.size()), kBytesOfLabel * p.T);
    for (size_t i = 0; i < std::min(n, ends_.size()); ++i) {
      if (ends_[i].score <= kForbidden / 2) break;
      out_score.push_back(ends_[i].score);
      trace(p, ends_[i], out_labels);
    }
    return out_score.size() - before;
  }

 private:
  static constexpr size_t kBytesOfLabel = 16;  // of a sequence, until it is written
  struct Problem {
    const float* emission;
    size_t T;
    const ChainWeights<float>& chain;
    const TrigramWeights<float>& trigram;
    int order;
    size_t stride() const { return size_t(chain.stride); }
  };
  struct Prefix {
    double score;
    uint32_t from, rank;  // which prefix of which state before it goes on from
  };
  struct Position {
    std::vector<int> labels;  // that may stand here, ascending
    size_t width;             // states are pairs with so many labels before: 1 below second order
    std::vector<Prefix> prefixes;
    std::vector<size_t> ptr;  // (states + 1,): those of each state, the best first
  };
  std::vector<float> losses_, ranked_, matrices_;
  std::vector<Position> positions_;
  std::vector<Prefix> candidates_, ends_;

  template <class Edges> void fill_matrices(const Problem& p, const Edges& edges) {
    const size_t size = size_t(p.chain.labels) * p.stride();
    check_room(p.T, size * sizeof(float));
    matrices_.resize(p.T * size);
    for (size_t t = 1; t < p.T; ++t) edges.fill(t, &matrices_[t * size]);
  }
  const float* matrix(const Problem& p, size_t t, bool any_edges) const {
    return any_edges ? &matrices_[t * size_t(p.chain.labels) * p.stride()] : p.chain.transition.data();
  }
  // What the label c at t adds to a prefix that ends in a and b; a is the number of labels at the start.
  double step(const Problem& p, size_t t, int a, int b, int c, bool any_edges) const {
    double sum = double(p.emission[t * p.stride() + size_t(c)]);
    if (p.order == 0) return sum;
    sum += double(matrix(p, t, any_edges)[size_t(b) * p.stride() + size_t(c)]);
    return p.order == 2 ? sum + double(p.trigram.row(a, b)[c]) : sum;
  }
  // Score of a sequence, with what is forbidden or without.
  double score(const Problem& p, const int32_t* y, bool any_edges, bool with_forbidden) const {
    double sum = 0;
    const auto count = [&](float x) { sum += with_forbidden || x > kForbidden / 2 ? double(x) : 0.0; };
    for (size_t t = 0; t < p.T; ++t) {
      count(p.emission[t * p.stride() + size_t(y[t])]);
      if (p.order == 0) continue;
      if (t == 0) count(p.chain.start[size_t(y[0])]);
      if (t + 1 == p.T) count(p.chain.stop[size_t(y[t])]);
      if (t > 0) count(matrix(p, t, any_edges)[size_t(y[t - 1]) * p.stride() + size_t(y[t])]);
      if (t > 0 && p.order == 2) count(p.trigram.row(t > 1 ? y[t - 2] : p.chain.labels, y[t - 1])[y[t]]);
    }
    return sum;
  }
  // What the best sequence through each label lacks to the best of all: (T, labels).
  void find_losses(const Problem& p, const MaxMarginals& found) {
    const size_t K = size_t(p.chain.labels);
    losses_.resize(p.T * K);
    for (size_t t = 0; t < p.T; ++t) {
      const float* m = &found.m[t * p.stride()];
      const float high = *std::max_element(m, m + K);
      for (size_t j = 0; j < K; ++j) losses_[t * K + j] = high - m[j];
    }
  }

  void search(const Problem& p, float limit, size_t n, bool any_edges) {
    const size_t K = size_t(p.chain.labels);
    positions_.resize(p.T);
    size_t held = 0;
    for (size_t t = 0; t < p.T; ++t) {
      Position& here = positions_[t];
      here.labels.clear();
      for (size_t j = 0; j < K; ++j)
        if (losses_[t * K + j] <= limit) here.labels.push_back(int(j));
      here.width = p.order == 2 && t > 0 ? positions_[t - 1].labels.size() : 1;
      here.prefixes.clear();
      here.ptr.assign(1, 0);
      if (t == 0) {
        for (int b : here.labels) {
          const double start = p.order ? double(p.chain.start[size_t(b)]) : 0.0;
          here.prefixes.push_back({start + double(p.emission[size_t(b)]), 0, 0});
          here.ptr.push_back(here.prefixes.size());
        }
      } else {
        extend(p, t, n, any_edges);
      }
      check_room(held += here.prefixes.capacity(), sizeof(Prefix));
    }
    ends_.clear();
    const Position& last = positions_.back();
    for (size_t state = 0; state + 1 < last.ptr.size(); ++state) {
      const double stop = p.order ? double(p.chain.stop[size_t(last.labels[state / last.width])]) : 0.0;
      for (size_t i = last.ptr[state]; i < last.ptr[state + 1]; ++i)
        ends_.push_back({last.prefixes[i].score + stop, uint32_t(state), uint32_t(i - last.ptr[state])});
    }
    keep_best(ends_, n);
  }
  // The best prefixes of the states at t: states (b, a), b by b; of order 0 and 1 there is one a.
  void extend(const Problem& p, size_t t, size_t n, bool any_edges) {
    const Position& before = positions_[t - 1];
    Position& here = positions_[t];
    const size_t states = before.ptr.size() - 1;
    for (int c : here.labels)
      for (size_t bi = 0; bi < here.width; ++bi) {
        candidates_.clear();
        const size_t first = p.order == 2 ? bi * before.width : 0, last = p.order == 2 ? first + before.width : states;
        for (size_t state = first; state < last; ++state) {
          const int b = before.labels[state / before.width];
          const int a = p.order == 2 && t > 1 ? positions_[t - 2].labels[state % before.width] : p.chain.labels;
          const double more = step(p, t, a, b, c, any_edges);
          for (size_t i = before.ptr[state]; i < before.ptr[state + 1]; ++i)
            candidates_.push_back({before.prefixes[i].score + more, uint32_t(state), uint32_t(i - before.ptr[state])});
        }
        keep_best(candidates_, n);
        here.prefixes.insert(here.prefixes.end(), candidates_.begin(), candidates_.end());
        here.ptr.push_back(here.prefixes.size());
      }
  }
  // Candidates come in the order of ties.
  static void keep_best(std::vector<Prefix>& prefixes, size_t n) {
    constexpr size_t kFew = 32;  // so many are put in their places one by one, without more memory
    if (prefixes.size() <= kFew) {
      for (size_t i = 1; i < prefixes.size(); ++i) {
        const Prefix moved = prefixes[i];
        size_t at = i;
        for (; at > 0 && prefixes[at - 1].score < moved.score; --at) prefixes[at] = prefixes[at - 1];
        prefixes[at] = moved;
      }
      if (prefixes.size() > n) prefixes.resize(n);
      return;
    }
    std::stable_sort(prefixes.begin(), prefixes.end(),
                     [](const Prefix& x, const Prefix& y) { return x.score > y.score; });
    if (prefixes.size() > n) prefixes.resize(n);
  }
  void trace(const Problem& p, const Prefix& end, std::vector<int32_t>& out_labels) const {
    const size_t begin = out_labels.size();
    out_labels.resize(begin + p.T);
    size_t state = end.from, rank = end.rank;
    for (size_t t = p.T; t-- > 0;) {
      const Position& here = positions_[t];
      out_labels[begin + t] = here.labels[state / here.width];
      const Prefix& prefix = here.prefixes[here.ptr[state] + rank];
      state = prefix.from;
      rank = prefix.rank;
    }
  }
};

}  // namespace seqtag
