// Sentences of raw text, as segmentation/writing.py writes them. interface.py: write_sentences.
#pragma once
#include "bind.h"
#include "sentences.h"

namespace seqtag {

// CoNLL-U of each sentence, or None where it is left to Python.
inline nb::list write_sentences(nb::bytes text, In<int64_t> starts, In<int64_t> ends, In<int64_t> sentence_ends,
                                In<bool> plain, In<int64_t> ranges, In<int64_t> word_ptr,
                                const std::vector<nb::bytes>& words, int64_t number) {
  const size_t tokens = starts.shape(0), sentences = sentence_ends.shape(0);
  require(ends.shape(0) == tokens && plain.shape(0) == sentences, "one end per token, one flag per sentence");
  int64_t at = 0;
  for (size_t t = 0; t < tokens; ++t) {
    require(at <= starts(t) && starts(t) < ends(t), "tokens must ascend, and none is empty");
    at = ends(t);
  }
  require(at <= int64_t(text.size()), "a token ends behind the text");
  at = 0;
  for (size_t s = 0; s < sentences; ++s) {
    require(at < sentence_ends(s), "sentence_ends must ascend, and no sentence is empty");
    at = sentence_ends(s);
  }
  require(at == int64_t(tokens), "the last sentence must end with the last token");
  require(word_ptr.shape(0) == ranges.shape(0) + 1 && ascending(word_ptr, words.size()),
          "word_ptr must ascend from 0 to the number of words, one step per range");
  for (size_t i = 0; i + 1 < ranges.shape(0); ++i) require(ranges(i) < ranges(i + 1), "ranges must ascend");
  Ranges several{ranges.data(), ranges.shape(0), word_ptr.data(), {}};
  for (const nb::bytes& word : words) several.words.emplace_back(word.c_str(), word.size());
  const SentenceWriter writer(text.c_str(), text.size(), several);
  std::vector<std::string> written(sentences);
  {
    nb::gil_scoped_release release;
    for (size_t s = 0; s < sentences; ++s) {
      const size_t first = s ? size_t(sentence_ends(s - 1)) : 0, last = size_t(sentence_ends(s));
      const size_t next = last < tokens ? size_t(starts(last)) : writer.size();
      if (plain(s)) written[s] = writer.write(starts.data(), ends.data(), first, last, next, number + int64_t(s));
    }
  }
  nb::list found;
  for (const std::string& each : written)
    found.append(each.empty() ? nb::none() : nb::object(nb::str(each.data(), each.size())));
  return found;
}

inline void bind_sentences(nb::module_& m) {
  m.def("write_sentences", &write_sentences, nb::arg("text"), nb::arg("starts"), nb::arg("ends"),
        nb::arg("sentence_ends"), nb::arg("plain"), nb::arg("ranges"), nb::arg("word_ptr"), nb::arg("words"),
        nb::arg("number"));
}

}  // namespace seqtag
