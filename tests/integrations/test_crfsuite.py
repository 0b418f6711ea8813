"""The tutorial of sklearn-crfsuite, on data of its shape, with either estimator."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")
sklearn_crfsuite = pytest.importorskip(
    "sklearn_crfsuite", reason="sklearn-crfsuite is not installed"
)

from sklearn.base import clone  # noqa: E402
from sklearn.metrics import make_scorer  # noqa: E402
from sklearn.model_selection import RandomizedSearchCV  # noqa: E402
from sklearn_crfsuite import metrics  # noqa: E402

from seqtag.integrations.sklearn import SequencePerceptron  # noqa: E402
from tests.sentences import dicts_of  # noqa: E402


def made_up(sentences, seed):
    """Sentences of (word, part of speech, label): persons follow titles, places "in"."""
    random = np.random.RandomState(seed)
    names = ["".join(random.choice(list("aeioklmnrst"), 5)).title() for _ in range(25)]
    found = []
    for _ in range(sentences):
        sentence = []
        for _ in range(random.randint(1, 4)):
            name, other = (str(random.choice(names)) for _ in range(2))
            if random.randint(2):
                sentence += [("Ms.", "NNP", "O"), (name, "NNP", "B-PER"), (other, "NNP", "I-PER")]
            else:
                sentence += [("in", "IN", "O"), (name, "NNP", "B-LOC"), (",", ",", "O")]
            sentence += [("saw", "VBD", "O"), (str(random.randint(99)), "CD", "O")]
        found.append(sentence)
    return found


def labels_of(sentences):
    return [[label for _, _, label in sent] for sent in sentences]


def features_of(sentences):
    return dicts_of([[token[:2] for token in sentence] for sentence in sentences])


TRAIN, TEST = made_up(60, 1), made_up(30, 2)
X_TRAIN, Y_TRAIN = features_of(TRAIN), labels_of(TRAIN)
X_TEST, Y_TEST = features_of(TEST), labels_of(TEST)

CRF = {"algorithm": "lbfgs", "c1": 0.1, "c2": 0.1, "max_iterations": 50}
BOTH = {
    "crfsuite": (sklearn_crfsuite.CRF(**CRF, all_possible_transitions=True), {"c1": [0.1, 1.0]}),
    "seqtag": (SequencePerceptron(), {"margin": [0.0, 1.0]}),
}


@pytest.mark.parametrize(("estimator", "space"), BOTH.values(), ids=BOTH)
def test_the_tutorial(estimator, space):
    crf = clone(estimator)
    crf.fit(X_TRAIN, Y_TRAIN)
    labels = list(crf.classes_)
    labels.remove("O")
    predicted = crf.predict(X_TEST)
    assert metrics.flat_f1_score(Y_TEST, predicted, average="weighted", labels=labels) > 0.95
    by_type = sorted(labels, key=lambda name: (name[1:], name[0]))
    report = metrics.flat_classification_report(Y_TEST, predicted, labels=by_type, digits=3)
    assert report.split()[4] == "B-LOC"
    scorer = make_scorer(metrics.flat_f1_score, average="weighted", labels=labels)
    search = RandomizedSearchCV(crf, space, cv=3, n_iter=2, scoring=scorer, error_score="raise")
    search.fit(X_TRAIN, Y_TRAIN)
    best = search.best_estimator_
    assert [*best.predict(X_TEST)[1]] == best.predict_single(X_TEST[1])
    likely = [pair for pair, _ in Counter(best.transition_features_).most_common(3)]
    assert ("B-PER", "I-PER") in likely or ("B-LOC", "O") in likely
    (name, label), weight = Counter(best.state_features_).most_common(1)[0]
    assert isinstance(name, str)
    assert label in best.classes_
    assert weight > 0
    again = pickle.loads(pickle.dumps(best))
    assert [*map(list, again.predict(X_TEST))] == [*map(list, best.predict(X_TEST))]


def test_attributes_and_labels_are_the_same():
    theirs = sklearn_crfsuite.CRF(algorithm="lbfgs", c1=0.0, c2=0.1, max_iterations=20)
    theirs.fit(X_TRAIN, Y_TRAIN)
    ours = SequencePerceptron(epochs=1).fit(X_TRAIN, Y_TRAIN)
    assert set(ours.attributes_) <= set(theirs.attributes_)
    never = set(theirs.attributes_) - set(ours.attributes_)
    values = {feature for sent in X_TRAIN for token in sent for feature in token.items()}
    assert all((name, True) not in values for name in never)  # those that are always False
    assert ours.classes_.tolist() == sorted(theirs.classes_)
    assert set(ours.transition_features_) <= {
        (a, b) for a in theirs.classes_ for b in theirs.classes_
    }
