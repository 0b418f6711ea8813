"""Warnings about evaluations whose figures do not mean what they seem to."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from seqtag.corpus.column_files import MANY_ROWS
from seqtag.errors import SeqtagError, same_letters
from seqtag.evaluation.aligned import AlignedReport
from seqtag.labels.column import LabelColumn
from seqtag.storage.output import is_read_once

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seqtag.cli.options import InputOptions
    from seqtag.evaluation.report import Report
    from seqtag.model.model import Model

_SHOWN_LABELS = 4  # of a label set
_NO_LABEL = "_"


def warnings_of(
    report: Report | AlignedReport, gold: str, reading: InputOptions, models: Sequence[Model]
) -> Iterator[str]:
    """Yield warnings about label sets, unlabeled words and training data in an evaluation.

    Parameters
    ----------
    report
        The result.
    gold, reading
        The gold file, and how it was read.
    models
        The models that were scored, if it was not a file.
    """
    if isinstance(report, AlignedReport):
        words = report.metrics["words"].gold
    else:
        words = report.tokens
        yield from _about_labels(report)
    size = report.sentences, words
    alike = [m for m in models if (m.training.get("sentences"), m.training.get("tokens")) == size]
    if any(_is_trained_on(each, gold, reading) for each in alike):
        yield (
            f"{gold} is what the model was trained on; the scores do not show how well the model "
            "labels other text"
        )


def _about_labels(report: Report) -> Iterator[str]:
    """Yield warnings about different label sets, and words without a label."""
    gold = {label for label, _ in report.confusion} - {"O"}
    found = {label for _, label in report.confusion} - {"O"}
    unlabeled = sum(n for (label, _), n in report.confusion.items() if label == _NO_LABEL)
    if unlabeled and not LabelColumn(report.task).may_be_empty:
        yield (
            f'{unlabeled} of {report.tokens} gold labels in the column {report.task} are "_" (not '
            "annotated), which is scored like any label; leave such sentences out to score only "
            "the others"
        )
    if report.scheme is not None and not report.chunks.gold:
        yield (
            f"the gold column {report.task} has no chunk, so that F1 says nothing; is it a test "
            "file without labels?"
        )
    elif len({label for label, _ in report.confusion}) == 1 and report.tokens >= MANY_ROWS:
        yield (
            f"every gold label in the column {report.task} is {min(report.confusion)[0]!r}, so "
            "that the score says nothing; was the layer exported?"
        )
    if alike := {pair: n for pair, n in report.confusion.items() if same_letters(*pair)}:
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
    return ", ".join(sorted(labels)[:_SHOWN_LABELS]) + ", ..." * (len(labels) > _SHOWN_LABELS)


def _is_trained_on(model: Model, gold: str, reading: InputOptions) -> bool:
    """Return whether a model was trained on these sentences, by their digest, read once more."""
    from seqtag.training.data import open_corpus

    if is_read_once(gold):
        return False
    with suppress(SeqtagError, OSError), ExitStack() as files:
        corpus = open_corpus(gold, files, reading)
        if {*model.compiled.columns, *model.column.columns} <= {*corpus.columns}:
            examples = corpus.gather(model.compiled.columns, model.column)
            return examples.digest() == str(model.training["corpus_sha256"])
    return False
