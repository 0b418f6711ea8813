// Sentences of a document as JSON. tagging/document.py: Document.json_sentences.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "words.h"

namespace seqtag {

class DocumentJson {
 public:
  struct Column {
    std::string_view name;
    size_t place;          // the column of CoNLL-U
    std::string_view key;  // in it, if not empty
    bool has_chunks;
  };
  struct Letters {  // prefixes of chunk labels: all, those that continue a chunk, those that close one
    std::string_view all, continuing, closing;
  };
  static constexpr size_t kFields = 10;

  // units: how many a character of one to four bytes has.
  DocumentJson(std::string_view text, const std::vector<Column>& columns, const Letters& letters,
               const std::array<size_t, 4>& units)
      : text_(text), letters_(letters), units_(units) {
    for (const Column& each : columns) {
      std::string start = columns_.empty() ? "" : ",";
      append_json(start, each.name).push_back(':');
      columns_.push_back({each, std::move(start), std::string(each.key) + "=", {}});
    }
  }
  // The sentences of CoNLL-U that has all white space of the text, with commas between them.
  std::string sentences(std::string_view conllu) {
    std::string out;
    for (size_t end; !conllu.empty(); conllu.remove_prefix(end + 1)) {
      end = conllu.find('\n');
      expect(end != conllu.npos, "a line has no end");
      const std::string_view line = conllu.substr(0, end);
      if (line.empty())
        end_sentence(out);
      else if (line[0] != '#')
        add(line);
    }
    expect(tokens_.empty(), "a sentence has no end");
    return out;
  }

 private:
  struct Place {
    size_t byte = 0, unit = 0;
  };
  struct Span {
    Place start, end;
  };
  struct Source {
    Column column;
    std::string start, key;                // as they are written, and read
    std::vector<std::string_view> labels;  // of the words of the sentence, if they are of chunks
  };
  using Fields = std::array<std::string_view, kFields>;

  const std::string_view text_;
  const Letters letters_;
  const std::array<size_t, 4> units_;
  std::vector<Source> columns_;
  std::string tokens_;                   // of the sentence
  std::vector<Span> places_;             // of its words
  Place first_;                          // where it begins
  Span token_;                           // the last one
  size_t spaces_ = 0, left_ = 0;         // characters after it, and words of it that are to come
  std::vector<std::string_view> forms_;  // of its words

  static void expect(bool ok, const char* found) {
    if (!ok) throw std::invalid_argument(found);
  }
  std::string_view text_of(const Span& span) const {
    return text_.substr(span.start.byte, span.end.byte - span.start.byte);
  }
  Place after(Place place, size_t characters) const {
    for (; characters; --characters) {
      expect(place.byte < text_.size(), "a token ends after the text");
      const auto lead = uint8_t(text_[place.byte]);
      const size_t bytes = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
      place = {std::min(place.byte + bytes, text_.size()), place.unit + units_[bytes - 1]};
    }
    return place;
  }
  // Characters of a form, or of white space as MISC has it.
  static size_t characters_in(std::string_view value, bool escaped) {
    size_t count = 0;
    for (size_t i = 0; i < value.size(); ++count) {
      const std::string_view code = escaped && value[i] == '\\' ? value.substr(i + 1, 5) : std::string_view();
      const auto is_hex = [](char c) { return ('0' <= c && c <= '9') || ('A' <= (c & ~32) && (c & ~32) <= 'F'); };
      if (!code.empty() && std::string_view("\\strnp").find(code[0]) != code.npos)
        i += 2;
      else if (code.size() == 5 && code[0] == 'u' && std::all_of(code.begin() + 1, code.end(), is_hex))
        i += 6;
      else
        for (++i; i < value.size() && (uint8_t(value[i]) & 0xc0) == 0x80; ++i) {
        }
    }
    return count;
  }
  template <class Visit> static void for_each_item(std::string_view cell, Visit visit) {
    for (size_t end; (end = cell.find('|')) != cell.npos; cell.remove_prefix(end + 1)) visit(cell.substr(0, end));
    visit(cell);
  }
  static size_t number_in(std::string_view digits) {
    size_t number = 0;
    for (const char c : digits) number = 10 * number + size_t(c - '0');
    return number;
  }

