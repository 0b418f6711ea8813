// Exchange clustering: words to classes that foretell each other. exchange.py derives it, and has the
// same names.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "bigrams.h"

namespace seqtag {

constexpr int kMaxClasses = 4096;

// n log2 n in whole numbers. exchange.py: entropies.
class Entropies {
 public:
  Entropies() : logarithms_((size_t(1) << kPoints) + 1), small_(kSmall) {
    for (size_t i = 0; i + 1 < logarithms_.size(); ++i) {
      uint64_t number = ((uint64_t(1) << kPoints) + i) << kRest, found = 0;
      for (int b = 0; b < kLog; ++b) {
        number = number * number >> 31;
        const uint64_t bit = number >> 32;
        number >>= bit;
        found = found << 1 | bit;
      }
      logarithms_[i] = found;
    }
    logarithms_.back() = uint64_t(1) << kLog;
    for (size_t n = 0; n < small_.size(); ++n) small_[n] = computed(uint32_t(n));
  }
  int64_t operator()(int32_t n) const { return uint32_t(n) < kSmall ? small_[size_t(n)] : computed(uint32_t(n)); }
  int64_t growth(int32_t n, int32_t by) const { return (*this)(n + by) - (*this)(n); }

 private:
  static constexpr int kLog = 28, kPoints = 14, kRest = 31 - kPoints;
  static constexpr uint32_t kSmall = 1 << 18;  // 2 MB, of which the first few thousand are in use
  std::vector<uint64_t> logarithms_;
  std::vector<int64_t> small_;

  int64_t computed(uint32_t n) const {
    if (n == 0) return 0;
    int whole = 0;
    for (int step = 16; step; step /= 2)
      if (n >> (whole + step)) whole += step;
    const uint64_t behind = (uint64_t(n) << (31 - whole)) - (uint64_t(1) << 31);
    const size_t place = size_t(behind >> kRest);
    const uint64_t rest = behind & ((uint64_t(1) << kRest) - 1), below = logarithms_[place];
    const uint64_t log = (uint64_t(whole) << kLog) + below + ((logarithms_[place + 1] - below) * rest >> kRest);
    return int64_t(n * log >> 8);
  }
};

class Exchange {
 public:
  Exchange(BigramTable following, std::vector<int32_t> classes, int open)
      : following_(std::move(following)), classes_(std::move(classes)), open_(size_t(open)) {
    int32_t size = open;
    for (int32_t c : classes_) size = std::max(size, c + 1);
    size_ = size_t(size);
    transpose();
    table_.resize(size_);
    transposed_.resize(size_);
    total_.assign(size_, 0);
    for (size_t v = 0; v < classes_.size(); ++v)
      for (int64_t i = following_.ptr[v]; i < following_.ptr[v + 1]; ++i) {
        const size_t b = size_t(classes_[v]), c = size_t(classes_[size_t(following_.after[size_t(i)])]);
        table_.counts(b)[c] += following_.counts[size_t(i)];
        transposed_.counts(c)[b] += following_.counts[size_t(i)];
        total_[b] += following_.counts[size_t(i)];
      }
    table_.fill(entropy_);
    transposed_.fill(entropy_);
    right_.assign(size_, 0);
    left_ = right_;
    small_.assign(open_, 0);
    gains_.assign(open_, 0);
    costs_.assign(open_, 0);
  }
  size_t words() const { return classes_.size(); }
  size_t open() const { return open_; }
  const std::vector<int32_t>& classes() const { return classes_; }

  int64_t objective() const {
    int64_t sum = 0;
    for (size_t b = 0; b < size_; ++b) {
      for (size_t c = 0; c < size_; ++c) sum += entropy_(table_.counts(b)[c]);
      sum -= 2 * entropy_(total_[b]);
    }
    return sum;
  }

  int64_t visit(size_t first, size_t last) {
    int64_t moved = 0;
    for (size_t word = first; word < last; ++word) {
      const int32_t own = gather(following_, word, right_, behind_);
      gather(preceding_, word, left_, ahead_);
      int32_t sum = own;
      for (int32_t d : behind_) sum += right_[size_t(d)];
      if (sum != costs_of_) {
        costs_of_ = sum;
        for (size_t c = 0; c < open_; ++c) costs_[c] = 2 * entropy_.growth(total_[c], sum);
      }
      const size_t old = size_t(classes_[word]);
      put(old, -1, own);
      weigh(own);
      const size_t best = size_t(std::max_element(gains_.begin(), gains_.end()) - gains_.begin());  // the first
      put(best, 1, own);
      classes_[word] = int32_t(best);
      moved += best != old;
      for (int32_t d : behind_) right_[size_t(d)] = 0;
      for (int32_t d : ahead_) left_[size_t(d)] = 0;
    }
    return moved;
  }

