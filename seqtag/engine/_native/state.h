// What leaves a training loop and goes back in. arrays.py: Cells, State.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "train.h"

namespace seqtag {

// Sparse rows of cells.
template <class Real> struct CellRows {
  std::vector<int64_t> ptr;      // (rows + 1,)
  std::vector<int32_t> column;   // ascending within a row
  std::vector<Cell<Real>> cell;  // none of them all zero
};

// The complete state of some weights.
template <class Real> struct State {
  CellRows<Real> emission, edge, trigram;
  std::vector<Cell<Real>> chain;
  int64_t seen = 0;
};

// The averaged cell in place of w: w - u / C, with u and g gone.
template <class Real> inline Cell<Real> averaged(const Cell<Real>& c, int64_t seen) {
  return {c.w - c.u / Real(std::max<int64_t>(seen, 1)), 0, 0};
}

namespace detail {

// visit(row, column, cell) of a dense matrix of cells.
template <class Real, class Visit> void for_each_cell(const std::vector<Cell<Real>>& cells, size_t width, Visit visit) {
  for (size_t i = 0; i < cells.size(); ++i) visit(i / width, int(i % width), cells[i]);
}

// The cells that `each` visits, changed by `value`, without those that are zero.
template <class Real, class Each, class Value> CellRows<Real> gather(size_t rows, Each each, Value value) {
  CellRows<Real> found;
  found.ptr.assign(rows + 1, 0);
  auto none = [](const Cell<Real>& c) { return c.w == 0 && c.u == 0 && c.g == 0; };
  size_t many = 0;
  each([&](size_t, int, const Cell<Real>& cell) { many += !none(value(cell)); });
  found.column.reserve(many);
  found.cell.reserve(many);
  each([&](size_t row, int column, const Cell<Real>& cell) {
    const Cell<Real> c = value(cell);
    if (none(c)) return;
    found.column.push_back(column);
    found.cell.push_back(c);
    found.ptr[row + 1] = int64_t(found.column.size());
  });
  for (size_t r = 0; r < rows; ++r) found.ptr[r + 1] = std::max(found.ptr[r + 1], found.ptr[r]);
  return found;
}

}  // namespace detail

// The state of some weights, each cell changed by `value`.
template <class Real, class Rows, class Value>
State<Real> state_of(const Weights<Real, Rows>& w, size_t rows, size_t edges, Value value) {
  State<Real> state;
  const size_t K = size_t(w.labels);
  auto emission = [&](auto visit) { w.emission.for_each_cell(visit); };
  auto edge = [&](auto visit) { w.edge.for_each_cell(visit); };
  auto trigram = [&](auto visit) { detail::for_each_cell(w.trigram_cells, K, visit); };
  state.emission = detail::gather<Real>(rows, emission, value);
  state.edge = detail::gather<Real>(edges, edge, value);
  state.trigram = detail::gather<Real>(w.trigram_cells.size() / K, trigram, value);
  for (const Cell<Real>& cell : w.chain_cells) state.chain.push_back(value(cell));
  state.seen = w.seen;
  return state;
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
