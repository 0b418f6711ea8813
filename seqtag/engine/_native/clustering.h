// Word bigrams, and exchange clustering of words. tests/oracle/clustering.py derives it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace seqtag {

// Table of bigrams. arrays.py: Bigrams.
struct BigramTable {
  std::vector<int64_t> ptr;
  std::vector<int32_t> after, counts;
};

// Pairs are sorted a few million at a time; sorted runs are merged like the digits of a counter, so
// that every pair is merged a few times, and memory follows the number of distinct pairs.
class BigramCounter {
 public:
  static constexpr int64_t kMost = 2147483647;  // counts have 32 bits

  int64_t total() const { return total_; }
  bool has_room(int64_t more) const { return more <= kMost - total_; }

  void add(const int32_t* words, const int64_t* sentence_ptr, size_t sentences) {
    for (size_t s = 0; s < sentences; ++s) {
      if (sentence_ptr[s] == sentence_ptr[s + 1]) continue;
      int32_t before = 0;
      for (int64_t i = sentence_ptr[s]; i < sentence_ptr[s + 1]; before = words[i++]) push(before, words[i]);
      push(before, 0);
    }
  }

  // How often each of the first words was counted.
  std::vector<int64_t> counts(size_t words) {
    settle();
    std::vector<int64_t> found(words, 0);
    if (!runs_.empty())
      for (size_t i = 0; i < runs_[0].pairs.size(); ++i)
        if (first(runs_[0].pairs[i]) < words) found[first(runs_[0].pairs[i])] += runs_[0].counts[i];
    return found;
  }

  // The largest number that a word has, -1 if there is none; the boundary and each word are the first of a bigram once.
  int64_t last() {
    settle();
    return runs_.empty() || runs_[0].pairs.empty() ? -1 : int64_t(first(runs_[0].pairs.back()));
  }

  // All pairs with other numbers for the words, those that become the same counted together.
  BigramTable table(const int32_t* numbers, size_t size) {
    settle();
    static const Run none;
    const Run& all = runs_.empty() ? none : runs_[0];
    BigramTable out;
    out.ptr.assign(size + 1, 0);
    for (uint64_t pair : all.pairs) ++out.ptr[size_t(numbers[first(pair)]) + 1];
    for (size_t v = 0; v < size; ++v) out.ptr[v + 1] += out.ptr[v];
    out.after.resize(all.pairs.size());
    out.counts.resize(all.pairs.size());
    std::vector<int64_t> next(out.ptr.begin(), out.ptr.end() - 1);
    for (size_t i = 0; i < all.pairs.size(); ++i) {
      const size_t at = size_t(next[size_t(numbers[first(all.pairs[i])])]++);
      out.after[at] = numbers[second(all.pairs[i])];
      out.counts[at] = int32_t(all.counts[i]);
    }
    sum_rows(out, size);
    return out;
  }

 private:
  struct Run {
    std::vector<uint64_t> pairs;  // ascending
    std::vector<uint32_t> counts;
  };
  static constexpr size_t kBatch = size_t(1) << 21;

  std::vector<uint64_t> batch_, other_;
  std::vector<Run> runs_;  // each more than twice as long as the next
  int64_t total_ = 0;

  static size_t first(uint64_t pair) { return size_t(pair >> 32); }
  static size_t second(uint64_t pair) { return size_t(uint32_t(pair)); }

  void push(int32_t before, int32_t after) {
    batch_.push_back(uint64_t(uint32_t(before)) << 32 | uint32_t(after));
    ++total_;
    if (batch_.size() == kBatch) {
      sort_batch();
      while (runs_.size() > 1 && runs_[runs_.size() - 2].pairs.size() < 2 * runs_.back().pairs.size()) merge_last();
    }
  }

  // One run of all that was counted.
  void settle() {
    if (!batch_.empty()) sort_batch();
    while (runs_.size() > 1) merge_last();
  }

  // Sorts by eleven bits at a time, from the lowest on; digits that are the same in all are skipped.
  void sort_batch() {
    constexpr int kBits = 11, kDigits = 6;
    constexpr size_t kValues = size_t(1) << kBits;
    std::vector<uint32_t> places(kDigits * kValues, 0);
    for (uint64_t pair : batch_)
      for (int d = 0; d < kDigits; ++d) ++places[size_t(d) * kValues + size_t(pair >> (kBits * d) & (kValues - 1))];
    other_.resize(batch_.size());
    for (int d = 0; d < kDigits; ++d) {
      uint32_t* place = &places[size_t(d) * kValues];
      if (place[size_t(batch_[0] >> (kBits * d) & (kValues - 1))] == batch_.size()) continue;
      uint32_t start = 0;
      for (size_t v = 0; v < kValues; ++v) start += std::exchange(place[v], start);
      for (uint64_t pair : batch_) other_[place[size_t(pair >> (kBits * d) & (kValues - 1))]++] = pair;
      batch_.swap(other_);
    }
    runs_.emplace_back();
    Run& run = runs_.back();
    for (uint64_t pair : batch_) append(run, pair, 1);
    run.pairs.shrink_to_fit();
    run.counts.shrink_to_fit();
    batch_.clear();
  }

