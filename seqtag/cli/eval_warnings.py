"""Warnings about evaluations whose figures do not mean what they seem to."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from seqtag.errors import SeqtagError, same_letters
from seqtag.evaluation.aligned import METRICS, AlignedReport
from seqtag.labels.column import LabelColumn
from seqtag.storage.output import is_read_once

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seqtag.cli.common import Notes
    from seqtag.cli.options import InputOptions
    from seqtag.evaluation.report import Report
    from seqtag.model.model import Model

_MOST_LABELS = 4  # shown of a label set
_NONE = "_"
_TAGS = ("upos", "xpos")  # columns in which ``_`` is not a value


def warn_about_evaluation(
    notes: Notes,
    report: Report | AlignedReport,
    gold: str,
    reading: InputOptions,
    models: Sequence[Model],
) -> None:
    """Warn about label sets, unlabeled words and training data in an evaluation.

    The gold file is read again, unless it is a pipe; errors in this optional check are ignored.

    Parameters
    ----------
    notes
        Where to warn.
    report
        The result.
    gold, reading
        The gold file, and how it was read.
    models
        The models that were scored, if it was not a file.
    """
    if isinstance(report, AlignedReport):
        words = report.metrics["words"].gold
        learned = {name for each in models for name in each.column.columns} or {*METRICS}
        found = _about_aligned(report, learned)
    else:
        words = report.tokens
        found = _about_labels(report)
    for text in found:
        notes(f"note: {text}")
    if is_read_once(gold):
        return
    with suppress(SeqtagError, OSError):
        if isinstance(report, AlignedReport):
            for text in _about_unlabeled_columns(gold, reading):
                notes(f"note: {text}")
        size = report.sentences, words
        if any(_size(each) == size and _is_trained_on(each, gold, reading) for each in models):
            notes(
                f"note: {gold} is what the model was trained on; the scores do not show how well "
                "the model labels other text"
            )


def _about_labels(report: Report) -> Iterator[str]:
    """Yield warnings about different label sets, and words without a label."""
    gold = {label for label, _ in report.confusion} - {"O"}
    found = {label for _, label in report.confusion} - {"O"}
    unlabeled = sum(n for (label, _), n in report.confusion.items() if label == _NONE)
    alike = {pair: n for pair, n in report.confusion.items() if same_letters(*pair)}
    if unlabeled and not LabelColumn(report.task).may_be_empty:
        yield _unlabeled(unlabeled, report.tokens, report.task)
    if report.scheme is not None and not report.chunks.gold:
        yield (
            f"the gold column {report.task} has no chunk, so that F1 says nothing; is it a test "
            "file without labels?"
        )
    if alike:
        yield (
            f"{sum(alike.values())} of the wrong labels differ from the gold label only in the "
            f"Unicode normal form, such as {min(alike)[0]}, in another Unicode normal form; "
            "convert both to NFC"
        )
    elif gold and found and not gold & found:
        yield (
            f"gold and predicted labels have none in common (gold: {_some_of(gold)}; predicted: "
            f"{_some_of(found)}); check that both use the same tag set; --label selects another "
            "column"
        )


def _some_of(labels: set[str]) -> str:
    return ", ".join(sorted(labels)[:_MOST_LABELS]) + ", ..." * (len(labels) > _MOST_LABELS)


def _unlabeled(count: int, words: int, name: str) -> str:
    return (
        f'{count} of {words} gold labels in the column {name} are "_" (not annotated), which is '
        "scored like any label; leave such sentences out to score only the others"
    )


def _about_aligned(report: AlignedReport, learned: set[str]) -> Iterator[str]:
    """Yield a warning about columns without a single correct label."""
    wrong = [
        METRICS[name]
        for name, counts in report.metrics.items()
        if name in learned - {"alltags"} and report.aligned_accuracy(name) == 0 and counts.found
    ]
    if wrong:
        yield (
            f"no label is right in {', '.join(wrong)}; check that both sides are annotated with "
            "the same tag set"
        )


def _about_unlabeled_columns(gold: str, reading: InputOptions) -> Iterator[str]:
    """Yield warnings about unlabeled words in the tag columns of the gold file."""
    from seqtag.training.data import open_corpus

    with ExitStack() as files:
        corpus = open_corpus(gold, files, reading)
        columns, _ = corpus.gather_columns([name for name in _TAGS if name in corpus.columns])
    for name, column in columns.items():
        numbers = [i for i, value in enumerate(column.types) if value == _NONE]
        count = sum(int((column.ids == i).sum()) for i in numbers)
        if count == len(column.ids):
            yield (
                f'the gold column {name} is "_" throughout: {METRICS[name]} and AllTags are not '
                "meaningful for it"
            )
        elif count:
            yield _unlabeled(count, len(column.ids), name)


def _size(model: Model) -> tuple[object, object]:
    return model.training.get("sentences"), model.training.get("tokens")


def _is_trained_on(model: Model, gold: str, reading: InputOptions) -> bool:
    """Return whether a model was trained on exactly these sentences, by their digest."""
    from seqtag.training.data import open_corpus

    with ExitStack() as files:
        corpus = open_corpus(gold, files, reading)
        if not {*model.compiled.columns, *model.column.columns} <= {*corpus.columns}:
            return False
        examples = corpus.gather(model.compiled.columns, model.column)
        return examples.digest() == str(model.training["corpus_sha256"])
