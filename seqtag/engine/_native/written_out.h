// Sentences of a corpus with bundles, as they are scored.
#pragma once
#include <cstdint>
#include <vector>

#include "instances.h"
#include "simd.h"

namespace seqtag {

// One sentence of a corpus with bundles, its features written out.
template <class Real> class WrittenOut {
 public:
  const Instances<Real>& instances() const { return view_; }
  void write(const Instances<Real>& x, int64_t first, size_t T) {
    const int64_t from = x.token_ptr[first], to = x.token_ptr[first + int64_t(T)];
    for (int64_t k = from; k < to; ++k)
      if (x.features[k] < 0) SEQTAG_PREFETCH(&x.bundle_ptr[-1 - int64_t(x.features[k])]);
    for (int64_t k = from; k < to; ++k)
      if (x.features[k] < 0) SEQTAG_PREFETCH(&x.bundles[x.bundle_ptr[-1 - int64_t(x.features[k])]]);
    size_t most = size_t(to - from);
    for (int64_t k = from; k < to; ++k) {
      const int64_t b = -1 - int64_t(x.features[k]);
      if (b >= 0) most += size_t(x.bundle_ptr[b + 1] - x.bundle_ptr[b]);
    }
    if (features_.size() < most) features_.resize(most);
    token_ptr_.assign(1, 0);
    int32_t* out = features_.data();
    for (size_t t = 0; t < T; ++t) {
      for (int64_t k = x.token_ptr[first + int64_t(t)]; k < x.token_ptr[first + int64_t(t) + 1]; ++k) {
        const int64_t b = -1 - int64_t(x.features[k]);
        if (b < 0)
          *out++ = x.features[k];
        else
          for (int64_t i = x.bundle_ptr[b]; i < x.bundle_ptr[b + 1]; ++i) *out++ = x.bundles[i];
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
  std::vector<int64_t> token_ptr_;
  std::vector<int32_t> features_;
  int64_t ends_[2] = {0, 0};
  Instances<Real> view_{};
};

}  // namespace seqtag
