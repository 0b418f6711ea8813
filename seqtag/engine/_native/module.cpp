// Python's door to the kernel: arrays in, arrays out, checked here once, GIL released inside.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <variant>

#include "frozen.h"
#include "keys.h"
#include "scan.h"
#include "train.h"

namespace nb = nanobind;
using namespace seqtag;

namespace {

template <class T> using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T> nb::object to_numpy(std::vector<T>&& values, std::vector<size_t> shape = {}) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  if (shape.empty()) shape = {owned->size()};
  return nb::cast(nb::ndarray<nb::numpy, T>(owned->data(), shape.size(), shape.data(), owner));
}

void require(bool ok, const char* message) {
  if (!ok) throw nb::value_error(message);
}

Rule rule_of(const std::string& name) {
  if (name == "perceptron") return Rule::perceptron;
  if (name == "pa") return Rule::passive_aggressive;
  require(name == "adaptive", "rule must be perceptron, pa or adaptive");
  return Rule::adaptive;
}

bool ascending(const In<int64_t>& ptr, size_t end) {
  const size_t n = ptr.shape(0);
  if (n == 0 || ptr(0) != 0 || size_t(ptr(n - 1)) != end) return false;
  for (size_t i = 1; i < n; ++i)
    if (ptr(i) < ptr(i - 1)) return false;
  return true;
}

template <class Index> bool within(const Index* values, size_t n, int64_t limit) {
  bool ok = true;  // without leaving early, so that several are compared at a time
  for (size_t i = 0; i < n; ++i) ok &= values[i] >= 0 && int64_t(values[i]) < limit;
  return ok;
}

Parts parts_of(int labels, const std::optional<In<int64_t>>& ptr, const std::optional<In<int32_t>>& part, int count) {
  require(ptr.has_value() == part.has_value(), "part_ptr and part go together");
  if (!ptr) return {};
  require(int(ptr->shape(0)) == labels + 1 && ascending(*ptr, part->shape(0)),
          "part_ptr must ascend from 0 to the number of parts listed, one step per label");
  require(within(part->data(), part->shape(0), count), "part holds a part out of range");
  return {{ptr->data(), ptr->data() + ptr->shape(0)}, {part->data(), part->data() + part->shape(0)}, count};
}

