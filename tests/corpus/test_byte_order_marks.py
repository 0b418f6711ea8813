"""Byte order marks within a file, as ``cat a b`` leaves them: no words, and no parts of words."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqtag
from seqtag.corpus import read
from seqtag.corpus.formats import to_token_list
from seqtag.corpus.surface import raw_text_of
from seqtag.tagging.streams import tag_text
from tests.command_line import call  # noqa: F401  (a fixture)

MARK = "\ufeff"
WORDS = ["Time", "flies", "a", ".", "NN"]


def sentences(text: str, *args, **options):
    return [s for s in read(io.BytesIO(text.encode()), *args, **options) if len(s)]


@st.composite
def tables(draw):
    """A format, and a file in it whose lines may begin with marks."""
    format = draw(st.sampled_from(["conllu", "tab", "space"]))
    gap, lines = " " if format == "space" else "\t", []
    for _ in range(draw(st.integers(1, 3))):
        lines += ["# text = x"] * draw(st.integers(0, 1))
        for i, word in enumerate(draw(st.lists(st.sampled_from(WORDS), min_size=1)), 1):
            lines.append(gap.join([str(i), word, *"_" * 8] if format == "conllu" else [word, "N"]))
        lines.append("")
    marks = [draw(st.sampled_from(["", "", MARK, MARK * 2])) if line else "" for line in lines]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return format, "".join(mark + line + end for mark, line in zip(marks, lines, strict=True))


@given(tables())
def test_no_part_of_a_word_in_column_files(made):
    format, text = made
    options = {"format": "conllu"} if format == "conllu" else {"columns": ["form", "upos"]}
    found, plain = sentences(text, **options), sentences(text.replace(MARK, ""), **options)
    assert [s.words for s in found] == [s.words for s in plain]
    assert [s.comments for s in found] == [s.comments for s in plain]
    assert "".join(s.raw for s in found) == text
    changed = [{"form": [w.upper() for w in s.words], "upos": ["X"] * len(s)} for s in found]
    again = "".join(s.replace(new) for s, new in zip(found, changed, strict=True))
    assert again.count(MARK) == text.count(MARK)
    assert again.replace(MARK, "") == "".join(
        s.replace(new) for s, new in zip(plain, changed, strict=True)
    )
    if format == "conllu":
        lists = [to_token_list(s).serialize() for s in found]
        assert lists == [to_token_list(s).serialize() for s in plain]
    tagger = seqtag.load("en").tagger("upos")
    tagged = b"".join(tag_text([tagger], read(io.BytesIO(text.encode()), **options))).decode()
    without = io.BytesIO(text.replace(MARK, "").encode())
    assert (
        tagged.replace(MARK, "") == b"".join(tag_text([tagger], read(without, **options))).decode()
    )
    assert tagged.count(MARK) == text.count(MARK)


@given(st.lists(st.sampled_from(["Time", "flies.", " ", "\n", MARK, "1"])).map("".join))
@pytest.mark.parametrize("format", ["text", "tokens"])
def test_white_space_in_text(format, text):
    found, plain = sentences(text, format), sentences(text.replace(MARK, " "), format)
    assert [s.words for s in found] == [s.words for s in plain]
    tagger = seqtag.load("en").tagger("upos")
    assert b"".join(
        tag_text([tagger], read(io.BytesIO(text.encode()), format), to="tagged")
    ) == b"".join(
        tag_text([tagger], read(io.BytesIO(text.replace(MARK, " ").encode()), format), to="tagged")
    )


@given(st.lists(st.sampled_from(["Time", "flies.", " ", "\n\n", MARK, "It's"]), max_size=12))
def test_white_space_in_text_that_a_model_segments(pieces):
    text = "".join(pieces)
    pipeline = seqtag.load("en").only("upos")
    document, plain = pipeline(text), pipeline(text.replace(MARK, " "))
    assert document.words == plain.words
    assert not any(MARK in word for word in document.words)
    assert MARK not in str(document)
    rows = [s for s in read(io.BytesIO(str(document).encode()), "conllu") if len(s)]
    assert MARK not in "".join(word for row in rows for word in row.words)
    assert raw_text_of(rows).replace(MARK, "").split() == text.replace(MARK, "").split() or (
        MARK in text
    )