  static void append(Run& run, uint64_t pair, uint32_t count) {
    if (run.pairs.empty() || run.pairs.back() != pair) {
      run.pairs.push_back(pair);
      run.counts.push_back(count);
    } else {
      run.counts.back() += count;
    }
  }

  void merge_last() {
    const Run b = std::move(runs_.back());
    runs_.pop_back();
    const Run a = std::move(runs_.back());
    Run merged;
    size_t most = 0;
    for (size_t i = 0, j = 0; i < a.pairs.size() || j < b.pairs.size(); ++most) {
      const uint64_t pair =
          j == b.pairs.size() || (i < a.pairs.size() && a.pairs[i] < b.pairs[j]) ? a.pairs[i] : b.pairs[j];
      i += i < a.pairs.size() && a.pairs[i] == pair;
      j += j < b.pairs.size() && b.pairs[j] == pair;
    }
    merged.pairs.reserve(most);
    merged.counts.reserve(most);
    for (size_t i = 0, j = 0; i < a.pairs.size() || j < b.pairs.size();)
      if (j == b.pairs.size() || (i < a.pairs.size() && a.pairs[i] < b.pairs[j])) {
        append(merged, a.pairs[i], a.counts[i]);
        ++i;
      } else {
        append(merged, b.pairs[j], b.counts[j]);
        ++j;
        if (i < a.pairs.size() && a.pairs[i] == merged.pairs.back()) merged.counts.back() += a.counts[i++];
      }
    runs_.back() = std::move(merged);
  }

  // Sorts each row, and sums duplicates.
  static void sum_rows(BigramTable& table, size_t size) {
    std::vector<uint64_t> row;
    size_t end = 0;
    int64_t begin = 0;
    for (size_t v = 0; v < size; ++v) {
      row.clear();
      for (int64_t i = begin; i < table.ptr[v + 1]; ++i)
        row.push_back(uint64_t(uint32_t(table.after[size_t(i)])) << 32 | uint32_t(table.counts[size_t(i)]));
      begin = table.ptr[v + 1];
      std::sort(row.begin(), row.end());
      const size_t start = end;
      for (uint64_t each : row) {
        if (end > start && uint32_t(table.after[end - 1]) == uint32_t(each >> 32)) {
          table.counts[end - 1] += int32_t(uint32_t(each));
        } else {
          table.after[end] = int32_t(each >> 32);
          table.counts[end++] = int32_t(uint32_t(each));
        }
      }
      table.ptr[v + 1] = int64_t(end);
    }
    table.after.resize(end);
    table.counts.resize(end);
    table.after.shrink_to_fit();
    table.counts.shrink_to_fit();
  }
};

constexpr int kMaxClasses = 4096;

// n log2 n in whole numbers. tests/oracle/clustering.py: entropies().
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
  // Exact up to 2**31; beyond it, where costs of the class that a word is still in may be asked, any number.
  int64_t operator()(uint32_t n) const { return n < kSmall ? small_[n] : computed(n); }
  int64_t growth(int32_t n, int32_t by) const { return (*this)(uint32_t(n) + uint32_t(by)) - (*this)(uint32_t(n)); }

 private:
  static constexpr int kLog = 28, kPoints = 14, kRest = 31 - kPoints;
  static constexpr uint32_t kSmall = 1 << 18;  // 2 MB, of which the first few thousand are in use
  std::vector<uint64_t> logarithms_;
  std::vector<int64_t> small_;

  int64_t computed(uint32_t n) const {
    if (n == 0) return 0;
    int exponent = 0;
    for (int step = 16; step; step /= 2)
      if (n >> (exponent + step)) exponent += step;
    const uint64_t fraction = (uint64_t(n) << (31 - exponent)) - (uint64_t(1) << 31);
    const size_t place = size_t(fraction >> kRest);
    const uint64_t rest = fraction & ((uint64_t(1) << kRest) - 1), below = logarithms_[place];
    const uint64_t log = (uint64_t(exponent) << kLog) + below + ((logarithms_[place + 1] - below) * rest >> kRest);
    return int64_t(n * log >> 8);
  }
};

class ExchangeClustering {
 public:
  ExchangeClustering(BigramTable following, std::vector<int32_t> classes, int open)
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
      for (size_t c = 0; c < size_; ++c) sum += entropy_(uint32_t(table_.counts(b)[c]));
      sum -= 2 * entropy_(uint32_t(total_[b]));
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
  // a word brings is a sum of rows.
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
      for (int32_t by = 1; by <= kLittle; ++by) cell[size_t(by) * size_] = int32_t(entropy.growth(n, by));
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

  // Sums a word's neighbours by their classes; returns how often it is next to itself.
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