// ------------------------------------------------------------------ training
template <class Real> class PyWeights {
 public:
  PyWeights(size_t rows, int labels, int order, size_t edges, std::optional<In<int64_t>> part_ptr,
            std::optional<In<int32_t>> part, int parts, bool adaptive, bool sparse)
      : rows_(rows), edges_(edges), labels_(labels) {
    require(labels > 0, "labels must be at least 1");
    require(order >= 0 && order <= 2, "order must be 0, 1 or 2");
    const Parts p = parts_of(labels, part_ptr, part, parts);
    if (sparse) weights_.template emplace<Sparse>(rows, labels, order, edges, p, adaptive);
    else weights_.template emplace<Dense>(rows, labels, order, edges, p, adaptive);
  }

  using MaybeValues = std::optional<In<Real>>;
  using MaybeEdgePtr = std::optional<In<int64_t>>;
  using MaybeEdges = std::optional<In<int32_t>>;

  // (updates, wrong tokens), and if recorded: positions of the mistakes, what was decoded there
  nb::tuple train_epoch(In<int64_t> sentence_ptr, In<int64_t> token_ptr, In<int32_t> features,
                        MaybeValues values, MaybeEdgePtr edge_ptr, MaybeEdges edges, In<int32_t> y,
                        In<int64_t> order, const std::string& rule, Real step, std::optional<In2<Real>> cost,
                        bool ties_are_mistakes, bool record) {
    const auto x = instances(sentence_ptr, token_ptr, features, values, edge_ptr, edges);
    require(y.shape(0) + 1 == token_ptr.shape(0), "y must hold one label per token");
    require(within(y.data(), y.shape(0), labels_), "y holds a label id out of range");
    require(within(order.data(), order.shape(0), int64_t(x.sentences)), "order holds a sentence out of range");
    if (cost) require(int(cost->shape(0)) == labels_ && int(cost->shape(1)) == labels_, "cost must be (K, K)");
    const Rule r = rule_of(rule);
    const Real* c = cost ? cost->data() : nullptr;
    EpochCounts counts;
    Mistakes mistakes;
    {
      nb::gil_scoped_release release;
      counts = visit([&](auto& w) {
        require(r != Rule::adaptive || w.adaptive, "these weights were made without room for the adaptive rule");
        return w.train_epoch(x, y.data(), order.data(), order.shape(0), r, step, c, ties_are_mistakes,
                             record ? &mistakes : nullptr);
      });
    }
    if (!record) return nb::make_tuple(counts.updates, counts.wrong_tokens);
    return nb::make_tuple(counts.updates, counts.wrong_tokens, to_numpy(std::move(mistakes.position)),
                          to_numpy(std::move(mistakes.y_hat)));
  }

  nb::object decode(In<int64_t> sentence_ptr, In<int64_t> token_ptr, In<int32_t> features, MaybeValues values,
                    MaybeEdgePtr edge_ptr, MaybeEdges edges) {
    const auto x = instances(sentence_ptr, token_ptr, features, values, edge_ptr, edges);
    std::vector<int32_t> labels(token_ptr.shape(0) - 1);
    {
      nb::gil_scoped_release release;
      visit([&](auto& w) { w.decode_all(x, labels.data()); });
    }
    return to_numpy(std::move(labels));
  }

  // (row, label, weight) of every cell that is not zero, then the same of the edges, then the
  // start, stop and transition weights, as they are or averaged.
  nb::tuple cells(bool average) {
    std::vector<int64_t> row_ptr, edge_ptr, trigram_ptr(1, 0);
    std::vector<int32_t> label, edge_label, trigram_label;
    std::vector<Real> weight, edge_weight, trigram_weight, block;
    {
      nb::gil_scoped_release release;
      visit([&](auto& w) {
        const Real count = Real(std::max<int64_t>(w.seen, 1));
        auto value = [&](Real now, Real u) { return average ? now - u / count : now; };
        auto gather = [&](const auto& rows, size_t n, auto& ptr, auto& labels, auto& weights) {
          ptr.assign(n + 1, 0);
          rows.for_each_cell([&](size_t r, int k, Real now, Real u) {
            const Real v = value(now, u);
            if (v == 0) return;
            labels.push_back(k);
            weights.push_back(v);
            ptr[r + 1] = int64_t(labels.size());
          });
          for (size_t r = 0; r < n; ++r) ptr[r + 1] = std::max(ptr[r + 1], ptr[r]);
        };
        gather(w.emission, rows_, row_ptr, label, weight);
        gather(w.edge, edges_, edge_ptr, edge_label, edge_weight);
        for (size_t i = 0; i < w.trigram_cells.size(); ++i) {
          const Real v = value(w.trigram_cells[i].w, w.trigram_cells[i].u);
          if (v != 0) {
            trigram_label.push_back(int32_t(i % size_t(labels_)));
            trigram_weight.push_back(v);
          }
          if ((i + 1) % size_t(labels_) == 0) trigram_ptr.push_back(int64_t(trigram_label.size()));
        }
        for (const auto& c : w.block_cells) block.push_back(value(c.w, c.u));
      });
    }
    return nb::make_tuple(to_numpy(std::move(row_ptr)), to_numpy(std::move(label)), to_numpy(std::move(weight)),
                          to_numpy(std::move(edge_ptr)), to_numpy(std::move(edge_label)),
                          to_numpy(std::move(edge_weight)), to_numpy(std::move(trigram_ptr)),
                          to_numpy(std::move(trigram_label)), to_numpy(std::move(trigram_weight)),
                          to_numpy(std::move(block)));
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

  template <class Work> auto visit(Work work) {
    if (auto* dense = std::get_if<Dense>(&weights_)) return work(*dense);
    return work(std::get<Sparse>(weights_));
  }

  Instances<Real> instances(const In<int64_t>& sentence_ptr, const In<int64_t>& token_ptr, const In<int32_t>& features,
                            const MaybeValues& values, const MaybeEdgePtr& edge_ptr, const MaybeEdges& edges) const {
    require(token_ptr.shape(0) > 0 && ascending(sentence_ptr, token_ptr.shape(0) - 1),
            "sentence_ptr must ascend from 0 to the number of tokens");
    const size_t width = features.shape(0), tokens = token_ptr.shape(0) - 1;
    bool dense = tokens > 1 && values && width > 0 && values->shape(0) == tokens * width;
    for (size_t n = 0; dense && n < tokens; ++n) dense = token_ptr(n + 1) - token_ptr(n) == int64_t(width);
    require(dense || ascending(token_ptr, width), "token_ptr must ascend from 0 to the number of features");
    require(token_ptr(0) == 0, "token_ptr must ascend from 0 to the number of features");
    require(within(features.data(), features.shape(0), int64_t(rows_)), "features holds a row out of range");
    require(dense || !values || values->shape(0) == features.shape(0), "values must be as long as features");
    require(edge_ptr.has_value() == edges.has_value(), "edge_ptr and edges go together");
    if (edge_ptr) {
      require(edge_ptr->shape(0) == token_ptr.shape(0) && ascending(*edge_ptr, edges->shape(0)),
              "edge_ptr must ascend from 0 to the number of edges");
      require(within(edges->data(), edges->shape(0), int64_t(edges_)), "edges holds a row out of range");
    }
    return {sentence_ptr.data(), token_ptr.data(), features.data(), values ? values->data() : nullptr,
            edge_ptr ? edge_ptr->data() : nullptr, edges ? edges->data() : nullptr, sentence_ptr.shape(0) - 1, dense};
  }
};

template <class Real> void bind_weights(nb::module_& m, const char* name) {
  using W = PyWeights<Real>;
  nb::class_<W>(m, name)
      .def(nb::init<size_t, int, int, size_t, std::optional<In<int64_t>>, std::optional<In<int32_t>>, int, bool, bool>(),
           nb::arg("rows"), nb::arg("labels"), nb::arg("order"), nb::arg("edges"), nb::arg("part_ptr").none(),
           nb::arg("part").none(), nb::arg("parts"), nb::arg("adaptive"), nb::arg("sparse"))
      .def("train_epoch", &W::train_epoch, nb::arg("sentence_ptr"), nb::arg("token_ptr"), nb::arg("features"),
           nb::arg("values").none(), nb::arg("edge_ptr").none(), nb::arg("edges").none(), nb::arg("y"),
           nb::arg("order"), nb::arg("rule"), nb::arg("step"), nb::arg("cost").none(), nb::arg("ties_are_mistakes"),
           nb::arg("record") = false)
      .def("decode", &W::decode, nb::arg("sentence_ptr"), nb::arg("token_ptr"), nb::arg("features"),
           nb::arg("values").none(), nb::arg("edge_ptr").none(), nb::arg("edges").none())
      .def("cells", &W::cells, nb::arg("average"))
      .def_prop_ro("seen", &W::seen);
}

// ------------------------------------------------------------------ keys
struct PyPlan {  // owns the arrays of a Plan
  In<int64_t> term_ptr;
  In<int32_t> term_attribute, term_offset, attribute_column;
  In<uint64_t> seed, multiplier;

  PyPlan(In<int64_t> term_ptr, In<int32_t> term_attribute, In<int32_t> term_offset, In<uint64_t> seed,
         In<uint64_t> multiplier, In<int32_t> attribute_column)
      : term_ptr(term_ptr), term_attribute(term_attribute), term_offset(term_offset),
        attribute_column(attribute_column), seed(seed), multiplier(multiplier) {
    const size_t terms = term_attribute.shape(0);
    require(ascending(term_ptr, terms) && term_offset.shape(0) == terms, "term arrays do not fit together");
    require(seed.shape(0) + 1 == term_ptr.shape(0), "one seed per template");
    require(within(term_attribute.data(), terms, int64_t(attribute_column.shape(0))), "unknown attribute");
    for (size_t k = 0; k + 1 < term_ptr.shape(0); ++k)
      require(size_t(term_ptr(k + 1) - term_ptr(k)) <= multiplier.shape(0), "conjunction too long");
  }
  Plan plan() const {
    return {seed.shape(0), term_ptr.data(), term_attribute.data(), term_offset.data(),
            seed.data(), multiplier.data(), attribute_column.data()};
  }
};

Columns columns_of(const PyPlan& plan, const In2<int32_t>& types, const In2<uint64_t>& hashes,
                   const In<int64_t>& sentence_ptr) {
  const size_t attributes = plan.attribute_column.shape(0);
  require(hashes.shape(0) == attributes, "hashes must hold one row per attribute");
  require(within(plan.attribute_column.data(), attributes, int64_t(types.shape(0))), "unknown column");
  require(attributes == 0 || within(types.data(), types.shape(0) * types.shape(1), int64_t(hashes.shape(1))),
          "types holds an id out of range");
  require(ascending(sentence_ptr, types.shape(1)), "sentence_ptr must ascend from 0 to the number of tokens");
  return {types.data(), hashes.data(), types.shape(1), hashes.shape(1)};
}

nb::object hash_strings(nb::bytes blob, In<int64_t> offsets) {
  require(ascending(offsets, blob.size()), "offsets must ascend from 0 to the length of blob");
  std::vector<uint64_t> hashes(offsets.shape(0) - 1);
  for (size_t i = 0; i < hashes.size(); ++i)
    hashes[i] = hash_bytes(blob.c_str() + offsets(i), size_t(offsets(i + 1) - offsets(i)));
  return to_numpy(std::move(hashes));
}

// Rows by order of first appearance, rare keys left out: (keys, token_ptr, features).
nb::tuple index_features(const PyPlan& py_plan, In2<int32_t> types, In2<uint64_t> hashes, In<int64_t> sentence_ptr,
                         int64_t min_count) {
  const Plan plan = py_plan.plan();
  const Columns x = columns_of(py_plan, types, hashes, sentence_ptr);
  std::vector<uint64_t> kept;
  std::vector<int64_t> token_ptr;
  std::vector<int32_t> features;
  {
    nb::gil_scoped_release release;
    constexpr int32_t kAbsent = -1, kUnknown = -2;
    KeyNumbers table;
    std::vector<uint64_t> keys;
    std::vector<int32_t> count, ids;
    auto number = [&](uint64_t key) {
      if (key == 0) return kAbsent;
      const int32_t row = table.number(key);
      if (size_t(row) == count.size()) count.push_back(0);
      return row;
    };
    const size_t F = plan.templates, most = x.capacity + 2;
    std::vector<char> local(F);  // these are looked up once per type
    for (size_t k = 0; k < F; ++k) local[k] = is_local(plan, k);
    std::vector<int32_t> row_of(types.shape(0) * most * F, kUnknown);  // (columns, types, templates)
    ids.resize(x.tokens * F);
    int32_t* id = ids.data();
    for (size_t s = 0; s + 1 < sentence_ptr.shape(0); ++s) {
      const int64_t begin = sentence_ptr(s), end = sentence_ptr(s + 1);
      keys.clear();
      for (int64_t n = begin; n < end; ++n)
        for (size_t k = 0; k < F; ++k) {
          if (local[k]) continue;
          keys.push_back(key_at(plan, x, k, n, begin, end));
          if (keys.back()) table.prefetch(keys.back());
        }
      const uint64_t* key = keys.data();
      for (int64_t n = begin; n < end; ++n)
        for (size_t k = 0; k < F; ++k) {
          if (local[k]) {
            const int64_t term = plan.term_ptr[k];
            const int32_t column = plan.attribute_column[plan.term_attribute[term]];
            const size_t type = place_of(x, column, n + plan.term_offset[term], begin, end);
            int32_t& row = row_of[(size_t(column) * most + type) * F + k];
            if (row == kUnknown) row = number(key_at(plan, x, k, n, begin, end));
            *id = row;
          } else {
            *id = number(*key++);
          }
          if (*id >= 0) ++count[size_t(*id)];
          ++id;
        }
    }
    std::vector<int32_t> new_row(count.size(), kAbsent);
    size_t seen = 0;
    for (size_t r = 0; r < count.size(); ++r)
      if (count[r] >= min_count) {
        new_row[r] = int32_t(kept.size());
        kept.push_back(table.keys()[r]);
        seen += size_t(count[r]);
      }
    features.resize(seen);
    token_ptr.reserve(x.tokens + 1);
    token_ptr.push_back(0);
    int32_t* feature = features.data();
    for (size_t i = 0, n = 0; n < x.tokens; ++n) {
      for (size_t k = 0; k < F; ++k, ++i)
        if (ids[i] >= 0 && new_row[size_t(ids[i])] >= 0) *feature++ = new_row[size_t(ids[i])];
      token_ptr.push_back(feature - features.data());
    }
  }
  return nb::make_tuple(to_numpy(std::move(kept)), to_numpy(std::move(token_ptr)), to_numpy(std::move(features)));
}

// ------------------------------------------------------------------ the frozen model
class PyFrozen {
 public:
  struct Rows {
    In<uint64_t> keys;
    In<int64_t> row_ptr;
    In<uint16_t> labels;
    In<int8_t> weights;
  };

  PyFrozen(int labels, int order, const PyPlan& plan, const PyPlan& edge_plan, In<uint64_t> keys, In<int64_t> row_ptr,
           In<uint16_t> cell_labels, In<int8_t> cell_weights, In<uint64_t> edge_keys, In<int64_t> edge_ptr,
           In<uint16_t> edge_labels, In<int8_t> edge_weights, In<uint64_t> trigram_keys, In<int64_t> trigram_ptr,
           In<uint16_t> trigram_labels, In<int8_t> trigram_weights, In<float> start, In<float> stop,
           In2<float> transition, std::optional<In<int64_t>> part_ptr, std::optional<In<int32_t>> part, int parts,
           int known_attribute, In<uint64_t> known_keys, In<int64_t> known_ptr, In<uint16_t> known_labels)
      : plan_(plan), edge_plan_(edge_plan) {
    const Rows rows{keys, row_ptr, cell_labels, cell_weights};
    const Rows edges{edge_keys, edge_ptr, edge_labels, edge_weights};
    const Rows trigrams{trigram_keys, trigram_ptr, trigram_labels, trigram_weights};
    require(labels > 0 && labels <= 65535, "labels must be 1 to 65535");
    require(order >= 0 && order <= 2, "order must be 0, 1 or 2");
    require(order < 2 || labels <= 255, "second order is for 255 labels at most");
    Parts label_parts = parts_of(labels, part_ptr, part, parts);
    check(rows, label_parts.any() ? label_parts.count : labels);
    check(edges, int64_t(labels) * labels);
    check(trigrams, labels);
    const std::vector<int8_t> none(known_labels.shape(0), 0);
    check({known_keys, known_ptr, known_labels, In<int8_t>(none.data(), {none.size()})}, labels);
    require(known_attribute >= -1 && known_attribute < int(plan.attribute_column.shape(0)), "unknown attribute");
    const size_t K = size_t(labels);
    require(start.shape(0) == K && stop.shape(0) == K && transition.shape(0) == K && transition.shape(1) == K,
            "start, stop and transition must be (K,), (K,) and (K, K)");
    LabelBlock<float> block(labels);
    for (size_t i = 0; i < K; ++i) {
      block.start[i] = start(i);
      block.stop[i] = stop(i);
      for (size_t j = 0; j < K; ++j) block.set(int(i), int(j), transition(i, j));
      block.bound_row(int(i));
    }
    constexpr size_t kFewLabels = 256;  // comparing the rows of more takes a second
    if (order == 1 && K <= kFewLabels) block.compare_rows();
    auto trigram = order == 2 ? trigram_block(labels, trigrams, block) : TrigramBlock<float>();
    frozen_ = std::make_unique<Frozen>(
        plan_.plan(), edge_plan_.plan(), build(rows), build(edges), std::move(block), std::move(trigram),
        std::move(label_parts),
        KnownLabels{known_attribute, FrozenRows(known_keys.data(), known_keys.shape(0), known_ptr.data(),
                                                known_labels.data(), none.data())},
        order);
  }

  struct Workspace {
    const Frozen* owner;
    Frozen::Workspace space;
  };
  Workspace workspace() const { return {frozen_.get(), frozen_->workspace()}; }

  nb::object decode(In2<int32_t> types, In2<uint64_t> hashes, In<int64_t> sentence_ptr, Workspace& workspace) const {
    require(workspace.owner == frozen_.get(), "the workspace belongs to another model");
    columns_of(edge_plan_, types, hashes, sentence_ptr);
    const Columns x = columns_of(plan_, types, hashes, sentence_ptr);
    std::vector<int32_t> labels(x.tokens);
    {
      nb::gil_scoped_release release;
      frozen_->decode(x, sentence_ptr.data(), sentence_ptr.shape(0) - 1, workspace.space, labels.data());
    }
    return to_numpy(std::move(labels));
  }

 private:
  PyPlan plan_, edge_plan_;
  std::unique_ptr<Frozen> frozen_;

  static void check(const Rows& rows, int64_t width) {
    const size_t cells = rows.labels.shape(0);
    require(rows.row_ptr.shape(0) == rows.keys.shape(0) + 1 && ascending(rows.row_ptr, cells),
            "row_ptr must ascend from 0 to the number of cells");
    require(rows.weights.shape(0) == cells, "cell labels and weights differ in length");
    require(within(rows.labels.data(), cells, width), "a cell's label is out of range");
    for (size_t r = 0; r < rows.keys.shape(0); ++r)
      require(rows.keys(r) > (r ? rows.keys(r - 1) : 0), "keys must ascend");
  }
  static TrigramBlock<float> trigram_block(int labels, const Rows& rows, const LabelBlock<float>& bigrams) {  // key: row + 1
    TrigramBlock<float> block(labels);
    for (size_t r = 0; r < rows.keys.shape(0); ++r) {
      const uint64_t row = rows.keys(r) - 1;
      require(row < uint64_t(labels + 1) * uint64_t(labels), "a trigram is out of range");
      const int a = int(row / uint64_t(labels)), b = int(row % uint64_t(labels));
      for (int64_t i = rows.row_ptr(r); i < rows.row_ptr(r + 1); ++i)
        block.row(a, b)[rows.labels(size_t(i))] = float(rows.weights(size_t(i)));
    }
    for (int a = 0; a <= labels; ++a) {
      for (int b = 0; b < labels; ++b) block.bound_row(a, b);
      block.bound_onward(a, bigrams);
    }
    return block;
  }
  static FrozenRows build(const Rows& r) {
    return {r.keys.data(), r.keys.shape(0), r.row_ptr.data(), r.labels.data(), r.weights.data()};
  }
};

// ------------------------------------------------------------------ blocks of column files
class PyScanner {
 public:
  PyScanner(int columns, const std::string& separator, int id_column, bool comments, std::vector<int> read,
            std::vector<int> write)
      : reported_(read.size(), 0), scanner_(columns, separator.at(0), id_column, comments, read, write),
        written_(write.size()) {
    for (int c : read) require(c >= 0 && c < columns, "read names a column out of range");
    for (int c : write) require(c >= -1 && c < columns, "write names a column out of range");
  }
  // Type ids (columns read, words) and sentence_ptr, or None if the block is not plain.
  nb::object scan(nb::bytes text, bool file_start) {
    bool plain;
    {
      nb::gil_scoped_release release;
      plain = scanner_.scan(text.c_str(), text.size(), file_start);
    }
    if (!plain) return nb::none();
    std::vector<int32_t> types;
    types.reserve(reported_.size() * scanner_.words());
    for (size_t c = 0; c < reported_.size(); ++c)
      types.insert(types.end(), scanner_.types(c).begin(), scanner_.types(c).end());
    return nb::make_tuple(to_numpy(std::move(types), {reported_.size(), scanner_.words()}),
                          to_numpy(std::vector<int64_t>(scanner_.sentence_ptr())));
  }
  // Values of a column that were numbered since the last call, in order.
  nb::list new_values(size_t column) {
    require(column < reported_.size(), "column out of range");
    nb::list values;
    const Interner& interner = scanner_.interner(column);
    for (; reported_[column] < interner.size(); ++reported_[column]) {
      const std::string_view v = interner.value(reported_[column]);
      values.append(nb::bytes(v.data(), v.size()));
    }
    return values;
  }
  // The block scanned last with the labels in their places; names: per column written, per label.
  nb::bytes splice(nb::bytes text, const std::vector<In<int32_t>>& labels, const std::vector<std::vector<nb::bytes>>& names) {
    require(labels.size() == written_ && names.size() == written_, "one array of labels for each column written");
    std::vector<const int32_t*> ids;
    std::vector<std::vector<std::string_view>> views(written_);
    for (size_t w = 0; w < written_; ++w) {
      require(labels[w].shape(0) == scanner_.words(), "one label per word");
      require(within(labels[w].data(), labels[w].shape(0), int64_t(names[w].size())), "a label without a name");
      ids.push_back(labels[w].data());
      for (const nb::bytes& name : names[w]) views[w].emplace_back(name.c_str(), name.size());
    }
    std::string out;
    {
      nb::gil_scoped_release release;
      out = scanner_.splice(text.c_str(), text.size(), ids, views);
    }
    return nb::bytes(out.data(), out.size());
  }

 private:
  std::vector<size_t> reported_;
  Scanner scanner_;
  size_t written_;
};

// Whether this machine can run a kernel compiled for AVX2.
bool has_avx2() {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

}  // namespace

NB_MODULE(SEQTAG_KERNEL, m) {
  m.doc() = "Native kernel of seqtag; native.py is its only caller.";
  m.def("has_avx2", &has_avx2);
  bind_weights<float>(m, "Weights32");
  bind_weights<double>(m, "Weights64");
  nb::class_<PyPlan>(m, "Plan")
      .def(nb::init<In<int64_t>, In<int32_t>, In<int32_t>, In<uint64_t>, In<uint64_t>, In<int32_t>>(),
           nb::arg("term_ptr"), nb::arg("term_attribute"), nb::arg("term_offset"), nb::arg("seed"),
           nb::arg("multiplier"), nb::arg("attribute_column"));
  m.def("hash_strings", &hash_strings, nb::arg("blob"), nb::arg("offsets"));
  m.def("index_features", &index_features, nb::arg("plan"), nb::arg("types"), nb::arg("hashes"),
        nb::arg("sentence_ptr"), nb::arg("min_count"));
  nb::class_<PyFrozen>(m, "Frozen")
      .def(nb::init<int, int, const PyPlan&, const PyPlan&, In<uint64_t>, In<int64_t>, In<uint16_t>, In<int8_t>,
                    In<uint64_t>, In<int64_t>, In<uint16_t>, In<int8_t>, In<uint64_t>, In<int64_t>, In<uint16_t>,
                    In<int8_t>, In<float>, In<float>, In2<float>, std::optional<In<int64_t>>,
                    std::optional<In<int32_t>>, int, int, In<uint64_t>, In<int64_t>, In<uint16_t>>(),
           nb::arg("labels"), nb::arg("order"), nb::arg("plan"), nb::arg("edge_plan"), nb::arg("keys"),
           nb::arg("row_ptr"), nb::arg("cell_labels"), nb::arg("cell_weights"), nb::arg("edge_keys"),
           nb::arg("edge_ptr"), nb::arg("edge_labels"), nb::arg("edge_weights"), nb::arg("trigram_keys"),
           nb::arg("trigram_ptr"), nb::arg("trigram_labels"), nb::arg("trigram_weights"), nb::arg("start"),
           nb::arg("stop"), nb::arg("transition"), nb::arg("part_ptr").none(), nb::arg("part").none(),
           nb::arg("parts"), nb::arg("known_attribute"), nb::arg("known_keys"), nb::arg("known_ptr"),
           nb::arg("known_labels"))
      .def("workspace", &PyFrozen::workspace)
      .def("decode", &PyFrozen::decode, nb::arg("types"), nb::arg("hashes"), nb::arg("sentence_ptr"),
           nb::arg("workspace"));
  nb::class_<PyFrozen::Workspace>(m, "Workspace");
  nb::class_<PyScanner>(m, "Scanner")
      .def(nb::init<int, const std::string&, int, bool, std::vector<int>, std::vector<int>>(), nb::arg("columns"),
           nb::arg("separator"), nb::arg("id_column"), nb::arg("comments"), nb::arg("read"), nb::arg("write"))
      .def("scan", &PyScanner::scan, nb::arg("text"), nb::arg("file_start"))
      .def("new_values", &PyScanner::new_values, nb::arg("column"))
      .def("splice", &PyScanner::splice, nb::arg("text"), nb::arg("labels"), nb::arg("names"));
}
