// The secret of the hash tables, and how long their ways are for given values: a test asks.
#pragma once
#include <vector>

#include "bind.h"
#include "frozen_rows.h"
#include "grams.h"
#include "index.h"
#include "scan.h"
#include "secret.h"

namespace seqtag {

inline void draw_secret(uint64_t addend, uint64_t factor) { process_secret() = {addend, factor | 1}; }

inline size_t longest_way_of_values(nb::bytes blob, In<int64_t> offsets) {
  require(ascending(offsets, blob.size()), "offsets must ascend from 0 to the length of blob");
  Interner values;
  for (size_t i = 0; i + 1 < offsets.shape(0); ++i)
    values.intern(blob.c_str() + offsets(i), size_t(offsets(i + 1) - offsets(i)));
  return values.longest_way();
}

// Of tables of keys in training and in a frozen model, and of pairs whose halves they are.
inline nb::tuple longest_ways_of_keys(In<uint64_t> keys) {
  KeyNumbers numbers;
  PairNumbers pairs;
  for (size_t i = 0; i < keys.shape(0); ++i) {
    numbers.number(keys(i));
    pairs.number(int32_t(keys(i) >> 32), int32_t(keys(i)));
  }
  const std::vector<int64_t> row_ptr(keys.shape(0) + 1, 0);
  const FrozenRows rows(keys.data(), keys.shape(0), row_ptr.data(), nullptr, nullptr);
  return nb::make_tuple(numbers.longest_way(), rows.longest_way(), pairs.longest_way());
}

inline void bind_tables(nb::module_& m) {
  m.def("draw_secret", &draw_secret, nb::arg("addend"), nb::arg("factor"));
  m.def("longest_way_of_values", &longest_way_of_values, nb::arg("blob"), nb::arg("offsets"));
  m.def("longest_ways_of_keys", &longest_ways_of_keys, nb::arg("keys"));
}

}  // namespace seqtag
