// Words of text in tokens: numbered, and written with labels in several formats.
// corpus/scanner.py: WordScanner; segmentation/reading.py: ConlluWriter.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interning.h"
#include "scan.h"

namespace seqtag {

// Bytes of the character of white space, or byte order mark, that begins here; 0 if it is another character.
inline size_t space_length(const char* text, const char* text_end) {
  const auto *p = reinterpret_cast<const unsigned char*>(text), *end = reinterpret_cast<const unsigned char*>(text_end);
  if (*p < 0x80) return *p == 0x20 || (*p >= 0x09 && *p <= 0x0d) || (*p >= 0x1c && *p <= 0x1f);
  const auto after = [&](int i) { return p + i < end ? p[i] : 0; };
  if (*p == 0xc2) return after(1) == 0x85 || after(1) == 0xa0 ? 2 : 0;
  if (*p == 0xe1) return after(1) == 0x9a && after(2) == 0x80 ? 3 : 0;
  if (*p == 0xe3) return after(1) == 0x80 && after(2) == 0x80 ? 3 : 0;
  if (*p == 0xef) return after(1) == 0xbb && after(2) == 0xbf ? 3 : 0;  // a byte order mark
  if (*p != 0xe2) return 0;
  if (after(1) == 0x81) return after(2) == 0x9f ? 3 : 0;
  const int last = after(1) == 0x80 ? after(2) : 0;
  return last && (last <= 0x8a || last == 0xa8 || last == 0xa9 || last == 0xaf) ? 3 : 0;
}

// White space that a form of CoNLL-U cannot have, even alone.
inline bool breaks_form(const char* p) {
  const auto* q = reinterpret_cast<const unsigned char*>(p);
  if (*q < 0x80) return *q != 0x20;
  if (*q == 0xc2) return q[1] == 0x85;
  if (*q == 0xe1 || *q == 0xef) return true;
  return *q == 0xe2 && q[1] == 0x80 && (q[2] == 0xa8 || q[2] == 0xa9);
}

// A string of JSON.
inline std::string& append_json(std::string& out, std::string_view value) {
  static const std::string_view special = "\"\\\b\f\n\r\t", escaped = "\"\\bfnrt";
  out.push_back('"');
  const char *done = value.data(), *const end = done + value.size();
  for (const char* p = done; p < end; ++p) {
    if (uint8_t(*p) >= 0x20 && *p != '"' && *p != '\\') continue;
    out.append(done, size_t(p - done)).push_back('\\');
    if (const size_t at = special.find(*p); at != special.npos)
      out.push_back(escaped[at]);
    else
      out.append("u00").append(1, char('0' + (*p >> 4))).push_back("0123456789abcdef"[*p & 15]);
    done = p + 1;
  }
  return out.append(done, size_t(end - done)).append(1, '"');
}

// Words of a text in sentences. Words of text that was segmented have tokens, too: a token is a word, or several.
class WordRows {
 public:
  std::vector<int32_t> types;            // per word
  std::vector<std::string_view> forms;   // per word: bytes of the text, of parts or of `made`
  std::vector<int64_t> sentence_ptr{0};  // words

  struct Token {
    std::string_view text, form;
    std::string_view spaces;  // after it
    uint32_t words;           // 1, or as many as a multiword token has
  };
  std::vector<Token> tokens;       // empty: words have a space after them
  std::vector<int64_t> token_ptr;  // per sentence, if there are tokens
  std::deque<std::string> made;    // forms without white space that CoNLL-U cannot hold
  // Words of CoNLL-U have their other columns, and the lines of their sentences.
  std::vector<std::vector<std::string_view>> columns;
  std::vector<std::string_view> sources;

