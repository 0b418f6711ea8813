// A trained model as it tags: whole-number weights found by key. engine/frozen.py: Frozen.
//
// All scores are whole numbers and exact in float32, so sums may be taken in any order: here rows
// are summed in 16 bits, or in 32 where more rows can meet than 16 bits hold. Templates whose
// attributes sit at one position depend on the word type there only, or on the tuple of types where
// they look at several columns: their rows are summed once per type or tuple and kept ("local"
// templates); only the others ("scattered") are looked up by key, a sentence at a time, each step
// asking for the memory of the next.
#pragma once
#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "keys.h"
#include "limits.h"
#include "parts.h"
#include "second_order.h"
#include "viterbi.h"

namespace seqtag {

// Sparse rows of small weights, found by key. A row is a run of words in one arena: its key, the
// number of its cells, the cells. A slot of the table is one word too: where the row begins, and
// in the bits that this leaves a part of the key.
class FrozenRows {
 public:
  struct Cell {
    uint16_t label;
    int16_t weight;
  };
  static constexpr uint32_t kNone = 0;

  FrozenRows(const uint64_t* keys, size_t rows, const int64_t* row_ptr, const uint16_t* labels, const int8_t* weights) {
    size_t n = 64;
    while (n < rows * 4) n *= 2;
    table_.assign(n, kNone);
    const size_t words = 1 + rows * kHead + size_t(row_ptr[rows]);
    while (words >> place_bits_) ++place_bits_;
    arena_.reserve(words);
    arena_.push_back(kNone);
    for (size_t r = 0; r < rows; ++r) {
      size_t slot = home(keys[r]);
      while (table_[slot] != kNone) slot = (slot + 1) & (n - 1);
      table_[slot] = uint32_t(arena_.size()) | part_of(keys[r]);
      arena_.push_back(uint32_t(keys[r]));
      arena_.push_back(uint32_t(keys[r] >> 32));
      arena_.push_back(uint32_t(row_ptr[r + 1] - row_ptr[r]));
      for (int64_t i = row_ptr[r]; i < row_ptr[r + 1]; ++i) {
        const Cell cell{labels[i], weights[i]};
        uint32_t word;
        std::memcpy(&word, &cell, sizeof word);
        arena_.push_back(word);
      }
    }
  }
  SEQTAG_INLINE void prefetch_slot(uint64_t key) const { SEQTAG_PREFETCH(&table_[home(key)]); }
  SEQTAG_INLINE void prefetch_row(uint32_t place) const { SEQTAG_PREFETCH(&arena_[place]); }
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
  // Adds the row of the key, given its candidate.
  template <class Number> void add(Number* acc, uint64_t key, uint32_t place) const {
    if (key_at_place(place) != key) place = find_exactly(key);
    if (place == kNone) return;
    const uint32_t *cell = &arena_[place] + kHead, *end = cell + arena_[place + 2];
    for (; cell < end; ++cell) {
      const Cell c = cell_of(cell);
      acc[c.label] = Number(acc[c.label] + c.weight);
    }
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

 private:
  static constexpr size_t kHead = 3;
  int place_bits_ = 1;
  std::vector<uint32_t> table_, arena_;
  static Cell cell_of(const uint32_t* word) {
    Cell cell;
    std::memcpy(&cell, word, sizeof cell);
    return cell;
  }
  size_t home(uint64_t key) const { return size_t(key >> 32) & (table_.size() - 1); }
  uint32_t part_of(uint64_t key) const { return uint32_t(key) << place_bits_; }
  uint32_t place_in(size_t slot) const { return table_[slot] & ((uint32_t(1) << place_bits_) - 1); }
  uint64_t key_at_place(uint32_t place) const { return arena_[place] | uint64_t(arena_[place + 1]) << 32; }
  uint32_t find_exactly(uint64_t key) const {  // two keys agree in the bits of the table: walk on
    size_t slot = home(key);
    while (table_[slot] != kNone && key_at_place(place_in(slot)) != key) slot = (slot + 1) & (table_.size() - 1);
    return place_in(slot);
  }
};

// The labels that a known word may have: rows of label numbers, by the hash of an attribute.
struct KnownLabels {
  int attribute = -1;  // -1: any word may have any label
  FrozenRows rows;
};

// Start, stop and transition weights, readied for decoding.
inline ChainWeights<float> chain_of(int K, int order, const float* start, const float* stop, const float* transition) {
  constexpr int kFewLabels = 256;  // comparing the rows of more takes a second
  ChainWeights<float> chain(K, order);
  for (int i = 0; i < K; ++i) {
    chain.start[size_t(i)] = start[i];
    chain.stop[size_t(i)] = stop[i];
    if (order == 0) continue;
    for (int j = 0; j < K; ++j) chain.set(i, j, transition[size_t(i) * size_t(K) + size_t(j)]);
    chain.bound_row(i);
  }
  if (order == 1 && K <= kFewLabels) chain.compare_rows();
  return chain;
}

// Trigram weights from sparse rows; the key of a row is its number plus 1.
inline TrigramWeights<float> trigrams_of(int K, const uint64_t* keys, size_t rows, const int64_t* row_ptr,
                                         const uint16_t* labels, const int8_t* weights,
                                         const ChainWeights<float>& chain) {
  TrigramWeights<float> trigram(K);
  for (size_t r = 0; r < rows; ++r) {
    float* row = trigram.row(int((keys[r] - 1) / uint64_t(K)), int((keys[r] - 1) % uint64_t(K)));
    for (int64_t i = row_ptr[r]; i < row_ptr[r + 1]; ++i) row[labels[i]] = float(weights[i]);
  }
  for (int a = 0; a <= K; ++a) {
    for (int b = 0; b < K; ++b) trigram.bound_row(a, b);
    trigram.bound_onward(a, chain);
  }
  return trigram;
}

// Numbers of tuples of types, in the order in which they come.
class Tuples {
 public:
  // The number of the types that some columns have at token m; `most` if it is new and there are
  // so many already.
  size_t number(const Columns& x, const std::vector<int32_t>& columns, int64_t m, size_t most) {
    const size_t C = columns.size();
    if (slots_.size() < 2 * (count_ + 1)) grow(C);
    at_.resize(C);
    for (size_t i = 0; i < C; ++i) at_[i] = x.types[size_t(columns[i]) * x.tokens + size_t(m)];
    size_t slot = home(at_.data(), C);
    for (; slots_[slot]; slot = (slot + 1) & (slots_.size() - 1))
      if (std::equal(at_.begin(), at_.end(), &types_[(slots_[slot] - 1) * C])) return slots_[slot] - 1;
    if (count_ >= most) return most;
    types_.insert(types_.end(), at_.begin(), at_.end());
    slots_[slot] = uint32_t(++count_);
    return count_ - 1;
  }

