"""SIGINT and SIGTERM in every command that takes long: one line, an exit code, nothing left."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

import seqtag
from seqtag.cli import signals
from seqtag.model import bundle
from seqtag.training import runs
from tests.command_line import SEQTAG, call, conllu, home, posix
from tests.conftest import ROOT


def test_the_program_is_the_function_that_knows_of_it():
    text = Path(__file__, "../../../pyproject.toml").resolve().read_text(encoding="utf-8")
    assert '\nseqtag = "seqtag.__main__:main"\n' in text


@pytest.fixture
def handled():
    """SIGINT as in a program of its own, whatever the tests run under."""
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    signals.Interruption.number = 0


@posix
@pytest.mark.usefixtures("handled")
@pytest.mark.parametrize("label", ["upos", "upos,xpos"])
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_model_that_is_learnt_is_written_first(label, name, code, tmp_path, call, monkeypatch):
    """Its training may have taken days."""
    real = bundle.save

    def save(*args, **options):
        signal.raise_signal(getattr(signal, name))
        return real(*args, **options)

    monkeypatch.setattr(bundle, "save", save)
    (tmp_path / "train.conllu").write_text(conllu())
    monkeypatch.chdir(tmp_path)
    done = call("train", "train.conllu", "--label", label, "-o", "m.seqtag", "--epochs", 2)
    word = "interrupted" if name == "SIGINT" else "terminated"
    assert (done.code, done.out) == (code, b"")
    assert " MB\n" in done.err and done.err.endswith(f"\nseqtag: {word}\n")
    assert seqtag.load("m.seqtag").info


@posix
@pytest.mark.usefixtures("handled")
def test_weights_that_are_learnt_become_a_model_first(tmp_path, monkeypatch):
    """The dev set is scored once more, and large tables are packed: that takes a while."""
    real = runs.mean

    def mean(found):
        signal.raise_signal(signal.SIGINT)
        return real(found)

    monkeypatch.setattr(runs, "mean", mean)
    (tmp_path / "train.conllu").write_text(conllu())
    tagger = seqtag.train(tmp_path / "train.conllu", epochs=2)
    assert tagger.info["training"]["best_epochs"] == [2]
    assert tagger.model.interrupted  # for those who train several


# --------------------------------------------------------------------- a training
@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with a training file and a dev set."""
    monkeypatch.chdir(tmp_path)
    for name in ("train", "dev"):
        (tmp_path / f"{name}.conllu").write_text(conllu())
    return tmp_path


def interrupted(name: str, *args: str) -> tuple[int, str]:
    """A training that gets a signal after its second epoch: exit code and stderr."""
    command = [*SEQTAG, "train", "train.conllu", "-o", "m.seqtag", "--epochs", "10000000", *args]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        late = threading.Timer(120, process.kill)
        late.start()
        err = ""
        for line in process.stderr:
            err += line
            if "epoch 2:" in line:
                break
        process.send_signal(getattr(signal, name))
        err += process.stderr.read()
    late.cancel()
    assert "Traceback" not in err
    return process.returncode, err


@posix
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("dev", [(), ("--dev", "dev.conllu")])
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_an_interrupted_training_keeps_the_best_epoch(name, code, dev, call):
    assert call("train", "train.conllu", "-o", "m.seqtag", "--epochs", 1, "-q").code == 0
    good = Path("m.seqtag").read_bytes()
    found, err = interrupted(name, "--force", *dev)
    assert found == code
    assert err.endswith(
        "seqtag: interrupted: m-interrupted.seqtag holds what was learned until then, m.seqtag is "
        "unchanged\n"
    )
    assert Path("m.seqtag").read_bytes() == good
    tagger = seqtag.load("m-interrupted.seqtag")
    assert tagger.model.interrupted
    [epoch] = tagger.info["training"]["best_epochs"]
    same = seqtag.train("train.conllu", epochs=epoch).model.tensors()
    for name, array in tagger.model.tensors().items():
        assert array.tobytes() == same[name].tobytes()


# Gets signals at the second report of an epoch.
TWICE = """
import signal, sys
from seqtag.cli import main, training
add = training.TrainingReport.add
def add_and_signal(self, epoch):
    if epoch.epoch == 2:
        for _ in range(2):
            signal.raise_signal(getattr(signal, sys.argv[1]))
    add(self, epoch)
training.TrainingReport.add = add_and_signal
sys.exit(main(["train", "train.conllu", "-o", "m.seqtag"]))
"""


@posix
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_second_signal_stops_at_once(folder, name, code):
    command = [sys.executable, "-c", TWICE, name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    word = "interrupted" if name == "SIGINT" else "terminated"
    assert (done.returncode, done.stderr.splitlines()[-1]) == (code, f"seqtag: {word}")
    assert not list(folder.glob("*.seqtag"))


# --------------------------------------------------------------------- ignored from the start
IGNORING = ("sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh", *SEQTAG)
"""The command as a script starts it in the background, or nohup: these signals are ignored."""


@posix
def test_tagging_in_the_background_goes_on_at_sigint(home, tmp_path):
    command = [*IGNORING, "tag", "-m", home / "upos.seqtag", "--format", "tokens"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    ) as process:
        late = threading.Timer(120, process.kill)
        late.start()
        process.stdin.write(b"the dog barks .\n")
        process.stdin.flush()
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGHUP)
        process.stdin.write(b"a cat sees the dog .\n")
        process.stdin.close()
        rest = process.stdout.read()
    late.cancel()
    assert process.returncode == 0
    assert (first + rest).count(b"\tdog\t") == 2


