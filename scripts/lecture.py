"""Make a notebook of the lecture, and slides as a page and as a PDF.

Usage: python scripts/lecture.py [--out build/lecture] [--wheel ADDRESS]

tour.ipynb is docs/from-rosenblatt-to-viterbi.md with its outputs. It runs anywhere in a clone, and
installs seqtag there if need be. With ``--wheel`` it runs anywhere else: it installs that wheel
(an address or a path, as for ``pip install``) and contains the sample corpus.

slides.html and slides.pdf are docs/slides.md. Lines of three hyphens separate the slides, a heading
of level 1 begins a section, and speaker notes follow a line ``Note:``. Of a picture,
``name.svg#x,y,width,height`` shows a part. In the page, arrow keys turn slides, and n shows notes.

Needs ``pip install -e '.[docs]'``; the PDF also needs ``'.[dev]'`` and a browser.
"""

from __future__ import annotations

import argparse
import base64
import doctest
import html
import json
import re
import shlex
import shutil
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from site_pages import mathml

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
_PICTURE = re.compile(r"!\[([^\]]+)\]\(([^)#]+)(?:#([\d,]+))?\)")
_SIZE = re.compile(r'width="[^"]+" height="[^"]+" viewBox="([^"]+)"')
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!http)[^)]*\)")
_NOT_SHOWN = re.compile(r"^(?:<a id=.*|\[.*\]\(play/index\.html\?embed=.*)\n+", re.MULTILINE)
_MARKDOWN = MarkdownIt().enable("table")
dollarmath_plugin(_MARKDOWN, allow_space=False, allow_digits=False, renderer=mathml)


def embedded(text: str) -> str:
    """Return Markdown with its pictures inside, and without links to files."""

    def inside(found: re.Match[str]) -> str:
        drawn = (DOCS / found[2]).read_text(encoding="utf-8")
        size = _SIZE.search(drawn)
        assert size is not None, found[2]
        box = found[3].replace(",", " ") if found[3] else size[1]
        width, height = box.split()[2:]
        if found[3]:
            part = f'width="{width}" height="{height}" viewBox="{box}"'
            drawn = drawn.replace(size[0], part, 1)
        data = base64.b64encode(drawn.encode()).decode("ascii")
        kind = ' class="tall"' if float(width) < 1.7 * float(height) else ""
        return f'<img{kind} alt="{html.escape(found[1])}" src="data:image/svg+xml;base64,{data}">'

    return _LINK.sub(r"\1", _PICTURE.sub(inside, text))


# --------------------------------------------------------------------------- notebook
_CLONE = """\
# The examples run in the root of the repository: the first folder from here up that has the sample
# corpus. There seqtag is installed, unless it already is.
import os
import site
import sysconfig
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

here = Path.cwd()
os.chdir(next(each for each in (here, *here.parents) if (each / "corpora" / "sample").is_dir()))
try:
    version("seqtag-perceptron")
except PackageNotFoundError:
    %pip install -q -e .
    site.addsitedir(sysconfig.get_path("purelib"))  # this session finds it, too
"""
_SAMPLE = '''\
# @title The sample corpus of seqtag (CC0), which the examples read
import base64
import json
import zlib
from pathlib import Path

packed = """
{packed}"""
folder = Path("corpora", "sample")
folder.mkdir(parents=True, exist_ok=True)
for name, text in json.loads(zlib.decompress(base64.b64decode(packed))).items():
    (folder / name).write_text(text, encoding="utf-8")
'''


