r"""Tables of ``--to tsv`` have the same words for pandas, polars and seqtag itself."""

from __future__ import annotations

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seqtag.corpus import read
from seqtag.corpus.formats import render
from seqtag.corpus.write import one_table

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

WORDS = st.sampled_from(
    [
        *('"', '""', '"a', 'a"b', "None", "null", "NA", "nan", "1", "01", "1.0", "True", "form"),
        *("#", "sentence", "'", ",", "\\", "-DOCSTART-", "Time", "\u2028", "é"),
    ]
)
SENTENCES = st.lists(st.lists(WORDS, min_size=1, max_size=4), min_size=1, max_size=5)


def table(sentences) -> bytes:
    rows = ({"form": words, "upos": ["NOUN"] * len(words)} for words in sentences)
    return b"".join(one_table(render(row, "tsv").encode() for row in rows))


@given(SENTENCES)
@example([['"', "a"], ['"']])
@example([["form"], ["None"]])
def test_three_readers(sentences):
    data = table(sentences)
    frames = [
        pandas.read_csv(io.BytesIO(data), sep="\t", quoting=3, keep_default_na=False, dtype=str),
        polars.read_csv(data, separator="\t", quote_char=None, infer_schema=False),
    ]
    for frame in frames:
        assert list(frame.columns) == ["sentence", "form", "upos"]
        assert list(frame["form"]) == [word for words in sentences for word in words]
        numbers = [str(i) for i, words in enumerate(sentences, 1) for _ in words]
        assert list(frame["sentence"]) == numbers
    found = [sentence.words for sentence in read(io.BytesIO(data)) if len(sentence)]
    assert found == sentences


@given(SENTENCES, st.integers(1, 40), st.integers(1, 3))
def test_tables_are_joined_however_they_are_cut(sentences, size, parts):
    lines = table(sentences).splitlines(keepends=True)
    pieces = [b"".join(lines[i : i + size]) for i in range(0, len(lines), size)]
    assert b"".join(one_table(pieces)) == b"".join(lines)
    assert b"".join(one_table(pieces * parts)) == table(sentences * parts)
