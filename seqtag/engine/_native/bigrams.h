// Counting which words stand side by side. bigrams.py: BigramCounter.
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

  // The largest number that a word has, -1 if there is none; the boundary and each word are once first.
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

  // Puts each row in order, and sums what stands in it twice.
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

}  // namespace seqtag
