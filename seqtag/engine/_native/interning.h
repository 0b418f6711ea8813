// Strings and tuples of numbers, numbered in order of first appearance.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "secret.h"
#include "simd.h"

namespace seqtag {

// Bytes of memory that a vector holds.
template <class Vector> size_t bytes_held(const Vector& vector) {
  return vector.capacity() * sizeof(typename Vector::value_type);
}

// Distinct values numbered as they come.
class Interner {
 public:
  Interner() : slots_(1 << 12, Slot{0, -1}), ends_(1, 0) {}
  size_t size() const { return ends_.size() - 1; }
  std::string_view value(size_t id) const { return {&bytes_[0] + ends_[id], ends_[id + 1] - ends_[id]}; }
  int32_t intern(const char* p, size_t n) {
    const uint64_t h = secret_.hash(p, n);
    size_t i = size_t(h >> 32) & (slots_.size() - 1);
    for (; slots_[i].id >= 0; i = (i + 1) & (slots_.size() - 1))
      if (slots_[i].half == uint32_t(h)) {
        const std::string_view known = value(size_t(slots_[i].id));
        if (known.size() == n && std::memcmp(known.data(), p, n) == 0) return slots_[i].id;
      }
    const int32_t id = int32_t(size());
    slots_[i] = {uint32_t(h), id};
    bytes_.append(p, n);
    ends_.push_back(bytes_.size());
    if (2 * size() > slots_.size()) grow();
    return id;
  }
  // Bytes of memory held.
  size_t bytes() const { return bytes_held(slots_) + bytes_.capacity() + bytes_held(ends_); }
  size_t longest_probe() const {
    return seqtag::longest_probe(
        slots_.size(), [&](size_t slot) { return size_t(hash(size_t(slots_[slot].id)) >> 32) & (slots_.size() - 1); },
        [&](size_t slot) { return slots_[slot].id >= 0; });
  }

 private:
  struct Slot {
    uint32_t half;
    int32_t id;
  };
  Secret secret_ = process_secret();
  std::vector<Slot> slots_;
  std::string bytes_;
  std::vector<size_t> ends_;

  uint64_t hash(size_t id) const { return secret_.hash(value(id).data(), value(id).size()); }
  void grow() {
    slots_.assign(slots_.size() * 2, Slot{0, -1});
    for (size_t id = 0; id < size(); ++id) {
      const uint64_t h = hash(id);
      size_t i = size_t(h >> 32) & (slots_.size() - 1);
      while (slots_[i].id >= 0) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = {uint32_t(h), int32_t(id)};
    }
  }
};

// Tuples of numbers, an even count of them, numbered as they come.
template <size_t N> class TupleNumbers {
 public:
  using Tuple = std::array<int32_t, N>;
  TupleNumbers() : slots_(256) {}
  size_t size() const { return places_.size(); }
  const Tuple& tuple(size_t number) const { return slots_[places_[number]].tuple; }
  SEQTAG_INLINE uint64_t hash(const int32_t* tuple) const {
    uint64_t h = 0;
    for (size_t i = 0; i < N; i += 2)
      h = secret_.mixed(h ^ (uint64_t(uint32_t(tuple[i])) << 32 | uint32_t(tuple[i + 1])));
    return h;
  }
  SEQTAG_INLINE void prefetch(uint64_t hash) const { SEQTAG_PREFETCH(&slots_[home(hash)]); }
  SEQTAG_INLINE int32_t number(const int32_t* tuple, uint64_t hash) {
    size_t i = home(hash);
    for (; slots_[i].number >= 0; i = (i + 1) & (slots_.size() - 1))
      if (std::memcmp(slots_[i].tuple.data(), tuple, sizeof(Tuple)) == 0) return slots_[i].number;
    return insert(i, tuple);
  }
  SEQTAG_INLINE int32_t number(const Tuple& tuple) { return number(tuple.data(), hash(tuple.data())); }
  // Bytes of memory held.
  size_t bytes() const { return bytes_held(slots_) + bytes_held(places_); }
  size_t longest_probe() const {
    return seqtag::longest_probe(
        slots_.size(), [&](size_t slot) { return home(hash(slots_[slot].tuple.data())); },
        [&](size_t slot) { return slots_[slot].number >= 0; });
  }

 private:
  struct Slot {
    Tuple tuple{};
    int32_t number = -1;
  };
  std::vector<Slot> slots_;
  std::vector<uint32_t> places_;  // per number: its slot
  Secret secret_ = process_secret();

  SEQTAG_INLINE size_t home(uint64_t hash) const { return size_t(hash) & (slots_.size() - 1); }
  int32_t insert(size_t i, const int32_t* tuple) {
    const int32_t number = int32_t(size());
    std::copy_n(tuple, N, slots_[i].tuple.begin());
    slots_[i].number = number;
    places_.push_back(uint32_t(i));
    if (3 * size() > 2 * slots_.size()) grow();
    return number;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (uint32_t& place : places_) {
      const Slot& moved = old[place];
      size_t i = home(hash(moved.tuple.data()));
      while (slots_[i].number >= 0) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = moved;
      place = uint32_t(i);
    }
  }
};
using PairNumbers = TupleNumbers<2>;

}  // namespace seqtag
