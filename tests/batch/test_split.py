"""A file in parts, tagged one by one and joined: the bytes are those of the whole."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import gzip
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import seqtag
from seqtag.batch import split as parts
from seqtag.batch.files import Head, Range, tag_file
from seqtag.batch.split import cut_file, join_parts, part_of
from seqtag.errors import CorpusError
from seqtag.tagging.streams import TagOptions
from tests.command_line import SENTENCES, call, conllu, home

COLUMNS = "the X\ndog X\nsees X\na X\ncat X\n. X\n\n"
TREES = "( (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)) )\n(S (DT a)\n   (NN cat))\n" * 8
POS = "[ the/DT dog/NN ]\nbarks/VBZ ./.\n=====\n\n[ a/DT cat/NN ]\n\n\nsees/VBZ\n\n" * 6
TEXT = "Time flies like an arrow.  So it does!\nOn and on.\n\n\u3000Fruit flies\u00a0do not.\n"
PAGES = (
    "Lines of this text are broken\nto a width that is no longer\nthan their words allow, as in"
    "\nmany a book.\n\n    So there they end, and then a\nparagraph begins again, which\nis as long."
    "\n \t\n"
)
ROWS = [{"id": 1, "tokens": ["the", "dog"]}, {"tokens": ["a", "é"], "id": "é"}]
JSON = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)

ENGLISH = seqtag.load("en").only("upos")


def parts_of(source: str, target: str, model, size: int, options: TagOptions) -> tuple[list, Any]:
    """The parts of a file, tagged and joined; and the result."""
    found = cut_file(source, model, options, size=size).ranges
    done = [tag_file(source, part_of(target, part), model, options, part=part) for part in found]
    return found, join_parts(source, target, model, options, found, done) if found else None


def compared(data: bytes, model, size: int, name: str = "in", **asked) -> int:
    """Assert that the parts of a file are the whole; how many there were."""
    options = TagOptions(**asked)
    with tempfile.TemporaryDirectory() as folder:
        source = str(Path(folder, name))
        whole, joined = (str(Path(folder, each)) for each in ("whole", "joined"))
        Path(source).write_bytes(data)
        try:
            alone = tag_file(source, whole, model, options)
        except CorpusError:
            with suppress(CorpusError):  # as the whole does
                assert not parts_of(source, joined, model, size, options)[0]
            return 0
        found, result = parts_of(source, joined, model, size, options)
        if found:
            assert [each.start for each in found[1:]] == [each.end for each in found[:-1]]
            assert (found[0].start, found[-1].end) == (0, len(data))
            assert Path(joined).read_bytes() == Path(whole).read_bytes()
            same = {"target": whole, "stamp": alone.stamp, "seconds": alone.seconds}
            assert replace(result, **same) == alone
            assert not Path(joined + ".seqtag-parts").exists()
        return len(found)


@pytest.fixture(scope="module", autouse=True)
def disk():
    """Wait for no disk: these tests write thousands of files that nobody keeps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="module")
def model(home):
    return seqtag.load(home / "upos.seqtag")


# ----------------------------------------------------------------- every format
@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (conllu(labels=False) * 3, {}),
        ("\ufeff" + conllu(labels=False) * 3, {"format": "conllu", "margin": True}),
        (conllu(labels=False) * 3, {"to": "tagged"}),
        (conllu(labels=False) * 3, {"to": "tsv"}),
        (conllu(labels=False) * 3, {"to": "jsonl"}),
        ("# global.columns = ID FORM UPOS\n" + "1\tthe\t_\n2\tdog\t_\n\n" * 20, {}),
        (COLUMNS * 9, {}),
        (COLUMNS * 9, {"columns": ["form", "x"], "nbest": 2}),
        ("-DOCSTART- -X-\n\n" + COLUMNS * 4 + "-DOCSTART- -X-\n\n" + COLUMNS * 4, {}),
        ("".join(f"{each}\n" for each in SENTENCES) * 3, {"format": "tokens"}),
        ("the/DT dog/NN\n\na/DT cat/NN ./.\n" * 9, {"format": "tagged"}),
        (POS, {"format": "pos"}),
        (TREES, {"format": "mrg"}),
        (TREES, {"format": "mrg", "to": "tsv"}),
        (TEXT * 4, {"format": "text"}),
        (JSON * 6, {"format": "jsonl"}),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "no final one"])
