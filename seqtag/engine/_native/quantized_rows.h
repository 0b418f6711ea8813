// Rows of a frozen model's weights, found by key. engine/frozen.py: Decoder.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "engines.h"
#include "keys.h"
#include "large.h"
#include "limits.h"
#include "secret.h"
#include "simd.h"

namespace seqtag {

// Sparse rows of small weights, found by key. A row is a run of words in one arena: its key, the
// number of its cells, the cells; for few labels, its key and the weights of all labels. A slot of the table is one
// word too: where the row begins, and in the bits that this leaves a part of the key.
class QuantizedRows {
 public:
  struct Cell {
    uint16_t label;
    int16_t weight;
  };
  static constexpr uint32_t kNone = 0;

  // sums: how many labels the sums have that rows are only added to, with room for full eights of them; 0: else.
  explicit QuantizedRows(const RowArrays& from, int sums = 0) {
    const auto& [keys, rows, row_ptr, labels, weights] = from;
    size_t n = 64;
    while (n < rows * 4) n *= 2;
    table_.assign(n, kNone);
    const size_t least = rows * kHead + size_t(row_ptr[rows]);
    if (least < size_t(kMaxWords) / 4) {  // what follows takes less than four times as much
      eights_ = sums <= 8 * kMostEights ? (sums + 7) / 8 : 0;
      step_ = sums > 8 * kMostEights && sums <= kFewLabels ? kFour : 1;
    }
    const auto cells_of = [&](size_t r) { return size_t(row_ptr[r + 1] - row_ptr[r]); };
    const auto words_of = [&](size_t r) {
      if (eights_) return size_t(eights_ == 1 ? 4 : 8);  // of a line of 16
      return kHead + (cells_of(r) + step_ - 1) / step_ * step_;
    };
    size_t words = eights_ ? 8 : 1;
    const size_t first = words;
    for (size_t r = 0; r < rows; ++r) words += words_of(r);
    while (words >> place_bits_) ++place_bits_;
    arena_.reserve(words + kPrefetched);
    arena_.resize(words);
    uint32_t* to = arena_.data() + first;
    constexpr size_t kAhead = 16;
    for (size_t r = 0; r < std::min(kAhead, rows); ++r) prefetch_slot(keys[r]);
    for (size_t r = 0; r < rows; to += words_of(r++)) {
      if (r + kAhead < rows) prefetch_slot(keys[r + kAhead]);
      size_t slot = home(keys[r]);
      while (table_[slot] != kNone) slot = (slot + 1) & (n - 1);
      table_[slot] = uint32_t(to - arena_.data()) | part_of(keys[r]);
      to[0] = uint32_t(keys[r]);
      to[1] = uint32_t(keys[r] >> 32);
      if (eights_) {
        int8_t* weight = reinterpret_cast<int8_t*>(to + 2);
        for (int64_t i = row_ptr[r]; i < row_ptr[r + 1]; ++i) weight[labels[i]] = weights[i];
        continue;
      }
      to[2] = uint32_t(words_of(r) - kHead);
      for (size_t i = 0; i < to[2]; ++i) {
        const size_t from_cell = size_t(row_ptr[r]) + i;
        const Cell cell = i < cells_of(r) ? Cell{labels[from_cell], weights[from_cell]} : Cell{uint16_t(i % kFour), 0};
        std::memcpy(to + kHead + i, &cell, sizeof cell);
      }
    }
  }
  SEQTAG_INLINE void prefetch_slot(uint64_t key) const { SEQTAG_PREFETCH(&table_[home(key)]); }
  SEQTAG_INLINE void prefetch_row(uint32_t place) const { SEQTAG_PREFETCH(&arena_[place]); }
  // The same, for a row that may reach into the next line of memory.
  SEQTAG_INLINE void prefetch_whole_row(uint32_t place) const {
    SEQTAG_PREFETCH(arena_.data() + place);
    SEQTAG_PREFETCH(arena_.data() + place + kPrefetched);
  }
  // Place of the first row whose key agrees in the bits that the table holds, or kNone; see `add`.
  uint32_t candidate(uint64_t key) const {
    size_t slot = home(key);
    const uint32_t part = part_of(key);
    uint32_t held = table_[slot];
    while ((held != kNone) & (((held ^ part) >> place_bits_) != 0)) {  // one branch: most slots are right or empty
      slot = (slot + 1) & (table_.size() - 1);
      held = table_[slot];
    }
    return held & ((uint32_t(1) << place_bits_) - 1);
  }
  // Place of the row of a key, given its candidate; or kNone.
  SEQTAG_INLINE uint32_t exact(uint64_t key, uint32_t place) const {
    return key_at_place(place) == key ? place : find_exactly(key);
  }
  // visit(cell) for each cell of the row at a place.
  template <class Visit> SEQTAG_INLINE void visit_cells(uint32_t place, Visit visit) const {
    const uint32_t *cell = &arena_[place] + kHead, *end = cell + arena_[place + 2];
    for (; cell < end; ++cell) visit(cell_of(cell));
  }
  template <class Number> SEQTAG_INLINE void add_at(Number* acc, uint32_t place) const {
    const auto add_cell = [&](Cell c) { acc[c.label] = Number(acc[c.label] + c.weight); };
    if (eights_ == 3) return add_eights<3>(acc, place);
    if (eights_ == 2) return add_eights<2>(acc, place);
    if (eights_ == 1) return add_eights<1>(acc, place);
    if (step_ == 1) return visit_cells(place, add_cell);
    const uint32_t *cell = &arena_[place] + kHead, *end = cell + arena_[place + 2];
    for (; cell < end; cell += kFour)
      for (size_t i = 0; i < kFour; ++i) add_cell(cell_of(cell + i));
  }
  // Adds the row of the key, given its candidate.
  template <class Number> void add(Number* acc, uint64_t key, uint32_t place) const {
    place = exact(key, place);
    if (place != kNone) add_at(acc, place);
  }
  template <class Number> void add(Number* acc, uint64_t key) const {
    const uint32_t place = key ? candidate(key) : kNone;
    if (place != kNone) add(acc, key, place);
  }
  // Place of the row of a key, or kNone if there is none or it is empty.
  uint32_t find(uint64_t key) const {
    const uint32_t place = key ? find_exactly(key) : kNone;
    return place != kNone && arena_[place + 2] ? place : kNone;
  }
  // visit(label) for each cell of the row at a place.
  template <class Visit> void visit_labels(uint32_t place, Visit visit) const {
    for (uint32_t i = 0; i < arena_[place + 2]; ++i) visit(cell_of(&arena_[place + kHead + i]).label);
  }
  size_t longest_probe() const {
    return seqtag::longest_probe(
        table_.size(), [&](size_t slot) { return home(key_at_place(place_in(slot))); },
        [&](size_t slot) { return table_[slot] != kNone; });
  }

