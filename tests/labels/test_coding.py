"""Label coding: as written and as learnt, there and back, and what may follow what."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.errors import LabelError
from seqtag.labels.coding import LabelCoding
from seqtag.labels.schemes import SCHEMES, allowed, convert, count_transitions

IOB2 = [["B-NP", "I-NP", "O"], ["B-VP"]]
PLAIN = [["DET", "NOUN"]]
chunks = st.lists(st.sampled_from(["B-X", "I-X", "B-Y", "I-Y", "O"]), max_size=8)


@pytest.mark.parametrize("encoding", ["iobes", "bilou", "iob2", "keep"])
@given(labels=chunks)
def test_what_is_learnt_comes_back(encoding, labels):
    labels = convert(labels, "iob2", "iob2")  # valid ones
    coding = LabelCoding.choose(count_transitions(IOB2), encoding, constrained=True)
    assert coding.as_written(coding.as_learnt(labels)) == labels
    assert coding.is_local
    assert [coding.written_alone(label) for label in coding.as_learnt(labels)] == labels


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
    assert plain.as_learnt(["DET"]) == plain.as_written(["DET"]) == ["DET"]


def test_an_encoding_that_was_asked_for_needs_chunk_labels():
    with pytest.raises(LabelError) as error:
        LabelCoding.choose(count_transitions(PLAIN), "iobes", constrained=True, asked=True)
    assert str(error.value) == (
        "expected chunk labels such as B-NP to learn as iobes, found labels like 'DET'; "
        "leave the encoding out"
    )


@pytest.mark.parametrize("written", SCHEMES)
def test_a_label_says_by_itself_how_it_is_written_in_iob2_alone(written):
    assert LabelCoding(written, written).is_local
    other = "bilou" if written == "iobes" else "iobes"
    assert LabelCoding(written, other, constrained=True).is_local == (written == "iob2")
    assert not LabelCoding(written, other, constrained=False).is_local


def test_what_may_follow_what():
    labels = ["B-X", "E-X", "O"]
    assert LabelCoding("iob2", "iobes").allowed(labels) is None
    found = LabelCoding("iob2", "iobes", constrained=True).allowed(labels)
    for table, wanted in zip(found, allowed(labels, "iobes"), strict=True):
        np.testing.assert_array_equal(table, wanted)
