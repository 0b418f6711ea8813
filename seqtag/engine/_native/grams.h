// Pairs and n-grams numbered as they come; what characters.h is made of.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scan.h"
#include "secret.h"
#include "simd.h"

namespace seqtag {

// Pairs of numbers, numbered as they come.
class PairNumbers {
 public:
  struct Pair {
    int32_t first, second;
  };
  PairNumbers() : slots_(256) {}
  size_t size() const { return pairs_.size(); }
  const Pair& pair(size_t number) const { return pairs_[number]; }
  SEQTAG_INLINE int32_t number(int32_t first, int32_t second) {
    size_t i = home(first, second);
    for (; slots_[i].number >= 0; i = (i + 1) & (slots_.size() - 1))
      if (slots_[i].first == first && slots_[i].second == second) return slots_[i].number;
    return insert(i, first, second);
  }
  // Bytes of memory held.
  size_t bytes() const { return bytes_held(slots_) + bytes_held(pairs_); }
  size_t longest_way() const {
    return seqtag::longest_way(
        slots_.size(), [&](size_t slot) { return home(slots_[slot].first, slots_[slot].second); },
        [&](size_t slot) { return slots_[slot].number >= 0; });
  }

 private:
  struct Slot {
    int32_t first = 0, second = 0, number = -1, unused = 0;
  };
  std::vector<Slot> slots_;
  std::vector<Pair> pairs_;
  Secret secret_ = process_secret();

  size_t home(int32_t first, int32_t second) const {
    return size_t(secret_.mixed(uint64_t(uint32_t(first)) << 32 | uint32_t(second))) & (slots_.size() - 1);
  }
  int32_t insert(size_t i, int32_t first, int32_t second) {
    const int32_t number = int32_t(size());
    slots_[i] = {first, second, number, 0};
    pairs_.push_back({first, second});
    if (2 * size() <= slots_.size()) return number;
    slots_.assign(slots_.size() * 4, Slot{});
    for (size_t n = 0; n < size(); ++n) {
      size_t k = home(pairs_[n].first, pairs_[n].second);
      while (slots_[k].number >= 0) k = (k + 1) & (slots_.size() - 1);
      slots_[k] = {pairs_[n].first, pairs_[n].second, int32_t(n), 0};
    }
    return number;
  }
};

// One to several signs in a row, each with a space before it or none, numbered length by length.
class Grams {
 public:
  explicit Grams(size_t longest) : pairs_(longest - 1) { intern("\n"); }
  // The number of a sign; 0 is the end of the text.
  int32_t intern(std::string_view sign) { return signs_.intern(sign.data(), sign.size()); }
  std::string_view sign(int32_t number) const { return signs_.value(size_t(number)); }
  size_t size(size_t length) const { return length == 1 ? single_.size() : pairs_[length - 2].size(); }
  // Numbers of the grams of each length that begin at the rows [begin, end) of a paragraph, into
  // out[length - 1], which may be null. signs: of all rows. gaps: what stands before them.
  void number(const std::vector<int32_t>& signs, const std::vector<uint8_t>& gaps, size_t begin, size_t end,
              int32_t* const* out, size_t longest) {
    while (longest && !out[longest - 1]) --longest;
    if (!longest) return;
    const size_t rows = end - begin;
    one_.resize(rows + longest);
    for (size_t i = 0; i < rows; ++i) one_[i] = with_space(signs[begin + i], gaps[begin + i] == 1);
    for (size_t i = rows; i < rows + longest; ++i) one_[i] = with_space(0, i == rows);
    if (out[0]) std::copy_n(one_.begin(), rows, out[0] + begin);
    shorter_.assign(one_.begin(), one_.begin() + long(rows));
    for (size_t n = 2; n <= longest; ++n) {
      PairNumbers& pairs = pairs_[n - 2];
      for (size_t i = 0; i < rows; ++i) shorter_[i] = pairs.number(shorter_[i], one_[i + n - 1]);
      if (out[n - 1]) std::copy_n(shorter_.begin(), rows, out[n - 1] + begin);
    }
  }
  // Bytes of memory held.
  size_t bytes() const {
    size_t total = signs_.bytes() + bytes_held(spaced_) + bytes_held(single_) + bytes_held(one_) + bytes_held(shorter_);
    for (const PairNumbers& pairs : pairs_) total += pairs.bytes();
    return total;
  }
  std::string value(size_t length, int32_t number) const {
    std::string text;
    append(length, number, text);
    return text;
  }

 private:
  Interner signs_;
  std::vector<int32_t> spaced_;     // (signs, 2): number of the sign without and with a space, or -1
  std::vector<int32_t> single_;     // per number: which of spaced_
  std::vector<PairNumbers> pairs_;  // per length from 2 on: a shorter gram and a single one
  std::vector<int32_t> one_, shorter_;

  int32_t with_space(int32_t sign, bool space) {
    const size_t which = 2 * size_t(sign) + space;
    if (which >= spaced_.size()) spaced_.resize(which + 2, -1);
    int32_t& number = spaced_[which];
    if (number < 0) {
      number = int32_t(single_.size());
      single_.push_back(int32_t(which));
    }
    return number;
  }
  void append(size_t length, int32_t number, std::string& text) const {
    if (length > 1) {
      const PairNumbers::Pair& pair = pairs_[length - 2].pair(size_t(number));
      append(length - 1, pair.first, text);
      return append(1, pair.second, text);
    }
    const size_t which = size_t(single_[size_t(number)]);
    if (which % 2) text.push_back(' ');
    text.append(signs_.value(which / 2));
  }
};

}  // namespace seqtag
