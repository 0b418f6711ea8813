// Feature keys and decoding. engine/keys.py: index_features(); engine/frozen.py: Decoder.
#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <variant>

#include "bind_model.h"
#include "index.h"
#include "n_best.h"
#include "quantized_model.h"

namespace seqtag {
namespace {

// Encoded sentences. What indexes is copied; hashes are only looked up.
class CheckedColumns {
 public:
  CheckedColumns(const In2<int32_t>& types, const In2<uint64_t>& hashes, const In<int64_t>& sentence_ptr)
      : rows_(types.shape(0)), attributes_(hashes.shape(0)), types_(copied(types)), sentence_ptr_(copied(sentence_ptr)),
        columns_{types_.data(), hashes.data(), types.shape(1), hashes.shape(1)} {}
  CheckedColumns(const CheckedColumns&) = delete;

  void check(const CheckedPlan& plan) const {
    const size_t attributes = plan.attribute_column.size();
    require(attributes_ == attributes, "hashes must hold one row per attribute");
    require(columns_.tokens <= size_t(kMaxRows), "types must hold 2147483647 tokens at most");
    require(within(plan.attribute_column.data(), attributes, int64_t(rows_)), "unknown column");
    require(attributes == 0 || within(types_.data(), types_.size(), int64_t(columns_.capacity)),
            "types holds an id out of range");
    require(ascending(sentence_ptr_, columns_.tokens), "sentence_ptr must ascend from 0 to the number of tokens");
  }
  const Columns& columns() const { return columns_; }
  const int64_t* sentence_ptr() const { return sentence_ptr_.data(); }
  size_t sentences() const { return sentence_ptr_.size() - 1; }

