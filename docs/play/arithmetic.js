"use strict";
/*
 * The arithmetic of the page, and nothing else: pure functions of numbers and lists, which know of
 * no element. They are the definitions of seqtag.classifiers and of seqtag/engine/reference.py;
 * tests/browser/test_play_numbers.py compares both on random data, number for number.
 *
 * Letters: x a vector, y its label (-1 or +1) or the labels of a sentence, w the weights, h = w . x;
 * C examples seen, u what makes the average of w, M updates; R and gamma radius and margin;
 * T tokens, K labels, v best scores of prefixes.
 */
window.perceptron = (() => {
  // ------------------------------------------------------------------------------- vectors
  const zeros = (n) => new Array(n).fill(0);
  const dot = (a, b) => a.reduce((sum, each, i) => sum + each * b[i], 0);
  const add = (a, b, factor = 1) => a.map((each, i) => each + factor * b[i]);
  const length = (a) => Math.sqrt(dot(a, a));

  /** Feature maps of a point (p, q), and what their features are called. */
  const MAPS = {
    identity: { of: (p, q) => [p, q], names: ["p", "q"] },
    product: { of: (p, q) => [p, q, p * q], names: ["p", "q", "pq"] },
    squares: { of: (p, q) => [p, q, p * p, q * q], names: ["p", "q", "p²", "q²"] },
    quadratic: { of: (p, q) => [p, q, p * q, p * p, q * q], names: ["p", "q", "pq", "p²", "q²"] },
  };

  /** The features of a point; the bias, a feature that is always 1, is the last. */
  const features = (map, bias, [p, q]) => [...MAPS[map].of(p, q), ...(bias ? [1] : [])];

  /** The sign of a; of 0 it is a convention, -1 or +1. */
  const sign = (a, ofZero = -1) => (a > 0 ? 1 : a < 0 ? -1 : ofZero);

  // ------------------------------------------------------------------------------- learning
  /**
   * Rosenblatt's perceptron: every step and every w of its passes over vectors X (n, d).
   *
   * A mistake is y h <= 0 if ties are mistakes, else a decision that is not y. With a seed the
   * order of each pass is seqtag's; without one it is the order given.
   */
  function learn(X, y, settings = {}) {
    const { tiesAreMistakes = true, signOfZero = -1, untilConverged = true, passes = 100, seed = null } = settings;
    const n = X.length, d = n ? X[0].length : 0;
    let w = zeros(d), u = zeros(d);
    const run = { n, d, w: [w], u: [u], steps: [], updates: [], passes: 0, converged: false };
    while (n && run.passes < passes && !(run.converged && untilConverged)) {
      run.passes += 1;
      const before = run.updates.length;
      for (const example of visitingOrder(n, seed, 1, run.passes)) {
        const seen = run.steps.length, a = dot(w, X[example]);
        const mistake = tiesAreMistakes ? y[example] * a <= 0 : sign(a, signOfZero) !== y[example];
        if (mistake) {
          w = add(w, X[example], y[example]); // w <- w + y x
          u = add(u, X[example], y[example] * seen); // u <- u + c y x
          run.w.push(w);
          run.u.push(u);
          run.updates.push({ example, seen });
        }
        run.steps.push({ pass: run.passes, example, a, mistake, updates: run.updates.length });
      }
      run.converged = run.updates.length === before;
    }
    return run;
  }

  /** Where a run stands after C examples: w, its mean over them, and how many each w survived. */
  function standing(run, C) {
    const M = C ? run.steps[C - 1].updates : 0;
    const w = run.w[M], mean = add(w, run.u[M].map((each) => each / Math.max(C, 1)), -1); // w - u / C
    const begins = [0, ...run.updates.slice(0, M).map((update) => update.seen)];
    const survival = begins.map((begin, m) => (m < M ? begins[m + 1] : C) - begin);
    return { M, w, mean, survival };
  }

  /** The mean vote of all w so far, from -1 to +1: each votes sign(w . x) as often as it survived. */
  function vote(run, { M, survival }, x, signOfZero = -1) {
    let votes = 0, total = 0;
    for (let m = 0; m <= M; m++) {
      votes += survival[m] * sign(dot(run.w[m], x), signOfZero);
      total += survival[m];
    }
    return total ? votes / total : 0;
  }

  // -------------------------------------------------------------------------------- margins
  /** The geometric margin of w: the least y (w . x) / |w|. */
  const margin = (w, X, y) => Math.min(...X.map((x, i) => y[i] * dot(w, x))) / length(w);

  /** The greatest margin gamma of any w, R, and Novikoff's bound (R / gamma)^2. */
  function separability(X, y) {
    const R = Math.max(0, ...X.map(length));
    const signed = X.map((x, i) => x.map((each) => y[i] * each));
    const nearest = R ? nearestPoint(signed.map((x) => x.map((each) => each / R))) : [];
    const reach = length(nearest);
    if (!(reach > 1e-9)) return { separable: false, margin: 0, w: null, R, bound: Infinity };
    const w = nearest.map((each) => each / reach);
    const gamma = Math.min(...signed.map((x) => dot(x, w)));
    if (!(gamma > 0)) return { separable: false, margin: 0, w: null, R, bound: Infinity };
    return { separable: true, margin: gamma, w, R, bound: (R / gamma) ** 2 };
  }

  /** The point of least norm in the convex hull of points of length <= 1 (Wolfe 1976). */
  function nearestPoint(points, tolerance = 1e-12) {
    const mix = (share, corral) =>
      corral.reduce((sum, point, i) => add(sum, points[point], share[i]), zeros(points[0].length));
    const least = (values) => values.indexOf(Math.min(...values));
    let corral = [least(points.map((x) => dot(x, x)))], share = [1];
    for (let round = 0; round < 50 * (points.length + points[0].length); round++) {
      const x = mix(share, corral), ahead = points.map((point) => dot(point, x)), best = least(ahead);
      if (ahead[best] >= dot(x, x) - tolerance || corral.includes(best)) break;
      corral.push(best);
      share.push(0);
      for (;;) {
        const affine = affineMinimiser(corral.map((i) => points[i]));
        if (affine.every((each) => each > tolerance)) {
          share = affine;
          break;
        }
        // else walk towards it until a share is used up
        const reach = affine.map((each, i) => (each > tolerance ? 1 : share[i] > each ? share[i] / (share[i] - each) : 1));
        share = add(share, add(affine, share, -1), Math.min(1, ...reach));
        const keep = share.map((each) => each > tolerance);
        keep[share.indexOf(Math.max(...share))] = true;
        if (keep.every(Boolean)) keep[least(share)] = false; // rounding: let the least one go
        corral = corral.filter((_, i) => keep[i]);
        share = share.filter((_, i) => keep[i]);
        const sum = share.reduce((a, b) => a + b, 0);
        share = share.map((each) => each / sum);
      }
    }
    return mix(share, corral);
  }

  /** Shares, of sum 1, of the point of least norm in the affine hull: by Gauss's elimination. */
  function affineMinimiser(points) {
    const m = points.length + 1;
    const rows = [[0, ...points.map(() => 1), 1], ...points.map((a) => [1, ...points.map((b) => dot(a, b)), 0])];
    for (let column = 0; column < m; column++) {
      let pivot = column;
      for (let i = column; i < m; i++) if (Math.abs(rows[i][column]) > Math.abs(rows[pivot][column])) pivot = i;
      [rows[column], rows[pivot]] = [rows[pivot], rows[column]];
      for (let i = 0; i < m; i++) {
        if (i !== column && rows[column][column]) rows[i] = add(rows[i], rows[column], -rows[i][column] / rows[column][column]);
      }
    }
    return rows.slice(1).map((row, i) => row[m] / row[i + 1]);
  }

  // ----------------------------------------------------------------------- sentences: phi, argmax
  /**
   * w as one vector: emission [row][label], start [label], stop [label], transition [from][to].
   * Order 0 has no label features: every token is decoded by itself.
   */
  function layout(rows, labels, order = 1) {
    const K = labels, chain = rows * K;
    return {
      rows, labels, order,
      size: chain + 2 * K + (order ? K * K : 0),
      emission: (row, k) => row * K + k,
      start: (k) => chain + k,
      stop: (k) => chain + K + k,
      transition: (i, j) => chain + 2 * K + i * K + j,
    };
  }

  /** The joint feature map of a sentence, x[t] the rows of token t, labelled y: counts of cells. */
  function phi(at, x, y) {
    const counts = zeros(at.size), T = x.length;
    for (let t = 0; t < T; t++) {
      for (const row of x[t]) counts[at.emission(row, y[t])] += 1;
      if (at.order && t > 0) counts[at.transition(y[t - 1], y[t])] += 1;
    }
    if (at.order && T) {
      counts[at.start(y[0])] += 1;
      counts[at.stop(y[T - 1])] += 1;
    }
    return counts;
  }

  /** e_t(b): the sum of the emission weights of token t with label b. */
  const emissions = (at, w, x) =>
    x.map((rows) => zeros(at.labels).map((_, b) => rows.reduce((sum, row) => sum + w[at.emission(row, b)], 0)));

  /** The lowest of the best; with `avoid`, another one if several are best. */
  function argmax(scores, avoid = null) {
    const best = Math.max(...scores);
    const equals = scores.flatMap((score, i) => (score === best ? [i] : []));
    return equals.length > 1 ? equals.find((i) => i !== avoid) : equals[0];
  }

  /**
   * Viterbi (1967): every cell v_t(b) with its candidates v_{t-1}(a) + transition_{a, b} and its back
   * pointer, and the labels y of highest score. Ties go to the lowest label; with `against`, to
   * another label than against[t].
   */
  function viterbi(at, w, x, against = null) {
    const K = at.labels, T = x.length, e = emissions(at, w, x), each = [...zeros(K).keys()];
    const avoid = (t) => (against ? against[t] : null);
    const cells = [];
    for (let t = 0; t < T; t++) {
      cells.push(each.map((b) => {
        if (!at.order) return { e: e[t][b], candidates: [], back: null, v: e[t][b] };
        if (t === 0) return { e: e[t][b], candidates: [], back: null, v: w[at.start(b)] + e[t][b] };
        const candidates = each.map((a) => cells[t - 1][a].v + w[at.transition(a, b)]);
        return { e: e[t][b], candidates, back: argmax(candidates, avoid(t - 1)), v: Math.max(...candidates) + e[t][b] };
      }));
    }
    if (!at.order) return { cells, last: null, y: cells.map((row, t) => argmax(row.map((cell) => cell.v), avoid(t))) };
    const last = T ? each.map((b) => cells[T - 1][b].v + w[at.stop(b)]) : [], y = zeros(T);
    if (T) y[T - 1] = argmax(last, avoid(T - 1));
    for (let t = T - 1; t > 0; t--) y[t - 1] = cells[t][y[t]].back;
    return { cells, last, y };
  }

  /** One visit of a sentence: decode, and if a label is wrong w <- w + phi(x, y) - phi(x, y_hat). */
  function visit(at, { w, u, seen }, x, gold, tiesAreMistakes = false) {
    const lattice = viterbi(at, w, x, tiesAreMistakes ? gold : null);
    const wrong = gold.filter((label, t) => label !== lattice.y[t]).length;
    const right = phi(at, x, gold), decoded = phi(at, x, lattice.y), delta = add(right, decoded, -1);
    const after = wrong ? { w: add(w, delta), u: add(u, delta, seen) } : { w, u };
    return { lattice, wrong, right, decoded, delta, before: { w, u, seen }, after: { ...after, seen: seen + 1 } };
  }

  // ------------------------------------------------------------------- one learner for all of them
  /** The joint feature maps: half(x, y) of the labels -1 and +1; block(x, y) of the labels 0 ... K - 1. */
  const half = (x, y) => x.map((each) => (y * each) / 2);
  const block = (K) => (x, y) => zeros(K).flatMap((_, k) => (k === y ? x : zeros(x.length)));

  /** The label of highest score; of several, the first that is not gold: a tie is a mistake. */
  function best(labels, score, gold = null) {
    const scores = labels.map(score), most = Math.max(...scores), equals = labels.filter((_, i) => scores[i] === most);
    return equals.length > 1 ? equals.find((label) => label !== gold) : equals[0];
  }
  const search = (labels, map) => (w, x, gold = null) => best(labels, (label) => dot(w, map(x, label)), gold);

  /** The one learner, for a joint feature map and a decoder; examples are [x, y], in the order of the visits. */
  function learnJoint(examples, map, decode) {
    let w = examples.length ? zeros(map(...examples[0]).length) : [], u = w;
    const visits = examples.map(([x, y], seen) => {
      const guess = decode(w, x, y), before = w, mistake = String(guess) !== String(y);
      if (mistake) {
        const delta = add(map(x, y), map(x, guess), -1);
        w = add(w, delta);
        u = add(u, delta, seen);
      }
      return { x, y, guess, mistake, right: map(x, y), decoded: map(x, guess), before, w, u };
    });
    return { visits, w, mean: w.map((each, i) => each - u[i] / Math.max(examples.length, 1)) };
  }

  /** The mean of w over the sentences seen: w - u / C. */
  const average = ({ w, u, seen }) => w.map((each, i) => each - u[i] / Math.max(seen, 1));

  // ----------------------------------------------------------------------------------- order
  /** The numbers 0 ... n - 1 as seqtag visits them: as they are, or by seed, run and pass. */
  function visitingOrder(n, seed, run, pass) {
    const order = [...zeros(n).keys()], next = seed === null ? null : mersenneTwister([seed, run, pass]);
    for (let i = next ? n - 1 : 0; i > 0; i--) {
      const mask = 2 ** (32 - Math.clz32(i)) - 1;
      let j = next() & mask;
      while (j > i) j = next() & mask;
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order;
  }

  /** Random numbers of 32 bits (Matsumoto and Nishimura 1998), as numpy's RandomState draws them. */
  function mersenneTwister(key) {
    const N = 624, s = new Uint32Array(N);
    const mixed = (i, factor) => Math.imul(s[i - 1] ^ (s[i - 1] >>> 30), factor);
    s[0] = 19650218;
    for (let i = 1; i < N; i++) s[i] = mixed(i, 1812433253) + i;
    const last = Math.max(N, key.length); // a first round mixes the key in, a second one all with all
    for (let k = 0, i = 1; k < last + N - 1; k++) {
      if (k < last) s[i] = (s[i] ^ mixed(i, 1664525)) + key[k % key.length] + (k % key.length);
      else s[i] = (s[i] ^ mixed(i, 1566083941)) - i;
      if (++i === N) [s[0], i] = [s[N - 1], 1];
    }
    s[0] = 0x80000000;
    let at = N;
    return () => {
      if (at === N) {
        for (let k = 0; k < N; k++) {
          const z = (s[k] & 0x80000000) | (s[(k + 1) % N] & 0x7fffffff);
          s[k] = s[(k + 397) % N] ^ (z >>> 1) ^ (z & 1 ? 0x9908b0df : 0);
        }
        at = 0;
      }
      let z = s[at++];
      z ^= z >>> 11;
      z ^= (z << 7) & 0x9d2c5680;
      z ^= (z << 15) & 0xefc60000;
      return (z ^ (z >>> 18)) >>> 0;
    };
  }

  return {
    MAPS, features, sign, dot, add, length, learn, standing, vote, margin, separability,
    layout, phi, viterbi, visit, average, visitingOrder, half, block, best, search, learnJoint,
  };
})();
