// Text in tokens, as scanner.py of seqtag.corpus sees it. interface.py: TokenScanner.
#pragma once
#include <string_view>

#include "bind.h"
#include "tokens.h"

namespace seqtag {

class PyTokenScanner {
 public:
  // Type ids (words,) and sentence_ptr.
  nb::tuple scan(nb::bytes text, bool file_start) {
    {
      nb::gil_scoped_release release;
      scanner_.scan(text.c_str(), text.size(), file_start);
    }
    return nb::make_tuple(to_numpy(std::vector<int32_t>(scanner_.types())),
                          to_numpy(std::vector<int64_t>(scanner_.sentence_ptr())));
  }
  // Tokens that were numbered since the last call, in order.
  nb::list new_values() {
    nb::list values;
    for (; reported_ < scanner_.interner().size(); ++reported_) {
      const std::string_view v = scanner_.interner().value(reported_);
      values.append(nb::bytes(v.data(), v.size()));
    }
    return values;
  }

 private:
  size_t reported_ = 0;
  TokenScanner scanner_;
};

inline void bind_tokens(nb::module_& m) {
  nb::class_<PyTokenScanner>(m, "TokenScanner")
      .def(nb::init<>())
      .def("scan", &PyTokenScanner::scan, nb::arg("text"), nb::arg("file_start"))
      .def("new_values", &PyTokenScanner::new_values);
}

}  // namespace seqtag
