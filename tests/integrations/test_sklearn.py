"""Sentences in scikit-learn: its tools on the estimator, as real as they are."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import seqtag
from seqtag.errors import (
    CorpusError,
    LabelError,
    SeqtagError,
    TemplateError,
    install_hint,
)
from seqtag.features.language import parse
from tests.sentences import dicts_of, made_up, words_of
from tests.strategies import each_backend, install

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from scipy.stats import uniform  # noqa: E402
from sklearn.base import clone, is_classifier  # noqa: E402
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError  # noqa: E402
from sklearn.experimental import enable_halving_search_cv  # noqa: E402, F401
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.utils import estimator_checks  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402

from seqtag.integrations.sklearn import (  # noqa: E402
    SequencePerceptron,
    chunk_f1_scorer,
    token_accuracy_scorer,
)

TUPLES, Y = made_up()
DATA = {"tuples": TUPLES, "words": words_of(TUPLES), "dicts": dicts_of(TUPLES)}
every_kind = pytest.mark.parametrize("X", DATA.values(), ids=DATA)


# ----------------------------------------------------------------- learning and labelling
@each_backend
@every_kind
def test_what_is_learnt_is_predicted(X, backend, monkeypatch):
    install(backend, monkeypatch)
    model = SequencePerceptron(epochs=5, min_count=1)
    assert model.fit(X, Y) is model
    predicted = model.predict(X)
    assert predicted.shape == (40,)
    assert predicted.dtype == object
    assert predicted.tolist() == Y
    assert model.classes_ == ["B-PER", "I-PER", "O"]
    assert model.score(X, Y) == 1.0
    assert model.report(X, Y).chunks.gold > 40
    assert model.predict_single(X[0]) == Y[0]


def test_classes_are_a_list_of_ones_own():
    model = SequencePerceptron(min_count=1).fit(words_of(TUPLES), Y)
    labels = model.classes_
    labels.remove("O")
    assert (labels.index("I-PER"), labels) == (1, ["B-PER", "I-PER"])
    assert model.classes_ == ["B-PER", "I-PER", "O"]
    check_is_fitted(model)


@pytest.mark.parametrize(("scale", "noted"), [(1, ""), (0.06, ""), (0.04, "1 features such as v")])
def test_small_numbers_are_noted(caplog, scale, noted):
    X = [[{"v": value * scale, "bias": 1} for value in (-1, 0.5, 1)]]
    SequencePerceptron().fit(X, [["A", "B", "B"]])
    assert caplog.text.partition("features")[0].endswith(noted.partition("features")[0])
    assert ("scale them to about 1" in caplog.text) == bool(noted)


def test_words_and_tuples_make_a_tagger(tmp_path):
    model = SequencePerceptron(templates="chunk", epochs=3).fit(TUPLES, Y)
    model.tagger_.save(tmp_path / "names.seqtag")
    assert seqtag.load(tmp_path / "names.seqtag").tag(TUPLES[0]) == Y[0]
    straight = seqtag.train(
        [
            seqtag.corpus.sentence_of(
                {"form": [w for w, _ in s], "pos": [p for _, p in s], "label": y}
            )
            for s, y in zip(TUPLES, Y, strict=True)
        ],
        label="label",
        templates="chunk",
        epochs=3,
    )
    straight.save(tmp_path / "straight.seqtag")
    twin = tmp_path / "straight.seqtag"
    assert twin.read_bytes() == (tmp_path / "names.seqtag").read_bytes()


def test_templates_are_the_preset_that_fits():
    made = {
        kind: SequencePerceptron(epochs=1).fit(DATA[kind], Y).tagger_
        for kind in ("tuples", "words")
    }
    assert made["tuples"].columns == ("form", "pos")
    assert "pos[-3]" in made["tuples"].info["templates"]  # of chunk
    assert "outline[-1] + outline[0] + outline[+1]" in made["words"].info["templates"]  # of ner


@pytest.mark.parametrize("order", [3, -1])
@pytest.mark.parametrize("kind", ["dicts", "words"])
def test_there_are_three_orders(order, kind):
    with pytest.raises(TemplateError, match=f"label order of 0, 1 or 2, found {order}"):
        SequencePerceptron(order=order, epochs=1).fit(DATA[kind], Y)


def test_columns_and_order():
    own = parse("word[0]\ntag[-1] + tag[0]\nlabel[-1]\nlabel[-2] + label[-1]")
    model = SequencePerceptron(templates=own, columns=["word", "tag"], order=1, epochs=2)
    tagger = model.fit(TUPLES, Y).tagger_
    assert tagger.columns == ("word", "tag")
    assert tagger.model.compiled.order == 1
    assert SequencePerceptron(order=0, epochs=2).fit(DATA["dicts"], Y).transition_features_ == {}
    single = [[(word,) for word in sentence] for sentence in DATA["words"]]
    model = SequencePerceptron(epochs=2)
    assert model.fit(single, Y).predict(DATA["words"]).tolist() == model.predict(single).tolist()


def test_real_values_count():
    """Only the size of a feature tells the labels apart."""
    random = np.random.RandomState(3)
    X = [[{"size": value, "bias": 1} for value in row] for row in random.uniform(-2, 2, (60, 4))]
    y = [["big" if token["size"] > 0.5 else "small" for token in sentence] for sentence in X]
    model = SequencePerceptron(order=0, epochs=30).fit(X, y)
    assert model.score(X, y) > 0.97
    assert model.attributes_ == ["size", "bias"]
    weights = model.state_features_
    assert weights["size", "big"] > 0 > weights["size", "small"]
    ones = [[{"size": 1, "bias": 1} for _ in sentence] for sentence in X]
    assert SequencePerceptron(order=0).fit(ones, y).score(ones, y) < 0.8


def test_features_may_be_lists_and_sets_and_be_nested():
    X = [
        [{"a": "x", "in": {"cities": ["no", "se"]}}, ["b", "c"], {"d"}],
        [{"a": "y", "in": {"cities": ["fi"]}}, ["b"], set()],
    ]
    y = [["A", "B", "D"], ["E", "B", "B"]]
    model = SequencePerceptron(epochs=10).fit(X, y)
    assert model.predict(X).tolist() == y
    assert {"a:x", "in:cities:no", "b", "d"} <= {*model.attributes_}
    assert model.predict([[{"never": "seen"}, []], []]).tolist()[1] == []
    assert {label for _, label in model.state_features_} <= {"A", "B", "D", "E"}
    assert all(isinstance(weight, float) for weight in model.transition_features_.values())


def test_chunk_labels_of_dicts_are_valid_and_may_be_learnt_as_iobes():
    X = [[{"w": word} for word in words] for words in ("aab", "ba", "aaa")]
    y = [["B-X", "I-X", "O"], ["O", "B-X"], ["B-X", "B-X", "I-X"]]
    noise = [[{"w": word} for word in words] for words in ("bab", "abab", "aabb")]
    model = SequencePerceptron(encoding="iobes").fit(X, y)
    assert model.classes_ == ["B-X", "I-X", "O"]
    assert ("E-X", "O") in model.transition_features_
    assert model.tagger_.label_scheme == "iob2"
    for each in (model, SequencePerceptron().fit(X, y)):
        report = each.report(noise, each.predict(noise))
        assert report.invalid_predicted == 0
    free = SequencePerceptron(constrain=False, order=0).fit(X[2:], y[2:])
    assert free.predict(X[2:]).tolist() != y[2:]


@pytest.mark.parametrize("as_dicts", [False, True])
def test_labels_that_y_lacks_where_chunks_touch_are_classes(as_dicts):
    """In IOB1, B- marks only a chunk that touches another one of its type."""
    words = [["in", "New", "York"], ["Paris", "calls"], ["in", "Rome"]] * 4
    y = [["O", "I-LOC", "I-LOC"], ["I-LOC", "O"], ["O", "I-LOC"]] * 4
    new = [["in", "Paris", "Rome"], ["New", "York", "Paris"]]
    if as_dicts:
        words, new = ([[{"w": w} for w in words] for words in X] for X in (words, new))
    model = SequencePerceptron(min_count=1, encoding="iobes", templates=None).fit(words, y)
    assert model.classes_ == ["B-LOC", "I-LOC", "O"]
    assert model.tagger_.label_scheme == "iob1"
    found = model.predict(new).tolist()
    assert "B-LOC" in found[0]
    scores = model.calibrate(words, y).predict_marginals(new)
    for labels, sentence in zip(found, scores, strict=True):
        assert [max(each, key=each.get) for each in sentence] == labels
    york = model.predict_marginals(words)[0][1]  # the first of two words, learned as B-LOC
    assert york["I-LOC"] > 0.8


@every_kind
def test_gold_labels_of_another_tag_set_are_refused(X):
    """As by the commands: to count each as wrong would say nothing."""
    other = [["x" + label for label in labels] for labels in Y]
    model = SequencePerceptron(epochs=1).fit(X, Y)
    message = r"expected (labels of the model, such as|chunk labels as the model writes them)"
    for call in (lambda: model.calibrate(X, other), lambda: model.fit(X, Y, X, other)):
        with pytest.raises(LabelError, match=message):
            call()


def test_label_parts_of_dicts():
    X = [[{"w": word} for word in "abcd"]]
    y = [["N|Num=Sg", "N|Num=Pl", "V|Num=Sg", "V|Num=Pl"]]
    model = SequencePerceptron(label_parts="split").fit(X, y)
    assert model.predict(X).tolist() == y
    assert {part for _, part in model.state_features_} <= {"N", "V", "Num=Sg", "Num=Pl"}
    scores = model.calibrate(X, y).predict_marginals(X)[0]
    assert [max(each, key=each.get) for each in scores] == y[0]


def test_rare_features_are_left_out():
    X = [[{"w": "a", "id": "1"}], [{"w": "a", "id": "2", "n": 2}], [{"n": 3}]]
    model = SequencePerceptron(min_count=2, dropout="auto").fit(X, [["A"], ["A"], ["B"]])
    assert model.attributes_ == ["w:a", "n"]
    assert model.predict(X).tolist() == [["A"], ["A"], ["B"]]


@every_kind
def test_the_best_epoch_on_the_dev_set_is_kept(X):
    flipped = [["O" for _ in labels] for labels in Y]  # nothing to find: the first epoch is best
    model = SequencePerceptron(epochs=6, patience=2).fit(X, Y, X, Y)
    assert model.score(X, Y) == 1.0
    first = SequencePerceptron(epochs=6, patience=1).fit(X, Y, X_dev=X, y_dev=flipped)
    one = SequencePerceptron(epochs=1).fit(X, Y)
    assert first.predict(X).tolist() == one.predict(X).tolist()


@pytest.mark.parametrize("half", ["X_dev", "y_dev"])
def test_half_of_a_dev_set_is_refused(half):
    missing = "y" if half == "X_dev" else "X"
    with pytest.raises(CorpusError, match=f"<X_dev>: expected {missing} as a list of sentences"):
        SequencePerceptron().fit(DATA["words"], Y, **{half: Y})


def test_the_seed_and_the_order_decide():
    X, y = DATA["dicts"], Y

    def weights(**how):
        return SequencePerceptron(epochs=2, **how).fit(X, y).state_features_

    assert weights(random_state=1) == weights(random_state=1) != weights(random_state=2)
    assert weights(shuffle=False, random_state=1) == weights(shuffle=False, random_state=2)
    assert weights(random_state=np.random.RandomState(1)) != weights(random_state=1)


def test_sentences_without_tokens():
    for X in DATA.values():
        model = SequencePerceptron(epochs=2).fit([[], *X], [[], *Y])
        assert model.predict([[], X[0], []]).tolist() == [[], Y[0], []]
        assert model.predict([]).shape == (0,)


# ----------------------------------------------------------------- scikit-learn's tools
@every_kind
def test_cross_validation(X):
    model = SequencePerceptron(epochs=3)
    for scoring in (None, chunk_f1_scorer, token_accuracy_scorer):
        for cv in (2, KFold(2, shuffle=True, random_state=0)):
            found = cross_val_score(model, X, Y, cv=cv, scoring=scoring, error_score="raise")
            assert (found > 0.9).all()
    assert cross_val_predict(model, X, Y, cv=2).tolist() == Y


@every_kind
def test_searches(X):
    model = SequencePerceptron(epochs=1)
    grid = {"margin": [0.5, 1.0], "epochs": [1, 3]}
    drawn = {"margin": uniform(0.1, 1), "epochs": np.arange(1, 4), "step": np.float32([0.5, 1])}
    for search in (
        GridSearchCV(model, grid, cv=2, error_score="raise"),
        HalvingGridSearchCV(model, grid, cv=2, min_resources=10, error_score="raise"),
        RandomizedSearchCV(model, drawn, n_iter=2, cv=2, random_state=1, error_score="raise"),
    ):
        search.fit(X, Y)
        assert search.best_score_ > 0.9
        assert search.predict(X).tolist() == Y


def test_models_of_feature_dicts_have_no_file():
    tagger = SequencePerceptron(epochs=1).fit([[{"w": "Oslo"}]], [["X"]]).tagger_
    with pytest.raises(AttributeError, match="no attribute 'save'; use pickle or joblib"):
        tagger.save("names.seqtag")


@every_kind
def test_clones_and_pickles(X):
    model = SequencePerceptron(epochs=2, random_state=7).fit(X, Y)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert not hasattr(twin, "tagger_")
    again = pickle.loads(pickle.dumps(model))
    noisy = [sentence[::-1] for sentence in X]
    assert again.predict(noisy).tolist() == model.predict(noisy).tolist()
    assert pickle.dumps(twin.fit(X, Y)) == pickle.dumps(model)
    assert repr(model) == "SequencePerceptron(epochs=2, random_state=7)"


def test_a_dev_set_is_routed_where_it_was_asked_for():
    X, dev = DATA["dicts"], {"X_dev": DATA["dicts"], "y_dev": Y}
    with sklearn.config_context(enable_metadata_routing=True):
        model = SequencePerceptron(epochs=2)
        with pytest.raises(UnsetMetadataPassedError, match="X_dev"):
            cross_validate(model, X, Y, cv=2, params=dev, error_score="raise")
        model.set_fit_request(X_dev=True, y_dev=True)
        found = cross_validate(model, X, Y, cv=2, params=dev, error_score="raise")
        assert (found["test_score"] > 0.9).all()


CHECKS = [
    name
    for name in (
        "check_do_not_raise_errors_in_init_or_set_params",
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_estimator_tags_renamed",
        "check_estimators_unfitted",
        "check_get_params_invariance",
        "check_mixin_order",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_set_params",
        "check_valid_tag_types",
    )
    if hasattr(estimator_checks, name)
]
"""scikit-learn's checks that give no arrays of numbers, where sentences are expected."""


