// Tokens labeled one by one (order 0) among many labels: most keep the label that their own features prefer.
// Included by quantized_model.h.
#pragma once
#include "quantized_model.h"

namespace seqtag {

template <class Sum> void QuantizedModel<Sum>::find_own() {
  size_t most = 0;
  for (size_t c = 0; c < local_.size(); ++c)
    for (size_t g = 0; g < local_[c].groups.size(); ++g) {
      const LocalGroup& group = local_[c].groups[g];
      if (group.offset != 0 || group.templates.size() <= most) continue;
      most = group.templates.size();
      own_ = c;
      own_group_ = g;
    }
}

// Labels the tokens of a block, each by itself: with the favorite of its own features where its
// neighbours together cannot take away the lead, else with the label of the highest sum.
template <class Sum>
void QuantizedModel<Sum>::label_each(const Columns& x, const Block& block, Workspace& space,
                                     const ScatteredTemplates::Keys& keys, int32_t* out_labels) const {
  const size_t n = find_rows(space, keys), T = block.tokens();
  space.favorites.resize(T);
  for (size_t t = 0; t < T; ++t) space.favorites[t] = favorite_at(x, block, t, space);
  for (size_t i = 0; i < n; ++i) {
    Favorite& favorite = space.favorites[space.found[i].token];
    if (favorite.lead > 0)
      favorite.lead -= rows_.most_over(size_t(favorite.label), space.found[i].key, space.found[i].place);
  }
  const auto next_unsure = [&](size_t t) {
    while (t < T && space.favorites[t].lead > 0) ++t;
    return t;
  };
  for (size_t t = next_unsure(0), next; t < T; t = next) {
    next = next_unsure(t + 1);
    if (next < T) gather_local(x, block, next, space, true);
    sum_local(x, block, t, space);
  }
  for (size_t i = 0; i < n; ++i) {
    const auto& found = space.found[i];
    if (space.favorites[found.token].lead <= 0) rows_.add(sum_at(block, found.token, space), found.key, found.place);
  }
  for (size_t t = 0; t < T; ++t) {
    const Favorite& favorite = space.favorites[t];
    out_labels[size_t(block.first) + t] = favorite.lead > 0 ? favorite.label : best_label(sum_at(block, t, space));
  }
}

// The favorite of a token, with what is left of its lead after the sums of all types around: their
// spread at most, and if that is too much, by how much they help another label more than this one.
template <class Sum>
Favorite QuantizedModel<Sum>::favorite_at(const Columns& x, const Block& block, size_t t,
                                          const Workspace& space) const {
  const int64_t m = block.first + int64_t(t);
  const size_t own = place_at(x, own_, m, block.begin, block.end, space.sums[own_]);
  if (own >= space.sums[own_].known.size()) return {0, 0};
  const Favorite favorite = space.sums[own_].favorites[own];
  const auto left_over = [&](auto taken) {
    int32_t lead = favorite.lead;
    for (size_t c = 0; c < local_.size(); ++c) {
      const std::vector<LocalGroup>& groups = local_[c].groups;
      const typename Workspace::TypeSums& sums = space.sums[c];
      for (size_t g = 0; g < groups.size(); ++g) {
        if (c == own_ && g == own_group_) continue;
        const size_t place = place_at(x, c, m + groups[g].offset, block.begin, block.end, sums);
        if (place >= sums.known.size()) return 0;
        lead -= taken(sums, place * groups.size() + g);
      }
    }
    return lead;
  };
  using Sums = typename Workspace::TypeSums;
  int32_t lead = left_over([](const Sums& sums, size_t row) { return sums.spread[row]; });
  if (lead <= 0)
    lead = left_over([&](const Sums& sums, size_t row) {
      return int32_t(sums.highest[row]) - sums.rows[row * size_t(width_) + size_t(favorite.label)];
    });
  return {favorite.label, lead};
}

template <class Sum> Favorite QuantizedModel<Sum>::favorite_of(const Sum* row) const {
  const int32_t label = best_label(row);
  int32_t second = std::numeric_limits<int32_t>::min() / 2;
  for (int32_t j = 0; j < chain_.labels; ++j)
    if (j != label) second = std::max(second, int32_t(row[j]));
  return {label, row[label] - second};
}

template <class Sum>
void QuantizedModel<Sum>::note_highest(size_t c, size_t row, typename Workspace::TypeSums& sums) const {
  const size_t G = local_[c].groups.size();
  const Sum* first = &sums.rows[row * G * size_t(width_)];
  for (size_t g = 0; g < G; ++g, first += width_) {
    const auto [lowest, highest] = std::minmax_element(first, first + chain_.labels);
    sums.highest[row * G + g] = *highest;
    sums.spread[row * G + g] = int32_t(*highest) - *lowest;
    if (c == own_ && g == own_group_) sums.favorites[row] = favorite_of(first);
  }
}

}  // namespace seqtag
