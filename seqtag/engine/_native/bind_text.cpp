// Text: scanners of column files and of words, and views of characters.
// interface.py: Scanner, WordScanner, Characters, json_sentences().
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "bind_model.h"
#include "characters.h"
#include "chunk_model.h"
#include "document_json.h"
#include "scan.h"
#include "word_reader.h"
#include "words.h"

namespace seqtag {
namespace {

std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }
std::vector<std::string_view> views(const std::vector<nb::bytes>& all) {
  std::vector<std::string_view> found;
  for (const nb::bytes& bytes : all) found.push_back(view(bytes));
  return found;
}

// For each column of labels, an id for each word, and the name of each id; without ids, the next column of the file.
using Labels = std::vector<std::pair<std::optional<In<int32_t>>, std::vector<nb::bytes>>>;

std::vector<WordLabels> checked(const Labels& labels, size_t words,
                                const std::vector<std::vector<std::string_view>>& columns = {}) {
  std::vector<WordLabels> read;
  auto column = columns.begin();
  for (const auto& [ids, names] : labels) {
    if (!ids) {
      require(column != columns.end(), "a column that the file does not have");
      read.push_back({{}, {}, &*column++});
      continue;
    }
    read.push_back({copied(*ids), views(names)});
    require(read.back().ids.size() == words, "one label per word");
    require(within(read.back().ids.data(), words, int64_t(names.size())), "a label without a name");
  }
  return read;
}

// Values that were numbered since the last call, in order.
nb::list values_after(const Interner& interner, size_t& reported) {
  nb::list values;
  for (; reported < interner.size(); ++reported) {
    const std::string_view v = interner.value(reported);
    values.append(nb::bytes(v.data(), v.size()));
  }
  return values;
}

// What a function writes without Python's lock.
template <class Write> nb::bytes written(Write write) {
  std::string out;
  {
    nb::gil_scoped_release release;
    out = write();
  }
  return nb::bytes(out.data(), out.size());
}

// The words of one text: those of lines, or of tokens that a segmenter found.
class PyWordRows {
 public:
  PyWordRows(nb::bytes text, std::vector<nb::bytes>&& words) : text_(std::move(text)), words_(std::move(words)) {}
  PyWordRows(PyWordRows&&) = default;
  WordRows& rows() { return *rows_; }
  nb::object types() const { return to_numpy(std::vector<int32_t>(rows_->types), {1, rows_->types.size()}); }
  nb::object sentence_ptr() const { return to_numpy(std::vector<int64_t>(rows_->sentence_ptr)); }
  nb::bytes lines(const Labels& labels, nb::bytes field, nb::bytes word, nb::bytes sentence,
                  std::optional<int64_t> before) const {
    const std::vector<WordLabels> read = checked(labels, rows_->forms.size(), rows_->columns);
    return written([&] { return rows_->lines(read, {view(field), view(word), view(sentence)}, before); });
  }
  nb::bytes json(const std::vector<nb::bytes>& keys, const Labels& labels, int64_t before) const {
    const std::vector<WordLabels> read = checked(labels, rows_->forms.size(), rows_->columns);
    require(keys.size() == read.size(), "one key for each array of labels");
    return written([&] { return rows_->json(read, views(keys), before); });
  }
  nb::bytes conllu(const std::vector<int>& columns, const Labels& labels, std::optional<In<int64_t>> numbers,
                   const std::vector<std::pair<size_t, nb::bytes>>& opens,
                   const std::vector<std::pair<size_t, nb::bytes>>& before) const {
    const std::vector<WordLabels> read = checked(labels, rows_->forms.size());
    require(columns.size() == read.size(), "one column for each array of labels");
    std::array<const WordLabels*, WordRows::kMisc + 1> by_column{};
    for (size_t i = 0; i < columns.size(); ++i) {
      require(columns[i] >= int(WordRows::kFirst) && columns[i] <= int(WordRows::kMisc), "a column out of range");
      by_column[size_t(columns[i])] = &read[i];
    }
    WordRows::Comments comments;
    const size_t sentences = rows_->sentence_ptr.size() - 1;
    if (numbers) {
      require(numbers->shape(0) == sentences, "one number for each sentence");
      comments.numbers = numbers->data();
    }
    comments.opens = per_sentence(opens, sentences);
    comments.before = per_sentence(before, sentences);
    return written([&] { return rows_->conllu(by_column, comments); });
  }

