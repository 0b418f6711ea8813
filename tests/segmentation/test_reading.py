"""Raw text as CoNLL-U: white space, paragraphs, streaming, and that no character is lost."""

from __future__ import annotations

import io
import re
import threading
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import seqtag
from seqtag.corpus import read
from seqtag.corpus.surface import surface_of
from seqtag.segmentation import reading
from seqtag.segmentation import reading as writing
from seqtag.segmentation.paragraphs import SEPARATOR
from seqtag.segmentation.reading import ConlluWriter, SegmentedText


class Segments(NamedTuple):
    starts: np.ndarray
    ends: np.ndarray
    sentence_ends: np.ndarray


class Rules:
    """A segmenter by rules: runs of letters and digits, a sentence ends at .!? or a paragraph.

    ``10 000`` is one token, whatever white space is in it.
    """

    def segment(self, text: str, *, begin: int = 0, final: bool = True) -> Segments:
        pattern = rf"\d+(?:[^\S{SEPARATOR}]+\d+)*|\w+|\S"
        spans = [found.span() for found in re.compile(pattern).finditer(text, begin)]
        bounds = []
        for number, (a, b) in enumerate(spans, 1):
            behind = text[b : spans[number][0]] if number < len(spans) else text[b:]
            last = number == len(spans)
            if SEPARATOR in behind or (last and final) or text[a:b] in ".!?":
                bounds.append(number)
        kept = spans[: bounds[-1]] if bounds else []
        starts, ends = (np.array([span[i] for span in kept], np.int64) for i in (0, 1))
        return Segments(starts, ends, np.array(bounds, np.int64))

    def context_of(self, text: str, done: int) -> int:
        return done


class Contractions:
    """Splits ``im``."""

    def split(self, text, starts, ends, sentence_ends):
        tokens = enumerate(zip(starts, ends, strict=True))
        return {i: ("in", "dem") for i, (a, b) in tokens if text[a:b] == "im"}


class Pipe(io.BytesIO):
    """Bytes that arrive a few at a time."""

    def __init__(self, data: bytes, size: int):
        super().__init__(data)
        self._size = size

    def read1(self, size=-1):
        return super().read(self._size)


def segmented(text: str, size: int = 1 << 20, **options) -> SegmentedText:
    stream = read(Pipe(text.encode(), size), "text")
    return SegmentedText(stream, Rules(), Contractions(), **{"paragraphs": "blank"} | options)


def conllu_of(text: str, size: int = 1 << 20, **options) -> str:
    return "".join(block.text for block in segmented(text, size, **options).blocks())


def shown(text: str, **options) -> str:
    return conllu_of(text, **options).replace("\t_" * 7, "").replace("\t", " ")


def rebuilt(conllu: str) -> str:
    return "".join(surface_of(s).text for s in read(io.BytesIO(conllu.encode()), "conllu"))


def test_a_text_becomes_conllu():
    assert shown("\ufeffGo im 10\n000!  No|\t\nways.\n\nHi\n") == (
        "# newdoc\n# newpar\n# sent_id = 1\n# text = Go im 10 000!\n"
        "1 Go SpacesBefore=\\uFEFF\n2-3 im _\n2 in _\n3 dem _\n"
        "4 10 000 SpacesInToken=10\\n000|SpaceAfter=No\n5 ! SpacesAfter=\\s\\s\n\n"
        "# sent_id = 2\n# text = No| ways.\n"
        "1 No SpaceAfter=No\n2 | SpacesAfter=\\t\\n\n3 ways SpaceAfter=No\n4 . SpacesAfter=\\n\\n\n"
        "\n# newpar\n# sent_id = 3\n# text = Hi\n1 Hi SpacesAfter=\\n\n\n"
    )


def test_marks_of_direction_are_spaces():
    """Nothing of them is in the words, and positions count them."""
    assert shown("\u200fHi \u2068im\u2069.\u200e\n") == (
        "# newdoc\n# newpar\n# sent_id = 1\n# text = Hi im .\n"
        "1 Hi SpacesBefore=\u200f|SpacesAfter=\\s\u2068\n2-3 im SpacesAfter=\u2069\n"
        "2 in _\n3 dem _\n4 . SpacesAfter=\u200e\\n\n\n"
    )
    document = seqtag.load("en")("He met \u2068Norvale\u2069 and \u200eMira.")
    assert [word.text for word in document.words] == ["He", "met", "Norvale", "and", "Mira", "."]
    assert [word.start for word in document.words] == [0, 3, 8, 17, 22, 26]