 private:
  size_t rows_, attributes_;
  std::vector<int32_t> types_;
  std::vector<int64_t> sentence_ptr_;
  Columns columns_;
};

FeatureIndex indexed(const PyKeyPlan& plan, const In2<int32_t>& types, const In2<uint64_t>& hashes,
                     const In<int64_t>& sentence_ptr, int64_t min_count, bool bundled) {
  const CheckedPlan checked(plan);
  const CheckedColumns x(types, hashes, sentence_ptr);
  x.check(checked);
  const Plan templates = checked.plan();
  nb::gil_scoped_release release;
  return FeatureIndexer(templates, x.columns(), x.sentence_ptr(), x.sentences()).index(min_count, bundled);
}

// (keys of the rows, token_ptr, features)
nb::tuple index_features(const PyKeyPlan& plan, In2<int32_t> types, In2<uint64_t> hashes, In<int64_t> sentence_ptr,
                         int64_t min_count) {
  FeatureIndex found = indexed(plan, types, hashes, sentence_ptr, min_count, false);
  return nb::make_tuple(to_numpy(std::move(found.keys)), to_numpy(std::move(found.token_ptr)),
                        to_numpy(std::move(found.features)));
}

// The same with bundles: (keys of the rows, token_ptr, features, bundle_ptr, bundles)
nb::tuple bundle_features(const PyKeyPlan& plan, In2<int32_t> types, In2<uint64_t> hashes, In<int64_t> sentence_ptr,
                          int64_t min_count) {
  FeatureIndex found = indexed(plan, types, hashes, sentence_ptr, min_count, true);
  return nb::make_tuple(to_numpy(std::move(found.keys)), to_numpy(std::move(found.token_ptr)),
                        to_numpy(std::move(found.features)), to_numpy(std::move(found.bundle_ptr)),
                        to_numpy(std::move(found.bundles)));
}

class PyDecoder {
 public:
  PyDecoder(int order, const PyKeyPlan& plan, const PyKeyPlan& edge_plan, const PyQuantizedWeights& weights,
            const PyComponents& parts, const std::optional<PyTagDictionary>& known,
            const std::optional<PyLabelsByTags>& by_tags)
      : plan_(plan), edge_plan_(edge_plan) {
    const auto& [emission, edge, trigram, start, stop, transition, unit] = weights;
    static const int64_t no_rows = 0;
    const PyTagDictionary none_known{-1, In<uint64_t>(nullptr, {0}), In<int64_t>(&no_rows, {1}),
                                     In<uint16_t>(nullptr, {0})};
    const auto& [known_attribute, known_keys, known_ptr, known_labels] = known ? *known : none_known;
    require(start.shape(0) <= size_t(kMaxLabels), "labels must be 1 to 65535");
    const int labels = int(start.shape(0));
    require(labels > 0, "labels must be 1 to 65535");
    labels_ = labels;
    require(order >= 0 && order <= 2, "order must be 0, 1 or 2");
    require(order < 2 || labels <= kMaxTrigramLabels, "second order is for 255 labels at most");
    require(std::get<0>(edge).shape(0) == 0 || labels <= kMaxTrigramLabels,
            "label bigrams that see words are for 255 labels at most");
    LabelComponents label_parts = parts_of(labels, parts);
    check_rows(emission, label_parts.any() ? label_parts.count : labels);
    check_rows(edge, int64_t(labels) * labels);
    check_rows(trigram, labels);
    const std::vector<int8_t> none(known_labels.shape(0), 0);
    check_rows({known_keys, known_ptr, known_labels, In<int8_t>(none.data(), {none.size()})}, labels);
    LabelsByTags seen_with_tags{{}, {nullptr, 0, &no_rows, nullptr, nullptr}};
    require(known_attribute >= -1 && known_attribute < int(plan_.attribute_column.size()), "unknown attribute");
    if (by_tags) {
      const auto& [tags_plan, tag_keys, tag_ptr, tag_labels] = *by_tags;
      tags_plan_ = std::make_unique<CheckedPlan>(tags_plan);
      const std::vector<int8_t> zeros(tag_labels.shape(0), 0);
      const PyRows rows{tag_keys, tag_ptr, tag_labels, In<int8_t>(zeros.data(), {zeros.size()})};
      check_rows(rows, labels);
      const size_t templates = tags_plan_->seed.size();
      require(templates == 1 || templates == 2 || tag_keys.shape(0) == 0, "labels by tags need one or two templates");
      if (tag_keys.shape(0)) seen_with_tags = {tags_plan_->plan(), rows_of(rows)};
    }
    const size_t K = size_t(labels), N = order ? K : transition.shape(0) ? K : 0;
    require(start.shape(0) == K && stop.shape(0) == K && transition.shape(0) == N && transition.shape(1) == N,
            "start, stop and transition must be (K,), (K,) and (K, K)");
    const int64_t templates = int64_t(plan_.seed.size()), bigrams = int64_t(edge_plan_.seed.size());
    require(std::max(templates * label_parts.most(), bigrams) * kMaxWeight <= kExactFloat,
            "more rows can meet than 24 bits can sum");
    const auto& [trigram_keys, trigram_ptr, trigram_labels, trigram_weights] = trigram;
    const size_t trigrams = trigram_keys.shape(0);
    require(order < 2 || trigrams == 0 || trigram_keys(trigrams - 1) <= uint64_t(K + 1) * K,
            "a trigram is out of range");
    auto chain = chain_of(labels, order, start.data(), stop.data(), transition.data());
    auto second = order < 2 ? TrigramWeights<float>()
                            : trigrams_of(labels, trigram_keys.data(), trigrams, trigram_ptr.data(),
                                          trigram_labels.data(), trigram_weights.data(), chain);
    TagDictionary words{known_attribute, QuantizedRows(known_keys.data(), known_keys.shape(0), known_ptr.data(),
                                                       known_labels.data(), none.data())};
    auto emission_rows = rows_of(emission), edge_rows = rows_of(edge);
    auto make = [&](auto& frozen) {
      using F = std::decay_t<decltype(*frozen)>;
      frozen = std::make_unique<F>(plan_.plan(), edge_plan_.plan(), std::move(emission_rows), std::move(edge_rows),
                                   std::move(chain), std::move(second), std::move(label_parts), std::move(words),
                                   std::move(seen_with_tags), order);
    };
    if (templates <= kNarrowRows)
      make(narrow_);
    else
      make(wide_);
  }

