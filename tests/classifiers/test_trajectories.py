"""Binary = multiclass = structured: every intermediate w, against loops from the textbooks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import seqtag
from seqtag import BinaryPerceptron, MulticlassPerceptron, VotedPerceptron
from seqtag.corpus import sentence_of
from seqtag.features.language import parse
from tests.strategies import each_backend, install

PLAIN = {"shuffle": False, "fit_intercept": False}


# ----------------------------------------------------------------- the textbooks
def rosenblatt(X, y, passes, ties_are_mistakes, step=1.0, cost=None, until_right=True, zero=-1):
    """Every w of the binary perceptron, and how many examples each survived; y is -1 or +1.

    `zero` is sign(0); `cost` is what each kind of mistake costs, by label.
    """
    w = np.zeros(X.shape[1])
    trajectory, survival = [w.copy()], [0]
    for _ in range(passes):
        mistakes = 0
        for x, label in zip(X, y, strict=True):
            a = sum(w[j] * x[j] for j in range(len(x)))
            if cost is not None:  # the scores of the two labels are -a and a
                lead = 2 * label * a - cost[label]
                wrong = lead < 0 or (lead == 0 and (ties_are_mistakes or label != zero))
            else:
                sign = zero if a == 0 else np.sign(a)
                wrong = label * a <= 0 if ties_are_mistakes else sign != label
            if wrong:
                w = w + step * label * x
                trajectory.append(w.copy())
                survival.append(0)
                mistakes += 1
            survival[-1] += 1
        if not mistakes and until_right:
            break
    return np.array(trajectory), np.array(survival)


def per_class(X, y, K, passes, ties_are_mistakes, cost=None):
    """Every W (K, d) of the multiclass perceptron with one vector per class."""
    cost = np.zeros((K, K)) if cost is None else cost
    W = np.zeros((K, X.shape[1]))
    trajectory = [W.copy()]
    for _ in range(passes):
        before = len(trajectory)
        for x, label in zip(X, y, strict=True):
            scores = [float(sum(W[k] * x)) + cost[label, k] for k in range(K)]
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


def joint_features(X, K):
    """phi(x, k) of every vector and label, (n, K, K d): x in block k, zeros elsewhere."""
    return np.array([[np.kron(np.eye(K)[k], x) for k in range(K)] for x in np.asarray(X, float)])


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


@pytest.fixture(scope="module", params=each_backend.args[1])
def on(request):
    """Each backend; not for each function, so that hypothesis can try examples."""
    with pytest.MonkeyPatch.context() as patch:
        install(request.param, patch)
        yield


# ----------------------------------------------------------------- 1: binary
@pytest.mark.usefixtures("on")
@pytest.mark.parametrize("ties", [True, False])
@given(data(), st.sampled_from([1.0, 0.5]))
def test_the_binary_perceptron_is_rosenblatts(ties, sample, step):
    X, y = sample
    model = BinaryPerceptron(ties_are_mistakes=ties, max_iter=6, step=step, **PLAIN).fit(X, y)
    expected, _ = rosenblatt(X, 2 * y - 1, 6, ties, step)
    np.testing.assert_array_equal(model.trajectory(X), expected)
    np.testing.assert_array_equal(model.coef_[0], expected[-1])
    assert model.n_updates_ == len(expected) - 1


@pytest.mark.usefixtures("on")
@given(data())
def test_a_book_whose_sign_of_zero_is_plus_one_has_its_labels_swapped(sample):
    X, y = sample
    model = BinaryPerceptron(ties_are_mistakes=False, max_iter=6, **PLAIN).fit(X, 1 - y)
    expected, _ = rosenblatt(X, 2 * y - 1, 6, False, zero=1)
    np.testing.assert_array_equal(-model.trajectory(X), expected)
    np.testing.assert_array_equal(1 - model.predict(X), X @ expected[-1] >= 0)


# ----------------------------------------------------------------- costs
@pytest.mark.usefixtures("on")
@pytest.mark.parametrize("ties", [True, False])
@given(data(), data(K=3), arrays(np.int64, (3, 3), elements=st.integers(0, 9)))
def test_a_cost_means_the_same_for_two_labels_and_for_three(ties, two, three, cost):
    """Binary, multiclass with two labels, and the books' loops for two and for any number."""
    cost = cost * (1 - np.eye(3))
    settings = {"ties_are_mistakes": ties, "max_iter": 5, **PLAIN}
    X, y = two
    binary, multi = (
        kind(cost=cost[:2, :2], **settings).fit(X, y)
        for kind in (BinaryPerceptron, MulticlassPerceptron)
    )
    by_label = {-1: cost[0, 1], 1: cost[1, 0]}
    expected, _ = rosenblatt(X, 2 * y - 1, 5, ties, cost=by_label)
    np.testing.assert_array_equal(binary.trajectory(X), expected)
    np.testing.assert_array_equal(multi.trajectory(X), expected)
    rows = per_class(X, y, 2, 5, ties, cost)
    np.testing.assert_array_equal(multi.trajectory(X), rows[:, 1])
    X, y = three
    model = MulticlassPerceptron(cost=cost, **settings).fit(X, y)
    np.testing.assert_array_equal(model.trajectory(X), per_class(X, y, 3, 5, ties, cost))


