// Decoding with a trained model, for one width of vectors.
#include <algorithm>
#include <mutex>

#include "engines.h"
#include "limits.h"
#include "n_best.h"
#include "quantized_model.h"

namespace seqtag {
namespace {

template <class Sum> class QuantizedTagger final : public Tagger {
 public:
  QuantizedTagger(const TaggerArrays& m, ChainWeights<float> chain, TrigramWeights<float> trigram)
      : model_(m.plan, m.edge_plan, QuantizedRows(m.emission, QuantizedModel<Sum>::labels_added_to(m)),
               QuantizedRows(m.edge), std::move(chain), std::move(trigram), m.parts,
               TagDictionary{m.known_attribute, QuantizedRows(m.known)},
               LabelsByTags{m.tags_plan, QuantizedRows(m.by_tags)}, m.order) {}

  std::unique_ptr<Workspace> workspace() const override { return std::make_unique<Space>(model_.workspace()); }

  void decode(const EncodedSentences& x, const Allowed& allowed, Workspace& space, int32_t* out_labels) const override {
    if (!allowed.ptr) return model_.decode(x.columns, x.sentence_ptr, x.count, memory(space), out_labels);
    Viterbi<float> first;
    SecondOrderViterbi<float> second;
    visit(x, allowed, space, [&](size_t begin, size_t T, float* emission, const Edges<float>* edges) {
      if (model_.order() == 2)
        second.run(emission, T, model_.chain(), model_.trigram(), edges, nullptr, out_labels + begin);
      else
        first.run(emission, T, model_.chain(), model_.order() > 0, edges, nullptr, out_labels + begin);
    });
  }

  void margins(const EncodedSentences& x, const Allowed& allowed, Workspace& space, const int32_t* groups,
               int32_t* out_labels, double* out_margins, int32_t* out_rivals) const override {
    MaxMarginals found;
    visit(x, allowed, space, [&](size_t begin, size_t T, float* emission, const Edges<float>* edges) {
      found.run(emission, T, model_.chain(), model_.trigram(), mirrored(), model_.order(), edges);
      std::copy(found.labels.begin(), found.labels.end(), out_labels + begin);
      margins_of(found, T, model_.chain().labels, model_.chain().stride, groups, out_margins + begin,
                 out_rivals + begin);
    });
  }

  void n_best(const EncodedSentences& x, const Allowed& allowed, Workspace& space, size_t n,
              std::vector<int64_t>& out_ptr, std::vector<double>& out_scores,
              std::vector<int32_t>& out_labels) const override {
    MaxMarginals found;
    NBest search;
    out_ptr.assign(1, 0);
    visit(x, allowed, space, [&](size_t, size_t T, float* emission, const Edges<float>* edges) {
      found.run(emission, T, model_.chain(), model_.trigram(), mirrored(), model_.order(), edges);
      search.run(found, emission, T, model_.chain(), model_.trigram(), model_.order(), edges, n, out_scores,
                 out_labels);
      out_ptr.push_back(int64_t(out_scores.size()));
    });
  }

 private:
  using Memory = typename QuantizedModel<Sum>::Workspace;
  struct Space final : Workspace {
    Memory memory;
    explicit Space(Memory&& made) : memory(std::move(made)) {}
    size_t bytes() const override { return memory.bytes(); }
  };
  static Memory& memory(Workspace& space) { return static_cast<Space&>(space).memory; }

  QuantizedModel<Sum> model_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<Mirrored> mirrored_;  // made when it is first asked for

  const Mirrored& mirrored() const {
    std::call_once(once_,
                   [&] { mirrored_ = std::make_unique<Mirrored>(model_.chain(), model_.trigram(), model_.order()); });
    return *mirrored_;
  }
  // Calls search(first token, T, emission, edges) for each sentence.
  void visit(const EncodedSentences& x, const Allowed& allowed, Workspace& space,
             const std::function<void(size_t, size_t, float*, const Edges<float>*)>& search) const {
    model_.visit(x.columns, x.sentence_ptr, x.count, memory(space),
                 [&](size_t s, size_t T, float* emission, const Edges<float>* edges) {
                   const size_t begin = size_t(x.sentence_ptr[s]);
                   restrict(allowed, begin, T, model_.chain(), emission);
                   search(begin, T, emission, edges);
                 });
  }
};

}  // namespace

std::unique_ptr<Tagger> make_tagger(const TaggerArrays& m) {
  auto chain = chain_of(m.labels, m.order, m.start, m.stop, m.transition);
  auto trigram = m.order < 2 ? TrigramWeights<float>()
                             : trigrams_of(m.labels, m.trigram.keys, m.trigram.rows, m.trigram.row_ptr,
                                           m.trigram.labels, m.trigram.weights, chain);
  if (int64_t(m.plan.templates) <= kNarrowRows)
    return std::make_unique<QuantizedTagger<int16_t>>(m, std::move(chain), std::move(trigram));
  return std::make_unique<QuantizedTagger<int32_t>>(m, std::move(chain), std::move(trigram));
}

void set_secret(uint64_t addend, uint64_t factor) { process_secret() = {addend, factor | 1}; }

}  // namespace seqtag
