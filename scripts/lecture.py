"""Make a notebook and slides of docs/from-rosenblatt-to-viterbi.md.

Usage: python scripts/lecture.py [--out build/lecture]

Writes tour.ipynb (to be opened anywhere in the repository) and slides.html, one file each with
its pictures. Slides turn by arrow keys, and a browser prints them to PDF, one a page. They have the
formulas, code, pictures and tables of the tour and its short paragraphs; of longer ones the first
sentence, those that name something (in italics or bold), and one that leads on with a colon. The
whole of it is shown under the slide by the key n, with what docs/teaching.md has to say and to ask.
Needs ``pip install -e '.[docs]'``.
"""

from __future__ import annotations

import argparse
import base64
import doctest
import html
import json
import re
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from site_pages import mathml

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
TOUR = ROOT / "docs" / "from-rosenblatt-to-viterbi.md"
TEACHING = ROOT / "docs" / "teaching.md"
ROOM = 584  # pixels of a slide below its title
SHORT = 330  # characters of a paragraph that is not cut
ROWS = 12  # of a table; half of it if they are long
LONG = 120  # characters of a row
MANY = 17  # lines of code: more than that are set smaller
_HIGH = {"picture": 362, "formula": 62}
_MARKDOWN = MarkdownIt().enable("table")
dollarmath_plugin(_MARKDOWN, allow_space=False, allow_digits=False, renderer=mathml)


class Piece(NamedTuple):
    """A paragraph, a block of code, a picture, a table, a formula, a heading."""

    kind: str
    text: str


def pieces(text: str) -> Iterator[Piece]:
    """What a page is made of, in its order."""
    text = re.sub(r'^<a id="[\w-]+"></a>\n', "", text, flags=re.MULTILINE)
    for part in re.split(r"(^```\w+\n.*?^```$)", text, flags=re.MULTILINE | re.DOTALL):
        if part.startswith("```"):
            language, code = part.removesuffix("```")[3:].split("\n", 1)
            yield Piece("python" if language == "python" else "sh", code.strip("\n") + "\n")
            continue
        for paragraph in filter(None, map(str.strip, re.split(r"\n\s*\n", part))):
            kinds = (("![", "picture"), ("#", "heading"), ("$$", "formula"), ("|", "table"))
            yield Piece(
                next((k for start, k in kinds if paragraph.startswith(start)), "text"), paragraph
            )


def embedded(text: str) -> str:
    """Markdown with its pictures inside, and its links leading to nowhere outside left out."""

    def inside(found: re.Match[str]) -> str:
        data = base64.b64encode((TOUR.parent / found[2]).read_bytes()).decode("ascii")
        return f'<img alt="{html.escape(found[1])}" src="data:image/svg+xml;base64,{data}">'

    text = re.sub(r"!\[([^\]]+)\]\(([^)]+)\)", inside, text)
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!http)[^)]*\)", r"\1", text)


# --------------------------------------------------------------------------- notebook
_ROOT = """\
# The examples are run in the root of the repository: the first folder from here up that is it.
import os
from pathlib import Path

here = Path.cwd()
os.chdir(next(each for each in (here, *here.parents) if (each / "corpora" / "sample").is_dir()))"""


def notebook(text: str) -> dict[str, Any]:
    """The tour as a notebook: a cell ends where the tour shows what comes out."""
    cells = [_cell("code", _ROOT, 0)]
    cells[-1] |= {"execution_count": None, "outputs": []}
    for piece in pieces(text):
        if piece.kind == "python":
            for source, wanted in examples(piece.text):
                cells.append(_cell("code", source, len(cells)))
                cells[-1] |= {"execution_count": None, "outputs": []}
                cells[-1]["metadata"] = {"seqtag": {"output": wanted}} if wanted else {}
        elif piece.kind == "sh":
            cells.append(_cell("markdown", f"```sh\n{piece.text}```", len(cells)))
        else:
            cells.append(_cell("markdown", embedded(piece.text), len(cells)))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def examples(code: str) -> Iterator[tuple[str, str]]:
    """Source and output of runs of examples; the last of each run is the one with output."""
    waiting = ""
    for example in doctest.DocTestParser().get_examples(code):
        waiting += example.source
        if example.want:
            yield waiting.rstrip("\n"), example.want
            waiting = ""
    if waiting:
        yield waiting.rstrip("\n"), ""


