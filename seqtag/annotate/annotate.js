/* The page to annotate on: shows a text with what the model finds, takes corrections, goes on. */
{
  const POLL_MS = 2000;
  const LONGEST_SAID = 80; // characters of a label's words
  const LONGEST_PAUSE_MS = 300000; // between two decisions that counts for the speed
  const $ = (id) => document.getElementById(id);
  const box = $("text");
  const LABEL_KEYS = "1234567890abcdefghijklmnopqrtvwxyz"; // s and u have meanings of their own
  let state = {}; // what the process says last
  let session = null; // of this window; a later window ends it
  let item = {}; // the text that is shown; without a text if all are decided
  let pieces = []; // its words, each with what is before it
  let doubtful = new Set(); // numbers of words
  let spans = []; // [first word, last word, label], in order, without overlaps
  let [anchor, cursor] = [0, 0]; // the words that are selected are between them
  let isBusy = false; // a decision is on its way
  let times = []; // of decisions
  const sent = new Map(); // spans of texts that were decided here

  async function ask(action, value) {
    const response = await fetch("api", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ action, session, ...value }),
    }).catch(() => { throw new Error("The command does not answer. Start it again, then reload this page."); });
    const answer = await response.json().catch(() => ({ error: `status ${response.status}` }));
    if (!response.ok) throw new Error(answer.error);
    state = answer;
    tell();
  }

  function say(message, isError) {
    $("status").textContent = message;
    $("status").classList.toggle("error", Boolean(isError));
  }

  // ------------------------------------------------------------- the text
  const selection = () => [Math.min(anchor, cursor), Math.max(anchor, cursor)];
  const spanAt = (word) => spans.find(([first, last]) => first <= word && word <= last);
  const stops = () => [...new Set([...spans.map(([first]) => first), ...doubtful])].sort((a, b) => a - b);
  const wordsOf = (first, last) => pieces.slice(first, last + 1).map(([before, word], i) => (i ? before : "") + word).join("");

  /** Show the text that the process says; its positions are in characters, not in UTF-16. */
  function show() {
    item = state.item;
    $("done").hidden = Boolean(item.text);
    box.hidden = !item.text;
    for (const id of ["accept", "remove", "ignore"]) $(id).disabled = !item.text;
    $("source").textContent = !item.text ? "" : item.held_out ? "drawn at random, to measure" : item.doubtful.length ? "dotted: the model is in doubt" : "";
    if (!item.text) return;
    const characters = Array.from(item.text), [firsts, lasts] = [new Map(), new Map()];
    const cut = (start, end) => characters.slice(start, end).join("");
    let done = 0;
    pieces = item.places.map(([start, end], word) => {
      firsts.set(start, word);
      lasts.set(end, word);
      const before = cut(done, start);
      done = end;
      return [before, cut(start, end)];
    });
    const fits = ([start, end]) => firsts.has(start) && lasts.has(end);
    spans = (sent.get(item.text) || item.spans).filter(fits).map(([start, end, name]) => [firsts.get(start), lasts.get(end), name]);
    doubtful = new Set(item.doubtful.map((start) => firsts.get(start)));
    anchor = cursor = stops()[0] || 0;
    box.replaceChildren(...pieces.flatMap(([before, word], number) => {
      const option = make("span", { role: "option", id: `w${number}`, "aria-selected": "false" }, word);
      option.classList.toggle("doubtful", doubtful.has(number));
      return [make("span", { role: "presentation", id: `b${number}` }, before), option];
    }), cut(done));
    draw();
    box.focus();
  }

  /** Show spans and selection; only what changed is touched, as texts may have thousands of words. */
  function draw() {
    const [first, last] = selection();
    for (let number = 0; number < pieces.length; number++) {
      const option = $(`w${number}`), span = spanAt(number);
      const isLast = span && span[1] === number;
      const [label, within] = [isLast ? span[2] : "", Boolean(span)];
      const selected = String(first <= number && number <= last);
      if (option.getAttribute("aria-selected") !== selected) option.setAttribute("aria-selected", selected);
      if (option.classList.contains("marked") !== within) option.classList.toggle("marked", within);
      const joined = Boolean(span && span[0] < number);
      $(`b${number}`).classList.toggle("marked", joined);
      const tag = option.querySelector(".tag");
      if ((tag ? tag.textContent : "") !== label) {
        if (tag) tag.remove();
        if (label) option.append(make("span", { class: "tag", dir: "auto" }, label));
      }
      const name = pieces[number][1] + (span ? `, ${span[2]}` : "");
      if (option.getAttribute("aria-label") !== name) option.setAttribute("aria-label", name);
    }
    box.setAttribute("aria-activedescendant", `w${cursor}`);
    if ($(`w${cursor}`)) $(`w${cursor}`).scrollIntoView({ block: "nearest" });
  }

  function move(to, extend) {
    cursor = Math.max(0, Math.min(pieces.length - 1, to));
    if (!extend) anchor = cursor;
    draw();
  }

  // ------------------------------------------------------------- corrections
  function unset() {
    const [first, last] = selection();
    if (state.column) spans = spans.filter((span) => span[0] < first || span[0] > last);
    else spans = spans.filter((span) => span[1] < first || span[0] > last);
  }

  function label(name) {
    if (!item.text || !pieces.length) return;
    const [first, last] = selection(), known = spanAt(first);
    const whole = !state.column && first === last && known ? [known[0], known[1]] : [first, last];
    unset();
    if (state.column) for (let word = first; word <= last; word++) spans.push([word, word, name]);
    else spans.push([...whole, name]);
    spans.sort((a, b) => a[0] - b[0]);
    if (!state.column) anchor = cursor = whole[1];
    const words = wordsOf(...whole);
    say(`${words.length > LONGEST_SAID ? `${words.slice(0, LONGEST_SAID)}…` : words}: ${name}`);
    if (state.column) move(last + 1);
    else draw();
  }

  function remove() {
    if (!item.text) return;
    unset();
    say("label removed");
    draw();
  }

  async function send(action, value, said) {
    if (isBusy) return;
    isBusy = true;
    try {
      await ask(action, value);
      say(said);
      show();
    } catch (error) {
      say(error.message, true);
    } finally {
      isBusy = false;
    }
  }

  function decide(answer) {
    if (!item.text) return;
    const placed = spans.map(([first, last, name]) => [item.places[first][0], item.places[last][1], name]);
    times.push(Date.now());
    sent.set(item.text, placed); // of a text that is left out, not all is in the file
    send("decide", { text: item.text, answer, spans: placed }, "");
  }

  const undo = () => state.undoable && send("undo", {}, "Taken back: this is the text before.");

  // ------------------------------------------------------------- keys and clicks
  const step = () => getComputedStyle(box).direction === "rtl" ? -1 : 1;
  const KEYS = {
    ArrowRight: (event) => move(cursor + step(), event.shiftKey),
    ArrowLeft: (event) => move(cursor - step(), event.shiftKey),
    Home: (event) => move(0, event.shiftKey),
    End: (event) => move(pieces.length - 1, event.shiftKey),
    Delete: remove,
    Backspace: remove,
    Enter: () => decide("accept"),
    s: () => decide("ignore"),
    u: undo,
    Escape: () => move(cursor),
  };

  addEventListener("keydown", (event) => {
    const onButton = event.target !== box && ["Enter", " ", "Tab"].includes(event.key);
    if (event.ctrlKey || event.altKey || event.metaKey || !state.labels || onButton) return;
    if (!item.text && event.key.toLowerCase() !== "u") return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const name = state.labels[LABEL_KEYS.indexOf(key)];
    if (event.key === "Tab") { // to the next span or doubtful word, and behind the last one out of the text
      const found = event.shiftKey ? stops().filter((word) => word < cursor).pop() : stops().find((word) => word > cursor);
      if (found === undefined) return;
      [anchor, cursor] = spanAt(found) || [found, found];
      draw();
    } else if (name !== undefined) label(name);
    else if (KEYS[key]) KEYS[key](event);
    else return;
    event.preventDefault();
  });

  const wordOf = (event) => event.target.closest && event.target.closest("[role=option]");
  let isDragging = false;
  box.addEventListener("pointerdown", (event) => {
    const word = wordOf(event);
    if (!word) return;
    isDragging = true;
    move(Number(word.id.slice(1)), event.shiftKey);
  });
  box.addEventListener("mousedown", (event) => { // words are selected, not text, which could be dragged
    event.preventDefault();
    box.focus();
  });
  box.addEventListener("pointerover", (event) => {
    const word = wordOf(event);
    if (isDragging && word) move(Number(word.id.slice(1)), true);
  });
  addEventListener("pointerup", () => { isDragging = false; });
  $("accept").addEventListener("click", () => decide("accept"));
  $("ignore").addEventListener("click", () => decide("ignore"));
  $("remove").addEventListener("click", () => { remove(); box.focus(); });
  $("undo").addEventListener("click", undo);

  // ------------------------------------------------------------- progress
  function speed() {
    const pauses = times.slice(1).map((time, number) => Math.min(time - times[number], LONGEST_PAUSE_MS));
    const spent = pauses.reduce((a, b) => a + b, 0);
    return spent ? `, ${Math.round((3.6e6 * pauses.length) / spent)} an hour` : "";
  }

  function tell() {
    $("progress").textContent = `${state.decided} of ${state.texts} texts decided${speed()}`;
    $("undo").disabled = !state.undoable;
    const points = state.curve;
    $("curve").toggleAttribute("hidden", !points.length);
    $("score").textContent = "The model learns in the background; a score needs some more texts, with different labels.";
    if (state.failure) $("score").textContent = `Learning failed, decisions are still written: ${state.failure}`;
    if (!points.length) return;
    const most = points[points.length - 1][0];
    const x = (n) => 30 + 360 * (n / most), y = (f1) => 120 - 110 * f1;
    const svg = (name, attributes, ...children) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      made.append(...children);
      return made;
    };
    const [, last] = points[points.length - 1], percent = (100 * last).toFixed(1);
    $("curve").replaceChildren(
      ...[0, 0.5, 1].flatMap((value) => [
        svg("line", { x1: 30, x2: 390, y1: y(value), y2: y(value) }),
        svg("text", { x: 2, y: y(value) + 4 }, String(100 * value)),
      ]),
      svg("polyline", { points: points.map(([n, f1]) => `${x(n)},${y(f1)}`).join(" ") }),
      svg("circle", { cx: x(most), cy: y(last), r: 3 }),
      svg("text", { x: 390, y: 136, "text-anchor": "end" }, `${most} texts`),
    );
    const measure = `${state.column ? "Accuracy" : "F1"} ${percent}`;
    $("curve").setAttribute("aria-label", `${measure} after ${most} texts`);
    if (!state.failure) $("score").textContent = `${measure} on texts drawn at random, which the model has not seen`;
  }

  async function start() {
    try {
      await ask("open", {});
      session = state.session;
      $("labels").replaceChildren(...state.labels.map((name, number) => {
        const button = make("button", { type: "button" }, `${name} `, make("kbd", {}, LABEL_KEYS[number] || ""));
        button.addEventListener("click", () => { label(name); box.focus(); });
        return button;
      }));
      show();
      const timer = setInterval(async () => {
        try {
          await ask("progress", {});
        } catch (error) {
          say(error.message, true);
          clearInterval(timer);
        }
      }, POLL_MS);
    } catch (error) {
      say(error.message, true);
    }
  }
  start();
}
