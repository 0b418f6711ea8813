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


NEWDOC = conllu(["newdoc id = x"], ["text = a"], [], ["sent_id = 1", "newdoc"], ["newdocument"])
DOCS = conllu([], ["doc = x"], [], ["doc = y"], ["doc=x"], ["docs = z"])
DOCSTART = b"-DOCSTART- -X-\n\na X\n\nb X\n\n-DOCSTART- -X-\n\nc X\n\nd X\n"


@pytest.mark.parametrize(
    ("data", "columns", "field", "expected"),
    [
        (NEWDOC, (), None, [0, 0, 0, 1, 1]),
        (NEWDOC.replace(b"\n", b"\r\n"), (), None, [0, 0, 0, 1, 1]),
        (conllu([], ["newdoc"], []), (), None, [0, 1, 1]),  # a second document
        (conllu(["newdoc id = x"], []), (), None, None),
        (b"", (), None, None),
        (DOCSTART, ("form", "upos"), None, [0, 0, 1, 1]),
        (b"a X\n\nb X\n#newdoc X\n", ("form", "upos"), None, None),  # a row
        (DOCS, (), "doc", [0, 1, 1, 2, 1, 1]),
        (b"a one\nb one\n\nc two\n\nd one\n", ("form", "source"), "source", [0, 1, 0]),
    ],
)
def test_documents_begin_with_marks_or_have_a_field(data, columns, field, expected):
    found = sentences(data, "columns" if columns else "conllu", columns=columns or None)
    assert documents_of(found, field) == expected


def test_files_are_documents(tmp_path):
    for name in "ab":
        (tmp_path / name).write_bytes(conllu([], []))
    both = [each for name in "ab" for each in read(tmp_path / name, "conllu")]
    assert documents_of(both) == [0, 0, 1, 1]


def test_the_value_of_a_field_ends_with_its_file(tmp_path):
    (tmp_path / "a").write_bytes(conllu(["doc = x"], []))
    (tmp_path / "b").write_bytes(conllu([], ["doc = x"]))
    both = [each for name in "ab" for each in read(tmp_path / name, "conllu")]
    assert documents_of(both, "doc") == [0, 0, 1, 0]


def test_a_field_that_is_not_there():
    with pytest.raises(CorpusError) as error:
        documents_of(sentences(conllu([], ["doc = x"])), "genre")
    assert error.value.message == (
        "expected documents marked by a comment '# genre = ...' or a column 'genre', found "
        "neither; name another, or leave it out"
    )
