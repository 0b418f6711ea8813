"""Scores of models and tagged files on a file of annotated sentences."""

from __future__ import annotations

import io
from itertools import zip_longest
from typing import TYPE_CHECKING

from seqtag.corpus import UNLIMITED, Sentence, SentenceStream, read
from seqtag.corpus.conllu import COLUMNS as CONLLU
from seqtag.corpus.gold import NO_LABEL, GoldLabels, is_in
from seqtag.corpus.sentence import find_column
from seqtag.corpus.span_sentences import LABEL as SPAN_COLUMN
from seqtag.corpus.surface import raw_text_of
from seqtag.corpus.withheld import check_words
from seqtag.errors import IN_ANOTHER_FORM, CorpusError, did_you_mean, same_letters
from seqtag.evaluation.aligned import METRICS, AlignedReport, score_aligned
from seqtag.evaluation.report import Report, evaluate
from seqtag.evaluation.scoring import Scored, origin_of, score_pairs
from seqtag.labels.column import NO_LABELS, LabelColumn
from seqtag.labels.schemes import detect_scheme
from seqtag.tagging.document import SHOWN_COLUMNS
from seqtag.tagging.pipeline import Pipeline
from seqtag.tagging.streams import tag_stream, tag_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from seqtag.tagging.pipeline import Loaded
    from seqtag.tagging.tagger import Tagger


def score_system(
    gold: SentenceStream,
    system: SentenceStream | Loaded,
    *,
    name: str,
    label: str | None = None,
    aligned: bool = False,
    raw: bool = False,
    component: str | None = None,
    threads: int = 1,
    samples: bool = False,
) -> tuple[Report | AlignedReport, Scored | None]:
    """Score a tagged file or a model on annotated sentences.

    Parameters
    ----------
    gold
        Annotated sentences.
    system
        Sentences of the same text, or a model that tags those of `gold`.
    name
        Name of the system, for messages.
    label
        Column to score, or for an `AlignedReport` the name of its headline; by default the
        model's column, or the usual label column of the file.
    aligned
        Whether the sentences of a file may be segmented differently: see `score_aligned`.
    raw
        Whether the model segments the raw text of `gold` itself.
    component
        Component of a pipeline to score by itself.
    threads
        Threads to tag on.
    samples
        Whether to keep the counts of each sentence, for intervals and comparisons.

    Returns
    -------
    report : Report or AlignedReport
        An `AlignedReport` with `aligned` or `raw`, and of pipelines, unless `label` is a component
        without a row in it, such as ``misc.NER``.
    scored : Scored or None
        The labels that a `Report` compares.

    Raises
    ------
    CorpusError
        If there are no sentences, the texts differ, or a column or component is missing.
    """
    check_words(gold)
    if gold.cutter is not None and not isinstance(system, SentenceStream):
        component, label = component or label or _column_of_names(system), SPAN_COLUMN
    scored = None
    predicted: Iterable[Sentence]
    if isinstance(system, Pipeline) and label and component is None:
        label = find_column(label, system.parts) or label
    elif isinstance(system, Pipeline) and not (component or raw or {*CONLLU} <= {*gold.columns}):
        label = _only_column_of(system, gold)
    headline = label or "words"
    if isinstance(system, SentenceStream) and not aligned:
        scored = score_file(gold, system, label, samples=samples)
    elif isinstance(system, SentenceStream):
        predicted = require_conllu(system)
        found = score_aligned(require_conllu(gold), predicted, headline=headline, samples=samples)
    elif isinstance(system, Pipeline) and (
        raw or (component is None and not is_scored_alone(system, label, gold.columns))
    ):
        if not raw and label not in (*system.parts, None):
            msg = (
                f"expected one of the components {', '.join(system.parts)}, found {label!r}"
                f"{did_you_mean(label or '', system.parts)}"
            )
            raise CorpusError(msg, source=name)
        sentences = list(require_conllu(gold))
        if raw:
            predicted = system.sentences(raw_text_of(sentences), paragraphs="blank")
        else:
            predicted = _with_columns_of(system, sentences, gold.columns, threads)
        origin = origin_of(system.info)
        found = score_aligned(
            sentences, predicted, headline=headline, origin=origin, samples=samples
        )
    else:
        *feeders, tagger = taggers_of(system, component or label, name)
        column = LabelColumn(label or tagger.label)
        if label is None and not is_in(column, gold.columns) and any(map(len, gold)):
            others = [name for name in gold.columns if name not in (*NO_LABELS, "misc")]
            advice = "name the columns of this one with --columns"
            if gold.format == "jsonl" and others:
                advice = f"choose another column with --label {others[-1]}"
            msg = (
                f"expected a file with the column {column.name}, which the model predicts, found "
                f"one with the columns {', '.join(gold.columns)}; give a file that has it, or "
                f"{advice}"
            )
            raise gold.layout.explained(CorpusError(msg, source=gold.source))
        filled = tag_stream(feeders, gold, threads)
        pairs = ((each, each.sentence) for each in filled)
        scored = score_pairs(tagger, pairs, column, threads=threads, samples=samples)
    report = scored.report if scored else found
    if not report.sentences:
        msg = "expected sentences to score, found none"
        raise CorpusError(msg, source=gold.source)
    return report, scored


