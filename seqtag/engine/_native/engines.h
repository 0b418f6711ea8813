// What computes in vectors, as plain functions: learning and decoding are compiled for each width of vectors, the
// bindings, which see only this header, once. No type here depends on the width.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "instances.h"
#include "keys.h"
#include "label_components.h"

namespace seqtag {

// ----------------------------------------------------------------- learning
// How a difference becomes a change of the weights. reference.py: Weights.update().
enum class Rule { perceptron, passive_aggressive, adaptive };

// How to learn in one epoch.
template <class Real> struct EpochSettings {
  const int32_t* gold;    // (N,)
  const int64_t* visits;  // numbers of sentences, in the order to visit them in
  size_t count;           // of visits
  Rule rule;
  Real step;         // of the rule (PA's C, adaptive's eta)
  Real margin;       // the cost of every wrong label, if there are no costs
  const Real* cost;  // (K, K) from gold to decoded label, or null
  bool ties_are_mistakes;
  const uint8_t* choices = nullptr;  // (C, K): what a token may have whose gold label is -1 - c
  size_t choice_count = 0;           // C
  std::function<void()> ask;         // called between sentences, may throw; or empty

  bool permits(int32_t label_or_choice, int32_t label, size_t labels) const {
    if (label_or_choice >= 0) return label == label_or_choice;
    return choices[size_t(-1 - label_or_choice) * labels + size_t(label)] != 0;
  }
};

struct EpochCounts {
  int64_t updates = 0, wrong_tokens = 0;
};

// What was decoded instead of the gold labels. arrays.py: Mistakes.
struct Mistakes {
  std::vector<int64_t> position;  // among the visits of the epoch
  std::vector<int32_t> y_hat;     // of these sentences, end to end
};

// Numbers that are not zero, row by row.
template <class Real> struct RowValues {
  std::vector<int64_t> ptr;     // (rows + 1,)
  std::vector<int32_t> column;  // ascending within a row
  std::vector<Real> value;
};

// One part of all cells. arrays.py: Cells.
template <class Real> struct CellValues {
  RowValues<Real> emission, edge, trigram;
  std::vector<Real> chain;
};
enum class CellPart { w, u, g, average };

// The shape of weights. arrays.py: Layout.
struct Shape {
  size_t rows;
  int labels, order;
  size_t edges;
  LabelComponents parts;
  bool adaptive, sparse;  // whether there is room for g; whether rows are stored sparsely

  int width() const { return parts.any() ? parts.count : labels; }
  size_t chain() const { return size_t(labels) * size_t(order ? labels + 2 : 2); }
  size_t pairs() const { return order == 2 ? size_t(labels + 1) * size_t(labels) : 0; }
};

// Weights in training. reference.py: Weights.
template <class Real> class Learner {
 public:
  virtual ~Learner() = default;
  virtual EpochCounts train_epoch(const Instances<Real>& x, const EpochSettings<Real>& settings,
                                  Mistakes* out_mistakes) = 0;
  virtual void decode(const Instances<Real>& x, int32_t* out_labels) const = 0;
  virtual CellValues<Real> values(CellPart part) const = 0;
  // Puts one part of each cell into weights that have not learned yet; then `resume`.
  virtual void put(CellPart part, const CellValues<Real>& values) = 0;
  virtual void resume(int64_t seen) = 0;
  virtual int64_t seen() const = 0;
};

// ----------------------------------------------------------------- decoding
// arrays.py: Rows.
struct RowArrays {
  const uint64_t* keys;
  size_t rows;
  const int64_t* row_ptr;
  const uint16_t* labels;
  const int8_t* weights;
};

// A trained model. Plans are read as long as the tagger lives, all else is copied. frozen.py: Decoder.
struct TaggerArrays {
  int labels, order;
  Plan plan, edge_plan, tags_plan;
  RowArrays emission, edge, trigram, known, by_tags;
  const float *start, *stop, *transition;
  LabelComponents parts;
  int known_attribute;  // of the tag dictionary; -1: any word may have any label
};

struct EncodedSentences {
  Columns columns;
  const int64_t* sentence_ptr;
  size_t count;
};

// The labels that tokens may have; one with none listed, or without `ptr`, may have any. arrays.py: Allowed.
struct Allowed {
  const int64_t* ptr = nullptr;
  const int32_t* labels = nullptr;
};

// frozen.py: Decoder.
class Tagger {
 public:
  struct Workspace {
    virtual ~Workspace() = default;
    virtual size_t bytes() const = 0;
  };
  virtual ~Tagger() = default;
  virtual std::unique_ptr<Workspace> workspace() const = 0;
  virtual void decode(const EncodedSentences& x, const Allowed& allowed, Workspace& space,
                      int32_t* out_labels) const = 0;
  virtual void margins(const EncodedSentences& x, const Allowed& allowed, Workspace& space, const int32_t* groups,
                       int32_t* out_labels, double* out_margins, int32_t* out_rivals) const = 0;
  virtual void n_best(const EncodedSentences& x, const Allowed& allowed, Workspace& space, size_t n,
                      std::vector<int64_t>& out_ptr, std::vector<double>& out_scores,
                      std::vector<int32_t>& out_labels) const = 0;
};

// ----------------------------------------------------------------- both, for one width of vectors
template <class Real> std::unique_ptr<Learner<Real>> make_learner(const Shape& shape);
std::unique_ptr<Tagger> make_tagger(const TaggerArrays& model);
void set_secret(uint64_t addend, uint64_t factor);  // of the hash tables of this module

struct Engines {
  decltype(&make_learner<float>) float_learner = &make_learner<float>;
  decltype(&make_learner<double>) double_learner = &make_learner<double>;
  decltype(&make_tagger) tagger = &make_tagger;
};

}  // namespace seqtag
