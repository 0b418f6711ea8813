// Python's door to the kernel: arrays in, arrays out, checked here once, GIL released inside.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>

#include "frozen.h"
#include "index.h"
#include "limits.h"
#include "scan.h"
#include "state.h"
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

// Whether what stands in each row ascends.
template <class Index> bool ascending_within(const In<int64_t>& ptr, const In<Index>& values) {
  for (size_t r = 0; r + 1 < ptr.shape(0); ++r)
    for (int64_t i = ptr(r) + 1; i < ptr(r + 1); ++i)
      if (values(size_t(i)) <= values(size_t(i - 1))) return false;
  return true;
}

template <class Index> bool within(const Index* values, size_t n, int64_t limit) {
  bool ok = true;  // without leaving early, so that several are compared at a time
  for (size_t i = 0; i < n; ++i) ok &= values[i] >= 0 && int64_t(values[i]) < limit;
  return ok;
}

// The records of arrays.py, as the tuples that they are.
using PyParts = std::optional<std::tuple<In<int64_t>, In<int32_t>, int>>;
template <class Real> using PyCells = std::tuple<In<int64_t>, In<int32_t>, In<Real>, In<Real>, In<Real>>;
using PyRows = std::tuple<In<uint64_t>, In<int64_t>, In<uint16_t>, In<int8_t>>;
using PyKnown = std::tuple<int, In<uint64_t>, In<int64_t>, In<uint16_t>>;

Parts parts_of(int labels, const PyParts& parts) {
  if (!parts) return {};
  const auto& [ptr, part, number] = *parts;
  require(ptr.shape(0) == size_t(labels) + 1 && ascending(ptr, part.shape(0)),
          "part_ptr must ascend from 0 to the number of parts listed, one step per label");
  require(number > 0, "labels made of parts must have at least one part");
  require(within(part.data(), part.shape(0), number), "part holds a part out of range");
  return {{ptr.data(), ptr.data() + ptr.shape(0)}, {part.data(), part.data() + part.shape(0)}, number};
}

// ------------------------------------------------------------------ training
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
                        bool ties_are_mistakes, bool record) {
    const auto x = instances(sentence_ptr, token_ptr, features, values, edge_ptr, edges);
    require(y.shape(0) + 1 == token_ptr.shape(0), "y must hold one label per token");
    require(within(y.data(), y.shape(0), labels_), "y holds a label id out of range");
    require(within(visits.data(), visits.shape(0), int64_t(x.sentences)), "visits holds a sentence out of range");
    const size_t K = size_t(labels_);
    if (cost) require(cost->shape(0) == K && cost->shape(1) == K, "cost must be a number or (K, K)");
    const Rule r = rule_of(rule);
    require(r != Rule::adaptive || visit([](auto& w) { return w.adaptive; }),
            "these weights were made without room for the adaptive rule");
    const Lesson<Real> lesson{
        y.data(), visits.data(), visits.shape(0), r, step, margin, cost ? cost->data() : nullptr, ties_are_mistakes};
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
                    MaybeEdgePtr edge_ptr, MaybeEdges edges) {
    const auto x = instances(sentence_ptr, token_ptr, features, values, edge_ptr, edges);
    std::vector<int32_t> labels(token_ptr.shape(0) - 1);
    {
      nb::gil_scoped_release release;
      visit([&](auto& w) { w.decode_all(x, labels.data()); });
    }
    return to_numpy(std::move(labels));
  }

  // arrays.py: Cells, flat.
  nb::tuple cells(bool average) {
    const State<Real> state = gather([average](const auto& w) {
      return
          [average, seen = w.seen](const Cell<Real>& c) { return average ? averaged(c, seen) : Cell<Real>{c.w, 0, 0}; };
    });
    nb::list out;
    for (const auto* rows : {&state.emission, &state.edge, &state.trigram}) {
      out.append(to_numpy(std::vector<int64_t>(rows->ptr)));
      out.append(to_numpy(std::vector<int32_t>(rows->column)));
      out.append(field(rows->cell, &Cell<Real>::w));
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
    return {sentence_ptr.data(),
            token_ptr.data(),
            features.data(),
            values ? values->data() : nullptr,
            edge_ptr ? edge_ptr->data() : nullptr,
            edges ? edges->data() : nullptr,
            sentence_ptr.shape(0) - 1,
            dense};
  }
};

