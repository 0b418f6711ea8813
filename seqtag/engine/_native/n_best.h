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
// limit no other can be among the n best. Else the limit is raised. Where all labels score the same,
// all are left: so a state merges the sorted prefixes of those before it, and looks at no more than
// n of them besides the first of each.
class NBest {
 public:
  // Appends the sequences of a sentence and their scores, the best first; returns how many.
  size_t run(const MaxMarginals& found, const float* emission, size_t T, const ChainWeights<float>& chain,
             const TrigramWeights<float>& trigram, int order, const Edges<float>* edges, size_t n,
             std::vector<double>& out_score, std::vector<int32_t>& out_labels) {
    const Problem p{emission, T, chain, trigram, order};
    if (edges && T) fill_matrices(p, *edges);
    const double best = score(p, found.labels.data(), edges != nullptr, true);
    if (T == 0 || best <= kForbidden / 2) {  // every sequence breaks a rule
      out_score.push_back(T == 0 ? 0.0 : score(p, found.labels.data(), edges != nullptr, false));
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
      search(p, limit, n, edges != nullptr);
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
    uint32_t from, rank;  // which prefix of which state before it goes on from; of order 0 its label, and which
  };
  struct Position {
    std::vector<int> labels;  // possible here, ascending
    size_t width;             // states are pairs with so many labels before: 1 below second order
    std::vector<Prefix> prefixes;
    std::vector<size_t> ptr;  // (states + 1,): those of each state, the best first; of order 0 there is one
  };
  struct Head {  // of a sorted list of prefixes: the next one that was not taken yet
    double score, more;
    const Prefix *next, *end;
    uint32_t list, rank;
  };
  std::vector<float> losses_, ranked_, matrices_;
  std::vector<Position> positions_;
  std::vector<Prefix> ends_;
  std::vector<Head> heads_;
  size_t held_ = 0;  // bytes of the positions

  void fill_matrices(const Problem& p, const Edges<float>& edges) {
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
    sum += double(any_edges ? matrix(p, t, true)[size_t(b) * p.stride() + size_t(c)]
                            : p.chain.into[size_t(c) * p.stride() + size_t(b)]);
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
    constexpr size_t kKept = size_t(64) << 20;  // bytes that may wait for the next sentence
    const size_t K = size_t(p.chain.labels);
    if (held_ > kKept) std::vector<Position>().swap(positions_);
    positions_.resize(std::max(p.T, positions_.size()));
    held_ = 0;
    for (size_t t = 0; t < p.T; ++t) {
      Position& here = positions_[t];
      here.labels.clear();
      for (size_t j = 0; j < K; ++j)
        if (losses_[t * K + j] <= limit) here.labels.push_back(int(j));
      here.width = p.order == 2 && t > 0 ? positions_[t - 1].labels.size() : 1;
      here.prefixes.clear();
      here.ptr.assign(1, 0);
      if (p.order == 0)
        extend_alone(p, t, n);
      else if (t == 0)
        begin(p, here);
      else
        extend(p, t, n, any_edges);
    }
    ends_.clear();
    const Position& last = positions_[p.T - 1];
    heads_.clear();
    for (size_t state = 0; state + 1 < last.ptr.size(); ++state) {
      const double stop = p.order ? double(p.chain.stop[size_t(last.labels[state / last.width])]) : 0.0;
      add_head(last, state, stop);
    }
    merge(n, [&](const Head& head) { ends_.push_back({head.score, head.list, head.rank}); });
  }
  void begin(const Problem& p, Position& here) {
    for (int b : here.labels) {
      here.prefixes.push_back({double(p.chain.start[size_t(b)]) + double(p.emission[size_t(b)]), 0, 0});
      here.ptr.push_back(here.prefixes.size());
    }
    hold(here.prefixes.size(), here.ptr.size());
  }
  // Order 0: earlier labels do not matter, so the best of all are kept, whatever their label.
  void extend_alone(const Problem& p, size_t t, size_t n) {
    static const Prefix nothing{0, 0, 0};
    Position& here = positions_[t];
    const Prefix* first = t ? positions_[t - 1].prefixes.data() : &nothing;
    const size_t before = t ? positions_[t - 1].prefixes.size() : 1;
    const size_t labels = here.labels.size(), taken = n / before < labels ? n : before * labels;
    hold(taken, 2);
    here.prefixes.reserve(taken);
    heads_.clear();
    for (int c : here.labels) {
      const double more = double(p.emission[t * p.stride() + size_t(c)]);
      heads_.push_back({first->score + more, more, first, first + before, uint32_t(c), 0});
    }
    merge(taken, [&](const Head& head) { here.prefixes.push_back({head.score, head.list, head.rank}); });
    here.ptr.push_back(here.prefixes.size());
  }
  // The best prefixes of the states at t: states (b, a), b by b; of first order there is one a.
  void extend(const Problem& p, size_t t, size_t n, bool any_edges) {
    const Position& before = positions_[t - 1];
    Position& here = positions_[t];
    const size_t states = before.ptr.size() - 1, block = p.order == 2 ? before.width : states;
    hold(0, here.labels.size() * here.width);
    for (size_t ci = 0; ci < here.labels.size(); ++ci)
      for (size_t first = 0; first < states; first += block)
        here.ptr.push_back(here.ptr.back() + std::min(n, before.ptr[first + block] - before.ptr[first]));
    hold(here.ptr.back(), 0);
    here.prefixes.resize(here.ptr.back());
    for (size_t bi = 0; bi < here.width; ++bi)  // first, as it decides which trigrams are looked at
      for (size_t ci = 0; ci < here.labels.size(); ++ci) {
        heads_.clear();
        for (size_t state = bi * block; state < (bi + 1) * block; ++state) {
          const int b = before.labels[state / before.width];
          const int a = p.order == 2 && t > 1 ? positions_[t - 2].labels[state % before.width] : p.chain.labels;
          add_head(before, state, step(p, t, a, b, here.labels[ci], any_edges));
        }
        Prefix* out = &here.prefixes[here.ptr[ci * here.width + bi]];
        merge(n, [&](const Head& head) { *out++ = {head.score, head.list, head.rank}; });
      }
  }
  // Counts what the sequences so far take, before it is asked for.
  void hold(size_t prefixes, size_t states) {
    check_room(prefixes, sizeof(Prefix));
    held_ += prefixes * sizeof(Prefix) + states * sizeof(size_t);
    check_room(held_, 1);
  }
  void add_head(const Position& from, size_t state, double more) {
    const Prefix *first = from.prefixes.data() + from.ptr[state], *end = from.prefixes.data() + from.ptr[state + 1];
    if (first != end) heads_.push_back({first->score + more, more, first, end, uint32_t(state), 0});
  }
  // Takes the n best prefixes of the lists in heads_; of equals those of the list with the lower number.
  template <class Take> void merge(size_t n, Take take) {
    const auto better = [](const Head& x, const Head& y) {
      return x.score != y.score ? x.score > y.score : x.list < y.list;
    };
    const auto worse = [&](const Head& x, const Head& y) { return better(y, x); };
    if (heads_.size() > n) {
      std::nth_element(heads_.begin(), heads_.begin() + int64_t(n), heads_.end(), better);
      heads_.resize(n);
    }
    std::make_heap(heads_.begin(), heads_.end(), worse);
    for (; n > 0 && !heads_.empty(); --n) {
      std::pop_heap(heads_.begin(), heads_.end(), worse);
      Head& head = heads_.back();
      take(head);
      if (++head.next == head.end) {
        heads_.pop_back();
        continue;
      }
      ++head.rank;
      head.score = head.next->score + head.more;
      std::push_heap(heads_.begin(), heads_.end(), worse);
    }
  }
  void trace(const Problem& p, const Prefix& end, std::vector<int32_t>& out_labels) const {
    const size_t begin = out_labels.size();
    out_labels.resize(begin + p.T);
    size_t state = end.from, rank = end.rank;
    for (size_t t = p.T; t-- > 0;) {
      const Position& here = positions_[t];
      const Prefix& prefix = here.prefixes[here.ptr[state] + rank];
      out_labels[begin + t] = p.order ? here.labels[state / here.width] : int32_t(prefix.from);
      state = p.order ? prefix.from : 0;
      rank = prefix.rank;
    }
  }
};

}  // namespace seqtag
