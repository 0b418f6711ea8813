"""scikit-learn's own checks of what calls itself a classifier, all of them."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

from seqtag import BinaryPerceptron, MulticlassPerceptron, SigmoidNeuron, VotedPerceptron
from seqtag.errors import SeqtagError

pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn is not installed")

from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import KFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

ALL = [BinaryPerceptron, MulticlassPerceptron, VotedPerceptron, SigmoidNeuron]
VARIANTS = [
    BinaryPerceptron(average=True, shuffle=False, max_iter=10),
    MulticlassPerceptron(one_vs_all=True, max_iter=10),
]

with warnings.catch_warnings():
    # "does not inherit from BaseEstimator": seqtag does without scikit-learn
    warnings.simplefilter("ignore", UserWarning)
    each_check = parametrize_with_checks([*(kind(max_iter=20) for kind in ALL), *VARIANTS]).mark
    names, checks = each_check.args
    checks = list(checks)  # a generator in some versions, which pytest refuses


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(names, checks, **each_check.kwargs)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", ALL)
def test_what_was_not_fitted_raises_the_error_of_both(kind):
    with pytest.raises(NotFittedError) as error:
        kind().predict([[1.0]])
    assert isinstance(error.value, SeqtagError)
    again = pickle.loads(pickle.dumps(error.value))
    assert isinstance(again, NotFittedError)
    assert str(again) == str(error.value)


def test_a_column_of_labels_is_taken_with_a_warning():
    X = [[1.0], [-1.0]]
    with pytest.warns(DataConversionWarning, match=r"A column-vector y .*; write y.ravel\(\)"):
        model = BinaryPerceptron().fit(X, np.array([["a"], ["b"]]))
    assert model.predict(X).tolist() == ["a", "b"]


def test_a_rare_class_that_a_fold_was_not_trained_on_counts_as_wrong():
    X, y = [[1.0, 0], [0, 1], [1, 0], [0, 1], [1, 1]], ["a", "b", "a", "b", "rare"]
    scores = cross_val_score(MulticlassPerceptron(), X, y, cv=KFold(5), error_score="raise")
    assert scores.tolist() == [1, 1, 1, 1, 0]


def test_nothing_of_it_needs_scikit_learn():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import warnings; warnings.simplefilter('error')\n"
        "from seqtag import BinaryPerceptron\n"
        "try:\n    BinaryPerceptron().predict([[1.0]])\n"
        "except ValueError as error:\n    print(type(error).__name__)\n"
        "try:\n    BinaryPerceptron().fit([[1.0], [2.0]], [[0], [1]])\n"
        "except UserWarning as warning:\n    print(warning)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "SeqtagError",
        "A column-vector y was passed when a 1d array was expected; write y.ravel()",
    ]
