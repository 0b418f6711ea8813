// Vectors of 16 bytes, the width that every x86-64 and ARM64 machine has, or of 32 where this is
// compiled for AVX2 (a tenth faster), and rows padded to full ones. What is computed, and in which
// order, does not depend on the width.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace seqtag {

#if defined(__GNUC__) || defined(__clang__)
#define SEQTAG_PREFETCH(address) __builtin_prefetch(address)
// GCC takes a function that only prefetches for one without effect and drops calls it does not inline.
#define SEQTAG_INLINE inline __attribute__((always_inline))
#if defined(__AVX2__)
#define SEQTAG_VECTOR __attribute__((vector_size(32)))
#else
#define SEQTAG_VECTOR __attribute__((vector_size(16)))
#endif
template <class Real> struct VectorOf;
template <> struct VectorOf<float> {
  typedef float type SEQTAG_VECTOR;
};
template <> struct VectorOf<int16_t> {
  typedef int16_t type SEQTAG_VECTOR;
};
template <> struct VectorOf<int32_t> {
  typedef int32_t type SEQTAG_VECTOR;
};
template <> struct VectorOf<double> {
  typedef double type SEQTAG_VECTOR;
};
template <class Real> using Vector = typename VectorOf<Real>::type;
template <class Real> inline Vector<Real> maximum(Vector<Real> a, Vector<Real> b) { return a > b ? a : b; }
template <class Real> inline Vector<Real> splat(Real x) { return x - Vector<Real>{}; }
#else  // no vector extensions (MSVC): vectors of one, the compiler does what it can
#define SEQTAG_PREFETCH(address)
#define SEQTAG_INLINE inline
template <class Real> using Vector = Real;
template <class Real> inline Real maximum(Real a, Real b) { return a > b ? a : b; }
template <class Real> inline Real splat(Real x) { return x; }
#endif