template <class Real> void bind_weights(nb::module_& m, const char* name) {
  using W = PyWeights<Real>;
  nb::class_<W>(m, name)
      .def(nb::init<int64_t, int, int, int64_t, const PyParts&, bool, bool>(), nb::arg("rows"), nb::arg("labels"),
           nb::arg("order"), nb::arg("edges"), nb::arg("parts").none(), nb::arg("adaptive"), nb::arg("sparse"))
      .def("train_epoch", &W::train_epoch, nb::arg("sentence_ptr"), nb::arg("token_ptr"), nb::arg("features"),
           nb::arg("values").none(), nb::arg("edge_ptr").none(), nb::arg("edges").none(), nb::arg("y"),
           nb::arg("visits"), nb::arg("rule"), nb::arg("step"), nb::arg("margin"), nb::arg("cost").none(),
           nb::arg("ties_are_mistakes"), nb::arg("record"))
      .def("decode", &W::decode, nb::arg("sentence_ptr"), nb::arg("token_ptr"), nb::arg("features"),
           nb::arg("values").none(), nb::arg("edge_ptr").none(), nb::arg("edges").none())
      .def("cells", &W::cells, nb::arg("average"))
      .def("state", &W::state)
      .def("restore", &W::restore, nb::arg("emission"), nb::arg("edge"), nb::arg("trigram"), nb::arg("chain"),
           nb::arg("seen"))
      .def_prop_ro("seen", &W::seen);
}

// ------------------------------------------------------------------ keys
struct PyPlan {  // owns the arrays of a Plan
  In<int64_t> term_ptr;
  In<int32_t> term_attribute, term_offset, attribute_column;
  In<uint64_t> seed, multiplier;

  PyPlan(In<int64_t> ptr, In<int32_t> attribute, In<int32_t> offset, In<uint64_t> seeds, In<uint64_t> multipliers,
         In<int32_t> columns)
      : term_ptr(ptr), term_attribute(attribute), term_offset(offset), attribute_column(columns), seed(seeds),
        multiplier(multipliers) {
    const size_t terms = term_attribute.shape(0);
    require(ascending(term_ptr, terms) && term_offset.shape(0) == terms, "term arrays do not fit together");
    require(seed.shape(0) + 1 == term_ptr.shape(0), "one seed per template");
    require(within(term_attribute.data(), terms, int64_t(attribute_column.shape(0))), "unknown attribute");
    for (size_t k = 0; k + 1 < term_ptr.shape(0); ++k)
      require(size_t(term_ptr(k + 1) - term_ptr(k)) <= multiplier.shape(0), "conjunction too long");
    for (size_t i = 0; i < terms; ++i)
      require(term_offset(i) >= -kMaxOffset && term_offset(i) <= kMaxOffset, "an offset must be -1000 to 1000");
  }
  Plan plan() const {
    return {seed.shape(0), term_ptr.data(),   term_attribute.data(),  term_offset.data(),
            seed.data(),   multiplier.data(), attribute_column.data()};
  }
};

