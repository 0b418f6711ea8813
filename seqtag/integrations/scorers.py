"""Scorers of sentences for scikit-learn's ``scoring=``: functions of estimator, X and y."""

from __future__ import annotations

from typing import Any

from seqtag.errors import LabelError
from seqtag.evaluation.report import evaluate
from seqtag.integrations.sentences import LABEL, check_lengths


def chunk_f1_scorer(estimator: Any, X: Any, y: Any) -> float:
    """F1 of chunks, as conlleval counts them: for ``scoring=``, of any estimator of sentences.

    Raises
    ------
    LabelError
        If the labels are no chunk labels.

    Examples
    --------
    >>> from seqtag.integrations.sklearn import SequencePerceptron
    >>> X, y = [["in", "Oslo"]], [["O", "B-LOC"]]
    >>> chunk_f1_scorer(SequencePerceptron().fit(X, y), X, y)
    1.0
    """
    check_lengths(X, y, "<X>")
    report = evaluate(map(list, y), map(list, estimator.predict(X)), task=LABEL)
    outside = all(gold == "O" for gold, _ in report.confusion)
    if report.scheme is None and not outside:
        label = next(gold for gold, _ in report.confusion if gold != "O")
        msg = (
            f"expected chunk labels such as B-NP, found labels like {label!r}; score them with "
            "token_accuracy_scorer"
        )
        raise LabelError(msg)
    return report.f1


def token_accuracy_scorer(estimator: Any, X: Any, y: Any) -> float:
    """Share of tokens with the right label: for ``scoring=``, of any estimator of sentences.

    Examples
    --------
    >>> from seqtag.integrations.sklearn import SequencePerceptron
    >>> X, y = [["in", "Oslo"]], [["ADP", "PROPN"]]
    >>> token_accuracy_scorer(SequencePerceptron(min_count=1).fit(X, y), X, y)
    1.0
    """
    check_lengths(X, y, "<X>")
    gold, predicted = map(list, y), map(list, estimator.predict(X))
    return evaluate(gold, predicted, scheme=None, task=LABEL).accuracy
