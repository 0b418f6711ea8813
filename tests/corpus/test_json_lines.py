"""JSON Lines that seqtag wrote are read back, and what is no sentence is named."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus import read, render
from seqtag.errors import CorpusError

VALUES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


@given(
    st.lists(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=4), min_size=1, max_size=4)
)
def test_what_was_written_is_read(sentences):
    columns = [{"form": [w for w, _ in s], "upos": [t for _, t in s]} for s in sentences]
    text = "".join(render(each, "jsonl") for each in columns)
    stream = read(io.BytesIO(text.encode()))
    assert (stream.format, stream.columns) == ("jsonl", ("form", "upos"))
    for each, wanted in zip(stream, columns, strict=True):
        assert {name: each.column(name) for name in each.columns} == wanted
        assert each.replace({"upos": wanted["upos"]}) == each.raw
        replaced = json.loads(each.replace({"upos": ["X"] * len(each), "ner": ["O"] * len(each)}))
        expected = ["X"] * len(each), ["O"] * len(each)
        assert (replaced["upos"], replaced["ner"]) == expected


def test_other_fields_are_kept():
    text = '{"sent_id": "1", "tokens": ["a"], "spans": [[0, 1]], "score": 0.5}\r\n'
    [sentence] = read(io.BytesIO(text.encode()))
    changed = sentence.replace({"ner": ["O"]})
    assert changed == text.replace("}", ', "ner": ["O"]}')


@pytest.mark.parametrize("line", ['{"tokens": "a b"}', "[1]", "x", '{"text": "a"}'])
def test_what_is_no_sentence_is_refused_with_its_line(line):
    text = '{"tokens": ["a"]}\n' + line + "\n"
    with pytest.raises(CorpusError, match=r"^<stream>:2: expected an object of JSON"):
        list(read(io.BytesIO(text.encode())))
