// A trained model as it tags: whole-number weights found by key. reference: frozen.py.
//
// All scores are whole numbers and exact in float32, so sums may be taken in any order: here rows
// are summed in 16 bits, which hold 258 of them. Templates whose attributes sit at one position of
// one column depend on one word type only: their rows are summed once per type and kept ("local"
// templates); only the others ("scattered") are looked up by key, a sentence at a time, each step
// asking for the memory of the next.
#pragma once
#include <algorithm>
#include <memory>

#include "keys.h"
#include "parts.h"
#include "second_order.h"
#include "viterbi.h"

namespace seqtag {

// Sparse rows of small weights, found by key: a table of 8-byte entries that hold half of the key
// and the number of the row, whose head holds all of it.
class FrozenRows {
 public:
  struct Cell {
    uint16_t label;
    int16_t weight;
  };
  struct Head {
    uint64_t key;
    uint32_t begin, count;
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  FrozenRows(const uint64_t* keys, size_t rows, const int64_t* row_ptr, const uint16_t* labels, const int8_t* weights) {
    size_t n = 64;
    while (n < rows * 2) n *= 2;
    table_.assign(n, {0, kNone});
    heads_.reserve(rows);
    cells_.reserve(size_t(row_ptr[rows]));
    for (size_t r = 0; r < rows; ++r) {
      heads_.push_back({keys[r], uint32_t(row_ptr[r]), uint32_t(row_ptr[r + 1] - row_ptr[r])});
      for (int64_t i = row_ptr[r]; i < row_ptr[r + 1]; ++i) cells_.push_back({labels[i], weights[i]});
      size_t slot = home(keys[r]);
      while (table_[slot].row != kNone) slot = (slot + 1) & (n - 1);
      table_[slot] = {uint32_t(keys[r]), uint32_t(r)};
    }
  }
  SEQTAG_INLINE void prefetch_slot(uint64_t key) const { SEQTAG_PREFETCH(&table_[home(key)]); }
  SEQTAG_INLINE void prefetch_head(uint32_t row) const { SEQTAG_PREFETCH(&heads_[row]); }
  SEQTAG_INLINE void prefetch_cells(uint32_t row) const { SEQTAG_PREFETCH(&cells_[heads_[row].begin]); }
  // First row whose key agrees in the half that the table holds, or kNone; see `confirm`.
  uint32_t candidate(uint64_t key) const {
    size_t slot = home(key);
    while (table_[slot].row != kNone && table_[slot].half != uint32_t(key)) slot = (slot + 1) & (table_.size() - 1);
    return table_[slot].row;
  }
  // Adds the row of the key, given its candidate.
  template <class Number> void add(Number* acc, uint64_t key, uint32_t row) const {
    if (heads_[row].key != key) row = find_exactly(key);
    if (row == kNone) return;
    const Head head = heads_[row];
    for (const Cell *c = &cells_[head.begin], *end = c + head.count; c < end; ++c)
      acc[c->label] = Number(acc[c->label] + c->weight);
  }
  template <class Number> void add(Number* acc, uint64_t key) const {
    const uint32_t row = key ? candidate(key) : kNone;
    if (row != kNone) add(acc, key, row);
  }
  // Cells of the row of a key; empty if there is none.
  std::pair<const Cell*, const Cell*> find(uint64_t key) const {
    const uint32_t row = key ? find_exactly(key) : kNone;
    if (row == kNone) return {nullptr, nullptr};
    const Cell* first = &cells_[heads_[row].begin];
    return {first, first + heads_[row].count};
  }