def _only_column_of(system: Pipeline, gold: SentenceStream) -> str | None:
    """Return the label of the one component whose column a file has that is not CoNLL-U."""
    labels = [each.label for each in system.taggers if not each.hidden]
    found = [label for label in labels if is_in(LabelColumn(label), gold.columns)]
    if len(found) != 1 and any(map(len, gold)):
        msg = (
            f"expected CoNLL-U, or one of the columns {', '.join(found or labels)}, found a file "
            f"with the columns {', '.join(gold.columns)}; give files in CoNLL-U, or name the "
            "column to score with --label"
        )
        raise gold.layout.explained(CorpusError(msg, source=gold.source))
    return found[0] if found else None


def _with_columns_of(
    system: Pipeline, sentences: Sequence[Sentence], columns: tuple[str, ...], threads: int
) -> SentenceStream:
    """Return sentences with the labels of a pipeline, and no others in the columns of words."""
    options = {} if columns == CONLLU else {"columns": columns}  # with more columns

    def again(data: bytes) -> SentenceStream:
        return read(io.BytesIO(data), "auto" if options else "conllu", limits=UNLIMITED, **options)

    text = "".join(sentence.raw for sentence in sentences if len(sentence))
    tagged = again(b"".join(tag_text(system.taggers, again(text.encode()), threads=threads)))
    filled = {name for tagger in system.taggers for name in tagger.label_columns}
    gold = [name for name in SHOWN_COLUMNS if name not in filled]  # no predictions
    if not gold:
        return tagged
    cleared = (each.replace({n: ["_"] * len(each) for n in gold}) for each in tagged if len(each))
    return again("".join(cleared).encode())


def _column_of_names(model: Loaded) -> str | None:
    """Return a column of a model that has chunks, if possible names; None if none has."""
    chunked = [each for each in model.taggers if each.label_scheme]
    return next((each.label for each in sorted(chunked, key=lambda e: not e.finds_names)), None)


def is_scored_alone(pipeline: Loaded, label: str | None, columns: Sequence[str] = CONLLU) -> bool:
    """Whether a column is a component of a pipeline that an `AlignedReport` has no row for.

    There is no such report of files without the columns of CoNLL-U.
    """
    has_row = {*CONLLU} <= {*columns} and label in METRICS
    return not has_row and label in {tagger.label for tagger in pipeline.taggers}


def score_file(
    gold: SentenceStream,
    predicted: SentenceStream,
    label: str | None = None,
    *,
    samples: bool = False,
) -> Scored:
    """Score the labels of one file against those of another with the same words.

    Parameters
    ----------
    gold, predicted
        Sentences; those without words are skipped.
    label
        Column to score; by default the usual label column of `gold`.
    samples
        Whether to keep the counts of each sentence, for intervals and comparisons.

    Raises
    ------
    CorpusError
        If the words differ, or a file has no such column.
    """
    column = column_of(gold, label)
    expected = GoldLabels(column)
    readers = [expected, GoldLabels(column, predicted=True)]
    pieces, (labels, guesses) = read_together([gold, predicted], readers)
    sentences = [each for each in pieces if len(each)]
    report = evaluate(
        labels,
        guesses,
        words=(each.words for each in sentences),
        scheme=None if gold.layout.scheme == "none" else "auto",
        task=column.name,
        samples=samples,
        missed=expected.missed,
    )
    return Scored(report, labels, guesses, sentences)


