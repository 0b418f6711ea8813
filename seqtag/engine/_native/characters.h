// Text to rows of columns, one row for each character that is not white space.
// seqtag/segmentation/characters.py defines the columns, and is the readable twin.
//
// The caller defines the properties of each new code point and character once; here they are
// numbers. Columns that depend on the same characters are one view: a type of it has a value in each
// of its columns, so that a row has few types. Grams are numbered with the longest, parts of a chunk
// with the chunk: no text is put together but for types that are new.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "interning.h"
#include "keys.h"

namespace seqtag {

// Some signs in a row, N at most, each with a space before it or none, numbered as they come.
template <size_t N> class Grams {
 public:
  // Numbers of the grams of a length that begin at the rows of a paragraph. signs: of its rows; 0 is the
  // end of the text. gaps: what precedes them.
  void number(const int32_t* signs, const uint8_t* gaps, size_t rows, size_t length, int32_t* out) {
    spaced_.assign(rows + N, 0);
    for (size_t i = 0; i < rows; ++i) spaced_[i] = 2 * signs[i] + (gaps[i] == 1);
    spaced_[rows] = 1;
    constexpr size_t kStrip = 16;  // whose memory is asked for at once
    std::array<uint64_t, kStrip> hashes;
    std::array<std::array<int32_t, N>, kStrip> grams;
    for (size_t first = 0; first < rows; first += kStrip) {
      const size_t many = std::min(kStrip, rows - first);
      for (size_t i = 0; i < many; ++i) {
        for (size_t k = 0; k < N; ++k) grams[i][k] = k < length ? spaced_[first + i + k] : 0;
        numbers_.prefetch(hashes[i] = numbers_.hash(grams[i].data()));
      }
      for (size_t i = 0; i < many; ++i) out[first + i] = numbers_.number(grams[i].data(), hashes[i]);
    }
  }
  size_t size() const { return numbers_.size(); }
  int32_t first_sign(size_t number) const { return numbers_.tuple(number)[0] / 2; }
  // visit(sign, whether a space precedes it) for the first signs of a gram.
  template <class Visit> void each_sign(size_t number, size_t signs, Visit visit) const {
    for (size_t i = 0; i < signs; ++i) {
      const int32_t spaced = numbers_.tuple(number)[i];
      visit(spaced / 2, spaced % 2 == 1);
    }
  }
  // Bytes of memory held.
  size_t bytes() const { return numbers_.bytes() + bytes_held(spaced_); }

 private:
  TupleNumbers<N> numbers_;
  std::vector<int32_t> spaced_;
};

// The words of a table, by their hashes, and the longest of them around each place of a text.
class Dictionary {
 public:
  static constexpr size_t kLongest = 12, kMost = 8;  // characters of a word, and value of a length
  // Lengths of the longest word that ends with a character, that begins with the next, and that has both.
  using Lengths = std::array<int32_t, 4>;

  Dictionary(const uint64_t* hashes, size_t n) {
    size_t size = 16;
    while (size < 2 * n) size *= 2;
    slots_.assign(size, 0);
    for (size_t w = 0; w < n; ++w) {
      size_t i = home(hashes[w]);
      while (slots_[i] && slots_[i] != hashes[w]) i = (i + 1) & (size - 1);
      slots_[i] = hashes[w];
    }
  }
  // Numbers of the lengths at each row of a paragraph. symbol(row): its text; gaps: what precedes rows.
  template <class Symbol> void number(Symbol symbol, const uint8_t* gaps, size_t rows, int32_t* out) {
    lengths_.assign(rows, Lengths{});
    std::array<uint64_t, kLongest> hashes;
    for (size_t begin = 0; begin < rows; ++begin) {
      BytesHash hash;
      const size_t most = std::min(kLongest, rows - begin);
      for (size_t n = 0; n < most; ++n) {
        const std::string_view text = symbol(begin + n);
        if (n && gaps[begin + n]) hash.add(' ');
        hash.add(text.data(), text.size());
        SEQTAG_PREFETCH(&slots_[home(hashes[n] = hash.value())]);
      }
      size_t longest = 0;
      for (size_t n = 1; n <= most; ++n) {
        if (!contains(hashes[n - 1])) continue;
        longest = n;
        raise(lengths_[begin + n - 1][0], n);
      }
      if (begin) raise(lengths_[begin - 1][1], longest);
      for (size_t n = 1; n < longest; ++n) raise(lengths_[begin + n - 1][2], longest);
    }
    for (size_t r = 0; r < rows; ++r) out[r] = numbers_.number(lengths_[r]);
  }
  size_t size() const { return numbers_.size(); }
  size_t length(size_t number, size_t which) const { return size_t(numbers_.tuple(number)[which]); }
  size_t bytes() const { return bytes_held(slots_) + bytes_held(lengths_) + numbers_.bytes(); }

