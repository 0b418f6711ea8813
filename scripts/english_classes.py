"""Classes of English words for the embedded models, and what their cards say of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import seqtag

if TYPE_CHECKING:
    import argparse

    from seqtag import WordTable

NAME = "open"
CLASSES = 300
SAID = """\
| Raw text | {tokens:,} words for {classes} word classes (`seqtag classes -K {classes}`): the training part of UD English-EWT (CC BY-SA 4.0), the Manually Annotated Sub-Corpus of the American National Corpus (open), inaugural and State of the Union addresses (public domain), Genesis in the World English Bible (public domain) |
"""


def add_option(parser: argparse.ArgumentParser) -> None:
    """The option for the text."""
    parser.add_argument("--raw", type=Path, help="tokenized text, one sentence a line")


def classes_of(raw: Path | None) -> tuple[list[WordTable], str]:
    """The tables to learn from, and a row of the card."""
    if raw is None:
        return [], ""
    found = seqtag.learn_classes(raw, classes=CLASSES, format="tokens")
    return [found.table(NAME, raw.name)], SAID.format(tokens=found.tokens, classes=CLASSES)
