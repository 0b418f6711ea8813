"""Reports laid out for people: tables of figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seqtag.evaluation.counts import Counts, most_frequent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seqtag.evaluation.report import Report


def blocks(report: Report, confusion: int) -> Iterator[str]:
    """Tables of `Report.to_text`."""
    rows: list[tuple[Any, ...]]
    rows = [("tokens", report.accuracy, report.correct, report.tokens)]
    if report.known_tokens is not None:
        known, unknown = report.known_accuracy, report.unknown_accuracy
        rows.append(("known words", known, report.known_correct, report.known_tokens))
        rows.append(("unknown words", unknown, report.unknown_correct, report.unknown_tokens))
    rows.append(("sentences", report.sentence_accuracy, report.correct_sentences, report.sentences))
    yield _table(("", "accuracy", "correct", "of"), rows)

    heading = ("precision", "recall", "F1", "gold", "found")
    if report.scheme is not None:
        rows = [_row("all", report.chunks)]
        if report.chunk_types.keys() != {""}:  # bare B, I and O: what is said of all is all
            named = ((name or "(no type)", counts) for name, counts in report.chunk_types.items())
            rows.extend(_row(*item) for item in named)
        yield _table((f"chunks ({report.scheme})", *heading), rows) + (
            f"invalid transitions: {report.invalid_gold} in gold, "
            f"{report.invalid_predicted} in predicted labels\n"
        )
    worst = sorted(report.labels.items(), key=lambda item: -item[1].errors)[:10]
    rows = [_row(label, counts) for label, counts in worst if counts.errors]
    if rows:
        yield _table(("labels with most errors", *heading), rows)

    wrong = {pair: n for pair, n in report.confusion.items() if pair[0] != pair[1]}
    rows = [(f"{a} -> {b}", n) for (a, b), n in most_frequent(wrong)[:confusion]]
    if rows:
        yield _table(("gold -> predicted", "tokens"), rows)


def _row(name: str, counts: Counts) -> tuple[Any, ...]:
    """Cells of a table line for counts."""
    return name, counts.precision, counts.recall, counts.f1, counts.gold, counts.found


def _table(heading: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> str:
    """Lines with names to the left, numbers to the right; fractions (floats) as percentages."""
    cells = [[f"{100 * c:.2f}" if isinstance(c, float) else str(c) for c in row] for row in rows]
    name_width = max(24, *(len(row[0]) for row in (heading, *cells)))
    lines = (
        row[0].ljust(name_width) + "".join(cell.rjust(11) for cell in row[1:])
        for row in (heading, *cells)
    )
    return "".join(f"{line}\n" for line in lines)