 private:
  std::vector<uint32_t> slots_;  // number + 1, or 0
  std::vector<int32_t> types_, at_;
  size_t count_ = 0;
  size_t home(const int32_t* types, size_t C) const {
    uint64_t h = 0;
    for (size_t i = 0; i < C; ++i) h = mix(h + uint64_t(uint32_t(types[i])) + 1);
    return size_t(mix(h) >> 32) & (slots_.size() - 1);
  }
  void grow(size_t C) {
    slots_.assign(std::max<size_t>(1024, 2 * slots_.size()), 0);
    for (size_t n = 0; n < count_; ++n) {
      size_t slot = home(&types_[n * C], C);
      while (slots_[slot]) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = uint32_t(n + 1);
    }
  }
};

// Sum: the numbers that rows are summed in, int16_t for kNarrowRows rows at most, else int32_t.
template <class Sum> class Frozen {
 public:
  Frozen(Plan plan, Plan edge_plan, FrozenRows rows, FrozenRows edge_rows, ChainWeights<float> chain,
         TrigramWeights<float> trigram, Parts parts, KnownLabels known, int order)
      : plan_(plan), edge_plan_(edge_plan), rows_(std::move(rows)), edges_(std::move(edge_rows)),
        chain_(std::move(chain)), trigram_(std::move(trigram)), parts_(std::move(parts)), known_(std::move(known)),
        order_(order), few_((parts_.any() ? parts_.count : chain_.labels) <= kFew),
        width_(few_ ? kFew : padded<Sum>(parts_.any() ? parts_.count : chain_.labels)) {
    for (size_t k = 0; k < plan_.templates; ++k) {
      const int64_t first = plan_.term_ptr[k], last = plan_.term_ptr[k + 1];
      if (is_summed_once(k)) {
        group_of(seen_together(k), plan_.term_offset[first]).templates.push_back(k);
        continue;
      }
      const size_t begin = terms_.size();
      for (int64_t i = first; i < last; ++i) {
        reach_ = std::max(reach_, std::abs(plan_.term_offset[i]));
        terms_.push_back({gather(plan_.term_attribute[i]), plan_.term_offset[i], plan_.multiplier[i - first]});
      }
      while (terms_.size() < begin + 2) terms_.push_back({0, 0, 0});  // two at least: see make_keys()
      scattered_.push_back({plan_.seed[k], begin, terms_.size()});
    }
    for (LocalColumns& c : local_) {
      for (const Group& g : c.groups) c.lowest = std::min(c.lowest, g.offset), c.highest = std::max(c.highest, g.offset);
      c.width = (few_ ? size_t(c.highest - c.lowest) + 1 : c.groups.size()) * size_t(width_);
      if (few_) margin_ = std::max(margin_, size_t(std::max(c.highest, 0) - std::min(c.lowest, 0)));
    }
  }

  // What one thread needs, and the sums of local templates per type: bound to one numbering of the
  // types (an Encoder of encoder.py). Types beyond `capacity` are summed anew each time.
  struct Workspace {
    struct TypeSums {
      std::vector<Sum> rows;         // (types + 2, width of the columns); 0, 1: beyond the ends
      std::vector<uint8_t> known;    // per type
      Tuples tuples;                 // if there are several columns: what stands for a type
      std::vector<size_t> place[2];  // of the tuple at each token of this sentence and the next
    };
    std::vector<TypeSums> sums;  // per column, or columns, that local templates look at
    size_t capacity = 0;
    std::vector<const Sum*> local;             // rows of one token
    std::vector<Sum> nothing;                  // a row of zeros
    std::vector<uint64_t> hashes;              // of the attributes that scattered templates look at, per position
    std::vector<uint64_t> keys[2], edge_keys;  // of this sentence and the next
    struct Found {
      uint64_t key;
      uint32_t place;
      size_t begin;  // of the token in `sum`
    };
    std::vector<Found> found;
    std::vector<Sum> sum;                // of rows: (margin_ + T + margin_, width_)
    std::vector<float> parts, emission;  // scores of one token's parts; of labels (T, chain stride)
    Decoder<float> decoder;
    SecondOrderDecoder<float> second;
  };
  Workspace workspace() const {
    constexpr size_t kBudget = size_t(48) << 20;  // bytes
    Workspace space;
    space.sums.resize(local_.size());
    size_t groups = 0, width = 0;
    for (const LocalColumns& c : local_) groups += c.groups.size(), width += c.width;
    space.local.resize(groups);
    space.nothing.resize(size_t(width_));
    space.capacity = kBudget / (std::max<size_t>(width, 1) * sizeof(Sum));
    return space;
  }

  void decode(const Columns& x, const int64_t* sentence_ptr, size_t sentences, Workspace& space,
              int32_t* out_labels) const {
    for (size_t c = 0; c < local_.size(); ++c)
      make_room(c, local_[c].columns.size() > 1 ? 2 : std::min(x.capacity, space.capacity) + 2, space.sums[c]);
    if (sentences) prepare(x, sentence_ptr[0], sentence_ptr[1], space, 0);
    for (size_t s = 0; s < sentences; ++s) {
      const int64_t begin = sentence_ptr[s], end = sentence_ptr[s + 1];
      if (s + 1 < sentences) prepare(x, end, sentence_ptr[s + 2], space, (s + 1) % 2);
      const size_t T = size_t(end - begin);
      if (order_ == 0 && !parts_.any() && known_.attribute < 0) {
        sum_rows(x, begin, end, space, s % 2);
        for (size_t t = 0; t < T; ++t)
          out_labels[size_t(begin) + t] = best_label(&space.sum[(margin_ + t) * size_t(width_)]);
        continue;
      }
      emissions(x, begin, end, space, s % 2);
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
  struct Group {  // local templates of one column, or of several, at one offset
    int32_t offset;
    std::vector<size_t> templates;
  };
  struct LocalColumns {
    std::vector<int32_t> columns;
    std::vector<Group> groups;
    int32_t lowest = kFar, highest = -kFar;  // offsets
    size_t width = 0;                        // of the sums of one type
  };
  static constexpr int32_t kFar = 1 << 20;
  static constexpr int kFew = 4;  // with so few labels, sums of several offsets are one vector
  Plan plan_, edge_plan_;
  FrozenRows rows_, edges_;
  ChainWeights<float> chain_;
  TrigramWeights<float> trigram_;
  Parts parts_;
  KnownLabels known_;
  int order_;
  bool few_;
  int width_;          // labels, or their parts, padded
  size_t margin_ = 0;  // tokens beyond the ends of a sentence that sums are kept of
  std::vector<LocalColumns> local_;
  struct Term {
    size_t slot;  // one more than which of gathered_; 0: always 1
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
      if (gathered_[i] == attribute) return 1 + i;
    gathered_.push_back(attribute);
    return gathered_.size();
  }
  bool is_summed_once(size_t k) const { return few_ ? is_local(plan_, k) : is_at_one_position(plan_, k); }
  // The columns whose types stand together for a local template: where templates look at several
  // columns at one position, all those are one tuple, and what looks at one of them joins in.
  std::vector<int32_t> seen_together(size_t template_number) const {
    const auto columns_of = [&](size_t k) {
      std::vector<int32_t> columns;
      for (int64_t i = plan_.term_ptr[k]; i < plan_.term_ptr[k + 1]; ++i) columns.push_back(column(i));
      std::sort(columns.begin(), columns.end());
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      return columns;
    };
    const auto offset_of = [&](size_t k) { return plan_.term_offset[plan_.term_ptr[k]]; };
    const std::vector<int32_t> own = columns_of(template_number);
    std::vector<int32_t> all, sum;
    for (size_t k = 0; k < plan_.templates; ++k) {
      if (!is_summed_once(k) || offset_of(k) != offset_of(template_number)) continue;
      const std::vector<int32_t> columns = columns_of(k);
      if (columns.size() < 2) continue;
      sum.clear();
      std::set_union(all.begin(), all.end(), columns.begin(), columns.end(), std::back_inserter(sum));
      all.swap(sum);
    }
    return std::includes(all.begin(), all.end(), own.begin(), own.end()) ? all : own;
  }
  Group& group_of(const std::vector<int32_t>& columns, int32_t offset) {
    size_t c = 0;
    while (c < local_.size() && local_[c].columns != columns) ++c;
    if (c == local_.size()) local_.push_back({columns, {}});
    for (Group& g : local_[c].groups)
      if (g.offset == offset) return g;
    local_[c].groups.push_back({offset, {}});
    return local_[c].groups.back();
  }

  // Transition potentials of one position, from the edge keys of the sentence.
  struct Edges {
    static constexpr bool any = true;
    const Frozen& model;
    const uint64_t* keys;  // (T, edge templates)
    mutable std::vector<float> sum;
    void fill(size_t t, float* matrix) const {
      const int K = model.chain_.labels, S = model.chain_.stride;
      std::copy(model.chain_.transition.begin(), model.chain_.transition.end(), matrix);
      sum.assign(size_t(K) * K, 0);
      const size_t E = model.edge_plan_.templates;
      for (size_t k = 0; k < E; ++k) model.edges_.add(sum.data(), keys[t * E + k]);
      for (int i = 0; i < K; ++i)
        for (int j = 0; j < K; ++j) matrix[size_t(i) * S + j] += sum[size_t(i) * K + j];
    }
  };

  // The first label with the highest sum, where nothing else counts.
  int32_t best_label(const Sum* sum) const {
    Sum best = sum[0];
    for (int j = 1; j < chain_.labels; ++j) best = std::max(best, sum[j]);
    int32_t label = 0;
    while (sum[label] != best) ++label;
    return label;
  }

  template <class E> void run(Workspace& space, size_t T, const E& edges, int32_t* out_labels) const {
    if (order_ == 2)
      space.second.run(space.emission.data(), T, chain_, trigram_, edges, nullptr, out_labels);
    else
      space.decoder.run(space.emission.data(), T, chain_, order_ > 0, edges, nullptr, out_labels);
  }

  // Emission potentials of the sentence [begin, end) into space.emission (T, chain stride).
  void emissions(const Columns& x, int64_t begin, int64_t end, Workspace& space, size_t turn) const {
    sum_rows(x, begin, end, space, turn);
    const int K = chain_.labels, S = chain_.stride;
    space.emission.resize(size_t(end - begin) * size_t(S));
    space.parts.resize(size_t(width_));
    for (int64_t n = begin; n < end; ++n) {
      const Sum* sum = &space.sum[(margin_ + size_t(n - begin)) * size_t(width_)];
      float* labels = &space.emission[size_t(n - begin) * size_t(S)];
      if (allow_known(x, n, sum, labels)) {
        // the others stay forbidden
      } else if (parts_.any()) {
        for (int j = 0; j < width_; ++j) space.parts[size_t(j)] = float(sum[j]);
        parts_.sum(space.parts.data(), labels);
      } else {
        for (int j = 0; j < K; ++j) labels[j] = float(sum[j]);
      }
      std::fill(labels + K, labels + S, 0.0f);
    }
  }
  // If the word at n is known: the potentials of the labels that it may have; all others forbidden.
  bool allow_known(const Columns& x, int64_t n, const Sum* sum, float* labels) const {
    if (known_.attribute < 0) return false;
    const size_t a = size_t(known_.attribute);
    const int32_t type = x.types[size_t(plan_.attribute_column[a]) * x.tokens + size_t(n)];
    const uint32_t place = known_.rows.find(x.hashes[a * x.capacity + size_t(type)]);
    if (place == FrozenRows::kNone) return false;
    std::fill(labels, labels + chain_.labels, kForbidden);
    known_.rows.visit_labels(place, [&](uint16_t label) {
      labels[label] = parts_.any() ? parts_.sum<float>(sum, label) : float(sum[label]);
    });
    return true;
  }

  // Sums of the rows of the sentence [begin, end) into space.sum (T, width_).
  void sum_rows(const Columns& x, int64_t begin, int64_t end, Workspace& space, size_t turn) const {
    const size_t W = size_t(width_), C = scattered_.size(), T = size_t(end - begin);
    space.found.resize(T * C + 1);
    size_t n = 0;
    const uint64_t* key = space.keys[turn].data();
    for (size_t t = 0; t < T; ++t)
      for (size_t c = 0; c < C; ++c, ++key) {
        if (*key == 0) continue;
        const uint32_t place = rows_.candidate(*key);
        rows_.prefetch_row(place);
        space.found[n] = {*key, place, (margin_ + t) * W};
        n += place != FrozenRows::kNone;
      }
    if (few_) {
      space.sum.assign((T + 2 * margin_) * W, 0);
      for (size_t c = 0; c < local_.size(); ++c) sum_column(x, c, begin, end, space.sums[c], space.sum.data());
    } else {
      space.sum.resize(T * W);
      for (size_t t = 0; t < T; ++t) sum_local(x, begin + int64_t(t), begin, end, space, turn, &space.sum[t * W]);
    }
    for (size_t i = 0; i < n; ++i)
      rows_.add(&space.sum[space.found[i].begin], space.found[i].key, space.found[i].place);
  }

  // Readies what a sentence will need, while the one before it is decoded; `turn` of the two.
  void prepare(const Columns& x, int64_t begin, int64_t end, Workspace& space, size_t turn) const {
    for (size_t c = 0; c < local_.size() && !few_; ++c) {
      typename Workspace::TypeSums& sums = space.sums[c];
      if (local_[c].columns.size() > 1) {
        sums.place[turn].resize(size_t(end - begin));
        for (int64_t m = begin; m < end; ++m) {
          const size_t place = 2 + sums.tuples.number(x, local_[c].columns, m, space.capacity);
          if (place >= sums.known.size()) make_room(c, std::min(2 * place, space.capacity + 2), sums);
          sums.place[turn][size_t(m - begin)] = place;
        }
      }
      for (int64_t m = begin - 1; m <= end; ++m) ready_local(x, c, m, begin, end, sums, turn);
    }
    make_keys(x, begin, end, space.hashes, space.keys[turn]);
  }
  // Makes room for the sums of so many places.
  void make_room(size_t c, size_t places, typename Workspace::TypeSums& sums) const {
    if (places <= sums.known.size()) return;
    sums.known.resize(places, 0);
    sums.rows.resize(places * local_[c].width);
  }
  // Where the sums for the type, or tuple, at position m are.
  SEQTAG_INLINE size_t place_at(const Columns& x, size_t c, int64_t m, int64_t begin, int64_t end,
                                const typename Workspace::TypeSums& sums, size_t turn) const {
    if (local_[c].columns.size() == 1) return place_of(x, local_[c].columns[0], m, begin, end);
    return m < begin ? 0 : m >= end ? 1 : sums.place[turn][size_t(m - begin)];
  }

  // Keys of the scattered templates (T, C), as key_at() makes them, their slots asked for.
  void make_keys(const Columns& x, int64_t begin, int64_t end, std::vector<uint64_t>& hashes_at,
                 std::vector<uint64_t>& keys) const {
    const size_t T = size_t(end - begin), R = size_t(reach_), span = T + 2 * R;
    hashes_at.resize((1 + gathered_.size()) * span);
    std::fill_n(hashes_at.begin(), span, 1);  // what stands for a term that is not there
    for (size_t g = 0; g < gathered_.size(); ++g) {
      const size_t a = size_t(gathered_[g]);
      const uint64_t* hashes = x.hashes + a * x.capacity;
      const int32_t* types = x.types + size_t(plan_.attribute_column[a]) * x.tokens + begin;
      uint64_t* out = &hashes_at[(1 + g) * span];
      std::fill(out, out + R, kLeft);
      for (size_t t = 0; t < T; ++t) out[R + t] = hashes[types[t]];
      std::fill(out + R + T, out + span, kRight);
    }
    const size_t C = scattered_.size();
    const uint64_t* at_left = hashes_at.data() + R;  // of the first token
    keys.resize(T * C);
    for (size_t c = 0; c < C; ++c) {
      const Scattered& s = scattered_[c];
      auto from = [&](const Term& term) { return at_left + int64_t(term.slot * span) + term.offset; };
      const Term &one = terms_[s.first], &two = terms_[s.first + 1];
      const uint64_t *first = from(one), *second = from(two);
      for (size_t t = 0; t < T; ++t) {
        uint64_t sum = s.seed + first[t] * one.multiplier + second[t] * two.multiplier;
        bool present = first[t] != 0 && second[t] != 0;
        for (size_t i = s.first + 2; i < s.last; ++i) {
          const uint64_t h = from(terms_[i])[t];
          present &= h != 0;
          sum += h * terms_[i].multiplier;
        }
        const uint64_t key = mix(sum);
        keys[t * C + c] = present ? (key ? key : 1) : 0;
        rows_.prefetch_slot(key);
      }
    }
  }

  // Sums what local templates give for the type at m, if it is new, else asks for it.
  SEQTAG_INLINE void ready_local(const Columns& x, size_t c, int64_t m, int64_t begin, int64_t end,
                                 typename Workspace::TypeSums& sums, size_t turn) const {
    const std::vector<Group>& groups = local_[c].groups;
    const size_t row = place_at(x, c, m, begin, end, sums, turn), width = groups.size() * size_t(width_);
    if (row >= sums.known.size()) return;
    Sum* first = &sums.rows[row * width];
    if (!sums.known[row]) {
      for (size_t g = 0; g < groups.size(); ++g) add_local(x, groups[g], m, begin, end, first + g * size_t(width_));
      sums.known[row] = 1;
    }
    for (size_t b = 0; b < width * sizeof(Sum); b += 64) SEQTAG_PREFETCH(reinterpret_cast<char*>(first) + b);
  }
  // Few labels: adds what a column's types give to all tokens that they are seen from.
  void sum_column(const Columns& x, size_t c, int64_t begin, int64_t end, typename Workspace::TypeSums& sums,
                  Sum* sum) const {
    switch (local_[c].width / kFew) {
    case 1: return sum_column_of<1 * kFew>(x, c, begin, end, sums, sum);
    case 2: return sum_column_of<2 * kFew>(x, c, begin, end, sums, sum);
    case 3: return sum_column_of<3 * kFew>(x, c, begin, end, sums, sum);
    case 4: return sum_column_of<4 * kFew>(x, c, begin, end, sums, sum);
    case 5: return sum_column_of<5 * kFew>(x, c, begin, end, sums, sum);
    case 6: return sum_column_of<6 * kFew>(x, c, begin, end, sums, sum);
    case 7: return sum_column_of<7 * kFew>(x, c, begin, end, sums, sum);
    case 8: return sum_column_of<8 * kFew>(x, c, begin, end, sums, sum);
    default: return sum_column_of<0>(x, c, begin, end, sums, sum);
    }
  }
  // kWidth: of the sums of one type; 0 if it is not known here.
  template <int kWidth>
  void sum_column_of(const Columns& x, size_t c, int64_t begin, int64_t end, typename Workspace::TypeSums& sums,
                     Sum* sum) const {
    constexpr int64_t kAhead = 12;  // how early memory is asked for
    const LocalColumns& local = local_[c];
    const size_t width = kWidth ? size_t(kWidth) : local.width;
    const int32_t* types = x.types + size_t(local.columns[0]) * x.tokens;
    // The token that the highest offset sees m from has its sum here.
    auto first_of = [&](int64_t m) { return sum + (int64_t(margin_) + m - local.highest - begin) * kFew; };
    auto visit = [&](int64_t m, size_t row) {
      if (row >= sums.known.size()) {
        for (const Group& g : local.groups) add_local(x, g, m, begin, end, first_of(m) + (local.highest - g.offset) * kFew);
        return;
      }
      Sum* held = &sums.rows[row * width];
      if (!sums.known[row]) {
        for (const Group& g : local.groups) add_local(x, g, m, begin, end, held + (local.highest - g.offset) * kFew);
        sums.known[row] = 1;
      }
      add_row<kWidth>(first_of(m), held, width);
    };
    for (int64_t m = begin + std::min(local.lowest, 0); m < begin; ++m) visit(m, 0);
    for (int64_t m = begin; m < end; ++m) {
      if (m + kAhead < end) {
        const size_t row = 2 + size_t(types[m + kAhead]);
        if (row < sums.known.size()) SEQTAG_PREFETCH(&sums.rows[row * width]);
      }
      visit(m, 2 + size_t(types[m]));
    }
    for (int64_t m = end; m < end + std::max(local.highest, 0); ++m) visit(m, 1);
  }
  template <int kWidth> static void add_row(Sum* to, const Sum* row, size_t width) {
    if constexpr (kWidth == 0) {
      for (size_t j = 0; j < width; ++j) to[j] = Sum(to[j] + row[j]);
    } else {
      Sum sum[kWidth];
      for (int j = 0; j < kWidth; ++j) sum[j] = Sum(to[j] + row[j]);
      std::memcpy(to, sum, sizeof sum);
    }
  }
  // acc = the sum of all local templates at n.
  void sum_local(const Columns& x, int64_t n, int64_t begin, int64_t end, Workspace& space, size_t turn,
                 Sum* acc) const {
    size_t i = 0;
    bool all = true;
    for (size_t c = 0; c < local_.size(); ++c) {
      const std::vector<Group>& groups = local_[c].groups;
      const typename Workspace::TypeSums& sums = space.sums[c];
      for (size_t g = 0; g < groups.size(); ++g, ++i) {
        const size_t row = place_at(x, c, n + groups[g].offset, begin, end, sums, turn);
        const bool known = row < sums.known.size();
        all &= known;
        space.local[i] = known ? &sums.rows[(row * groups.size() + g) * size_t(width_)] : space.nothing.data();
      }
    }
    sum_of(space.local.data(), int(i), acc, width_);
    if (all) return;
    for (size_t c = 0; c < local_.size(); ++c)  // types beyond the capacity
      for (const Group& group : local_[c].groups)
        if (place_at(x, c, n + group.offset, begin, end, space.sums[c], turn) >= space.sums[c].known.size())
          add_local(x, group, n + group.offset, begin, end, acc);
  }
  // Adds what the templates of a group give for the type at m.
  void add_local(const Columns& x, const Group& group, int64_t m, int64_t begin, int64_t end, Sum* acc) const {
    for (size_t k : group.templates) rows_.add(acc, key_at(plan_, x, k, m - group.offset, begin, end));
  }
};

}  // namespace seqtag
