"""seqtag classes: files in, a table of words out."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import gzip

import pytest

import seqtag
from tests.command_line import call, home, run

TEXT = b"the dog sees a cat\na dog hears the cat\nthe cat likes the dog\n" * 5


@pytest.fixture
def raw(tmp_path):
    path = tmp_path / "raw.txt"
    path.write_bytes(TEXT)
    return path


def rows_of(table: bytes) -> dict[str, str]:
    lines = table.decode().splitlines()
    return dict(line.split("\t") for line in lines if "\t" in line)


def test_a_table_is_written_and_each_pass_told(raw, tmp_path):
    path = tmp_path / "news.classes"
    done = run("classes", raw, "-o", path, "-K", 3, "--passes", 2, "--format", "tokens")
    assert (done.code, done.out) == (0, b"")
    lines = done.err.splitlines()
    assert [line.partition(",")[0] for line in lines[:2]] == [
        "seqtag: pass 1: 3 words moved",
        "seqtag: pass 2: 0 words moved",
    ]
    assert lines[2:] == [f"seqtag: {path}: 7 words in 3 classes, from 75 words of text (7 types)"]
    table = path.read_bytes()
    assert table.startswith(
        b"# seqtag table 1\n# name: news\n# words: lower0\n# absent: rare\n# source: raw.txt\n"
    )
    rows = rows_of(table)
    assert rows["dog"] == rows["cat"] != rows["sees"] == rows["hears"] == rows["likes"]
    assert rows["the"] == rows["a"]


def test_the_command_and_the_function_agree(raw, tmp_path, call):
    found = seqtag.learn_classes(raw, classes=2, min_count=6, passes=3, format="tokens")
    found.save(tmp_path / "a.classes", source="raw.txt")
    how = ("--number", 2, "--min-count", 6, "--passes", 3, "--format", "tokens", "--threads", 2)
    done = call("classes", raw, "-o", tmp_path / "b.classes", *how, "-q")
    assert (done.code, done.err) == (0, "")
    a, b = ((tmp_path / name).read_bytes() for name in ("a.classes", "b.classes"))
    assert a.replace(b"name: a", b"name: b") == b


def test_from_standard_input_to_standard_output():
    done = run("classes", "-", "-o", "-", "-K", 2, "--format", "tokens", stdin=gzip.compress(TEXT))
    assert done.code == 0
    assert done.out.startswith(b"# seqtag table 1\n# name: classes\n")
    assert b"# source: stdin\n" in done.out
    assert len(rows_of(done.out)) == 7


def test_raw_text_is_cut_by_rules_and_a_note_says_so(tmp_path, call):
    (tmp_path / "raw.txt").write_bytes(b"The dog barks. It doesn't sing.\n" * 3)
    done = call("classes", tmp_path / "raw.txt", "-o", "-", "-K", 1, "--format", "text")
    assert done.code == 0
    assert {"n't", ".", "dog"} <= rows_of(done.out).keys()
    assert done.notes == [
        f"seqtag: note: {tmp_path / 'raw.txt'}: tokenized by NLTK's rules for English; seqtag tag "
        "--only tokens --to tokens tokenizes with a model, for --format tokens here"
    ]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["-K", "0"], 2, "expected from 1 to 4096 classes, found 0"),
        (["-K", "8"], 1, "expected at least 8 words that occur at least 3 times, one per class"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_written(
    raw, tmp_path, call, options, code, message
):
    done = call("classes", raw, "-o", tmp_path / "x.classes", "--format", "tokens", *options)
    assert (done.code, done.out) == (code, b"")
    assert message in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["raw.txt"]
