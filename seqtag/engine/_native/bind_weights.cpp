// Weights in training. engine/reference.py: Weights.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>
#include <variant>

#include "bind.h"
#include "engines.h"

namespace seqtag {
namespace {

Rule rule_of(const std::string& name) {
  if (name == "perceptron") return Rule::perceptron;
  if (name == "pa") return Rule::passive_aggressive;
  require(name == "adaptive", "rule must be perceptron, pa or adaptive");
  return Rule::adaptive;
}

// Asks Python from time to time, which may raise. arrays.py: ASK_EVERY.
std::function<void()> asking(nb::object ask) {
  using Clock = std::chrono::steady_clock;
  return [ask = std::move(ask), last = Clock::now()]() mutable {
    if (Clock::now() - last < std::chrono::milliseconds(100)) return;
    nb::gil_scoped_acquire acquire;
    ask();
    last = Clock::now();
  };
}

// Records of arrays.py: LocalRows, Instances, Cells, State, Layout.
using PyLocalRows = std::tuple<In2<int32_t>, In<int64_t>, In2<int64_t>, In<int32_t>>;
using PyInstances = std::tuple<In<int64_t>, In<int64_t>, In<int32_t>, nb::object, std::optional<In<int64_t>>,
                               std::optional<In<int32_t>>, std::optional<PyLocalRows>, std::optional<In<uint8_t>>,
                               std::optional<In<int32_t>>, std::optional<In<int64_t>>, std::optional<In<int32_t>>>;
using PyCells = std::tuple<In<int64_t>, In<int32_t>, nb::object, In<int64_t>, In<int32_t>, nb::object, In<int64_t>,
                           In<int32_t>, nb::object, nb::object>;
using PyState = std::tuple<PyCells, std::optional<PyCells>, std::optional<PyCells>, int64_t>;
using PyLayout = std::tuple<int64_t, int, int, int64_t, PyComponents>;

// Weights of one type of numbers.
template <class Real> class TypedWeights {
 public:
  TypedWeights(const PyLayout& layout, bool adaptive, bool sparse) {
    const auto& [rows, labels, order, edges, parts] = layout;
    require(rows >= 0 && rows <= kMaxRows && edges >= 0 && edges <= kMaxRows, "rows and edges must be 0 to 2147483647");
    require(labels > 0, "labels must be at least 1");
    require(order >= 0 && order <= 2, "order must be 0, 1 or 2");
    require(order < 1 || labels <= kMaxBigramLabels, "first order is for 46339 labels at most");
    require(order < 2 || labels <= kMaxTrigramLabels, "second order is for 255 labels at most");
    require(edges == 0 || labels <= kMaxTrigramLabels, "label bigrams that see words are for 255 labels at most");
    shape_ = {size_t(rows), labels, order, size_t(edges), parts_of(labels, parts), adaptive, sparse};
    try {
      if constexpr (sizeof(Real) == sizeof(float))
        weights_ = engines().float_learner(shape_);
      else
        weights_ = engines().double_learner(shape_);
    } catch (const std::length_error&) {  // more than any vector holds
      throw std::bad_alloc();
    }
  }

  // (updates, wrong tokens); `out_mistakes` is a list, or None; `ask` may be None.
  nb::tuple train_epoch(const PyInstances& data, In<int32_t> y, In<int64_t> visits, const std::string& rule,
                        double step, nb::object cost, bool ties_are_mistakes, nb::object out_mistakes,
                        const std::optional<In2<uint8_t>>& choices, nb::object ask) {
    const auto values = maybe_values(data);
    const auto x = instances(data, values);
    require(y.shape(0) == tokens_of(data), "y must hold one label per token");
    const bool has_table = !cost.is_none() && nb::hasattr(cost, "ndim") && nb::cast<int>(cost.attr("ndim")) > 0;
    require(!has_table || nb::cast<int>(cost.attr("ndim")) == 2, "cost must be a number or (K, K)");
    std::optional<In2<Real>> table;
    if (has_table) table = numbers<In2<Real>>(cost);
    const bool record_mistakes = !out_mistakes.is_none();
    const size_t K = size_t(shape_.labels), several = choices ? choices->shape(0) : 0;
    bool fine = choices || within(y.data(), y.shape(0), shape_.labels);
    for (size_t n = 0; choices && n < y.shape(0); ++n) fine &= y(n) >= -int64_t(several) && y(n) < shape_.labels;
    require(fine, "y holds a label id out of range");
    if (choices) {
      require(choices->shape(1) == K, "choices must be (C, K), with a label in every row");
      for (size_t c = 0; c < several; ++c)
        require(
            std::any_of(choices->data() + c * K, choices->data() + (c + 1) * K, [](uint8_t valid) { return valid; }),
            "choices must be (C, K), with a label in every row");
    }
    for (size_t n = 0; x.set_of && n < y.shape(0); ++n) {
      if (x.set_of[n] < 0) continue;
      const int32_t *from = x.set_labels + x.set_ptr[x.set_of[n]], *to = x.set_labels + x.set_ptr[x.set_of[n] + 1];
      fine &= std::binary_search(from, to, y(n));
    }
    require(fine, "y must hold a label of the token's set");
    require(within(visits.data(), visits.shape(0), int64_t(x.sentences)), "visits holds a sentence out of range");
    if (table) require(table->shape(0) == K && table->shape(1) == K, "cost must be a number or (K, K)");
    const Rule r = rule_of(rule);
    require(r != Rule::adaptive || shape_.adaptive, "these weights were made without room for the adaptive rule");
    const EpochSettings<Real> settings{y.data(),
                                       visits.data(),
                                       visits.shape(0),
                                       r,
                                       Real(step),
                                       cost.is_none() || table ? Real(0) : Real(nb::cast<double>(cost)),
                                       table ? table->data() : nullptr,
                                       ties_are_mistakes,
                                       choices ? choices->data() : nullptr,
                                       several,
                                       ask.is_none() ? nullptr : asking(std::move(ask))};
    EpochCounts counts;
    Mistakes mistakes;
    {
      nb::gil_scoped_release release;
      counts = weights_->train_epoch(x, settings, record_mistakes ? &mistakes : nullptr);
    }
    if (record_mistakes)
      out_mistakes.attr("append")(
          record("Mistakes", to_numpy(std::move(mistakes.position)), to_numpy(std::move(mistakes.y_hat))));
    return nb::make_tuple(counts.updates, counts.wrong_tokens);
  }

  nb::object decode(const PyInstances& data) {
    const auto values = maybe_values(data);
    const auto x = instances(data, values);
    std::vector<int32_t> labels(tokens_of(data));
    {
      nb::gil_scoped_release release;
      weights_->decode(x, labels.data());
    }
    return to_numpy(std::move(labels));
  }

  nb::object cells(CellPart part) const {
    CellValues<Real> all;
    {
      nb::gil_scoped_release release;
      all = weights_->values(part);
    }
    nb::list out;
    for (auto* rows : {&all.emission, &all.edge, &all.trigram}) {
      out.append(to_numpy(std::move(rows->ptr)));
      out.append(to_numpy(std::move(rows->column)));
      out.append(to_numpy(std::move(rows->value)));
    }
    out.append(to_numpy(std::move(all.chain)));
    return nb::module_::import_("seqtag.engine.arrays").attr("Cells")(*out);
  }
  nb::object state() const {
    return record("State", cells(CellPart::w), cells(CellPart::u), cells(CellPart::g), seen());
  }
  void restore(const PyState& from) {
    const auto& [w, u, g, seen] = from;
    require(seen >= 0, "seen must be at least 0");
    weights_->put(CellPart::w, values(w));
    if (u) weights_->put(CellPart::u, values(*u));
    if (g && shape_.adaptive) weights_->put(CellPart::g, values(*g));
    weights_->resume(seen);
  }
  int64_t seen() const { return weights_->seen(); }

 private:
  Shape shape_;
  std::unique_ptr<Learner<Real>> weights_;

  CellValues<Real> values(const PyCells& cells) const {
    const auto& [row_ptr, label, weight, edge_ptr, edge_label, edge_weight, trigram_ptr, trigram_label, trigram_weight,
                 chain] = cells;
    const auto ends = numbers<In<Real>>(chain);
    require(ends.shape(0) == shape_.chain(), "the state is of other labels or another order");
    return {
        row_values(row_ptr, label, weight, shape_.rows, shape_.width()),
        row_values(edge_ptr, edge_label, edge_weight, shape_.edges, shape_.edges ? shape_.labels * shape_.labels : 0),
        row_values(trigram_ptr, trigram_label, trigram_weight, shape_.pairs(), shape_.labels),
        {ends.data(), ends.data() + ends.shape(0)}};
  }
  static RowValues<Real> row_values(const In<int64_t>& ptr, const In<int32_t>& column, const nb::object& given,
                                    size_t rows, int width) {
    const auto value = numbers<In<Real>>(given);
    const size_t n = column.shape(0);
    require(ptr.shape(0) == rows + 1, "the state is of other rows");
    require(ascending(ptr, n), "the state's pointers must ascend from 0 to the number of cells");
    require(value.shape(0) == n, "the state must have a weight for each cell");
    require(within(column.data(), n, width) && ascending_within(ptr, column),
            "the state's columns must ascend within a row and be in range");
    return {{ptr.data(), ptr.data() + rows + 1}, {column.data(), column.data() + n}, {value.data(), value.data() + n}};
  }

  // An array of the numbers that the weights have.
  template <class Array> static Array numbers(const nb::object& values) {
    const char* dtype = sizeof(Real) == 4 ? "float32" : "float64";
    return nb::cast<Array>(nb::module_::import_("numpy").attr("ascontiguousarray")(values, dtype));
  }
  static std::optional<In<Real>> maybe_values(const PyInstances& data) {
    const nb::object& values = std::get<3>(data);
    if (values.is_none()) return std::nullopt;
    return numbers<In<Real>>(values);
  }
  static size_t tokens_of(const PyInstances& data) {
    const auto& local = std::get<6>(data);
    return local ? std::get<0>(*local).shape(1) : std::max<size_t>(1, std::get<1>(data).shape(0)) - 1;
  }
  LocalRows local_rows(const PyLocalRows& given, const In<uint8_t>& numbers) const {
    const auto& [types, sentence_ptr, runs, rows] = given;
    require(ascending(sentence_ptr, types.shape(1)), "the sentences of local rows must ascend to the number of tokens");
    require(runs.shape(0) > 0 && runs.shape(1) == 4, "runs must be (runs, 4), one of them at least");
    const auto* run = reinterpret_cast<const LocalRows::Run*>(runs.data());
    LocalRows found{types.data(), types.shape(1), sentence_ptr.data(), sentence_ptr.shape(0), run, runs.shape(0)};
    found.rows = rows.data();
    const int64_t size = int64_t(rows.shape(0));
    std::vector<int64_t> places(types.shape(0));  // of each column
    for (size_t c = 0; found.tokens && c < places.size(); ++c) {
      const int32_t* first = types.data() + c * found.tokens;
      places[c] = 3 + int64_t(*std::max_element(first, first + found.tokens));
      require(within(first, found.tokens, places[c]), "types holds an id out of range");
    }
    for (; run < found.runs + found.count; ++run) {
      require(run->column >= -1 && run->column < int64_t(types.shape(0)), "a run looks at an unknown column");
      require(run->width > 0 && run->width <= (run->column < 0 ? 1 : kMaxRows),
              "a run must have templates, or just one");
      found.stored += run->column < 0;
      if (run->column < 0) continue;
      require(run->offset >= -kMaxOffset && run->offset <= kMaxOffset, "an offset must be -1000 to 1000");
      const int64_t count = places[size_t(run->column)];
      require(run->first >= 0 && run->first <= size && count <= (size - run->first) / (run->width + 1),
              "the rows of a run must be as many as its places");
      for (int64_t place = 0; place < count; ++place) {
        const int32_t* each = found.rows + run->first + place * (run->width + 1);
        require(*each >= 0 && *each <= run->width && within(each + 1, size_t(*each), int64_t(shape_.rows)),
                "rows holds a row out of range");
      }
    }
    found.numbers = numbers.data();
    const size_t each = found.tokens * found.stored;
    found.bytes = numbers.shape(0) > 3 * each + 1 ? 4 : 3;
    require(numbers.shape(0) == each * found.bytes + 1,
            "numbers must hold one for each token and run without a column");
    bool fine = true;
    for (const uint8_t* at = found.numbers; at < found.of_token(int64_t(found.tokens)); at += found.bytes)
      fine &= found.number(at) < shape_.rows || found.number(at) == found.absent();
    require(fine, "numbers holds a row out of range");
    return found;
  }
  Instances<Real> instances(const PyInstances& data, const std::optional<In<Real>>& values) const {
    const auto& [sentence_ptr, token_ptr, features, given, edge_ptr, edges, local, numbers, set_of, set_ptr,
                 set_labels] = data;
    const size_t width = features.shape(0), tokens = tokens_of(data);
    require((local || token_ptr.shape(0) > 0) && ascending(sentence_ptr, tokens),
            "sentence_ptr must ascend from 0 to the number of tokens");
    require(local.has_value() == numbers.has_value(), "local and numbers go together");
    require(!local || (!values && width == 0), "local rows are all rows, without values");
    bool dense = tokens > 1 && values && width > 0 && values->shape(0) == tokens * width;
    for (size_t n = 0; dense && n < tokens; ++n) dense = token_ptr(n + 1) - token_ptr(n) == int64_t(width);
    LocalRows by_place;
    if (local) {
      by_place = local_rows(*local, *numbers);
    } else {
      require(dense || ascending(token_ptr, width), "token_ptr must ascend from 0 to the number of features");
      require(token_ptr(0) == 0, "token_ptr must ascend from 0 to the number of features");
      require(within(features.data(), width, int64_t(shape_.rows)), "features holds a row out of range");
    }
    require(dense || !values || values->shape(0) == features.shape(0), "values must be as long as features");
    require(edge_ptr.has_value() == edges.has_value(), "edge_ptr and edges go together");
    if (edge_ptr) {
      require(edge_ptr->shape(0) == tokens + 1 && ascending(*edge_ptr, edges->shape(0)),
              "edge_ptr must ascend from 0 to the number of edges");
      require(within(edges->data(), edges->shape(0), int64_t(shape_.edges)), "edges holds a row out of range");
    }
    require(set_of.has_value() == set_ptr.has_value() && set_of.has_value() == set_labels.has_value(),
            "set_of, set_ptr and set_labels go together");
    if (set_of) {
      const size_t sets = set_ptr->shape(0);
      bool fine = ascending(*set_ptr, set_labels->shape(0));
      for (size_t c = 0; fine && c + 1 < sets; ++c) fine = (*set_ptr)(c) < (*set_ptr)(c + 1);
      require(fine, "set_ptr must ascend from 0 to the number of labels, and no set may be empty");
      fine = set_of->shape(0) == tokens;
      for (size_t n = 0; fine && n < tokens; ++n)
        fine = (*set_of)(n) >= -1 && int64_t((*set_of)(n)) + 1 < int64_t(sets);
      require(fine, "set_of must hold the number of a set for each token, or -1");
      require(
          within(set_labels->data(), set_labels->shape(0), shape_.labels) && ascending_within(*set_ptr, *set_labels),
          "set_labels must ascend within a set and be in range");
    }
    return {sentence_ptr.data(),
            token_ptr.data(),
            features.data(),
            values ? values->data() : nullptr,
            edge_ptr ? edge_ptr->data() : nullptr,
            edges ? edges->data() : nullptr,
            sentence_ptr.shape(0) - 1,
            dense,
            by_place,
            set_of ? set_of->data() : nullptr,
            set_ptr ? set_ptr->data() : nullptr,
            set_labels ? set_labels->data() : nullptr};
  }
};

// Weights of float32 or float64. engine/reference.py: Weights.
class PyWeights {
  nb::object layout_;
  std::variant<std::unique_ptr<TypedWeights<float>>, std::unique_ptr<TypedWeights<double>>> weights_;
  OneAtATime calls_;

