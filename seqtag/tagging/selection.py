"""Choosing what to annotate next: what a model is most uncertain about.

``python -m benchmarks.selection`` measures what this saves.
"""

from __future__ import annotations

import json
import logging
import re
from heapq import nlargest
from itertools import chain, groupby, islice, tee
from math import sqrt
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from seqtag.corpus import FORMATS, Sentence, sentence_of
from seqtag.corpus.formats import joined
from seqtag.corpus.surface import numbered_by_document
from seqtag.tagging.document import sentences_in
from seqtag.tagging.encode import columns_of
from seqtag.tagging.pipeline import Cutter
from seqtag.tagging.streams import TagCounts, TagOptions, tag_stream
from seqtag.tagging.texts import tagged_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from seqtag.corpus import SentenceStream
    from seqtag.corpus.texts import TextRecord
    from seqtag.tagging.document import Document
    from seqtag.tagging.pipeline import Chain, Loaded
    from seqtag.tagging.runtime import ModelRuntime
    from seqtag.tagging.streams import FilledSentence

_BATCH = 1000  # sentences at a time; the first ones give the scale of the margins
_SCALE_PERCENT = 5  # of the words have a smaller margin than the scale
_LARGEST_SCALE = 1e9  # where a model knows one label only
_PLACE = re.compile(r"^#\s*new(?:doc|par)\b.*\n", re.MULTILINE)  # of no use in another order

_log = logging.getLogger("seqtag")

_Candidate: TypeAlias = "tuple[float, int, Any]"
"""What a sentence or text is worth, the number of its document, and the sentence or record."""


def worths(
    taggers: Sequence[ModelRuntime],
    items: Iterable[Sequence[Sentence]],
    threads: int = 1,
    *,
    keep: bool = False,
) -> Iterator[float]:
    """Yield what each item, some sentences with words, is worth: errors / sqrt(words).

    A label with margin m counts as exp(-m / scale) errors: a tie as one, a label to keep as none.
    The scale of a tagger is the fifth percentile of its margins in the first 1000 sentences. Sums
    favor long items, and means short ones; the root saves both items and words.
    """
    given, others = tee(items)
    how = TagOptions(margin=True, keep=keep)
    errors = _errors(tag_stream(taggers, chain.from_iterable(others), threads, how))
    for item in given:
        yield sum(islice(errors, len(item))) / sqrt(max(1, sum(map(len, item))))


def _errors(tagged: Iterator[FilledSentence]) -> Iterator[float]:
    """Yield about how many labels of each sentence are wrong."""
    scale = None
    while batch := list(islice(tagged, _BATCH)):
        margins = [np.array(each.margins) for each in batch]  # (taggers, words) each
        if scale is None:
            known = np.minimum(np.concatenate(margins, axis=1), _LARGEST_SCALE)
            scale = np.maximum(np.percentile(known, _SCALE_PERCENT, axis=1, keepdims=True), 1.0)
        for each in margins:
            yield float(np.exp(-each / scale).sum())


def uncertainty(model: Loaded, items: Iterable[Any], threads: int = 1) -> NDArray[np.float64]:
    """Return how uncertain a model is about texts or sentences: what is worth annotating next.

    Parameters
    ----------
    model
        A tagger or pipeline.
    items
        Texts, sentences from `seqtag.read`, or lists of words.
    threads
        Threads to decode on; the results are the same.

    Returns
    -------
    numpy.ndarray
        (items,) float64: about how many labels are wrong, by the margins of the words, divided by
        the root of the number of words. Values of one call can be compared; 0 without words.

    Raises
    ------
    SeqtagError, TypeError
        As `tag_text` and `tag` of the model.

    Examples
    --------
    >>> import seqtag
    >>> tagger = seqtag.load("en").tagger("upos")
    >>> texts = ["The dog sees the cat.", "Paint dries rush hour blues.", ""]
    >>> [texts[i] for i in seqtag.uncertainty(tagger, texts).argsort()[::-1]]
    ['Paint dries rush hour blues.', 'The dog sees the cat.', '']
    """
    if isinstance(items, str):
        msg = f"expected texts or sentences, found one text, {items!r:.40}; give a list of it"
        raise TypeError(msg)
    items, others = tee(items)
    documents = Cutter(model).pipe((each for each in others if isinstance(each, str)), threads)
    with_words = ([*filter(len, _sentences(item, documents))] for item in items)
    return np.fromiter(worths(model.taggers, with_words, threads), float)


def _sentences(item: Any, documents: Iterator[Document]) -> Iterable[Sentence]:
    """Return the sentences of a text, the next document, or a sentence from a file or of words."""
    if isinstance(item, str):
        return sentences_in(str(next(documents)))
    if isinstance(item, Sentence):
        return [item]
    [words] = columns_of(item, ())
    return [sentence_of({"form": words})]