Columns columns_of(const PyPlan& plan, const In2<int32_t>& types, const In2<uint64_t>& hashes,
                   const In<int64_t>& sentence_ptr) {
  const size_t attributes = plan.attribute_column.shape(0);
  require(hashes.shape(0) == attributes, "hashes must hold one row per attribute");
  require(types.shape(1) <= size_t(kMaxRows), "types must hold 2147483647 tokens at most");
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

nb::tuple py_index_features(const PyPlan& plan, In2<int32_t> types, In2<uint64_t> hashes, In<int64_t> sentence_ptr,
                            int64_t min_count) {
  const Columns x = columns_of(plan, types, hashes, sentence_ptr);
  FeatureIndex found;
  {
    nb::gil_scoped_release release;
    found = index_features(plan.plan(), x, types.shape(0), sentence_ptr.data(), sentence_ptr.shape(0) - 1, min_count);
  }
  return nb::make_tuple(to_numpy(std::move(found.keys)), to_numpy(std::move(found.token_ptr)),
                        to_numpy(std::move(found.features)));
}

// ------------------------------------------------------------------ the frozen model
class PyFrozen {
 public:
  PyFrozen(int order, const PyPlan& plan, const PyPlan& edge_plan, const PyRows& emission, const PyRows& edge,
           const PyRows& trigram, In<float> start, In<float> stop, In2<float> transition, const PyParts& parts,
           const PyKnown& known)
      : plan_(plan), edge_plan_(edge_plan) {
    const auto& [known_attribute, known_keys, known_ptr, known_labels] = known;
    require(start.shape(0) <= size_t(kMaxLabels), "labels must be 1 to 65535");
    const int labels = int(start.shape(0));
    require(labels > 0, "labels must be 1 to 65535");
    require(order >= 0 && order <= 2, "order must be 0, 1 or 2");
    require(order < 2 || labels <= kMaxTrigramLabels, "second order is for 255 labels at most");
    require(std::get<0>(edge).shape(0) == 0 || labels <= kMaxTrigramLabels,
            "label bigrams that see words are for 255 labels at most");
    Parts label_parts = parts_of(labels, parts);
    check(emission, label_parts.any() ? label_parts.count : labels);
    check(edge, int64_t(labels) * labels);
    check(trigram, labels);
    const std::vector<int8_t> none(known_labels.shape(0), 0);
    check({known_keys, known_ptr, known_labels, In<int8_t>(none.data(), {none.size()})}, labels);
    require(known_attribute >= -1 && known_attribute < int(plan.attribute_column.shape(0)), "unknown attribute");
    const size_t K = size_t(labels), N = order ? K : transition.shape(0) ? K : 0;
    require(start.shape(0) == K && stop.shape(0) == K && transition.shape(0) == N && transition.shape(1) == N,
            "start, stop and transition must be (K,), (K,) and (K, K)");
    const int64_t templates = int64_t(plan.seed.shape(0)), bigrams = int64_t(edge_plan.seed.shape(0));
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
    KnownLabels words{known_attribute, FrozenRows(known_keys.data(), known_keys.shape(0), known_ptr.data(),
                                                  known_labels.data(), none.data())};
    auto make = [&](auto& frozen) {
      using F = std::decay_t<decltype(*frozen)>;
      frozen = std::make_unique<F>(plan_.plan(), edge_plan_.plan(), build(emission), build(edge), std::move(chain),
                                   std::move(second), std::move(label_parts), std::move(words), order);
    };
    if (templates <= kNarrowRows)
      make(narrow_);
    else
      make(wide_);
  }

  struct Workspace {
    const PyFrozen* owner;
    std::variant<std::monostate, Frozen<int16_t>::Workspace, Frozen<int32_t>::Workspace> space;
  };
  Workspace workspace() const {
    if (narrow_) return {this, narrow_->workspace()};
    return {this, wide_->workspace()};
  }

  nb::object decode(In2<int32_t> types, In2<uint64_t> hashes, In<int64_t> sentence_ptr, Workspace& workspace) const {
    require(workspace.owner == this, "the workspace belongs to another model");
    columns_of(edge_plan_, types, hashes, sentence_ptr);
    const Columns x = columns_of(plan_, types, hashes, sentence_ptr);
    std::vector<int32_t> labels(x.tokens);
    const int64_t* ptr = sentence_ptr.data();
    const size_t sentences = sentence_ptr.shape(0) - 1;
    {
      nb::gil_scoped_release release;
      if (narrow_)
        narrow_->decode(x, ptr, sentences, std::get<Frozen<int16_t>::Workspace>(workspace.space), labels.data());
      else
        wide_->decode(x, ptr, sentences, std::get<Frozen<int32_t>::Workspace>(workspace.space), labels.data());
    }
    return to_numpy(std::move(labels));
  }

 private:
  PyPlan plan_, edge_plan_;
  std::unique_ptr<Frozen<int16_t>> narrow_;  // one of the two
  std::unique_ptr<Frozen<int32_t>> wide_;

  static void check(const PyRows& rows, int64_t width) {
    const auto& [keys, row_ptr, labels, weights] = rows;
    const size_t cells = labels.shape(0);
    require(int64_t(3 * keys.shape(0) + cells) + 1 < kMaxWords, "rows and cells are more than 2**31 words hold");
    require(row_ptr.shape(0) == keys.shape(0) + 1 && ascending(row_ptr, cells),
            "row_ptr must ascend from 0 to the number of cells");
    require(weights.shape(0) == cells, "cell labels and weights differ in length");
    require(within(labels.data(), cells, width), "a cell's label is out of range");
    require(ascending_within(row_ptr, labels), "the labels of a row must ascend");
    for (size_t r = 0; r < keys.shape(0); ++r) require(keys(r) > (r ? keys(r - 1) : 0), "keys must ascend");
  }
  static FrozenRows build(const PyRows& rows) {
    const auto& [keys, row_ptr, labels, weights] = rows;
    return {keys.data(), keys.shape(0), row_ptr.data(), labels.data(), weights.data()};
  }
};

// ------------------------------------------------------------------ pieces of column files
class PyScanner {
 public:
  PyScanner(int columns, const std::string& separator, int id_column, bool comments, std::vector<int> read,
            std::vector<int> write)
      : reported_(read.size(), 0),
        scanner_(columns, separator.empty() ? 0 : separator[0], id_column, comments, read, write),
        written_(write.size()) {
    require(separator.size() == 1, "separator must be one byte");
    require(id_column >= -1 && id_column < columns, "id_column names a column out of range");
    for (int c : read) require(c >= 0 && c < columns, "read names a column out of range");
    for (int c : write) require(c >= -1 && c < columns, "write names a column out of range");
  }
  // Type ids (columns read, words) and sentence_ptr, or None if the text is not plain.
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
  // The text scanned last with the labels in their places; names: per column written, per label.
  nb::bytes splice(nb::bytes text, const std::vector<In<int32_t>>& labels,
                   const std::vector<std::vector<nb::bytes>>& names) {
    require(text.size() == scanner_.size(), "splice takes the text that was scanned last");
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

void say_memory_is_short(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "found too little memory; use fewer labels, features or sentences at a time");
  }
}

}  // namespace

