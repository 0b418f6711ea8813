// Labels the characters of a text one by one, without a type for what surrounds each.
//
// The score of a label at a row is a sum of whole numbers, which may be taken in any order. Here it is taken in four
// parts, by what templates look at:
//   grams  characters or their kinds, from an offset on: what a gram gives to the rows around it is summed once
//   own    the row's place in its chunk: summed once for each place of each chunk
//   pairs  the tail of the chunk, and one of the chunks around it: summed once for both
//   joins  the tail, and several chunks: looked up each time
// The labels are those of a Decoder with the types that a CharacterTable numbers. New text costs a part of that, as
// few values are hashed: those of grams and chunks that are new.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "attributes.h"
#include "characters.h"
#include "decoder_workspace.h"
#include "interning.h"
#include "keys.h"
#include "limits.h"
#include "quantized_rows.h"
#include "simd.h"

namespace seqtag {

class ChunkModel {
  using Sum = int16_t;
  using Table = CharacterTable;
  static constexpr size_t kLabels = 4;  // at most: the sums of a row are one vector
  static constexpr size_t kStrip = 32;  // ends whose memory is asked for at once
  enum Place : size_t { kBefore, kHere, kNext, kAfter, kPlaces };

 public:
  struct Use {   // an attribute of the plan
    int column;  // CharacterTable::ColumnName, or -1 for another
    AttributeUse value;
  };
  // What one thread knows of the texts that it has read with one CharacterTable.
  class Memory {
   public:
    size_t bytes() const {
      size_t total = pairs_.bytes() + bytes_held(heads_) + bytes_held(tails_) + bytes_held(places_) + bytes_held(ends_);
      for (const std::vector<Sum>* sums : {&grams_[0], &grams_[1], &own_, &pair_sums_, &sum_})
        total += bytes_held(*sums);
      return total + 2 * bytes_held(chunks_[0]) + long_chunks_.bytes() + bytes_held(tail_numbers_) +
             2 * bytes_held(numbers_[0]);
    }

   private:
    friend class ChunkModel;
    static constexpr uint32_t kNew = uint32_t(-1);
    struct Chunk {
      uint32_t own, tails;  // where its sums and the numbers of its tails begin; kNew: it was not met yet
      uint32_t joined;      // one more than the part of its last row, if that is kept; else 0
    };
    struct End {  // a row in the tail of a chunk
      size_t row;
      int32_t tail;
      std::array<int32_t, kPlaces> heads;  // of the chunks around it
    };
    std::vector<Sum> grams_[2], own_, pair_sums_;  // per gram and offset, part, pair
    std::vector<uint64_t> heads_, tails_;          // hashes: per head and attribute of heads, per tail
    std::array<std::vector<Chunk>, 4> chunks_;     // of heads, and longer ones; the same at the begin of a paragraph
    Interner long_chunks_;
    std::vector<int32_t> tail_numbers_;
    PairNumbers pairs_;  // of a tail and a place, and a head
    // Of the paragraph at hand:
    std::vector<Sum> sum_;                         // per row
    std::array<std::vector<int32_t>, 2> numbers_;  // of the grams that begin there, of symbols and of kinds
    std::vector<size_t> places_;
    std::vector<End> ends_;
    WantedRows<Sum> wanted_;
  };

  ChunkModel(const Plan& plan, const std::vector<Use>& uses, QuantizedRows rows, int labels)
      : plan_(plan), rows_(std::move(rows)), labels_(labels),
        fits_(size_t(labels) <= kLabels && int64_t(plan.templates) <= kNarrowRows) {
    for (size_t k = 0; k < plan.templates && fits_; ++k) fits_ = arrange(uses, k);
    plan_.templates = 0;  // of the plan, only how it makes a key is used from here on
  }
  // Whether each template is of one of the four parts.
  bool fits() const { return fits_; }

  // Labels of the rows of the text that was split last. They are -1 in paragraphs that are left to the caller, which
  // have longer chunks, or characters whose normal form depends on what surrounds them.
  void label(Table& table, Memory& memory, int32_t* out) const {
    if (memory.grams_[0].empty()) begin(memory);
    table.each_paragraph([&](size_t begin, size_t end) {
      if (is_plain(table, begin, end))
        label_paragraph(table, begin, end, memory, out + begin);
      else
        std::fill(out + begin, out + end, -1);
    });
  }

