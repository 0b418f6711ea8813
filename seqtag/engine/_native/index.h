// The features of a corpus, numbered. keys.py: index_features().
#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "keys.h"
#include "secret.h"
#include "simd.h"

namespace seqtag {

// Keys numbered as they come. Open addressing: a slot holds half of a key and its number.
class KeyNumbers {
 public:
  KeyNumbers() : slots_(1 << 16, Slot{0, -1}) {}
  const std::vector<uint64_t>& keys() const { return keys_; }
  int32_t number(uint64_t key) {
    size_t i = home(key);
    for (; slots_[i].number >= 0; i = (i + 1) & (slots_.size() - 1))
      if (slots_[i].half == uint32_t(key) && keys_[size_t(slots_[i].number)] == key) return slots_[i].number;
    const int32_t number = int32_t(keys_.size());
    slots_[i] = {uint32_t(key), number};
    keys_.push_back(key);
    if (2 * keys_.size() > slots_.size()) grow();
    return number;
  }
  SEQTAG_INLINE void prefetch(uint64_t key) const { SEQTAG_PREFETCH(&slots_[home(key)]); }
  size_t longest_probe() const {
    return seqtag::longest_probe(
        slots_.size(), [&](size_t slot) { return home(keys_[size_t(slots_[slot].number)]); },
        [&](size_t slot) { return slots_[slot].number >= 0; });
  }

 private:
  struct Slot {
    uint32_t half;
    int32_t number;  // -1: empty
  };
  std::vector<Slot> slots_;
  std::vector<uint64_t> keys_;
  Secret secret_ = process_secret();
  SEQTAG_INLINE size_t home(uint64_t key) const { return size_t(secret_.mixed(key)) & (slots_.size() - 1); }
  void grow() {
    if (keys_.size() >= size_t(1) << 30) throw std::length_error("more than 2**30 distinct features");
    slots_.assign(slots_.size() * 4, Slot{0, -1});
    for (size_t n = 0; n < keys_.size(); ++n) {
      size_t i = home(keys_[n]);
      while (slots_[i].number >= 0) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = {uint32_t(keys_[n]), int32_t(n)};
    }
  }
};

// Rows by order of first appearance, rare keys left out; and those of every token.
struct FeatureIndex {
  std::vector<uint64_t> keys;      // (rows,)
  std::vector<int64_t> token_ptr;  // (tokens + 1,)
  std::vector<int32_t> features;   // rows
};

// The same, with the rows of local templates by place. arrays.py: LocalRows.
struct LocalFeatureIndex {
  std::vector<uint64_t> keys;
  std::vector<int64_t> runs;  // (runs, 4)
  std::vector<int32_t> rows;
  std::vector<uint8_t> numbers;  // (tokens, other templates, bytes), and a byte more
  size_t bytes = 3;
};

// Finds the features of a corpus in two passes: the first numbers keys, and keeps the numbers of templates
// that look at several positions only; the others' follow from the types, so that the second has them again.
class FeatureIndexer {
 public:
  FeatureIndexer(const Plan& plan, const Columns& x, const int64_t* sentence_ptr, size_t sentences)
      : plan_(plan), x_(x), sentence_ptr_(sentence_ptr), sentences_(sentences) {
    for (size_t k = 0; k < plan.templates; ++k) {
      const bool local = is_local(plan, k);
      const int32_t term = local ? int32_t(plan.term_ptr[k]) : 0;
      const int32_t column = local ? plan.attribute_column[plan.term_attribute[term]] : -1;
      const int32_t offset = local ? plan.term_offset[term] : 0;
      if (!local || runs_.empty() || runs_.back().column != column || runs_.back().offset != offset)
        runs_.push_back({k, k, column, offset});
      runs_.back().last = k + 1;
    }
    for (Run& run : runs_) {
      if (run.column < 0) continue;
      const int32_t* types = x.types + size_t(run.column) * x.tokens;
      run.size = x.tokens ? 3 + size_t(*std::max_element(types, types + x.tokens)) : 0;
      run.places = places_;
      run.rows = row_of_.size();
      places_ += run.size;
      row_of_.resize(row_of_.size() + run.size * (run.last - run.first), kAbsent);
    }
  }

  FeatureIndex index(int64_t min_count) {
    FeatureIndex found;
    found.features.reserve(number_keys(min_count, found.keys));  // pages never touched take no memory
    found.token_ptr.reserve(x_.tokens + 1);
    found.token_ptr.push_back(0);
    const auto add = [&](int32_t row) {
      if (row >= 0) found.features.push_back(row);
    };
    size_t block = 0, at = 0;
    for_each_token([&](int64_t n, int64_t begin, int64_t end) {
      for (const Run& run : runs_) {
        if (run.column < 0) {
          if (at == blocks_[block].size()) {
            std::vector<int32_t>().swap(blocks_[block++]);
            at = 0;
          }
          add(new_row(blocks_[block][at++]));
        } else {
          const int32_t* row = rows_of(run, place_of(x_, run.column, n + run.offset, begin, end));
          std::for_each(row, row + run.last - run.first, add);
        }
      }
      found.token_ptr.push_back(int64_t(found.features.size()));
    });
    return found;
  }

