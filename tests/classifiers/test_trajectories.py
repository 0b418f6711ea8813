"""Binary = multiclass = structured: every intermediate w, against loops from the textbooks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seqtag import BinaryPerceptron, MulticlassPerceptron, VotedPerceptron
from seqtag.classifiers.perceptrons import joint_features
from seqtag.engine import backend as kernels
from seqtag.engine.arrays import Instances, Layout, Mistakes
from seqtag.engine.reference import phi, potentials, viterbi
from tests.strategies import NATIVE, REFERENCE, cases, dense, each_backend, install, needs_native

PLAIN = {"shuffle": False, "fit_intercept": False}


# ----------------------------------------------------------------- the textbooks
def rosenblatt(X, y, passes, ties_are_mistakes, step=1.0):
    """Every w of the binary perceptron, and how many examples each survived; y is -1 or +1."""
    w = np.zeros(X.shape[1])
    trajectory, survival = [w.copy()], [0]
    for _ in range(passes):
        mistakes = 0
        for x, label in zip(X, y, strict=True):
            a = sum(w[j] * x[j] for j in range(len(x)))
            wrong = label * a <= 0 if ties_are_mistakes else (1 if a >= 0 else -1) != label
            if wrong:
                w = w + step * label * x
                trajectory.append(w.copy())
                survival.append(0)
                mistakes += 1
            survival[-1] += 1
        if not mistakes:
            break
    return np.array(trajectory), np.array(survival)


def per_class(X, y, K, passes, ties_are_mistakes):
    """Every W (K, d) of the multiclass perceptron with one vector per class."""
    W = np.zeros((K, X.shape[1]))
    trajectory = [W.copy()]
    for _ in range(passes):
        before = len(trajectory)
        for x, label in zip(X, y, strict=True):
            scores = [float(sum(W[k] * x)) for k in range(K)]
            best = [k for k in range(K) if scores[k] == max(scores)]
            if ties_are_mistakes and len(best) > 1:
                best = [k for k in best if k != label]
            if best[0] != label:
                W[label] += x
                W[best[0]] -= x
                trajectory.append(W.copy())
        if len(trajectory) == before:
            break
    return np.array(trajectory)


def single_vector(X, y, K, passes):
    """Every w (K d,) of the perceptron on the joint feature map phi(x, y)."""
    table = joint_features(X, K)
    w = np.zeros(table.shape[2])
    trajectory = [w.copy()]
    for _ in range(passes):
        before = len(trajectory)
        for i, label in enumerate(y):
            y_hat = int(np.argmax(table[i] @ w))
            if y_hat != label:
                w = w + table[i, label] - table[i, y_hat]
                trajectory.append(w.copy())
        if len(trajectory) == before:
            break
    return np.array(trajectory)


@st.composite
def data(draw, K=2):
    """Whole-number vectors (sums are exact) with labels 0 ... K - 1, all of them used."""
    n, d = draw(st.integers(K, 8)), draw(st.integers(1, 3))
    X = draw(arrays(np.int64, (n, d), elements=st.integers(-3, 3))).astype(float)
    y = draw(arrays(np.int64, n - K, elements=st.integers(0, K - 1)))
    return X, np.concatenate([np.arange(K), y])


@pytest.fixture
def on(backend, monkeypatch):
    install(backend, monkeypatch)


# ----------------------------------------------------------------- 1: binary
@each_backend
@pytest.mark.usefixtures("on")
@pytest.mark.parametrize("ties", [True, False])
def test_the_binary_perceptron_is_rosenblatts(backend, ties):
    @given(data(), st.sampled_from([1.0, 0.5]))
    def check(sample, step):
        X, y = sample
        model = BinaryPerceptron(ties_are_mistakes=ties, max_iter=6, step=step, **PLAIN).fit(X, y)
        expected, _ = rosenblatt(X, 2 * y - 1, 6, ties, step)
        np.testing.assert_array_equal(model.trajectory(X), expected)
        np.testing.assert_array_equal(model.coef_[0], expected[-1])
        assert model.n_updates_ == len(expected) - 1

    check()


@each_backend
@pytest.mark.usefixtures("on")
def test_the_worked_example_of_two_points(backend):
    X, y = np.array([[2.0, 4], [-6, 1]]), np.array([-1, -1])
    log = trained(X, y, passes=1)
    assert log.tolist() == [[0, 0], [-2, -4], [4, -5]]
    X[1] = 1, -2
    # pass 1: y a = 0 at x1, then y a = -6 at x2 under (-2, -4) -> (-3, -2)
    # pass 2: x1: y a = 14, x2: y a = -1 -> (-4, 0); pass 3: x1: 8, x2: 4: converged
    assert trained(X, y, passes=9).tolist() == [[0, 0], [-2, -4], [-3, -2], [-4, 0]]


def trained(X, y, passes):
    """Every w through the trainer itself: these points have one label, which fit would refuse."""
    n, d = X.shape
    x = Instances(
        np.arange(n + 1), np.arange(n + 1) * d, np.tile(np.arange(d, dtype=np.int32), n), X.ravel()
    )
    weights = kernels.Weights(Layout(d, 2, 0), "float64", "perceptron")
    gold = np.where(y > 0, 0, 1).astype(np.int32)
    w = [np.zeros(d)]
    for _ in range(passes):
        log: list[Mistakes] = []
        weights.train_epoch(x, gold, np.arange(n), ties_are_mistakes=True, out_mistakes=log)
        for i in log[0].position:
            w.append(w[-1] + y[i] * X[i])
        rows = dense(weights.cells(), Layout(d, 2, 0))[: 2 * d].reshape(d, 2)
        np.testing.assert_array_equal(rows[:, 0], w[-1])
        np.testing.assert_array_equal(rows[:, 1], -w[-1])
    return np.array(w)


# ----------------------------------------------------------------- 1 = 2, 2 = 2
@each_backend
@pytest.mark.usefixtures("on")
@pytest.mark.parametrize("ties", [True, False])
def test_multiclass_is_one_vector_per_class(backend, ties):
    @given(data(K=3))
    def check(sample):
        X, y = sample
        model = MulticlassPerceptron(ties_are_mistakes=ties, max_iter=4, **PLAIN).fit(X, y)
        expected = per_class(X, y, 3, 4, ties)
        np.testing.assert_array_equal(model.trajectory(X), expected)
        np.testing.assert_array_equal(model.coef_, expected[-1])

    check()


@given(data(K=3))
def test_one_vector_per_class_is_the_single_vector(sample):
    X, y = sample
    model = MulticlassPerceptron(ties_are_mistakes=False, max_iter=4, **PLAIN).fit(X, y)
    rows = model.trajectory(X)
    np.testing.assert_array_equal(rows.reshape(len(rows), -1), single_vector(X, y, 3, 4))
    np.testing.assert_array_equal(
        joint_features(X, 3) @ model.joint_weights_, model.decision_function(X)
    )


@each_backend
@pytest.mark.usefixtures("on")
@pytest.mark.parametrize("ties", [True, False])
def test_multiclass_with_two_labels_is_the_binary_perceptron(backend, ties):
    @given(data())
    def check(sample):
        X, y = sample
        binary, multi = (
            kind(ties_are_mistakes=ties, max_iter=5).fit(X, y)
            for kind in (BinaryPerceptron, MulticlassPerceptron)
        )
        np.testing.assert_array_equal(binary.trajectory(X), multi.trajectory(X))
        np.testing.assert_array_equal(binary.predict(X), multi.predict(X))
        np.testing.assert_array_equal(binary.coef_, multi.coef_)

    check()


# ----------------------------------------------------------------- 2 = 5
@each_backend
@pytest.mark.usefixtures("on")
def test_the_structured_perceptron_with_one_token_is_the_multiclass_one(backend):
    """The structured textbook loop on phi and viterbi, sentences of length 1, no transitions."""

    @given(data(K=3))
    def check(sample):
        X, y = sample
        n, d = X.shape
        layout = Layout(d, 3, 0)
        x = Instances(
            np.arange(n + 1),
            np.arange(n + 1) * d,
            np.tile(np.arange(d, dtype=np.int32), n),
            X.ravel(),
        )
        w = np.zeros(layout.size)
        trajectory = [w.copy()]
        for _ in range(3):
            before = len(trajectory)
            for s in range(n):
                y_hat = viterbi(potentials(layout, x, s, w))
                if y_hat[0] != y[s]:
                    w = w + phi(layout, x, s, y[s : s + 1]) - phi(layout, x, s, y_hat)
                    trajectory.append(w.copy())
            if len(trajectory) == before:
                break
        model = MulticlassPerceptron(ties_are_mistakes=False, max_iter=3, **PLAIN).fit(X, y)
        rows = [layout.blocks(w).emission.T for w in trajectory]
        np.testing.assert_array_equal(model.trajectory(X), rows)

    check()


@needs_native
@given(cases(), st.booleans())
def test_both_backends_record_the_same_mistakes(case, ties):
    logs = []
    for backend in (NATIVE, REFERENCE):
        weights, log = backend.Weights(case.layout, "float64", "perceptron"), []
        for _ in range(3):
            counts = weights.train_epoch(
                case.x, case.y, case.all_sentences, ties_are_mistakes=ties, out_mistakes=log
            )
            assert counts[0] == len(log[-1].position)
            lengths = np.diff(case.x.sentence_ptr)[log[-1].position]
            assert len(log[-1].y_hat) == lengths.sum()
        logs.append(log)
    for native, reference in zip(*logs, strict=True):
        for found, expected in zip(native, reference, strict=True):
            assert (found.dtype, found.tolist()) == (expected.dtype, expected.tolist())


# ----------------------------------------------------------------- 3: the mean; 4: the votes
@each_backend
@pytest.mark.usefixtures("on")
def test_the_average_is_the_mean_of_w_after_each_example(backend):
    @given(data())
    def check(sample):
        X, y = sample
        model = BinaryPerceptron(average=True, max_iter=4, **PLAIN).fit(X, y)
        w, survival = rosenblatt(X, 2 * y - 1, 4, True)
        stored = np.repeat(w, survival, axis=0)  # w after every single example
        np.testing.assert_allclose(model.coef_[0], stored.mean(axis=0), atol=1e-12)
        # CIML, algorithm 7: u += y c x with c from 1, w - u / c
        u, c, seen = np.zeros(X.shape[1]), 1, np.zeros(X.shape[1])
        for _ in range(model.n_iter_):
            for x, label in zip(X, 2 * y - 1, strict=True):
                if label * (seen @ x) <= 0:
                    seen, u = seen + label * x, u + label * c * x
                c += 1
        n = len(stored)
        np.testing.assert_allclose(seen - u / c, model.coef_[0] * n / (n + 1), atol=1e-12)

    check()


@each_backend
@pytest.mark.usefixtures("on")
@pytest.mark.parametrize("ties", [True, False])
def test_votes_are_those_of_every_stored_w(backend, ties):
    @given(data(), arrays(np.int64, (3, 3), elements=st.integers(-3, 3)))
    def check(sample, more):
        X, y = sample
        model = VotedPerceptron(ties_are_mistakes=ties, max_iter=4, **PLAIN).fit(X, y)
        w, survival = rosenblatt(X, 2 * y - 1, 4, ties)
        assert model.survival_.tolist() == survival.tolist()
        Z = np.concatenate([X, more[:, : X.shape[1]]])
        votes = np.where(Z @ w.T >= 0, 1, -1) @ survival
        np.testing.assert_allclose(model.decision_function(Z), votes / survival.sum())
        np.testing.assert_array_equal(model.predict(Z), (votes >= 0).astype(int))

    check()


def test_votes_in_several_blocks_are_the_same(monkeypatch):
    random = np.random.RandomState(0)
    X, y = random.randint(-3, 4, (60, 3)).astype(float), random.randint(0, 2, 60)
    model = VotedPerceptron(max_iter=5).fit(X, y)
    expected = model.decision_function(X)
    monkeypatch.setattr("seqtag.classifiers.perceptrons.Voters.BLOCK", 7)
    np.testing.assert_allclose(model.decision_function(X), expected)
    w = model.trajectory(X)
    votes = np.where(np.c_[X, np.ones(60)] @ w.T >= 0, 1, -1) @ model.survival_
    np.testing.assert_allclose(expected, votes / model.survival_.sum())
