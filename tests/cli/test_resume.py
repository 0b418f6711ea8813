"""Trainings that are killed, interrupted or begun twice, as a user meets them."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import seqtag
from seqtag.training.checkpoints import files_of
from tests.command_line import SEQTAG, call, conllu, posix

# Trains, and kills the training; forks, so that nothing is imported over and over.
KILLER = """
import json, os, random, shutil, signal, sys, time
from pathlib import Path
from seqtag import corpus, train
from seqtag.cli import main
from seqtag.engine import epochs
from seqtag.training import choose, loop
from seqtag.training.checkpoints import files_of

choose._TOO_FEW = 100  # tokens
kills, every, how = int(sys.argv[1]), sys.argv[2].split(), sys.argv[3:]
folder, model = Path("stand"), Path("killed.seqtag")
epochs.ASK_EVERY = 0
random.seed(7)
facts = {"kills": 0, "resumed": 0, "finished": 0, "equal": []}

def begin(*args):
    child = os.fork()
    if not child:
        log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1), os.dup2(log, 2)
        os._exit(main(["train", *how, *args]))
    return child

def written():
    newest = dict(path.stem.rsplit("-", 1) for path in files_of(folder))
    return sum(map(int, newest.values()))

resume = ["-o", str(model), "--checkpoint", str(folder), "--resume", *every]
assert os.waitpid(begin("-o", "straight.seqtag"), 0)[1] == 0, Path("log").read_text()
while facts["kills"] < kills:
    before = written()
    child = begin(*resume)
    more, ended = random.randint(0, 10), 0
    while written() < before + more and not ended:
        ended, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.0005)
    if not ended:
        time.sleep(random.uniform(0, 0.01 if more else 0.1))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        facts["kills"] += 1
        facts["resumed"] += before > 0
        facts["written"] = written()
        continue
    assert status == 0, Path("log").read_text()
    assert os.waitpid(begin(*resume), 0)[1] == 0, Path("log").read_text()  # and once more
    facts["finished"] += 1
    facts["equal"].append(model.read_bytes() == Path("straight.seqtag").read_bytes())
    model.unlink()
    shutil.rmtree(folder)
