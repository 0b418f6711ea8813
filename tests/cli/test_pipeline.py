"""Pipelines on the command line: train --label all, tag raw text, info, bundle, eval --raw."""

# ruff: noqa: F811  (the fixture is imported, then asked for by name)
from __future__ import annotations

import json
import re
import select
import subprocess
from pathlib import Path

import pytest

from tests.command_line import SEQTAG, call, posix, run  # noqa: F401
from tests.treebanks import annotated

SENTENCES = [
    "Ich/ich/PRON bin/sein/AUX im=in/in/ADP+dem/der/DET Bett/Bett/NOUN ././PUNCT",
    "Er/er/PRON ist/sein/AUX im=in/in/ADP+dem/der/DET Haus/Haus/NOUN ././PUNCT",
    "Ich/ich/PRON bin/sein/AUX hier/hier/ADV !/!/PUNCT",
    "Wer/wer/PRON ist/sein/AUX im=in/in/ADP+dem/der/DET Haus/Haus/NOUN ?/?/PUNCT",
]
TEXT = "Er ist im Bett!\n\nWer ist  hier?\n"
CONLLU = """\
# newdoc
# newpar
# sent_id = 1
# text = Er ist im Bett!
1 Er er PRON _ _ _ _ _ _
2 ist sein AUX _ _ _ _ _ _
3-4 im _ _ _ _ _ _ _ _
3 in in ADP _ _ _ _ _ _
4 dem der DET _ _ _ _ _ _
5 Bett Bett NOUN _ _ _ _ _ SpaceAfter=No
6 ! ! PUNCT _ _ _ _ _ SpacesAfter=\\n\\n

# newpar
# sent_id = 2
# text = Wer ist hier?
1 Wer wer PRON _ _ _ _ _ _
2 ist sein AUX _ _ _ _ _ SpacesAfter=\\s\\s
3 hier hier ADV _ _ _ _ _ SpaceAfter=No
4 ? ? PUNCT _ _ _ _ _ SpacesAfter=\\n

"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a treebank, a text and a pipeline."""
    folder = tmp_path_factory.mktemp("pipeline")
    rows = "".join(sentence.raw for sentence in annotated(*SENTENCES * 5))
    (folder / "train.conllu").write_text(rows)
    (folder / "text.txt").write_text(TEXT)
    done = run("train", "train.conllu", "--label", "all", "-o", "all.seqtag", cwd=folder)
    assert (done.code, done.out) == (0, b""), done.err
    assert "seqtag: component words\n" in done.err
    assert "note: the column xpos is '_' everywhere: not learned\n" in done.err
    (folder / "said").write_text(done.err)
    return folder


@pytest.fixture(autouse=True)
def inside(request, monkeypatch):
    monkeypatch.chdir(request.getfixturevalue("folder"))


def test_raw_text_becomes_conllu(call):
    done = call("tag", "-m", "all.seqtag", "text.txt")
    assert (done.code, done.err) == (0, "")
    assert done.out.decode().replace("\t", " ") == CONLLU
    assert not any("paragraph" in note for note in done.notes)  # each line is between blank ones
    assert call("tag", "-m", "all.seqtag", "text.txt", "--threads", 2).out == done.out
    assert call("tag", "-m", "all.seqtag", "text.txt", "--to", "conllu").out == done.out


def test_several_texts_are_one_output(call):
    done = call("tag", "-m", "all.seqtag", "text.txt", "text.txt")
    assert done.out.count(b"# newdoc") == 2
    assert b"# sent_id = 4\n" in done.out


def test_other_formats(call):
    tagged = call("tag", "-m", "all.seqtag", "text.txt", "--only", "upos", "--to", "tagged").out
    assert tagged.splitlines()[0] == b"Er/PRON ist/AUX in/ADP dem/DET Bett/NOUN !/PUNCT"
    columns = call("tag", "-m", "all.seqtag", "text.txt", "--to", "columns").out
    assert columns.splitlines()[1] == b"ist\tAUX\tsein"
    tokens = call("tag", "-m", "all.seqtag", "text.txt", "--only", "tokens", "--to", "tokens").out
    assert tokens == b"Er ist in dem Bett !\nWer ist hier ?\n"


def test_only_some_parts_run(call):
    done = call("tag", "-m", "all.seqtag", "text.txt", "--only", "upos")
    assert b"\n1\tEr\t_\tPRON\t" in done.out
    lemmas = call("tag", "-m", "all.seqtag", "text.txt", "--only", "lemma")
    assert b"\n2\tist\tsein\t_\t" in lemmas.out
    columns = call("tag", "-m", "all.seqtag", "text.txt", "--only", "lemma", "--to", "columns")
    assert columns.out.startswith(b"Er\ter\nist\tsein\n")
    bare = call("tag", "-m", "all.seqtag", "text.txt", "--only", "tokens").out
    assert b"\n1\tEr\t_\t_\t" in bare and b"\n3-4\tim\t" in bare
    done = call("tag", "-m", "en", "text.txt", "--only", "upos")
    assert re.search(rb"\n1\tEr\t_\t[A-Z]+\t_\t", done.out), done


