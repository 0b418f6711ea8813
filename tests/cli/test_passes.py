"""``--passes 2`` on the command line."""

from __future__ import annotations

import json
import re

import pytest

from seqtag.cli import main


@pytest.fixture
def paths(sample_dir, tmp_path):
    """Training part, dev part and model."""
    parts = [str(sample_dir / f"en-sample-{part}.conllu") for part in ("train", "dev")]
    return *parts, str(tmp_path / "m.seqtag")


def test_one_file_that_info_tag_and_eval_know(paths, capsys):
    train, dev, model = paths
    args = ["train", train, "--label", "upos", "--passes", "2", "--epochs", "2", "-o", model]
    assert main([*args, "--dev", dev, "--quick"]) == 0
    err = capsys.readouterr().err
    said = [line for line in err.splitlines() if " pass" in line]
    assert said == [
        "seqtag: note: first pass: upos",
        "seqtag: note: first pass: xpos",
        "seqtag: note: second pass: upos",
    ]
    last = re.findall(r"epoch 2: .*dev accuracy ([\d.]+)", err)[-1]
    assert main(["info", model]) == 0
    out = capsys.readouterr().out
    assert re.search(
        r"\nfirst pass +upos \(\d+ labels, [\d,]+ features\); xpos \(\d+ labels, ", out
    )
    assert ", passes 2, " in out
    assert main(["info", model, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["label"] for each in told["first"]] == ["upos", "xpos"]
    assert main(["eval", dev, "-m", model]) == 0
    best = re.search(r"tokens +([\d.]+)", capsys.readouterr().out)[1]
    assert float(best) >= float(last)
    assert main(["eval", train, "-m", model]) == 0
    assert "is what the model was trained on" in capsys.readouterr().err


def test_features_are_looked_up_by_what_the_first_pass_says(paths, capsys):
    train, _, model = paths
    args = ["train", train, "--label", "upos", "--passes", "2", "--epochs", "1", "-o", model]
    assert main([*args, "--quick", "-q"]) == 0
    assert main(["info", model, "--weights", train, "--feature", "first.upos[[]+1]=NOUN"]) == 0
    assert "first.upos[+1]=NOUN" in capsys.readouterr().out


def test_components_of_a_pipeline_have_two_passes(paths, capsys):
    train, _, model = paths
    args = ["--label", "tokens,upos,xpos", "--passes", "2", "--epochs", "2", "-q", "-o", model]
    assert main(["train", train, *args]) == 0
    assert main(["info", model, "--json"]) == 0
    parts = json.loads(capsys.readouterr().out)["parts"]
    assert [len(part.get("first", [])) for part in parts] == [0, 2, 1]
