// Sentences of a corpus whose local rows are not stored token by token, as they are scored.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "instances.h"
#include "simd.h"

namespace seqtag {

// One sentence of such a corpus, its features written out.
template <class Real> class WrittenOut {
 public:
  const Instances<Real>& instances() const { return view_; }
  void write(const Instances<Real>& x, int64_t first, size_t T) {
    const LocalRows& local = x.local;
    find(local, first, T);
    size_t widest = 0, templates = 0;
    for (size_t r = 0; r < local.count; ++r) {
      widest = std::max(widest, size_t(local.runs[r].width));
      templates += size_t(local.runs[r].width);
    }
    if (features_.size() < T * templates + widest) features_.resize(T * templates + widest);
    token_ptr_.assign(1, 0);
    int32_t* out = features_.data();
    const uint8_t* number = local.of_token(first);
    const int32_t* const* place = places_.data();
    for (size_t t = 0; t < T; ++t) {
      for (size_t r = 0; r < local.count; ++r) {
        if (local.runs[r].column < 0) {
          *out = int32_t(local.number(number));
          out += local.number(number) != local.absent();
          number += local.bytes;
        } else {
          const int32_t* rows = *place++;
          int64_t k = 0;  // more than there are at a place are written over
          for (; k + 4 <= local.runs[r].width; k += 4) std::memcpy(out + k, rows + 1 + k, 4 * sizeof(int32_t));
          for (; k < local.runs[r].width; ++k) out[k] = rows[1 + k];
          out += *rows;
        }
      }
      token_ptr_.push_back(out - features_.data());
    }
    ends_[1] = int64_t(T);
    view_ = {ends_, token_ptr_.data(), features_.data(), nullptr, x.edge_ptr ? x.edge_ptr + first : nullptr, x.edges, 1,
             false};
    view_.set_of = x.set_of ? x.set_of + first : nullptr;
    view_.set_ptr = x.set_ptr;
    view_.set_labels = x.set_labels;
  }

 private:
  std::vector<const int32_t*> places_;  // of each token and local run
  std::vector<int64_t> token_ptr_;
  std::vector<int32_t> features_;
  int64_t ends_[2] = {0, 0};
  Instances<Real> view_{};

  // Where the rows of some tokens are, and asks for them.
  void find(const LocalRows& local, int64_t first, size_t T) {
    const int64_t* end = std::upper_bound(local.sentence_ptr, local.sentence_ptr + local.sentences, first);
    places_.clear();
    for (int64_t n = first; n < first + int64_t(T); ++n) {
      while (*end <= n) ++end;
      for (size_t r = 0; r < local.count; ++r) {
        const LocalRows::Run& run = local.runs[r];
        if (run.column < 0) continue;
        const int64_t m = n + run.offset;
        const int32_t* types = local.types + size_t(run.column) * local.tokens;
        const int64_t place = m < end[-1] ? 0 : m >= *end ? 1 : 2 + int64_t(types[m]);
        places_.push_back(local.rows + run.first + place * (run.width + 1));
        SEQTAG_PREFETCH(places_.back());
      }
    }
  }
};

}  // namespace seqtag
