"""Warnings about evaluations whose figures do not mean what they seem to."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING
from unicodedata import is_normalized

from seqtag.corpus import SentenceStream
from seqtag.errors import SeqtagError, same_letters
from seqtag.evaluation.aligned import METRICS, AlignedReport
from seqtag.features.normal_forms import note_of_spellings
from seqtag.labels.column import LabelColumn
from seqtag.model import bundle, container
from seqtag.model.embedded import find_model
from seqtag.storage.output import is_read_once

if TYPE_CHECKING:
    from collections.abc import Callable

    from seqtag.cli.common import Notes
    from seqtag.cli.options import InputOptions
    from seqtag.evaluation.report import Report
    from seqtag.model.container import Contents
    from seqtag.model.model import Model
    from seqtag.training.data import Corpus

_MOST_LABELS = 4  # shown of a label set
_NONE = "_"
_TAGS = ("upos", "xpos")  # columns in which ``_`` is not a value


def warn_about_evaluation(
    notes: Notes,
    report: Report | AlignedReport,
    gold: str,
    reading: InputOptions,
    model: str | None,
) -> None:
    """Warn about label sets, unlabeled words, spellings and training data in an evaluation.

    The gold file is read again, unless it is a pipe; errors in this optional check are ignored.

    Parameters
    ----------
    notes
        Where to warn.
    report
        The result.
    gold, reading
        The gold file, and how it was read.
    model
        The model that was scored, if it was one.
    """

    def open_gold(files: ExitStack) -> Corpus:
        from seqtag.training.data import open_corpus

        return open_corpus(gold, files, reading)

    can_reopen = not is_read_once(gold)
    contents = None
    if model:
        with suppress(SeqtagError, OSError):
            contents = container.load(find_model(model))
    components = contents.config.get("parts", [contents.config]) if contents else []
    if isinstance(report, AlignedReport):
        learned = {name for each in components for name in each["label"].split("+")} or {*METRICS}
        words = report.metrics["words"].gold
        _warn_about_wrong_columns(notes, report, learned)
        if can_reopen:
            _warn_about_unlabeled_columns(notes, open_gold)
    else:
        words = report.tokens
        _warn_about_labels(notes, report)
    if contents and can_reopen:
        _warn_about_spellings(notes, gold, open_gold)
        sizes = [
            (each["training"].get("sentences"), each["training"].get("tokens"))
            for each in components
        ]
        if (report.sentences, words) in sizes and _is_training_data(contents, open_gold):
            notes(
                f"note: {gold} is what the model was trained on; the scores do not show how well "
                "the model labels other text"
            )


def _warn_about_labels(notes: Notes, report: Report) -> None:
    """Warn about different label sets, and words without a label."""
    gold = {label for label, _ in report.confusion} - {"O"}
    found = {label for _, label in report.confusion} - {"O"}
    unlabeled = sum(n for (label, _), n in report.confusion.items() if label == _NONE)
    alike = {pair: n for pair, n in report.confusion.items() if same_letters(*pair)}
    if unlabeled and not LabelColumn(report.task).may_be_empty:
        notes(_unlabeled(unlabeled, report.tokens, report.task))
    if report.scheme is not None and not report.chunks.gold:
        notes(
            f"note: the gold column {report.task} has no chunk, so that F1 says nothing; is it a "
            "test file without labels?"
        )
    if alike:
        notes(
            f"note: {sum(alike.values())} of the wrong labels differ from the gold label only in "
            f"the Unicode normal form, such as {min(alike)[0]}, in another Unicode normal form; "
            "convert both to NFC"
        )
    elif gold and found and not gold & found:
        notes(
            f"note: gold and predicted labels have none in common (gold: {_some_of(gold)}; "
            f"predicted: {_some_of(found)}); check that both use the same tag set; --label "
            "selects another column"
        )


def _some_of(labels: set[str]) -> str:
    return ", ".join(sorted(labels)[:_MOST_LABELS]) + ", ..." * (len(labels) > _MOST_LABELS)


def _unlabeled(count: int, words: int, name: str) -> str:
    return (
        f'note: {count} of {words} gold labels in the column {name} are "_" (not annotated), which '
        "is scored like any label; leave such sentences out to score only the others"
    )


def _warn_about_wrong_columns(notes: Notes, report: AlignedReport, learned: set[str]) -> None:
    """Warn about columns without a single correct label."""
    wrong = [
        METRICS[name]
        for name, counts in report.metrics.items()
        if name in learned - {"alltags"} and report.aligned_accuracy(name) == 0 and counts.found
    ]
    if wrong:
        notes(
            f"note: no label is right in {', '.join(wrong)}; check that both sides are annotated "
            "with the same tag set"
        )


def _warn_about_unlabeled_columns(notes: Notes, open_gold: Callable[[ExitStack], Corpus]) -> None:
    """Warn about unlabeled words in the tag columns of the gold file."""
    with suppress(SeqtagError, OSError), ExitStack() as files:
        corpus = open_gold(files)
        columns, _ = corpus.gather_columns([name for name in _TAGS if name in corpus.columns])
        for name, column in columns.items():
            words = len(column.ids)
            numbers = [i for i, value in enumerate(column.types) if value == _NONE]
            count = sum(int((column.ids == i).sum()) for i in numbers)
            if count == words:
                notes(
                    f'note: the gold column {name} is "_" throughout: {METRICS[name]} and AllTags '
                    "are not meaningful for it"
                )
            elif count:
                notes(_unlabeled(count, words, name))


def _warn_about_spellings(
    notes: Notes, gold: str, open_gold: Callable[[ExitStack], Corpus]
) -> None:
    """Warn about words in several Unicode normal forms, which are one word for models."""
    with suppress(SeqtagError, OSError), ExitStack() as files:
        [stream] = open_gold(files).sources
        if isinstance(stream, SentenceStream) and all(
            is_normalized("NFC", block.text) for block in stream.lines()
        ):
            return  # a fast check, true of most files
        columns, _ = open_gold(files).gather_columns(["form"])
        if note := note_of_spellings(Counter(columns["form"].values()).items()):
            notes(f"note: {gold}: {note}")


def _is_training_data(contents: Contents, open_gold: Callable[[ExitStack], Corpus]) -> bool:
    """Return whether a component was trained on exactly these sentences, by their digest."""

    def is_of(model: Model) -> bool:
        model = model.first[0] if model.first else model
        with suppress(SeqtagError), ExitStack() as files:
            corpus = open_gold(files)
            if {*model.compiled.columns, *model.column.columns} <= {*corpus.columns}:
                examples = corpus.gather(model.compiled.columns, model.column)
                return examples.digest() == str(model.training["corpus_sha256"])
        return False

    return any(map(is_of, bundle.models_of(contents, "the model")))