 private:
  nb::bytes text_;
  std::vector<nb::bytes> words_;
  std::unique_ptr<WordRows> rows_ = std::make_unique<WordRows>();  // stays where it is: forms may be in it

  static std::vector<std::string_view> per_sentence(const std::vector<std::pair<size_t, nb::bytes>>& given,
                                                    size_t sentences) {
    std::vector<std::string_view> all(sentences);
    for (const auto& each : given) {
      require(each.first < sentences, "a sentence out of range");
      all[each.first] = view(each.second);
    }
    return all;
  }
};

class PyScannedRows {
 public:
  PyScannedRows(nb::bytes text, ScannedRows&& rows) : text_(std::move(text)), rows_(std::move(rows)) {}
  // Type ids (columns read, words).
  nb::object types() const {
    std::vector<int32_t> all;
    all.reserve(rows_.types.size() * size_t(rows_.words));
    for (const auto& column : rows_.types) all.insert(all.end(), column.begin(), column.end());
    return to_numpy(std::move(all), {rows_.types.size(), size_t(rows_.words)});
  }
  nb::object sentence_ptr() const { return to_numpy(std::vector<int64_t>(rows_.sentence_ptr)); }
  // The text with the labels in their places; names: per column written, per label.
  nb::bytes splice(const Labels& labels) const {
    require(labels.size() == rows_.places.size(), "one array of labels for each column written");
    const std::vector<WordLabels> read = checked(labels, size_t(rows_.words));
    return written([&] { return rows_.splice(text_.c_str(), text_.size(), read); });
  }
  // The words, to be written in another format. Columns written: the forms, and others to be written, too.
  PyWordRows words(bool with_lines) const {
    require(!rows_.places.empty() && !rows_.is_new.back(), "columns of the file, of forms first");
    PyWordRows found(text_, {});
    const auto shown = [&](const ScannedRows::Place& place) {
      return view(text_).substr(place.begin, place.end - place.begin);
    };
    WordRows& rows = found.rows();
    for (const std::vector<ScannedRows::Place>& places : rows_.places) {
      rows.columns.emplace_back(places.size());
      std::transform(places.begin(), places.end(), rows.columns.back().begin(), shown);
    }
    rows.forms = std::move(rows.columns.front());
    rows.columns.erase(rows.columns.begin());
    if (with_lines)
      for (const ScannedRows::Place& place : rows_.sources) rows.sources.push_back(shown(place));
    rows.sentence_ptr = rows_.sentence_ptr;
    return found;
  }

 private:
  nb::bytes text_;
  ScannedRows rows_;
};

class PyScanner {
 public:
  PyScanner(int columns, const std::string& separator, int id_column, bool comments, std::vector<int> read,
            std::vector<int> write)
      : reported_(read.size(), 0),
        scanner_(columns, separator.empty() ? 0 : separator[0], id_column, comments, read, write) {
    require(separator.size() == 1, "separator must be one byte");
    require(id_column >= -1 && id_column < columns, "id_column names a column out of range");
    for (int c : read) require(c >= 0 && c < columns, "read names a column out of range");
    for (int c : write) require(c >= -1 && c < columns, "write names a column out of range");
  }
  // The rows of a text, or None if it is not plain.
  nb::object scan(nb::bytes text, bool file_start) {
    ScannedRows rows;
    const bool plain = calls_.run([&] {
      nb::gil_scoped_release release;
      return scanner_.scan(text.c_str(), text.size(), file_start, rows);
    });
    return plain ? nb::cast(PyScannedRows(std::move(text), std::move(rows))) : nb::none();
  }
  // Values of a column that were numbered since the last call, in order.
  nb::list new_values(size_t column) {
    require(column < reported_.size(), "column out of range");
    return calls_.run([&] { return values_after(scanner_.interner(column), reported_[column]); });
  }

