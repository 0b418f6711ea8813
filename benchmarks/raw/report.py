"""The section on raw text of docs/benchmarks.md, made from the results alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.raw.tools import TOOLS
from benchmarks.text import rate, table

if TYPE_CHECKING:
    from collections.abc import Iterator

SCORES = {
    "tokens": "tokens",
    "sentences": "sentences",
    "words": "words",
    "upos": "UPOS",
    "xpos": "XPOS",
    "feats": "UFeats",
    "alltags": "AllTags",
    "lemma": "Lemmas",
}
"""The columns of scores, and their headings."""

INTRODUCTION = """\
## From raw text

From the text of a treebank to CoNLL-U with all columns that the treebank has. seqtag and UDPipe are
trained on the same files; spaCy and NLTK use rules. The command is:

```sh
python -m benchmarks.raw --corpora FOLDER --cache MODELS --merge results.json --out results.json
```
"""

DEFINITIONS = """\
- Scores are F1 in percent according to the rules of the CoNLL 2018 shared task, on the {part} set:
  words are aligned by the characters that they span, and a label is correct if the aligned word has
  it.
- **speed**: words per second of processor time for the complete process, from a text of about
  200,000 words to a CoNLL-U file with all columns. The text is the {part} set, repeated.
- **training**: processor time of the complete process.
"""


def section(raw: dict[str, Any]) -> Iterator[str]:
    """The section, piece by piece."""
    yield INTRODUCTION
    for name, entry in raw["treebanks"].items():
        data = entry["data"]
        yield f"### {name}\n"
        counts = ", ".join(f"{data[what]:,} {what}" for what in ("sentences", "tokens", "words"))
        yield f"{counts}.\n"
        heading = ["", *SCORES.values(), "speed", "training", "model"]
        yield table(heading, list(_rows(entry)))
    yield "### Tools for raw text\n"
    yield table(
        ["tool", "version", "training"],
        [
            [name, tool.get("version", "absent"), tool["settings"]]
            for name, tool in _in_order(raw["tools"])
        ],
        left=3,
    )
    yield DEFINITIONS.format(part=raw["part"])


def _rows(entry: dict[str, Any]) -> Iterator[list[str]]:
    """The rows of a treebank: all tools on raw text."""
    has = {"tokens", "sentences", "words", "alltags", *entry["data"]["columns"]}
    done = [(name, each) for name, each in _in_order(entry["tools"]) if "raw" in each]
    for name, figures in done:
        known = has if "gold" in figures else {"tokens", "sentences", "words"}
        yield [
            _shown(name),
            *_scores(figures["raw"], known),
            rate(figures["words_per_second"]),
            f"{figures['train_seconds']:.0f} s" if "train_seconds" in figures else "",
            f"{figures['model_megabytes']:.1f} MB" if "model_megabytes" in figures else "",
        ]


def _shown(name: str) -> str:
    return f"**{name}**" if name == "seqtag" else name


def _scores(figures: dict[str, float], known: set[str]) -> list[str]:
    return [f"{figures[key]:.2f}" if key in known else "" for key in SCORES]


def _in_order(tools: dict[str, Any]) -> list[tuple[str, Any]]:
    """Names and figures in the order of the suite, whenever they were measured."""
    return [(name, tools[name]) for name in TOOLS if name in tools]
