// Learning: w += step * (phi(x, y) - phi(x, y_hat)). reference.py: Weights, line by line.
#pragma once
#include <cmath>

#include "parts.h"
#include "second_order.h"
#include "viterbi.h"
#include "weights.h"

namespace seqtag {

// A corpus as nested ragged arrays. reference.py: Instances.
template <class Real> struct Instances {
  const int64_t *sentence_ptr, *token_ptr;
  const int32_t* features;
  const Real* values;       // or null: all 1
  const int64_t* edge_ptr;  // or null: no label bigrams conjoined with observations
  const int32_t* edges;
  size_t sentences;
  bool dense;  // every token has all features: `features` holds them once
  int32_t row(int64_t k, int64_t token) const { return features[dense ? k - token_ptr[token] : k]; }
};

struct EpochCounts {
  int64_t updates = 0, wrong_tokens = 0;
};

// What was decoded instead of the gold labels. reference.py: Mistakes.
struct Mistakes {
  std::vector<int64_t> position;  // in the order of the epoch
  std::vector<int32_t> y_hat;     // of these sentences, end to end
};

// delta = phi(x, y) - phi(x, y_hat): each cell that differs once, some of them perhaps with 0.
template <class Real> struct Entry {
  int32_t row;
  int32_t column;  // the label; previous * K + current of an edge; the cell of a label feature
  Real value;
  int32_t before = -1;  // of the emission cells: the entry before it in the same row
  bool operator<(const Entry& b) const { return row != b.row ? row < b.row : column < b.column; }
};

template <class Real> struct Difference {
  using Entry = seqtag::Entry<Real>;
  std::vector<Entry> emission, label, edge, trigram;
  explicit Difference(size_t rows) : newest(rows, 0) {}
  void clear() {
    for (auto* cells : {&emission, &label, &edge, &trigram}) cells->clear();
  }
  // Adds to an emission cell. Those of one row are chained, so that a cell is found again.
  void add(int32_t row, int32_t column, Real value) {
    int32_t& last = newest[size_t(row)];
    if (size_t(last) >= emission.size() || emission[size_t(last)].row != row) last = -1;  // from long ago
    for (int32_t i = last; i >= 0; i = emission[size_t(i)].before)
      if (emission[size_t(i)].column == column) {
        emission[size_t(i)].value += value;
        return;
      }
    emission.push_back({row, column, value, last});
    last = int32_t(emission.size()) - 1;
  }
  static void merge(std::vector<Entry>& cells) {
    std::stable_sort(cells.begin(), cells.end());
    size_t kept = 0;
    for (size_t i = 0; i < cells.size();) {
      Entry sum = cells[i];
      for (++i; i < cells.size() && !(sum < cells[i]); ++i) sum.value += cells[i].value;
      if (sum.value != 0) cells[kept++] = sum;
    }
    cells.resize(kept);
  }
  double squared() const {
    double sum = 0;
    for (const auto* cells : {&emission, &label, &edge, &trigram})
      for (const Entry& e : *cells) sum += double(e.value) * double(e.value);
    return sum;
  }

 private:
  std::vector<int32_t> newest;  // entry of each row that came last
};

// Weights in training, for either way to keep the emission rows.
template <class Real, class Rows> struct Weights {
  int labels, order;
  bool adaptive;
  Parts parts;             // of labels; none: every label is its own
  Rows emission;           // (rows, K), or (rows, P) with parts
  SparseRows<Real> edge;   // (edges, K * K)
  LabelBlock<Real> block;  // w of start, stop, transition
  TrigramBlock<Real> trigram;  // w of second order, or nothing
  std::vector<Cell<Real>> block_cells;    // w, u, g of the same: start K, stop K, transition K * K
  std::vector<Cell<Real>> trigram_cells;  // (K + 1) * K * K
  int64_t seen = 0;
  Difference<Real> delta;

  Weights(size_t rows, int labels, int order, size_t edges, Parts label_parts, bool adaptive)
      : labels(labels), order(order), adaptive(adaptive), parts(std::move(label_parts)),
        emission(rows, parts.any() ? parts.count : labels, adaptive), edge(edges, labels * labels, adaptive),
        block(labels), block_cells(size_t(labels) * (labels + 2)), delta(rows) {
    if (order == 2) {
      trigram = TrigramBlock<Real>(labels);
      trigram_cells.resize(size_t(labels + 1) * labels * labels);
    }
  }

  // Transition potentials of one position: the shared matrix plus the observed edge rows.
  struct Edges {
    static constexpr bool any = true;
    const Weights& weights;
    const Instances<Real>& x;
    int64_t first;  // token number of position 0
    mutable std::vector<Real> sum;
    void fill(size_t t, Real* matrix) const {
      const int K = weights.labels, S = weights.block.stride;
      std::copy(weights.block.transition.begin(), weights.block.transition.end(), matrix);
      for (int64_t e = x.edge_ptr[first + t]; e < x.edge_ptr[first + t + 1]; ++e) {
        sum.resize(size_t(weights.edge.stride));
        weights.edge.sum_rows(sum.data(), &x.edges[e], nullptr, 1);
        for (int i = 0; i < K; ++i)
          for (int j = 0; j < K; ++j) matrix[size_t(i) * S + j] += sum[size_t(i) * K + j];
      }
    }
  };

  // Ask for the data of a sentence before it is needed: shuffled sentences are far apart.
  static SEQTAG_INLINE void prefetch(const Instances<Real>& x, int64_t sentence) {
    const int64_t from = x.token_ptr[x.sentence_ptr[sentence]], most = 256;
    const int64_t to = std::min(x.token_ptr[x.sentence_ptr[sentence + 1]], from + most);
    if (!x.dense)
      for (int64_t k = from; k < to; k += 64 / int64_t(sizeof(int32_t))) SEQTAG_PREFETCH(x.features + k);
    if (!x.values) return;
    for (int64_t k = from; k < to; k += 64 / int64_t(sizeof(Real))) SEQTAG_PREFETCH(x.values + k);
  }

  // What decoding one sentence needs, kept from one to the next.
  struct Scratch {
    std::vector<Real> potentials, part_scores;
    Decoder<Real> decoder;
    SecondOrderDecoder<Real> second;
  };

  // Emission potentials (T, stride) of the tokens first ... first + T, into space.potentials.
  void emissions(const Instances<Real>& x, int64_t first, size_t T, Scratch& space) const {
    if (!parts.any()) return sum_rows(x, first, T, block.stride, space.potentials);
    sum_rows(x, first, T, emission.stride, space.part_scores);
    space.potentials.assign(T * block.stride, 0);
    for (size_t t = 0; t < T; ++t)
      parts.sum(&space.part_scores[t * emission.stride], &space.potentials[t * block.stride]);
  }

  // Sums of the emission rows of T tokens: (T, S).
  void sum_rows(const Instances<Real>& x, int64_t first, size_t T, int S, std::vector<Real>& out) const {
    out.resize(T * size_t(S));
    const int64_t end = x.token_ptr[first + T], ahead = 100;  // rows to prefetch
    const bool far = emission.far() && !x.dense;
    if (far)
      for (int64_t k = x.token_ptr[first]; k < std::min(end, x.token_ptr[first] + ahead); ++k)
        emission.prefetch(x.features[k]);
    for (size_t t = 0; t < T; ++t) {
      const int64_t from = x.token_ptr[first + t], to = x.token_ptr[first + t + 1];
      if (far)
        for (int64_t k = from + ahead; k < std::min(to + ahead, end); ++k) emission.prefetch(x.features[k]);
      emission.sum_rows(&out[t * S], x.features + (x.dense ? 0 : from), x.values ? x.values + from : nullptr, to - from);
    }
  }

  // Potentials of the next examples of one token, four at a time; an update makes them stale.
  struct Lookahead {
    bool possible = false;
    bool distinct = false;      // no token has a row twice
    size_t begin = 0, end = 0;  // places in the order that `scores` holds
    std::vector<Real> scores;
  };
  Lookahead lookahead(const Instances<Real>& x) const {
    Lookahead ahead;
    ahead.scores.resize(4 * lanes<Real>);
    ahead.possible = Rows::one_vector && x.values && block.stride == lanes<Real> && order == 0 && !parts.any();
    for (size_t s = 0; ahead.possible && s < x.sentences; ++s)
      ahead.possible = x.sentence_ptr[s + 1] - x.sentence_ptr[s] == 1;
    if (!ahead.possible) return ahead;
    ahead.distinct = true;
    for (size_t s = 0; ahead.distinct && s < (x.dense ? 1 : x.sentences); ++s)
      for (int64_t k = x.token_ptr[s] + 1; k < x.token_ptr[s + 1]; ++k)
        ahead.distinct &= x.features[k] > x.features[k - 1];
    return ahead;
  }
  // Whether the potentials of place k of n are in space.potentials now.
  bool look_ahead(const Instances<Real>& x, const int64_t* order, size_t k, size_t n, Lookahead& ahead,
                  Scratch& space) const {
    if (!ahead.possible || (k >= ahead.end && k + 4 > n)) return false;
    if (k >= ahead.end) {
      const int32_t* row[4];
      const Real* value[4];
      int64_t count[4];
      for (int i = 0; i < 4; ++i) {
        const int64_t token = x.sentence_ptr[order[k + size_t(i)]], from = x.token_ptr[token];
        row[i] = x.features + (x.dense ? 0 : from);
        value[i] = x.values + from;
        count[i] = x.token_ptr[token + 1] - from;
      }
      emission.sum_rows_of_four(ahead.scores.data(), row, value, count);
      ahead.begin = k;
      ahead.end = k + 4;
    }
    const Real* scores = &ahead.scores[(k - ahead.begin) * lanes<Real>];
    space.potentials.assign(scores, scores + lanes<Real>);
    return true;
  }

  void decode(const Instances<Real>& x, int64_t first, size_t T, Scratch& space, const int32_t* against,
              int32_t* out_labels) const {
    if (x.edge_ptr)
      decode(space, T, Edges{*this, x, first, {}}, against, out_labels);
    else
      decode(space, T, NoEdges{}, against, out_labels);
  }
  template <class E>
  void decode(Scratch& space, size_t T, const E& edges, const int32_t* against, int32_t* out_labels) const {
    const Real* emission = space.potentials.data();
    if (order == 2)
      space.second.run(emission, T, block, trigram, edges, against, out_labels);
    else
      space.decoder.run(emission, T, block, order > 0, edges, against, out_labels);
  }

  void decode_all(const Instances<Real>& x, int32_t* out_labels) const {
    Scratch space;
    for (size_t s = 0; s < x.sentences; ++s) {
      const int64_t first = x.sentence_ptr[s];
      const size_t T = size_t(x.sentence_ptr[s + 1] - first);
      emissions(x, first, T, space);
      decode(x, first, T, space, nullptr, out_labels + first);
    }
  }

  // cost: (K, K) from gold to decoded label, or null. step: of the rule (PA's C, adaptive's eta).
  // out_mistakes: null, or filled.
  EpochCounts train_epoch(const Instances<Real>& x, const int32_t* gold_labels, const int64_t* sentence_order,
                          size_t n, Rule rule, Real step, const Real* cost, bool ties_are_mistakes,
                          Mistakes* out_mistakes) {
    EpochCounts counts;
    Scratch space;
    std::vector<Real>& potentials = space.potentials;
    std::vector<int32_t> y_hat;
    Lookahead ahead = lookahead(x);
    const int S = block.stride;
    for (size_t k = 0; k < n; ++k, ++seen) {
      const int64_t first = x.sentence_ptr[sentence_order[k]];
      const size_t T = size_t(x.sentence_ptr[sentence_order[k] + 1] - first);
      const int32_t* gold = gold_labels + first;
      if (k + 4 < n) prefetch(x, sentence_order[k + 4]);
      if (!look_ahead(x, sentence_order, k, n, ahead, space)) emissions(x, first, T, space);
      if (cost)
        for (size_t t = 0; t < T; ++t)
          for (int j = 0; j < labels; ++j) potentials[t * S + j] += cost[size_t(gold[t]) * labels + j];
      y_hat.resize(T);
      decode(x, first, T, space, ties_are_mistakes ? gold : nullptr, y_hat.data());
      int64_t mistakes = 0;
      for (size_t t = 0; t < T; ++t) mistakes += y_hat[t] != gold[t];
      if (mistakes == 0) continue;
      ++counts.updates;
      counts.wrong_tokens += mistakes;
      if (out_mistakes) {
        out_mistakes->position.push_back(int64_t(k));
        out_mistakes->y_hat.insert(out_mistakes->y_hat.end(), y_hat.begin(), y_hat.end());
      }
      Step<Real> rate{rule, step, Real(seen)};
      if (ahead.distinct && rule == Rule::perceptron) {  // every cell comes once: no need to collect
        const int64_t from = x.token_ptr[first];
        emission.update_pairs(x.features + (x.dense ? 0 : from), x.values + from, x.token_ptr[first + 1] - from,
                              gold[0], y_hat[0], rate);
        ahead.end = k + 1;
        continue;
      }
      difference(x, first, T, gold, y_hat.data());
      if (rule == Rule::passive_aggressive) {
        const double loss = path_score(x, first, T, potentials, y_hat.data()) -
                            path_score(x, first, T, potentials, gold);
        const double squared = delta.squared();
        rate.size = squared > 0 ? Real(std::min(double(step), loss / squared)) : Real(0);
      }
      apply(rate);
      ahead.end = k + 1;
    }
    return counts;
  }

 private:
  void difference(const Instances<Real>& x, int64_t first, size_t T, const int32_t* y, const int32_t* y_hat) {
    const int64_t K = labels;
    delta.clear();
    for (size_t t = 0; t < T; ++t) {
      if (y[t] == y_hat[t]) continue;
      for (int64_t k = x.token_ptr[first + t]; k < x.token_ptr[first + t + 1]; ++k) {
        const int32_t row = x.row(k, first + t);
        const Real value = x.values ? x.values[k] : Real(1);
        if (value == 0) continue;
        if (!parts.any()) {
          emission.prefetch_update(size_t(row), y[t]);
          emission.prefetch_update(size_t(row), y_hat[t]);
          delta.add(row, y[t], value);
          delta.add(row, y_hat[t], -value);
          continue;
        }
        for (int32_t p : parts.of(y[t])) delta.add(row, p, value);
        for (int32_t p : parts.of(y_hat[t])) delta.add(row, p, -value);
      }
    }
    if (order == 0) return;
    auto count = [&](const int32_t* path, Real value) {
      delta.label.push_back({0, path[0], value});
      delta.label.push_back({0, int32_t(K + path[T - 1]), value});
      for (size_t t = 1; t < T; ++t) {
        if (y[t - 1] == y_hat[t - 1] && y[t] == y_hat[t]) continue;
        const int32_t bigram = int32_t(path[t - 1] * K + path[t]);
        delta.label.push_back({0, int32_t(2 * K + bigram), value});
        if (x.edge_ptr)
          for (int64_t e = x.edge_ptr[first + t]; e < x.edge_ptr[first + t + 1]; ++e)
            delta.edge.push_back({x.edges[e], bigram, value});
      }
      if (order < 2) return;
      for (size_t t = 1; t < T; ++t) {
        if (y[t - 1] == y_hat[t - 1] && y[t] == y_hat[t] && (t == 1 || y[t - 2] == y_hat[t - 2])) continue;
        const int32_t before = t == 1 ? int32_t(K) : path[t - 2];
        delta.trigram.push_back({int32_t(before * K + path[t - 1]), path[t], value});
      }
    };
    count(y, Real(1));
    count(y_hat, Real(-1));
    Difference<Real>::merge(delta.label);
    Difference<Real>::merge(delta.edge);
    Difference<Real>::merge(delta.trigram);
  }

  double path_score(const Instances<Real>& x, int64_t first, size_t T, const std::vector<Real>& potentials,
                    const int32_t* y) const {
    const int S = block.stride;
    double score = double(block.start[y[0]]) + double(block.stop[y[T - 1]]);
    std::vector<Real> matrix;
    const Edges edges{*this, x, first, {}};
    for (size_t t = 0; t < T; ++t) {
      score += double(potentials[t * S + y[t]]);
      if (t == 0) continue;
      const Real* transition = block.transition.data();
      if (x.edge_ptr) {
        matrix.resize(size_t(labels) * S);
        edges.fill(t, matrix.data());
        transition = matrix.data();
      }
      score += double(transition[size_t(y[t - 1]) * S + y[t]]);
      if (order == 2) score += double(trigram.row(t == 1 ? labels : y[t - 2], y[t - 1])[y[t]]);
    }
    return score;
  }

  void apply(const Step<Real>& step) {
    const int K = labels;
    for (const auto& e : delta.emission)
      if (e.value != 0) emission.update(size_t(e.row), e.column, e.value, step);
    for (const auto& e : delta.edge) edge.update(size_t(e.row), e.column, e.value, step);
    for (const auto& e : delta.trigram) {
      Cell<Real>& c = trigram_cells[size_t(e.row) * K + e.column];
      step.apply(c.w, c.u, &c.g, e.value);
      trigram.row(e.row / K, e.row % K)[e.column] = c.w;
      trigram.bound_row(e.row / K, e.row % K);
      trigram.bound_onward(e.row / K, block);
    }
    for (const auto& e : delta.label) {
      Cell<Real>& c = block_cells[size_t(e.column)];
      step.apply(c.w, c.u, &c.g, e.value);
      if (e.column < K) {
        block.start[e.column] = c.w;
      } else if (e.column < 2 * K) {
        block.stop[e.column - K] = c.w;
      } else {
        const int64_t i = (e.column - 2 * K) / K, j = (e.column - 2 * K) % K;
        block.set(int(i), int(j), c.w);
        block.bound_row(int(i));
        if (trigram.any()) trigram.bound_onward(int(i), block);
      }
    }
  }
};

}  // namespace seqtag
