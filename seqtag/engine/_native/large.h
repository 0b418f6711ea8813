// Memory that is read at random: on large pages where the system has them, which saves page look-ups.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace seqtag {

template <class T> struct LargeAllocator {
  using value_type = T;
  LargeAllocator() = default;
  template <class Other> LargeAllocator(const LargeAllocator<Other>&) {}

  T* allocate(size_t n) {
    if (n > size_t(-1) / 2 / sizeof(T)) throw std::bad_alloc();
#if defined(__linux__)
    if (n * sizeof(T) >= kPage) {
      const size_t bytes = (n * sizeof(T) + kPage - 1) / kPage * kPage;
      void* memory = std::aligned_alloc(kPage, bytes);
      if (!memory) throw std::bad_alloc();
      madvise(memory, bytes, MADV_HUGEPAGE);  // only a hint
      return static_cast<T*>(memory);
    }
#endif
    void* memory = std::malloc(n * sizeof(T));
    if (!memory) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) { std::free(memory); }
  template <class Other> bool operator==(const LargeAllocator<Other>&) const { return true; }
  template <class Other> bool operator!=(const LargeAllocator<Other>&) const { return false; }

 private:
  static constexpr size_t kPage = size_t(1) << 21;
};

template <class T> using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace seqtag
