"""seqtag.corpus.surface: what tells documents apart."""

from __future__ import annotations

import io

import pytest

from seqtag.corpus import read
from seqtag.corpus.surface import documents_of
from seqtag.errors import CorpusError


def conllu(*comments):
    """Sentences of one word with some comments."""
    row = "1\ta" + "\t_" * 8 + "\n\n"
    return "".join("".join(f"# {line}\n" for line in each) + row for each in comments).encode()


def sentences(data, format="conllu", **more):
    return list(read(io.BytesIO(data), format, **more))


def test_newdoc():
    data = conllu(["newdoc id = x"], ["text = a"], [], ["sent_id = 1", "newdoc"], ["newdocument"])
    assert documents_of(sentences(data)) == [0, 0, 0, 1, 1]
    assert documents_of(sentences(data.replace(b"\n", b"\r\n"))) == [0, 0, 0, 1, 1]


def test_a_newdoc_in_the_middle_begins_a_second_document():
    assert documents_of(sentences(conllu([], ["newdoc"], []))) == [0, 1, 1]


def test_one_document_is_none():
    assert documents_of(sentences(conllu(["newdoc id = x"], []))) is None
    assert documents_of([]) is None


def test_docstart():
    data = b"-DOCSTART- -X-\n\na X\n\nb X\n\n-DOCSTART- -X-\n\nc X\n\nd X\n"
    found = sentences(data, "columns", columns=["form", "upos"])
    assert documents_of(found) == [0, 0, 1, 1]


def test_files_are_documents(tmp_path):
    for name in "ab":
        (tmp_path / name).write_bytes(conllu([], []))
    both = [each for name in "ab" for each in read(tmp_path / name, "conllu")]
    assert documents_of(both) == [0, 0, 1, 1]


def test_a_comment_by_name():
    data = conllu([], ["doc = x"], [], ["doc = y"], ["doc=x"], ["docs = z"])
    assert documents_of(sentences(data), "doc") == [0, 1, 1, 2, 1, 1]


def test_a_column_by_name():
    data = b"a X one\nb X one\n\nc X two\n\nd X one\n"
    found = sentences(data, "columns", columns=["form", "upos", "source"])
    assert documents_of(found, "source") == [0, 1, 0]


def test_a_field_that_is_not_there():
    with pytest.raises(CorpusError) as error:
        documents_of(sentences(conllu([], ["doc = x"])), "genre")
    assert error.value.message == (
        "expected documents marked by a comment '# genre = ...' or a column 'genre', found "
        "neither; name another, or leave it out"
    )


def test_a_row_that_looks_like_a_mark_is_none():
    data = b"a X\n#newdoc X\n\nb X\n"
    assert documents_of(sentences(data, "columns", columns=["form", "upos"])) is None