 private:
  std::vector<size_t> reported_;
  Scanner scanner_;
  OneAtATime calls_;
};

class PyWordScanner {
 public:
  PyWordRows scan_lines(nb::bytes text) {
    PyWordRows found(text, {});
    calls_.run([&] {
      nb::gil_scoped_release release;
      scanner_.scan_lines({text.c_str(), text.size()}, found.rows());
    });
    return found;
  }
  // starts and ends: of tokens, in code points.
  PyWordRows scan_tokens(nb::bytes text, In<int64_t> given_starts, In<int64_t> given_ends,
                         In<int64_t> given_sentence_ends, In<int64_t> given_ranges, In<int64_t> given_word_ptr,
                         std::vector<nb::bytes> words) {
    std::vector<int64_t> first = copied(given_starts), last = copied(given_ends);
    const std::vector<int64_t> sentence_ends = copied(given_sentence_ends), ranges = copied(given_ranges);
    const std::vector<int64_t> word_ptr = copied(given_word_ptr);
    const size_t tokens = first.size(), sentences = sentence_ends.size();
    require(last.size() == tokens, "one end per token");
    int64_t at = 0;
    for (size_t t = 0; t < tokens; ++t) {
      require(at <= first[t] && first[t] < last[t], "tokens must ascend, and none is empty");
      at = last[t];
    }
    at = 0;
    for (int64_t end : sentence_ends) {
      require(at < end, "sentence_ends must ascend, and no sentence is empty");
      at = end;
    }
    require(at == int64_t(tokens), "the last sentence must end with the last token");
    require(word_ptr.size() == ranges.size() + 1 && ascending(word_ptr, words.size()),
            "word_ptr must ascend from 0 to the number of words, one step per range");
    for (size_t i = 0; i < ranges.size(); ++i) {
      require(ranges[i] >= (i ? ranges[i - 1] + 1 : 0) && ranges[i] < int64_t(tokens),
              "ranges must ascend, and each is a token");
      require(word_ptr[i + 1] - word_ptr[i] > 1, "a range has two words or more");
    }
    require(to_bytes({text.c_str(), text.size()}, first, last), "a token ends after the text");
    const WordScanner::Ranges several{ranges.data(), ranges.size(), word_ptr.data(), views(words)};
    PyWordRows found(text, std::move(words));
    calls_.run([&] {
      nb::gil_scoped_release release;
      scanner_.scan_tokens({text.c_str(), text.size()}, first, last, sentence_ends.data(), sentences, several,
                           found.rows());
    });
    return found;
  }
  // Words that were numbered since the last call, in order.
  nb::list new_values() {
    return calls_.run([&] { return values_after(scanner_.interner(), reported_); });
  }

 private:
  size_t reported_ = 0;
  WordScanner scanner_;
  OneAtATime calls_;

  // Replaces positions in code points of UTF-8 by those in bytes; false if one is after the end.
  static bool to_bytes(std::string_view text, std::vector<int64_t>& starts, std::vector<int64_t>& ends) {
    size_t byte = 0;
    int64_t code = 0;
    const auto move = [&](int64_t& position) {
      for (; code < position; ++code) {
        if (byte >= text.size()) return false;
        for (++byte; byte < text.size() && (uint8_t(text[byte]) & 0xc0) == 0x80; ++byte) {
        }
      }
      position = int64_t(byte);
      return true;
    };
    for (size_t t = 0; t < starts.size(); ++t)
      if (!move(starts[t]) || !move(ends[t])) return false;
    return true;
  }
};

// columns: the name of each, its place in CoNLL-U, the key there, and whether it has chunks.
nb::bytes json_sentences(nb::bytes text, nb::bytes conllu,
                         const std::vector<std::tuple<nb::bytes, size_t, nb::bytes, bool>>& columns,
                         const std::vector<nb::bytes>& letters, const std::array<size_t, 4>& units) {
  std::vector<DocumentJson::Column> read;
  for (const auto& [name, place, key, has_chunks] : columns) {
    require(place < DocumentJson::kFields, "a column out of range");
    read.push_back({view(name), place, view(key), has_chunks});
  }
  require(letters.size() == 3, "three kinds of letters");
  const DocumentJson::Letters prefixes{view(letters[0]), view(letters[1]), view(letters[2])};
  return written([&] { return DocumentJson(view(text), read, prefixes, units).sentences(view(conllu)); });
}

// The tokens of texts, numbered as they come.
class PyTokenNumbers {
 public:
  nb::object number(In<uint32_t> codes, In<int64_t> starts, In<int64_t> ends) {
    require(ends.shape(0) == starts.shape(0), "one end per token");
    std::vector<int32_t> numbers(starts.shape(0));
    calls_.run([&] {
      for (size_t t = 0; t < numbers.size(); ++t) {
        const int64_t start = starts(t), end = ends(t);
        require(0 <= start && start <= end && end <= int64_t(codes.shape(0)), "a token is out of range");
        const char* first = reinterpret_cast<const char*>(codes.data() + start);
        numbers[t] = numbers_.intern(first, size_t(end - start) * sizeof(uint32_t));
      }
    });
    return to_numpy(std::move(numbers));
  }
  size_t nbytes() const { return numbers_.bytes(); }

