// Weights in training, as native.py sees them. native.py: Weights.
#pragma once
#include <algorithm>
#include <chrono>
#include <functional>
#include <new>
#include <stdexcept>
#include <utility>
#include <variant>

#include "bind.h"
#include "dropout.h"
#include "state.h"
#include "train.h"

namespace seqtag {

inline Rule rule_of(const std::string& name) {
  if (name == "perceptron") return Rule::perceptron;
  if (name == "pa") return Rule::passive_aggressive;
  require(name == "adaptive", "rule must be perceptron, pa or adaptive");
  return Rule::adaptive;
}

// Asks Python from time to time. arrays.py: Pause.
inline std::function<bool()> paused_by(nb::object asked, double seconds) {
  using Clock = std::chrono::steady_clock;
  return [asked = std::move(asked), seconds, last = Clock::now()]() mutable {
    if (std::chrono::duration<double>(Clock::now() - last).count() < seconds) return false;
    nb::gil_scoped_acquire acquire;
    const bool paused = nb::cast<bool>(asked());
    last = Clock::now();
    return paused;
  };
}

template <class Real> class PyWeights {
 public:
  PyWeights(int64_t rows, int labels, int order, int64_t edges, const PyParts& parts, bool adaptive, bool sparse)
      : rows_(size_t(rows)), edges_(size_t(edges)), labels_(labels) {
    require(rows >= 0 && rows <= kMaxRows && edges >= 0 && edges <= kMaxRows, "rows and edges must be 0 to 2147483647");
    require(labels > 0, "labels must be at least 1");
    require(order >= 0 && order <= 2, "order must be 0, 1 or 2");
    require(order < 1 || labels <= kMaxBigramLabels, "first order is for 46339 labels at most");
    require(order < 2 || labels <= kMaxTrigramLabels, "second order is for 255 labels at most");
    require(edges == 0 || labels <= kMaxTrigramLabels, "label bigrams that see words are for 255 labels at most");
    const Parts p = parts_of(labels, parts);
    try {
      if (sparse)
        weights_.template emplace<Sparse>(rows_, labels, order, edges_, p, adaptive);
      else
        weights_.template emplace<Dense>(rows_, labels, order, edges_, p, adaptive);
    } catch (const std::length_error&) {  // more than any vector holds
      throw std::bad_alloc();
    }
  }

  using MaybeValues = std::optional<In<Real>>;
  using MaybeEdgePtr = std::optional<In<int64_t>>;
  using MaybeEdges = std::optional<In<int32_t>>;

  // (updates, wrong tokens), and if recorded: positions of the mistakes, what was decoded there
  nb::tuple train_epoch(In<int64_t> sentence_ptr, In<int64_t> token_ptr, In<int32_t> features, MaybeValues values,
                        MaybeEdgePtr edge_ptr, MaybeEdges edges, In<int32_t> y, In<int64_t> visits,
                        const std::string& rule, Real step, Real margin, std::optional<In2<Real>> cost,
                        bool ties_are_mistakes, bool record, std::optional<In2<uint8_t>> choices, nb::object asked,
                        double ask_every, MaybeEdgePtr bundle_ptr, MaybeEdges bundles) {
    const auto x = instances(sentence_ptr, token_ptr, features, values, edge_ptr, edges, bundle_ptr, bundles);
    require(y.shape(0) + 1 == token_ptr.shape(0), "y must hold one label per token");
    const size_t K = size_t(labels_), several = choices ? choices->shape(0) : 0;
    bool fine = choices || within(y.data(), y.shape(0), labels_);
    for (size_t n = 0; choices && n < y.shape(0); ++n) fine &= y(n) >= -int64_t(several) && y(n) < labels_;
    require(fine, "y holds a label id out of range");
    if (choices) {
      require(choices->shape(1) == K, "choices must be (C, K), with a label in every row");
      for (size_t c = 0; c < several; ++c)
        require(
            std::any_of(choices->data() + c * K, choices->data() + (c + 1) * K, [](uint8_t valid) { return valid; }),
            "choices must be (C, K), with a label in every row");
    }
    require(within(visits.data(), visits.shape(0), int64_t(x.sentences)), "visits holds a sentence out of range");
    if (cost) require(cost->shape(0) == K && cost->shape(1) == K, "cost must be a number or (K, K)");
    const Rule r = rule_of(rule);
    require(r != Rule::adaptive || visit([](auto& w) { return w.adaptive; }),
            "these weights were made without room for the adaptive rule");
    const Lesson<Real> lesson{y.data(),
                              visits.data(),
                              visits.shape(0),
                              r,
                              step,
                              margin,
                              cost ? cost->data() : nullptr,
                              ties_are_mistakes,
                              choices ? choices->data() : nullptr,
                              several,
                              asked.is_none() ? nullptr : paused_by(asked, ask_every)};
    EpochCounts counts;
    Mistakes mistakes;
    {
      nb::gil_scoped_release release;
      counts = visit([&](auto& w) { return w.train_epoch(x, lesson, record ? &mistakes : nullptr); });
    }
    if (!record) return nb::make_tuple(counts.updates, counts.wrong_tokens);
    return nb::make_tuple(counts.updates, counts.wrong_tokens, to_numpy(std::move(mistakes.position)),
                          to_numpy(std::move(mistakes.y_hat)));
  }

  nb::object decode(In<int64_t> sentence_ptr, In<int64_t> token_ptr, In<int32_t> features, MaybeValues values,
                    MaybeEdgePtr edge_ptr, MaybeEdges edges, MaybeEdgePtr bundle_ptr, MaybeEdges bundles) {
    const auto x = instances(sentence_ptr, token_ptr, features, values, edge_ptr, edges, bundle_ptr, bundles);
    std::vector<int32_t> labels(token_ptr.shape(0) - 1);
    {
      nb::gil_scoped_release release;
      visit([&](auto& w) { w.decode_all(x, labels.data()); });
    }
    return to_numpy(std::move(labels));
  }

  // arrays.py: Cells, flat.
  nb::tuple cells(bool average) {
    State<Real> state = gather([average](const auto& w) {
      return
          [average, seen = w.seen](const Cell<Real>& c) { return average ? averaged(c, seen) : Cell<Real>{c.w, 0, 0}; };
    });
    nb::list out;
    for (auto* rows : {&state.emission, &state.edge, &state.trigram}) {
      out.append(to_numpy(std::move(rows->ptr)));
      out.append(to_numpy(std::move(rows->column)));
      out.append(field(rows->cell, &Cell<Real>::w));
      std::vector<Cell<Real>>().swap(rows->cell);
    }
    out.append(field(state.chain, &Cell<Real>::w));
    return nb::tuple(out);
  }

  // arrays.py: State, as tuples.
  nb::tuple state() {
    const State<Real> state = gather([](const auto&) { return [](const Cell<Real>& c) { return c; }; });
    using C = Cell<Real>;
    auto rows = [](const CellRows<Real>& r) {
      return nb::make_tuple(to_numpy(std::vector<int64_t>(r.ptr)), to_numpy(std::vector<int32_t>(r.column)),
                            field(r.cell, &C::w), field(r.cell, &C::u), field(r.cell, &C::g));
    };
    std::vector<Real> chain;
    for (auto part : {&C::w, &C::u, &C::g})
      for (const C& cell : state.chain) chain.push_back(cell.*part);
    return nb::make_tuple(rows(state.emission), rows(state.edge), rows(state.trigram),
                          to_numpy(std::move(chain), {3, state.chain.size()}), state.seen);
  }

  void restore(const PyCells<Real>& emission, const PyCells<Real>& edge, const PyCells<Real>& trigram, In2<Real> chain,
               int64_t seen) {
    require(seen >= 0, "seen must be at least 0");
    visit([&](auto& weights) {
      const size_t K = size_t(labels_), n = weights.chain_cells.size();
      State<Real> state;
      state.emission = cell_rows(emission, rows_, weights.emission.labels);
      state.edge = cell_rows(edge, edges_, weights.edge.labels);
      state.trigram = cell_rows(trigram, weights.trigram_cells.size() / K, labels_);
      require(chain.shape(0) == 3 && chain.shape(1) == n, "the state is of other labels or another order");
      for (size_t i = 0; i < n; ++i) state.chain.push_back({chain(0, i), chain(1, i), chain(2, i)});
      state.seen = seen;
      seqtag::restore(weights, state);
    });
  }

  int64_t seen() {
    return visit([](auto& w) { return w.seen; });
  }

 private:
  using Dense = Weights<Real, DenseRows<Real>>;
  using Sparse = Weights<Real, SparseRows<Real>>;
  size_t rows_, edges_;
  int labels_;
  std::variant<std::monostate, Dense, Sparse> weights_;

  static CellRows<Real> cell_rows(const PyCells<Real>& cells, size_t rows, int width) {
    const auto& [ptr, column, w, u, g] = cells;
    const size_t n = column.shape(0);
    require(ptr.shape(0) == rows + 1, "the state is of other rows");
    require(ascending(ptr, n), "the state's ptr must ascend from 0 to the number of cells");
    require(w.shape(0) == n && u.shape(0) == n && g.shape(0) == n, "the state's w, u and g must be as long as column");
    require(within(column.data(), n, width) && ascending_within(ptr, column),
            "the state's columns must ascend within a row and be in range");
    CellRows<Real> out{{ptr.data(), ptr.data() + rows + 1}, {column.data(), column.data() + n}, {}};
    for (size_t i = 0; i < n; ++i) out.cell.push_back({w(i), u(i), g(i)});
    return out;
  }
  static nb::object field(const std::vector<Cell<Real>>& cells, Real Cell<Real>::* part) {
    std::vector<Real> out;
    out.reserve(cells.size());
    for (const Cell<Real>& c : cells) out.push_back(c.*part);
    return to_numpy(std::move(out));
  }
  template <class ValueOf> State<Real> gather(ValueOf value_of) {
    nb::gil_scoped_release release;
    return visit([&](auto& w) { return state_of(w, rows_, edges_, value_of(w)); });
  }

  template <class Work> auto visit(Work work) {
    if (auto* dense = std::get_if<Dense>(&weights_)) return work(*dense);
    return work(std::get<Sparse>(weights_));
  }

  Instances<Real> instances(const In<int64_t>& sentence_ptr, const In<int64_t>& token_ptr, const In<int32_t>& features,
                            const MaybeValues& values, const MaybeEdgePtr& edge_ptr, const MaybeEdges& edges,
                            const MaybeEdgePtr& bundle_ptr, const MaybeEdges& bundles) const {
    require(token_ptr.shape(0) > 0 && ascending(sentence_ptr, token_ptr.shape(0) - 1),
            "sentence_ptr must ascend from 0 to the number of tokens");
    const size_t width = features.shape(0), tokens = token_ptr.shape(0) - 1;
    bool dense = tokens > 1 && values && width > 0 && values->shape(0) == tokens * width;
    for (size_t n = 0; dense && n < tokens; ++n) dense = token_ptr(n + 1) - token_ptr(n) == int64_t(width);
    require(dense || ascending(token_ptr, width), "token_ptr must ascend from 0 to the number of features");
    require(token_ptr(0) == 0, "token_ptr must ascend from 0 to the number of features");
    require(bundle_ptr.has_value() == bundles.has_value(), "bundle_ptr and bundles go together");
    if (bundle_ptr) {
      require(!values, "bundles are of features without values");
      require(ascending(*bundle_ptr, bundles->shape(0)), "bundle_ptr must ascend from 0 to the number of rows bundled");
      require(within(bundles->data(), bundles->shape(0), int64_t(rows_)), "bundles holds a row out of range");
      const int64_t most = int64_t(bundle_ptr->shape(0)) - 1;
      bool fine = true;
      for (size_t k = 0; k < width; ++k) fine &= features(k) >= -most && features(k) < int64_t(rows_);
      require(fine, "features holds a row out of range");
    } else {
      require(within(features.data(), width, int64_t(rows_)), "features holds a row out of range");
    }
    require(dense || !values || values->shape(0) == features.shape(0), "values must be as long as features");
    require(edge_ptr.has_value() == edges.has_value(), "edge_ptr and edges go together");
    if (edge_ptr) {
      require(edge_ptr->shape(0) == token_ptr.shape(0) && ascending(*edge_ptr, edges->shape(0)),
              "edge_ptr must ascend from 0 to the number of edges");
      require(within(edges->data(), edges->shape(0), int64_t(edges_)), "edges holds a row out of range");
    }
    return {sentence_ptr.data(),
            token_ptr.data(),
            features.data(),
            values ? values->data() : nullptr,
            edge_ptr ? edge_ptr->data() : nullptr,
            edges ? edges->data() : nullptr,
            sentence_ptr.shape(0) - 1,
            dense,
            bundle_ptr ? bundle_ptr->data() : nullptr,
            bundles ? bundles->data() : nullptr};
  }
};

// (token_ptr, features) without some; state and used are those of the random numbers.
inline nb::tuple py_drop_features(In<int64_t> token_ptr, In<int32_t> features, In<double> shares, In<uint32_t> state,
                                  size_t used) {
  require(ascending(token_ptr, features.shape(0)), "token_ptr must ascend from 0 to the number of features");
  const size_t rows = shares.shape(0);
  const auto is_share = [](double share) { return share >= 0 && share <= 1; };
  require(rows > 0 && std::all_of(shares.data(), shares.data() + rows, is_share), "shares must be 0 to 1");
  const auto has_share = [rows](int32_t row) { return row >= 0 && size_t(row) < rows; };
  require(rows == 1 || std::all_of(features.data(), features.data() + features.shape(0), has_share),
          "each row must have a share, or there must be one for all");
  require(state.shape(0) == MersenneTwister::kWords && used <= MersenneTwister::kWords,
          "state must be the 624 words of a Mersenne twister, used at most so many");
  TokenFeatures kept;
  {
    nb::gil_scoped_release release;
    kept = drop_features(token_ptr.data(), token_ptr.shape(0) - 1, features.data(), shares.data(), rows,
                         MersenneTwister(state.data(), used));
  }
  return nb::make_tuple(to_numpy(std::move(kept.token_ptr)), to_numpy(std::move(kept.features)));
}

inline void bind_dropout(nb::module_& m) {
  m.def("drop_features", &py_drop_features, nb::arg("token_ptr"), nb::arg("features"), nb::arg("shares"),
        nb::arg("state"), nb::arg("used"));
}

template <class Real> void bind_weights(nb::module_& m, const char* name) {
  using W = PyWeights<Real>;
  nb::class_<W>(m, name)
      .def(nb::init<int64_t, int, int, int64_t, const PyParts&, bool, bool>(), nb::arg("rows"), nb::arg("labels"),
           nb::arg("order"), nb::arg("edges"), nb::arg("parts").none(), nb::arg("adaptive"), nb::arg("sparse"))
      .def("train_epoch", &W::train_epoch, nb::arg("sentence_ptr"), nb::arg("token_ptr"), nb::arg("features"),
           nb::arg("values").none(), nb::arg("edge_ptr").none(), nb::arg("edges").none(), nb::arg("y"),
           nb::arg("visits"), nb::arg("rule"), nb::arg("step"), nb::arg("margin"), nb::arg("cost").none(),
           nb::arg("ties_are_mistakes"), nb::arg("record"), nb::arg("choices").none(), nb::arg("asked").none(),
           nb::arg("ask_every"), nb::arg("bundle_ptr").none(), nb::arg("bundles").none())
      .def("decode", &W::decode, nb::arg("sentence_ptr"), nb::arg("token_ptr"), nb::arg("features"),
           nb::arg("values").none(), nb::arg("edge_ptr").none(), nb::arg("edges").none(), nb::arg("bundle_ptr").none(),
           nb::arg("bundles").none())
      .def("cells", &W::cells, nb::arg("average"))
      .def("state", &W::state)
      .def("restore", &W::restore, nb::arg("emission"), nb::arg("edge"), nb::arg("trigram"), nb::arg("chain"),
           nb::arg("seen"))
      .def_prop_ro("seen", &W::seen);
}

}  // namespace seqtag
