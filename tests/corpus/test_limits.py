"""What is held at once is bounded: sentences and lines that are too long are refused by place."""

from __future__ import annotations

import io

import pytest

from seqtag.corpus import LIMITS, ReadLimits, read
from seqtag.corpus import stream as stream_module
from seqtag.errors import CorpusError

ROW = "\t_" * 8 + "\n"


class Slow(io.BytesIO):
    """A pipe that gives a few bytes at a time."""

    def read1(self, _: int | None = -1) -> bytes:
        return self.read(3)


def conllu(words: int, comments: int = 0, first: str = "") -> str:
    head = "".join(f"# note {i}\n" for i in range(comments))
    return first + head + "".join(f"{i}\tw{ROW}" for i in range(1, words + 1)) + "\n"


def words_of(text: str, limits: ReadLimits, format: str, kind: type[io.BytesIO]) -> list[int]:
    columns = ["form", "pos"] if format == "columns" else None
    return [len(s) for s in read(kind(text.encode()), format, columns=columns, limits=limits)]


each_kind = pytest.mark.parametrize("kind", [io.BytesIO, Slow])


@each_kind
@pytest.mark.parametrize(
    ("format", "text", "place", "what"),
    [
        ("columns", "a X\n\na X\nb X\nc X\n\n", 3, "rows"),
        ("columns", "a X\n\n \n\r\na X\nb X\nc X", 5, "rows"),
        ("columns", "a X\r\nb X\r\n\r\n# X\r\n# Y\r\nb X\r\n \r\n", 4, "rows"),
        ("columns", "a X\nb X\nc X\nd X\n", 1, "rows"),
        ("conllu", conllu(2) + conllu(3, comments=2), 4, "rows"),
        ("conllu", conllu(2) + conllu(1, comments=3), 4, "comments"),
        ("conllu", conllu(1, comments=2, first="\ufeff# more\n"), 1, "comments"),
        ("tokens", "a b\n\na b c\n", 3, "words"),
        ("tagged", "a/X b/X\na/X b/X c/X d/X\n", 2, "words"),
        ("pos", "a/X b/X\n\n[ a/X\nb/X ] c/X\n", 3, "words"),
        ("mrg", "(X (X a))\n\n((((((((((X a))))))))))\n", 3, "brackets"),
        ("mrg", "((X a) (X b))\n((X a)\n (X b) (X c))\n", 2, "words"),
    ],
)
def test_a_sentence_that_is_too_long_is_refused_where_it_starts(format, text, place, what, kind):
    with pytest.raises(CorpusError) as caught:
        words_of(text, ReadLimits(sentence=2), format, kind)
    assert str(caught.value) == (
        f"<stream>:{place}: expected at most {8 if what == 'brackets' else 2} {what} in a "
        "sentence, found more in the one that "
        "starts here; mark the sentence boundaries, or allow more in Python with limits="
    )
    assert words_of(text, LIMITS, format, kind) == words_of(text, ReadLimits(4), format, kind)


@each_kind
@pytest.mark.parametrize(
    ("format", "text", "found"),
    [
        ("columns", "\n\n\n\na X\nb X\n\n\n\n\nb X\nc X\n \n\t\n\n", [2, 2, 0]),
        ("columns", "a X\r\nb X\r\n\r\n\r\nb X\r\nc X", [2, 2]),
        ("columns", "a X\nb X\n  ", [2]),
        ("columns", "-DOCSTART- X\n\na X\nb X\n\n-DOCSTART- X\nb X\nc X\n", [0, 2, 2]),
        ("conllu", conllu(2, comments=2) * 3, [2, 2, 2]),
        ("conllu", conllu(2, comments=1, first="\ufeff# more\n").rstrip("\n"), [2]),
        ("tokens", "a b\n\na b\n", [2, 0, 2]),
    ],
)
def test_a_sentence_of_just_the_limit_is_read(format, text, found, kind):
    assert words_of(text, ReadLimits(sentence=2), format, kind) == found


