"""Rounds over shards: one shard is plain training, and nobody sees who worked, or how often."""

from __future__ import annotations

import numpy as np
import pytest

import seqtag
from seqtag.batch.mixing import Fold
from seqtag.batch.parameter_mixing import LocalWorkers, mix
from seqtag.batch.shards import Shard, ShardOptions, train_shard
from seqtag.errors import CheckpointError
from seqtag.features.language import parse
from seqtag.tagging.tagger import Tagger, facts_of
from seqtag.training.runs import Epoch, Schedule
from seqtag.training.train import train
from tests.strategies import NATIVE, REFERENCE, corpus, install, needs_native
from tests.training.test_train import CHUNKS, DEV, TRAINING, weights_of

TEMPLATES = parse("form[0]\nnormal[0]\nsuffix(1)[0]\nform[-1]\nlabel[-2] + label[-1]\nlabel[-1]")
SEEING = parse("form[0]\nnormal[0]\nlabel[-1] + form[0]\nlabel[-1]")
LEMMAS = corpus("dogs dog, ran run; The the, dogs dog; a a, man man, runs run", "form lemma")
FACTORED = corpus("dogs N Num=Pl, bark V _; a D _, dog N Num=Sg", "form upos feats")
THREE = [TRAINING[:3], TRAINING[3:4], TRAINING[4:]]


def learn(shards, **options) -> Tagger:
    """A tagger of some shards."""
    given = {"templates": TEMPLATES, "label": "tag", "epochs": 3, "margin": 0.5} | options
    return seqtag.train_shards(shards, **given)


# ----------------------------------------------------------------- one shard
@pytest.mark.parametrize(
    ("data", "options"),
    [
        (TRAINING, {}),
        (TRAINING, {"update": "pa", "step": 0.2, "seed": 7}),
        (TRAINING, {"update": "adaptive", "step": 0.2, "dropout": 0.3}),
        (TRAINING, {"update": "adaptive", "templates": SEEING, "min_count": 2}),
        (TRAINING, {"tag_dictionary": 2}),
        (TRAINING, {"dev": DEV, "epochs": 6}),
        (TRAINING, {"dev": DEV, "epochs": 9, "patience": 1}),
        (CHUNKS, {"encoding": "iobes", "constrain": False}),
        (CHUNKS, {"encoding": "iobes", "update": "adaptive"}),
        (LEMMAS, {"label": "lemma"}),
        (FACTORED, {"label": "upos+feats", "label_parts": "split", "tag_dictionary": 1}),
    ],
)
def test_one_shard_is_plain_training(data, options):
    given = {"templates": TEMPLATES, "label": "tag", "epochs": 3, "margin": 0.5} | options
    plain, shard = train(data, **given), seqtag.train_shards([data], **given)
    assert weights_of(shard) == weights_of(plain)
    assert shard.info == plain.info | {"training": plain.info["training"] | {"shards": 1}}


def test_one_shard_is_plain_training_with_the_preset_of_a_file(sample_dir):
    path = sample_dir / "en-sample-train.conllu"
    plain, shard = train(path, epochs=2, quick=True), seqtag.train_shards([path], epochs=2)
    assert weights_of(shard) == weights_of(plain)


# ----------------------------------------------------------------- several
class Restless(LocalWorkers):
    """Shards that are lost before every round, read again, and learned from twice."""

    def __init__(self, sources, reading):
        super().__init__(sources, reading)
        self._sources, self._reading = sources, reading

    def begin(self, plan):
        self._plan = plan
        return super().begin(plan)

    def round(self, table, number, seed):
        for i, source in enumerate(self._sources, 1):
            train_shard(table, Shard(source, self._reading).encode(self._plan, i), number, seed)
            again = Shard(source, self._reading).encode(self._plan, i)
            yield train_shard(table, again, number, seed)


@pytest.mark.parametrize("update", ["pa", "adaptive"])
def test_who_works_and_how_often_does_not_matter(update):
    settings = {"epochs": 4, "margin": 0.5, "update": update, "dropout": 0.2}
    models = [learn(THREE, threads=threads, **settings) for threads in (1, 2)]
    reading = ShardOptions("tag", TEMPLATES, settings)
    models.append(Tagger(mix(Restless(THREE, reading), reading, Schedule(1, 1, None, 1, None))))
    assert weights_of(models[0]) == weights_of(models[1]) == weights_of(models[2])
    assert models[0].info == models[1].info == models[2].info
    assert models[0].info["training"]["shards"] == 3
    assert dict(facts_of(models[0]))["trained on"] == "6 sentences, 22 tokens, in 3 shards"
    other = learn([THREE[1], THREE[0], THREE[2]], **settings)
    assert weights_of(other) != weights_of(models[0])


