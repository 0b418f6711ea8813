"""Splits, folds, search and curves; on numbers, on classifiers and on taggers."""

from __future__ import annotations

import io
import signal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus import read
from seqtag.errors import SeqtagError
from seqtag.training.selection import (
    Folds,
    cross_validate,
    grid,
    k_folds,
    search,
    tagger_fit,
)


def majority(train):
    """Predict the most frequent label."""
    label = max(sorted(set(train)), key=train.count)
    return lambda test: sum(y == label for y in test) / len(test)


@given(st.integers(2, 40), st.data())
def test_every_example_is_tested_once(n, data):
    k = data.draw(st.integers(2, n))
    folds = k_folds(n, k, 3)
    assert sorted(i for _, test in folds for i in test) == list(range(n))
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(n))
        assert n // k <= len(test) <= n // k + 1


@given(st.lists(st.integers(0, 9), min_size=2, max_size=60), st.integers(2, 4))
def test_groups_are_never_parted(groups, k):
    sizes = [groups.count(group) for group in set(groups)]
    if len(sizes) < k:
        with pytest.raises(SeqtagError) as error:
            k_folds(len(groups), k, 3, groups)
        n = len(sizes)
        message = f"expected from 2 to {n} folds for {n} groups, found {k}"
        if n == 1:
            message = "expected at least 2 groups to cut into folds, found 1; give more data"
        assert str(error.value) == message
        return
    folds = k_folds(len(groups), k, 3, groups)
    assert sorted(i for _, test in folds for i in test) == list(range(len(groups)))
    for train, test in folds:
        assert not {groups[i] for i in train} & {groups[i] for i in test}
    held = [len(test) for _, test in folds]
    assert min(held) > 0 and max(held) - min(held) <= max(sizes)


@pytest.mark.parametrize("seed", range(5))
def test_the_largest_groups_are_dealt_out_first(seed):
    folds = k_folds(8, 2, seed, [0, 0, 0, 0, 1, 2, 3, 4])
    assert [len(test) for _, test in folds] == [4, 4]


@pytest.mark.parametrize(("n", "k"), [(3, 4), (3, 1)])
def test_folds_need_examples(n, k):
    with pytest.raises(
        SeqtagError, match=f"expected from 2 to {n} folds for {n} examples, found {k}"
    ):
        cross_validate(majority, [0] * n, k)


def test_a_cross_validation_by_hand():
    seen = []
    found = cross_validate(majority, list("aaab"), 4, on_fold=lambda *args: seen.append(args))
    assert sorted(found.scores) == [0, 1, 1, 1]
    assert found.mean == 0.75
    assert found.deviation == pytest.approx(0.5)
    assert seen == list(enumerate(found.scores, 1))


def test_grids():
    space = {"a": [1, 2], "b": ["x", "y"]}
    assert grid(space) == [{"a": a, "b": b} for a in (1, 2) for b in "xy"]
    assert grid({}) == [{}]


def test_a_search_by_hand():
    def fit_with(settings):
        return lambda train: lambda test: settings["bonus"] + len(train) + len(test) / 10

    shown = []
    found = search(
        fit_with, grid({"bonus": [1, 3, 3]}), [0] * 4, dev=[0] * 5, on_trial=shown.append
    )
    assert [t.score for t in found] == [7.5, 7.5, 5.5]
    assert [t.settings["bonus"] for t in shown] == [1, 3, 3]
    best, *_ = search(fit_with, grid({"bonus": [1, 3]}), [0] * 4, k=2)
    assert best.folds == Folds((5.2, 5.2))
    assert best.score == best.folds.mean


def test_taggers_are_cross_validated(sample_dir):
    sentences = [s for s in read(sample_dir / "en-sample-dev.conllu") if len(s)]
    found = cross_validate(tagger_fit(epochs=2), sentences, 2, 1)
    assert 0.4 < found.mean < 1
    again = cross_validate(tagger_fit(epochs=2), sentences, 2, 1)
    assert found == again


def test_folds_on_several_threads_score_alike():
    def fit(train):
        return lambda test: float(np.mean(test) > np.mean(train))

    data = list(range(40))
    one, two = (cross_validate(fit, data, 8, threads=threads) for threads in (1, 2))
    assert one == two


def test_half_a_training_is_no_score():
    def interrupt(progress):
        if progress.epoch == 2:
            signal.raise_signal(signal.SIGINT)  # the training ends, and has a result

    data = list(read(io.BytesIO(b"the DT\ncat NN\n\na DT\n"), columns=["form", "tag"]))
    with pytest.raises(KeyboardInterrupt):
        tagger_fit(label="tag", epochs=5, min_count=1, on_epoch=interrupt)(data)
