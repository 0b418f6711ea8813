"""``--lenient``, and little memory: all commands that read know what to refuse."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.command_line import SEQTAG, call, conllu, home, linux


@pytest.fixture
def commands(home, tmp_path):
    """What reads a file whose second sentence, on line 6, has four words."""
    path = tmp_path / "long.conllu"
    path.write_text(conllu(["the dog barks", "the cat barks ."]))
    model = home / "upos.seqtag"
    new, page = tmp_path / "new.seqtag", tmp_path / "page.html"
    plain = ["train", path, "-o", new, "--force", "--label"]
    return path, [
        ["tag", "-m", model, path],
        ["tag", "-m", model, path, "--to", "tagged"],
        ["eval", "-m", model, path],
        ["eval", path, path],
        [*plain, "upos", "--epochs", "1"],
        [*plain, "upos,xpos", "--epochs", "1"],
        ["cv", path, "--folds", "2", "--by", "sentence", "--epochs", "1"],
        ["tune", path, "--dev", path, "--try", "epochs=1"],
        ["compare", path, model, path],
        ["report", "-m", model, path, "-o", page, "--force"],
        ["explain", "-m", model, "--input", path],
        ["bundle", model, "--calibrate", path, "-o", new, "--force"],
    ]


def test_every_command_passes_over_what_it_cannot_read_if_asked_to(call, commands):
    path, lines = commands
    path.write_text("1\tthe\n\n" + path.read_text())
    said = f"{path}:1: expected 10 tab-separated columns, found 2"
    for line in lines:
        done = call(*line)
        assert (done.code, done.out) == (1, b""), done
        assert done.err.startswith(f"seqtag: {said}"), done
        done = call(*line, "--lenient")
        assert done.code == 0, done
        assert done.err.count(f"seqtag: skipped: {said}") == 1, done
        assert done.err.count("1 sentence that cannot be read was skipped\n") == 1, done


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("expected a shorter sentence", "expected a shorter sentence"),
        ("", "found too little memory; use smaller inputs, or free some memory"),
    ],
)
def test_too_little_memory_is_no_internal_error(call, home, monkeypatch, said, shown):
    def load(_):
        raise MemoryError(said)

    monkeypatch.setattr("seqtag.loading.load", load)
    done = call("tag", "-m", home / "upos.seqtag")
    assert (done.code, done.err) == (1, f"seqtag: {shown}\n")


@linux
@pytest.mark.skipif(sys.version_info < (3, 11), reason="numpy for 3.10 does not say why it fails")
def test_a_limit_on_memory_gives_a_sentence():
    """A limit on the address space: too little for libraries, for the model, and enough.

    Between them, about 72 to 110 MB, importing numpy itself ends the process or may crash.
    """
    codes = set()
    for megabytes in (45, 55, 130, 200, 1000):
        limited = f'ulimit -v {megabytes << 10}; exec "$@"'
        command = ["sh", "-c", limited, "sh", *SEQTAG, "tag", "-m", "en"]
        env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
        done = subprocess.run(
            command, input=b"Birds sing.\n", capture_output=True, env=env, check=False
        )
        codes.add(done.returncode)
        found = done.stderr.decode()
        assert done.returncode in (0, 1), (megabytes, found)
        for word in "Traceback", "internal error", "interrupted":
            assert word not in found, (megabytes, found)
    assert codes == {0, 1}
