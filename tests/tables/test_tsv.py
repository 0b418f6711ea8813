"""Tables of words: what is written, and what cannot be."""

from __future__ import annotations

import gzip

import pytest

from seqtag.errors import CorpusError
from seqtag.tables.tsv import write_word_table


def test_a_table_is_its_header_and_its_rows(tmp_path):
    header = {"name": "news", "words": "lower0", "classes": 2}
    write_word_table(tmp_path / "t", header, [("the", "1"), ("#", "0"), ("été", "1", "x y")])
    assert (tmp_path / "t").read_bytes().decode() == (
        "# seqtag table 1\n# name: news\n# words: lower0\n# classes: 2\nthe\t1\n#\t0\nété\t1\tx y\n"
    )


def test_a_table_may_be_compressed_and_long(tmp_path):
    rows = [(f"w{i}", str(i % 7)) for i in range(25_000)]
    write_word_table(tmp_path / "t.gz", {}, rows)
    lines = gzip.decompress((tmp_path / "t.gz").read_bytes()).decode().splitlines()
    assert lines == ["# seqtag table 1", *map("\t".join, rows)]


@pytest.mark.parametrize(
    "row", [("a",), ("", "1"), ("a", ""), ("a\tb", "1"), ("a", "1\n"), ("a\r", "1")]
)
def test_rows_that_would_not_read_back_are_refused_and_nothing_is_written(tmp_path, row):
    with pytest.raises(CorpusError) as error:
        write_word_table(tmp_path / "t", {}, [("fine", "1"), row])
    assert str(error.value) == (
        f"{tmp_path / 't'}: expected a word and its values, none of them empty or with a tab or "
        f"line break, found {list(row)!r}; change this row"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("key", "value"), [("", "x"), ("a:b", "x"), ("a\t", "x"), ("a", "x\ty"), ("a", "x\n# b: y")]
)
def test_headers_that_would_not_read_back_are_refused(tmp_path, key, value):
    with pytest.raises(CorpusError) as error:
        write_word_table(tmp_path / "t", {key: value}, [])
    assert str(error.value) == (
        f"{tmp_path / 't'}: expected a key without a colon, and a value, both without tabs and "
        f"line breaks, found {key!r} and {value!r}; change it"
    )
    assert list(tmp_path.iterdir()) == []
