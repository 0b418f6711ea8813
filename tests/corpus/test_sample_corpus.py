"""The sample corpus of the repository: it parses, its twins agree, its labels are sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import conllu
import pytest

from seqtag import read

if TYPE_CHECKING:
    from pathlib import Path

    from seqtag.corpus import Sentence

PARTS = ("train", "dev", "test")
GENRES = {"news", "guide", "fiction", "message", "reference", "numbers"}


def ours(folder: Path, part: str) -> list[Sentence]:
    return list(read(folder / f"en-sample-{part}.conllu"))


def twins(folder: Path, part: str) -> list[Sentence]:
    return list(read(folder / f"en-sample-{part}.chunk.txt"))


def theirs(folder: Path, part: str) -> list[conllu.TokenList]:
    text = (folder / f"en-sample-{part}.conllu").read_text(encoding="utf-8")
    return list(conllu.parse(text))


def text_of(sentence: conllu.TokenList) -> str:
    """The text that forms, multiword ranges and SpaceAfter spell."""
    pieces, inside = [], 0
    for token in sentence:
        if isinstance(token["id"], tuple):
            inside = token["id"][2]
        elif token["id"] <= inside:
            assert token["misc"] is None
            continue
        glued = (token["misc"] or {}).get("SpaceAfter") == "No"
        pieces.append(token["form"] + ("" if glued else " "))
    return "".join(pieces).rstrip(" ")


@pytest.mark.parametrize("part", PARTS)
def test_our_reader_agrees_with_the_conllu_package(sample_dir, part):
    sentences = ours(sample_dir, part)
    parsed = theirs(sample_dir, part)
    assert len(sentences) == len(parsed)
    for sentence, tokens in zip(sentences, parsed, strict=True):
        words = [t for t in tokens if isinstance(t["id"], int)]
        assert [t["id"] for t in words] == list(range(1, len(words) + 1))
        for name in ("form", "lemma", "upos", "xpos"):
            assert sentence.column(name) == [t[name] for t in words]


@pytest.mark.parametrize("part", PARTS)
def test_comments_and_text(sample_dir, part):
    genres = set()
    for sentence in theirs(sample_dir, part):
        assert list(sentence.metadata) == ["sent_id", "genre", "text"]
        genre = sentence.metadata["genre"]
        assert sentence.metadata["sent_id"].startswith(f"en-sample-{genre}-")
        assert sentence.metadata["text"] == text_of(sentence)
        genres.add(genre)
    assert genres == GENRES


@pytest.mark.parametrize("part", PARTS)
def test_twins_agree(sample_dir, part):
    left, right = ours(sample_dir, part), twins(sample_dir, part)
    assert len(left) == len(right)
    for sentence, twin in zip(left, right, strict=True):
        assert twin.columns == ("form", "pos", "chunk")
        assert sentence.words == twin.words
        assert sentence.column("xpos") == twin.column("pos")
