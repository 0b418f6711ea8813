// Rows of weights in training: w, u (for the average) and g (for the adaptive step), cell by cell.
// DenseRows for up to about a hundred labels, SparseRows above; both are used through
//   sum_rows(out, rows, values, n), update(row, label, delta, step), put(row, label, cell),
//   for_each_cell(visit).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

#include "simd.h"

namespace seqtag {

// How a difference becomes a change of the weights. reference.py: Weights.update().
enum class Rule { perceptron, passive_aggressive, adaptive };

template <class Real> struct Cell {
  Real w = 0, u = 0, g = 0;
};

// The one update: w += change, and u += c * change for the average.
template <class Real> struct Step {
  Rule rule;
  Real size;  // step (PA: already min(step, loss / |delta|^2))
  Real seen;  // c, the sentences finished before this one
  void apply(Real& w, Real& u, Real* g, Real delta) const {
    Real change = size * delta;
    if (rule == Rule::adaptive) {
      *g += delta * delta;
      change = change / std::sqrt(*g);
    }
    move(w, u, change, seen);
  }
  // Of one cell, or of a vector of them.
  template <class Number>
  static SEQTAG_INLINE void move(Number& w, Number& u, const Number& change, const Number& seen) {
    w = w + change;
    u = u + seen * change;
  }
};

template <class Real> struct DenseRows {
  static constexpr size_t kLine = 64;  // bytes that the cache moves at a time
  size_t rows;
  int labels, stride;
  int width;  // of the rows of u and g, which are not summed: without padding, but where they are moved as vectors
  // Memory of zeros from the beginning of a cache line on; pages never touched take none.
  class Zeros {
   public:
    explicit Zeros(void* all = nullptr)
        : all_(all), from_(reinterpret_cast<Real*>((reinterpret_cast<uintptr_t>(all) + kLine - 1) / kLine * kLine)) {}
    Real* get() const { return from_; }
    Real& operator[](size_t i) const { return from_[i]; }
    explicit operator bool() const { return from_ != nullptr; }

   private:
    struct Free {
      void operator()(void* p) const { std::free(p); }
    };
    std::unique_ptr<void, Free> all_;
    Real* from_;
  };
  Zeros w, u, g;               // (rows + 1, stride), (rows + 1, width), in order of first update; the first: zeros
  std::vector<int32_t> place;  // where each row is in them; 0: it was never updated
  int32_t used = 0;
  static constexpr bool contiguous = true;

  DenseRows(size_t row_count, int label_count, bool adaptive)
      : rows(row_count), labels(label_count), stride(padded<Real>(labels)),
        width(stride == lanes<Real> ? stride : labels), w(zeros(stride)), u(zeros(width)),
        g(adaptive ? zeros(width) : Zeros()), place(rows) {}

  bool far() const { return rows * size_t(stride) * sizeof(Real) > 1 << 20; }  // not all in the cache
  void prefetch(size_t row) const {
    const char* p = reinterpret_cast<const char*>(&w[size_t(place[row]) * stride]);
    for (size_t b = 0; b < stride * sizeof(Real); b += 64) SEQTAG_PREFETCH(p + b);
  }
  // out = the sum of n rows, each times its value if there are values. The sums stay in registers
  // as long as there are enough; each is taken in the order of the rows.
  void sum_rows(Real* out, const int32_t* row, const Real* value, int64_t n) const {
    int j = 0;
    for (; j + 8 * lanes<Real> <= stride; j += 8 * lanes<Real>) sum_columns<8>(out, j, row, value, n);
    switch ((stride - j) / lanes<Real>) {  // the rest in one go: each pass waits for its additions
      case 1:
        return sum_columns<1>(out, j, row, value, n);
      case 2:
        return sum_columns<2>(out, j, row, value, n);
      case 3:
        return sum_columns<3>(out, j, row, value, n);
      case 4:
        return sum_columns<4>(out, j, row, value, n);
      case 5:
        return sum_columns<5>(out, j, row, value, n);
      case 6:
        return sum_columns<6>(out, j, row, value, n);
      case 7:
        return sum_columns<7>(out, j, row, value, n);
    }
  }
  SEQTAG_INLINE void prefetch_update(size_t row, int label) const {  // w is at hand after scoring
    const size_t i = size_t(place[row]) * width + label;
    SEQTAG_PREFETCH(&u[i]);
    if (g) SEQTAG_PREFETCH(&g[i]);
  }
  // Where a row that is to be changed is.
  size_t own_place(size_t row) {
    if (!place[row]) place[row] = ++used;
    return size_t(place[row]);
  }
  void update(size_t row, int label, Real delta, const Step<Real>& step) {
    const size_t own = own_place(row), i = own * width + label;
    step.apply(w[own * stride + label], u[i], g ? &g[i] : nullptr, delta);
  }
  void put(size_t row, int label, const Cell<Real>& cell) {
    const size_t own = own_place(row), i = own * width + label;
    w[own * stride + label] = cell.w;
    u[i] = cell.u;
    if (g) g[i] = cell.g;
  }
  // visit(row, label, cell) for every cell of the rows that were ever updated, in order of row and label
  template <class Visit> void for_each_cell(Visit visit) const {
    for (size_t r = 0; r < rows; ++r) {
      const size_t own = size_t(place[r]);
      for (int k = 0; own && k < labels; ++k) {
        const size_t i = own * width + k;
        visit(r, k, Cell<Real>{w[own * stride + k], u[i], g ? g[i] : Real(0)});
      }
    }
  }

 private:
  template <int vectors>  // from column j on
  void sum_columns(Real* out, int j, const int32_t* row, const Real* value, int64_t n) const {
    Vector<Real> sum[vectors] = {};
    for (int64_t k = 0; k < n; ++k) {
      const int32_t own = place[size_t(row[k])];
      if (!own) continue;
      const Real* from = &w[size_t(own) * stride + j];
      const Vector<Real> scale = splat(value ? value[k] : Real(1));
      for (int i = 0; i < vectors; ++i) {
        const Vector<Real> weights = load(from + i * lanes<Real>);
        sum[i] = sum[i] + (value ? weights * scale : weights);
      }
    }
    for (int i = 0; i < vectors; ++i) store(out + j + i * lanes<Real>, sum[i]);
  }
  Zeros zeros(int columns) const {
    const size_t n = (rows + 1) * size_t(columns), more = kLine / sizeof(Real);
    if (n / size_t(columns) < rows || n + more < n) throw std::bad_alloc();
    void* p = std::calloc(n + more, sizeof(Real));
    if (!p) throw std::bad_alloc();
    return Zeros(p);
  }
};

// Only cells that were ever updated exist. A row is a span of one arena, moved to its end and
// doubled when it is full.
template <class Real> struct SparseRows {
  int labels, stride;
  static constexpr bool contiguous = false;
  SparseRows(size_t rows, int width, bool) : labels(width), stride(padded<Real>(width)), spans(rows) {}

  bool far() const { return true; }
  void prefetch(size_t row) const { SEQTAG_PREFETCH(&spans[row]); }
  void sum_rows(Real* out, const int32_t* row, const Real* value, int64_t n) const {
    std::fill_n(out, stride, Real(0));
    for (int64_t k = 0; k < n; ++k) {
      const Span s = spans[size_t(row[k])];
      const Real scale = value ? value[k] : Real(1);
      for (size_t i = s.begin; i < s.begin + s.used; ++i) out[label_of[i]] += cells[i].w * scale;
    }
  }
  void prefetch_update(size_t, int) const {}
  void update(size_t row, int label, Real delta, const Step<Real>& step) {
    Cell<Real>& cell = cells[find(row, label)];
    step.apply(cell.w, cell.u, &cell.g, delta);
  }
  void put(size_t row, int label, const Cell<Real>& cell) { cells[find(row, label)] = cell; }
  template <class Visit> void for_each_cell(Visit visit) const {
    std::vector<std::pair<int, size_t>> sorted;
    for (size_t r = 0; r < spans.size(); ++r) {
      sorted.clear();
      for (size_t i = spans[r].begin; i < spans[r].begin + spans[r].used; ++i) sorted.emplace_back(label_of[i], i);
      std::sort(sorted.begin(), sorted.end());
      for (auto [label, i] : sorted) visit(r, label, cells[i]);
    }
  }

 private:
  struct Span {
    size_t begin = 0;
    uint32_t used = 0, capacity = 0;
  };
  std::vector<Span> spans;
  std::vector<int32_t> label_of;
  std::vector<Cell<Real>> cells;

  size_t find(size_t row, int label) {
    Span& s = spans[row];
    for (size_t i = s.begin; i < s.begin + s.used; ++i)
      if (label_of[i] == label) return i;
    if (s.used == s.capacity) {
      const size_t old = s.begin;
      s.capacity = s.capacity ? 2 * s.capacity : 2;
      s.begin = cells.size();
      cells.resize(s.begin + s.capacity);
      label_of.resize(s.begin + s.capacity);
      std::copy_n(cells.begin() + old, s.used, cells.begin() + s.begin);
      std::copy_n(label_of.begin() + old, s.used, label_of.begin() + s.begin);
    }
    const size_t i = s.begin + s.used++;
    label_of[i] = label;
    cells[i] = {};
    return i;
  }
};

}  // namespace seqtag
