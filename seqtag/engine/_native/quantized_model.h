// A trained model as it tags: whole-number weights found by key. engine/frozen.py: Decoder.
//
// All scores are whole numbers and exact in float32, so sums may be taken in any order: here rows
// are summed in 16 bits, or in 32 where a sum may exceed 16 bits. Templates whose
// attributes sit at one position of one column depend on one word type only: their rows are summed
// once per type and kept ("local" templates); only the others ("scattered") are looked up by key, a
// sentence at a time, each step asking for the memory of the next.
#pragma once
#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <vector>

#include "decoder_workspace.h"
#include "engines.h"
#include "islands.h"
#include "keys.h"
#include "label_components.h"
#include "limits.h"
#include "local_templates.h"
#include "quantized_rows.h"
#include "scattered_templates.h"
#include "second_order.h"
#include "token_decoder.h"
#include "viterbi.h"

namespace seqtag {

// Transition potentials of one position, from the edge keys of the sentence.
class ObservedEdges final : public Edges<float> {
 public:
  ObservedEdges(const ChainWeights<float>& chain, const QuantizedRows& rows, size_t templates, const uint64_t* keys)
      : chain_(chain), rows_(rows), templates_(templates), keys_(keys) {}
  void fill(size_t t, float* matrix) const override {
    const int K = chain_.labels, S = chain_.stride;
    std::copy(chain_.transition.begin(), chain_.transition.end(), matrix);
    sum_.assign(size_t(K) * K, 0);
    for (size_t k = 0; k < templates_; ++k) rows_.add(sum_.data(), keys_[t * templates_ + k]);
    for (int i = 0; i < K; ++i)
      for (int j = 0; j < K; ++j) matrix[size_t(i) * S + j] += sum_[size_t(i) * K + j];
  }

