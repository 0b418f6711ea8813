// Labels each token by itself among the labels seen with its tags. engine/frozen.py: Decoder.
//
// Sums of weights are kept in rows. Most hold only the labels that the tags of a token allow, a few of
// hundreds: those of templates that look at the token itself, and of those that look at tags around it.
// Rows of the words around it hold all labels; words with the same rows of weights share one. When the memory of rows
// is full, all start afresh.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "keys.h"
#include "large.h"
#include "quantized_rows.h"
#include "secret.h"
#include "simd.h"
#include "tuples.h"

namespace seqtag {

// Rows of sums in one piece of memory, found by 64-bit keys.
class RowTable {
 public:
  SEQTAG_INLINE void prefetch(uint64_t key) const {
    if (!slots_.empty()) SEQTAG_PREFETCH(&slots_[home(key)]);
  }
  // The row of a key: 0 if it is new, which the caller sets before it asks for another one.
  uint32_t& find(uint64_t key) {
    if (slots_.size() < 2 * (count_ + 1)) grow();
    size_t slot = home(key);
    while (slots_[slot].row && slots_[slot].key != key) slot = (slot + 1) & (slots_.size() - 1);
    if (!slots_[slot].row) slots_[slot].key = key, ++count_;
    return slots_[slot].row;
  }
  void clear() {
    slots_.clear();
    slots_.shrink_to_fit();
    count_ = 0;
  }
  size_t bytes() const { return slots_.size() * sizeof(Slot); }

