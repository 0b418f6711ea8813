// Which templates are summed once per type, and which are looked up token by token.
#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "keys.h"
#include "scattered_templates.h"

namespace seqtag {

struct LocalGroup {  // templates of one column, or of several, at one offset
  int32_t offset;
  std::vector<size_t> templates;
};
struct LocalColumns {
  std::vector<int32_t> columns;
  std::vector<LocalGroup> groups;
  int32_t lowest = kFar, highest = -kFar;  // offsets
  size_t width = 0;                        // of the sums of one type
  static constexpr int32_t kFar = 1 << 20;
};

// The templates of a plan by the columns that they look at; those that look at several positions,
// and whatever else is not worth a sum for each type, are scattered.
class ArrangedTemplates {
 public:
  // few: labels are so few that only single columns are summed; wide: so many that small groups are not.
  ArrangedTemplates(const Plan& plan, bool few, bool wide, ScatteredTemplates& scattered) : plan_(plan), few_(few) {
    for (size_t k = 0; k < plan_.templates; ++k) {
      if (is_summed_once(k))
        group_of(seen_together(k), plan_.term_offset[plan_.term_ptr[k]]).templates.push_back(k);
      else
        scattered.add(plan_, k);
    }
    if (wide) scatter_small_groups(scattered);
  }
  const std::vector<LocalColumns>& columns() const { return columns_; }

 private:
  const Plan& plan_;
  bool few_;
  std::vector<LocalColumns> columns_;

  int32_t column(int64_t term) const { return plan_.attribute_column[plan_.term_attribute[term]]; }
  bool is_summed_once(size_t k) const { return few_ ? is_local(plan_, k) : is_at_one_position(plan_, k); }
  // The columns whose types are combined for a local template: where templates look at several
  // columns at one position, all those are one tuple, and what looks at one of them joins in.
  std::vector<int32_t> seen_together(size_t template_number) const {
    const auto columns_of = [&](size_t k) {
      std::vector<int32_t> columns;
      for (int64_t i = plan_.term_ptr[k]; i < plan_.term_ptr[k + 1]; ++i) columns.push_back(column(i));
      std::sort(columns.begin(), columns.end());
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      return columns;
    };
    const auto offset_of = [&](size_t k) { return plan_.term_offset[plan_.term_ptr[k]]; };
    const std::vector<int32_t> own = columns_of(template_number);
    std::vector<int32_t> all, sum;
    for (size_t k = 0; k < plan_.templates; ++k) {
      if (!is_summed_once(k) || offset_of(k) != offset_of(template_number)) continue;
      const std::vector<int32_t> columns = columns_of(k);
      if (columns.size() < 2) continue;
      sum.clear();
      std::set_union(all.begin(), all.end(), columns.begin(), columns.end(), std::back_inserter(sum));
      all.swap(sum);
    }
    return std::includes(all.begin(), all.end(), own.begin(), own.end()) ? all : own;
  }
  LocalGroup& group_of(const std::vector<int32_t>& columns, int32_t offset) {
    size_t c = 0;
    while (c < columns_.size() && columns_[c].columns != columns) ++c;
    if (c == columns_.size()) columns_.push_back({columns, {}});
    for (LocalGroup& g : columns_[c].groups)
      if (g.offset == offset) return g;
    columns_[c].groups.push_back({offset, {}});
    return columns_[c].groups.back();
  }
  // Adding a few rows of a few cells is faster than adding one row of very many labels.
  void scatter_small_groups(ScatteredTemplates& scattered) {
    constexpr size_t kSmall = 2;
    for (LocalColumns& c : columns_) {
      const auto is_small = [](const LocalGroup& g) { return g.templates.size() <= kSmall; };
      for (const LocalGroup& g : c.groups)
        for (size_t k : g.templates)
          if (is_small(g)) scattered.add(plan_, k);
      c.groups.erase(std::remove_if(c.groups.begin(), c.groups.end(), is_small), c.groups.end());
    }
    const auto is_empty = [](const LocalColumns& c) { return c.groups.empty(); };
    columns_.erase(std::remove_if(columns_.begin(), columns_.end(), is_empty), columns_.end());
  }
};

}  // namespace seqtag
