// Pieces of column files (such as CoNLL-U) to type ids and back, without an object per line.
// Accepts the plain case only: any irregularity makes scan() return false, and the Python readers
// of seqtag.corpus, which know every rule and message, take the piece instead.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "interning.h"

namespace seqtag {

// Labels of words: an id for each word, and the name of each id; or the values of a column of the file.
struct WordLabels {
  std::vector<int32_t> ids;
  std::vector<std::string_view> names;
  const std::vector<std::string_view>* values = nullptr;
  std::string_view of(size_t word) const { return values ? (*values)[word] : names[size_t(ids[word])]; }
};

// The words of one text, and where labels go into it.
struct ScannedRows {
  struct Place {
    size_t begin, end;
  };
  std::vector<std::vector<int32_t>> types;  // per column read
  std::vector<std::vector<Place>> places;   // per column written, in their order within a line
  std::vector<size_t> order;                // of these columns: their numbers among those to write
  std::vector<int64_t> sentence_ptr{0};
  std::vector<Place> sources;  // of each sentence: its comments and lines
  int64_t words = 0;
  std::vector<bool> is_new;  // per column written: whether it follows the last
  char gap = 0;              // before a new column

  // The text with each word's labels in their places.
  std::string splice(const char* text, size_t size, const std::vector<WordLabels>& labels) const {
    std::string out;
    out.reserve(size + size_t(words) * 8 * order.size());
    size_t done = 0;
    for (int64_t i = 0; i < words; ++i)
      for (size_t k = 0; k < order.size(); ++k) {
        const size_t w = order[k];
        const Place place = places[k][size_t(i)];
        out.append(text + done, place.begin - done);
        if (is_new[k]) out.push_back(gap);
        out.append(labels[w].of(size_t(i)));
        done = place.end;
      }
    out.append(text + done, size - done);
    return out;
  }
};

class Scanner {
 public:
  // read: columns to intern, as `types` lists them. write: columns to note the place of; -1 is a
  // new one after the last. id_column: -1 if words are not numbered. comments: whether all lines with
  // # before the first word are (CoNLL-U); else those of `is_comment` in seqtag.corpus.lines are, and
  // -DOCSTART- lines.
  Scanner(int columns, char separator, int id_column, bool comments, std::vector<int> read, std::vector<int> write)
      : columns_(columns), separator_(separator), id_column_(id_column), comments_(comments), read_(std::move(read)),
        write_(std::move(write)), interners_(read_.size()) {
    for (size_t w = 0; w < write_.size(); ++w) order_.push_back(w);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](size_t a, size_t b) { return write_[a] >= 0 && (write_[b] < 0 || write_[a] < write_[b]); });
  }

  // Sets the rows of a text; false if it is not plain.
  bool scan(const char* text, size_t size, bool file_start, ScannedRows& rows) {
    rows.types.resize(read_.size());
    rows.places.resize(write_.size());
    rows.order = order_;
    rows.gap = columns_ == 1 ? '\t' : separator_;  // words alone have no gaps
    for (size_t w : order_) rows.is_new.push_back(write_[w] < 0);
    blank_ = true;
    const char* p = text;
    const char* const end = text + size;
    if (file_start && size >= 3 && std::memcmp(p, "\xef\xbb\xbf", 3) == 0) p += 3;
    while (p < end) {
      size_t begin = size_t(p - text);
      if (!sentence(text, p, end, begin, rows)) return false;
      if (rows.words == rows.sentence_ptr.back()) continue;
      rows.sentence_ptr.push_back(rows.words);
      rows.sources.push_back({begin, size_t(p - text)});
    }
    return true;
  }
  const Interner& interner(size_t column) const { return interners_[column]; }

 private:
  using Place = ScannedRows::Place;
  int columns_;
  char separator_;
  int id_column_;
  bool comments_;
  std::vector<int> read_, write_;
  std::vector<Interner> interners_;
  bool blank_ = true;  // whether the line before is blank, or there is none
  std::vector<Place> field_;
  std::vector<size_t> order_;  // columns to write in their order within a line

  // One run of comments and token lines, up to a blank line or the end. More blank lines, spaces on
  // one, and the end of a CoNLL-U file in their place are irregular: the Python readers warn about them.
  // begin: of its lines; comments before a blank line are not its own.
  bool sentence(const char* text, const char*& p, const char* end, size_t& begin, ScannedRows& rows) {
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
        if (!tokens) begin = size_t(p - text);
        if (!tokens) continue;
        ended = true;
        break;
      }
      blank_ = false;
      if (!tokens && heading(first, last)) {
        if (std::memchr(first, '\r', size_t(last - first))) return false;
        // Names of columns after the beginning are for the Python reader.
        if (comments_ && first != text &&
            std::string_view(first, size_t(last - first)).find("global.columns") != std::string_view::npos)
          return false;
        continue;
      }
      tokens = true;
      if (!row(text, first, last, done, covered, empty, rows)) return false;
    }
    return covered <= done && (ended || !tokens || !comments_);
  }
  bool heading(const char* first, const char* last) const {
    if (comments_) return *first == '#';
    const std::string_view line(first, size_t(last - first));
    return begins(line, "-DOCSTART-") || (*first == '#' && is_comment(line));
  }
  static bool begins(std::string_view line, std::string_view start) { return line.substr(0, start.size()) == start; }
  // As in seqtag.corpus.lines.
  static bool is_comment(std::string_view line) {
    if (line == "# newdoc" || line == "# newpar" || begins(line, "#begin document") || begins(line, "#end document"))
      return true;
    if (begins(line, "###")) return line.size() > 3 && line.find_first_of(" \t") == line.npos;
    if (!begins(line, "# ")) return false;
    for (size_t word = 0, at = 2; word < 3; ++word) {  // one or two words, then "="
      const size_t end = std::min(line.find_first_of(" \t", at), line.size());
      if (word > 0 && line.substr(at, end - at) == "=" && (end == line.size() || line[end] == ' ')) return true;
      if (end == at || end == line.size() || line[end] != ' ') return false;
      at = end + 1;
    }
    return false;
  }

  bool row(const char* text, const char* first, const char* last, int64_t& done, int64_t& covered, int64_t& empty,
           ScannedRows& rows) {
    if (comments_ && *first == '#') return false;
    if (last - first >= 3 && std::memcmp(first, "\xef\xbb\xbf", 3) == 0) return false;  // where files were joined
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
    ++rows.words;
    for (size_t c = 0; c < read_.size(); ++c) {
      const Place f = field_[size_t(read_[c])];
      rows.types[c].push_back(interners_[c].intern(text + f.begin, f.end - f.begin));
    }
    const Place behind{size_t(last - text), size_t(last - text)};
    for (size_t k = 0; k < order_.size(); ++k)
      rows.places[k].push_back(rows.is_new[k] ? behind : field_[size_t(write_[order_[k]])]);
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