  class Workspace {
   public:
    template <class Space> Workspace(uint64_t owner, Space&& space) : owner_(owner), space_(std::move(space)) {}
    size_t bytes() const {
      return std::visit([](const auto& each) { return each.bytes(); }, space_);
    }
    // Calls work(space) with memory that no other call has meanwhile, nor any after one that failed.
    template <class Sum, class Work> void use(uint64_t owner, Work work) {
      require(owner_ != kInUse, "the workspace belongs to another call, or to one that failed");
      require(owner_ == owner, "the workspace belongs to another model");
      owner_ = kInUse;
      {
        nb::gil_scoped_release release;
        work(std::get<typename QuantizedModel<Sum>::Workspace>(space_));
      }
      owner_ = owner;
    }

   private:
    static constexpr uint64_t kInUse = 0;
    uint64_t owner_;
    std::variant<QuantizedModel<int16_t>::Workspace, QuantizedModel<int32_t>::Workspace> space_;
  };
  Workspace workspace() const {
    if (narrow_) return {number_, narrow_->workspace()};
    return {number_, wide_->workspace()};
  }

  nb::object decode(In2<int32_t> types, In2<uint64_t> hashes, In<int64_t> sentence_ptr, Workspace& workspace,
                    const PyAllowed& allowed) const {
    const CheckedColumns x(types, hashes, sentence_ptr);
    check(x);
    std::vector<int32_t> labels(types.shape(1));
    if (allowed) {
      Viterbi<float> first;
      SecondOrderViterbi<float> second;
      visit(x, workspace, allowed,
            [&](const auto& model, size_t begin, size_t T, float* emission, const Edges<float>* edges) {
              if (model.order() == 2)
                second.run(emission, T, model.chain(), model.trigram(), edges, nullptr, &labels[begin]);
              else
                first.run(emission, T, model.chain(), model.order() > 0, edges, nullptr, &labels[begin]);
            });
      return to_numpy(std::move(labels));
    }
    use(workspace, [&](const auto& model, auto& space) {
      model.decode(x.columns(), x.sentence_ptr(), x.sentences(), space, labels.data());
    });
    return to_numpy(std::move(labels));
  }

  nb::object margins(In2<int32_t> types, In2<uint64_t> hashes, In<int64_t> sentence_ptr, In<int32_t> groups,
                     Workspace& workspace, const PyAllowed& allowed) const {
    require(groups.shape(0) == size_t(labels_), "groups must hold one number per label");
    const CheckedColumns x(types, hashes, sentence_ptr);
    check(x);
    const size_t N = types.shape(1);
    std::vector<int32_t> labels(N), rivals(N);
    std::vector<double> margins(N);
    MaxMarginals found;
    visit(x, workspace, allowed,
          [&](const auto& model, size_t begin, size_t T, float* emission, const Edges<float>* edges) {
            found.run(emission, T, model.chain(), model.trigram(), mirrored(model), model.order(), edges);
            std::copy(found.labels.begin(), found.labels.end(), labels.begin() + int64_t(begin));
            margins_of(found, T, model.chain().labels, model.chain().stride, groups.data(), margins.data() + begin,
                       rivals.data() + begin);
          });
    return record("Margins", to_numpy(std::move(labels)), to_numpy(std::move(margins)), to_numpy(std::move(rivals)));
  }

  nb::object n_best(In2<int32_t> types, In2<uint64_t> hashes, In<int64_t> sentence_ptr, int64_t n, Workspace& workspace,
                    const PyAllowed& allowed) const {
    require(n >= 1, "n must be at least 1");
    const CheckedColumns x(types, hashes, sentence_ptr);
    check(x);
    std::vector<int64_t> ptr(1, 0);
    std::vector<double> scores;
    std::vector<int32_t> labels;
    MaxMarginals found;
    NBest search;
    visit(x, workspace, allowed, [&](const auto& model, size_t, size_t T, float* emission, const Edges<float>* edges) {
      found.run(emission, T, model.chain(), model.trigram(), mirrored(model), model.order(), edges);
      search.run(found, emission, T, model.chain(), model.trigram(), model.order(), edges, size_t(n), scores, labels);
      ptr.push_back(int64_t(scores.size()));
    });
    return record("Paths", to_numpy(std::move(ptr)), to_numpy(std::move(scores)), to_numpy(std::move(labels)));
  }