# ----------------------------------------------------------------- all passes
@pytest.mark.usefixtures("on")
@given(data())
def test_all_passes_are_made_where_asked_for(sample):
    """The books' averaged perceptron makes every pass, also those that change nothing."""
    X, y = sample
    whole = {"max_iter": 7, "until_converged": False, **PLAIN}
    w, survival = rosenblatt(X, 2 * y - 1, 7, True, until_right=False)
    assert survival.sum() == 7 * len(X)
    mean = BinaryPerceptron(average=True, **whole).fit(X, y)
    np.testing.assert_allclose(mean.coef_[0], survival @ w / survival.sum(), atol=1e-12)
    assert (mean.n_iter_, len(mean.history_)) == (7, 7)
    assert mean.converged_ == (mean.history_[-1] == 0)
    voted = VotedPerceptron(**whole).fit(X, y)
    assert voted.survival_.tolist() == survival.tolist()
    shorter = BinaryPerceptron(max_iter=7, **PLAIN).fit(X, y)
    np.testing.assert_array_equal(shorter.trajectory(X), mean.trajectory(X))


# ----------------------------------------------------------------- 1 = 2, 2 = 2
@pytest.mark.usefixtures("on")
@pytest.mark.parametrize("ties", [True, False])
@given(data(K=3))
def test_multiclass_is_one_vector_per_class(ties, sample):
    X, y = sample
    model = MulticlassPerceptron(ties_are_mistakes=ties, max_iter=4, **PLAIN).fit(X, y)
    expected = per_class(X, y, 3, 4, ties)
    np.testing.assert_array_equal(model.trajectory(X), expected)
    np.testing.assert_array_equal(model.coef_, expected[-1])


@given(data(K=3))
def test_one_vector_per_class_is_the_single_vector(sample):
    X, y = sample
    model = MulticlassPerceptron(ties_are_mistakes=False, max_iter=4, **PLAIN).fit(X, y)
    rows = model.trajectory(X)
    np.testing.assert_array_equal(rows.reshape(len(rows), -1), single_vector(X, y, 3, 4))
    np.testing.assert_array_equal(
        joint_features(X, 3) @ model.coef_.ravel(), model.decision_function(X)
    )


@pytest.mark.usefixtures("on")
@pytest.mark.parametrize("ties", [True, False])
@given(data())
def test_multiclass_with_two_labels_is_the_binary_perceptron(ties, sample):
    X, y = sample
    binary, multi = (
        kind(ties_are_mistakes=ties, max_iter=5).fit(X, y)
        for kind in (BinaryPerceptron, MulticlassPerceptron)
    )
    np.testing.assert_array_equal(binary.trajectory(X), multi.trajectory(X))
    np.testing.assert_array_equal(binary.predict(X), multi.predict(X))
    np.testing.assert_array_equal(binary.coef_, multi.coef_)