 private:
  std::vector<uint64_t> slots_;  // 0: empty
  std::vector<Lengths> lengths_;
  TupleNumbers<4> numbers_;
  Secret secret_ = process_secret();

  size_t home(uint64_t hash) const { return size_t(secret_.mixed(hash)) & (slots_.size() - 1); }
  bool contains(uint64_t hash) const {
    size_t i = home(hash);
    while (slots_[i] && slots_[i] != hash) i = (i + 1) & (slots_.size() - 1);
    return slots_[i] != 0;
  }
  static void raise(int32_t& length, size_t n) { length = std::max(length, int32_t(std::min(n, kMost))); }
};

// The characters of texts and what columns say of them.
class CharacterTable {
 public:
  enum Kind : uint8_t { kSpace, kBreak, kBase, kMark, kJoiner, kRegional, kUnknown = 255 };
  enum ColumnName {
    kC1 = 0,
    kK1 = 4,
    kClass = 10,
    kLeft,
    kRight,
    kSplit,
    kOpening,
    kSigns,
    kAhead,
    kTail,
    kChunk,
    kNext,
    kAfter,
    kBefore,
    kChunkShape,
    kNextShape,
    kAfterShape,
    kBeforeShape,
    kColumns
  };
  static constexpr size_t kSymbolGram = 4, kKindGram = 6;
  static constexpr size_t kLongestOpening = 4, kOpeningReach = 128, kMostSigns = 4, kMostAhead = 3, kAheadReach = 16;
  static constexpr size_t kLongestPart = 12, kLongestTail = 4, kLongestChunk = 24, kMostCodes = 16;
  static constexpr uint32_t kCodes = 0x110000;

  // Dictionaries follow: each has a view of three columns.
  static constexpr int kWordColumns = 3;
  using View = int;
  enum : View { kSymbols, kKinds, kParts, kTailAndNext, kTailAndAfter, kTailAndBefore, kShapes, kViews };
  static bool has_column(View view, int column) {
    if (view >= kViews || column >= kColumns)
      return column - kColumns >= 0 && (column - kColumns) / kWordColumns == view - kViews;
    switch (view) {
      case kSymbols:
        return column < kK1;
      case kKinds:
        return column >= kK1 && column <= kClass;
      case kParts:
        return (column >= kLeft && column <= kChunk) || column == kChunkShape;
      case kTailAndNext:
        return column == kTail || column == kNext || column == kNextShape;
      case kTailAndAfter:
        return column == kTail || column == kAfter || column == kAfterShape;
      case kTailAndBefore:
        return column == kTail || column == kBefore || column == kBeforeShape;
      default:
        return column == kTail || (column >= kChunkShape && column != kAfterShape);
    }
  }
  // For each list of columns, the first of so many views that has them all and is that of no list before; that
  // number if there is none.
  static std::vector<View> views_of(const std::vector<std::vector<int>>& lists, View views) {
    std::vector<View> found;
    for (const std::vector<int>& columns : lists) {
      View view = 0;
      const auto fits = [&] {
        return std::find(found.begin(), found.end(), view) == found.end() &&
               std::all_of(columns.begin(), columns.end(), [&](int c) { return has_column(view, c); });
      };
      while (view < views && !fits()) ++view;
      found.push_back(view);
    }
    return found;
  }
  View view(size_t list) const { return views_[list]; }

