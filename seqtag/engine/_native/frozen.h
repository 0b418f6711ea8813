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
#include <limits>
#include <vector>

#include "frozen_chain.h"
#include "frozen_rows.h"
#include "frozen_workspace.h"
#include "keys.h"
#include "limits.h"
#include "local_templates.h"
#include "parts.h"
#include "scattered.h"
#include "second_order.h"
#include "viterbi.h"

namespace seqtag {

// Sum: the numbers that rows are summed in, int16_t for kNarrowRows rows at most, else int32_t.
template <class Sum> class Frozen {
 public:
  Frozen(Plan plan, Plan edge_plan, FrozenRows rows, FrozenRows edge_rows, ChainWeights<float> chain,
         TrigramWeights<float> trigram, Parts parts, KnownLabels known, int order)
      : plan_(plan), edge_plan_(edge_plan), rows_(std::move(rows)), edges_(std::move(edge_rows)),
        chain_(std::move(chain)), trigram_(std::move(trigram)), parts_(std::move(parts)), known_(std::move(known)),
        order_(order), few_((parts_.any() ? parts_.count : chain_.labels) <= kFew),
        width_(few_ ? kFew : padded<Sum>(parts_.any() ? parts_.count : chain_.labels)) {
    local_ = ArrangedTemplates(plan_, few_, width_ > kWide, scattered_).columns();
    for (LocalColumns& c : local_) {
      for (const LocalGroup& g : c.groups)
        c.lowest = std::min(c.lowest, g.offset), c.highest = std::max(c.highest, g.offset);
      local_reach_ = std::max({local_reach_, -c.lowest, c.highest});
      c.width = (few_ ? size_t(c.highest - c.lowest) + 1 : c.groups.size()) * size_t(width_);
    }
    if (is_each_alone() && width_ > kWide) find_own();
  }

  using Workspace = FrozenWorkspace<Sum>;
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
    int32_t* alone = is_each_alone() ? out_labels : nullptr;
    each_sentence(x, sentence_ptr, sentences, space, alone, [&](size_t, int64_t begin, int64_t end) {
      if (alone) return;
      const size_t T = size_t(end - begin);
      with_potentials(x, begin, end, space, [&](const auto& edges) { run(space, T, edges, out_labels + begin); });
    });
  }
  // Calls visit(s, T, emission, edges) for each sentence: its potentials, (T, chain stride).
  template <class Visit>
  void visit(const Columns& x, const int64_t* sentence_ptr, size_t sentences, Workspace& space, Visit visit) const {
    each_sentence(x, sentence_ptr, sentences, space, nullptr, [&](size_t s, int64_t begin, int64_t end) {
      with_potentials(x, begin, end, space,
                      [&](const auto& edges) { visit(s, size_t(end - begin), space.emission.data(), edges); });
    });
  }
  const ChainWeights<float>& chain() const { return chain_; }
  const TrigramWeights<float>& trigram() const { return trigram_; }
  int order() const { return order_; }

