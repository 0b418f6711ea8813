"""Copies of sentences with rare kinds of words."""

from __future__ import annotations

import io

import pytest

from scripts.enrich_english import enriched
from seqtag.corpus import read
from seqtag.corpus.surface import raw_text_of

SENTENCES = [
    "Mr./PROPN/NNP Fox/PROPN/NNP paid/VERB/VBD about/ADV/RB $/SYM/$ 20/NUM/CD ./PUNCT/.",
    "We/PRON/PRP saw/VERB/VBD it/PRON/PRP on/ADP/IN Friday/PROPN/NNP ./PUNCT/.",
    "It/PRON/PRP came/VERB/VBD from/ADP/IN Boston/PROPN/NNP in/ADP/IN 5/NUM/CD days/NOUN/NNS ./PUNCT/.",
    "I/PRON/PRP read/VERB/VBD page/NOUN/NN 7/NUM/CD of/ADP/IN the/DET/DT report/NOUN/NN !/PUNCT/.",
]


def treebank() -> list[str]:
    lines = []
    for sentence in SENTENCES:
        for number, word in enumerate(sentence.split(), 1):
            form, upos, xpos = word.split("/")
            lines.append(f"{number}\t{form}\t{form.lower()}\t{upos}\t{xpos}" + "\t_" * 5 + "\n")
        lines.append("\n")
    return lines


@pytest.fixture(scope="module")
def copies():
    return list(read(io.BytesIO(enriched(treebank()).encode()), "conllu"))


def test_a_copy_differs_in_a_word_or_two(copies):
    originals = [[word.split("/")[0] for word in each.split()] for each in SENTENCES]
    for copy in copies:
        assert min(len({*copy.words} - {*words}) for words in originals) <= 2
        assert copy.column("id") == [str(i) for i in range(1, len(copy.words) + 1)]


def test_new_words_have_their_tags(copies):
    tags = {w: t for c in copies for w, t in zip(c.words, c.column("xpos"), strict=True)}
    for sign, tag in ("@", "ADD"), ("#", "ADD"), ("http", "ADD"), ("€", "$"), ("Fri.", "NNP"):
        assert {xpos for word, xpos in tags.items() if word.startswith(sign)} == {tag}
    assert "approx." in tags


def test_sentences_are_separated(copies):
    assert raw_text_of(copies).count("\n") <= 1
    assert all(each.column("misc")[-1] == "_" for each in copies)


def test_a_seed_gives_the_same_copies():
    assert enriched(treebank()) == enriched(treebank()) != enriched(treebank(), seed=2)