def selected(
    models: Chain,
    streams: Sequence[SentenceStream],
    options: TagOptions,
    threads: int = 1,
    *,
    number: int,
    per_document: int | None = None,
) -> Iterator[bytes]:
    """Yield the sentences of open files that are most worth annotating, tagged, the best first.

    Each has its worth: a comment ``uncertainty`` of CoNLL-U, or a field of JSON. Of texts with
    other fields, texts are chosen, and written as they are tagged. Memory use does not grow with
    the files.

    Parameters
    ----------
    models
        The models.
    streams
        From `seqtag.read`.
    options
        How to tag and to write: JSON lines if all files are such, otherwise CoNLL-U, unless there
        is a format.
    number
        How many sentences to choose, no two with the same words.
    per_document
        How many to choose from a document at most, or None.
    threads
        Threads to decode on; the results are the same.

    Raises
    ------
    OptionError, CorpusError
        As `Chain.tagged`.
    """
    if any(each.format == "spans" for each in streams):
        if per_document:
            _log.warning(
                "each text is a document, of which all is chosen: --per-document is unused"
            )
        yield from _selected_texts(models, streams, options, threads, number)
        return
    sources = models.cut(streams, options, threads)
    numbered, others = tee(numbered_by_document(chain.from_iterable(sources)))
    found = worths(models.taggers, ([each] for _, each in others), threads, keep=options.keep)
    candidates: Iterable[_Candidate] = (
        (worth, *each) for worth, each in zip(found, numbered, strict=True)
    )
    if per_document:
        documents = groupby(candidates, key=itemgetter(1))
        candidates = chain.from_iterable(_best(each, per_document) for _, each in documents)
    chosen = _best(candidates, number)
    for source in sources:
        source.report()
    _note_fewer(len(chosen), number, "sentences")
    formats = {each.format for each in sources}
    to = options.to or ("jsonl" if formats == {"jsonl"} else "conllu")
    if to not in ("conllu", "jsonl"):
        _log.info("the format %s has no room for uncertainty, --to conllu and jsonl have", to)
    tagged = tag_stream(models.taggers, [each for *_, each in chosen], threads, options)
    pieces = (
        _written(filled, value, to, in_place=formats == {to})
        for filled, (value, *_) in zip(tagged, chosen, strict=True)
    )
    yield from joined(pieces, to)


def _selected_texts(
    models: Chain,
    streams: Sequence[SentenceStream],
    options: TagOptions,
    threads: int,
    number: int,
) -> Iterator[bytes]:
    """Yield the objects of the texts that are most worth annotating, tagged, the best first."""
    pipeline = models.of_texts([each.format for each in streams], options)
    records, others = tee(chain.from_iterable(stream.texts() for stream in streams))
    documents = Cutter(pipeline).pipe((each.text for each in others), threads)
    sentences = ([*filter(len, sentences_in(str(each)))] for each in documents)
    found = worths(pipeline.taggers, sentences, threads)
    candidates = ((worth, 0, each) for worth, each in zip(found, records, strict=True))
    chosen = _best(candidates, number, key=attrgetter("text"))
    _note_fewer(len(chosen), number, "texts")
    with_worth = (_with_worth(each, worth) for worth, _, each in chosen)
    yield from tagged_texts(pipeline, with_worth, options, threads, TagCounts())


def _with_worth(record: TextRecord, value: float) -> TextRecord:
    """Return a record with a field for its worth, in a task of Label Studio among its data."""
    data, worth = record.fields.get("data"), {"uncertainty": float(f"{value:.4g}")}
    fields = {"data": {**data, **worth}} if isinstance(data, dict) else worth
    return record._replace(fields={**record.fields, **fields})


def _note_fewer(chosen: int, number: int, what: str) -> None:
    if chosen < number:
        _log.warning("chose %d %s, not %d: no others have other words", chosen, what, number)


def _words_of(sentence: Sentence) -> str:
    return " ".join(sentence.words)


def _best(
    candidates: Iterable[_Candidate], number: int, key: Callable[[Any], str] = _words_of
) -> list[_Candidate]:
    """Return the candidates worth most, the best first, and the first of those with equal keys."""
    best: dict[str, _Candidate] = {}
    for each in candidates:
        best.setdefault(key(each[2]), each)
        if len(best) > 2 * number:
            best = dict(nlargest(number, best.items(), key=lambda item: item[1][0]))
    return nlargest(number, best.values(), key=itemgetter(0))


def _written(filled: FilledSentence, value: float, to: str, *, in_place: bool) -> bytes:
    """Return a sentence in a format, with its uncertainty if there is room."""
    filled.comments.append(f"uncertainty = {value:.4g}")
    text = _PLACE.sub("", filled.text(None if in_place else to).strip("\ufeff\r\n"))
    if to == "jsonl":
        fields = {**json.loads(text), "uncertainty": float(f"{value:.4g}")}
        text = json.dumps(fields, ensure_ascii=False)
    return f"{text}\n\n".encode() if FORMATS[to].is_table else f"{text}\n".encode()
