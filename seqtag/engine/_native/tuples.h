// Numbers of tuples of types.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "interning.h"
#include "keys.h"
#include "secret.h"

namespace seqtag {

// Numbers of tuples of types, in the order in which they come.
class Tuples {
 public:
  // The number of the types that some columns have at token m; `most` if it is new and there are
  // so many already.
  size_t number(const Columns& x, const std::vector<int32_t>& columns, int64_t m, size_t most) {
    const size_t C = columns.size();
    if (slots_.size() < 2 * (count_ + 1)) grow(C);
    at_.resize(C);
    for (size_t i = 0; i < C; ++i) at_[i] = x.types[size_t(columns[i]) * x.tokens + size_t(m)];
    size_t slot = home(at_.data(), C);
    for (; slots_[slot]; slot = (slot + 1) & (slots_.size() - 1))
      if (std::equal(at_.begin(), at_.end(), &types_[(slots_[slot] - 1) * C])) return slots_[slot] - 1;
    if (count_ >= most) return most;
    types_.insert(types_.end(), at_.begin(), at_.end());
    slots_[slot] = uint32_t(++count_);
    return count_ - 1;
  }
  size_t count() const { return count_; }
  // Bytes of memory held.
  size_t bytes() const { return bytes_held(slots_) + bytes_held(types_); }

 private:
  std::vector<uint32_t> slots_;  // number + 1, or 0
  std::vector<int32_t> types_, at_;
  size_t count_ = 0;
  Secret secret_ = process_secret();
  size_t home(const int32_t* types, size_t C) const {
    uint64_t h = 0;
    for (size_t i = 0; i < C; ++i) h = secret_.mixed(h + uint64_t(uint32_t(types[i])) + 1);
    return size_t(h) & (slots_.size() - 1);
  }
  void grow(size_t C) {
    slots_.assign(std::max<size_t>(1024, 2 * slots_.size()), 0);
    for (size_t n = 0; n < count_; ++n) {
      size_t slot = home(&types_[n * C], C);
      while (slots_[slot]) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = uint32_t(n + 1);
    }
  }
};

}  // namespace seqtag
