"use strict";
/* The story: twelve steps, each with a part of the page on its stage. */
const story = (() => {
  const STEPS = [
    {
      name: "decide", title: "One line decides", part: "plane", open: { preset: "words" }, tool: "predict", link: "one-neuron",
      text: ["Each word is a point. Its number p is high if it often follows an article, q if it often comes before punctuation or a function word. A disc is a noun (+1), a square is a verb (−1).",
        "A neuron has a weight for each number. It says +1 if h = w · x is positive, and −1 if h is negative. So one straight line through the middle decides."],
      task: "Predict first: click a place that the line should go through. Then press Run, and compare.",
    },
    {
      name: "correct", title: "A mistake moves the line", part: "plane", open: { preset: "tour" }, tool: "predict", link: "one-neuron", show: ["example"],
      text: ["The perceptron looks at one example at a time. If the example is on the correct side of the line, nothing happens. If not, x is added to w (for a +1) or subtracted from it (for a −1)."],
      task: "Where will the line be after the first mistake? Click a place on it, then press ▶. Then predict the next one. Which word is wrong twice?",
    },
    {
      name: "converge", title: "Pass after pass", part: "plane", open: { preset: "gap" }, link: "one-neuron", show: ["history-card"],
      text: ["Correcting one point can make another one wrong. So the points are visited again and again, until a whole pass has no mistake."],
      task: "How many mistakes will it make before it separates these points? Guess a number, then press Run, or ▶▶ for the next mistake.",
    },
    {
      name: "bars", title: "Why it stops", part: "plane", open: { preset: "wide" }, link: "why-it-stops", show: ["bound"],
      text: ["Suppose some vector of length 1 separates the points with a margin γ, and no point is farther than R from the origin.",
        "Each mistake moves w at least γ farther in the direction of that vector: after M mistakes |w| is at least M γ. But a mistake is on the wrong side of w, so |w|² grows by at most R² each time: |w| is at most √M R.",
        "The first bar grows like M, the third only like √M, and |w| is between them. So M cannot be larger than (R / γ)²."],
      task: "Press ▶▶ for each mistake. Can the middle bar ever be shorter than the first, or longer than the third?",
    },
    {
      name: "no-line", title: "No line at all", part: "plane", open: { preset: "xor" }, link: "features", show: ["lifted"],
      text: ["In XOR two opposite corners are +1, and the other two −1. No straight line separates them, so the perceptron never stops.",
        "A third feature, the product p q, is positive at two opposite corners and negative at the others. With it a plane separates the points; in this picture it is a curve."],
      task: "Step through a pass. What is w at its end? Then add the product, and run again.",
      actions: [["Without the product", () => plane.recall({ preset: "xor" })], ["Add the product p q", () => plane.recall({ preset: "product" })]],
    },
    {
      name: "last-word", title: "The last example", part: "plane", open: { preset: "outlier" }, link: "when-it-does-not-stop", show: ["scores"],
      text: ["One pass over the twelve words, and one example more: an error in the data, which says that “day” is a verb.",
        "The w at the end is the only one that is kept, so the last mistake counts most."],
      task: "Step to the twelfth example: all twelve are right. What will the last one do? Then let all w vote, each with as many votes as examples it survived; or take their average.",
      actions: [["The last w", () => plane.set("decide", "last")], ["The vote of all w", () => plane.set("decide", "vote")], ["Their average", () => plane.set("decide", "mean")]],
    },
    {
      name: "average", title: "w jitters, its average settles", part: "plane", open: { preset: "clouds", order: "seed", seed: "2" }, link: "when-it-does-not-stop", show: ["curve-card"],
      text: ["These clouds overlap, so w never comes to rest: each mistake throws it to another place (thin lines: the last ten w; dashed: the present one). The average of all w so far (thick) moves less and less."],
      task: "Press Run. Which of the two would you stop at any time and use?",
    },
    {
      name: "arrows", title: "Three labels, three arrows", part: "three", open: { preset: "classes" }, link: "three-labels", show: ["three-weights-card"],
      text: ["With more labels, each has a w of its own: an arrow. A point gets the label whose arrow reaches farthest in its direction: the highest w · x.",
        "After a mistake two arrows move: that of the correct label toward the point, that of the decoded label away from it."],
      task: "Step on. For each ringed point, say first which two arrows will move.",
    },
    {
      name: "strips", title: "One update, three times", part: "update", open: {}, link: "three-labels",
      text: ["All of these are one algorithm. A joint feature map φ(x, y) describes x together with a label y. The y of highest w · φ(x, y) is decoded. After a mistake w gains φ(x, y) and loses φ(x, ŷ).",
        "Two labels, three labels, or a whole sentence: only φ and the search for the best y differ."],
      task: "Step on, and watch the three of them do the same thing at the same time.",
    },
    {
      name: "viterbi", title: "The best label sequence", part: "lattice", open: { preset: "old-fish" }, link: "a-sentence", show: ["cell"],
      text: ["A sentence of T words with K labels has K to the power of T label sequences, too many to try. But the best one that ends in a given cell continues the best one of some cell before it. So each cell keeps one number and one arc; after the last column, the way goes back along the arcs.",
        "The weights are those of the lecture, for six of its sixteen labels."],
      task: "Before each ▶ say which arc the cell will keep; ▶▶ goes on by a word. Where is “fish” a verb, and why?",
    },
    {
      name: "structured", title: "Learning from sentences", part: "lattice", open: { preset: "fish" }, link: "structured-perceptron", show: ["difference", "sentences"],
      text: ["They fish; the fish. The same word is a verb and a noun, and only its neighbor tells which. Where the decoded labels are wrong, w gains the features of the gold sequence and loses those of the decoded one: label bigrams too."],
      task: "Press ▶| for each sentence in turn. How many visits until both are right? Then try it without label bigrams.",
      actions: [["With label bigrams", () => lattice.recall({ preset: "fish" })], ["Without", () => lattice.recall({ preset: "order0" })]],
    },
    {
      name: "english", title: "A real tagger", part: "tagger", open: {}, link: "seqtag",
      text: ["The same algorithm with more features: the word, its neighbors, prefixes, suffixes, shape. This model was trained on 13,491 sentences, and 19 of 20 words of other texts of the same kind get the right label."],
      task: "Both words “water” are right. Now try “They fish for the old fish.”, and click the first “fish”: which weights are to blame? Then type a sentence that you think will fool it.",
    },
  ];
  let at = null, last = 0;
  const numberOf = (name) => STEPS.findIndex((step) => step.name === name);

  /** Set the stage: the part, and which of its cards are to be seen beside the picture. */
  function stage(step) {
    for (const card of document.querySelectorAll("#stage .side")) card.classList.toggle("off", Boolean(step) && !(step.show ?? []).includes(card.id));
    for (const halves of document.querySelectorAll("#stage .halves")) halves.classList.toggle("single", Boolean(step) && !["tagger"].includes(step.part) && !halves.querySelector(".stack .side:not(.off)"));
    document.body.classList.toggle("guided", Boolean(step));
    document.body.dataset.step = step?.name ?? "";
    plane.use(step?.tool ?? "1");
  }

  function tell(step, k) {
    fill($("guide-title"), step.title);
    fill($("guide-text"), step.text.map((each) => make("p", {}, each)));
    fill($("guide-task"), make("b", {}, step.task));
    fill($("guide-actions"), (step.actions ?? []).map(([name, act]) => button(name, {}, act)));
    fill($("guide-link"), lectureLink(step.link));
    $("guide-step").value = String(k);
    $("guide-back").disabled = k === 0;
    $("guide-forth").disabled = k === STEPS.length - 1;
  }

  fill($("guide-step"), STEPS.map((step, k) => make("option", { value: k }, `${k + 1}/${STEPS.length} ${step.title}`)));
  return {
    STEPS, numberOf,
    /** Open a step, or close the story (null); values are those of its part, from the address. */
    open(k, values) {
      at = k;
      const step = k === null ? null : STEPS[k];
      $("guide").hidden = $("guide-words").hidden = $("guide-do").hidden = !step || Boolean(EMBED);
      address.prefix = step ? { story: step.name } : {};
      stage(step);
      if (!step) return null;
      last = k;
      tell(step, k);
      return [step.part, values ?? step.open];
    },
    at: () => at, last: () => last, stage,
  };
})();
