// Sums for a few labels: one vector holds them all, and one row what a type gives to every offset.
// Included by quantized_model.h.
#pragma once
#include "quantized_model.h"

namespace seqtag {

// Few labels: adds what a column's types give to all tokens of a block.
template <class Sum>
void QuantizedModel<Sum>::sum_column(const Columns& x, size_t c, const Block& block, Workspace& space) const {
  switch (local_[c].width / kFew) {
    case 1:
      return sum_column_of<1>(x, c, block, space);
    case 2:
      return sum_column_of<2>(x, c, block, space);
    case 3:
      return sum_column_of<3>(x, c, block, space);
    case 4:
      return sum_column_of<4>(x, c, block, space);
    case 5:
      return sum_column_of<5>(x, c, block, space);
    case 6:
      return sum_column_of<6>(x, c, block, space);
    default:
      return sum_column_of<0>(x, c, block, space);
  }
}

// kSpan: how many offsets the column is seen from; 0 if that is not known here.
template <class Sum>
template <int kSpan>
void QuantizedModel<Sum>::sum_column_of(const Columns& x, size_t c, const Block& block, Workspace& space) const {
  const LocalColumns& local = local_[c];
  const size_t span = kSpan ? size_t(kSpan) : local.width / kFew, T = size_t(block.last - block.first);
  typename Workspace::TypeSums& sums = space.sums[c];
  space.places.resize(T + span);
  for (size_t i = 0; i + 1 < T + span; ++i)
    space.places[i] = uint32_t(held_row(x, c, block.first + local.lowest + int64_t(i), block, space) * local.width);
  const Sum* rows = sums.rows.data();
  const uint32_t* places = space.places.data();
  Sum* sum = space.sum.data() + size_t(block.first - block.begin) * kFew;
  for (size_t t = 0; t < T; ++t, sum += kFew) {
    Four<Sum> acc = load_four(sum);
    for (size_t k = 0; k < span; ++k) acc = acc + load_four(rows + places[t + k] + (span - 1 - k) * kFew);
    std::memcpy(sum, &acc, sizeof acc);
  }
}

// The row that holds what the type at m gives to the tokens that see it. A type beyond the capacity
// gives it at once, and has a row of zeros.
template <class Sum>
SEQTAG_INLINE size_t QuantizedModel<Sum>::held_row(const Columns& x, size_t c, int64_t m, const Block& block,
                                                   Workspace& space) const {
  const size_t held = space.sums[c].known.size();
  const size_t row = place_of(x, local_[c].columns[0], m, block.begin, block.end);
  if (row < held) return row;
  for (const LocalGroup& g : local_[c].groups) {
    const int64_t t = m - g.offset;
    if (t >= block.first && t < block.last)
      add_local(x, g, m, block.begin, block.end, &space.sum[size_t(t - block.begin) * kFew]);
  }
  return held;
}

}  // namespace seqtag