def _cell(kind: str, source: str, number: int) -> dict[str, Any]:
    return {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": source}


# --------------------------------------------------------------------------- slides
def slides(text: str, notes: dict[str, str]) -> str:
    """The tour as slides, in one page."""
    shown: list[str] = []
    for section in re.split(r"^(?=##? )", text, flags=re.MULTILINE):
        if section.strip() and not section.startswith("## Appendix"):  # to look up
            shown += _section(list(pieces(section)), notes)
    body = "\n".join(shown)
    return (
        f"<!doctype html>\n<html lang=en>\n{_HEAD}\n<body>\n{body}\n{_SCRIPT}\n</body>\n</html>\n"
    )


def _section(parts: list[Piece], notes: dict[str, str]) -> Iterator[str]:
    """The slides of a section: as few as there is room for, and evenly filled."""
    title = parts[0].text.lstrip("# ")
    units = list(_together(list(_cut(parts[1:]))))
    heights = [sum(map(_height, unit)) for unit in units]
    # best[i]: the least waste of the first i units, and where their last slide begins
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(units) + 1):
        ways = []
        for begin in range(end):
            left = ROOM - sum(heights[begin:end])
            if left >= 0 or begin == end - 1:
                ways.append((best[begin][0] + left**2, begin))
        best.append(min(ways))
    cuts = [len(units)]
    while cuts[-1]:
        cuts.append(best[cuts[-1]][1])
    note = notes.get(title.partition(".")[0], "")
    for begin, end in pairwise(reversed(cuts)):
        yield _slide(title, [piece for unit in units[begin:end] for piece in unit], note)
        note = ""


def _together(parts: list[Piece]) -> Iterator[list[Piece]]:
    """Pieces that stay on one slide: what leads on with a colon, a picture and its caption."""
    unit: list[Piece] = []
    for piece in parts:
        caption = unit and unit[-1].kind == "picture" and piece.text.startswith("*")
        leads = unit and unit[-1].kind == "text" and unit[-1].text.endswith(":")
        high = sum(map(_height, [*unit, piece]))
        if unit and (high > ROOM or not (caption or leads)):
            yield unit
            unit = []
        unit.append(piece)
    if unit:
        yield unit


