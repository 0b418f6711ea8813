// Exact pruning for sequences of chunks: most tokens can only be outside of them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "limits.h"
#include "viterbi.h"

namespace seqtag {

// Where some labels may not follow others, the bounds of a search keep nearly all predecessors. Here a run of labels
// other than the outside label is compared with the outside label in its place: it is on no best path if its
// emissions and the most that transitions can add are less. Tokens of no other run have the outside label on each best
// path, so that the islands of tokens between them are searched one by one, with the same ties.
class Islands {
 public:
  Islands() = default;
  // Chain: of order 1. most: the absolute value of an emission is not more. None is found where sums might be rounded.
  Islands(const ChainWeights<float>& chain, double most) : others_(size_t(chain.stride), kPadding) {
    const int K = chain.labels;
    const auto weight = [&](int i, int j) { return chain.transition[size_t(i) * size_t(chain.stride) + size_t(j)]; };
    bool is_whole = true, forbids = false;
    const auto note = [&](float w) {
      if (!is_allowed(w)) return void(forbids = true);
      is_whole &= w == std::floor(w);
      most = std::max(most, double(std::fabs(w)));
    };
    for (int i = 0; i < K; ++i) {
      note(chain.start[size_t(i)]);
      note(chain.stop[size_t(i)]);
      for (int j = 0; j < K; ++j) note(weight(i, j));
    }
    if (!forbids || !is_whole || 4 * most * (K + 1) > double(kExactFloat)) return;
    int highest = 0;
    for (int r = 0; r < K; ++r) {
      int degree = 0;
      for (int j = 0; j < K; ++j) degree += is_allowed(weight(r, j)) + is_allowed(weight(j, r));
      const bool is_free =
          is_allowed(chain.start[size_t(r)]) && is_allowed(chain.stop[size_t(r)]) && is_allowed(weight(r, r));
      if (is_free && degree > highest) highest = degree, outside_ = r;
    }
    if (outside_ < 0) return;
    const int r = outside_;
    const double kept = weight(r, r), start = chain.start[size_t(r)], stop = chain.stop[size_t(r)];
    double first = -double(kExactFloat), inner = first, last = first;  // the most over those of the outside label
    for (int y = 0; y < K; ++y) {
      if (y == r) continue;
      others_[size_t(y)] = 0;
      first = std::max({first, chain.start[size_t(y)] - start, weight(r, y) - kept});
      last = std::max({last, chain.stop[size_t(y)] - stop, weight(y, r) - kept});
      for (int z = 0; z < K; ++z)
        if (z != r) inner = std::max(inner, weight(y, z) - kept);
    }
    each_ = inner;
    once_ = first + last - inner;
  }

  struct Workspace {
    std::vector<double> gain, left;  // of each token; of the best run that ends there
  };
  // As Viterbi::run; false, and nothing done, where a token may not be outside.
  bool run(const float* emission, size_t T, const ChainWeights<float>& chain, Viterbi<float>& search, Workspace& space,
           int32_t* out_labels) const {
    if (outside_ < 0) return false;
    const size_t S = size_t(chain.stride), r = size_t(outside_);
    space.gain.resize(T);
    space.left.resize(T);
    double before = 0;
    bool found = false;
    for (size_t t = 0; t < T; ++t) {
      const float* scores = emission + t * S;
      if (!is_allowed(scores[r])) return false;
      Vector<float> top = load(scores) + load(others_.data());
      for (size_t j = lanes<float>; j < S; j += lanes<float>)
        top = maximum<float>(top, load(scores + j) + load(others_.data() + j));
      space.gain[t] = double(largest_lane<float>(top)) - scores[r] + each_;
      space.left[t] = before = space.gain[t] + std::max(before, 0.0);
      found |= before + once_ >= 0;
    }
    std::fill_n(out_labels, T, outside_);
    double after = 0;
    size_t end = 0;  // of the island that is open, or 0
    for (size_t t = found ? T : 0; t-- > 0;) {
      after = std::max(after, 0.0);
      const bool is_inside = space.left[t] + after + once_ >= 0;
      after += space.gain[t];
      if (is_inside && !end) end = t + 1;
      if (!end || (is_inside && t > 0)) continue;
      const size_t begin = is_inside ? t : t + 1;
      const float* start = begin > 0 ? &chain.transition[r * S] : chain.start.data();
      const float* stop = end < T ? &chain.into[r * S] : chain.stop.data();
      search.run_between(emission + begin * S, end - begin, chain, start, stop, out_labels + begin);
      end = 0;
    }
    return true;
  }

 private:
  int32_t outside_ = -1;        // the label; -1: nothing is pruned
  double once_ = 0, each_ = 0;  // the most that transitions add to a run, and to each token of it
  std::vector<float> others_;   // 0 for the other labels, else kPadding

  static bool is_allowed(float weight) { return weight > kForbidden / 2; }
};

}  // namespace seqtag
