/* The page of the server: tags a text, shows words, and what is known of the one that is chosen. */
{
  const NBEST = 5;
  const LONGEST_LINK = 8000; // characters of a text that is put into the address
  const EXAMPLES = { // by language; a model is named after its language
    en: ["Time flies like an arrow.", "Mr. Jones can't come to London today. Don't wait!"],
    de: ["Im Herbst fallen die Blätter zum Boden.", "Wie geht's? Ich komme zum Essen."],
    fr: ["Le chat du voisin dort.", "Va-t-il aux halles ?"],
    es: ["Dámelo al salir del teatro."],
    ar: ["كتب الولد رسالة إلى والده."],
    he: ["הילד כתב מכתב לאביו."],
  };
  const NAMES = { english: "en", german: "de", french: "fr", spanish: "es", arabic: "ar", hebrew: "he" };
  const $ = (id) => document.getElementById(id);
  const [form, text, model, part] = [$("form"), $("text"), $("model"), $("part")];
  const [state, sentences, details, legend] = [$("status"), $("sentences"), $("details"), $("legend")];
  const [start, tools, link] = [$("start"), $("tools"), $("permalink")];
  let sent = null; // the text and the model of the sentences on the page
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
    const name = model.value.toLowerCase().split(/[^a-z]/)[0];
    const known = EXAMPLES[NAMES[name] || name];
    $("examples").replaceChildren(...(known || Object.values(EXAMPLES).flat()).map((example) => {
      const button = make("button", { type: "button", dir: "auto" }, example);
      button.addEventListener("click", () => { text.value = example; form.requestSubmit(); });
      return make("li", {}, button);
    }));
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

  /** A label below its word. Labels have a direction of their own, so that words give that of the sentence. */
  function labelOf(name, value) {
    if (!value || value === "_") return null;
    if (name === "feats" && value.includes("=")) {
      return make("table", { dir: "ltr" }, make("tbody", {}, ...value.split("|").map((feature) => {
        const [key, ...rest] = feature.split("=");
        return make("tr", {}, make("th", { scope: "row" }, key), make("td", {}, rest.join("=")));
      })));
    }
    return make("small", { class: name === part.value ? `shown ${name}` : name, dir: "auto", title: name }, value);
  }

  function draw() {
    const doubt = doubtIn(tagged.flatMap(wordsOf), part.value);
    sentences.replaceChildren(...tagged.map((sentence, number) => {
      const row = make("div", { class: "sentence", dir: "auto" });
      let place = 0;
      for (const token of sentence.tokens) {
        const buttons = token.words.map((word) => {
          const level = doubt(word), at = place++;
          const button = make("button", { type: "button", class: "word", "aria-pressed": "false" },
            make("span", { class: level ? `doubt d${level}` : null }, word.form),
            ...Object.entries(word.labels).map(([name, value]) => labelOf(name, value)));
          button.addEventListener("click", () => open(number, at, button));
          return button;
        });
        if (buttons.length === 1) row.append(...buttons);
        else row.append(make("div", { class: "token", role: "group", "aria-label": token.text },
          make("div", { class: "surface" }, token.text), make("div", { class: "words" }, ...buttons)));
      }
      return row;
    }));
    const [first] = tagged.flatMap(wordsOf);
    $("columns").textContent = first ? Object.keys(first.labels).join(", ") : "";
    legend.hidden = tools.hidden = !tagged.length;
    start.hidden = !legend.hidden;
    details.hidden = true;
  }

  // ------------------------------------------------------------- CoNLL-U, and the address of a text
  async function conllu() {
    const fields = new URLSearchParams({ model: sent.model, data: sent.text, tokenizer: "", tagger: "" });
    const response = await fetch("process", { method: "POST", body: fields });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()).result;
  }

  $("copy").addEventListener("click", async () => {
    try {
      if (!navigator.clipboard) throw new Error("This address does not allow copying: download the file.");
      await navigator.clipboard.writeText(await conllu());
      say("copied");
    } catch (error) {
      say(error.message, true);
    }
  });
  $("download").addEventListener("click", async () => {
    try {
      const address = URL.createObjectURL(new Blob([await conllu()], { type: "text/plain" }));
      make("a", { href: address, download: "tagged.conllu" }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60000);
    } catch (error) {
      say(error.message, true);
    }
  });

  function remember(request) {
    sent = request;
    const isShort = request.text.length <= LONGEST_LINK;
    link.hidden = !isShort;
    link.href = isShort ? `#${new URLSearchParams(request)}` : "#";
    history.replaceState(null, "", isShort ? link.href : location.pathname);
  }

  /** Tag the text that the address names after its #, which no browser sends to a server. */
  function follow() {
    const fields = new URLSearchParams(location.hash.slice(1));
    if (!fields.get("text")) return;
    if (fields.get("model") in parts) {
      model.value = fields.get("model");
      offerParts();
    }
    text.value = fields.get("text");
    form.requestSubmit();
  }
  window.addEventListener("hashchange", follow);

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
      make("td", { class: "text" }, make("bdi", {}, value)),
      make("td", {}, word.margins[key] === null ? "–" : String(word.margins[key] ?? "")),
      make("td", {}, word.scores[key] === undefined ? "" : (100 * word.scores[key]).toFixed(1))));
    const best = found.nbest[0];
    const sequences = found.nbest.map(({ score, labels }) => make("tr", {},
      make("td", {}, String(score)),
      make("td", { class: "text", dir: "auto" }, ...labels.flatMap((label, i) => {
        const changed = label !== best.labels[i];
        return [make("span", { class: changed ? "changed" : null }, changed ? `${words[i].form}/${label}` : label), " "];
      }))));
    const close = make("button", { type: "button" }, "Close");
    close.addEventListener("click", () => { details.hidden = true; button.focus(); });
    details.replaceChildren(
      make("h2", { dir: "auto" }, word.form),
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
      const wanted = { model: model.value, text: text.value };
      const answer = await ask("api/tag", { ...wanted, scores: true });
      if (request !== asked) return;
      tagged = answer.sentences;
      remember(wanted);
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
    follow();
  }).catch((error) => say(error.message, true));
}
