"use strict";
/* The parts, of which one is open, the story around them, and the keys. */
const parts = { plane, three, update, lattice, tagger };
const isExample = (name, preset) => Object.hasOwn(parts[name].presets, preset) && parts[name].presets[preset].length > 1;
let current = "plane";

/** Show a part; where values are given, with these. */
function openPart(name, values) {
  current = name;
  address.part = null; // the address is written once, when all is open
  for (const each of Object.keys(parts)) {
    $(each).hidden = each !== name;
    parts[each].stop();
  }
  for (const each of ["story", ...Object.keys(parts)]) {
    $(`open-${each}`).setAttribute("aria-current", (story.at() === null ? each === name : each === "story") ? "page" : "false");
  }
  fill($("part-link"), parts[name].section.flatMap((anchor, i) => [i ? " · " : "", lectureLink(anchor)]));
  if (values) parts[name].recall(values);
  address.part = name;
  parts[name].show();
}
const openAlone = (name, values) => (story.open(null), openPart(name, values));
const openStep = (k, values) => openPart(...story.open(k, values));

for (const name of Object.keys(parts)) $(`open-${name}`).addEventListener("click", () => openAlone(name));
$("open-story").addEventListener("click", () => openStep(story.last()));
function turn(k) {
  openStep(k);
  scrollTo(0, 0);
  $("guide-title").focus();
}
$("guide-back").addEventListener("click", () => turn(story.at() - 1));
$("guide-forth").addEventListener("click", () => turn(story.at() + 1));
$("guide-step").addEventListener("change", () => turn(Number($("guide-step").value)));

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=checkbox]), select, textarea")) return;
  const leap = event.shiftKey;
  const name = { ArrowRight: leap ? "leap" : "forth", ArrowLeft: leap ? "leapBack" : "back", Home: "first", End: "last" }[event.key] ??
    { n: leap ? "leap" : "forth", p: leap ? "leapBack" : "back", r: "run" }[event.key.toLowerCase()];
  if (!name) return;
  event.preventDefault();
  parts[current].act(name);
});

/** Open what a name stands for: a step of the story, an example, or a part. */
function openNamed(name, values = {}) {
  const step = story.numberOf(name), part = Object.keys(parts).find((each) => isExample(each, name));
  if (step >= 0) openStep(step);
  else if (part) openAlone(part, { preset: name });
  else if (Object.hasOwn(parts, name) && story.numberOf(values.story) >= 0) openStep(story.numberOf(values.story), values);
  else if (Object.hasOwn(parts, name)) openAlone(name, values);
  else openStep(0);
}

function start() {
  const values = address.read();
  for (const each of Object.keys(parts)) parts[each].recall({}); // the address is not written: no part is open
  openNamed(EMBED ?? Object.keys(values)[0] ?? "", EMBED ? {} : values);
  if (EMBED) {
    document.body.classList.add("embed");
    if (story.at() === null) story.stage({}); // the picture alone
    $("embed-task").hidden = story.at() === null;
    $("embed-task").textContent = story.STEPS[story.at()]?.short ?? "";
    $("embed-link").hidden = false;
    fill($("embed-link"), make("a", { href: `index.html#${EMBED}`, target: "_top" }, "Open this with all controls"));
  }
}
addEventListener("hashchange", () => {
  address.part = null;
  start();
});
start();
