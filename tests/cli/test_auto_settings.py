"""What the command line says of settings that choose themselves, and ``--quick``."""

from __future__ import annotations

import json
import re

import pytest

from seqtag.cli import main
from seqtag.training import choose


@pytest.fixture
def path(sample_dir):
    return str(sample_dir / "en-sample-train.conllu")


LINE = re.compile(
    r"seqtag: note: tag-dictionary [01], by accuracy on [\d,]+ tokens held out of the training data "
    r"\(0: [\d.]+, 1: [\d.]+\)\n"
)


def test_train_says_what_it_chose(path, tmp_path, capsys):
    model = str(tmp_path / "m.seqtag")
    assert main(["train", path, "-o", model, "--epochs", "1"]) == 0
    err = capsys.readouterr().err
    assert len(LINE.findall(err)) == 1
    assert main(["info", model, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["training"]
    assert f"tag-dictionary {told['tag_dictionary']}, by" in err
    assert main(["info", model]) == 0
    assert re.search(r"chosen by trial +tag_dictionary\n", capsys.readouterr().out)
    assert {*told["chosen"]["tag_dictionary"]} == {"scores", "metric", "tokens"}


@pytest.mark.parametrize(
    "options", [["--quick"], ["--tag-dictionary", "0"], ["--templates", "chunk"], ["-q"]]
)
def test_nothing_is_said_where_nothing_is_asked(path, tmp_path, capsys, options):
    model = str(tmp_path / "m.seqtag")
    if options[-1] == "chunk":
        options = ["--templates", str(tmp_path / "own.txt")]
        (tmp_path / "own.txt").write_text("normal[0]\n")
    assert main(["train", path, "-o", model, "--epochs", "1", *options]) == 0
    assert "note: tag-dictionary" not in capsys.readouterr().err
    assert main(["info", model, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["training"]
    assert ("chosen" in told) == (options == ["-q"])


def test_a_pipeline_is_quick_too(path, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(choose, "_TOO_FEW", 100)
    args = ["train", path, "-o", str(tmp_path / "m"), "--label", "upos,xpos", "--epochs", "1"]
    assert main(args) == 0
    assert capsys.readouterr().err.count("note: tag-dictionary ") == 2
    assert main([*args, "--quick", "--force"]) == 0
    assert "tag-dictionary" not in capsys.readouterr().err


@pytest.mark.parametrize("command", ["cv", "tune"])
def test_folds_and_trials_choose_inside_their_training_part(command, sample_dir, capsys):
    train, dev = (str(sample_dir / f"en-sample-{part}.conllu") for part in ("train", "dev"))
    args = {
        "cv": ["cv", train, "--folds", "2"],
        "tune": ["tune", train, "--dev", dev, "--try", "tag-dictionary=0,auto"],
    }[command]
    sizes = {"cv": 0, "tune": 1}
    assert main([*args, "--epochs", "1"]) == 0
    assert len(LINE.findall(capsys.readouterr().err)) == sizes[command]
    if command != "tune":
        assert main([*args, "--epochs", "1", "--quick"]) == 0
        assert not LINE.search(capsys.readouterr().err)


def test_templates_auto(path, tmp_path, capsys):
    args = ["train", path, "-o", str(tmp_path / "m"), "--epochs", "1", "--templates", "auto"]
    assert main(args) == 0
    err = capsys.readouterr().err
    assert re.search(r"note: templates (pos|morph|upos), by accuracy on [\d,]+ tokens", err)
    assert "(pos: " in err
    assert main([*args, "--label", "upos,xpos", "--force"]) == 2
    assert "expected --templates with one label" in capsys.readouterr().err
