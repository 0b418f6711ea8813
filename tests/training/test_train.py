"""Training from end to end: repeatable, judged on a dev set, clear about what it cannot use."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus import read
from seqtag.errors import LabelError, TemplateError
from seqtag.features.language import parse
from seqtag.labels.column import label_components
from seqtag.labels.schemes import count_transitions, invalid_transitions
from seqtag.model.container import Contents
from seqtag.model.freeze import mean
from seqtag.model.model import Model
from seqtag.settings import Settings
from seqtag.tagging.tagger import Tagger
from seqtag.training import problem as problem_module
from seqtag.training import runs as training_runs
from seqtag.training.train import train
from tests.conftest import ROOT
from tests.strategies import corpus
from tests.training.small_corpus import CHUNKS, CONLLU, DEV, TEMPLATES, TRAINING, column_file, model

if TYPE_CHECKING:
    from seqtag.training.runs import Epoch

TOKENS = [token for s in TRAINING for token in zip(s.words, s.column("tag"), strict=True)]
TRIGRAMS = parse("form[0]\nsuffix(1)[0]\nform[-1]\nlabel[-2] + label[-1]")


def weights_of(tagger: Tagger) -> bytes:
    """The weights alone: the configuration names the seed."""
    names = sorted(tagger.model.tensors())
    return b"".join(tagger.model.tensors()[name].tobytes() for name in names)


# ----------------------------------------------------------------- the loop


def test_passive_steps_without_a_margin_are_refused():
    """They would leave all weights at 0, and say nothing of it."""
    with pytest.raises(TemplateError) as error:
        model(update="pa", margin=0)
    assert str(error.value) == (
        "the update rule pa expects a margin above 0, found 0: with zero weights, every step is 0; "
        "set margin to 1"
    )
    going_on = model(init=model(epochs=1), update="pa", margin=0, epochs=9)
    assert going_on.tag(["the", "man", "runs"]) == ["DT", "NN", "VB"]


def test_epochs_report_what_happened():
    epochs: list[Epoch] = []
    model(runs=2, epochs=8, on_epoch=epochs.append)
    assert [(e.run, e.epoch) for e in epochs] == [(run, n) for run in (1, 2) for n in range(1, 9)]
    assert all(e.dev is None for e in epochs)
    assert 0 < epochs[0].updates <= len(TRAINING)
    assert epochs[0].wrong_tokens >= epochs[0].updates
    assert (epochs[7].updates, epochs[7].wrong_tokens) == (0, 0)


def test_the_best_epoch_of_the_dev_set_is_kept():
    epochs: list[Epoch] = []
    tagger = model(dev=DEV, epochs=6, on_epoch=epochs.append)
    scores = [e.dev.score for e in epochs]
    best = int(np.argmax(scores))  # the first of equals
    training = tagger.info["training"]
    assert training["best_epochs"] == [best + 1]
    assert training["dev"]["score"] == scores[best]
    running = np.maximum.accumulate([-1.0, *scores])
    assert [e.best for e in epochs] == [
        s > before for s, before in zip(scores, running, strict=False)
    ]
    assert weights_of(tagger) == weights_of(model(epochs=best + 1))


def test_patience_stops_a_run():
    hopeless = corpus("the X, man X")  # no label of it can be learned: the first epoch stays best
    epochs: list[Epoch] = []
    tagger = model(dev=hopeless, patience=2, epochs=9, on_epoch=epochs.append)
    assert [e.epoch for e in epochs] == [1, 2, 3]
    assert tagger.info["training"]["best_epochs"] == [1]


def test_runs_are_mixed(monkeypatch):
    runs = []
    monkeypatch.setattr(training_runs, "mean", lambda kept: runs.extend(kept) or mean(kept))
    tagger = model(runs=3, epochs=1)
    assert len({run.weight.tobytes() for run in runs}) > 1
    assert tagger.info["training"]["best_epochs"] == [1, 1, 1]


def test_settings_of_the_template_file_and_of_the_caller():
    templates = parse("form[0]\nset epochs 2\nset step 0.5\nset min-count 2")
    training = model(templates=templates, epochs=None, min_count=1).info["training"]
    assert (training["epochs"], training["step"], training["min_count"]) == (2, 0.5, 1)
    assert training["update"] == Settings().update
    assert (training["sentences"], training["tokens"]) == (6, 22)
    with pytest.raises(TemplateError, match=r"unknown setting 'epoch' \(did you mean 'epochs'"):
        model(epoch=3)


def test_features_seen_too_rarely_are_left_out():
    many, few = (len(model(min_count=n).model.tensors()["emission.keys"]) for n in (1, 2))
    assert 0 < few < many


def test_labels_that_see_words():
    """A label repeats the one before it unless the word is "not": only an edge can say so."""
    data = corpus("a A, x A, x A; b B, x B, x B; a A, not B, x B; b B, not A, x A")
    templates = parse("form[0]\nlabel[-1] + form[0]")
    tagger = model(data, templates=templates, epochs=20)
    assert len(tagger.model.tensors()["edge.keys"])
    assert tagger.tag(["b", "x", "not", "x", "not", "x"]) == ["B", "B", "A", "A", "B", "B"]


def test_order_0_ignores_the_neighbours():
    tagger = model(templates=parse("form[0]"))
    assert not len(tagger.model.tensors()["transition.cells"])
    assert tagger.tag(["man", "the"]) == [tagger.tag(["man"])[0], tagger.tag(["the"])[0]]


def test_label_trigrams_are_decoded():
    """The words say nothing: each label follows from the two before it, A A B B A A ..."""
    cycle = "x A, x A, x B, x B, "
    data = corpus("; ".join((cycle * 3)[:-2] for _ in range(3)))
    found = {}
    for line in ("label[-1]", "label[-2] + label[-1]"):
        tagger = model(data, templates=parse(f"form[0]\n{line}"), epochs=20)
        found[line] = tagger.tag(["x"] * 8)
    assert found["label[-2] + label[-1]"] == list("AABBAABB")
    assert found["label[-1]"] != list("AABBAABB")
    assert len(tagger.model.tensors()["trigram.keys"])
    assert len(tagger.model.tensors()["transition.cells"])  # trigrams bring bigrams along


# ----------------------------------------------------------------- labels made of parts
INFLECTED = corpus("ao N|s; ae N|p; io A|s; uo V|s; ue V|p; qq A|p")


@given(st.lists(st.lists(st.sampled_from("abc|"), min_size=1, max_size=6).map("".join), min_size=1))
def test_labels_are_split_at_bars(labels):
    parts = label_components(labels)
    names = sorted({part for label in labels for part in label.split("|")})
    assert parts.number == len(names)
    assert [[names[part] for part in parts.of(j)] for j in range(len(labels))] == [
        list(dict.fromkeys(label.split("|"))) for label in labels
    ]


@pytest.mark.parametrize("update", ["perceptron", "pa", "adaptive"])
def test_parts_are_learned_from_all_labels_that_have_them(update):
    """i- is A and -e is p; that "ie" is A|p no whole label could tell, as only "qq" had that."""
    options = {"templates": parse("prefix(1)[0]\nsuffix(1)[0]"), "epochs": 20, "update": update}
    options |= {"margin": 1.0, "step": 1.0}
    split = model(INFLECTED, label_parts="split", **options)
    assert split.tag_many([s.words for s in INFLECTED]) == [s.column("tag") for s in INFLECTED]
    assert split.tag(["ie"]) == ["A|p"]
    whole = model(INFLECTED, **options)
    assert whole.tag_many([s.words for s in INFLECTED]) == [s.column("tag") for s in INFLECTED]
    assert whole.tag(["ie"]) != ["A|p"]
    assert not len(whole.model.tensors()["parts.counts"])
    assert split.model.tensors()["parts.counts"].tolist() == [2] * 6
    assert max(split.model.tensors()["parts.parts"]) == 4


def test_labels_that_differ_in_the_order_of_their_parts_only():
    """A|B and B|A get the same score from the words; without neighbours the first is chosen."""
    data = corpus("a A|B, b B|A, c C; b B|A, c C, a A|B")
    alone = model(data, templates=parse("form[0]"), label_parts="split", epochs=9)
    assert alone.tag(["a", "b", "c"]) == ["A|B", "A|B", "C"]
    edges = parse("form[0]\nlabel[-1]\nlabel[-1] + form[0]")
    context = model(data, templates=edges, label_parts="split", epochs=20)
    assert context.tag(["a", "b", "c"]) == ["A|B", "B|A", "C"]


# ----------------------------------------------------------------- known words
@pytest.mark.parametrize("span", [3, 100])
def test_known_words_keep_to_their_labels(span, monkeypatch):
    """Endings and neighbours speak for VB; "man" has only been NN and VB, "the" only DT."""
    monkeypatch.setattr(problem_module, "_MOST_TOKENS", span)  # tokens at a time
    templates = parse("suffix(1)[0]\nnormal[0]\nlabel[-1]")
    free, known = (model(templates=templates, tag_dictionary=n) for n in (0, 1))
    seen: dict[str, set[str]] = {}
    for word, label in TOKENS:
        seen.setdefault(word, set()).add(label)
    assert len(known.model.tensors()["tag_dictionary.keys"]) == len(seen)
    assert known.model.tensors()["tag_dictionary.cells"].sum() == sum(map(len, seen.values()))
    assert not len(free.model.tensors()["tag_dictionary.keys"])
    vocabulary = sorted(seen)
    odd = [[*vocabulary[n:], "Unseen", *vocabulary[:n]] for n in range(len(vocabulary))]
    for words in odd:
        for word, label in zip(words, known.tag(words), strict=True):
            assert label in seen.get(word, known.labels)


def test_a_known_word_has_no_other_label_whatever_the_weights():
    templates = parse("normal[0]\nlabel[-1]")
    trained = model(templates=templates, tag_dictionary=2, epochs=1)
    weights = np.zeros_like(trained.model.tensors()["start"])
    weights[trained.model.labels.index("PR")] = (
        10**6
    )  # at the start of a sentence it is PR, they say
    loud = Tagger(Model.of(Contents(trained.info, trained.model.tensors() | {"start": weights})))
    assert loud.tag(["the"]) == loud.tag(["The"]) == ["DT"]  # normal() is in lower case
    assert loud.tag(["she"]) == ["PR"]  # seen once: not known
    assert loud.tag(["sees"]) == ["PR"]
    assert loud.tag(["unseen"]) == ["PR"]


@pytest.mark.parametrize("templates", ["form[0]", "normal(pos)[0]", "lower[0]\nlabel[-1]"])
def test_tag_dictionary_need_a_template_with_normal(templates):
    data = corpus("the DT X", "form pos tag")
    with pytest.raises(LabelError) as error:
        model(data, templates=parse(templates), tag_dictionary=1)
    assert str(error.value) == (
        "expected a template with the attribute normal, by which the setting tag-dictionary "
        "identifies words, found none; add normal[0] or leave the setting out"
    )


# ----------------------------------------------------------------- the same bytes
TRAIN_AND_SAVE = """
import sys, seqtag
from seqtag.engine.backend import BACKEND
tagger = seqtag.train(sys.argv[1], format="columns", columns=["form", "tag"], label="tag",
                      templates=sys.argv[2], dev=sys.argv[1], seed=3, runs=2)