 private:
  // Sums the rows of each sentence into space.sum, or labels its tokens one by one into `alone` if it
  // is not null; then calls done(s, begin, end).
  template <class Done>
  void each_sentence(const Columns& x, const int64_t* sentence_ptr, size_t sentences, Workspace& space, int32_t* alone,
                     Done done) const {
    for (size_t c = 0; c < local_.size(); ++c) {
      const bool several = local_[c].columns.size() > 1;
      if (several) space.sums[c].place.resize(x.tokens);
      make_room(c, several ? 2 : std::min(x.capacity, space.capacity) + 2, space.sums[c]);
    }
    size_t turn = 0;
    if (sentences) prepare(x, first_block(sentence_ptr, 0), space, space.keys[0]);
    for (size_t s = 0; s < sentences; ++s, ++turn) {
      const int64_t begin = sentence_ptr[s], end = sentence_ptr[s + 1];
      if (few_) space.sum.clear();           // is added to
      const bool by_block = alone && !few_;  // then no more is kept
      const size_t T = by_block ? std::min(size_t(end - begin), size_t(Block::kMost)) : size_t(end - begin);
      check_room(T, size_t(width_) * sizeof(Sum) + (alone ? 0 : 2 * size_t(chain_.stride) * sizeof(float)));
      space.sum.resize(T * size_t(width_));
      space.origin = begin;
      for (Block block = first_block(sentence_ptr, s);; ++turn) {
        const bool last = block.last == end;
        const Block next = last ? first_block(sentence_ptr, std::min(s + 1, sentences - 1)) : block.next();
        if (!last || s + 1 < sentences) prepare(x, next, space, space.keys[(turn + 1) % 2]);
        if (by_block) space.origin = block.first;
        if (alone && has_favourites())
          label_each(x, block, space, space.keys[turn % 2], alone);
        else
          sum_rows(x, block, space, space.keys[turn % 2]);
        for (size_t t = 0; alone && !has_favourites() && t < block.tokens(); ++t)
          alone[size_t(block.first) + t] = best_label(sum_at(block, t, space));
        if (last) break;
        block = next;
      }
      done(s, begin, end);
    }
  }
  // Calls use(edges) once the emission potentials of the sentence [begin, end) stand in space.emission.
  template <class Use>
  void with_potentials(const Columns& x, int64_t begin, int64_t end, Workspace& space, Use use) const {
    emissions(x, begin, end, space);
    if (edge_plan_.templates == 0 || order_ == 0) return use(NoEdges{});
    space.edge_keys.clear();
    for (int64_t n = begin; n < end; ++n)
      for (size_t k = 0; k < edge_plan_.templates; ++k)
        space.edge_keys.push_back(key_at(edge_plan_, x, k, n, begin, end));
    use(Edges{*this, space.edge_keys.data(), {}});
  }

  static Block first_block(const int64_t* sentence_ptr, size_t s) {
    const int64_t begin = sentence_ptr[s], end = sentence_ptr[s + 1];
    return {begin, end, begin, std::min(begin + Block::kMost, end)};
  }
  static constexpr int kFew = 4;     // with so few labels, sums of several offsets are one vector
  static constexpr int kWide = 256;  // with more, sums of all labels are avoided (measured: 230 are summed sooner)
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
  ScatteredTemplates scattered_;
  static constexpr size_t kNothing = size_t(-1);
  size_t own_ = kNothing, own_group_ = 0;  // what says most of a token itself, if it is labelled by itself
  int32_t local_reach_ = 0;                // how far local templates look

