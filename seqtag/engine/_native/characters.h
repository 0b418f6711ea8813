// Text to rows of columns, one row for each character that is not white space.
// seqtag/segmentation/characters.py defines the columns, and is the readable twin.
//
// The caller defines the properties of each new code point and character once; here they are
// numbers. The values of columns are numbered as they come: those of n-grams and of parts
// of a chunk as pairs of numbers, so that no text is put together but for values that are new.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "interning.h"

namespace seqtag {

// One to several signs in a row, each with a space before it or none, numbered length by length.
class Grams {
 public:
  explicit Grams(size_t longest) : pairs_(longest - 1) { intern("\n"); }
  // The number of a sign; 0 is the end of the text.
  int32_t intern(std::string_view sign) { return signs_.intern(sign.data(), sign.size()); }
  std::string_view sign(int32_t number) const { return signs_.value(size_t(number)); }
  size_t size(size_t length) const { return length == 1 ? single_.size() : pairs_[length - 2].size(); }
  // Numbers of the grams of each length that begin at the rows [begin, end) of a paragraph, into
  // out[length - 1], which may be null. signs: of all rows. gaps: what precedes them.
  void number(const std::vector<int32_t>& signs, const std::vector<uint8_t>& gaps, size_t begin, size_t end,
              int32_t* const* out, size_t longest) {
    while (longest && !out[longest - 1]) --longest;
    if (!longest) return;
    const size_t rows = end - begin;
    one_.resize(rows + longest);
    for (size_t i = 0; i < rows; ++i) one_[i] = with_space(signs[begin + i], gaps[begin + i] == 1);
    for (size_t i = rows; i < rows + longest; ++i) one_[i] = with_space(0, i == rows);
    if (out[0]) std::copy_n(one_.begin(), rows, out[0] + begin);
    shorter_.assign(one_.begin(), one_.begin() + long(rows));
    for (size_t n = 2; n <= longest; ++n) {
      PairNumbers& pairs = pairs_[n - 2];
      for (size_t i = 0; i < rows; ++i) shorter_[i] = pairs.number(shorter_[i], one_[i + n - 1]);
      if (out[n - 1]) std::copy_n(shorter_.begin(), rows, out[n - 1] + begin);
    }
  }
  // Bytes of memory held.
  size_t bytes() const {
    size_t total = signs_.bytes() + bytes_held(spaced_) + bytes_held(single_) + bytes_held(one_) + bytes_held(shorter_);
    for (const PairNumbers& pairs : pairs_) total += pairs.bytes();
    return total;
  }
  std::string value(size_t length, int32_t number) const {
    std::string text;
    append(length, number, text);
    return text;
  }

 private:
  Interner signs_;
  std::vector<int32_t> spaced_;     // (signs, 2): number of the sign without and with a space, or -1
  std::vector<int32_t> single_;     // per number: which of spaced_
  std::vector<PairNumbers> pairs_;  // per length from 2 on: a shorter gram and a single one
  std::vector<int32_t> one_, shorter_;

  int32_t with_space(int32_t sign, bool space) {
    const size_t which = 2 * size_t(sign) + space;
    if (which >= spaced_.size()) spaced_.resize(which + 2, -1);
    int32_t& number = spaced_[which];
    if (number < 0) {
      number = int32_t(single_.size());
      single_.push_back(int32_t(which));
    }
    return number;
  }
  void append(size_t length, int32_t number, std::string& text) const {
    if (length > 1) {
      const PairNumbers::Pair& pair = pairs_[length - 2].pair(size_t(number));
      append(length - 1, pair.first, text);
      return append(1, pair.second, text);
    }
    const size_t which = size_t(single_[size_t(number)]);
    if (which % 2) text.push_back(' ');
    text.append(signs_.value(which / 2));
  }
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
    kShape,  // of chunk, next, after, before
    kColumns = kShape + 4
  };
  static constexpr size_t kCharacterGrams = 4, kKindGrams = 6;
  static constexpr size_t kLongestOpening = 4, kOpeningReach = 128, kMostSigns = 4, kMostAhead = 3, kAheadReach = 16;
  static constexpr size_t kLongestPart = 12, kLongestTail = 4, kLongestChunk = 24, kMostCodes = 16;
  static constexpr uint32_t kCodes = 0x110000;

