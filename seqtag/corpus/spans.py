"""Texts with spans: what tools of annotation write as JSON, read into one form.

These are doccano (both layouts), Label Studio (JSON and JSON-MIN), Prodigy, spaCy (``entities``,
``ents``) and plain objects of a text and its spans. Nothing here knows of words or of training.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Sequence

OFFSETS = {"codepoint": (), "utf16": (0xFFFF,), "byte": (0x7F, 0x7FF, 0xFFFF)}
"""Units of positions in texts: characters, UTF-16 code units, bytes of UTF-8. The values are the
characters above which one more is counted."""

TEXT_FORMATS = ("jsonl", "doccano", "label-studio")
"""Formats that texts with other fields can be written in."""

TEXTS = ("text", "data")
"""Fields that hold the text of an object."""

SPANS = ("spans", "entities", "ents", "label", "labels")
"""Fields that hold the spans of an object; those of Label Studio may have any other name."""

NO_FIELD = "without a field of spans, taken for annotated ones without any"
"""Remark about an object of which it is not known whether somebody has annotated it."""

_SEVERAL = "with several annotations, of which the first is used"
_NOT_ANNOTATED = ("reject", "ignore")  # answers of Prodigy
_ANNOTATED = ("answer", "annotator", "annotation_id")  # fields of objects that somebody has seen
_PARTS = (("start", "start_offset"), ("end", "end_offset"), ("label", "labels", "type"))


class TextSpan(NamedTuple):
    """A span of a text.

    Attributes
    ----------
    start, end
        Position in the text, in the unit of the file.
    label
        Its label.
    text
        What the file says that its text is; None if it does not.
    """

    start: int
    end: int
    label: str
    text: str | None = None


class TextWithSpans(TypedDict):
    """A text and its spans as `from_spans` returns them: the plain layout of files."""

    text: str
    spans: list[object] | None


class AnnotatedText(NamedTuple):
    """A text with its spans.

    Attributes
    ----------
    text
        The text.
    spans
        Its spans as the file has them, in any order; they may overlap. None if no one has
        annotated the text.
    tokens
        Its tokens, without labels; none if the file does not have them.
    remark
        What to report of it, such as why it is not annotated.
    line
        The line of the file where it begins.
    place
        Its place for messages: the file, and the line or the number in an array.
    """

    text: str
    spans: Sequence[TextSpan] | None = None
    tokens: Sequence[TextSpan] = ()
    remark: str = ""
    line: int = 1
    place: str = ""


def text_of(value: Any) -> str | None:
    """Return the text of a value of JSON; None if it has none.

    >>> text_of({"id": 7, "text": "Why?"}), text_of({"tokens": ["Why", "?"]})
    ('Why?', None)
    """
    fields, _ = fields_of(value)
    return next((fields[name] for name in TEXTS if isinstance(fields.get(name), str)), None)


def from_spans(texts: Iterable[str], spans: Iterable[Iterable[Any] | None]) -> list[TextWithSpans]:
    """Return texts with spans as data to train on, to score and to read.

    Parameters
    ----------
    texts
        The texts.
    spans
        For each text its spans, in any order: tuples (start, end, label), with positions in
        characters; dictionaries of these; or spans of a `seqtag.Document`. None if no one has
        annotated the text, which is then left out.

    Returns
    -------
    list of dict
        An object for each text, as the plain layout of files has them. `seqtag.train` makes a
        pipeline of them.

    Raises
    ------
    CorpusError
        If there are more texts than lists of spans, or fewer.

    Examples
    --------
    >>> import seqtag
    >>> rows = from_spans(["Ada ran.", "Why?"], [[(0, 3, "PER")], []])
    >>> rows[0]
    {'text': 'Ada ran.', 'spans': [(0, 3, 'PER')]}
    >>> document = seqtag.train(rows, min_count=1)("Ada ran.")
    >>> [(span.text, span.label) for span in document.ents]
    [('Ada', 'PER')]
    """
    for name, values in (("texts", texts), ("lists of spans", spans)):
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            msg = f"expected {name} as a list, one for each text, found {values!r:.60}"
            raise TypeError(msg)
    texts, spans = [*texts], [*spans]
    flat = [each for each in spans if each and isinstance(next(iter(each)), (int, str))]
    if flat:
        msg = f"expected a list of spans for each text, found {flat[0]!r:.60}; write [span]"
        raise TypeError(msg)
    if len(texts) != len(spans):
        msg = f"expected spans for each text, found {len(texts)} texts and {len(spans)} lists"
        raise CorpusError(msg)
    return [
        {"text": text, "spans": found if found is None else [*map(_plain, found)]}
        for text, found in zip(texts, spans, strict=True)
    ]


def _plain(span: Any) -> Any:
    """Return a span of a document as a dictionary; others as they are."""
    if not hasattr(span, "label"):
        return span
    return {"start": span.start, "end": span.end, "label": span.label, "text": span.text}


def mostly_spans(values: Sequence[Any]) -> bool:
    """Return whether nearly all values are texts with spans.

    >>> mostly_spans([{"text": "In Oslo.", "label": [[3, 7, "LOC"]]}]), mostly_spans([{"text": ""}])
    (True, False)
    """
    shown = sum(map(_shows_spans, values))
    return 0 < 9 * len(values) <= 10 * shown


def _shows_spans(value: Any) -> bool:
    """Return whether a value of JSON is a text with spans, correct or not, or room for them."""
    try:
        found = annotated_text(value)
    except CorpusError:
        return True
    return found is not None and found.remark != NO_FIELD


def annotated_text(value: Any) -> AnnotatedText | None:
    """Return a value of JSON as a text with spans; None if it has no text.

    Raises
    ------
    CorpusError
        If a span lacks its position or its label.

    Examples
    --------
    >>> spans = [{"start": 3, "end": 7, "label": "LOC"}]
    >>> annotated_text({"text": "In Oslo.", "spans": spans}).spans
    [TextSpan(start=3, end=7, label='LOC', text=None)]
    >>> annotated_text(["In Oslo.", {"entities": [[3, 7, "LOC"]]}]).text
    'In Oslo.'
    >>> annotated_text({"text": "Why?", "spans": [], "answer": "ignore"}).remark
    'left out, answer: ignore'
    """
    text = text_of(value)
    if text is None:
        return None
    fields, remark = fields_of(value)
    name, answer = _spans_field(fields), fields.get("answer")
    if answer in _NOT_ANNOTATED:
        return AnnotatedText(text, remark=f"left out, answer: {answer}")
    if name is None and not {*_ANNOTATED} & {*fields}:
        remark = NO_FIELD
    items = fields[name] if name else []
    if items is None:
        return AnnotatedText(text, remark="left out, not annotated")
    spans = [span for item in items for span in _spans_of(item)]
    places = map(_parts_of, _objects(fields.get("tokens")))
    tokens = [TextSpan(start, end, "") for start, end, _ in places]
    return AnnotatedText(text, spans, tokens, remark=remark)


def in_characters(text: str, spans: Sequence[TextSpan], unit: str) -> list[TextSpan]:
    r"""Return spans with positions in characters, -1 outside of the text and within characters.

    >>> in_characters("\N{WAVING HAND SIGN} Oslo", [TextSpan(3, 7, "LOC")], "utf16")
    [TextSpan(start=2, end=6, label='LOC', text=None)]
    """
    units = units_before(text, OFFSETS[unit])
    numbers = {place: number for number, place in enumerate(units)}
    return [
        span._replace(start=numbers.get(span.start, -1), end=numbers.get(span.end, -1))
        for span in spans
    ]


def differing(text: str, spans: Sequence[TextSpan]) -> list[TextSpan]:
    """Return the spans that have another text in the file than at their place.

    >>> differing("In Oslo.", [TextSpan(3, 7, "LOC", "Oslo"), TextSpan(0, 4, "LOC", "Oslo")])
    [TextSpan(start=0, end=4, label='LOC', text='Oslo')]
    """
    return [each for each in spans if each.text not in (None, text[each.start : each.end])]


def units_before(text: str, limits: Sequence[int]) -> Sequence[int]:
    """Return the number of units before each character of a text, and in all of it."""
    if not limits or text.isascii():
        return range(len(text) + 1)
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    units = 1 + sum((points > limit).astype(np.int64) for limit in limits)
    return [0, *np.cumsum(units).tolist()]


def fields_of(value: Any) -> tuple[Mapping[str, Any], str]:
    """Return a value as an object with fields of `TEXTS` and spans, and a remark about it.

    >>> fields_of(["Why?", {"entities": []}])
    ({'text': 'Why?', 'entities': []}, '')
    """
    if isinstance(value, (list, tuple)) and len(value) == 2 and isinstance(value[1], Mapping):
        return {"text": value[0], **value[1]}, ""
    if not isinstance(value, Mapping):
        return {}, ""
    data, annotations = value.get("data"), value.get("annotations", value.get("completions"))
    if not isinstance(data, Mapping) or not isinstance(annotations, list):
        return value, ""
    given = _objects(annotations)  # Label Studio
    kept = [each for each in given if not (each.get("was_cancelled") or each.get("skipped"))]
    results = _objects(kept[0].get("result")) if kept else []
    regions = [each for each in results if str(each.get("type")).endswith("labels")]
    texts = {name: each for name, each in data.items() if isinstance(each, str)}
    names = [*(each.get("to_name") for each in regions), *TEXTS, *([*texts] * (len(texts) == 1))]
    text = next((texts[name] for name in names if name in texts), None)
    spans = [each.get("value") for each in regions] if kept else None
    return {"text": text, "spans": spans}, _SEVERAL if len(kept) > 1 else ""


def _objects(values: Any) -> list[Mapping[str, Any]]:
    items = values if isinstance(values, list) else []
    return [each for each in items if isinstance(each, Mapping)]


def _spans_field(fields: Mapping[str, Any]) -> str | None:
    """Return the name of the field of spans: one that has some, else one that has room for them."""
    lists = {name: value for name, value in fields.items() if isinstance(value, list)}
    filled = [n for n, items in lists.items() if any(None not in _parts_of(i) for i in items)]
    empty = [name for name in SPANS if fields.get(name, "") in (None, [])]
    return next(iter([*(name for name in SPANS if name in filled), *empty, *filled]), None)


def _parts_of(item: Any) -> Sequence[Any]:
    """Return start, end and labels of an item, None for each that it lacks."""
    if isinstance(item, Mapping):
        values = [[item[name] for name in names if name in item] for names in _PARTS]
        return [next(iter(found), None) for found in values]
    return item[:3] if isinstance(item, (list, tuple)) and len(item) >= 3 else [None] * 3


def _spans_of(item: Any) -> list[TextSpan]:
    """Return the span of an item, once for each of its labels."""
    start, end, label = _parts_of(item)
    labels = label if isinstance(label, list) and label else [label]
    are_labels = all(isinstance(each, str) and each for each in labels)
    if type(start) is not int or type(end) is not int or not are_labels:
        msg = (
            "expected spans with whole numbers for start and end, and a label, found "
            f"{item!r:.80}; correct it"
        )
        raise CorpusError(msg)
    text = item.get("text") if isinstance(item, Mapping) else None
    return [TextSpan(start, end, each, text) for each in labels]