  bool is_each_alone() const { return order_ == 0 && !parts_.any() && known_.attribute < 0; }
  bool has_favourites() const { return own_ != kNothing; }
  void find_own() {
    size_t most = 0;
    for (size_t c = 0; c < local_.size(); ++c)
      for (size_t g = 0; g < local_[c].groups.size(); ++g) {
        const LocalGroup& group = local_[c].groups[g];
        if (group.offset != 0 || group.templates.size() <= most) continue;
        most = group.templates.size();
        own_ = c;
        own_group_ = g;
      }
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

  // Finds rows of the scattered templates, and asks for their memory; how many.
  size_t find_rows(Workspace& space, const ScatteredTemplates::Keys& keys) const {
    space.found.resize(keys.keys.size() + 1);
    size_t n = 0;
    scattered_.visit(keys, [&](uint32_t t, uint64_t key) {
      const uint32_t place = rows_.candidate(key);
      rows_.prefetch_row(place);
      space.found[n] = {key, place, t};
      n += place != FrozenRows::kNone;
    });
    return n;
  }
  Sum* sum_at(const Block& block, size_t token, Workspace& space) const {
    return space.sum.data() + (size_t(block.first - space.origin) + token) * size_t(width_);
  }
  // Adds the rows of a block to space.sum.
  void sum_rows(const Columns& x, const Block& block, Workspace& space, const ScatteredTemplates::Keys& keys) const {
    const size_t n = find_rows(space, keys);
    if (few_) {
      for (size_t c = 0; c < local_.size(); ++c) sum_column(x, c, block, space);
    } else {
      for (size_t t = 0; t < block.tokens(); ++t) sum_local(x, block, t, space);
    }
    for (size_t i = 0; i < n; ++i)
      rows_.add(sum_at(block, space.found[i].token, space), space.found[i].key, space.found[i].place);
  }
  // Labels the tokens of a block, each by itself: with the favourite of its own features where its
  // neighbours together cannot take away the lead, else with the label of the highest sum.
  void label_each(const Columns& x, const Block& block, Workspace& space, const ScatteredTemplates::Keys& keys,
                  int32_t* out_labels) const {
    const size_t n = find_rows(space, keys), T = block.tokens();
    space.favourites.resize(T);
    for (size_t t = 0; t < T; ++t) space.favourites[t] = favourite_at(x, block, t, space);
    for (size_t i = 0; i < n; ++i) {
      Favourite& favourite = space.favourites[space.found[i].token];
      if (favourite.lead > 0)
        favourite.lead -= rows_.most_over(size_t(favourite.label), space.found[i].key, space.found[i].place);
    }
    const auto next_unsure = [&](size_t t) {
      while (t < T && space.favourites[t].lead > 0) ++t;
      return t;
    };
    for (size_t t = next_unsure(0), next; t < T; t = next) {
      next = next_unsure(t + 1);
      if (next < T) gather_local(x, block, next, space, true);
      sum_local(x, block, t, space);
    }
    for (size_t i = 0; i < n; ++i) {
      const auto& found = space.found[i];
      if (space.favourites[found.token].lead <= 0) rows_.add(sum_at(block, found.token, space), found.key, found.place);
    }
    for (size_t t = 0; t < T; ++t) {
      const Favourite& favourite = space.favourites[t];
      out_labels[size_t(block.first) + t] = favourite.lead > 0 ? favourite.label : best_label(sum_at(block, t, space));
    }
  }
  // The favourite of a token, with what is left of its lead after the sums of all types around: their
  // spread at most, and if that is too much, by how much they help another label more than this one.
  Favourite favourite_at(const Columns& x, const Block& block, size_t t, const Workspace& space) const {
    const int64_t m = block.first + int64_t(t);
    const size_t own = place_at(x, own_, m, block.begin, block.end, space.sums[own_]);
    if (own >= space.sums[own_].known.size()) return {0, 0};
    const Favourite favourite = space.sums[own_].favourites[own];
    const auto left_over = [&](auto taken) {
      int32_t lead = favourite.lead;
      for (size_t c = 0; c < local_.size(); ++c) {
        const std::vector<LocalGroup>& groups = local_[c].groups;
        const typename Workspace::TypeSums& sums = space.sums[c];
        for (size_t g = 0; g < groups.size(); ++g) {
          if (c == own_ && g == own_group_) continue;
          const size_t place = place_at(x, c, m + groups[g].offset, block.begin, block.end, sums);
          if (place >= sums.known.size()) return 0;
          lead -= taken(sums, place * groups.size() + g);
        }
      }
      return lead;
    };
    using Sums = typename Workspace::TypeSums;
    int32_t lead = left_over([](const Sums& sums, size_t row) { return sums.spread[row]; });
    if (lead <= 0)
      lead = left_over([&](const Sums& sums, size_t row) {
        return int32_t(sums.highest[row]) - sums.rows[row * size_t(width_) + size_t(favourite.label)];
      });
    return {favourite.label, lead};
  }
  Favourite favourite_of(const Sum* row) const {
    const int32_t label = best_label(row);
    int32_t second = std::numeric_limits<int32_t>::min() / 2;
    for (int32_t j = 0; j < chain_.labels; ++j)
      if (j != label) second = std::max(second, int32_t(row[j]));
    return {label, row[label] - second};
  }

  // Readies what a block will need, while the one before it is summed.
  void prepare(const Columns& x, const Block& block, Workspace& space, ScatteredTemplates::Keys& keys) const {
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
      for (int64_t m = first; m <= last; ++m) ready_local(x, c, m, block.begin, block.end, space);
      space.wanted.add_all(rows_);
      for (size_t row : space.fresh)
        if (has_favourites()) note_highest(c, row, sums);
      space.fresh.clear();
    }
    scattered_.find_keys(plan_, x, block, rows_, space.hashes, keys);
  }
  // Makes room for the sums of so many places.
  void make_room(size_t c, size_t places, typename Workspace::TypeSums& sums) const {
    if (places <= sums.known.size()) return;
    sums.known.resize(places, 0);
    sums.rows.resize((places + 1) * local_[c].width);
    if (!has_favourites()) return;
    sums.highest.resize(places * local_[c].groups.size());
    sums.spread.resize(places * local_[c].groups.size());
    if (c == own_) sums.favourites.resize(places);
  }
  // Where the sums for the type, or tuple, at position m are.
  SEQTAG_INLINE size_t place_at(const Columns& x, size_t c, int64_t m, int64_t begin, int64_t end,
                                const typename Workspace::TypeSums& sums) const {
    if (local_[c].columns.size() == 1) return place_of(x, local_[c].columns[0], m, begin, end);
    return m < begin ? 0 : m >= end ? 1 : sums.place[size_t(m)];
  }

