"""Training on a cluster: lost workers are made anew, and the model does not show it."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace

import pytest

import seqtag
from seqtag.batch.ray_training import ShardActor, ray_shard_workers
from seqtag.corpus import ReadOptions
from seqtag.errors import ClusterError, CorpusError
from tests.batch.engines import FakeRay, RayError, fake, on_ray, ray
from tests.command_line import call
from tests.conftest import ROOT
from tests.training.test_train import weights_of

SENTENCES = [
    ["The DT", "old JJ", "man NN", "sees VB"],
    ["a DT", "man NN", "runs VB"],
    ["old JJ", "men NN", "run VB"],
    ["a DT", "run NN", "is VB", "old JJ"],
    ["men NN", "man VB", "the DT", "boat NN"],
]
HOW = {"label": "tag", "columns": ["form", "tag"], "epochs": 4, "min_count": 1}
OPTIONS = ("--label", "tag", "--columns", "form,tag", "--min-count", "1")


@pytest.fixture
def shards(tmp_path, monkeypatch) -> list[str]:
    """Three files, and a folder to work in."""
    monkeypatch.chdir(tmp_path)
    names = []
    for number, part in enumerate([SENTENCES[:2], SENTENCES[2:3], SENTENCES[3:]]):
        names.append(f"{number}.txt")
        text = "\n\n".join("\n".join(sentence) for sentence in part) + "\n"
        (tmp_path / names[-1]).write_text(text)
    return names


class Actors(FakeRay):
    """A stand-in for Ray with actors in this process, which are lost when a test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.made = self.killed = self.waiting = self.most_waiting = 0
        self.dead: list[SimpleNamespace] = []
        self.asked: list[tuple[str, str]] = []

    def remote(self, kind):
        def options(**given):
            assert given["max_restarts"] == given["max_task_retries"] == 0
            return SimpleNamespace(remote=make)

        def make(sources, options, plan):
            actor = kind(
                *pickle.loads(pickle.dumps((sources, options, getattr(plan, "value", None))))
            )
            self.made += 1
            found = SimpleNamespace()
            found.call = SimpleNamespace(remote=partial(self._ask, sources, found, actor))
            return found

        return SimpleNamespace(options=options)

    def _ask(self, sources, found, actor, what, i, *arguments):
        name = os.path.basename(sources[i])  # noqa: PTH119
        self.waiting += 1
        self.most_waiting = max(self.most_waiting, self.waiting)

        def run():
            self.waiting -= 1
            if found in self.dead:
                raise RayError("The actor is dead")
            self.asked.append((name, what))
            if self.lose(name, what, self.asked.count((name, what))):
                self.dead.append(found)
                raise RayError("The actor died unexpectedly\nand more of that")
            given = [getattr(each, "value", each) for each in arguments]
            answer = actor.call(what, i, *pickle.loads(pickle.dumps(given)))
            return pickle.loads(pickle.dumps(answer))

        return SimpleNamespace(run=run)

    def get(self, ref):
        return ref.run()

    def kill(self, seat):
        self.killed += 1


@pytest.fixture
def actors(monkeypatch) -> Actors:
    """A stand-in for Ray, which is what is imported."""
    ray = Actors()
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    return ray


# ----------------------------------------------------------------- the driver
@pytest.mark.parametrize("tag_dictionary", [0, 1])
@pytest.mark.parametrize(
    "lose",
    [
        lambda *_: False,
        lambda name, what, time: time == 1,  # every worker, the first time of each question
        lambda name, what, time: what == "round" and time % 3,  # two of three times
    ],
)
def test_the_model_is_that_of_shards_in_one_process(lose, tag_dictionary, actors, shards):
    here = seqtag.train_shards(shards, tag_dictionary=tag_dictionary, **HOW)
    actors.lose = lose
    lost = []
    workers = partial(ray_shard_workers, ray=actors, on_lost=lambda *each: lost.append(each))
    there = seqtag.train_shards(shards, shard_workers=workers, tag_dictionary=tag_dictionary, **HOW)
    assert weights_of(there) == weights_of(here)
    assert there.info == here.info
    assert actors.made == 2 + len(lost)  # of as many as there are cores
    assert actors.killed == 2
    assert actors.most_waiting <= 3
    assert all(reason == "The actor died unexpectedly" for _, reason in lost)


