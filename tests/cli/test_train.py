"""seqtag train and info: models from files, what is said, what is refused, Ctrl-C."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import hashlib
import json

import pytest

import seqtag
from tests.command_line import SENTENCES, call, conllu, home, run


@pytest.fixture
def folder(home, tmp_path, monkeypatch):
    """An empty working folder with the training files in it."""
    for name in ("train.conllu", "train.txt"):
        (tmp_path / name).write_bytes((home / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_epoch_that_each_run_and_component_kept(folder, call):
    (folder / "dev.conllu").write_text(conllu(SENTENCES[:3]))
    args = ("train", "train.conllu", "-o", "m.seqtag", "--min-count", 1, "--force")
    done = call(*args, "--dev", "dev.conllu", "--epochs", 2, "--label", "upos,lemma")
    assert [line.split(",")[0] for line in done.err.splitlines() if "dev accuracy" not in line][
        -2:
    ] == ["seqtag: component lemma", "seqtag: m.seqtag: upos (5)"]
    kept = [line for line in done.err.splitlines() if " kept epoch " in line]
    assert len(kept) == 2
    done = call(*args, "--dev", "dev.conllu", "--epochs", 2, "--runs", 2)
    kept = [line for line in done.err.splitlines() if " kept epoch " in line]
    assert [line.split(" epoch ")[0] for line in kept] == [
        "seqtag: run 1 kept",
        "seqtag: run 2 kept",
    ]
    assert " kept epoch " not in call(*args, "--epochs", 2).err


def test_train_tag_and_evaluate(folder):
    """The first session of a new user, as processes."""
    (folder / "dev.conllu").write_text(conllu(SENTENCES[:3]))
    options = ("--dev", "dev.conllu", "-o", "m.seqtag", "--epochs", 4, "--min-count", 1)
    done = run("train", "train.conllu", *options, cwd=folder)
    assert (done.code, done.out) == (0, b"")
    lines = done.err.splitlines()
    assert lines[0].startswith("seqtag: note: 3 of the 3 sentences of the dev set are in the train")
    assert lines[1].startswith("seqtag: epoch 1: ") and lines[1].endswith(" *")
    assert "dev accuracy 100.00" in done.err
    best = max(n for n, line in enumerate(lines) if line.endswith(" *"))
    assert lines[-2] == (
        f"seqtag: kept epoch {best} of 4, the last one marked *: dev accuracy 100.00"
    )
    assert lines[-1].startswith("seqtag: m.seqtag: upos from form, 5 labels, 8 sentences, ")
    tagged = run("tag", "-m", "m.seqtag", "-", stdin=conllu(labels=False).encode(), cwd=folder)
    assert (tagged.code, tagged.err) == (0, "")
    assert b"1\tthe\tthe\tDET\t_\t" in tagged.out
    scored = run("eval", "-m", "m.seqtag", "train.conllu", cwd=folder)
    assert (scored.code, scored.err) == (0, "")
    assert "tokens                       100.00         44         44" in scored.out.decode()
    files = {path.name for path in folder.iterdir()}
    assert files == {"dev.conllu", "m.seqtag", "train.conllu", "train.txt"}


def test_json_is_one_document_and_quiet_is_quiet(folder, call):
    options = ("--dev", "train.conllu", "--label", "xpos", "--epochs", 2, "--patience", 9)
    done = call("train", "train.conllu", "-o", "m.seqtag", "--json", "-q", *options)
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert (document["model"], document["label"]) == ("m.seqtag", "xpos")
    assert document["bytes"] == (folder / "m.seqtag").stat().st_size
    assert [(e["run"], e["epoch"]) for e in document["epochs"]] == [(1, 1), (1, 2)]
    assert document["epochs"][-1]["dev"] == document["training"]["dev"]["score"] == 1.0


def test_labels_and_formats(folder, call):
    feats = conllu().replace("\tNN\t_", "\tNN\tNumber=Sing")
    (folder / "f.conllu").write_text(feats)
    (folder / "ner.txt").write_text("John B-PER\nsleeps O\n\nin O\nRome B-LOC\n\n")
    for args, label, columns in (
        (("train.txt",), "chunk", ("form", "pos")),
        (("train.txt", "--columns", "form,pos,phrase"), "phrase", ("form", "pos")),
        (("train.txt", "--format", "conll2000", "--label", "pos"), "pos", ("form",)),
        (("ner.txt", "--encoding", "iobes", "--templates", "pos"), "ner", ("form",)),
        (("f.conllu", "--label", "upos+feats"), "upos+feats", ("form",)),
        (("train.conllu", "f.conllu", "--update", "pa", "--step", "0.1"), "upos", ("form",)),
    ):
        done = call("train", *args, "-o", "m.seqtag", "--epochs", 1, "--force")
        assert done.code == 0, done.err
        tagger = seqtag.load("m.seqtag")
        assert (tagger.label, tagger.columns) == (label, columns)


def test_info(home, call):
    done = call("info", home / "chunk.seqtag")
    text = done.out.decode()
    assert (done.code, done.err) == (0, "")
    assert "label        chunk (4 labels)\n" in text
    assert "columns      form, pos\n" in text
    assert "scheme       iob2, learned as iobes, valid sequences only\n" in text
    assert "trained on   8 sentences, 44 tokens\n" in text
    assert text.endswith(" (listed by --verbose)\n")
    assert "templates\n  form[" in call("info", home / "chunk.seqtag", "--verbose").out.decode()
    facts = json.loads(call("info", home / "chunk.seqtag", "--json").out)
    assert facts["labels"] == ["B-NP", "B-VP", "I-NP", "O"]
    assert facts["training"]["sentences"] == 8
    assert "scheme       none\n" in call("info", home / "upos.seqtag").out.decode()
    embedded = call("info", "en")
    assert embedded.out.startswith(b"model        en (")
    assert b" MB)\nlicense      CC BY-SA 4.0\n" in embedded.out


def test_templates(call, tmp_path):
    listed = call("info", "--templates").out.decode().splitlines()
    assert [line.split()[0] for line in listed] == [
        *("chunk", "clitics", "feats", "lemma", "morph", "morph-tags"),
        *("multiword", "ner", "pos", "segment", "sentences", "xpos"),
    ]
    assert b"suffix(3)[0]\n" in call("info", "--templates", "pos").out
    (tmp_path / "mine.txt").write_text("form[0] # why\nlabel[-1]\n")
    assert call("info", "--templates", tmp_path / "mine.txt").out.startswith(
        b"form[0]\nlabel[-1]\n"
    )
    assert call("info", "--templates", "nope").code == 1


# ----------------------------------------------------------------- going on
def test_training_goes_on_from_a_model(folder, call):
    first = ["train", "train.conllu", "-o", "m.seqtag", "--epochs", 2, "--min-count", 1, "-q"]
    assert call(*first).code == 0
    more = "1\tzorb\t_\tZZ\t_\t_\t_\t_\t_\t_\n\n"
    (folder / "more.conllu").write_text(more)
    done = call("train", "more.conllu", "--init", "m.seqtag", "-o", "n.seqtag", "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    digest = hashlib.sha256((folder / "m.seqtag").read_bytes()).hexdigest()
    assert document["training"]["init_sha256"] == digest
    assert document["training"]["epochs"] == 2
    tagger = seqtag.load(folder / "n.seqtag")
    assert tagger.tag(["zorb"]) == ["ZZ"]
    assert {*seqtag.load(folder / "m.seqtag").labels} < {*tagger.labels}
    again = call("train", "more.conllu", "--init", "m.seqtag", "-o", "m.seqtag", "-q", "--force")
    assert again.code == 0  # in place
    assert (folder / "m.seqtag").read_bytes() == (folder / "n.seqtag").read_bytes()


def test_a_pipeline_goes_on_from_a_pipeline(folder, call):
    how = ["--label", "upos,xpos", "--epochs", 1, "-q"]
    assert call("train", "train.conllu", "-o", "m.seqtag", *how).code == 0
    assert call("train", "train.conllu", "--init", "m.seqtag", "-o", "n.seqtag", *how).code == 0
    for part in seqtag.load(folder / "n.seqtag").info["parts"]:
        assert "init_sha256" in part["training"]
    one = ["train", "train.conllu", "--init", "m.seqtag", "-o", "o.seqtag", "--label", "xpos", "-q"]
    assert call(*one).code == 0
    assert seqtag.load(folder / "o.seqtag").label == "xpos"
    note = "note: the new model has only xpos; upos of the model to continue from is not kept\n"
    done = call(*one[:-1], "--force")
    assert note in done.err
    done = call(*one[:-3], "--label", "tokens,xpos", "--epochs", 1, "--force")
    assert note.replace("xpos", "tokens, xpos") in done.err
    assert "not kept" not in call(*one[:-2], "upos,xpos", "--epochs", 1, "--force").err


# ----------------------------------------------------------------- words without a label
def test_words_without_a_label_are_learnt_around(folder, call):
    whole = (folder / "train.conllu").read_text()
    (folder / "partly.conllu").write_text(whole.replace("\tDET\t", "\t_\t", 3))
    how = ["-o", "m.seqtag", "--epochs", 3, "--min-count", 1]
    done = call("train", "partly.conllu", "--unlabeled", "learn-around", "--json", "-q", *how)
    assert (done.code, done.err) == (0, "")
    training = json.loads(done.out)["training"]
    assert (training["tokens"], training["labelled"]) == (44, 41)
    assert seqtag.load("m.seqtag").tag(["a", "dog"]) == ["DET", "NOUN"]
