// Components of labels: NOUN|Case=Nom has two. arrays.py: LabelComponents; reference.py: sum_parts().
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace seqtag {

struct LabelComponents {
  std::vector<int64_t> ptr;   // (K + 1,), or empty: labels have no parts
  std::vector<int32_t> part;  // the parts of label j are part[ptr[j]:ptr[j + 1]]
  int count = 0;              // P

  struct Range {
    const int32_t *first, *last;
    const int32_t* begin() const { return first; }
    const int32_t* end() const { return last; }
  };
  bool any() const { return !ptr.empty(); }
  int64_t most() const {  // parts of one label; 1 if labels have none
    int64_t n = 1;
    for (size_t j = 0; j + 1 < ptr.size(); ++j) n = std::max(n, ptr[j + 1] - ptr[j]);
    return n;
  }
  Range of(int32_t label) const { return {part.data() + ptr[size_t(label)], part.data() + ptr[size_t(label) + 1]}; }

  // Score of one label, and of all: labels[j] is the sum of scores[p] over its parts.
  template <class Real, class Score> Real sum(const Score* scores, int32_t label) const {
    Real total = 0;
    for (int32_t p : of(label)) total += Real(scores[p]);
    return total;
  }
  template <class Real> void sum(const Real* scores, Real* labels) const {
    for (size_t j = 0; j + 1 < ptr.size(); ++j) labels[j] = sum<Real>(scores, int32_t(j));
  }
};

}  // namespace seqtag
