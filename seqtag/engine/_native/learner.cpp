// Learning, for one width of vectors.
#include "engines.h"
#include "state.h"
#include "train.h"

namespace seqtag {
namespace {

template <class Real, class Rows> class RowsLearner final : public Learner<Real> {
 public:
  explicit RowsLearner(const Shape& s)
      : rows_(s.rows), edges_(s.edges), weights_(s.rows, s.labels, s.order, s.edges, s.parts, s.adaptive) {}

  EpochCounts train_epoch(const Instances<Real>& x, const EpochSettings<Real>& settings,
                          Mistakes* out_mistakes) override {
    return weights_.train_epoch(x, settings, out_mistakes);
  }
  void decode(const Instances<Real>& x, int32_t* out_labels) const override { weights_.decode_all(x, out_labels); }
  CellValues<Real> values(CellPart part) const override {
    const Real seen = Real(std::max<int64_t>(weights_.seen, 1));
    return values_of(weights_, rows_, edges_, [part, seen](const Cell<Real>& c) {
      return part == CellPart::average ? c.w - c.u / seen : part == CellPart::w ? c.w : part == CellPart::u ? c.u : c.g;
    });
  }
  void put(CellPart part, const CellValues<Real>& values) override {
    const auto place = part == CellPart::w ? &Cell<Real>::w : part == CellPart::u ? &Cell<Real>::u : &Cell<Real>::g;
    restore(weights_, place, values);
  }
  void resume(int64_t seen) override {
    weights_.seen = seen;
    weights_.refresh();
  }
  int64_t seen() const override { return weights_.seen; }

 private:
  size_t rows_, edges_;
  Weights<Real, Rows> weights_;
};

}  // namespace

template <class Real> std::unique_ptr<Learner<Real>> make_learner(const Shape& shape) {
  if (shape.sparse) return std::make_unique<RowsLearner<Real, SparseRows<Real>>>(shape);
  return std::make_unique<RowsLearner<Real, DenseRows<Real>>>(shape);
}
template std::unique_ptr<Learner<float>> make_learner(const Shape&);
template std::unique_ptr<Learner<double>> make_learner(const Shape&);

}  // namespace seqtag
