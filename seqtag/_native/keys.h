// Feature keys: one 64-bit number per (template, attribute values). encoding.py states the formula.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simd.h"

namespace seqtag {

inline uint64_t mix(uint64_t q) { return (q ^ (q >> 32)) * 0xff51afd7ed558ccdULL; }

// FNV-1a over the bytes, then a finaliser; never 0, which stands for "absent".
inline uint64_t hash_bytes(const char* bytes, size_t n) {
  uint64_t h = 0xcbf29ce484222325ULL;
  for (size_t i = 0; i < n; ++i) h = (h ^ uint8_t(bytes[i])) * 0x100000001b3ULL;
  return mix(mix(h)) | 1;
}

// Templates as flat arrays. reference: encoding.KeyPlan.
struct Plan {
  size_t templates;
  const int64_t* term_ptr;         // (templates + 1,)
  const int32_t* term_attribute;   // attribute number of each term
  const int32_t* term_offset;      // position of each term relative to the token
  const uint64_t* seed;            // (templates,)
  const uint64_t* multiplier;      // one per place in a conjunction
  const int32_t* attribute_column; // column each attribute reads
};

// Columns of a corpus as type ids, and for each attribute the hash of its value per type.
struct Columns {
  const int32_t* types;    // (columns, tokens)
  const uint64_t* hashes;  // (attributes, capacity); 0: absent
  size_t tokens, capacity;
};

constexpr uint64_t kLeft = 0x9e3779b97f4a7c15ULL, kRight = 0xc2b2ae3d27d4eb4fULL;  // beyond the ends

// Key of template k at token n of the sentence [begin, end); 0 if any term is absent.
inline uint64_t key_at(const Plan& plan, const Columns& x, size_t k, int64_t n, int64_t begin, int64_t end) {
  uint64_t sum = plan.seed[k];
  for (int64_t i = plan.term_ptr[k], z = 0; i < plan.term_ptr[k + 1]; ++i, ++z) {
    const int64_t m = n + plan.term_offset[i];
    uint64_t h;
    if (m < begin) {
      h = kLeft;
    } else if (m >= end) {
      h = kRight;
    } else {
      const size_t a = size_t(plan.term_attribute[i]);
      h = x.hashes[a * x.capacity + size_t(x.types[size_t(plan.attribute_column[a]) * x.tokens + size_t(m)])];
      if (h == 0) return 0;
    }
    sum += h * plan.multiplier[z];
  }
  const uint64_t key = mix(sum);
  return key ? key : 1;
}

// Open addressing from key to (value), growing; key 0 is the empty slot.
template <class Value> class KeyTable {
 public:
  struct Slot {
    uint64_t key = 0;
    Value value{};
  };
  explicit KeyTable(size_t expected = 0) {
    size_t n = 1024;
    while (n < expected * 2) n *= 2;
    slots_.resize(n);
  }
  // The slot's value, made on first use.
  Value& operator[](uint64_t key) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& s = slots_[find(key)];
    if (s.key == 0) {
      s.key = key;
      ++size_;
    }
    return s.value;
  }
  const Value* get(uint64_t key) const {
    const Slot& s = slots_[find(key)];
    return s.key ? &s.value : nullptr;
  }
  void prefetch(uint64_t key) const { SEQTAG_PREFETCH(&slots_[home(key)]); }
  size_t size() const { return size_; }

 private:
  std::vector<Slot> slots_;
  size_t size_ = 0;
  size_t home(uint64_t key) const { return size_t(key >> 32) & (slots_.size() - 1); }
  size_t find(uint64_t key) const {
    size_t i = home(key);
    while (slots_[i].key != 0 && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
    return i;
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& s : old)
      if (s.key) slots_[find(s.key)] = s;
  }
};

}  // namespace seqtag