def notebook(text: str, wheel: str | None) -> dict[str, Any]:
    """Return the lecture as a notebook; a cell ends where the lecture shows its output."""
    cells = [_code(_CLONE)]
    if wheel is not None:
        cells = [
            _code(f"%pip install -q {shlex.quote(wheel)}"),
            _code(_SAMPLE.format(packed=_sample())),
        ]
        cells[1]["metadata"] = {"cellView": "form", "jupyter": {"source_hidden": True}}  # folded
    parts = re.split(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    for number, part in enumerate(parts):
        if number % 2:
            cells += [_code(*example) for example in examples(part)]
        else:
            source = embedded(_NOT_SHOWN.sub("", part)).strip()
            cells.append({"cell_type": "markdown", "metadata": {}, "source": source})
    run = [cell for cell in cells if cell["cell_type"] == "code"]
    for count, cell in enumerate(run, 1):
        cell["execution_count"] = count
    for count, cell in enumerate(cells):
        cell["id"] = f"cell-{count}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _code(source: str, output: str = "") -> dict[str, Any]:
    """Return a cell with its output, which a test compares with what it computes."""
    outputs = [{"output_type": "stream", "name": "stdout", "text": output}] if output else []
    return {"cell_type": "code", "metadata": {}, "source": source.rstrip("\n"), "outputs": outputs}


def examples(code: str) -> Iterator[tuple[str, str]]:
    """Yield source and output of runs of examples; only the last of each run has output."""
    waiting = ""
    for example in doctest.DocTestParser().get_examples(code):
        waiting += example.source
        if example.want:
            yield waiting, example.want
            waiting = ""
    if waiting:
        yield waiting, ""


def _sample() -> str:
    """Return the files of the sample corpus, packed as text."""
    files = sorted((ROOT / "corpora" / "sample").iterdir())
    texts = json.dumps({path.name: path.read_text(encoding="utf-8") for path in files})
    return base64.encodebytes(zlib.compress(texts.encode(), 9)).decode("ascii")


# --------------------------------------------------------------------------- slides
def slides(text: str) -> str:
    """Return the slides as one page."""
    section, shown = "", []
    for number, slide in enumerate(re.split(r"^---\n", text, flags=re.MULTILINE), 1):
        body, _, note = slide.strip().partition("\nNote:\n")
        if body.startswith("# "):
            section, _, body = body.partition("\n")
        front, notes = _html(section + "\n" + body), _html(note)
        shown.append(f"<section data-number={number}>{front}<aside>{notes}</aside></section>")
    return f"<!doctype html>\n<html lang=en>\n{_HEAD}\n<body>\n{''.join(shown)}\n{_SCRIPT}\n</html>"


def _html(text: str) -> str:
    """Return Markdown as HTML, with the prompts of examples set apart."""
    text = re.sub(r"\n\n```$", "\n```", text, flags=re.MULTILINE)  # examples end with a blank line
    prompt = r"^((?:<pre><code[^>]*>)?)(&gt;&gt;&gt;|\.\.\.) "
    return re.sub(prompt, r"\1<s>\2</s> ", _MARKDOWN.render(embedded(text)), flags=re.MULTILINE)


_HEAD = """<head>
<meta charset=utf-8>
<meta name=viewport content="width=1280">
<title>From Rosenblatt to Viterbi</title>
<style>
@page { size: 1280px 720px; margin: 0; }
* { box-sizing: border-box; }
body { margin: 0; background: #e6e6e2; color: #1d2126; font: 30px/1.35 system-ui, sans-serif; }
section { position: relative; width: 1280px; height: 720px; margin: 0 auto; padding: 28px 64px;
  background: #fff; overflow: hidden; break-after: page; break-inside: avoid; }
section::after { content: attr(data-number); position: absolute; right: 28px; bottom: 16px;
  font-size: 18px; color: #5c6670; }
h1 { margin: 0; font-size: 20px; font-weight: normal; color: #5c6670; }
h2 { margin: 0 0 20px; font-size: 40px; line-height: 1.2; color: #0b5fa5; }
section:first-of-type h1 { margin: 90px 0 40px; font-size: 64px; font-weight: bold;
  color: #0b5fa5; }
p, ul, ol, pre, table, blockquote { margin: 16px 0; }
li { margin: 8px 0; }
blockquote { padding-left: 20px; border-left: 5px solid #d55e00; }
blockquote p { margin: 0; }
pre { padding: 12px 16px; background: #f3f4f1; border-left: 5px solid #0b5fa5;
  font: 24px/1.35 ui-monospace, "DejaVu Sans Mono", monospace; }
pre code { font: inherit; }
code { font: 0.85em ui-monospace, "DejaVu Sans Mono", monospace; }
s { color: #8a939b; text-decoration: none; }
table { border-collapse: collapse; font-size: 28px; }
th, td { padding: 6px 20px; border-bottom: 1px solid #d9dcd6; text-align: left; }
img { display: block; width: 100%; max-height: 410px; margin: 0 auto; }
img.tall { float: right; width: auto; height: 560px; max-height: none; margin-left: 32px; }
math { font-family: "Latin Modern Math", "STIX Two Math", "Cambria Math", "DejaVu Math TeX Gyre", math; }
math[display=block] { margin: 20px 0; font-size: 1.15em; }
aside { display: none; clear: both; }
aside pre { font-size: 17px; }
@media print { body { zoom: 1 !important; } }
@media screen {
  section { display: none; }
  section.on { display: block; }
  .notes section.on { height: auto; min-height: 720px; overflow: visible; }
  .notes section.on aside { display: block; margin-top: 20px; border-top: 2px solid #d9dcd6;
    font-size: 21px; }
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
const fit = () => {  // the slide to the window; with notes only its width
  const tall = document.body.classList.contains("notes") ? Infinity : innerHeight / 720;
  document.body.style.zoom = Math.min(innerWidth / 1280, tall);
};
const at = () => all.findIndex(one => one.classList.contains("on"));
addEventListener("keydown", event => {
  if (["ArrowRight", "PageDown", " "].includes(event.key)) go(at() + 1);
  else if (["ArrowLeft", "PageUp"].includes(event.key)) go(at() - 1);
  else if (event.key === "Home") go(0);
  else if (event.key === "End") go(all.length - 1);
  else if (event.key === "n") { document.body.classList.toggle("notes"); fit(); }
  else return;
  event.preventDefault();
});
addEventListener("click", event => go(at() + (event.clientX < innerWidth / 3 ? -1 : 1)));
addEventListener("hashchange", () => go(location.hash.slice(1) - 1));
addEventListener("resize", fit);
go((location.hash.slice(1) || 1) - 1);
fit();
</script>
</body>"""


def print_slides(page: Path, to: Path) -> bool:
    """Print the slides with Chromium, one a page; return whether there is one."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        return False
    installed = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as p:
        try:
            browser = p.chromium.launch(executable_path=installed)
        except Error:
            return False
        tab = browser.new_page()
        tab.goto(page.resolve().as_uri())
        tab.pdf(path=to, prefer_css_page_size=True, print_background=True)
        browser.close()
    return True


def main() -> None:
    """Write all files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "lecture")
    parser.add_argument("--wheel", metavar="ADDRESS", help="wheel for a notebook outside a clone")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    book, page, pdf = (given.out / name for name in ("tour.ipynb", "slides.html", "slides.pdf"))
    tour = (DOCS / "from-rosenblatt-to-viterbi.md").read_text(encoding="utf-8")
    cells = json.dumps(notebook(tour, given.wheel), ensure_ascii=False, indent=1)
    book.write_text(cells + "\n", encoding="utf-8")
    page.write_text(slides((DOCS / "slides.md").read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{book}\n{page}")
    if print_slides(page, pdf):
        print(pdf)
    else:
        print(
            f"{pdf} was not written, because there is no Chromium. Install one with\n"
            "  pip install -e '.[dev]' && playwright install chromium\n"
            f"or print {page} to a PDF in any browser.",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
