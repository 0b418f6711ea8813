"""docs/perceptron.py: one learner, whose updates are those of seqtag, one by one."""

from __future__ import annotations

import runpy
import shutil
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import seqtag
from seqtag import BinaryPerceptron, MulticlassPerceptron
from seqtag.features.language import parse
from seqtag.randomness import visiting_order
from seqtag.training import runs
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "perceptron.py"
SAMPLE = ROOT / "corpora" / "sample"
EPOCHS = 4
CLASSIC = {"shuffle": False, "fit_intercept": False, "until_converged": False, "max_iter": 3}

page = runpy.run_path(str(PAGE))
learn, search, half, block = (page[name] for name in ("learn", "search", "half", "block"))


def vectors(X):
    return [{i: int(value) for i, value in enumerate(x)} for x in X]


def examples_of(X, y, passes=3):
    return [*zip(vectors(X), y.tolist(), strict=True)] * passes


def blind(decode):
    """Return the decoder without knowledge of the gold label: ties go to the first label."""
    return lambda w, x, gold: decode(w, x)


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    ("kind", "labels", "phi"),
    [(BinaryPerceptron, [-1, 1], half), (MulticlassPerceptron, [0, 1, 2, 3], block)],
)
def test_vectors_make_the_updates_of_the_classifiers(kind, labels, phi, seed, ties):
    random = np.random.RandomState(seed)
    X, y = random.randint(-4, 5, (12, 3)), random.choice(labels, 12)
    decode = search(labels, phi)
    w, mean, mistakes = learn(examples_of(X, y), phi, decode if ties else blind(decode))
    for average, found in ((False, w), (True, mean)):
        model = kind(**CLASSIC, average=average, ties_are_mistakes=ties)
        model.fit(X, y, classes=labels)
        decoded = model.classes_[model.mistakes_.decoded]
        assert mistakes == [*zip(model.mistakes_.seen.tolist(), decoded.tolist(), strict=True)]
        rows = [
            found if phi is half else {i: found[i, label] for i in range(3)} for label in labels
        ]
        expected = [[row[i] for i in range(3)] for row in rows[-len(model.coef_) :]]
        assert np.allclose(model.coef_, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(50))
def test_a_sentence_of_one_word_is_a_vector(seed):
    """With label bigrams there are two more features that are always 1: start and stop."""
    random = np.random.RandomState(seed)
    X, y = random.randint(-2, 3, (10, 2)), random.randint(0, 3, 10)
    words = [(([x | {"start": 1, "stop": 1}]), label) for x, label in examples_of(X, y)]
    _, _, vectors_ = learn([(x[0], k) for x, k in words], block, search(range(3), block))
    sentences = [([x], [label]) for x, label in examples_of(X, y)]

    def decode(w, x, gold=None):
        return page["viterbi"](w, x, range(3), gold)

    _, _, mistakes = learn(sentences, page["chain"], decode)
    assert mistakes == [(c, [guess]) for c, guess in vectors_]


@pytest.mark.parametrize("seed", range(50))
def test_viterbi_finds_what_trying_all_finds(seed):
    random = np.random.RandomState(seed)
    x = vectors(random.randint(-2, 3, (random.randint(1, 5), 2)))
    w = defaultdict(int)
    for key in (*product(range(2), range(3)), *product(range(3), repeat=2)):
        w[key] = int(random.randint(-3, 4))
    every = [*map(list, product(range(3), repeat=len(x)))]
    scores = [page["dot"](w, page["chain"](x, y)) for y in every]
    winners = [y for y, score in zip(every, scores, strict=True) if score == max(scores)]
    assert page["viterbi"](w, x, range(3)) in winners
    for gold in every:  # it is found only if it beats all others
        assert (page["viterbi"](w, x, range(3), gold) == gold) == (winners == [gold])


@pytest.mark.parametrize("ties", [True, False])
def test_sentences_make_the_updates_of_seqtag_train(ties, monkeypatch):
    """seqtag.train has no option for ties: its recipe is changed here."""
    recipe_of = runs.recipe_of
    monkeypatch.setattr(
        runs, "recipe_of", lambda *args: replace(recipe_of(*args), ties_are_mistakes=ties)
    )
    read, features = page["read"], page["features"]
    train = [(features(words), y) for words, y in read(SAMPLE / "en-sample-train.conllu")]
    labels = sorted({label for _, y in train for label in y})
    orders = [visiting_order(len(train), 1, 1, 1 + epoch) for epoch in range(EPOCHS)]

    def decode(w, x, gold=None):
        return page["viterbi"](w, x, labels, gold)

    examples = [train[i] for order in orders for i in order]
    _, mean, mistakes = learn(examples, page["chain"], decode if ties else blind(decode))
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
    epochs = [c // len(train) for c, _ in mistakes]
    assert [epochs.count(epoch) for epoch in range(EPOCHS)] == updates
    unit = tagger.info["training"]["unit"]  # weights of a model are integers, multiples of it
    w = defaultdict(float, {i: round(weight / unit) for i, weight in mean.items()})
    assert tagger.sizes["weights"] == sum(
        value != 0 for i, value in w.items() if i[0] not in ("start", "stop", *labels)
    )
    for words, _ in read(SAMPLE / "en-sample-test.conllu"):
        assert tagger.tag(words) == decode(w, features(words))


def test_it_runs_alone_and_on_files(tmp_path):
    alone = shutil.copy(PAGE, tmp_path)
    done = subprocess.run([sys.executable, alone], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "noun or verb: 46 updates; right now: 20 of 24\n"
        "word by word: 59 updates; right now: 60 of 64\n"
        "sentence: 17 updates; right now: 10 of 10\n"
        "They/PRON fish/VERB for/ADP the/DET old/ADJ fish/NOUN ./PUNCT\n"
    )
    files = [SAMPLE / f"en-sample-{part}.conllu" for part in ("train", "test")]
    done = subprocess.run(
        [sys.executable, PAGE, *files], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(": 285 of 338 words right\n")