 private:
  // N(b, c) for each b, and what f grows by where N grows by a little, as most often: so most of what
  // a word brings is a sum of whole rows.
  class Table {
   public:
    static constexpr int32_t kLittle = 3;
    void resize(size_t size) {
      size_ = size;
      rows_.assign(size * size * (kLittle + 1), 0);
    }
    int32_t* counts(size_t b) { return &rows_[b * (kLittle + 1) * size_]; }
    const int32_t* counts(size_t b) const { return &rows_[b * (kLittle + 1) * size_]; }
    const int32_t* growth(size_t b, int32_t by) const { return counts(b) + size_t(by) * size_; }
    void set(const Entropies& entropy, size_t b, size_t c, int32_t n) {
      int32_t* cell = counts(b) + c;
      *cell = n;
      const int64_t now = entropy(n);
      for (int32_t by = 1; by <= kLittle; ++by) cell[size_t(by) * size_] = int32_t(entropy(n + by) - now);
    }
    void fill(const Entropies& entropy) {
      for (size_t b = 0; b < size_; ++b)
        for (size_t c = 0; c < size_; ++c) set(entropy, b, c, counts(b)[c]);
    }

   private:
    size_t size_ = 0;
    std::vector<int32_t> rows_;
  };
  static constexpr int kRows = 16;  // rows of growth whose sum 32 bits hold: each is less than 2**27

  Entropies entropy_;
  BigramTable following_, preceding_;
  std::vector<int32_t> classes_;
  size_t open_, size_;
  Table table_, transposed_;             // by b, and by c
  std::vector<int32_t> total_;           // N(c)
  std::vector<int32_t> right_, left_;    // R and L of a word
  std::vector<int32_t> behind_, ahead_;  // the classes where they are not 0
  std::vector<int32_t> small_;           // rows of growth, summed
  std::vector<int64_t> gains_;
  std::vector<int64_t> costs_;  // 2 (f(N(c) + n) - f(N(c))) for n = costs_of_: the same for many words
  int32_t costs_of_ = 0;

  void transpose() {
    preceding_.ptr.assign(classes_.size() + 1, 0);
    for (int32_t v : following_.after) ++preceding_.ptr[size_t(v) + 1];
    for (size_t v = 0; v < classes_.size(); ++v) preceding_.ptr[v + 1] += preceding_.ptr[v];
    preceding_.after.resize(following_.after.size());
    preceding_.counts.resize(following_.after.size());
    std::vector<int64_t> next(preceding_.ptr.begin(), preceding_.ptr.end() - 1);
    for (size_t v = 0; v < classes_.size(); ++v)
      for (int64_t i = following_.ptr[v]; i < following_.ptr[v + 1]; ++i) {
        const size_t at = size_t(next[size_t(following_.after[size_t(i)])]++);
        preceding_.after[at] = int32_t(v);
        preceding_.counts[at] = following_.counts[size_t(i)];
      }
  }

  void count(size_t b, size_t c, int32_t more) {
    const int32_t n = table_.counts(b)[c] + more;
    table_.set(entropy_, b, c, n);
    transposed_.set(entropy_, c, b, n);
  }

  // Sums a word's neighbours by their classes; returns how often it stands beside itself.
  int32_t gather(const BigramTable& side, size_t word, std::vector<int32_t>& sums, std::vector<int32_t>& found) {
    int32_t own = 0;
    found.clear();
    for (size_t i = size_t(side.ptr[word]); i < size_t(side.ptr[word + 1]); ++i) {
      if (size_t(side.after[i]) == word) {
        own += side.counts[i];
        continue;
      }
      int32_t& sum = sums[size_t(classes_[size_t(side.after[i])])];
      if (sum == 0) found.push_back(classes_[size_t(side.after[i])]);
      sum += side.counts[i];
    }
    return own;
  }

  // Counts the word's bigrams as of a class, or with sign -1 forgets them.
  void put(size_t at, int32_t sign, int32_t own) {
    for (int32_t d : behind_) count(at, size_t(d), sign * right_[size_t(d)]);
    for (int32_t d : ahead_) count(size_t(d), at, sign * left_[size_t(d)]);
    count(at, at, sign * own);
    total_[at] += sign * costs_of_;
    if (at < open_) costs_[at] = 2 * entropy_.growth(total_[at], costs_of_);
  }

  // What the word brings each open class.
  void weigh(int32_t own) {
    for (size_t c = 0; c < open_; ++c) gains_[c] = -costs_[c];
    int rows = 0;
    for (int32_t d : behind_) grow(transposed_, size_t(d), right_[size_t(d)], rows);
    for (int32_t d : ahead_) grow(table_, size_t(d), left_[size_t(d)], rows);
    add_small(rows);
    for (size_t c = 0; c < open_; ++c) {
      const int32_t r = right_[c], l = left_[c];
      if (own == 0 && (r == 0 || l == 0)) continue;
      const int32_t n = table_.counts(c)[c];
      gains_[c] += entropy_.growth(n, r + l + own) - entropy_.growth(n, r) - entropy_.growth(n, l);
    }
  }

  void grow(const Table& table, size_t d, int32_t by, int& rows) {
    if (by > Table::kLittle) {
      const int32_t* counts = table.counts(d);
      for (size_t c = 0; c < open_; ++c) gains_[c] += entropy_.growth(counts[c], by);
      return;
    }
    const int32_t* growth = table.growth(d, by);
    for (size_t c = 0; c < open_; ++c) small_[c] += growth[c];
    if (++rows == kRows) add_small(rows);
  }

  void add_small(int& rows) {
    for (size_t c = 0; c < open_; ++c) {
      gains_[c] += small_[c];
      small_[c] = 0;
    }
    rows = 0;
  }
};

}  // namespace seqtag
