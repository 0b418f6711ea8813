// Bytes of memory that a vector holds; what limits on memory add up.
#pragma once
#include <cstddef>

namespace seqtag {

template <class Vector> size_t bytes_held(const Vector& vector) {
  return vector.capacity() * sizeof(typename Vector::value_type);
}

}  // namespace seqtag