 private:
  const ChainWeights<float>& chain_;
  const QuantizedRows& rows_;
  size_t templates_;
  const uint64_t* keys_;  // (T, edge templates)
  mutable std::vector<float> sum_;
};

// Sum: the numbers that rows are summed in, int16_t for kNarrowRows rows at most, else int32_t.
template <class Sum> class QuantizedModel {
 public:
  QuantizedModel(Plan plan, Plan edge_plan, QuantizedRows rows, QuantizedRows edge_rows, ChainWeights<float> chain,
                 TrigramWeights<float> trigram, LabelComponents parts, TagDictionary known, LabelsByTags by_tags,
                 int order)
      : plan_(plan), edge_plan_(edge_plan), rows_(std::move(rows)), edges_(std::move(edge_rows)),
        chain_(std::move(chain)), trigram_(std::move(trigram)), parts_(std::move(parts)), known_(std::move(known)),
        by_tags_(std::move(by_tags)),
        islands_(order == 1 && edge_plan.templates == 0 ? Islands(chain_, most()) : Islands()),
        tokens_(plan_, by_tags_.plan, chain_.labels), order_(order),
        few_((parts_.any() ? parts_.count : chain_.labels) <= kFew),
        width_(few_ ? kFew : padded<Sum>(parts_.any() ? parts_.count : chain_.labels)) {
    local_ = ArrangedTemplates(plan_, few_, width_ > kWide, scattered_).columns();
    for (LocalColumns& c : local_) {
      for (const LocalGroup& g : c.groups)
        c.lowest = std::min(c.lowest, g.offset), c.highest = std::max(c.highest, g.offset);
      local_reach_ = std::max({local_reach_, -c.lowest, c.highest});
      c.width = (few_ ? size_t(c.highest - c.lowest) + 1 : c.groups.size()) * size_t(width_);
    }
  }

  // How many labels, or parts of labels, the sums have that rows are added to, as QuantizedRows takes it.
  static int labels_added_to(const TaggerArrays& m) {
    const int count = m.parts.any() ? m.parts.count : m.labels;
    const bool has_room = (count + 7) / 8 * 8 <= padded<Sum>(count);
    return count <= kFew || !has_room || m.tags_plan.templates > 0 ? 0 : count;
  }
  using Workspace = DecoderWorkspace<Sum>;
  Workspace workspace() const {
    constexpr size_t kBudget = size_t(32) << 20;  // bytes, of each column
    Workspace space;
    space.sums.resize(local_.size());
    size_t groups = 0;
    for (size_t c = 0; c < local_.size(); ++c) {
      groups += local_[c].groups.size();
      space.sums[c].capacity = kBudget / (std::max<size_t>(local_[c].width, 1) * sizeof(Sum));
    }
    space.local.resize(groups);
    space.nothing.resize(size_t(width_));
    return space;
  }

  void decode(const Columns& x, const int64_t* sentence_ptr, size_t sentences, Workspace& space,
              int32_t* out_labels) const {
    if (tokens_.possible() && order_ == 0 && !parts_.any() && known_.attribute < 0)
      return tokens_.decode(x, sentence_ptr, sentences, rows_, by_tags_.rows, space.tokens, out_labels);
    int32_t* alone = order_ == 0 ? out_labels : nullptr;
    each_sentence(x, sentence_ptr, sentences, space, alone, [&](size_t, int64_t begin, int64_t end) {
      if (alone) return;
      const size_t T = size_t(end - begin);
      with_potentials(x, begin, end, space,
                      [&](const Edges<float>* edges) { run(space, T, edges, out_labels + begin); });
    });
  }
  // Calls visit(s, T, emission, edges) for each sentence: its potentials, (T, chain stride).
  template <class Visit>
  void visit(const Columns& x, const int64_t* sentence_ptr, size_t sentences, Workspace& space, Visit visit) const {
    each_sentence(x, sentence_ptr, sentences, space, nullptr, [&](size_t s, int64_t begin, int64_t end) {
      with_potentials(x, begin, end, space,
                      [&](const Edges<float>* edges) { visit(s, size_t(end - begin), space.emission.data(), edges); });
    });
  }
  const ChainWeights<float>& chain() const { return chain_; }
  const TrigramWeights<float>& trigram() const { return trigram_; }
  int order() const { return order_; }

 private:
  // Sums the rows of each sentence into space.sum, or labels its tokens one by one into `alone` if it
  // is not null; then calls done(s, begin, end).
  void each_sentence(const Columns& x, const int64_t* sentence_ptr, size_t sentences, Workspace& space, int32_t* alone,
                     const std::function<void(size_t, int64_t, int64_t)>& done) const {
    for (size_t c = 0; c < local_.size(); ++c) {
      const bool several = local_[c].columns.size() > 1;
      if (several) space.sums[c].place.resize(x.tokens);
      make_room(c, several ? 2 : std::min(x.capacity, space.sums[c].capacity) + 2, space.sums[c]);
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
        sum_rows(x, block, space, space.keys[turn % 2]);
        for (size_t t = 0; alone && t < block.tokens(); ++t)
          alone[size_t(block.first) + t] =
              label_at(x, block.first + int64_t(t), begin, end, sum_at(block, t, space), space);
        if (last) break;
        block = next;
      }
      done(s, begin, end);
    }
  }
  // Calls use(edges) once the emission potentials of the sentence [begin, end) are in space.emission.
  template <class Use>
  void with_potentials(const Columns& x, int64_t begin, int64_t end, Workspace& space, Use use) const {
    emissions(x, begin, end, space);
    if (edge_plan_.templates == 0 || order_ == 0) return use(nullptr);
    space.edge_keys.clear();
    for (int64_t n = begin; n < end; ++n)
      for (size_t k = 0; k < edge_plan_.templates; ++k)
        space.edge_keys.push_back(key_at(edge_plan_, x, k, n, begin, end));
    const ObservedEdges edges(chain_, edges_, edge_plan_.templates, space.edge_keys.data());
    use(&edges);
  }

  static Block first_block(const int64_t* sentence_ptr, size_t s) {
    const int64_t begin = sentence_ptr[s], end = sentence_ptr[s + 1];
    return {begin, end, begin, std::min(begin + Block::kMost, end)};
  }
  static constexpr int kFew = 4;  // with so few labels, sums of several offsets are one vector
  static constexpr int kWide =
      256;  // with more, sums of all labels are avoided (measured: with 230, summing is faster)
  Plan plan_, edge_plan_;
  QuantizedRows rows_, edges_;
  ChainWeights<float> chain_;
  TrigramWeights<float> trigram_;
  LabelComponents parts_;
  TagDictionary known_;
  LabelsByTags by_tags_;
  Islands islands_;
  TokenDecoder<Sum> tokens_;
  int order_;
  bool few_;
  int width_;  // labels, or their parts, padded
  std::vector<LocalColumns> local_;
  ScatteredTemplates scattered_;
  int32_t local_reach_ = 0;  // how far local templates look

  double most() const { return double(int64_t(plan_.templates) * parts_.most() * kMaxWeight); }  // of an emission

