"""SequencePerceptron.partial_fit: pieces in their order are one epoch over the whole."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from seqtag.errors import CorpusError, LabelError
from tests.strategies import each_backend, install

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from seqtag.integrations.items import ItemTagger
from seqtag.integrations.sklearn import SequencePerceptron


def made_up(sentences=40, seed=0):
    random = np.random.RandomState(seed)
    X, y = [], []
    for _ in range(sentences):
        tokens = [
            (str(random.choice(["ona", "rell", "tiv", "sab"])), str(random.choice(["p", "q"])))
            for _ in range(random.randint(1, 7))
        ]
        X.append(tokens)
        y.append([pos.upper() + word[0] for word, pos in tokens])
    return X, y


TUPLES, Y = made_up()
DATA = {
    "tuples": TUPLES,
    "words": [[word + pos for word, pos in sentence] for sentence in TUPLES],
    "dicts": [[{"w": word, "p": [pos]} for word, pos in sentence] for sentence in TUPLES],
    "values": [
        [{"w": word, "n": i / 2 - 1, pos: 0.25} for i, (word, pos) in enumerate(sentence)]
        for sentence in TUPLES
    ],
}
CLASSES = sorted({label for labels in Y for label in labels})
every_kind = pytest.mark.parametrize("X", DATA.values(), ids=DATA)


def learn(model, X, y, cuts=(1, 2, 11), classes=CLASSES):
    for a, b in pairwise([0, *cuts, len(X)]):
        assert model.partial_fit(X[a:b], y[a:b], classes=classes) is model
    return model


def check_same(one, other, X):
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.predict(X).tolist() == other.predict(X).tolist()
    if isinstance(one.tagger_, ItemTagger):
        for ours, theirs in zip(one.tagger_.cells, other.tagger_.cells, strict=True):
            assert ours.tobytes() == theirs.tobytes()
        assert one.attributes_ == other.attributes_
        return
    ours, theirs = one.tagger_.model.weights, other.tagger_.model.weights
    assert ours.unit == theirs.unit
    for part in range(3):
        for a, b in zip(ours[part], theirs[part], strict=True):
            assert a.tobytes() == b.tobytes()
    for part in range(3, 6):
        assert ours[part].tobytes() == theirs[part].tobytes()


@each_backend
@every_kind
@pytest.mark.parametrize(
    "how",
    [{}, {"update": "perceptron", "margin": 0.0}, {"update": "pa", "step": 0.3, "order": 2}],
    ids=str,
)
def test_pieces_are_the_whole(X, how, backend, monkeypatch):
    install(backend, monkeypatch)
    if backend.name == "reference":
        X = X[:8]
    y = Y[: len(X)]
    whole = SequencePerceptron(
        shuffle=False, epochs=1, min_count=1, encoding="keep", dropout=0.0, **how
    ).fit(X, y)
    online = learn(SequencePerceptron(**how), X, y, (1, 2, 5), whole.classes_.tolist())
    check_same(online, whole, X)
    assert whole.score(X, y) > 0.2


@every_kind
def test_asking_and_pickling_between_pieces_change_nothing(X):
    straight = learn(SequencePerceptron(), X, Y)
    model = SequencePerceptron()
    for a, b in pairwise([0, 3, 20, 40]):
        model = pickle.loads(pickle.dumps(model.partial_fit(X[a:b], Y[a:b], classes=CLASSES)))
        model.predict(X[:2])
    check_same(model, straight, X)


@every_kind
def test_learning_goes_on(X):
    model = learn(SequencePerceptron(), X[:5], Y[:5], (2,))
    before = model.score(X, Y)
    for _ in range(3):
        model.partial_fit(X, Y)
    after = model.score(X, Y)
    assert after > before
    assert model.partial_fit([], []).score(X, Y) == after
    assert SequencePerceptron(epochs=2).fit(X, Y).get_params() != model.get_params()


@every_kind
def test_it_goes_on_from_a_fit(X):
    model = SequencePerceptron(epochs=3, min_count=1).fit(X[:10], Y[:10])
    begun = model.score(X, Y)
    known = set(model.classes_)
    more = [i for i, labels in enumerate(Y) if known.issuperset(labels)]
    for _ in range(2):
        model.partial_fit([X[i] for i in more], [Y[i] for i in more])
    assert model.score(X, Y) >= begun
    assert set(model.classes_) == known
    fresh = SequencePerceptron(epochs=3, min_count=1).fit(X[:10], Y[:10])
    again = model.fit(X[:10], Y[:10])
    assert again.predict(X).tolist() == fresh.predict(X).tolist()


def test_a_tagger_from_a_fit_takes_new_labels():
    X, model = DATA["words"], SequencePerceptron(epochs=2, min_count=1)
    model.fit(X, Y).partial_fit([["zorb"]], [["NEW"]])
    assert model.classes_.tolist() == sorted([*CLASSES, "NEW"])
    assert model.predict([["zorb"]]).tolist() == [["NEW"]]


def test_edges_and_label_parts():
    from seqtag.features.language import parse

    own = parse("form[0]\npos[0]\nlabel[-1] + form[0]\nlabel[-1]")
    labels = [[f"X|{name}" for name in sentence] for sentence in Y]
    how = {"templates": own, "label_parts": "split"}
    whole = SequencePerceptron(shuffle=False, epochs=1, **how).fit(TUPLES, labels)
    online = learn(SequencePerceptron(**how), TUPLES, labels, classes=whole.classes_.tolist())
    check_same(online, whole, TUPLES)
    dicts = SequencePerceptron(shuffle=False, epochs=1, label_parts="split")
    whole = dicts.fit(DATA["dicts"], labels)
    online = learn(
        SequencePerceptron(label_parts="split"), DATA["dicts"], labels, classes=whole.classes_
    )
    check_same(online, whole, DATA["dicts"])


def test_chunk_labels_stay_valid():
    X = [["a", "b", "b"], ["b", "a"], ["c"]]
    y = [["B-X", "I-X", "O"], ["O", "B-X"], ["B-Y"]]
    for kind in (X, [[{"w": word} for word in words] for words in X]):
        model = SequencePerceptron()
        for _ in range(5):
            for words, labels in zip(kind, y, strict=True):
                model.partial_fit([words], [labels], classes=["B-X", "B-Y", "I-X", "I-Y", "O"])
        assert model.predict(kind).tolist() == y
        assert model.tagger_.label_scheme == "iob2"
        noise = [kind[0] * 3, kind[1] * 4]
        assert model.report(noise, model.predict(noise)).invalid_predicted == 0


@pytest.mark.parametrize("kind", ["words", "dicts"])
def test_the_labels_are_those_of_the_first_call(kind):
    X = DATA[kind]
    model = SequencePerceptron().partial_fit(X[:2], Y[:2], classes=["A", *CLASSES])
    model.partial_fit(X, Y)
    with pytest.raises(LabelError, match=r"of the first call \(A, .*, \.\.\.\), found 'new'; name"):
        model.partial_fit([X[0][:1]], [["new"]])
    with pytest.raises(LabelError, match=r"expected the classes of the first call \(A, .*found B;"):
        model.partial_fit(X, Y, classes=["B"])
    with pytest.raises(LabelError, match=r"labels of the first call \(A\), found '\w+'; name all"):
        SequencePerceptron().partial_fit(X, Y, classes=["A"])
    with pytest.raises(
        LabelError, match=r'expected encoding="keep" to learn online, .*found .iobes'
    ):
        SequencePerceptron(encoding="iobes").partial_fit(X, Y)
    with pytest.raises(CorpusError, match=r"expected a (word for every token|feature dict)"):
        model.partial_fit(DATA["words" if kind == "dicts" else "dicts"], Y)
