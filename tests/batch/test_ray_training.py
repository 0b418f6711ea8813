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
from seqtag.batch.parameter_mixing import Shard, ShardOptions
from seqtag.batch.ray_training import ShardActor, ray_shards
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
    """A stand-in for Ray with actors in this process, which are lost for good when a test says."""

    def __init__(self) -> None:
        super().__init__()
        self.made = self.killed = self.waiting = self.most_waiting = 0
        self.asked: list[tuple[str, str]] = []

    def cluster_resources(self):
        return {"CPU": 2.0}

    def remote(self, kind):
        def make(sources, options):
            self.made += 1
            actor = kind(*pickle.loads(pickle.dumps((sources, options))))
            ask = partial(self._ask, sources, actor)
            return SimpleNamespace(call=SimpleNamespace(remote=ask))

        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=make))

    def _ask(self, sources, actor, i, what, *boxes):
        name = os.path.basename(sources[i])  # noqa: PTH119
        self.waiting += 1
        self.most_waiting = max(self.most_waiting, self.waiting)

        def run():
            self.waiting -= 1
            self.asked.append((name, what))
            if self.lose(name, what, self.asked.count((name, what))):
                raise RayError("The actor died unexpectedly\nand more of that")
            given = pickle.loads(pickle.dumps([each.value for each in boxes]))
            return pickle.loads(pickle.dumps(actor.call(i, what, *given)))

        return SimpleNamespace(run=run)

    def get(self, ref):
        return ref.run()

    def kill(self, actor):
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
def test_the_model_is_that_of_shards_in_one_process(tag_dictionary, actors, shards):
    many = shards * 5
    here = seqtag.train_shards(many, tag_dictionary=tag_dictionary, **HOW)
    workers = partial(ray_shards, ray=actors)
    there = seqtag.train_shards(many, workers=workers, tag_dictionary=tag_dictionary, **HOW)
    assert weights_of(there) == weights_of(here)
    assert there.info == here.info
    assert actors.made == actors.killed == 2  # as many as there are cores
    assert actors.most_waiting == 4


def test_a_shard_that_kills_its_workers_is_named(actors, shards):
    actors.lose = lambda name, what, _: name == "1.txt" and what == "round"
    with pytest.raises(ClusterError) as error:
        seqtag.train_shards(shards, workers=partial(ray_shards, ray=actors, attempts=2), **HOW)
    assert str(error.value) == (
        f"{os.path.abspath('1.txt')}: expected a result for this shard, found its worker lost "  # noqa: PTH100
        "2 times (The actor died unexpectedly); check the available memory; with a checkpoint, the "
        "same command with --resume continues from the last round"
    )
    assert actors.killed == 2


def test_what_is_wrong_with_a_file_is_said_once(actors, shards):
    with open(shards[2], "a") as file:  # noqa: PTH123
        file.write("\nshort\n")
    with pytest.raises(CorpusError, match=r"2\.txt:11: expected 2 columns, found 1"):
        seqtag.train_shards(shards, workers=partial(ray_shards, ray=actors), **HOW)
    os.remove(shards[2])  # noqa: PTH107
    with pytest.raises(FileNotFoundError):
        seqtag.train_shards(shards, workers=partial(ray_shards, ray=actors), **HOW)
    assert actors.asked.count(("2.txt", "stats")) == 2


def test_a_file_that_changes_between_two_calls_is_noticed(shards):
    @contextmanager
    def workers(sources, options):
        def call(method, *arguments):
            for number, source in enumerate(sources, 1):
                yield getattr(Shard(number, source, options), method)(*arguments)
            with open("0.txt", "a") as file:  # noqa: PTH123
                file.write("\nnew JJ\n")

        yield call

    with pytest.raises(CorpusError, match="expected the sentences with which this training began"):
        seqtag.train_shards(shards, workers=workers, **HOW)


def test_a_shard_may_be_at_an_address(tmp_path, shards):
    pytest.importorskip("fsspec")
    options = ShardOptions("tag", files=ReadOptions(columns=["form", "tag"]))
    address = "file://" + str(tmp_path / shards[0])
    found = [Shard(1, source, options).stats().digest for source in (address, shards[0])]
    assert found[0] == found[1]


# ----------------------------------------------------------------- the command
def test_the_command_writes_the_model_and_says_what_happened(actors, shards, call):
    seqtag.train_shards(shards, **HOW).save("here.seqtag")
    done = call("cluster", "train", *shards, "-o", "there.seqtag", *OPTIONS, "--epochs", 4)
    assert done.code == 0, done.err
    with open("here.seqtag", "rb") as here, open("there.seqtag", "rb") as there:  # noqa: PTH123
        assert here.read() == there.read()
    assert "epoch 4: " in done.err
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
        (["--patience", "2"], "--patience needs a --dev set"),
        (["--resume"], "--resume needs a folder: --checkpoint DIR"),
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
        *(*OPTIONS, "--epochs", "4", "--workers", str(workers), "-q"),
    ]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    with open("here.seqtag", "rb") as here, open("there.seqtag", "rb") as there:  # noqa: PTH123
        assert here.read() == there.read()


class Telling(ShardActor):
    """A worker that says which process it is in."""

    def __init__(self, sources, options):
        super().__init__(sources, options)
        with open(f"{sources[0]}.pids", "a") as file:  # noqa: PTH123
            file.write(f"{os.getpid()}\n")


@on_ray
def test_workers_that_are_killed_leave_no_trace(ray, shards, monkeypatch):
    here = seqtag.train_shards(shards, **HOW)
    monkeypatch.setattr("seqtag.batch.ray_training.ShardActor", Telling)

    def pids() -> list[int]:
        with open(f"{shards[0]}.pids") as file:  # noqa: PTH123
            return list(map(int, file))

    def kill(epoch) -> None:
        """Kill a worker before the next round, each time another."""
        os.kill(pids()[epoch.epoch - 1], signal.SIGKILL)

    workers = partial(ray_shards, ray=ray)
    there = seqtag.train_shards(shards, workers=workers, on_epoch=kill, **HOW)
    assert weights_of(there) == weights_of(here)
    assert there.info == here.info
    assert len({*pids()}) >= 5
