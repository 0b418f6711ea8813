// Rows of a frozen model's weights, found by key. engine/frozen.py: Decoder.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "engines.h"
#include "keys.h"
#include "large.h"
#include "secret.h"
#include "simd.h"

namespace seqtag {

// Sparse rows of small weights, found by key. A row is a run of words in one arena: its key, the
// number of its cells, the cells. A slot of the table is one word too: where the row begins, and
// in the bits that this leaves a part of the key.
class QuantizedRows {
 public:
  struct Cell {
    uint16_t label;
    int16_t weight;
  };
  static constexpr uint32_t kNone = 0;

  explicit QuantizedRows(const RowArrays& from) {
    const auto& [keys, rows, row_ptr, labels, weights] = from;
    size_t n = 64;
    while (n < rows * 4) n *= 2;
    table_.assign(n, kNone);
    const size_t words = 1 + rows * kHead + size_t(row_ptr[rows]);
    while (words >> place_bits_) ++place_bits_;
    arena_.reserve(words + kPrefetched);
    arena_.resize(words);
    uint32_t* to = arena_.data() + 1;
    constexpr size_t kAhead = 16;
    for (size_t r = 0; r < std::min(kAhead, rows); ++r) prefetch_slot(keys[r]);
    for (size_t r = 0; r < rows; ++r) {
      if (r + kAhead < rows) prefetch_slot(keys[r + kAhead]);
      size_t slot = home(keys[r]);
      while (table_[slot] != kNone) slot = (slot + 1) & (n - 1);
      table_[slot] = uint32_t(to - arena_.data()) | part_of(keys[r]);
      *to++ = uint32_t(keys[r]);
      *to++ = uint32_t(keys[r] >> 32);
      *to++ = uint32_t(row_ptr[r + 1] - row_ptr[r]);
      for (int64_t i = row_ptr[r]; i < row_ptr[r + 1]; ++i) {
        const Cell cell{labels[i], weights[i]};
        std::memcpy(to++, &cell, sizeof cell);
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
    visit_cells(place, [&](Cell c) { acc[c.label] = Number(acc[c.label] + c.weight); });
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
  int place_bits_ = 1;
  LargeVector<uint32_t> table_, arena_;
  static Cell cell_of(const uint32_t* word) {
    Cell cell;
    std::memcpy(&cell, word, sizeof cell);
    return cell;
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
