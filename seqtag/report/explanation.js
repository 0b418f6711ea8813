"use strict";
/* Elements, and the table that explains a label: for the report and for the page of the server. */

/** An element with attributes and children; strings become text, never HTML. */
function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/**
 * What decided between a label and its rival: {label, rival, margin, rows: [[feature, a, b]], rest}.
 * The colors are classes of the two.
 */
function explanationTable(why, colors) {
  const number = (value) => String(Math.round(value * 100) / 100);
  const signed = (value) => (value > 0 ? "+" : "") + number(value);
  const row = (name, a, b) => {
    const side = a > b ? colors[0] : a < b ? colors[1] : null;
    return make("tr", {},
      make("td", { class: "text" }, make("bdi", {}, name)),
      make("td", {}, number(a)),
      make("td", {}, number(b)),
      make("td", { class: side }, signed(a - b)));
  };
  const rows = why.rows.map((each) => row(...each));
  const [more, a, b] = why.rest;
  if (more) rows.push(row(`${more} more`, a, b));
  const rival = why.rival === null ? "–" : why.rival;
  const margin = why.margin === null ? "no other label is allowed here" : `margin ${number(why.margin)}`;
  return make("div", { class: "explanation" },
    make("p", {}, make("b", { class: colors[0], dir: "auto" }, why.label), " rather than ",
      make("b", { class: colors[1], dir: "auto" }, rival), `: ${margin}`),
    make("div", { class: "wide" }, make("table", {},
      make("thead", {}, make("tr", {},
        make("th", { scope: "col", class: "text" }, "feature"),
        make("th", { scope: "col" }, make("bdi", {}, why.label)),
        make("th", { scope: "col" }, make("bdi", {}, rival)),
        make("th", { scope: "col" }, "difference"))),
      make("tbody", {}, ...rows))));
}
