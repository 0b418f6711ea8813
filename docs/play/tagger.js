"use strict";
/* A real model: type a sentence, and see its lattice, margins, and the weights of a word. */
const tagger = (() => {
  const EXAMPLES = [
    "People who water the garden need water.", "They fish for the old fish.", "The old man the boat.", "He reckons the current account deficit will narrow.",
    "I can can a can.", "Time flies like an arrow; fruit flies like a banana.", "The blorficated wug is glimming.",
  ];
  const HIGH = 23, TOP = 30, WIDE = 76;
  let model = null, text = EXAMPLES[0], found = null, opened = null; // the word and the label looked at, [t, b]

  /** Load the model when it is first wanted: its file is larger than all others together. */
  let loading = null;
  function load() {
    loading ??= new Promise((done, fail) => {
      const script = make("script", { src: "model.js" });
      script.addEventListener("load", () => done(window.englishModel));
      script.addEventListener("error", () => fail(new Error("model.js is not here")));
      document.head.append(script);
    });
    return loading;
  }

  async function show() {
    $("tagger-text").value = text;
    remember();
    if (!model) {
      $("tagger-caption").textContent = "The model is loading …";
      try {
        model = english.open(await load());
      } catch {
        $("tagger-caption").textContent = "The model is built with the site: run python scripts/play_page.py build/play, and open the page there.";
        return;
      }
      tellModel();
    }
    decode();
  }

  function decode() {
    found = model.decode(english.tokenize(text));
    if (opened && opened[0] >= found.tokens.length) opened = null;
    opened ??= found.tokens.length ? [found.margins.indexOf(Math.min(...found.margins)), null] : null;
    paint();
    remember();
  }
  const CLOSE = 90, USUAL = 370, CLEAR = 540; // margins: a close decision, the median in other texts, and one that is drawn in full

  // ----------------------------------------------------------------------------- the lattice
  function paint() {
    const { tokens, y, through, score, margins } = found, T = tokens.length, K = model.labels.length;
    const height = TOP + HIGH * K + 46, width = WIDE * T + 8, x = (t) => WIDE * (t + 0.5), row = (b) => TOP + HIGH * (b + 0.5);
    const [t0, b0] = opened ?? [null, null], other = b0 === null || b0 === y[t0] ? null : found.path(t0, b0);
    const line = (path, kind) => draw("polyline", { class: `arc ${kind}`, points: path.map((b, t) => `${x(t)},${row(b)}`).join(" ") });
    const columns = tokens.map((word, t) => {
      const cells = model.labels.map((label, b) => {
        const less = score - through[t][b], near = Math.max(0, 1 - less / CLEAR);
        const best = y[t] === b, chosen = t === t0 && b === b0;
        return draw("g", { class: "state", "data-t": t, "data-b": b }, draw("title", {}, `${word} as ${label}: ${best ? "the best sequence" : `the best sequence scores ${number(less)} less`}`),
          draw("rect", { class: "hit", x: x(t) - WIDE / 2, y: row(b) - HIGH / 2, width: WIDE, height: HIGH }),
          draw("circle", { class: `${best ? "best" : ""} ${chosen ? "chosen" : ""}`, cx: x(t), cy: row(b), r: best ? 9 : 3 + 5 * near, opacity: best || chosen ? 1 : 0.2 + 0.8 * near }));
      });
      const tall = Math.min(1, margins[t] / CLEAR);
      return draw("g", { role: "button", tabindex: 0, class: t === t0 ? "word now" : "word", "data-word": t, "aria-label": `${word}: ${model.labels[y[t]]}, margin ${number(margins[t])}`, "aria-pressed": String(t === t0) },
        draw("rect", { class: "column", x: x(t) - WIDE / 2 + 1, y: 1, width: WIDE - 2, height: height - 2, rx: 6 }),
        draw("text", { class: "token", x: x(t), y: 20, textLength: word.length > 9 ? WIDE - 6 : null, lengthAdjust: "spacingAndGlyphs" }, word), cells,
        draw("text", { class: "token tag", x: x(t), y: height - 28 }, model.labels[y[t]]),
        draw("rect", { class: "margin-back", x: x(t) - 30, y: height - 20, width: 60, height: 8, rx: 4 }),
        draw("rect", { class: "margin-bar", x: x(t) - 30, y: height - 20, width: Math.max(2, 60 * tall), height: 8, rx: 4 }));
    });
    furnish($("tagger-lattice"), { viewBox: `0 0 ${width} ${height}`, width, height }, []);
    fill($("tagger-lattice"), columns.map((column) => column.firstChild), line(y, "path"), other && line(other, "chosen"), columns);
    const rest = (text, at) => draw("text", { class: "row", x: 58, y: at, style: "text-anchor: end" }, text);
    furnish($("tagger-names"), { viewBox: `0 0 64 ${height}`, width: 64, height }, []);
    fill($("tagger-names"), model.labels.map((label, b) => rest(label, row(b) + 5)), rest("margin", height - 12));
    tell();
  }

  // ------------------------------------------------------------------------------- the words
  function tell() {
    const { tokens, y, margins, rivals, through, score, features, emission } = found;
    if (!tokens.length) {
      $("tagger-caption").textContent = "Type a sentence.";
      for (const id of ["tagger-word", "tagger-paths"]) fill($(id));
      return;
    }
    const [t, chosen] = opened, best = y[t], rival = chosen === null || chosen === best ? rivals[t] : chosen, label = model.labels[best];
    const less = score - through[t][rival], name = model.labels[rival], word = tokens[t];
    $("tagger-caption").textContent = `“${word}” is ${label}. The best sequence in which it is ${name} instead scores ${number(less)} less${less < CLOSE ? `: a close decision, because differences around ${USUAL} are usual` : ` (differences around ${USUAL} are usual)`}. Click a word, or click a dot to compare with another label.`;
    const rows = features[t].map(({ name: template, value, weights }) => [template, value, weights[best], weights[rival]])
      .filter(([, , a, b]) => a || b).sort((a, b) => Math.abs(b[2] - b[3]) - Math.abs(a[2] - a[3]));
    const signed = (value) => make("td", { class: value > 0 ? "up" : value < 0 ? "down" : null }, `${value > 0 ? "+" : ""}${number(value)}`);
    const own = emission[t][best] - emission[t][rival], shown = rows.slice(0, 14);
    fill($("tagger-word"), make("h3", {}, `The weights of “${word}”: ${label} or ${name}`),
      table([["feature", "row"], [label], [name], ["difference"]], [
        ...shown.map(([template, value, a, b]) => [null, [[make("code", {}, template), ": ", value], number(a), number(b), signed(a - b)]]),
        rows.length > shown.length && [null, [`${rows.length - shown.length} more`, "", "", signed(rows.slice(14).reduce((sum, [, , a, b]) => sum + a - b, 0))]],
        ["now", [make("b", {}, "the word itself"), number(emission[t][best]), number(emission[t][rival]), signed(own)]],
        [null, ["label bigrams and other words", "", "", signed(less - own)]],
        ["now", [make("b", {}, "the margin"), "", "", signed(less)]],
      ].filter(Boolean), { id: "word-weights" }),
      make("p", { class: "quiet" }, "Weights are whole numbers from −127 to 127. ", make("code", {}, "[0]"), " is the word, ", make("code", {}, "[-1]"), " the word before, ", make("code", {}, "[+1]"), " the one after. ",
        make("code", {}, "normal"), ": in lower case; ", make("code", {}, "class"), ": the number of a group of words with similar neighbors; ", make("code", {}, "shape"), ": X, x, and d for capitals, small letters, and digits; ",
        make("code", {}, "outline"), ": the shape without repetitions; ", make("code", {}, "skeleton"), ": the last letters with V for each vowel; ", make("code", {}, "flags"), ": capitals, digits, hyphens, and only letters, as 0 or 1."));
    const other = found.path(t, rival), differs = tokens.flatMap((_, i) => (other[i] !== y[i] ? [i] : []));
    fill($("tagger-paths"), make("h3", {}, "The two sequences"), table([["word", "row"], ["best", "text"], [`best with ${name}`, "text"], ["margin"]],
      tokens.map((each, i) => [i === t ? "now" : differs.includes(i) ? "moved" : null, [jump(each, `Look at word ${i + 1}, ${each}`, () => look(i, null)), model.labels[y[i]], other[i] === y[i] ? "same" : make("b", {}, model.labels[other[i]]), number(margins[i])]]), { id: "paths" }));
  }

  function tellModel() {
    const { features, weights } = model.size;
    fill($("tagger-about"), `This is the UPOS component of seqtag's English model without its label trigrams and smallest weights. It has ${features.toLocaleString("en")} features with ${weights.toLocaleString("en")} weights, and ${model.labels.length} labels. `,
      `It is an averaged structured perceptron, trained on UD English-EWT; its weights are 8-bit integers. The sentences that you type never leave this page. ${model.data.license}.`);
  }

  function look(t, b) {
    opened = [t, b];
    paint();
    remember();
  }
  const remember = () => address.write("tagger", { sentence: text, word: opened?.[0] ?? null, label: opened?.[1] ?? null });
  function tag(sentence) {
    text = sentence.slice(0, 400);
    opened = null;
    show();
  }

  $("tagger-lattice").addEventListener("click", (event) => {
    const state = event.target.closest("[data-b]"), word = event.target.closest("[data-word]");
    if (state) look(Number(state.dataset.t), Number(state.dataset.b));
    else if (word) look(Number(word.dataset.word), null);
  });
  $("tagger-lattice").addEventListener("keydown", (event) => {
    const word = event.target.closest("[data-word]"), by = { ArrowUp: -1, ArrowDown: 1, Enter: 0, " ": 0 }[event.key];
    if (!word || by === undefined) return;
    event.preventDefault();
    const t = Number(word.dataset.word), K = model.labels.length, from = opened[0] === t ? (opened[1] ?? found.y[t]) : found.y[t];
    look(t, by ? (from + by + K) % K : null);
    $("tagger-lattice").querySelector(`[data-word="${t}"]`).focus();
  });
  $("tagger-form").addEventListener("submit", (event) => {
    event.preventDefault();
    tag($("tagger-text").value);
  });
  fill($("tagger-examples"), EXAMPLES.map((each) => button(each, {}, () => tag(each))));

  function recall(values) {
    const place = (text, most) => (text === undefined ? null : whole(text, most));
    text = String(values.sentence ?? EXAMPLES[0]).slice(0, 400);
    opened = values.word === undefined ? null : [place(values.word, 39), place(values.label, 16)];
  }

  /** The arrows look at the next word. */
  function move(by) {
    if (found?.tokens.length) look(Math.min(Math.max(opened[0] + by, 0), found.tokens.length - 1), null);
  }
  const act = (name) => ({ forth: () => move(1), back: () => move(-1), first: () => move(-99), last: () => move(99) })[name]?.();
  return { recall, presets: {}, show, act, stop: () => {}, section: ["features", "seqtag"] };
})();
