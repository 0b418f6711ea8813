"use strict";
/* What all parts share: elements, numbers as text, steppers, the address. */
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

/** Give an element attributes and children; strings become text, never HTML. */
function furnish(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => ![null, undefined, false, 0].includes(child)));
  return element;
}
const make = (name, attributes, ...children) => furnish(document.createElement(name), attributes, children);
const draw = (name, attributes, ...children) => furnish(document.createElementNS(SVG, name), attributes, children);
const fill = (element, ...children) => (element.replaceChildren(), furnish(element, null, children));
const m = (...children) => make("span", { class: "m" }, ...children); // mathematics
const sub = (text) => make("sub", {}, String(text));

/** A table: heads [what, class], rows [class, cells]; a column of the class "row" has heads of rows. */
function table(heads, rows, attributes = {}) {
  const head = make("tr", {}, heads.map(([what, kind]) => make("th", { scope: "col", class: kind === "row" ? "text" : kind }, what)));
  const cell = (what, kind) => (kind === "row" ? make("th", { scope: "row" }, what) : make("td", { class: kind }, what));
  const body = rows.map(([kind, cells]) => make("tr", { class: kind }, cells.map((what, i) => (what.tagName === "TD" ? what : cell(what, heads[i][1])))));
  return make("div", { class: "wide" }, make("table", { class: "numbers", ...attributes }, make("thead", {}, head), make("tbody", {}, body)));
}

/** An element that does something: when it is clicked, a button; when it is changed, a field. */
function acting(name, attributes, act, ...children) {
  const made = make(name, attributes, ...children);
  made.addEventListener(name === "button" ? "click" : "change", () => act(made.value));
  return made;
}
const button = (text, attributes, act) => acting("button", { type: "button", ...attributes }, act, String(text));
const jump = (text, name, act) => button(text, { class: "jump", "aria-label": name }, act); // like a link, in a table

/** The fields of a part by their ids, with what they hold at first. */
function fieldsOf(defaults) {
  const ids = Object.keys(defaults), said = (value) => (typeof value === "boolean" ? String(Number(value)) : String(value));
  const read = (id) => ($(id).type === "checkbox" ? $(id).checked : $(id).value);
  function put(id, value) {
    if ($(id).type === "checkbox") $(id).checked = said(value) === "1";
    else if ($(id).type === "number") $(id).value = /^\d+$/.test(value) ? value : defaults[id];
    else $(id).value = value;
    if (!read(id) && $(id).type !== "checkbox") $(id).value = defaults[id]; // it is none of the choices
  }
  return {
    ids, read,
    recall: (values) => ids.forEach((id) => put(id, values[id] ?? defaults[id])),
    changed: () => Object.fromEntries(ids.map((id) => [id, said(read(id)) === said(defaults[id]) ? null : said(read(id))])),
  };
}

/** A choice among examples, by name; the last of them is one's own. */
function offer(select, examples, choose) {
  fill(select, Object.entries(examples).map(([key, [name]]) => make("option", { value: key }, name)));
  select.addEventListener("change", () => examples[select.value].length > 1 && choose(select.value));
}
const whole = (text, most) => Math.min(Math.max(Math.round(Number(text)) || 0, 0), most);

/** A number as people write it: a true minus, at most so many decimals. */
function number(value, decimals = 2) {
  if (value === Infinity) return "∞";
  const text = String(Math.round(value * 10 ** decimals) / 10 ** decimals);
  return (text === "-0" ? "0" : text).replace("-", "−");
}
const vector = (values, decimals = 2) => `(${values.map((value) => number(value, decimals)).join(", ")})`;
const plural = (count, noun, many = `${noun}s`) => `${count} ${count === 1 ? noun : many}`;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** The lecture, of which every part shows a piece; the build of the site makes it a link to its page. */
const LECTURE = "../from-rosenblatt-to-viterbi.md";
const SECTIONS = {
  "the-task": "1. The task", "one-neuron": "2. One neuron and one line", "why-it-stops": "3. Why it stops",
  "when-it-does-not-stop": "4. When it does not stop", "three-labels": "5. Three labels", "a-sentence": "6. A sentence",
  "structured-perceptron": "7. The structured perceptron", chunks: "8. Chunks", features: "9. Features",
  "does-it-generalize": "10. Does it generalize?", theory: "11. How good can it get?", neighbors: "12. Neighbors", seqtag: "13. What seqtag adds",
};
const lectureLink = (anchor) => make("a", { href: `${LECTURE}#${anchor}`, target: EMBED ? "_top" : null }, `Lecture, section ${SECTIONS[anchor].replace(".", ":")}`);

