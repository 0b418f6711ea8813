"use strict";
/* Part 1: points in the plane, and a perceptron that learns them. */
const plane = (() => {
  const P = window.perceptron;
  const PRESETS = {
    gap: ["A narrow gap", "5,3p-4,-3p2,2p6,5p-2,-4m3,0m-6,-6m6,1m", { bias: true }],
    words: ["Nouns and verbs", "2,4p4,0p3,-2p1,2p0,3p2,2p-1,2m-2,1m-3,-3m-1,0m-1,-2m-1,-4m", {}, "day way year water minutes week used asked get go see made"],
    wide: ["Through the origin", "-3,-6m0,-3m3,7p-2,2p-7,-4p", {}],
    tour: ["Two words: a noun, a verb", "2,4p-1,2m", {}, "day used"],
    clouds: ["Two clouds that overlap", "1,3p3,4p4,2p5,5p2,6p6,3p3,1p0,2p5,1p1,-1p-2,1p4,-2p1,0m-1,2m-3,-1m-2,-3m-4,1m-5,-4m-1,-5m-3,-6m-6,-2m2,-2m0,-1m3,2m", { bias: true, decide: "mean" }],
    outlier: ["The last one is wrong", "2,4p4,0p3,-2p1,2p0,3p2,2p-1,2m-2,1m-3,-3m-1,0m-1,-2m-1,-4m2,4m", { passes: 1 }, "day way year water minutes week used asked get go see made day?"],
    xor: ["XOR", "-4,-2m4,2m4,-2p-4,2p", { bias: true }],
    product: ["XOR, with the product", "-4,-2m4,2m4,-2p-4,2p", { bias: true, map: "product", passes: 50 }],
    circle: ["A circle", "0,0p1,2p-2,1p2,-1p-1,-2p0,5m5,1m4,-4m-1,-6m-5,-2m-4,4m", { bias: true, map: "squares", passes: 50 }],
    line: ["On a line, with squares", "-7,0p-5,0p-2,0m-1,0m1,0m2,0m5,0p7,0p", { bias: true, map: "squares", passes: 50 }],
    empty: ["No points", "", { bias: true }],
    own: ["Your own points"],
  };
  const DEFAULTS = { map: "identity", decide: "last", bias: false, ties: "mistake", zero: "-1", order: "", seed: "0", passes: 20, rest: true };
  const { ids, read, recall: restore, changed } = fieldsOf(DEFAULTS);
  let points = [], run = null, found = null, X = [], y = [];
  let guess = []; // one or two places of a predicted line
  let at = 0, cursor = [0, 0], drawn = null, frame = 0, painted = 0;

  /** What a point is called: its word, if the example has words, or its number. */
  const words = () => PRESETS[$("preset").value]?.[3]?.split(" ") ?? [];
  const nameOf = (example) => (words()[example] ? `“${words()[example]}”` : `x${below(example + 1)}`);
  const sideName = (side) => (side > 0 ? "plus" : "minus");

  // ---------------------------------------------------------------------------- settings
  const zero = () => Number(read("zero"));
  const parse = (text) =>
    [...text.matchAll(/(-?\d+),(-?\d+)([pm])/g)].map(([, p, q, side]) => ({ x: [Number(p), Number(q)], y: side === "p" ? 1 : -1 }))
      .filter(({ x }) => x.every((each) => Math.abs(each) <= REACH));
  const written = () => points.map(({ x, y: side }) => `${x}${side > 0 ? "p" : "m"}`).join("");

  /** A prediction is for the data and the features that it was made for. */
  function forget() {
    guess = [];
    say("");
  }

  function choose(name, values = null) {
    forget();
    const [, text, settings] = PRESETS[name];
    points = parse(text);
    const { ties, zero, order, seed, rest } = Object.fromEntries(ids.map((id) => [id, read(id)]));
    restore(values ? { ...settings, ...values } : { ties, zero, order, seed, rest, ...settings }); // chosen by hand, these stay
    $("preset").value = name;
    learn(whole(values?.at, 1e6));
  }

  /** Learn anew from the points, and stand after so many examples. */
  function learn(where) {
    y = points.map((point) => point.y);
    X = points.map((point) => P.features(read("map"), read("bias"), point.x));
    run = P.learn(X, y, {
      tiesAreMistakes: read("ties") === "mistake", signOfZero: zero(), untilConverged: read("rest"),
      passes: Math.max(1, whole(read("passes"), 100)),
      seed: read("order") ? whole(read("seed"), 2 ** 32 - 1) : null,
    });
    found = points.length ? P.separability(X, y) : null;
    $("seed-label").hidden = !read("order");
    $("time").max = run.steps.length;
    axes();
    go(where);
  }

  const names = () => [...(words().length && read("map") === "identity" ? WORD_FEATURES : P.MAPS[read("map")].names), ...(read("bias") ? ["b"] : [])];

  // --------------------------------------------------------------------------- the picture
  /** The score that decides at a point of the plane, by what is chosen to decide. */
  function decider(state, w) {
    const map = P.MAPS[read("map")].of, bias = read("bias");
    const lift = (p, q) => (bias ? [...map(p, q), 1] : map(p, q));
    if (w === "vote") return (p, q) => P.vote(run, state, lift(p, q), zero());
    return (p, q) => P.dot(w, lift(p, q));
  }

  /** The part of the plane where f is positive, and its border, as paths (marching squares). */
  function regions(f, ofZero, fine, { jumps = false, dashed = false } = {}) {
    const step = SIDE / fine, value = (i, j) => f((i * step - SIDE / 2) / UNIT, (SIDE / 2 - j * step) / UNIT);
    const grid = Array.from({ length: fine + 1 }, (_, j) => Array.from({ length: fine + 1 }, (__, i) => value(i, j)));
    const inside = (a) => P.sign(a, ofZero) > 0, spot = ([i, j]) => `${(i * step).toFixed(1)} ${(j * step).toFixed(1)}`;
    const area = [], border = [];
    for (let j = 0; j < fine; j++) {
      for (let i = 0; i < fine; i++) {
        const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]], heights = corners.map(([a, b]) => grid[b][a]);
        const shape = [], crossings = [];
        for (let k = 0; k < 4; k++) {
          const next = (k + 1) % 4, here = inside(heights[k]);
          if (here) shape.push(corners[k]);
          if (here === inside(heights[next])) continue;
          const between = (share) => corners[k].map((each, c) => each + share * (corners[next][c] - each));
          let share = jumps ? 0.5 : heights[k] / (heights[k] - heights[next]);
          if (jumps) for (let size = 0.25; size > 0.01; size /= 2) share += inside(value(...between(share))) === here ? size : -size; // halve
          shape.push(between(share));
          crossings.push(between(share));
        }
        if (shape.length) area.push(`M${shape.map(spot).join("L")}Z`);
        if (!dashed || (i + j) % 2) for (let k = 0; k + 1 < crossings.length; k += 2) border.push(`M${spot(crossings[k])}L${spot(crossings[k + 1])}`);
      }
    }
    return { area: area.join(""), border: border.join("") };
  }

  /** w as an arrow that stands on the boundary; with the step that made it, if all is to be seen. */
  function arrows(state, change) {
    if (read("map") !== "identity" || read("decide") === "vote") return [];
    const w = read("decide") === "mean" ? state.mean : state.w;
    const plain = w.slice(0, 2), size = P.length(plain);
    if (!size) return [];
    const name = read("decide") === "mean" ? "w̄" : "w";
    if (!read("bias") && change && read("decide") === "last" && [w, change.before].every((each) => P.length(each) < REACH)) {
      return [arrow([0, 0], change.before, "old"), arrow(change.before, w, "change", "y x"), arrow([0, 0], w, "", name)];
    }
    const foot = plain.map((each) => (read("bias") ? (-w[2] * each) / size ** 2 : 0));
    const shown = Math.min(size, 4) / size; // long ones are shortened
    return [arrow(foot, foot.map((each, i) => each + shown * plain[i]), "", name),
      shown < 1 && draw("text", { class: "order scale", x: 8, y: SIDE - 10 }, `${name} is drawn shortened`)];
  }

  function paintGround(state, w) {
    const decide = read("decide"), voting = decide === "vote", f = decider(state, voting ? "vote" : w);
    const fine = read("map") === "identity" ? (voting ? 85 : 1) : 68; // one cell is enough for a straight line
    const ground = regions(f, zero(), fine, { jumps: voting });
    const border = (kind, g, more = {}) =>
      draw("path", { class: kind, d: regions(g, zero(), voting && fine > 68 ? 1 : fine, { dashed: fine > 1 && !voting }).border, ...more });
    const lines = voting ? drawnVoters(state).map(([k, share]) => border("voter", decider(state, run.w[k]), { opacity: share })) : [];
    const ghost = decide === "mean" ? state.w : decide === "last" && lastStep()?.mistake ? run.w[state.M - 1] : null;
    if (decide === "mean" && read("map") === "identity") { // the w before, the older the fainter
      const trail = run.w.slice(Math.max(1, state.M - 9), state.M);
      trail.forEach((old, k) => P.length(old) && lines.push(border("voter", decider(state, old), { opacity: 0.1 + (0.4 * k) / trail.length })));
    }
    if (ghost && P.length(ghost)) lines.push(border("ghost", decider(state, ghost)));
    const none = voting ? !at : !P.length(w), least = voting || isGuided() ? 0 : Math.min(...X.map((x, i) => y[i] * P.dot(w, x)));
    if (least > 0) for (const side of [-1, 1]) lines.push(border("margin", (p, q) => f(p, q) + side * least));
    fill($("regions"), none ? draw("rect", { class: "nobody", width: SIDE, height: SIDE }) : draw("path", { class: "ground-plus", d: ground.area }));
    fill($("lines"), scaffold(words().length ? WORD_FEATURES : undefined), lines, draw("path", { class: "boundary", d: ground.border }), guessedLine());
  }

  /** Different w with their votes, [update, votes], those with most votes first; equal ones are one voter. */
  function voters({ survival }) {
    const found = new Map();
    survival.forEach((votes, k) => {
      const known = found.get(String(run.w[k]));
      if (votes) found.set(String(run.w[k]), [known ? known[0] : k, votes + (known ? known[1] : 0)]);
    });
    return [...found.values()].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  }

  /** The twelve voters that are drawn, and how dark. */
  function drawnVoters(state) {
    const order = voters(state).filter(([k]) => P.length(run.w[k])).slice(0, 12);
    return order.map(([k, votes]) => [k, 0.12 + (0.45 * votes) / order[0][1]]);
  }

  function paintMarks(state) {
    const step = lastStep(), M = state.M;
    const marks = [arrows(state, step?.mistake ? { before: run.w[M - 1] } : null)];
    points.forEach(({ x: [p, q], y: side }, i) => {
      marks.push(mark(sideName(side), across(p) + aside(points, i), up(q)));
      if (words()[i]) marks.push(wordAt(points, i, words()));
      else if (points.length <= 40) marks.push(draw("text", { class: "order", x: across(p) + 15, y: up(q) - 12 }, String(i + 1)));
    });
    if (step) {
      const [p, q] = points[step.example].x;
      marks.push(draw("circle", { class: `ring ${step.mistake ? "mistake" : ""}`, cx: across(p) + aside(points, step.example), cy: up(q), r: 19 }));
    }
    fill($("marks"), marks);
  }

  // ------------------------------------------------------------------------------- prediction
  /** A vector that separates along the predicted line, or null: through the origin without a bias. */
  function guessed() {
    const [a, b] = read("bias") ? guess : [[0, 0], ...guess];
    if (!a || !b) return null;
    const normal = [a[1] - b[1], b[0] - a[0]], w = read("bias") ? [...normal, -P.dot(normal, a)] : normal;
    return P.length(normal) ? w : null;
  }
  function guessedLine() {
    const w = read("map") === "identity" && guessed();
    if (!w) return guess.map(([p, q]) => draw("circle", { class: "guess", cx: across(p), cy: up(q), r: 5 }));
    return draw("path", { class: "guess", d: regions(decider(null, w), 1, 1).border });
  }

  /** What a click means while a line is predicted. */
  function predict(x) {
    guess = [...(guess.length < (read("bias") ? 2 : 1) ? guess : []), x];
    go(at);
    judge();
  }

  /** How good the predicted line is, beside that of w. */
  function judge() {
    const line = guessed();
    if (!line) return say(guess.length ? "Now click a second point on the line." : "");
    const right = (w) => X.filter((x, i) => y[i] * P.dot(w, x) > 0).length, flip = line.map((each) => -each);
    const mine = Math.max(right(line), right(flip)), { w, mean } = P.standing(run, at), theirs = read("decide") === "mean" ? mean : w;
    const [a, b] = [line, theirs].map((each) => each.slice(0, 2)), sizes = P.length(a) * P.length(b);
    const angle = sizes ? (Math.acos(Math.min(1, Math.abs(P.dot(a, b)) / sizes)) * 180) / Math.PI : null;
    say(`Your line is right about ${mine} of ${plural(points.length, "point")}${angle === null ? ". There is no line of w yet: press ▶." : `, the line of w about ${right(theirs)}; the two lines differ by ${Math.round(angle)}°.`}`);
  }

  /** Draw; from a neighbouring step the boundary turns, where motion is welcome. */
  function paint(state) {
    cancelAnimationFrame(frame);
    const decide = read("decide"), w = decide === "mean" ? state.mean : state.w;
    const from = drawn, size = P.length(w);
    drawn = { at, w };
    paintMarks(state);
    const hurried = address.held && performance.now() - painted < 220;
    painted = performance.now();
    const near = !hurried && from && Math.abs(from.at - at) === 1 && from.w.length === w.length && P.length(from.w) && size;
    if (calm.matches || decide === "vote" || !near || document.hidden) return paintGround(state, w);
    const [a, b] = [from.w, w].map((each) => each.map((value) => value / P.length(each))), begin = performance.now();
    if (P.dot(a, b) > 1 - 1e-9) return paintGround(state, w);
    const turn = (now) => {
      const share = Math.min(1, Math.max(0, now - begin) / 180);
      if (share === 1) return paintGround(state, w);
      paintGround(state, a.map((value, i) => value + share * (b[i] - value)));
      frame = requestAnimationFrame(turn);
    };
    turn(begin);
  }

  /** Scores on a line: whatever the features, this is what is separated. */
  function paintStrip(state) {
    const decide = read("decide"), w = decide === "mean" ? state.mean : state.w;
    const a = X.map((x) => (decide === "vote" ? P.vote(run, state, x, zero()) : P.dot(w, x)));
    const most = Math.max(1e-9, ...a.map(Math.abs)), place = (value) => SIDE / 2 + (value / most) * (SIDE / 2 - 30);
    const wrong = a.filter((value, i) => P.sign(value, zero()) !== y[i]).length;
    fill($("strip"), draw("rect", { class: "ground-minus", width: SIDE / 2, height: 64 }),
      draw("rect", { class: "ground-plus", x: SIDE / 2, width: SIDE / 2, height: 64 }),
      draw("line", { class: "axis", x1: 0, x2: SIDE, y1: 32, y2: 32 }),
      draw("line", { class: "boundary", x1: SIDE / 2, x2: SIDE / 2, y1: 0, y2: 64 }),
      ...a.map((value, i) => mark(sideName(y[i]), place(value), y[i] > 0 ? 20 : 44, 9)),
      ...(a.length ? [[-most, 30, "start"], [0, SIDE / 2, "middle"], [most, SIDE - 30, "end"]] : []).map(([value, x, anchor]) =>
        draw("text", { x: value && !a.some(Boolean) ? -99 : x, y: 84, "text-anchor": anchor }, number(value))),
    );
    $("strip").setAttribute("aria-label", `Scores of ${plural(points.length, "point")}; ${wrong} on the wrong side`);
  }

  /** The axes of the lifted picture: features, or the sum of p and q. */
  function axes() {
    const map = read("map"), names = [...P.MAPS[map].names, "p + q"], onLine = points.every(({ x }) => x[1] === 0);
    const standard = { product: [0, 2], squares: onLine ? [0, 2] : [2, 3], quadratic: [3, 4] }[map];
    $("predict").hidden = map !== "identity";
    $("lifted").hidden = !standard;
    const key = `${map} ${standard}`;
    if (!standard || $("lifted").dataset.axes === key) return;
    ["across", "up"].forEach((id, k) => {
      fill($(id), names.map((name, i) => make("option", { value: i }, name)));
      $(id).value = standard[k];
    });
    $("lifted").dataset.axes = key;
  }

  function paintLift(state) {
    if ($("lifted").hidden) return;
    const W = 520, H = 300, edge = 30, sum = P.MAPS[read("map")].names.length;
    const w = read("decide") === "mean" ? state.mean : state.w, rest = read("bias") ? w[w.length - 1] : 0;
    const [across, up] = [["across", W, false], ["up", H, true]].map(([id, size, flip]) => {
      const k = Number($(id).value), values = X.map((x) => (k === sum ? x[0] + x[1] : x[k]));
      const low = Math.min(0, ...values), high = Math.max(0, ...values), span = high - low || 1;
      const to = (value) => (flip ? size : 0) + (flip ? -1 : 1) * (edge + ((value - low) / span) * (size - 2 * edge));
      return { k, values, to, name: $(id).selectedOptions[0].textContent, low: low - span, high: high + span, w: k === sum ? (w[0] + w[1]) / 2 : w[k] };
    });
    const marks = [draw("line", { class: "axis", x1: 0, x2: W, y1: up.to(0), y2: up.to(0) }), draw("line", { class: "axis", y1: 0, y2: H, x1: across.to(0), x2: across.to(0) })];
    if (across.k !== up.k && (across.w || up.w)) { // the line where their shares and b make 0, from edge to edge
      const steep = Math.abs(across.w * (across.high - across.low)) > Math.abs(up.w * (up.high - up.low));
      const ends = steep ? [up.low, up.high].map((g) => [-(rest + up.w * g) / across.w, g]) : [across.low, across.high].map((f) => [f, -(rest + across.w * f) / up.w]);
      const [[a, b], [c, d]] = ends.map(([f, g]) => [across.to(f), up.to(g)]);
      marks.push(draw("line", { class: "boundary", x1: a, y1: b, x2: c, y2: d }));
    }
    X.forEach((_, i) => marks.push(mark(sideName(y[i]), across.to(across.values[i]), up.to(up.values[i]), 8)));
    const label = (name, x, y, anchor) => draw("text", { class: "name", x, y, "text-anchor": anchor }, name);
    fill($("lift"), marks, label(across.name, W - 4, H - 6, "end"), label(up.name, 6, 20, "start"));
    const sums = [across.k, up.k].includes(sum), covered = [across.k, up.k, ...(sums ? [0, 1] : [])];
    const whole = w.slice(0, sum).every((each, k) => !each || covered.includes(k)) && (!sums || w[0] === w[1]);
    $("lift-note").textContent = whole ? "Here the boundary is a straight line." : `The line shows the boundary where ${sums ? "p = q and " : ""}the features not shown are 0.`;
  }

  // --------------------------------------------------------------------------- the numbers
  const lastStep = () => (at ? run.steps[at - 1] : null);


  /** The last step in words. */
  function caption(state) {
    const step = lastStep(), decide = read("decide");
    if (!points.length) return "Click in the plane to add points, then step.";
    if (!step) return "Nothing has been learned yet: w is 0, so there is no line.";
    const { example, mistake, a } = step, x = X[example], name = nameOf(example), side = y[example] > 0 ? "+1" : "−1";
    const said = [];
    if (!mistake) said.push(a === 0 ? `${name} is a ${side} and lies on the line (its score is 0), but the sign of 0 is right for it: w stays the same.` : `${name} is a ${side}, and its score, ${number(a)}, has the right sign: w stays the same.`);
    else {
      said.push(a === 0 ? (state.M === 1 ? `${name} is a ${side}, but its score is 0: a tie, which counts as a mistake.` : `${name} is a ${side}, but it lies on the line (its score is 0): a mistake.`) : `${name} is a ${side}, but its score is ${number(a)}: a mistake.`);
      const now = P.dot(state.w, x);
      if (decide !== "mean") said.push(`${name} ${y[example] > 0 ? "pulls w toward itself" : "pushes w away from itself"}, and its score ${y[example] > 0 ? "rises" : "falls"} to ${number(now)}${y[example] * now > 0 ? "." : ": still wrong."}`);
      const before = run.w[state.M - 1], lost = X.flatMap((each, i) => (i !== example && y[i] * P.dot(before, each) > 0 && y[i] * P.dot(state.w, each) <= 0 ? [nameOf(i)] : []));
      if (!P.length(state.w)) said.push("Now w is 0 again: all that was learned is gone.");
      else if (lost.length) said.push(`This makes ${lost.length > 4 || decide === "mean" ? plural(lost.length, "point") : listed(lost)} wrong.`);
    }
    if (at === run.steps.length) said.push(run.converged ? "A complete pass without a mistake: the perceptron has converged." : `After ${plural(run.passes, "pass", "passes")} it stops${found?.separable ? ", although it would converge later" : ": no w is right about all points"}.`);
    if (decide === "mean" && !isGuided()) said.push("The thick line is that of the average, the dashed line that of w.");
    if (decide === "vote") said.push("The thick line is where the result of the vote changes.");
    return said.join(" ");
  }

  // ------------------------------------------------------------------------------- the curve
  /** How many points w, and its average, have right after each example. */
  function curve() {
    const right = (w) => X.filter((x, i) => P.sign(P.dot(w, x), zero()) === y[i]).length;
    let sum = P.add(run.w[0] ?? [], run.w[0] ?? [], -1), M = -1, ofW = 0;
    const found = run.steps.map(({ updates }, t) => {
      const w = run.w[updates];
      sum = P.add(sum, w);
      if (updates !== M) [M, ofW] = [updates, right(w)];
      return [ofW, right(sum.map((each) => each / (t + 1)))];
    });
    return found;
  }

  function paintCurve() {
    const W = 520, H = 160, left = 34, n = Math.max(1, points.length), total = Math.max(1, run.steps.length);
    run.curve ??= curve();
    const x = (t) => left + (t / total) * (W - left - 8), h = (value) => 10 + (1 - value / n) * (H - 20);
    const path = (k) => run.curve.slice(0, at).map((each, t) => `${t ? "L" : "M"}${x(t + 1).toFixed(1)} ${h(each[k]).toFixed(1)}`).join("");
    const now = at ? run.curve[at - 1] : null;
    fill($("curve"), [0, n / 2, n].map((value) => [draw("line", { class: "grid", x1: left, x2: W - 8, y1: h(value), y2: h(value) }), draw("text", { x: left - 6, y: h(value) + 5, "text-anchor": "end" }, number(value, 1))]),
      draw("path", { class: "of-w", d: path(0) }), draw("path", { class: "of-mean", d: path(1) }),
      now && [draw("circle", { class: "dot of-w", cx: x(at), cy: h(now[0]), r: 5 }), draw("circle", { class: "dot of-mean", cx: x(at), cy: h(now[1]), r: 5 })],
      draw("text", { x: W - 8, y: H + 22, "text-anchor": "end" }, `${total} examples`), draw("text", { x: left, y: H + 22 }, "0"));
    $("curve").setAttribute("aria-label", now ? `After ${at} examples w has ${now[0]} of ${n} points right, the average ${now[1]}` : "Nothing has been learned yet");
    const mean = (k) => number(run.curve.slice(0, at).reduce((all, each) => all + each[k], 0) / at, 1);
    fill($("curve-note"), make("span", { class: "of-w" }, "— w"), now && `: ${now[0]} now, ${mean(0)} on average. `, " ", make("span", { class: "of-mean" }, "— its average w̄"), now && `: ${now[1]} now, ${mean(1)} on average.`);
  }

  function tellExample(state) {
    const step = lastStep(), bias = read("bias"), w = bias || read("map") !== "identity" ? "f(x)" : "x";
    if (!step) {
      const text = points.length ? "No example has been seen yet: w = 0. Press → or ▶ to step." : "Click in the plane to add points.";
      return fill($("example"), make("h3", {}, "Before the first example"), make("p", {}, text));
    }
    const { example, mistake, a } = step, before = run.w[step.updates - (mistake ? 1 : 0)], x = X[example];
    const sum = x.map((each, i) => `(${number(before[i])})(${number(each)})`).join(" + ");
    const tie = a === 0, name = m("x", sub(example + 1));
    const why = mistake ? (tie ? "a tie, and a mistake" : "mistake") : tie ? "a tie, but right" : "right";
    fill($("example"), make("h3", {}, `Pass ${step.pass}, example ${at - (step.pass - 1) * run.n} of ${run.n}`),
      make("p", {}, name, " = ", make("span", { class: "n" }, vector(points[example].x)), ", ", m("y"), " = ", make("b", { class: y[example] > 0 ? "plus" : "minus" }, y[example] > 0 ? "+1" : "−1"),
        w === "x" ? null : [", ", m("f(x)"), " = ", make("span", { class: "n" }, vector(x))]),
      make("p", {}, "score ", m("w · ", w), " = ", sum, " = ", make("b", {}, number(a))),
      make("p", {}, m("y (w · ", w, ")"), " = ", make("b", {}, number(y[example] * a)), ": ", make("span", { class: `verdict ${mistake ? "mistake" : "right"}` }, why)),
      mistake ? make("p", {}, m("w ← w + y ", w), " = ", vector(before), y[example] > 0 ? " + " : " − ", vector(x), " = ", make("b", {}, vector(state.w)))
        : make("p", {}, m("w"), " = ", make("b", {}, vector(state.w)), " stays the same."));
  }

  function tellBound({ M, w }) {
    const size = P.length(w), separable = found?.separable;
    const state = at === run.steps.length && at ? (run.converged ? `Converged in ${plural(run.passes, "pass", "passes")}.` : `Not converged in ${plural(run.passes, "pass", "passes")}.`) : "";
    fill($("bound"), make("h3", {}, "Mistakes and the bound"),
      make("p", {}, make("span", { class: "big", id: "mistakes" }, String(M)), separable ? [" ≤ ", m("(R / γ)²"), ", which is ", make("b", {}, number(found.bound))] : points.length ? "; there is no bound, because no line separates these features" : ""),
      separable && bars(M, size),
      found && make("p", { class: "quiet" }, m("R"), ` = ${number(found.R)}, `, m("γ"), ` = ${number(found.margin, 3)}; margin of `, m("w"), ": ", size && points.length ? number(P.margin(w, X, y), 3) : "none yet"),
      state && make("p", {}, make("b", { class: run.converged ? "gold" : "predicted" }, state)));
  }

  /** The proof: m gamma <= |w| <= sqrt(m) R, as three bars that grow with m, on the scale of the whole run. */
  function bars(M, size) {
    const most = Math.sqrt(Math.max(1, run.updates.length)) * found.R;
    const bar = (name, value, kind) => [make("span", {}, m(name)), make("span", { class: "gauge" }, make("i", { class: `${kind} ${value ? "thin" : ""}`, style: `width: ${(100 * value) / most}%` })), make("span", { class: "n" }, number(value))];
    return make("div", { class: "bars", id: "bars", role: "img", "aria-label": `m γ is ${number(M * found.margin)}, the length of w ${number(size)}, the root of m times R ${number(Math.sqrt(M) * found.R)}` },
      bar("m γ", M * found.margin, "low"), bar("|w|", size, ""), bar("√m R", Math.sqrt(M) * found.R, "high"));
  }

  function tellScores(state) {
    const right = (decide) => `${X.filter((x, i) => P.sign(decide(x), zero()) === y[i]).length} of ${points.length}`;
    const row = (key, name, decide) => [read("decide") === key ? "now" : null, [name, right(decide)]];
    fill($("scores"), make("h3", {}, "Correctly classified"), table([["by", "row"], ["points"]], [
      row("last", "the last w", (x) => P.dot(state.w, x)), row("vote", "the vote", (x) => P.vote(run, state, x, zero())), row("mean", "the average", (x) => P.dot(state.mean, x)),
    ]));
  }

  function tellWeights({ M, w, mean }) {
    $("count").textContent = `${plural(at, "example")}, ${plural(M, "update")}`;
    const row = (name, values) => [null, [m(name), ...values.map((value) => number(value, 3))]];
    fill($("weights"), table([["", "row"], ...names().map((name) => [m(name)])], [row("w", w), row("u", run.u[M]), row("w̄ = w − u / C", mean)]));
  }

  function tellVoters(state) {
    const order = voters(state), shown = order.slice(0, 8);
    const rows = shown.map(([k, votes]) => [String(run.w[k]) === String(run.w[state.M]) ? "now" : null, [String(k), String(votes), vector(run.w[k])]]);
    if (!rows.length) return fill($("voters"), make("h3", {}, "The vote"), make("p", { class: "quiet" }, "Each w will get one vote for each example that it survives."));
    fill($("voters"), make("h3", {}, order.length > shown.length ? `The vote: the ${shown.length} voters with the most votes, of ${order.length}` : `The vote: ${plural(order.length, "voter")}`),
      make("p", { class: "quiet" }, m("w", sub("m")), " survived ", m("c", sub("m")), " examples, so it has ", m("c", sub("m")), " votes"),
      table([[m("m")], [m("c", sub("m"))], [m("w", sub("m")), "text n"]], rows));
  }

  function tellHistory() {
    const rows = run.steps.slice(Math.max(0, at - 40), at).map(({ pass, example, a, mistake, updates }, i, all) => {
      const t = at - all.length + i + 1;
      return [`${t === at ? "now" : ""} ${mistake ? "wrong" : ""}`, [jump(t, `To example ${t}`, () => go(t)), String(pass), words()[example] ?? m("x", sub(example + 1)),
        number(y[example] * a), mistake ? vector(run.w[updates]) : "", mistake ? "mistake" : "right"]];
    });
    fill($("history"), table([["C"], ["pass", "spare"], ["example"], [m("y (w · x)")], [[m("w"), " afterwards"], "text n"], ["decision", "text said spare"]], rows.reverse()));
  }

  // ------------------------------------------------------------------------------ steps
  function go(where) {
    at = Math.min(Math.max(where, 0), run.steps.length);
    const state = P.standing(run, at);
    $("time").value = at;
    $("time").setAttribute("aria-valuetext", `${at} of ${run.steps.length} examples`);
    $("plane-caption").textContent = caption(state);
    if (guess.length) judge();
    for (const each of [paintCurve, paint, paintStrip, paintLift, tellExample, tellBound, tellScores, tellWeights, tellVoters, tellHistory]) each(state);
    remember();
  }

  function remember() {
    address.write("plane", { points: written(), ...changed(), at: at || null });
  }

  /** The example with these points and features, or one's own. */
  function presetOf() {
    const same = ([, text, settings]) => text !== undefined && text === written() && ["map", "bias"].every((id) => (settings[id] ?? DEFAULTS[id]) === read(id));
    return (Object.entries(PRESETS).find(([, each]) => same(each)) ?? ["own"])[0];
  }

  function recall(values) {
    forget();
    if (values.points === undefined) return choose(values.preset ?? "gap", values);
    points = parse(values.points);
    restore(values);
    $("preset").value = presetOf();
    return learn(whole(values.at, 1e6));
  }

  /** The next mistake in a direction, or the end there. */
  function mistakeFrom(t, by) {
    do t += by; while (t > 0 && t < run.steps.length && !run.steps[t - 1].mistake);
    return t;
  }
  const part = {
    first: () => go(0), back: () => go(at - 1), leapBack: () => go(mistakeFrom(at, -1)),
    last: () => go(run.steps.length), forth: () => go(at + 1), skip: (count) => go(at + count), left: () => run.steps.length - at, leap: () => go(mistakeFrom(at, 1)),
    atEnd: () => at >= run.steps.length,
  };
  const steps = stepper($("plane"), part, 550);

  // ----------------------------------------------------------------------------- points
  const chosenTool = () => document.querySelector('input[name="tool"]:checked').value;
  function use(value) {
    document.querySelector(`input[name="tool"][value="${value}"]`).checked = true;
    if (value !== "predict") forget();
  }
  const predicting = () => (chosenTool() === "predict" || isGuided()) && read("map") === "identity";
  const tool = () => Number(chosenTool()) || 0;
  const say = (text) => ($("said").textContent = text);
  const among = (x) => points.findIndex((point) => point.x[0] === x[0] && point.x[1] === x[1]);

  /** Put a point of a class, or erase (0); learning begins anew. */
  function place(x, side) {
    if (isGuided()) return;
    const known = among(x), name = `(${x.map((each) => number(each)).join(", ")})`;
    if (x.some((each) => Math.abs(each) > REACH)) return;
    if (side && known < 0) points.push({ x, y: side });
    else if (side) points[known] = { x, y: side };
    else if (known >= 0) points.splice(known, 1);
    say(side ? `Point ${(known < 0 ? points.length : known + 1)} at ${name} is ${side > 0 ? "+1" : "−1"}` : known >= 0 ? `Erased ${name}` : `No point at ${name}`);
    $("preset").value = "own";
    guess = [];
    learn(0);
  }

  function moveCursor(x) {
    cursor = x.map((each) => Math.min(Math.max(each, -REACH), REACH));
    furnish(document.querySelector("#plot .cursor"), { x: across(cursor[0]) - 17, y: up(cursor[1]) - 17 }, []);
  }

  $("plot").addEventListener("click", (event) => {
    const spot = spotOf($("plot"), event);
    moveCursor(rounded(spot));
    if (predicting()) return predict(spot);
    place([...cursor], tool());
  });
  $("plot").addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const side = { "+": 1, "=": 1, "-": -1, "−": -1, Delete: 0, Backspace: 0, Enter: tool(), " ": tool() }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || (!move && side === undefined)) return;
    event.preventDefault();
    event.stopPropagation();
    if (predicting() && (event.key === "Enter" || event.key === " ")) return predict([...cursor]);
    if (side !== undefined) return place([...cursor], side);
    moveCursor(cursor.map((each, i) => each + move[i]));
    const known = among(cursor);
    say(`(${cursor.map((each) => number(each)).join(", ")})${known < 0 ? "" : `: point ${known + 1}, ${points[known].y > 0 ? "+1" : "−1"}`}`);
  });

  offer($("preset"), PRESETS, choose);
  $("clear").addEventListener("click", () => choose("empty"));
  for (const id of ids) $(id).addEventListener("change", () => {
    if (["map", "bias"].includes(id)) forget();
    learn(id === "decide" ? at : 0); // to read w out goes on
  });
  $("time").addEventListener("input", () => go(Number($("time").value)));
  for (const id of ["across", "up"]) $(id).addEventListener("change", () => paintLift(P.standing(run, at)));
  moveCursor([0, 0]);
  const set = (id, value) => {
    $(id).value = value;
    learn(id === "decide" ? at : 0);
  };
  return { recall, presets: PRESETS, show: () => go(at), act: steps.act, stop: steps.stop, use, set, section: ["one-neuron", "why-it-stops", "when-it-does-not-stop", "features"] };
})();
