"""The classifiers on ordinary data: conventions, practice, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from seqtag import BinaryPerceptron, MulticlassPerceptron, SigmoidNeuron, VotedPerceptron
from seqtag.classifiers.losses import costs
from seqtag.errors import LabelError, SeqtagError

ALL = [BinaryPerceptron, MulticlassPerceptron, VotedPerceptron]
each = pytest.mark.parametrize("kind", ALL)


def blobs(n=200, d=3, K=2, noise=0.0, seed=0):
    random = np.random.RandomState(seed)
    X = random.normal(size=(n, d))
    y = (X @ random.normal(size=(d, K)) + noise * random.normal(size=(n, K))).argmax(axis=1)
    return X, y


# ----------------------------------------------------------------- conventions
@each
def test_labels_of_any_type(kind):
    X = [[2, 1], [1, 2], [-1, -2], [-2, -1]]
    for y in (["spam", "spam", "ham", "ham"], [True, True, False, False], [7, 7, -3, -3]):
        model = kind().fit(X, y)
        assert model.classes_.tolist() == sorted(set(y))
        assert model.predict(X).tolist() == y
        assert model.score(X, y) == 1.0
        assert model.converged_
        assert model.coef_.shape == (1, 2)
        assert model.intercept_.shape == (1,)
        assert model.decision_function(X).shape == (4,)


def test_scores_are_w_x_plus_b():
    X, y = blobs(K=3)
    model = MulticlassPerceptron(max_iter=20).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_.T + model.intercept_)
    assert model.coef_.shape == (3, 3)
    X, y = blobs()
    model = BinaryPerceptron(max_iter=20).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_)
    flat = BinaryPerceptron(max_iter=20, fit_intercept=False).fit(X, y)
    assert flat.intercept_.tolist() == [0.0]


@pytest.mark.parametrize("kind", [BinaryPerceptron, MulticlassPerceptron, SigmoidNeuron])
@pytest.mark.parametrize("labels", [["a", "b"], ["b", "a"]])
def test_ties_go_to_the_first_of_two_labels_as_of_three(kind, labels):
    model = kind(fit_intercept=False).fit([[1.0], [-1.0]], labels)
    assert model.decision_function([[0.0]]).tolist() == [0.0]
    assert model.predict([[0.0]]).tolist() == ["a"]
    three = MulticlassPerceptron(fit_intercept=False).fit([[1.0], [-1.0], [2.0]], [*labels, "c"])
    assert three.predict([[0.0]]).tolist() == ["a"]


@each
def test_parameters(kind):
    model = kind(max_iter=3)
    assert kind(**model.get_params()).get_params() == model.get_params()
    assert model.set_params(step=0.5) is model
    assert model.step == 0.5
    assert repr(model) == f"{kind.__name__}(max_iter=3, step=0.5)"
    with pytest.raises(
        SeqtagError, match=r"expected a parameter of \w+ \(.*step.*\), found 'speed'"
    ):
        model.set_params(speed=1)


@each
def test_the_same_seed_gives_the_same_weights(kind):
    X, y = blobs(noise=1.0)
    first, again, other = (kind(random_state=s, max_iter=5).fit(X, y) for s in (1, 1, 2))
    assert first.coef_.tobytes() == again.coef_.tobytes()
    assert first.coef_.tobytes() != other.coef_.tobytes()


# ----------------------------------------------------------------- practice
def test_a_fixed_order_by_label_learns_badly_and_shuffling_helps():
    """+++--- in that order: the last examples have the last word in every pass."""
    random = np.random.RandomState(0)
    X = 3 + np.concatenate([random.normal(1, 1, (200, 2)), random.normal(-1, 1, (200, 2))])
    y = np.repeat([1, -1], 200)
    fixed, shuffled = (
        BinaryPerceptron(shuffle=s, max_iter=5).fit(X, y).score(X, y) for s in (False, True)
    )
    assert fixed == 0.5  # it says -1 to everything
    assert shuffled > 0.8


def test_the_report_of_convergence():
    X, y = blobs()
    model = BinaryPerceptron(max_iter=1000).fit(X, y)
    assert model.converged_
    assert model.history_[-1] == 0
    assert sum(model.history_) == model.n_updates_ == len(model.mistakes_.example)
    assert len(model.history_) == model.n_iter_ < 1000
    X, y = blobs(noise=2.0)
    model = BinaryPerceptron(max_iter=4).fit(X, y)
    assert (model.converged_, model.n_iter_) == (False, 4)


def test_a_cost_is_a_margin():
    """With costs of 2 a mistake is y a <= 1: training then brings the hinge loss to zero."""
    X = [[1.0], [-1.0]]
    quarter = {"cost": costs(2, 2), "step": 0.25, "fit_intercept": False}
    model = BinaryPerceptron(max_iter=50, **quarter).fit(X, [1, -1])
    assert model.converged_
    assert model.coef_.tolist() == [[1.25]]  # 0.25 a time, the first above 1
    ties = BinaryPerceptron(ties_are_mistakes=False, **quarter)
    assert ties.fit(X, [1, -1]).coef_.tolist() == [[1.25]]  # at 1.0 the tie of x = 1 goes to -1
    assert ties.fit([[2.0], [-1.0]], [1, -1]).coef_.tolist() == [[1.0]]


def test_one_against_all_is_k_binary_perceptrons():
    X, y = blobs(K=3)
    model = MulticlassPerceptron(one_vs_all=True, max_iter=6).fit(X, y)
    for k in range(3):
        one = BinaryPerceptron(max_iter=6).fit(X, y == k)
        np.testing.assert_array_equal(model.coef_[k], one.coef_[0])
    assert model.score(X, y) > 0.8
    assert model.n_iter_ <= 6
    assert model.n_updates_ > 0
    assert not hasattr(model, "mistakes_")
    with pytest.raises(SeqtagError, match="found K separate runs"):
        model.trajectory(X)
    with pytest.raises(SeqtagError, match="expected no cost with one_vs_all=True"):
        model.set_params(cost=costs(3, 1)).fit(X, y)
    again = MulticlassPerceptron(max_iter=6).fit(X, y)
    again.set_params(one_vs_all=True).fit(X, y)
    assert not hasattr(again, "mistakes_")  # those were of the earlier fit
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_an_interrupted_fit_says_so(monkeypatch):
    def interrupt(n, seed, run, epoch):
        if epoch == 2:
            raise KeyboardInterrupt
        return np.arange(n, dtype=np.int64)

    monkeypatch.setattr("seqtag.classifiers.perceptrons.visiting_order", interrupt)
    with pytest.raises(KeyboardInterrupt):
        BinaryPerceptron().fit([[1.0], [2.0]], [0, 1])


# ----------------------------------------------------------------- labels that y does not show
def test_data_of_one_class_are_learnt_if_the_other_is_named():
    X, y = [[2, 4], [-6, 1]], ["-", "-"]
    for kind in ALL:
        model = kind(fit_intercept=False, shuffle=False, max_iter=1).fit(X, y, classes=["-", "+"])
        assert model.classes_.tolist() == ["+", "-"]  # ascending, as ever
        assert model.coef_.tolist() == [[-4, 5]]  # of "-", the second
    neuron = SigmoidNeuron(max_iter=500).fit(X, y, classes=["-", "+"])
    assert neuron.predict(X).tolist() == y


def test_a_label_without_examples_takes_part_in_the_choice():
    X, y = [[1.0, 0], [0, 1], [-1, -1]], [0, 2, 0]
    model = MulticlassPerceptron(one_vs_all=False).fit(X, y, classes=range(4))
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.coef_.shape == (4, 2)
    assert model.score(X, y) == 1.0
    apart = MulticlassPerceptron(one_vs_all=True).fit(X, y, classes=range(4))
    assert apart.coef_.shape == (4, 2)


def test_classes_must_name_all_labels_and_more_than_one():
    with pytest.raises(LabelError, match=r"that classes names \(0, 1\), found 2; name them too"):
        MulticlassPerceptron().fit([[1], [2]], [0, 2], classes=[0, 1])
    with pytest.raises(
        LabelError, match=r"found one class \(0\); add examples of another, or name both"
    ):
        BinaryPerceptron().fit([[1], [2]], [0, 0], classes=[0])
    with pytest.raises(LabelError, match="expected labels of one type, found a mixture"):
        BinaryPerceptron().fit([[1], [2]], [0, 1], classes=np.array([0, "a"], object))


# ----------------------------------------------------------------- feature maps


def test_no_and_excellent_needs_a_product():
    """Alone each word is good news (no trouble, excellent); together they are bad."""
    X = [{"excellent": 1}, {"no": 1}, {"no": 1, "excellent": 1}, {}]
    y = ["+", "+", "-", "-"]
    assert not BinaryPerceptron(max_iter=500).fit(X, y).converged_
    model = BinaryPerceptron(max_iter=500, feature_map="product").fit(X, y)
    assert model.converged_
    assert model.feature_names_ == ["excellent", "excellent & no", "no"]
    assert model.classes_[1] == "-"
    assert model.coef_[0, 1] > 0
    assert model.predict([{"no": 1, "excellent": 1, "unheard of": 3}]).tolist() == ["-"]


# ----------------------------------------------------------------- what they refuse
X2, Y2 = [[1.0, 0], [0, 1]], [0, 1]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (X2, [1, 1], "expected at least two labels, found one class (1); add examples of"),
        (X2, [0], "expected one label per vector, found 2 vectors, 1 labels"),
        (X2, [[0, 1], [1, 0]], "expected y of shape (2,), found shape (2, 2); use y.ravel()"),
        (X2, None, "expected labels, found None: learning requires y to be passed, but"),
        (X2, [0.5, 1.0], "found numbers with a fraction such as 0.5: a continuous y is for"),
        (X2, [0.0, np.nan], "found NaN or infinity among them"),
        (X2, np.array([1, "a"], object), "expected labels of one type, found a mixture"),
        ([[1, 0], [0, 1], [1, 1]], [0, 1, 2], "expected two labels, found 3 (0, 1, 2). Only"),
    ],
)
def test_fit_refuses(X, y, message):
    with pytest.raises(SeqtagError) as error:
        BinaryPerceptron().fit(X, y)
    assert message in str(error.value)


@pytest.mark.parametrize("changes", [{"step": 0}, {"max_iter": 0}, {"step": np.nan}])
def test_parameters_that_cannot_work(changes):
    with pytest.raises(SeqtagError, match="expected step > 0, max_iter >= 1; found"):
        BinaryPerceptron(**changes).fit(X2, Y2)


@pytest.mark.parametrize("cost", [[[0, 1]], [[1, 0], [0, 1]], [[0, np.inf], [1, 0]]])
def test_costs_that_make_no_sense(cost):
    with pytest.raises(SeqtagError, match=r"expected cost as finite numbers of shape \(2, 2\)"):
        BinaryPerceptron(cost=cost).fit(X2, Y2)


@each
def test_labels_never_seen_and_models_never_fitted(kind):
    model = kind()
    for call in (
        lambda: model.predict(X2),
        lambda: model.score(X2, Y2),
        lambda: model.trajectory(X2),
    ):
        with pytest.raises(
            SeqtagError, match=r"expected a fitted \w+, found one without weights; call fit"
        ):
            call()
    with pytest.raises(AttributeError, match=r"has no weights yet; call fit\(X, y\) first"):
        _ = model.coef_
    model.fit(X2, Y2)
    first = float(model.predict(X2[:1])[0] == 0)
    assert model.score(X2, [0, 7]) == first / 2  # as scikit-learn has it
    with pytest.raises(
        SeqtagError, match=r"X has 3 features, but \w+ is expecting 2 features as input"
    ):
        model.predict([[1, 2, 3]])
    with pytest.raises(SeqtagError, match="expected at least one vector to score, found none"):
        model.score(np.zeros((0, 2)), [])
    assert model.predict(np.zeros((0, 2))).tolist() == []