 private:
  struct Term {
    int column;
    Place place;         // of the chunk that it looks at
    size_t head;         // which of heads_, if it looks at the text or shape of a chunk
    AttributeUse value;  // kForm, kValue, kPrefix or kSuffix
    uint64_t multiplier;
  };
  struct Template {
    uint64_t seed;
    std::vector<Term> terms;
  };
  struct GramTemplate {
    uint64_t seed, multiplier;
    int column;
    int32_t offset;
  };
  struct Offsets {  // templates of symbols or of kinds, and from where they look
    std::vector<GramTemplate> templates;
    int32_t lowest = 0, highest = 0;
    size_t span() const { return size_t(highest - lowest) + 1; }
  };
  Plan plan_;
  QuantizedRows rows_;
  int labels_;
  bool fits_;
  std::array<Offsets, 2> grams_;                      // of symbols and of kinds
  std::vector<Template> own_, with_grams_;            // with_grams_: those that see a gram too
  std::array<std::vector<Template>, kPlaces> pairs_;  // by the other chunk
  std::vector<Template> joins_;
  std::vector<Term> heads_;  // the different attributes of texts and shapes of chunks

  static bool is_symbol(int column) { return column < Table::kK1; }
  static bool is_gram(int column) { return column <= Table::kClass; }
  static bool is_shape(int column) { return column >= Table::kChunkShape; }
  static bool is_head(int column) { return column >= Table::kChunk; }
  static Place place_of(int column) {
    constexpr Place places[] = {kHere, kNext, kAfter, kBefore};
    return !is_head(column) ? kHere : places[(column - (is_shape(column) ? Table::kChunkShape : Table::kChunk))];
  }

  // Puts a template where it belongs; false if it has no place.
  bool arrange(const std::vector<Use>& uses, size_t k) {
    Template made{plan_.seed[k], {}};
    bool whole = true, by_tail = false, grams = false, around = false, several = false;
    Place other = kHere;
    for (int64_t i = plan_.term_ptr[k]; i < plan_.term_ptr[k + 1]; ++i) {
      const Use& use = uses[size_t(plan_.term_attribute[i])];
      const Attribute value = use.value.attribute;
      const bool of_text = is_head(use.column) && !is_shape(use.column);
      const bool known = value == Attribute::kForm || value == Attribute::kValue ||
                         (of_text && (value == Attribute::kPrefix || value == Attribute::kSuffix));
      if (use.column < 0 || !known) return false;
      Term term{use.column, place_of(use.column), 0, use.value, plan_.multiplier[i - plan_.term_ptr[k]]};
      if (is_head(use.column)) term.head = head_of(term);
      made.terms.push_back(term);
      whole &= plan_.term_offset[i] == 0;
      by_tail |= use.column == Table::kTail && value == Attribute::kValue;
      grams |= is_gram(use.column);
      if (term.place == kHere) {
        around |= !is_head(use.column) && use.column != Table::kTail;
        several |= is_head(use.column);
      } else {
        several |= other != kHere && other != term.place;
        other = term.place;
      }
    }
    if (made.terms.size() == 1 && grams) return add_gram(made, plan_.term_offset[plan_.term_ptr[k]]);
    if (!whole || made.terms.empty()) return false;
    if (other != kHere && (around || !by_tail)) return false;
    std::vector<Template>& of = other == kHere ? (grams ? with_grams_ : own_) : several ? joins_ : pairs_[other];
    of.push_back(std::move(made));
    return true;
  }
  bool add_gram(const Template& made, int32_t offset) {
    Offsets& of = grams_[!is_symbol(made.terms[0].column)];
    of.templates.push_back({made.seed, made.terms[0].multiplier, made.terms[0].column, offset});
    of.lowest = std::min(of.lowest, offset);
    of.highest = std::max(of.highest, offset);
    return of.span() <= 16;  // else its sums would take much memory
  }
  size_t head_of(const Term& term) {
    size_t h = 0;
    const auto same = [&](const Term& other) {
      return is_shape(other.column) == is_shape(term.column) && other.value.attribute == term.value.attribute &&
             other.value.n == term.value.n;
    };
    while (h < heads_.size() && !same(heads_[h])) ++h;
    if (h == heads_.size()) heads_.push_back(term);
    return h;
  }

