// Learning: w += step * (phi(x, y) - phi(x, y_hat)). reference.py: Weights, line by line.
#pragma once
#include <algorithm>
#include <vector>

#include "engines.h"
#include "second_order.h"
#include "single_token.h"
#include "viterbi.h"
#include "weights.h"
#include "written_out.h"

namespace seqtag {

// delta = phi(x, y) - phi(x, y_hat): each cell that differs once, some of them perhaps with 0.
template <class Real> struct Entry {
  int32_t row;     // of emission cells its place
  int32_t column;  // the label; previous * K + current of an edge; the cell of the chain
  Real value;
  int32_t before = -1;  // of the emission cells: the entry before it in the same row
  bool operator<(const Entry& b) const { return row != b.row ? row < b.row : column < b.column; }
};

template <class Real> struct Difference {
  using Entry = seqtag::Entry<Real>;
  std::vector<Entry> emission, chain, edge, trigram;
  void clear() {
    for (auto* cells : {&emission, &chain, &edge, &trigram}) cells->clear();
  }
  // Adds to an emission cell. Those of one row are chained, so that a cell is found again.
  void add(int32_t row, int32_t column, Real value) {
    if (size_t(row) >= newest.size()) newest.resize(size_t(row) + size_t(row) / 2 + 1);
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
    for (const auto* cells : {&emission, &chain, &edge, &trigram})
      for (const Entry& e : *cells) sum += double(e.value) * double(e.value);
    return sum;
  }

 private:
  std::vector<int32_t> newest;  // entry of each place so far that came last
};

// Transition potentials of one position: the shared matrix plus the observed edge rows.
template <class Real> class TrainedEdges final : public Edges<Real> {
 public:
  TrainedEdges(const ChainWeights<Real>& chain, const SparseRows<Real>& rows, const Instances<Real>& x, int64_t first)
      : chain_(chain), rows_(rows), x_(x), first_(first), all_(vectors_of<Real>(x.edge_ptr ? rows.stride : 0)) {}
  void fill(size_t t, Real* matrix) const override {
    const int K = chain_.labels, S = chain_.stride;
    std::copy(chain_.transition.begin(), chain_.transition.end(), matrix);
    for (int64_t e = x_.edge_ptr[first_ + t]; e < x_.edge_ptr[first_ + t + 1]; ++e) {
      sum_.resize(size_t(rows_.stride));
      rows_.sum_rows(sum_.data(), &x_.edges[e], nullptr, 1, all_);
      for (int i = 0; i < K; ++i)
        for (int j = 0; j < K; ++j) matrix[size_t(i) * S + j] += sum_[size_t(i) * K + j];
    }
  }

 private:
  const ChainWeights<Real>& chain_;
  const SparseRows<Real>& rows_;
  const Instances<Real>& x_;
  int64_t first_;  // token number of position 0
  std::vector<int> all_;
  mutable std::vector<Real> sum_;
};

// Weights in training, with dense or sparse emission rows.
template <class Real, class Rows> struct Weights {
  using Number = Real;
  int labels, order;
  bool adaptive;
  LabelComponents parts;                  // of labels; none: every label is its own
  Rows emission;                          // (rows, K), or (rows, P) with parts
  SparseRows<Real> edge;                  // (edges, K * K)
  ChainWeights<Real> chain;               // w of start, stop, transition
  TrigramWeights<Real> trigram;           // w of second order, or nothing
  std::vector<Cell<Real>> chain_cells;    // w, u, g of the chain: start K, stop K, transition K * K above order 0
  std::vector<Cell<Real>> trigram_cells;  // (K + 1) * K * K
  int64_t seen = 0;
  Difference<Real> delta;

  Weights(size_t rows, int label_count, int markov_order, size_t edges, LabelComponents label_parts, bool with_g)
      : labels(label_count), order(markov_order), adaptive(with_g), parts(std::move(label_parts)),
        emission(rows, parts.any() ? parts.count : labels, adaptive),
        edge(edges, edges ? labels * labels : 0, adaptive), chain(labels, order),
        chain_cells(size_t(labels) * (order ? labels + 2 : 2)) {
    if (order == 2) {
      trigram = TrigramWeights<Real>(labels);
      trigram_cells.resize(size_t(labels + 1) * labels * labels);
    }
  }

  // Ask for the data of a sentence before it is needed: shuffled sentences are far apart.
  static SEQTAG_INLINE void prefetch(const Instances<Real>& x, int64_t sentence) {
    const int64_t most = 256, first = x.sentence_ptr[sentence], last = x.sentence_ptr[sentence + 1];
    if (x.local.runs) {
      SEQTAG_PREFETCH(x.local.types + first);
      const uint8_t* end = std::min(x.local.of_token(last), x.local.of_token(first) + most * sizeof(int32_t));
      for (const uint8_t* at = x.local.of_token(first); at < end; at += 64) SEQTAG_PREFETCH(at);
      return;
    }
    const int64_t from = x.token_ptr[first], to = std::min(x.token_ptr[last], from + most);
    if (!x.dense)
      for (int64_t k = from; k < to; k += 64 / int64_t(sizeof(int32_t))) SEQTAG_PREFETCH(x.features + k);
    if (!x.values) return;
    for (int64_t k = from; k < to; k += 64 / int64_t(sizeof(Real))) SEQTAG_PREFETCH(x.values + k);
  }

  // What decoding one sentence needs, kept from one to the next.
  struct Scratch {
    std::vector<Real> potentials, part_scores, others;
    std::vector<int32_t> places;
    std::vector<int> vectors, wanted;  // where vectors of a row begin: all, and those of a token's labels
    WrittenOut<Real> sentence;         // if there are local rows
    Viterbi<Real> decoder;
    SecondOrderViterbi<Real> second;
  };

  // Emission potentials of a sentence, which is written out if there are local rows.
  void score(const Instances<Real>& x, int64_t first, size_t T, Scratch& space) const {
    if (!x.local.runs) return emissions(x, first, T, space);
    space.sentence.write(x, first, T);
    emissions(space.sentence.instances(), 0, T, space);
  }

  // Emission potentials (T, stride) of the tokens first ... first + T, into space.potentials.
  void emissions(const Instances<Real>& x, int64_t first, size_t T, Scratch& space) const {
    if (!parts.any() && !x.set_of) return sum_rows(x, first, T, chain.stride, space, space.potentials);
    sum_rows(x, first, T, emission.stride, space, space.part_scores);
    space.potentials.assign(T * chain.stride, 0);
    for (size_t t = 0; t < T; ++t) {
      const Real* scores = &space.part_scores[t * emission.stride];
      Real* potentials = &space.potentials[t * chain.stride];
      const int32_t set = x.set_of ? x.set_of[first + int64_t(t)] : -1;
      if (set < 0 && parts.any()) {
        parts.sum(scores, potentials);
      } else if (set < 0) {
        std::copy(scores, scores + labels, potentials);
      } else {
        std::fill(potentials, potentials + labels, Real(kForbidden));
        for (int64_t i = x.set_ptr[set]; i < x.set_ptr[set + 1]; ++i) {
          const int32_t j = x.set_labels[i];
          potentials[j] = parts.any() ? parts.sum<Real>(scores, j) : scores[j];
        }
      }
    }
  }

  // Sums of the emission rows of T tokens: (T, S). Of labels that a token may not have they may be wrong.
  void sum_rows(const Instances<Real>& x, int64_t first, size_t T, int S, Scratch& space,
                std::vector<Real>& out) const {
    std::vector<int32_t>& places = space.places;
    out.resize(T * size_t(S));
    const int64_t* ptr = x.token_ptr + first;
    const size_t n = size_t(ptr[x.dense ? 1 : T] - ptr[0]), ahead = 100;  // rows to prefetch
    const bool far = emission.far() && !x.dense;
    places.resize(n);
    emission.locate(x.features + (x.dense ? 0 : ptr[0]), n, places.data());
    size_t asked = 0;
    for (size_t t = 0; t < T; ++t) {
      const size_t from = x.dense ? 0 : size_t(ptr[t] - ptr[0]), count = size_t(ptr[t + 1] - ptr[t]);
      for (const size_t most = far ? std::min(from + count + ahead, n) : 0; asked < most; ++asked)
        emission.prefetch(places[asked]);
      const Real* values = x.values ? x.values + ptr[t] : nullptr;
      if constexpr (Rows::contiguous)
        emission.sum_rows(&out[t * S], places.data() + from, values, int64_t(count));
      else
        emission.sum_rows(&out[t * S], places.data() + from, values, int64_t(count),
                          wanted(x, first + int64_t(t), space));
    }
  }

  // Where the vectors of a row begin that have the labels of a token.
  const std::vector<int>& wanted(const Instances<Real>& x, int64_t token, Scratch& space) const {
    const int32_t set = x.set_of && !parts.any() ? x.set_of[token] : -1;
    if (set < 0) {
      if (space.vectors.empty()) space.vectors = vectors_of<Real>(emission.stride);
      return space.vectors;
    }
    space.wanted.clear();
    for (int64_t i = x.set_ptr[set]; i < x.set_ptr[set + 1]; ++i) {
      const int begin = x.set_labels[i] / lanes<Real> * lanes<Real>;
      if (space.wanted.empty() || space.wanted.back() != begin) space.wanted.push_back(begin);
    }
    return space.wanted;
  }

  void decode(const Instances<Real>& x, int64_t first, size_t T, Scratch& space, const int32_t* against,
              int32_t* out_labels) const {
    const TrainedEdges<Real> observed(chain, edge, x, first);
    const Edges<Real>* edges = x.edge_ptr ? &observed : nullptr;
    const Real* scores = space.potentials.data();
    if (order == 2)
      space.second.run(scores, T, chain, trigram, edges, against, out_labels);
    else
      space.decoder.run(scores, T, chain, order > 0, edges, against, out_labels);
  }

  void decode_all(const Instances<Real>& x, int32_t* out_labels) const {
    Scratch space;
    for (size_t s = 0; s < x.sentences; ++s) {
      const int64_t first = x.sentence_ptr[s];
      const size_t T = size_t(x.sentence_ptr[s + 1] - first);
      score(x, first, T, space);
      decode(x, first, T, space, nullptr, out_labels + first);
    }
  }

  EpochCounts train_epoch(const Instances<Real>& x, const EpochSettings<Real>& settings, Mistakes* out_mistakes) {
    if constexpr (Rows::contiguous)
      if (order == 0 && !parts.any() && SingleTokens<Weights>::possible(x, chain.stride))
        return visit(x, settings, SingleTokens<Weights>(*this, x, settings.visits, settings.count), out_mistakes);
    return visit(x, settings, Sentences{*this, x}, out_mistakes);
  }

  // Rebuilds what decoding reads from all cells.
  void refresh() {
    const size_t K = size_t(labels);
    for (size_t j = 0; j < K; ++j) {
      chain.start[j] = chain_cells[j].w;
      chain.stop[j] = chain_cells[K + j].w;
    }
    if (order == 0) return;
    for (size_t i = 0; i < K; ++i) {
      for (size_t j = 0; j < K; ++j) chain.set(int(i), int(j), chain_cells[(2 + i) * K + j].w);
      chain.bound_row(int(i));
    }
    if (!trigram.any()) return;
    for (size_t i = 0; i < trigram_cells.size(); ++i)
      trigram.row(int(i / K / K), int(i / K % K))[i % K] = trigram_cells[i].w;
    for (int a = 0; a <= labels; ++a) {
      for (int b = 0; b < labels; ++b) trigram.bound_row(a, b);
      trigram.bound_onward(a, chain);
    }
  }

  // After mistakes in a sentence whose potentials are in `space`: the one update.
  void update(const Instances<Real>& x, int64_t first, size_t T, const int32_t* gold, const int32_t* y_hat,
              const Scratch& space, Step<Real> rate) {
    difference(x, first, T, gold, y_hat);
    if (rate.rule == Rule::passive_aggressive) {
      const double loss =
          path_score(x, first, T, space.potentials, y_hat) - path_score(x, first, T, space.potentials, gold);
      const double squared = delta.squared();
      rate.size = squared > 0 ? Real(std::min(double(rate.size), loss / squared)) : Real(0);
    }
    apply(rate);
  }

 private:
  // Examples as they come: sentences of any length.
  struct Sentences {
    Weights& weights;
    const Instances<Real>& x;
    void score(size_t, int64_t first, size_t T, Scratch& space) { weights.score(x, first, T, space); }
    void learn(size_t, int64_t first, size_t T, const int32_t* gold, const int32_t* y_hat, const Scratch& space,
               const Step<Real>& rate) {
      if (x.local.runs)
        weights.update(space.sentence.instances(), 0, T, gold, y_hat, space, rate);
      else
        weights.update(x, first, T, gold, y_hat, space, rate);
    }
  };

  // The one loop. Examples know how to score and learn one of them: Sentences, or SingleTokens.
  template <class Examples>
  EpochCounts visit(const Instances<Real>& x, const EpochSettings<Real>& settings, Examples examples,
                    Mistakes* out_mistakes) {
    EpochCounts counts;
    Scratch space;
    std::vector<int32_t> y_hat, completion;
    const std::vector<Real> choice_costs = costs_of_choices(settings);
    for (size_t k = 0; k < settings.count; ++k, ++seen) {
      if (settings.ask) settings.ask();
      const int64_t first = x.sentence_ptr[settings.visits[k]];
      const size_t T = size_t(x.sentence_ptr[settings.visits[k] + 1] - first);
      const int32_t* gold = settings.gold + first;
      if (k + 4 < settings.count) prefetch(x, settings.visits[k + 4]);
      examples.score(k, first, T, space);
      add_costs(settings, choice_costs, gold, T, space.potentials);
      y_hat.resize(T);
      decode(x, first, T, space, settings.ties_are_mistakes ? gold : nullptr, y_hat.data());
      int64_t mistakes = 0;
      for (size_t t = 0; t < T; ++t) mistakes += !settings.permits(gold[t], y_hat[t], size_t(labels));
      if (mistakes == 0) continue;
      ++counts.updates;
      counts.wrong_tokens += mistakes;
      if (out_mistakes) {
        out_mistakes->position.push_back(int64_t(k));
        out_mistakes->y_hat.insert(out_mistakes->y_hat.end(), y_hat.begin(), y_hat.end());
      }
      if (complete(x, settings, first, T, gold, space, completion)) gold = completion.data();
      examples.learn(k, first, T, gold, y_hat.data(), space, Step<Real>{settings.rule, settings.step, Real(seen)});
    }
    return counts;
  }

  // Whether labels are open; then the best labels among those permitted. reference.py: permit().
  bool complete(const Instances<Real>& x, const EpochSettings<Real>& settings, int64_t first, size_t T,
                const int32_t* gold, Scratch& space, std::vector<int32_t>& out_labels) const {
    if (std::all_of(gold, gold + T, [](int32_t label) { return label >= 0; })) return false;
    space.others = space.potentials;
    for (size_t t = 0; t < T; ++t)
      for (int32_t j = 0; j < labels; ++j)
        if (!settings.permits(gold[t], j, size_t(labels)))
          space.potentials[t * size_t(chain.stride) + size_t(j)] = Real(kForbidden);
    out_labels.resize(T);
    decode(x, first, T, space, nullptr, out_labels.data());
    space.potentials.swap(space.others);
    return true;
  }

  // The cost of each label where several gold labels are permitted: the least over them. (C, K)
  std::vector<Real> costs_of_choices(const EpochSettings<Real>& settings) const {
    const size_t K = size_t(labels);
    std::vector<Real> costs(settings.cost ? settings.choice_count * K : 0, 0);
    for (size_t i = 0; i < costs.size(); ++i) {
      bool found = false;
      for (size_t g = 0; g < K; ++g) {
        if (!settings.choices[i / K * K + g]) continue;
        const Real cost = settings.cost[g * K + i % K];
        costs[i] = found ? std::min(costs[i], cost) : cost;
        found = true;
      }
    }
    return costs;
  }

  // reference.py: loss_augment().
  void add_costs(const EpochSettings<Real>& settings, const std::vector<Real>& choice_costs, const int32_t* gold,
                 size_t T, std::vector<Real>& potentials) const {
    const size_t K = size_t(labels), S = size_t(chain.stride);
    for (size_t t = 0; settings.cost && t < T; ++t) {
      const Real* cost = gold[t] < 0 ? &choice_costs[size_t(-1 - gold[t]) * K] : settings.cost + size_t(gold[t]) * K;
      for (size_t j = 0; j < K; ++j) potentials[t * S + j] += cost[j];
    }
    if (settings.cost || settings.margin == 0) return;
    for (size_t t = 0; t < T; ++t) {
      Real* row = &potentials[t * S];
      if (gold[t] < 0) {
        for (size_t j = 0; j < K; ++j)
          if (!settings.permits(gold[t], int32_t(j), K)) row[j] += settings.margin;
        continue;
      }
      const Real right = row[gold[t]];
      const Vector<Real> margin = splat(settings.margin);
      for (size_t j = 0; j < S; j += lanes<Real>) store(row + j, load(row + j) + margin);
      row[gold[t]] = right;
    }
  }

  void difference(const Instances<Real>& x, int64_t first, size_t T, const int32_t* y, const int32_t* y_hat) {
    const int64_t K = labels;
    delta.clear();
    for (size_t t = 0; t < T; ++t) {
      if (y[t] == y_hat[t]) continue;
      for (int64_t k = x.token_ptr[first + t]; k < x.token_ptr[first + t + 1]; ++k) {
        const Real value = x.values ? x.values[k] : Real(1);
        if (value == 0) continue;
        const int32_t row = emission.own_place(x.row(k, first + t));
        if (!parts.any()) {
          emission.prefetch_update(row, y[t]);
          emission.prefetch_update(row, y_hat[t]);
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
      delta.chain.push_back({0, path[0], value});
      delta.chain.push_back({0, int32_t(K + path[T - 1]), value});
      for (size_t t = 1; t < T; ++t) {
        if (y[t - 1] == y_hat[t - 1] && y[t] == y_hat[t]) continue;
        const int32_t bigram = int32_t(path[t - 1] * K + path[t]);
        delta.chain.push_back({0, int32_t(2 * K + bigram), value});
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
    Difference<Real>::merge(delta.chain);
    Difference<Real>::merge(delta.edge);
    Difference<Real>::merge(delta.trigram);
  }

  double path_score(const Instances<Real>& x, int64_t first, size_t T, const std::vector<Real>& potentials,
                    const int32_t* y) const {
    const int S = chain.stride;
    double score = double(chain.start[y[0]]) + double(chain.stop[y[T - 1]]);
    std::vector<Real> matrix;
    const TrainedEdges<Real> edges(chain, edge, x, first);
    for (size_t t = 0; t < T; ++t) {
      score += double(potentials[t * S + y[t]]);
      if (t == 0 || order == 0) continue;
      const Real* transition = chain.transition.data();
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
      if (e.value != 0) emission.update(e.row, e.column, e.value, step);
    for (const auto& e : delta.edge) edge.update(e.row, e.column, e.value, step);
    for (const auto& e : delta.trigram) {
      Cell<Real>& c = trigram_cells[size_t(e.row) * K + e.column];
      step.apply(c.w, c.u, &c.g, e.value);
      trigram.row(e.row / K, e.row % K)[e.column] = c.w;
      trigram.bound_row(e.row / K, e.row % K);
      trigram.bound_onward(e.row / K, chain);
    }
    for (const auto& e : delta.chain) {
      Cell<Real>& c = chain_cells[size_t(e.column)];
      step.apply(c.w, c.u, &c.g, e.value);
      if (e.column < K) {
        chain.start[e.column] = c.w;
      } else if (e.column < 2 * K) {
        chain.stop[e.column - K] = c.w;
      } else {
        const int64_t i = (e.column - 2 * K) / K, j = (e.column - 2 * K) % K;
        chain.set(int(i), int(j), c.w);
        chain.bound_row(int(i));
        if (trigram.any()) trigram.bound_onward(int(i), chain);
      }
    }
  }
};

}  // namespace seqtag
