"""Online learning: pieces in their order are, to the last bit, one pass over the whole."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from seqtag import BinaryPerceptron, MulticlassPerceptron, SigmoidNeuron, VotedPerceptron
from seqtag.classifiers.losses import costs
from seqtag.errors import LabelError, SeqtagError
from tests.strategies import each_backend, install

MODELS = [
    BinaryPerceptron(),
    BinaryPerceptron(average=True, step=0.3, fit_intercept=False),
    BinaryPerceptron(cost=costs(2, 5), ties_are_mistakes=False),
    BinaryPerceptron(feature_map="product"),
    MulticlassPerceptron(average=True),
    MulticlassPerceptron(one_vs_all=True, average=True),
    VotedPerceptron(),
    VotedPerceptron(fit_intercept=False),
    SigmoidNeuron(penalty=0.01),
]
each = pytest.mark.parametrize("model", MODELS, ids=repr)


def copy_of(model, **changes):
    return type(model)(**model.get_params()).set_params(**changes)


def data(K, n=30, seed=0):
    random = np.random.RandomState(seed)
    X = random.randint(-3, 4, (n, 4)) / 3
    y = (X @ random.normal(size=(4, K)) + random.normal(size=(n, K))).argmax(axis=1)
    return X, y


def labels_of(model):
    return 3 if isinstance(model, MulticlassPerceptron) else 2


def pieces(X, y, cuts=(1, 2, 11)):
    ends = [0, *cuts, len(y)]
    return [(X[a:b], y[a:b]) for a, b in pairwise(ends)]


def learnt_in_pieces(model, X, y, classes, cuts=(1, 2, 11)):
    online = copy_of(model)
    for some, labels in pieces(X, y, cuts):
        assert online.partial_fit(some, labels, classes=classes) is online
    return online


def check_same(online, whole, X):
    assert online.coef_.tobytes() == whole.coef_.tobytes()
    assert online.intercept_.tobytes() == whole.intercept_.tobytes()
    assert online.decision_function(X).tobytes() == whole.decision_function(X).tobytes()
    assert online.n_updates_ == whole.n_updates_
    for name in ("mistakes_", "survival_"):
        if hasattr(whole, name):
            for ours, theirs in zip(getattr(online, name), getattr(whole, name), strict=True):
                assert np.array_equal(ours, theirs)
    if hasattr(whole, "mistakes_"):
        assert online.trajectory(X).tobytes() == whole.trajectory(X).tobytes()


@each_backend
@each
def test_pieces_are_the_whole(model, backend, monkeypatch):
    install(backend, monkeypatch)
    K = labels_of(model)
    X, y = data(K)
    whole = copy_of(model, shuffle=False, max_iter=1).fit(X, y, classes=range(K))
    online = learnt_in_pieces(model, X, y, range(K))
    check_same(online, whole, X)
    assert online.n_iter_ == 4  # calls
    assert whole.n_updates_ > 3


@each
def test_pieces_of_sparse_matrices_and_dicts(model):
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
    K = labels_of(model)
    X, y = data(K)
    dicts = [{f"f{j}": value for j, value in enumerate(x)} for x in X]
    for given in (dicts, sparse.csr_array(X)):
        if given is not dicts and model.feature_map:
            continue
        whole = copy_of(model, shuffle=False, max_iter=1).fit(given, y, classes=range(K))
        check_same(learnt_in_pieces(model, given, y, range(K)), whole, given)


@each
def test_kinds_of_arrays_may_change(model):
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
    if model.feature_map:
        return
    K = labels_of(model)
    X, y = data(K)
    online = copy_of(model).partial_fit(X[:9], y[:9], classes=range(K))
    online.partial_fit(sparse.csr_array(X[9:]), y[9:])
    expected = learnt_in_pieces(model, X, y, range(K), [9])
    np.testing.assert_allclose(online.decision_function(X), expected.decision_function(X))


@each
def test_dicts_may_bring_new_features(model):
    """The same as if all had been named in the first piece."""
    K = labels_of(model)
    X, y = data(K)
    zeros = {f"f{j}": 0.0 for j in range(4)}
    first = [{"f0": x[0], "f1": x[1]} for x in X[:10]]
    rest = [{f"f{j}": value for j, value in enumerate(x)} for x in X[10:]]
    online = copy_of(model).partial_fit(first, y[:10], classes=range(K)).partial_fit(rest, y[10:])
    named = copy_of(model).partial_fit([zeros | x for x in first], y[:10], classes=range(K))
    named.partial_fit(rest, y[10:])
    assert sorted(online.feature_names_) == named.feature_names_
    assert online.n_features_in_ == named.n_features_in_ == online.coef_.shape[1]
    np.testing.assert_allclose(
        online.decision_function(rest), named.decision_function(rest), atol=1e-12
    )
    np.testing.assert_allclose(online.intercept_, named.intercept_, atol=1e-12)


@each
def test_it_goes_on_from_a_fit_and_after_a_pickle(model):
    K = labels_of(model)
    X, y = data(K)
    first = copy_of(model, shuffle=False, max_iter=1).fit(X[:12], y[:12], classes=range(K))
    again = pickle.loads(pickle.dumps(first)).partial_fit(X[12:], y[12:])
    check_same(again, learnt_in_pieces(model, X, y, range(K), [12]), X)


def test_it_goes_on_after_several_epochs():
    X, y = data(2)
    model = VotedPerceptron(until_converged=False, max_iter=3)
    made = model.fit(X[:12], y[:12], classes=range(2)).n_updates_
    model.partial_fit(X[12:], y[12:])
    example, seen, *_ = (part[made:] for part in model.mistakes_)
    assert len(seen) > 3
    np.testing.assert_array_equal(seen - 3 * 12, example - 12)  # a visit each, in their order
    assert model.survival_.sum() == 3 * 12 + 18
    np.testing.assert_array_equal(
        model.trajectory(X)[-1], [*model.coef_.ravel(), *model.intercept_]
    )


def test_fit_starts_afresh():
    X, y = data(2)
    for model in (BinaryPerceptron(max_iter=3), VotedPerceptron(max_iter=3), SigmoidNeuron()):
        fitted = copy_of(model).fit(X, y)
        again = copy_of(model).partial_fit(X, y).fit(X, y)
        assert again.coef_.tobytes() == fitted.coef_.tobytes()
        assert again.history_ == fitted.history_


def test_the_labels_are_those_of_the_first_call():
    X, y = data(2)
    model = BinaryPerceptron().partial_fit(X, y)
    with pytest.raises(LabelError, match=r"labels of the first call \(0, 1\), found 7; name all"):
        model.partial_fit(X[:1], [7])
    with pytest.raises(LabelError, match=r"the classes of the first call \(0, 1\), found 0, 1, 2"):
        model.partial_fit(X, y, classes=range(3))
    with pytest.raises(LabelError, match=r"found one class \(0\); add .* classes=..."):
        BinaryPerceptron().partial_fit(X[:1], [0])
    with pytest.raises(SeqtagError, match="X has 3 features, but BinaryPerceptron is expecting 4"):
        model.partial_fit(X[:, :3], y)
    with pytest.raises(SeqtagError, match="expected one label per vector, found 30 vectors, 1"):
        model.partial_fit(X, [1])
