"""``seqtag cv`` and ``tune`` on the sample corpus."""

from __future__ import annotations

import json

import pytest

import seqtag
from seqtag.cli import main


@pytest.fixture
def files(sample_dir):
    return [str(sample_dir / f"en-sample-{part}.conllu") for part in ("dev", "test")]


def test_cv(files, capsys):
    assert main(["cv", files[0], "--folds", "2", "--epochs", "1"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert "of 2 folds" in lines[0]
    assert lines[1].startswith("task:upos|metric:accuracy|scheme:none|sentences:")
    assert "|folds:2|by:block|units:" in lines[1] and "|seed:1|version:" in lines[1]
    assert err.count("fold ") == 2
    assert "note: no documents for 2 folds (# newdoc, -DOCSTART-); blocks of " in err
    assert main(["cv", files[0], "--folds", "2", "--epochs", "1", "--json", "-q"]) == 0
    found, err = capsys.readouterr()
    value = json.loads(found)
    assert value["mean"] == pytest.approx(sum(value["scores"]) / 2)
    assert value["signature"] == lines[1]
    assert out.startswith(f"{100 * value['mean']:.2f} +- {100 * value['deviation']:.2f}")
    assert err == ""


def documents(rows):
    """Sentences of one word, each of a document that a comment names; labels differ by document."""
    return "".join(
        f"# doc = {name}\n1\t{word}\t_\t{name.upper()}" + "\t_" * 6 + "\n\n" for name, word in rows
    )


def test_cv_by_documents(tmp_path, capsys):
    """Words of a document the training data has none of cannot be known."""
    path = tmp_path / "train.conllu"
    path.write_text(documents([(name, f"{name}{i % 2}") for i in range(8) for name in "xyz"]))
    args = ["cv", str(path), "--folds", "3", "--epochs", "2", "--min-count", "1", "-q", "--json"]
    assert main([*args, "--by", "doc"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["scores"] == [0, 0, 0]
    assert "|sentences:24|tokens:24|folds:3|by:doc|units:3|" in value["signature"]
    assert main([*args, "--by", "sentence"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["scores"] == [1, 1, 1]
    assert "|folds:3|by:sentence|units:24|" in value["signature"]
    path.write_text(path.read_text().replace("# doc = x", "# newdoc"))
    assert main(["cv", str(path), "--folds", "9", "--epochs", "1"]) == 0
    out, err = capsys.readouterr()
    assert "by:block" in out and "note: 8 documents for 9 folds" in err
    assert main(["cv", str(path), "--folds", "8", "--epochs", "1"]) == 0
    out, err = capsys.readouterr()
    assert "|by:document|units:8|" in out and "stay whole" not in err


def test_cv_refuses(files, capsys, tmp_path):
    assert main(["cv", files[0], "--folds", "5000"]) == 1
    assert "folds for" in capsys.readouterr().err
    assert main(["cv", files[0], "--by", "speaker"]) == 1
    message = "expected documents marked by a comment '# speaker = ...' or a column 'speaker'"
    assert message in capsys.readouterr().err
    assert main(["cv", files[0], "--by", "genre", "--folds", "25"]) == 1
    assert "groups, found 25" in capsys.readouterr().err
    empty = tmp_path / "empty.conllu"
    empty.write_text("")
    assert main(["cv", str(empty)]) == 1
    assert "expected sentences to learn from, found none" in capsys.readouterr().err


def test_tune(files, capsys):
    train, dev = files
    args = ["tune", train, "--dev", dev, "--try", "epochs=1,2", "--try", "margin=0,0.5"]
    assert main(args) == 0
    out, err = capsys.readouterr()
    trials = [line for line in err.splitlines() if "--epochs" in line]
    assert len(out.splitlines()) == len(trials) == 4
    scores = [float(line.split()[0]) for line in out.splitlines()]
    assert scores == sorted(scores, reverse=True)
    assert "--epochs 2 --margin" in out
    args = ["tune", train, "--try", "update=perceptron", "--folds", "2", "--epochs", "1"]
    assert main([*args, "--json", "-q"]) == 0
    assert len(json.loads(capsys.readouterr().out)[0]["folds"]) == 2


def test_tune_keeps_the_best_epoch_on_the_dev_set_as_train_does(files, tmp_path, capsys):
    train, dev = files
    model, how = tmp_path / "m.seqtag", ["--dev", dev, "--label", "upos", "--update", "perceptron"]
    assert main(["train", train, *how, "--epochs", "6", "-o", str(model), "-q"]) == 0
    training = seqtag.load(model).info["training"]
    assert training["best_epochs"] != [6]  # else there is nothing to see
    assert main(["tune", train, *how, "--try", "epochs=6", "--json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["score"] == training["dev"]["score"]