  // ------------------------------------------------------------------ hashes
  // Of an attribute's value, 0 if absent.
  static uint64_t hash_of(const AttributeUse& use, std::string_view text) {
    const auto begins = [&](size_t at) { return (uint8_t(text[at]) & 0xc0) != 0x80; };
    size_t left = size_t(use.n), at = 0;
    switch (use.attribute) {
      case Attribute::kPrefix:
        while (at < text.size() && (left || !begins(at))) left -= begins(at++);
        return left ? 0 : hash_bytes(text.data(), at);
      case Attribute::kSuffix:
        for (at = text.size(); at && left;) left -= begins(--at);
        return left ? 0 : hash_bytes(text.data() + at, text.size() - at);
      default:
        return present(use, hash_bytes(text.data(), text.size()));
    }
  }
  static uint64_t present(const AttributeUse& use, uint64_t hash) {
    return use.attribute == Attribute::kValue && hash == BytesHash().value() ? 0 : hash;
  }
  // Of a term that looks at the row itself, whose place in its chunk is a part, at a row of the paragraph.
  uint64_t own_hash(const Table& table, const Term& term, size_t part, size_t row, const Memory& memory) const {
    const size_t column = size_t(term.column);
    if (is_gram(term.column)) {
      const bool kinds = !is_symbol(term.column);
      return table.hash(kinds ? Table::kKinds : Table::kSymbols, column, size_t(memory.numbers_[kinds][row]));
    }
    if (!is_head(term.column)) return present(term.value, table.hash(Table::kParts, column, part));
    return hash_of(term.value, table.inner_value(column, table.inner_number(Table::kParts, column, part)));
  }
  // Key of a template of which hash(term) tells the hashes; 0 if a term is absent.
  template <class Hash> uint64_t key_of(const Template& made, Hash hash) const {
    uint64_t sum = made.seed;
    for (const Term& term : made.terms) {
      const uint64_t found = hash(term);
      if (!found) return 0;
      sum += found * term.multiplier;
    }
    return plan_.key(sum);
  }

  // ------------------------------------------------------------------- grams
  void begin(Memory& memory) const {
    for (size_t kinds = 0; kinds < 2; ++kinds) {
      memory.grams_[kinds].assign(2 * grams_[kinds].span() * kLabels, 0);
      for (const GramTemplate& each : grams_[kinds].templates)
        for (const size_t beyond : {size_t(0), size_t(1)})
          rows_.add(sum_for(memory, kinds, beyond, each.offset),
                    plan_.key(each.seed + (beyond ? kRight : kLeft) * each.multiplier));
    }
  }
  // What a gram gives to a row that sees it from an offset; gram: 0 before the paragraph, 1 after it, else two more
  // than its number.
  Sum* sum_for(Memory& memory, size_t kinds, size_t gram, int32_t offset) const {
    const Offsets& of = grams_[kinds];
    return &memory.grams_[kinds][(gram * of.span() + size_t(offset - of.lowest)) * kLabels];
  }
  // Numbers the grams at the rows of a paragraph, and sums what new ones give.
  void number_grams(Table& table, size_t begin, size_t rows, size_t kinds, Memory& memory) const {
    const Table::View view = kinds ? Table::kKinds : Table::kSymbols;
    memory.numbers_[kinds].resize(rows);
    table.number_grams(view, begin, begin + rows, memory.numbers_[kinds].data());
    const size_t width = grams_[kinds].span() * kLabels, known = memory.grams_[kinds].size() / width - 2;
    memory.grams_[kinds].resize((2 + table.types(view)) * width);
    for (size_t gram = known; gram < table.types(view); ++gram) {
      std::array<uint64_t, Table::kLeft> hashes{};  // by column
      for (const GramTemplate& each : grams_[kinds].templates) {
        uint64_t& hash = hashes[size_t(each.column)];
        if (!hash) hash = table.hash(view, size_t(each.column), gram);
        memory.wanted_.want(rows_, plan_.key(each.seed + hash * each.multiplier),
                            sum_for(memory, kinds, 2 + gram, each.offset));
      }
      if (gram % 4 == 0) memory.wanted_.add_all(rows_);
    }
    memory.wanted_.add_all(rows_);
  }
  // Adds what the grams of a paragraph give to the rows around each.
  void add_grams(size_t rows, size_t kinds, Memory& memory) const {
    const size_t span = grams_[kinds].span(), width = span * kLabels, left = size_t(-grams_[kinds].lowest);
    memory.places_.assign(rows + span - 1, width);
    std::fill_n(memory.places_.begin(), left, 0);
    for (size_t r = 0; r < rows; ++r) memory.places_[left + r] = (2 + size_t(memory.numbers_[kinds][r])) * width;
    const auto add = span == 5 ? &add_places<5> : span == 6 ? &add_places<6> : &add_places<0>;
    add(memory.grams_[kinds].data(), memory.places_.data(), rows, span, memory.sum_.data());
  }
  // kSpan: the same as span, or 0 if that is not known here.
  template <size_t kSpan>
  static void add_places(const Sum* sums, const size_t* places, size_t rows, size_t given, Sum* sum) {
    constexpr size_t kAhead = 12;
    const size_t span = kSpan ? kSpan : given;
    for (size_t r = 0; r < rows; ++r, sum += kLabels) {
      const Sum* later = sums + places[std::min(r + kAhead, rows - 1)];
      SEQTAG_PREFETCH(later);
      SEQTAG_PREFETCH(later + span * kLabels - 1);
      Four<Sum> acc = load_four(sum);
      for (size_t k = 0; k < span; ++k) acc = acc + load_four(sums + places[r + k] + k * kLabels);
      std::memcpy(sum, &acc, sizeof acc);
    }
  }