tagger.save(sys.argv[3])
print(BACKEND)
"""


def test_same_data_and_seed_same_bytes_in_any_process_on_any_backend(tmp_path):
    lines = [
        "\n".join(f"{w} {t}" for w, t in zip(s.words, s.column("tag"), strict=True))
        for s in TRAINING
    ]
    data = column_file(tmp_path, "\n\n".join(lines) + "\n")
    templates = column_file(
        tmp_path,
        f"{TEMPLATES}label[-1] + suffix(1)[0]\nlabel[-2] + label[-1]\nnormal[0]\n"
        "set update adaptive\nset step 0.1\nset margin 1\n"
        "set dropout 0.1\nset epochs 4\nset label-parts split\nset tag-dictionary 2\n",
        "t.txt",
    )
    found = []
    runs = [("", "1", ""), ("", "2", ""), ("", "1", "16"), ("reference", "3", "")]
    for number, (backend, hash_seed, vectors) in enumerate(runs):
        path = tmp_path / f"{number}.seqtag"
        done = subprocess.run(
            [sys.executable, "-c", TRAIN_AND_SAVE, data, templates, path],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ
            | {
                "PYTHONPATH": str(ROOT),
                "PYTHONHASHSEED": hash_seed,
                "SEQTAG_BACKEND": backend,
                "SEQTAG_VECTORS": vectors,
            },
        )
        assert not backend or done.stdout.split() == [backend]
        found.append(path.read_bytes())
    assert found == found[:1] * 4


def test_another_seed_another_model():
    assert weights_of(model(seed=1)) == weights_of(model(seed=1))
    assert len({weights_of(model(seed=seed)) for seed in range(5)}) > 1


# ----------------------------------------------------------------- chunks, and two columns at once
def test_chunks_are_trained_as_iobes_and_written_as_iob2():
    tagger = model(CHUNKS, encoding="iobes", epochs=10)
    assert tagger.info["encoding"] == "iobes"
    assert {label[0] for label in tagger.model.labels} == set("BIESO")
    assert tagger.label_scheme == "iob2"
    assert tagger.labels == ("B-NP", "B-VP", "I-NP", "O")
    assert tagger.tag_many([s.words for s in CHUNKS]) == [s.column("tag") for s in CHUNKS]


@pytest.mark.parametrize("scheme", ["iob2", "iob1", "iobes"])
@pytest.mark.parametrize("constrain", [True, False])
@pytest.mark.parametrize("templates", [TEMPLATES, TRIGRAMS], ids=["bigrams", "trigrams"])
@given(data=st.data())
def test_chunk_labels_are_valid_whatever_the_weights(scheme, constrain, templates, data):
    trained = model(CHUNKS, encoding="iobes", epochs=1, templates=templates)
    random = np.random.RandomState(data.draw(st.integers(0, 2**32 - 1)))
    K = len(trained.model.labels)
    tensors = trained.model.tensors() | {
        "transition.cells": np.arange(K * K),
        "transition.weights": np.zeros(K * K, np.int32),
    }
    for name in ("emission.weights", "trigram.weights", "start", "stop", "transition.weights"):
        tensors[name] = random.randint(-127, 128, tensors[name].shape).astype(tensors[name].dtype)
    wild = Tagger(
        Model.of(Contents(trained.info | {"scheme": scheme, "constrain": constrain}, tensors))
    )
    sentence = data.draw(
        st.lists(st.sampled_from(["the", "man", "so", "runs", "unknown"]), max_size=7)
    )
    found = wild.tag(sentence)
    assert len(found) == len(sentence)
    if constrain or scheme != "iobes":  # free decoding in the model's own encoding is as it is
        assert invalid_transitions(count_transitions([found]), scheme) == 0


def test_constraints_can_be_waived():
    assert model(CHUNKS).info["constrain"] is True
    assert model(CHUNKS, constrain=False).info["constrain"] is False
    assert model(TRAINING).info["constrain"] is False  # no chunk labels
    assert model(CHUNKS, templates=parse("form[0]")).info["constrain"] is False  # no label bigrams


def test_upos_and_feats_are_learned_and_written_together(tmp_path):
    path = column_file(tmp_path, CONLLU, "a.conllu")
    tagger = train(path, label="upos+feats", templates=TEMPLATES, epochs=5)
    assert tagger.label_columns == ("upos", "feats")
    [sentence] = read(path)
    labels = tagger.tag(sentence)
    assert labels == ["NOUN|Number=Plur", "VERB|Number=Plur|Tense=Pres", "PUNCT"]
    assert tagger.split_label(labels) == {
        "upos": ["NOUN", "VERB", "PUNCT"],
        "feats": ["Number=Plur", "Number=Plur|Tense=Pres", "_"],
    }
    assert sentence.replace(tagger.split_label(labels)) == CONLLU
