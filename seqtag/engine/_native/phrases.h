// Phrases of a list in sentences. keys.py: PhraseMatcher.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "keys.h"
#include "secret.h"

namespace seqtag {

// Hash of some tokens and one more; that of a single token is its own.
inline uint64_t chained(uint64_t before, uint64_t token) { return mix(mix(before) + token) | 1; }

class PhraseMatcher {
 public:
  static constexpr int64_t kLongest = 32;  // tokens of a phrase; keys.py: LONGEST_PHRASE
  enum Place : int32_t { kBegin, kInside, kEnd, kSingle, kPlaces };

  // chains: of all phrases and of how they begin; numbers: of the phrases, -1 for beginnings.
  PhraseMatcher(const uint64_t* chains, const int32_t* numbers, size_t count) {
    int bits = 3;
    while (size_t(1) << bits < 2 * count) ++bits;
    slots_.resize(size_t(1) << bits);
    shift_ = 64 - bits - 2;
    marks_.resize(size_t(1) << bits);
    for (size_t n = 0; n < count; ++n) {
      const int marks = numbers[n] < 0 ? kBegins : kBegins | kWhole;
      marks_[byte_of(chains[n])] |= uint8_t(marks << bit_of(chains[n]));
      if (numbers[n] < 0) continue;
      size_t i = home(chains[n]);
      while (slots_[i].number >= 0) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = {chains[n], numbers[n]};
    }
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
        const int marks = marks_[byte_of(chain)] >> bit_of(chain);
        if (!(marks & kBegins)) break;
        if (const int32_t found = marks & kWhole ? number_of(chain) : -1; found >= 0) {
          number = found;
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
  struct Slot {
    uint64_t chain = 0;
    int32_t number = -1;  // empty
  };
  static constexpr int kBegins = 1, kWhole = 2;
  std::vector<Slot> slots_;  // of phrases
  // Two bits for each of eight times as many places as there are chains, by their highest bits: most chains that
  // are not there are found by these. Others do no harm, as a phrase has a chain of its own.
  std::vector<uint8_t> marks_;
  int shift_ = 0;
  Secret secret_ = process_secret();

  size_t byte_of(uint64_t chain) const { return size_t(chain >> shift_) / 4; }
  int bit_of(uint64_t chain) const { return int(chain >> shift_ & 3) * 2; }
  size_t home(uint64_t chain) const { return size_t(secret_.mixed(chain)) & (slots_.size() - 1); }
  int32_t number_of(uint64_t chain) const {
    size_t i = home(chain);
    while (slots_[i].number >= 0 && slots_[i].chain != chain) i = (i + 1) & (slots_.size() - 1);
    return slots_[i].number;
  }
};

}  // namespace seqtag
