// Pieces of column files, as scanner.py of seqtag.corpus sees them. interface.py: Scanner.
#pragma once
#include <string_view>

#include "bind.h"
#include "scan.h"

namespace seqtag {

class PyScanner {
 public:
  PyScanner(int columns, const std::string& separator, int id_column, bool comments, std::vector<int> read,
            std::vector<int> write)
      : reported_(read.size(), 0),
        scanner_(columns, separator.empty() ? 0 : separator[0], id_column, comments, read, write),
        written_(write.size()) {
    require(separator.size() == 1, "separator must be one byte");
    require(id_column >= -1 && id_column < columns, "id_column names a column out of range");
    for (int c : read) require(c >= 0 && c < columns, "read names a column out of range");
    for (int c : write) require(c >= -1 && c < columns, "write names a column out of range");
  }
  // Type ids (columns read, words) and sentence_ptr, or None if the text is not plain.
  nb::object scan(nb::bytes text, bool file_start) {
    bool plain;
    {
      nb::gil_scoped_release release;
      plain = scanner_.scan(text.c_str(), text.size(), file_start);
    }
    if (!plain) return nb::none();
    std::vector<int32_t> types;
    types.reserve(reported_.size() * scanner_.words());
    for (size_t c = 0; c < reported_.size(); ++c)
      types.insert(types.end(), scanner_.types(c).begin(), scanner_.types(c).end());
    return nb::make_tuple(to_numpy(std::move(types), {reported_.size(), scanner_.words()}),
                          to_numpy(std::vector<int64_t>(scanner_.sentence_ptr())));
  }
  // Values of a column that were numbered since the last call, in order.
  nb::list new_values(size_t column) {
    require(column < reported_.size(), "column out of range");
    nb::list values;
    const Interner& interner = scanner_.interner(column);
    for (; reported_[column] < interner.size(); ++reported_[column]) {
      const std::string_view v = interner.value(reported_[column]);
      values.append(nb::bytes(v.data(), v.size()));
    }
    return values;
  }
  // The text scanned last with the labels in their places; names: per column written, per label.
  nb::bytes splice(nb::bytes text, const std::vector<In<int32_t>>& labels,
                   const std::vector<std::vector<nb::bytes>>& names) {
    require(text.size() == scanner_.size(), "splice takes the text that was scanned last");
    require(labels.size() == written_ && names.size() == written_, "one array of labels for each column written");
    std::vector<const int32_t*> ids;
    std::vector<std::vector<std::string_view>> views(written_);
    for (size_t w = 0; w < written_; ++w) {
      require(labels[w].shape(0) == scanner_.words(), "one label per word");
      require(within(labels[w].data(), labels[w].shape(0), int64_t(names[w].size())), "a label without a name");
      ids.push_back(labels[w].data());
      for (const nb::bytes& name : names[w]) views[w].emplace_back(name.c_str(), name.size());
    }
    std::string out;
    {
      nb::gil_scoped_release release;
      out = scanner_.splice(text.c_str(), text.size(), ids, views);
    }
    return nb::bytes(out.data(), out.size());
  }

 private:
  std::vector<size_t> reported_;
  Scanner scanner_;
  size_t written_;
};

inline void bind_scanner(nb::module_& m) {
  nb::class_<PyScanner>(m, "Scanner")
      .def(nb::init<int, const std::string&, int, bool, std::vector<int>, std::vector<int>>(), nb::arg("columns"),
           nb::arg("separator"), nb::arg("id_column"), nb::arg("comments"), nb::arg("read"), nb::arg("write"))
      .def("scan", &PyScanner::scan, nb::arg("text"), nb::arg("file_start"))
      .def("new_values", &PyScanner::new_values, nb::arg("column"))
      .def("splice", &PyScanner::splice, nb::arg("text"), nb::arg("labels"), nb::arg("names"));
}

}  // namespace seqtag
