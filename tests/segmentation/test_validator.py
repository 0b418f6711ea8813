"""Texts of many scripts and white spaces, through the validator of Universal Dependencies."""

from __future__ import annotations

import io
import random
import unicodedata

import pytest

import seqtag
from seqtag.corpus import read
from seqtag.corpus.lines import with_marks_as_spaces
from seqtag.corpus.surface import escape_spaces, paragraphs_of, unescape_spaces
from seqtag.engine import backend
from tests.segmentation.test_reading import conllu_of

SPACES = [c for c in map(chr, range(0x110000)) if c.isspace()]
WORDS = (
    "The cat sat Dr. U.S. 10 000 don't can't it's e-mail www.example.org/a|b caf\u00e9 Stra\u00dfe "
    "привет мир 你好 世界 我们 が 日本語 です 한국어 مرحبا بالعالم שלום עולם नमस्ते สวัสดี ελληνικά i.e. ... "
    "!? -- \u2014 \u00ab \u00bb \u201c \u201d ' \" ( ) [ ] # #1 _ __ | \\ \\s \\u00A0 = SpaceAfter=No "
    "a=b 1-2 1.1 0 1 \U0001f44d \U0001f469\u200d\U0001f467 e\u0301 \uff21\uff22 \u200b \u200d "
    "\ufeff \u00ad \u061c \u202e \u2066 <b> &nbsp; $5 5% ¿Qué? l'homme d'accord 3,14 12:30 newdoc "
    "newpar text sent_id"
)
RANGES = [(0x21, 0x7E), (0xA1, 0x2FFF), (0x3041, 0xD7FF), (0xE000, 0xFFFC), (0x10000, 0x1F9FF)]


def adversarial_text(random: random.Random) -> str:
    """Words of many scripts or any characters, with any white space around them."""
    is_wild = random.random() < 0.2
    pieces = ["".join(random.choices(SPACES, k=random.randrange(4)))]
    for _ in range(random.randrange(1, 40)):
        if is_wild and random.random() < 0.3:
            picked = random.choices(RANGES, k=random.randrange(1, 6))
            pieces += [chr(random.randint(*each)) for each in picked]
        else:
            pieces.append(random.choice(WORDS.split(" ")))
        others = ["".join(random.choices(SPACES, k=random.randrange(1, 4))), "", "\n", "\n\n", ". "]
        pieces.append(" " if random.random() < 0.6 else random.choice(others))
    # The validator requires NFC, and words are never changed.
    return unicodedata.normalize("NFC", "".join(pieces))


def with_trees(conllu: str) -> str:
    """The same with a flat tree for each sentence: seqtag writes none, and level 2 requires one."""
    lines = []
    for line in conllu.split("\n"):
        fields = line.split("\t")
        if fields[0].isdigit() and len(fields) == 10:
            fields[6:8] = ["0", "root"] if fields[0] == "1" else ["1", "dep"]
        lines.append("\t".join(fields))
    return "\n".join(lines)


@pytest.mark.parametrize(
    "count", [150, pytest.param(10_000, marks=pytest.mark.nightly)], ids=["", "nightly"]
)
def test_the_validator_finds_nothing_and_texts_are_rebuilt(count):
    validator = pytest.importorskip("udtools.validator", reason="udtools is not installed")
    from udtools.state import State

    validate, tagger = validator.Validator(level=2), seqtag.load("en")
    numbers = random.Random(27)
    for _ in range(count):
        text = adversarial_text(numbers)
        conllu = str(tagger.tag_text(text))
        state = State()
        validate.validate_file_handle(io.StringIO(with_trees(conllu)), state)
        assert not state.error_tracker, (text, conllu)
        paragraphs = paragraphs_of(read(io.BytesIO(conllu.encode()), "conllu"))
        rebuilt = "".join(surface.text for each in paragraphs for surface in each)
        is_blank = not with_marks_as_spaces(text).strip()
        assert rebuilt == ("" if is_blank else text), conllu


def test_each_white_space_is_escaped_alike_by_kernel_and_python(monkeypatch):
    text = "".join(f"{space}{space}a{space}b |\\ " for space in SPACES)
    conllu = conllu_of(text, paragraphs="line")
    monkeypatch.setattr(backend, "WordScanner", None)
    assert conllu_of(text, paragraphs="line") == conllu
    miscs = [line.split("\t")[9] for line in conllu.splitlines() if line.count("\t") == 9]
    assert not any(set(SPACES) & set(misc) for misc in miscs)
    assert any("\\u00A0" in misc for misc in miscs) and any("\\u3000" in misc for misc in miscs)


def test_white_space_is_read_escaped_and_raw():
    for space in SPACES:
        assert unescape_spaces(escape_spaces(space)) == space
        assert not set(SPACES) & set(escape_spaces(space))
        if space not in "\t\n\r":
            for written in (space, f"\\u{ord(space):04x}", f"\\u{ord(space):04X}"):
                row = f"1\ta{chr(9)}_" + "\t_" * 6 + f"\tSpacesAfter={written}\n\n"
                [[surface]] = paragraphs_of(read(io.BytesIO(row.encode()), "conllu"))
                assert surface.text == f"a{space}"