  // Numbers the types of some views, of which only some columns are asked for.
  CharacterTable(const std::vector<std::vector<int>>& views, std::vector<Dictionary> dictionaries)
      : views_(views_of(views, kViews + View(dictionaries.size()))), dictionaries_(std::move(dictionaries)),
        pages_(kCodes >> 8) {
    for (const std::vector<int>& columns : views) {
      for (int c : columns) {
        if (c < kK1) symbols_length_ = std::max(symbols_length_, size_t(c - kC1 + 1));
        if (c >= kK1 && c < kClass) kinds_length_ = std::max(kinds_length_, size_t(c - kK1 + 1));
      }
    }
    plain_symbol_.push_back(1);  // the end of the text
    plain_kind_.push_back(1);
    for (Interner* signs : {&symbols_, &kinds_}) signs->intern("\n", 1);
    marks_.number({0, -1});
    for (PairNumbers* pairs : {&opening_, &signs_before_, &signs_ahead_, &tail_})
      pairs->number({-1, -1});  // 0: nothing, or what is too long
    for (Interner* texts : {&texts_, &shapes_}) {
      texts->intern("", 0);
      texts->intern("\n", 1);
    }
    heads_ = {{0, 0}, {1, 1}};                                       // too long, and the end of the text
    for (PairNumbers& tails : tail_and_head_) tails.number({0, 0});  // outside tails
    tail_and_shapes_.number({0, 0, 0, 0});
  }

  CharacterTable(const CharacterTable&) = delete;
  CharacterTable& operator=(const CharacterTable&) = delete;

  // Code points whose kind is not known.
  std::vector<uint32_t> unknown(const uint32_t* codes, size_t n) {
    std::vector<uint32_t> found;
    for (size_t i = 0; i < n; ++i)
      if (page(codes[i]).kind[codes[i] & 255] == kUnknown) found.push_back(codes[i]);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }
  void learn(uint32_t code, uint8_t kind) { page(code).kind[code & 255] = kind; }

  // Finds the rows of a text whose code points are all known; the rows of characters that are new
  // come back, in the order of their numbers.
  std::vector<int64_t> split(const uint32_t* codes, size_t n) {
    forget_undefined();
    starts_.clear();
    ends_.clear();
    gaps_.clear();
    row_character_.clear();
    std::vector<int64_t> fresh;
    bool joined = false, half_flag = false;
    uint8_t gap = 2;  // before what comes next: 0 none, 1 white space, 2 the end of a paragraph
    auto close = [&] {
      if (row_character_.size() == starts_.size()) return;
      if (number_of(codes, size_t(starts_.back()), size_t(ends_.back()))) fresh.push_back(int64_t(starts_.size()) - 1);
    };
    for (size_t i = 0; i < n; ++i) {
      const uint8_t kind = page(codes[i]).kind[codes[i] & 255];
      if (kind == kSpace || kind == kBreak) {
        gap = std::max<uint8_t>(gap, kind == kBreak ? 2 : 1);
        joined = half_flag = false;
        continue;
      }
      if (!gap && (kind == kMark || kind == kJoiner || joined || (kind == kRegional && half_flag))) {
        ends_.back() = int64_t(i) + 1;
      } else {
        close();
        gaps_.push_back(gap);
        starts_.push_back(int64_t(i));
        ends_.push_back(int64_t(i) + 1);
        half_flag = false;
      }
      half_flag = kind == kRegional && !half_flag;
      joined = kind == kJoiner;
      gap = 0;
    }
    close();
    return fresh;
  }
  const std::vector<int64_t>& starts() const { return starts_; }
  const std::vector<int64_t>& ends() const { return ends_; }
  const std::vector<uint8_t>& gaps() const { return gaps_; }
  size_t rows() const { return starts_.size(); }
  size_t characters() const { return character_count_; }
  size_t defined() const { return symbol_of_.size(); }

  // Bytes of memory held: grows with the characters, chunks and types that texts have brought.
  size_t bytes() const {
    size_t total = symbol_grams_.bytes() + kind_grams_.bytes() + tail_and_shapes_.bytes();
    for (const PairNumbers& tails : tail_and_head_) total += tails.bytes();
    for (const size_t held :
         {bytes_held(several_character_), bytes_held(symbol_of_), bytes_held(kind_of_), bytes_held(mark_of_),
          bytes_held(alphanumeric_), bytes_held(plain_symbol_), bytes_held(plain_kind_), bytes_held(first_part_),
          bytes_held(heads_), bytes_held(parts_), bytes_held(part_symbols_), bytes_held(long_type_),
          bytes_held(starts_), bytes_held(ends_), bytes_held(gaps_), bytes_held(row_character_), bytes_held(signs_)})
      total += held;
    for (const Interner* values :
         {&symbols_, &kinds_, &classes_, &several_, &texts_, &shapes_, &chunk_numbers_, &long_parts_})
      total += values->bytes();
    for (const PairNumbers* pairs : {&marks_, &opening_, &signs_before_, &signs_ahead_, &tail_})
      total += pairs->bytes();
    for (const Dictionary& words : dictionaries_) total += words.bytes();
    for (const auto& page : pages_) total += page ? sizeof(Page) : 0;
    return total;
  }