@pytest.mark.parametrize("name", CHECKS)
def test_checks_of_estimators(name):
    getattr(estimator_checks, name)("SequencePerceptron", SequencePerceptron())


def test_columns_of_tables_and_arrays_of_lists():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pandas.DataFrame({"words": DATA["words"], "labels": Y}, index=range(100, 140))
    model = SequencePerceptron(epochs=2).fit(table["words"], table["labels"])
    assert model.predict(table["words"]).tolist() == Y
    arrays = np.empty(40, object)
    for i, labels in enumerate(Y):
        arrays[i] = np.array(labels)
    again = SequencePerceptron(epochs=2).fit(table["words"].to_numpy(), arrays)
    assert pickle.dumps(again) == pickle.dumps(model)
    assert again.score(table["words"], arrays) == 1.0


def test_it_is_no_classifier_of_vectors():
    assert not is_classifier(SequencePerceptron())
    tags = sklearn.utils.get_tags(SequencePerceptron())
    assert tags.no_validation
    assert tags.target_tags.required
    assert (tags.input_tags.two_d_array, tags.input_tags.string, tags.input_tags.dict) == (
        False,
        True,
        True,
    )


# ----------------------------------------------------------------- what it refuses
def test_no_fit():
    with pytest.raises(NotFittedError, match=r"expected a fitted SequencePerceptron, found one"):
        SequencePerceptron().predict([["a"]])
    with pytest.raises(NotFittedError, match=r"call fit\(X, y\) first"):
        _ = SequencePerceptron().attributes_


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([["a"]], [["A"], ["B"]], "expected one list of labels per sentence, found 1"),
        ([["a"], ["a"]], [["A"], ["A", "B"]], "<X>:2: expected 1 labels, one per"),
        ([["a"]], [[1]], "<X>:1: expected labels as strings, found 1; convert them"),
        ([["a"]], [1], "<X>:1: expected a list of labels for every sentence"),
        ([1.5], [["A"]], "<X>:1: expected a list of tokens for every sentence"),
        (["a b"], [["A", "B"]], "found the string 'a b' for the first; give a list"),
        ([["a"]], None, "expected y as a list of sentences, found None"),
        ([[]], [[]], "expected sentences to learn from, found none with tokens"),
        ([["a", ("a", "b")]], [["A", "B"]], "expected a word for every token, as"),
        ([[("a", "b"), "a"]], [["A", "B"]], "expected a tuple (form, pos) for every"),
        ([[("a", "b", "c")]], [["A"]], "expected a name for each of 3 columns, found 2"),
        ([[{"a": 1}, "b"]], [["A", "B"]], "expected a feature dict, or a list of"),
    ],
)
def test_sentences_that_fit_refuses(X, y, message):
    with pytest.raises((CorpusError, LabelError), match=re.escape(message)):
        SequencePerceptron().fit(X, y)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"templates": "pos"}, "expected templates=None for feature"),
        ({"tables": ["places.csv"]}, "expected templates=None for feature .* no tables, found"),
        ({"tag_dictionary": 2}, "expected tag_dictionary=0 for feature"),
        ({"recall_bias": 0.5}, "expected recall_bias=0 for feature"),
        ({"epochs": 0}, "the setting epochs expects an integer"),
        ({"encoding": "iobes"}, "expected chunk labels such as B-NP"),
    ],
)
def test_settings_that_do_not_fit_feature_dicts(how, message):
    with pytest.raises(SeqtagError, match=message):
        SequencePerceptron(**how).fit([[{"a": 1}]], [["A"]])