def _cut(parts: list[Piece]) -> Iterator[Piece]:
    """The pieces, with long tables in parts of their own, and the items of lists one by one."""
    for piece in parts:
        lines = piece.text.split("\n")
        if piece.kind == "text" and piece.text.startswith("- "):
            items = re.split(r"\n(?=- )", piece.text)
            yield from (Piece("text", item) for item in items)
            continue
        if piece.kind != "table":
            yield piece
            continue
        head, rows = lines[:2], lines[2:]
        several = -(-len(rows) // (ROWS // 2 if _wide(rows) else ROWS))
        share = -(-len(rows) // several)
        for first in range(0, len(rows), share):
            yield Piece("table", "\n".join(head + rows[first : first + share]))


def _height(piece: Piece) -> float:
    """Pixels that a piece takes, as the style below has it."""
    lines = piece.text.count("\n") + 1
    if piece.kind == "text":
        shown = _plain(_spoken(piece.text))
        items = len(re.findall(r"^(?:\d+\.|-) ", piece.text, re.MULTILINE))
        return 20 + 34 * (items or 1) + 34 * (len(shown) // 92)
    if piece.kind in ("python", "sh"):
        return 40 + (17.6 if lines > MANY else 21) * lines
    if piece.kind == "table":
        return 26 * lines * (2 if _wide(piece.text.split("\n")) else 1)
    return _HIGH[piece.kind]


def _plain(text: str) -> str:
    """About as many characters as are to be seen."""
    return re.sub(r"\\[a-z]+|[{}$*`_]|\(#?[\w/.-]+\)", "", text)


def _wide(rows: list[str]) -> bool:
    """Whether rows of a table take two lines each."""
    return max(len(_plain(row)) for row in rows) >= LONG


_SENTENCE = re.compile(r"((?:\$[^$]*\$|`[^`]*`|[^.?]|[.?](?![\s*)]))+(?:[.?][*)]*|$))(?:\s+|$)")


def _spoken(text: str) -> str:
    """A short paragraph; of a long one the sentences that a slide needs."""
    if len(text) < SHORT or text.startswith(("1. ", "- ")):
        return text
    sentences = _SENTENCE.findall(text)
    return " ".join(
        sentence
        for i, sentence in enumerate(sentences)
        if i == 0
        or re.search(r"(?<![\w*])\*[^*\s]", re.sub(r"\$[^$]*\$|`[^`]*`", "", sentence))
        or "**" in sentence
        or (i == len(sentences) - 1 and sentence.endswith(":"))
    )


def _joined(held: list[Piece]) -> Iterator[Piece]:
    """The pieces, with neighbouring parts of one table put together again."""
    for kind, several in groupby(held, lambda piece: piece.kind):
        parts = list(several)
        heads = {tuple(part.text.split("\n")[:2]) for part in parts}
        if kind == "table" and len(heads) == 1:
            rows = [row for part in parts for row in part.text.split("\n")[2:]]
            parts = [Piece("table", "\n".join([*heads.pop(), *rows]))]
        yield from parts


def speaker_notes(text: str) -> dict[str, str]:
    """What docs/teaching.md has to say and to ask, by the number of the section."""
    part = text.split("## What to say, and what to ask")[1].split("\n## ")[0]
    found = re.findall(r"^- \*\*(\d+)\.\*\* (.*(?:\n  .*)*)", part, re.MULTILINE)
    return {number: " ".join(note.split()) for number, note in found}


def _slide(title: str, held: list[Piece], note: str) -> str:
    small = [
        _shown(Piece(p.kind, _spoken(p.text)) if p.kind == "text" else p) for p in _joined(held)
    ]
    below = [f"<div class=note>{_shown(Piece('text', note))}</div>"] if note else []
    below += [_shown(piece) for piece in held if piece.kind == "text"]
    aside = f"<aside>{''.join(below)}</aside>" if below else ""
    return f"<section><h2>{html.escape(title)}</h2><div>{''.join(small)}</div>{aside}</section>"


def _shown(piece: Piece) -> str:
    if piece.kind in ("python", "sh"):
        long = " class=long" if piece.text.count("\n") >= MANY else ""
        return f"<pre{long}>{html.escape(piece.text)}</pre>"
    return _MARKDOWN.render(embedded(piece.text))


_HEAD = """<head>
<meta charset=utf-8>
<meta name=viewport content="width=device-width">
<title>From Rosenblatt to Viterbi</title>
<style>
@page { size: 1280px 720px; margin: 0; }
* { box-sizing: border-box; }
body { margin: 0; background: #e6e6e2; color: #1d2126; font: 24px/1.4 system-ui, sans-serif; }
section { position: relative; width: 1280px; height: 720px; margin: 0 auto; padding: 36px 64px;
  background: #fff; overflow: hidden; break-after: page; break-inside: avoid; }
h2 { margin: 0 0 14px; font-size: 34px; color: #0b5fa5; }
p, ul, ol { margin: 10px 0; }
pre { margin: 10px 0; padding: 10px 16px; background: #f3f4f1; border-left: 4px solid #0b5fa5;
  font: 16px/1.3 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; }
pre.long { font-size: 13.5px; }
code { font: 0.85em ui-monospace, "DejaVu Sans Mono", monospace; }
table { border-collapse: collapse; font-size: 19px; line-height: 1.25; }
th, td { padding: 2px 14px; border-bottom: 1px solid #d9dcd6; text-align: left; }
img { display: block; max-width: 100%; height: 350px; margin: 0 auto; }
math[display=block] { margin: 8px 0; font-size: 1.1em; }
aside { display: none; }
.note { border-left: 4px solid #d55e00; padding-left: 14px; }
@media screen {
  section { display: none; }
  section.on { display: block; }
  .notes section.on { height: auto; min-height: 720px; overflow: visible; }
  .notes section.on aside { display: block; margin-top: 20px; border-top: 2px solid #d9dcd6;
    font-size: 19px; }
}
</style>
</head>"""
_SCRIPT = """<script>
const all = [...document.querySelectorAll("section")];
const go = n => {
  const to = Math.max(0, Math.min(all.length - 1, n));
  all.forEach((one, i) => one.classList.toggle("on", i === to));
  history.replaceState(null, "", "#" + (to + 1));
};
const at = () => all.findIndex(one => one.classList.contains("on"));
addEventListener("keydown", event => {
  if (["ArrowRight", "PageDown", " "].includes(event.key)) go(at() + 1);
  else if (["ArrowLeft", "PageUp"].includes(event.key)) go(at() - 1);
  else if (event.key === "Home") go(0);
  else if (event.key === "End") go(all.length - 1);
  else if (event.key === "n") document.body.classList.toggle("notes");
  else return;
  event.preventDefault();
});
addEventListener("click", event => go(at() + (event.clientX < innerWidth / 3 ? -1 : 1)));
addEventListener("hashchange", () => go(location.hash.slice(1) - 1));
go((location.hash.slice(1) || 1) - 1);
</script>"""


def main() -> None:
    """Write both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "lecture")
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    text = TOUR.read_text(encoding="utf-8")
    notes = speaker_notes(TEACHING.read_text(encoding="utf-8"))
    book = json.dumps(notebook(text), ensure_ascii=False, indent=1)
    (folder / "tour.ipynb").write_text(book + "\n", encoding="utf-8")
    (folder / "slides.html").write_text(slides(text, notes), encoding="utf-8")
    print(f"{folder / 'tour.ipynb'}\n{folder / 'slides.html'}")


if __name__ == "__main__":
    main()