assert os.waitpid(begin(*resume), 0)[1] == 0, Path("log").read_text()
facts["equal"].append(model.read_bytes() == Path("straight.seqtag").read_bytes())
print(json.dumps(facts))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "train.conllu").write_text(conllu())
    (tmp_path / "dev.conllu").write_text(conllu(["a dog sees the big cat .", "the cat barks ."]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def kill(times: int, *how: str, every: str = "") -> dict:
    """Kill a training so many times, and tell whether it came to the same bytes."""
    done = subprocess.run(
        [sys.executable, "-c", KILLER, str(times), every, "train.conllu", *how],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@posix
@pytest.mark.usefixtures("folder")
def test_a_training_that_is_killed_twenty_times_comes_to_the_same_bytes():
    """Within epochs and writes, in both of two runs, with a dev set, dropout and second order."""
    how = ["--dev", "dev.conllu", "--runs", "2", "--epochs", "8", "--dropout", "0.1"]
    facts = kill(20, *how, "--min-count", "1", every="--checkpoint-every 0")
    assert facts["kills"] == 20
    assert facts["resumed"] >= 10
    assert all(facts["equal"])


MINE = """
from seqtag.features import attribute
@attribute("last_of_mine", replace=True)
def last(word):
    return word[-1:] or None
"""
TODAY = {
    "a trial of words": ["--tag-dictionary", "auto"],
    "a trial of templates": ["--templates", "auto", "--init", "begin.seqtag"],
    "two passes": ["--passes", "2", "--dev", "dev.conllu", "--dropout", "rare"],
    "tables": ["--label", "all", "--classes", "c.classes", "--lexicon", "l.lexicon"],
    "attributes": [
        "--attributes",
        "mine.py",
        "--templates",
        "mine.txt",
        "--unlabeled",
        "learn-around",
    ],
}


@posix
@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("how", TODAY)
def test_a_training_with_other_steps_is_killed(how, kills, folder, call):
    """Trials before the training, models before the last one, tables, attributes."""
    words = conllu() * 8
    if how == "attributes":
        words = words.replace("\tcat\tNOUN", "\tcat\t_")
    (folder / "train.conllu").write_text(words)
    (folder / "mine.py").write_text(MINE)
    (folder / "mine.txt").write_text("form[0]\nlast_of_mine[0]\nform[-1]\nlabel[-1]\n")
    table = ["train.conllu", "-q", "-o"]
    assert call("classes", "-K", 3, "--min-count", 1, *table, "c.classes").code == 0
    assert call("lexicon", "--column", "upos", *table, "l.lexicon").code == 0
    assert call("train", "dev.conllu", "-q", "--epochs", 1, "-o", "begin.seqtag").code == 0
    facts = kill(kills, *TODAY[how], "--epochs", "3", every="--checkpoint-every 0")
    assert facts["kills"] == kills
    assert all(facts["equal"])


# ----------------------------------------------------------------- signals
def interrupted(name: str, *args: str, times: int = 1) -> tuple[int, str]:
    """A training that gets a signal when its second epoch is over: exit code and stderr."""
    command = [*SEQTAG, "train", "train.conllu", "-o", "m.seqtag", "--epochs", "10000000", *args]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        late = threading.Timer(120, process.kill)
        late.start()
        err = ""
        for line in process.stderr:
            err += line
            if re.search(r"epoch [0-9]*2:", line):
                break
        for _ in range(times):
            os.kill(process.pid, getattr(signal, name))
        err += process.stderr.read()
    late.cancel()
    assert "Traceback" not in err
    return process.returncode, err


@posix
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_an_interrupted_training_keeps_model_and_checkpoint(folder, name, code, call):
    found, err = interrupted(name, "--checkpoint", "stand", "--checkpoint-every", "1000")
    assert found == code
    assert err.endswith(
        "seqtag: interrupted: m-interrupted.seqtag holds what was learned until then; to resume "
        "from stand, run the same command with --resume\n"
    )
    tagger = seqtag.load("m-interrupted.seqtag")
    assert tagger.model.interrupted and not Path("m.seqtag").exists()
    [kept] = files_of("stand")
    epochs = tagger.info["training"]["best_epochs"][0]
    again = ["train", "train.conllu", "-o", "m.seqtag", "--checkpoint", "stand", "--epochs"]
    done = call(*again, 10000000)
    assert done.code == 1
    assert "expected a folder without checkpoints" in done.err
    done = call(*again, 5, "--resume")
    assert done.code == 1
    assert "found others: epochs was 10000000, is 5;" in done.err
    notes = call(*again, 10000000, "--resume", "--seed", 2).err
    assert "seed was 1, is 2" in notes
    assert kept.exists()
    assert epochs >= 2


@posix
@pytest.mark.usefixtures("folder")
def test_an_interrupted_model_replaces_none_but_its_own(call):
    """With --force, the good one stays; with the same checkpoints, the newest is kept."""
    assert call("train", "train.conllu", "-o", "m.seqtag", "--epochs", 1, "-q").code == 0
    good = Path("m.seqtag").read_bytes()
    code, err = interrupted("SIGINT", "--force", "--seed", "2")
    assert (code, Path("m.seqtag").read_bytes()) == (130, good)
    assert err.endswith(
        "m-interrupted.seqtag holds what was learned until then, m.seqtag is unchanged\n"
    )
    first, found = Path("m-interrupted.seqtag").read_bytes(), []
    for _ in range(2):
        code, err = interrupted("SIGTERM", "--force", "--checkpoint", "stand", "--resume")
        assert code == 143 and "m-interrupted-2.seqtag holds" in err
        tagger = seqtag.load("m-interrupted-2.seqtag")
        found.append(tagger.info["training"]["best_epochs"][0])
    assert found[0] < found[1]
    assert Path("m-interrupted.seqtag").read_bytes() == first
    assert len(list(Path().glob("m*.seqtag"))) == 3
    assert call(*HOW[:-1], "--force", "--checkpoint", "stand", "--resume").code == 1
    assert Path("m.seqtag").read_bytes() == good


@posix
def test_of_two_trainings_to_one_path_none_is_lost(folder):
    """Both begin before there is a model; the later one says where its own is."""
    commands = [
        [*SEQTAG, "train", "train.conllu", "-o", "m.seqtag", "--epochs", "40", "--seed", seed]
        for seed in ("1", "2")
    ]
    both = [subprocess.Popen(each, stderr=subprocess.PIPE, text=True) for each in commands]
    errors = [process.communicate(timeout=120)[1] for process in both]
    codes = [process.returncode for process in both]
    assert 0 in codes and {*codes} <= {0, 1, 2}, errors  # 2: it began after the other had ended
    seeds = {"m.seqtag": str(1 + codes.index(0))}
    if 1 in codes:
        assert "the new output is in m-2.seqtag; keep the one" in errors[codes.index(1)]
        seeds["m-2.seqtag"] = str(1 + codes.index(1))
    found = {path.name: seqtag.load(path).info["training"] for path in folder.glob("*.seqtag")}
    assert {name: str(info["seed"]) for name, info in found.items()} == seeds


# Gets signals at the second report of an epoch, and tells what is left.
TWICE = """
import os, signal, sys
from seqtag.cli import main, training
add = training.TrainingReport.add
def add_and_signal(self, epoch):
    if epoch.epoch == 2:
        for _ in range(2):
            signal.raise_signal(getattr(signal, sys.argv[1]))
    add(self, epoch)
training.TrainingReport.add = add_and_signal
sys.exit(main(["train", "train.conllu", "-o", "m.seqtag", "--checkpoint", "stand"]))
"""


@posix
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_second_signal_stops_at_once(folder, name, code):
    done = subprocess.run([sys.executable, "-c", TWICE, name], capture_output=True, text=True)
    assert done.returncode == code
    word = "interrupted" if name == "SIGINT" else "terminated"
    assert done.stderr.endswith(
        "seqtag: no model was written; to resume from stand, run the same command with --resume\n"
        f"\nseqtag: {word}\n"
    )
    assert not (folder / "m.seqtag").exists()
    assert [path.name for path in files_of("stand")][-1] == "upos-run-1-000002.checkpoint"


def test_an_interruption_before_there_is_a_checkpoint(folder, call, monkeypatch):
    def stop(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("seqtag.training.train.open_corpus", stop)
    done = call("train", "train.conllu", "-o", "m.seqtag", "--checkpoint", "stand", "--resume")
    assert done.code == 130
    assert done.err.endswith(
        "seqtag: no model was written; there is no checkpoint in stand yet\n\nseqtag: interrupted\n"
    )
    assert [path.name for path in (folder / "stand").iterdir()] == ["lock"]


# ----------------------------------------------------------------- the command line
HOW = ("train", "train.conllu", "-o", "m.seqtag", "--epochs", 3, "--min-count", 1, "-q")


def test_the_same_command_is_right_the_first_time_and_after_an_interruption(folder, call):
    assert call(*HOW).code == 0
    straight = (folder / "m.seqtag").read_bytes()
    (folder / "m.seqtag").unlink()

    def stop(epoch):
        if epoch.epoch == 2:
            raise KeyboardInterrupt

    how = {"epochs": 3, "min_count": 1, "checkpoint": "stand"}
    assert seqtag.train("train.conllu", on_epoch=stop, **how).model.interrupted
    loud = [*HOW[:-1], "--checkpoint", "stand", "--resume"]
    done = call(*loud)
    assert done.code == 0
    assert (
        "seqtag: note: resuming from stand/upos-run-1-000002.checkpoint: 2 epochs are done\n"
        in done.err
    )
    assert "epoch 3: " in done.err
    assert (folder / "m.seqtag").read_bytes() == straight
    done = call(*loud)  # as after a kill between the last rename and the exit
    assert (done.code, (folder / "m.seqtag").read_bytes()) == (0, straight)
    (folder / "m.seqtag").write_bytes(straight[:-1])
    done = call(*loud)  # damaged, or of another training
    assert (done.code, (folder / "m.seqtag").read_bytes()) == (2, straight[:-1])
    assert "m.seqtag exists; overwrite it with --force" in done.err
    done = call(*loud, "--force")
    assert (done.code, (folder / "m.seqtag").read_bytes()) == (0, straight)
    assert "upos-run-1-000004.checkpoint: this run is finished\n" in done.err
    done = call(*[*loud[:3], "n.seqtag", *loud[4:-3], "--checkpoint", "other", "--resume"])
    assert done.code == 0
    assert "note: other: no checkpoint yet, training starts from the beginning\n" in done.err
    assert (folder / "n.seqtag").read_bytes() == straight


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["m.seqtag", "./m.seqtag/", "m.seqtag/stand"])
def test_a_folder_in_the_place_of_the_model_is_refused_before_the_work(name, call):
    done = call(*HOW, "--checkpoint", name)
    assert done.code == 2
    assert "expected a folder for --checkpoint that is not the model, found" in done.err
    assert not Path("m.seqtag").exists()


@pytest.mark.usefixtures("folder")
def test_a_checkpoint_is_no_model(call):
    assert call(*HOW, "--checkpoint", "stand").code == 0
    done = call("info", "stand/upos-run-1-000004.checkpoint")
    assert done.err == (
        "seqtag: stand/upos-run-1-000004.checkpoint: expected a model, found a checkpoint of a "
        "training; "
        "resume that one: seqtag train --checkpoint DIR --resume\n"
    )
