// Weights that leave training and go back in. arrays.py: Cells, State.
#pragma once
#include <cstdint>
#include <vector>

#include "train.h"

namespace seqtag {

// What `value_of` makes of all cells of some weights.
template <class Real, class Rows, class ValueOf>
CellValues<Real> values_of(const Weights<Real, Rows>& w, size_t rows, size_t edges, ValueOf value_of) {
  auto gather = [&](size_t count, auto each) {
    RowValues<Real> found;
    found.ptr.assign(count + 1, 0);
    each([&](size_t row, int column, const Cell<Real>& cell) {
      const Real value = value_of(cell);
      if (value == 0) return;
      found.column.push_back(column);
      found.value.push_back(value);
      found.ptr[row + 1] = int64_t(found.column.size());
    });
    for (size_t r = 0; r < count; ++r) found.ptr[r + 1] = std::max(found.ptr[r + 1], found.ptr[r]);
    return found;
  };
  const size_t K = size_t(w.labels), size = w.trigram_cells.size();
  CellValues<Real> all;
  all.emission = gather(rows, [&](auto visit) { w.emission.for_each_cell(visit); });
  all.edge = gather(edges, [&](auto visit) { w.edge.for_each_cell(visit); });
  all.trigram = gather(size / K, [&](auto visit) {
    for (size_t i = 0; i < size; ++i) visit(i / K, int(i % K), w.trigram_cells[i]);
  });
  for (const Cell<Real>& cell : w.chain_cells) all.chain.push_back(value_of(cell));
  return all;
}

// Puts one part of each cell, w, u or g, into weights that have not learned yet.
template <class Real, class Rows>
void restore(Weights<Real, Rows>& w, Real Cell<Real>::* part, const CellValues<Real>& values) {
  const size_t K = size_t(w.labels);
  auto put = [&](const RowValues<Real>& from, auto place) {
    for (size_t r = 0; r + 1 < from.ptr.size(); ++r)
      for (int64_t i = from.ptr[r]; i < from.ptr[r + 1]; ++i) place(r, from.column[size_t(i)], from.value[size_t(i)]);
  };
  put(values.emission, [&](size_t r, int k, Real value) { w.emission.put(r, k, part, value); });
  put(values.edge, [&](size_t r, int k, Real value) { w.edge.put(r, k, part, value); });
  put(values.trigram, [&](size_t r, int k, Real value) { w.trigram_cells[r * K + size_t(k)].*part = value; });
  for (size_t i = 0; i < w.chain_cells.size(); ++i) w.chain_cells[i].*part = values.chain[i];
}

}  // namespace seqtag