 private:
  CheckedPlan plan_, edge_plan_;
  std::unique_ptr<CheckedPlan> tags_plan_;           // of labels by tags, or null
  std::unique_ptr<QuantizedModel<int16_t>> narrow_;  // one of the two
  std::unique_ptr<QuantizedModel<int32_t>> wide_;
  int labels_;
  uint64_t number_ = next_number();  // of all models of the process, from 1 on
  mutable std::once_flag once_;
  mutable std::unique_ptr<Mirrored> mirrored_;  // made when it is first asked for

  static uint64_t next_number() {
    static uint64_t last = 0;  // changed with Python's lock
    return ++last;
  }
  template <class Model> const Mirrored& mirrored(const Model& model) const {
    std::call_once(once_,
                   [&] { mirrored_ = std::make_unique<Mirrored>(model.chain(), model.trigram(), model.order()); });
    return *mirrored_;
  }
  void check(const CheckedColumns& x) const {
    if (!edge_plan_.seed.empty()) x.check(edge_plan_);
    if (tags_plan_) x.check(*tags_plan_);
    x.check(plan_);
  }
  // Calls work(model, memory) without Python's lock.
  template <class Work> void use(Workspace& workspace, Work work) const {
    if (narrow_)
      workspace.use<int16_t>(number_, [&](auto& space) { work(*narrow_, space); });
    else
      workspace.use<int32_t>(number_, [&](auto& space) { work(*wide_, space); });
  }
  // Calls search(model, first token, T, emission, edges) for each sentence, without Python's lock.
  template <class Search>
  void visit(const CheckedColumns& x, Workspace& workspace, const PyAllowed& allowed, Search search) const {
    std::vector<int64_t> allowed_ptr;
    std::vector<int32_t> allowed_labels;
    Allowed may;
    if (allowed) {
      allowed_ptr = copied(std::get<0>(*allowed));
      allowed_labels = copied(std::get<1>(*allowed));
      require(allowed_ptr.size() == x.columns().tokens + 1 && ascending(allowed_ptr, allowed_labels.size()),
              "allowed_ptr must ascend from 0 to the number of labels listed, one step per token");
      require(within(allowed_labels.data(), allowed_labels.size(), labels_), "allowed holds a label id out of range");
      may = {allowed_ptr.data(), allowed_labels.data()};
    }
    const int64_t* ptr = x.sentence_ptr();
    use(workspace, [&](const auto& model, auto& space) {
      model.visit(x.columns(), ptr, x.sentences(), space,
                  [&](size_t s, size_t T, float* emission, const Edges<float>* edges) {
                    may.restrict(size_t(ptr[s]), T, model.chain(), emission);
                    search(model, size_t(ptr[s]), T, emission, edges);
                  });
    });
  }
};

}  // namespace

void bind_decoder(nb::module_& m) {
  using namespace nb::literals;
  m.def("index_features", &index_features, "plan"_a, "types"_a, "hashes"_a, "sentence_ptr"_a, "min_count"_a);
  m.def("bundle_features", &bundle_features, "plan"_a, "types"_a, "hashes"_a, "sentence_ptr"_a, "min_count"_a);
  nb::class_<PyDecoder::Workspace>(m, "Workspace").def_prop_ro("nbytes", &PyDecoder::Workspace::bytes);
  nb::class_<PyDecoder>(m, "Decoder")
      .def(nb::init<int, const PyKeyPlan&, const PyKeyPlan&, const PyQuantizedWeights&, const PyComponents&,
                    const std::optional<PyTagDictionary>&, const std::optional<PyLabelsByTags>&>(),
           "order"_a, "plan"_a, "edge_plan"_a, "weights"_a, "parts"_a = nb::none(), "known"_a = nb::none(),
           "by_tags"_a = nb::none())
      .def("workspace", &PyDecoder::workspace)
      .def("decode", &PyDecoder::decode, "types"_a, "hashes"_a, "sentence_ptr"_a, "workspace"_a,
           "allowed"_a = nb::none())
      .def("margins", &PyDecoder::margins, "types"_a, "hashes"_a, "sentence_ptr"_a, "groups"_a, "workspace"_a,
           "allowed"_a = nb::none())
      .def("n_best", &PyDecoder::n_best, "types"_a, "hashes"_a, "sentence_ptr"_a, "n"_a, "workspace"_a,
           "allowed"_a = nb::none());
}

}  // namespace seqtag
