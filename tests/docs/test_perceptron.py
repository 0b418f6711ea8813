"""docs/perceptron.py learns what seqtag learns: the same updates, weights and labels."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import seqtag
from seqtag import BinaryPerceptron, MulticlassPerceptron
from seqtag.features.language import parse
from seqtag.randomness import visiting_order

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "perceptron.py"
SAMPLE = ROOT / "corpora" / "sample"
EPOCHS = 4

page = runpy.run_path(str(PAGE))


def vectors(X):
    return [{i: int(value) for i, value in enumerate(x)} for x in X]


@pytest.mark.parametrize("seed", range(20))
def test_two_labels(seed):
    random = np.random.RandomState(seed)
    X, y = random.randint(-4, 5, (12, 3)), random.choice([-1, 1], 12)
    model = BinaryPerceptron(shuffle=False, fit_intercept=False, max_iter=3, until_converged=False)
    model.fit(X, y, classes=[-1, 1])
    w = page["binary"]([*zip(vectors(X), y.tolist(), strict=True)] * 3)
    assert [w[i] for i in range(3)] == model.coef_[0].tolist()


@pytest.mark.parametrize("seed", range(20))
def test_many_labels(seed):
    random = np.random.RandomState(seed)
    X, y = random.randint(-4, 5, (12, 3)), random.randint(0, 4, 12)
    settings = {"shuffle": False, "fit_intercept": False, "ties_are_mistakes": False}
    model = MulticlassPerceptron(**settings, max_iter=3, until_converged=False)
    model.fit(X, y, classes=range(4))
    w = page["multiclass"]([*zip(vectors(X), y.tolist(), strict=True)] * 3, range(4))
    assert [[w[i, label] for i in range(3)] for label in range(4)] == model.coef_.tolist()


def test_the_same_tagger():
    read, features = page["read"], page["features"]
    train = [(features(words), y) for words, y in read(SAMPLE / "en-sample-train.conllu")]
    labels = sorted({label for _, y in train for label in y})
    orders = [visiting_order(len(train), 1, 1, 1 + epoch) for epoch in range(EPOCHS)]

    def decode(w, x):
        return page["viterbi"](w, x, labels)

    def learned(epochs):
        stream = (train[i] for order in orders[:epochs] for i in order)
        return page["averaged"](stream, page["phi"], decode)

    counts = [learned(epochs)[1] for epochs in range(1, EPOCHS + 1)]
    updates = []
    tagger = seqtag.train(
        seqtag.read(SAMPLE / "en-sample-train.conllu"),
        label="upos",
        templates=parse("form[0]\nsuffix(2)[0]\nlabel[-1]"),
        update="perceptron",
        margin=0,
        min_count=1,
        epochs=EPOCHS,
        seed=1,
        on_epoch=lambda epoch: updates.append(epoch.updates),
    )
    assert np.diff([0, *counts]).tolist() == updates
    w, _ = learned(EPOCHS)
    unit = tagger.info["training"]["unit"]  # a model has whole numbers of it for weights
    w = defaultdict(float, {i: round(weight / unit) for i, weight in w.items()})
    for words, _ in read(SAMPLE / "en-sample-test.conllu"):
        assert tagger.tag(words) == decode(w, features(words))


def test_it_runs_as_it_stands_and_fits_on_a_page():
    done = subprocess.run([sys.executable, PAGE], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("They/PRON fish/VERB for/ADP the/DET old/ADJ fish/NOUN ./PUNCT\n")
    assert len(PAGE.read_text("utf-8").splitlines()) < 140