  // What counts of the next new character. plain: whether its symbol is its own normal form in any text.
  void define(std::string_view symbol, std::string_view kind, std::string_view category, bool alphanumeric,
              bool plain) {
    symbol_of_.push_back(symbols_.intern(symbol.data(), symbol.size()));
    kind_of_.push_back(kinds_.intern(kind.data(), kind.size()));
    plain_symbol_.resize(symbols_.size(), plain);
    plain_kind_.resize(kinds_.size(), plain || kind != symbol);
    mark_of_.push_back(marks_.number({kind_of_.back(), classes_.intern(category.data(), category.size())}));
    alphanumeric_.push_back(alphanumeric);
  }

  // Types of each view: (views, rows).
  void number(int32_t* out) {
    const size_t n = rows();
    std::array<int32_t*, kViews> types{};
    for (size_t v = 0; v < views_.size(); ++v) {
      int32_t* const to = out + v * n;
      if (views_[v] < kViews) {
        types[size_t(views_[v])] = to;
        continue;
      }
      Dictionary& words = dictionaries_[size_t(views_[v] - kViews)];
      each_paragraph([&](size_t begin, size_t end) {
        words.number([&](size_t row) { return symbols_.value(size_t(symbol_at(begin + row))); }, &gaps_[begin],
                     end - begin, to + begin);
      });
    }
    for (const View view : {kSymbols, kKinds})
      if (int32_t* const to = types[size_t(view)])
        each_paragraph([&](size_t begin, size_t end) { number_grams(view, begin, end, to + begin); });
    for (size_t v = kTailAndNext; v < kViews; ++v)
      if (types[v]) std::fill_n(types[v], n, 0);
    if (std::all_of(&types[kParts], &types[0] + kViews, [](int32_t* each) { return !each; })) return;
    each_paragraph([&](size_t begin, size_t end) { number_chunks(begin, end, types); });
  }

  // Number of the types of a view.
  size_t types(View view) const {
    if (view >= kViews) return dictionaries_[size_t(view - kViews)].size();
    switch (view) {
      case kSymbols:
        return symbol_grams_.size();
      case kKinds:
        return kind_grams_.size();
      case kParts:
        return parts_.size();
      case kShapes:
        return tail_and_shapes_.size();
      default:
        return tail_and_head_[size_t(view - kTailAndNext)].size();
    }
  }
  // The value of a column for a type of a view.
  std::string value(View view, size_t column, size_t type) const {
    std::string text;
    each_piece(view, column, type, [&](std::string_view piece, bool) { text.append(piece); });
    return text;
  }
  // Its hash; plain: set to false if its normal form may be another.
  uint64_t hash(View view, size_t column, size_t type, bool* plain = nullptr) const {
    BytesHash hash;
    each_piece(view, column, type, [&](std::string_view piece, bool is_plain) {
      if (plain) *plain &= is_plain;
      hash.add(piece.data(), piece.size());
    });
    return hash.value();
  }

