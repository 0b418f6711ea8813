// Sums of the local templates, kept for each type and added up for each token.
// Included by quantized_model.h.
#pragma once
#include "quantized_model.h"

namespace seqtag {

// Prepares a block while the one before it is summed.
template <class Sum>
void QuantizedModel<Sum>::prepare(const Columns& x, const Block& block, Workspace& space,
                                  ScatteredTemplates::Keys& keys) const {
  const int64_t first = block.first == block.begin ? block.begin - 1 : block.first;
  const int64_t last = std::min(block.end, block.last + local_reach_);
  for (size_t c = 0; c < local_.size(); ++c) {
    typename Workspace::TypeSums& sums = space.sums[c];
    if (local_[c].columns.size() > 1)
      for (int64_t m = std::max(first, block.begin); m < std::min(last + 1, block.end); ++m) {
        const size_t place = 2 + sums.tuples.number(x, local_[c].columns, m, sums.capacity);
        if (place >= sums.known.size()) make_room(c, std::min(2 * place, sums.capacity + 2), sums);
        sums.place[size_t(m)] = place;
      }
    for (int64_t m = first; m <= last; ++m) ready_local(x, c, m, block.begin, block.end, space);
    space.wanted.add_all(rows_);
  }
  scattered_.find_keys(plan_, x, block, rows_, space.hashes, keys);
}

// Makes room for the sums of so many places.
template <class Sum>
void QuantizedModel<Sum>::make_room(size_t c, size_t places, typename Workspace::TypeSums& sums) const {
  if (places <= sums.known.size()) return;
  sums.known.resize(places, 0);
  const size_t width = sums.width = local_[c].width;
  sums.rows.resize((places + 1) * width);
  if (few_) std::fill_n(&sums.rows[places * width], width, Sum(0));  // for types beyond the capacity
}

// Where the sums for the type, or tuple, at position m are.
template <class Sum>
SEQTAG_INLINE size_t QuantizedModel<Sum>::place_at(const Columns& x, size_t c, int64_t m, int64_t begin, int64_t end,
                                                   const typename Workspace::TypeSums& sums) const {
  if (local_[c].columns.size() == 1) return place_of(x, local_[c].columns[0], m, begin, end);
  return m < begin ? 0 : m >= end ? 1 : sums.place[size_t(m)];
}

// Notes what local templates give for the type at m, if it is new; else asks for the sums.
template <class Sum>
SEQTAG_INLINE void QuantizedModel<Sum>::ready_local(const Columns& x, size_t c, int64_t m, int64_t begin, int64_t end,
                                                    Workspace& space) const {
  typename Workspace::TypeSums& sums = space.sums[c];
  const std::vector<LocalGroup>& groups = local_[c].groups;
  const size_t row = place_at(x, c, m, begin, end, sums), width = local_[c].width;
  if (row >= sums.known.size()) return;
  Sum* first = &sums.rows[row * width];
  if (!sums.known[row]) {
    std::fill_n(first, width, Sum(0));
    for (size_t g = 0; g < groups.size(); ++g) {
      Sum* sum = first + (few_ ? size_t(local_[c].highest - groups[g].offset) : g) * size_t(width_);
      for (size_t k : groups[g].templates)
        if (const uint64_t key = local_key_at(plan_, x, k, m, begin, end)) space.wanted.want(rows_, key, sum);
    }
    sums.known[row] = 1;
    ++sums.count;
    return;
  }
  for (size_t b = 0; b < width * sizeof(Sum); b += 64) SEQTAG_PREFETCH(reinterpret_cast<char*>(first) + b);
  SEQTAG_PREFETCH(first + width - 1);  // may be on one line of memory more
}

// space.sum at a token = the sum of all local templates.
template <class Sum>
void QuantizedModel<Sum>::sum_local(const Columns& x, const Block& block, size_t t, Workspace& space) const {
  const int64_t n = block.first + int64_t(t), begin = block.begin, end = block.end;
  size_t i = 0;
  bool all = true;
  for (size_t c = 0; c < local_.size(); ++c) {
    const std::vector<LocalGroup>& groups = local_[c].groups;
    const typename Workspace::TypeSums& sums = space.sums[c];
    for (size_t g = 0; g < groups.size(); ++g, ++i) {
      const size_t row = place_at(x, c, n + groups[g].offset, begin, end, sums);
      const bool known = row < sums.known.size();
      all &= known;
      space.local[i] = known ? &sums.rows[(row * groups.size() + g) * size_t(width_)] : space.nothing.data();
    }
  }
  Sum* acc = sum_at(block, t, space);
  sum_of(space.local.data(), int(space.local.size()), acc, width_);
  if (all) return;
  for (size_t c = 0; c < local_.size(); ++c)  // types beyond the capacity
    for (const LocalGroup& group : local_[c].groups)
      if (place_at(x, c, n + group.offset, begin, end, space.sums[c]) >= space.sums[c].known.size())
        add_local(x, group, n + group.offset, begin, end, acc);
}

// Adds what the templates of a group give for the type at m.
template <class Sum>
void QuantizedModel<Sum>::add_local(const Columns& x, const LocalGroup& group, int64_t m, int64_t begin, int64_t end,
                                    Sum* acc) const {
  for (size_t k : group.templates) rows_.add(acc, key_at(plan_, x, k, m - group.offset, begin, end));
}

}  // namespace seqtag