  template <class Work> auto visit(Work work) {
    return std::visit([&](auto& weights) { return work(*weights); }, weights_);
  }

 public:
  PyWeights(nb::object layout, const std::string& dtype, const std::string& rule, const std::optional<PyState>& state)
      : layout_(std::move(layout)) {
    const auto shape = nb::cast<PyLayout>(layout_);
    const bool adaptive = rule_of(rule) == Rule::adaptive, sparse = nb::cast<bool>(layout_.attr("sparse"));
    require(dtype == "float32" || dtype == "float64", "dtype must be float32 or float64");
    with_room([&] {
      if (dtype == "float32")
        weights_ = std::make_unique<TypedWeights<float>>(shape, adaptive, sparse);
      else
        weights_ = std::make_unique<TypedWeights<double>>(shape, adaptive, sparse);
      if (state) visit([&](auto& weights) { weights.restore(*state); });
    });
  }
  nb::object train_epoch(const PyInstances& x, In<int32_t> y, In<int64_t> visits, const std::string& rule, double step,
                         nb::object cost, bool ties_are_mistakes, nb::object out_mistakes, nb::object choices,
                         nb::object ask) {
    const OneAtATime::Turn turn(calls_);
    std::optional<In2<uint8_t>> permitted;
    if (!choices.is_none())
      permitted = nb::cast<In2<uint8_t>>(nb::module_::import_("numpy").attr("ascontiguousarray")(choices, "uint8"));
    nb::object found;
    with_room([&] {
      visit([&](auto& weights) {
        found = weights.train_epoch(x, y, visits, rule, step, cost, ties_are_mistakes, out_mistakes, permitted, ask);
      });
    });
    return found;
  }
  nb::object decode(const PyInstances& x) {
    const OneAtATime::Turn turn(calls_);
    return visit([&](auto& weights) { return weights.decode(x); });
  }
  nb::object cells(bool average) {
    const OneAtATime::Turn turn(calls_);
    return visit([&](auto& weights) { return weights.cells(average ? CellPart::average : CellPart::w); });
  }
  nb::object state() {
    const OneAtATime::Turn turn(calls_);
    return visit([](auto& weights) { return weights.state(); });
  }
  int64_t seen() {
    return visit([](auto& weights) { return weights.seen(); });
  }