 private:
  Interner numbers_;
  OneAtATime calls_;
};

class PyChunkModel {
 public:
  // columns: of each attribute, as in characters.py.
  PyChunkModel(const PyKeyPlan& plan, const PyRows& rows, int labels, const std::vector<int>& columns,
               const std::vector<PyAttributeUse>& attributes)
      : PyChunkModel(CheckedPlan(plan), rows, labels, columns, attributes) {}
  bool fits() const { return model_->fits(); }
  const ChunkModel& model() const { return *model_; }

 private:
  std::unique_ptr<ChunkModel> model_;

  PyChunkModel(const CheckedPlan& plan, const PyRows& rows, int labels, const std::vector<int>& columns,
               const std::vector<PyAttributeUse>& attributes) {
    require(columns.size() == attributes.size() && columns.size() == plan.attribute_column.size(),
            "one column for each attribute");
    require(labels > 0 && labels <= kMaxLabels, "labels must be 1 to 65535");
    check_rows(rows, labels);
    std::vector<ChunkModel::Use> uses;
    for (size_t a = 0; a < columns.size(); ++a) uses.push_back({columns[a], use_of(attributes[a])});
    model_ = std::make_unique<ChunkModel>(plan.plan(), uses, QuantizedRows(arrays_of(rows)), labels);
  }
};

class PyCharacters {
 public:
  // hashes: of the words of each dictionary.
  PyCharacters(const std::vector<std::vector<int>>& views, const std::vector<In<uint64_t>>& hashes)
      : views_(checked(views, int(hashes.size()))), reported_(views.size(), 0), table_(views, dictionaries_of(hashes)),
        inner_(views.size()) {}
  nb::object unknown(In<uint32_t> given) {
    const std::vector<uint32_t> codes = checked(given);
    return calls_.run([&] { return to_numpy(table_.unknown(codes.data(), codes.size())); });
  }
  void learn(In<uint32_t> given, In<uint8_t> kinds) {
    const std::vector<uint32_t> codes = checked(given);
    require(codes.size() == kinds.shape(0), "one kind per code point");
    require(within(kinds.data(), kinds.shape(0), CharacterTable::kRegional + 1), "a kind is out of range");
    calls_.run([&] {
      for (size_t i = 0; i < codes.size(); ++i) table_.learn(codes[i], kinds(i));
    });
  }
  nb::tuple split(In<uint32_t> given) {
    const std::vector<uint32_t> codes = checked(given);
    std::vector<int64_t> fresh = calls_.run([&] {
      require(table_.unknown(codes.data(), codes.size()).empty(), "a code point without a kind");
      nb::gil_scoped_release release;
      return table_.split(codes.data(), codes.size());
    });
    return nb::make_tuple(to_numpy(std::vector<int64_t>(table_.starts())),
                          to_numpy(std::vector<int64_t>(table_.ends())), to_numpy(std::vector<uint8_t>(table_.gaps())),
                          to_numpy(std::move(fresh)));
  }
  void define(const std::vector<nb::bytes>& symbols, const std::vector<nb::bytes>& kinds,
              const std::vector<nb::bytes>& classes, In<uint8_t> alphanumeric, In<uint8_t> plain) {
    require(symbols.size() == kinds.size() && symbols.size() == classes.size() &&
                symbols.size() == alphanumeric.shape(0) && symbols.size() == plain.shape(0) &&
                symbols.size() == table_.characters() - table_.defined(),
            "one symbol, kind and class per new character");
    calls_.run([&] {
      for (size_t i = 0; i < symbols.size(); ++i)
        table_.define(view(symbols[i]), view(kinds[i]), view(classes[i]), alphanumeric(i) != 0, plain(i) != 0);
    });
  }
  // Type ids (views, rows) of the text that was split last.
  nb::object number() {
    require(table_.characters() == table_.defined(), "a character that is not defined");
    std::vector<int32_t> types(views_.size() * table_.rows());
    calls_.run([&] {
      nb::gil_scoped_release release;
      table_.number(types.data());
    });
    return to_numpy(std::move(types), {views_.size(), table_.rows()});
  }
  // Labels of the rows of the text that was split last, -1 where the model leaves them to the caller.
  nb::object labels(const PyChunkModel& model) {
    require(table_.characters() == table_.defined(), "a character that is not defined");
    require(model.fits(), "a model that has other templates");
    std::vector<int32_t> found(table_.rows());
    calls_.run([&] {
      nb::gil_scoped_release release;
      if (memory_of_ != &model.model()) memory_ = {};
      memory_of_ = &model.model();
      model.model().label(table_, memory_, found.data());
    });
    return to_numpy(std::move(found));
  }
  // Per column of a view, its values for the types that were numbered since the last call, in order.
  nb::list new_values(size_t view) {
    require(view < views_.size(), "view out of range");
    const OneAtATime::Turn turn(calls_);
    const CharacterTable::View seen = table_.view(view);
    const size_t end = table_.types(seen);
    nb::list found;
    for (int column : views_[view]) {
      nb::list values;
      for (size_t type = reported_[view]; type < end; ++type) {
        const std::string value = table_.value(seen, size_t(column), type);
        values.append(nb::bytes(value.data(), value.size()));
      }
      found.append(values);
    }
    reported_[view] = end;
    return found;
  }
  // Per column of a view, hashes of attributes of its values for the types that were numbered since the last
  // call: (attributes, types).
  nb::list new_hashes(size_t view, const std::vector<std::vector<PyAttributeUse>>& attributes,
                      const nb::callable& describe, const nb::callable& spell) {
    require(view < views_.size(), "view out of range");
    require(attributes.size() == views_[view].size(), "a list of attributes per column of the view");
    const OneAtATime::Turn turn(calls_);
    const size_t begin = reported_[view], end = table_.types(table_.view(view));
    inner_[view].resize(attributes.size());
    WordReader reader(process_characters(), describe, spell);
    nb::list found;
    for (size_t i = 0; i < attributes.size(); ++i) {
      const size_t column = size_t(views_[view][i]);
      const std::vector<AttributeUse> uses = uses_of(attributes[i]);
      std::vector<uint64_t> hashes(uses.size() * (end - begin));
      if (CharacterTable::has_inner_values(column))
        hash_inner_values(table_.view(view), column, inner_[view][i], uses, reader, begin, end, hashes.data());
      else
        hash_values(table_.view(view), column, uses, reader, begin, end, hashes.data());
      found.append(to_numpy(std::move(hashes), {uses.size(), end - begin}));
    }
    reported_[view] = end;
    return found;
  }
  size_t nbytes() const {
    size_t total = table_.bytes() + memory_.bytes();
    for (const std::vector<InnerHashes>& columns : inner_)
      for (const InnerHashes& inner : columns)
        for (const std::vector<uint64_t>& hashes : inner.hashes) total += bytes_held(hashes);
    return total;
  }

