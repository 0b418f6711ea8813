"use strict";
/* Part 2: sentences, a Viterbi lattice, and the update. */
const lattice = (() => {
  const P = window.perceptron, MOST = 8, BOX = [84, 48], VISITS = 2000;
  // The weights of the lecture, section 6, rounded to tenths, for six of its labels; stop weights are those of the full stop.
  const OLD_FISH = "they,ADJ:0.6;they,ADP:-0.7;they,NOUN:0.5;they,PRON:1.8;they,VERB:-0.3;fish,ADJ:-0.8;fish,NOUN:1.2;fish,VERB:1.9;" +
    "for,ADJ:-1;for,ADP:5.8;for,NOUN:-0.2;for,PRON:-1;for,VERB:-2.4;the,ADJ:-6;the,DET:9.7;the,NOUN:-0.9;the,PRON:2;" +
    "the,VERB:-1;old,ADJ:5.3;old,DET:-2;old,NOUN:-1;old,PRON:-1;old,VERB:-0.9;>ADJ:-0.7;>ADP:-0.7;>DET:0.1;>NOUN:0.8;" +
    ">PRON:1.3;>VERB:0.2;ADJ>:0.6;ADP>:-1.2;DET>:-0.7;NOUN>:2.2;PRON>:0.3;VERB>:0.2;ADJ>ADJ:-21.5;ADJ>ADP:0.3;ADJ>DET:-1.5;" +
    "ADJ>NOUN:3;ADJ>PRON:-0.2;ADJ>VERB:-0.8;ADP>ADJ:-0.8;ADP>ADP:-0.7;ADP>DET:1.3;ADP>NOUN:1.5;ADP>PRON:1;ADP>VERB:-2.6;" +
    "DET>ADJ:0.1;DET>ADP:-1.7;DET>DET:-1.4;DET>NOUN:3;DET>PRON:-1.2;DET>VERB:-1.5;NOUN>ADJ:-0.4;NOUN>ADP:1.6;NOUN>DET:-2.1;" +
    "NOUN>NOUN:1.2;NOUN>PRON:0.9;NOUN>VERB:1.9;PRON>ADJ:-0.2;PRON>ADP:0.3;PRON>DET:-2.5;PRON>NOUN:0.9;PRON>PRON:-0.1;" +
    "PRON>VERB:2;VERB>ADJ:1.3;VERB>ADP:1.7;VERB>DET:1.1;VERB>NOUN:1.3;VERB>PRON:2.3;VERB>VERB:0.2";
  const STORIES = {
    fish: ["Fish, a noun and a verb", "DET NOUN PRON VERB", "they/PRON fish/VERB; the/DET fish/NOUN", {}, ""],
    order0: ["The same without label bigrams", "DET NOUN PRON VERB", "they/PRON fish/VERB; the/DET fish/NOUN", { bigrams: false }, ""],
    cake: ["The cake, with given weights", "DET NOUN PRON VERB", "we/PRON bake/VERB the/DET cake/NOUN", { attributes: "2" },
      "we,PRON:3;the,DET:3;…ke,VERB:2;cake,NOUN:1;DET>NOUN:2;DET>VERB:-2;PRON>VERB:1;VERB>DET:1;>PRON:1"],
    "old-fish": ["They fish for the old fish", "ADJ ADP DET NOUN PRON VERB", "they/PRON fish/VERB for/ADP the/DET old/ADJ fish/NOUN", {}, OLD_FISH],
    chunks: ["Chunks: He reckons …", "B-NP I-NP B-VP I-VP", "he/B-NP reckons/B-VP the/B-NP current/I-NP account/I-NP deficit/I-NP will/B-VP narrow/I-VP; the/B-NP deficit/I-NP will/B-VP narrow/I-VP", {}, ""],
    names: ["Names: B, I, O", "B I O", "Ada/B Lovelace/I met/O Charles/B Babbage/I; Charles/B met/O Ada/B", {}, ""],
    own: ["Your own sentences"],
  };
  const DEFAULTS = { attributes: "0", bigrams: true, "lattice-ties": "mistake", with: "w" };
  const { ids, read, recall: restore, changed } = fieldsOf(DEFAULTS);
  let labels = [], sentences = []; // [{words, gold}], gold as numbers of labels
  let at = null, rows = [], names = [], base = null; // the layout, its rows, its cells by name, where visits begin
  let visits = [], c = 0, step = 0, first = 0, peek = null, shape = "", inspected = null;

  // ----------------------------------------------------------------------------- what is given
  const named = (text) => [...new Set(text.trim().split(/[\s,]+/).filter(Boolean))].slice(0, MOST);
  const parse = (text) =>
    text.split(/;/).map((line) => line.trim().split(/\s+/).filter(Boolean).slice(0, 12).map((pair) => {
      const cut = pair.lastIndexOf("/");
      return cut > 0 ? [pair.slice(0, cut), pair.slice(cut + 1)] : [pair, ""];
    })).filter((line) => line.length).slice(0, 8).map((line) => ({
      words: line.map(([word]) => word),
      gold: line.map(([, label]) => Math.max(0, labels.indexOf(label))),
    }));
  const written = () => sentences.map(({ words, gold }) => words.map((word, t) => `${word}/${labels[gold[t]]}`).join(" ")).join("; ");

  /** The attributes of a word: itself, and perhaps its end. */
  const attributes = (word) => {
    const form = word.toLowerCase(), size = Number(read("attributes"));
    return [form, ...(size && form.length > size ? [`…${form.slice(-size)}`] : [])];
  };
  const instance = (sentence) => sentence.words.map((word) => attributes(word).map((name) => rows.indexOf(name)));

  /** Every weight by name, as people and the address write it. */
  function cells() {
    const all = [];
    rows.forEach((row, r) => labels.forEach((label, k) => all.push([`${row},${label}`, at.emission(r, k)])));
    if (at.order) {
      labels.forEach((label, k) => all.push([`>${label}`, at.start(k)], [`${label}>`, at.stop(k)]));
      labels.forEach((a, i) => labels.forEach((b, j) => all.push([`${a}>${b}`, at.transition(i, j)])));
    }
    return all;
  }
  const byName = (values) => new Map(names.map(([name, cell]) => [name, values[cell]]));

  /** Lay w out anew for the words and labels there are; what has the same name keeps its weight. */
  function laidOut(state) {
    const [w, u] = [byName(state.w), byName(state.u)];
    rows = [...new Set(sentences.flatMap(({ words }) => words.flatMap(attributes)))];
    at = P.layout(rows.length, labels.length, read("bigrams") ? 1 : 0);
    names = cells();
    const next = { w: new Array(at.size).fill(0), u: new Array(at.size).fill(0), seen: state.seen };
    for (const [name, cell] of names) {
      next.w[cell] = w.get(name) ?? 0;
      next.u[cell] = u.get(name) ?? 0;
    }
    return next;
  }

  function begin(state, sentence, visit = 0, where = 0) {
    base = state;
    first = Math.min(sentence, sentences.length - 1);
    visits = [];
    peek = null;
    go(visit, where);
  }

  /** Begin with a text and what the weights are, as the address has them. */
  function open({ labels: list = "", text = "", w = "", u = "", seen = 0, first: sentence = 0, visit = 0, step: where = 0 }) {
    labels = named(list);
    if (!labels.length) labels = ["X"];
    $("labels").value = labels.join(" ");
    sentences = parse(text);
    if (!sentences.length) sentences = [{ words: ["word"], gold: [0] }];
    names = [];
    const state = laidOut({ w: [], u: [], seen: whole(seen, 1e6) }), known = new Map(names);
    for (const [values, said] of [[state.w, w], [state.u, u]]) {
      for (const [, name, value] of said.matchAll(/([^;]+):(-?[\d.]+)/g)) if (known.has(name)) values[known.get(name)] = Number(value) || 0;
    }
    begin(state, whole(sentence, sentences.length), whole(visit, VISITS), whole(where, VISITS));
  }
  const kept = (values) => names.filter(([, cell]) => values[cell]).map(([name, cell]) => `${name}:${values[cell]}`).join(";") || null;

  function choose(key, { visit, step: where } = {}) {
    const [, list, text, settings, w] = STORIES[key];
    restore(settings);
    $("story").value = key;
    open({ labels: list, text, w, visit, step: where });
  }

  // ------------------------------------------------------------------------------- visits
  const numberOf = (visit) => (first + visit) % sentences.length;
  const averaged = () => read("with") === "mean";
  const here = () => (averaged() && peek !== null ? peek : numberOf(c)); // the sentence on show
  const stateBefore = (visit) => (visit ? visited(visit - 1).after : base);
  const updated = () => !averaged() && step === phases().length - 1;
  const stateNow = () => (updated() ? visited(c).after : stateBefore(c));
  function visited(visit) {
    for (let k = visits.length; k <= visit; k++) {
      const sentence = sentences[numberOf(k)], before = k ? visits[k - 1].after : base;
      visits.push(P.visit(at, before, instance(sentence), sentence.gold, read("lattice-ties") === "mistake"));
    }
    return visits[visit];
  }

  /** What is shown of a visit: the lattice of w, or of the average without an update. */
  function shown() {
    if (!averaged()) return { ...visited(c), weights: visited(c).before.w };
    const before = stateBefore(c), weights = P.average(before), sentence = sentences[here()], x = instance(sentence);
    return { before, weights, right: P.phi(at, x, sentence.gold), ...P.visit(at, { ...before, w: weights }, x, sentence.gold), after: before };
  }

  /** The steps of one visit: the cells, the best last label, the way back, the update. */
  function phases() {
    const T = sentences[here()].words.length, all = [{ kind: "begin", t: -1 }];
    for (let t = 0; t < T; t++) for (let b = 0; b < labels.length; b++) all.push({ kind: "cell", t, b });
    all.push({ kind: "stop", t: T - 1 });
    if (at.order) for (let t = T - 1; t > 0; t--) all.push({ kind: "back", t });
    all.push({ kind: "update", t: -2 });
    return all;
  }

  // ------------------------------------------------------------------------------ the picture
  // Pixels of a token, of a label, and of the names beside them; of the arcs to the end, and of all that is after the words.
  let wide = 132, high = 78, left = 92, STOP = 76, RIGHT = 140;
  function measure() {
    const room = $("words").closest(".scroll").clientWidth || 1000, T = sentences[here()].words.length;
    [left, high, BOX[1]] = room < 500 ? [86, 46, 40] : EMBED ? [86, 50, 42] : [92, T > 4 ? 70 : 78, 48];
    [BOX[0], STOP, RIGHT] = T > 4 || room < 500 ? [62, 48, 98] : [84, 76, 140];
    wide = Math.max(BOX[0] + 36, Math.min(176, Math.floor((room - left - (at.order ? RIGHT + 12 : 44) - 10) / T)));
  }
  const x = (t) => wide * (t + 0.5), y = (b) => high * (b + 0.5) + 6;
  const equation = (...parts) => make("p", {}, ...parts);
  const v = (t, b) => m("v", sub(t + 1), "(", labels[b], ")");

  function build() {
    const { words, gold } = sentences[here()], key = JSON.stringify([labels, words.length, here(), sentences.length, wide]);
    if (key !== shape) { // else the fields stay, and the cursor in them
      shape = key;
      const options = () => labels.map((label, k) => make("option", { value: k }, label));
      const pick = (t) => acting("select", { id: `gold-${t}`, "aria-label": `Gold label of word ${t + 1}` }, (label) => edit(t, null, Number(label)), options());
      const type = (t) => acting("input", { type: "text", id: `word-${t}`, "aria-label": `Word ${t + 1}`, autocomplete: "off", spellcheck: "false" },
        (word) => edit(t, word.trim().replace(/[\s;,:/]+/g, "-"), null));
      fill($("words"), make("div", { class: "quiet beside", style: `width: ${left}px` }, make("span", {}, "word"), make("span", {}, "gold")),
        ...words.map((_, t) => make("div", { style: `width: ${wide}px` }, type(t), pick(t))),
        make("div", {}, button("+", { "aria-label": "Add a word" }, () => resize(1)), button("−", { "aria-label": "Remove the last word", disabled: words.length < 2 }, () => resize(-1))));
    }
    words.forEach((word, t) => ($(`word-${t}`).value = word, $(`gold-${t}`).value = gold[t]));
    fill($("sentences"), sentences.map((each, s) => button(`${s + 1}: ${each.words.join(" ")}`, { "aria-pressed": String(s === here()) }, () => turnTo(s))),
      button("Add a sentence", { disabled: sentences.length > 7 }, () => change(() => (first = sentences.push({ words: ["word"], gold: [0] }) - 1))),
      button("Remove this one", { disabled: sentences.length < 2 }, () => change(() => (sentences.splice(first, 1), first = 0))));
  }

  /** Draw what is known after the present step. */
  function paint(view, all) {
    const { words, gold } = sentences[here()], now = all[step], { cells: grid, y: best } = view.lattice;
    const T = words.length, K = labels.length, filled = all.slice(0, step + 1).filter(({ kind }) => kind === "cell").length;
    const known = (t, b) => t * K + b < filled;
    const traced = now.kind === "update" ? 0 : now.kind === "back" ? now.t - 1 : now.kind === "stop" ? (at.order ? T - 1 : 0) : T;
    const arcs = [], boxes = [], costs = [];
    const line = (t, a, b, kind) => draw("line", { class: `arc ${kind}`, x1: x(t - 1) + BOX[0] / 2, y1: y(a), x2: x(t) - BOX[0] / 2, y2: y(b) });
    const frame = (t, b, more, kind) =>
      draw("rect", { class: kind, x: x(t) - BOX[0] / 2 - more, y: y(b) - BOX[1] / 2 - more, width: BOX[0] + 2 * more, height: BOX[1] + 2 * more, rx: 8 + more });
    const focus = inspected && known(inspected.t, inspected.b) ? inspected : now.kind === "cell" ? now : null;
    for (let t = 0; t < T; t++) {
      for (let b = 0; b < K; b++) {
        const cell = grid[t][b], onPath = t >= traced && best[t] === b;
        if (t && at.order && known(t, b)) {
          if (focus?.t === t && focus.b === b) {
            cell.candidates.forEach((_, a) => {
              const place = { x: x(t - 1) + wide / 2, y: y(a) + 0.42 * (y(b) - y(a)) + 5 }; // apart from the others
              arcs.push(line(t, a, b, a === cell.back ? "chosen" : "candidate"));
              costs.push(draw("text", { class: "cost", ...place }, number(view.weights[at.transition(a, b)])));
            });
          } else if (!(t > traced && onPath)) arcs.unshift(line(t, cell.back, b, ""));
          if (t > traced && onPath) arcs.push(line(t, best[t - 1], b, "path"));
        }
        const kinds = ["cell", known(t, b) ? "" : "empty", onPath ? "best" : "", focus?.t === t && focus?.b === b ? "now" : ""];
        const text = onPath ? "best-text" : "";
        const box = draw("g", { "data-t": t, "data-b": b, "data-v": known(t, b) ? cell.v : null, "data-back": known(t, b) ? cell.back : null },
          known(t, b) && draw("title", {}, `${words[t]}, ${labels[b]}: ${number(cell.v)}`),
          now.kind === "update" && gold[t] === b && frame(t, b, 5, "gold-ring"), frame(t, b, 0, kinds.join(" ")),
          known(t, b) && [draw("text", { class: `v ${text}`, x: x(t), y: y(b) + 2 }, number(cell.v)), draw("text", { class: `e ${text}`, x: x(t), y: y(b) + 17 }, `e ${number(cell.e)}`)]);
        if (known(t, b)) box.addEventListener("click", () => { inspected = { t, b }; show(); });
        boxes.push(box);
      }
    }
    if (now.kind === "update" && at.order) {
      for (let t = 1; t < T; t++) if (gold[t] !== best[t] || gold[t - 1] !== best[t - 1]) arcs.push(line(t, gold[t - 1], gold[t], "gold-path"));
    }
    if (now.kind === "stop" && at.order) { // from each last cell one more arc, by its stop weight
      const end = { x: x(T - 1) + BOX[0] / 2 + STOP, y: y((K - 1) / 2) };
      const most = Math.max(...view.lattice.last);
      labels.forEach((_, b) => {
        const begin = x(T - 1) + BOX[0] / 2, place = { x: begin + 0.4 * STOP, y: y(b) + 0.4 * (end.y - y(b)) + 5 };
        arcs.push(draw("line", { class: `arc ${b === best[T - 1] ? "chosen" : "candidate"}`, x1: begin, y1: y(b), x2: end.x, y2: end.y }));
        costs.push(draw("text", { class: "cost", ...place }, number(view.weights[at.stop(b)])));
      });
      boxes.push(draw("g", { id: "stop", "data-v": most }, draw("title", {}, `the best with its stop weight: ${number(most)}`),
        draw("rect", { class: "cell now", x: end.x, y: end.y - BOX[1] / 2, width: 58, height: BOX[1], rx: 8 }),
        draw("text", { class: "v", x: end.x + 29, y: end.y + 2 }, number(most)), draw("text", { class: "e", x: end.x + 29, y: end.y + 17 }, "stop")));
    }
    const beside = (b) => ({ x: left - 8, y: y(b) + 5, style: "text-anchor: end" });
    const names = labels.map((label, b) => [draw("text", { ...beside(b), class: "row" }, label),
      at.order && draw("text", { ...beside(b), class: "e", dy: 17 }, `start ${number(view.weights[at.start(b)])}`)]);
    const room = $("words").closest(".scroll").clientWidth, bare = wide * T + (at.order ? RIGHT : 44), height = high * K + 12;
    const over = left + bare - room, width = bare + (over > 0 ? Math.ceil(over / wide) * wide - over : 0); // scrolled to its end, columns are complete
    furnish($("trellis"), { viewBox: `0 0 ${width} ${height}`, width, height, "aria-label": describe(view, filled, now) }, []);
    fill($("trellis"), arcs, boxes, costs);
    furnish($("row-names"), { viewBox: `0 0 ${left} ${height}`, width: left, height }, []);
    fill($("row-names"), names);
  }

  /** Where the lattice is wider than its frame, the column of the present step is to be seen. */
  function follow({ kind, t }) {
    const frame = $("words").closest(".scroll"), last = kind === "stop" && at.order;
    const column = kind === "back" ? t - 1 : Math.max(t, 0), begin = column ? x(column - 0.5) - 4 : 0;
    const end = left + (last ? wide * (t + 1) + RIGHT : x(column + 0.5) + 4);
    const least = Math.ceil((end - frame.clientWidth) / wide) * wide; // complete columns next to the names
    if (kind !== "update") frame.scrollLeft = Math.max(Math.min(frame.scrollLeft, begin), least);
  }

  const labelled = (y) => y.map((label) => labels[label]).join(" ");
  const describe = (view, filled, now) =>
    `Lattice of "${sentences[here()].words.join(" ")}": ${filled} of ${sentences[here()].words.length * labels.length} cells filled${now.kind === "update" ? `, decoded as ${labelled(view.lattice.y)}` : ""}`;

  // -------------------------------------------------------------------------------- the words
  function tellCell(view, t, b) {
    const cell = view.lattice.cells[t][b], word = sentences[here()].words[t], w = view.weights;
    const sum = attributes(word).map((name) => `${number(w[at.emission(rows.indexOf(name), b)])} of ${name}`).join(" + ");
    const parts = [make("h3", {}, `“${word}” as ${labels[b]}`), equation(m("e", sub(t + 1), "(", labels[b], ")"), ` = ${sum} = `, make("b", {}, number(cell.e)))];
    if (!at.order) return [...parts, equation("Without label bigrams, each word is decoded by itself.")];
    if (t === 0) return [...parts, equation(v(t, b), ` = start + e = ${number(w[at.start(b)])} + ${number(cell.e)} = `, make("b", {}, number(cell.v)))];
    const most = Math.max(...cell.candidates), tie = cell.candidates.filter((each) => each === most).length > 1;
    const from = labels.map((label, a) => [a === cell.back ? "now" : null,
      [label, ...[view.lattice.cells[t - 1][a].v, w[at.transition(a, b)], cell.candidates[a]].map((each) => number(each)), a === cell.back ? (tie ? "← a tie" : "← best") : ""]]);
    return [...parts, table([["from", "row"], [m("v", sub(t), "(a)")], ["transition"], ["sum"], ["", "text"]], from), equation(v(t, b), ` = e + best = ${number(cell.e)} + ${number(most)} = `, make("b", {}, number(cell.v)), `, from ${labels[cell.back]}`)];
  }

  function tell(view, now) {
    const { words, gold } = sentences[here()], { lattice: found, wrong } = view, T = words.length;
    const opened = inspected && $("trellis").querySelector(`[data-t="${inspected.t}"][data-b="${inspected.b}"][data-v]`);
    if (opened) return tellCell(view, inspected.t, inspected.b);
    if (now.kind === "begin") return [make("h3", {}, `Visit ${c + 1}: “${words.join(" ")}”`), equation("Press → or ▶ to fill in the cells one by one, from left to right.")];
    if (now.kind === "cell") return tellCell(view, now.t, now.b);
    if (now.kind === "stop" && !at.order) return [make("h3", {}, "Word by word"), equation("Each word takes its best label: ", make("b", {}, labelled(found.y)))];
    if (now.kind === "stop") {
      const most = Math.max(...found.last), tie = found.last.filter((each) => each === most).length > 1;
      return [make("h3", {}, "The best last label"), ...labels.map((label, b) =>
        equation(v(T - 1, b), ` + stop = ${number(found.cells[T - 1][b].v)} + ${number(view.weights[at.stop(b)])} = `, make("b", {}, number(found.last[b])), b === found.y[T - 1] ? (tie ? " ← a tie" : " ← best") : ""))];
    }
    if (now.kind === "back") return [make("h3", {}, "Back along the arcs"), equation(`“${words[now.t]}” is ${labels[found.y[now.t]]}; its score came from `, make("b", {}, labels[found.y[now.t - 1]]), `, so this is the label of “${words[now.t - 1]}”.`)];
    return [make("h3", {}, "Decoded and gold labels"),
      equation(m("ŷ"), " = ", make("b", {}, labelled(found.y)), at.order ? `, score ${number(Math.max(...found.last))}` : ""),
      equation(m("y"), " = ", make("b", { class: "gold" }, labelled(gold)), `, score ${number(P.dot(view.weights, view.right))}`),
      equation(make("span", { class: `verdict ${wrong ? "mistake" : "right"}` }, wrong ? `${plural(wrong, "label")} wrong` : "all right"), " ",
        averaged() ? "The average only decodes." : wrong ? m("w ← w + φ(x, y) − φ(x, ŷ)") : "w stays the same.")];
  }

  /** The present step in words. */
  function caption(view, now) {
    const { words, gold } = sentences[here()], { lattice: found, wrong } = view, K = labels.length;
    if (now.kind === "begin") return `“${words.join(" ")}”: ${words.length} words, each with one of ${K} labels, have ${(K ** words.length).toLocaleString("en")} label sequences. Viterbi needs only ${at.order ? `${K * K} sums` : `${K} scores`} for each word.`;
    if (now.kind === "cell") {
      const cell = found.cells[now.t][now.b], label = labels[now.b], word = words[now.t];
      if (!at.order) return `“${word}” as ${label} scores ${number(cell.v)}, whatever its neighbors are.`;
      if (!now.t) return `“${word}” comes first: as ${label} it scores ${number(cell.v)}, its start weight plus its emission weights.`;
      const tie = cell.candidates.filter((each) => each === Math.max(...cell.candidates)).length > 1;
      return `If “${word}” is ${label}, the best label for “${words[now.t - 1]}” is ${labels[cell.back]}${tie ? " (a tie)" : ""}: ${number(cell.candidates[cell.back])} so far plus ${number(cell.e)} for the word itself make ${number(cell.v)}.`;
    }
    if (now.kind === "stop") return at.order ? `After adding the stop weights, the best last label is ${labels[found.y.at(-1)]}.` : `Each word takes its best label: ${labelled(found.y)}.`;
    if (now.kind === "back") return `Back along the arcs: “${words[now.t]}” is ${labels[found.y[now.t]]}, which came from ${labels[found.y[now.t - 1]]}, so “${words[now.t - 1]}” is ${labels[found.y[now.t - 1]]}.`;
    if (averaged()) return wrong ? `The average gets ${plural(wrong, "label")} wrong; it only decodes, and nothing is learned.` : "The average gets all labels right; it only decodes.";
    if (!wrong) return "All labels are right: w stays the same.";
    const errors = words.flatMap((word, t) => (gold[t] !== found.y[t] ? [`“${word}” should be ${labels[gold[t]]}, not ${labels[found.y[t]]}`] : []));
    return `${errors.length > 2 ? `${errors.length} labels are wrong` : errors.join("; ")}. The weights of the gold sequence go up by 1, those of the decoded sequence go down by 1, and what the two share stays the same.`;
  }

  /** phi(x, y) - phi(x, y_hat), and what it does to w. */
  function tellDifference(view, now) {
    const title = make("h3", {}, m("φ(x, y) − φ(x, ŷ)"));
    if (now.kind !== "update" || averaged()) return [title, equation(make("span", { class: "quiet" }, !averaged() ? "You will see this at the update: press ▶|." : "There is no update when you decode with the average."))];
    const before = P.average(view.before), after = P.average(view.after);
    const signed = (value) => make("td", { class: value > 0 ? "up" : value < 0 ? "down" : null }, `${value > 0 ? "+" : ""}${number(value)}`);
    const rows = names.filter(([, cell]) => view.right[cell] || view.decoded[cell]).map(([name, cell]) => [null, [
      name.replace(/^>/, "start>").replace(/>$/, ">stop").replace(">", " → ").replace(",", " · "), number(view.right[cell]), number(view.decoded[cell]), signed(view.delta[cell]),
      number(view.before.w[cell]), make("b", {}, number(view.after.w[cell])), number(before[cell]), number(after[cell])]]);
    return [title, table([["", "row"], [m("φ(x, y)")], [m("φ(x, ŷ)")], ["change"], [m("w"), "roomy"], [["new ", m("w")]], [m("w̄"), "spare"], [["new ", m("w̄")], "spare"]], rows, { id: "delta" })];
  }

  // ------------------------------------------------------------------------------- the weights
  let tables = "";
  function showWeights(view, now) {
    const average = averaged(), after = now.kind === "update" && !average;
    const state = after ? view.after : view.before, values = average ? P.average(state) : state.w;
    const key = JSON.stringify([rows, labels, at.order]);
    const input = (cell, name) =>
      make("td", {}, acting("input", { type: "number", step: "any", "data-cell": cell, "aria-label": `Weight of ${name}` }, (value) => setWeight(cell, Number(value))));
    const head = (texts) => make("thead", {}, make("tr", {}, texts.map((text, i) => make("th", { scope: "col", class: i ? null : "text" }, text))));
    if (key !== tables) {
      tables = key;
      fill($("emission"), head(["emission", ...labels]), make("tbody", {}, rows.map((row, r) =>
        make("tr", {}, make("th", { scope: "row" }, row), labels.map((label, k) => input(at.emission(r, k), `${row}, ${label}`))))));
      const chain = [make("tr", {}, make("th", { scope: "row" }, "start"), labels.map((label, k) => input(at.start(k), `start, ${label}`)), make("td", {}, "–")),
        ...labels.map((a, i) => make("tr", {}, make("th", { scope: "row" }, a), labels.map((b, j) => input(at.transition(i, j), `${a}, then ${b}`)), input(at.stop(i), `${a}, stop`)))];
      fill($("chain"), ...(at.order ? [head(["from, to", ...labels, "stop"]), make("tbody", {}, chain)] : []));
    }
    const used = usedCells(now);
    for (const field of document.querySelectorAll(".weights input")) {
      const cell = Number(field.dataset.cell), delta = after ? view.after.w[cell] - view.before.w[cell] : 0;
      field.value = average ? Math.round(values[cell] * 1000) / 1000 : values[cell];
      field.readOnly = average;
      field.className = [used.has(cell) ? "used" : "", delta > 0 ? "up" : delta < 0 ? "down" : ""].join(" ").trim();
    }
    fill($("weights-title"), average ? "The average, " : "Weights ", m(average ? "w̄ = w − u / C" : "w"), `, after ${plural(state.seen, "sentence")}`);
    $("weights-note").textContent = average ? "The average cannot be edited." : "You can type in any of these fields.";
  }

  /** The weights that the present cell is made of. */
  function usedCells(now) {
    const focus = inspected || (now.kind === "cell" ? now : null);
    if (!focus) return new Set();
    const { t, b } = focus, word = sentences[here()].words[t];
    const chain = !at.order ? [] : t ? labels.map((_, a) => at.transition(a, b)) : [at.start(b)];
    return new Set([...attributes(word).map((name) => at.emission(rows.indexOf(name), b)), ...chain]);
  }

  function setWeight(cell, value) {
    const state = stateNow(), w = [...state.w], sentence = numberOf(updated() ? c + 1 : c), where = updated() ? 0 : step;
    w[cell] = Number.isFinite(value) ? value : 0;
    begin({ ...state, w }, sentence);
    go(0, where);
  }

  function tellVisits() {
    const rows = visits.slice(Math.max(0, c - 30), c + 1).map((visit, i, all) => {
      const k = c - all.length + i + 1, done = k < c || step === phases().length - 1;
      return [`${k === c ? "now" : ""} ${done && visit.wrong ? "wrong" : ""}`, [jump(base.seen + k + 1, `To visit ${k + 1}`, () => go(k, Infinity)),
        sentences[numberOf(k)].words.join(" "), done ? labelled(visit.lattice.y) : "…", done ? String(visit.wrong) : ""]];
    });
    fill($("visits"), table([["C"], ["sentence", "text"], [m("ŷ"), "text said"], ["wrong"]], rows.reverse()));
  }

  // -------------------------------------------------------------------------------- steps
  function go(visit, where) {
    c = Math.min(Math.max(visit, 0), VISITS);
    inspected = null;
    step = Math.min(Math.max(where, 0), phases().length - 1);
    show();
  }

  function show() {
    const all = phases(), now = all[step], view = shown();
    measure();
    build();
    paint(view, all);
    follow(now);
    $("phase").max = all.length - 1;
    $("phase").value = step;
    $("phase").setAttribute("aria-valuetext", `Step ${step} of ${all.length - 1}, visit ${c + 1}`);
    $("lattice-caption").textContent = caption(view, now);
    fill($("cell"), tell(view, now));
    fill($("difference"), tellDifference(view, now));
    showWeights(view, now);
    tellVisits();
    remember();
  }

  function remember() {
    address.write("lattice", {
      labels: labels.join(" "), text: written(), ...changed(), w: kept(base.w), u: kept(base.u), seen: base.seen || null,
      first: first || null, visit: c || null, step: step || null,
    });
  }

  /** The example with these sentences, labels and settings, or one's own. */
  function storyOf() {
    const same = ([, list, text, settings]) => text !== undefined && named(list).join(" ") === labels.join(" ") && text === written() && ["attributes", "bigrams"].every((id) => (settings[id] ?? DEFAULTS[id]) === read(id));
    return (Object.entries(STORIES).find(([, each]) => same(each)) ?? ["own"])[0];
  }

  function recall(values) {
    if (values.text === undefined) return choose(values.preset ?? "fish", values);
    restore(values);
    open(values);
    $("story").value = storyOf();
  }

  /** Show another sentence: learning goes on there; the average only looks at it. */
  function turnTo(sentence) {
    if (!averaged()) return begin(stateNow(), sentence);
    peek = sentence;
    return go(c, 0);
  }
  const ahead = (where) => (averaged() ? null : go(c + 1, where));
  const behind = (where) => (averaged() || !c ? null : go(c - 1, where));
  const part = {
    first: () => (step ? go(c, 0) : behind(0)),
    last: () => (step < phases().length - 1 ? go(c, Infinity) : ahead(Infinity)),
    forth: () => (step < phases().length - 1 ? go(c, step + 1) : ahead(0)),
    back: () => (step ? go(c, step - 1) : behind(Infinity)),
    leap() {
      const all = phases(), next = all.findIndex(({ kind, t }, k) => k > step && (kind !== "cell" || all[k + 1].t !== t || all[k + 1].kind !== "cell"));
      return next < 0 ? ahead(0) : go(c, next);
    },
    leapBack() {
      const all = phases();
      for (let k = step - 1; k > 0; k--) if (all[k].kind !== "cell" || all[k + 1].kind !== "cell" || all[k + 1].t !== all[k].t) return go(c, k);
      return step ? go(c, 0) : behind(Infinity);
    },
    atEnd: () => step === phases().length - 1, // a run ends with its visit
    again: () => (averaged() || sentences.length === 1 ? go(c, 0) : ahead(0)),
    left: () => phases().length - 1 - step, skip: (count) => go(c, step + count),
  };
  const steps = stepper($("lattice"), part, 450);

  // ------------------------------------------------------------------------------- editing
  /** Change words or labels: the weights stay, by their names. */
  function change(what) {
    const state = stateNow();
    first = here();
    what();
    $("story").value = "own";
    begin(laidOut(state), first);
  }
  const edit = (t, word, label) => change(() => {
    const sentence = sentences[first];
    if (word !== null) sentence.words[t] = word || "word";
    if (label !== null) sentence.gold[t] = label;
  });
  const resize = (by) => change(() => {
    const { words, gold } = sentences[first], size = { length: Math.min(12, Math.max(1, words.length + by)) };
    sentences[first] = { words: Array.from(size, (_, t) => words[t] ?? "word"), gold: Array.from(size, (_, t) => gold[t] ?? 0) };
  });

  offer($("story"), STORIES, choose);
  $("labels").addEventListener("change", () => change(() => {
    const next = named($("labels").value.replace(/[;:/>]/g, " "));
    if (!next.length) next.push("X");
    for (const sentence of sentences) sentence.gold = sentence.gold.map((label) => Math.max(0, next.indexOf(labels[label])));
    labels = next;
    $("labels").value = labels.join(" ");
  }));
  for (const id of ["attributes", "bigrams"]) $(id).addEventListener("change", () => change(() => {}));
  $("lattice-ties").addEventListener("change", () => begin(stateNow(), here()));
  $("with").addEventListener("change", () => {
    peek = null;
    return averaged() && step === phases().length - 1 ? go(c + 1, 0) : go(c, step); // the average after the update
  });
  $("zero-weights").addEventListener("click", () => begin({ w: base.w.map(() => 0), u: base.u.map(() => 0), seen: 0 }, here()));
  addEventListener("resize", () => $("lattice").hidden || show());
  $("phase").addEventListener("input", () => go(c, Number($("phase").value)));
  return { recall, presets: STORIES, show, act: steps.act, stop: steps.stop, section: ["a-sentence", "structured-perceptron", "chunks"] };
})();
