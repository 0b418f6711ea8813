// Templates and weights of a model, and encoded sentences, as Python hands them over, checked.
#pragma once
#include <vector>

#include "bind.h"
#include "engines.h"

namespace seqtag {

class CheckedPlan {  // holds copies of the arrays of a KeyPlan
 public:
  std::vector<int64_t> term_ptr;
  std::vector<int32_t> term_attribute, term_offset, attribute_column;
  std::vector<uint64_t> seed, multiplier;
  int shift;

  explicit CheckedPlan(const PyKeyPlan& plan)
      : term_ptr(copied(std::get<0>(plan))), term_attribute(copied(std::get<1>(plan))),
        term_offset(copied(std::get<2>(plan))), attribute_column(copied(std::get<5>(plan))),
        seed(copied(std::get<3>(plan))), multiplier(copied(std::get<4>(plan))), shift(std::get<6>(plan)) {
    const size_t terms = term_attribute.size();
    require(ascending(term_ptr, terms) && term_offset.size() == terms, "term arrays do not fit together");
    require(seed.size() + 1 == term_ptr.size(), "one seed per template");
    require(within(term_attribute.data(), terms, int64_t(attribute_column.size())), "unknown attribute");
    for (size_t k = 0; k + 1 < term_ptr.size(); ++k)
      require(size_t(term_ptr[k + 1] - term_ptr[k]) <= multiplier.size(), "conjunction too long");
    require(shift >= 0 && shift < 64, "shift must be 0 to 63");
    for (int32_t offset : term_offset)
      require(offset >= -kMaxOffset && offset <= kMaxOffset, "an offset must be -1000 to 1000");
  }
  Plan plan() const {
    return {seed.size(), term_ptr.data(),   term_attribute.data(),   term_offset.data(),
            seed.data(), multiplier.data(), attribute_column.data(), shift};
  }
};

inline void check_rows(const PyRows& rows, int64_t width) {
  const auto& [keys, row_ptr, labels, weights] = rows;
  const size_t cells = labels.shape(0);
  require(int64_t(3 * keys.shape(0) + cells) + 1 < kMaxWords, "rows and cells are more than 2**31 words hold");
  require(row_ptr.shape(0) == keys.shape(0) + 1 && ascending(row_ptr, cells),
          "row_ptr must ascend from 0 to the number of cells");
  require(weights.shape(0) == cells, "cell labels and weights differ in length");
  require(within(labels.data(), cells, width), "a cell's label is out of range");
  require(ascending_within(row_ptr, labels), "the labels of a row must ascend");
  for (size_t r = 0; r < keys.shape(0); ++r) require(keys(r) > (r ? keys(r - 1) : 0), "keys must ascend");
}
inline RowArrays arrays_of(const PyRows& rows) {
  const auto& [keys, row_ptr, labels, weights] = rows;
  return {keys.data(), keys.shape(0), row_ptr.data(), labels.data(), weights.data()};
}

// Encoded sentences. What indexes is copied; hashes are only looked up.
class CheckedColumns {
 public:
  CheckedColumns(const In2<int32_t>& types, const In2<uint64_t>& hashes, const In<int64_t>& sentence_ptr)
      : rows_(types.shape(0)), attributes_(hashes.shape(0)), types_(copied(types)), sentence_ptr_(copied(sentence_ptr)),
        columns_{types_.data(), hashes.data(), types.shape(1), hashes.shape(1)} {}
  CheckedColumns(const CheckedColumns&) = delete;

  void check(const CheckedPlan& plan) const {
    const size_t attributes = plan.attribute_column.size();
    require(attributes_ == attributes, "hashes must hold one row per attribute");
    require(columns_.tokens <= size_t(kMaxRows), "types must hold 2147483647 tokens at most");
    require(within(plan.attribute_column.data(), attributes, int64_t(rows_)), "unknown column");
    require(attributes == 0 || within(types_.data(), types_.size(), int64_t(columns_.capacity)),
            "types holds an id out of range");
    require(ascending(sentence_ptr_, columns_.tokens), "sentence_ptr must ascend from 0 to the number of tokens");
  }
  const Columns& columns() const { return columns_; }
  EncodedSentences encoded() const { return {columns_, sentence_ptr(), sentences()}; }
  const int64_t* sentence_ptr() const { return sentence_ptr_.data(); }
  size_t sentences() const { return sentence_ptr_.size() - 1; }

 private:
  size_t rows_, attributes_;
  std::vector<int32_t> types_;
  std::vector<int64_t> sentence_ptr_;
  Columns columns_;
};

}  // namespace seqtag
