// Decoding. engine/frozen.py: Decoder.
#include <algorithm>
#include <memory>
#include <utility>

#include "bind_model.h"
#include "limits.h"

namespace seqtag {
namespace {

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
    const size_t listed = by_tags ? std::get<3>(*by_tags).shape(0) : 0;
    const std::vector<int8_t> zeros(std::max(known_labels.shape(0), listed), 0);  // weights of rows of labels alone
    const PyRows known_rows{known_keys, known_ptr, known_labels, In<int8_t>(zeros.data(), {known_labels.shape(0)})};
    check_rows(known_rows, labels);
    Plan tags{};
    RowArrays seen_with_tags{nullptr, 0, &no_rows, nullptr, nullptr};
    require(known_attribute >= -1 && known_attribute < int(plan_.attribute_column.size()), "unknown attribute");
    if (by_tags) {
      const auto& [tags_plan, tag_keys, tag_ptr, tag_labels] = *by_tags;
      tags_plan_ = std::make_unique<CheckedPlan>(tags_plan);
      const PyRows rows{tag_keys, tag_ptr, tag_labels, In<int8_t>(zeros.data(), {listed})};
      check_rows(rows, labels);
      const size_t templates = tags_plan_->seed.size();
      require(templates == 1 || templates == 2 || tag_keys.shape(0) == 0, "labels by tags need one or two templates");
      if (tag_keys.shape(0)) {
        tags = tags_plan_->plan();
        seen_with_tags = arrays_of(rows);
      }
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
    tagger_ = engines().tagger({labels, order, plan_.plan(), edge_plan_.plan(), tags, arrays_of(emission),
                                arrays_of(edge), arrays_of(trigram), arrays_of(known_rows), seen_with_tags,
                                start.data(), stop.data(), transition.data(), std::move(label_parts), known_attribute});
  }

  class Workspace {
   public:
    Workspace(uint64_t owner, std::unique_ptr<Tagger::Workspace> space) : owner_(owner), space_(std::move(space)) {}
    size_t bytes() const { return space_->bytes(); }
    // Calls work(space) with memory that no other call has meanwhile, nor any after one that failed.
    template <class Work> void use(uint64_t owner, Work work) {
      require(owner_ != kInUse, "the workspace belongs to another call, or to one that failed");
      require(owner_ == owner, "the workspace belongs to another model");
      owner_ = kInUse;
      {
        nb::gil_scoped_release release;
        work(*space_);
      }
      owner_ = owner;
    }

   private:
    static constexpr uint64_t kInUse = 0;
    uint64_t owner_;
    std::unique_ptr<Tagger::Workspace> space_;
  };
  Workspace workspace() const { return {number_, tagger_->workspace()}; }

  nb::object decode(In2<int32_t> types, In2<uint64_t> hashes, In<int64_t> sentence_ptr, Workspace& workspace,
                    const PyAllowed& allowed) const {
    const CheckedColumns x(types, hashes, sentence_ptr);
    const CheckedAllowed may = check(x, allowed);
    std::vector<int32_t> labels(types.shape(1));
    workspace.use(number_, [&](auto& space) { tagger_->decode(x.encoded(), may.view(), space, labels.data()); });
    return to_numpy(std::move(labels));
  }

  nb::object margins(In2<int32_t> types, In2<uint64_t> hashes, In<int64_t> sentence_ptr, In<int32_t> groups,
                     Workspace& workspace, const PyAllowed& allowed) const {
    require(groups.shape(0) == size_t(labels_), "groups must hold one number per label");
    const CheckedColumns x(types, hashes, sentence_ptr);
    const CheckedAllowed may = check(x, allowed);
    const size_t N = types.shape(1);
    std::vector<int32_t> labels(N), rivals(N);
    std::vector<double> margins(N);
    workspace.use(number_, [&](auto& space) {
      tagger_->margins(x.encoded(), may.view(), space, groups.data(), labels.data(), margins.data(), rivals.data());
    });
    return record("Margins", to_numpy(std::move(labels)), to_numpy(std::move(margins)), to_numpy(std::move(rivals)));
  }

  nb::object n_best(In2<int32_t> types, In2<uint64_t> hashes, In<int64_t> sentence_ptr, int64_t n, Workspace& workspace,
                    const PyAllowed& allowed) const {
    require(n >= 1, "n must be at least 1");
    const CheckedColumns x(types, hashes, sentence_ptr);
    const CheckedAllowed may = check(x, allowed);
    std::vector<int64_t> ptr;
    std::vector<double> scores;
    std::vector<int32_t> labels;
    workspace.use(
        number_, [&](auto& space) { tagger_->n_best(x.encoded(), may.view(), space, size_t(n), ptr, scores, labels); });
    return record("Paths", to_numpy(std::move(ptr)), to_numpy(std::move(scores)), to_numpy(std::move(labels)));
  }

 private:
  CheckedPlan plan_, edge_plan_;
  std::unique_ptr<CheckedPlan> tags_plan_;  // of labels by tags, or null
  std::unique_ptr<Tagger> tagger_;
  int labels_;
  uint64_t number_ = next_number();  // of all models of the process, from 1 on

  static uint64_t next_number() {
    static uint64_t last = 0;  // changed with Python's lock
    return ++last;
  }
  struct CheckedAllowed {  // a copy
    std::vector<int64_t> ptr;
    std::vector<int32_t> labels;
    Allowed view() const { return ptr.empty() ? Allowed{} : Allowed{ptr.data(), labels.data()}; }
  };
  CheckedAllowed check(const CheckedColumns& x, const PyAllowed& allowed) const {
    if (!edge_plan_.seed.empty()) x.check(edge_plan_);
    if (tags_plan_) x.check(*tags_plan_);
    x.check(plan_);
    if (!allowed) return {};
    CheckedAllowed may{copied(std::get<0>(*allowed)), copied(std::get<1>(*allowed))};
    require(may.ptr.size() == x.columns().tokens + 1 && ascending(may.ptr, may.labels.size()),
            "allowed_ptr must ascend from 0 to the number of labels listed, one step per token");
    require(within(may.labels.data(), may.labels.size(), labels_), "allowed holds a label id out of range");
    return may;
  }
};

}  // namespace

void bind_decoder(nb::module_& m) {
  using namespace nb::literals;
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