 private:
  struct Slot {
    uint32_t half, row;
  };
  std::vector<Slot> table_;
  std::vector<Head> heads_;
  std::vector<Cell> cells_;
  size_t home(uint64_t key) const { return size_t(key >> 32) & (table_.size() - 1); }
  uint32_t find_exactly(uint64_t key) const {  // two keys agree in one half: walk on
    size_t slot = home(key);
    while (table_[slot].row != kNone && heads_[table_[slot].row].key != key) slot = (slot + 1) & (table_.size() - 1);
    return table_[slot].row;
  }
};

// The labels that a known word may have: rows of label numbers, by the hash of an attribute.
struct KnownLabels {
  int attribute = -1;  // -1: any word may have any label
  FrozenRows rows;
};

class Frozen {
 public:
  Frozen(Plan plan, Plan edge_plan, FrozenRows rows, FrozenRows edges, LabelBlock<float> block,
         TrigramBlock<float> trigram, Parts parts, KnownLabels known, int order)
      : plan_(plan), edge_plan_(edge_plan), rows_(std::move(rows)), edges_(std::move(edges)),
        block_(std::move(block)), trigram_(std::move(trigram)), parts_(std::move(parts)), known_(std::move(known)),
        order_(order), width_(((parts_.any() ? parts_.count : block_.labels) + 7) & ~7) {
    for (size_t k = 0; k < plan_.templates; ++k) {
      const int64_t first = plan_.term_ptr[k], last = plan_.term_ptr[k + 1];
      if (is_local(plan_, k)) {
        group_of(column(first), plan_.term_offset[first]).templates.push_back(k);
        continue;
      }
      scattered_.push_back({plan_.seed[k], terms_.size(), terms_.size() + size_t(last - first)});
      for (int64_t i = first; i < last; ++i) {
        reach_ = std::max(reach_, std::abs(plan_.term_offset[i]));
        terms_.push_back({gather(plan_.term_attribute[i]), plan_.term_offset[i], plan_.multiplier[i - first]});
      }
    }
  }

  // What one thread needs, and the sums of local templates per type: bound to one numbering of the
  // types (an Encoder of encoding.py). Types beyond `capacity` are summed anew each time.
  struct Workspace {
    struct Sums {
      std::vector<int16_t> rows;  // (types, width_)
      std::vector<uint8_t> known; // per type
    };
    std::vector<Sums> sums;       // per group
    size_t capacity = 0;
    std::vector<uint64_t> hashes;  // of the attributes that scattered templates look at, per position
    std::vector<uint64_t> keys[2], edge_keys;  // of this sentence and the next
    struct Found {
      uint32_t key, row;
    };
    std::vector<Found> found;
    std::vector<int16_t> sum;             // of rows: (T, width_)
    std::vector<float> parts, emission;   // scores of one token's parts; of labels (T, block stride)
    Decoder<float> decoder;
    SecondOrderDecoder<float> second;
  };
  Workspace workspace() const {
    constexpr size_t kBudget = size_t(48) << 20;  // bytes
    Workspace space;
    space.sums.resize(groups_.size());
    space.capacity = kBudget / (std::max<size_t>(groups_.size(), 1) * size_t(width_) * sizeof(int16_t));
    return space;
  }

  void decode(const Columns& x, const int64_t* sentence_ptr, size_t sentences, Workspace& space,
              int32_t* out_labels) const {
    for (auto& sums : space.sums) {
      const size_t types = std::min(x.capacity, space.capacity);
      if (sums.known.size() < types) {
        sums.known.resize(types, 0);
        sums.rows.resize(types * size_t(width_));
      }
    }
    if (sentences) prepare(x, sentence_ptr[0], sentence_ptr[1], space, space.keys[0]);
    for (size_t s = 0; s < sentences; ++s) {
      const int64_t begin = sentence_ptr[s], end = sentence_ptr[s + 1];
      if (s + 1 < sentences) prepare(x, end, sentence_ptr[s + 2], space, space.keys[(s + 1) % 2]);
      emissions(x, begin, end, space, space.keys[s % 2]);
      const size_t T = size_t(end - begin);
      if (edge_plan_.templates == 0) {
        run(space, T, NoEdges{}, out_labels + begin);
        continue;
      }
      space.edge_keys.clear();
      for (int64_t n = begin; n < end; ++n)
        for (size_t k = 0; k < edge_plan_.templates; ++k)
          space.edge_keys.push_back(key_at(edge_plan_, x, k, n, begin, end));
      run(space, T, Edges{*this, space.edge_keys.data(), {}}, out_labels + begin);
    }
  }

 private:
  struct Group {  // local templates of one column at one offset
    int32_t column, offset;
    std::vector<size_t> templates;
  };
  Plan plan_, edge_plan_;
  FrozenRows rows_, edges_;
  LabelBlock<float> block_;
  TrigramBlock<float> trigram_;
  Parts parts_;
  KnownLabels known_;
  int order_, width_;  // width_: labels, or their parts, padded
  std::vector<Group> groups_;
  struct Term {
    size_t slot;  // which of gathered_
    int32_t offset;
    uint64_t multiplier;
  };
  struct Scattered {  // a template that is not local: terms_[first:last]
    uint64_t seed;
    size_t first, last;
  };
  std::vector<Term> terms_;
  std::vector<Scattered> scattered_;
  std::vector<int32_t> gathered_;  // attributes that scattered templates look at
  int32_t reach_ = 0;              // how far they look

