"""Texts as documents, with scores if asked for, and explanations of labels."""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NoReturn

from seqtag.corpus import read, sentence_of
from seqtag.corpus.stream import TextBytes
from seqtag.errors import SeqtagError
from seqtag.report.analysis import finite
from seqtag.report.page import explanation_data
from seqtag.segmentation.reading import SegmentedTexts
from seqtag.tagging.document import Document, sentences_in
from seqtag.tagging.streams import FilledSentence, columns_needed, tag_stream, tag_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from seqtag.serve.work import Deadline
    from seqtag.tagging.pipeline import Pipeline

EXPLAIN_FIELDS = ("model", "words", "word", "part", "rival", "nbest")
"""Fields of a request to explain a label."""

_MAX_WORDS = 2000  # of a sentence that is explained
_MAX_NBEST = 50
_MAX_ROWS = 15


def refuse_field(name: str, expected: str, found: str = "another value") -> NoReturn:
    """Refuse a request because of the value of a field."""
    msg = f"expected {expected} in the field {name}, found {found}"
    raise SeqtagError(msg)


def text_of(value: object, field: str = "text") -> str:
    """Return the text in a field of a request, which can be encoded in UTF-8."""
    if not isinstance(value, str):
        refuse_field(field, "text", "none" if value is None else "another value")
    try:
        value.encode()
    except UnicodeEncodeError:
        msg = "expected text, found a lone surrogate; leave it out"
        raise SeqtagError(msg) from None
    return value


@lru_cache(maxsize=16)
def check_columns(pipeline: Pipeline) -> None:
    """Refuse words alone for a model whose input has other columns."""
    for name in columns_needed(pipeline.taggers):
        FilledSentence(sentence_of({"form": ["_"]})).column(name)  # raises the error of tagging


def documents(pipeline: Pipeline, texts: Iterable[str], deadline: Deadline) -> Iterator[Document]:
    """Yield texts as documents; short ones are tagged together, which takes a tenth of the time."""

    def is_short(text: str) -> bool:
        return len(text) <= SegmentedTexts.MOST_CHARACTERS

    for short, group in groupby(texts, is_short):
        if short:
            yield from deadline.watch(pipeline.pipe(group))
            continue
        for text in group:
            stream = pipeline.segmented(read(TextBytes(text.encode()), "text"))
            tagged = tag_text(pipeline.taggers, stream, "conllu")
            yield pipeline.document(text, b"".join(deadline.watch(tagged)).decode())


def with_scores(
    pipeline: Pipeline, document: Document, offsets: str, deadline: Deadline
) -> Iterator[dict[str, Any]]:
    """Yield the sentences of `Document.to_dicts`; words have margins, and scores of calibration."""
    filled = list(tag_stream(pipeline.taggers, deadline.watch(sentences_in(str(document)))))
    scored = {
        tagger.label: list(deadline.watch(tagger.tag_many(filled, scores=True)))
        for tagger in pipeline.taggers
    }
    for number, sentence in enumerate(document.to_dicts(offsets)):
        words = (word for token in sentence["tokens"] for word in token["words"])
        for place, word in enumerate(words):
            found = {name: every[number] for name, every in scored.items()}
            word["margins"] = {name: finite(its.margins[place]) for name, its in found.items()}
            word["scores"] = {
                name: its.probabilities[place]
                for name, its in found.items()
                if its.probabilities is not None
            }
        yield sentence


def explain(pipeline: Pipeline, request: Mapping[str, Any], deadline: Deadline) -> dict[str, Any]:
    """Explain the label of a word, and list the best label sequences of its sentence.

    Parameters
    ----------
    pipeline
        The model.
    request
        ``words``, forms of a sentence; ``word``, the number of one of them from 0; ``part``, the
        column (by default the first); ``rival``, a label to compare with; ``nbest``, the number
        of sequences (0).
    deadline
        Time limit.

    Raises
    ------
    SeqtagError
        If a field is missing or has another value.
    """
    words, number = request.get("words"), request.get("word", 0)
    if not isinstance(words, list) or not 0 < len(words) <= _MAX_WORDS or not all(words):
        refuse_field("words", f"a list of 1 to {_MAX_WORDS} words")
    if type(number) is not int or not 0 <= number < len(words):
        refuse_field("word", f"a number from 0 to {len(words) - 1}")
    n, rival = request.get("nbest", 0), request.get("rival")
    if type(n) is not int or not 0 <= n <= _MAX_NBEST:
        refuse_field("nbest", f"a number from 0 to {_MAX_NBEST}")
    if not isinstance(rival, str | None):
        refuse_field("rival", "a label")
    forms = [text_of(word, "words") for word in words]
    columns, part = [tagger.label for tagger in pipeline.taggers], request.get("part")
    wanted = columns[0] if part is None and columns else part
    if wanted not in columns:
        msg = f"expected one of the components {', '.join(columns)}, found {str(wanted)[:80]!r}"
        raise SeqtagError(msg)
    *feeders, tagger = pipeline.taggers[: columns.index(str(wanted)) + 1]
    [sentence] = tag_stream(feeders, [sentence_of({"form": forms})])
    deadline.check()
    found = tagger.explain(sentence, number, rival).as_dict()
    deadline.check()
    best = tagger.nbest(sentence, n) if n else []
    return {
        "part": tagger.label,
        "word": number,
        "explanation": explanation_data(found, _MAX_ROWS),
        "nbest": [{"score": finite(float(score)), "labels": labels} for score, labels in best],
    }
