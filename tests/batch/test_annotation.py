"""Batches of every kind get their labels."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import pickle

import numpy as np
import pytest

import seqtag
from seqtag.batch import SeqtagBatch
from seqtag.errors import CorpusError
from seqtag.tagging import TagOptions
from tests.command_line import home

TOKENS = [["the", "dog", "barks"], None, [], ["a", "cat"]]


@pytest.fixture
def labels(home) -> list:
    tagger = seqtag.load(home / "upos.seqtag")
    return [None if tokens is None else tagger.tag(tokens) for tokens in TOKENS]


@pytest.fixture
def batch(home) -> SeqtagBatch:
    """One that has travelled."""
    return pickle.loads(pickle.dumps(SeqtagBatch(home / "upos.seqtag")))


def test_lists(batch, labels):
    given = {"id": [1, 2, 3, 4], "tokens": TOKENS}
    assert batch(given) == given | {"upos": labels}
    assert "upos" not in given
    assert batch({"id": [], "tokens": []}) == {"id": [], "tokens": [], "upos": []}
    assert batch({"tokens": [None]})["upos"] == [None]


def test_arrays_of_arrays(batch, labels):
    tokens = np.empty(4, object)
    tokens[:] = [None if each is None else np.array(each, object) for each in TOKENS]
    given = {"id": np.arange(4), "tokens": tokens}
    found = batch(given)
    assert found["upos"] == labels
    assert found["id"] is given["id"]


def test_frames_and_tables(batch, labels):
    pd = pytest.importorskip("pandas", reason="needs pandas: pip install -e '.[dev]'")
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install -e '.[ray]'")
    frame = batch(pd.DataFrame({"id": [1, 2, 3, 4], "tokens": TOKENS}, index=[9, 8, 7, 6]))
    assert frame["upos"].tolist() == labels
    assert frame.index.tolist() == [9, 8, 7, 6]
    table = batch(pa.table({"id": [1, 2, 3, 4], "tokens": TOKENS}))
    assert table["upos"].to_pylist() == labels
    assert table.column_names == ["id", "tokens", "upos"]


def test_texts():
    batch = SeqtagBatch("en", TagOptions(only=["upos"], field="body"))
    found = batch({"body": ["It works.", None]})
    assert [each["upos"] for each in found["sentences"][0]] == [["PRON", "VERB", "PUNCT"]]
    assert found["sentences"][1] is None
    batch = SeqtagBatch("en")
    assert batch({"text": [None]}) == {"text": [None], "sentences": [None]}


def test_other_columns_that_a_model_looks_at(home):
    batch = SeqtagBatch(home / "chunk.seqtag")
    given = {"tokens": [["the", "dog"]], "xpos": [["DT", "NN"]]}
    words = [("the", "DT"), ("dog", "NN")]
    assert batch(given)["chunk"] == [seqtag.load(home / "chunk.seqtag").tag(words)]


def test_batches_without_texts_or_tokens(batch):
    with pytest.raises(CorpusError, match="<batch>: expected a field tokens or text, found id"):
        batch({"id": [1]})