def test_a_shard_that_kills_its_workers_is_named(actors, shards):
    actors.lose = lambda name, what, _: name == "1.txt" and what == "round"
    workers = partial(ray_shard_workers, ray=actors, attempts=2)
    with pytest.raises(ClusterError) as error:
        seqtag.train_shards(shards, shard_workers=workers, **HOW)
    assert str(error.value) == (
        f"{os.path.abspath('1.txt')}: expected a result for this shard, found its worker lost "  # noqa: PTH100
        "2 times (The actor died unexpectedly); check the available memory; with a checkpoint, the "
        "same command with --resume continues from the last round"
    )
    assert actors.asked.count(("1.txt", "round")) == 2
    assert actors.killed == 2


def test_what_is_wrong_with_a_file_is_said_once(actors, shards):
    with open(shards[2], "a") as file:  # noqa: PTH123
        file.write("\nshort\n")
    with pytest.raises(CorpusError, match=r"2\.txt:11: expected 2 columns, found 1"):
        seqtag.train_shards(shards, shard_workers=partial(ray_shard_workers, ray=actors), **HOW)
    os.remove(shards[2])  # noqa: PTH107
    with pytest.raises(FileNotFoundError):
        seqtag.train_shards(shards, shard_workers=partial(ray_shard_workers, ray=actors), **HOW)
    assert actors.asked.count(("2.txt", "stats")) == 2
    assert actors.made == actors.killed == 4


def test_few_results_wait_for_the_driver(actors, shards):
    many = shards * 5
    workers = partial(ray_shard_workers, ray=actors)
    found = seqtag.train_shards(many, shard_workers=workers, **HOW)
    assert weights_of(found) == weights_of(seqtag.train_shards(many, **HOW))
    assert actors.made == 2
    assert actors.most_waiting == 4


def test_a_file_that_changes_under_a_lost_worker_is_noticed(actors, shards):
    def lose(name, what, time):
        if name == "0.txt" and what == "round" and time == 2:
            with open(name, "a") as file:  # noqa: PTH123
                file.write("\nnew JJ\n")
            return True
        return False

    actors.lose = lose
    with pytest.raises(CorpusError, match="expected the sentences with which this training began"):
        seqtag.train_shards(shards, shard_workers=partial(ray_shard_workers, ray=actors), **HOW)


def test_a_shard_may_be_at_an_address(tmp_path, shards):
    pytest.importorskip("fsspec")
    from seqtag.batch.shards import ShardOptions

    reading = ShardOptions("tag", files=ReadOptions(columns=["form", "tag"]))
    address = "file://" + str(tmp_path / shards[0])
    assert (
        ShardActor([address], reading).stats(0).digest
        == ShardActor(shards, reading).stats(0).digest
    )


def test_rounds_begin_with_a_plan(shards):
    from seqtag.batch.shards import ShardOptions

    with pytest.raises(RuntimeError) as error:
        ShardActor(shards, ShardOptions("tag", files=ReadOptions(columns=["form", "tag"]))).round(
            0, None, 1, 1
        )
    assert str(error.value) == "a shard must begin with its plan"