/** What the two numbers of a word count: what is to its left, and what is to its right. */
const WORD_FEATURES = ["left", "right"];

/** The figure that ?embed= asks for, if any. */
const EMBED = new URLSearchParams(location.search).get("embed");

/** In the story and in figures of other pages, points stay as they are. */
const isGuided = () => document.body.classList.contains("guided");

/** A list of words: "x₁", "x₁ and x₂", "x₁, x₂, and x₃". */
function listed(words) {
  if (words.length < 3) return words.join(" and ");
  return `${words.slice(0, -1).join(", ")}, and ${words.at(-1)}`;
}
const below = (n) => String(n).replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]);

const ICONS = {
  first: "M5 5h3v14H5zM20 5v14L9 12z", leapBack: "M12 5v14L3 12zM21 5v14L12 12z", back: "M18 4v16L5 12z",
  forth: "M6 4v16L19 12z", leap: "M12 5v14L21 12zM3 5v14L12 12z", last: "M16 5h3v14H16zM4 5v14L15 12z",
};

/**
 * The buttons of a part; `part` has first, leapBack, back, forth, leap, last and atEnd. Where it also has left() and
 * skip(count), a run takes at most 13 seconds: the more steps are left, the more of them in each tick.
 */
function stepper(section, part, pace) {
  const running = section.querySelector('[data-do="run"]'), again = part.again ?? part.first;
  let timer = null;
  const turn = (on) => {
    clearInterval(timer);
    const wanted = calm.matches ? 1200 : pace, each = part.left ? Math.min(wanted, 13_000 / Math.max(1, part.left())) : wanted;
    const tick = Math.max(each, Math.min(wanted, calm.matches ? 400 : 90)), count = Math.ceil(tick / each);
    const move = () => (count > 1 ? part.skip(count) : part.forth());
    timer = on ? setInterval(() => (part.atEnd() ? stop() : move()), tick) : null;
    running.textContent = on ? "Pause" : "Run";
    running.setAttribute("aria-pressed", String(on));
    address.hold(on);
  };
  const stop = () => timer !== null && turn(false);
  const run = () => {
    if (part.atEnd()) again();
    turn(true);
  };
  const act = (name) => {
    if (name === "run") return timer === null ? run() : stop();
    stop();
    part[name]();
  };
  for (const each of section.querySelectorAll("[data-do]")) {
    each.addEventListener("click", () => act(each.dataset.do));
    if (each !== running) each.append(draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, draw("path", { d: ICONS[each.dataset.do] })));
  }
  section.addEventListener("input", stop); // whatever else is done ends a run
  section.addEventListener("click", (event) => event.target.closest("[data-do]") || stop());
  return { act, stop };
}

/** What the address says after its #: a part, then what is set in it; or the name of an example. */
const address = {
  part: null, // only the one that is open writes
  prefix: {}, // the step of the story
  held: false, pending: null, // a run writes once, at its end: browsers refuse many changes in a short time
  read: () => Object.fromEntries(new URLSearchParams(location.hash.slice(1))),
  hold(on) {
    address.held = on;
    if (!on && address.pending) address.write(...address.pending);
  },
  write(part, values) {
    if (EMBED || part !== address.part) return;
    address.pending = address.held ? [part, values] : null;
    if (address.held) return;
    const set = new URLSearchParams(Object.entries({ ...address.prefix, ...values }).filter(([, value]) => value !== null));
    const text = String(set).replace(/%(2C|2F|3A|3B)/g, decodeURIComponent);
    try {
      history.replaceState(null, "", `#${part}&${text}`);
    } catch {} // some browsers refuse this for files, or so often; the page works without
  },
};
