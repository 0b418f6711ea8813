"""Measure what raw text loses with other typography: python -m benchmarks.typography MODEL DEV.

Each variant of a development part in CoNLL-U changes marks in the text and in the tokens alike, so
that the annotation stays as it is. The command prints F1 of tokens, sentences and UPOS for the
plain text and for each variant, with the number of tokens that the variant changed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

FORM, MISC = 1, 9
Row = list[str]
Variant = Callable[[list[Row]], None]
"""Changes the rows of a sentence."""


def replace_marks(old: str, *new: str) -> Variant:
    """Return a variant with new marks, in turn, for old ones in the forms."""
    turn = cycle(new)

    def change(rows: list[Row]) -> None:
        for row in rows:
            row[FORM] = "".join(next(turn) if char in old else char for char in row[FORM])

    return change


def replace_forms(forms: set[str], new: str) -> Variant:
    """Return a variant with another form for some."""

    def change(rows: list[Row]) -> None:
        for row in rows:
            row[FORM] = new if row[FORM] in forms else row[FORM]

    return change


def close_dashes(forms: set[str], mark: str) -> Variant:
    """Return a variant with dashes without blanks for marks between words with a blank after."""

    def change(rows: list[Row]) -> None:
        for before, row, after in zip(rows, rows[1:], rows[2:], strict=False):
            around = before[FORM][-1].isalpha() and after[FORM][0].isalpha()
            plain = all(each[0].isdecimal() for each in (before, row, after))
            if row[FORM] in forms and around and plain and row[MISC] == "_":
                row[FORM] = mark
                before[MISC] = row[MISC] = "SpaceAfter=No"

    return change


def put_dates(rows: list[Row]) -> None:
    """Write ISO dates for numbers of four digits."""
    for row in rows:
        if len(row[FORM]) == 4 and row[FORM].isdecimal():
            row[FORM] += "-05-01"


def put_times(rows: list[Row]) -> None:
    """Write times for numbers of one or two digits."""
    for row in rows:
        if len(row[FORM]) <= 2 and row[FORM].isdecimal():
            row[FORM] += ":30"


def put_blanks(rows: list[Row]) -> None:
    """Write no-break blanks."""
    for row in rows:
        if row[MISC] == "_":
            row[MISC] = "SpacesAfter=\\u00A0"


_SINGLE, _DOUBLE = "'\u2018\u2019\u02bc", '"\u201c\u201d'
VARIANTS: dict[str, Variant] = {
    "plain": lambda _: None,
    "quotes: straight": replace_marks(_DOUBLE, '"'),
    "quotes: curly": replace_marks(_DOUBLE, "\u201c", "\u201d"),
    "quotes: low": replace_marks(_DOUBLE, "\u201e", "\u201c"),
    "quotes: angled": replace_marks(_DOUBLE, "\u00ab", "\u00bb"),
    "apostrophes: U+0027": replace_marks(_SINGLE, "'"),
    "apostrophes: U+2019": replace_marks(_SINGLE, "\u2019"),
    "apostrophes: U+02BC": replace_marks(_SINGLE, "\u02bc"),
    "ellipses: one sign": replace_forms({"..."}, "\u2026"),
    "ellipses: three signs": replace_forms({"\u2026"}, "..."),
    "dashes: em": replace_forms({"-", "--", "\u2013"}, "\u2014"),
    "dashes: en": replace_forms({"-", "--", "\u2014"}, "\u2013"),
    "dashes: em, closed": close_dashes({"-", "--", "\u2013", "\u2014"}, "\u2014"),
    "dashes: two, closed": close_dashes({"-", "--", "\u2013", "\u2014"}, "--"),
    "dashes: em for commas": close_dashes({","}, "\u2014"),
    "no-break blanks": put_blanks,
    "ISO dates": put_dates,
    "times": put_times,
}


def changed(text: str, variant: Variant) -> tuple[str, int]:
    """Return a variant of a CoNLL-U file, and the number of its rows that changed."""
    found, count = [], 0
    for block in text.strip("\n").split("\n\n"):
        lines = block.split("\n")
        comments = [line for line in lines if line[0] == "#" and not line.startswith("# text")]
        rows = [line.split("\t") for line in lines if line[0] != "#"]
        before = [[*row] for row in rows]
        variant(rows)
        count += sum(a != b for a, b in zip(before, rows, strict=True))
        found.append("\n".join([*comments, *("\t".join(row) for row in rows)]) + "\n\n")
    return "".join(found), count


def main(model: str, dev: str) -> None:
    """Print the table of a model and a development part."""
    text = Path(dev).read_text(encoding="utf-8")
    print(f"{'variant':24}{'changed':>8}{'tokens':>8}{'sentences':>10}{'UPOS':>7}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "dev.conllu")
        for label, variant in VARIANTS.items():
            new, count = changed(text, variant)
            if not count and label != "plain":
                continue
            file.write_text(new, encoding="utf-8")
            command = [sys.executable, "-m", "seqtag", "eval", "-m", model, str(file), "--raw"]
            done = subprocess.run([*command, "--json"], check=True, capture_output=True)
            metrics = json.loads(done.stdout)["metrics"]
            scores = [100 * metrics[name]["f1"] for name in ("tokens", "sentences", "upos")]
            print(
                f"{label:24}{count:8}{scores[0]:8.2f}{scores[1]:10.2f}{scores[2]:7.2f}", flush=True
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
