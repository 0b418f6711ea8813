"""What is degenerate, dropped or unused is named: a table of files, commands and messages."""

from __future__ import annotations

import pytest

from tests.command_line import call  # noqa: F401  (a fixture)

NAMES = "Mira B-PER\nFalk I-PER\nvisited O\nNorvale B-LOC\n. O\n\n"
HEAD = "0\troot\t_\t_"


def conllu(*rows):
    """A sentence of form, lemma and UPOS."""
    lines = [
        f"{i}\t{form}\t{lemma}\t{upos}\t_\t_\t{HEAD}"
        for i, (form, lemma, upos) in enumerate(rows, 1)
    ]
    return "\n".join([*lines, "", ""])


FILES = {
    "names.txt": 12 * NAMES,
    "only-o.txt": 12 * NAMES.replace("B-PER", "O").replace("I-PER", "O").replace("B-LOC", "O"),
    "one-tag.conllu": 6 * conllu(("Dogs", "dog", "NOUN"), ("bark", "bark", "NOUN")),
    "one-each.conllu": 6 * conllu(("Dogs", "x", "NOUN"), ("bark", "x", "NOUN")),
    "weights.txt": "Dogs\tdog+N+Pl\t0,000000\n\nbark\tbark+V\t0,000000\n\n" * 6,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files, and models of those that have something to learn."""
    folder = tmp_path_factory.mktemp("told")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


REFUSED = [  # the command; what is said
    ("train only-o.txt", "only-o.txt: expected several labels in the column ner, found 'O' for "
     "every word: nothing to learn; check that the layer was exported"),
    ("train one-tag.conllu", "the column upos, found 'NOUN' for every word: nothing to learn"),
    ("train weights.txt", "the column 3, found '0,000000' for every word: nothing to learn"),
    ("cv only-o.txt --folds 2", "found 'O' for every word: nothing to learn"),
    ("train one-each.conllu --label upos,lemma", "expected several labels in one of the columns "
     "upos, lemma, found one in each"),
]  # fmt: skip
NOTED = [
    ("train one-tag.conllu --label upos,lemma", "the column upos is 'NOUN' everywhere: nothing to learn"),
    ("train names.txt --dev only-o.txt", "every word of the dev set has the label 'O'"),
    ("train only-o.txt --init names.seqtag", ""),
    ("eval -m names.seqtag only-o.txt", "the gold column ner has no chunk"),
    ("eval one-tag.conllu one-tag.conllu --label upos", "every gold label in the column upos is "
     "'NOUN', so that the score says nothing; was the layer exported?"),
]  # fmt: skip


def arguments(line):
    """The arguments of a command; those of train have an output."""
    args = line.split()
    return [*args, "-o", "new.seqtag", "--force"] if args[0] == "train" else args


@pytest.mark.parametrize(("line", "message"), REFUSED, ids=[line for line, _ in REFUSED])
def test_what_cannot_be_right_is_refused(line, message, folder, call, monkeypatch):  # noqa: F811
    monkeypatch.chdir(folder)
    done = call(*arguments(line))
    assert done.code == 1
    assert message in done.err


@pytest.mark.parametrize(("line", "message"), NOTED, ids=[line for line, _ in NOTED])
def test_what_is_odd_is_noted(line, message, folder, call, monkeypatch):  # noqa: F811
    monkeypatch.chdir(folder)
    if not (folder / "names.seqtag").exists():
        call("train", "names.txt", "-o", "names.seqtag", "-q")
    done = call(*arguments(line))
    assert done.code == 0, done.err
    assert f"note: {message}" in done.err or not message
