// A trained model as it tags: whole-number weights found by key. engine/frozen.py: Frozen.
//
// All scores are whole numbers and exact in float32, so sums may be taken in any order: here rows
// are summed in 16 bits, or in 32 where more rows can meet than 16 bits hold. Templates whose
// attributes sit at one position of one column depend on one word type only: their rows are summed
// once per type and kept ("local" templates); only the others ("scattered") are looked up by key, a
// sentence at a time, each step asking for the memory of the next.
#pragma once
#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "frozen_rows.h"
#include "keys.h"
#include "limits.h"
#include "parts.h"
#include "second_order.h"
#include "tuples.h"
#include "viterbi.h"

namespace seqtag {

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
      scattered_.push_back({plan_.seed[k], begin, terms_.size(), lead_of(terms_[begin])});
    }
    for (LocalColumns& c : local_) {
      for (const Group& g : c.groups)
        c.lowest = std::min(c.lowest, g.offset), c.highest = std::max(c.highest, g.offset);
      local_reach_ = std::max({local_reach_, -c.lowest, c.highest});
      c.width = (few_ ? size_t(c.highest - c.lowest) + 1 : c.groups.size()) * size_t(width_);
    }
  }

  // What one thread needs, and the sums of local templates per type: bound to one numbering of the
  // types (an Encoder of encoder.py). Types beyond `capacity` are summed anew each time.
  struct Workspace {
    struct TypeSums {
      std::vector<Sum> rows;       // (types + 3, width of the columns); 0, 1: beyond the ends; last: zeros
      std::vector<uint8_t> known;  // per type
      Tuples tuples;               // if there are several columns: what stands for a type
      std::vector<size_t> place;   // of the tuple at each token
    };
    std::vector<TypeSums> sums;  // per column, or columns, that local templates look at
    size_t capacity = 0;
    std::vector<const Sum*> local;                // rows of one token
    std::vector<Sum> nothing;                     // a row of zeros
    std::vector<uint64_t> hashes;                 // of the attributes that scattered templates look at, per position
    struct Keys {                                 // of the scattered templates
      std::vector<uint64_t> keys;                 // template by template, for the tokens that have its first term
      std::vector<std::vector<uint32_t>> tokens;  // per first term, those that have it
    };
    Keys keys[2];  // of this block of tokens and the next
    std::vector<uint64_t> edge_keys;
    struct Found {
      uint64_t key;
      uint32_t place;
      size_t begin;  // of the token in `sum`
    };
    std::vector<Found> found;
    std::vector<uint32_t> places;        // where in the sums of a column those of a token's type are
    std::vector<Sum> sum;                // of rows: (T, width_)
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
    for (size_t c = 0; c < local_.size(); ++c) {
      const bool several = local_[c].columns.size() > 1;
      if (several) space.sums[c].place.resize(x.tokens);
      make_room(c, several ? 2 : std::min(x.capacity, space.capacity) + 2, space.sums[c]);
    }
    size_t turn = 0;
    if (sentences) prepare(x, first_block(sentence_ptr, 0), space, space.keys[0]);
    for (size_t s = 0; s < sentences; ++s) {
      const int64_t begin = sentence_ptr[s], end = sentence_ptr[s + 1];
      if (few_) space.sum.clear();  // is added to
      space.sum.resize(size_t(end - begin) * size_t(width_));
      for (Block block = first_block(sentence_ptr, s);; ++turn) {
        const bool last = block.last == end;
        const Block next = last ? first_block(sentence_ptr, std::min(s + 1, sentences - 1)) : block.next();
        if (!last || s + 1 < sentences) prepare(x, next, space, space.keys[(turn + 1) % 2]);
        sum_rows(x, block, space, space.keys[turn % 2]);
        if (last) break;
        block = next;
      }
      ++turn;
      const size_t T = size_t(end - begin);
      if (order_ == 0 && !parts_.any() && known_.attribute < 0) {  // each token by itself
        for (size_t t = 0; t < T; ++t) out_labels[size_t(begin) + t] = best_label(&space.sum[t * size_t(width_)]);
        continue;
      }
      emissions(x, begin, end, space);
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

  // Calls visit(s, T, emission, edges) for each sentence: its potentials, (T, chain stride).
  template <class Visit>
  void visit(const Columns& x, const int64_t* sentence_ptr, size_t sentences, Workspace& space, Visit visit) const {
    for (size_t c = 0; c < local_.size(); ++c) {
      const bool several = local_[c].columns.size() > 1;
      if (several) space.sums[c].place.resize(x.tokens);
      make_room(c, several ? 2 : std::min(x.capacity, space.capacity) + 2, space.sums[c]);
    }
    for (size_t s = 0; s < sentences; ++s) {
      const int64_t begin = sentence_ptr[s], end = sentence_ptr[s + 1];
      if (few_) space.sum.clear();  // is added to
      space.sum.resize(size_t(end - begin) * size_t(width_));
      for (Block block = first_block(sentence_ptr, s);; block = block.next()) {
        prepare(x, block, space, space.keys[0]);
        sum_rows(x, block, space, space.keys[0]);
        if (block.last == end) break;
      }
      emissions(x, begin, end, space);
      space.edge_keys.clear();
      for (int64_t n = begin; n < end; ++n)
        for (size_t k = 0; k < edge_plan_.templates; ++k)
          space.edge_keys.push_back(key_at(edge_plan_, x, k, n, begin, end));
      if (edge_plan_.templates == 0 || order_ == 0)
        visit(s, size_t(end - begin), space.emission.data(), NoEdges{});
      else
        visit(s, size_t(end - begin), space.emission.data(), Edges{*this, space.edge_keys.data(), {}});
    }
  }
  const ChainWeights<float>& chain() const { return chain_; }
  const TrigramWeights<float>& trigram() const { return trigram_; }
  int order() const { return order_; }

 private:
  // Some tokens [first, last) of the sentence [begin, end): what is summed at a time.
  struct Block {
    int64_t begin, end, first, last;
    Block next() const { return {begin, end, last, std::min(last + kBlock, end)}; }
  };
  static constexpr int64_t kBlock = 256;
  static Block first_block(const int64_t* sentence_ptr, size_t s) {
    const int64_t begin = sentence_ptr[s], end = sentence_ptr[s + 1];
    return {begin, end, begin, std::min(begin + kBlock, end)};
  }
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
  int width_;  // labels, or their parts, padded
  std::vector<LocalColumns> local_;
  struct Term {
    size_t slot;  // one more than which of gathered_; 0: always 1
    int32_t offset;
    uint64_t multiplier;
  };
  struct Scattered {  // a template that is not local: terms_[first:last]
    uint64_t seed;
    size_t first, last, lead;  // lead: which of leads_ its first term is
  };
  std::vector<Term> terms_;
  std::vector<Scattered> scattered_;
  std::vector<Term> leads_;        // the different first terms of scattered templates
  std::vector<int32_t> gathered_;  // attributes that scattered templates look at
  int32_t reach_ = 0;              // how far they look
  int32_t local_reach_ = 0;        // how far local templates look

  int32_t column(int64_t term) const { return plan_.attribute_column[plan_.term_attribute[term]]; }
  size_t gather(int32_t attribute) {
    for (size_t i = 0; i < gathered_.size(); ++i)
      if (gathered_[i] == attribute) return 1 + i;
    gathered_.push_back(attribute);
    return gathered_.size();
  }
  size_t lead_of(const Term& term) {
    size_t i = 0;
    while (i < leads_.size() && (leads_[i].slot != term.slot || leads_[i].offset != term.offset)) ++i;
    if (i == leads_.size()) leads_.push_back(term);
    return i;
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

  template <class E> void run(Workspace& space, size_t T, const E& edges, int32_t* out_labels) const {
    if (order_ == 2)
      space.second.run(space.emission.data(), T, chain_, trigram_, edges, nullptr, out_labels);
    else
      space.decoder.run(space.emission.data(), T, chain_, order_ > 0, edges, nullptr, out_labels);
  }

  // The label with the highest sum; the first of equals.
  int32_t best_label(const Sum* sum) const {
    Sum best = sum[0];
    for (int j = 1; j < chain_.labels; ++j) best = std::max(best, sum[j]);
    int32_t label = 0;
    while (sum[label] != best) ++label;
    return label;
  }
  // Emission potentials of the sentence [begin, end) into space.emission (T, chain stride).
  void emissions(const Columns& x, int64_t begin, int64_t end, Workspace& space) const {
    const int K = chain_.labels, S = chain_.stride;
    space.emission.resize(size_t(end - begin) * size_t(S));
    space.parts.resize(size_t(width_));
    for (int64_t n = begin; n < end; ++n) {
      const Sum* sum = &space.sum[size_t(n - begin) * size_t(width_)];
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

  // Adds the rows of a block to space.sum.
  void sum_rows(const Columns& x, const Block& block, Workspace& space, const typename Workspace::Keys& keys) const {
    const size_t W = size_t(width_), before = size_t(block.first - block.begin);
    space.found.resize(keys.keys.size() + 1);
    size_t n = 0;
    const uint64_t* key = keys.keys.data();
    for (const Scattered& s : scattered_)
      for (uint32_t t : keys.tokens[s.lead]) {
        const uint64_t k = *key++;
        if (k == 0) continue;
        const uint32_t place = rows_.candidate(k);
        rows_.prefetch_row(place);
        space.found[n] = {k, place, (before + t) * W};
        n += place != FrozenRows::kNone;
      }
    if (few_) {
      for (size_t c = 0; c < local_.size(); ++c) sum_column(x, c, block, space);
    } else {
      for (int64_t m = block.first; m < block.last; ++m)
        sum_local(x, m, block.begin, block.end, space, &space.sum[size_t(m - block.begin) * W]);
    }
    for (size_t i = 0; i < n; ++i)
      rows_.add(&space.sum[space.found[i].begin], space.found[i].key, space.found[i].place);
  }

  // Readies what a block will need, while the one before it is summed.
  void prepare(const Columns& x, const Block& block, Workspace& space, typename Workspace::Keys& keys) const {
    const int64_t first = block.first == block.begin ? block.begin - 1 : block.first;
    const int64_t last = std::min(block.end, block.last + local_reach_);
    for (size_t c = 0; c < local_.size() && !few_; ++c) {
      typename Workspace::TypeSums& sums = space.sums[c];
      if (local_[c].columns.size() > 1)
        for (int64_t m = std::max(first, block.begin); m < std::min(last + 1, block.end); ++m) {
          const size_t place = 2 + sums.tuples.number(x, local_[c].columns, m, space.capacity);
          if (place >= sums.known.size()) make_room(c, std::min(2 * place, space.capacity + 2), sums);
          sums.place[size_t(m)] = place;
        }
      for (int64_t m = first; m <= last; ++m) ready_local(x, c, m, block.begin, block.end, sums);
    }
    make_keys(x, block, space.hashes, keys);
  }
  // Makes room for the sums of so many places.
  void make_room(size_t c, size_t places, typename Workspace::TypeSums& sums) const {
    if (places <= sums.known.size()) return;
    sums.known.resize(places, 0);
    sums.rows.resize((places + 1) * local_[c].width);
  }
  // Where the sums for the type, or tuple, at position m are.
  SEQTAG_INLINE size_t place_at(const Columns& x, size_t c, int64_t m, int64_t begin, int64_t end,
                                const typename Workspace::TypeSums& sums) const {
    if (local_[c].columns.size() == 1) return place_of(x, local_[c].columns[0], m, begin, end);
    return m < begin ? 0 : m >= end ? 1 : sums.place[size_t(m)];
  }

  // Keys of the scattered templates, as key_at() makes them, their slots asked for.
  void make_keys(const Columns& x, const Block& block, std::vector<uint64_t>& hashes_at,
                 typename Workspace::Keys& out) const {
    const size_t T = size_t(block.last - block.first), R = size_t(reach_), span = T + 2 * R;
    hashes_at.resize((1 + gathered_.size()) * span);
    std::fill_n(hashes_at.begin(), span, 1);  // what stands for a term that is not there
    const int64_t origin = block.first - int64_t(R);
    const int64_t left = std::max(block.begin, origin), right = std::min(block.end, block.last + int64_t(R));
    for (size_t g = 0; g < gathered_.size(); ++g) {
      const size_t a = size_t(gathered_[g]);
      const uint64_t* hashes = x.hashes + a * x.capacity;
      const int32_t* types = x.types + size_t(plan_.attribute_column[a]) * x.tokens;
      uint64_t* to = &hashes_at[(1 + g) * span];
      std::fill(to, to + (left - origin), kLeft);
      for (int64_t m = left; m < right; ++m) to[m - origin] = hashes[types[m]];
      std::fill(to + (right - origin), to + span, kRight);
    }
    const uint64_t* at_left = hashes_at.data() + R;  // of the first token
    auto from = [&](const Term& term) { return at_left + int64_t(term.slot * span) + term.offset; };
    out.tokens.resize(leads_.size());
    for (size_t i = 0; i < leads_.size(); ++i) {
      const uint64_t* lead = from(leads_[i]);
      out.tokens[i].resize(T);
      size_t n = 0;
      for (size_t t = 0; t < T; ++t) {
        out.tokens[i][n] = uint32_t(t);
        n += lead[t] != 0;
      }
      out.tokens[i].resize(n);
    }
    size_t many = 0;
    for (const Scattered& s : scattered_) many += out.tokens[s.lead].size();
    out.keys.resize(many);
    uint64_t* to = out.keys.data();
    for (const Scattered& s : scattered_) {
      const Term &one = terms_[s.first], &two = terms_[s.first + 1];
      const uint64_t *first = from(one), *second = from(two);
      for (uint32_t t : out.tokens[s.lead]) {
        uint64_t sum = s.seed + first[t] * one.multiplier + second[t] * two.multiplier;
        bool present = second[t] != 0;
        for (size_t i = s.first + 2; i < s.last; ++i) {
          const uint64_t h = from(terms_[i])[t];
          present &= h != 0;
          sum += h * terms_[i].multiplier;
        }
        const uint64_t key = mix(sum);
        *to++ = present ? (key ? key : 1) : 0;
        rows_.prefetch_slot(key);
      }
    }
  }

  // Sums what local templates give for the type at m, if it is new, else asks for it.
  SEQTAG_INLINE void ready_local(const Columns& x, size_t c, int64_t m, int64_t begin, int64_t end,
                                 typename Workspace::TypeSums& sums) const {
    const std::vector<Group>& groups = local_[c].groups;
    const size_t row = place_at(x, c, m, begin, end, sums), width = groups.size() * size_t(width_);
    if (row >= sums.known.size()) return;
    Sum* first = &sums.rows[row * width];
    if (!sums.known[row]) {
      for (size_t g = 0; g < groups.size(); ++g) add_local(x, groups[g], m, begin, end, first + g * size_t(width_));
      sums.known[row] = 1;
    }
    for (size_t b = 0; b < width * sizeof(Sum); b += 64) SEQTAG_PREFETCH(reinterpret_cast<char*>(first) + b);
  }
  // Few labels: adds what a column's types give to all tokens of a block.
  void sum_column(const Columns& x, size_t c, const Block& block, Workspace& space) const {
    switch (local_[c].width / kFew) {
      case 1:
        return sum_column_of<1>(x, c, block, space);
      case 2:
        return sum_column_of<2>(x, c, block, space);
      case 3:
        return sum_column_of<3>(x, c, block, space);
      case 4:
        return sum_column_of<4>(x, c, block, space);
      case 5:
        return sum_column_of<5>(x, c, block, space);
      case 6:
        return sum_column_of<6>(x, c, block, space);
      default:
        return sum_column_of<0>(x, c, block, space);
    }
  }
  // kSpan: how many offsets the column is seen from; 0 if that is not known here.
  template <int kSpan> void sum_column_of(const Columns& x, size_t c, const Block& block, Workspace& space) const {
    const LocalColumns& local = local_[c];
    const size_t span = kSpan ? size_t(kSpan) : local.width / kFew, T = size_t(block.last - block.first);
    typename Workspace::TypeSums& sums = space.sums[c];
    space.places.resize(T + span);
    for (size_t i = 0; i + 1 < T + span; ++i)
      space.places[i] = uint32_t(held_row(x, c, block.first + local.lowest + int64_t(i), block, space) * local.width);
    const Sum* rows = sums.rows.data();
    const uint32_t* places = space.places.data();
    Sum* sum = space.sum.data() + size_t(block.first - block.begin) * kFew;  // of no token there is none
    for (size_t t = 0; t < T; ++t, sum += kFew) {
      Four<Sum> acc = load_four(sum);
      for (size_t k = 0; k < span; ++k) acc = acc + load_four(rows + places[t + k] + (span - 1 - k) * kFew);
      std::memcpy(sum, &acc, sizeof acc);
    }
  }
  // The row that holds what the type at m gives to the tokens that see it. A type that cannot be held
  // gives it at once, and has a row of zeros.
  SEQTAG_INLINE size_t held_row(const Columns& x, size_t c, int64_t m, const Block& block, Workspace& space) const {
    typename Workspace::TypeSums& sums = space.sums[c];
    const size_t row = place_of(x, local_[c].columns[0], m, block.begin, block.end);
    return row < sums.known.size() && sums.known[row] ? row : new_row(x, c, m, row, block, space);
  }
  size_t new_row(const Columns& x, size_t c, int64_t m, size_t row, const Block& block, Workspace& space) const {
    const LocalColumns& local = local_[c];
    typename Workspace::TypeSums& sums = space.sums[c];
    const bool hold = row < sums.known.size();
    for (const Group& g : local.groups) {
      const int64_t t = m - g.offset;
      if (hold)
        add_local(x, g, m, block.begin, block.end,
                  &sums.rows[row * local.width + size_t(local.highest - g.offset) * kFew]);
      else if (t >= block.first && t < block.last)
        add_local(x, g, m, block.begin, block.end, &space.sum[size_t(t - block.begin) * kFew]);
    }
    if (hold) sums.known[row] = 1;
    return hold ? row : sums.known.size();
  }
  // acc = the sum of all local templates at n.
  void sum_local(const Columns& x, int64_t n, int64_t begin, int64_t end, Workspace& space, Sum* acc) const {
    size_t i = 0;
    bool all = true;
    for (size_t c = 0; c < local_.size(); ++c) {
      const std::vector<Group>& groups = local_[c].groups;
      const typename Workspace::TypeSums& sums = space.sums[c];
      for (size_t g = 0; g < groups.size(); ++g, ++i) {
        const size_t row = place_at(x, c, n + groups[g].offset, begin, end, sums);
        const bool known = row < sums.known.size();
        all &= known;
        space.local[i] = known ? &sums.rows[(row * groups.size() + g) * size_t(width_)] : space.nothing.data();
      }
    }
    sum_of(space.local.data(), int(i), acc, width_);
    if (all) return;
    for (size_t c = 0; c < local_.size(); ++c)  // types beyond the capacity
      for (const Group& group : local_[c].groups)
        if (place_at(x, c, n + group.offset, begin, end, space.sums[c]) >= space.sums[c].known.size())
          add_local(x, group, n + group.offset, begin, end, acc);
  }
  // Adds what the templates of a group give for the type at m.
  void add_local(const Columns& x, const Group& group, int64_t m, int64_t begin, int64_t end, Sum* acc) const {
    for (size_t k : group.templates) rows_.add(acc, key_at(plan_, x, k, m - group.offset, begin, end));
  }
};

}  // namespace seqtag
