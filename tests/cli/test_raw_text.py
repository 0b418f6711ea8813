"""Any treebank and any text, on the command line: what is learned, what is said, nothing lost."""

from __future__ import annotations

import io
import re

import pytest

from seqtag.corpus import read
from seqtag.corpus.surface import surface_of
from tests.command_line import call, run  # noqa: F401
from tests.treebanks import rows

TREEBANKS = {
    "no spaces": (
        ["我 在 家 。", "他 在 北京 。"],
        "",
        "我在北京。他在家。",
        ["我", "在", "北京", "。"],
    ),
    "spaces inside": (
        ["Tôi~PRON là học_sinh .", "Ông là học_sinh ."],
        " ",
        "Tôi là học\n sinh . Ông là .",
        ["Tôi", "là", "học sinh", "."],
    ),
    "right to left": (
        ["בבית=ב+בית ילד .", "ילד בבית=ב+בית ."],
        " ",
        "\u200fילד בבית .",
        ["ילד", "ב", "בית", "."],
    ),
    "combining": (["يَا كِتَاب !", "e\u0301 كِتَاب !"], " ", "e\u0301 كِتَاب !", ["e\u0301", "كِتَاب", "!"]),
}


def treebank(sentences, space):
    """A treebank with the same white space behind all tokens, in CoNLL-U."""
    text = "\n".join(map(rows, sentences)).replace("_s", " s").replace("~PRON", "") + "\n"
    return text if space else text.replace("\t_\n", "\tSpaceAfter=No\n")


def conllu_of(words: str, *, misc: str = "_") -> str:
    """A sentence of words written "form/lemma/upos/feats"."""
    lines = [word.split("/") for word in words.split()]
    return (
        "".join(
            f"{i}\t{form}\t{lemma}\t{upos}\t_\t{feats}\t_\t_\t_\t{misc}\n"
            for i, (form, lemma, upos, feats) in enumerate(lines, 1)
        )
        + "\n"
    )


def rebuilt(conllu: bytes) -> str:
    return "".join(surface_of(s).text for s in read(io.BytesIO(conllu), "conllu"))


def forms(conllu: bytes) -> list[list[str]]:
    return [s.words for s in read(io.BytesIO(conllu), "conllu")]


@pytest.fixture
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", TREEBANKS)
def test_treebanks_of_all_kinds_are_learnt(call, inside, name):  # noqa: F811
    sentences, space, text, first = TREEBANKS[name]
    (inside / "t.conllu").write_text(treebank(sentences * 6, space))
    (inside / "t.txt").write_text(text)
    done = call("train", "t.conllu", "--label", "all", "-o", "m.seqtag", "-q")
    assert (done.code, done.out) == (0, b""), done.err
    done = call("tag", "-m", "m.seqtag", "t.txt", "--format", "text", "--paragraphs", "blank")
    assert done.code == 0
    assert forms(done.out)[0] == first
    assert rebuilt(done.out) == text


@pytest.mark.parametrize(
    ("sentence", "learned", "missing"),
    [
        ("He/_/_/_ runs/_/_/_", "tokens", "upos feats lemma"),
        ("He/he/_/_ ran/run/_/_", "tokens, lemma", "upos feats"),
        ("He/_/PRON/A=B runs/_/VERB/_", "tokens, upos, feats", "lemma"),
    ],
)
def test_what_a_treebank_does_not_have_is_not_learnt(call, inside, sentence, learned, missing):  # noqa: F811
    (inside / "t.conllu").write_text(conllu_of(sentence) * 3)
    done = call("train", "t.conllu", "--label", "all", "-o", "m.seqtag", "--epochs", 2)
    assert done.code == 0
    for column in missing.split():
        assert f"note: the column {column} is '_' everywhere: not learned\n" in done.err
    assert "note: tokens: white space follows every token of the treebank, " in done.err
    found = re.findall(r"(\w+) \(\d+\)", done.err.splitlines()[-1])
    assert ", ".join(found) == learned
    (inside / "t.txt").write_text("He runs.\n")
    assert forms(call("tag", "-m", "m.seqtag", "t.txt", "--format", "text").out) == [
        ["He", "runs."]
    ]