  int32_t column(int64_t term) const { return plan_.attribute_column[plan_.term_attribute[term]]; }
  size_t gather(int32_t attribute) {
    for (size_t i = 0; i < gathered_.size(); ++i)
      if (gathered_[i] == attribute) return i;
    gathered_.push_back(attribute);
    return gathered_.size() - 1;
  }
  Group& group_of(int32_t column, int32_t offset) {
    for (Group& g : groups_)
      if (g.column == column && g.offset == offset) return g;
    groups_.push_back({column, offset, {}});
    return groups_.back();
  }

  // Transition potentials of one position, from the edge keys of the sentence.
  struct Edges {
    static constexpr bool any = true;
    const Frozen& model;
    const uint64_t* keys;  // (T, edge templates)
    mutable std::vector<float> sum;
    void fill(size_t t, float* matrix) const {
      const int K = model.block_.labels, S = model.block_.stride;
      std::copy(model.block_.transition.begin(), model.block_.transition.end(), matrix);
      sum.assign(size_t(K) * K, 0);
      const size_t E = model.edge_plan_.templates;
      for (size_t k = 0; k < E; ++k) model.edges_.add(sum.data(), keys[t * E + k]);
      for (int i = 0; i < K; ++i)
        for (int j = 0; j < K; ++j) matrix[size_t(i) * S + j] += sum[size_t(i) * K + j];
    }
  };

  template <class E> void run(Workspace& space, size_t T, const E& edges, int32_t* out_labels) const {
    if (order_ == 2)
      space.second.run(space.emission.data(), T, block_, trigram_, edges, nullptr, out_labels);
    else
      space.decoder.run(space.emission.data(), T, block_, order_ > 0, edges, nullptr, out_labels);
  }

  // Emission potentials of the sentence [begin, end) into space.emission (T, block stride).
  void emissions(const Columns& x, int64_t begin, int64_t end, Workspace& space,
                 const std::vector<uint64_t>& keys) const {
    sum_rows(x, begin, end, space, keys);
    const int K = block_.labels, S = block_.stride;
    space.emission.resize(size_t(end - begin) * size_t(S));
    space.parts.resize(size_t(width_));
    for (int64_t n = begin; n < end; ++n) {
      const int16_t* sum = &space.sum[size_t(n - begin) * size_t(width_)];
      float* labels = &space.emission[size_t(n - begin) * size_t(S)];
      const auto [first, last] = labels_of(x, n);
      if (first != last) {  // only these
        std::fill(labels, labels + K, kForbidden);
        for (auto cell = first; cell < last; ++cell)
          labels[cell->label] = parts_.any() ? parts_.sum<float>(sum, cell->label) : float(sum[cell->label]);
      } else if (parts_.any()) {
        for (int j = 0; j < width_; ++j) space.parts[size_t(j)] = float(sum[j]);
        parts_.sum(space.parts.data(), labels);
      } else {
        for (int j = 0; j < K; ++j) labels[j] = float(sum[j]);
      }
      std::fill(labels + K, labels + S, 0.0f);
    }
  }
  // The labels that the word at n may have; empty: all.
  std::pair<const FrozenRows::Cell*, const FrozenRows::Cell*> labels_of(const Columns& x, int64_t n) const {
    if (known_.attribute < 0) return {nullptr, nullptr};
    const size_t a = size_t(known_.attribute);
    return known_.rows.find(x.hashes[a * x.capacity + size_t(x.types[size_t(plan_.attribute_column[a]) * x.tokens + size_t(n)])]);
  }

