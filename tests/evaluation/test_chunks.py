"""seqtag.evaluation.report: the counter behind a report; its figures are tested there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from seqtag.errors import LabelError
from seqtag.evaluation.counts import Counts
from seqtag.evaluation.report import ChunkCounter, Report


def test_the_scheme_is_found_out_from_gold_labels():
    counter = ChunkCounter("auto")
    assert (counter.scheme, counter.types(None), counter.invalid(None)) == (None, {}, (0, 0))
    counter.add(["B-X", "I-X"], ["I-X", "I-X"], 1)
    assert counter.scheme == "iob2"
    assert counter.types("iob2") == {"X": Counts(1, 1, 1)}
    assert counter.invalid("iob2") == (0, 1)


def test_the_scheme_asked_for_stands():
    counter = ChunkCounter("iob1")
    counter.add(["I-X"], ["I-X"], 1)
    assert (counter.scheme, counter.invalid("iob1")) == ("iob1", (0, 0))
    with pytest.raises(LabelError, match="gold sentence 2: expected labels of scheme iob1"):
        counter.add(["NOUN"], ["O"], 2)
    with pytest.raises(LabelError, match="expected scheme 'auto', None or one of iob2"):
        ChunkCounter("bioes")


def test_totals_and_the_block_without_tokens():
    empty = Report("chunk", "iob2", 0, 0, 0, 0, {})
    assert empty.conlleval() == "processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0.\n"
    types = {"X": Counts(1, 2, 3), "Y": Counts(0, 1, 1)}
    assert replace(empty, chunk_types=types).chunks == Counts(1, 3, 4)
