// Examples of one token whose rows are as short as one vector, with order 0: what classifiers of few
// classes train on. Scored four at a time, and changed a row at a time; the numbers are the same.
#pragma once
#include <algorithm>
#include <vector>

#include "instances.h"
#include "weights.h"

namespace seqtag {

// As Weights::Sentences, for Weights over DenseRows of order 0 without parts.
template <class Weights> class SingleTokens {
  using Scratch = typename Weights::Scratch;
  using Real = typename Weights::Number;

 public:
  static bool possible(const Instances<Real>& x, int stride) {
    if (!x.values || x.set_of || stride != lanes<Real>) return false;
    for (size_t s = 0; s < x.sentences; ++s)
      if (x.sentence_ptr[s + 1] - x.sentence_ptr[s] != 1) return false;
    return true;
  }

  SingleTokens(Weights& weights, const Instances<Real>& x, const int64_t* visits, size_t count)
      : weights_(weights), x_(x), visits_(visits), count_(count), scores_(4 * lanes<Real>), distinct_(true) {
    for (size_t s = 0; distinct_ && s < (x.dense ? 1 : x.sentences); ++s)
      for (int64_t k = x.token_ptr[s] + 1; k < x.token_ptr[s + 1]; ++k) distinct_ &= x.features[k] > x.features[k - 1];
  }

  void score(size_t k, int64_t first, size_t T, Scratch& space) {
    if (k >= end_) {
      if (k + 4 > count_) return weights_.emissions(x_, first, T, space);
      sum_rows_of_four(k);
      begin_ = k;
      end_ = k + 4;
    }
    const Real* scores = &scores_[(k - begin_) * lanes<Real>];
    space.potentials.assign(scores, scores + lanes<Real>);
  }

  void learn(size_t k, int64_t first, size_t T, const int32_t* gold, const int32_t* y_hat, const Scratch& space,
             const Step<Real>& rate) {
    if (distinct_ && rate.rule == Rule::perceptron && weights_.emission.pair == 1)
      move_rows(first, gold[0], y_hat[0], rate);
    else
      weights_.update(x_, first, T, gold, y_hat, space, rate);
    end_ = k + 1;  // scores taken before are stale
  }

 private:
  Weights& weights_;
  const Instances<Real>& x_;
  const int64_t* visits_;
  size_t count_;
  std::vector<Real> scores_;  // of the examples at the places begin_ ... end_ among the visits
  size_t begin_ = 0, end_ = 0;
  bool distinct_;  // no token has a row twice

  struct Token {
    const int32_t* row;
    const Real* value;
    int64_t count;
  };
  Token token(int64_t n) const {
    const int64_t from = x_.token_ptr[n];
    return {x_.features + (x_.dense ? 0 : from), x_.values + from, x_.token_ptr[n + 1] - from};
  }

  // Of four tokens side by side: each sum waits for its last addition, four do not.
  void sum_rows_of_four(size_t k) {
    const Real* weight = weights_.emission.w.get();
    const int32_t* place = weights_.emission.place.data();
    Token x[4];
    for (size_t i = 0; i < 4; ++i) x[i] = token(x_.sentence_ptr[visits_[k + i]]);
    auto term = [&](const Token& of, int64_t i) {
      return load(weight + size_t(place[of.row[i]]) * lanes<Real>) * splat(of.value[i]);
    };
    Vector<Real> a{}, b{}, c{}, d{};
    const int64_t shared = std::min(std::min(x[0].count, x[1].count), std::min(x[2].count, x[3].count));
    for (int64_t i = 0; i < shared; ++i) {
      a = a + term(x[0], i);
      b = b + term(x[1], i);
      c = c + term(x[2], i);
      d = d + term(x[3], i);
    }
    for (int64_t i = shared; i < x[0].count; ++i) a = a + term(x[0], i);
    for (int64_t i = shared; i < x[1].count; ++i) b = b + term(x[1], i);
    for (int64_t i = shared; i < x[2].count; ++i) c = c + term(x[2], i);
    for (int64_t i = shared; i < x[3].count; ++i) d = d + term(x[3], i);
    store(&scores_[0], a);
    store(&scores_[1 * lanes<Real>], b);
    store(&scores_[2 * lanes<Real>], c);
    store(&scores_[3 * lanes<Real>], d);
  }

  // Every cell that differs occurs once, so nothing is collected: complete rows are updated.
  void move_rows(int64_t n, int32_t up, int32_t down, const Step<Real>& rate) {
    const Token x = token(n);
    Real sign[lanes<Real>] = {};
    sign[up] = 1;
    sign[down] = -1;
    const Vector<Real> signs = load(sign), seen = splat(rate.seen);
    for (int64_t i = 0; i < x.count; ++i) {
      const size_t place = size_t(weights_.emission.own_place(x.row[i])) * lanes<Real>;
      Real *w = &weights_.emission.w[place], *u = &weights_.emission.u[place];
      Vector<Real> now = load(w), sum = load(u);
      Step<Real>::move(now, sum, Vector<Real>(signs * splat(rate.size * x.value[i])), seen);
      store(w, now);
      store(u, sum);
    }
  }
};

}  // namespace seqtag