  void add(std::string_view line) {
    Fields fields;
    for (size_t f = 0; f < kFields; ++f) {
      const size_t end = line.find('\t');
      expect((end == line.npos) == (f + 1 == kFields), "a line has no ten fields");
      fields[f] = line.substr(0, end);
      line.remove_prefix(end == line.npos ? 0 : end + 1);
    }
    if (!left_) {
      begin_token(fields);
      if (fields[0].find('-') != line.npos) return;
    }
    append_json(tokens_.append(forms_.empty() ? "{\"form\":" : ",{\"form\":"), fields[1]).append(",\"labels\":{");
    for (Source& each : columns_) {
      std::string_view label = fields[each.column.place];
      if (!each.column.key.empty()) {
        std::optional<std::string_view> value;
        for_each_item(label, [&](std::string_view item) {
          if (!value && item.substr(0, each.key.size()) == each.key) value = item.substr(each.key.size());
        });
        label = value.value_or("_");
      }
      if (each.column.has_chunks) each.labels.push_back(label = label == "_" ? "O" : label);
      append_json(tokens_.append(each.start), label);
    }
    tokens_.append("}}");
    forms_.push_back(fields[1]);
    if (--left_ == 0) end_token();
  }
  void begin_token(const Fields& fields) {
    size_t before = 0, behind = 1;
    std::optional<size_t> length;
    for_each_item(fields[kFields - 1], [&](std::string_view item) {
      const size_t equals = std::min(item.find('='), item.size());
      const std::string_view name = item.substr(0, equals), value = item.substr(std::min(equals + 1, item.size()));
      if (name == "SpaceAfter" && value == "No") behind = 0;
      if (name == "SpacesAfter") behind = characters_in(value, true);
      if (name == "SpacesBefore") before = characters_in(value, true);
      if (name == "SpacesInToken") length = characters_in(value, true);
    });
    token_.start = after(token_.end, spaces_ + before);
    token_.end = after(token_.start, length ? *length : characters_in(fields[1], false));
    spaces_ = behind;
    if (tokens_.empty()) first_ = token_.start;
    append_text(tokens_.append(tokens_.empty() ? "{\"text\":" : ",{\"text\":"), token_).append(",\"words\":[");
    const size_t dash = fields[0].find('-');
    left_ =
        dash == fields[0].npos ? 1 : number_in(fields[0].substr(dash + 1)) + 1 - number_in(fields[0].substr(0, dash));
    expect(left_ > 0, "a token has no words");
    forms_.clear();
  }
  // Words of a multiword token that is not written like them are where it is.
  void end_token() {
    tokens_.append("]}");
    std::string joined;
    for (const std::string_view form : forms_) joined.append(form);
    const bool is_written = forms_.size() > 1 && joined == text_of(token_);
    Place start = token_.start;
    for (const std::string_view form : forms_) {
      const Place end = is_written ? after(start, characters_in(form, false)) : token_.end;
      places_.push_back({start, end});
      if (is_written) start = end;
    }
  }
  void end_sentence(std::string& out) {
    expect(!tokens_.empty() && !left_, "a sentence has no words, or a token has too few");
    append_json(out.append(out.empty() ? "{\"text\":" : ",{\"text\":"), text_of({first_, token_.end}));
    out.append(",\"tokens\":[").append(tokens_).push_back(']');
    const char* opening = ",\"spans\":{";
    for (Source& each : columns_) {
      if (!each.column.has_chunks) continue;
      append_json(out.append(opening), each.column.name).append(":[");
      append_chunks(out, each.column.name, each.labels);
      out.push_back(']');
      opening = ",";
      each.labels.clear();
    }
    out.append(opening[1] ? "}" : "}}");
    tokens_.clear();
    places_.clear();
  }
  // labels/schemes.py: spans(); chunks without a type have the name of the column.
  void append_chunks(std::string& out, std::string_view name, const std::vector<std::string_view>& labels) const {
    std::optional<size_t> open;
    std::string_view open_kind;
    const auto has = [](std::string_view letters, char prefix) { return letters.find(prefix) != letters.npos; };
    const auto close = [&](size_t end) {
      append_json(out.append(out.back() == '[' ? "{\"label\":" : ",{\"label\":"), open_kind.empty() ? name : open_kind);
      append_text(out.append(",\"text\":"), {places_[*open].start, places_[end - 1].end}).push_back('}');
      open.reset();
    };
    for (size_t i = 0; i < labels.size(); ++i) {
      const std::string_view label = labels[i];
      const bool has_kind = label.size() > 2 && label[1] == '-', is_chunk = has_kind || label.size() == 1;
      const char prefix = is_chunk && has(letters_.all, label[0]) ? label[0] : '\0';
      const std::string_view kind = has_kind ? label.substr(2) : std::string_view();
      if (open && !(has(letters_.continuing, prefix) && kind == open_kind)) close(i);
      if (!open && prefix) {
        open = i;
        open_kind = kind;
      }
      if (has(letters_.closing, prefix)) close(i + 1);
    }
    if (open) close(labels.size());
  }
  std::string& append_text(std::string& out, const Span& span) const {
    append_json(out, text_of(span)).append(",\"start\":").append(std::to_string(span.start.unit));
    return out.append(",\"end\":").append(std::to_string(span.end.unit));
  }
};

}  // namespace seqtag
