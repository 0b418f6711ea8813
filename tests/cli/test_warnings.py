"""Notes where a user would otherwise be misled: on stderr, and none with -q."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import re

import pytest

from tests.command_line import SENTENCES, call, chunks, conllu, home


@pytest.fixture
def folder(home, tmp_path, monkeypatch):
    """A working folder with training files and models."""
    for path in home.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "other.conllu").write_text(conllu(SENTENCES[:3]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(call, *args):
    """The notes of a command that succeeds, and none of which -q leaves."""
    done = call(*args)
    assert done.code == 0, done.err
    quiet = call(*args, "-q", *(["--force"] if "train" in args[:1] else []))
    assert (quiet.code, quiet.err, quiet.notes) == (0, "", [])
    assert quiet.out == done.out
    lines = [*done.notes, *done.err.splitlines()]
    return [
        line
        for line in lines
        if "note: " in line and not re.search(": (read as|para|[0-9,]+ sentences?, )", line)
    ]


# ------------------------------------------------------------------------------ evaluation
def test_other_tag_sets(folder, call):
    renamed = conllu(SENTENCES[:3])
    for tag in ("DET", "NOUN", "VERB", "ADJ", "PUNCT"):
        renamed = renamed.replace(f"\t{tag}\t", f"\t{tag.lower()}\t")
    (folder / "renamed.conllu").write_text(renamed)
    expected = (
        "seqtag: note: gold and predicted labels have none in common (gold: adj, det, noun, punct, "
        "...; predicted: ADJ, DET, NOUN, PUNCT, ...); check that both use the same tag set; "
        "--label selects another column"
    )
    assert said(call, "eval", "-m", "upos.seqtag", "renamed.conllu") == [expected]
    assert said(call, "eval", "other.conllu", "renamed.conllu") != []
    assert said(call, "eval", "other.conllu", "other.conllu") == []


def test_gold_without_any_chunk(folder, call):
    gold = chunks(SENTENCES[:3])
    (folder / "gold.txt").write_text(gold)
    blind = "\n".join(line and f"{line.rsplit(' ', 1)[0]} O" for line in gold.split("\n"))
    (folder / "blind.txt").write_text(blind)
    [note] = said(call, "eval", "-m", "chunk.seqtag", "blind.txt", "--columns", COLUMNS)
    assert note.endswith("has no chunk, so that F1 says nothing; is it a test file without labels?")


def test_chunks_of_other_types(folder, call):
    gold = chunks(SENTENCES[:3])
    (folder / "gold.txt").write_text(gold)
    (folder / "names.txt").write_text(gold.replace("-NP", "-PER").replace("-VP", "-LOC"))
    [note] = said(call, "eval", "gold.txt", "names.txt", "--label", "chunk", "--columns", COLUMNS)
    assert "(gold: B-NP, B-VP, I-NP; predicted: B-LOC, B-PER, I-PER)" in note
    nothing = "\n".join(line and line.rsplit(" ", 1)[0] + " O" for line in gold.split("\n"))
    (folder / "none.txt").write_text(nothing)
    assert said(call, "eval", "gold.txt", "none.txt", "--columns", COLUMNS) == []


COLUMNS = "form,pos,chunk"


def test_gold_that_is_not_annotated(folder, call):
    (folder / "part.conllu").write_text(conllu(SENTENCES[:3]).replace("\tNOUN\t", "\t_\t"))
    count = conllu(SENTENCES[:3]).count("\tNOUN\t")
    words = conllu(SENTENCES[:3]).count("\t_\t_\t_\t_")
    expected = (
        f'seqtag: note: {count} of {words} gold labels in the column upos are "_" (not annotated), '
        "which is scored like any label; leave such sentences out to score only the others"
    )
    assert said(call, "eval", "-m", "upos.seqtag", "part.conllu") == [expected]


def test_columns_in_which_none_is_a_value(folder, call):
    gold = conllu(SENTENCES[:3]).replace("\tNN\t_", "\tNN\tNumber=Sing")
    (folder / "gold.conllu").write_text(gold)
    assert said(call, "eval", "gold.conllu", "gold.conllu", "--label", "feats") == []


def test_the_training_data(folder, call):
    expected = (
        "seqtag: note: train.conllu is what the model was trained on; the scores do not show how "
        "well the model labels other text"
    )
    assert said(call, "eval", "-m", "upos.seqtag", "train.conllu") == [expected]
    assert said(call, "eval", "-m", "upos.seqtag", "other.conllu") == []
    almost = conllu().replace("\tcat\tcat\tNOUN", "\tcat\tcat\tVERB", 1)
    (folder / "almost.conllu").write_text(almost)  # as long, but not the same
    assert said(call, "eval", "-m", "upos.seqtag", "almost.conllu") == []
    call("train", "train.conllu", "--label", "tokens,upos", "-o", "all.seqtag", "--epochs", 1)
    assert said(call, "eval", "-m", "all.seqtag", "train.conllu", "--raw") == [expected]
    assert said(call, "eval", "-m", "all.seqtag", "train.conllu", "--json") == [expected]


# -------------------------------------------------------------------------------- training
def test_lemmas_that_are_not_there_are_named_with_their_file(folder, call):
    (folder / "none.conllu").write_text("1\tcats\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n")
    for label in ("lemma", "upos,lemma"):
        done = call("train", "none.conllu", "--label", label, "-o", "x.seqtag")
        assert done.code == 1
        assert done.err == (
            'seqtag: none.conllu: expected labels in the column lemma, found "_" for every word '
            "(not annotated); choose another column with --label\n"
        )


# --------------------------------------------------------------------------------- tagging
def test_text_that_the_model_has_not_learnt_to_cut(folder, call):
    (folder / "raw.txt").write_text("the dog barks.\n")
    (folder / "words.conllu").write_text(WORDS)
    expected = (
        "seqtag: note: raw.txt: tokenized by NLTK's rules for English, because no model here has a "
        "tokenizer; --label all trains one, --tokenizer nltk chooses the rules"
    )
    assert said(call, "tag", "-m", "upos.seqtag", "raw.txt") == [expected]
    assert said(call, "tag", "-m", "upos.seqtag", "raw.txt", "--tokenizer", "nltk") == []
    call("train", "words.conllu", "--label", "words", "-o", "words.seqtag", "--epochs", 1)
    assert said(call, "tag", "-m", "words.seqtag", "raw.txt") == [expected]
    assert said(call, "tag", "-m", "en", "raw.txt") == []


ROW = "\t_" * 8
WORDS = "".join(
    f"1-2\t{word}{ROW}\n1\t{word[:3]}{ROW}\n2\tn't{ROW}\n\n1\t{word[:3]}{ROW}\n\n"
    for word in ("didn't", "hasn't")
)


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n\n"])
def test_white_space_alone_comes_back_as_it_is(call, tmp_path, text):
    """It may be a column file without rows; as text it has no sentences, in no format."""
    (tmp_path / "white").write_text(text)
    for models in (("--only", "upos"), ()):
        assert call("tag", *models, tmp_path / "white").out.decode() == text
        for more in (("--format", "text"), ("--to", "conllu"), ("--to", "tagged")):
            assert call("tag", *models, tmp_path / "white", *more).out == b""