NB_MODULE(SEQTAG_KERNEL, m) {
  m.doc() = "Native kernel of seqtag; native.py is its only caller.";
  nb::register_exception_translator(say_memory_is_short);
  m.def("has_avx2", &has_avx2);
  bind_weights<float>(m, "Weights32");
  bind_weights<double>(m, "Weights64");
  nb::class_<PyPlan>(m, "Plan").def(
      nb::init<In<int64_t>, In<int32_t>, In<int32_t>, In<uint64_t>, In<uint64_t>, In<int32_t>>(), nb::arg("term_ptr"),
      nb::arg("term_attribute"), nb::arg("term_offset"), nb::arg("seed"), nb::arg("multiplier"),
      nb::arg("attribute_column"));
  m.def("hash_strings", &hash_strings, nb::arg("blob"), nb::arg("offsets"));
  m.def("index_features", &py_index_features, nb::arg("plan"), nb::arg("types"), nb::arg("hashes"),
        nb::arg("sentence_ptr"), nb::arg("min_count"));
  nb::class_<PyFrozen>(m, "Frozen")
      .def(nb::init<int, const PyPlan&, const PyPlan&, const PyRows&, const PyRows&, const PyRows&, In<float>,
                    In<float>, In2<float>, const PyParts&, const PyKnown&>(),
           nb::arg("order"), nb::arg("plan"), nb::arg("edge_plan"), nb::arg("emission"), nb::arg("edge"),
           nb::arg("trigram"), nb::arg("start"), nb::arg("stop"), nb::arg("transition"), nb::arg("parts").none(),
           nb::arg("known"))
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
