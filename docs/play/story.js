"use strict";
/* The story: twelve steps, each with a part of the page on its stage. */
const story = (() => {
  const STEPS = [ // `short` is the task in one line, for figures in other pages
    {
      name: "decide", title: "One line decides", part: "plane", open: { preset: "words" }, tool: "predict", link: ["the-task", "one-neuron"],
      text: ["Each word is a point with two numbers. Left is high if the word often follows an article. Right is high if it often comes before punctuation or a function word. Discs are nouns (+1), squares are verbs (−1).",
        "A neuron has a weight for each number. It says +1 if the score w · x is positive, and −1 if it is negative. So its decision is a straight line through the middle."],
      task: "Predict first: click a point that the line should go through. Then press Run and compare.",
      short: "Click where the line should go, then press Run.",
    },
    {
      name: "correct", title: "A mistake moves the line", part: "plane", open: { preset: "tour" }, tool: "predict", link: ["one-neuron"], show: ["example"],
      text: ["The perceptron looks at one example x at a time. If x is on the correct side of the line, nothing happens. If not, x is added to w (if its label is +1) or subtracted from w (if its label is −1)."],
      task: "Where will the line be after the first mistake? Click a point on it, then press ▶. Do the same for the next mistake. Which word is wrong twice?",
      short: "Click where the line will be after the next mistake, then press ▶.",
    },
    {
      name: "converge", title: "Pass after pass", part: "plane", open: { preset: "gap" }, link: ["one-neuron", "neighbors"], show: ["history-card"],
      text: ["Correcting one point can make another one wrong. So the perceptron visits the points again and again, until a complete pass has no mistake. It takes the first line that works, not the best one.",
        "Here each point has a third feature that is always 1, the bias. So w has three numbers, and the line need not go through the middle."],
      task: "How many mistakes will the perceptron make before it separates these points? Guess a number, then press Run, or ▶▶ for the next mistake.",
      short: "Guess the number of mistakes, then press Run, or ▶▶ for the next mistake.",
    },
    {
      name: "bars", title: "Why it stops", part: "plane", open: { preset: "wide" }, link: ["why-it-stops"], show: ["bound"],
      text: ["Suppose some vector of length 1 separates the points with a margin γ, and no point is farther than R from the origin.",
        "Each mistake moves w at least γ farther in the direction of that vector, so after m mistakes |w| is at least m γ. But the point was on the wrong side of the line, so |w|² grows by at most R² each time, and |w| is at most √m R.",
        "The first bar grows like m, the third only like √m, and |w| has to stay between them. So m can never be greater than (R / γ)²."],
      task: "Press ▶▶ for each mistake. Can the middle bar ever be shorter than the first, or longer than the third?",
      short: "Press ▶▶ for each mistake: the middle bar stays between the others.",
    },
    {
      name: "no-line", title: "No line at all", part: "plane", open: { preset: "xor" }, link: ["features"], show: ["lifted"],
      text: ["In XOR, two opposite corners are +1 and the other two are −1. No straight line separates them, so the perceptron never stops. (Here the corners are at ±4 and ±2; in the lecture, at 0 and 1.)",
        "This is a look ahead to section 9: a third feature, the product p q, is 8 at both −1 corners and −8 at the other two. With this feature, a plane separates the points; in the picture, it looks like a curve."],
      task: "Step through one pass. What is w at the end of it? Then add the product, and run again.",
      short: "Step through one pass: what is w at the end of it? Then add the product.",
      actions: [["Without the product", () => plane.recall({ preset: "xor" })], ["Add the product p q", () => plane.recall({ preset: "product" })]],
    },
    {
      name: "last-word", title: "The last example", part: "plane", open: { preset: "outlier" }, link: ["when-it-does-not-stop"], show: ["scores"],
      text: ["The perceptron makes one pass over the twelve words. Then there is one more example, an error in the data: it says that “day” is a verb. (It is drawn next to the disc of “day”, but both are at the same place.)",
        "At most 12 of 13 can be right, because “day” is there as both. (The lecture counts only the twelve words.) Only the last w is kept, so the last mistake counts most."],
      task: "Step to the twelfth example: all twelve words are right. What will the last example do? Then let all w vote, with one vote for each example survived, or take their average.",
      short: "Step to the end. What does the last example do?",
      actions: [["The last w", () => plane.set("decide", "last")], ["The vote of all w", () => plane.set("decide", "vote")], ["Their average", () => plane.set("decide", "mean")]],
    },
    {
      name: "average", title: "w jumps, its average settles", part: "plane", open: { preset: "clouds", order: "seed", seed: "9" }, link: ["when-it-does-not-stop", "theory"], show: ["curve-card"],
      text: ["These clouds overlap, so w never comes to rest: each mistake throws its line to another place. The dashed line is that of w, and the thin lines are those of the w before it. The thick line is that of the average of all w so far: it moves less and less."],
      task: "Press Run, and compare how deep the two curves fall. If you had to stop now, would you use w or its average?",
      short: "Press Run, and compare how deep the two curves fall.",
    },
    {
      name: "arrows", title: "Three labels, three arrows", part: "three", open: { preset: "classes" }, link: ["three-labels"], show: ["three-weights-card"],
      text: ["With more than two labels, each label has its own w: an arrow. A point x gets the label with the highest score w · x: the one whose arrow reaches farthest in the direction of the point.",
        "After a mistake, two arrows move: the arrow of the correct label toward the point, and the arrow of the label that won away from it."],
      task: "Step through the first words. Before each step, predict whether arrows will move, and which two. Then press Run.",
      short: "Before each step, predict which two arrows will move. Then press Run.",
    },
    {
      name: "strips", title: "One update, three times", part: "update", open: {}, link: ["three-labels"],
      text: ["Two labels, three labels, and sentences are all learned by one algorithm. A joint feature map φ(x, y) describes x together with an answer y. The decoder chooses the ŷ with the highest score w · φ(x, ŷ). After a mistake, φ(x, y) is added to w, and φ(x, ŷ) is subtracted.",
        "Only φ and the search for the best y differ between the three."],
      task: "Press ▶ and watch all three learners do the same thing at the same time.",
      short: "Press ▶ and watch three learners do the same thing at the same time.",
    },
    {
      name: "viterbi", title: "The best label sequence", part: "lattice", open: { preset: "old-fish" }, link: ["a-sentence"], show: ["cell"],
      text: ["With K labels, a sentence of T words has K to the power of T label sequences, too many to try. But the best sequence that ends in a given cell continues the best sequence of some cell in the column before. So each cell keeps only one score and one arc. After the last column, Viterbi follows the arcs back to the first word.",
        "The weights are those of the tagger in the lecture, rounded to tenths, for six of its sixteen labels; the full stop is the stop here. The weight of ADJ after ADJ, −21.5, comes mostly from the very first update: all labels tied, and nearly every word was decoded as ADJ."],
      task: "Before each ▶, say which arc the next cell will keep. With ▶▶ you go forward one word. Where is “fish” a verb, and why?",
      short: "Before each ▶, say which arc the next cell will keep.",
    },
    {
      name: "structured", title: "Learning from sentences", part: "lattice", open: { preset: "fish" }, link: ["structured-perceptron"], show: ["difference", "sentences"],
      text: ["In “they fish” and “the fish”, the same word is a verb and a noun, and only its neighbor tells which. If the decoded labels are wrong, the features of the gold sequence are added to w and those of the decoded sequence are subtracted. The label bigrams are among these features."],
      task: "Press ▶| for each sentence in turn. How many visits does it take until both are right? Then try it without label bigrams.",
      short: "Press ▶| for each sentence in turn. How many visits until both are right?",
      actions: [["With label bigrams", () => lattice.recall({ preset: "fish" })], ["Without", () => lattice.recall({ preset: "order0" })]],
    },
    {
      name: "english", title: "A real tagger", part: "tagger", open: {}, link: ["does-it-generalize", "seqtag"],
      text: ["This tagger is the same learner with a margin and more features: the word, its neighbors, prefixes, suffixes, shape, and classes of words. It has seen 13,491 sentences, and in other texts of the same kind, 19 of 20 words get the right label."],
      task: "Both words “water” are right. Now try “They fish for the old fish.” and click the first “fish”: which weights are to blame? Then type a sentence that you think will fool the tagger.",
      note: "The small tagger of step 10 is right about “They fish”, because it has never seen “fish” and goes by its ending and its neighbors. In the sentences that this one has seen, “fish” is a noun 23 times, a proper noun 4 times, and never a verb.",
      short: "Click a word to see its weights, or type a sentence that will fool the tagger.",
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
    fill($("guide-note"), step.note && make("details", {}, make("summary", {}, "The answer"), make("p", {}, step.note)));
    fill($(EMBED ? "embed-actions" : "guide-actions"), (step.actions ?? []).map(([name, act]) => button(name, {}, act)));
    fill($("guide-link"), step.link.map((anchor, i) => [i > 0 && make("br"), lectureLink(anchor)]));
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
