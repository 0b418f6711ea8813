// What leaves a training loop and goes back in. arrays.py: Cells, State.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "train.h"

namespace seqtag {

// Sparse rows of cells, or of one number of each.
template <class Value> struct SparseValues {
  std::vector<int64_t> ptr;     // (rows + 1,)
  std::vector<int32_t> column;  // ascending within a row
  std::vector<Value> cell;      // none of them all zero
};
template <class Real> using CellRows = SparseValues<Cell<Real>>;

// All cells of some weights, or one number of each.
template <class Value> struct AllValues {
  SparseValues<Value> emission, edge, trigram;
  std::vector<Value> chain;
  int64_t seen = 0;
};

// The complete state of some weights.
template <class Real> using State = AllValues<Cell<Real>>;

namespace detail {

// visit(row, column, cell) of a dense matrix of cells.
template <class Real, class Visit> void for_each_cell(const std::vector<Cell<Real>>& cells, size_t width, Visit visit) {
  for (size_t i = 0; i < cells.size(); ++i) visit(i / width, int(i % width), cells[i]);
}

template <class Real> bool is_zero(const Cell<Real>& c) { return c.w == 0 && c.u == 0 && c.g == 0; }
inline bool is_zero(float x) { return x == 0; }
inline bool is_zero(double x) { return x == 0; }

// What `value_of` makes of the cells that `each` visits, without zeros.
template <class Value, class Each, class ValueOf> SparseValues<Value> gather(size_t rows, Each each, ValueOf value_of) {
  SparseValues<Value> found;
  found.ptr.assign(rows + 1, 0);
  each([&](size_t row, int column, const auto& cell) {
    if (is_zero(cell)) return;
    const Value value = value_of(cell);
    if (is_zero(value)) return;
    found.column.push_back(column);
    found.cell.push_back(value);
    found.ptr[row + 1] = int64_t(found.column.size());
  });
  for (size_t r = 0; r < rows; ++r) found.ptr[r + 1] = std::max(found.ptr[r + 1], found.ptr[r]);
  return found;
}

}  // namespace detail

// What `value_of` makes of all cells of some weights.
template <class Value, class Real, class Rows, class ValueOf>
AllValues<Value> values_of(const Weights<Real, Rows>& w, size_t rows, size_t edges, ValueOf value_of) {
  AllValues<Value> all;
  const size_t K = size_t(w.labels);
  auto emission = [&](auto visit) { w.emission.for_each_cell(visit); };
  auto edge = [&](auto visit) { w.edge.for_each_cell(visit); };
  auto trigram = [&](auto visit) { detail::for_each_cell(w.trigram_cells, K, visit); };
  all.emission = detail::gather<Value>(rows, emission, value_of);
  all.edge = detail::gather<Value>(edges, edge, value_of);
  all.trigram = detail::gather<Value>(w.trigram_cells.size() / K, trigram, value_of);
  for (const Cell<Real>& cell : w.chain_cells) all.chain.push_back(value_of(cell));
  all.seen = w.seen;
  return all;
}

// Puts a state that fits into weights that have not learned yet.
template <class Real, class Rows> void restore(Weights<Real, Rows>& w, const State<Real>& state) {
  const size_t K = size_t(w.labels);
  auto put = [&](const CellRows<Real>& from, auto place) {
    for (size_t r = 0; r + 1 < from.ptr.size(); ++r)
      for (int64_t i = from.ptr[r]; i < from.ptr[r + 1]; ++i) {
        Cell<Real> cell = from.cell[size_t(i)];
        if (!w.adaptive) cell.g = 0;
        place(r, from.column[size_t(i)], cell);
      }
  };
  put(state.emission, [&](size_t r, int k, const Cell<Real>& cell) { w.emission.put(r, k, cell); });
  put(state.edge, [&](size_t r, int k, const Cell<Real>& cell) { w.edge.put(r, k, cell); });
  put(state.trigram, [&](size_t r, int k, const Cell<Real>& cell) { w.trigram_cells[r * K + size_t(k)] = cell; });
  w.chain_cells = state.chain;
  if (!w.adaptive)
    for (Cell<Real>& cell : w.chain_cells) cell.g = 0;
  w.seen = state.seen;
  w.refresh();
}

}  // namespace seqtag