  // Columns with much fewer values than their view has types: these are numbered too.
  static bool has_inner_values(size_t column) { return column >= kClass && (column < kLeft || column > kSplit); }
  size_t inner_values(size_t column) const {
    if (column >= kColumns) return Dictionary::kMost + 1;
    switch (column) {
      case kClass:
        return classes_.size();
      case kOpening:
        return opening_.size();
      case kSigns:
        return signs_before_.size();
      case kAhead:
        return signs_ahead_.size();
      case kTail:
        return tail_.size();
      default:
        return (column < kChunkShape ? texts_ : shapes_).size();
    }
  }
  size_t inner_number(View view, size_t column, size_t type) const {
    if (view >= kViews) return dictionaries_[size_t(view - kViews)].length(type, (column - kColumns) % kWordColumns);
    if (view == kKinds) return size_t(marks_.tuple(size_t(kind_grams_.first_sign(type)))[1]);
    if (view == kShapes) {
      const auto& shapes = tail_and_shapes_.tuple(type);
      return size_t(shapes[column == kTail ? 0 : column == kBeforeShape ? 1 : column == kChunkShape ? 2 : 3]);
    }
    if (view != kParts) {
      const auto& [tail, head] = tail_and_head_[size_t(view - kTailAndNext)].tuple(type);
      if (column == kTail) return size_t(tail);
      return size_t(column < kChunkShape ? heads_[size_t(head)].text : heads_[size_t(head)].shape);
    }
    const Part& part = parts_[type];
    switch (column) {
      case kOpening:
        return size_t(part.opening);
      case kSigns:
        return size_t(part.signs);
      case kAhead:
        return size_t(part.ahead);
      case kTail:
        return size_t(part.tail);
      default:
        return size_t(column < kChunkShape ? part.chunk.text : part.chunk.shape);
    }
  }
  std::string inner_value(size_t column, size_t number) const {
    std::string text;
    each_inner_piece(column, number, [&](std::string_view piece, bool) { text.append(piece); });
    return text;
  }

 private:
  friend class ChunkModel;
  struct Page {
    std::array<uint8_t, 256> kind;
    std::array<int32_t, 256> character;
    Page() {
      kind.fill(kUnknown);
      character.fill(-1);
    }
  };
  struct Head {  // the beginning of a chunk, most often all of it; 0: too long, 1: the end of the text
    int32_t text, shape;
  };
  struct Part {         // of a chunk, around one of its characters
    uint32_t at;        // what is on the left of it ends, and what is on the right begins, here in part_symbols_
    int8_t left = 0;    // number of symbols, with its own; 0: too many
    int8_t right = -1;  // number of symbols; -1: too many
    int32_t opening = 0, signs = 0, ahead = 0, tail = 0;
    Head chunk{0, 0};  // in the tail
  };
  struct Found {  // a chunk of the text
    size_t begin, end;
    int32_t head;
    bool is_complete() const { return end - begin <= kLongestChunk; }
    int32_t complete() const { return is_complete() ? head : 0; }
  };
  struct Tail {  // a row in the tail of a chunk
    size_t row;
    int32_t part;
    std::array<int32_t, 3> heads;  // of the next chunk, the one after it, and the one before
  };
  std::vector<View> views_;
  std::vector<Dictionary> dictionaries_;
  size_t symbols_length_ = 0, kinds_length_ = 0;  // of the longest grams asked for
  Interner symbols_, kinds_, classes_, several_, texts_, shapes_;
  Grams<kSymbolGram> symbol_grams_;
  Grams<kKindGram> kind_grams_;  // of marks_
  PairNumbers marks_;            // kind and class
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<int32_t> several_character_;  // per number of several_
  size_t character_count_ = 0;
  std::vector<int32_t> symbol_of_, kind_of_, mark_of_;  // per character
  std::vector<uint8_t> alphanumeric_, plain_symbol_, plain_kind_;
  PairNumbers opening_, signs_before_, signs_ahead_, tail_;
  Interner chunk_numbers_;
  std::vector<int32_t> first_part_;  // per chunk: the type of its first character, or -1
  std::vector<Head> heads_;          // two more than the chunks
  std::array<PairNumbers, 3> tail_and_head_;
  TupleNumbers<4> tail_and_shapes_;
  std::vector<Part> parts_;  // per type
  std::vector<int32_t> part_symbols_;
  Interner long_parts_;  // of chunks that are too long to be known as such
  std::vector<int32_t> long_type_;
  std::vector<int64_t> starts_, ends_;  // of the text scanned last
  std::vector<uint8_t> gaps_;
  std::vector<int32_t> row_character_, signs_, key_;
  std::vector<Part> row_parts_;
  std::vector<Found> chunks_;
  std::vector<Tail> tails_;

