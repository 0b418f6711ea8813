// Features of a corpus. engine/keys.py: index_features(), drop_features().
#include <algorithm>
#include <utility>

#include "bind_model.h"
#include "dropout.h"
#include "index.h"
#include "large.h"
#include "phrases.h"

namespace seqtag {
namespace {

// What `work` makes of an indexer, without Python's lock.
template <class Work>
auto indexed(const PyKeyPlan& plan, const In2<int32_t>& types, const In2<uint64_t>& hashes,
             const In<int64_t>& sentence_ptr, Work work) {
  const CheckedPlan checked(plan);
  const CheckedColumns x(types, hashes, sentence_ptr);
  x.check(checked);
  const Plan templates = checked.plan();
  nb::gil_scoped_release release;
  return work(FeatureIndexer(templates, x.columns(), x.sentence_ptr(), x.sentences()));
}

// (keys of the rows, token_ptr, features)
nb::tuple index_features(const PyKeyPlan& plan, In2<int32_t> types, In2<uint64_t> hashes, In<int64_t> sentence_ptr,
                         int64_t min_count) {
  const auto work = [&](FeatureIndexer indexer) { return indexer.index(min_count); };
  FeatureIndex found = indexed(plan, types, hashes, sentence_ptr, work);
  return nb::make_tuple(to_numpy(std::move(found.keys)), to_numpy(std::move(found.token_ptr)),
                        to_numpy(std::move(found.features)));
}

// The same with local rows: (keys of the rows, runs, rows by place, stored numbers)
nb::tuple index_by_place(const PyKeyPlan& plan, In2<int32_t> types, In2<uint64_t> hashes, In<int64_t> sentence_ptr,
                         int64_t min_count) {
  const auto work = [&](FeatureIndexer indexer) { return indexer.index_by_place(min_count); };
  LocalFeatureIndex found = indexed(plan, types, hashes, sentence_ptr, work);
  give_back_memory();
  const size_t runs = found.runs.size() / 4;
  return nb::make_tuple(to_numpy(std::move(found.keys)), to_numpy(std::move(found.runs), {runs, 4}),
                        to_numpy(std::move(found.rows)), to_numpy(std::move(found.numbers)));
}

// A corpus without some of its features, drawn at random: (token_ptr, features).
nb::tuple py_drop_features(In<int64_t> token_ptr, In<int32_t> features, In<double> shares, nb::object random) {
  using namespace nb::literals;
  require(ascending(token_ptr, features.shape(0)), "token_ptr must ascend from 0 to the number of features");
  const size_t rows = shares.shape(0);
  const auto is_share = [](double share) { return share >= 0 && share <= 1; };
  require(rows > 0 && std::all_of(shares.data(), shares.data() + rows, is_share), "shares must be 0 to 1");
  const auto has_share = [rows](int32_t row) { return row >= 0 && size_t(row) < rows; };
  require(rows == 1 || std::all_of(features.data(), features.data() + features.shape(0), has_share),
          "each row must have a share, or there must be one for all");
  const nb::object twister = random.attr("get_state")("legacy"_a = false)["state"];
  const auto words = nb::cast<In<uint32_t>>(twister["key"]);
  const auto used = nb::cast<size_t>(twister["pos"]);
  require(words.shape(0) == MersenneTwister::kWords && used <= MersenneTwister::kWords,
          "random must be a RandomState of a Mersenne twister");
  TokenFeatures kept;
  {
    nb::gil_scoped_release release;
    kept = drop_features(token_ptr.data(), token_ptr.shape(0) - 1, features.data(), shares.data(), rows,
                         MersenneTwister(words.data(), used));
  }
  return nb::make_tuple(to_numpy(std::move(kept.token_ptr)), to_numpy(std::move(kept.features)));
}

// keys.py: PhraseMatcher
PhraseMatcher phrase_matcher(const In<uint64_t>& chains, const In<int32_t>& numbers) {
  const size_t count = chains.shape(0);
  require(count < size_t(kMaxRows) && numbers.shape(0) == count, "one number for each of 2147483646 chains at most");
  for (size_t i = 1; i < count; ++i) require(chains(i) > chains(i - 1), "chains must ascend");
  const auto is_number = [](int32_t number) { return number >= -1 && number < kMaxRows / PhraseMatcher::kPlaces; };
  require(std::all_of(numbers.data(), numbers.data() + count, is_number), "a number of a phrase is out of range");
  return {chains.data(), numbers.data(), count};
}

// Places of tokens in phrases: (tokens,). With Python's lock, so that no other thread changes the arrays.
nb::object match_phrases(const PhraseMatcher& phrases, In<int32_t> types, In<uint64_t> hashes, In<int64_t> sentence_ptr,
                         int32_t absent) {
  const size_t tokens = types.shape(0);
  require(within(types.data(), tokens, int64_t(hashes.shape(0))), "types holds an id out of range");
  require(ascending(sentence_ptr, tokens), "sentence_ptr must ascend from 0 to the number of tokens");
  std::vector<int32_t> places(tokens);
  for (size_t s = 0; s + 1 < sentence_ptr.shape(0); ++s)
    phrases.match(types.data(), hashes.data(), sentence_ptr(s), sentence_ptr(s + 1), absent, places.data());
  return to_numpy(std::move(places));
}

}  // namespace

void bind_features(nb::module_& m) {
  using namespace nb::literals;
  m.def("index_features", &index_features, "plan"_a, "types"_a, "hashes"_a, "sentence_ptr"_a, "min_count"_a);
  m.def("index_by_place", &index_by_place, "plan"_a, "types"_a, "hashes"_a, "sentence_ptr"_a, "min_count"_a);
  m.def("drop_features", &py_drop_features, "token_ptr"_a, "features"_a, "shares"_a, "random"_a);
  nb::class_<PhraseMatcher>(m, "PhraseMatcher")
      .def(nb::new_(&phrase_matcher), "chains"_a, "numbers"_a)
      .def("match", &match_phrases, "types"_a, "hashes"_a, "sentence_ptr"_a, "absent"_a);
}

}  // namespace seqtag
