// A corpus without a random share of its features. keys.py: drop_features().
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace seqtag {

// The Mersenne twister of Matsumoto and Nishimura (1998), MT19937, as numpy.random.RandomState has it.
class MersenneTwister {
 public:
  static constexpr size_t kWords = 624;

  // state: kWords words; used: how many of them were given out already, kWords at most.
  MersenneTwister(const uint32_t* state, size_t used) : next_(used) { std::copy_n(state, kWords, state_); }

  // 53 random bits: what random_sample() divides by 2**53.
  uint64_t draw() {
    const uint64_t high = word() >> 5, low = word() >> 6;
    return high << 26 | low;
  }

 private:
  static constexpr size_t kAhead = 397;
  uint32_t state_[kWords];
  size_t next_;

  uint32_t word() {
    if (next_ == kWords) twist();
    uint32_t x = state_[next_++];
    x ^= x >> 11;
    x ^= (x << 7) & 0x9d2c5680U;
    x ^= (x << 15) & 0xefc60000U;
    return x ^ (x >> 18);
  }
  void twist() {
    const auto mixed = [](uint32_t here, uint32_t after) {
      const uint32_t x = (here & 0x80000000U) | (after & 0x7fffffffU);
      return (x >> 1) ^ ((0U - (x & 1U)) & 0x9908b0dfU);
    };
    size_t i = 0;  // in three parts, so that several words are made at a time
    for (; i < kWords - kAhead; ++i) state_[i] = state_[i + kAhead] ^ mixed(state_[i], state_[i + 1]);
    for (; i < kWords - 1; ++i) state_[i] = state_[i + kAhead - kWords] ^ mixed(state_[i], state_[i + 1]);
    state_[i] = state_[i + kAhead - kWords] ^ mixed(state_[i], state_[0]);
    next_ = 0;
  }
};

// Features, and where those of each token begin.
struct TokenFeatures {
  std::vector<int64_t> token_ptr;
  std::vector<int32_t> features;
};

// Each feature is left out with the probability that its row has in `shares`, or with the only one there is.
inline TokenFeatures drop_features(const int64_t* token_ptr, size_t tokens, const int32_t* features,
                                   const double* shares, size_t rows, MersenneTwister random) {
  std::vector<uint64_t> least(rows);
  for (size_t r = 0; r < rows; ++r) least[r] = uint64_t(std::ceil(std::ldexp(shares[r], 53)));
  TokenFeatures kept;
  kept.token_ptr.resize(tokens + 1);
  kept.features.resize(size_t(token_ptr[tokens]));
  size_t n = 0;
  for (size_t t = 0; t < tokens; ++t) {
    for (int64_t k = token_ptr[t]; k < token_ptr[t + 1]; ++k) {
      kept.features[n] = features[k];  // written over, if it is dropped
      n += random.draw() >= least[rows > 1 ? size_t(features[k]) : 0];
    }
    kept.token_ptr[t + 1] = int64_t(n);
  }
  kept.features.resize(n);
  return kept;
}

}  // namespace seqtag
