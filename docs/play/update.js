"use strict";
/* One update, three times: two labels, three labels, a sentence, with the same learner. */
const update = (() => {
  const P = window.perceptron, VISITS = 6;
  const PHASES = ["x and y", "decode", "φ(x, y)", "φ(x, ŷ)", "difference", "add to w"];
  const WORDS = { day: [2, 4], used: [-1, 2], old: [3, -5] };
  const spelled = (word) => ["“", word, `” = ${vector(WORDS[word])}`];

  /** A learner of the three: its examples, its features by name, and all answers that its decoder tries. */
  function twoLabels() {
    return {
      title: "Two labels", formula: "φ(x, y) = y x / 2", names: WORD_FEATURES.map((name) => [name, ""]), map: P.half,
      examples: [["day", 1], ["used", -1]].map(([word, y]) => [WORDS[word], y, spelled(word)]), answers: () => [1, -1], label: (y) => (y > 0 ? "+1" : "−1"),
    };
  }
  function threeLabels() {
    const labels = ["NOUN", "VERB", "ADJ"];
    return {
      title: "Three labels", formula: "φ(x, y) = x in the block of y", names: labels.flatMap((label) => WORD_FEATURES.map((name) => [label, name])), map: P.block(3),
      examples: ["day", "used", "old"].map((word, y) => [WORDS[word], y, spelled(word)]), answers: () => [0, 1, 2], label: (y) => labels[y],
    };
  }
  function aSentence() {
    const labels = ["PRON", "DET", "NOUN", "VERB"], words = ["they", "the", "fish"], known = { they: ["PRON"], the: ["DET"], fish: ["NOUN", "VERB"] };
    const at = P.layout(words.length, labels.length, 1), names = [["start", "PRON"], ["they", "PRON"], ["start", "DET"], ["the", "DET"],
      ["fish", "VERB"], ["fish", "NOUN"], ["PRON", "VERB"], ["PRON", "NOUN"], ["DET", "VERB"], ["DET", "NOUN"], ["VERB", "stop"], ["NOUN", "stop"]];
    const place = ([a, b]) => {
      const [i, j] = [labels.indexOf(a), labels.indexOf(b)];
      return a === "start" ? at.start(j) : b === "stop" ? at.stop(i) : i < 0 ? at.emission(words.indexOf(a), j) : at.transition(i, j);
    };
    const cells = names.map(place), read = (text) => text.split(" ").map((pair) => pair.split("/"));
    const data = ["they/PRON fish/VERB", "the/DET fish/NOUN"].map(read);
    return {
      title: "A sentence", formula: "φ(x, y) counts words with labels, label bigrams, start, and stop", names,
      examples: data.map((pairs) => [pairs.map(([word]) => [words.indexOf(word)]), pairs.map(([, label]) => labels.indexOf(label)), `“${pairs.map(([word]) => word).join(" ")}”`]),
      map: (x, y) => { const counts = P.phi(at, x, y); return cells.map((cell) => counts[cell]); }, // the features that occur
      answers: (x) => x.reduce((all, [row]) => all.flatMap((y) => known[words[row]].map((label) => [...y, labels.indexOf(label)])), [[]]),
      label: (y) => y.map((k) => labels[k]).join(" "),
    };
  }
  const learners = [twoLabels(), threeLabels(), aSentence()].map((learner) => {
    const examples = Array.from({ length: VISITS }, (_, i) => learner.examples[i % learner.examples.length]);
    const same = (y, gold) => String(y) === String(gold), score = (w, x) => (y) => P.dot(w, learner.map(x, y));
    const decode = (w, x, gold) => {
      const answers = learner.answers(x), right = answers.find((y) => same(y, gold));
      return P.best(answers, score(w, x), right);
    };
    return { ...learner, examples, decode, run: P.learnJoint(examples, learner.map, decode), score };
  });
  const LAST = PHASES.length - 1, END = VISITS * PHASES.length - 1;
  let at = 0;
  const visit = () => Math.floor(at / PHASES.length), phase = () => at % PHASES.length;

  // ------------------------------------------------------------------------------- the strips
  /** A cell of a strip: nothing before its phase, and a color for its sign. */
  function cell(value, shown, now) {
    const kind = !shown ? "cell-empty" : `strip-cell ${value > 0 ? "above" : value < 0 ? "under" : "zero"} ${now ? "arriving" : ""}`;
    return make("div", { role: "cell", class: kind }, shown ? number(value) || "0" : "");
  }

  /** Features side by side, each with φ(x, y), φ(x, ŷ), their difference and w, from top to bottom; on a phone, the other way. */
  function strip({ title, formula, names, examples, run, answers, score, label }) {
    const { x, y, guess, mistake, right, decoded, before, w } = run.visits[visit()], now = phase();
    const head = (what, when) => make("div", { role: "columnheader", class: now === when ? "now" : null }, what);
    const heads = make("div", { role: "row" }, make("div", { role: "columnheader", class: "corner" }, ""), head(m("φ(x,\u00a0y)"), 2), head(m("φ(x,\u00a0ŷ)"), 3), head("difference", 4), head(m("w"), LAST));
    const rows = names.map(([name, kind], i) => make("div", { role: "row", class: now >= 4 && right[i] !== decoded[i] ? "moved" : null },
      make("div", { role: "rowheader" }, make("span", {}, name), " ", make("span", {}, kind)),
      cell(right[i], now >= 2, now === 2), cell(decoded[i], now >= 3, now === 3), cell(right[i] - decoded[i], now >= 4, now === 4),
      cell(now >= LAST ? w[i] : before[i], true, now === LAST && w[i] !== before[i])));
    const scores = answers(x).map((each) => `${label(each)}: ${number(score(before, x)(each))}`).join(", ");
    return make("div", { class: `card strip ${names.length > 6 ? "long" : ""}` }, make("h3", {}, title, ": ", make("span", { class: "quiet" }, m(formula))),
      make("p", {}, examples[visit()][2], ", ", m("y"), " = ", make("b", { class: "gold" }, label(y)), now >= 1 && [", ", m("ŷ"), " = ", make("b", { class: mistake ? "predicted" : "gold" }, label(guess))]),
      make("p", { class: "quiet scores" }, now >= 1 ? ["scores ", m("w · φ"), ` are ${scores}`] : "\u00a0"),
      make("div", { role: "table", class: "lanes", "aria-label": title, style: `--features: ${names.length}` }, heads, rows));
  }

  function caption() {
    const wrong = learners.filter(({ run }) => run.visits[visit()].mistake), k = visit() + 1;
    const which = wrong.length === 3 ? "all three are wrong" : wrong.length ? `wrong: ${listed(wrong.map(({ title }) => title.toLowerCase()))}` : "all three are right";
    return [
      `Example ${k}. Each learner has an x, the correct y, and one vector w.`,
      `Decode: ŷ is the y with the highest score w · φ(x, y); ${which}.${visit() ? "" : " All scores are 0, and a tie is a mistake."}`,
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
