"""What a user would otherwise be misled by: notes on data that do not say what they seem to say."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING
from unicodedata import is_normalized

from seqtag.corpus import SentenceStream
from seqtag.engine.backend import BACKEND
from seqtag.errors import SeqtagError, same_letters
from seqtag.evaluation.aligned import METRICS, AlignedReport
from seqtag.features.normal_forms import note_of_spellings
from seqtag.labels.column import LabelColumn
from seqtag.model import bundle, container
from seqtag.model.embedded import find_model
from seqtag.storage.output import is_read_once

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.cli.common import Notes
    from seqtag.corpus import ReadLimits
    from seqtag.evaluation.report import Report
    from seqtag.model.container import Contents
    from seqtag.model.model import Model
    from seqtag.training.data import Corpus

_SHOWN = 4  # labels that stand for all
_NONE = "_"
_TAGS = ("upos", "xpos")  # columns of which ``_`` is no value


class GoldFile:
    """The gold file of an evaluation, to be looked at once more; a pipe cannot be.

    Parameters
    ----------
    path, format, columns, limits
        As it was read.
    """

    def __init__(self, path: str, format: str, columns: Sequence[str] | None, limits: ReadLimits):
        self.path = path
        self._format, self._columns, self._limits = format, columns, limits

    @property
    def is_there(self) -> bool:
        """Whether it can be read again."""
        return not is_read_once(self.path)

    def open(self, files: ExitStack) -> Corpus:
        """The file as training takes it."""
        from seqtag.training.data import open_corpus

        return open_corpus(self.path, self._format, self._columns, files, self._limits)


def note_evaluation(
    notes: Notes, report: Report | AlignedReport, gold: GoldFile, model: str | None
) -> None:
    """Say where figures do not mean what they seem to.

    That is: other tag sets, words without a label, words spelt in two ways, and the training data.
    """
    contents = None
    if model:
        with suppress(SeqtagError, OSError):  # the trouble of a second look is none of the user's
            contents = container.load(find_model(model))
    parts = contents.config.get("parts", [contents.config]) if contents else []
    if isinstance(report, AlignedReport):
        learnt = {name for part in parts for name in part["label"].split("+")}
        _note_aligned(notes, report, gold, learnt or {*METRICS})
        words = report.metrics["words"].gold
    else:
        _note_labels(notes, report)
        words = report.tokens
    if contents and gold.is_there:
        _note_spellings(notes, gold)
    sizes = [(p["training"].get("sentences"), p["training"].get("tokens")) for p in parts]
    if contents and gold.is_there and (report.sentences, words) in sizes:
        _note_training_data(notes, contents, gold)


def _note_labels(notes: Notes, report: Report) -> None:
    """Labels of other tag sets, and words without a label."""
    gold = {label for label, _ in report.confusion} - {"O"}
    found = {label for _, label in report.confusion} - {"O"}
    unannotated = sum(n for (label, _), n in report.confusion.items() if label == _NONE)
    alike = {pair: n for pair, n in report.confusion.items() if same_letters(*pair)}
    if unannotated and not LabelColumn(report.task).may_be_empty:
        notes(_unannotated(unannotated, report.tokens, report.task))
    if alike:
        notes(
            f"note: {sum(alike.values())} of the wrong labels have the letters of the right ones, "
            f"such as {min(alike)[0]}, in another Unicode normal form; bring both to NFC"
        )
    elif gold and found and not gold & found:
        notes(
            f"note: gold and predicted labels have none in common (gold: {_listed(gold)}; "
            f"predicted: {_listed(found)}); are both of one tag set? --label names another column"
        )


def _note_aligned(notes: Notes, report: AlignedReport, gold: GoldFile, learnt: set[str]) -> None:
    """Columns without a right label, and words without a tag."""
    wrong = [
        METRICS[name]
        for name, counts in report.metrics.items()
        if name in learnt - {"alltags"} and report.aligned_accuracy(name) == 0 and counts.found
    ]
    if wrong:
        notes(
            f"note: no label is right in {', '.join(wrong)}; is it annotated on both sides, and "
            "with one tag set?"
        )
    if not gold.is_there:
        return
    with suppress(SeqtagError, OSError), ExitStack() as files:
        corpus = gold.open(files)
        columns, _ = corpus.gather_columns([name for name in _TAGS if name in corpus.columns])
        for name, column in columns.items():
            words = len(column.ids)
            count = sum(int((column.ids == i).sum()) for i in _places(column.types))
            if count == words:
                notes(
                    f'note: the gold column {name} is "_" throughout: {METRICS[name]} says '
                    "nothing, and All tags nothing of it"
                )
            elif count:
                notes(_unannotated(count, words, name))


def _note_spellings(notes: Notes, gold: GoldFile) -> None:
    """Words in several Unicode normal forms, which models see as one."""
    with suppress(SeqtagError, OSError), ExitStack() as files:
        [stream] = gold.open(files).sources
        if isinstance(stream, SentenceStream) and all(
            is_normalized("NFC", block.text) for block in stream.lines()
        ):
            return  # soon said of most files
        columns, _ = gold.open(files).gather_columns(["form"])
        if note := note_of_spellings(Counter(columns["form"].values()).items()):
            notes(f"note: {gold.path}: {note}")


def _places(types: Sequence[str]) -> list[int]:
    return [i for i, value in enumerate(types) if value == _NONE]


def _unannotated(count: int, words: int, name: str) -> str:
    return (
        f'note: {count} of {words} gold labels in the column {name} are "_" (not annotated), which '
        "is scored like any label; leave such sentences out to score the others alone"
    )


def _listed(labels: set[str]) -> str:
    """Some of the labels."""
    return ", ".join(sorted(labels)[:_SHOWN]) + ", ..." * (len(labels) > _SHOWN)


def _note_training_data(notes: Notes, contents: Contents, gold: GoldFile) -> None:
    """A model that is scored on the very sentences it was trained on: their digest tells."""
    if any(_is_of(model, gold) for model in bundle.models_of(contents, "the model")):
        notes(
            f"note: {gold.path} is what the model was trained on; the figures say how well that "
            "was learnt, not how well other text is labelled"
        )


def _is_of(model: Model, gold: GoldFile) -> bool:
    """Whether a model was trained on a file, its first pass if it makes two."""
    model = model.first[0] if model.first else model
    with suppress(SeqtagError), ExitStack() as files:
        corpus = gold.open(files)
        if {*model.compiled.columns, *model.column.columns} <= {*corpus.columns}:
            examples = corpus.gather(model.compiled.columns, model.column)
            return examples.digest() == str(model.training["corpus_sha256"])
    return False


def note_backend(notes: Notes) -> None:
    """Say so where training takes long for want of a compiler."""
    if BACKEND == "reference" and not os.environ.get("SEQTAG_BACKEND"):
        notes(
            "note: the native kernel was not built, and the readable reference learns the same "
            "much more slowly; install a C++17 compiler and reinstall seqtag"
        )