@each_kind
@pytest.mark.parametrize(
    ("format", "first", "row"),
    [
        ("columns", "a X\n\n", "{} X\n"),
        ("conllu", "1\ta" + ROW + "\n", "# {}\n"),
        ("pos", "a/X\n\n", "{}/X\n"),
        ("mrg", "(X a)\n\n(X\n", " (X {})\n"),
    ],
)
def test_a_sentence_of_too_many_bytes_is_refused_where_it_starts(
    format, first, row, kind, monkeypatch
):
    monkeypatch.setattr(stream_module, "CHUNK", 64)
    text = first + row.format("w" * 400) * 3
    with pytest.raises(CorpusError) as caught:
        words_of(text, ReadLimits(sentence=3, line=500), format, kind)
    assert str(caught.value) == (
        "<stream>:3: expected at most 768 bytes in a sentence, found more in the one that starts "
        "here; mark the sentence boundaries, or allow more in Python with limits="
    )


def test_pos_files_may_have_rules_and_no_blank_lines(monkeypatch):
    monkeypatch.setattr(stream_module, "CHUNK", 64)
    text = "a/X b/X\n====\n" * 100 + "c/X\n== \r\n"
    limits = ReadLimits(sentence=3, line=100)
    stream = read(io.BytesIO(text.encode()), "pos", limits=limits)
    found = list(stream)
    assert "".join(sentence.raw for sentence in found) == text
    assert [len(sentence) for sentence in found] == [2] * 100 + [1]


@each_kind
@pytest.mark.parametrize("end", ["\n", "", "\n\na X\n"])
def test_a_line_that_is_too_long_is_refused_by_its_place(kind, end):
    limits = ReadLimits(line=12)
    assert words_of(f"a X\n\n{'b' * 10} X{end}", limits, "columns", kind)[:2] == [1, 1]
    for format, text in (("columns", f"{'b' * 11} X{end}"), ("tokens", f"{'b ' * 6}c{end}")):
        with pytest.raises(CorpusError) as caught:
            words_of(f"a X\n\nc X\n{text}", limits, format, kind)
        assert str(caught.value) == (
            "<stream>:4: expected lines of at most 12 bytes, found a longer one; insert line "
            "breaks, or if this is raw text, let a model segment it"
        )


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("tokens", "a\tb c\n" * 100_000),
        ("columns", "a\n\n" * 150_000),
        ("conllu", f"1\ta{ROW}\n\n" * 150_000),
    ],
)
def test_blocks_of_short_words_are_short(format, text):
    blocks = [block.text for block in read(io.BytesIO(text.encode()), format).blocks()]
    assert "".join(blocks) == text
    words = [sum(map(block.count, "\n" if format != "tokens" else "\n\t ")) for block in blocks]
    assert max(words) <= 1 << 16


def test_raw_text_is_cut_and_not_refused():
    text = "one two three four. " * 50
    stream = read(io.BytesIO(text.encode()), "text", limits=ReadLimits(sentence=2, line=2000))
    assert "".join(s.raw for s in stream) == text
    stream = read(io.BytesIO(text.encode()), "text", limits=ReadLimits(sentence=2, line=10))
    assert "".join(stream.pieces()) == text


def test_detection_does_not_wait_for_the_end_of_a_line_that_is_too_long(monkeypatch):
    monkeypatch.setattr(stream_module, "CHUNK", 1000)
    file = io.BytesIO(b"x" * 1_000_000)
    read(file, limits=ReadLimits(line=5000))
    assert file.tell() < 10_000


def test_a_tree_that_nests_too_deep_is_refused():
    text = "(X " * 20_000 + "(X a)" + ")" * 20_000 + "\n"
    with pytest.raises(CorpusError) as caught:
        words_of(text, LIMITS, "mrg", io.BytesIO)
    assert str(caught.value).startswith(
        "<stream>:1: expected one tree with balanced parentheses, found another text ("
    )
