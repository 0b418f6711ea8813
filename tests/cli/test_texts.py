"""Texts with other fields are tagged: an object out for each one in, with its spans."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json

import pytest

import seqtag
from tests.command_line import call, home

ROWS = [
    {"id": 7, "text": "Mira\u0301 Smith lives in\r\nLondon.", "n": [1.5, None], "label": "news"},
    {"id": 8, "text": ""},
    {"text": "\N{ROCKET} \u05d3\u05d5\u05d3, in Paris.", "spans": [], "b": "\u2028 \\ \ud83d"},
    {"id": 9, "text": " \n "},
]
NER = ["tag", "-m", "en", "--only", "ner"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines_of(done):
    assert (done.code, "Traceback" in done.err) == (0, False)
    return [json.loads(line) for line in done.out.decode().split("\n")[:-1]]


def test_each_object_comes_back_with_its_spans(folder, call):
    found = lines_of(call(*NER, "in.jsonl"))
    assert [{**row, "spans": 0} for row in found] == [{**row, "spans": 0} for row in ROWS]
    assert [[span["text"] for span in row["spans"]] for row in found] == [
        ["Mira\u0301 Smith", "London"],
        [],
        ["Paris"],
        [],
    ]
    for row in found:
        for span in row["spans"]:
            assert row["text"][span["start"] : span["end"]] == span["text"]
    document = seqtag.load("en").only("ner")(ROWS[2]["text"])
    assert document.to_dict() == {"text": ROWS[2]["text"], "spans": found[2]["spans"]}


@pytest.mark.parametrize("indent", [None, 1])
def test_arrays_are_read_like_lines(folder, call, indent):
    (folder / "in.json").write_text(json.dumps(ROWS, indent=indent))
    assert call(*NER, "in.json").out == call(*NER, "in.jsonl", "--to", "jsonl").out


def test_doccano_counts_units_of_utf16(folder, call):
    spans = [row["spans"] for row in lines_of(call(*NER, "in.jsonl", "--offsets", "utf16"))]
    found = lines_of(call(*NER, "in.jsonl", "--to", "doccano"))
    assert [row["label"] for row in found] == [
        [[span["start"], span["end"], span["label"]] for span in row] for row in spans
    ]
    assert found[2]["label"] == [[11, 16, "LOC"]]
    by_character = lines_of(call(*NER, "in.jsonl", "--to", "doccano", "--offsets", "codepoint"))
    assert by_character[2]["label"] == [[10, 15, "LOC"]]


def test_label_studio_has_tasks_with_predictions(folder, call):
    found = lines_of(call(*NER, "in.jsonl", "--to", "label-studio"))
    assert [task["data"] for task in found] == ROWS
    [prediction] = found[2]["predictions"]
    value = {"start": 10, "end": 15, "text": "Paris", "labels": ["LOC"]}
    names = {"from_name": "label", "to_name": "text", "type": "labels"}
    assert prediction["result"] == [{**names, "value": value}]
    tasks = [{"id": 3, "data": {"text": "In Paris."}, "annotations": []}]
    (folder / "tasks.json").write_text(json.dumps(tasks))
    [task] = lines_of(call(*NER, "tasks.json", "--to", "label-studio"))
    assert {**task, "predictions": []} == {**tasks[0], "predictions": []}


def test_the_output_is_a_corpus(folder, call):
    (folder / "out.jsonl").write_bytes(call(*NER, "in.jsonl").out)
    done = call("eval", "-m", "en", "out.jsonl", "--json")
    assert json.loads(done.out)["chunks"]["f1"] == 1.0


def test_other_columns_are_in_sentences(folder, call):
    [first, *_] = lines_of(call("tag", "-m", "en", "--only", "upos", "in.jsonl"))
    assert "spans" not in first
    tokens = first["sentences"][0]["tokens"]
    assert tokens[1] == {
        "text": "Smith",
        "start": 6,
        "end": 11,
        "words": [{"form": "Smith", "labels": {"upos": "PROPN"}}],
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["in.jsonl", "--to", "conllu"], "expected --to jsonl"),
        (["in.jsonl", "--keep"], "expected no --keep"),
        (["in.jsonl", "--nbest", "2"], "expected no --keep, --nbest"),
        (["t.csv", "--text-column", "title"], "t.csv:1: expected columns with title once"),
        (["t.csv", "--text-column", "2"], "t.csv:1: expected a column from 1 to 1, as there are"),
        (["t.csv", "--text-column", "id"], "t.csv:2: expected 2 fields as in the first row"),
        (
            ["raw.txt", "--to", "doccano"],
            "expected texts of JSON for --to doccano, found the format text",
        ),
        (["bad.jsonl", "--format", "spans"], "bad.jsonl:2: expected an object with a text"),
        (["in.jsonl", "--only", "upos", "--to", "doccano"], "expected --to jsonl for these texts"),
    ],
)
def test_what_is_refused(folder, call, options, message):
    (folder / "raw.txt").write_text("In Paris.")
    (folder / "t.csv").write_text("id,body\n1,2,3\n")
    (folder / "bad.jsonl").write_text('{"text": "a"}\n{"text": 1}\n')
    done = call(*NER, *options)
    assert done.code != 0
    assert message in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("table", "column", "fields"),
    [
        ('\ufeffid,body\r\n1,"He lives in Paris,\r\n""yes""."\r\n2,\r\n', "body", ["id", "body"]),
        ("body\tid\nIn Paris.\t1\n\t2\n", "body", ["body", "id"]),
        ('a\tIn "Paris.\nb\t\n', "2", ["id", "text"]),
        ("In Paris.\ta\n\tb\n", "1", ["text", "2"]),
        ('He, "In Paris.\nNo, they.\n', "1", ["text"]),
    ],
)
def test_tables_become_objects(folder, call, table, column, fields):
    (folder / "t.csv").write_bytes(table.encode())
    first, second = lines_of(call(*NER, "t.csv", "--text-column", column))
    assert [*first] == [*second] == [*fields, "spans"]
    assert [span["text"] for span in first["spans"]] == ["Paris"]
    assert second["spans"] == []


def test_spans_have_the_lowest_score_of_their_words(folder, call):
    [row, *_] = lines_of(call(*NER, "in.jsonl", "--label-margin"))
    (folder / "raw.txt").write_text(row["text"], newline="")
    tagged = call(*NER, "raw.txt", "--to", "conllu", "--label-margin")
    misc = [line.split("\t")[9] for line in tagged.out.decode().splitlines() if "\t" in line]
    margins = [int(each.split("Margin=")[1].split("|")[0]) for each in misc]
    assert row["spans"][0]["score"] == min(margins[:2])
    task = lines_of(call(*NER, "in.jsonl", "--label-margin", "--to", "label-studio"))[0]
    assert task["predictions"][0]["score"] == min(span["score"] for span in row["spans"])


def test_texts_before_an_error_are_written(folder, call):
    (folder / "cut.jsonl").write_text('{"text": "In Paris."}\n{"text": "In')
    done = call(*NER, "cut.jsonl", "--format", "spans")
    assert "cut.jsonl:2: expected JSON" in done.err
    assert json.loads(done.out)["spans"][0]["text"] == "Paris"


def test_fields_that_are_replaced_are_named(folder, call):
    other = [{"start": 0, "end": 4, "label": "X"}]
    rows = [{"text": "It rains.", "spans": spans} for spans in (other, [], other)]
    (folder / "in.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    done = call(*NER, "in.jsonl")
    assert "the field spans was replaced in 2 of the objects" in done.err
    assert [json.loads(line)["spans"] for line in done.out.splitlines()] == [[], [], []]
    done = call(*NER, "in.jsonl", "--to", "doccano")  # which has a field label
    assert "replaced" not in done.err
    assert [json.loads(line)["spans"] for line in done.out.splitlines()] == [other, [], other]
