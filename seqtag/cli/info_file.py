"""``seqtag info FILE``: the layout of a file, and what would not match a model or another file."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from seqtag.catalogue.fetch import locate
from seqtag.cli.common import load_model, print_json, say_table
from seqtag.corpus.column_files import counted
from seqtag.corpus.sentence import has_column
from seqtag.labels.column import NO_LABELS
from seqtag.labels.schemes import detect_scheme
from seqtag.labels.spelling import odd_labels
from seqtag.model.container import is_model

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from seqtag.corpus import Layout, ReadOptions
    from seqtag.model.model import Model

_EXAMPLES = 3
_MOST = 10  # unseen labels that are shown
_OWN = 1000  # values of a column; those of one with more are not compared


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


def show_file(name: str, against: str | None, reading: ReadOptions, *, as_json: bool) -> None:
    """Print what a file is, and with `against` what would not match."""
    compared = {}
    if against is None:
        facts = _facts(name, reading)
    elif is_corpus(against):
        other = _facts(against, reading)
        like = other.layout.learned(other.layout.columns[-1])
        facts = _facts(name, replace(reading, like=like))
        columns = {k: {*v} for k, v in other.values.items() if k != "form"}
        compared = _compared(facts, columns, {*columns}, other.values["form"])
    else:
        loaded = load_model(against)
        models = [each.model for each in loaded.taggers if "form" in each.model.compiled.columns]
        facts = _facts(name, reading.after(each.training for each in models))
        learned = {each.column.columns[0]: {*each.labels} for each in models if not _is_free(each)}
        needed = {name for each in models for name in each.compiled.columns}
        known = models[-1].known_words if models else ()
        filled = {name for each in models for name in each.column.columns}
        compared = _compared(facts, learned, needed - filled, known)
    if as_json:
        print_json(_record(name, facts) | ({"against": compared} if against else {}))
        return
    lines = [("file", name), ("layout", facts.layout.describe())]
    if facts.lengths:
        least, most = min(facts.lengths), max(facts.lengths)
        mean = facts.words / len(facts.lengths)
        lengths = f"{least:,} to {most:,} words, {mean:.1f} on average"
        lines.append(("sentences", f"{len(facts.lengths):,} of {lengths}"))
        lines.append(("words", f"{facts.words:,}"))
    for column, counts in facts.values.items():
        shown = ", ".join(value for value, _ in counts.most_common(_EXAMPLES))
        scheme = f"; {facts.schemes[column]}" if column in facts.schemes else ""
        values = counted(f"{len(counts):,}", "value")
        lines.append((column, "empty" if shown == "_" else f"{values}: {shown}{scheme}"))
    for each in facts.layout.misfits:
        times = f" ({each.count} times)" * (each.count > 1)
        lines.append((f"line {each.line}", f"{each.text}{times}"))
    lines += [(what.replace("_", " "), found) for what, found in compared.items()]
    say_table(lines)


def _is_free(model: Model) -> bool:
    """Return whether the labels of a model are too many to compare, or rules."""
    return model.column.is_lemma or len(model.labels) > _OWN


def _record(name: str, facts: _Facts) -> dict[str, Any]:
    """Return the facts as JSON has them."""
    return {
        "file": name,
        "layout": facts.layout.to_json(),
        "sentences": len(facts.lengths),
        "words": facts.words,
        "longest_sentence": max(facts.lengths, default=0),
        "columns": {
            column: {
                "values": len(counts),
                "examples": [value for value, _ in counts.most_common(_EXAMPLES)],
                "scheme": facts.schemes.get(column),
            }
            for column, counts in facts.values.items()
        },
    }


def _compared(
    facts: _Facts, labels: Mapping[str, set[str]], needed: set[str], words: Container[str]
) -> dict[str, str]:
    """Return what does not match: columns, labels, and the share of known words."""
    missing = sorted(name for name in needed if not has_column(name, facts.layout.columns))
    found = {"missing_columns": ", ".join(missing) or "none"}
    for name, known in labels.items():
        if name in facts.values and len(known) <= _OWN:
            unseen = sorted({*facts.values[name]} - known)
            found[f"unseen_{name}"] = ", ".join(unseen[:_MOST]) or "none"
    counts = facts.values["form"]
    share = sum(n for word, n in counts.items() if word in words) / max(1, facts.words)
    found["known_words"] = f"{100 * share:.1f}%"
    return found