 private:
  // Runs some work; if memory is short, the error reports how much the weights take.
  template <class Work> void with_room(Work work) {
    try {
      work();
    } catch (const std::bad_alloc&) {
      const nb::object error = nb::module_::import_("seqtag.engine.checks").attr("no_room")(layout_);
      PyErr_SetObject(PyExc_MemoryError, error.ptr());
      throw nb::python_error();
    }
  }
};

}  // namespace

void bind_weights(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<PyWeights>(m, "Weights")
      .def(nb::init<nb::object, const std::string&, const std::string&, const std::optional<PyState>&>(), "layout"_a,
           "dtype"_a = "float32", "rule"_a = "adaptive", "state"_a = nb::none())
      .def("train_epoch", &PyWeights::train_epoch, "x"_a, "y"_a, "visits"_a, "rule"_a = "perceptron", "step"_a = 1.0,
           "cost"_a = nb::none(), "ties_are_mistakes"_a = false, "out_mistakes"_a = nb::none(),
           "choices"_a = nb::none(), "ask"_a = nb::none())
      .def("decode", &PyWeights::decode, "x"_a)
      .def("cells", &PyWeights::cells, "average"_a = false)
      .def("state", &PyWeights::state)
      .def_prop_ro("seen", &PyWeights::seen);
}

}  // namespace seqtag