  // What is between the fields of a word and between words, and what ends a sentence.
  struct Separators {
    std::string_view field, word, sentence;
  };
  // Words with their labels, each after the number of its sentence if there are `before` sentences before.
  std::string lines(const std::vector<WordLabels>& labels, const Separators& separators,
                    std::optional<int64_t> before) const {
    std::string out;
    for_each_sentence([&](size_t, size_t first, size_t last) {
      if (before) ++*before;
      for (size_t i = first; i < last; ++i) {
        if (i > first) out.append(separators.word);
        if (before) append_number(out, *before).append(separators.field);
        out.append(forms[i]);
        for (const WordLabels& each : labels) out.append(separators.field).append(each.of(i));
      }
      out.append(separators.sentence);
    });
    return out;
  }
  // An object of JSON for each sentence; if there are tokens, with its number, its text and its multiword tokens;
  // if there are lines of CoNLL-U, with what these say of them.
  std::string json(const std::vector<WordLabels>& labels, const std::vector<std::string_view>& keys,
                   int64_t before) const {
    std::string out;
    for_each_sentence([&](size_t s, size_t first, size_t last) {
      out.push_back('{');
      if (!tokens.empty()) {
        append_number(out.append("\"sent_id\": \""), ++before).append("\", \"text\": ");
        append_json(out, text_of(s)).append(", ");
      }
      if (!sources.empty()) append_facts(out, sources[s]);
      const auto list = [&](std::string_view key, const auto& value) {
        append_json(out, key).append(": [");
        for (size_t i = first; i < last; ++i) {
          if (i > first) out.append(", ");
          append_json(out, value(i));
        }
        out.push_back(']');
      };
      list("tokens", [&](size_t i) { return forms[i]; });
      for (size_t c = 0; c < labels.size(); ++c) {
        out.append(", ");
        list(keys[c], [&](size_t i) { return labels[c].of(i); });
      }
      bool has_several = false;
      const auto several = [&](std::string_view from, std::string_view to, std::string_view form) {
        out.append(has_several ? ", [" : ", \"multiword\": [[").append(from).append(", ").append(to).append(", ");
        append_json(out, form).push_back(']');
        has_several = true;
      };
      const auto [begin, end] = tokens_of(s);
      for (size_t t = begin, word = 1; t < end; word += tokens[t++].words)
        if (tokens[t].words > 1)
          several(std::to_string(word), std::to_string(word + tokens[t].words - 1), tokens[t].form);
      for_each_line(sources.empty() ? std::string_view() : sources[s], [&](std::string_view line) {
        const size_t id = line.find('\t'), dash = line.substr(0, id).find('-');
        if (line[0] == '#' || dash == line.npos) return;
        several(line.substr(0, dash), line.substr(dash + 1, id - dash - 1),
                line.substr(id + 1, line.find('\t', id + 1) - id - 1));
      });
      out.append(has_several ? "]}\n" : "}\n");
    });
    return out;
  }

  static constexpr size_t kFirst = 2, kLast = 8, kMisc = 9;  // columns of CoNLL-U with labels: LEMMA to DEPS, MISC
  struct Comments {
    const int64_t* numbers = nullptr;             // of sentences; none: without
    std::vector<std::string_view> opens, before;  // per sentence: lines, and white space of the text before it
  };
  // CoNLL-U, with `columns[c]` in column c; those of MISC are items that are added, "_" for none.
  std::string conllu(const std::array<const WordLabels*, kMisc + 1>& columns, const Comments& comments) const {
    std::string out;
    out.reserve(forms.size() * (32 + 8 * kLast));
    const auto cells = [&](size_t word) {
      for (size_t c = kFirst; c <= kLast; ++c) {
        out.push_back('\t');
        if (columns[c])
          out.append(columns[c]->of(word));
        else
          out.push_back('_');
      }
    };
    const auto item_of = [&](size_t word) { return columns[kMisc] ? columns[kMisc]->of(word) : std::string_view("_"); };
    for_each_sentence([&](size_t s, size_t first, size_t last) {
      if (!comments.opens.empty()) out.append(comments.opens[s]);
      if (comments.numbers) append_number(out.append("# sent_id = "), comments.numbers[s]).push_back('\n');
      out.append("# text = ").append(text_of(s)).push_back('\n');
      const auto row = [&](size_t word) {
        append_number(out, int64_t(word - first) + 1).push_back('\t');
        out.append(forms[word]);
        cells(word);
        out.append("\t").append(item_of(word)).push_back('\n');
      };
      for (size_t word = first; tokens.empty() && word < last; ++word) row(word);
      const auto [begin, end] = tokens_of(s);
      size_t word = first;
      for (size_t t = begin; t < end; ++t) {
        const Token& token = tokens[t];
        append_number(out, int64_t(word - first) + 1);
        if (token.words > 1) append_number(out.append("-"), int64_t(word - first) + token.words);
        out.append("\t").append(token.form);
        if (token.words > 1)
          out.append("\t_\t_\t_\t_\t_\t_\t_");
        else
          cells(word++);
        out.push_back('\t');
        append_misc(out, token, t == begin && !comments.before.empty() ? comments.before[s] : std::string_view(),
                    token.words > 1 ? std::string_view("_") : item_of(word - 1));
        out.push_back('\n');
        if (token.words == 1) continue;
        for (const size_t stop = word + token.words; word < stop; ++word) row(word);
      }
      out.push_back('\n');
    });
    return out;
  }

