"""Objects of annotation tools are read into texts with spans in characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus.spans import (
    TextSpan,
    annotated_text,
    from_spans,
    in_characters,
    mostly_spans,
    text_of,
)
from seqtag.errors import CorpusError

TEXT = "Mira Falk lives in Norvale."
TRIPLES = [[0, 9, "PER"], [19, 26, "LOC"]]
OBJECTS = [{"start": start, "end": end, "label": label} for start, end, label in TRIPLES]
REGIONS = [
    {"start": start, "end": end, "text": TEXT[start:end], "labels": [label]}
    for start, end, label in TRIPLES
]
NAMED = [
    {"id": 1, "start_offset": start, "end_offset": end, "label": label}
    for start, end, label in TRIPLES
]


def of_label_studio(*annotations, key="text"):
    return {"id": 1, "annotations": [*annotations], "predictions": [], "data": {key: TEXT}}


def annotation(regions, *, cancelled=False, to_name="text"):
    facts = {"from_name": "label", "to_name": to_name, "type": "labels"}
    relation = {"from_id": "a", "to_id": "b", "type": "relation"}
    choice = {**facts, "type": "choices", "value": {"choices": ["news"]}}
    result = [{**facts, "value": region} for region in regions]
    return {"was_cancelled": cancelled, "result": [*result, relation, choice]}


@pytest.mark.parametrize(
    "value",
    [
        {"id": 1, "text": TEXT, "label": TRIPLES, "Comments": []},
        {"id": 1, "text": TEXT, "labels": TRIPLES},
        {"id": 1, "data": TEXT, "label": TRIPLES},
        {"id": 1, "text": TEXT, "entities": NAMED, "relations": [], "Comments": []},
        of_label_studio(annotation(REGIONS)),
        of_label_studio(annotation(REGIONS, to_name="review"), key="review"),
        of_label_studio(annotation(REGIONS), key="review"),
        of_label_studio(annotation([], cancelled=True), annotation(REGIONS)),
        {"id": 1, "text": TEXT, "names": REGIONS, "annotator": 1, "created_at": "2026-01-01"},
        {"text": TEXT, "spans": OBJECTS, "answer": "accept", "_task_hash": 7},
        [TEXT, {"entities": TRIPLES}],
        {"text": TEXT, "ents": OBJECTS, "sents": [{"start": 0, "end": 27}]},
        {"text": TEXT, "spans": TRIPLES, "label": "positive"},
        {"text": TEXT, "entities": [{**each, "type": each["label"]} for each in OBJECTS]},
    ],
)
def test_layouts_give_the_same(value):
    found = annotated_text(value)
    assert mostly_spans([value])
    assert text_of(value) == found.text == TEXT
    assert [span[:3] for span in found.spans] == [tuple(triple) for triple in TRIPLES]
    assert {span.text for span in found.spans} <= {None, "Mira Falk", "Norvale"}
    assert found.remark == ""


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"text": TEXT, "spans": OBJECTS, "answer": "reject"}, "answer: reject"),
        ({"text": TEXT, "answer": "ignore"}, "answer: ignore"),
        ({"text": TEXT, "spans": None}, "not annotated"),
        (of_label_studio(), "not annotated"),
        (of_label_studio(annotation(REGIONS, cancelled=True)), "not annotated"),
    ],
)
def test_texts_without_annotation_are_left_out(value, reason):
    found = annotated_text(value)
    assert (found.spans, found.remark) == (None, f"left out, {reason}")


@pytest.mark.parametrize(
    ("value", "remark"),
    [
        ({"text": TEXT, "spans": []}, ""),
        ({"text": TEXT, "answer": "accept"}, ""),
        ({"text": TEXT, "annotator": 1}, ""),
        (of_label_studio(annotation([])), ""),
        ({"text": TEXT}, "without a field of spans"),
        (of_label_studio(annotation([]), annotation(REGIONS)), "several annotations"),
    ],
)
def test_texts_without_spans_are_kept(value, remark):
    found = annotated_text(value)
    assert (found.text, found.spans) == (TEXT, [])
    assert remark in found.remark
    assert bool(remark) == bool(found.remark)


def test_tokens_are_those_of_the_file():
    tokens = [{"text": "Mira", "start": 0, "end": 4, "id": 0}, {"start": 5, "end": 9, "id": 1}]
    value = {"text": "Mira Falk", "tokens": tokens, "spans": OBJECTS[:1]}
    assert [span[:2] for span in annotated_text(value).tokens] == [(0, 4), (5, 9)]
    assert annotated_text({**value, "tokens": ["Mira", "Falk"]}).tokens == []


@pytest.mark.parametrize(
    "value",
    [{"tokens": ["Why"]}, {"text": 1}, [TEXT, [0, 1]], TEXT, None, {"data": {"a": "x", "b": "y"}}],
)
def test_values_without_a_text_are_none(value):
    assert annotated_text(value) is None
    assert not mostly_spans([value])


@pytest.mark.parametrize("value", [{"text": TEXT, "label": ["news"]}, {"text": TEXT, "label": "x"}])
def test_labels_of_texts_are_no_spans(value):
    assert not mostly_spans([value])


@pytest.mark.parametrize(
    "span", [["0", "4", "PER"], [0, 4, ""], {"start": 0, "end": 4}, {**OBJECTS[0], "end": 4.5}, 7]
)
def test_malformed_spans_are_refused(span):
    with pytest.raises(CorpusError, match="whole numbers for start and end, and a label"):
        annotated_text({"text": TEXT, "spans": [OBJECTS[0], span]})


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.sampled_from(
        [("utf16", "utf-16-le", 2), ("byte", "utf-8", 1), ("codepoint", "utf-32-le", 4)]
    ),
    st.data(),
)
def test_positions_in_other_units_become_characters(text, unit, data):
    name, encoding, size = unit
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    places = [len(text[:place].encode(encoding)) // size for place in (start, end)]
    assert in_characters(text, [TextSpan(*places, "X")], name) == [TextSpan(start, end, "X")]


def test_positions_within_characters_and_outside_are_none():
    spans = [TextSpan(1, 7, "X"), TextSpan(3, 9, "X"), TextSpan(-1, 3, "X")]
    found = in_characters("\N{WAVING HAND SIGN} Oslo", spans, "utf16")
    assert [(each.start, each.end) for each in found] == [(-1, 6), (2, -1), (-1, 2)]


def test_from_spans_wants_spans_for_each_text():
    with pytest.raises(CorpusError, match="found 2 texts and 1 lists"):
        from_spans(["a", "b"], [[]])