def test_lines_as_paragraphs():
    text = shown("One\nTwo\n", paragraphs="line")
    assert text.count("# newpar") == 2
    assert "1 One SpacesAfter=\\n\n\n# newpar\n# sent_id = 2\n# text = Two\n" in text


def test_token_ranges_count_characters_of_the_text():
    text = "Aé\U0001f600 b.\n\nim." * 3
    options = {"paragraphs": "blank", "writer": ConlluWriter(token_ranges=True)}
    for size in (1, 1000):
        rows = re.findall(
            r"\t(\S+)(?:\t_){7}\t\S*TokenRange=(\d+):(\d+)", conllu_of(text, size, **options)
        )
        assert len(rows) == 3 * 6
        assert all(text[int(a) : int(b)] == form for form, a, b in rows)


@pytest.mark.parametrize("size", [1, 1000])
def test_presegmented_lines_are_sentences(size, monkeypatch):
    """Each line is one sentence; a blank line ends a paragraph, also where blocks meet."""
    monkeypatch.setattr(reading, "_BLOCK_CHARACTERS", 20)
    text = "One. Two! b\n" * 3 + " \n\nThree. Four\r\n" * 3
    conllu = conllu_of(text, size, presegmented=True)
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    assert re.findall(r"# text = (.*)", conllu) == lines
    assert re.findall(r"# newpar\n# sent_id = (\d)", conllu) == ["1", "4", "5", "6"]
    assert rebuilt(conllu) == text


@pytest.mark.parametrize("ranges", [False, True])
def test_normalized_spaces(ranges):
    writer = ConlluWriter(token_ranges=ranges, normalized_spaces=True)
    conllu = conllu_of(" One  two.\n", writer=writer)
    misc = [line.split("\t")[9] for line in conllu.splitlines() if line[:1].isdigit()]
    if ranges:
        assert misc == ["TokenRange=1:4", "SpaceAfter=No|TokenRange=6:9", "TokenRange=9:10"]
    else:
        assert misc == ["_", "SpaceAfter=No", "_"]


def test_what_the_text_shows_is_said(caplog):
    caplog.set_level("INFO", "seqtag")
    conllu_of("One\nTwo three four five\nSix\n", paragraphs="auto")
    assert caplog.messages[-1] == (
        "<stream>: each line is read as a paragraph (lines continued in lower case: 0 of 1); if its "
        'lines are wrapped, use paragraphs="blank"'
    )
    caplog.clear()
    conllu_of("One line.\n", paragraphs="auto")
    conllu_of("One line.\n\nAnother line.\n", paragraphs="auto")
    assert not caplog.messages


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("One.\nThe plant em-\nploys two pro-\r\n ducers.\n", ":2: 2 cut words at line ends in"),
        ("Itâ€™s a cafÃ©.\n", ":1: 2 characters of UTF-8 decoded as Windows-1252 in the sample"),
        ("Ð¿Ñ€Ð¸Ð²ÐµÑ‚\n", ":1: 5 characters of UTF-8 decoded as Windows-1252 in the sample"),
    ],
)
def test_damaged_text_is_noted_with_its_place(text, note, caplog):
    conllu_of(text, paragraphs="auto")
    assert note in caplog.text
    assert "; join them, for example with perl" in caplog.text or "; restore them" in caplog.text


@pytest.mark.parametrize(
    "text",
    [
        "A well-\nknown line.\nIt is -\nso to speak - late. See A-\nB and C-\n4.\n",
        "L’été à Âge « naïve », Ñandú, MAÇÃ, ÉTÉ. IRMÃ» ... 5 €\n",
    ],
)
def test_text_without_damage_has_no_note_of_it(text, caplog):
    conllu_of(text, paragraphs="auto")
    assert "in the sample" not in caplog.text


def test_a_sentence_comes_out_when_it_is_certain():
    class Waiting(Pipe):
        def read1(self, size=-1):
            events.append("read")
            return super().read1(size)

    events: list[str] = []
    stream = read(Waiting(b"One two. Three four. Five", 5), "text")
    for block in SegmentedText(stream, Rules(), paragraphs="line", flush=True).blocks():
        events.append(block.text.count("# text"))
    assert events == ["read", "read", 1, "read", "read", 1, "read", "read", 1]


