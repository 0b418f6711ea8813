// The features of a corpus, numbered. keys.py: index_features().
#pragma once
#include <cstdint>
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
  size_t longest_way() const {
    return seqtag::longest_way(
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

inline FeatureIndex index_features(const Plan& plan, const Columns& x, const int64_t* sentence_ptr, size_t sentences,
                                   int64_t min_count) {
  FeatureIndex found;
  constexpr int32_t kAbsent = -1, kUnknown = -2;
  KeyNumbers table;
  std::vector<uint64_t> keys;
  std::vector<int32_t> count, ids;
  auto number = [&](uint64_t key) {
    if (key == 0) return kAbsent;
    const int32_t row = table.number(key);
    if (size_t(row) == count.size()) count.push_back(0);
    return row;
  };
  const size_t F = plan.templates, most = x.capacity + 2;
  std::vector<char> local(F);  // these are looked up once per type
  for (size_t k = 0; k < F; ++k) local[k] = is_local(plan, k);
  std::vector<int32_t> row_of(most * F, kUnknown);  // (types, templates): a local template looks at one column
  ids.resize(x.tokens * F);
  int32_t* id = ids.data();
  for (size_t s = 0; s < sentences; ++s) {
    const int64_t begin = sentence_ptr[s], end = sentence_ptr[s + 1];
    keys.clear();
    for (int64_t n = begin; n < end; ++n)
      for (size_t k = 0; k < F; ++k) {
        if (local[k]) continue;
        keys.push_back(key_at(plan, x, k, n, begin, end));
        if (keys.back()) table.prefetch(keys.back());
      }
    const uint64_t* key = keys.data();
    for (int64_t n = begin; n < end; ++n)
      for (size_t k = 0; k < F; ++k) {
        if (local[k]) {
          const int64_t term = plan.term_ptr[k];
          const int32_t column = plan.attribute_column[plan.term_attribute[term]];
          const size_t type = place_of(x, column, n + plan.term_offset[term], begin, end);
          int32_t& row = row_of[type * F + k];
          if (row == kUnknown) row = number(key_at(plan, x, k, n, begin, end));
          *id = row;
        } else {
          *id = number(*key++);
        }
        if (*id >= 0) ++count[size_t(*id)];
        ++id;
      }
  }
  std::vector<int32_t> new_row(count.size(), kAbsent);
  size_t seen = 0;
  for (size_t r = 0; r < count.size(); ++r)
    if (count[r] >= min_count) {
      new_row[r] = int32_t(found.keys.size());
      found.keys.push_back(table.keys()[r]);
      seen += size_t(count[r]);
    }
  found.features.resize(seen);
  found.token_ptr.reserve(x.tokens + 1);
  found.token_ptr.push_back(0);
  int32_t* feature = found.features.data();
  for (size_t i = 0, n = 0; n < x.tokens; ++n) {
    for (size_t k = 0; k < F; ++k, ++i)
      if (ids[i] >= 0 && new_row[size_t(ids[i])] >= 0) *feature++ = new_row[size_t(ids[i])];
    found.token_ptr.push_back(feature - found.features.data());
  }
  return found;
}

}  // namespace seqtag