 private:
  template <class Visit> void for_each_sentence(Visit visit) const {
    for (size_t s = 0; s + 1 < sentence_ptr.size(); ++s)
      if (sentence_ptr[s] < sentence_ptr[s + 1]) visit(s, size_t(sentence_ptr[s]), size_t(sentence_ptr[s + 1]));
  }
  // The first token of a sentence and the one after its last, if there are tokens.
  std::pair<size_t, size_t> tokens_of(size_t s) const {
    return tokens.empty() ? std::pair<size_t, size_t>() : std::pair(size_t(token_ptr[s]), size_t(token_ptr[s + 1]));
  }
  std::string text_of(size_t s) const {
    std::string text;
    const size_t first = size_t(sentence_ptr[s]), last = size_t(sentence_ptr[s + 1]);
    for (size_t i = first; tokens.empty() && i < last; ++i) text.append(i > first ? " " : "").append(forms[i]);
    const auto [begin, end] = tokens_of(s);
    for (size_t t = begin; t < end; ++t) {
      text.append(tokens[t].form);
      if (t + 1 < end && !tokens[t].spaces.empty()) text.push_back(' ');
    }
    return text;
  }
  // Calls a function with each line that is not empty.
  template <class Visit> static void for_each_line(std::string_view lines, Visit visit) {
    while (!lines.empty()) {
      const size_t end = std::min(lines.find('\n'), lines.size());
      if (end) visit(lines.substr(0, end));
      lines.remove_prefix(std::min(end + 1, lines.size()));
    }
  }
  // White space as Python strips it, which does not include byte order marks.
  static std::string_view stripped(std::string_view text) {
    const auto space = [&](size_t at) {
      const size_t n = space_length(text.data() + at, text.data() + text.size());
      return text[at] == '\xef' ? 0 : n;
    };
    while (!text.empty() && space(0)) text.remove_prefix(space(0));
    for (size_t n = 1; n <= 3 && n <= text.size();)
      if (space(text.size() - n) == n) {
        text.remove_suffix(n);
        n = 1;
      } else {
        ++n;
      }
    return text;
  }
  // Comments about a sentence; the last one of a name counts.
  static void append_facts(std::string& out, std::string_view lines) {
    std::vector<std::pair<std::string_view, std::string_view>> facts;
    for_each_line(lines, [&](std::string_view line) {
      const size_t equals = line.find('=');
      if (line[0] != '#' || equals == line.npos) return;
      const std::string_view key = stripped(line.substr(1, equals - 1)), value = stripped(line.substr(equals + 1));
      if (key != "sent_id" && key != "text") return;
      const auto known = std::find_if(facts.begin(), facts.end(), [&](const auto& each) { return each.first == key; });
      (known == facts.end() ? facts.emplace_back(key, value) : *known).second = value;
    });
    for (const auto& [key, value] : facts) append_json(append_json(out, key).append(": "), value).append(", ");
  }
  static std::string& append_number(std::string& out, int64_t number) {
    if (number >= 100) return out.append(std::to_string(number));
    if (number >= 10) out.push_back(char('0' + number / 10));
    out.push_back(char('0' + number % 10));
    return out;
  }
  static void append_misc(std::string& out, const Token& token, std::string_view before, std::string_view more) {
    const size_t start = out.size();
    const auto item = [&](const char* name) -> std::string& {
      if (out.size() > start) out.push_back('|');
      return out.append(name);
    };
    if (token.form != token.text) escape(item("SpacesInToken="), token.text);
    if (!before.empty()) escape(item("SpacesBefore="), before);
    if (token.spaces.empty())
      item("SpaceAfter=No");
    else if (token.spaces != " ")
      escape(item("SpacesAfter="), token.spaces);
    if (more != "_" || out.size() == start) item("").append(more);
  }
  static void escape(std::string& out, std::string_view text) {
    static const std::string_view plain = "\\ \t\r\n|", escaped = "\\strnp";
    for (const char *p = text.data(), *const end = p + text.size(); p < end;) {
      const size_t at = plain.find(*p), n = space_length(p, end);
      if (at != plain.npos) {
        out.append(1, '\\').push_back(escaped[at]);
        ++p;
      } else if (n == 0) {
        out.push_back(*p++);
      } else {  // the code point of other white space, from one to three bytes
        unsigned code = n == 1 ? unsigned(*p) : unsigned(*p) & (n == 2 ? 0x1fu : 0x0fu);
        for (size_t i = 1; i < n; ++i) code = code << 6 | (unsigned(p[i]) & 0x3fu);
        out.append("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) out.push_back("0123456789ABCDEF"[code >> shift & 15u]);
        p += n;
      }
    }
  }
};

// Numbers the words of texts.
class WordScanner {
 public:
  const Interner& interner() const { return interner_; }

