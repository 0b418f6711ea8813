// Pieces of column files (CoNLL-U and its kin) to type ids and back, without an object per line.
// Accepts the plain case only: whatever is odd makes scan() return false, and the Python readers
// of seqtag.corpus, which know every rule and message, take the piece instead.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "held.h"
#include "secret.h"

namespace seqtag {

// Distinct values numbered as they come.
class Interner {
 public:
  Interner() : slots_(1 << 12, Slot{0, -1}), ends_(1, 0) {}
  size_t size() const { return ends_.size() - 1; }
  std::string_view value(size_t id) const { return {&bytes_[0] + ends_[id], ends_[id + 1] - ends_[id]}; }
  int32_t intern(const char* p, size_t n) {
    const uint64_t h = secret_.hash(p, n);
    size_t i = size_t(h >> 32) & (slots_.size() - 1);
    for (; slots_[i].id >= 0; i = (i + 1) & (slots_.size() - 1))
      if (slots_[i].half == uint32_t(h)) {
        const std::string_view known = value(size_t(slots_[i].id));
        if (known.size() == n && std::memcmp(known.data(), p, n) == 0) return slots_[i].id;
      }
    const int32_t id = int32_t(size());
    slots_[i] = {uint32_t(h), id};
    bytes_.append(p, n);
    ends_.push_back(bytes_.size());
    if (2 * size() > slots_.size()) grow();
    return id;
  }
  // Bytes of memory held.
  size_t bytes() const { return bytes_held(slots_) + bytes_.capacity() + bytes_held(ends_); }
  size_t longest_way() const {
    return seqtag::longest_way(
        slots_.size(), [&](size_t slot) { return size_t(hash(size_t(slots_[slot].id)) >> 32) & (slots_.size() - 1); },
        [&](size_t slot) { return slots_[slot].id >= 0; });
  }

 private:
  struct Slot {
    uint32_t half;
    int32_t id;
  };
  Secret secret_ = process_secret();
  std::vector<Slot> slots_;
  std::string bytes_;
  std::vector<size_t> ends_;

  uint64_t hash(size_t id) const { return secret_.hash(value(id).data(), value(id).size()); }
  void grow() {
    slots_.assign(slots_.size() * 2, Slot{0, -1});
    for (size_t id = 0; id < size(); ++id) {
      const uint64_t h = hash(id);
      size_t i = size_t(h >> 32) & (slots_.size() - 1);
      while (slots_[i].id >= 0) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = {uint32_t(h), int32_t(id)};
    }
  }
};

class Scanner {
 public:
  // read: columns to intern, as `types` lists them. write: columns to note the place of; -1 is a
  // new one behind the last. id_column: -1 if words are not numbered. comments: whether # lines
  // before the first word are (CoNLL-U), else -DOCSTART- lines are passed over.
  Scanner(int columns, char separator, int id_column, bool comments, std::vector<int> read, std::vector<int> write)
      : columns_(columns), separator_(separator), id_column_(id_column), comments_(comments), read_(std::move(read)),
        write_(std::move(write)), interners_(read_.size()), types_(read_.size()), places_(write_.size()) {}

  bool scan(const char* text, size_t size, bool file_start) {
    for (auto& t : types_) t.clear();
    for (auto& p : places_) p.clear();
    sentence_ptr_.assign(1, 0);
    words_ = 0;
    size_ = size;
    blank_ = true;
    const char* p = text;
    const char* const end = text + size;
    if (file_start && size >= 3 && std::memcmp(p, "\xef\xbb\xbf", 3) == 0) p += 3;
    while (p < end) {
      if (!sentence(text, p, end)) return false;
      if (words_ > sentence_ptr_.back()) sentence_ptr_.push_back(words_);
    }
    return true;
  }
  const std::vector<int64_t>& sentence_ptr() const { return sentence_ptr_; }
  const std::vector<int32_t>& types(size_t column) const { return types_[column]; }
  const Interner& interner(size_t column) const { return interners_[column]; }
  size_t words() const { return size_t(words_); }
  size_t size() const { return size_; }  // bytes scanned last

  // The text with field `name_of[w][label[w][i]]` in the place that word i has for column w.
  std::string splice(const char* text, size_t size, const std::vector<const int32_t*>& label,
                     const std::vector<std::vector<std::string_view>>& name_of) const {
    std::string out;
    out.reserve(size + size_t(words_) * 8 * write_.size());
    std::vector<size_t> standing;  // columns as they stand in a line
    for (size_t w = 0; w < write_.size(); ++w) standing.push_back(w);
    for (size_t i = 1; i < standing.size(); ++i)
      for (size_t j = i; j > 0 && before(standing[j], standing[j - 1]); --j) std::swap(standing[j], standing[j - 1]);
    size_t done = 0;
    for (int64_t i = 0; i < words_; ++i)
      for (size_t w : standing) {
        const Place place = places_[w][size_t(i)];
        out.append(text + done, place.begin - done);
        if (write_[w] < 0) out.push_back(columns_ == 1 ? '\t' : separator_);  // words alone have no gaps
        out.append(name_of[w][size_t(label[w][i])]);
        done = place.end;
      }
    out.append(text + done, size - done);
    return out;
  }