  // -------------------------------------------------------------- paragraphs
  static bool is_plain(const Table& table, size_t begin, size_t end) {
    for (size_t r = begin, first = begin; r < end; ++r) {
      const size_t character = size_t(table.row_character_[r]);
      if (table.gaps_[r]) first = r;
      if (r - first >= Table::kOpeningReach || !table.plain_symbol_[size_t(table.symbol_of_[character])] ||
          !table.plain_kind_[size_t(table.kind_of_[character])])
        return false;
    }
    return true;
  }
  void label_paragraph(Table& table, size_t begin, size_t end, Memory& memory, int32_t* out) const {
    const size_t rows = end - begin;
    memory.sum_.resize(rows * kLabels);
    memory.ends_.clear();
    for (const size_t kinds : {0, 1}) number_grams(table, begin, rows, kinds, memory);
    table.find_chunks(begin, end);
    add_heads(table, memory);
    for (size_t c = 1; c + 2 < table.chunks_.size(); ++c) start_sums(table, &table.chunks_[c], begin, memory);
    memory.wanted_.add_all(rows_);
    for (size_t first = 0; first < memory.ends_.size(); first += kStrip)
      add_ends(&memory.ends_[first], std::min(kStrip, memory.ends_.size() - first), memory);
    for (const size_t kinds : {0, 1}) add_grams(rows, kinds, memory);
    const Sum* sum = memory.sum_.data();
    for (size_t r = 0; r < rows; ++r, sum += kLabels) {
      int32_t best = 0;
      for (int32_t label = 1; label < labels_; ++label)
        if (sum[label] > sum[best]) best = label;
      out[r] = best;
    }
  }
  // Hashes of the attributes of new chunks' texts and shapes.
  void add_heads(const Table& table, Memory& memory) const {
    if (heads_.empty()) return;
    for (size_t head = memory.heads_.size() / heads_.size(); head < table.heads_.size(); ++head)
      for (const Term& term : heads_) {
        const bool shape = is_shape(term.column);
        const size_t text = size_t(shape ? table.heads_[head].shape : table.heads_[head].text);
        memory.heads_.push_back(hash_of(term.value, (shape ? table.shapes_ : table.texts_).value(text)));
      }
  }
  // The sums of the rows of a chunk begin with what its own templates give; its ends are noted.
  void start_sums(Table& table, const Table::Found* at, size_t begin, Memory& memory) const {
    const size_t size = at->end - at->begin, row = at->begin - begin;
    const char* key = reinterpret_cast<const char*>(&table.row_character_[at->begin]);
    const size_t number =
        at->is_complete() ? size_t(at->head) - 2 : size_t(memory.long_chunks_.intern(key, size * sizeof(int32_t)));
    const size_t tail_at = table.tail_begin(at->begin, at->end) - at->begin;
    std::vector<Memory::Chunk>& chunks = memory.chunks_[2 * (row == 0) + !at->is_complete()];
    if (number >= chunks.size()) chunks.resize(number + 1, {Memory::kNew, 0, 0});
    if (chunks[number].own == Memory::kNew) chunks[number] = learn(table, *at, tail_at, row, memory);
    const Memory::Chunk chunk = chunks[number];
    std::copy_n(&memory.own_[chunk.own * kLabels], size * kLabels, &memory.sum_[row * kLabels]);
    if (chunk.joined)
      for (const Template& each : with_grams_)
        want_own(table, each, chunk.joined - 1, row + size - 1, memory, &memory.sum_[(row + size - 1) * kLabels]);
    for (size_t i = tail_at; i < size; ++i)
      memory.ends_.push_back({row + i,
                              memory.tail_numbers_[chunk.tails + i - tail_at],
                              {at[-1].complete(), at->complete(), at[1].head, at[1].is_complete() ? at[2].head : 0}});
  }
  // Sums what own templates give to the places in a new chunk.
  Memory::Chunk learn(Table& table, const Table::Found& at, size_t tail_at, size_t row, Memory& memory) const {
    const size_t size = at.end - at.begin, part = table.parts_.size(), symbols = table.part_symbols_.size();
    table.number_parts(at.begin, at.end, table.heads_[size_t(at.complete())]);
    const size_t own = memory.own_.size() / kLabels, tails = memory.tail_numbers_.size();
    memory.own_.resize((own + size) * kLabels);
    for (size_t i = 0; i < size; ++i) {
      Sum* sum = &memory.own_[(own + i) * kLabels];
      for (const Template& each : own_) want_own(table, each, part + i, row + i, memory, sum);
      if (i + 1 < size)
        for (const Template& each : with_grams_) want_own(table, each, part + i, row + i, memory, sum);
      if (i < tail_at) continue;
      const size_t tail = size_t(table.parts_[part + i].tail);
      memory.tail_numbers_.push_back(int32_t(tail));
      if (tail >= memory.tails_.size()) memory.tails_.resize(tail + 1);
      memory.tails_[tail] = table.hash(Table::kParts, Table::kTail, part + i);
    }
    memory.wanted_.add_all(rows_);
    // The last row sees a gram that goes on in the next chunk: its part is kept for that, if it may be needed.
    const bool joined = std::any_of(with_grams_.begin(), with_grams_.end(), [&](const Template& each) {
      return key_of(each, [&](const Term& term) {
               return is_gram(term.column) ? 1 : own_hash(table, term, part + size - 1, row + size - 1, memory);
             }) != 0;
    });
    if (joined)
      table.parts_[part] = table.parts_[part + size - 1];
    else
      table.part_symbols_.resize(symbols);
    table.parts_.resize(part + size_t(joined));
    return {uint32_t(own), uint32_t(tails), joined ? uint32_t(part + 1) : 0};
  }
  void want_own(const Table& table, const Template& made, size_t part, size_t row, Memory& memory, Sum* sum) const {
    const uint64_t key = key_of(made, [&](const Term& term) { return own_hash(table, term, part, row, memory); });
    if (key) memory.wanted_.want(rows_, key, sum);
  }