  // The words of complete lines, separated by spaces, tabs or byte order marks; an empty line is a sentence
  // without words.
  void scan_lines(std::string_view text, WordRows& rows) {
    const char *p = text.data(), *const end = p + text.size();
    const auto at_mark = [&] { return *p == '\xef' && size_t(end - p) > 2 && p[1] == '\xbb' && p[2] == '\xbf'; };
    while (p < end) {
      const char* first = p;
      while (p < end && *p != ' ' && *p != '\t' && *p != '\r' && *p != '\n' && !at_mark()) ++p;
      if (p > first) add(rows, {first, size_t(p - first)});
      if (p < end && *p == '\xef') p += 2;
      if (p < end && *p++ == '\n') rows.sentence_ptr.push_back(int64_t(rows.forms.size()));
    }
    if (int64_t(rows.forms.size()) > rows.sentence_ptr.back()) rows.sentence_ptr.push_back(int64_t(rows.forms.size()));
  }

  // Multiword tokens: their numbers, ascending, and the words of token i in words[word_ptr[i]:word_ptr[i + 1]].
  struct Ranges {
    const int64_t* tokens;
    size_t count;
    const int64_t* word_ptr;
    std::vector<std::string_view> words;
  };
  // The words of tokens, which begin and end at bytes of the text; only white space is between them.
  void scan_tokens(std::string_view text, const std::vector<int64_t>& starts, const std::vector<int64_t>& ends,
                   const int64_t* sentence_ends, size_t sentences, const Ranges& ranges, WordRows& rows) {
    rows.token_ptr.assign(1, 0);
    rows.tokens.reserve(starts.size());
    size_t t = 0, range = 0;
    for (size_t s = 0; s < sentences; ++s) {
      for (; t < size_t(sentence_ends[s]); ++t) {
        const size_t next = t + 1 < starts.size() ? size_t(starts[t + 1]) : text.size();
        WordRows::Token token{text.substr(size_t(starts[t]), size_t(ends[t] - starts[t])), {}, {}, 1};
        token.form = form_of(token.text, rows);
        token.spaces = text.substr(size_t(ends[t]), next - size_t(ends[t]));
        if (range < ranges.count && ranges.tokens[range] == int64_t(t)) {
          token.words = uint32_t(ranges.word_ptr[range + 1] - ranges.word_ptr[range]);
          for (int64_t i = ranges.word_ptr[range]; i < ranges.word_ptr[range + 1]; ++i)
            add(rows, ranges.words[size_t(i)]);
          ++range;
        } else {
          add(rows, token.form);
        }
        rows.tokens.push_back(token);
      }
      rows.sentence_ptr.push_back(int64_t(rows.forms.size()));
      rows.token_ptr.push_back(int64_t(t));
    }
  }

 private:
  Interner interner_;

  void add(WordRows& rows, std::string_view form) {
    rows.types.push_back(interner_.intern(form.data(), form.size()));
    rows.forms.push_back(form);
  }
  // A token without white space that CoNLL-U cannot hold: a space for each run of any, if one is such, or
  // longer than a character.
  static std::string_view form_of(std::string_view token, WordRows& rows) {
    const char *p = token.data(), *const end = p + token.size();
    bool after_space = false, plain = true;
    for (const char* q = p; q < end && plain;) {
      const size_t n = space_length(q, end);
      plain = !n || !(after_space || breaks_form(q));
      after_space = n != 0;
      q += std::max<size_t>(n, 1);
    }
    if (plain) return token;
    std::string form;
    bool wanted = false;
    while (p < end) {
      if (const size_t n = space_length(p, end)) {
        wanted = !form.empty();
        p += n;
        continue;
      }
      if (wanted) form.push_back(' ');
      wanted = false;
      form.push_back(*p++);
    }
    rows.made.push_back(std::move(form));
    return rows.made.back();
  }
};

}  // namespace seqtag