# ----------------------------------------------------------------- the command
def test_the_command_writes_the_model_and_says_what_happened(actors, shards, call):
    actors.lose = lambda name, what, time: (name, what, time) == ("1.txt", "round", 2)
    seqtag.train_shards(shards, **HOW).save("here.seqtag")
    done = call("cluster", "train", *shards, "-o", "there.seqtag", *OPTIONS, "--rounds", 4)
    assert done.code == 0, done.err
    with open("here.seqtag", "rb") as here, open("there.seqtag", "rb") as there:  # noqa: PTH123
        assert here.read() == there.read()
    assert "epoch 4: " in done.err
    assert "1.txt: the worker was lost: The actor died unexpectedly\n" in done.err
    assert "there.seqtag: tag from form, 4 labels, 5 sentences" in done.err


def test_the_command_prints_json_and_goes_on_from_checkpoints(actors, shards, call):
    train = ("cluster", "train", "@list", *OPTIONS, "--checkpoint", "stand", "-q", "--json")
    with open("list", "w") as file:  # noqa: PTH123
        file.write("\n".join(shards))
    actors.lose = lambda name, what, time: what == "round" and time > 2
    done = call(*train, "-o", "a.seqtag", "--epochs", 4)
    assert done.code == 1
    assert "found its worker lost 3 times" in done.err
    actors.lose = lambda *_: False
    actors.asked.clear()
    done = call(*train, "-o", "a.seqtag", "--epochs", 4, "--resume")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["training"]["shards"] == 3
    assert [each["epoch"] for each in found["epochs"]] == [3, 4]
    assert actors.asked.count(("0.txt", "round")) == 2
    assert weights_of(seqtag.load("a.seqtag")) == weights_of(seqtag.train_shards(shards, **HOW))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rounds", "2", "--epochs", "3"], "expected --rounds or --epochs, found both"),
        (["--patience", "2"], "--patience needs a --dev set"),
        (["--resume"], "--resume needs a folder: --checkpoint DIR"),
        (["--checkpoint", "-"], "expected a name for --checkpoint, found '-'"),
    ],
)
def test_options_that_do_not_fit(options, said, actors, shards, call):
    done = call("cluster", "train", *shards, "-o", "a.seqtag", *OPTIONS, *options)
    assert done.code == 2
    assert said in done.err
    assert not actors.inits


# ----------------------------------------------------------------- on a real cluster
@on_ray
@pytest.mark.parametrize("workers", [1, 2])
def test_any_number_of_workers_gives_the_same_model(workers, shards):
    seqtag.train_shards(shards, **HOW).save("here.seqtag")
    command = [
        *(sys.executable, "-m", "seqtag", "cluster", "train", *shards, "-o", "there.seqtag"),
        *(*OPTIONS, "--rounds", "4", "--workers", str(workers), "-q"),
    ]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    with open("here.seqtag", "rb") as here, open("there.seqtag", "rb") as there:  # noqa: PTH123
        assert here.read() == there.read()


class Telling(ShardActor):
    """A shard that says which process it is in."""

    def pid(self) -> int:
        return os.getpid()


@on_ray
def test_workers_that_are_killed_leave_no_trace(ray, shards, monkeypatch):
    here = seqtag.train_shards(shards, **HOW)
    seats, lost = [], []
    monkeypatch.setattr("seqtag.batch.ray_training.ShardActor", Telling)

    @contextmanager
    def workers(sources, reading):
        on_lost = lambda *each: lost.append(each)  # noqa: E731
        with ray_shard_workers(sources, reading, ray=ray, on_lost=on_lost) as found:
            seats.append(found)
            yield found

    def kill(epoch) -> None:
        """Kill a worker before the next round, each time another."""
        if epoch.epoch < 4:
            [workers] = seats
            os.kill(ray.get(workers._actors[epoch.epoch % 2].call.remote("pid")), signal.SIGKILL)

    there = seqtag.train_shards(shards, shard_workers=workers, on_epoch=kill, **HOW)
    assert weights_of(there) == weights_of(here)
    assert there.info == here.info
    assert [os.path.basename(shard) for shard, _ in lost] == ["1.txt", "0.txt", "1.txt"]  # noqa: PTH119
