"""``seqtag info FILE``: the layout of a file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from seqtag.catalogue.fetch import locate
from seqtag.cli.common import say_table
from seqtag.corpus.column_files import counted
from seqtag.labels.column import NO_LABELS
from seqtag.labels.schemes import detect_scheme
from seqtag.labels.spelling import odd_labels
from seqtag.model.container import is_model

if TYPE_CHECKING:
    from seqtag.corpus import Layout, ReadOptions

_SHOWN_VALUES = 3  # of a column


def is_corpus(name: str) -> bool:
    """Return whether a name is that of a corpus or a file that is no model."""
    is_file = Path(name).is_file() and Path(name).suffix != ".seqtag" and not is_model(name)
    return name == "-" or is_file or (":" in name and not Path(name).exists())


class _Facts(NamedTuple):
    """Layout and counts of a file."""

    layout: Layout
    lengths: list[int]
    values: dict[str, Counter[str]]
    schemes: dict[str, str]

    @property
    def words(self) -> int:
        return sum(self.lengths)


def _facts(name: str, reading: ReadOptions) -> _Facts:
    """Read a file once."""
    [path] = locate([name], "train")
    with reading.open(path) as stream:
        sentences = [each for each in stream if len(each)]
        names = [column for column in stream.columns if column not in ("id", "misc")]
        rows = {column: [each.column(column) for each in sentences] for column in names}
        values = {k: Counter(v for row in found for v in row) for k, found in rows.items()}
        schemes = {}
        for column, found in rows.items():
            odd = odd_labels(values[column])
            kept = [[label for label in row if label not in odd] for row in found]
            if column not in NO_LABELS and (scheme := detect_scheme(kept)):
                schemes[column] = scheme.upper()
        return _Facts(stream.layout, [len(each) for each in sentences], values, schemes)


def show_file(name: str, reading: ReadOptions) -> int:
    """Print what a file is."""
    facts = _facts(name, reading)
    lines = [("file", name), ("layout", facts.layout.describe())]
    if facts.lengths:
        least, most = min(facts.lengths), max(facts.lengths)
        mean = facts.words / len(facts.lengths)
        lengths = f"{least:,} to {most:,} words, {mean:.1f} on average"
        lines.append(("sentences", f"{len(facts.lengths):,} of {lengths}"))
        lines.append(("words", f"{facts.words:,}"))
    for column, counts in facts.values.items():
        shown = ", ".join(value for value, _ in counts.most_common(_SHOWN_VALUES))
        scheme = f"; {facts.schemes[column]}" if column in facts.schemes else ""
        values = counted(f"{len(counts):,}", "value")
        lines.append((column, "empty" if shown == "_" else f"{values}: {shown}{scheme}"))
    for each in facts.layout.misfits:
        times = f" ({each.count} times)" * (each.count > 1)
        lines.append((f"line {each.line}", f"{each.text}{times}"))
    say_table(lines)
    return 0