 private:
  static constexpr size_t kHead = 3, kPrefetched = 8;  // words
  static constexpr size_t kFour = 4;
  static constexpr int kMostEights = 3, kFewLabels = 60;
  int place_bits_ = 1;
  int eights_ = 0;   // if not 0: a row is its key and as many times eight weights, one for each label
  size_t step_ = 1;  // rows have a multiple of so many cells: loops of few lengths are predicted
  LargeVector<uint32_t> table_, arena_;
  static Cell cell_of(const uint32_t* word) {
    Cell cell;
    std::memcpy(&cell, word, sizeof cell);
    return cell;
  }
  template <int eights, class Number> SEQTAG_INLINE void add_eights(Number* acc, uint32_t place) const {
    int8_t weight[8 * eights];  // a copy, which the sums are not part of
    std::memcpy(weight, &arena_[place + 2], sizeof weight);
    for (int j = 0; j < 8 * eights; ++j) acc[j] = Number(acc[j] + weight[j]);
  }
  Secret secret_ = process_secret();
  SEQTAG_INLINE size_t home(uint64_t key) const { return size_t(secret_.mixed(key)) & (table_.size() - 1); }
  uint32_t part_of(uint64_t key) const { return uint32_t(key) << place_bits_; }
  uint32_t place_in(size_t slot) const { return table_[slot] & ((uint32_t(1) << place_bits_) - 1); }
  uint64_t key_at_place(uint32_t place) const { return arena_[place] | uint64_t(arena_[place + 1]) << 32; }
  uint32_t find_exactly(uint64_t key) const {  // two keys agree in the bits of the table: walk on
    size_t slot = home(key);
    while (table_[slot] != kNone && key_at_place(place_in(slot)) != key) slot = (slot + 1) & (table_.size() - 1);
    return place_in(slot);
  }
};

// Tag dictionary: rows of labels of known words, by the hash of an attribute.
struct TagDictionary {
  int attribute = -1;  // -1: any word may have any label
  QuantizedRows rows;
};

// Labels seen in training with each combination of tags, by the keys of templates. arrays.py: LabelsByTags.
struct LabelsByTags {
  Plan plan;  // of none, one or two templates: the row of the second counts, if there is one
  QuantizedRows rows;
  uint32_t find(const Columns& x, int64_t n, int64_t begin, int64_t end) const {
    uint32_t place = QuantizedRows::kNone;
    for (size_t k = plan.templates; k > 0 && place == QuantizedRows::kNone; --k)
      place = rows.find(key_at(plan, x, k - 1, n, begin, end));
    return place;
  }
};

}  // namespace seqtag