  Page& page(uint32_t code) {
    std::unique_ptr<Page>& held = pages_[code >> 8];
    if (!held) held = std::make_unique<Page>();
    return *held;
  }
  // New characters of the last text, if the caller did not come to define them: they are new again.
  void forget_undefined() {
    if (character_count_ == defined()) return;
    const auto forget = [this](int32_t& number) { number = number < int32_t(defined()) ? number : -1; };
    for (const std::unique_ptr<Page>& page : pages_)
      if (page) std::for_each(page->character.begin(), page->character.end(), forget);
    std::for_each(several_character_.begin(), several_character_.end(), forget);
    character_count_ = defined();
  }
  // Notes the character of the last row; whether it is new.
  bool number_of(const uint32_t* codes, size_t begin, size_t end) {
    int32_t* number;
    if (end - begin == 1) {
      number = &page(codes[begin]).character[codes[begin] & 255];
    } else {
      const size_t length = std::min(end - begin, kMostCodes);
      const size_t which = size_t(several_.intern(reinterpret_cast<const char*>(codes + begin), 4 * length));
      if (which == several_character_.size()) several_character_.push_back(-1);
      number = &several_character_[which];
    }
    const bool fresh = *number < 0;
    if (fresh) *number = int32_t(character_count_++);
    row_character_.push_back(*number);
    return fresh;
  }

  int32_t symbol_at(size_t row) const { return symbol_of_[size_t(row_character_[row])]; }
  // The context of each character within its chunk, into row_parts_.
  void describe_parts(size_t begin, size_t end, Head chunk) {
    const size_t size = end - begin, tail_at = tail_begin(begin, end) - begin;
    row_parts_.assign(size, Part{});
    for (size_t i = 0; i < std::min(size, kLongestPart); ++i) {
      row_parts_[i].left = int8_t(i + 1);
      row_parts_[size - 1 - i].right = int8_t(i);
    }
    if (size > kLongestPart) row_parts_[size - 1 - kLongestPart].right = int8_t(kLongestPart);
    describe_signs(begin, size, row_parts_.data());
    for (size_t i = size, tail = 0; i-- > tail_at;) {
      const size_t character = size_t(row_character_[begin + i]);
      row_parts_[i].tail = int32_t(tail = size_t(tail_.number({int32_t(tail), kind_of_[character]})));
      row_parts_[i].chunk = chunk;
    }
  }
  // The types of the characters of a chunk of the maximum length or less; the first one's.
  int32_t number_parts(size_t begin, size_t end, Head chunk) {
    const int32_t first = int32_t(parts_.size());
    describe_parts(begin, end, chunk);
    for (size_t i = 0; i < end - begin; ++i) {
      part_symbols_.push_back(symbol_at(begin + i));
      row_parts_[i].at = uint32_t(part_symbols_.size());
    }
    parts_.insert(parts_.end(), row_parts_.begin(), row_parts_.end());
    return first;
  }
  // The type of a character of a longer chunk.
  int32_t number_long_part(size_t row, Part& part) {
    key_.assign({part.left, part.right, part.opening, part.signs, part.ahead, part.tail});
    const size_t head = key_.size(), right = size_t(std::max<int8_t>(part.right, 0));
    for (size_t r = row + 1 - size_t(part.left); r < row + 1 + right; ++r) key_.push_back(symbol_at(r));
    const size_t number =
        size_t(long_parts_.intern(reinterpret_cast<const char*>(key_.data()), key_.size() * sizeof(int32_t)));
    if (number == long_type_.size()) {
      part.at = uint32_t(part_symbols_.size() + size_t(part.left));
      part_symbols_.insert(part_symbols_.end(), key_.begin() + long(head), key_.end());
      long_type_.push_back(int32_t(parts_.size()));
      parts_.push_back(part);
    }
    return long_type_[number];
  }
  // How a chunk opens, and the signs that are neither letters nor digits around its characters.
  void describe_signs(size_t begin, size_t size, Part* out) {
    auto symbol = [&](size_t i) { return symbol_at(begin + i); };
    auto is_sign = [&](size_t i) { return !alphanumeric_[size_t(row_character_[begin + i])]; };
    std::array<int32_t, kMostSigns> seen;
    size_t many = 0;
    auto note = [&](PairNumbers& pairs, int32_t state, size_t i, size_t most) {
      if (!is_sign(i) || many == most || std::find(&seen[0], &seen[many], symbol(i)) != &seen[many]) return state;
      seen[many++] = symbol(i);
      return pairs.number({state, symbol(i)});
    };
    const size_t reach = std::min(size, kOpeningReach);
    int32_t opening = 0, signs = 0;
    size_t first = 0;
    while (first < reach && is_sign(first)) ++first;
    for (size_t i = first; i < std::min(size, first + kLongestOpening); ++i)
      opening = opening_.number({opening, symbol(i)});
    bool opened = false;
    for (size_t i = 0; i < reach; ++i) {
      opened |= i > first && is_sign(i);
      out[i].opening = opened ? opening : 0;
      out[i].signs = signs;
      signs = note(signs_before_, signs, i, kMostSigns);
    }
    for (size_t i = 0; i < size; ++i) {
      many = 0;
      for (size_t k = i + 1; k < std::min(size, i + 1 + kAheadReach) && many < kMostAhead; ++k)
        out[i].ahead = note(signs_ahead_, out[i].ahead, k, kMostAhead);
    }
  }
  // Where the tail of a chunk begins: at its last letter or digit, if that is near the end.
  size_t tail_begin(size_t begin, size_t end) const {
    size_t tail = end - 1;
    while (tail > begin && tail + kLongestTail > end && !alphanumeric_[size_t(row_character_[tail])]) --tail;
    return tail;
  }