def test_a_component_without_a_row_among_the_scores_is_scored_alone(call):
    """Also in comparisons with a model of its column, with itself, and with a tagged file."""
    row = "{}\tMary\tMary\tPROPN\tNNP\t_\t_\t_\t_\tNER=B-PER\n"
    Path("names.conllu").write_text(row.format(1) + row.format(2) + "\n")
    for model, label in (("both.seqtag", "upos,misc.NER"), ("ner.seqtag", "misc.NER")):
        how = ("--label", label, "--epochs", 1)
        assert call("train", "names.conllu", "-o", model, *how).code == 0
    done = call("eval", "-m", "both.seqtag", "names.conllu", "--label", "misc.NER")
    assert done.code == 0
    assert b"chunks (iob2)" in done.out and b"task:misc.NER|" in done.out
    for other in ("ner.seqtag", "both.seqtag", "names.conllu"):
        done = call("compare", "names.conllu", "both.seqtag", other, "--label", "misc.NER")
        assert (done.code, done.err) == (0, "")
        assert b"chunk" in done.out or b"F1" in done.out
    done = call("eval", "-m", "both.seqtag", "names.conllu", "--label", "xpos")
    assert done.err == (
        "seqtag: both.seqtag: expected one of the components upos, misc.NER, found 'xpos' "
        "(did you mean 'upos'?)\n"
    )


def test_what_is_cut_already_is_not_cut_again(call):
    done = call("tag", "-m", "all.seqtag", "train.conllu")
    assert done.code == 0
    gold = (line.split("\t")[:3] for line in Path("train.conllu").read_text().splitlines())
    found = (line.split("\t")[:3] for line in done.out.decode().splitlines())
    assert list(found) == list(gold)
    Path("tokens.txt").write_text("im Haus. !\n")
    done = call("tag", "-m", "all.seqtag", "tokens.txt", "--format", "tokens")
    assert [line.split(b"\t")[1] for line in done.out.splitlines()[1:4]] == [b"im", b"Haus.", b"!"]


def test_paragraphs_as_one_says():
    for mode, paragraphs in (("line", 2), ("blank", 1)):
        done = run(
            *("tag", "-m", "all.seqtag", "--paragraphs", mode, "--format", "text"),
            stdin=b"Er ist hier.\nWer ist hier?\n",
            cwd=Path.cwd(),
        )
        assert done.out.count(b"# newpar") == paragraphs
        assert not any("paragraph" in note for note in done.notes)
    text = b"The dog sees the\ncat and barks.\n\nThe cat sees the dog and\nbarks.\n"
    for data, note in (
        (
            text,
            "paragraphs are separated by blank lines (lines continued in lower case: 2 of 2); if "
            "each line is a paragraph, use --paragraphs line",
        ),
        (
            text.upper(),
            "each line is read as a paragraph (lines continued in lower case: 0 of 2); if its lines "
            "are wrapped, use --paragraphs blank",
        ),
    ):
        done = run("tag", "-m", "all.seqtag", "--format", "text", stdin=data, cwd=Path.cwd())
        assert done.notes[-1] == f"seqtag: note: <stdin>: {note}"


def test_token_ranges(call):
    done = call("tag", "-m", "all.seqtag", "text.txt", "--token-ranges", "--only", "upos")
    assert b"\n6\t!\t_\tPUNCT\t_\t_\t_\t_\t_\tSpacesAfter=\\n\\n|TokenRange=14:15\n" in done.out


def test_token_ranges_are_of_text_that_a_model_cuts(call):
    for options in (("text.txt", "--tokenizer", "nltk"), ("train.conllu",)):
        done = call("tag", "-m", "all.seqtag", "--token-ranges", *options)
        assert (done.code, done.out) == (2, b"")
        assert done.err.endswith(
            "expected raw text and a pipeline that segments it for --token-ranges, found other "
            "input; leave one out (see seqtag tag --help)\n"
        )


def test_nltk_cuts_if_asked_to(call):
    pytest.importorskip("nltk")
    done = call("tag", "-m", "all.seqtag", "text.txt", "--tokenizer", "nltk")
    assert done.code == 0
    assert b"\tim\t" in done.out and b"-4\tim" not in done.out


def test_info_lists_the_parts(call):
    lines = call("info", "all.seqtag").out.decode().splitlines()
    assert len(lines) <= 24
    components = [line.split()[0] for line in lines if " sentences, " in line or "char" in line]
    assert components == ["tokens", "words", "upos", "lemma"]
    assert re.search(r"^tokens +3 .* paragraphs?, [\d,]+ characters$", "\n".join(lines), re.M)
    assert "one component  seqtag tag -m all.seqtag --only lemma FILE" in lines
    done = call("info", "all.seqtag", "--verbose")
    assert done.out.decode().splitlines()[1] == "components   tokens, words, upos, lemma"
    assert done.out.count(b"templates\n") == 4
    found = json.loads(call("info", "all.seqtag", "--json").out)
    assert [part["label"] for part in found["parts"]] == ["tokens", "words", "upos", "lemma"]