  // -------------------------------------------------------------------- ends
  // Adds what the chunks around some ends give to them.
  void add_ends(const Memory::End* ends, size_t many, Memory& memory) const {
    for (const Place place : {kBefore, kNext, kAfter})
      if (!pairs_[place].empty()) add_pairs(ends, many, place, memory);
    for (size_t i = 0; i < many; ++i)
      for (const Template& each : joins_) want_end(each, ends[i], memory, &memory.sum_[ends[i].row * kLabels]);
    memory.wanted_.add_all(rows_);
  }
  void add_pairs(const Memory::End* ends, size_t many, Place place, Memory& memory) const {
    std::array<PairNumbers::Tuple, kStrip> tuples;
    std::array<uint64_t, kStrip> hashes;
    std::array<size_t, kStrip> numbers;
    for (size_t i = 0; i < many; ++i) {
      tuples[i] = {ends[i].tail * int32_t(kPlaces) + int32_t(place), ends[i].heads[place]};
      memory.pairs_.prefetch(hashes[i] = memory.pairs_.hash(tuples[i].data()));
    }
    size_t known = memory.pair_sums_.size() / kLabels;
    for (size_t i = 0; i < many; ++i) numbers[i] = size_t(memory.pairs_.number(tuples[i].data(), hashes[i]));
    memory.pair_sums_.resize(memory.pairs_.size() * kLabels);
    for (size_t i = 0; i < many; ++i) {
      SEQTAG_PREFETCH(&memory.pair_sums_[numbers[i] * kLabels]);
      if (numbers[i] != known) continue;
      for (const Template& each : pairs_[place]) want_end(each, ends[i], memory, &memory.pair_sums_[known * kLabels]);
      ++known;
    }
    memory.wanted_.add_all(rows_);
    for (size_t i = 0; i < many; ++i) {
      Sum* sum = &memory.sum_[ends[i].row * kLabels];
      const Four<Sum> acc = load_four(sum) + load_four(&memory.pair_sums_[numbers[i] * kLabels]);
      std::memcpy(sum, &acc, sizeof acc);
    }
  }
  void want_end(const Template& made, const Memory::End& end, Memory& memory, Sum* sum) const {
    const uint64_t key = key_of(made, [&](const Term& term) {
      return term.column == Table::kTail ? memory.tails_[size_t(end.tail)]
                                         : memory.heads_[size_t(end.heads[term.place]) * heads_.size() + term.head];
    });
    if (key) memory.wanted_.want(rows_, key, sum);
  }
};

}  // namespace seqtag