  // Notes what local templates give for the type at m, if it is new; else asks for the sums.
  SEQTAG_INLINE void ready_local(const Columns& x, size_t c, int64_t m, int64_t begin, int64_t end,
                                 Workspace& space) const {
    typename Workspace::TypeSums& sums = space.sums[c];
    const std::vector<LocalGroup>& groups = local_[c].groups;
    const size_t row = place_at(x, c, m, begin, end, sums), width = groups.size() * size_t(width_);
    if (row >= sums.known.size()) return;
    Sum* first = &sums.rows[row * width];
    if (!sums.known[row]) {
      for (size_t g = 0; g < groups.size(); ++g)
        for (size_t k : groups[g].templates)
          if (const uint64_t key = local_key_at(plan_, x, k, m, begin, end))
            space.wanted.want(rows_, key, first + g * size_t(width_));
      sums.known[row] = 1;
      space.fresh.push_back(row);
      return;
    }
    if (has_favourites()) return;  // most rows are not looked at
    for (size_t b = 0; b < width * sizeof(Sum); b += 64) SEQTAG_PREFETCH(reinterpret_cast<char*>(first) + b);
  }
  void note_highest(size_t c, size_t row, typename Workspace::TypeSums& sums) const {
    const size_t G = local_[c].groups.size();
    const Sum* first = &sums.rows[row * G * size_t(width_)];
    for (size_t g = 0; g < G; ++g, first += width_) {
      const auto [lowest, highest] = std::minmax_element(first, first + chain_.labels);
      sums.highest[row * G + g] = *highest;
      sums.spread[row * G + g] = int32_t(*highest) - *lowest;
      if (c == own_ && g == own_group_) sums.favourites[row] = favourite_of(first);
    }
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
    for (const LocalGroup& g : local.groups) {
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
  // Points space.local at the rows of a token, or asks for them; whether all are held.
  bool gather_local(const Columns& x, const Block& block, size_t t, Workspace& space, bool ask = false) const {
    const int64_t n = block.first + int64_t(t);
    size_t i = 0;
    bool all = true;
    for (size_t c = 0; c < local_.size(); ++c) {
      const std::vector<LocalGroup>& groups = local_[c].groups;
      const typename Workspace::TypeSums& sums = space.sums[c];
      for (size_t g = 0; g < groups.size(); ++g, ++i) {
        const size_t row = place_at(x, c, n + groups[g].offset, block.begin, block.end, sums);
        const bool known = row < sums.known.size();
        all &= known;
        const Sum* held = known ? &sums.rows[(row * groups.size() + g) * size_t(width_)] : space.nothing.data();
        if (ask)
          for (int j = 0; j < width_; j += 64 / int(sizeof(Sum))) SEQTAG_PREFETCH(held + j);
        else
          space.local[i] = held;
      }
    }
    return all;
  }
  // space.sum at a token = the sum of all local templates.
  void sum_local(const Columns& x, const Block& block, size_t t, Workspace& space) const {
    const int64_t n = block.first + int64_t(t), begin = block.begin, end = block.end;
    const bool all = gather_local(x, block, t, space);
    Sum* acc = sum_at(block, t, space);
    sum_of(space.local.data(), int(space.local.size()), acc, width_);
    if (all) return;
    for (size_t c = 0; c < local_.size(); ++c)  // types beyond the capacity
      for (const LocalGroup& group : local_[c].groups)
        if (place_at(x, c, n + group.offset, begin, end, space.sums[c]) >= space.sums[c].known.size())
          add_local(x, group, n + group.offset, begin, end, acc);
  }
  // Adds what the templates of a group give for the type at m.
  void add_local(const Columns& x, const LocalGroup& group, int64_t m, int64_t begin, int64_t end, Sum* acc) const {
    for (size_t k : group.templates) rows_.add(acc, key_at(plan_, x, k, m - group.offset, begin, end));
  }
};

}  // namespace seqtag