# ----------------------------------------------------------------- 2 = 5


def test_a_tagger_of_one_word_sentences_without_label_features_is_the_multiclass_one(sample_dir):
    """The same seed: the same order, the same updates in every pass, the same weights."""

    def features(word):
        return {"form": word} | ({"suffix": word[-2:].lower()} if len(word) > 1 else {})

    def words(part):
        text = seqtag.read(sample_dir / f"en-sample-{part}.conllu")
        return [pair for s in text for pair in zip(s.words, s.column("upos"), strict=True)]

    pairs, updates = words("train"), []
    tagger = seqtag.train(
        [sentence_of({"form": [word], "upos": [label]}) for word, label in pairs],
        label="upos",
        templates=parse("form[0]\nsuffix(2)[0]"),
        update="perceptron",
        margin=0,
        min_count=1,
        epochs=3,
        seed=7,
        on_epoch=lambda epoch: updates.append(epoch.updates),
    )
    model = MulticlassPerceptron(
        ties_are_mistakes=False,
        average=True,
        until_converged=False,
        fit_intercept=False,
        max_iter=3,
        random_state=7,
    ).fit([features(word) for word, _ in pairs], [label for _, label in pairs])
    assert updates == [*model.history_]
    assert tagger.labels == tuple(model.classes_)
    whole = np.rint(model.coef_ / tagger.info["training"]["unit"])
    tensors = tagger.model.tensors()
    rows = np.split(tensors["emission.weights"], np.cumsum(tensors["emission.cells"])[:-1])
    kept = [column[column != 0] for column in whole.T if column.any()]
    assert sorted(row.tolist() for row in rows) == sorted(column.tolist() for column in kept)
    model._weights = whole  # a tagger decides by the rounded weights
    new = [word for word, _ in words("test")]
    expected = model.predict([features(word) for word in new])
    assert tagger.tag_many([[word] for word in new]) == [[label] for label in expected]


# ----------------------------------------------------------------- 3: the mean; 4: the votes
@pytest.mark.usefixtures("on")
@given(data())
def test_the_average_is_the_mean_of_w_after_each_example(sample):
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


@pytest.mark.usefixtures("on")
@pytest.mark.parametrize("ties", [True, False])
@given(data(), arrays(np.int64, (3, 3), elements=st.integers(-3, 3)))
def test_votes_are_those_of_every_stored_w(ties, sample, more):
    X, y = sample
    model = VotedPerceptron(ties_are_mistakes=ties, max_iter=4, **PLAIN).fit(X, y)
    w, survival = rosenblatt(X, 2 * y - 1, 4, ties)
    assert model.survival_.tolist() == survival.tolist()
    Z = np.concatenate([X, more[:, : X.shape[1]]])
    votes = np.where(Z @ w.T > 0, 1, -1) @ survival
    np.testing.assert_allclose(model.decision_function(Z), votes / survival.sum())
    np.testing.assert_array_equal(model.predict(Z), (votes > 0).astype(int))


def test_votes_in_several_blocks_are_the_same(monkeypatch):
    random = np.random.RandomState(0)
    X, y = random.randint(-3, 4, (60, 3)).astype(float), random.randint(0, 2, 60)
    model = VotedPerceptron(max_iter=5).fit(X, y)
    expected = model.decision_function(X)
    monkeypatch.setattr("seqtag.classifiers.perceptrons.Voters.BATCH", 7)
    np.testing.assert_allclose(model.decision_function(X), expected)
    w = model.trajectory(X)
    votes = np.where(np.c_[X, np.ones(60)] @ w.T > 0, 1, -1) @ model.survival_
    np.testing.assert_allclose(expected, votes / model.survival_.sum())
