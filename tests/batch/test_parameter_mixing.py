"""Rounds over shards: one shard is plain training, and nobody sees who worked, or how often."""

from __future__ import annotations

import pickle
import tracemalloc
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import numpy as np
import pytest

import seqtag
from seqtag.batch.parameter_mixing import Shard, ShardOptions
from seqtag.errors import CheckpointError, CorpusError, LabelError
from seqtag.features.language import parse
from seqtag.tagging.tagger import Tagger, facts_of
from seqtag.training.train import train
from tests.strategies import NATIVE, REFERENCE, corpus, install, needs_native
from tests.training.small_corpus import CHUNKS, DEV, TRAINING
from tests.training.test_train import weights_of

if TYPE_CHECKING:
    from seqtag.training.runs import Epoch

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
@contextmanager
def restless(sources, options):
    """Shards that are lost before every call, read again, and called twice."""

    def call(method, *arguments):
        for number, source in enumerate(sources, 1):
            getattr(Shard(number, source, options), method)(*arguments)
            again = Shard(number, source, options)
            yield pickle.loads(pickle.dumps(getattr(again, method)(*arguments)))

    yield call


@pytest.mark.parametrize("update", ["pa", "adaptive"])
def test_who_works_and_how_often_does_not_matter(update):
    settings = {"epochs": 4, "margin": 0.5, "update": update, "dropout": 0.2}
    models = [learn(THREE, threads=threads, **settings) for threads in (1, 2)]
    models.append(learn(THREE, workers=restless, **settings))
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


def test_shards_of_one_sentence_know_what_all_know():
    options = {"min_count": 2, "tag_dictionary": 1, "templates": SEEING}
    every = [[sentence] for sentence in TRAINING]
    tagger, plain = learn(every, **options), train(TRAINING, label="tag", epochs=3, **options)
    for name in ("labels", "columns", "tag_dictionary"):
        assert repr(getattr(tagger.model, name)) == repr(getattr(plain.model, name))
    assert tagger.known_words.hashes.tolist() == plain.known_words.hashes.tolist()
    found, expected = (model.info["training"] for model in (tagger, plain))
    assert (found["sentences"], found["tokens"]) == (expected["sentences"], expected["tokens"])


def test_memory_does_not_depend_on_the_number_of_shards():
    [stats] = [Shard(1, TRAINING, ShardOptions("tag", TEMPLATES)).stats()]

    class EnoughError(Exception):
        pass

    def peak(count: int) -> int:
        """The most memory of the driver, with the statistics of so many shards."""
        random = np.random.RandomState(1)

        def call(method, *_):
            if method != "stats":
                raise EnoughError
            for _ in range(count):
                keys = np.sort(random.permutation(20_000)[:10_000].astype(np.uint64))
                yield stats._replace(words=keys, keys=(keys, np.ones((1, len(keys)), np.int64)))

        tracemalloc.start()
        with pytest.raises(EnoughError):
            learn([TRAINING] * count, workers=lambda *_: nullcontext(call))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(200) < 1.5 * peak(20)


# ----------------------------------------------------------------- what is refused
def test_shards_must_have_the_same_columns(tmp_path):
    (tmp_path / "a.txt").write_text("the DT\nman NN\n")
    (tmp_path / "b.txt").write_text("the X DT\nman X NN\n")
    with pytest.raises(CorpusError) as error:
        seqtag.train_shards([tmp_path / "a.txt", tmp_path / "b.txt"])
    assert str(error.value).startswith(f"{tmp_path / 'b.txt'}: expected the columns ")
    assert f" of the first shard ({tmp_path / 'a.txt'}), found " in str(error.value)


def test_lemmas_are_refused():
    with pytest.raises(LabelError, match="expected a column other than lemmas for shards, found l"):
        learn([LEMMAS], label="lemma")


def test_some_word_must_have_a_label():
    without = corpus("the _; man _", "form feats")
    with pytest.raises(LabelError) as error:
        learn([without], label="feats")
    assert str(error.value).startswith(
        '<sentences>: expected labels in the column feats, found "_" for every word'
    )
    assert learn([without, corpus("the A=a; man _", "form feats")], label="feats").labels


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
        ({"dev": DEV}, "dev set was not given, is 2 sentences"),
        ({"shards": [THREE[0], THREE[2]]}, ", is 5 sentences with SHA-256"),
        ({"shards": [THREE[0], THREE[2], THREE[1]]}, "training set was 6 sentences with SHA-256 "),
        ({"shards": [TRAINING]}, "training set was 6 sentences with SHA-256 "),
    ],
)
def test_checkpoints_of_another_training_are_refused(change, said, tmp_path):
    stopped(tmp_path, 1)
    with pytest.raises(CheckpointError) as error:
        learn(**({"shards": THREE, "checkpoint": tmp_path, "resume": True} | change))
    assert said in str(error.value)
