"""Score of a tagger on sentences with gold labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from seqtag.evaluation.reliability import Reliability
from seqtag.evaluation.report import Origin, Report, Words, evaluate
from seqtag.labels.column import HasColumns, LabelColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_DIGITS = 8  # of the digest of training data


class Labeller(Protocol):
    """What `score` asks of a tagger; `seqtag.Tagger` is one."""

    @property
    def label(self) -> str:
        """Name of the column, or of the columns, of its labels."""
        ...

    @property
    def label_scheme(self) -> str | None:
        """Scheme of its labels, if they are chunk labels."""
        ...

    @property
    def known_words(self) -> Words:
        """The words of its training data."""
        ...

    @property
    def info(self) -> Mapping[str, Any]:
        """What its file says of it."""
        ...

    def tag_many(self, sentences: Iterable[Any], threads: int = 1, /) -> list[list[str]]:
        """Labels of sentences, in order."""
        ...


_Sentence = TypeVar("_Sentence", bound=HasColumns)


def score(
    tagger: Labeller,
    sentences: Iterable[_Sentence],
    *,
    gold: Callable[[_Sentence], list[str]] | None = None,
    task: str | None = None,
    words: bool = True,
    threads: int = 1,
    samples: bool = False,
) -> Report:
    r"""Compare a tagger's labels with those that sentences have.

    Parameters
    ----------
    tagger
        Tags the sentences; they have the columns it looks at.
    sentences
        Read once, a generator will do; those without words are left out.
    gold
        Gives the labels of a sentence; by default the tagger's label column does.
    task
        Name of what is scored, for the signature; by default the tagger's label column.
    words
        Whether to look at the column ``form``, to tell known words from unknown ones and to list
        errors by word.
    threads
        Threads to tag on.
    samples
        Whether to keep the counts of each sentence, for intervals and comparisons.

    Returns
    -------
    Report
        Chunks are scored if the tagger's labels are chunk labels. The signature names the model's
        version, training data and seed where the model has them. Of no sentences all figures are
        zero. A calibrated tagger's report says how its scores fit.

    Raises
    ------
    CorpusError
        If a column is missing.
    LabelError
        If gold labels do not fit the tagger's scheme.

    Examples
    --------
    >>> import io, seqtag
    >>> text = seqtag.read(io.BytesIO(b"Stop VERB\n! PUNCT\n"), columns=["form", "upos"])
    >>> report = score(seqtag.load("en-ewt-upos"), text)
    >>> report.accuracy, report.known_tokens
    (1.0, 2)
    """
    give = LabelColumn(tagger.label).of if gold is None else gold
    labels: list[Sequence[str]] = []
    forms: list[list[str]] = []

    def noted() -> Iterator[_Sentence]:
        for sentence in sentences:
            if len(sentence):
                labels.append(give(sentence))
                if words:
                    forms.append(sentence.column("form"))
                yield sentence

    reliability = None
    if getattr(tagger, "is_calibrated", False):
        judged = tagger.tag_with_margins(noted(), threads)  # type: ignore[attr-defined]
        predicted = [labels for labels, _ in judged]
        reliability = _reliability(tagger, labels, judged)
    else:
        predicted = tagger.tag_many(noted(), threads)
    report = evaluate(
        labels,
        predicted,
        words=forms if words else None,
        known=tagger.known_words if words else None,
        scheme=tagger.label_scheme,
        task=task or tagger.label,
        origin=origin_of(tagger.info),
        samples=samples,
    )
    return replace(report, reliability=reliability)


def _reliability(
    tagger: Any, gold: Sequence[Sequence[str]], judged: Sequence[tuple[list[str], list[float]]]
) -> Reliability:
    """How the calibrated scores of labels fit."""
    scores: list[float] = []
    right: list[bool] = []
    for expected, (labels, margins) in zip(gold, judged, strict=True):
        scores += tagger.calibrated(margins, [None] * len(labels))
        right += [a == b for a, b in zip(expected, labels, strict=True)]
    return Reliability.of(scores, right)


def origin_of(info: Mapping[str, Any]) -> Origin:
    """What a model's file says of where it comes from.

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