  // The types of the grams of a paragraph, of symbols or of kinds.
  void number_grams(View view, size_t begin, size_t end, int32_t* out) {
    const std::vector<int32_t>& sign_of = view == kSymbols ? symbol_of_ : mark_of_;
    signs_.resize(end - begin);
    for (size_t r = begin; r < end; ++r) signs_[r - begin] = sign_of[size_t(row_character_[r])];
    if (view == kSymbols)
      symbol_grams_.number(signs_.data(), &gaps_[begin], end - begin, symbols_length_, out);
    else
      kind_grams_.number(signs_.data(), &gaps_[begin], end - begin, std::max<size_t>(kinds_length_, 1), out);
  }
  template <class Visit> void each_paragraph(Visit visit) const {
    for (size_t begin = 0, end; begin < rows(); begin = end) {
      for (end = begin + 1; end < rows() && gaps_[end] < 2;) ++end;
      visit(begin, end);
    }
  }
  // The types of the chunks of a paragraph.
  void number_chunks(size_t first, size_t last, const std::array<int32_t*, kViews>& types) {
    find_chunks(first, last);
    tails_.clear();
    for (size_t c = 1; c + 2 < chunks_.size(); ++c) {
      const Found &before = chunks_[c - 1], &here = chunks_[c], &next = chunks_[c + 1], &after = chunks_[c + 2];
      const size_t size = here.end - here.begin, tail_at = tail_begin(here.begin, here.end) - here.begin;
      int32_t type = -1;
      if (here.is_complete()) {
        int32_t& known = first_part_[size_t(here.head) - 2];
        if (known < 0) known = number_parts(here.begin, here.end, heads_[size_t(here.head)]);
        type = known;
      } else {
        describe_parts(here.begin, here.end, {0, 0});
      }
      for (size_t i = 0; i < size; ++i) {
        const int32_t part = type < 0 ? number_long_part(here.begin + i, row_parts_[i]) : type + int32_t(i);
        if (types[kParts]) types[kParts][here.begin + i] = part;
        if (i >= tail_at)
          tails_.push_back({here.begin + i, part, {next.head, next.is_complete() ? after.head : 0, before.complete()}});
      }
    }
    for (size_t k = 0; k < tail_and_head_.size(); ++k)
      number_tails(tail_and_head_[k], types[kTailAndNext + k],
                   [&](const Tail& tail) { return PairNumbers::Tuple{parts_[size_t(tail.part)].tail, tail.heads[k]}; });
    number_tails(tail_and_shapes_, types[kShapes], [&](const Tail& tail) {
      const Part& part = parts_[size_t(tail.part)];
      return TupleNumbers<4>::Tuple{part.tail, heads_[size_t(tail.heads[2])].shape, part.chunk.shape,
                                    heads_[size_t(tail.heads[0])].shape};
    });
  }
  // Types of a view for the rows of tails, whose memory is asked for at once.
  template <class Numbers, class TupleOf> void number_tails(Numbers& numbers, int32_t* types, TupleOf tuple_of) {
    if (!types) return;
    constexpr size_t kStrip = 16;
    std::array<typename Numbers::Tuple, kStrip> tuples;
    std::array<uint64_t, kStrip> hashes;
    for (size_t first = 0; first < tails_.size(); first += kStrip) {
      const size_t many = std::min(kStrip, tails_.size() - first);
      for (size_t i = 0; i < many; ++i) {
        tuples[i] = tuple_of(tails_[first + i]);
        numbers.prefetch(hashes[i] = numbers.hash(tuples[i].data()));
      }
      for (size_t i = 0; i < many; ++i) types[tails_[first + i].row] = numbers.number(tuples[i].data(), hashes[i]);
    }
  }
  // The chunks of a paragraph into chunks_, after one of its beginning and before two of its end.
  void find_chunks(size_t first, size_t last) {
    chunks_.assign(1, {first, first, 1});
    for (size_t begin = first, end; begin < last; begin = end) {
      for (end = begin + 1; end < last && !gaps_[end];) ++end;
      const size_t known = std::min(end, begin + kLongestChunk);
      const char* key = reinterpret_cast<const char*>(&row_character_[begin]);
      const size_t number = size_t(chunk_numbers_.intern(key, (known - begin) * sizeof(int32_t)));
      if (number == first_part_.size()) {
        first_part_.push_back(-1);
        heads_.push_back(head_of(begin, known));
      }
      if (first_part_[number] >= 0) SEQTAG_PREFETCH(&parts_[size_t(first_part_[number])]);
      chunks_.push_back({begin, end, int32_t(number) + 2});
    }
    chunks_.insert(chunks_.end(), 2, {last, last, 1});
  }
  Head head_of(size_t begin, size_t end) {
    std::string text, shape;
    int32_t last_kind = -1;
    for (size_t r = begin; r < end; ++r) {
      const int32_t kind = kind_of_[size_t(row_character_[r])];
      text.append(symbols_.value(size_t(symbol_at(r))));
      if (kind != last_kind) shape.append(kinds_.value(size_t(last_kind = kind)));
    }
    return {texts_.intern(text.data(), text.size()), shapes_.intern(shape.data(), shape.size())};
  }

