// A trained model as it tags: whole-number weights found by key. reference: frozen.py.
//
// All scores are whole numbers and exact in float32, so sums may be taken in any order. Templates
// whose attributes sit at one position of one column depend on one word type only: their rows are
// summed once per type and kept ("local" templates); only the others are looked up by key.
#pragma once
#include <algorithm>
#include <memory>

#include "keys.h"
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
  void prefetch_slot(uint64_t key) const { SEQTAG_PREFETCH(&table_[home(key)]); }
  void prefetch_head(uint32_t row) const { SEQTAG_PREFETCH(&heads_[row]); }
  void prefetch_cells(uint32_t row) const { SEQTAG_PREFETCH(&cells_[heads_[row].begin]); }
  // First row whose key agrees in the half that the table holds, or kNone; see `confirm`.
  uint32_t candidate(uint64_t key) const {
    size_t slot = home(key);
    while (table_[slot].row != kNone && table_[slot].half != uint32_t(key)) slot = (slot + 1) & (table_.size() - 1);
    return table_[slot].row;
  }
  // Adds the row of the key, given its candidate.
  void add(float* acc, uint64_t key, uint32_t row) const {
    if (heads_[row].key != key) row = find_exactly(key);
    if (row == kNone) return;
    const Head head = heads_[row];
    for (const Cell *c = &cells_[head.begin], *end = c + head.count; c < end; ++c) acc[c->label] += float(c->weight);
  }
  void add(float* acc, uint64_t key) const {
    const uint32_t row = key ? candidate(key) : kNone;
    if (row != kNone) add(acc, key, row);
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

class Frozen {
 public:
  Frozen(Plan plan, Plan edge_plan, FrozenRows rows, FrozenRows edges, LabelBlock<float> block, bool label_features)
      : plan_(plan), edge_plan_(edge_plan), rows_(std::move(rows)), edges_(std::move(edges)),
        block_(std::move(block)), label_features_(label_features) {
    for (size_t k = 0; k < plan_.templates; ++k) {
      const int64_t first = plan_.term_ptr[k], last = plan_.term_ptr[k + 1];
      bool local = first < last;
      for (int64_t i = first; i < last; ++i)
        local = local && plan_.term_offset[i] == plan_.term_offset[first] && column(i) == column(first);
      if (local) {
        group_of(column(first), plan_.term_offset[first]).templates.push_back(k);
      } else {
        scattered_.push_back(k);
      }
    }
  }
  LabelBlock<float>& block() { return block_; }

  // What one thread needs, and the sums of local templates per type: bound to one numbering of the
  // types (an Encoder of encoding.py). Types beyond `capacity` are summed anew each time.
  struct Workspace {
    struct Sums {
      std::vector<float> rows;    // (types, stride)
      std::vector<uint8_t> known; // per type
    };
    std::vector<Sums> sums;       // per group
    size_t capacity = 0;
    std::vector<uint64_t> keys, edge_keys;
    std::vector<uint32_t> found;
    std::vector<float> emission;
    Decoder<float> decoder;
  };
  Workspace workspace() const {
    constexpr size_t kBudget = size_t(64) << 20;  // bytes
    Workspace space;
    space.sums.resize(groups_.size());
    space.capacity = kBudget / (std::max<size_t>(groups_.size(), 1) * size_t(block_.stride) * sizeof(float));
    return space;
  }

  void decode(const Columns& x, const int64_t* sentence_ptr, size_t sentences, Workspace& space,
              int32_t* out_labels) const {
    for (auto& sums : space.sums) {
      const size_t types = std::min(x.capacity, space.capacity);
      if (sums.known.size() < types) {
        sums.known.resize(types, 0);
        sums.rows.resize(types * size_t(block_.stride));
      }
    }
    for (size_t s = 0; s < sentences; ++s) {
      const int64_t begin = sentence_ptr[s], end = sentence_ptr[s + 1];
      emissions(x, begin, end, space);
      const size_t T = size_t(end - begin);
      if (edge_plan_.templates == 0) {
        space.decoder.run(space.emission.data(), T, block_, label_features_, NoEdges{}, nullptr, out_labels + begin);
        continue;
      }
      space.edge_keys.clear();
      for (int64_t n = begin; n < end; ++n)
        for (size_t k = 0; k < edge_plan_.templates; ++k)
          space.edge_keys.push_back(key_at(edge_plan_, x, k, n, begin, end));
      space.decoder.run(space.emission.data(), T, block_, label_features_, Edges{*this, space.edge_keys.data(), {}},
                        nullptr, out_labels + begin);
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
  bool label_features_;
  std::vector<Group> groups_;
  std::vector<size_t> scattered_;  // templates that are not local

  int32_t column(int64_t term) const { return plan_.attribute_column[plan_.term_attribute[term]]; }
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

  // Emission potentials of the sentence [begin, end) into space.emission (T, stride).
  void emissions(const Columns& x, int64_t begin, int64_t end, Workspace& space) const {
    const size_t S = size_t(block_.stride), C = scattered_.size(), T = size_t(end - begin);
    space.keys.resize(T * C);
    space.found.resize(T * C);
    for (size_t t = 0, i = 0; t < T; ++t)
      for (size_t c = 0; c < C; ++c, ++i) {
        space.keys[i] = key_at(plan_, x, scattered_[c], begin + int64_t(t), begin, end);
        rows_.prefetch_slot(space.keys[i]);
      }
    space.emission.assign(T * S, 0);
    for (size_t g = 0; g < groups_.size(); ++g) add_local(x, g, begin, end, space);
    for (size_t i = 0; i < T * C; ++i) {
      space.found[i] = space.keys[i] ? rows_.candidate(space.keys[i]) : FrozenRows::kNone;
      if (space.found[i] != FrozenRows::kNone) rows_.prefetch_head(space.found[i]);
    }
    for (size_t i = 0; i < T * C; ++i)
      if (space.found[i] != FrozenRows::kNone) rows_.prefetch_cells(space.found[i]);
    for (size_t t = 0, i = 0; t < T; ++t)
      for (size_t c = 0; c < C; ++c, ++i)
        if (space.found[i] != FrozenRows::kNone) rows_.add(&space.emission[t * S], space.keys[i], space.found[i]);
  }

  void add_local(const Columns& x, size_t g, int64_t begin, int64_t end, Workspace& space) const {
    const Group& group = groups_[g];
    Workspace::Sums& sums = space.sums[g];
    const int S = block_.stride;
    for (int64_t n = begin; n < end; ++n) {
      float* acc = &space.emission[size_t(n - begin) * size_t(S)];
      const int64_t at = n + group.offset;
      const size_t type = at < begin || at >= end
                              ? space.capacity  // beyond the sentence
                              : size_t(x.types[size_t(group.column) * x.tokens + size_t(at)]);
      if (type >= sums.known.size()) {
        sum_local(x, group, n, begin, end, acc);
        continue;
      }
      float* row = &sums.rows[type * size_t(S)];
      if (!sums.known[type]) {
        sum_local(x, group, n, begin, end, row);
        sums.known[type] = 1;
      }
      add(acc, row, S);
    }
  }
  void sum_local(const Columns& x, const Group& group, int64_t n, int64_t begin, int64_t end, float* acc) const {
    for (size_t k : group.templates) rows_.add(acc, key_at(plan_, x, k, n, begin, end));
  }
};

}  // namespace seqtag