# ------------------------------------------------------------------------------ at the start
AT_IMPORT = """
import os, signal, sys
from seqtag.__main__ import main

number, place, imports = int(sys.argv.pop(1)), sys.argv.pop(1), [0]

def count(event, of):
    if event == "import":
        imports[0] += 1
        if place in (of[0], str(imports[0])):
            os.kill(os.getpid(), number)

sys.addaudithook(count)
sys.exit(main())
"""


@posix
def test_sigint_at_any_import_of_the_start_is_one_line():
    for number in (1, 2, 3, 5, 8, 13, 21, 34, 55):
        command = [sys.executable, "-c", AT_IMPORT, "2", str(number), "tag", "-m", "en"]
        env = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            command, input=b"Birds sing.\n", capture_output=True, env=env, check=False
        )
        assert (done.returncode, done.stdout) == (130, b""), number
        assert done.stderr == b"seqtag: interrupted\n", number


IN_CLASS = """
import os, signal, sys
from functools import cached_property
from seqtag.__main__ import main

name_of = cached_property.__set_name__

def interrupt(self, owner, name):
    if owner.__module__.startswith("seqtag.tagging"):
        os.kill(os.getpid(), signal.SIGTERM)
    name_of(self, owner, name)

cached_property.__set_name__ = interrupt
sys.exit(main())
"""


@posix
def test_a_signal_while_a_class_is_made_is_one_line():
    """Python before 3.12 puts a RuntimeError around the exception."""
    done = subprocess.run(
        [sys.executable, "-c", IN_CLASS, "tag", "-m", "en"],
        input=b"Birds sing.\n",
        capture_output=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert (done.returncode, done.stdout) == (143, b"")
    assert done.stderr == b"seqtag: terminated\n"


@posix
def test_a_signal_while_numpy_is_imported_is_no_error(tmp_path):
    """numpy makes an ImportError of the exception."""
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").write_text(
        "import os, signal, time\n"
        "try:\n    os.kill(os.getpid(), signal.SIGTERM)\n    time.sleep(9)\n"
        "except BaseException:\n    raise ImportError('failed') from None\n"
    )
    env = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    call = (*SEQTAG, "tag", "some.txt")
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, env=env, check=False)
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "seqtag: terminated\n")


@posix
@pytest.mark.parametrize("tries", [pytest.param(300, marks=pytest.mark.nightly), 12])
@pytest.mark.parametrize("command", ["tag", "train"])
def test_signals_at_random_times_leave_the_old_file_or_the_new_one(command, tries, home, tmp_path):
    """The exit code and the last line say what happened, unless the command was done."""
    args = {
        "tag": ("tag", "-m", str(home / "upos.seqtag"), "train.conllu"),
        "train": ("train", "train.conllu", "--label", "upos", "--epochs", "20"),
    }[command]
    (tmp_path / "train.conllu").write_text(conllu() * 20)
    call = (*SEQTAG, *args, "-o", "out", "--force")
    target, env = tmp_path / "out", os.environ | {"PYTHONPATH": str(ROOT)}
    start = time.perf_counter()
    subprocess.run(call, cwd=tmp_path, check=True, capture_output=True, env=env)
    longest, new, generator = time.perf_counter() - start, target.read_bytes(), random.Random(1)
    for _ in range(tries):
        target.write_bytes(b"old")
        number = generator.choice([signal.SIGINT, signal.SIGTERM])
        with subprocess.Popen(
            call, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=env
        ) as process:
            time.sleep(generator.uniform(0.15, 1) * longest)
            process.send_signal(number)
            err = process.stderr.read()
        word = "interrupted" if number == signal.SIGINT else "terminated"
        found = target.read_bytes()
        more = {path.name for path in tmp_path.iterdir()} - {"out", "train.conllu"}
        assert more == ({"out-interrupted"} if "holds what was learned" in err else set())
        if process.returncode == 0:
            assert found == new
        elif process.returncode == 128 + number:
            assert f"seqtag: {word}" in err or "holds what was learned until then" in err
            assert "Traceback" not in err
            assert found in (b"old", new)
            if more:
                assert seqtag.load(tmp_path / "out-interrupted").model.interrupted
                (tmp_path / "out-interrupted").unlink()
        else:  # Python itself was starting
            assert found == b"old" and "seqtag:" not in err


@posix
@pytest.mark.parametrize(("sign", "word"), [("SIGINT", "interrupted"), ("SIGTERM", "terminated")])
def test_no_signal_at_the_start_of_a_server_is_lost(home, sign, word):
    """It may come at any import: before those of the command, and from the first to the last."""
    pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    number = getattr(signal, sign)
    serve = ("serve", "-m", str(home / "upos.seqtag"), "--port", "0")
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    for place in ("click", "ipaddress", "uvicorn", "seqtag.serve.app", "seqtag.serve.udpipe"):
        command = [sys.executable, "-c", AT_IMPORT, str(int(number)), place, *serve]
        done = subprocess.run(command, capture_output=True, env=env, check=False, timeout=20)
        found = done.returncode, done.stderr.decode().rpartition("seqtag: ")[2]
        assert found in ((-number, ""), (128 + number, f"{word}\n")), place