def test_bundles(call, tmp_path):
    single = tmp_path / "upos.seqtag"
    call("train", "train.conllu", "-o", single, "-q")
    tokens = tmp_path / "tokens.seqtag"
    call("train", "train.conllu", "--label", "tokens,words", "-o", tokens, "-q")
    done = call("bundle", tokens, single, "-o", tmp_path / "both.seqtag")
    assert (done.code, done.out) == (0, b"")
    assert "both.seqtag: tokens, words, upos, " in done.err
    tagged = call("tag", "-m", tmp_path / "both.seqtag", "text.txt").out
    assert b"\n3-4\tim\t" in tagged and b"\tPRON\t" in tagged


def test_raw_text_is_scored(call, tmp_path):
    done = call("eval", "-m", "all.seqtag", "train.conllu", "--raw", "--json")
    found = json.loads(done.out)
    assert found["metrics"]["words"]["f1"] == found["metrics"]["lemma"]["f1"] == 1.0
    done = call("eval", "-m", "all.seqtag", "train.conllu")
    assert b"Lemmas" in done.out and b"100.00" in done.out
    call("train", "train.conllu", "-o", tmp_path / "upos.seqtag", "-q")
    done = call("eval", "-m", tmp_path / "upos.seqtag", "train.conllu", "--raw")
    assert done.code == 1
    assert done.err.endswith(
        "expected a pipeline with a tokenizer for --raw, found upos; train one with --label all\n"
    )


def test_columns_that_a_pipeline_does_not_fill_are_not_right(call, tmp_path):
    upos = tmp_path / "upos.seqtag"
    call("train", "train.conllu", "--label", "tokens,upos", "-o", upos, "-q")
    for options in ((), ("--raw",)):
        found = json.loads(call("eval", "-m", upos, "train.conllu", "--json", *options).out)
        assert found["metrics"]["upos"]["aligned_accuracy"] == 1.0
        assert found["metrics"]["lemma"]["aligned_accuracy"] == 0.0


def test_training_as_json(call, tmp_path):
    done = call(
        *("train", "train.conllu", "-o", tmp_path / "x.seqtag", "--label", "upos,lemma", "--json"),
        *("--epochs", 2, "-q", "--dev", "train.conllu"),
    )
    found = json.loads(done.out)
    assert [part["label"] for part in found["parts"]] == ["upos", "lemma"]
    assert len(found["epochs"]) == 4
    assert found["epochs"][-1]["dev"] is not None


@posix
def test_a_co_process_gets_its_answers(folder):
    command = [*SEQTAG, "tag", "-m", str(folder / "all.seqtag"), "--paragraphs", "line"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 0}
    with subprocess.Popen([*command, "--format", "text"], **pipes) as process:
        for number in (1, 2):
            process.stdin.write(b"Er ist im Haus.\n")
            answer = b""
            while not answer.endswith(b"\n\n"):
                assert select.select([process.stdout], [], [], 30)[0]
                answer += process.stdout.read(1 << 16)
            assert f"# sent_id = {number}\n".encode() in answer
            assert b"6\t.\t.\tPUNCT\t" in answer
        process.stdin.close()
        assert process.stdout.read() == b""


@pytest.mark.parametrize("ids", ["", "{}\t"])
def test_a_pipeline_is_scored_on_the_one_column_that_a_file_has(call, ids):
    rows = [("Ada", "B-PER"), ("saw", "O"), ("Rome", "B-LOC"), (".", "O")] * 3
    words = "".join(f"{ids.format(i)}{word}\t{tag}\n" for i, (word, tag) in enumerate(rows, 1))
    Path("names.iob2").write_text(f"{words}\n")
    done = call("eval", "-m", "en", "names.iob2")
    assert (done.code, b"task:misc.NER|" in done.out) == (0, True)
    done = call("eval", "-m", "en", "names.iob2", "--label", "ner", "--fail-under", "10")
    assert (done.code, "misc.NER conlleval-f1" in done.err) == (0, True)
    done = call("train", "names.iob2", "-o", "own.seqtag", "--epochs", 1)
    done = call("compare", "names.iob2", "en", "own.seqtag")
    assert (done.code, b"chunk F1" in done.out) == (0, True)
    Path("chunks.txt").write_text("Ada NNP B-NP\nruns VBZ B-VP\n. . O\n\n")
    done = call("eval", "-m", "en", "chunks.txt", "--columns", "form,upos,xpos")
    assert "expected CoNLL-U, or one of the columns upos, xpos, found a file with the" in done.err
