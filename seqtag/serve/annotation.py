"""Answers of the server: tagged text, margins and scores, and explanations of labels."""

from __future__ import annotations

import io
from itertools import islice
from typing import TYPE_CHECKING, Any

from seqtag.corpus import read, sentence_of
from seqtag.corpus.stream import TextBytes
from seqtag.errors import SeqtagError
from seqtag.report.analysis import finite
from seqtag.report.page import explanation_data
from seqtag.tagging.document import DocumentSentence, cut_by_rules, spans_in
from seqtag.tagging.streams import tag_stream, tag_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from seqtag.corpus import Sentence
    from seqtag.serve.work_queue import Deadline
    from seqtag.tagging.pipeline import Loaded

_MOST_WORDS = 2000  # of a sentence that is explained
_MOST_NBEST = 50
_BATCH = 64  # sentences between two checks of the deadline
_MOST_ROWS = 15


def text_of(value: object, field: str = "text") -> str:
    """Return the text in a field of a request, which can be encoded in UTF-8."""
    if not isinstance(value, str):
        msg = f"expected text in the field {field}, found none"
        raise SeqtagError(msg)
    try:
        value.encode()
    except UnicodeEncodeError:
        msg = "expected text, found a lone surrogate; leave it out"
        raise SeqtagError(msg) from None
    return value


def annotate(loaded: Loaded, text: object, deadline: Deadline) -> Iterator[dict[str, Any]]:
    """Yield the sentences of a text: tokens, their words, and labels with margins and scores.

    Chunks, such as names, are in the field ``spans`` by column, if the model finds any kind.

    Raises
    ------
    SeqtagError
        If it is not a text.
    """
    data = text_of(text)
    taggers = loaded.taggers
    if loaded.segmenter:
        stream = loaded.segmented(read(TextBytes(data.encode()), "text"))
        raw = b"".join(deadline.watch(tag_text([], stream, "conllu")))
        sentences: Iterator[Sentence] = iter(
            each for each in read(io.BytesIO(raw), "conllu") if len(each)
        )
    else:  # white space is kept, so that the offsets of words are right
        sentences = iter(cut_by_rules(data, deadline.watch))
    chunkers = [each for each in taggers if each.label_scheme and not each.hidden]
    offset = 0
    while batch := list(islice(sentences, _BATCH)):
        filled = list(tag_stream(taggers, batch))
        deadline.check()
        scored = {
            tagger.label: list(deadline.watch(tagger.tag_many(filled, scores=True)))
            for tagger in taggers
        }
        for i, each in enumerate(filled):
            shown = DocumentSentence(each.sentence.raw, offset)
            offset = shown.next_offset
            margins = {name: found[i].margins for name, found in scored.items()}
            probabilities = {name: found[i].probabilities for name, found in scored.items()}
            known = {name: values for name, values in probabilities.items() if values is not None}
            labels = {name: found for name, found in each.filled.items() if name not in each.hidden}
            tokens, j = [], 0
            for token in shown.tokens:
                words = []
                for word in token.words:
                    words.append(
                        {
                            "form": word.text,
                            "labels": {name: found[j] for name, found in labels.items()},
                            "margins": {name: finite(found[j]) for name, found in margins.items()},
                            "scores": {name: found[j] for name, found in known.items()},
                        }
                    )
                    j += 1
                span = {"text": token.text, "start": token.start, "end": token.end}
                tokens.append({**span, "words": words})
            answer: dict[str, Any] = {"text": shown.text, "tokens": tokens}
            if chunkers:
                answer["spans"] = {}
            for chunker in chunkers:
                name = chunker.label
                spans = spans_in(data, shown.words, labels[name], chunker.label_scheme, name)
                answer["spans"][name] = [
                    {"label": each.label, "text": each.text, "start": each.start, "end": each.end}
                    for each in spans
                ]
            yield answer


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
    is_list = isinstance(words, list) and all(isinstance(word, str) and word for word in words)
    if not isinstance(words, list) or not is_list or not 0 < len(words) <= _MOST_WORDS:
        msg = f"expected a list of 1 to {_MOST_WORDS} words in the field words, found another value"
        raise SeqtagError(msg)
    if type(number) is not int or not 0 <= number < len(words):
        msg = f"expected a number from 0 to {len(words) - 1} in the field word, found another value"
        raise SeqtagError(msg)
    n, rival = request.get("nbest", 0), request.get("rival")
    if type(n) is not int or not 0 <= n <= _MOST_NBEST:
        msg = f"expected a number from 0 to {_MOST_NBEST} in the field nbest, found another value"
        raise SeqtagError(msg)
    if not isinstance(rival, str | None):
        msg = "expected a label in the field rival, found another value"
        raise SeqtagError(msg)
    forms = [text_of(word) for word in words]
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