def test_every_format_is_joined_to_the_bytes_of_the_whole(text, asked, end, model):
    text = text.removesuffix("\n") if end == "no final one" else text.replace("\n", end)
    data = text.encode()
    counts = [compared(data, model, size, **asked) for size in (1, 40, len(data) // 3)]
    assert counts[0] >= counts[1] >= counts[2] >= 2


@pytest.mark.parametrize("to", [None, "conllu", "jsonl", "tsv", "tagged", "columns"])
@pytest.mark.parametrize(
    "text", [TEXT * 3, "\ufeff \n\n" + PAGES * 3, (TEXT * 3).replace("\n", "\r\n")]
)
def test_text_that_a_model_cuts_is_numbered_through(text, to):
    data = text.encode()
    for size in (1, 50, len(data) // 2):
        assert compared(data, ENGLISH, size, format="text", to=to) >= 2


def test_text_is_cut_where_paragraphs_end():
    text = PAGES * 3
    [_, second, *_] = ranges_of(text, ENGLISH, format="text")
    assert second.head == Head("text", ("form", "misc"), "", "blank")
    assert text.encode()[second.start :].startswith(b"So there they end")
    assert len(ranges_of(text, ENGLISH, format="text", paragraphs="line")) > 3


def ranges_of(text: str, model, size: int = 100, **asked) -> list[Range]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "in").write_bytes(text.encode())
        return cut_file(Path(folder, "in"), model, TagOptions(**asked), size=size).ranges


# ----------------------------------------------------------------- awkward borders
@pytest.mark.parametrize(
    "text",
    [
        "the dog\n" + "a " * 500 + "\nthe cat\n",  # one sentence larger than a range
        "\nthe dog\n\n\n\na cat\n",
        "the dog\n\ufeffa cat\nthe \u00e9\U0001f600\n",  # a mark within
        "the dog\nBZh91AY&SY\nthe cat\n",  # as a compressed file begins
        "the dog\na\0b\0c\0d\0e\0\nthe cat\n",  # as UTF-16 would look
        "ééééé\nééé éé\n😀 😀\né\n",
    ],
)
def test_a_range_begins_where_it_looks_like_what_it_is(text, model):
    data = text.encode()
    for size in {*range(1, 40, 3), len(data) // 2}:
        compared(data, model, size, format="tokens")
        compared(data, model, size, format="text")


def test_what_is_larger_than_what_is_read_at_once(model, monkeypatch):
    monkeypatch.setattr(parts, "_CHUNK", 7)
    assert compared((COLUMNS * 9).encode(), model, 50) > 3
    assert compared((COLUMNS * 9).encode(), model, 50, to="tsv") > 3
    assert compared(("the dog\n" + "\n" * 200 + "a\n").encode(), model, 20, format="tokens") > 3


def test_numbers_are_found_however_the_pieces_fall(monkeypatch):
    for chunk in (1, 2, 13):
        monkeypatch.setattr(parts, "_CHUNK", chunk)
        compared((TEXT * 3).encode(), ENGLISH, 50, format="text")
        compared((TEXT * 3).encode(), ENGLISH, 50, format="text", to="jsonl")


lines = st.lists(st.sampled_from(["the dog", "é 😀", "# c", "", " ", "\ufeffa", "-DOCSTART- -X-"]))
ends = st.sampled_from(["\n", "\r\n", "\n\n", "\n \n"])


@settings(max_examples=25)
@given(lines, ends, st.booleans(), st.integers(1, 60))
def test_any_lines(lines, end, ended, size):
    tagger = seqtag.load("en").tagger("upos")
    data = (end.join(lines) + end * ended).encode()
    for format in ("tokens", "text"):
        compared(data, tagger, size, format=format)
    compared(data, tagger, size, columns=["form", "x"])


@settings(max_examples=25)
@given(
    st.lists(st.sampled_from([1, 2, 3]), max_size=12),
    st.lists(st.sampled_from(["# a = b\n", "\n", " \n", "# newdoc\r\n", ""]), min_size=1),
    ends,
    st.integers(1, 200),
)
def test_any_rows(lengths, between, end, size):
    tagger = seqtag.load("en").tagger("upos")
    text = ""
    for number, length in enumerate(lengths):
        text += between[number % len(between)]
        text += "".join(f"{i}\tdog" + "\t_" * 8 + "\n" for i in range(1, length + 1)) + end
    compared(text.encode(), tagger, size, format="conllu")
    compared(text.encode(), tagger, size, format="conllu", to="tsv")


WORDS = ["Time flies.", "Why?", "é", "😀", "1", '"', "# sent_id = 7"]
SPACES = [" ", "  ", "\n", "\n", "\n\n", "\r\n", "\n \n", "\t", "\u3000", "\u00a0", "\x85", "\x1c"]
MARKS = ["\u2029", "\u0301", "\u200d", "\ufeff"]
pieces = st.sampled_from([*WORDS, *SPACES, *MARKS])


@settings(max_examples=25)
@given(
    st.lists(pieces, max_size=40),
    st.integers(1, 60),
    st.sampled_from(["auto", "blank", "line"]),
    st.sampled_from([None, "jsonl"]),
)
def test_any_text(pieces, size, paragraphs, to):
    data = "".join(pieces).encode()
    compared(data, ENGLISH, size, format="text", paragraphs=paragraphs, to=to)


# ----------------------------------------------------------------- what stays whole
@pytest.mark.parametrize(
    ("data", "asked", "reason"),
    [
        (b"the dog\n" * 9, {"format": "tokens", "size": 72}, "no larger than a chunk"),
        (b"", {"format": "tokens"}, "no larger than a chunk"),
        (b"the dog " * 9, {"format": "tokens"}, "no sentence boundary to split at"),
        (gzip.compress(b"the dog\n" * 9, mtime=0), {"format": "tokens"}, "compressed"),
        (b" \n\n" * 40, {"format": "text"}, "only white space at the start"),
        (
            b"The dog.\n" * 9,
            {"format": "text", "token_ranges": True},
            "--token-ranges counts characters from the start of the file",
        ),
    ],
)
def test_what_stays_whole_and_why(data, asked, reason, tmp_path):
    size = asked.pop("size", 10)
    path = tmp_path / "in"
    path.write_bytes(data)
    assert cut_file(path, ENGLISH, TagOptions(**asked), size=size) == ([], reason)


# ----------------------------------------------------------------- once, and what goes wrong
@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A folder with a file in parts of which all but the last are tagged."""
    monkeypatch.chdir(tmp_path)
    Path("in.conllu").write_text(conllu(labels=False))
    return tmp_path


def cut(model) -> list[Range]:
    return cut_file("in.conllu", model, size=300).ranges


def tag(model, part: Range, before=None, **options):
    target = part_of("out/in.conllu", part)
    options = TagOptions(**options)
    return tag_file("in.conllu", target, model, options, part=part, before=before)


def join(model, found, done):
    return join_parts("in.conllu", "out/in.conllu", model, None, found, done)


def test_a_part_is_tagged_once(place, model):
    found = cut(model)
    assert len(found) > 2
    done = [tag(model, part) for part in found]
    assert {each.reason for each in done} == {"new"}
    again = [tag(model, *each) for each in zip(found, done, strict=True)]
    assert {each.status for each in again} == {"skipped"}
    assert tag(model, found[0], done[0], margin=True).reason == "options"
    done[0] = tag(model, found[0])
    first = found[0]._replace(head=found[0].head._replace(paragraphs="line"))
    assert tag(model, first, done[0]).reason == "options"
    result = join(model, found, done)
    assert (result.status, result.reason, result.sentences) == ("tagged", "new", len(SENTENCES))
    assert tag_file("in.conllu", "out/in.conllu", model, before=result).status == "skipped"


def test_errors_name_the_line_and_the_byte_of_the_file(place, model):
    Path("in.conllu").write_text(conllu(labels=False) + "1\tshort\n")
    with pytest.raises(CorpusError, match=r"in.conllu:61: expected 10 tab-separated columns"):
        tag(model, cut(model)[-1])
    data = conllu(labels=False).encode()
    Path("in.conllu").write_bytes(data + b"\xff\n\n" * 30)
    message = rf"in.conllu:61: expected UTF-8, found the byte 0xff at byte offset {len(data)} "
    [part] = [each for each in cut(model) if each.start < len(data) < each.end]
    with pytest.raises(CorpusError, match=message):
        tag(model, part)


def test_a_part_that_is_missing_or_of_another_model(place, model):
    found = cut(model)
    done = [tag(model, part) for part in found]
    Path(done[0].target).unlink()
    with pytest.raises(FileNotFoundError, match=f"in.conllu.seqtag-parts/{found[0].start}-"):
        join(model, found, done)
    assert sorted(path.name for path in Path("out").iterdir()) == ["in.conllu.seqtag-parts"]
    done[0] = tag("en", found[0])
    with pytest.raises(FileNotFoundError):
        join(model, found, done)


def test_a_file_that_changed_meanwhile_is_not_joined(place, model):
    found = cut(model)
    done = [tag(model, part) for part in found]
    text = Path("in.conllu").read_text()
    for changed in (text.replace("barks", "sleep"), text + text):
        Path("in.conllu").write_text(changed)
        with pytest.raises(CorpusError, match="expected the file that was split"):
            join(model, found, done)
        assert not Path("out/in.conllu").exists()


def test_parts_at_an_address(place, model):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe("/parts-in/a.conllu", conllu(labels=False).encode())
    source, target = "memory://parts-in/a.conllu", "memory://parts-out/a.conllu"
    assert len(parts_of(source, target, model, 300, TagOptions())[0]) > 2
    tag_file("in.conllu", "whole.conllu", model)
    assert memory.cat("/parts-out/a.conllu") == Path("whole.conllu").read_bytes()
    names = [Path(each["name"]).name for each in memory.ls("/parts-out")]
    assert names == ["a.conllu"]
