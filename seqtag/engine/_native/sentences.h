// Sentences of raw text as CoNLL-U without annotation. segmentation/writing.py: ConlluWriter.
// Writes the plain case only: a sentence with white space inside a token is left to Python.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
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

// Multiword tokens: their numbers, ascending, and the words of token i in words[word_ptr[i]:word_ptr[i + 1]].
struct Ranges {
  const int64_t* tokens;
  size_t count;
  const int64_t* word_ptr;
  std::vector<std::string_view> words;
};

class SentenceWriter {
 public:
  SentenceWriter(const char* text, size_t size, const Ranges& ranges) : text_(text), size_(size), ranges_(ranges) {}
  // The sentence of tokens first to last, whose number is given; empty if it is not plain.
  // starts and ends: of the tokens, in bytes; next: where the token after the last begins.
  std::string write(const int64_t* starts, const int64_t* ends, size_t first, size_t last, size_t next,
                    int64_t number) const {
    std::string shown, rows;
    const int64_t* range = std::lower_bound(ranges_.tokens, ranges_.tokens + ranges_.count, int64_t(first));
    int64_t word = 1;
    shown.reserve(size_t(ends[last - 1] - starts[first]) + 1);
    rows.reserve((last - first) * 48);
    for (size_t t = first; t < last; ++t) {
      const char *form = text_ + starts[t], *end = text_ + ends[t];
      if (has_space(form, end)) return {};
      const size_t after = t + 1 < last ? size_t(starts[t + 1]) : next;
      const char* spaces = end;
      const size_t count = after - size_t(ends[t]);
      const bool several = range < ranges_.tokens + ranges_.count && *range == int64_t(t);
      const size_t r = size_t(range - ranges_.tokens);
      const int64_t parts = several ? ranges_.word_ptr[r + 1] - ranges_.word_ptr[r] : 1;
      rows.append(std::to_string(word));
      if (several) rows.append("-").append(std::to_string(word + parts - 1));
      rows.push_back('\t');
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
      if (several) {
        for (int64_t i = 0; i < parts; ++i) {
          const std::string_view part = ranges_.words[size_t(ranges_.word_ptr[r] + i)];
          rows.append(std::to_string(word + i)).append("\t").append(part).append("\t_\t_\t_\t_\t_\t_\t_\t_\n");
        }
        ++range;
      }
      word += parts;
    }
    if (shown.back() == ' ') shown.pop_back();
    return "# sent_id = " + std::to_string(number) + "\n# text = " + shown + "\n" + rows + "\n";
  }
  size_t size() const { return size_; }

 private:
  const char* text_;
  size_t size_;
  const Ranges& ranges_;
  static bool has_space(const char* p, const char* end) {
    const auto *q = reinterpret_cast<const unsigned char*>(p), *stop = reinterpret_cast<const unsigned char*>(end);
    for (; q < stop; ++q)
      if (space_begins(q, stop)) return true;
    return false;
  }
  static void escape(std::string& out, const char* p, size_t count) {
    for (const char* end = p + count; p < end; ++p) switch (*p) {
        case ' ':
          out.append("\\s");
          break;
        case '\t':
          out.append("\\t");
          break;
        case '\r':
          out.append("\\r");
          break;
        case '\n':
          out.append("\\n");
          break;
        default:
          out.push_back(*p);
      }
  }
};

}  // namespace seqtag
