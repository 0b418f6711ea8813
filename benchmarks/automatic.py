"""Automatic settings: what the trial before training chooses, and what each value gives.

Usage: python -m benchmarks.automatic --corpora FOLDER [TASK ...]

Measures each task on its dev part with seed 1, prints the table, and writes it to
docs/how-to/settings.md if all tasks were measured. Takes five minutes.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import seqtag
from benchmarks import summary
from benchmarks.measure import ROOT
from benchmarks.options import CORPORA, label_of
from benchmarks.text import table
from seqtag.evaluation import score

PAGE = ROOT / "docs" / "how-to" / "settings.md"
TASKS = {
    "EWT UPOS": "English EWT, UPOS",
    "EWT XPOS": "English EWT, XPOS",
    "IMST UPOS": "Turkish IMST, UPOS",
    "IMST UPOS+FEATS": "Turkish IMST, UPOS and FEATS",
    "ArmTDP UPOS": "Armenian ArmTDP, UPOS",
    "ArmTDP UPOS+FEATS": "Armenian ArmTDP, UPOS and FEATS",
    "VTB UPOS": "Vietnamese VTB, UPOS",
    "Coptic UPOS": "Coptic Scriptorium, UPOS",
    "Cantonese UPOS": "Cantonese HK, UPOS",
}


def row(task: str, folder: Path) -> list[str]:
    """Return a row of the table: accuracy on the dev part for each value, and the choice."""
    corpus = CORPORA[task]
    train: Any = folder / corpus.train
    dev = list(seqtag.read(folder / str(corpus.dev)))
    label = label_of(corpus, train)
    shown = []
    for settings in ({"known_labels": 0}, {"known_labels": 1}, {}):
        tagger = seqtag.train(train, label=label, seed=1, **settings)
        shown.append(f"{100 * score(tagger, dev, words=False).score:.2f}")
    return [TASKS[task], *shown[:2], f"`{tagger.info['training']['known_labels']}`: {shown[2]}"]


def main() -> None:
    """Measure, print the table, and write it to the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.automatic", description=__doc__)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(TASKS)}")
    parser.add_argument("--corpora", type=Path, required=True)
    given = parser.parse_args()
    rows = [row(task, given.corpora) for task in given.tasks or TASKS]
    shown = table(["dev, accuracy", "any label", "their labels", "chosen"], rows)
    print(shown)
    if not given.tasks:
        summary.put(PAGE, "automatic settings", "automatic", shown)


if __name__ == "__main__":
    main()