 private:
  struct Place {
    size_t begin, end;
  };
  int columns_;
  char separator_;
  int id_column_;
  bool comments_;
  std::vector<int> read_, write_;
  std::vector<Interner> interners_;
  std::vector<std::vector<int32_t>> types_;
  std::vector<std::vector<Place>> places_;
  std::vector<int64_t> sentence_ptr_;
  int64_t words_ = 0;
  size_t size_ = 0;
  bool blank_ = true;  // whether the line before is blank, or there is none
  std::vector<Place> field_;

  bool before(size_t a, size_t b) const { return write_[a] >= 0 && (write_[b] < 0 || write_[a] < write_[b]); }

  // One run of comments and token lines, up to a blank line or the end. More blank lines, spaces on
  // one, and the end of a CoNLL-U file in their place are odd, and the Python readers note them.
  bool sentence(const char* text, const char*& p, const char* end) {
    bool tokens = false, ended = false;
    int64_t done = 0, covered = 0, empty = 0;
    while (p < end) {
      const char* newline = static_cast<const char*>(std::memchr(p, '\n', size_t(end - p)));
      const char* next = newline ? newline + 1 : end;
      const char* last = newline ? newline : end;
      if (newline && last > p && last[-1] == '\r') --last;
      const char* first = p;
      p = next;
      const char* q = first;
      while (q < last && (*q == ' ' || *q == '\t')) ++q;
      if (q == last) {
        if (blank_ || q != first) return false;
        blank_ = true;
        if (!tokens) continue;
        ended = true;
        break;
      }
      blank_ = false;
      if (!tokens && heading(first, last)) {
        if (std::memchr(first, '\r', size_t(last - first))) return false;
        continue;
      }
      tokens = true;
      if (!row(text, first, last, done, covered, empty)) return false;
    }
    return covered <= done && (ended || !tokens || !comments_);
  }
  bool heading(const char* first, const char* last) const {
    if (comments_) return *first == '#';
    return last - first >= 10 && std::memcmp(first, "-DOCSTART-", 10) == 0;
  }

  bool row(const char* text, const char* first, const char* last, int64_t& done, int64_t& covered, int64_t& empty) {
    if (comments_ && *first == '#') return false;
    field_.clear();
    const char* begin = first;
    for (const char* q = first;; ++q) {
      if (q == last || *q == separator_) {
        if (q == begin) return false;
        field_.push_back({size_t(begin - text), size_t(q - text)});
        if (q == last) break;
        begin = q + 1;
      } else if (*q == '\r' || (separator_ == ' ' && *q == '\t')) {
        return false;
      }
    }
    if (int(field_.size()) != columns_) return false;
    if (id_column_ >= 0) {
      bool word = false;
      const Place id = field_[size_t(id_column_)];
      if (!number(text + id.begin, text + id.end, done, covered, empty, word)) return false;
      if (!word) return true;
    }
    ++words_;
    for (size_t c = 0; c < read_.size(); ++c) {
      const Place f = field_[size_t(read_[c])];
      types_[c].push_back(interners_[c].intern(text + f.begin, f.end - f.begin));
    }
    for (size_t w = 0; w < write_.size(); ++w)
      places_[w].push_back(write_[w] < 0 ? Place{size_t(last - text), size_t(last - text)} : field_[size_t(write_[w])]);
    return true;
  }

  // Ids: words 1, 2, ...; ranges a-b before their first word; empty nodes a.1, a.2, ...
  static bool number(const char* p, const char* end, int64_t& done, int64_t& covered, int64_t& empty, bool& word) {
    int64_t a = 0, b = 0;
    if (!digits(p, end, a)) return false;
    if (p == end) {
      word = true;
      empty = 0;
      return a == ++done;
    }
    const char mark = *p++;
    if (!digits(p, end, b) || p != end) return false;
    if (mark == '.') return a == done && b == ++empty;
    if (mark != '-' || a != done + 1 || covered >= a || a > b) return false;
    covered = b;
    return true;
  }
  static bool digits(const char*& p, const char* end, int64_t& value) {
    const char* first = p;
    for (; p < end && *p >= '0' && *p <= '9' && p - first < 10; ++p) value = 10 * value + (*p - '0');
    return p > first && !(*first == '0' && p - first > 1);
  }
};

}  // namespace seqtag
