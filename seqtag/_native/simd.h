// Four or eight bytes at a time is all the kernel needs: rows are padded to whole vectors of 16
// bytes, the width every x86-64 and ARM64 machine has, so one binary serves all of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace seqtag {

#if defined(__GNUC__) || defined(__clang__)
#define SEQTAG_PREFETCH(address) __builtin_prefetch(address)
// GCC takes a function that only prefetches for one without effect and drops calls it does not inline.
#define SEQTAG_INLINE inline __attribute__((always_inline))
template <class Real> struct VectorOf;
template <> struct VectorOf<float> { typedef float type __attribute__((vector_size(16))); };
template <> struct VectorOf<double> { typedef double type __attribute__((vector_size(16))); };
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

template <class Real> constexpr int lanes = int(sizeof(Vector<Real>) / sizeof(Real));

// Labels per row, padded to whole cache-friendly vectors.
template <class Real> inline int padded(int labels) {
  const int unit = 16 / int(sizeof(Real));
  return (labels + unit - 1) / unit * unit;
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
template <class Real> inline Real largest(const Real* a, int n) {
  Vector<Real> m = load(a);
  for (int j = lanes<Real>; j < n; j += lanes<Real>) m = maximum<Real>(m, load(a + j));
  Real out[lanes<Real>];
  store(out, m);
  Real best = out[0];
  for (int j = 1; j < lanes<Real>; ++j) best = out[j] > best ? out[j] : best;
  return best;
}

}  // namespace seqtag