def test_parameters_of_a_crf_are_refused_in_words():
    message = r"expected parameters .*templates, columns, .*found algorithm, epoch \(did you mean "
    with pytest.raises(TypeError, match=rf"{message}'epochs'\?\); .*max_iterations is epochs"):
        SequencePerceptron(algorithm="lbfgs", epoch=5, order=1)


def test_predict_and_score_refuse():
    model = SequencePerceptron(epochs=1).fit(DATA["dicts"], Y)
    with pytest.raises(CorpusError, match="<X>:1: expected a feature dict, or a list of features"):
        model.predict([["word"]])
    with pytest.raises(CorpusError, match="expected one list of labels per sentence, found 40 and"):
        model.score(DATA["dicts"], Y[1:])
    words = SequencePerceptron(epochs=1).fit(DATA["words"], Y)
    with pytest.raises(
        CorpusError, match="<X>:2: expected a word for every token, as for the first"
    ):
        words.predict([["word"], [{"a": 1}]])
    with pytest.raises(AttributeError, match="of feature dicts for attributes_, found one of word"):
        _ = words.attributes_
    with pytest.raises(CorpusError, match="tokens that could have several labels to calibrate on"):
        SequencePerceptron().fit([[{"a": 1}]], [["A"]]).calibrate([[{"a": 1}]], [["A"]])
    tags = [["X" for _ in labels] for labels in Y]
    with pytest.raises(LabelError, match="found labels like 'X'; score them with token_accuracy"):
        chunk_f1_scorer(words, DATA["words"], tags)
    nothing = [["O" for _ in labels] for labels in Y]
    assert chunk_f1_scorer(words, DATA["words"], nothing) == 0.0


