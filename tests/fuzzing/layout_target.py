"""What must hold of column files as people have them: read as they were made, noted, or refused."""

from __future__ import annotations

import io
import logging
from random import Random
from typing import TYPE_CHECKING

from seqtag.corpus import read, sniff
from seqtag.errors import SeqtagError
from tests.fuzzing.choices import Choices, logged
from tests.layouts import ALL, VERBS, columns_of, make, sentences_of

if TYPE_CHECKING:
    from collections.abc import Callable


def layouts(data: bytes) -> str:
    """A file of some layout, perhaps damaged: its words and labels, a note, or an error.

    The damage decides what may be silent: files that were not changed, or changed in a way that
    means nothing, must be read as they were made.
    """
    choices = Choices(data)
    draw = Random(choices.below(1 << 32))
    settings = draw.choice(ALL)
    made = make(sentences_of(draw, draw.randint(8, 30)), **settings)
    damage = choices.pick([*DAMAGES])
    damaged = DAMAGES[damage](draw, made.text, settings)
    file = damaged if isinstance(damaged, bytes) else damaged.encode()
    try:
        with logged(logging.WARNING) as notes:
            misfits = sniff(io.BytesIO(file)).misfits
            found = [each for each in read(io.BytesIO(file)) if len(each)]
    except SeqtagError as error:
        assert damage not in HARMLESS, (damage, settings, str(error))
        assert "expected" in str(error) or "found" in str(error), (damage, settings, str(error))
        return f"{damage}: {error}"
    copies = 2 if damage == "the same file again" else 1
    is_right = [each.words for each in found] == copies * made.words and [
        each.column("ner") if "ner" in each.columns else None for each in found
    ] == copies * made.labels
    if not is_right and damage in UNKNOWABLE:
        return f"{damage}: cannot be known"
    assert is_right or misfits or notes, (damage, settings, file)
    assert is_right or damage not in HARMLESS, (damage, settings, notes, misfits)
    assert misfits or damage != "an odd label", (damage, settings, file)
    return "accepted"


def _with_row(draw: Random, text: str, settings: Layout, change: Callable[[str], str]) -> str:
    """The text with one row changed, not one of the first."""
    lines = text.split(settings["end"])
    rows = [i for i, line in enumerate(lines) if any(verb in line for verb in VERBS)]
    at = draw.choice(rows[1:])
    lines[at] = change(lines[at])
    return settings["end"].join(lines)


def _with_odd_label(line: str, settings: Layout) -> str:
    fields = line.split(settings["separator"])
    fields[columns_of(settings["order"], settings["mark"]).index("ner")] = "OO"
    return settings["separator"].join(fields)


def _with_both_line_ends(text: str, end: str) -> str:
    return text.replace(end, "\n" if end == "\r\n" else "\r\n", text.count(end) // 2)


Layout = dict[str, str]
"""The options of `tests.layouts.make`."""

DAMAGES: dict[str, Callable[[Random, str, Layout], str | bytes]] = {
    "none": lambda draw, text, how: text,
    "byte order mark": lambda draw, text, how: "\ufeff" + text,
    "no last line end": lambda draw, text, how: text.rstrip("\r\n"),
    "blank lines at the end": lambda draw, text, how: text + how["end"] * draw.randint(1, 4),
    "blank lines at the beginning": lambda draw, text, how: how["end"] + text,
    "both line ends": lambda draw, text, how: _with_both_line_ends(text, how["end"]),
    "the same file again": lambda draw, text, how: text + text,
    "a row without its last field": lambda draw, text, how: _with_row(
        draw, text, how, lambda line: line.rpartition(how["separator"])[0]
    ),
    "a row with one field more": lambda draw, text, how: _with_row(
        draw, text, how, lambda line: f"{line}{how['separator']}x"
    ),
    "a row with another separator": lambda draw, text, how: _with_row(
        draw, text, how, lambda line: line.replace(how["separator"], "|")
    ),
    "an odd label": lambda draw, text, how: _with_row(
        draw, text, how, lambda line: _with_odd_label(line, how)
    ),
    "a null character": lambda draw, text, how: _with_row(
        draw, text, how, lambda line: f"\0{line}"
    ),
    "a byte that is not UTF-8": lambda draw, text, how: text.encode().replace(b"a", b"\xe4", 1),
    "UTF-16": lambda draw, text, how: text.encode("utf-16"),
    "only carriage returns": lambda draw, text, how: text.replace(how["end"], "\r"),
    "cut": lambda draw, text, how: text[: draw.randrange(len(text) // 2, len(text))],
}
"""How a file is damaged, by name."""

HARMLESS = frozenset([*DAMAGES][:6])
"""Changes that mean nothing: the file must be read as it was made."""

UNKNOWABLE = frozenset(["cut"])
"""Changes after which the file may be one that somebody made."""