  // visit(text, whether it is its own normal form in any text) for the pieces of a value.
  template <class Visit> void each_piece(View view, size_t column, size_t type, Visit visit) const {
    const auto symbols = [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const size_t symbol = size_t(part_symbols_[i]);
        visit(symbols_.value(symbol), plain_symbol_[symbol] != 0);
      }
    };
    if (column < kK1)
      symbol_grams_.each_sign(type, column - kC1 + 1, [&](int32_t sign, bool space) {
        if (space) visit(" ", true);
        visit(symbols_.value(size_t(sign)), plain_symbol_[size_t(sign)] != 0);
      });
    else if (column < kClass)
      kind_grams_.each_sign(type, column - kK1 + 1, [&](int32_t mark, bool space) {
        const size_t kind = size_t(marks_.tuple(size_t(mark))[0]);
        if (space) visit(" ", true);
        visit(kinds_.value(kind), plain_kind_[kind] != 0);
      });
    else if (has_inner_values(column))
      each_inner_piece(column, inner_number(view, column, type), visit);
    else {
      const Part& part = parts_[type];
      if (column == kSplit && (!part.left || part.right < 0)) return;
      if (column != kRight) symbols(part.at - size_t(part.left), part.at);
      if (column == kSplit) visit("|", true);
      if (column != kLeft && part.right >= 0) {
        symbols(part.at, part.at + size_t(part.right));
        visit(" ", true);
      }
    }
  }
  template <class Visit> void each_inner_piece(size_t column, size_t number, Visit visit) const {
    if (column >= kColumns) {
      const char digit = char('0' + number);
      return visit({&digit, 1}, true);
    }
    switch (column) {
      case kClass:
        return visit(classes_.value(number), true);
      case kOpening:
        return each_symbol(opening_, number, visit);
      case kSigns:
        return each_symbol(signs_before_, number, visit);
      case kAhead:
        return each_symbol(signs_ahead_, number, visit);
      case kTail:  // numbered from the end
        for (; number; number = size_t(tail_.tuple(number)[0]))
          visit(kinds_.value(size_t(tail_.tuple(number)[1])), false);
        return;
      default:
        return visit((column < kChunkShape ? texts_ : shapes_).value(number), false);
    }
  }
  // visit(symbol, false) for those that a number of pairs came about by.
  template <class Visit> void each_symbol(const PairNumbers& pairs, size_t number, Visit visit) const {
    if (!number) return;
    each_symbol(pairs, size_t(pairs.tuple(number)[0]), visit);
    visit(symbols_.value(size_t(pairs.tuple(number)[1])), false);
  }
};

}  // namespace seqtag
