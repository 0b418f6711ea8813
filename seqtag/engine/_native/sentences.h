// Sentences of raw text as CoNLL-U without annotation. segmentation/writing.py: ConlluWriter.
// Writes the plain case only: a sentence with white space inside a token is left to Python.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace seqtag {

// Whether a character of white space that is not ASCII, or any ASCII one, begins here.
inline bool space_begins(const unsigned char* p, const unsigned char* end) {
  if (*p <= 0x20) return true;
  if (*p < 0xc2) return false;
  const auto after = [&](int i) { return p + i < end ? p[i] : 0; };
  if (*p == 0xc2) return after(1) == 0x85 || after(1) == 0xa0;
  if (*p == 0xe1) return after(1) == 0x9a && after(2) == 0x80;
  if (*p == 0xe3) return after(1) == 0x80 && after(2) == 0x80;
  if (*p != 0xe2) return false;
  if (after(1) == 0x81) return after(2) == 0x9f;
  return after(1) == 0x80 && (after(2) <= 0x8a || after(2) == 0xa8 || after(2) == 0xa9 || after(2) == 0xaf);
}

class SentenceWriter {
 public:
  SentenceWriter(const char* text, size_t size) : text_(text), size_(size) {}
  // The sentence of tokens first to last, whose number is given; empty if it is not plain.
  // starts and ends: of the tokens, in bytes; next: where the token behind the last begins.
  std::string write(const int64_t* starts, const int64_t* ends, size_t first, size_t last, size_t next,
                    int64_t number) const {
    std::string shown, rows;
    shown.reserve(size_t(ends[last - 1] - starts[first]) + 1);
    rows.reserve((last - first) * 48);
    for (size_t t = first; t < last; ++t) {
      const char *form = text_ + starts[t], *end = text_ + ends[t];
      if (has_space(form, end)) return {};
      const size_t after = t + 1 < last ? size_t(starts[t + 1]) : next;
      const char* spaces = end;
      const size_t count = after - size_t(ends[t]);
      rows.append(std::to_string(t - first + 1)).push_back('\t');
      rows.append(form, end);
      shown.append(form, end);
      rows.append("\t_\t_\t_\t_\t_\t_\t_\t");
      if (count == 0) {
        rows.append("SpaceAfter=No\n");
      } else {
        shown.push_back(' ');
        if (count == 1 && *spaces == ' ')
          rows.push_back('_');
        else
          escape(rows.append("SpacesAfter="), spaces, count);
        rows.push_back('\n');
      }
    }
    if (shown.back() == ' ') shown.pop_back();
    return "# sent_id = " + std::to_string(number) + "\n# text = " + shown + "\n" + rows + "\n";
  }
  size_t size() const { return size_; }

 private:
  const char* text_;
  size_t size_;
  static bool has_space(const char* p, const char* end) {
    const auto *q = reinterpret_cast<const unsigned char*>(p), *stop = reinterpret_cast<const unsigned char*>(end);
    for (; q < stop; ++q)
      if (space_begins(q, stop)) return true;
    return false;
  }
  static void escape(std::string& out, const char* p, size_t count) {
    for (const char* end = p + count; p < end; ++p) switch (*p) {
        case ' ': out.append("\\s"); break;
        case '\t': out.append("\\t"); break;
        case '\r': out.append("\\r"); break;
        case '\n': out.append("\\n"); break;
        default: out.push_back(*p);
      }
  }
};

}  // namespace seqtag
