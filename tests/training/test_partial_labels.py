"""Sentences of which some words have no label: from files and lists, and what is learned of "
"them."""

from __future__ import annotations

import io
from itertools import product

import numpy as np
import pytest

from seqtag.corpus import read
from seqtag.engine import backend as backends
from seqtag.errors import LabelError
from seqtag.features.encoder import Column
from seqtag.features.language import parse
from seqtag.labels.coding import LabelCoding
from seqtag.labels.schemes import SCHEMES, convert, joined
from seqtag.model.bundle import to_bytes
from seqtag.training.data import TrainingData
from seqtag.training.problem import learned_labels
from seqtag.training.train import train
from tests.strategies import NATIVE, REFERENCE, corpus, install, needs_native
from tests.training.small_corpus import TRAINING

TEMPLATES = {
    "order 0": "form[0]\nnormal[0]\nform[-1]",
    "order 1": "form[0]\nnormal[0]\nform[-1]\nlabel[-1]",
    "order 2": "form[0]\nnormal[0]\nform[-1]\nlabel[-2] + label[-1]",
}
PARTLY = (
    "the _, old JJ, man _, sees VB; the DT, man NN, runs _; old _, men _, run _; "
    "a DT, run _, is VB, old JJ; men NN, man VB, the _, boat NN; she PR, runs VB, a _, boat NN"
)


def model(data, templates="order 1", **options):
    options = {"label": "tag", "epochs": 8, "unlabeled": "learn_around"} | options
    return train(data, templates=parse(TEMPLATES[templates]), **options)


# ----------------------------------------------------------------- what is learned
@pytest.mark.parametrize("templates", TEMPLATES)
def test_words_without_a_label_are_learnt_around(templates, caplog):
    tagger = model(corpus(PARTLY), templates, epochs=20)
    assert tagger.labels == ("DT", "JJ", "NN", "PR", "VB")
    assert tagger.tag(["she", "runs"]) == ["PR", "VB"]
    training = tagger.info["training"]
    assert (training["sentences"], training["tokens"], training["labelled"]) == (5, 19, 13)
    assert "1 sentences without any label were skipped" in caplog.text


def test_every_label_given_trains_as_ever(caplog):
    whole = model(TRAINING, unlabeled="error")
    assert to_bytes([model(TRAINING).model]) == to_bytes([whole.model])
    assert "no word has the label '_': every word is labeled" in caplog.text
    assert "labelled" not in whole.info["training"]


def test_the_given_labels_decide_and_the_others_follow_them():
    """X and Y are told apart by the label before them alone, which is never given there."""
    text = "a P, x _; b Q, x _; a P, x X; b Q, x Y; a _, x X; b _, x Y; c _, x Y; d _, x X"
    tagger = model(corpus(text), epochs=30)
    assert tagger.tag(["c", "x"])[1] == "Y"
    assert tagger.tag(["d", "x"])[1] == "X"


def test_few_words_without_a_label_are_no_mistakes_among_chunk_labels():
    data = corpus(
        "in O, Oslo B-LOC, she O, met O, Mira B-PER, Falk I-PER; of O, her _, own O" + "; a O" * 9
    )
    assert model(data).labels == ("B-LOC", "B-PER", "I-PER", "O")


@pytest.mark.parametrize("text", [PARTLY, PARTLY.replace("_", "?")])
def test_files_are_read_alike_natively_and_not(text):
    mark = "?" if "?" in text else "_"
    lines = text.replace("; ", "\n\n").replace(", ", "\n").encode()
    streams = [read(io.BytesIO(lines), "columns", columns=["form", "tag"]) for _ in range(2)]
    fast, slow = model(streams[0], unlabeled_mark=mark), model([*streams[1]], unlabeled_mark=mark)
    fast.model.training.pop("layout")  # sentences do not say of which file they are
    assert to_bytes([fast.model]) == to_bytes([slow.model])


def test_none_in_lists_is_no_label():
    data = corpus(PARTLY)
    words = [s.words for s in data]
    labels = [[None if tag == "_" else tag for tag in s.column("tag")] for s in data]
    how = {"label": "tag", "epochs": 4, "templates": parse(TEMPLATES["order 1"])}
    tagger = train(words, labels, **how)
    assert tagger.labels == ("DT", "JJ", "NN", "PR", "VB")
    assert tagger.info["training"]["labelled"] == 13
    same = train(words, labels, unlabeled="learn_around", **how)
    assert to_bytes([same.model]) == to_bytes([model(data, epochs=4).model])
    assert same.tag(words[0]) == tagger.tag(words[0])
    again = train([["boat", "zorb"]], [[None, "ZZ"]], init=tagger, epochs=3, min_count=1)
    assert again.tag(["zorb"]) == ["ZZ"]


@needs_native
@pytest.mark.parametrize("templates", TEMPLATES)
def test_both_backends_learn_alike(templates, monkeypatch):
    found = []
    for backend in (REFERENCE, NATIVE):
        install(backend, monkeypatch)
        for how in ({}, {"margin": 0.5, "update": "pa", "dropout": 0.1, "tag_dictionary": 2}):
            found.append(to_bytes([model(corpus(PARTLY), templates, **how).model]))
    assert found[:2] == found[2:]


