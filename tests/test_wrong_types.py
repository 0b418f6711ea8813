"""Arguments of wrong types: what was expected and found is said, without the inside of seqtag."""

from __future__ import annotations

import io

import pytest

import seqtag
from seqtag.errors import SeqtagError

ROWS = "Ada\tB-PER\nran\tO\n\n"
EN = seqtag.load("en")


def rows(**options):
    return list(seqtag.read(io.BytesIO(ROWS.encode()), **options))


def sentence():
    return rows()[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rows(columns=3), "expected columns of type Iterable, found 3"),
        (lambda: rows(limits=3), "expected limits of type ReadLimits, found 3"),
        (lambda: rows(separator=3), "expected separator of type str, found 3"),
        (lambda: rows(header="yes"), "expected header of type bool, found 'yes'"),
        (lambda: rows(format=b"tsv"), "expected format of type str, found b'tsv'"),
        (lambda: sentence().column(0), "expected the name of a column, found 0"),
        (lambda: sentence().replace({"ner": "OO"}), "<stream>:1: expected 2 values in .* 'OO'"),
        (lambda: EN("Ada ran.").spans(0), "expected a column of chunk labels, .*; found 0"),
        (lambda: EN.pipe(["a"], threads="2"), "expected threads as an integer, found '2'"),
        (lambda: EN.pipe(["a"], batch_size=None), "expected batch_size as an integer, found None"),
        (lambda: EN.taggers[0].nbest(["a"], 2.5), "expected k as an integer, found 2.5"),
        (lambda: seqtag.from_spans(None, None), "expected texts as a list, .* found None"),
        (lambda: seqtag.from_spans("Ada", [[]]), "expected texts as a list, .* found 'Ada'"),
        (
            lambda: seqtag.from_spans(["Ada"], [(0, 3, "PER")]),
            "expected a list of spans for each text, found .0, 3, 'PER'.",
        ),
        (lambda: seqtag.train(rows(), label=3), "expected label as the name of a column, .* 3"),
        (lambda: seqtag.train(rows(), seed=None), "expected seed as an integer, found None"),
        (lambda: seqtag.train(rows(), threads="2"), "expected threads as an integer, found '2'"),
    ],
)
def test_wrong_types(call, message):
    with pytest.raises((TypeError, SeqtagError), match=f"^{message}"):
        call()
