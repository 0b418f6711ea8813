"""Rows stay rows: they get further fields."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json
import pickle
import sys

import numpy as np
import pytest

import seqtag
from seqtag.batch import SeqtagBatch, annotate
from seqtag.batch.rows import arrow
from seqtag.errors import CorpusError, OptionError, SeqtagError, install_hint
from seqtag.tagging.pipeline import Chain
from seqtag.tagging.streams import TagOptions
from tests.command_line import call, home

ROWS = [
    {"id": 7, "tokens": ["the", "dog", "barks"], "score": 0.5},
    {"id": 3, "tokens": None},
    {"id": 5, "tokens": [], "upos": ["old"]},
    {"id": 4, "tokens": ["a", "cat\u2028", "."]},
]


def rows_of(model, rows, **options) -> list:
    return SeqtagBatch(model, TagOptions(**options)).tag(rows)


def test_rows_of_tokens(home):
    labels = seqtag.load(home / "upos.seqtag").tag(ROWS[3]["tokens"])
    assert rows_of(home / "upos.seqtag", ROWS) == [
        {"upos": ["DET", "NOUN", "VERB"]},
        {},
        {"upos": []},
        {"upos": labels},
    ]


def test_rows_of_texts_get_sentences_as_the_command_line_writes_them(tmp_path, call):
    texts = ["They aren't here.  Why?", "", "Time flies."]
    found = annotate({"text": texts}, "en", TagOptions(only=["upos"]))["sentences"]
    for text, sentences in zip(texts, found, strict=True):
        (tmp_path / "one.txt").write_text(text)
        tag = ("tag", "-m", "en", "--only", "upos", "--format", "text", "--to", "jsonl")
        one = call(*tag, tmp_path / "one.txt")
        assert sentences == [json.loads(line) for line in one.out.splitlines()]


def test_other_columns_of_tokens_are_looked_at(home):
    row = {"tokens": ["the", "dog"], "xpos": ["DT", "NN"], "title": "no column"}
    words = list(zip(row["tokens"], row["xpos"], strict=True))
    [found] = rows_of(home / "chunk.seqtag", [row])
    assert found == {"chunk": seqtag.load(home / "chunk.seqtag").tag(words)}
    with pytest.raises(CorpusError, match="the model needs the column pos"):
        rows_of(home / "chunk.seqtag", [{"tokens": ["the"]}])


def test_given_labels_margins_and_more(home):
    row = {"tokens": ["the", "dog"], "upos": ["X", "_"]}
    [found] = rows_of(home / "upos.seqtag", [row], keep=True)
    assert found["upos"][0] == "X"
    tagger = SeqtagBatch(home / "upos.seqtag", TagOptions(margin=True, nbest=2, to=None))
    [found] = tagger.tag([{"tokens": ["the", "dog"]}])
    assert list(found) == ["upos", "margin", "upos2"] == tagger.names


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": 1}], "<rows>:1: expected a field tokens or text, found id; name the field of"),
        ([{}], "<rows>:1: expected a field tokens or text, found none; "),
        ([{"tokens": 5}], "<rows>:1: expected a text or a list of tokens, found 5"),
        ([{"tokens": None}, {"tokens": ["a", None]}], "<rows>:2: expected a string in the column"),
        ([{"tokens": ["a"] * 3}], "<rows>:1: expected at most 2 words in a sentence, found more"),
        ([{"text": "\ud800"}], "expected text, found the lone surrogate"),
    ],
)
def test_rows_with_something_else(home, rows, message):
    with pytest.raises(SeqtagError) as error:
        rows_of(home / "upos.seqtag", rows, max_sentence=2)
    assert message in str(error.value)


def test_rows_have_no_other_format():
    for options, found in (({"to": "conllu"}, "--to conllu"), ({"token_ranges": True}, "--token")):
        with pytest.raises(OptionError, match=f"expected rows to stay rows, found {found}"):
            annotate({}, "en", TagOptions(**options))


# ----------------------------------------------------------------- Arrow
@pytest.fixture
def pa():
    return pytest.importorskip("pyarrow", reason="needs pyarrow: pip install -e '.[ray]'")


def test_tables_of_tokens_and_of_texts(pa, home):
    table = pa.table({"id": [7, 3, 5, 4], "tokens": [row["tokens"] for row in ROWS]})
    found = annotate(table.replace_schema_metadata({"made": "here"}), home / "upos.seqtag")
    assert found.select(["id", "tokens"]).equals(table)
    assert found.schema.metadata[b"made"] == b"here"
    rows = rows_of(home / "upos.seqtag", ROWS)
    assert found["upos"].to_pylist() == [row.get("upos") for row in rows]
    table = pa.table({"text": ["It works. Really?", None, ""], "upos": ["a", "b", "c"]})
    found = annotate(table, "en", TagOptions(only=["upos"]))
    assert found.column_names == ["text", "upos", "sentences"]
    sentences = [
        {"text": "It works.", "tokens": ["It", "works", "."], "upos": ["PRON", "VERB", "PUNCT"]},
        {"text": "Really?", "tokens": ["Really", "?"], "upos": ["ADV", "PUNCT"]},
    ]
    assert found["sentences"].to_pylist() == [sentences, None, []]


def test_a_column_of_labels_is_replaced_where_it_stands(pa, home):
    found = annotate(pa.table({"upos": [["_"]], "tokens": [["the"]]}), home / "upos.seqtag")
    assert found.to_pylist() == [{"upos": ["DET"], "tokens": ["the"]}]
    assert found.column_names == ["upos", "tokens"]


@pytest.mark.parametrize(("values", "found"), [([1], "int64"), ([[1]], "list<")])
def test_tables_with_something_else(pa, home, values, found):
    with pytest.raises(CorpusError, match=f"texts or lists of tokens in tokens, found {found}"):
        annotate(pa.table({"tokens": values}), home / "upos.seqtag")


def test_without_pyarrow_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(CorpusError) as error:
        arrow("in.parquet")
    assert str(error.value) == (
        "in.parquet: expected the package pyarrow for tables of Arrow, found none; "
        + install_hint("ray")
    )


# ----------------------------------------------------------------- batches of other kinds
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