def test_labels_of_two_columns_and_of_parts():
    text = "men NOUN N=p, run VERB _; men _ N=p, runs VERB N=s; a _ _, man NOUN N=s; run _ _"
    data = corpus(text, "form upos feats")
    for parts in ("whole", "split"):
        tagger = train(
            data, label="upos+feats", unlabeled="learn_around", label_parts=parts, epochs=5
        )
        assert tagger.labels == ("NOUN|N=p", "NOUN|N=s", "VERB", "VERB|N=s")
        assert tagger.info["training"]["labelled"] == 4
        assert tagger.tag(["men", "run"]) == ["NOUN|N=p", "VERB"]


def test_lemmas_that_nobody_gave():
    data = corpus("cats cat, sings ?; dogs ?, sings sing; was be, dogs dog", "form lemma")
    tagger = train(
        data, label="lemma", unlabeled="learn_around", unlabeled_mark="?", epochs=5, min_count=1
    )
    assert tagger.tag(["cats", "was"]) == ["cat", "be"]
    assert not any("?" in script for script in tagger.labels)


def test_known_words_keep_to_the_labels_that_were_given():
    tagger = model(
        corpus("the DT, man NN; the _, man _; the _, man VB; the _, zorb NN"), tag_dictionary=2
    )
    known = tagger.model.tag_dictionary
    assert known.keys.tolist() == backends.hash_strings(["man"]).tolist()
    assert [tagger.model.labels[i] for i in known.labels] == ["NN", "VB"]


# ----------------------------------------------------------------- chunk labels
CHUNKS = ["O", "B-X", "I-X", "B-Y", "I-Y"]


@pytest.mark.parametrize("target", SCHEMES)
def test_chunk_labels_may_be_learnt_as_all_that_completions_give(target):
    """Compared with converting every completion of every sentence of three words."""
    for labels in product([*CHUNKS, "_"], repeat=3):
        if "_" not in labels:
            continue
        options = [CHUNKS if label == "_" else [label] for label in labels]
        wanted = [set(), set(), set()]
        for whole in product(*options):
            for place, label in enumerate(convert(whole, "iob2", target)):
                wanted[place].add(label)
        for place, label in enumerate(labels):
            if label == "_":
                wanted[place] = set()  # any
        types = [*CHUNKS, "_"]
        column = Column(types, np.array([types.index(label) for label in labels], np.int32))
        data = TrainingData({}, column, np.array([3]), unlabeled="_")
        found = learned_labels(data, LabelCoding("iob2", target), None)
        if target == "iob2":
            wanted = [{label} if label != "_" else set() for label in labels]
        assert [{*found.types[i]} for i in found.ids] == wanted, labels


@pytest.mark.parametrize("target", SCHEMES)
def test_sets_of_chunk_labels_may_be_learnt_as_all_that_they_give(target):
    """Compared with converting every choice of every sentence of three words."""
    sets = [{"O", "B-X"}, {"B-Y", "I-X"}, {"B-X"}, {"O"}, {"I-Y"}]
    types = [joined(labels) for labels in sets]
    for chosen in product(range(len(sets)), repeat=3):
        wanted = [set(), set(), set()]
        for whole in product(*(sets[number] for number in chosen)):
            for place, label in enumerate(convert(whole, "iob2", target)):
                wanted[place].add(label)
        data = TrainingData({}, Column(types, np.array(chosen, np.int32)), np.array([3]))
        found = learned_labels(data, LabelCoding("iob2", target), None)
        if target == "iob2":
            wanted = [sets[number] for number in chosen]
        assert [{*found.types[i]} for i in found.ids] == wanted, chosen


def test_chunks_are_learnt_from_some_labels():
    text = (
        "the B-NP, old I-NP, man I-NP, sees _, her B-NP; he _, runs B-VP; so O, did B-VP, the "
        "B-NP, "
        "man _; yes O; the _, man I-NP, the B-NP, boat I-NP; he B-NP, runs _"
    )
    tagger = model(corpus(text), encoding="iobes", epochs=20)
    assert tagger.label_scheme == "iob2"
    assert {"B-NP", "I-NP", "E-NP", "S-NP", "S-VP", "O"} <= {*tagger.model.labels}
    assert tagger.tag(["the", "old", "man", "runs"]) == ["B-NP", "I-NP", "I-NP", "B-VP"]


# ----------------------------------------------------------------- dev sets, and what is refused
def test_words_of_a_dev_set_that_have_a_label_are_scored():
    reports = []
    dev = corpus("the DT, man _, runs XX; she _, runs _; a DT, boat NN")
    model(corpus(PARTLY), dev=dev, epochs=6, on_epoch=lambda e: reports.append(e.dev))
    assert [report.tokens for report in reports] == [4] * 6
    assert reports[-1].accuracy == 0.75
    chunks = corpus("the B-NP, man I-NP; yes _, he B-NP; he B-NP")
    reports.clear()
    model(
        corpus("the B-NP, man I-NP; he B-NP, runs O, _ _"),
        dev=chunks,
        on_epoch=lambda e: reports.append(e.dev),
    )
    assert reports[-1].tokens == 3  # a chunk needs all of its labels


def test_the_usual_mark_is_an_error_where_another_was_named():
    with pytest.raises(
        LabelError, match=r'found "_" \(not annotated\); annotate it, or leave such'
    ):
        model(corpus("the DT, man _"), unlabeled_mark="?")
