"""What notebooks show of classifiers."""

from __future__ import annotations

import pytest

from seqtag import BinaryPerceptron, MulticlassPerceptron, SigmoidNeuron, VotedPerceptron
from tests.notebook import Shown


@pytest.mark.parametrize(
    "kind", [BinaryPerceptron, MulticlassPerceptron, SigmoidNeuron, VotedPerceptron]
)
def test_parameters_then_what_was_learnt(kind):
    model = kind(max_iter=7, feature_map="<i>")
    params = [[name, repr(value)] for name, value in model.get_params().items()]
    shown = Shown.of(model)
    assert shown.texts == [kind.__name__]
    assert shown.tables == [params]
    model.set_params(feature_map=None).fit([[0.0, 1.0], [1.0, 0.0]], ["<a>", "b"])
    facts = dict(Shown.of(model).tables[0])
    assert facts["max_iter"] == "7"
    assert (facts["classes"], facts["features"]) == ("<a>, b", "2")
    assert facts["passes"].startswith(str(model.n_iter_))
    assert facts["updates"] == str(model.n_updates_)


def test_of_many_classes_the_first():
    X = [[float(i == j) for j in range(12)] for i in range(12)]
    model = MulticlassPerceptron().fit(X, range(12))
    facts = dict(Shown.of(model).tables[0])
    assert facts["classes"] == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... (12)"
    assert facts["passes"].endswith(" (converged)")