@needs_native
@pytest.mark.parametrize("update", ["perceptron", "adaptive"])
def test_both_backends_give_the_same_bytes(update, monkeypatch):
    found = []
    for side in (REFERENCE, NATIVE):
        install(side, monkeypatch)
        found.append(weights_of(learn(THREE, update=update, step=0.3, dropout=0.2)))
    assert found[0] == found[1]


def test_shards_learn_what_all_of_them_say():
    tagger = learn(THREE, epochs=10)
    assert tagger.tag_many([s.words for s in TRAINING]) == [s.column("tag") for s in TRAINING]
    assert [*tagger.labels] == ["DT", "JJ", "NN", "PR", "VB"]
    plain = train(TRAINING, label="tag", templates=TEMPLATES, epochs=10)
    assert tagger.known_words.hashes.tolist() == plain.known_words.hashes.tolist()


def test_lemmas_of_several_shards_have_the_scripts_of_all():
    """Alone, London would be a lemma as it stands: with PARIS it is one in title case."""
    shards = [corpus("London London", "form lemma"), corpus("PARIS Paris", "form lemma")]
    tagger = learn(shards, label="lemma")
    plain = train([*shards[0], *shards[1]], label="lemma", templates=TEMPLATES, epochs=3)
    assert tagger.labels == plain.labels == ("title 0 0  ",)
    assert learn(shards[:1], label="lemma").labels != plain.labels
    assert tagger.tag(["PARIS", "London"]) == ["Paris", "London"]


def test_rounds_report_what_happened():
    epochs: list[Epoch] = []
    tagger = learn(THREE, epochs=9, dev=DEV, patience=3, on_epoch=epochs.append)
    assert [each.epoch for each in epochs] == list(range(1, len(epochs) + 1))
    scores = [each.dev.score for each in epochs]
    training = tagger.info["training"]
    assert training["best_epochs"] == [int(np.argmax(scores)) + 1]
    assert training["dev"]["score"] == max(scores)
    assert 0 < epochs[0].updates <= len(TRAINING)
    assert epochs[0].wrong_tokens >= epochs[0].updates


def test_there_must_be_a_shard():
    with pytest.raises(ValueError) as error:
        learn([])
    assert str(error.value) == "expected one shard or more, found none"


@pytest.mark.parametrize("least", [1, 7, 40])
def test_how_often_the_driver_merges_does_not_matter(least, monkeypatch):
    settings = {"margin": 0.5, "update": "adaptive", "min_count": 2, "tag_dictionary": 1}
    shards = [[sentence] for sentence in TRAINING] * 3
    once = learn(shards, **settings)
    monkeypatch.setattr(Fold.__init__, "__defaults__", (least,))
    often = learn(shards, **settings)
    assert weights_of(often) == weights_of(once)
    assert often.info == once.info


# ----------------------------------------------------------------- checkpoints
class StopError(Exception):
    """What ends a training."""


def stopped(folder, after: int, **options) -> None:
    """A training that is killed after a round."""

    def stop(epoch: Epoch) -> None:
        if epoch.epoch == after:
            raise StopError

    with pytest.raises(StopError):
        learn(THREE, checkpoint=folder, on_epoch=stop, **options)


def facts(epoch: Epoch) -> tuple:
    """What is told of a round."""
    return epoch.epoch, epoch.updates, epoch.wrong_tokens, epoch.dev and epoch.dev.score, epoch.best


@pytest.mark.parametrize("after", [1, 3, 5])
@pytest.mark.parametrize(
    "options",
    [{"update": "adaptive", "dropout": 0.2}, {"dev": DEV}, {"templates": SEEING, "update": "pa"}],
)
def test_to_go_on_is_not_to_have_stopped(options, after, tmp_path):
    straight: list[Epoch] = []
    whole = learn(THREE, epochs=6, on_epoch=straight.append, **options)
    stopped(tmp_path, after, epochs=6, **options)
    later: list[Epoch] = []
    again = learn(
        THREE, epochs=6, checkpoint=tmp_path, resume=True, on_epoch=later.append, **options
    )
    assert weights_of(again) == weights_of(whole)
    assert again.info == whole.info
    assert list(map(facts, later)) == list(map(facts, straight[after:]))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 2}, "seed was 1, is 2"),
        ({"dev": DEV}, "there was no dev set, now there is one"),
        ({"shards": [THREE[0], THREE[2]]}, "the training set had 6 sentences, has 5"),
        ({"shards": [THREE[0], THREE[2], THREE[1]]}, "the training set is different: SHA-256 was"),
        ({"shards": [TRAINING]}, "the training set is different: SHA-256 was"),
    ],
)
def test_checkpoints_of_another_training_are_refused(change, said, tmp_path):
    stopped(tmp_path, 1)
    with pytest.raises(CheckpointError) as error:
        learn(**({"shards": THREE, "checkpoint": tmp_path, "resume": True} | change))
    assert said in str(error.value)
