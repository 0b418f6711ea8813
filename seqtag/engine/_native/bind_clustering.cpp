// Word bigrams and exchange clustering; tests/oracle/clustering.py derives the objective.
#include "bind.h"
#include "clustering.h"

namespace seqtag {
namespace {

using PyBigrams = std::tuple<In<int64_t>, In<int32_t>, In<int32_t>>;

struct PyBigramCounter {
  BigramCounter counter;
  OneAtATime calls;
};
struct PyExchangeClustering {
  ExchangeClustering exchange;
  OneAtATime calls;
};

void add_bigrams(PyBigramCounter& self, In<int32_t> given_words, In<int64_t> given_ptr) {
  const std::vector<int32_t> words = copied(given_words);
  const std::vector<int64_t> sentence_ptr = copied(given_ptr);
  bool fits = true;
  for (int32_t word : words) fits = fits && word >= 1;
  require(fits, "words must be at least 1");
  require(ascending(sentence_ptr, words.size()), "sentence_ptr must ascend from 0 to the number of tokens");
  const size_t sentences = sentence_ptr.size() - 1;
  int64_t more = int64_t(words.size());
  for (size_t s = 0; s < sentences; ++s) more += sentence_ptr[s] < sentence_ptr[s + 1];
  self.calls.run([&] {
    require(self.counter.has_room(more), "more than 2**31 - 1 bigrams");
    nb::gil_scoped_release release;
    self.counter.add(words.data(), sentence_ptr.data(), sentences);
  });
}

nb::object counts_of(PyBigramCounter& self, size_t words) {
  require(words <= size_t(self.counter.total()) + 1, "words must be at most one more than the bigrams counted");
  return self.calls.run([&] { return to_numpy(self.counter.counts(words)); });
}

nb::object table_of_bigrams(PyBigramCounter& self, In<int32_t> given) {
  const std::vector<int32_t> numbers = copied(given);
  int32_t size = 0;
  bool fits = true;
  for (int32_t number : numbers) {
    fits = fits && number >= 0 && number < std::numeric_limits<int32_t>::max();
    if (fits && number >= size) size = number + 1;
  }
  BigramTable table = self.calls.run([&] {
    require(int64_t(numbers.size()) > self.counter.last(), "numbers must hold one number per word");
    require(fits, "numbers must be at least 0");
    nb::gil_scoped_release release;
    return self.counter.table(numbers.data(), size_t(size));
  });
  return record("Bigrams", to_numpy(std::move(table.ptr)), to_numpy(std::move(table.after)),
                to_numpy(std::move(table.counts)));
}

ExchangeClustering make_clustering(const PyBigrams& bigrams, In<int32_t> classes, int open) {
  const auto& [ptr, after, counts] = bigrams;
  const size_t words = classes.shape(0);
  require(ptr.shape(0) == words + 1 && ascending(ptr, after.shape(0)) && counts.shape(0) == after.shape(0),
          "ptr must ascend from 0 to the number of bigrams, one step per word");
  require(within(after.data(), after.shape(0), int64_t(words)), "after holds a word out of range");
  int64_t total = 0;
  bool fits = true;
  for (size_t i = 0; i < counts.shape(0); ++i) {
    fits = fits && counts(i) >= 1;
    total += counts(i);
  }
  require(fits && total <= BigramCounter::kMost, "counts must be at least 1, and 2**31 - 1 in all");
  require(open >= 0 && open <= kMaxClasses && within(classes.data(), words, kMaxClasses), "classes are 4096 at most");
  std::vector<int64_t> balance(words, 0);
  for (size_t v = 0; v < words; ++v)
    for (int64_t i = ptr(v); i < ptr(v + 1); ++i) {
      balance[v] += counts(size_t(i));
      balance[size_t(after(size_t(i)))] -= counts(size_t(i));
    }
  for (int64_t difference : balance)
    require(difference == 0, "each word must be as often the first as the second of a pair");
  return ExchangeClustering({{ptr.data(), ptr.data() + ptr.shape(0)},
                             {after.data(), after.data() + after.shape(0)},
                             {counts.data(), counts.data() + counts.shape(0)}},
                            {classes.data(), classes.data() + words}, open);
}

int64_t visit_words(PyExchangeClustering& self, int64_t first, int64_t last) {
  require(0 <= first && first <= last && last <= int64_t(self.exchange.words()), "words out of range");
  require(self.exchange.open() > 0 || first == last, "no class takes words");
  return self.calls.run([&] {
    nb::gil_scoped_release release;
    return self.exchange.visit(size_t(first), size_t(last));
  });
}

nb::object entropies_of(In<int32_t> n) {
  const Entropies entropy;
  std::vector<int64_t> found;
  for (size_t i = 0; i < n.shape(0); ++i) found.push_back(entropy(uint32_t(n(i))));
  return to_numpy(std::move(found));
}

}  // namespace

void bind_clustering(nb::module_& m) {
  nb::class_<PyBigramCounter>(m, "BigramCounter")
      .def(nb::init<>())
      .def("add", &add_bigrams, nb::arg("words"), nb::arg("sentence_ptr"))
      .def_prop_ro("total", [](const PyBigramCounter& self) { return self.counter.total(); })
      .def("counts", &counts_of, nb::arg("words"))
      .def("table", &table_of_bigrams, nb::arg("numbers"));
  nb::class_<PyExchangeClustering>(m, "ExchangeClustering")
      .def(
          "__init__",
          [](PyExchangeClustering* self, const PyBigrams& bigrams, In<int32_t> classes, int open) {
            new (self) PyExchangeClustering{make_clustering(bigrams, classes, open), {}};
          },
          nb::arg("bigrams"), nb::arg("classes"), nb::arg("open"))
      .def_prop_ro("classes",
                   [](PyExchangeClustering& self) {
                     return self.calls.run([&] { return to_numpy(std::vector<int32_t>(self.exchange.classes())); });
                   })
      .def("objective",
           [](PyExchangeClustering& self) { return self.calls.run([&] { return self.exchange.objective(); }); })
      .def("visit", &visit_words, nb::arg("first"), nb::arg("last"));
  m.def("entropies", &entropies_of, nb::arg("n"));
}

}  // namespace seqtag