 private:
  std::vector<std::vector<int>> views_;  // columns of each
  std::vector<size_t> reported_;
  CharacterTable table_;
  struct InnerHashes {
    size_t values = 0;
    std::vector<std::vector<uint64_t>> hashes;  // per attribute and value
  };
  std::vector<std::vector<InnerHashes>> inner_;  // per view and column
  const ChunkModel* memory_of_ = nullptr;
  ChunkModel::Memory memory_;
  OneAtATime calls_;

  static const std::vector<std::vector<int>>& checked(const std::vector<std::vector<int>>& views, int dictionaries) {
    const int end = CharacterTable::kColumns + CharacterTable::kWordColumns * dictionaries;
    for (const std::vector<int>& columns : views) {
      require(!columns.empty(), "a view without columns");
      for (int c : columns) require(c >= 0 && c < end, "views names a column out of range");
    }
    const CharacterTable::View all = CharacterTable::kViews + dictionaries;
    for (CharacterTable::View view : CharacterTable::views_of(views, all))
      require(view != all, "no view is left that has all columns of one asked for");
    return views;
  }
  static std::vector<Dictionary> dictionaries_of(const std::vector<In<uint64_t>>& hashes) {
    std::vector<Dictionary> found;
    for (const In<uint64_t>& each : hashes) found.emplace_back(each.data(), each.shape(0));
    return found;
  }
  // Hashes for the types [begin, end) of a column with few values: of each value once.
  void hash_inner_values(CharacterTable::View view, size_t column, InnerHashes& inner,
                         const std::vector<AttributeUse>& uses, WordReader& reader, size_t begin, size_t end,
                         uint64_t* out) {
    const size_t known = inner.values, values = table_.inner_values(column);
    Words read;
    for (size_t value = known; value < values; ++value) reader.read(table_.inner_value(column, value), read);
    nb::gil_scoped_release release;
    inner.hashes.resize(uses.size());
    const Attributes made(process_characters(), read);
    for (size_t a = 0; a < uses.size(); ++a) {
      inner.hashes[a].resize(values);
      made.hash(uses[a], inner.hashes[a].data() + known);
      for (size_t type = begin; type < end; ++type) *out++ = inner.hashes[a][table_.inner_number(view, column, type)];
    }
    inner.values = values;  // once all have hashes
  }
  // The same for a column whose values are as many as the types.
  void hash_values(CharacterTable::View view, size_t column, const std::vector<AttributeUse>& uses, WordReader& reader,
                   size_t begin, size_t end, uint64_t* out) {
    const size_t n = end - begin;
    std::vector<uint64_t> plain(n);
    std::vector<size_t> left;  // types whose values must be read
    {
      nb::gil_scoped_release release;
      const bool as_it_is = std::all_of(uses.begin(), uses.end(), [](const AttributeUse& use) {
        return use.attribute == Attribute::kForm || use.attribute == Attribute::kValue;
      });
      for (size_t i = 0; i < n; ++i) {
        bool is_plain = as_it_is;
        plain[i] = as_it_is ? table_.hash(view, column, begin + i, &is_plain) : 0;
        if (!is_plain) left.push_back(i);
      }
      const uint64_t empty = BytesHash().value();
      for (size_t a = 0; a < uses.size(); ++a)
        for (size_t i = 0; i < n; ++i)
          out[a * n + i] = plain[i] == empty && uses[a].attribute == Attribute::kValue ? 0 : plain[i];
    }
    Words read;
    for (size_t i : left) reader.read(table_.value(view, column, begin + i), read);
    nb::gil_scoped_release release;
    const Attributes made(process_characters(), read);
    std::vector<uint64_t> hashes(left.size());
    for (size_t a = 0; a < uses.size(); ++a) {
      made.hash(uses[a], hashes.data());
      for (size_t i = 0; i < left.size(); ++i) out[a * n + left[i]] = hashes[i];
    }
  }

