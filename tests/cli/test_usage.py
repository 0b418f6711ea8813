"""Command lines that cannot work: one line says why, before anything is read or written."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import os
import shlex

import pytest

from tests.command_line import call, home

USAGE = [
    ("frain", "expected a command, found 'frain' (did you mean 'train'?); see seqtag --help"),
    ("--frain", "expected an option, found '--frain' (see seqtag --help)"),
    ("tag --onyl upos", "--only"),
    ("tag --format CoNLL-U", "found 'CoNLL-U' (did you mean 'conllu'?); see seqtag tag --help"),
    ("tag --to x", "'--to': expected one of conllu, columns, "),
    ("tag -o x/", "expected files to tag into a folder, found standard input; name the files"),
    ("tag - -", 'expected "-" (standard input) once, found it again'),
    *(
        (
            f"tag -m upos.seqtag train.conllu --to tagged {option}",
            "expected the format conllu, columns, tsv or jsonl for margins, probabilities and "
            "several label sequences, found tagged, which cannot store them",
        )
        for option in ("--label-margin", "--probability", "--nbest 2")
    ),
    # train
    ("train t --max-iter 3", "found '--max-iter' (did you mean '--epochs'?); see seqtag train"),
    ("tag --n-jobs 3", "found '--n-jobs' (did you mean '--threads'?); see seqtag tag"),
    ("train --test t", "found '--test'; use seqtag eval for a test part, seqtag cv for folds (see"),
    ("version", "found 'version'; use seqtag --version (see seqtag --help)"),
    ("train train.txt -o upos.seqtag", "upos.seqtag exists; overwrite"),
    ("train train.txt -o -", "expected a name for --output, found '-'"),
    ("train train.txt -o folder", "expected a file to write the model to, found folder"),
    (f"train train.txt -o {os.devnull} --force", "expected a file to write the model to"),
    ("train train.txt -o n --label ''", "expected a name for --label, found ''"),
    ("train train.txt -o n --label a --label b", "expected --label once, found it 2 times; for a"),
    ("train train.txt -o n --init ''", "expected a name for --init, found ''"),
    ("train train.txt -o n --patience 2", "--patience needs a --dev set"),
    ("train train.txt -o n --epochs 0", "'--epochs': the setting epochs expects an integer from 1"),
    ("train train.txt -o n --update adative", "did you mean 'adaptive'?"),
    ("train train.txt -o n --columns form,,x", "such as form,pos,chunk, found"),
    ("train t -o n --unlabeled skip=?", "skip or learn-around[=MARK], found 'skip=?'"),
    ("train t -o n --unlabeled learn-around=", "a label after --unlabeled learn-around=, found ''"),
    (
        "train t -o n --label upos,lemma --templates pos",
        "expected templates with one label, found upos, lemma",
    ),
    (
        "train t -o n --label all --unlabeled skip",
        "expected unlabeled with one label, found all",
    ),
    ("cv t --unlabeled learn-around", "expected --unlabeled error or skip here, found learn-aro"),
    *(
        (
            f"{command} no-such-file --label {label}",
            f"expected one column of words for --label here, found {label}; name one, such as",
        )
        for command in ("cv", "tune --try epochs=1,2")
        for label in ("tokens", "upos,xpos")
    ),
    (
        "tune t --try epochs",
        "expected a setting and its values, such as epochs=5,10, found 'epochs'",
    ),
    ("tune t --try epochs=1,", "expected a setting and its values"),
    ("tune t --try speed=1", "expected --try with one of epochs, update"),
    ("tune t --try epochs=1 --try epochs=2", "expected --try epochs once, found it twice"),
    (
        "serve --max-seconds inf",
        "Invalid value for '--max-seconds': expected a number above 0 to 1e+08, found 'inf'",
    ),
    # eval, compare
    ("eval train.txt", "expected GOLD PREDICTED, or -m MODEL GOLD, found 1 file"),
    ("eval -m upos.seqtag a b", "expected GOLD with -m MODEL, found 2 files"),
    (
        "eval a b --fail-under nan",
        "Invalid value for '--fail-under': expected a number from 0 to 100, found 'nan'",
    ),
    (
        "eval a b --raw --conlleval",
        "expected texts of the same words for --confusion, --errors, --list and --conlleval, "
        "found --raw; leave one out",
    ),
    ("compare a - -", 'expected "-" (standard input) once, found it again'),
    # explain, info, report
    ("explain -m upos.seqtag 'the dog' --input a", "a text or --input, found both, 'the dog' and"),
    (
        "info train.txt --templates pos",
        "expected --templates alone, found other arguments; leave one",
    ),
    ("info train.txt --verbose", "expected --verbose for a model, found none; leave it out"),
]
"""Command lines, and what the message says."""


@pytest.fixture
def folder(home, tmp_path, monkeypatch):
    """A working folder with training files, a model and a folder."""
    for name in ("train.conllu", "train.txt", "upos.seqtag"):
        (tmp_path / name).write_bytes((home / name).read_bytes())
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("line", "message"), USAGE, ids=[line for line, _ in USAGE])
def test_usage(folder, call, line, message):
    before = {path: path.is_dir() or path.read_bytes() for path in folder.iterdir()}
    done = call(*shlex.split(line))
    assert (done.code, done.out) == (2, b""), done
    assert done.err.startswith("seqtag: ") and done.err.count("\n") == 1, done.err
    assert message in done.err, done.err
    assert " --help" in done.err
    assert {path: path.is_dir() or path.read_bytes() for path in folder.iterdir()} == before
