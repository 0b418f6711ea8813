// Memory that is read at random: on large pages where the system has them, which saves page look-ups.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace seqtag {

// Gives memory that was freed back to the system, after much of it was.
inline void give_back_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

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

// Memory whose values are not set. The system gives a page of it when it is first used, and moves
// pages, not bytes, when it grows.
template <class T> class UnsetMemory {
 public:
  void resize(size_t n) {
    if (n > size_t(-1) / 2 / sizeof(T)) throw std::bad_alloc();
    void* memory = std::realloc(data_.get(), n * sizeof(T));
    if (!memory) throw std::bad_alloc();
    data_.release();
    data_.reset(static_cast<T*>(memory));
#if defined(__linux__)
    constexpr uintptr_t kPage = uintptr_t(1) << 21;
    const uintptr_t begin = (uintptr_t(memory) + kPage - 1) / kPage * kPage, end = uintptr_t(memory) + n * sizeof(T);
    if (begin + kPage <= end)  // only a hint
      madvise(reinterpret_cast<void*>(begin), (end - begin) / kPage * kPage, MADV_HUGEPAGE);
#endif
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](size_t i) { return data_.get()[i]; }
  const T& operator[](size_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::unique_ptr<T[], Free> data_;
};

}  // namespace seqtag
