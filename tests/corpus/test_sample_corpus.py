"""The sample corpus of the repository: it parses, and its twins agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import conllu
import pytest

from seqtag import read

if TYPE_CHECKING:
    from pathlib import Path

    from seqtag.corpus import Sentence

PARTS = ("train", "dev", "test")


def ours(folder: Path, part: str) -> list[Sentence]:
    return list(read(folder / f"en-sample-{part}.conllu"))


def twins(folder: Path, part: str) -> list[Sentence]:
    return list(read(folder / f"en-sample-{part}.chunk.txt"))


def theirs(folder: Path, part: str) -> list[conllu.TokenList]:
    text = (folder / f"en-sample-{part}.conllu").read_text(encoding="utf-8")
    return list(conllu.parse(text))


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
def test_twins_agree(sample_dir, part):
    left, right = ours(sample_dir, part), twins(sample_dir, part)
    assert len(left) == len(right)
    for sentence, twin in zip(left, right, strict=True):
        assert twin.columns == ("form", "pos", "chunk")
        assert sentence.words == twin.words
        assert sentence.column("xpos") == twin.column("pos")
