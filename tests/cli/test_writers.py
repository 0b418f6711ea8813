"""Commands that write files: --force, and the shell's own redirections."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import errno
import os
import re
import sys
from pathlib import Path

import click
import pytest

from seqtag.cli import cli
from tests.command_line import call, home, linux, posix, run

QUICK = ("--epochs", 1, "-q")
TAG = ("tag", "-q", "-m", "upos.seqtag", "train.conllu")
WRITERS = {
    "model": (("train", "train.conllu", *QUICK, "-o"), "out.seqtag"),
    "pipeline": (("train", "train.conllu", "--label", "upos,xpos", *QUICK, "-o"), "out.seqtag"),
    "bundle": (("bundle", "upos.seqtag", "xpos.seqtag", "-q", "-o"), "out.seqtag"),
    "calibrated": (
        ("bundle", "upos.seqtag", "--calibrate", "train.conllu", "-q", "-o"),
        "out.seqtag",
    ),
    "tagged": ((*TAG, "-o"), "out.conllu"),
    "gzip": ((*TAG, "-o"), "out.conllu.gz"),
    "bzip2": ((*TAG, "-o"), "out.conllu.bz2"),
    "xz": ((*TAG, "-o"), "out.conllu.xz"),
    "jsonl": ((*TAG, "--to", "jsonl", "-o"), "out.jsonl"),
    "tsv": ((*TAG, "--to", "tsv", "-o"), "out.tsv.gz"),
    "page": (
        ("report", "-q", "-m", "upos.seqtag", "train.conllu", "-o"),
        "out.html",
    ),
    "list": (("eval", "-q", "-m", "upos.seqtag", "train.conllu", "--list"), "out.tsv"),
    "merged": (("agree", "-q", "train.conllu", "train.conllu", "--merge"), "out.conllu"),
    "chosen": (("select", "-q", "-m", "upos.seqtag", "train.conllu", "-o"), "out.conllu"),
    "classes": (("classes", "train.conllu", "-K", 2, "--min-count", 1, "-q", "-o"), "out.classes"),
}
"""Everything that a command writes to a file: arguments, and the name that follows them."""

each_writer = pytest.mark.parametrize("writer", WRITERS)


@pytest.fixture
def folder(home, tmp_path, monkeypatch):
    """A working folder with corpora and models."""
    for name in ("train.conllu", "train.txt", "upos.seqtag", "xpos.seqtag"):
        (tmp_path / name).write_bytes((home / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ----------------------------------------------------------------------------- --force
@each_writer
def test_a_file_that_is_there_is_replaced_with_force_only(writer, folder, call):
    args, name = WRITERS[writer]
    (folder / name).write_bytes(b"old")
    done = call(*args, name)
    assert (done.code, done.out) == (2, b"")
    assert f"seqtag: {name} exists; overwrite it with --force (see" in done.err
    assert (folder / name).read_bytes() == b"old"
    (folder / "link").symlink_to(name)
    if name.endswith((".seqtag", ".conllu")):  # a picture is told by its name
        assert "link exists" in call(*args, "link").err
    assert call(*args, name, "--force").code == 0
    assert (folder / name).read_bytes() != b"old"


def test_every_option_that_names_a_file_to_write_has_force():
    found = set()
    for name in cli.list_commands(click.Context(cli)):
        command = cli.get_command(click.Context(cli), name)
        options = {option for each in command.params for option in each.opts}
        writes = bool(options & {"--output", "--plot", "--list"}) or name == "train"
        writes = writes and name != "annotate"  # which appends, and continues a file of its own
        assert ("--force" in options) == writes, name
        found |= {name} if writes else set()
    assert found == {str(args[0]) for args, _ in WRITERS.values()}


@each_writer
def test_an_input_is_not_replaced_with_force_either(writer, folder, call):
    args, name = WRITERS[writer]
    source = next(str(arg) for arg in args if re.match(r"train\.|xpos\.", str(arg)))
    before = (folder / source).read_bytes()
    (folder / name).unlink(missing_ok=True)
    (folder / name).hardlink_to(folder / source)
    done = call(*args, name, "--force")
    assert done.code == 1
    assert f"{name}: expected an output file other than the input" in done.err
    assert (folder / source).read_bytes() == before


BESIDE = {
    "attributes": (*TAG, "--attributes", "mine.py", "-o"),
    "attributes of a training": (*WRITERS["model"][0][:-1], "--attributes", "mine.py", "-o"),
    "table": (*WRITERS["model"][0][:-1], "--table", "c=mine.py", "-o"),
    "model of a page": ("report", "-q", "-m", "mine.py", "train.conllu", "-o"),
}


@pytest.mark.parametrize("what", BESIDE)
def test_a_file_read_beside_the_text_is_not_replaced_with_force_either(what, folder, call):
    mine = b"from seqtag.features import attribute\n@attribute('mine')\ndef _(_):\n    return 'x'\n"
    (folder / "mine.py").write_bytes(mine)
    (folder / "out.svg").symlink_to("mine.py")
    done = call(*BESIDE[what], "out.svg", "--force")
    assert done.code == 1
    assert "out.svg: expected an output file other than the input 'mine.py'" in done.err
    assert (folder / "mine.py").read_bytes() == mine


@each_writer
def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    writer, folder, call, monkeypatch
):
    args, name = WRITERS[writer]
    monkeypatch.setattr("seqtag.storage.output._opened", None)  # it is not called
    assert "none: No such directory; check the path" in call(*args, f"none/{name}").err
    (folder / name).symlink_to(name)
    assert f"{name}: Too many levels of symbolic links" in call(*args, name).err
    monkeypatch.setattr(os, "access", lambda *_: False)
    done = call(*args, f"./new-{name}")
    assert (done.code, done.err) == (1, "seqtag: .: Permission denied; check its permissions\n")


def test_a_model_is_not_written_to_standard_output_nor_to_no_name(folder, call):
    for name in ("-", ""):
        for writer in ("bundle", "calibrated"):
            done = call(*WRITERS[writer][0], name)
            assert (done.code, done.out) == (2, b"")
            assert f"expected the name of a file to write, found {name!r}" in done.err
    assert "expected the name of a file to write, found ''" in call(*TAG, "-o", "").err
    assert not (folder / "-").exists()


# ----------------------------------------------------------------------------- redirections
@posix
@pytest.mark.parametrize(
    ("args", "shell", "found"),
    [
        (TAG, 'exec "$@" >> train.conllu', "'train.conllu'"),
        (TAG, 'exec "$@" 1<> train.conllu', "'train.conllu'"),
        (TAG, 'exec "$@" >> upos.seqtag', "'upos.seqtag'"),
        ((*TAG, "-"), 'exec "$@" < train.txt >> train.txt', "standard input"),
        (TAG[:4], 'exec "$@" < train.conllu >> train.conllu', "standard input"),
        (
            ("eval", "--model=upos.seqtag", "link"),
            'ln -s train.conllu link; exec "$@" >> link',
            "'link'",
        ),
        (("info", "upos.seqtag"), 'exec "$@" >> upos.seqtag', "'upos.seqtag'"),
        (
            ("train", "train.txt", "--dev=train.conllu", "--json", "-o", "m"),
            'exec "$@" >> train.conllu',
            "'train.conllu'",
        ),
    ],
)
def test_output_redirected_into_a_file_that_is_read(folder, args, shell, found):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = run(*args, cwd=folder, shell=shell)
    assert (done.code, done.out) == (2, b"")
    assert done.err == (
        f"seqtag: expected standard output to be another file than the inputs, found {found} as "
        "both; seqtag wrote nothing, but the shell empties a file after > before seqtag starts "
        "(not after >>): check the file, and redirect to another one\n"
    )
    (folder / "link").unlink(missing_ok=True)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@posix
def test_output_redirected_over_a_file_that_is_read_is_refused_while_it_is_empty(folder):
    done = run(*TAG, cwd=folder, shell='exec "$@" > train.conllu')
    assert done.code == 2 and "found 'train.conllu' as both" in done.err
    assert (folder / "train.conllu").read_bytes() == b""  # as the shell has left it


@posix
def test_other_redirections_are_as_they_were(folder):
    expected = run(*TAG, cwd=folder).out
    for shell in ('exec "$@" >> other', 'exec "$@" < train.conllu > other'):
        (folder / "other").write_bytes(b"")
        done = run(*TAG, cwd=folder, shell=shell)
        assert (done.code, done.err, (folder / "other").read_bytes()) == (0, "", expected)
    done = run(*TAG, "-o", "train.txt", "--force", cwd=folder, shell='exec "$@" < train.txt')
    assert (done.code, (folder / "train.txt").read_bytes()) == (0, expected)
    done = run(*TAG[:4], "-o", "train.txt", "--force", cwd=folder, shell='exec "$@" < train.txt')
    assert done.code == 1
    assert "train.txt: expected an output file other than the input '-'" in done.err


@linux
def test_names_of_open_descriptors_are_written_as_they_are(folder):
    expected = run(*TAG, cwd=folder).out
    assert run(*TAG, "-o", "/dev/stdout", cwd=folder).out == expected  # a pipe
    for name, shell in (
        ("/dev/stdout", 'exec "$@" > out'),
        ("/dev/fd/1", 'rm out; exec "$@" >> out'),
        ("/dev/fd/3", 'exec "$@" 3> out'),
        ("/dev/fd/4", '{ exec "$@"; } 4>&1 >&2 | cat > out'),
    ):
        done = run(*TAG, "-o", name, cwd=folder, shell=shell)
        assert (done.code, done.err, (folder / "out").read_bytes()) == (0, "", expected), name
    assert "/dev/fd/9: Bad file descriptor" in run(*TAG, "-o", "/dev/fd/9", cwd=folder).err
    done = run(*WRITERS["bundle"][0], "/dev/stdout", cwd=folder, shell='exec "$@" > out')
    assert done.code == 2 and "expected the name of a file to write" in done.err


@posix
def test_a_named_pipe_whose_reader_goes_away_is_an_error(folder):
    os.mkfifo(folder / "pipe")
    large = (folder / "train.conllu").read_bytes() * 400  # more than a pipe holds
    (folder / "train.conllu").write_bytes(large)
    done = run(*TAG, "-o", "pipe", cwd=folder, shell='head -c 9 pipe > first & "$@"')
    assert done.code == 1
    assert done.err.startswith("seqtag: pipe: Broken pipe; its reader has closed it"), done.err


# ----------------------------------------------------------------------------- streams
READING = {
    "tag": ("tag", "-q", "-m", "upos.seqtag", "-"),
    "eval": ("eval", "-q", "-m", "upos.seqtag", "-"),
    "train": ("train", "-", "--json", *QUICK, "-o", "m.seqtag"),
}


@linux
@pytest.mark.parametrize("command", READING)
def test_streams_that_are_closed_full_or_gone(command, folder):
    def done(shell):
        (folder / "m.seqtag").unlink(missing_ok=True)
        return run(*READING[command], cwd=folder, shell=shell)

    assert done('exec "$@" < train.conllu').code == 0
    closed = done('exec "$@" <&-')
    assert (closed.code, closed.out, closed.err) == (
        1,
        b"",
        "seqtag: <stdin>: standard input is closed\n",
    )
    full = done('exec "$@" < train.conllu >/dev/full')
    assert (full.code, full.err) == (
        1,
        "seqtag: <stdout>: No space left on device; free some space and try again\n",
    )
    shut = done('exec "$@" < train.conllu >&-')
    assert (shut.code, shut.err) == (1, "seqtag: <stdout>: standard output is closed\n")
    gone = done('{ sleep 0.2; "$@" < train.conllu; echo $? >&2; } | true')
    assert (gone.code, gone.out, gone.err) == (0, b"", "0\n")
    assert (folder / "m.seqtag").exists() == (command == "train")
    first = done('{ "$@" < train.conllu; echo $? >&2; } | head -n 1')
    assert (first.code, first.err, first.out.count(b"\n")) == (0, "0\n", 1)


def test_an_error_when_standard_output_is_closed_is_not_lost(folder, call, monkeypatch):
    """Some network file systems tell only then that the disk is full."""
    real = os.close

    def fail(number):
        real(number)
        if sys._getframe(1).f_code.co_name == "_finish_stdout":
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(os, "close", fail)
    done = call("info", "upos.seqtag")
    assert (done.code, done.err) == (
        1,
        f"seqtag: <stdout>: {os.strerror(errno.EDQUOT)}; free some space and try again\n",
    )
