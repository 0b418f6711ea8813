// Text as rows of columns, as characters.py of seqtag.segmentation sees it. interface.py: Characters.
#pragma once
#include <string_view>

#include "bind.h"
#include "characters.h"

namespace seqtag {

class PyCharacters {
 public:
  explicit PyCharacters(std::vector<int> columns) : reported_(columns.size(), 0), table_(columns) {
    for (int c : columns) require(c >= 0 && c < CharacterTable::kColumns, "columns names a column out of range");
  }
  nb::object unknown(In<uint32_t> codes) {
    check(codes);
    return to_numpy(table_.unknown(codes.data(), codes.shape(0)));
  }
  void learn(In<uint32_t> codes, In<uint8_t> kinds) {
    check(codes);
    require(codes.shape(0) == kinds.shape(0), "one kind per code point");
    require(within(kinds.data(), kinds.shape(0), CharacterTable::kRegional + 1), "a kind is out of range");
    for (size_t i = 0; i < codes.shape(0); ++i) table_.learn(codes(i), kinds(i));
  }
  nb::tuple split(In<uint32_t> codes) {
    check(codes);
    require(table_.unknown(codes.data(), codes.shape(0)).empty(), "a code point without a kind");
    std::vector<int64_t> fresh;
    {
      nb::gil_scoped_release release;
      fresh = table_.split(codes.data(), codes.shape(0));
    }
    return nb::make_tuple(to_numpy(std::vector<int64_t>(table_.starts())),
                          to_numpy(std::vector<int64_t>(table_.ends())), to_numpy(std::vector<uint8_t>(table_.gaps())),
                          to_numpy(std::move(fresh)));
  }
  void define(const std::vector<nb::bytes>& symbols, const std::vector<nb::bytes>& kinds,
              const std::vector<nb::bytes>& classes, In<uint8_t> alphanumeric) {
    require(symbols.size() == kinds.size() && symbols.size() == classes.size() &&
                symbols.size() == alphanumeric.shape(0) && symbols.size() == table_.characters() - table_.defined(),
            "one symbol, kind and class per new character");
    for (size_t i = 0; i < symbols.size(); ++i)
      table_.define(view(symbols[i]), view(kinds[i]), view(classes[i]), alphanumeric(i) != 0);
  }
  // Type ids (columns, rows) of the text that was split last.
  nb::object number() {
    require(table_.characters() == table_.defined(), "a character that is not defined");
    std::vector<int32_t> types(table_.columns() * table_.rows());
    {
      nb::gil_scoped_release release;
      table_.number(types.data());
    }
    return to_numpy(std::move(types), {table_.columns(), table_.rows()});
  }
  // Values of a column that were numbered since the last call, in order.
  nb::list new_values(size_t column) {
    require(column < reported_.size(), "column out of range");
    nb::list values;
    for (; reported_[column] < table_.types(column); ++reported_[column]) {
      const std::string value = table_.value(column, reported_[column]);
      values.append(nb::bytes(value.data(), value.size()));
    }
    return values;
  }
  size_t nbytes() const { return table_.bytes(); }

 private:
  std::vector<size_t> reported_;
  CharacterTable table_;

  static std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }
  static void check(const In<uint32_t>& codes) {
    uint32_t most = 0;
    for (size_t i = 0; i < codes.shape(0); ++i) most = std::max(most, codes(i));
    require(most < CharacterTable::kCodes, "a code point is out of range");
  }
};

inline void bind_characters(nb::module_& m) {
  nb::class_<PyCharacters>(m, "Characters")
      .def(nb::init<std::vector<int>>(), nb::arg("columns"))
      .def("unknown", &PyCharacters::unknown, nb::arg("codes"))
      .def("learn", &PyCharacters::learn, nb::arg("codes"), nb::arg("kinds"))
      .def("split", &PyCharacters::split, nb::arg("codes"))
      .def("define", &PyCharacters::define, nb::arg("symbols"), nb::arg("kinds"), nb::arg("classes"),
           nb::arg("alphanumeric"))
      .def("number", &PyCharacters::number)
      .def_prop_ro("nbytes", &PyCharacters::nbytes)
      .def("new_values", &PyCharacters::new_values, nb::arg("column"));
}

}  // namespace seqtag
