"""Corpora by name: seqtag models lists and fetches them, other commands read them."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json
from pathlib import Path

import pytest

import seqtag
from tests.catalogue.catalogues import PARTS, toys
from tests.command_line import call


@pytest.fixture
def folder(toys, tmp_path, monkeypatch):
    """An empty working folder."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def test_the_list(folder, call):
    done = call("models", "list")
    assert (done.code, done.err) == (0, "")
    head, treebank, _ = (" ".join(line.split()) for line in done.out.decode().splitlines())
    assert head == "name default corpus title license release size state"
    assert treebank == "xx_toy ud:xx_toy Toy, ud:xx_toy CC0 1.5 0.0 MB trainable"
    call("models", "get", "toychunks")
    [treebank, chunks] = json.loads(call("models", "list", "--json").out)
    assert (treebank["name"], treebank["state"], treebank["here"]) == ("ud:xx_toy", "trainable", [])
    assert (chunks["state"], chunks["here"]) == ("fetched: train test", ["train", "test"])
    assert treebank["bytes"][treebank["parts"].index("dev")] == len(PARTS["ud:xx_toy"]["dev"])


def test_get_prints_paths(folder, call, toys):
    done = call("models", "get", "toychunks")
    assert done.code == 0
    train, test = map(Path, done.out.decode().splitlines())
    assert (train.read_text(), test.read_text()) == tuple(PARTS["toychunks"].values())
    assert done.err.splitlines() == [
        "seqtag: toychunks: Toy, toychunks, license: CC0",
        "seqtag: note: fetching toychunks/train, release 1.5",
        "seqtag: note: fetching toychunks/test, release 1.5",
    ]
    again = call("models", "get", "toychunks", "-q")
    assert (again.code, again.out, again.err) == (0, done.out, "")
    assert len(toys.requests) == 2


def test_a_name_that_is_none(folder, call):
    done = call("models", "get", "toychunk")
    assert done.code == 1
    assert done.err == (
        "seqtag: expected a language or a name of seqtag models list, found 'toychunk' (did you "
        "mean 'toychunks'?)\n"
    )


def test_a_treebank_by_name_gives_a_pipeline_that_its_dev_part_has_chosen(folder, call):
    done = call("train", "ud:xx_toy", "-o", "toy.seqtag", "--epochs", 2)
    assert done.code == 0, done.err
    assert done.err.startswith(
        "seqtag: training on ud:xx_toy/train --dev ud:xx_toy/dev --label all\n"
        "seqtag: note: fetching ud:xx_toy/train, release 1.5\n"
        "seqtag: note: fetching ud:xx_toy/dev, release 1.5\n"
    )
    assert "dev accuracy" in done.err
    pipeline = seqtag.load("toy.seqtag")
    assert {"tokens", "upos", "lemma"} <= {*pipeline.parts}
    scored = call("eval", "-m", "toy.seqtag", "ud:xx_toy/test", "--raw")
    assert scored.code == 0
    assert "ud:xx_toy/test" in scored.err
    tagged = call("tag", "-m", "toy.seqtag", "ud:xx_toy/test", "-q")
    assert tagged.out.count(b"\n") == PARTS["ud:xx_toy"]["test"].count("\n")


def test_a_corpus_without_a_split_is_calibrated_on_as_its_dev_part(folder, call):
    assert call("train", "ud:xx_toy/train", "-o", "toy.seqtag", "--label", "upos").code == 0
    by_name, by_part, on_train = (
        call("bundle", "toy.seqtag", "--calibrate", f"ud:xx_toy{part}", "-o", f"{i}.seqtag", "-q")
        for i, part in enumerate(("", "/dev", "/train"))
    )
    assert (by_name.code, by_name.out) == (0, by_part.out)
    assert by_name.out != on_train.out
    assert call("bundle", "toy.seqtag", "--calibrate", "toychunks", "-o", "c.seqtag").err == (
        "seqtag: expected one of the splits train, test of toychunks, found none; name it, as in "
        "toychunks/test\n"
    )


def test_what_is_asked_for_comes_first(folder, call):
    (folder / "dev.conllu").write_text(PARTS["ud:xx_toy"]["dev"])
    options = ("--label", "xpos", "--dev", "dev.conllu", "--patience", 1, "--epochs", 1)
    done = call("train", "ud:xx_toy", "-o", "toy.seqtag", *options)
    assert done.code == 0
    assert "training on ud:xx_toy/train --dev dev.conllu --label xpos" in done.err
    assert seqtag.load("toy.seqtag").label == "xpos"
    call("train", "ud:xx_toy", "-o", "pos.seqtag", "--templates", "pos", "--epochs", 1)
    assert seqtag.load("pos.seqtag").label == "upos"
    plain = call("train", "ud:xx_toy/train", "-o", "plain.seqtag", "--epochs", 1)
    assert "training on" not in plain.err
    assert seqtag.load("plain.seqtag").label == "upos"


def test_a_corpus_without_a_dev_part(folder, call):
    done = call("train", "toychunks", "-o", "toy.seqtag", "--epochs", 1)
    assert done.err.startswith("seqtag: training on toychunks/train\nseqtag: note: fetching")
    assert seqtag.load("toy.seqtag").label == "chunk"
    refused = call("train", "toychunks", "-o", "other.seqtag", "--patience", 1)
    assert (refused.code, refused.err.splitlines()[-1]) == (
        2,
        "seqtag: --patience needs a --dev set (see seqtag train --help)",
    )


@pytest.mark.parametrize(
    "command",
    [
        ("cv", "ud:xx_toy", "--folds", 2, "--epochs", 1),
        ("tune", "ud:xx_toy", "--dev", "ud:xx_toy", "--try", "epochs=1"),
    ],
)
def test_other_commands_take_the_train_part(folder, call, toys, command):
    done = call(*command)
    assert done.code == 0, done.err
    dev = ["/toys/r1.5/ud_xx_toy-dev.txt"] * ("--dev" in command)
    assert toys.requests == ["/toys/r1.5/ud_xx_toy-train.txt", *dev]


@pytest.mark.parametrize("name", ["ud:xx_toy/test", "toychunks/train"])
@pytest.mark.parametrize(
    "command",
    [
        ("report", "-m", "en", "--label", "xpos", "-o", "r.html", "NAME"),
        ("compare", "NAME", "xpos", "xpos"),
        ("compare", "NAME", "NAME", "xpos"),
        ("explain", "-m", "en", "--only", "xpos", "--input", "NAME", "--token", 1),
        ("eval", "-m", "xpos", "NAME"),
        ("tag", "-m", "xpos", "NAME"),
    ],
)
def test_more_commands_take_corpora_by_name(folder, call, command, name):
    seqtag.load("en").tagger("xpos").save("xpos")
    done = call(*(name if word == "NAME" else word for word in command))
    assert done.code == 0, done.err
    assert f"seqtag: note: fetching {name}, release 1.5\n" in done.err
    part = [name.partition("/")[0] if word == "NAME" else word for word in command]
    assert "/" in name and call(*part).code != 0  # which part?


def test_trouble_has_no_traceback(folder, call, toys):
    toys.files.clear()
    done = call("train", "ud:xx_toy", "-o", "toy.seqtag")
    assert done.code == 1
    address = f"{toys.address}/toys/r1.5/ud_xx_toy-train.txt"
    assert f"seqtag: {address}: cannot be downloaded (404 Client Error: Not Found" in done.err
    assert "Traceback" not in done.err
    assert not (folder / "toy.seqtag").exists()