  static std::vector<uint32_t> checked(const In<uint32_t>& given) {
    std::vector<uint32_t> codes = copied(given);
    uint32_t most = 0;
    for (uint32_t code : codes) most = std::max(most, code);
    require(most < CharacterTable::kCodes, "a code point is out of range");
    return codes;
  }
};

}  // namespace

void bind_text(nb::module_& m) {
  nb::class_<PyScannedRows>(m, "ScannedRows")
      .def_prop_ro("types", &PyScannedRows::types)
      .def_prop_ro("sentence_ptr", &PyScannedRows::sentence_ptr)
      .def("splice", &PyScannedRows::splice, nb::arg("labels"))
      .def("words", &PyScannedRows::words, nb::arg("with_lines"));
  nb::class_<PyScanner>(m, "Scanner")
      .def(nb::init<int, const std::string&, int, bool, std::vector<int>, std::vector<int>>(), nb::arg("columns"),
           nb::arg("separator"), nb::arg("id_column"), nb::arg("comments"), nb::arg("read"), nb::arg("write"))
      .def("scan", &PyScanner::scan, nb::arg("text"), nb::arg("file_start"))
      .def("new_values", &PyScanner::new_values, nb::arg("column"));
  nb::class_<PyWordRows>(m, "WordRows")
      .def_prop_ro("types", &PyWordRows::types)
      .def_prop_ro("sentence_ptr", &PyWordRows::sentence_ptr)
      .def("lines", &PyWordRows::lines, nb::arg("labels"), nb::arg("field"), nb::arg("word"), nb::arg("sentence"),
           nb::arg("before").none())
      .def("json", &PyWordRows::json, nb::arg("keys"), nb::arg("labels"), nb::arg("before"))
      .def("conllu", &PyWordRows::conllu, nb::arg("columns"), nb::arg("labels"), nb::arg("numbers").none(),
           nb::arg("opens"), nb::arg("before"));
  nb::class_<PyWordScanner>(m, "WordScanner")
      .def(nb::init<>())
      .def("scan_lines", &PyWordScanner::scan_lines, nb::arg("text"))
      .def("scan_tokens", &PyWordScanner::scan_tokens, nb::arg("text"), nb::arg("starts"), nb::arg("ends"),
           nb::arg("sentence_ends"), nb::arg("ranges"), nb::arg("word_ptr"), nb::arg("words"))
      .def("new_values", &PyWordScanner::new_values);
  m.def("json_sentences", &json_sentences, nb::arg("text"), nb::arg("conllu"), nb::arg("columns"), nb::arg("letters"),
        nb::arg("units"));
  nb::class_<PyTokenNumbers>(m, "TokenNumbers")
      .def(nb::init<>())
      .def("number", &PyTokenNumbers::number, nb::arg("codes"), nb::arg("starts"), nb::arg("ends"))
      .def_prop_ro("nbytes", &PyTokenNumbers::nbytes);
  nb::class_<PyChunkModel>(m, "ChunkModel")
      .def(
          nb::init<const PyKeyPlan&, const PyRows&, int, const std::vector<int>&, const std::vector<PyAttributeUse>&>(),
          nb::arg("plan"), nb::arg("rows"), nb::arg("labels"), nb::arg("columns"), nb::arg("attributes"))
      .def_prop_ro("fits", &PyChunkModel::fits);
  nb::class_<PyCharacters>(m, "Characters")
      .def(nb::init<const std::vector<std::vector<int>>&, const std::vector<In<uint64_t>>&>(), nb::arg("views"),
           nb::arg("hashes"))
      .def("unknown", &PyCharacters::unknown, nb::arg("codes"))
      .def("learn", &PyCharacters::learn, nb::arg("codes"), nb::arg("kinds"))
      .def("split", &PyCharacters::split, nb::arg("codes"))
      .def("define", &PyCharacters::define, nb::arg("symbols"), nb::arg("kinds"), nb::arg("classes"),
           nb::arg("alphanumeric"), nb::arg("plain"))
      .def("number", &PyCharacters::number)
      .def("labels", &PyCharacters::labels, nb::arg("model"), nb::keep_alive<1, 2>())
      .def_prop_ro("nbytes", &PyCharacters::nbytes)
      .def("new_values", &PyCharacters::new_values, nb::arg("view"))
      .def("new_hashes", &PyCharacters::new_hashes, nb::arg("view"), nb::arg("attributes"), nb::arg("describe"),
           nb::arg("spell"));
}

}  // namespace seqtag
