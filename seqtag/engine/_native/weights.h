// Rows of weights in training: w, u (for the average) and g (for the adaptive step), cell by cell.
// DenseRows for up to about a hundred labels, SparseRows above; both are used through
//   locate(rows, n, places), sum_rows(out, places, values, n), own_place(row), update(place, label, delta, step),
//   put(row, label, part, value), for_each_cell(visit).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

#include "engines.h"
#include "simd.h"

namespace seqtag {

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
    if (rule == Rule::adaptive) {  // else there may be no g
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
  int width;  // of the cells of a row in u: without padding, but where they are moved as vectors
  int pair;   // 2 if the cells of u alternate with those of g, else 1
  // Memory of zeros from the beginning of a cache line on; pages never touched take none.
  class Zeros {
   public:
    explicit Zeros(void* all = nullptr)
        : all_(all), from_(reinterpret_cast<Real*>((reinterpret_cast<uintptr_t>(all) + kLine - 1) / kLine * kLine)) {}
    Real* get() const { return from_; }
    Real& operator[](size_t i) const { return from_[i]; }

   private:
    struct Free {
      void operator()(void* p) const { std::free(p); }
    };
    std::unique_ptr<void, Free> all_;
    Real* from_;
  };
  Zeros w, u;                  // (rows + 1, stride), (rows + 1, width, pair), in order of first update; first zeros
  std::vector<int32_t> place;  // where each row is in them; 0: it was never updated
  int32_t used = 0;
  static constexpr bool contiguous = true;

  DenseRows(size_t row_count, int label_count, bool adaptive)
      : rows(row_count), labels(label_count), stride(padded<Real>(labels)),
        width(stride == lanes<Real> ? stride : labels), pair(adaptive ? 2 : 1), w(zeros(stride)),
        u(zeros(width * pair)), place(rows) {}

  bool far() const { return rows * size_t(stride) * sizeof(Real) > 1 << 20; }  // not all in the cache
  // Where n rows are, for the functions that take places.
  void locate(const int32_t* row, size_t n, int32_t* out_places) const {
    for (size_t k = 0; k < n; ++k) out_places[k] = place[size_t(row[k])];
  }
  SEQTAG_INLINE void prefetch(int32_t at) const {
    const char* p = reinterpret_cast<const char*>(&w[size_t(at) * stride]);
    for (size_t b = 0; b < stride * sizeof(Real); b += 64) SEQTAG_PREFETCH(p + b);
  }
  // out = the sum of n rows, each times its value if there are values. The sums stay in registers
  // as long as there are enough; each is taken in the order of the rows.
  void sum_rows(Real* out, const int32_t* places, const Real* value, int64_t n) const {
    if (value)
      sum_all<true>(out, places, value, n);
    else
      sum_all<false>(out, places, value, n);
  }
  SEQTAG_INLINE void prefetch_update(int32_t at, int label) const {  // w is at hand after scoring
    SEQTAG_PREFETCH(&u[(size_t(at) * width + label) * pair]);
  }
  // Where a row that is to be changed is.
  SEQTAG_INLINE int32_t own_place(int32_t row) {
    int32_t& own = place[size_t(row)];
    if (!own) own = ++used;
    return own;
  }
  SEQTAG_INLINE void update(int32_t at, int label, Real delta, const Step<Real>& step) {
    Real* sums = &u[(size_t(at) * width + label) * pair];
    step.apply(w[size_t(at) * stride + label], sums[0], sums + 1, delta);
  }
  void put(size_t row, int label, Real Cell<Real>::* part, Real value) {
    const size_t own = size_t(own_place(int32_t(row)));
    Real* sums = &u[(own * width + label) * pair];
    (part == &Cell<Real>::w ? w[own * stride + label] : sums[part == &Cell<Real>::g]) = value;
  }
  // visit(row, label, cell) for every cell of the rows that were ever updated, in order of row and label
  template <class Visit> void for_each_cell(Visit visit) const {
    constexpr size_t kAhead = 16;
    for (size_t r = 0; r < rows; ++r) {
      if (r + kAhead < rows) {
        const size_t next = size_t(place[r + kAhead]);
        prefetch(int32_t(next));
        for (int k = 0; k < width * pair; k += int(kLine / sizeof(Real))) SEQTAG_PREFETCH(&u[next * width * pair + k]);
      }
      const size_t own = size_t(place[r]);
      for (int k = 0; own && k < labels; ++k) {
        const Real* sums = &u[(own * width + k) * pair];
        visit(r, k, Cell<Real>{w[own * stride + k], sums[0], pair > 1 ? sums[1] : Real(0)});
      }
    }
  }

 private:
  template <bool valued> void sum_all(Real* out, const int32_t* at, const Real* value, int64_t n) const {
    int j = 0;
    for (; j + 8 * lanes<Real> <= stride; j += 8 * lanes<Real>) sum_columns<valued, 8>(out, j, at, value, n);
    switch ((stride - j) / lanes<Real>) {  // the rest in one go: each pass waits for its additions
      case 1:
        return sum_columns<valued, 1>(out, j, at, value, n);
      case 2:
        return sum_columns<valued, 2>(out, j, at, value, n);
      case 3:
        return sum_columns<valued, 3>(out, j, at, value, n);
      case 4:
        return sum_columns<valued, 4>(out, j, at, value, n);
      case 5:
        return sum_columns<valued, 5>(out, j, at, value, n);
      case 6:
        return sum_columns<valued, 6>(out, j, at, value, n);
      case 7:
        return sum_columns<valued, 7>(out, j, at, value, n);
    }
  }
  template <bool valued, int vectors>  // from column j on
  void sum_columns(Real* out, int j, const int32_t* at, const Real* value, int64_t n) const {
    Vector<Real> sum[vectors] = {};
    const Real* first = &w[size_t(j)];
    for (int64_t k = 0; k < n; ++k) {
      const Real* from = first + size_t(at[k]) * size_t(stride);
      for (int i = 0; i < vectors; ++i) {
        const Vector<Real> weights = load(from + i * lanes<Real>);
        sum[i] = sum[i] + (valued ? weights * splat(value[k]) : weights);
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
// doubled when it is full. What is summed is apart from what is not. A row that has cells for many
// labels is also kept written out, which is faster to add.
template <class Real> struct SparseRows {
  int labels, stride;
  static constexpr bool contiguous = false;
  SparseRows(size_t rows, int width, bool) : labels(width), stride(padded<Real>(width)), spans(rows) {}

  bool far() const { return true; }
  // Where n rows are, for the functions that take places; and asks for their cells.
  void locate(const int32_t* row, size_t n, int32_t* out_places) const {
    for (size_t k = 0; k < n; ++k) SEQTAG_PREFETCH(&spans[size_t(row[k])]);
    std::copy_n(row, n, out_places);
  }
  void prefetch(int32_t row) const {
    const Span& s = spans[size_t(row)];
    if (s.full != kNone) return SEQTAG_PREFETCH(&full[size_t(s.full) * stride]);
    const size_t used = std::min<size_t>(s.used, 128);
    for (size_t i = 0; i < used; i += 64 / sizeof(uint16_t)) SEQTAG_PREFETCH(label_of.data() + s.begin + i);
    for (size_t i = 0; i < used; i += 64 / sizeof(Real)) SEQTAG_PREFETCH(w.data() + s.begin + i);
  }
  // As DenseRows::sum_rows. The sums of labels that are in none of the vectors that begin at `wanted`
  // may be wrong.
  void sum_rows(Real* out, const int32_t* row, const Real* value, int64_t n, const std::vector<int>& wanted) const {
    std::fill_n(out, stride, Real(0));
    const uint16_t* label = label_of.data();
    const Real* weight = w.data();
    for (int64_t k = 0; k < n; ++k) {
      const Span s = spans[size_t(row[k])];
      if (s.full != kNone) {
        const Real* from = &full[size_t(s.full) * stride];
        if (value)
          for (int j : wanted) store(out + j, load(out + j) + load(from + j) * splat(value[k]));
        else
          for (int j : wanted) store(out + j, load(out + j) + load(from + j));
      } else if (value)
        for (size_t i = s.begin; i < s.begin + s.used; ++i) out[label[i]] += weight[i] * value[k];
      else
        for (size_t i = s.begin; i < s.begin + s.used; ++i) out[label[i]] += weight[i];
    }
  }
  void prefetch_update(int32_t, int) const {}
  int32_t own_place(int32_t row) const { return row; }
  void update(int32_t row, int label, Real delta, const Step<Real>& step) {
    const size_t i = find(size_t(row), label);
    step.apply(w[i], sums[i].u, &sums[i].g, delta);
    copy_out(spans[size_t(row)], label, w[i]);
  }
  void put(size_t row, int label, Real Cell<Real>::* part, Real value) {
    const size_t i = find(row, label);
    (part == &Cell<Real>::w ? w[i] : part == &Cell<Real>::u ? sums[i].u : sums[i].g) = value;
    copy_out(spans[row], label, w[i]);
  }
  template <class Visit> void for_each_cell(Visit visit) const {
    std::vector<std::pair<int, size_t>> sorted;
    for (size_t r = 0; r < spans.size(); ++r) {
      sorted.clear();
      for (size_t i = spans[r].begin; i < spans[r].begin + spans[r].used; ++i) sorted.emplace_back(label_of[i], i);
      std::sort(sorted.begin(), sorted.end());
      for (auto [label, i] : sorted) visit(r, label, Cell<Real>{w[i], sums[i].u, sums[i].g});
    }
  }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  static constexpr uint32_t kShare = 8;  // a row with cells for this share of the labels is written out
  struct Span {
    size_t begin = 0;
    uint32_t used = 0, capacity = 0;
    uint32_t full = kNone;  // its number among the rows written out
  };
  struct Sums {
    Real u = 0, g = 0;
  };
  std::vector<Span> spans;
  std::vector<uint16_t> label_of;  // of each cell; there are at most 65,535 labels, and 255 with edges
  std::vector<Real> w;
  std::vector<Sums> sums;
  std::vector<Real> full;  // (rows written out, stride)

  size_t find(size_t row, int label) {
    Span& s = spans[row];
    for (size_t i = s.begin; i < s.begin + s.used; ++i)
      if (label_of[i] == label) return i;
    if (s.used == s.capacity) {
      const uint32_t capacity = s.capacity ? 2 * s.capacity : 2;
      const size_t begin = w.size(), size = begin + capacity;
      move_to(begin, size, s, label_of);
      move_to(begin, size, s, w);
      move_to(begin, size, s, sums);
      s.begin = begin;
      s.capacity = capacity;
    }
    const size_t i = s.begin + s.used++;
    label_of[i] = uint16_t(label);
    w[i] = 0;
    sums[i] = {};
    if (s.full == kNone && s.used * kShare >= uint32_t(stride)) {
      full.resize(full.size() + size_t(stride));
      s.full = uint32_t(full.size() / size_t(stride)) - 1;
      for (size_t k = s.begin; k < s.begin + s.used; ++k) copy_out(s, label_of[k], w[k]);
    }
    return i;
  }
  void copy_out(const Span& s, int label, Real weight) {
    if (s.full != kNone) full[size_t(s.full) * stride + label] = weight;
  }
  template <class Number>
  static void move_to(size_t begin, size_t size, const Span& from, std::vector<Number>& numbers) {
    numbers.resize(size);
    std::copy_n(numbers.begin() + int64_t(from.begin), from.used, numbers.begin() + int64_t(begin));
  }
};

}  // namespace seqtag
