"""Files of word tables: what is read, what is written, and what is refused where."""

from __future__ import annotations

import gzip

import pytest

from seqtag.errors import CorpusError
from seqtag.tables import tsv as word_tables
from seqtag.tables.tsv import FIRST_LINE, WordRows, read_word_table, write_word_table

HEAD = f"{FIRST_LINE}\n# name: news\n# words: lower0\n# absent: 9\n"


@pytest.fixture
def file(tmp_path):
    def write(text: str):
        (tmp_path / "t").write_bytes(text.encode())
        return tmp_path / "t"

    return write


def test_what_is_written_is_read(tmp_path):
    header = {"words": "form", "source": "news: all of it"}
    rows = [("Paris", "city", "person"), ("#", "sign"), ("# a", "b"), ("naïve", "word")]
    write_word_table(tmp_path / "t", header, rows)
    assert (tmp_path / "t").read_text("utf-8") == (
        "# seqtag table 1\n# words: form\n# source: news: all of it\n"
        "Paris\tcity\tperson\n#\tsign\n# a\tb\nnaïve\tword\n"
    )
    assert read_word_table(tmp_path / "t") == WordRows(header, [(w, v) for w, *v in rows])


def test_a_header(file):
    found = read_word_table(file(HEAD + "# a comment\n\nthe\t1\n# words: form\n# also a comment\n"))
    assert found.header == {"name": "news", "words": "lower0", "absent": "9"}
    assert found.rows == [("the", ["1"])]


def test_a_list_of_ones_own(file):
    found = read_word_table(file("\ufeff# words: lower\r\nParis\tcity\r\n\r\nNice\tcity\tword"))
    assert found == WordRows({}, [("Paris", ["city"]), ("Nice", ["city", "word"])])


def test_a_list_as_a_spreadsheet_writes_it(file, caplog):
    """The names of its columns are no entry, and blanks around words no part of them."""
    found = read_word_table(file("Name\tType\n Paris\tcity \nNew York \t city\nname\ttype\n"))
    assert found.rows == [("Paris", ["city"]), ("New York", ["city"]), ("name", ["type"])]
    [note] = caplog.messages
    assert note.endswith(
        "t:1: 'Name\\tType' names the columns and is no entry; if it is one, begin the file with "
        f"{FIRST_LINE!r}"
    )
    kept = read_word_table(file(f"{FIRST_LINE}\nname\ttype\nParis \tcity\n"))
    assert kept.rows == [("name", ["type"]), ("Paris ", ["city"])]


@pytest.mark.parametrize("head", ["# names\n\nword\tlabel\n", "# names\n\n#name\ttype\tid\n"])
def test_names_of_columns_below_comments_and_in_one(file, caplog, head):
    assert read_word_table(file(head + "Paris\tcity\n")).rows == [("Paris", ["city"])]
    assert "t:3: '" in caplog.text


CITIES = "".join(f"Town{i}\tcity\nLake{i}\tlake\n" for i in range(5))
NUMBERED = "".join(f"{line}\t{i}.5\n" for i, line in enumerate(CITIES.splitlines()))
QUOTED = '"Ort"\t"Typ"\n"Rom"\t"Stadt"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Ort\tTyp\n" + CITIES, "t:1: expected an entry, found 'Ort' with 'Typ', the one value"),
        ("#Ort\tTyp\n" + CITIES, "t:1: expected an entry, found '#Ort' with 'Typ', the one value"),
        (
            "name\ttype\tid\n" + NUMBERED,
            "t:1: expected values that words share, found a number on ",
        ),
        ("# x\nOrt\tTyp\tZahl\n" + NUMBERED, "t:2: expected values that words share, found a "),
        (QUOTED, "t:1: expected words, found all in quotation marks, as '\"Rom\"'; remove"),
    ],
)
def test_what_is_hardly_an_entry_is_refused_unless_the_file_has_a_header(file, text, message):
    path = file(text)
    with pytest.raises(CorpusError) as caught:
        read_word_table(path)
    assert str(caught.value).startswith(str(path.parent / message))
    assert str(caught.value).endswith(f", else begin the file with the line {FIRST_LINE!r}")
    rows = [line for line in text.splitlines() if "\t" in line]
    kept = read_word_table(file("\n".join([FIRST_LINE, *rows])))
    assert ["\t".join((word, *values)) for word, values in kept.rows] == rows


@pytest.mark.parametrize(
    "text",
    [
        CITIES + "Ort\tTyp\n",  # it is not above
        "Ort\tTyp\n" + CITIES + "Berg\tGipfel\n",  # nor the only one
        "".join(f"word{i}\t{i % 2}\n" for i in range(20)),  # classes
        "".join(f"word{i}\t{i % 2}\t{i % 3}\n" for i in range(20)),
        'Paris\tcity\n"\tmark\n"""\tmark\n',
    ],
)
def test_what_may_be_an_entry_is_one(file, caplog, text):
    assert len(read_word_table(file(text)).rows) == text.count("\n")
    assert not caplog.messages


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\nb\tc\rd\te\n", "t:2: expected lines that end with \\n or \\r\\n, found a"),
        (
            "# sent_id = 1\n1-2" + "\tdu" + 8 * "\t_" + "\n1\tde" + 8 * "\t_" + "\n\n",
            "t: expected a table of words and values, found rows of CoNLL-U; write a line "
            "for each word",
        ),
        ("a\tb\nParis\n", "t:2: expected a word, a tab and its value, found 'Paris'"),
        (HEAD + "x\n", "t:5: expected a word, a tab and its value, or a comment, found 'x'"),
        ("a\tb\n\tb\n", "t:2: expected a word and its values with a tab between, found an empty"),
        ("a\tb\na\t\n", "t:2: expected a word and its values with a tab between, found an empty"),
        ("# seqtag table 2\na\tb\n", "t:1: expected '# seqtag table 1', found '# seqtag table 2';"),
        (HEAD + "# name: x\n", "t:5: expected a header of at most 100 different keys, each with"),
        (HEAD, "t: expected a table of words, with a tab between word and value, found no word"),
        ("", "t: expected a table of words, with a tab between word and value, found no word"),
        ("a\t" + "b" * 1001, "t:1: expected at most 1,000 values of 1,000 characters, found 1 of"),
        ("a" + "\tb" * 1001, "t:1: expected at most 1,000 values of 1,000 characters, found 1,001"),
        ("a\tb\n" + "c" * 2**21, "t:2: expected lines of at most 1,048,576 bytes, found a longer"),
    ],
)
def test_what_is_refused(file, text, message):
    path = file(text)
    with pytest.raises(CorpusError) as caught:
        read_word_table(path)
    assert str(caught.value).startswith(str(path.parent / message))


def test_too_many_rows(file, monkeypatch):
    monkeypatch.setattr(word_tables, "MOST_WORDS", 2)
    with pytest.raises(CorpusError, match=r"t:3: expected at most 2 words, found more; leave some"):
        read_word_table(file("a\tb\nb\tb\nc\td\n"))


# ----------------------------------------------------------------- what is written
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
