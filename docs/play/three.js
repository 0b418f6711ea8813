"use strict";
/* Three labels in the plane: an arrow for each, and the regions in which it wins. */
const three = (() => {
  const P = window.perceptron, LABELS = ["N", "V", "A"], NAMES = ["NOUN", "VERB", "ADJ"], KEYS = [0, 1, 2], FAR = 200;
  const PRESETS = {
    groups: ["Three groups", "5,1N4,-2N-1,5V2,6V-4,-3A-2,-5A6,3N-2,3V-6,-1A", {}],
    classes: ["Nouns, verbs, adjectives", "2,4N-1,2V3,-5A4,0N-2,1V3,-3A3,-2N-3,-3V4,-3A1,2N-1,0V2,-3A0,3N-1,-2V3,-3A2,2N-1,-4V3,-5A", {}, "day used old way asked new year get second water go small minutes see same week made last"],
    between: ["One group between two", "6,1N5,4N7,-2N0,1V1,3V-1,-2V-6,0A-5,3A-7,-3A", { "three-bias": true }],
    own3: ["Your own points"],
  };
  const DEFAULTS = { "three-decide": "last", "three-bias": false, "three-passes": 20 };
  const { ids, read, recall: restore, changed } = fieldsOf(DEFAULTS);
  let points = [], run = null, steps = [], scale = 1, at = 0, cursor = [0, 0];

  const parse = (text) =>
    [...text.matchAll(/(-?\d+),(-?\d+)([NVA])/g)].map(([, p, q, label]) => ({ x: [Number(p), Number(q)], y: LABELS.indexOf(label) }))
      .filter(({ x }) => x.every((each) => Math.abs(each) <= REACH));
  const written = () => points.map(({ x, y }) => `${x}${LABELS[y]}`).join("");
  const words = () => PRESETS[$("three-preset").value]?.[3]?.split(" ") ?? [];
  const nameOf = (example) => (words()[example] ? `“${words()[example]}”` : `x${below(example + 1)}`);
  const lift = ([p, q]) => (read("three-bias") ? [p, q, 1] : [p, q]);

  function choose(name, values = {}) {
    $("three-said").textContent = "";
    const [, text, settings] = PRESETS[name];
    points = parse(text);
    restore({ ...settings, ...values });
    $("three-preset").value = name;
    learn(whole(values.at, 1e6));
  }

  /** Visit all points, so many passes, and find the first pass without a mistake; 0 if there is none. */
  function passesOf(most) {
    const map = P.block(LABELS.length), n = points.length;
    const examples = Array.from({ length: most }, () => points.map(({ x, y }) => [lift(x), y])).flat();
    const { visits } = P.learnJoint(examples, map, P.search(KEYS, map));
    const quiet = visits.findIndex((_, i) => (i + 1) % n === 0 && visits.slice(i + 1 - n, i + 1).every(({ mistake }) => !mistake));
    return [visits, (quiet + 1) / Math.max(1, n)];
  }

  function learn(where) {
    const [visits, quiet] = passesOf(Math.max(1, whole(read("three-passes"), 100)));
    run = { converged: quiet > 0, later: null };
    steps = quiet ? visits.slice(0, quiet * points.length) : visits;
    const longest = Math.max(1, ...steps.filter(({ mistake }) => mistake).flatMap(({ w }) => KEYS.map((k) => P.length(w.slice(k * size(), k * size() + 2)))));
    scale = 1 / Math.ceil(longest / 6.5); // the same at every step, so that arrows can be compared
    $("three-time").max = steps.length;
    go(where);
  }

  const size = () => (read("three-bias") ? 3 : 2);
  function weights() {
    const C = at, visit = at ? steps[at - 1] : null, flat = visit ? visit.w : new Array(LABELS.length * size()).fill(0);
    const values = read("three-decide") === "mean" && visit ? flat.map((each, i) => each - visit.u[i] / C) : flat;
    return KEYS.map((k) => values.slice(k * size(), (k + 1) * size()));
  }

  // --------------------------------------------------------------------------- the picture
  /** The part of the plane where label k wins: the square, cut by a line for each other label. */
  function region(ws, k) {
    let shape = [[-8.5, -8.5], [8.5, -8.5], [8.5, 8.5], [-8.5, 8.5]];
    for (const j of KEYS) {
      const d = ws[k].map((each, i) => each - ws[j][i]), height = ([p, q]) => d[0] * p + d[1] * q + (d[2] ?? 0);
      if (j === k) continue;
      if (d.every((each) => each === 0)) {
        if (j < k) return [];
        continue;
      }
      shape = shape.flatMap((corner, i) => {
        const next = shape[(i + 1) % shape.length], [a, b] = [height(corner), height(next)];
        const cut = a * b < 0 ? [corner.map((each, c) => each + (a / (a - b)) * (next[c] - each))] : [];
        return [...(a >= 0 ? [corner] : []), ...cut];
      });
    }
    return shape;
  }

  function paint() {
    const ws = weights(), none = ws.every((w) => P.length(w) === 0), visit = at ? steps[at - 1] : null;
    const mean = read("three-decide") === "mean";
    const outline = (shape) => shape.map(([p, q]) => `${across(p).toFixed(1)},${up(q).toFixed(1)}`).join(" ");
    fill($("three-regions"), none ? draw("rect", { class: "nobody", width: SIDE, height: SIDE }) : KEYS.map((k) => draw("polygon", { class: `region label-${k}`, points: outline(region(ws, k)) })), scaffold(words().length ? WORD_FEATURES : undefined));
    const marks = [];
    const shown = (w) => w.slice(0, 2).map((each) => each * scale);
    if (visit?.mistake && !mean) {
      for (const [k, name] of [[visit.y, "+ x"], [visit.guess, "− x"]]) {
        const before = visit.before.slice(k * size(), k * size() + 2);
        marks.push(arrow([0, 0], shown(before), "old"), arrow(shown(before), shown(ws[k]), "change", name));
      }
    }
    points.forEach(({ x: [p, q], y }, i) => marks.push(mark(`label-${y}`, across(p), up(q)), words()[i] ? wordAt(points, i, words()) : draw("text", { class: "order", x: across(p) + 15, y: up(q) - 12 }, String(i + 1))));
    KEYS.forEach((k) => marks.push(arrow([0, 0], shown(ws[k]), `label-${k}`, NAMES[k])));
    if (scale < 1) marks.push(draw("text", { class: "order scale", x: 8, y: SIDE - 10 }, `arrows: 1/${Math.round(1 / scale)} of their length`));
    if (visit) {
      const [p, q] = points[(at - 1) % points.length].x;
      marks.push(draw("circle", { class: `ring ${visit.mistake ? "mistake" : ""}`, cx: across(p), cy: up(q), r: 19 }));
    }
    fill($("three-marks"), marks);
  }

  // --------------------------------------------------------------------------- the words
  const score = (visit, k) => P.dot(visit.before.slice(k * size(), (k + 1) * size()), visit.x);
  function caption() {
    if (!points.length) return "Click in the plane to add points, then step.";
    if (!at) return "Each label will get its own arrow. All arrows are 0 now, so every point is a tie.";
    const visit = steps[at - 1], { y, guess, mistake } = visit, name = nameOf((at - 1) % points.length);
    const said = mistake
      ? [`${name} is ${NAMES[y]}, but ${NAMES[guess]} has ${score(visit, guess) === score(visit, y) ? "the same score, and a tie is a mistake" : "a higher score"}. The arrow of ${NAMES[y]} moves toward ${name} and the arrow of ${NAMES[guess]} away from it; the third stays where it is.`]
      : [`${name} is ${NAMES[y]}, and ${NAMES[y]} has the highest score: no arrow moves.`];
    if (at === steps.length) said.push(run.converged ? `Pass ${at / points.length} had no mistake: the perceptron has converged.` : limit());
    if (read("three-decide") === "mean") said.push("The arrows are averages.");
    return said.join(" ");
  }

  /** What is known where the passes are used up. */
  function limit() {
    run.later ??= passesOf(FAR)[1];
    return `The limit of ${plural(steps.length / points.length, "pass", "passes")} is reached without convergence; ${run.later ? `with a higher limit, it would converge in pass ${run.later}` : `it would not converge in ${FAR} passes, either`}.`;
  }

  function tell() {
    const visit = at ? steps[at - 1] : null, ws = weights(), n = points.length;
    fill($("three-example"), !visit ? make("h3", {}, "Before the first example") : [
      make("h3", {}, `Pass ${Math.ceil(at / n)}, example ${((at - 1) % n) + 1} of ${n}`),
      KEYS.map((k) => make("p", {}, m("w", sub(NAMES[k]), " · x"), ` = ${number(score(visit, k))}`, k === visit.y ? " (gold)" : "", k === visit.guess ? " ← wins" : "")),
      make("p", {}, make("span", { class: `verdict ${visit.mistake ? "mistake" : "right"}` }, visit.mistake ? "mistake" : "right"), " ",
        visit.mistake ? [m("w", sub(NAMES[visit.y])), " + ", vector(visit.x), ", ", m("w", sub(NAMES[visit.guess])), " − ", vector(visit.x)] : "nothing changes")]);
    const group = (k) => points.filter(({ y }) => y === k), right = (k) => (visit ? group(k).filter(({ x }) => P.best(KEYS, (j) => P.dot(ws[j], lift(x)), k) === k).length : 0);
    const axes = words().length ? WORD_FEATURES : [m("p"), m("q")];
    fill($("three-weights"), table([["", "row"], ...axes.map((name) => [name]), ...(read("three-bias") ? [[m("b")]] : []), ["correct"]], KEYS.map((k) => [visit?.mistake && [visit.y, visit.guess].includes(k) ? "now" : null,
      [make("span", { class: `label-${k}` }, `w of ${NAMES[k]}`), ...ws[k].map((each) => number(each)), `${right(k)} of ${group(k).length}`]])));
    const rows = steps.slice(Math.max(0, at - 40), at).map(({ y, guess, mistake }, i, all) => {
      const t = at - all.length + i + 1;
      return [`${t === at ? "now" : ""} ${mistake ? "wrong" : ""}`, [jump(t, `To example ${t}`, () => go(t)), words()[(t - 1) % n] ?? m("x", sub(((t - 1) % n) + 1)), NAMES[y], NAMES[guess]]];
    });
    fill($("three-history"), table([["C"], ["example"], ["gold", "text"], ["predicted", "text said"]], rows.reverse()));
  }

  function go(where) {
    at = Math.min(Math.max(where, 0), steps.length);
    $("three-time").value = at;
    $("three-time").setAttribute("aria-valuetext", `${at} of ${steps.length} examples`);
    $("three-caption").textContent = caption();
    paint();
    tell();
    address.write("three", { points: written(), ...changed(), at: at || null });
  }

  function recall(values) {
    if (values.points === undefined) return choose(values.preset ?? "groups", values);
    points = parse(values.points);
    restore(values);
    const same = ([, text, settings]) => text === written() && (settings?.["three-bias"] ?? false) === read("three-bias");
    $("three-preset").value = (Object.entries(PRESETS).find(([, each]) => same(each)) ?? ["own3"])[0];
    return learn(whole(values.at, 1e6));
  }

  function mistakeFrom(t, by) {
    do t += by; while (t > 0 && t < steps.length && !steps[t - 1].mistake);
    return t;
  }
  const part = {
    first: () => go(0), back: () => go(at - 1), leapBack: () => go(mistakeFrom(at, -1)),
    last: () => go(steps.length), forth: () => go(at + 1), skip: (count) => go(at + count), left: () => steps.length - at, leap: () => go(mistakeFrom(at, 1)),
    atEnd: () => at >= steps.length,
  };
  const stepping = stepper($("three"), part, 650);

  // ----------------------------------------------------------------------------- points
  const tool = () => document.querySelector('input[name="three-tool"]:checked').value;
  function place(x, label) {
    if (isGuided()) return;
    if (x.some((each) => Math.abs(each) > REACH)) return;
    const known = points.findIndex((point) => String(point.x) === String(x)), name = `(${x.map((each) => number(each)).join(", ")})`;
    if (label === "erase" && known >= 0) points.splice(known, 1);
    else if (label !== "erase" && known < 0) points.push({ x, y: Number(label) });
    else if (label !== "erase") points[known] = { x, y: Number(label) };
    $("three-said").textContent = label === "erase" ? (known < 0 ? `No point at ${name}` : `Erased ${name}`) : `Point at ${name} is ${NAMES[Number(label)]}`;
    $("three-preset").value = "own3";
    learn(0);
  }
  function moveCursor(x) {
    cursor = x.map((each) => Math.min(Math.max(each, -REACH), REACH));
    furnish(document.querySelector("#three-plot .cursor"), { x: across(cursor[0]) - 17, y: up(cursor[1]) - 17 }, []);
  }
  $("three-plot").addEventListener("click", (event) => {
    moveCursor(rounded(spotOf($("three-plot"), event)));
    place([...cursor], tool());
  });
  $("three-plot").addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const label = { 1: "0", 2: "1", 3: "2", delete: "erase", backspace: "erase", enter: tool(), " ": tool() }[event.key.toLowerCase()];
    if (event.ctrlKey || event.metaKey || event.altKey || (!move && label === undefined)) return;
    event.preventDefault();
    event.stopPropagation();
    if (label !== undefined) return place([...cursor], label);
    moveCursor(cursor.map((each, i) => each + move[i]));
    $("three-said").textContent = `(${cursor.map((each) => number(each)).join(", ")})`;
  });
  offer($("three-preset"), PRESETS, choose);
  $("three-clear").addEventListener("click", () => {
    points = [];
    $("three-preset").value = "own3";
    learn(0);
  });
  for (const id of ids) $(id).addEventListener("change", () => learn(id === "three-decide" ? at : 0));
  $("three-time").addEventListener("input", () => go(Number($("three-time").value)));
  moveCursor([0, 0]);
  return { recall, presets: PRESETS, show: () => go(at), act: stepping.act, stop: stepping.stop, section: ["three-labels"] };
})();
