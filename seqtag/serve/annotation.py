"""Answers of the server: tagged text, margins and scores, and explanations of labels."""

from __future__ import annotations

from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from weakref import WeakSet

import numpy as np

from seqtag.corpus import read, sentence_of
from seqtag.corpus.conllu import COLUMNS as CONLLU
from seqtag.corpus.sentence import find_column, split_key, values_of
from seqtag.corpus.stream import TextBytes
from seqtag.corpus.surface import spaces_of
from seqtag.errors import SeqtagError
from seqtag.labels.schemes import OUTSIDE
from seqtag.report.analysis import finite
from seqtag.report.page import explanation_data
from seqtag.segmentation.reading import SegmentedTexts
from seqtag.tagging.document import SHOWN, cut_by_rules, spans_in
from seqtag.tagging.pipeline import Pipeline
from seqtag.tagging.streams import FilledSentence, columns_needed, tag_stream, tag_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from seqtag.corpus import Sentence
    from seqtag.serve.work_queue import Deadline
    from seqtag.tagging.pipeline import Loaded
    from seqtag.tagging.tagger import Tagger

OFFSETS = ("codepoint", "utf16", "byte")
"""Units of positions in texts: characters, UTF-16 code units, bytes of UTF-8."""

EXPLAIN_FIELDS = ("model", "words", "word", "part", "rival", "nbest")
"""Fields of a request to explain a label."""

_needs_words: WeakSet[Loaded] = WeakSet()  # models that need no other columns
_MOST_WORDS = 2000  # of a sentence that is explained
_MOST_NBEST = 50
_BATCH = 64  # sentences or texts between two checks of the deadline
_MOST_ROWS = 15


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


def check_columns(loaded: Loaded) -> None:
    """Refuse words alone for a model whose input has other columns."""
    if loaded not in _needs_words:
        for name in columns_needed(loaded.taggers):
            FilledSentence(sentence_of({"form": ["_"]})).column(name)  # raises the error of tagging
        _needs_words.add(loaded)


def annotate(
    loaded: Loaded,
    texts: Sequence[str],
    deadline: Deadline,
    *,
    scores: bool = False,
    offsets: str = "codepoint",
) -> Iterator[Iterator[dict[str, Any]]]:
    """Yield the sentences of each text, with tokens, their words, and labels.

    Chunks, such as names, are in the field ``spans`` by column, if the model finds any kind. Short
    texts are tagged together, which takes a tenth of the time. Take the sentences of a text before
    those of the next.

    Parameters
    ----------
    loaded
        The model; see `check_columns`.
    texts
        The texts; see `text_of`.
    deadline
        Time limit.
    scores
        Whether to add margins, and calibrated scores if the model has them.
    offsets
        Unit of positions, one of `OFFSETS`.
    """
    shown = [each for each in loaded.taggers if not each.hidden]
    chunkers = [each for each in shown if each.label_scheme]
    names = [name for each in shown for name in each.label_columns]
    keys = {name: (split_key(name, CONLLU) or ("", ""))[1] for name in names}
    fields = ["misc" if keys[name] else find_column(name, CONLLU) for name in names]
    plain = not scores and {*fields} <= {*SHOWN, "misc"} and len({*fields}) == len(fields)
    if plain and isinstance(loaded, Pipeline) and loaded.segmenter:
        places = [(n, CONLLU.index(str(f)), keys[n]) for n, f in zip(names, fields, strict=True)]
        found = (_from_conllu(deadline.watch(each), places) for each in _conllu(loaded, texts))
    else:
        found = (_from_sentences(loaded, data, deadline, scores=scores) for data in texts)
    for data, sentences in zip(texts, found, strict=True):
        answers = _answers(data, sentences, chunkers)
        if offsets == "codepoint" or data.isascii():
            yield answers
        else:
            yield _in_units(data, answers, offsets)


