"use strict";
/* The plane from -8 to 8 as a picture of 680 by 680: its grid, points, and arrows. */
const REACH = 8, UNIT = 40, SIDE = 680;
const across = (p) => SIDE / 2 + UNIT * p, up = (q) => SIDE / 2 - UNIT * q;

function scaffold(names = ["p", "q"]) {
  return Array.from({ length: 2 * REACH + 1 }, (_, i) => i - REACH).map((k) => [
    draw("line", { class: k ? "grid" : "axis", x1: across(k), x2: across(k), y1: 0, y2: SIDE }),
    draw("line", { class: k ? "grid" : "axis", y1: up(k), y2: up(k), x1: 0, x2: SIDE }),
    k && k % 4 === 0 && draw("text", { x: across(k), y: up(0) + 20, "text-anchor": "middle" }, number(k)),
    k && k % 4 === 0 && draw("text", { x: across(0) - 8, y: up(k) + 5, "text-anchor": "end" }, number(k)),
  ]).concat([[SIDE - 6, up(0) - 8, "end"], [across(0) + 8, 20, "start"]].map(([x, y, anchor], i) => draw("text", { class: "name", x, y, "text-anchor": anchor }, names[i])));
}

/** The mark of a class: a disc, a square or a triangle. */
function mark(kind, cx, cy, r = 11) {
  if (kind === "plus" || kind === "label-0") return draw("circle", { class: `point ${kind}`, cx, cy, r });
  if (kind === "label-2") return draw("path", { class: `point ${kind}`, d: `M${cx} ${cy - 1.15 * r}L${cx + 1.1 * r} ${cy + 0.8 * r}H${cx - 1.1 * r}Z` });
  return draw("rect", { class: `point ${kind}`, x: cx - 0.88 * r, y: cy - 0.88 * r, width: 1.76 * r, height: 1.76 * r });
}

/** How far the mark of a point is drawn to the right of its place: where another class has a point there. */
const aside = (points, i) => (points.slice(0, i).some(({ x, y }) => String(x) === String(points[i].x) && y !== points[i].y) ? 22 : 0);

/** The word at a point, above it, or below it where that of a neighbor is above; words at one place share a line. */
function wordAt(points, i, words) {
  const { x: [p, q], y } = points[i], here = (k) => String(points[k].x) === String(points[i].x) && points[k].y === y;
  const same = words.map((_, k) => k).filter((k) => k < points.length && here(k));
  if (same[0] !== i) return null;
  const shift = aside(points, i);
  const crowded = points.slice(0, i).some(({ x }) => x[1] === q && x[0] !== p && Math.abs(x[0] - p) <= 1);
  return draw("text", { class: "order word-name", x: across(p) + shift + (shift ? 14 : 0), y: up(q) + (crowded ? 28 : shift ? 5 : -15), style: shift ? "text-anchor: start" : null }, same.map((k) => words[k]).join(", "));
}

/** An arrow with its name beyond its head; an old one, or a change, has it beside its middle. */
function arrow(from, to, kind, name) {
  const [a, b, c, d] = [across(from[0]), up(from[1]), across(to[0]), up(to[1])];
  const size = Math.hypot(c - a, d - b);
  if (size < 1) return [];
  const [ux, uy] = [(c - a) / size, (d - b) / size], head = Math.min(16, size);
  const [bx, by] = [c - head * ux, d - head * uy];
  const corner = (side) => `${bx - side * uy * head * 0.4} ${by + side * ux * head * 0.4}`;
  const spot = /old|change/.test(kind) ? [(a + c) / 2 - 26 * uy, (b + d) / 2 + 26 * ux] : [c + 20 * ux, d + 20 * uy]; // beside it, or before it
  const away = (value) => Math.min(Math.max(value, 24), SIDE - 24);
  return [
    draw("line", { class: `arrow ${kind}`, x1: a, y1: b, x2: bx, y2: by }),
    draw("path", { class: `head ${kind}`, d: `M${c} ${d}L${corner(1)}L${corner(-1)}Z` }),
    name && draw("text", { class: `name ${kind}`, "text-anchor": "middle", x: away(spot[0]), y: away(spot[1]) + 7 }, name),
  ];
}

/** Where an event is in a plane, in its units. */
function spotOf(plot, event) {
  const box = plot.getBoundingClientRect(), unit = (UNIT * (box.width - 2)) / SIDE; // without its border
  return [(event.clientX - box.left - box.width / 2) / unit, (box.top + box.height / 2 - event.clientY) / unit];
}
const rounded = (x) => x.map((each) => Math.round(each) + 0);
