// Rows that the sums of new types are made of. frozen.h: Frozen.
#pragma once
#include <cstdint>
#include <vector>

#include "frozen_rows.h"

namespace seqtag {

// Asks for the memory of all rows before it waits for that of any: they lie far from each other.
template <class Sum> class WantedRows {
 public:
  void want(const FrozenRows& rows, uint64_t key, Sum* acc) {
    rows.prefetch_slot(key);
    wanted_.push_back({key, acc, FrozenRows::kNone});
  }
  void add_all(const FrozenRows& rows) {
    for (Wanted& w : wanted_) rows.prefetch_whole_row(w.place = rows.candidate(w.key));
    for (const Wanted& w : wanted_)
      if (w.place != FrozenRows::kNone) rows.add(w.acc, w.key, w.place);
    wanted_.clear();
  }

 private:
  struct Wanted {
    uint64_t key;
    Sum* acc;
    uint32_t place;
  };
  std::vector<Wanted> wanted_;
};

}  // namespace seqtag