def test_no_sentence_is_longer_than_taggers_have_memory_for(monkeypatch, caplog):
    monkeypatch.setattr(reading, "_LONGEST_SENTENCE", 1000)
    text = "One. " + "word " * 1000 + ". Two. " + "x" * 3000 + "\n"
    whole = conllu_of(text)
    sentences = [surface_of(s).text for s in read(io.BytesIO(whole.encode()), "conllu")]
    assert max(map(len, sentences)) == 3001  # a token is not cut
    assert sentences[:2] == ["One. ", "word " * 200]
    assert sorted(map(len, sentences))[-2] <= 1001
    assert "".join(sentences) == text
    assert "<stream>: a sentence of more than 1,000 characters was cut" in caplog.messages
    monkeypatch.setattr(reading, "_BLOCK_CHARACTERS", 300)
    spread = conllu_of(text.removesuffix("x" * 3000 + "\n"), 70)
    assert whole.startswith(spread.rstrip("\n").rpartition("\n")[0])


@pytest.mark.parametrize("text", ["a" + "\u0301" * 5000, "a" + "\u0301" * 1500 + " b."])
def test_marks_whose_letter_was_cut_off_are_kept(monkeypatch, text):
    monkeypatch.setattr(reading, "_LONGEST_SENTENCE", 1000)
    monkeypatch.setattr(reading, "_BLOCK_CHARACTERS", 300)
    stream = read(Pipe(text.encode(), 100), "text")
    blocks = seqtag.load("en").segmented(stream, paragraphs="line").blocks()
    assert rebuilt("".join(block.text for block in blocks)) == text


def test_endless_white_space_is_looked_at_once(monkeypatch):
    monkeypatch.setattr(reading, "_LONGEST_SENTENCE", 1000)
    monkeypatch.setattr(reading, "_BLOCK_CHARACTERS", 300)
    seen = []

    class Counting(Rules):
        def segment(self, text, **options):
            seen.append(len(text))
            return super().segment(text, **options)

    for text in (" \n" * 2000 + "One.", "One. " + " " * 4000 + "Two.", "One.\n" + "\n" * 4000):
        stream = read(Pipe(text.encode(), 100), "text")
        blocks = SegmentedText(stream, Counting(), paragraphs="blank").blocks()
        assert rebuilt("".join(block.text for block in blocks)) == text
    assert len(seen) < 20


TEXT = st.text(
    st.sampled_from("ab1.!|\\ \n\t\r\u00a0\u200e\u2068\u2028\u2029\u3000\x0b\x85é\U0001f600_#"),
    max_size=60,
)


@given(TEXT, st.sampled_from(["blank", "line"]), st.integers(1, 70), st.integers(1, 20))
@example("a \n", "blank", 1, 20)
@example("\ufeff\n a", "line", 2, 20)
@example("\ufeffa\n\n b. c\n\n\n\u2029d\n\n", "blank", 3, 2)
def test_every_character_can_be_rebuilt_however_it_arrives(text, paragraphs, size, block):
    """On any number of threads, in blocks of any size."""
    whole = conllu_of(text, paragraphs=paragraphs)
    assert rebuilt(whole) == (text if re.sub("[\ufeff\u200e\u2068]", "", text).strip() else "")
    assert conllu_of(text, size, paragraphs=paragraphs) == whole
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_BLOCK_CHARACTERS", block)
        for threads in (1, 3):
            assert conllu_of(text, size, paragraphs=paragraphs, threads=threads) == whole
    for sentence in read(io.BytesIO(whole.encode()), "conllu"):
        assert len(sentence)


def test_complete_paragraphs_are_segmented_on_threads(monkeypatch):
    monkeypatch.setattr(reading, "_BLOCK_CHARACTERS", 20)
    seen = set()

    class Watching(Rules):
        def segment(self, text, **options):
            seen.add(threading.current_thread().name)
            return super().segment(text, **options)

    stream = read(io.BytesIO(b"One. Two.\n\n" * 100), "text")
    blocks = [*SegmentedText(stream, Watching(), paragraphs="blank", threads=2).blocks()]
    assert rebuilt("".join(block.text for block in blocks)) == "One. Two.\n\n" * 100
    assert "MainThread" not in seen


@pytest.mark.skipif(
    writing.backend.WordScanner is None, reason="the reference backend has no other"
)
@given(st.lists(TEXT, max_size=5), st.sampled_from(["blank", "line"]))
def test_the_kernel_writes_what_python_does(pieces, paragraphs):
    text = " im ".join(pieces)
    whole = conllu_of(text, paragraphs=paragraphs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing.backend, "WordScanner", None)
        assert conllu_of(text, paragraphs=paragraphs) == whole
