// Keys of the templates that look at several positions. keys.h: key_at() defines them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "keys.h"
#include "quantized_rows.h"

namespace seqtag {

// Some tokens [first, last) of the sentence [begin, end): what is summed at a time.
struct Block {
  static constexpr int64_t kMost = 256;
  int64_t begin, end, first, last;
  Block next() const { return {begin, end, last, std::min(last + kMost, end)}; }
  size_t tokens() const { return size_t(last - first); }
};

// Templates whose keys are made token by token, a block at a time, each step asking for the memory
// of the next.
class ScatteredTemplates {
 public:
  struct Keys {
    std::vector<uint64_t> keys;                 // template by template, for the tokens that have its first term
    std::vector<std::vector<uint32_t>> tokens;  // per first term, those that have it
    std::vector<uint8_t> is_gathered, present;  // working memory
    std::vector<uint64_t> sums;
  };

  void add(const Plan& plan, size_t k) {
    const size_t begin = terms_.size();
    for (int64_t i = plan.term_ptr[k]; i < plan.term_ptr[k + 1]; ++i) {
      reach_ = std::max(reach_, std::abs(plan.term_offset[i]));
      terms_.push_back({gather(plan.term_attribute[i]), plan.term_offset[i], plan.multiplier[i - plan.term_ptr[k]]});
    }
    while (terms_.size() < begin + 2) terms_.push_back({0, 0, 0});  // two at least: see find_keys()
    templates_.push_back({plan.seed[k], begin, terms_.size(), lead_of(terms_[begin])});
  }

  // The keys of a block, their slots in the table asked for.
  void find_keys(const Plan& plan, const Columns& x, const Block& block, const QuantizedRows& rows,
                 std::vector<uint64_t>& hashes_at, Keys& out) const {
    const size_t T = block.tokens(), R = size_t(reach_), span = T + 2 * R;
    hashes_at.resize((1 + gathered_.size()) * span);
    std::fill_n(hashes_at.begin(), span, 1);  // for absent terms
    const int64_t origin = block.first - int64_t(R);
    const int64_t left = std::max(block.begin, origin), right = std::min(block.end, block.last + int64_t(R));
    out.is_gathered.assign(1 + gathered_.size(), 0);
    out.is_gathered[0] = 1;
    const auto types_of = [&](int32_t a) { return x.types + size_t(plan.attribute_column[a]) * x.tokens; };
    const auto hashes_of = [&](int32_t a) { return x.hashes + size_t(a) * x.capacity; };
    // The hashes of a term for the tokens of the block.
    const auto all_of = [&](const Term& term) {
      uint64_t* to = &hashes_at[term.slot * span];
      if (!out.is_gathered[term.slot]) {
        const int32_t a = gathered_[term.slot - 1];
        const uint64_t* hashes = hashes_of(a);
        const int32_t* types = types_of(a);
        std::fill(to, to + (left - origin), kLeft);
        for (int64_t m = left; m < right; ++m) to[m - origin] = hashes[types[m]];
        std::fill(to + (right - origin), to + span, kRight);
        out.is_gathered[term.slot] = 1;
      }
      return to + int64_t(R) + term.offset;
    };
    out.tokens.resize(leads_.size());
    for (size_t i = 0; i < leads_.size(); ++i) {
      const uint64_t* lead = all_of(leads_[i]);
      out.tokens[i].resize(T);
      size_t n = 0;
      for (size_t t = 0; t < T; ++t) {
        out.tokens[i][n] = uint32_t(t);
        n += lead[t] != 0;
      }
      out.tokens[i].resize(n);
    }
    size_t many = 0;
    for (const Template& s : templates_) many += out.tokens[s.lead].size();
    out.keys.resize(many);
    uint64_t* to = out.keys.data();
    for (const Template& s : templates_) {
      const std::vector<uint32_t>& tokens = out.tokens[s.lead];
      const auto note = [&](uint64_t sum, bool present) {
        const uint64_t key = plan.key(sum);
        *to++ = present ? key : 0;
        rows.prefetch_slot(key);
      };
      if (kFewTokens * tokens.size() < T) {  // the others' hashes are not needed
        out.sums.assign(tokens.size(), s.seed);
        out.present.assign(tokens.size(), 1);
        for (size_t i = s.first; i < s.last; ++i) {
          const Term& term = terms_[i];
          if (out.is_gathered[term.slot]) {
            const uint64_t* all = all_of(term);
            for (size_t k = 0; k < tokens.size(); ++k) {
              out.sums[k] += all[tokens[k]] * term.multiplier;
              out.present[k] &= all[tokens[k]] != 0;
            }
            continue;
          }
          const int32_t a = gathered_[term.slot - 1];
          const uint64_t* hashes = hashes_of(a);
          const int32_t* types = types_of(a);
          for (size_t k = 0; k < tokens.size(); ++k) {
            const int64_t m = block.first + int64_t(tokens[k]) + term.offset;
            const uint64_t h = m < block.begin ? kLeft : m >= block.end ? kRight : hashes[types[m]];
            out.sums[k] += h * term.multiplier;
            out.present[k] &= h != 0;
          }
        }
        for (size_t k = 0; k < tokens.size(); ++k) note(out.sums[k], out.present[k] != 0);
        continue;
      }
      const Term &one = terms_[s.first], &two = terms_[s.first + 1];
      const uint64_t *first = all_of(one), *second = all_of(two);
      for (size_t i = s.first + 2; i < s.last; ++i) all_of(terms_[i]);
      for (uint32_t t : tokens) {
        uint64_t sum = s.seed + first[t] * one.multiplier + second[t] * two.multiplier;
        bool present = second[t] != 0;
        for (size_t i = s.first + 2; i < s.last; ++i) {
          const uint64_t h = hashes_at[terms_[i].slot * span + size_t(int64_t(R) + terms_[i].offset) + t];
          present &= h != 0;
          sum += h * terms_[i].multiplier;
        }
        note(sum, present);
      }
    }
  }
  // visit(token of the block, key) for each feature of a block.
  template <class Visit> SEQTAG_INLINE void visit(const Keys& keys, Visit visit) const {
    const uint64_t* key = keys.keys.data();
    for (const Template& s : templates_)
      for (uint32_t t : keys.tokens[s.lead])
        if (const uint64_t k = *key++) visit(t, k);
  }

 private:
  static constexpr size_t kFewTokens = 2;  // a template that less than a half of the tokens have
  struct Term {
    size_t slot;  // one more than which of gathered_; 0: always 1
    int32_t offset;
    uint64_t multiplier;
  };
  struct Template {  // terms_[first:last]
    uint64_t seed;
    size_t first, last, lead;  // lead: which of leads_ its first term is
  };
  std::vector<Term> terms_;
  std::vector<Template> templates_;
  std::vector<Term> leads_;        // the different first terms
  std::vector<int32_t> gathered_;  // attributes that are looked at
  int32_t reach_ = 0;              // how far they look

  size_t gather(int32_t attribute) {
    for (size_t i = 0; i < gathered_.size(); ++i)
      if (gathered_[i] == attribute) return 1 + i;
    gathered_.push_back(attribute);
    return gathered_.size();
  }
  size_t lead_of(const Term& term) {
    size_t i = 0;
    while (i < leads_.size() && (leads_[i].slot != term.slot || leads_[i].offset != term.offset)) ++i;
    if (i == leads_.size()) leads_.push_back(term);
    return i;
  }
};

}  // namespace seqtag
