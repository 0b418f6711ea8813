// Feature keys: one number per (template, attribute values). keys.py states the formula.
#pragma once
#include <cstddef>
#include <cstdint>

namespace seqtag {

inline uint64_t mix(uint64_t q) { return (q ^ (q >> 32)) * 0xff51afd7ed558ccdULL; }

// Hash of a value that comes in pieces: FNV-1a over the bytes, then a finalizer; never 0, which means "absent".
class BytesHash {
 public:
  void add(uint8_t byte) { h_ = (h_ ^ byte) * 0x100000001b3ULL; }
  void add(const char* bytes, size_t n) {
    for (size_t i = 0; i < n; ++i) add(uint8_t(bytes[i]));
  }
  uint64_t value() const { return mix(mix(h_)) | 1; }

 private:
  uint64_t h_ = 0xcbf29ce484222325ULL;
};
inline uint64_t hash_bytes(const char* bytes, size_t n) {
  BytesHash hash;
  hash.add(bytes, n);
  return hash.value();
}

// Templates as flat arrays. arrays.py: KeyPlan.
struct Plan {
  size_t templates;
  const int64_t* term_ptr;          // (templates + 1,)
  const int32_t* term_attribute;    // attribute number of each term
  const int32_t* term_offset;       // position of each term relative to the token
  const uint64_t* seed;             // (templates,)
  const uint64_t* multiplier;       // one per place in a conjunction
  const int32_t* attribute_column;  // column each attribute reads
  int shift;                        // lowest bits that keys leave out

  // The key that a sum makes; never 0, which means "absent".
  uint64_t key(uint64_t sum) const {
    const uint64_t key = mix(sum) >> shift;
    return key ? key : 1;
  }
};

// Whether a template looks at one position of one column, so that its key follows from the type there.
inline bool is_local(const Plan& plan, size_t k) {
  const int64_t first = plan.term_ptr[k];
  bool local = first < plan.term_ptr[k + 1];
  for (int64_t i = first; i < plan.term_ptr[k + 1]; ++i)
    local = local && plan.term_offset[i] == plan.term_offset[first] &&
            plan.attribute_column[plan.term_attribute[i]] == plan.attribute_column[plan.term_attribute[first]];
  return local;
}

// Whether a template looks at one position, of one column or of several.
inline bool is_at_one_position(const Plan& plan, size_t k) {
  const int64_t first = plan.term_ptr[k];
  bool one = first < plan.term_ptr[k + 1];
  for (int64_t i = first; i < plan.term_ptr[k + 1]; ++i) one = one && plan.term_offset[i] == plan.term_offset[first];
  return one;
}

// Columns of a corpus as type ids, and for each attribute the hash of its value per type.
struct Columns {
  const int32_t* types;    // (columns, tokens)
  const uint64_t* hashes;  // (attributes, capacity); 0: absent
  size_t tokens, capacity;
};

// Place of the value of a column at position m of the sentence [begin, end): 0 before it, 1 after it, else
// 2 + the type; less than capacity + 2.
inline size_t place_of(const Columns& x, int32_t column, int64_t m, int64_t begin, int64_t end) {
  return m < begin ? 0 : m >= end ? 1 : 2 + size_t(x.types[size_t(column) * x.tokens + size_t(m)]);
}

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
  return plan.key(sum);
}

// Key of a local template, from the position m at which it looks; faster for a single term.
inline uint64_t local_key_at(const Plan& plan, const Columns& x, size_t k, int64_t m, int64_t begin, int64_t end) {
  const int64_t i = plan.term_ptr[k];
  if (m < begin || m >= end || plan.term_ptr[k + 1] != i + 1)
    return key_at(plan, x, k, m - plan.term_offset[i], begin, end);
  const size_t a = size_t(plan.term_attribute[i]);
  const uint64_t h =
      x.hashes[a * x.capacity + size_t(x.types[size_t(plan.attribute_column[a]) * x.tokens + size_t(m)])];
  if (h == 0) return 0;
  return plan.key(plan.seed[k] + h * plan.multiplier[0]);
}

}  // namespace seqtag
