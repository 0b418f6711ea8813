"""Options of 0.2.0 that were renamed: they work for one release, warn, and are not shown."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import pytest

from tests.command_line import call, conllu, home

PARTLY = conllu().replace("\tDET\tDT\t", "\t_\t_\t", 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("--unlabelled", "_"), ("--unlabeled", "learn-around", "--unlabeled-mark", "_")),
        (("--unlabelled", "DET"), ("--unlabeled", "learn-around", "--unlabeled-mark", "DET")),
        (("--skip-unlabelled",), ("--unlabeled", "skip")),
        (("--known-labels", "1"), ("--tag-dictionary", "1")),
        (("--known-labels", "1", "--tag-dictionary", "2"), ("--tag-dictionary", "2")),
    ],
)
def test_an_old_option_does_what_the_new_one_does(old, new, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.conllu").write_text(conllu() if "DET" in old or "1" in old else PARTLY)
    for name, options in (("old", old), ("new", new)):
        done = call("train", "in.conllu", "-o", name, "--epochs", 2, *options)
        assert done.code == 0
        warned = (
            f"seqtag: note: {old[0]} is deprecated and will be removed in the next release; use --"
        )
        assert (warned in done.err) == (name == "old")
    assert (tmp_path / "old").read_bytes() == (tmp_path / "new").read_bytes()


@pytest.mark.parametrize("name", ["train", "cv", "tune", "cluster"])
def test_old_options_are_not_shown(name, call):
    shown = call(name, *["train"] * (name == "cluster"), "--help").out
    assert b"--unlabeled [error|skip|learn-around]" in shown
    assert b"--tag-dictionary" in shown
    for old in (b"--unlabelled", b"--skip-unlabelled", b"--known-labels"):
        assert old not in shown


def test_classes_and_margin_mean_one_thing_each(call, home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.conllu").write_text(conllu())
    tag, classes = ("tag", "-m", home / "upos.seqtag", "in.conllu"), ("classes", "in.conllu", "-o")
    old, new = call(*tag, "--margin"), call(*tag, "--label-margin")
    assert old.code == new.code == 0
    assert old.out == new.out != call(*tag).out
    note = "is deprecated and will be removed in the next release; use"
    assert f"seqtag: note: --margin {note} --label-margin\n" in old.err
    old = call(*classes, "-", "--classes", 2, "--min-count", 1)
    new = call(*classes, "-", "--number", 2, "--min-count", 1)
    assert old.code == new.code == 0
    assert old.out == new.out != b""
    assert f"seqtag: note: --classes {note} --number 2\n" in old.err


def test_curve_is_now_an_option_of_tune(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.conllu").write_text(conllu())
    how = ("in.conllu", "--dev", "in.conllu", "--points", 2, "--epochs", 1)
    old, new = call("curve", *how), call("tune", "--curve", *how)
    assert old.code == new.code == 0
    assert old.out == new.out
    note = "seqtag curve is deprecated and will be removed in the next release; use seqtag tune --curve"
    assert f"seqtag: note: {note}\n" in old.err
    assert note not in new.err
    assert note not in call("curve", *how, "-q").err
    assert b"curve " not in call("--help").out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "--unlabeled-mark ?",
            "expected --unlabeled learn-around with --unlabeled-mark, found error",
        ),
        ("--unlabeled learn-around --unlabeled-mark=", "expected a label for --unlabeled-mark"),
        ("--unlabelled=", "expected a label for --unlabeled-mark, found ''"),
    ],
)
def test_options_that_do_not_go_together(options, message, call, tmp_path):
    (tmp_path / "in.conllu").write_text(conllu())
    done = call("train", tmp_path / "in.conllu", "-o", tmp_path / "m", *options.split())
    assert (done.code, done.out) == (2, b"")
    assert message in done.err


def test_only_train_learns_around_unlabeled_words(call, tmp_path):
    (tmp_path / "in.conllu").write_text(conllu())
    done = call("cv", tmp_path / "in.conllu", "--unlabeled", "learn-around")
    assert done.code == 2
    assert "expected --unlabeled error or skip here, found learn-around" in done.err