def _in_units(
    data: str, sentences: Iterable[dict[str, Any]], unit: str
) -> Iterator[dict[str, Any]]:
    """Yield sentences whose positions count UTF-16 code units or bytes of UTF-8."""
    points = np.frombuffer(data.encode("utf-32-le"), np.uint32)
    limits = (0xFFFF,) if unit == "utf16" else (0x7F, 0x7FF, 0xFFFF)
    units = 1 + sum((points > limit).astype(np.int64) for limit in limits)
    before = [0, *np.cumsum(units).tolist()]
    for each in sentences:
        for span in chain(each["tokens"], *each.get("spans", {}).values()):
            span["start"], span["end"] = before[span["start"]], before[span["end"]]
        yield each


class _Place(NamedTuple):
    """Positions of a word in a text."""

    start: int
    end: int


class _Tagged(NamedTuple):
    """Sentence as rows of CoNLL-U, the labels of its words by column, and scores of each word."""

    rows: Sequence[Sequence[str]]
    labels: Mapping[str, Sequence[str]]
    scores: Sequence[dict[str, Any]] = ()


def _answers(
    data: str, sentences: Iterable[_Tagged], chunkers: Sequence[Tagger]
) -> Iterator[dict[str, Any]]:
    """Yield tagged sentences with the positions of their tokens and chunks in the text."""
    offset = 0
    for rows, labels, scores in sentences:
        tokens: list[dict[str, Any]] = []
        places: list[Any] = []
        left = 0  # words of the current token that are still to come
        for row in rows:
            if not left:
                after, before, text = spaces_of(row[1], row[9])
                place = _Place(offset + len(before), offset + len(before) + len(text))
                offset, left = place.end + len(after), 1
                words: list[dict[str, Any]] = []
                tokens.append({"text": text, **place._asdict(), "words": words})
                if "-" in row[0]:
                    first, _, last = row[0].partition("-")
                    left = int(last) - int(first) + 1
                    continue
            number = len(places)
            of_word = {name: values[number] for name, values in labels.items()}
            words.append({"form": row[1], "labels": of_word})
            if scores:
                words[-1] |= scores[number]
            places.append(place)
            left -= 1
        answer: dict[str, Any] = {
            "text": data[tokens[0]["start"] : tokens[-1]["end"]],
            "tokens": tokens,
        }
        if chunkers:
            answer["spans"] = {
                each.label: [
                    {"label": span.label, "text": span.text, "start": span.start, "end": span.end}
                    for span in spans_in(
                        data, places, labels[each.label], each.label_scheme, each.label
                    )
                ]
                for each in chunkers
            }
        yield answer


def _from_conllu(
    pieces: Iterable[str], places: Sequence[tuple[str, int, str]]
) -> Iterator[_Tagged]:
    """Yield sentences whose labels are in CoNLL-U, which the kernel writes.

    `places`: the name of each label, the number of its column, and its key if that is MISC.
    """
    for piece in pieces:
        for block in piece.split("\n\n")[:-1]:
            rows = [line.split("\t") for line in block.split("\n") if line[0] != "#"]
            words = [row for row in rows if "-" not in row[0]]
            labels = {}
            for name, column, key in places:
                labels[name] = [row[column] for row in words]
                if key:
                    found = values_of(labels[name], key)
                    labels[name] = [OUTSIDE if each == "_" else each for each in found]
            yield _Tagged(rows, labels)


def _conllu(loaded: Pipeline, texts: Iterable[str]) -> Iterator[Iterable[str]]:
    """Yield the tagged CoNLL-U of each text in pieces; short texts are tagged together."""
    for is_short, group in groupby(texts, lambda text: len(text) <= SegmentedTexts.MOST_CHARACTERS):
        if is_short:
            yield from ((str(document),) for document in loaded.pipe(group, batch_size=_BATCH))
        else:
            yield from (conllu_pieces(loaded, data) for data in group)