def read_together(
    streams: Sequence[SentenceStream], readers: Sequence[GoldLabels]
) -> tuple[list[Sentence], list[list[Sequence[str]]]]:
    """Read the labels of files of the same words, in the first chunk scheme that one has.

    Parameters
    ----------
    streams, readers
        The files, and what reads the labels of each.

    Returns
    -------
    pieces
        Sentences of the first file, and the pieces between them that have no words.
    labels
        For each file the labels of each sentence.

    Raises
    ------
    CorpusError
        If the words differ, or a file has no such column.
    LabelError
        If some labels are chunk labels and others are not.
    """
    pieces = [*streams[0]]
    labels: list[list[Sequence[str]]] = [[] for _ in streams]
    others = (filter(len, each) for each in streams[1:])
    for found in zip_longest(filter(len, pieces), *others):
        left = next(each for each in found if each is not None)
        for stream, reader, of_file, right in zip(streams, readers, labels, found, strict=True):
            if right is None or (right is not left and right.words != left.words):
                words = [] if right is None else right.words
                both = enumerate(zip(left.words, words, strict=False))
                i = next((i for i, (a, b) in both if a != b), min(len(left), len(words)))
                same = same_letters("\n".join(left.words[i:]), "\n".join(words[i:]))
                form = IN_ANOTHER_FORM if same else ""
                end = f"the end of the {'sentence' if right else 'file'}"
                shown = [
                    f'"{" ".join(each[i : i + 4])}"' if each[i:] else end
                    for each in (left.words, words)
                ]
                msg = (
                    f"expected the words of {left.source}:{left.line_of(min(i, len(left) - 1))}, "
                    f"{shown[0]}, found {shown[1]}{form}; compare files of the same text"
                )
                line = right.line_of(min(i, len(right) - 1)) if right else None
                raise CorpusError(msg, source=stream.source, line=line)
            of_file.append(reader.read(right))
    labels[0] = readers[0].converted(labels[0])
    if streams[0].layout.scheme != "none":
        readers[0].refuse_odd(", or compare all labels as they are with --scheme none")
        plain = ([[x for x in each if x != NO_LABEL] for each in of_file] for of_file in labels)
        scheme = next(filter(None, map(detect_scheme, plain)), None)
        for reader in readers:
            reader.scheme = scheme
    labels[1:] = [each.converted(of) for each, of in zip(readers[1:], labels[1:], strict=True)]
    return pieces, labels


def column_of(stream: SentenceStream, label: str | None) -> LabelColumn:
    """Return a column by its name, or else the usual label column of a file.

    Raises
    ------
    CorpusError
        If the file has no labels, or no sentences.
    """
    if label:
        return LabelColumn(label)
    try:
        return LabelColumn.default(stream.columns, stream.source)
    except CorpusError:
        if any(map(len, stream)):
            raise
        msg = "expected sentences to score, found none"  # an empty file has no columns
        raise CorpusError(msg, source=stream.source) from None


def taggers_of(loaded: Loaded, label: str | None, name: str) -> Sequence[Tagger]:
    """Return the tagger of a column, preceded by those whose labels it uses.

    Parameters
    ----------
    loaded
        A tagger, or a pipeline.
    label
        Column of a component of the pipeline; by default that of the first one.
    name
        Name of the model, for messages.

    Raises
    ------
    CorpusError
        If the pipeline has no such component.
    """
    if not isinstance(loaded, Pipeline):
        return [loaded]
    labels = tuple(tagger.label for tagger in loaded.taggers)
    wanted = find_column(label, labels) if label else next(iter(labels), None)
    if wanted not in labels:
        known = ", ".join(loaded.parts)
        msg = f"expected a component that labels words, one of {known}, found {label!r}"
        raise CorpusError(msg, source=name)
    taggers = loaded.only(str(wanted)).taggers
    return taggers[: 1 + [tagger.label for tagger in taggers].index(str(wanted))]


def require_conllu(stream: Iterable[Sentence]) -> Iterator[Sentence]:
    """Return the sentences of a CoNLL-U file.

    Raises
    ------
    CorpusError
        If it is a file in another format.
    """
    for sentence in stream:
        if len(sentence) and "id" not in sentence.columns:
            msg = (
                "expected CoNLL-U, which marks tokens and sentences, found a file with "
                f"the columns {', '.join(sentence.columns)}; give files in CoNLL-U, or name the "
                "column to score with --label"
            )
            raise CorpusError(msg, source=sentence.source, line=sentence.line_of(0))
        yield sentence