  explicit CharacterTable(std::vector<int> columns)
      : columns_(std::move(columns)), symbols_(kCharacterGrams), kinds_(kKindGrams), pages_(kCodes >> 8) {
    for (PairNumbers* pairs : {&left_, &right_, &split_, &opening_, &signs_before_, &signs_ahead_, &tail_})
      pairs->number(-1, -1);  // 0: nothing, or what is too long
    right_.number(-1, 0);     // kChunkEnd
    for (Interner* texts : {&texts_, &shapes_}) {
      texts->intern("", 0);
      texts->intern("\n", 1);
    }
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
  size_t columns() const { return columns_.size(); }
  size_t characters() const { return character_count_; }
  size_t defined() const { return symbol_of_.size(); }

  // Bytes of memory held: grows with the characters, chunks and values that texts have brought.
  size_t bytes() const {
    size_t total = symbols_.bytes() + kinds_.bytes() + bytes_held(several_character_) + bytes_held(symbol_of_) +
                   bytes_held(kind_of_) + bytes_held(class_of_) + bytes_held(alphanumeric_) + bytes_held(chunks_) +
                   bytes_held(parts_) + bytes_held(long_parts_) + bytes_held(starts_) + bytes_held(ends_) +
                   bytes_held(gaps_) + bytes_held(row_character_) + bytes_held(signs_);
    for (const Interner* values : {&classes_, &several_, &texts_, &shapes_, &chunk_numbers_}) total += values->bytes();
    for (const PairNumbers* pairs : {&left_, &right_, &split_, &opening_, &signs_before_, &signs_ahead_, &tail_})
      total += pairs->bytes();
    for (const auto& page : pages_) total += page ? sizeof(Page) : 0;
    return total;
  }

  // What counts of the next new character.
  void define(std::string_view symbol, std::string_view kind, std::string_view category, bool alphanumeric) {
    symbol_of_.push_back(symbols_.intern(symbol));
    kind_of_.push_back(kinds_.intern(kind));
    class_of_.push_back(classes_.intern(category.data(), category.size()));
    alphanumeric_.push_back(alphanumeric);
  }

  // Numbers of the values of each column: (columns, rows).
  void number(int32_t* out) {
    const size_t n = rows();
    std::array<int32_t*, kColumns> column{};
    for (size_t c = 0; c < columns_.size(); ++c) column[size_t(columns_[c])] = out + c * n;
    signs_.resize(n);
    for (size_t r = 0; r < n; ++r) signs_[r] = symbol_of_[size_t(row_character_[r])];
    each_paragraph(
        [&](size_t begin, size_t end) { symbols_.number(signs_, gaps_, begin, end, &column[kC1], kCharacterGrams); });
    for (size_t r = 0; r < n; ++r) signs_[r] = kind_of_[size_t(row_character_[r])];
    each_paragraph(
        [&](size_t begin, size_t end) { kinds_.number(signs_, gaps_, begin, end, &column[kK1], kKindGrams); });
    if (column[kClass])
      for (size_t r = 0; r < n; ++r) column[kClass][r] = class_of_[size_t(row_character_[r])];
    if (std::all_of(&column[kLeft], &column[kLeft] + (kColumns - kLeft), [](int32_t* c) { return !c; })) return;
    for (size_t c = kLeft; c < kColumns; ++c)
      if (column[c]) std::fill_n(column[c], n, 0);
    each_paragraph([&](size_t begin, size_t end) { number_chunks(begin, end, column); });
  }

  size_t types(size_t c) const {
    const size_t column = size_t(columns_[c]);
    if (column < kK1) return symbols_.size(column - kC1 + 1);
    if (column < kClass) return kinds_.size(column - kK1 + 1);
    switch (column) {
      case kClass:
        return classes_.size();
      case kLeft:
        return left_.size();
      case kRight:
        return right_.size();
      case kSplit:
        return split_.size();
      case kOpening:
        return opening_.size();
      case kSigns:
        return signs_before_.size();
      case kAhead:
        return signs_ahead_.size();
      case kTail:
        return tail_.size();
      default:
        return column < kShape ? texts_.size() : shapes_.size();
    }
  }
  std::string value(size_t c, size_t type) const {
    const size_t column = size_t(columns_[c]);
    if (column < kK1) return symbols_.value(column - kC1 + 1, int32_t(type));
    if (column < kClass) return kinds_.value(column - kK1 + 1, int32_t(type));
    switch (column) {
      case kClass:
        return std::string(classes_.value(type));
      case kLeft:
        return part(left_, type);
      case kRight:
        return right(type);
      case kSplit: {
        const auto [first, second] = split_.pair(type);
        return type ? part(left_, size_t(first)) + "|" + right(size_t(second)) : "";
      }
      case kOpening:
        return part(opening_, type);
      case kSigns:
        return part(signs_before_, type);
      case kAhead:
        return part(signs_ahead_, type);
      case kTail:
        return tail(type);
      default:
        return std::string((column < kShape ? texts_ : shapes_).value(type));
    }
  }

 private:
  struct Page {
    std::array<uint8_t, 256> kind;
    std::array<int32_t, 256> character;
    Page() {
      kind.fill(kUnknown);
      character.fill(-1);
    }
  };
  struct Part {  // of a chunk, around one of its characters
    int32_t left, right, split, opening, signs, ahead, tail;
  };
  struct Head {  // the beginning of a chunk, most often all of it; 0: too long, 1: the end of the text
    int32_t text, shape;
  };
  struct Chunk {
    size_t parts;  // where those of its characters begin in parts_
    Head head;
  };
  struct Found {  // a chunk of the text
    size_t begin, end, parts;
    Head head;
    bool is_complete() const { return end - begin <= kLongestChunk; }
    Head complete() const { return is_complete() ? head : Head{0, 0}; }
  };
  static constexpr int32_t kChunkEnd = 1;  // what is on the right of the last character
  std::vector<int> columns_;
  Grams symbols_, kinds_;
  Interner classes_, several_, texts_, shapes_, chunk_numbers_;
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<int32_t> several_character_;  // per number of several_
  size_t character_count_ = 0;
  std::vector<int32_t> symbol_of_, kind_of_, class_of_;  // per character
  std::vector<uint8_t> alphanumeric_;
  PairNumbers left_, right_, split_, opening_, signs_before_, signs_ahead_, tail_;
  std::vector<Chunk> chunks_;
  std::vector<Part> parts_, long_parts_;
  std::vector<int64_t> starts_, ends_;  // of the text scanned last
  std::vector<uint8_t> gaps_;
  std::vector<int32_t> row_character_, signs_;

  Page& page(uint32_t code) {
    std::unique_ptr<Page>& held = pages_[code >> 8];
    if (!held) held = std::make_unique<Page>();
    return *held;
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

  // The context of each character within its chunk.
  void number_parts(size_t begin, size_t end, Part* out) {
    const size_t size = end - begin;
    std::fill_n(out, size, Part{0, 0, 0, 0, 0, 0, 0});
    auto symbol = [&](size_t i) { return symbol_of_[size_t(row_character_[begin + i])]; };
    for (size_t i = 0, left = 0; i < std::min(size, kLongestPart); ++i)
      out[i].left = int32_t(left = size_t(left_.number(int32_t(left), symbol(i))));
    out[size - 1].right = kChunkEnd;
    for (size_t i = size - 1; i-- > 0 && size - 1 - i <= kLongestPart;)
      out[i].right = right_.number(out[i + 1].right, symbol(i + 1));
    if (size <= kLongestChunk)
      for (size_t i = 0; i < size; ++i)
        if (out[i].left && out[i].right) out[i].split = split_.number(out[i].left, out[i].right);
    number_signs(begin, size, out);
    for (size_t i = size, tail = 0; i-- > tail_begin(begin, end) - begin;) {
      const size_t character = size_t(row_character_[begin + i]);
      out[i].tail = int32_t(tail = size_t(tail_.number(int32_t(tail), kind_of_[character])));
    }
  }
  // How a chunk opens, and the signs that are neither letters nor digits around its characters.
  void number_signs(size_t begin, size_t size, Part* out) {
    auto symbol = [&](size_t i) { return symbol_of_[size_t(row_character_[begin + i])]; };
    auto is_sign = [&](size_t i) { return !alphanumeric_[size_t(row_character_[begin + i])]; };
    std::array<int32_t, kMostSigns> seen;
    size_t many = 0;
    auto note = [&](PairNumbers& pairs, int32_t state, size_t i, size_t most) {
      if (!is_sign(i) || many == most || std::find(&seen[0], &seen[many], symbol(i)) != &seen[many]) return state;
      seen[many++] = symbol(i);
      return pairs.number(state, symbol(i));
    };
    const size_t reach = std::min(size, kOpeningReach);
    int32_t opening = 0, signs = 0;
    size_t first = 0;
    while (first < reach && is_sign(first)) ++first;
    for (size_t i = first; i < std::min(size, first + kLongestOpening); ++i)
      opening = opening_.number(opening, symbol(i));
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

  template <class Visit> void each_paragraph(Visit visit) const {
    for (size_t begin = 0, end; begin < rows(); begin = end) {
      for (end = begin + 1; end < rows() && gaps_[end] < 2;) ++end;
      visit(begin, end);
    }
  }
  // The columns of the chunks of a paragraph.
  void number_chunks(size_t first, size_t last, const std::array<int32_t*, kColumns>& column) {
    Found before{0, 0, 0, {1, 1}}, here = chunk_at(first, last), next = chunk_at(here.end, last);
    while (here.begin < last) {
      const Found after = chunk_at(next.end, last);
      const size_t size = here.end - here.begin;
      Part* parts = nullptr;
      if (here.is_complete()) {
        parts = &parts_[here.parts];
      } else {
        long_parts_.resize(size);
        number_parts(here.begin, here.end, parts = long_parts_.data());
      }
      for (size_t i = 0; i < size; ++i) {
        if (column[kLeft]) column[kLeft][here.begin + i] = parts[i].left;
        if (column[kRight]) column[kRight][here.begin + i] = parts[i].right;
        if (column[kSplit]) column[kSplit][here.begin + i] = parts[i].split;
        if (column[kOpening]) column[kOpening][here.begin + i] = parts[i].opening;
        if (column[kSigns]) column[kSigns][here.begin + i] = parts[i].signs;
        if (column[kAhead]) column[kAhead][here.begin + i] = parts[i].ahead;
        if (column[kTail]) column[kTail][here.begin + i] = parts[i].tail;
      }
      const std::array<Head, 4> around{here.complete(), next.head, next.is_complete() ? after.head : Head{0, 0},
                                       before.complete()};
      for (size_t i = size; i-- > 0 && parts[i].tail;)
        for (size_t k = 0; k < around.size(); ++k) {
          if (column[kChunk + k]) column[kChunk + k][here.begin + i] = around[k].text;
          if (column[kShape + k]) column[kShape + k][here.begin + i] = around[k].shape;
        }
      before = here;
      here = next;
      next = after;
    }
  }
  // The chunk that begins at a row; at the end of a paragraph, that end.
  Found chunk_at(size_t begin, size_t paragraph_end) {
    if (begin >= paragraph_end) return {begin, begin, 0, {1, 1}};
    size_t end = begin + 1;
    while (end < paragraph_end && !gaps_[end]) ++end;
    const size_t last = std::min(end, begin + kLongestChunk);
    const char* key = reinterpret_cast<const char*>(&row_character_[begin]);
    const size_t number = size_t(chunk_numbers_.intern(key, (last - begin) * sizeof(int32_t)));
    if (number == chunks_.size()) chunks_.push_back(describe(begin, last));
    return {begin, end, chunks_[number].parts, chunks_[number].head};
  }
  Chunk describe(size_t begin, size_t end) {
    std::string text, shape;
    int32_t last_kind = -1;
    for (size_t r = begin; r < end; ++r) {
      const size_t character = size_t(row_character_[r]);
      text.append(symbols_.sign(symbol_of_[character]));
      if (kind_of_[character] != last_kind) shape.append(kinds_.sign(last_kind = kind_of_[character]));
    }
    const size_t parts = parts_.size();
    parts_.resize(parts + end - begin);
    number_parts(begin, end, &parts_[parts]);
    return {parts, {texts_.intern(text.data(), text.size()), shapes_.intern(shape.data(), shape.size())}};
  }

  // The symbols that a number of pairs came about by.
  std::string part(const PairNumbers& pairs, size_t number) const {
    std::vector<int32_t> path;
    for (; number; number = size_t(pairs.pair(number).first)) path.push_back(pairs.pair(number).second);
    std::string text;
    for (size_t i = path.size(); i-- > 0;) text.append(symbols_.sign(path[i]));
    return text;
  }
  // The kinds that the number of a tail came about by, which are numbered from the end.
  std::string tail(size_t number) const {
    std::string text;
    for (; number; number = size_t(tail_.pair(number).first)) text.append(kinds_.sign(tail_.pair(number).second));
    return text;
  }
  std::string right(size_t number) const {
    std::string text;
    if (number == 0) return text;
    for (; number != kChunkEnd; number = size_t(right_.pair(number).first))
      text.append(symbols_.sign(right_.pair(number).second));
    return text + " ";
  }
};

}  // namespace seqtag
