"""A corpus format is one record: what reads, writes and joins asks it."""

from __future__ import annotations

import io
import sys

import pytest

import seqtag
from seqtag.corpus import formats, read
from seqtag.corpus.formats import Format
from seqtag.corpus.lines import lines_of
from seqtag.corpus.sentence import SpanSentence
from seqtag.tagging.pipeline import Chain
from seqtag.tagging.streams import TagOptions


def read_words(stream, source):
    """Lines ``1=word 2=word``, each a sentence; lines of ``;`` are comments."""
    for raw, line in lines_of(stream):
        items = [] if raw.startswith(";") else raw.split()
        words = [item.split("=")[1] for item in items]
        yield SpanSentence(raw, source, line, {"form": words}, [0] * len(words), {})


def write_words(columns):
    return "".join(f"{i}={word} " for i, word in enumerate(columns["form"], 1)) + "\n"


def one_mark(pieces):
    """A first line for all."""
    yield b"; tagged\n" + b"".join(pieces).replace(b"; tagged\n", b"")


@pytest.fixture
def own(monkeypatch):
    """The record, as it would be in `FORMATS`."""
    form = Format(
        "own",
        "lines of 1=word",
        {1: ("form",)},
        read=read_words,
        write=write_words,
        join=one_mark,
        frame=lambda text, sentence: f"[{len(sentence)}] {text}",
    )
    monkeypatch.setitem(formats.FORMATS, "own", form)
    for module in [*sys.modules.values()]:
        if getattr(module, "__name__", "").startswith("seqtag."):
            for name in ("READABLE", "WRITABLE"):
                if hasattr(module, name):
                    monkeypatch.setattr(module, name, (*getattr(module, name), "own"))
    return form


def tagged(data, read_as, to):
    with read(io.BytesIO(data), read_as) as stream:
        chain = Chain([seqtag.load("en").tagger("upos")])
        return b"".join(chain.tagged([stream], TagOptions(to=to)))


def test_it_is_read_and_tagged(own):
    data = b"; a comment\n1=It 2=works\n1=So 2=it 3=does\n"
    with read(io.BytesIO(data), "own") as stream:
        assert [each.words for each in stream] == [[], ["It", "works"], ["So", "it", "does"]]
    assert tagged(data, "own", "tsv").startswith(b"sentence\tform\tupos\n1\tIt\tPRON\n")


def test_it_is_written_with_its_frame_and_joined(own):
    done = tagged(b"It works\n\nSo it does\n", "tokens", "own")
    assert done == b"; tagged\n[2] 1=It 2=works \n[0] [3] 1=So 2=it 3=does \n"
