"use strict";
/* One update, three times: two labels, three labels, a sentence, with the same learner. */
const update = (() => {
  const P = window.perceptron, ROUNDS = 4;
  const PHASES = ["x and y", "decode", "φ(x, y)", "φ(x, ŷ)", "difference", "add to w"];

  /** A learner of the three: its examples in words, its features by name, and what the learner visits. */
  function twoLabels() {
    const data = [[[2, 1], 1], [[-1, 2], -1], [[1, -2], 1], [[-2, 1], -1]];
    return {
      title: "Two labels", formula: "φ(x, y) = y x / 2", names: ["p", "q"].map((name) => [name, ""]),
      examples: data, map: P.half, decode: P.search([-1, 1], P.half),
      say: (x) => `x = ${vector(x)}`, label: (y) => (y > 0 ? "+1" : "−1"),
    };
  }
  function threeLabels() {
    const data = [[[2, 1], 0], [[-1, 2], 1], [[1, -2], 2], [[-2, 1], 1]], labels = ["N", "V", "A"], map = P.block(3);
    return {
      title: "Three labels", formula: "φ(x, y) = x in the block of y", names: labels.flatMap((label) => ["p", "q"].map((name) => [name, label])),
      examples: data, map, decode: P.search([0, 1, 2], map), say: (x) => `x = ${vector(x)}`, label: (y) => labels[y],
    };
  }
  function aSentence() {
    const labels = ["NOUN", "PRON", "VERB"], words = ["they", "fish", "swim"];
    const at = P.layout(words.length, labels.length, 1);
    const read = (text) => text.split(" ").map((pair) => pair.split("/"));
    const data = ["they/PRON fish/VERB", "fish/NOUN swim/VERB", "they/PRON swim/VERB", "fish/NOUN swim/VERB"].map((text) =>
      [read(text).map(([word]) => [words.indexOf(word)]), read(text).map(([, label]) => labels.indexOf(label))]);
    const names = new Array(at.size);
    words.forEach((word, r) => labels.forEach((label, k) => (names[at.emission(r, k)] = [word, label])));
    labels.forEach((a, i) => {
      names[at.start(i)] = ["start", a];
      names[at.stop(i)] = [a, "stop"];
      labels.forEach((b, j) => (names[at.transition(i, j)] = [a, b]));
    });
    return {
      title: "A sentence", formula: "φ(x, y) = counts of word–label pairs, label bigrams, start, and stop", names,
      examples: data, map: (x, y) => P.phi(at, x, y), decode: (w, x, gold) => P.viterbi(at, w, x, gold ?? null).y,
      say: (x) => x.map(([row]) => words[row]).join(" "), label: (y) => y.map((k) => labels[k]).join(" "),
    };
  }
  const learners = [twoLabels(), threeLabels(), aSentence()].map((learner) => {
    const examples = Array.from({ length: ROUNDS }, () => learner.examples).flat();
    const run = P.learnJoint(examples, learner.map, learner.decode);
    const used = learner.names.map((_, i) => run.visits.some(({ right, decoded }) => right[i] || decoded[i]));
    return { ...learner, run, used };
  });
  const VISITS = learners[0].run.visits.length, LAST = PHASES.length - 1, END = VISITS * PHASES.length - 1;
  let at = 0;
  const visit = () => Math.floor(at / PHASES.length), phase = () => at % PHASES.length;

  // ------------------------------------------------------------------------------- the strips
  /** A cell of a strip: nothing before its phase, and a color for its sign. */
  function cell(value, shown, now) {
    if (!shown) return make("td", { class: "cell-empty" });
    const kind = value > 0 ? "above" : value < 0 ? "under" : "zero";
    return make("td", { class: `strip-cell ${kind} ${now ? "arriving" : ""}` }, value ? number(value) : "0");
  }

  function strip({ title, formula, names, run, used, say, label }) {
    const { x, y, guess, mistake, right, decoded, before, w } = run.visits[visit()], now = phase();
    const heads = [["φ(x,\u00a0y)", 2], ["φ(x,\u00a0ŷ)", 3], ["differ\u00adence", 4], ["w", 0]];
    const rows = names.flatMap(([name, kind], i) => (!used[i] ? [] : [make("tr", { class: now >= 4 && right[i] !== decoded[i] ? "moved" : null },
      make("th", { scope: "row" }, name, kind && make("span", { class: "quiet" }, ` · ${kind}`)),
      cell(right[i], now >= 2, now === 2), cell(decoded[i], now >= 3, now === 3), cell(right[i] - decoded[i], now >= 4, now === 4),
      cell(now >= LAST ? w[i] : before[i], true, now === LAST && w[i] !== before[i]))]));
    return make("div", { class: "card strip" }, make("h3", {}, title), make("p", { class: "quiet" }, m(formula)),
      make("p", {}, say(x), ", ", m("y"), " = ", make("b", { class: "gold" }, label(y)), now >= 1 && [", ", m("ŷ"), " = ", make("b", { class: mistake ? "predicted" : "gold" }, label(guess))]),
      make("table", { class: "numbers" }, make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "text" }, "feature"), heads.map(([head, when]) => make("th", { scope: "col", class: now === when || (now === LAST && head === "w") ? "now" : null }, m(head))))), make("tbody", {}, rows)));
  }

  function caption() {
    const wrong = learners.filter(({ run }) => run.visits[visit()].mistake), k = visit() + 1;
    const which = wrong.length === 3 ? "all three are wrong" : wrong.length ? `wrong: ${listed(wrong.map(({ title }) => title.toLowerCase()))}` : "all three are right";
    return [
      `Example ${k}. Each learner has an x, the correct y, and one vector w.`,
      `Decode: ŷ is the y with the highest score w · φ(x, y); ${which}.${visit() ? "" : " All weights are 0, and a tie is a mistake."}`,
      "φ(x, y): the features of x with the correct y.",
      "φ(x, ŷ): the features of x with the decoded ŷ.",
      wrong.length ? "The difference: what both have in common cancels, and for a correct ŷ nothing is left." : "The difference: nothing is left, because ŷ is y in all three.",
      wrong.length ? "w ← w + φ(x, y) − φ(x, ŷ): the same line of code for all three learners." : "Nothing is added: w stays the same.",
    ][phase()];
  }

  function go(where) {
    at = Math.min(Math.max(where, 0), END);
    $("update-time").max = END;
    $("update-time").value = at;
    $("update-time").setAttribute("aria-valuetext", `Example ${visit() + 1}, ${PHASES[phase()]}`);
    $("update-caption").textContent = caption();
    fill($("strips"), learners.map(strip));
    address.write("update", { at: at || null });
  }

  const part = {
    first: () => go(0), last: () => go(END), forth: () => go(at + 1), back: () => go(at - 1),
    leap: () => go((visit() + 1) * PHASES.length), leapBack: () => go((phase() ? visit() : visit() - 1) * PHASES.length),
    atEnd: () => at >= END,
  };
  const stepping = stepper($("update"), part, 1100);
  $("update-time").addEventListener("input", () => go(Number($("update-time").value)));
  return { recall: (values) => go(whole(values.at, END)), presets: {}, show: () => go(at), act: stepping.act, stop: stepping.stop, learners, section: ["three-labels", "structured-perceptron"] };
})();
