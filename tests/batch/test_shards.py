"""Shards agree on features, labels and words as if they were one corpus, and learn by "
"themselves."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest

from seqtag.batch.mixing import Fold, Table
from seqtag.batch.shards import (
    Plan,
    RowsOfKeys,
    Shard,
    ShardOptions,
    ShardStats,
    SharedVocabulary,
    train_shard,
)
from seqtag.corpus import ReadOptions
from seqtag.errors import CorpusError, LabelError
from seqtag.features.language import parse
from seqtag.labels.coding import LabelCoding
from seqtag.labels.column import LabelColumn
from seqtag.settings import Settings
from seqtag.training.data import open_corpus
from seqtag.training.problem import WordLabels, build_problem, labels_of_words
from seqtag.training.task import Task
from tests.engine.test_state import bits
from tests.strategies import NATIVE, REFERENCE, corpus, each_backend, install, needs_native

TEMPLATES = parse("form[0]\nnormal[0]\nsuffix(1)[0]\nform[-1]\nlabel[-1] + form[0]\nlabel[-1]")
WORDS = corpus(
    "the DT, old JJ, man NN, sees VB; the DT, man NN, runs VB; old JJ, men NN, run VB; "
    "a DT, run NN, is VB, old JJ; men NN, man VB, the DT, boat NN; she PR, runs VB, a DT, boat NN"
)
SPLITS = [[6], [2, 4], [3, 1, 2], [1] * 6]


def reading(**settings) -> ShardOptions:
    return ShardOptions("tag", TEMPLATES, {"epochs": 3, "margin": 0.5, **settings})


def split(sizes: list[int]) -> list[list]:
    """The sentences, so many in each shard."""
    ends = np.cumsum(sizes)
    return [WORDS[end - size : end] for size, end in zip(sizes, ends.tolist(), strict=True)]


def planned(
    shards: list[Shard], min_count: int = 1, dropout: float | str = 0.0
) -> tuple[SharedVocabulary, Plan]:
    """What shards agree on, and are told."""
    vocabulary = SharedVocabulary.of(shard.stats() for shard in shards)
    labels = sorted({label for shard in shards for label in shard.labels(LabelCoding())})
    found = (vocabulary.features, vocabulary.edges)
    keys = [RowsOfKeys.of(each.frequent(min_count)) for each in found]
    layout = whole(min_count).corpus.layout
    return vocabulary, Plan(vocabulary.digests, LabelCoding(), labels, dropout, layout, *keys)


def whole(min_count: int = 1):
    """The problem that plain training poses of all sentences."""
    column, settings = LabelColumn("tag"), Settings(min_count=min_count)
    examples = open_corpus(WORDS, None).gather(["form"], column)
    return build_problem(Task(column, TEMPLATES, settings, ("form",)), examples)


# ----------------------------------------------------------------- what is agreed on
@pytest.mark.parametrize("min_count", [1, 2, 3])
@pytest.mark.parametrize("sizes", SPLITS)
def test_features_are_numbered_as_in_plain_training(sizes, min_count):
    shards = [Shard(sentences, reading()) for sentences in split(sizes)]
    vocabulary, plan = planned(shards, min_count)
    plain = whole(min_count)
    assert bits(vocabulary.features.frequent(min_count)) == bits(plain.corpus.keys)
    assert bits(vocabulary.edges.frequent(min_count)) == bits(plain.corpus.edge_keys)
    assert bits(vocabulary.words.hashes) == bits(plain.known_words.hashes)
    examples = open_corpus(WORDS, None).gather(["form"], LabelColumn("tag"))
    assert vocabulary.transitions == examples.transitions()
    assert vocabulary.origin["sentences"] == plain.origin["sentences"]
    assert vocabulary.origin["tokens"] == plain.origin["tokens"]
    assert vocabulary.origin["shards"] == len(sizes)
    same = vocabulary.origin["corpus_sha256"] == plain.origin["corpus_sha256"]
    assert same == (len(sizes) == 1)
    ready = [shard.encode(plan, number) for number, shard in enumerate(shards, 1)]
    assert plain.y.tolist() == [label for each in ready for label in each.y.tolist()]
    x = plain.corpus.instances
    found = [each.shard_rows.rows[each.x.features] for each in ready]
    assert np.concatenate(found).tolist() == x.features.tolist()
    found = [each.shard_rows.edges[each.x.edges] for each in ready]
    assert np.concatenate(found).tolist() == x.edges.tolist()
    lengths = [np.diff(each.x.token_ptr) for each in ready]
    assert np.concatenate(lengths).tolist() == np.diff(x.token_ptr).tolist()


def test_memory_does_not_depend_on_the_number_of_shards(monkeypatch):
    monkeypatch.setattr(Fold.__init__, "__defaults__", (1,))
    [found] = [Shard(WORDS, reading()).stats()]

    def peak(count: int) -> int:
        """The most memory of the driver, with the statistics of so many shards."""
        random = np.random.RandomState(1)

        def shard() -> ShardStats:
            keys = random.permutation(20_000)[:10_000].astype(np.uint64)
            ones = np.ones(len(keys), np.int64)
            return found._replace(words=np.sort(keys), keys=keys, counts=ones)

        tracemalloc.start()
        shared = SharedVocabulary.of(shard() for _ in range(count))
        assert shared.features.counts.sum() == count * 10_000
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(200) < 1.5 * peak(20)


@pytest.mark.parametrize("sizes", SPLITS)
def test_labels_of_words_add_up(sizes):
    plain = whole()
    examples = open_corpus(WORDS, None).gather(["form"], plain.column)
    column = examples.columns["form"]
    every = labels_of_words(plain.compiled, [column], plain.y)
    shards = [Shard(sentences, reading(tag_dictionary=1)) for sentences in split(sizes)]
    _, plan = planned(shards)
    found = [shard.encode(plan, number).words for number, shard in enumerate(shards, 1)]
    assert bits(tuple(WordLabels.sum(found))) == bits(tuple(every))
    assert len(every.often(2).keys) < len(every.often(1).keys) == len(every.keys)


def test_shards_must_have_the_same_columns(tmp_path):
    (tmp_path / "a.txt").write_text("the DT\nman NN\n")
    (tmp_path / "b.txt").write_text("the X DT\nman X NN\n")
    stats = [Shard(tmp_path / name, ShardOptions()).stats() for name in ("a.txt", "b.txt")]
    with pytest.raises(CorpusError) as error:
        SharedVocabulary.of(stats)
    assert str(error.value) == (
        f"{tmp_path / 'b.txt'}: expected the columns {', '.join(stats[0].columns)} of the first "
        f"shard ({tmp_path / 'a.txt'}), found {', '.join(stats[1].columns)}"
    )


def test_some_word_must_have_a_label():
    sentences = corpus("the _; man _")
    with pytest.raises(LabelError, match='expected a label in the column tag, found "_"'):
        Shard(sentences, reading())
    lemmas = Shard(corpus("the _; man _", "form feats"), ShardOptions("feats", TEMPLATES))
    other = Shard(corpus("the A; man _", "form feats"), ShardOptions("feats", TEMPLATES))
    with pytest.raises(LabelError) as error:
        SharedVocabulary.of([lemmas.stats()])
    assert str(error.value).startswith(
        '<sentences>: expected labels in the column feats, found "_" for every word'
    )
    assert SharedVocabulary.of([lemmas.stats(), other.stats()]).sentences == [2, 2]


def test_a_file_that_has_changed_is_noticed(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("the DT\nman NN\n")
    how = ShardOptions("tag", TEMPLATES, files=ReadOptions(columns=["form", "tag"]))
    _, plan = planned([Shard(path, how)])
    path.write_text("the DT\nman VB\n")
    with pytest.raises(CorpusError) as error:
        Shard(path, how).encode(plan, 1)
    assert str(error.value) == (
        f"{path}: expected the sentences with which this training began, found others; restore "
        "the file, or start over"
    )


# ----------------------------------------------------------------- one round
def after(rounds: int, **settings) -> list[Table]:
    """What the second of two shards changed in each of some rounds that it learns alone."""
    shards = [Shard(sentences, reading(**settings)) for sentences in split([4, 2])]
    _, plan = planned(shards, dropout=settings["dropout"])
    numbered = shards[1].encode(plan, 2)
    state, found = Table.empty(settings["update"] == "adaptive"), []
    for number in range(1, rounds + 1):
        once = train_shard(state, numbered, number, 7)
        again = train_shard(state, pickle.loads(pickle.dumps(numbered)), number, 7)
        assert bits(once.values) == bits(again.values)
        changed = once.sparse(state)
        assert bits(changed) == bits(again.sparse(state))
        found.append(changed)
        state = changed
    return found


@pytest.mark.parametrize("update", ["perceptron", "pa", "adaptive"])
@pytest.mark.parametrize("dropout", [0.0, 0.3, "rare"])
@needs_native
def test_a_round_is_pure_and_the_same_on_both_backends(update, dropout, monkeypatch):
    found = []
    for side in (REFERENCE, NATIVE):
        install(side, monkeypatch)
        found.append(after(2, update=update, dropout=dropout, step=0.3))
    assert len(found[0][0].cells) > 0
    assert list(map(bits, found[0])) == list(map(bits, found[1]))


@each_backend
def test_shards_rounds_and_seeds_have_draws_of_their_own(backend, monkeypatch):
    install(backend, monkeypatch)
    shard = Shard(WORDS, reading(dropout=0.5))
    _, plan = planned([shard], dropout=0.5)
    numbered, state = shard.encode(plan, 1), Table.empty(adaptive=False)
    draws = [(1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2)]
    found = [
        bits(train_shard(state, numbered._replace(number=number), round, seed).values)
        for number, round, seed in draws
    ]
    assert len({str(each) for each in found}) == len(draws)
