"""Texts with spans: what tools of annotation write as JSON, read into one form.

These are doccano (both layouts), Label Studio (JSON and JSON-MIN), Prodigy, spaCy (``entities``,
``ents``) and plain objects of a text and its spans. Nothing here knows of tokens or of training.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from seqtag.corpus.sentence import Span

OFFSETS = {"codepoint": (), "utf16": (0xFFFF,), "byte": (0x7F, 0x7FF, 0xFFFF)}
"""Units of positions in texts: characters, UTF-16 code units, bytes of UTF-8. The values are the
characters above which one more is counted."""

TEXTS = ("text", "data")
"""Fields that hold the text of an object."""

SPANS = ("spans", "entities", "ents", "label", "labels")
"""Fields that hold the spans of an object; Label Studio has any name, as people choose it."""

_STARTS, _ENDS = ("start", "start_offset"), ("end", "end_offset")
_LABELS = ("label", "labels", "type")
_NOT_ANNOTATED = ("reject", "ignore")  # answers of Prodigy
_TOOL_FIELDS = ("annotation_id", "annotator", "answer", "Comments")  # of objects that were seen


class TextSpan(NamedTuple):
    """A span of a text.

    Attributes
    ----------
    start, end
        Position in the text, in characters; -1 if it is within a character.
    label
        Its label.
    text
        What the tool took for its text; None if the file does not tell.
    """

    start: int
    end: int
    label: str
    text: str | None = None


class AnnotatedText(NamedTuple):
    """A text with its spans.

    Attributes
    ----------
    text
        The text.
    spans
        Its spans as the file has them, in any order; they may overlap.
    tokens
        Position of its tokens, if the file has them.
    left_out
        Why nobody has annotated it; empty if somebody has, even if there are no spans.
    remark
        What else to report of it.
    """

    text: str
    spans: Sequence[TextSpan] = ()
    tokens: Sequence[Span] | None = None
    left_out: str = ""
    remark: str = ""


def text_of(value: Any) -> str | None:
    """Return the text of a value of JSON; None if it has none.

    Examples
    --------
    >>> text_of({"id": 7, "text": "Why?"}), text_of({"tokens": ["Why", "?"]})
    ('Why?', None)
    """
    found = _fields_of(value)
    return None if found is None else found[0]


def shows_spans(value: Any) -> bool:
    """Return whether a value of JSON is a text that has spans, or a field for them.

    >>> shows_spans({"text": "In Oslo.", "label": [[3, 7, "LOC"]]}), shows_spans({"text": "Why?"})
    (True, False)
    >>> shows_spans({"text": "Fine!", "label": ["positive"]})
    False
    """
    found = _fields_of(value)
    if found is None:
        return False
    fields = found[1]
    return bool(_annotations_of(fields) is not None or _spans_field(fields) or "answer" in fields)


def annotated_text(value: Any, unit: str = "codepoint") -> AnnotatedText | None:
    """Return a value of JSON as a text with spans; None if it has no text.

    Parameters
    ----------
    value
        As JSON has it.
    unit
        Unit of its positions, in `OFFSETS`.

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
    >>> annotated_text({"text": "Why?", "spans": [], "answer": "ignore"}).left_out
    'answer: ignore'
    """
    found = _fields_of(value)
    if found is None:
        return None
    text, fields = found
    remark = left_out = ""
    annotations = _annotations_of(fields)
    items: list[Any] | None
    if annotations is not None:
        kept = [each for each in annotations if not _is_cancelled(each)]
        results = kept[0].get("result") or [] if kept else []
        items = [each.get("value") for each in results if isinstance(each, Mapping)]
        items = [each for each in items if isinstance(each, Mapping) and each.get("labels")]
        if not kept:
            left_out = "canceled annotation" if annotations else "no annotation"
        elif len(kept) > 1:
            remark = "several annotations, of which the first is used"
    else:
        name = _spans_field(fields)
        items = fields[name] if name else []
        if fields.get("answer") in _NOT_ANNOTATED:
            left_out = f"answer: {fields['answer']}"
        elif items is None:
            left_out = f"{name}: null"
        elif not (name or any(each in fields for each in _TOOL_FIELDS)):
            remark = "no field of spans, taken for a text without any"
    if left_out:
        return AnnotatedText(text, left_out=left_out)
    spans = [span for item in items or [] for span in _spans_of(item)]
    return AnnotatedText(text, in_characters(text, spans, unit), _tokens_of(fields), "", remark)


def in_characters(text: str, spans: Sequence[TextSpan], unit: str) -> list[TextSpan]:
    r"""Return spans with positions in characters, given those in another unit.

    >>> in_characters("\N{WAVING HAND SIGN} Oslo", [TextSpan(3, 7, "LOC")], "utf16")
    [TextSpan(start=2, end=6, label='LOC', text=None)]
    """
    units = units_before(text, OFFSETS[unit])
    if isinstance(units, range):
        return [*spans]

    def character(place: int) -> int:
        at = bisect_left(units, place)
        if at == len(units):
            return len(text) + place - units[-1]  # out of range, as it was
        return at if units[at] == place else min(place, -1)

    return [each._replace(start=character(each.start), end=character(each.end)) for each in spans]


def units_before(text: str, limits: Sequence[int]) -> Sequence[int]:
    """Return the number of units before each character of a text, and in all of it."""
    if not limits or text.isascii():
        return range(len(text) + 1)
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    units = 1 + sum((points > limit).astype(np.int64) for limit in limits)
    return [0, *np.cumsum(units).tolist()]


def _fields_of(value: Any) -> tuple[str, Mapping[str, Any]] | None:
    """Return text and fields of an object, or of a tuple as spaCy has them."""
    if isinstance(value, (list, tuple)) and len(value) == 2:
        text, fields = value
        return (text, fields) if isinstance(text, str) and isinstance(fields, Mapping) else None
    if not isinstance(value, Mapping):
        return None
    data = value.get("data")
    fields = data if isinstance(data, Mapping) else value
    targets = [
        each["to_name"]
        for annotation in _annotations_of(value) or []
        for each in annotation.get("result") or []
        if isinstance(each, Mapping) and isinstance(each.get("to_name"), str)
    ]
    texts = {name: each for name, each in fields.items() if isinstance(each, str)}
    names = [name for name in (*targets, *TEXTS) if name in texts]
    if not names and fields is data and len(texts) == 1:
        names = [*texts]
    return (texts[names[0]], value) if names else None


def _annotations_of(fields: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """Return the annotations of an object of Label Studio; None if it is none."""
    found = fields.get("annotations", fields.get("completions"))
    if not isinstance(fields.get("data"), Mapping) or not isinstance(found, list):
        return None
    return [each for each in found if isinstance(each, Mapping)]


def _is_cancelled(annotation: Mapping[str, Any]) -> bool:
    return bool(annotation.get("was_cancelled") or annotation.get("skipped"))


def _spans_field(fields: Mapping[str, Any]) -> str | None:
    """Return the name of the field of spans: one that has some, else one that has room for them."""
    lists = {name: value for name, value in fields.items() if isinstance(value, list)}
    for name in SPANS:
        if any(map(_is_span, lists.get(name, ()))):
            return name
    for name, items in lists.items():
        if items and all(_is_span(item) and "labels" in item for item in items):
            return name
    return next((name for name in SPANS if fields.get(name, "") in (None, [])), None)


def _is_span(item: Any) -> bool:
    """Return whether an item of a list looks like a span, correct or not."""
    if isinstance(item, Mapping):
        return None not in (_first_of(item, _STARTS), _first_of(item, _ENDS))
    return isinstance(item, (list, tuple)) and len(item) >= 3


def _first_of(item: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((item[name] for name in names if item.get(name) is not None), None)


def _spans_of(item: Any) -> list[TextSpan]:
    """Return the span of an item, one for each of its labels."""
    text = None
    if isinstance(item, Mapping):
        start, end, label = (_first_of(item, names) for names in (_STARTS, _ENDS, _LABELS))
        text = item["text"] if isinstance(item.get("text"), str) else None
    else:
        start, end, label = item[:3]
    labels = label if isinstance(label, list) else [label]
    if type(start) is not int or type(end) is not int or not _are_labels(labels):
        msg = (
            "expected spans with whole numbers for start and end, and a label, found "
            f"{item!r:.80}; correct it"
        )
        raise CorpusError(msg)
    return [TextSpan(start, end, label, text) for label in labels]


def _are_labels(labels: Sequence[Any]) -> bool:
    return bool(labels) and all(isinstance(label, str) and label for label in labels)


def _tokens_of(fields: Mapping[str, Any]) -> list[Span] | None:
    """Return where the tokens of an object begin and end, if it tells that of each."""
    tokens = fields.get("tokens")
    if not isinstance(tokens, list):
        return None
    found = [
        (each["start"], each["end"])
        for each in tokens
        if isinstance(each, Mapping)
        and type(each.get("start")) is int
        and type(each.get("end")) is int
    ]
    return found if len(found) == len(tokens) else None