  void run(Workspace& space, size_t T, const Edges<float>* edges, int32_t* out_labels) const {
    if (order_ == 2)
      space.second.run(space.emission.data(), T, chain_, trigram_, edges, nullptr, out_labels);
    else if (!islands_.run(space.emission.data(), T, chain_, space.decoder, space.islands, out_labels))
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
  // Score of one label, from the sums of a token.
  int32_t score_of(const Sum* sum, int32_t label) const {
    return parts_.any() ? parts_.sum<int32_t>(sum, label) : int32_t(sum[label]);
  }
  // The label of the token n where tokens are labeled one by one, from its sums.
  int32_t label_at(const Columns& x, int64_t n, int64_t begin, int64_t end, const Sum* sum, Workspace& space) const {
    const bool listed = list_allowed(x, n, begin, end, space);
    if (!listed && !parts_.any()) return best_label(sum);
    const size_t count = listed ? space.allowed.size() : size_t(chain_.labels);
    int32_t best = std::numeric_limits<int32_t>::min(), label = 0;
    for (size_t i = 0; i < count; ++i) {
      const int32_t j = listed ? space.allowed[i] : int32_t(i), score = score_of(sum, j);
      if (score > best) best = score, label = j;
    }
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
      if (list_allowed(x, n, begin, end, space)) {
        std::fill(labels, labels + K, kForbidden);
        for (const uint16_t label : space.allowed) labels[label] = float(score_of(sum, label));
      } else if (parts_.any()) {
        for (int j = 0; j < width_; ++j) space.parts[size_t(j)] = float(sum[j]);
        parts_.sum(space.parts.data(), labels);
      } else {
        for (int j = 0; j < K; ++j) labels[j] = float(sum[j]);
      }
      std::fill(labels + K, labels + S, 0.0f);
    }
  }
  // Lists the labels that the token n may have by its word and its tags in space.allowed; false: any.
  bool list_allowed(const Columns& x, int64_t n, int64_t begin, int64_t end, Workspace& space) const {
    uint32_t word = QuantizedRows::kNone;
    if (known_.attribute >= 0) {
      const size_t a = size_t(known_.attribute);
      const int32_t type = x.types[size_t(plan_.attribute_column[a]) * x.tokens + size_t(n)];
      word = known_.rows.find(x.hashes[a * x.capacity + size_t(type)]);
    }
    const uint32_t tags = by_tags_.find(x, n, begin, end);
    space.allowed.clear();
    if (word != QuantizedRows::kNone && tags != QuantizedRows::kNone) {
      space.of_word.clear();
      known_.rows.visit_labels(word, [&](uint16_t label) { space.of_word.push_back(label); });
      auto next = space.of_word.begin();
      by_tags_.rows.visit_labels(tags, [&](uint16_t label) {
        while (next != space.of_word.end() && *next < label) ++next;
        if (next != space.of_word.end() && *next == label) space.allowed.push_back(label);
      });
      if (!space.allowed.empty()) return true;
    }
    const auto list = [&](uint16_t label) { space.allowed.push_back(label); };
    if (tags != QuantizedRows::kNone)
      by_tags_.rows.visit_labels(tags, list);
    else if (word != QuantizedRows::kNone)
      known_.rows.visit_labels(word, list);
    return !space.allowed.empty();
  }

  // Finds rows of the scattered templates, and asks for their memory; how many.
  size_t find_rows(Workspace& space, const ScatteredTemplates::Keys& keys) const {
    space.found.resize(keys.keys.size() + 1);
    size_t n = 0;
    scattered_.visit(keys, [&](uint32_t t, uint64_t key) {
      const uint32_t place = rows_.candidate(key);
      rows_.prefetch_row(place);
      space.found[n] = {key, place, t};
      n += place != QuantizedRows::kNone;
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

  // local_sums.h: the sums of local templates, kept for each type.
  void prepare(const Columns& x, const Block& block, Workspace& space, ScatteredTemplates::Keys& keys) const;
  void make_room(size_t c, size_t places, typename Workspace::TypeSums& sums) const;
  SEQTAG_INLINE size_t place_at(const Columns& x, size_t c, int64_t m, int64_t begin, int64_t end,
                                const typename Workspace::TypeSums& sums) const;
  SEQTAG_INLINE void ready_local(const Columns& x, size_t c, int64_t m, int64_t begin, int64_t end,
                                 Workspace& space) const;
  void sum_local(const Columns& x, const Block& block, size_t t, Workspace& space) const;
  void add_local(const Columns& x, const LocalGroup& group, int64_t m, int64_t begin, int64_t end, Sum* acc) const;

  // few_labels.h: the same for so few labels that the sums of several offsets are one vector.
  void sum_column(const Columns& x, size_t c, const Block& block, Workspace& space) const;
  template <int kSpan> void sum_column_of(const Columns& x, size_t c, const Block& block, Workspace& space) const;
  SEQTAG_INLINE size_t held_row(const Columns& x, size_t c, int64_t m, const Block& block, Workspace& space) const;
};

}  // namespace seqtag

#include "few_labels.h"
#include "local_sums.h"
