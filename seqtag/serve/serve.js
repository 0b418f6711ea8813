/* The page of the server: tags a text, shows words, and what is known of the one that is chosen. */
{
  const NBEST = 5;
  const $ = (id) => document.getElementById(id);
  const [form, text, model, part] = [$("form"), $("text"), $("model"), $("part")];
  const [state, sentences, details, legend] = [$("status"), $("sentences"), $("details"), $("legend")];
  let parts = {}; // of each model
  let tagged = []; // the sentences on the page
  let asked = 0; // the last request; answers to older ones are dropped

  async function ask(path, value) {
    const response = await fetch(path, value === undefined ? {} : {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(value),
    });
    const answer = await response.json().catch(() => ({ error: `status ${response.status}` }));
    if (!response.ok) throw new Error(answer.error);
    return answer;
  }

  function say(message, isError) {
    state.textContent = message;
    state.classList.toggle("error", Boolean(isError));
  }

  const option = (name) => make("option", { value: name }, name);

  function offerParts() {
    part.replaceChildren(...(parts[model.value] || []).map(option));
  }

  // ------------------------------------------------------------- words
  const wordsOf = (sentence) => sentence.tokens.flatMap((token) => token.words);

  /** How much to doubt a label, 0 to 3: by its calibrated score, or by its margin among all. */
  function doubtIn(all, name) {
    const margins = all.map((word) => word.margins[name]).filter((margin) => margin !== null);
    margins.sort((a, b) => a - b);
    const typical = margins[Math.floor(margins.length / 2)] || 1;
    return (word) => {
      const score = word.scores[name];
      if (score !== undefined) return score < 0.6 ? 3 : score < 0.8 ? 2 : score < 0.95 ? 1 : 0;
      const margin = word.margins[name];
      if (margin === null) return 0;
      return margin < typical / 16 ? 3 : margin < typical / 6 ? 2 : margin < typical / 3 ? 1 : 0;
    };
  }

  function draw() {
    const name = part.value;
    const doubt = doubtIn(tagged.flatMap(wordsOf), name);
    sentences.replaceChildren(...tagged.map((sentence, number) => {
      const row = make("div", { class: "sentence", dir: "auto" });
      wordsOf(sentence).forEach((word, place) => {
        const level = doubt(word);
        const lemma = word.labels.lemma;
        const button = make("button", { type: "button", class: "word", "aria-pressed": "false" },
          make("span", { class: level ? `doubt d${level}` : null }, word.form),
          make("small", { class: "shown" }, word.labels[name] || ""),
          lemma && name !== "lemma" ? make("small", {}, lemma) : null);
        button.addEventListener("click", () => open(number, place, button));
        row.append(button);
      });
      return row;
    }));
    legend.hidden = !tagged.length;
    details.hidden = true;
  }

  // ------------------------------------------------------------- one word
  async function open(number, place, button) {
    const words = wordsOf(tagged[number]);
    const name = part.value;
    document.querySelectorAll(".word").forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
    const request = ++asked;
    try {
      const found = await ask("api/explain", {
        model: model.value, words: words.map((word) => word.form), word: place, part: name, nbest: NBEST,
      });
      if (request === asked) show(words, place, name, found, button);
    } catch (error) {
      say(error.message, true);
    }
  }

  function show(words, place, name, found, button) {
    const word = words[place];
    const titles = ["", "label", "margin", Object.keys(word.scores).length ? "score %" : ""];
    const facts = Object.entries(word.labels).map(([key, value]) => make("tr", {},
      make("th", { scope: "row" }, key),
      make("td", { class: "text" }, value),
      make("td", {}, word.margins[key] === null ? "–" : String(word.margins[key] ?? "")),
      make("td", {}, word.scores[key] === undefined ? "" : (100 * word.scores[key]).toFixed(1))));
    const best = found.nbest[0];
    const sequences = found.nbest.map(({ score, labels }) => make("tr", {},
      make("td", {}, String(score)),
      make("td", { class: "text" }, ...labels.flatMap((label, i) => {
        const changed = label !== best.labels[i];
        return [make("span", { class: changed ? "changed" : null }, changed ? `${words[i].form}/${label}` : label), " "];
      }))));
    const close = make("button", { type: "button" }, "Close");
    close.addEventListener("click", () => { details.hidden = true; button.focus(); });
    details.replaceChildren(
      make("h2", {}, word.form),
      make("div", { class: "wide" }, make("table", {},
        make("thead", {}, make("tr", {}, ...titles.map((title, i) =>
          make("th", { scope: "col", class: i < 2 ? "text" : null }, title)))),
        make("tbody", {}, ...facts))),
      make("h3", {}, `Why ${name} ${found.explanation.label}?`),
      explanationTable(found.explanation, ["label", "rival"]),
      make("h3", {}, `The ${found.nbest.length} best label sequences`),
      make("div", { class: "wide" }, make("table", { class: "nbest" }, make("tbody", {}, ...sequences))),
      close);
    details.hidden = false;
    details.focus({ preventScroll: true });
    details.scrollIntoView({ block: "nearest" });
  }

  // ------------------------------------------------------------- what the form does
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const request = ++asked;
    say("…");
    try {
      const answer = await ask("api/tag", { text: text.value, model: model.value });
      if (request !== asked) return;
      tagged = answer.sentences;
      draw();
      const count = tagged.flatMap(wordsOf).length;
      say(`${tagged.length} sentence${tagged.length === 1 ? "" : "s"}, ${count} word${count === 1 ? "" : "s"}`);
    } catch (error) {
      say(error.message, true);
    }
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !details.hidden) details.querySelector("button").click();
  });
  model.addEventListener("change", () => { offerParts(); tagged = []; draw(); say(""); });
  part.addEventListener("change", draw);

  ask("api/models").then((answer) => {
    parts = answer.models;
    model.replaceChildren(...Object.keys(parts).map(option));
    model.value = answer.default;
    offerParts();
  }).catch((error) => say(error.message, true));
}
