"""``seqtag info FILE``: the layout of a file, and what would not match a model or another file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from seqtag.catalogue.locate import locate
from seqtag.cli.common import load_model, print_json, say
from seqtag.labels.column import NO_LABELS
from seqtag.labels.schemes import detect_scheme
from seqtag.labels.spelling import odd_labels
from seqtag.model.container import is_model

if TYPE_CHECKING:
    from collections.abc import Container

    from seqtag.cli.options import InputOptions
    from seqtag.corpus import Layout

_EXAMPLES = 3
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


def _facts(name: str, reading: InputOptions) -> _Facts:
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
                schemes[column] = scheme
        return _Facts(stream.layout, [len(each) for each in sentences], values, schemes)


def show_file(name: str, against: str | None, reading: InputOptions, *, as_json: bool) -> None:
    """Print what a file is, and with `against` what would not match."""
    facts = _facts(name, reading)
    record = _record(name, facts)
    if against is not None:
        record["against"] = {"name": against, **_compared(facts, against, reading)}
    if as_json:
        print_json(record)
        return
    lines = [("file", name), ("layout", facts.layout.describe())]
    if facts.lengths:
        mean = facts.words / len(facts.lengths)
        lines.append(
            (
                "sentences",
                f"{len(facts.lengths):,} of {min(facts.lengths)} to {max(facts.lengths):,} words, "
                f"{mean:.1f} on average; {facts.words:,} words",
            )
        )
    for column, counts in facts.values.items():
        shown = ", ".join(value for value, _ in counts.most_common(_EXAMPLES))
        scheme = f"; {facts.schemes[column]}" if column in facts.schemes else ""
        lines.append((column, f"{len(counts):,} values: {shown}{scheme}"))
    lines += [
        (f"line {each.line}", f"{each.text} ({each.count} times)") for each in facts.layout.misfits
    ]
    lines += [(what.replace("_", " "), found) for what, found in record.get("against", {}).items()]
    width = max(len(first) for first, _ in lines)
    say("".join(f"{first:<{width}}  {second}\n" for first, second in lines))


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


def _compared(facts: _Facts, against: str, reading: InputOptions) -> dict[str, Any]:
    """Return what of a file does not match a model or another file."""
    if not is_corpus(against):
        from seqtag.tagging.pipeline import Pipeline

        loaded = load_model(against)
        models = loaded.models if isinstance(loaded, Pipeline) else [loaded.model]
        labels = {each.column.columns[0]: {*each.labels} for each in models}
        needed = {name for each in models for name in each.compiled.columns}
        filled = {name for each in models for name in each.column.columns}
        words: Container[str] = models[-1].known_words
        needed -= filled
    else:
        other = _facts(against, reading)
        labels = {name: {*found} for name, found in other.values.items() if name != "form"}
        needed, words = {*other.layout.columns}, other.values["form"]
    missing = sorted(needed - {*facts.layout.columns} - {"text"})
    unseen = {
        name: sorted({*facts.values[name]} - known)
        for name, known in labels.items()
        if name in facts.values and len(known) <= _OWN
    }
    found: dict[str, Any] = {"missing_columns": ", ".join(missing) or "none"}
    for name, values in unseen.items():
        found[f"unseen_{name}"] = ", ".join(values[:10]) or "none"
    if facts.words:
        counts = facts.values["form"]
        known_count = sum(n for word, n in counts.items() if word in words)
        found["known_words"] = f"{100 * known_count / max(1, facts.words):.1f}%"
    return found
