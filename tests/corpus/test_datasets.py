"""Tables of Hugging Face datasets: class numbers become names, in training and tagging."""

from __future__ import annotations

import pytest

import seqtag
from seqtag.corpus.datasets import with_names
from seqtag.errors import CorpusError

datasets = pytest.importorskip("datasets", reason="needs datasets")

WORDS = [["Anna", "lives", "in", "Rome"], [], ["She", "lives"]]
POS = ["NNP", "VBZ", "IN", "PRP"]
NAMES = ["O", "B-PER", "B-LOC"]


@pytest.fixture(scope="module")
def table():
    rows = {
        "id": ["1", "2", "3"],
        "tokens": WORDS,
        "pos": [[0, 1, 2, 0], [], [3, 1]],
        "ner": [[1, 0, 0, 2], [], [0, 0]],
    }
    features = {
        "id": datasets.Value("string"),
        "tokens": datasets.Sequence(datasets.Value("string")),
        "pos": datasets.Sequence(datasets.ClassLabel(names=POS)),
        "ner": datasets.Sequence(datasets.ClassLabel(names=NAMES)),
    }
    return datasets.Dataset.from_dict(rows, features=datasets.Features(features))


GOLD = [["B-PER", "O", "O", "B-LOC"], [], ["O", "O"]]
SMALL = {"epochs": 5, "min_count": 1}


def test_columns_train_a_tagger(table):
    tagger = seqtag.train(table["tokens"], table["ner"], dev=(table["tokens"], table["ner"]))
    assert tagger.tag_many(table["tokens"]) == GOLD
    assert tagger.labels == tuple(sorted(NAMES))


def test_a_table_trains_a_tagger_that_reads_its_columns(table):
    tagger = seqtag.train(table, label="ner", templates="chunk", dev=table, **SMALL)
    assert tagger.columns == ("form", "pos")
    assert tagger.tag_many(table) == GOLD
    assert seqtag.score(tagger, table).accuracy == 1
    assert seqtag.train(table).label == "ner"
    streamed = table.to_iterable_dataset()
    assert seqtag.train(streamed, label="pos", **SMALL).tag_many(streamed)[2] == ["PRP", "VBZ"]


def test_words_without_a_label(table):
    features = table.features
    rows = [{"id": "1", "tokens": ["Anna", "ran"], "pos": [0, 1], "ner": [1, -1]}]
    rows += [{"id": "2", "tokens": ["Rome", "is"], "pos": [0, 1], "ner": None}]
    partly = datasets.Dataset.from_list(rows, features=features)
    tagger = seqtag.train(partly, label="ner", unlabeled="learn_around", **SMALL)
    assert tagger.tag_many(partly)[0][0] == "B-PER"


def test_the_estimator_takes_columns(table):
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    from seqtag.integrations.sklearn import SequencePerceptron, chunk_f1_scorer

    X, y = table["tokens"], table["ner"]
    model = SequencePerceptron(**SMALL).fit(X, y)
    assert model.predict(X).tolist() == GOLD
    assert model.score(X, y) == chunk_f1_scorer(model, X, y) == 1.0


def test_what_is_refused(table):
    with pytest.raises(CorpusError, match="expected a class number below 2, found 5"):
        with_names([5], ["a", "b"])
    with pytest.raises(CorpusError, match="expected a column of words, form or tokens or words, f"):
        seqtag.train(table.remove_columns("tokens"))
