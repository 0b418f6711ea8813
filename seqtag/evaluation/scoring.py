"""Score of a tagger on sentences with gold labels."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from seqtag.corpus import read
from seqtag.corpus.gold import GoldLabels
from seqtag.corpus.span_sentences import LABEL as SPAN_COLUMN
from seqtag.evaluation.reliability import Reliability
from seqtag.evaluation.report import Origin, Report, evaluate
from seqtag.labels.column import LabelColumn
from seqtag.tagging.encode import sentences_from
from seqtag.tagging.pipeline import Cutter
from seqtag.tagging.streams import tag_stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from seqtag.corpus import Sentence
    from seqtag.tagging.pipeline import Loaded
    from seqtag.tagging.tagger import Tagger

_DIGITS = 8  # of the digest of training data


class Scored(NamedTuple):
    """Scores of a tagger, and the labels that they compare.

    Attributes
    ----------
    report
        The scores.
    gold
        The gold labels of each sentence.
    predicted
        The labels of each sentence, or `seqtag.tagging.runtime.ScoredLabels`.
    sentences
        The annotated sentences.
    """

    report: Report
    gold: list[Sequence[str]]
    predicted: list[Any]
    sentences: list[Sentence]


def score(
    model: Loaded,
    sentences: str | PathLike[str] | Iterable[Any],
    *,
    words: bool = True,
    threads: int = 1,
    samples: bool = False,
) -> Report:
    r"""Compare the labels of a model with the gold labels of sentences.

    Parameters
    ----------
    model
        A tagger, which takes its input columns from the sentences; or a pipeline that writes one
        column, such as ``pipeline.only("xpos")``, whose other components predict what it looks at.
        ``pipeline.tagger("xpos")`` would look at gold tags, so its scores would be too high.
    sentences
        A file, a table as `seqtag.read` takes it, or sentences as it yields them. Read once, a
        generator is accepted; those without words are skipped.
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
        Chunks are scored if the tagger's labels are chunk labels; gold labels of another scheme
        are converted, which is logged. The signature names the model's
        version, training data and seed if the model has them. Without sentences all figures are
        zero. The report of a calibrated tagger includes the reliability of its scores.

    Raises
    ------
    CorpusError
        If a column is missing.
    LabelError
        If gold labels do not fit the tagger's scheme.
    TypeError
        If it is no such model, or if they are no sentences.

    Examples
    --------
    >>> import io, seqtag
    >>> text = seqtag.read(io.BytesIO(b"Stop VERB\n! PUNCT\n"), columns=["form", "upos"])
    >>> report = score(seqtag.load("en").tagger("upos"), text)
    >>> report.accuracy, report.known_tokens
    (1.0, 2)
    """
    of_words: Sequence[Any] = getattr(model, "taggers", ()) or (model,)
    *before, tagger = of_words
    is_one = hasattr(tagger, "tag_many") and hasattr(tagger, "label")
    if not is_one or not all(each.hidden for each in before):
        msg = (
            f"expected a tagger to score, found {type(model).__name__}; seqtag.load reads a "
            "model, pipeline.only(NAME) is one column, and seqtag.evaluate compares lists of labels"
        )
        raise TypeError(msg)

    rows = sentences if isinstance(sentences, list) else []
    is_file = isinstance(sentences, (str, PathLike))
    column = LabelColumn(tagger.label)
    if is_file or not all(hasattr(each, "column") for each in rows):
        sentences = read(sentences, tokens_from=Cutter(model), as_cut=True)
        column = column if sentences.cutter is None else LabelColumn(SPAN_COLUMN)

    def checked() -> Iterator[Sentence]:
        for sentence in sentences_from(sentences):
            if not hasattr(sentence, "column"):
                msg = f"expected sentences as seqtag.read yields them, found {sentence!r:.40}"
                raise TypeError(msg)
            yield sentence

    tagged = tag_stream(before, checked(), threads)
    pairs = ((each, each.sentence) for each in tagged)
    found = score_pairs(tagger, pairs, column, words=words, threads=threads, samples=samples)
    return found.report


def score_pairs(
    tagger: Tagger,
    pairs: Iterable[tuple[Any, Sentence]],
    column: LabelColumn,
    *,
    words: bool = True,
    threads: int = 1,
    samples: bool = False,
    scores: bool = False,
) -> Scored:
    """Compare a tagger's labels with gold labels.

    Parameters
    ----------
    tagger
        As for `score`.
    pairs
        Sentences to tag, each with the annotated one. Those without words are skipped.
    column
        Has the gold labels.
    words, threads, samples
        As for `score`.
    scores
        Whether the result has the margins of labels; those of a calibrated tagger always are.

    Raises
    ------
    CorpusError, LabelError
        As `score`.
    """
    lacks_outside = bool((tagger.info.get("training") or {}).get("lacks_outside"))
    reader = GoldLabels(column, tagger.label_scheme, lacks_outside=lacks_outside)
    gold: list[Sequence[str]] = []
    kept: list[Sentence] = []

    def collect() -> Iterator[Any]:
        for sentence, annotated in pairs:
            if len(annotated):
                gold.append(reader.read(annotated))
                kept.append(annotated)
                yield sentence

    scores = scores or tagger.is_calibrated
    tagged: Any = tagger.tag_many(collect(), threads, scores=scores)  # type: ignore[call-overload]
    gold = reader.converted(gold)
    report = evaluate(
        gold,
        (each.labels for each in tagged) if scores else tagged,
        words=(each.words for each in kept) if words else None,
        known=tagger.known_words if words else None,
        scheme=tagger.label_scheme,
        task=column.name,
        origin=origin_of(tagger.info),
        samples=samples,
        missed=reader.missed,
    )
    if tagger.is_calibrated:
        right = [
            a == b
            for expected, found in zip(gold, tagged, strict=True)
            for a, b in zip(expected, found.labels, strict=True)
        ]
        reliability = Reliability.of([p for each in tagged for p in each.probabilities], right)
        report = replace(report, reliability=reliability)
    return Scored(report, gold, tagged, kept)


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
