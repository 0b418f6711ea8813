"""The sample corpus of the repository: it parses, its twins agree, its labels are sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import conllu
import pytest

from seqtag import read
from seqtag.labels.schemes import count_invalid

if TYPE_CHECKING:
    from pathlib import Path

    from seqtag.corpus import Sentence

PARTS = ("train", "dev", "test")
GENRES = {"news", "guide", "fiction", "message", "reference", "numbers"}
UPOS = {
    "ADJ",
    "ADP",
    "ADV",
    "AUX",
    "CCONJ",
    "DET",
    "INTJ",
    "NOUN",
    "NUM",
    "PART",
    "PRON",
    "PROPN",
    "PUNCT",
    "SCONJ",
    "SYM",
    "VERB",
}
XPOS = {
    "NN",
    "NNS",
    "NNP",
    "NNPS",
    "VB",
    "VBD",
    "VBG",
    "VBN",
    "VBP",
    "VBZ",
    "MD",
    "JJ",
    "JJR",
    "JJS",
    "RB",
    "RBR",
    "RBS",
    "RP",
    "IN",
    "TO",
    "DT",
    "PDT",
    "WDT",
    "WP",
    "WP$",
    "WRB",
    "PRP",
    "PRP$",
    "POS",
    "EX",
    "CD",
    "CC",
    "UH",
    "SYM",
    "$",
    ".",
    ",",
    ":",
    "``",
    "''",
    "-LRB-",
    "-RRB-",
    "HYPH",
    "ADD",
    "NFP",
}
CHUNKS = {"NP", "VP", "PP", "ADVP", "ADJP", "SBAR", "PRT", "CONJP", "INTJ"}


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


def test_size(sample_dir):
    sentences = [s for part in PARTS for s in ours(sample_dir, part)]
    assert len(sentences) >= 250
    assert sum(map(len, sentences)) >= 3000


@pytest.mark.parametrize("part", PARTS)
def test_bytes(sample_dir, part):
    for suffix in ("conllu", "chunk.txt"):
        data = (sample_dir / f"en-sample-{part}.{suffix}").read_bytes()
        assert b"\r" not in data
        assert not data.startswith((b"\xef\xbb\xbf", b"\n"))
        assert b"\n\n\n" not in data
        assert data.endswith(b"\n\n")
        assert all(line == line.rstrip() for line in data.decode("utf-8").split("\n"))


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


@pytest.mark.parametrize("part", PARTS)
def test_chunks_are_valid_iob2(sample_dir, part):
    for sentence in twins(sample_dir, part):
        labels = sentence.column("chunk")
        assert count_invalid(labels, "iob2") == 0
        assert {label[2:] for label in labels if label != "O"} <= CHUNKS


def test_tag_sets(sample_dir):
    sentences = [s for part in PARTS for s in ours(sample_dir, part)]
    assert {tag for s in sentences for tag in s.column("upos")} == UPOS
    assert {tag for s in sentences for tag in s.column("xpos")} == XPOS
    assert all(lemma != "_" for s in sentences for lemma in s.column("lemma"))


def test_dev_and_test_have_no_label_unknown_in_train(sample_dir):
    for read_part, names in ((ours, ("upos", "xpos")), (twins, ("chunk",))):
        for name in names:
            seen = {tag for s in read_part(sample_dir, "train") for tag in s.column(name)}
            for part in ("dev", "test"):
                assert {tag for s in read_part(sample_dir, part) for tag in s.column(name)} <= seen


def test_no_sentence_and_no_id_occurs_twice(sample_dir):
    sentences = [s.metadata for part in PARTS for s in theirs(sample_dir, part)]
    for key in ("sent_id", "text"):
        values = [metadata[key] for metadata in sentences]
        assert len(values) == len(set(values))
