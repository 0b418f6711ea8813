// Phrases of a list in sentences. keys.py: PhraseMatcher.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "keys.h"

namespace seqtag {

// Hash of some tokens and one more; that of a single token is its own.
inline uint64_t chained(uint64_t before, uint64_t token) { return mix(mix(before) + token) | 1; }

class PhraseMatcher {
 public:
  static constexpr int64_t kLongest = 32;  // tokens of a phrase; table.py: LONGEST_PHRASE
  enum Place : int32_t { kBegin, kInside, kEnd, kSingle, kPlaces };

  // chains: of all phrases and of how they begin, ascending; numbers: of the phrases, -1 for beginnings.
  PhraseMatcher(std::vector<uint64_t>&& chains, std::vector<int32_t>&& numbers)
      : chains_(std::move(chains)), numbers_(std::move(numbers)) {
    int bits = 1;
    while (size_t(1) << bits < chains_.size()) ++bits;
    shift_ = 64 - bits;
    for (size_t prefix = 0, at = 0; prefix < size_t(1) << bits; ++prefix) {
      while (at < chains_.size() && chains_[at] >> shift_ < prefix) ++at;
      first_.push_back(uint32_t(at));
    }
    first_.push_back(uint32_t(chains_.size()));
  }

  // The longest phrases of the sentence [begin, end), leftmost first: for each token kPlaces times the
  // number of its phrase, plus its place there; absent if it is in none.
  void match(const int32_t* types, const uint64_t* hashes, int64_t begin, int64_t end, int32_t absent,
             int32_t* out) const {
    for (int64_t n = begin; n < end;) {
      int64_t after = n;  // the last token of the longest phrase from n on
      int32_t number = -1;
      uint64_t chain = hashes[types[n]];
      for (int64_t m = n;;) {
        const int64_t at = find(chain);
        if (at < 0) break;
        if (numbers_[size_t(at)] >= 0) {
          number = numbers_[size_t(at)];
          after = m + 1;
        }
        if (++m == end || m == n + kLongest) break;
        chain = chained(chain, hashes[types[m]]);
      }
      if (number < 0) {
        out[n++] = absent;
        continue;
      }
      for (int64_t m = n; m < after; ++m) {
        const bool first = m == n, last = m + 1 == after;
        out[m] = kPlaces * number + (first && last ? kSingle : first ? kBegin : last ? kEnd : kInside);
      }
      n = after;
    }
  }

 private:
  std::vector<uint64_t> chains_;
  std::vector<int32_t> numbers_;
  std::vector<uint32_t> first_;  // by the highest bits of a chain
  int shift_ = 0;

  int64_t find(uint64_t chain) const {
    const uint64_t prefix = chain >> shift_;
    const auto last = chains_.begin() + first_[prefix + 1];
    const auto at = std::lower_bound(chains_.begin() + first_[prefix], last, chain);
    return at != last && *at == chain ? at - chains_.begin() : -1;
  }
};

}  // namespace seqtag
