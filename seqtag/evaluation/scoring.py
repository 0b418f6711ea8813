"""Score of a tagger on sentences with gold labels."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from seqtag.corpus.datasets import is_dataset, sentences_in
from seqtag.evaluation.reliability import Reliability
from seqtag.evaluation.report import Origin, Report, evaluate
from seqtag.labels.column import HasColumns, LabelColumn
from seqtag.labels.schemes import convert, detect_scheme, prefixes_of
from seqtag.labels.spelling import with_outside

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

_log = logging.getLogger("seqtag")

_DIGITS = 8  # of the digest of training data


class Labeler(Protocol):
    """Interface of what `score` evaluates; `seqtag.Tagger` has it."""

    @property
    def label(self) -> str:
        """Name of the column, or of the columns, of its labels."""
        ...

    @property
    def label_scheme(self) -> str | None:
        """Scheme of its labels, if they are chunk labels."""
        ...

    @property
    def known_words(self) -> Container[str]:
        """Words of its training data."""
        ...

    @property
    def info(self) -> Mapping[str, Any]:
        """Description in its model file."""
        ...

    def tag_many(self, sentences: Iterable[Any], threads: int = 1, /) -> list[list[str]]:
        """Return the labels of sentences, in order."""
        ...


_Sentence = TypeVar("_Sentence", bound=HasColumns)


def score(
    tagger: Labeler,
    sentences: Iterable[_Sentence],
    *,
    gold: Callable[[_Sentence], list[str]] | None = None,
    task: str | None = None,
    words: bool = True,
    threads: int = 1,
    samples: bool = False,
) -> Report:
    r"""Compare a tagger's labels with the gold labels of sentences.

    Parameters
    ----------
    tagger
        Tags the sentences, which have its input columns.
    sentences
        Sentences as `seqtag.read` yields them, or a Hugging Face dataset. Read once, a generator
        is accepted; those without words are skipped.
    gold
        Returns the gold labels of a sentence; by default those in the tagger's label column.
    task
        Name of the task, for the signature; by default the tagger's label column.
    words
        Whether to read the column ``form``, to distinguish known and unknown words and to list
        errors by word.
    threads
        Threads to tag on.
    samples
        Whether to keep the counts of each sentence, for intervals and comparisons.

    Returns
    -------
    Report
        Chunks are scored if the tagger's labels are chunk labels; gold labels of a scheme with
        other prefixes are converted, which is logged. The signature names the model's
        version, training data and seed if the model has them. Without sentences all figures are
        zero. The report of a calibrated tagger includes the reliability of its scores.

    Raises
    ------
    CorpusError
        If a column is missing.
    LabelError
        If gold labels do not fit the tagger's scheme.
    TypeError
        If it is no tagger, or if they are no sentences.

    Examples
    --------
    >>> import io, seqtag
    >>> text = seqtag.read(io.BytesIO(b"Stop VERB\n! PUNCT\n"), columns=["form", "upos"])
    >>> report = score(seqtag.load("en").tagger("upos"), text)
    >>> report.accuracy, report.known_tokens
    (1.0, 2)
    """
    if not hasattr(tagger, "tag_many") or not hasattr(tagger, "label"):
        msg = (
            f"expected a tagger to score, found {type(tagger).__name__}; seqtag.evaluate compares "
            "lists of labels, and pipeline.tagger(NAME) is a component of a pipeline"
        )
        raise TypeError(msg)
    gold_of = LabelColumn(tagger.label).of if gold is None else gold
    labels: list[Sequence[str]] = []
    forms: list[list[str]] = []

    found: Iterable[Any] = sentences_in(sentences) if is_dataset(sentences) else sentences

    def collect() -> Iterator[_Sentence]:
        for sentence in found:
            if not hasattr(sentence, "column"):
                msg = f"expected sentences as seqtag.read yields them, found {sentence!r:.40}"
                raise TypeError(msg)
            if len(sentence):
                labels.append(gold_of(sentence))
                if words:
                    forms.append(sentence.column("form"))
                yield sentence

    reliability = None
    name = task or tagger.label
    known = bool((tagger.info.get("training") or {}).get("lacks_outside"))
    scored: Any = None
    if getattr(tagger, "is_calibrated", False):
        scored = tagger.tag_many(collect(), threads, scores=True)  # type: ignore[call-arg]
        predicted = [each.labels for each in scored]
    else:
        predicted = tagger.tag_many(collect(), threads)
    labels = with_outside(name, labels, known=known)
    if tagger.label_scheme:
        labels = in_scheme(labels, tagger.label_scheme, "gold")
    if scored is not None:
        right = [
            a == b
            for gold_labels, found in zip(labels, predicted, strict=True)
            for a, b in zip(gold_labels, found, strict=True)
        ]
        reliability = Reliability.of([p for each in scored for p in each.probabilities], right)
    report = evaluate(
        labels,
        predicted,
        words=forms if words else None,
        known=tagger.known_words if words else None,
        scheme=tagger.label_scheme,
        task=name,
        origin=origin_of(tagger.info),
        samples=samples,
    )
    return replace(report, reliability=reliability)


def in_scheme(labels: list[Sequence[str]], scheme: str, whose: str) -> list[Sequence[str]]:
    """Return chunk labels in a scheme, if they are written with other prefixes; log that.

    `whose` labels they are: ``gold`` or ``predicted``.
    """
    found = detect_scheme(labels)
    if found is None or prefixes_of(found) == prefixes_of(scheme):
        return labels
    _log.warning("the %s labels are %s, and are compared as %s", whose, found, scheme)
    return [convert(each, found, scheme) for each in labels]


def origin_of(info: Mapping[str, Any]) -> Origin:
    """Return the origin of a model, from the description in its file.

    Examples
    --------
    >>> training = {"seed": 1, "corpus_sha256": "0123456789abcdef"}
    >>> origin_of({"writer": "seqtag 0.2.0", "training": training})
    Origin(model='0.2.0', data='01234567', seed=1)
    >>> origin_of({})
    Origin(model=None, data=None, seed=None)
    """
    training = info.get("training") or {}
    writer, digest, seed = info.get("writer"), training.get("corpus_sha256"), training.get("seed")
    return Origin(
        model=str(writer).removeprefix("seqtag ") if writer else None,
        data=str(digest)[:_DIGITS] if digest else None,
        seed=None if seed is None else int(seed),
    )