def conllu_pieces(loaded: Pipeline, data: str) -> Iterator[str]:
    """Yield the tagged CoNLL-U of a text in pieces; short texts use the memory of a pipeline."""
    if len(data) <= SegmentedTexts.MOST_CHARACTERS:
        yield str(loaded(data))
    else:
        stream = loaded.segmented(read(TextBytes(data.encode()), "text"))
        yield from (piece.decode() for piece in tag_text(loaded.taggers, stream, "conllu"))


def _from_sentences(
    loaded: Loaded, data: str, deadline: Deadline, *, scores: bool
) -> Iterator[_Tagged]:
    """Yield sentences of any model, with scores if wanted."""
    cut: Iterable[Sentence]
    if loaded.segmenter:
        cut = deadline.watch(loaded.segmented(read(TextBytes(data.encode()), "text")))
    else:  # white space is kept, so that the offsets of words are right
        cut = cut_by_rules(data, deadline.watch)
    sentences = filter(len, cut)
    while batch := list(islice(sentences, _BATCH)):
        filled = list(tag_stream(loaded.taggers, batch))
        deadline.check()
        scored = {
            tagger.label: list(deadline.watch(tagger.tag_many(filled, scores=True)))
            for tagger in loaded.taggers
            if scores
        }
        for i, each in enumerate(filled):
            lines = each.sentence.raw.split("\n")
            labels = {name: found for name, found in each.filled.items() if name not in each.hidden}
            found = {name: every[i] for name, every in scored.items()}
            of_words = [
                {
                    "margins": {name: finite(its.margins[j]) for name, its in found.items()},
                    "scores": {
                        name: its.probabilities[j]
                        for name, its in found.items()
                        if its.probabilities is not None
                    },
                }
                for j in range(len(each.sentence) if scores else 0)
            ]
            rows = [line.split("\t") for line in lines if line and line[0] != "#"]
            yield _Tagged(rows, labels, of_words)


def explain(loaded: Loaded, request: Mapping[str, Any], deadline: Deadline) -> dict[str, Any]:
    """Explain the label of a word, and list the best label sequences of its sentence.

    Parameters
    ----------
    loaded
        The model.
    request
        ``words``, forms of a sentence; ``word``, the number of one of them from 0; ``part``, the
        column (by default the first); ``rival``, a label to compare with; ``nbest``, the number
        of sequences (0).

    Raises
    ------
    SeqtagError
        If a field is missing or has another value.
    """
    words, number = request.get("words"), request.get("word", 0)
    if not isinstance(words, list) or not 0 < len(words) <= _MOST_WORDS or not all(words):
        refuse_field("words", f"a list of 1 to {_MOST_WORDS} words")
    if type(number) is not int or not 0 <= number < len(words):
        refuse_field("word", f"a number from 0 to {len(words) - 1}")
    n, rival = request.get("nbest", 0), request.get("rival")
    if type(n) is not int or not 0 <= n <= _MOST_NBEST:
        refuse_field("nbest", f"a number from 0 to {_MOST_NBEST}")
    if not isinstance(rival, str | None):
        refuse_field("rival", "a label")
    forms = [text_of(word, "words") for word in words]
    columns, part = [tagger.label for tagger in loaded.taggers], request.get("part")
    wanted = columns[0] if part is None and columns else part
    if wanted not in columns:
        msg = f"expected one of the components {', '.join(columns)}, found {str(wanted)[:80]!r}"
        raise SeqtagError(msg)
    *feeders, tagger = loaded.taggers[: columns.index(str(wanted)) + 1]
    [sentence] = tag_stream(feeders, [sentence_of({"form": forms})])
    deadline.check()
    found = tagger.explain(sentence, number, rival).as_dict()
    deadline.check()
    best = tagger.nbest(sentence, n) if n else []
    return {
        "part": tagger.label,
        "word": number,
        "explanation": explanation_data(found, _MOST_ROWS),
        "nbest": [{"score": finite(float(score)), "labels": labels} for score, labels in best],
    }