 private:
  struct Slot {
    uint64_t key;
    uint32_t row;
  };
  std::vector<Slot> slots_;
  size_t count_ = 0;
  Secret secret_ = process_secret();
  SEQTAG_INLINE size_t home(uint64_t key) const { return size_t(secret_.mixed(key)) & (slots_.size() - 1); }
  void grow() {
    std::vector<Slot> old(std::max<size_t>(256, 2 * slots_.size()), Slot{0, 0});
    old.swap(slots_);
    for (const Slot& s : old) {
      if (!s.row) continue;
      size_t slot = home(s.key);
      while (slots_[slot].row) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = s;
    }
  }
};

// Memory of one thread that decodes with a TokenDecoder: bound to one numbering of the types.
template <class Sum> struct TokenWorkspace {
  struct Labels {                  // that tokens with certain tags may have
    std::vector<uint16_t> ids;     // ascending
    std::vector<uint16_t> places;  // of each label in ids, or after their end; empty if all are allowed
    int width;                     // of a row of their sums, padded; with room for all other labels
  };
  struct Token {
    int64_t n, begin, end;  // the token n of the sentence [begin, end)
    uint32_t tags;          // as in `seen_of`
    const Labels* labels;
    size_t sum;  // where in `sums` its own are
  };
  struct Wanted {
    uint64_t key;
    uint32_t place;
  };
  struct NewWord {  // that a group looks at
    size_t group;
    uint64_t key;
    size_t last;  // of `of_words`
    uint32_t row;
  };
  struct Filled {            // sums that are added up from rows of weights
    size_t last;             // of `wanted`
    const uint16_t* places;  // of labels, or null: sums of all
    Sum* sums;
  };
  Tuples tags, words, others;  // combinations of tags, with the word, and of types of the token's other columns
  std::vector<uint32_t> labels_of, labels_of_words;        // each combination of tags, and with the word: 0 for any
  std::vector<Labels> labels;                              // first all
  std::map<std::vector<uint16_t>, uint32_t> known_labels;  // which of `labels` have these ids
  std::vector<RowTable> tables;                            // one for each group of templates; last that of shared rows
  UnsetMemory<Sum> rows;
  size_t used = 0;                // of the rows, in vectors; none is at 0
  std::vector<uint32_t> tags_of;  // each token
  std::vector<uint32_t> seen_of;  // each token: its tags, or kWord and its number in `words`
  std::vector<Token> batch;       // tokens that are labeled together
  std::vector<uint64_t> keys;     // (groups, batch)
  std::vector<uint32_t> found;    // rows: (groups, batch)
  std::vector<Sum> sums;
  std::vector<Wanted> wanted, of_words;
  std::vector<Filled> filled;
  std::vector<NewWord> new_words;

  // Bytes of sums, and of what numbers them.
  size_t bytes() const {
    size_t total = used * size_t(lanes<Sum>) * sizeof(Sum) + tags.bytes() + words.bytes() + others.bytes();
    for (const RowTable& table : tables) total += table.bytes();
    return total;
  }
};

template <class Sum> class TokenDecoder {
 public:
  using Workspace = TokenWorkspace<Sum>;
  using Labels = typename Workspace::Labels;
  using Token = typename Workspace::Token;

  TokenDecoder(const Plan& plan, const Plan& tags, int labels)
      : plan_(plan), tags_(tags), labels_(labels), width_(padded<Sum>(labels + kOthers)) {
    for (size_t k = 0; k < tags.templates; ++k)
      for (int64_t i = tags.term_ptr[k]; i < tags.term_ptr[k + 1]; ++i) {
        insert(k ? word_columns_ : tag_columns_, tags.attribute_column[tags.term_attribute[i]]);
        possible_ &= tags.term_offset[i] == 0;
      }
    possible_ &= tags.templates > 0;
    groups_.push_back({Group::kOwn, 0, -1, -1, {}});
    for (size_t k = 0; k < plan.templates; ++k) arrange(k);
    for (size_t g = 0; g < groups_.size();) {  // adding a few rows of few cells is faster than one of very many labels
      constexpr size_t kSmall = 2;
      constexpr int kWide = 256;
      const std::vector<size_t>& templates = groups_[g].templates;
      if (groups_[g].kind == Group::kWord && labels > kWide && templates.size() <= kSmall) {
        rest_.insert(rest_.end(), templates.begin(), templates.end());
        groups_.erase(groups_.begin() + int64_t(g));
        continue;
      }
      if (groups_[g].kind == Group::kWord) find_attribute(groups_[g]);
      ++g;
    }
    const size_t bytes = groups_.size() * size_t(width_) * sizeof(Sum);
    batch_ = std::max<size_t>(1, std::min<size_t>(64, kBudget / 4 / bytes));
    capacity_ = std::max(kBudget, 2 * batch_ * bytes) / (size_t(kLanes) * sizeof(Sum));
  }
  bool possible() const { return possible_; }

  void decode(const Columns& x, const int64_t* sentence_ptr, size_t sentences, const QuantizedRows& rows,
              const QuantizedRows& by_tags, Workspace& space, int32_t* out_labels) const {
    if (std::max({space.tags.count(), space.words.count(), space.others.count()}) > kMostTuples) space = Workspace();
    if (space.labels.empty()) {
      space.labels.push_back(all_labels());
      space.tables.resize(groups_.size() + 1);
      space.rows.resize(capacity_ * size_t(kLanes));
      space.used = 1;
    }
    space.tags_of.resize(x.tokens);
    space.seen_of.resize(x.tokens);
    for (size_t s = 0; s < sentences; ++s)
      for (int64_t n = sentence_ptr[s]; n < sentence_ptr[s + 1]; ++n) {
        const size_t tags = space.tags.number(x, tag_columns_, n, size_t(-1));
        if (tags == space.labels_of.size())
          space.labels_of.push_back(find_labels(x, 0, n, sentence_ptr[s], sentence_ptr[s + 1], by_tags, space));
        space.seen_of[size_t(n)] = space.tags_of[size_t(n)] = uint32_t(tags);
        if (word_columns_.empty()) continue;
        const size_t word = space.words.number(x, word_columns_, n, size_t(-1));
        if (word == space.labels_of_words.size())
          space.labels_of_words.push_back(find_labels(x, 1, n, sentence_ptr[s], sentence_ptr[s + 1], by_tags, space));
        if (space.labels_of_words[word]) space.seen_of[size_t(n)] = kWord | uint32_t(word);
      }
    for (size_t s = 0; s < sentences; ++s)
      for (int64_t n = sentence_ptr[s]; n < sentence_ptr[s + 1]; ++n) {
        const uint32_t tags = space.seen_of[size_t(n)];
        const Labels& labels = space.labels[tags & kWord ? space.labels_of_words[tags ^ kWord] : space.labels_of[tags]];
        out_labels[n] = labels.ids[0];
        if (labels.ids.size() == 1) continue;
        space.batch.push_back({n, sentence_ptr[s], sentence_ptr[s + 1], tags, &labels, space.sums.size()});
        space.sums.resize(space.sums.size() + size_t(labels.width), 0);
        if (space.batch.size() == batch_) label_batch(x, rows, space, out_labels);
      }
    label_batch(x, rows, space, out_labels);
  }

 private:
  static constexpr int kLanes = lanes<Sum>;
  static constexpr int kOthers = 8;  // places of labels that are not allowed, which take turns: additions to one place
                                     // wait for each other
  static constexpr size_t kBudget = size_t(32) << 20;   // bytes of rows
  static constexpr uint32_t kNew = uint32_t(1) << 31;   // instead of a row: which of the new words
  static constexpr uint32_t kWord = uint32_t(1) << 31;  // instead of tags: a word with tags that has labels of its own
  static constexpr size_t kMostTuples = size_t(1) << 18;
  struct Group {
    enum Kind { kOwn, kTags, kWord } kind;  // what it sees: the token itself, the tags there, one column there
    int32_t offset, column, attribute;      // attribute: the only one, or -1
    std::vector<size_t> templates;
  };
  Plan plan_, tags_;
  int labels_, width_;  // width: of a row of all labels
  bool possible_ = true;
  std::vector<int32_t> tag_columns_, word_columns_, other_columns_;  // that templates see at the token itself
  std::vector<Group> groups_;
  std::vector<size_t> rest_;  // templates that are looked up for each token
  size_t batch_, capacity_;   // capacity: of the rows, in vectors
  Secret secret_ = process_secret();

  static void insert(std::vector<int32_t>& columns, int32_t column) {
    if (!contains(columns, column)) columns.push_back(column);
  }
  static bool contains(const std::vector<int32_t>& columns, int32_t column) {
    return std::find(columns.begin(), columns.end(), column) != columns.end();
  }
  int32_t column_of(int64_t term) const { return plan_.attribute_column[plan_.term_attribute[term]]; }

  // Puts a template into its group: the rows it is summed in.
  void arrange(size_t k) {
    const int64_t first = plan_.term_ptr[k], last = plan_.term_ptr[k + 1];
    int32_t offset = 0;
    bool one_offset = true, tags_only = true;  // one_offset: besides that of the token itself
    for (int64_t i = first; i < last; ++i) {
      tags_only &= contains(tag_columns_, column_of(i));
      if (plan_.term_offset[i] == 0) continue;
      one_offset &= offset == 0 || offset == plan_.term_offset[i];
      offset = plan_.term_offset[i];
    }
    if (offset == 0) {
      for (int64_t i = first; i < last; ++i)
        if (!contains(tag_columns_, column_of(i))) insert(other_columns_, column_of(i));
      groups_[0].templates.push_back(k);
    } else if (one_offset && tags_only) {
      group(Group::kTags, offset, -1).templates.push_back(k);
    } else if (is_local(plan_, k)) {
      group(Group::kWord, offset, column_of(first)).templates.push_back(k);
    } else {
      rest_.push_back(k);
    }
  }
  Group& group(typename Group::Kind kind, int32_t offset, int32_t column) {
    for (Group& g : groups_)
      if (g.kind == kind && g.offset == offset && g.column == column) return g;
    groups_.push_back({kind, offset, column, -1, {}});
    return groups_.back();
  }
  // A group of one attribute has a row for each of its values: fewer than types.
  void find_attribute(Group& group) const {
    group.attribute = plan_.term_attribute[plan_.term_ptr[group.templates[0]]];
    for (size_t k : group.templates)
      for (int64_t i = plan_.term_ptr[k]; i < plan_.term_ptr[k + 1]; ++i)
        if (plan_.term_attribute[i] != group.attribute) group.attribute = -1;
  }

  Labels all_labels() const {
    Labels all{{}, {}, width_};
    for (int j = 0; j < labels_; ++j) all.ids.push_back(uint16_t(j));
    return all;
  }
  uint32_t find_labels(const Columns& x, size_t k, int64_t n, int64_t begin, int64_t end, const QuantizedRows& by_tags,
                       Workspace& space) const {
    const uint32_t place = by_tags.find(key_at(tags_, x, k, n, begin, end));
    if (place == QuantizedRows::kNone) return 0;
    Labels found{{}, {}, 0};
    by_tags.visit_labels(place, [&](uint16_t label) { found.ids.push_back(label); });
    const auto [known, is_new] = space.known_labels.insert({found.ids, uint32_t(space.labels.size())});
    if (is_new) {
      for (int j = 0; j < labels_; ++j)
        found.places.push_back(uint16_t(std::min<size_t>(found.ids.size() + size_t(j % kOthers), UINT16_MAX)));
      for (size_t j = 0; j < found.ids.size(); ++j) found.places[found.ids[j]] = uint16_t(j);
      found.width = padded<Sum>(int(found.ids.size()) + kOthers);
      space.labels.push_back(std::move(found));
    }
    return known->second;
  }

  // What a group sees at a token: equal numbers have equal sums.
  uint64_t seen(const Columns& x, const Group& group, const Token& token, Workspace& space) const {
    const int64_t m = token.n + group.offset;
    const bool left = m < token.begin, right = m >= token.end;
    if (group.kind == Group::kOwn) {
      const size_t others = other_columns_.empty() ? 0
                            : other_columns_.size() == 1
                                ? size_t(x.types[size_t(other_columns_[0]) * x.tokens + size_t(m)])
                                : space.others.number(x, other_columns_, m, size_t(-1));
      return uint64_t(others) << 32 | token.tags;
    }
    if (group.kind == Group::kTags)
      return uint64_t(left ? 0 : right ? 1 : 2 + space.tags_of[size_t(m)]) << 32 | token.tags;
    if (group.attribute < 0) return place_of(x, group.column, m, token.begin, token.end);
    if (left || right) return left ? kLeft : kRight;
    const int32_t type = x.types[size_t(group.column) * x.tokens + size_t(m)];
    return x.hashes[size_t(group.attribute) * x.capacity + size_t(type)];
  }
  // Asks for the rows of weights that some templates have for a token.
  void ask(const Columns& x, const Token& token, const std::vector<size_t>& templates, const QuantizedRows& rows,
           std::vector<typename Workspace::Wanted>& wanted) const {
    for (const size_t k : templates) {
      const uint64_t key = key_at(plan_, x, k, token.n, token.begin, token.end);
      if (!key) continue;
      rows.prefetch_slot(key);
      wanted.push_back({key, QuantizedRows::kNone});
    }
  }
  // The same, to be added up in `sums`.
  void want(const Columns& x, const Token& token, const std::vector<size_t>& templates, const Labels& labels, Sum* sums,
            const QuantizedRows& rows, Workspace& space) const {
    ask(x, token, templates, rows, space.wanted);
    space.filled.push_back({space.wanted.size(), labels.places.empty() ? nullptr : labels.places.data(), sums});
  }
  void add_wanted(const QuantizedRows& rows, Workspace& space) const {
    for (auto& w : space.wanted) rows.prefetch_whole_row(w.place = rows.candidate(w.key));
    size_t i = 0;
    for (const auto& f : space.filled)
      for (; i < f.last; ++i) {
        const auto& w = space.wanted[i];
        const uint32_t place = w.place == QuantizedRows::kNone ? w.place : rows.exact(w.key, w.place);
        if (place == QuantizedRows::kNone) continue;
        if (f.places)
          rows.visit_cells(place, [&](QuantizedRows::Cell c) {
            Sum& sum = f.sums[f.places[c.label]];
            sum = Sum(sum + c.weight);
          });
        else
          rows.add_at(f.sums, place);
      }
    space.wanted.clear();
    space.filled.clear();
  }
  // Gives each new word the sum of its rows: many have the same.
  void sum_new_words(const QuantizedRows& rows, Workspace& space) const {
    for (auto& w : space.of_words) rows.prefetch_row(w.place = rows.candidate(w.key));
    size_t i = 0;
    for (auto& word : space.new_words) {
      const size_t first = i;
      uint64_t places = 0;
      for (; i < word.last; ++i) {
        uint32_t& place = space.of_words[i].place;
        if (place != QuantizedRows::kNone) place = rows.exact(space.of_words[i].key, place);
        if (place != QuantizedRows::kNone) places = secret_.mixed(places) + place;
      }
      uint32_t& row = space.tables.back().find(places);
      if (!row) {
        row = new_row(width_, space);
        for (size_t j = first; j < i; ++j)
          if (space.of_words[j].place != QuantizedRows::kNone) rows.add_at(row_at(row, space), space.of_words[j].place);
      }
      space.tables[word.group].find(word.key) = word.row = row;
    }
    for (uint32_t& row : space.found)
      if (row & kNew) row = space.new_words[row ^ kNew].row;
    space.of_words.clear();
    space.new_words.clear();
  }
  uint32_t new_row(int width, Workspace& space) const {
    const uint32_t row = uint32_t(space.used);
    space.used += size_t(width / kLanes);
    std::fill_n(row_at(row, space), width, Sum(0));
    return row;
  }
  Sum* row_at(uint32_t row, Workspace& space) const { return space.rows.data() + size_t(row) * size_t(kLanes); }

  void label_batch(const Columns& x, const QuantizedRows& rows, Workspace& space, int32_t* out_labels) const {
    const size_t T = space.batch.size(), G = groups_.size();
    size_t bytes = 0;
    for (const RowTable& table : space.tables) bytes += table.bytes();
    const size_t most = T * G * size_t(width_ / kLanes);
    if (space.used + most > capacity_ || bytes > kBudget) {
      for (RowTable& table : space.tables) table.clear();
      space.used = 1;
    }
    space.keys.resize(G * T);
    space.found.resize(G * T);
    for (size_t g = 0; g < G; ++g)
      for (size_t t = 0; t < T; ++t)
        space.tables[g].prefetch(space.keys[g * T + t] = seen(x, groups_[g], space.batch[t], space));
    for (const Token& token : space.batch) want(x, token, rest_, *token.labels, &space.sums[token.sum], rows, space);
    for (size_t g = 0; g < G; ++g) {
      const bool all = groups_[g].kind == Group::kWord;  // labels
      for (size_t t = 0; t < T; ++t) {
        const Token& token = space.batch[t];
        const uint64_t key = space.keys[g * T + t];
        uint32_t& row = space.tables[g].find(key);
        if (!row && all) {
          row = kNew | uint32_t(space.new_words.size());
          ask(x, token, groups_[g].templates, rows, space.of_words);
          space.new_words.push_back({g, key, space.of_words.size(), 0});
        } else if (!row) {
          row = new_row(token.labels->width, space);
          want(x, token, groups_[g].templates, *token.labels, row_at(row, space), rows, space);
        } else if (!all) {
          SEQTAG_PREFETCH(row_at(row, space));
        } else if (!(row & kNew)) {
          for (int j = 0; j < width_; j += 64 / int(sizeof(Sum))) SEQTAG_PREFETCH(row_at(row, space) + j);
        }
        space.found[g * T + t] = row;
      }
    }
    sum_new_words(rows, space);
    add_wanted(rows, space);
    for (size_t t = 0; t < T; ++t) out_labels[space.batch[t].n] = best_label(t, space);
    space.batch.clear();
    space.sums.clear();
  }
  int32_t best_label(size_t t, Workspace& space) const {
    const Token& token = space.batch[t];
    const std::vector<uint16_t>& ids = token.labels->ids;
    const size_t T = space.batch.size();
    const int width = token.labels->width;
    Sum* sum = &space.sums[token.sum];
    for (size_t g = 0; g < groups_.size(); ++g) {
      const Sum* row = row_at(space.found[g * T + t], space);
      if (groups_[g].kind != Group::kWord || ids.size() == size_t(labels_))
        add(sum, row, width);
      else
        for (size_t i = 0; i < ids.size(); ++i) sum[i] = Sum(sum[i] + row[ids[i]]);
    }
    Sum best = sum[0];
    for (size_t i = 1; i < ids.size(); ++i) best = std::max(best, sum[i]);
    return ids[size_t(std::find(sum, sum + ids.size(), best) - sum)];
  }
};

}  // namespace seqtag