  // Sums of the rows of the sentence [begin, end) into space.sum (T, width_).
  void sum_rows(const Columns& x, int64_t begin, int64_t end, Workspace& space,
                const std::vector<uint64_t>& keys) const {
    const size_t W = size_t(width_), C = scattered_.size(), T = size_t(end - begin);
    space.found.resize(T * C + 1);
    size_t n = 0;  // found: candidates among the keys, in their order
    for (size_t i = 0; i < T * C; ++i) {
      const uint32_t row = keys[i] ? rows_.candidate(keys[i]) : FrozenRows::kNone;
      space.found[n] = {uint32_t(i), row};
      n += row != FrozenRows::kNone;
    }
    for (size_t i = 0; i < n; ++i) rows_.prefetch_head(space.found[i].row);
    space.sum.assign(T * W, 0);
    for (size_t g = 0; g < groups_.size(); ++g) add_local(x, g, begin, end, space);
    for (size_t i = 0; i < n; ++i) rows_.prefetch_cells(space.found[i].row);
    for (size_t i = 0; i < n; ++i) {
      const Workspace::Found f = space.found[i];
      rows_.add(&space.sum[f.key / C * W], keys[f.key], f.row);
    }
  }

  // Asks for what a sentence will need, while the one before it is decoded.
  void prepare(const Columns& x, int64_t begin, int64_t end, Workspace& space, std::vector<uint64_t>& keys) const {
    prefetch_local(x, begin, end, space);
    make_keys(x, begin, end, space.hashes, keys);
  }

  // Keys of the scattered templates (T, C), as key_at() makes them, their slots asked for.
  void make_keys(const Columns& x, int64_t begin, int64_t end, std::vector<uint64_t>& hashes_at,
                 std::vector<uint64_t>& keys) const {
    const size_t T = size_t(end - begin), R = size_t(reach_), span = T + 2 * R;
    hashes_at.resize(gathered_.size() * span);
    for (size_t g = 0; g < gathered_.size(); ++g) {
      const size_t a = size_t(gathered_[g]);
      const uint64_t* hashes = x.hashes + a * x.capacity;
      const int32_t* types = x.types + size_t(plan_.attribute_column[a]) * x.tokens + begin;
      uint64_t* out = &hashes_at[g * span];
      std::fill(out, out + R, kLeft);
      for (size_t t = 0; t < T; ++t) out[R + t] = hashes[types[t]];
      std::fill(out + R + T, out + span, kRight);
    }
    keys.resize(T * scattered_.size());
    uint64_t* out = keys.data();
    for (size_t t = 0; t < T; ++t)
      for (const Scattered& s : scattered_) {
        uint64_t sum = s.seed;
        bool present = true;
        for (size_t i = s.first; i < s.last; ++i) {
          const Term& term = terms_[i];
          const uint64_t h = hashes_at[term.slot * span + size_t(int64_t(R + t) + term.offset)];
          present &= h != 0;
          sum += h * term.multiplier;
        }
        const uint64_t key = mix(sum);
        *out = present ? (key ? key : 1) : 0;
        rows_.prefetch_slot(*out++);
      }
  }

  SEQTAG_INLINE void prefetch_local(const Columns& x, int64_t begin, int64_t end, const Workspace& space) const {
    for (size_t g = 0; g < groups_.size(); ++g)
      for (int64_t n = begin; n < end; ++n) {
        const size_t type = type_at(x, groups_[g].column, n + groups_[g].offset, begin, end);
        if (type >= space.sums[g].known.size()) continue;
        const char* row = reinterpret_cast<const char*>(&space.sums[g].rows[type * size_t(width_)]);
        for (size_t b = 0; b < size_t(width_) * sizeof(int16_t); b += 64) SEQTAG_PREFETCH(row + b);
      }
  }
  void add_local(const Columns& x, size_t g, int64_t begin, int64_t end, Workspace& space) const {
    const Group& group = groups_[g];
    Workspace::Sums& sums = space.sums[g];
    for (int64_t n = begin; n < end; ++n) {
      int16_t* acc = &space.sum[size_t(n - begin) * size_t(width_)];
      const size_t type = type_at(x, group.column, n + group.offset, begin, end);
      if (type >= sums.known.size()) {
        sum_local(x, group, n, begin, end, acc);
        continue;
      }
      int16_t* row = &sums.rows[type * size_t(width_)];
      if (!sums.known[type]) {
        sum_local(x, group, n, begin, end, row);
        sums.known[type] = 1;
      }
      add(acc, row, width_);
    }
  }
  void sum_local(const Columns& x, const Group& group, int64_t n, int64_t begin, int64_t end, int16_t* acc) const {
    for (size_t k : group.templates) rows_.add(acc, key_at(plan_, x, k, n, begin, end));
  }
};

}  // namespace seqtag
