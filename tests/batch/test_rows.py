"""Rows stay rows: JSON Lines, Parquet, tables."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

import seqtag
from seqtag.batch.files import tag_file
from seqtag.batch.rows import RowTagger, row_format
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


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, rows: list) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def read(name: str) -> list:
    return [json.loads(line) for line in Path(name).read_text("utf-8").split("\n")[:-1]]


def rows_of(model, rows, **options) -> list:
    return RowTagger(Chain([seqtag.load(model)]), TagOptions(**options)).tag(rows)


def test_rows_of_tokens_keep_their_place_and_fields(place, home):
    write("in.jsonl", ROWS)
    result = tag_file("in.jsonl", "out.jsonl", home / "upos.seqtag")
    assert (result.format, result.sentences, result.tokens) == ("jsonl", 2, 6)
    labels = seqtag.load(home / "upos.seqtag").tag(ROWS[3]["tokens"])
    assert read("out.jsonl") == [
        ROWS[0] | {"upos": ["DET", "NOUN", "VERB"]},
        ROWS[1],
        ROWS[2] | {"upos": []},
        ROWS[3] | {"upos": labels},
    ]


def test_rows_of_texts_get_sentences_as_the_command_line_writes_them(place, call):
    texts = ["They aren't here.  Why?", "", "Time flies."]
    write("in.jsonl", [{"url": str(i), "text": text} for i, text in enumerate(texts)])
    result = tag_file("in.jsonl", "out.jsonl", "en", TagOptions(only=["upos"]))
    found = read("out.jsonl")
    assert [row["url"] for row in found] == ["0", "1", "2"]
    assert [row["text"] for row in found] == texts
    for text, row in zip(texts, found, strict=True):
        Path("one.txt").write_text(text)
        one = call(
            "tag", "-m", "en", "--only", "upos", "--format", "text", "--to", "jsonl", "one.txt"
        )
        assert row["sentences"] == [json.loads(line) for line in one.out.splitlines()]
    assert (result.sentences, result.tokens) == (3, 10)


def test_blank_lines_compression_and_odd_values(place, home):
    lines = ['{"body": ["a"], "n": 12345678901234567890, "odd": "\\ud800"}', "", '{"body": null}']
    Path("in.ndjson.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    tag_file("in.ndjson.gz", "out.jsonl", home / "upos.seqtag", TagOptions(field="body"))
    assert Path("out.jsonl").read_text().split("\n") == [
        lines[0][:-1] + ', "upos": ["DET"]}',
        *lines[1:],
        "",
    ]
    Path("blank.jsonl").write_text("\n\n")
    assert tag_file("blank.jsonl", "out.jsonl", home / "upos.seqtag").tokens == 0
    assert Path("out.jsonl").read_text() == "\n\n"


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
    tagger = RowTagger(
        Chain([seqtag.load(home / "upos.seqtag")]), TagOptions(margin=True, nbest=2, to=None)
    )
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


@pytest.mark.parametrize("line", ["[1]", "word", "{", "[" * 100_000])
def test_lines_that_are_no_objects(place, home, line):
    Path("in.jsonl").write_text('{"tokens": []}\n' + line)
    with pytest.raises(CorpusError) as error:
        tag_file("in.jsonl", "out.jsonl", home / "upos.seqtag")
    assert str(error.value).startswith(
        "in.jsonl:2: expected an object of JSON on each line, found '" + line[:20]
    )
    assert not Path("out.jsonl").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '{"tokens": ["a"], "tokens": ["b"]}',
            "expected different fields, found 'tokens' twice; rename one",
        ),
        ('{"tokens": [], "x": {"y": 1, "y": 2}}', "expected different fields, found 'y' twice; re"),
        (  # found at once, however many there are
            json.dumps({"tokens": []} | dict.fromkeys(map(str, range(300_000))))[:-1] + ', "9": 0}',
            "expected different fields, found '9' twice; rename one",
        ),
        (
            '{"tokens": [], "x": -1e400}',
            "expected numbers below 1.8e308, found -1e400; write it as a string",
        ),
    ],
    ids=["field", "inner field", "many fields", "number"],
)
def test_lines_that_would_not_come_out_whole(place, home, line, message):
    Path("in.jsonl").write_text('{"tokens": []}\n' + line)
    with pytest.raises(CorpusError) as error:
        tag_file("in.jsonl", "out.jsonl", home / "upos.seqtag")
    assert str(error.value).startswith(f"in.jsonl:2: {message}")
    assert not Path("out.jsonl").exists()


def test_rows_have_no_other_format(home):
    chain = Chain([seqtag.load(home / "upos.seqtag")])
    for options, found in (({"to": "conllu"}, "--to conllu"), ({"token_ranges": True}, "--token")):
        with pytest.raises(OptionError, match=f"expected rows to stay rows, found {found}"):
            RowTagger(chain, TagOptions(**options))


def test_formats_by_name():
    assert row_format("a/b.ndjson.zst", "auto") == "jsonl"
    assert row_format("b.parquet", "auto") == row_format("b", "parquet") == "parquet"
    assert row_format("b.jsonl", "text") is None is row_format("b.conllu", "auto")


# ----------------------------------------------------------------- Parquet
@pytest.fixture
def arrow(place):
    pytest.importorskip("pyarrow", reason="needs pyarrow: pip install -e '.[ray]'")
    import pyarrow
    import pyarrow.parquet

    return pyarrow


def test_parquet_of_tokens(arrow, home):
    table = arrow.table(
        {
            "id": [row["id"] for row in ROWS] * 800,  # several batches
            "tokens": [row["tokens"] for row in ROWS] * 800,
        }
    ).replace_schema_metadata({"made": "here"})
    arrow.parquet.write_table(table, "in.parquet", row_group_size=700)
    result = tag_file("in.parquet", "out.parquet", home / "upos.seqtag")
    assert (result.format, result.tokens) == ("parquet", 6 * 800)
    found = arrow.parquet.read_table("out.parquet")
    assert found.select(["id", "tokens"]).equals(table)
    assert found.schema.metadata[b"made"] == b"here"
    write("in.jsonl", [{"tokens": row["tokens"]} for row in ROWS])
    tag_file("in.jsonl", "out.jsonl", home / "upos.seqtag")
    assert found["upos"].to_pylist() == [row.get("upos") for row in read("out.jsonl")] * 800
    again = tag_file("in.parquet", "out.parquet", home / "upos.seqtag", before=result)
    assert again.status == "skipped"


def test_parquet_of_texts(arrow):
    table = arrow.table({"text": ["It works. Really?", None, ""], "upos": ["a", "b", "c"]})
    arrow.parquet.write_table(table, "in.parquet")
    tag_file("in.parquet", "out.parquet", "en", TagOptions(only=["upos"]))
    found = arrow.parquet.read_table("out.parquet")
    assert found.column_names == ["text", "upos", "sentences"]
    assert found["sentences"].to_pylist() == [
        [
            {
                "text": "It works.",
                "tokens": ["It", "works", "."],
                "upos": ["PRON", "VERB", "PUNCT"],
            },
            {"text": "Really?", "tokens": ["Really", "?"], "upos": ["ADV", "PUNCT"]},
        ],
        None,
        [],
    ]


def test_a_column_of_labels_is_replaced_where_it_stands(arrow, home):
    table = arrow.table({"upos": [["_"]], "tokens": [["the"]]})
    arrow.parquet.write_table(table, "in.parquet")
    tag_file("in.parquet", "out.parquet", home / "upos.seqtag")
    found = arrow.parquet.read_table("out.parquet")
    assert found.to_pylist() == [{"upos": ["DET"], "tokens": ["the"]}]
    assert found.column_names == ["upos", "tokens"]


def test_parquet_that_is_none_or_has_something_else(arrow, home):
    Path("in.parquet").write_text("no table at all")
    with pytest.raises(CorpusError, match=r"^in.parquet: expected a file of Parquet, found some"):
        tag_file("in.parquet", "out.parquet", home / "upos.seqtag")
    for values, found in (([1], "int64"), ([[1]], "list<")):
        arrow.parquet.write_table(arrow.table({"tokens": values}), "in.parquet")
        with pytest.raises(CorpusError, match=f"texts or lists of tokens in tokens, found {found}"):
            tag_file("in.parquet", "out.parquet", home / "upos.seqtag")
    twice = arrow.Table.from_arrays(2 * [arrow.array([["a"]])], names=["tokens", "tokens"])
    arrow.parquet.write_table(twice, "in.parquet")
    with pytest.raises(CorpusError, match=r"column names, found 'tokens' twice; rename one$"):
        tag_file("in.parquet", "out.parquet", home / "upos.seqtag")
    arrow.parquet.write_table(arrow.table({"id": [1]}), "in.parquet")
    with pytest.raises(CorpusError, match=r"^in.parquet: expected a field body, found id"):
        tag_file("in.parquet", "out.parquet", home / "upos.seqtag", TagOptions(field="body"))
    assert not Path("out.parquet").exists()


def test_without_pyarrow_the_extra_is_named(place, home, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    Path("in.parquet").write_text("")
    with pytest.raises(CorpusError) as error:
        tag_file("in.parquet", "out.parquet", home / "upos.seqtag")
    assert str(error.value) == (
        "in.parquet: expected the package pyarrow for tables of Arrow and Parquet, found none; "
        + install_hint("ray")
    )