template <class Real> inline Vector<Real> load(const Real* from) {
  Vector<Real> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class Real> inline void store(Real* to, Vector<Real> v) { std::memcpy(to, &v, sizeof v); }

// Whether any lane of a comparison is true.
template <class Mask> inline bool any(const Mask& mask) {
#if defined(__AVX2__)
  __m256i bits;
  std::memcpy(&bits, &mask, sizeof bits);
  return _mm256_movemask_epi8(bits) != 0;
#elif defined(__SSE2__)
  __m128i bits;
  std::memcpy(&bits, &mask, sizeof bits);
  return _mm_movemask_epi8(bits) != 0;
#else
  static const Mask none{};
  return std::memcmp(&mask, &none, sizeof mask) != 0;
#endif
}

template <class Real> constexpr int lanes = int(sizeof(Vector<Real>) / sizeof(Real));

// Calls visit(lane) for the lanes of a comparison that are true, in order.
template <class Real, class Mask, class Visit> SEQTAG_INLINE void for_each_lane(const Mask& mask, Visit visit) {
  unsigned bits = 0;
#if defined(__AVX2__)
  if constexpr (sizeof(Real) == 4) bits = unsigned(_mm256_movemask_ps(_mm256_castsi256_ps((__m256i)mask)));
  if constexpr (sizeof(Real) == 8) bits = unsigned(_mm256_movemask_pd(_mm256_castsi256_pd((__m256i)mask)));
#elif defined(__SSE2__)
  if constexpr (sizeof(Real) == 4) bits = unsigned(_mm_movemask_ps(_mm_castsi128_ps((__m128i)mask)));
  if constexpr (sizeof(Real) == 8) bits = unsigned(_mm_movemask_pd(_mm_castsi128_pd((__m128i)mask)));
#else
  constexpr size_t width = sizeof(Mask) / size_t(lanes<Real>);
  static const Mask none{};
  for (int j = 0; j < lanes<Real>; ++j)
    if (std::memcmp(reinterpret_cast<const char*>(&mask) + size_t(j) * width, &none, width)) bits |= 1u << j;
#endif
#if defined(__GNUC__) || defined(__clang__)
  for (; bits; bits &= bits - 1) visit(__builtin_ctz(bits));
#else
  for (int j = 0; bits; bits >>= 1, ++j)
    if (bits & 1) visit(j);
#endif
}

// The largest lane.
template <class Real> SEQTAG_INLINE Real largest_lane(const Vector<Real>& v) {
  Real x[lanes<Real>];
  store(x, v);
  for (int n = lanes<Real> / 2; n > 0; n /= 2)  // two by two: each comparison waits for fewer before it
    for (int j = 0; j < n; ++j) x[j] = x[j + n] > x[j] ? x[j + n] : x[j];
  return x[0];
}

// Labels per row, padded to full vectors (of 16 bytes at least).
template <class Real> inline int padded(int labels) {
  const int unit = lanes<Real> > 1 ? lanes<Real> : 16 / int(sizeof(Real));
  return (labels + unit - 1) / unit * unit;
}

// Where the vectors of a row of n begin.
template <class Real> inline std::vector<int> vectors_of(int n) {
  std::vector<int> begin;
  for (int j = 0; j < n; j += lanes<Real>) begin.push_back(j);
  return begin;
}

// a[0:n] += b[0:n]; n is a multiple of the vector width, as in all functions here.
template <class Real> inline void add(Real* a, const Real* b, int n) {
  for (int j = 0; j < n; j += lanes<Real>) store(a + j, load(a + j) + load(b + j));
}
template <class Real> inline void add_scaled(Real* a, const Real* b, Real scale, int n) {
  const Vector<Real> s = splat(scale);
  for (int j = 0; j < n; j += lanes<Real>) store(a + j, load(a + j) + load(b + j) * s);
}
template <class Real> inline void subtract(Real* a, Real b, int n) {
  const Vector<Real> s = splat(b);
  for (int j = 0; j < n; j += lanes<Real>) store(a + j, load(a + j) - s);
}
// out[0:width] = the sum of n rows, kept in registers.
template <int vectors, class Real> inline void sum_columns(const Real* const* rows, int n, Real* out, int j) {
  Vector<Real> sum[vectors] = {};
  for (int r = 0; r < n; ++r)
    for (int i = 0; i < vectors; ++i) sum[i] = sum[i] + load(rows[r] + j + i * lanes<Real>);
  for (int i = 0; i < vectors; ++i) store(out + j + i * lanes<Real>, sum[i]);
}
template <class Real> inline void sum_of(const Real* const* rows, int n, Real* out, int width) {
  int j = 0;
  for (; j + 4 * lanes<Real> <= width; j += 4 * lanes<Real>) sum_columns<4>(rows, n, out, j);
  for (; j + 2 * lanes<Real> <= width; j += 2 * lanes<Real>) sum_columns<2>(rows, n, out, j);
  for (; j < width; j += lanes<Real>) sum_columns<1>(rows, n, out, j);
}
template <class Real> inline Real largest(const Real* a, int n) {
  Vector<Real> m = load(a);
  for (int j = lanes<Real>; j < n; j += lanes<Real>) m = maximum<Real>(m, load(a + j));
  return largest_lane<Real>(m);
}

// Lowest j in [0, n) of the largest a[j] + b[j].
template <class Real> inline int argmax_of_sum(const Real* a, const Real* b, int n) {
  Vector<Real> m = load(a) + load(b);
  for (int j = lanes<Real>; j < n; j += lanes<Real>) m = maximum<Real>(m, load(a + j) + load(b + j));
  const Real best = largest_lane<Real>(m);
  for (int j = 0;; j += lanes<Real>)
    if (j + lanes<Real> >= n || any(load(a + j) + load(b + j) == splat(best)))
      for (int k = j; k < n; ++k)
        if (k == n - 1 || a[k] + b[k] == best) return k;
}

// Lowest j in [0, K) where a[j] is x, else K - 1; K <= n.
template <class Real> inline int first_of(const Real* a, Real x, int K, int n) {
  int j = 0;
  while (j + lanes<Real> < n && !any(load(a + j) == splat(x))) j += lanes<Real>;
  while (j < K - 1 && a[j] != x) ++j;
  return j;
}

// Four numbers as one vector.
#if defined(__GNUC__) || defined(__clang__)
template <class Sum> struct FourOf;
template <> struct FourOf<int16_t> {
  typedef int16_t type __attribute__((vector_size(8)));
};
template <> struct FourOf<int32_t> {
  typedef int32_t type __attribute__((vector_size(16)));
};
template <class Sum> using Four = typename FourOf<Sum>::type;
#else
template <class Sum> struct Four {
  Sum of[4];
  Four operator+(const Four& other) const {
    return {{Sum(of[0] + other.of[0]), Sum(of[1] + other.of[1]), Sum(of[2] + other.of[2]), Sum(of[3] + other.of[3])}};
  }
};
#endif
template <class Sum> inline Four<Sum> load_four(const Sum* from) {
  Four<Sum> four;
  std::memcpy(&four, from, sizeof four);
  return four;
}

}  // namespace seqtag
