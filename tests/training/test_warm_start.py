"""Going on from a model: what is carried over, what comes in, and what does not fit together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from seqtag.engine import backend as backends
from seqtag.engine.arrays import RULES
from seqtag.errors import CorpusError, LabelError, TemplateError
from seqtag.features.language import parse
from seqtag.labels.column import component_names
from seqtag.model.bundle import digest, to_bytes
from seqtag.tagging.pipeline import Pipeline
from seqtag.training.train import train
from tests.strategies import NATIVE, REFERENCE, corpus, install, needs_native
from tests.training.small_corpus import CHUNKS
from tests.training.small_corpus import TRAINING as OLD
from tests.treebanks import components

if TYPE_CHECKING:
    from seqtag.model.model import Model
    from seqtag.tagging.tagger import Tagger

NEW = corpus("the DT, zorb ZZ, runs VB; a DT, zorb ZZ; wow AA, the DT, man NN, zorbs VB")
TEMPLATES = {
    "order 0": "form[0]\nnormal[0]\nsuffix(1)[0]\nform[-1]",
    "order 1": "form[0]\nnormal[0]\nsuffix(1)[0]\nform[-1]\nlabel[-1]",
    "order 2": "form[0]\nnormal[0]\nsuffix(1)[0]\nform[-1]\nlabel[-2] + label[-1]",
    "edges": "form[0]\nnormal[0]\nform[-1]\nlabel[-1]\nlabel[-1] + form[0]",
}
MORPH = corpus("the D|N=s, man N|N=s; the D|N=p, men N|N=p, run V|N=p; she P, runs V|N=s")
MORE_MORPH = corpus("the D|N=s, zorb A|N=z; men N|C=x")


def model(data=OLD, templates="order 1", **options) -> Tagger:
    options = {"label": "tag", "epochs": 8} | options
    return train(data, templates=parse(TEMPLATES[templates]), **options)


def named_cells(model: Model) -> dict[tuple, float]:
    """All weights by what they are of: the key of a row, and names of labels or parts."""
    weights, labels = model.weights, list(model.labels)
    columns = labels if model.parts is None else component_names(labels)
    unit, K = model.training["unit"], len(labels)
    pairs = [(a, b) for a in labels for b in labels]
    found = {}

    def add(kind, rows, names):
        row = np.repeat(rows.keys, np.diff(rows.row_ptr)).tolist()
        for key, column, weight in zip(row, rows.labels, rows.weights, strict=True):
            found[kind, key, names[column]] = weight * unit

    add("emission", weights.emission, columns)
    add("edge", weights.edge, pairs)
    before = [*labels, None]
    trigram = weights.trigram
    for key, begin, end in zip(
        trigram.keys.tolist(), trigram.row_ptr[:-1], trigram.row_ptr[1:], strict=True
    ):
        a, b = before[(key - 1) // K], labels[(key - 1) % K]
        for i in range(begin, end):
            found["trigram", a, b, labels[trigram.labels[i]]] = trigram.weights[i] * unit
    for name in ("start", "stop"):
        for label, weight in zip(labels, getattr(weights, name), strict=True):
            found[name, label] = weight * unit
    if weights.transition.size:
        for pair, weight in zip(pairs, weights.transition.ravel(), strict=True):
            found["transition", pair] = weight * unit
    return {name: weight for name, weight in found.items() if weight}


# ----------------------------------------------------------------- what is carried over


@pytest.mark.parametrize("update", RULES)
@pytest.mark.parametrize("templates", TEMPLATES)
def test_sentences_known_by_heart_change_nothing(templates, update):
    first = model(templates=templates, update=update, margin=1, epochs=20)
    again = train(OLD[:2], init=first, margin=0)
    assert (again.label, again.labels, again.columns) == ("tag", first.labels, ("form",))
    before, after = first.model.tensors(), again.model.tensors()
    assert {name for name in before if before[name].tobytes() != after[name].tobytes()} == set()


@pytest.mark.parametrize("templates", TEMPLATES)
def test_weights_find_their_labels_and_features_among_new_ones(templates):
    first = model(templates=templates)
    again = train(NEW, init=first, update="pa", step=1e-9)
    assert again.labels == ("AA", "DT", "JJ", "NN", "PR", "VB", "ZZ")
    assert named_cells(again.model) == pytest.approx(named_cells(first.model), rel=1e-5)
    sentences = [sentence.words for sentence in (*OLD, *NEW)]
    assert again.tag_many(sentences) == first.tag_many(sentences)


def test_weights_of_parts_of_labels_find_their_parts():
    how = {"templates": parse(TEMPLATES["order 1"]), "label": "tag", "label_parts": "split"}
    first = train(MORPH, **how, epochs=8)
    again = train(MORE_MORPH, init=first, update="pa", step=1e-9)
    wanted = "A|N=z D|N=p D|N=s N|C=x N|N=p N|N=s P V|N=p V|N=s"
    assert again.labels == (*wanted.split(),)
    assert named_cells(again.model) == pytest.approx(named_cells(first.model), rel=1e-5)
    learned = train(MORE_MORPH, init=first)
    assert learned.tag(["the", "zorb"]) == ["D|N=s", "A|N=z"]


@pytest.mark.parametrize("templates", TEMPLATES)
def test_new_words_and_labels_are_learnt_and_old_ones_stay(templates):
    first = model(templates=templates)
    again = train(NEW, init=first, epochs=20)
    assert again.tag_many([s.words for s in NEW]) == [s.column("tag") for s in NEW]
    assert again.tag(["she", "runs"]) == ["PR", "VB"]  # of words that the new sentences lack
    assert "zorb" in again.known_words
    assert "boat" in again.known_words
    assert "zorb" not in first.known_words


def test_the_average_begins_anew():
    """After one sentence it is the weights themselves: what a perceptron makes of it."""
    first = model(epochs=20)
    again = train(corpus("man AA"), init=first, epochs=1, update="perceptron", margin=0)
    changes = named_cells(again.model)
    for name, weight in named_cells(first.model).items():
        changes[name] = changes.get(name, 0) - weight
    changed = {name: change for name, change in changes.items() if abs(change) > 0.1}
    assert set(np.round([*changed.values()], 1)) == {1.0, -1.0}
    assert changed["start", "AA"] == pytest.approx(1, abs=0.1)


def test_rare_features_get_no_rows_unless_the_model_has_them():
    first = model()
    new = corpus("the DT, zorb ZZ; the DT, plonk YY; the DT, plonk YY")

    def rows(**options):
        again = train(new, init=first, update="perceptron", margin=0, **options)
        return {*again.model.weights.emission.keys.tolist()}

    all_rows, frequent = rows(min_count=1), rows(min_count=2)
    assert {*first.model.weights.emission.keys.tolist()} <= frequent < all_rows


def test_the_model_and_its_settings_are_those_to_go_on_with():
    first = model(update="pa", margin=1, step=0.25, min_count=1, epochs=3)
    again = train(NEW, init=first, epochs=2).info["training"]
    assert (again["update"], again["step"], again["epochs"]) == ("pa", 0.25, 2)
    with pytest.raises(TemplateError, match=r"no templates with a model to continue from, .* form"):
        train(NEW, init=first, templates=parse("form[0]\nset step 0.5"))


@pytest.mark.parametrize("templates", TEMPLATES)
@needs_native
def test_both_backends_go_on_alike_and_from_files_too(templates, monkeypatch, tmp_path):
    found = []
    for backend in (REFERENCE, NATIVE):
        install(backend, monkeypatch)
        first = model(templates=templates, dropout=0.1, tag_dictionary=2)
        first.save(tmp_path / "first.seqtag")
        how = {"dropout": 0.2, "runs": 2, "epochs": 3, "update": "adaptive", "step": 0.5}
        once = to_bytes([train(NEW, init=first, **how).model])
        assert once == to_bytes([train(NEW, init=tmp_path / "first.seqtag", **how).model])
        found.append(once)
    assert found[0] == found[1]


# ----------------------------------------------------------------- features, words, chunks
def test_words_keep_to_the_labels_of_both_trainings():
    first = model(tag_dictionary=2)  # the, man, runs, old, men, run, a, boat
    new = "man AA; man AA; run ZZ; is ZZ; is ZZ; zorb ZZ; zorb ZZ; plonk ZZ"
    again = train(corpus(new), init=first)

    def allowed(tagger: Tagger) -> dict[str, set[str]]:
        known, words = tagger.model.tag_dictionary, ["man", "run", "is", "zorb", "plonk", "boat"]
        keys = dict(zip(backends.hash_strings(words).tolist(), words, strict=True))
        rows = zip(known.keys.tolist(), np.split(known.labels, known.row_ptr[1:-1]), strict=True)
        return {keys[k]: {tagger.model.labels[n] for n in row} for k, row in rows if k in keys}

    assert allowed(first) == {"man": {"NN", "VB"}, "run": {"NN", "VB"}, "boat": {"NN"}}
    assert allowed(again) == {
        "man": {"AA", "NN", "VB"},
        "run": {"NN", "VB", "ZZ"},  # seen once, and yet it may be so
        "boat": {"NN"},
        "zorb": {"ZZ"},  # and plonk is not frequent, "is" had labels that nobody knows any more
    }
    assert not len(train(corpus(new), init=first, tag_dictionary=0).model.tag_dictionary.keys)


@pytest.mark.parametrize("encoding", ["keep", "iobes"])
def test_chunks_are_learnt_in_the_scheme_of_the_model(encoding):
    first = model(CHUNKS, encoding=encoding)
    new = corpus("yes O, the B-PP; yes O")  # could be several schemes
    again = train(new, init=first)
    assert (again.label_scheme, again.model.coding) == ("iob2", first.model.coding)
    other = corpus("the B-NP, old I-NP, cat E-NP; yes S-PP")
    converted = train(other, init=first)
    assert converted.model.coding == replace(first.model.coding, scheme="iobes")
    assert converted.tag(["the", "old", "cat"]) == ["B-NP", "I-NP", "E-NP"]
    assert train(new, init=first, encoding=encoding).model.coding == first.model.coding
    assert first.model.coding.constrained
    assert not train(new, init=first, constrain=False).model.coding.constrained
    free = model(CHUNKS, encoding=encoding, constrain=False)
    assert not train(new, init=free).model.coding.constrained


def test_lemmas_go_on():
    first = train(corpus("cats cat, dogs dog, was be", "form lemma"), label="lemma", epochs=5)
    again = train(corpus("zorbs zorb, geese goose", "form lemma"), init=first, epochs=5)
    assert again.label == "lemma"
    assert again.tag(["geese", "was", "dogs"]) == ["goose", "be", "dog"]


# ----------------------------------------------------------------- pipelines, lists
def test_the_part_of_a_pipeline_is_found_by_its_column():
    pipeline = Pipeline([model(label="tag").model])
    assert train(NEW, init=pipeline, label="tag").labels[0] == "AA"
    with pytest.raises(LabelError, match=r"model to continue from labels \(tag\), found other"):
        train(corpus("a B", "form other"), init=pipeline)


def test_a_pipeline_goes_on_part_by_part():
    old = corpus("; ".join(["the DET DT, man NOUN NN, runs VERB VB"] * 3), "form upos xpos")
    new = corpus("the DET DT, zorb X ZZ; a DET DT, zorb X ZZ", "form upos xpos")
    first = components(old, ["upos"])
    models = components(new, init=Pipeline(first))
    assert [m.column.name for m in models] == ["upos", "xpos"]
    assert models[0].labels == ["DET", "NOUN", "VERB", "X"]
    assert models[0].training["init_sha256"] == digest(first[0])
    assert models[1].labels == ["DT", "ZZ"]  # begun anew
    assert "init_sha256" not in models[1].training
    both = components(new, init=Pipeline(models))
    assert both[1].training["init_sha256"] == digest(models[1])


def test_the_model_to_continue_from_does_not_change():
    first = model(min_count=2)
    words, labels = ["wow", "zorb"], ["AA", "ZZ"]
    before = to_bytes([first.model])
    again = train([words], [labels], init=first, epochs=4, min_count=1)
    assert again.tag(words) == labels
    assert to_bytes([first.model]) == before


# ----------------------------------------------------------------- what does not fit together


def test_other_kinds_of_weights_are_refused():
    wanted = "has weights for whole labels, found split; leave the setting out"
    with pytest.raises(LabelError, match=wanted):
        train(NEW, init=model(), label_parts="split")
    split = model(MORPH, label_parts="split")
    with pytest.raises(LabelError, match="weights for the components of labels, found whole"):
        train(MORE_MORPH, init=split, label_parts="whole")


def test_columns_are_those_of_the_model():
    first = train(corpus("a x A", "form pos tag"), templates=parse("%1[0]"), label="tag", epochs=1)
    again = train(corpus("a b x A", "form lower pos tag"), init=first)
    assert again.tag(["x"]) == ["A"]
    with pytest.raises(CorpusError, match="expected one of the columns form, tag, found 'pos'"):
        train(corpus("a A", "form tag"), init=first)


def test_encodings_that_differ_are_refused():
    first = model(CHUNKS, encoding="iobes")
    with pytest.raises(
        LabelError, match="the encoding iobes that the model has learned, found bil"
    ):
        train(CHUNKS, init=first, encoding="bilou")
    with pytest.raises(
        LabelError, match="the encoding keep that the model has learned, found iobe"
    ):
        train(NEW, init=model(), encoding="iobes")
    with pytest.raises(LabelError, match=r"written as iob2, found labels like 'DT'; is it the rig"):
        train(NEW, init=first)
