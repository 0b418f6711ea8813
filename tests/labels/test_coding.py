"""Label coding: as written and as learned, there and back, and what may follow what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.errors import LabelError
from seqtag.labels.coding import LabelCoding
from seqtag.labels.schemes import SCHEMES, convert, count_transitions

IOB2 = [["B-NP", "I-NP", "O"], ["B-VP"]]
PLAIN = [["DET", "NOUN"]]
chunks = st.lists(st.sampled_from(["B-X", "I-X", "B-Y", "I-Y", "O"]), max_size=8)


@pytest.mark.parametrize("encoding", [*SCHEMES, "keep"])
@given(labels=chunks)
def test_what_is_learnt_comes_back(encoding, labels):
    labels = convert(labels, "iob2", "iob2")  # valid ones
    coding = LabelCoding.choose(count_transitions(IOB2), encoding, constrained=True)
    assert coding.decode(coding.encode(labels)) == labels
    assert coding.is_local == (encoding not in ("iob1", "ioe1", "ioe2"))
    if coding.is_local:
        assert [coding.decode_alone(label) for label in coding.encode(labels)] == labels


def test_a_coding_is_found():
    transitions = count_transitions(IOB2)
    assert LabelCoding.choose(transitions, "iobes", constrained=True) == LabelCoding(
        "iob2", "iobes", True
    )
    assert LabelCoding.choose(transitions, "keep", constrained=False) == LabelCoding(
        "iob2", "iob2", False
    )
    plain = LabelCoding.choose(count_transitions(PLAIN), "iobes", constrained=True)
    assert plain == LabelCoding()
    assert plain.encode(["DET"]) == plain.decode(["DET"]) == ["DET"]


def test_an_encoding_that_was_asked_for_needs_chunk_labels():
    with pytest.raises(LabelError) as error:
        LabelCoding.choose(count_transitions(PLAIN), "iobes", constrained=True, encoding_given=True)
    assert str(error.value) == (
        "expected chunk labels such as B-NP to learn as iobes, found labels like 'DET'; "
        "leave the encoding out"
    )


@pytest.mark.parametrize(
    ("coding", "label", "places"),
    [
        (LabelCoding("iob2", "iobes", True), "B-X", [0, 3]),
        (LabelCoding("iob2", "iobes"), "B-X", [0, 1, 2, 3]),
        (LabelCoding("iob2", "iobes"), "O", [4]),
        (LabelCoding("iob1", "iobes", True), "I-Y", [5]),
        (LabelCoding("iob1", "iobes", True), "I-Z", []),
    ],
)
def test_places_of_the_labels_that_may_be_written_so(coding, label, places):
    learned = ["B-X", "I-X", "E-X", "S-X", "O", "S-Y"]
    assert coding.encoded_ids(label, learned) == places


def test_outside_is_no_label_of_a_nameless_type():
    coding = LabelCoding("iob1", "iobes", True)
    assert coding.encoded_ids("O", ["B", "E", "O"]) == [2]
    assert coding.encoded_ids("B", ["B", "E", "O"]) == [0, 1]
