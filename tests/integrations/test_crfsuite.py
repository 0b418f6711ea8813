"""Feature dicts are read as sklearn-crfsuite reads them; its tutorial is run by a page."""

from __future__ import annotations

import pytest

from tests.sentences import dicts_of, made_up

pytest.importorskip("sklearn", reason="scikit-learn is not installed")
sklearn_crfsuite = pytest.importorskip(
    "sklearn_crfsuite", reason="sklearn-crfsuite is not installed"
)

from seqtag.integrations.sklearn import SequencePerceptron  # noqa: E402


def test_attributes_and_labels_are_the_same():
    tuples, y = made_up()
    X = dicts_of(tuples)
    theirs = sklearn_crfsuite.CRF(algorithm="lbfgs", c1=0.0, c2=0.1, max_iterations=20).fit(X, y)
    ours = SequencePerceptron(epochs=1).fit(X, y)
    assert set(ours.attributes_) <= set(theirs.attributes_)
    never = set(theirs.attributes_) - set(ours.attributes_)
    values = {feature for sentence in X for token in sentence for feature in token.items()}
    assert all((name, True) not in values for name in never)  # those that are always False
    assert ours.classes_ == sorted(theirs.classes_)
    assert {*ours.transition_features_} <= {(a, b) for a in ours.classes_ for b in ours.classes_}
