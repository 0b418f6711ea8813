// Hash-flooding protection: hash tables are seeded per process, with numbers that it draws. No result
// depends on them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif

#include "simd.h"

namespace seqtag {

// Low and high half of a product, folded: every bit of it depends on all of both factors.
SEQTAG_INLINE uint64_t folded_product(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
  __extension__ typedef unsigned __int128 Wide;
  const Wide product = Wide(a) * b;
  return uint64_t(product) ^ uint64_t(product >> 64);
#elif defined(_MSC_VER) && defined(_M_X64)
  uint64_t high;
  const uint64_t low = _umul128(a, b, &high);
  return low ^ high;
#else
  const uint64_t a1 = a >> 32, a0 = uint32_t(a), b1 = b >> 32, b0 = uint32_t(b);
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + uint32_t(middle);
  return (a1 * b1 + (middle >> 32) + (other >> 32)) ^ (a * b);
#endif
}

// Keyed hashes. A table keeps the secret that it was made with.
struct Secret {
  uint64_t addend = 0x243f6a8885a308d3ULL, factor = 0x13198a2e03707345ULL;  // before a process draws its own

  SEQTAG_INLINE uint64_t mixed(uint64_t number) const { return folded_product(number ^ addend, factor); }
  uint64_t hash(const char* p, size_t n) const {
    uint64_t h = addend ^ n;
    for (; n >= 8; p += 8, n -= 8) {
      uint64_t word;
      std::memcpy(&word, p, 8);
      h = folded_product(h ^ word, factor);
    }
    uint64_t word = 0;
    std::memcpy(&word, p, n);
    return mixed(folded_product(h ^ word, factor));
  }
};

// That of this process: drawn once, when native.py loads the kernel.
inline Secret& process_secret() {
  static Secret secret;
  return secret;
}

// The longest probe sequence in a table of open addressing. home(slot): the home slot of the entry
// there; used(slot): whether there is one.
template <class Home, class Used> size_t longest_probe(size_t slots, Home home, Used used) {
  size_t longest = 0;
  for (size_t slot = 0; slot < slots; ++slot)
    if (used(slot)) {
      const size_t distance = (slot + slots - home(slot)) & (slots - 1);
      if (distance > longest) longest = distance;
    }
  return longest;
}

}  // namespace seqtag
