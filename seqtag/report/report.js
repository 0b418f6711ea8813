/* The report: sorts tables, moves in the matrix, shows the sentences of a confusion. */
{
  const data = JSON.parse(document.getElementById("data").textContent);
  const browser = document.getElementById("browser");
  const SHOWN_AT_ONCE = 20;
  let opener = null; // the button that the browser was opened by

  // ------------------------------------------------------------- sentences with their errors

  function labels(gold, predicted) {
    // The direction of a sentence is that of its words: labels with their own do not count.
    return [make("small", { class: "gold", dir: "auto" }, gold), make("small", { class: "predicted", dir: "auto" }, predicted)];
  }

  function sentenceOf(error, component) {
    const sentence = data.sentences[error.sentence];
    const [golds, predictions] = component.labels[error.sentence];
    const rival = error.why.written_rival === error.gold ? "gold" : null;
    const why = explanationTable(error.why, ["predicted", rival]);
    why.hidden = true;
    const words = sentence.words.map((word, i) => {
      const gold = golds[i], predicted = predictions[i];
      if (i === error.token) {
        const button = make("button", {
          type: "button", class: "target", "aria-expanded": "false",
          title: "why this label?",
        }, word, ...labels(gold, predicted));
        button.addEventListener("click", () => {
          why.hidden = !why.hidden;
          button.setAttribute("aria-expanded", String(!why.hidden));
        });
        return button;
      }
      if (gold === predicted) return make("span", { title: gold }, word);
      return make("span", { class: "wrong" }, word, ...labels(gold, predicted));
    });
    return make("li", {},
      make("div", { class: "quiet" }, sentence.at),
      make("div", { class: "sentence", dir: "auto" }, ...words),
      why);
  }

  function show(gold, predicted, button) {
    const section = button.closest(".component");
    const component = data.components[section.dataset.component];
    const matches = (a, b) => a === gold && b === predicted;
    const errors = component.errors.filter((error) => matches(error.gold, error.predicted));
    const [, , total] = component.totals.find(([a, b]) => matches(a, b)) || [0, 0, errors.length];
    button.closest("section").after(browser);
    const list = make("ol", { id: "errors" });
    const more = make("button", { type: "button" }, "Show more");
    let shown = 0;
    const extend = () => {
      const next = errors.slice(shown, shown + SHOWN_AT_ONCE).map((error) => sentenceOf(error, component));
      list.append(...next);
      shown += next.length;
      more.hidden = shown >= errors.length;
      return next[0];
    };
    more.addEventListener("click", () => extend().querySelector("button").focus());
    const close = make("button", { type: "button" }, "Close");
    close.addEventListener("click", hide);
    extend();
    browser.replaceChildren(
      make("h3", {}, `${section.dataset.component}: gold `, make("bdi", { class: "gold" }, gold), ", predicted ",
        make("bdi", { class: "predicted" }, predicted)),
      make("div", { class: "bar" },
        make("span", { class: "quiet" },
          errors.length === total ? `${total} tokens` : `${errors.length} of ${total} tokens; the others are not on this page`,
          ". Below each word: its gold label, then the predicted one. Select a framed word for an explanation."),
        close),
      list, more);
    document.querySelectorAll("[aria-pressed]").forEach((each) => each.removeAttribute("aria-pressed"));
    button.setAttribute("aria-pressed", "true");
    opener = button;
    browser.hidden = false;
    browser.focus({ preventScroll: true });
    browser.scrollIntoView({ block: "start" });
  }

  function hide() {
    browser.hidden = true;
    if (opener) {
      opener.removeAttribute("aria-pressed");
      opener.focus();
    }
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-gold]");
    if (button) show(button.dataset.gold, button.dataset.predicted, button);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && browser && !browser.hidden) hide();
  });

  // ------------------------------------------------------------- moving in the matrix
  // One cell is a tab stop; arrow keys go to the next cell with errors in their direction.
  for (const matrix of document.querySelectorAll(".matrix")) {
    const grid = [...matrix.tBodies[0].rows].map((row) =>
      [...row.cells].slice(1).map((cell) => cell.querySelector("button:not(:disabled)")));
    const buttons = grid.flat().filter(Boolean);
    buttons.forEach((button, i) => { button.tabIndex = i ? -1 : 0; });
    const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    matrix.addEventListener("keydown", (event) => {
      const step = steps[event.key];
      let row = grid.findIndex((cells) => cells.includes(event.target));
      if (!step || row < 0) return;
      let column = grid[row].indexOf(event.target);
      event.preventDefault();
      do {
        row += step[0];
        column += step[1];
      } while (grid[row] && column >= 0 && column < grid[row].length && !grid[row][column]);
      const next = grid[row] && grid[row][column];
      if (next) next.focus();
    });
    matrix.addEventListener("focusin", (event) => {
      if (!buttons.includes(event.target)) return;
      buttons.forEach((button) => { button.tabIndex = button === event.target ? 0 : -1; });
    });
  }

  // ------------------------------------------------------------- tables that sort
  for (const table of document.querySelectorAll("table.sorts")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = make("button", { type: "button" }, head.textContent);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        const down = column ? before !== "descending" : before === "ascending"; // names from A on
        const value = (row) => row.cells[column].textContent;
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => column ? value(a) - value(b) : value(a).localeCompare(value(b)));
        if (down) rows.reverse();
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        table.tBodies[0].append(...rows);
      });
    });
  }
}
