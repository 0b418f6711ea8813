"""Comparison of predicted with gold labels: accuracy, chunk F1, confusions.

Sentences are read once, in parallel; only counts are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import compress, zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.engine.arrays import pointers
from seqtag.errors import LabelError
from seqtag.evaluation.counts import Counts, Samples, by_key, most_frequent, share
from seqtag.evaluation.text_tables import Section, html_of, row, signature_of, text_of
from seqtag.labels.schemes import (
    SCHEMES,
    Transition,
    count_transitions,
    invalid_transitions,
    scheme_of,
    spans,
)
from seqtag.labels.spelling import describe_odd, odd_labels

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from seqtag.evaluation.reliability import Reliability
    from seqtag.features.encoder import Column

_MOST_CONFUSIONS = 20  # that a notebook shows


class Origin(NamedTuple):
    """Model that predicted the labels, as far as known; for the signature.

    Attributes
    ----------
    model
        Version of seqtag that wrote the model.
    data
        Digest of its training data, the first eight digits.
    seed
        Seed of its training.
    """

    model: str | None = None
    data: str | None = None
    seed: int | None = None


class WordError(NamedTuple):
    """Wrong label of a word, with its frequency in tokens."""

    gold: str
    predicted: str
    word: str
    tokens: int


@dataclass(frozen=True, repr=False)
class Report:
    """Result of `evaluate`: counts as fields, fractions as properties.

    Attributes
    ----------
    task, scheme
        Task, and chunk scheme; None if the labels were not scored as chunks.
    sentences, correct_sentences, tokens, correct
        Numbers of sentences and tokens, and of those with no wrong label.
    confusion
        Number of tokens by (gold, predicted) label, correct ones included.
    known_tokens, known_correct
        Of these tokens, those whose word was seen in training; None if unknown.
    chunk_types
        Counts of chunks by type, in sorted order; empty if `scheme` is None.
    invalid_gold, invalid_predicted
        Transitions that `scheme` does not allow (0 if it is None).
    word_errors
        Number of wrong labels by (gold, predicted, word); None if there were no words.
    origin
        Model that predicted the labels; None if unknown.
    samples
        Counts by sentence, of ``accuracy``, ``f1`` (chunks), ``known``, ``unknown`` and
        ``sentences``; None unless requested.
    reliability
        Reliability of the model's calibrated scores; None if it has none.

    Examples
    --------
    >>> report = evaluate([["DET", "NOUN"]], [["DET", "VERB"]], task="upos")
    >>> report
    <seqtag.Report of upos: accuracy 50.00, tokens: 2, sentences: 1>
    >>> print(report)  # doctest: +ELLIPSIS
                               accuracy    correct         of
    tokens                        50.00          1          2
    ...
    """

    task: str
    scheme: str | None
    sentences: int
    correct_sentences: int
    tokens: int
    correct: int
    confusion: Mapping[tuple[str, str], int]
    known_tokens: int | None = None
    known_correct: int | None = None
    chunk_types: Mapping[str, Counts] = field(default_factory=dict)
    invalid_gold: int = 0
    invalid_predicted: int = 0
    word_errors: Mapping[tuple[str, str, str], int] | None = None
    origin: Origin | None = None
    samples: Samples | None = field(default=None, compare=False)
    reliability: Reliability | None = None

    def __str__(self) -> str:
        """Return the report as text: see `to_text`."""
        return self.to_text()

    def __repr__(self) -> str:
        return (
            f"<seqtag.Report of {self.task}: {self.metric} {100 * self.score:.2f}, "
            f"tokens: {self.tokens}, sentences: {self.sentences}>"
        )

    @property
    def accuracy(self) -> float:
        """Share of tokens with the correct label."""
        return share(self.correct, self.tokens)

    @property
    def sentence_accuracy(self) -> float:
        """Share of sentences without a wrong label; an empty sentence has none."""
        return share(self.correct_sentences, self.sentences)

    @property
    def known_accuracy(self) -> float | None:
        """Accuracy on words seen in training; None if those are not given."""
        return None if self.known_tokens is None else share(self.known_correct, self.known_tokens)

    @property
    def unknown_tokens(self) -> int | None:
        """Number of tokens whose word was not seen in training; None if those are not given."""
        return None if self.known_tokens is None else self.tokens - self.known_tokens

    @property
    def unknown_correct(self) -> int | None:
        """Number of correct labels among `unknown_tokens`."""
        return None if self.known_correct is None else self.correct - self.known_correct

    @property
    def unknown_accuracy(self) -> float | None:
        """Accuracy on words not seen in training; None if those are not given."""
        unknown = self.unknown_tokens
        return None if unknown is None else share(self.unknown_correct, unknown)

    @property
    def labels(self) -> dict[str, Counts]:
        """Counts of tokens by label, in sorted order."""
        correct, found, gold = Counter[str](), Counter[str](), Counter[str]()
        for (expected, predicted), n in self.confusion.items():
            gold[expected] += n
            found[predicted] += n
            correct[expected] += n if expected == predicted else 0
        return by_key(correct, found, gold)

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa of the labels of words; None if all are the same, or there are none.

        Examples
        --------
        >>> evaluate([["yes", "no", "no"]], [["yes", "yes", "no"]]).kappa
        0.4
        """
        chance = sum(each.gold * each.found for each in self.labels.values())
        rest = self.tokens**2 - chance
        return (self.tokens * self.correct - chance) / rest if rest else None

    @property
    def chunks(self) -> Counts:
        """Return the counts of chunks of all types together."""
        return Counts(*(sum(counts[i] for counts in self.chunk_types.values()) for i in range(3)))

    @property
    def precision(self) -> float | None:
        """Share of the predicted chunks that are correct; None if labels are no chunks."""
        return None if self.scheme is None else self.chunks.precision

    @property
    def recall(self) -> float | None:
        """Share of the gold chunks that were found; None if labels are no chunks."""
        return None if self.scheme is None else self.chunks.recall

    @property
    def f1(self) -> float | None:
        """Harmonic mean of `precision` and `recall`; None if labels are no chunks."""
        return None if self.scheme is None else self.chunks.f1

    @property
    def metric(self) -> str:
        """Name of the headline figure: ``conlleval-f1`` for chunks, otherwise ``accuracy``."""
        return "accuracy" if self.scheme is None else "conlleval-f1"

    @property
    def score(self) -> float:
        """The headline figure, as a fraction."""
        return self.accuracy if self.scheme is None else self.chunks.f1

    @property
    def headline(self) -> str:
        """Name of the headline figure among the samples."""
        return "accuracy" if self.scheme is None else "f1"

    @property
    def facts(self) -> dict[str, object]:
        """What was scored, for signatures."""
        return {
            "task": self.task,
            "metric": self.metric,
            "scheme": self.scheme or "none",
            "sentences": self.sentences,
            "tokens": self.tokens,
        }

    @property
    def signature(self) -> str:
        """One line with what was scored, on which data, and by which model."""
        return signature_of(self.facts, self.origin and self.origin._asdict())

    def errors(self, n: int) -> list[WordError]:
        """List the `n` most frequent wrong labels with their words; ties in alphabetical order.

        Raises
        ------
        LabelError
            If the report was made without words.

        Examples
        --------
        >>> evaluate([["DET"]], [["NOUN"]], words=[["that"]]).errors(1)
        [WordError(gold='DET', predicted='NOUN', word='that', tokens=1)]
        """
        if self.word_errors is None:
            msg = (
                "expected a report with words to list their errors, found one without; "
                "call evaluate(..., words=...)"
            )
            raise LabelError(msg)
        return [WordError(*error, count) for error, count in most_frequent(self.word_errors)[:n]]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the words as a JSON-serializable dictionary.

        Fractions have full precision; ``confusion`` lists gold label, predicted label, count.

        Examples
        --------
        >>> evaluate([["DET"]], [["NOUN"]]).to_dict()["confusion"]
        [['DET', 'NOUN', 1]]
        """
        plain = (
            "task",
            "metric",
            "score",
            "signature",
            "scheme",
            "sentences",
            "correct_sentences",
            "sentence_accuracy",
            "tokens",
            "correct",
            "accuracy",
            "kappa",
            "known_tokens",
            "known_correct",
            "known_accuracy",
            "unknown_tokens",
            "unknown_correct",
            "unknown_accuracy",
            "invalid_gold",
            "invalid_predicted",
        )
        calibrated = {} if self.reliability is None else {"reliability": self.reliability.to_dict()}
        return {
            **{name: getattr(self, name) for name in plain},
            "origin": None if self.origin is None else self.origin._asdict(),
            "chunks": None if self.scheme is None else self.chunks.to_dict(),
            "chunk_types": {name: counts.to_dict() for name, counts in self.chunk_types.items()},
            "labels": {name: counts.to_dict() for name, counts in self.labels.items()},
            "confusion": [[*pair, count] for pair, count in most_frequent(self.confusion)],
            **calibrated,
        }

    def to_text(self, confusion: int = 0) -> str:
        """Return the report as text tables.

        Parameters
        ----------
        confusion
            Number of the most frequent pairs of gold and wrong label to list at the end.

        Returns
        -------
        str
            Accuracies, chunks by type, the ten labels with most errors, confusions, signature;
            percentages with two decimals. Ends with a line end.
        """
        return text_of(_sections(self, confusion), self.signature)

    def _repr_html_(self) -> str:
        """Return the tables of `to_text` as HTML, with the twenty most frequent confusions."""
        return html_of(_sections(self, _MOST_CONFUSIONS), self.signature)

    def conlleval(self) -> str:
        """Return the result in the format of the conlleval script, byte for byte.

        Returns
        -------
        str
            Its lines. Accuracy compares the labels as given. The script supports only B, I and O;
            for other schemes see `ChunkCounter`.

        Raises
        ------
        LabelError
            If the labels were not scored as chunks.

        Examples
        --------
        >>> print(evaluate([["B-NP", "O"]], [["B-NP", "B-VP"]]).conlleval(), end="")
        processed 2 tokens with 1 phrases; found: 2 phrases; correct: 1.
        accuracy:  50.00%; precision:  50.00%; recall: 100.00%; FB1:  66.67
                       NP: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
                       VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
        """
        if self.scheme is None:
            msg = (
                "expected chunk labels like B-NP for conlleval, found labels without a scheme; "
                "use to_text(), or call evaluate(..., scheme='iob2')"
            )
            raise LabelError(msg)
        total = self.chunks
        text = (
            f"processed {self.tokens} tokens with {total.gold} phrases; "
            f"found: {total.found} phrases; correct: {total.correct}.\n"
        )
        if self.tokens:
            text += f"accuracy: {100 * self.correct / self.tokens:6.2f}%; {_figures(total)}\n"
        for name, counts in self.chunk_types.items():
            padded = name.encode().rjust(17).decode()  # the script counts bytes
            text += f"{padded}: {_figures(counts)}  {counts.found}\n"
        return text


def evaluate(
    gold: Iterable[Sequence[str]],
    predicted: Iterable[Sequence[str]],
    *,
    words: Iterable[Sequence[str]] | None = None,
    known: Container[str] | None = None,
    scheme: str | None = "auto",
    task: str = "label",
    origin: Origin | None = None,
    samples: bool = False,
    missed: Sequence[Sequence[str] | None] = (),
) -> Report:
    """Compare predicted labels with gold labels.

    Parameters
    ----------
    gold, predicted
        Labels, one sequence per sentence. Read once, in parallel; generators are accepted.
    words
        Words of the same sentences, for `Report.errors` and for `known`.
    known
        Words seen in training, such as ``tagger.known_words``. If given, accuracy is also reported
        for known and unknown words.
    scheme
        One of `seqtag.labels.schemes.SCHEMES`; None scores labels only and no chunks; "auto"
        detects it from the gold labels (`seqtag.labels.schemes.detect_scheme`).
    task
        Name of the task, for the signature.
    origin
        Model that predicted the labels, for the signature. `seqtag.evaluation.scoring.score`
        takes all of this from a tagger.
    samples
        Whether to keep the counts of each sentence, for intervals and comparisons.
    missed
        For each sentence the labels of gold chunks that fit no words, which count as missed; None
        if it is not of a text with spans.

    Returns
    -------
    Report
        Without sentences all figures are zero. A gold lemma ``_`` is not scored. A gold label that
        the model never saw counts as an error; a predicted label that is not a chunk label counts
        as outside, and as invalid.

    Raises
    ------
    LabelError
        If sentences or tokens differ in number, a sentence is a string, `scheme` is unknown or
        does not fit a gold label, most gold labels are chunk labels but some are not, or `known`
        comes without `words`.

    Examples
    --------
    >>> report = evaluate([["B-NP", "I-NP", "O"]], [["B-NP", "O", "O"]], task="chunk")
    >>> report.score, round(report.accuracy, 3)
    (0.0, 0.667)
    >>> report.signature.rpartition("|")[0]
    'task:chunk|metric:conlleval-f1|scheme:iob2|sentences:1|tokens:3'
    """
    if known is not None and words is None:
        msg = "known needs words: expected both, found no words; add words=..."
        raise LabelError(msg)
    sentences = correct_sentences = known_tokens = known_correct = 0
    confusion: Counter[tuple[str, str]] = Counter()
    word_errors: Counter[tuple[str, str, str]] = Counter()
    chunks = None if scheme is None else ChunkCounter(scheme)
    kept = Samples() if samples else None

    for sentences, expected, guessed, forms in _aligned(gold, predicted, words):
        if task == "lemma" and "_" in expected:
            known_lemma = [label != "_" for label in expected]
            expected, guessed = ([*compress(each, known_lemma)] for each in (expected, guessed))
            forms = None if forms is None else [*compress(forms, known_lemma)]
        confusion.update(zip(expected, guessed, strict=True))
        right = [a == b for a, b in zip(expected, guessed, strict=True)]
        counts = {"accuracy": Counts(sum(right), len(right), len(right))}
        if chunks is not None:
            found = chunks.add(expected, guessed, sentences)
            lost = (missed[sentences - 1] if missed else None) or ()
            chunks.types[2].update(lost)
            counts["f1"] = found._replace(gold=found.gold + len(lost))
        if forms is not None:
            triples = zip(expected, guessed, forms, strict=True)
            word_errors.update(t for t, ok in zip(triples, right, strict=True) if not ok)
        if forms is not None and known is not None:
            seen = [form in known for form in forms]
            known_right = sum(a and b for a, b in zip(seen, right, strict=True))
            unknown = len(right) - sum(seen)
            counts["known"] = Counts(known_right, sum(seen), sum(seen))
            counts["unknown"] = Counts(sum(right) - known_right, unknown, unknown)
            known_tokens += sum(seen)
            known_correct += known_right
        counts["sentences"] = Counts(int(all(right)), 1, 1)
        correct_sentences += all(right)
        if kept is not None:
            kept.add(counts)

    used = chunks.scheme if chunks is not None else None
    if scheme == "auto" and used is None:
        gold_counts = Counter[str]()
        for (label, _), n in confusion.items():
            gold_counts[label] += n
        if odd := odd_labels(gold_counts):
            msg = (
                f"{describe_odd(odd, gold_counts)}; correct it, or score no chunks with scheme=None"
            )
            raise LabelError(msg)
    if kept is not None and used is None:
        kept.counts.pop("f1", None)
    types, invalid = {}, [0, 0]
    if chunks is not None and used is not None:
        types = by_key(*chunks.types)
        invalid = [invalid_transitions(side, used) for side in chunks.transitions]
    return Report(
        task=task,
        scheme=used,
        sentences=sentences,
        correct_sentences=correct_sentences,
        tokens=confusion.total(),
        correct=sum(n for (a, b), n in confusion.items() if a == b),
        confusion=dict(confusion),
        known_tokens=None if known is None else known_tokens,
        known_correct=None if known is None else known_correct,
        chunk_types=types,
        invalid_gold=invalid[0],
        invalid_predicted=invalid[1],
        word_errors=None if words is None else dict(word_errors),
        origin=origin,
        samples=kept,
    )


def evaluate_columns(
    gold: Column,
    predicted: Column,
    lengths: NDArray[np.int64],
    *,
    task: str = "label",
    origin: Origin | None = None,
) -> Report:
    """Compare numbered labels that are not chunk labels, as `evaluate` does without words.

    Parameters
    ----------
    gold, predicted
        The labels of all sentences end to end.
    lengths
        Labels per sentence, none 0.
    task, origin
        As in `evaluate`.

    Examples
    --------
    >>> from seqtag.features.encoder import Column
    >>> gold, predicted = Column.of(["DET", "NOUN", "X"]), Column.of(["DET", "VERB", "X"])
    >>> report = evaluate_columns(gold, predicted, np.array([2, 1]))
    >>> report == evaluate([["DET", "NOUN"], ["X"]], [["DET", "VERB"], ["X"]], scheme=None)
    True
    """
    pairs, number = gold.paired(predicted)
    confusion = dict(zip(pairs, np.bincount(number).tolist(), strict=True))
    right = np.array([a == b for a, b in pairs], bool)[number]
    correct_sentences = np.logical_and.reduceat(right, pointers(lengths)[:-1])
    return Report(
        task=task,
        scheme=None,
        sentences=len(lengths),
        correct_sentences=int(correct_sentences.sum()),
        tokens=len(right),
        correct=int(right.sum()),
        confusion=confusion,
        origin=origin,
    )


def _aligned(
    gold: Iterable[Sequence[str]],
    predicted: Iterable[Sequence[str]],
    words: Iterable[Sequence[str]] | None,
) -> Iterator[tuple[int, Sequence[str], Sequence[str], Sequence[str] | None]]:
    """Yield sentence number, gold labels, predicted labels and words (or None); check lengths."""
    names = ("gold labels", "predicted labels", "words")
    columns = (gold, predicted) if words is None else (gold, predicted, words)
    for each in columns:
        if isinstance(each, str) or not isinstance(each, Iterable):
            msg = f"expected lists of labels, found {each!r:.60}; seqtag.score compares a model"
            raise TypeError(msg)
    for number, sentence in enumerate(zip_longest(*columns), start=1):
        for name, column in zip(names, sentence, strict=False):
            if column is None:
                msg = (
                    f"sentence {number}: expected gold and predicted data of the same sentences, "
                    f"found no {name} here; check that the files belong together"
                )
                raise LabelError(msg)
            if isinstance(column, str) or not isinstance(next(iter(column), ""), str):
                msg = (
                    f"sentence {number}: expected a sequence of {name}, found {column!r:.60}; "
                    "pass a list of sentences, each a list of strings"
                )
                raise LabelError(msg)
            if len(column) != len(sentence[0]):
                msg = (
                    f"sentence {number}: expected {len(sentence[0])} {name} as in gold, "
                    f"found {len(column)}; check that the files have the same tokens"
                )
                raise LabelError(msg)
        yield number, sentence[0], sentence[1], None if words is None else sentence[2]


# ----------------------------------------------------------------- chunks
class ChunkCounter:
    """Counter of chunks, sentence by sentence, by the rules of the conlleval script.

    A chunk is correct if its type, its begin and its end are. Chunks are read by the rule of
    `seqtag.labels.schemes`: on IOB labels the figures are those of the script, on IOBES and BILOU
    those of the script after conversion to IOB2 (without it, it merges neighboring chunks).

    Parameters
    ----------
    scheme
        One of `seqtag.labels.schemes.SCHEMES`, or "auto" to detect it from the gold labels.

    Attributes
    ----------
    types
        Numbers of correct, found and gold chunks by type.
    transitions
        Numbers of gold and of predicted transitions.

    Raises
    ------
    LabelError
        If there is no such scheme.

    Examples
    --------
    >>> counter = ChunkCounter("iob2")
    >>> counter.add(["B-NP", "O"], ["B-NP", "B-VP"], sentence=1)
    Counts(correct=1, found=2, gold=1)
    >>> by_key(*counter.types)
    {'NP': Counts(correct=1, found=1, gold=1), 'VP': Counts(correct=0, found=1, gold=0)}
    """

    def __init__(self, scheme: str):
        if scheme not in ("auto", *SCHEMES):
            msg = (
                f"expected scheme 'auto', None or one of {', '.join(SCHEMES)}, found {scheme!r}; "
                "'auto' finds the scheme of the gold labels"
            )
            raise LabelError(msg)
        self._asked = scheme
        self.transitions = Counter[Transition](), Counter[Transition]()
        self.types = Counter[str](), Counter[str](), Counter[str]()

    def add(self, gold: Sequence[str], predicted: Sequence[str], sentence: int) -> Counts:
        """Count one sentence, whose number is for messages; return its counts.

        Raises
        ------
        LabelError
            If a gold label does not belong to a given scheme. A predicted label that is no chunk
            label counts as outside.
        """
        self.transitions[0].update(count_transitions([gold]))
        self.transitions[1].update(count_transitions([predicted]))
        try:
            in_gold = set(spans(gold, None if self._asked == "auto" else self._asked))
        except LabelError as error:
            msg = f"gold sentence {sentence}: {error.message}"
            raise LabelError(msg) from None
        in_predicted = set(spans(predicted))
        sets = (in_gold & in_predicted, in_predicted, in_gold)
        for counter, found in zip(self.types, sets, strict=True):
            counter.update(chunk_type for chunk_type, _, _ in found)
        return Counts(*map(len, sets))

    @property
    def scheme(self) -> str | None:
        """The given scheme, or that of the gold labels so far; None if they are no chunks."""
        return scheme_of(self.transitions[0]) if self._asked == "auto" else self._asked


def _figures(counts: Counts) -> str:
    """Return percentages in the arithmetic of the script, which rounds the last digit alike."""
    precision = 100 * counts.correct / counts.found if counts.found else 0.0
    recall = 100 * counts.correct / counts.gold if counts.gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if counts.correct else 0.0
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"


# ----------------------------------------------------------------- tables
def _sections(report: Report, confusion: int) -> Iterator[Section]:
    """Build the tables: accuracies, chunks by type, labels with most errors, confusions."""
    rows: list[tuple[Any, ...]]
    rows = [("tokens", report.accuracy, report.correct, report.tokens)]
    if report.known_tokens is not None:
        known, unknown = report.known_accuracy, report.unknown_accuracy
        rows.append(("known words", known, report.known_correct, report.known_tokens))
        rows.append(("unknown words", unknown, report.unknown_correct, report.unknown_tokens))
    rows.append(("sentences", report.sentence_accuracy, report.correct_sentences, report.sentences))
    yield Section(("", "accuracy", "correct", "of"), rows)

    heading = ("precision", "recall", "F1", "gold", "found")
    if report.scheme is not None:
        rows = [row("all", report.chunks)]
        if report.chunk_types.keys() != {""}:  # bare B, I and O have no types
            named = ((name or "(no type)", counts) for name, counts in report.chunk_types.items())
            rows.extend(row(*item) for item in named)
        note = (
            f"invalid transitions: {report.invalid_gold} in gold, "
            f"{report.invalid_predicted} in predicted labels"
        )
        yield Section((f"chunks ({report.scheme})", *heading), rows, note)
    worst = sorted(report.labels.items(), key=lambda item: -item[1].errors)[:10]
    rows = [row(label, counts) for label, counts in worst if counts.errors]
    if rows:
        yield Section(("labels with most errors", *heading), rows)

    wrong = {pair: n for pair, n in report.confusion.items() if pair[0] != pair[1]}
    rows = [(f"{a} -> {b}", n) for (a, b), n in most_frequent(wrong)[:confusion]]
    if rows:
        yield Section(("gold -> predicted", "tokens"), rows)
    if report.reliability is not None:
        yield report.reliability.section