def test_importing_it_without_scikit_learn_names_the_extra():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "try:\n    import seqtag.integrations.sklearn\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    hint = install_hint("sklearn")
    assert done.stdout == f"seqtag.integrations.sklearn needs scikit-learn; {hint}\n"


# ----------------------------------------------------------------- scores of labels
@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("how", [{}, {"order": 0}, {"order": 2, "encoding": "iobes"}])
def test_marginals_are_calibrated(kind, how):
    X = DATA[kind]
    model = SequencePerceptron(epochs=2, min_count=1, **how).fit(X, Y)
    with pytest.raises(SeqtagError, match=r"found one without calibration; first call calibrate\("):
        model.predict_marginals(X)
    model.calibrate(X, Y)
    again = pickle.loads(pickle.dumps(model))
    found = again.predict_marginals(X)
    assert list(map(len, found)) == list(map(len, X))
    margins = model._margins_of_labels(X)
    for sentence, labels, expected in zip(found, model.predict(X), margins, strict=True):
        assert expected.labels == labels
        for scores, label, margin in zip(sentence, labels, expected.by_label, strict=True):
            assert [*scores] == model.classes_
            assert sum(scores.values()) == pytest.approx(1)
            others = [d for name, d in zip(scores, margin, strict=True) if name != label]
            if min(others) < np.inf:
                assert scores[label] == model.tagger_.model.calibration.of([min(others)])[0]
    assert model.predict_marginals_single(X[0]) == found[0]
    assert model.predict_marginals([[]])[0] == []
    with pytest.raises(SeqtagError, match="found one without calibration"):
        model.fit(X, Y).predict_marginals(X)


def test_verbose_shows_the_epochs(capsys):
    SequencePerceptron(epochs=3, verbose=True).fit(DATA["dicts"], Y, DATA["dicts"], Y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["epoch 1", "epoch 2", "epoch 3"]
    assert re.search(r" wrong tokens, dev conlleval-f1 \d+\.\d\d", lines[0])


def test_a_list_of_names_as_a_table(tmp_path):
    (tmp_path / "places.txt").write_text("New York\nSan Diego\nRome\n")
    X = [["in", "New", "York"], ["in", "Old", "Books"], ["in", "Rome"]] * 3
    y = [["O", "B-LOC", "I-LOC"], ["O", "O", "O"], ["O", "B-LOC"]] * 3
    model = SequencePerceptron(epochs=5, min_count=1, tables=[tmp_path / "places.txt"])
    found = clone(model).fit(X, y).predict([["in", "San", "Diego"]])
    assert found.tolist() == [["O", "B-LOC", "I-LOC"]]
