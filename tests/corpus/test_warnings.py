"""What is odd is noted, refused or passed over, the same by scanner and readers."""

from __future__ import annotations

import io
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqtag
from seqtag.corpus import ReadLimits, read, stream
from seqtag.errors import CorpusError
from seqtag.tagging import streams
from seqtag.tagging.streams import tag_text

LENIENT = ReadLimits(lenient=True)
COLUMNS = ("form", "upos")


def said(caplog, data: str, limits: ReadLimits = LENIENT, **kwargs) -> list[str]:
    """What reading some data says in the log, at its end."""
    caplog.clear()
    with caplog.at_level(logging.INFO, "seqtag"):
        found = list(read(io.BytesIO(data.encode()), limits=limits, **kwargs))
    assert "".join(sentence.raw for sentence in found) == data
    return caplog.messages


BLANK = "{} blank lines that end no sentence, the first here; kept"
SPACED = "{} blank lines that hold spaces or tabs, the first here; treated as blank"


@pytest.mark.parametrize("size", [1, 3, 1 << 20])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("a X\n\nb X\n\n", []),
        ("a X\n\nb X", []),
        ("\n\na X\n\n\n\nb X\n\n", [f"1: {BLANK.format(4)}"]),
        ("a X\n\nb X\n\n\n\n", [f"5: {BLANK.format(2)}"]),
        (
            "a X\n \nb X\n\t \nc X\n\n \n",
            ["2: " + SPACED.format(3), "7: a blank line that ends no sentence; kept"],
        ),
        ("a X\r\n\r\n\r\nb X\r\n", ["3: a blank line that ends no sentence; kept"]),
        (
            "a X\n\nb  X\nc X\n\n d X\n\n",
            [
                "3: 2 sentences with several spaces between columns, or some around them, the "
                "first here; treated as one space each"
            ],
        ),
    ],
)
def test_notes(caplog, monkeypatch, size, mark, data, expected):
    monkeypatch.setattr(stream, "CHUNK", size)
    expected = [f"<stream>:{each}" for each in expected]
    assert said(caplog, mark + data, columns=COLUMNS) == expected


def test_who_stops_early_hears_what_was_passed_over(caplog):
    with caplog.at_level(logging.INFO, "seqtag"):
        with read(io.BytesIO(b"a\n\nb X\n\nc\n\n"), columns=COLUMNS, limits=LENIENT) as found:
            assert [next(iter(found)).words, next(iter(found)).words] == [[], ["b"]]
        assert caplog.messages[-1] == "<stream>: 1 sentence that cannot be read was skipped"


@pytest.mark.parametrize("format", ["conllu", "conll2000", "columns"])
@pytest.mark.parametrize("data", ["\ufeff", "\ufeff ", "\ufeff\t\n", "\ufeff\n ", " "])
def test_nothing_but_a_mark_and_space(caplog, format, data):
    said(caplog, data, ReadLimits(), format=format)


def row(number: int) -> str:
    return f"{number}\tw" + "\t_" * 8


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_conllu_ends_with_a_blank_line(caplog, end):
    for whole in ("\n\n", "\n \n", "\n\n# end\n", "\n\n# end", "\n\t"):
        data = (f"# c\n{row(1)}\n{row(2)}" + whole).replace("\n", end)
        assert [m for m in said(caplog, data, format="conllu") if "file" in m] == []
    for cut in ("\n", ""):
        data = f"{row(1)}\n\n# c\n{row(1)}\n{row(2)}{cut}".replace("\n", end)
        assert said(caplog, data, format="conllu") == [
            "<stream>:5: a sentence without a blank line after it, at the end of the file; is the "
            "file "
            "complete? The sentence is used as it is"
        ]


@pytest.mark.parametrize(
    ("format", "good", "bad"),
    [
        ("conllu", f"{row(1)}\n\n", f"{row(2)}\n\n"),
        ("conllu", f"{row(1)}\n\n", f"{row(1)}\n# c\n{row(2)}\n\n"),
        ("conll2000", "a X O\n\n", "a X\nb X O\n\n"),
        ("conll2000", "a X O\n\n", "a X\tO\n\n"),
        ("conll2000", "a X O\n\n", "a X\rO\n\n"),
        ("tagged", "a/X\n", "a/X b\n"),
        ("pos", "a/X\n\n", "[ a/X\n\n"),
        ("mrg", "((X a))\n", "(X\n"),
    ],
)
def test_a_bad_sentence_is_passed_over(caplog, format, good, bad):
    data = good + bad + good + bad * 6
    with pytest.raises(CorpusError) as caught:
        said(caplog, data, ReadLimits(), format=format)
    messages = said(caplog, data, format=format)
    assert messages[0] == f"skipped: {caught.value}"
    assert len(messages) == 6
    assert messages[-1] == (
        "<stream>: 7 sentences that cannot be read were skipped; the first 5 are named above"
    )
    found = list(read(io.BytesIO(data.encode()), format, limits=LENIENT))
    assert [len(sentence) for sentence in found] == [1, 0, 1, *[0] * 6]
    assert found[1].raw == bad and found[1].words == []


def test_what_no_mode_lets_pass():
    for data in (b"a X\n\n\xff X\n\n", b"\x1f\x8b\x08\0", b"a X\nb X\nc X\n\n"):
        with pytest.raises(CorpusError):
            list(
                read(io.BytesIO(data), columns=COLUMNS, limits=ReadLimits(sentence=2, lenient=True))
            )


@pytest.fixture(scope="module")
def tagger():
    data = read(io.BytesIO(b"a X\nb Y\n\n"), columns=COLUMNS)
    return seqtag.train(data, label="upos", epochs=1, min_count=1)


PIECES = ["a X\n", "b Y\n", "\n", " \n", "b  Y\n", "c\n", "c\tX\n", "\r\n", "d X\r\n", "\ufeff"]


@given(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.booleans(),
    st.sampled_from([1, 4]),
)
def test_scanner_and_readers_agree(tagger, data, lenient, size):
    def outcome() -> object:
        records: list[str] = []
        handler = logging.Handler()
        handler.emit = lambda record: records.append(record.getMessage())  # type: ignore[method-assign]
        log = logging.getLogger("seqtag")
        log.addHandler(handler)
        level, log.level = log.level, logging.INFO
        try:
            source = read(
                io.BytesIO(data.encode()), columns=COLUMNS, limits=ReadLimits(lenient=lenient)
            )
            return b"".join(tag_text([tagger], source)), records
        except CorpusError as error:
            return str(error), []
        finally:
            log.removeHandler(handler)
            log.level = level

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "CHUNK", size)
        native = outcome()
        patch.setattr(streams.backend, "Scanner", None)
        assert outcome() == native
    if lenient and isinstance(native[0], bytes):
        assert native[0].count(b"\n") == data.count("\n")