  LocalFeatureIndex index_by_place(int64_t min_count) {
    LocalFeatureIndex found;
    number_keys(min_count, found.keys);
    found.bytes = found.keys.size() < kThreeBytes ? 3 : 4;
    size_t stored = 0;
    for (const auto& block : blocks_) stored += block.size();
    found.numbers.reserve(stored * found.bytes + 1);
    for (auto& block : blocks_) {
      for (const int32_t id : block)
        for (size_t b = 0; b < found.bytes; ++b) found.numbers.push_back(uint8_t(new_row(id) >> (8 * b)));
      std::vector<int32_t>().swap(block);
    }
    found.numbers.push_back(0);
    for (const Run& run : runs_) {
      const size_t width = run.last - run.first;
      found.runs.insert(found.runs.end(), {run.column, run.offset, int64_t(width), int64_t(found.rows.size())});
      for (size_t place = 0; place < run.size; ++place) {
        const int32_t* row = rows_of(run, place);
        const size_t count = found.rows.size();
        found.rows.push_back(0);
        std::copy_if(row, row + width, std::back_inserter(found.rows), [](int32_t id) { return id >= 0; });
        found.rows[count] = int32_t(found.rows.size() - count - 1);
        found.rows.resize(count + 1 + width);
      }
    }
    return found;
  }

 private:
  static constexpr int32_t kAbsent = -1;
  static constexpr size_t kThreeBytes = (size_t(1) << 24) - 1;  // rows that three bytes number, next to an absent one
  static constexpr size_t kBlock = size_t(1) << 24;  // so much that the memory of a block goes back when it is done
  struct Run {  // templates [first, last) that look at one position of one column; or one that does not
    size_t first, last;
    int32_t column, offset;  // column -1: several positions
    size_t size = 0;         // places of its column
    size_t places = 0;       // where they begin among those of all runs
    size_t rows = 0;         // where its (places, templates) begin in row_of_
  };
  const Plan& plan_;
  const Columns& x_;
  const int64_t* sentence_ptr_;
  size_t sentences_;
  std::vector<Run> runs_;
  size_t places_ = 0;                         // of all runs
  std::vector<int32_t> row_of_;               // of local templates
  std::vector<std::vector<int32_t>> blocks_;  // numbers of the keys of the others, token by token
  std::vector<int32_t> new_row_;              // by number: the row, or kAbsent

  int32_t new_row(int32_t id) const { return id < 0 ? kAbsent : new_row_[size_t(id)]; }
  int32_t* rows_of(const Run& run, size_t place) { return &row_of_[run.rows + place * (run.last - run.first)]; }
  template <class Visit> void for_each_token(Visit visit) const {
    for (size_t s = 0; s < sentences_; ++s)
      for (int64_t n = sentence_ptr_[s]; n < sentence_ptr_[s + 1]; ++n)
        visit(n, sentence_ptr_[s], sentence_ptr_[s + 1]);
  }

  // Numbers all keys, and rows those that come often enough; how many features those make.
  size_t number_keys(int64_t min_count, std::vector<uint64_t>& out_keys) {
    KeyNumbers table;
    std::vector<uint64_t> keys;
    std::vector<int32_t> count;
    std::vector<int32_t> times(places_, 0);  // that each run sees each of its places
    auto number = [&](uint64_t key) {
      if (key == 0) return kAbsent;
      const int32_t id = table.number(key);
      if (size_t(id) == count.size()) count.push_back(0);
      return id;
    };
    blocks_.emplace_back();
    for (size_t s = 0; s < sentences_; ++s) {
      const int64_t begin = sentence_ptr_[s], end = sentence_ptr_[s + 1];
      keys.clear();
      for (int64_t n = begin; n < end; ++n)
        for (const Run& run : runs_) {
          if (run.column >= 0) continue;
          keys.push_back(key_at(plan_, x_, run.first, n, begin, end));
          if (keys.back()) table.prefetch(keys.back());
        }
      const uint64_t* key = keys.data();
      for (int64_t n = begin; n < end; ++n)
        for (const Run& run : runs_) {
          if (run.column < 0) {
            const int32_t id = number(*key++);
            if (id >= 0) ++count[size_t(id)];
            keep(id);
            continue;
          }
          const size_t place = place_of(x_, run.column, n + run.offset, begin, end);
          if (times[run.places + place]++ > 0) continue;
          int32_t* row = rows_of(run, place);
          for (size_t k = run.first; k < run.last; ++k) *row++ = number(key_at(plan_, x_, k, n, begin, end));
        }
    }
    const int32_t *id = row_of_.data(), *often = times.data();
    for (const Run& run : runs_)
      for (size_t place = 0; place < run.size; ++place, ++often)
        for (size_t k = run.first; k < run.last; ++k, ++id)
          if (*id >= 0) count[size_t(*id)] += *often;
    size_t seen = 0;
    new_row_.assign(count.size(), kAbsent);
    for (size_t r = 0; r < count.size(); ++r)
      if (count[r] >= min_count) {
        new_row_[r] = int32_t(out_keys.size());
        out_keys.push_back(table.keys()[r]);
        seen += size_t(count[r]);
      }
    for (int32_t& row : row_of_)
      if (row >= 0) row = new_row_[size_t(row)];
    return seen;
  }
  void keep(int32_t id) {
    if (blocks_.back().size() == kBlock) blocks_.emplace_back();
    if (blocks_.back().empty()) blocks_.back().reserve(kBlock);
    blocks_.back().push_back(id);
  }
};

}  // namespace seqtag
