"""seqtag.model.model: what a file says of a model is checked."""

from __future__ import annotations

import io
import re
import unicodedata
from dataclasses import replace

import numpy as np
import pytest

import seqtag
from seqtag.errors import CorpusError, ModelFileError
from seqtag.features import attributes
from seqtag.features.language import parse
from seqtag.labels.column import LabelColumn
from seqtag.labels.lemmas import NormalLemmaCoding
from seqtag.model import bundle
from seqtag.model import model as model_module
from seqtag.model.container import Contents, from_bytes, pack_strings
from seqtag.model.model import Model
from seqtag.tagging.tagger import facts_of
from tests.command_line import chunks, conllu


def test_a_file_of_lemmas_says_so(tmp_path):
    (tmp_path / "train.conllu").write_text(conllu())
    tagger = seqtag.train(tmp_path / "train.conllu", label="lemma", templates="lemma", epochs=2)
    tagger.save(tmp_path / "m.seqtag")
    loaded = seqtag.load(tmp_path / "m.seqtag")
    assert loaded.model.coding == NormalLemmaCoding()
    assert loaded.info["coding"] == "normal-lemmas"
    assert seqtag.load("en").tagger("upos").info["coding"] == "labels"


def test_lemmas_without_forms_are_refused(small):
    config, tensors = small.config(), small.tensors()
    blob = np.frombuffer(b"=a=b=c", np.uint8)
    scripts = {"labels.blob": blob, "labels.offsets": np.arange(0, 7, 2)}
    config = {**config, "coding": "lemmas", "templates": "pos[0]\nlabel[-1]\n"}
    with pytest.raises(ModelFileError) as error:
        Model.of(Contents(config, {**tensors, **scripts}), "m.seqtag")
    assert str(error.value) == (
        "m.seqtag: expected a template that looks at the column form, from which lemmas are "
        "computed, found none; get the file again or retrain"
    )
    with pytest.raises(ModelFileError, match='is inconsistent: expected a script such as "low'):
        Model.of(Contents(config, tensors), "m.seqtag")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A small model."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "train.txt").write_text(chunks())
    seqtag.train(folder / "train.txt", epochs=1, min_count=1).save(folder / "m.seqtag")
    [model] = bundle.load(folder / "m.seqtag", "m.seqtag")
    return model


OTHERS = [None, True, -1, 1.5, "zzz", "a\tb\n", [], [None], ["form"] * 2, ["\x1b[2J"], {}, {"a": 1}]
FACTS = {"sentences": "x", "tokens": None, "corpus_sha256": 5, "best_epochs": 3, "dev": {"f1": 1}}


def test_entries_of_other_kinds_are_refused(small):
    entries = {name: OTHERS for name in small.config()}
    entries["columns"] = [*OTHERS, [f"c{n}" for n in range(10_001)]]
    entries["training"] = [*({name: fact} for name, fact in FACTS.items()), *OTHERS[:-2]]
    entries["calibration"] = [{"margins": []}, *OTHERS[1:]]
    for name, values in entries.items():
        refused = 0
        for value in values:
            try:
                Model.of(Contents({**small.config(), name: value}, small.tensors()), "m.seqtag")
            except ModelFileError as error:
                refused += 1
                assert str(error).startswith("m.seqtag: ") and len(str(error)) < 400
                assert str(error).isprintable()
        assert refused >= len(values) - 2, name


# ----------------------------------------------------------------------------- normal forms
COMPOSED = "Ti\u1ebfng N\nvi\u1ec7t V\n\n10 M\nti\u1ebfng N\nk\u00ednh V\ndon't V\n"
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)


def learned(text: str, **settings):
    sentences = seqtag.read(io.BytesIO(text.encode()), columns=["form", "tag"])
    return seqtag.train(sentences, label="tag", epochs=9, min_count=1, **settings)


@pytest.mark.parametrize("settings", [{"templates": "pos"}, {"tag_dictionary": 1}])
def test_spellings_that_count_as_one_are_tagged_as_one(settings):
    words = ["Ti\u1ebfng", "vi\u1ec7t", "k\u00ednh", "don't", "10"]
    others = ["Ti\u00ea\u0301ng", "vie\u0323\u0302t", "ki\u0301nh", "don’t", "１０"]
    for text in (COMPOSED, DECOMPOSED):
        tagger = learned(text, **settings)
        assert [tagger.tag([word]) for word in words] == [[tag] for tag in "NVVVM"]
        assert [tagger.tag([word]) for word in others] == [[tag] for tag in "NVVVM"]
        assert all(word in tagger.known_words for word in (*words, *others))
    assert len(learned(COMPOSED).known_words) == 6


def test_a_corpus_in_another_spelling_teaches_the_same():
    tensors = [learned(text).model.tensors() for text in (COMPOSED, DECOMPOSED)]
    assert all((value == tensors[1][name]).all() for name, value in tensors[0].items())


def test_attributes_of_users_see_normal_forms(monkeypatch):
    monkeypatch.setattr(attributes, "_REGISTRY", dict(attributes._REGISTRY))
    seen = []

    @attributes.attribute("noted")
    def noted(word: str) -> str:
        seen.append(word)
        return word

    tagger = learned(DECOMPOSED, templates=parse("noted[0]"))
    tagger.tag(["“Ｏｋ”"])
    assert {"k\u00ednh", '"Ok"'} <= {*seen}
    assert seen == [unicodedata.normalize("NFC", word) for word in seen]


# ----------------------------------------------------------------------------- numbers of labels
def with_labels(model: Model, labels: list[str], **config: object) -> Contents:
    """The contents of a small file that claims many labels."""
    blob, offsets = pack_strings(labels)
    tensors = {**model.tensors(), "labels.blob": blob, "labels.offsets": offsets}
    return Contents({**model.config(), "scheme": None, "encoding": None} | config, tensors)


@pytest.mark.parametrize(
    ("labels", "templates", "most"),
    [
        (4097, "form[0]\nlabel[-1]\n", "4,096 labels with label bigrams"),
        (4097, "form[0]\n", "4,096 labels with label bigrams"),  # of the scheme
        (256, "label[-2] + label[-1]\n", "255 labels with label trigrams or word-dependent label"),
        (256, "label[-1] + form[0]\n", "255 labels with label trigrams or word-dependent label"),
        (65_536, "form[0]\n", "65,535 labels, found 65,536"),
        (0, "form[0]\n", "65,535 labels, found 0"),
    ],
)
def test_more_labels_than_there_is_room_for_are_refused(
    small, labels, templates, most, monkeypatch
):
    monkeypatch.setattr(model_module, "_weights", None)  # nothing is allocated for them
    scheme = "iob2" if labels == 4097 and "label" not in templates else None
    config = {"constrain": scheme is not None, "scheme": scheme, "encoding": scheme}
    names = [f"B-{number}" for number in range(labels)]
    with pytest.raises(ModelFileError, match=f"m.seqtag: expected a model of 1 to {most}"):
        Model.of(with_labels(small, names, templates=templates, **config), "m.seqtag")


HALF = "both scheme and encoding, or neither and no constrain, found scheme "


@pytest.mark.parametrize(
    ("last", "changes", "message"),
    [
        ("N0", {}, "expected distinct labels, found 'N0' twice; get the file again or retrain"),
        (
            "a\tb",
            {},
            r"expected labels without control characters, found 'a\tb'; retrain the model",
        ),
        ("\x9b2J", {}, r"labels without control characters, found '\x9b2J'; retrain the model"),
        (
            "N",
            {"scheme": "iob2", "encoding": "iobes"},
            "found 'N0' as label 1 of the label set; check",
        ),
        ("N", {"encoding": "iobes"}, f"{HALF}None, encoding 'iobes' and constrain False; get the"),
        ("N", {"scheme": "iob2"}, f"{HALF}'iob2', encoding None and constrain False; get the file"),
        ("N", {"constrain": True}, f"{HALF}None, encoding None and constrain True; get the file"),
        (
            "N",
            {"label": "id"},
            "whose label column is not an input, found one that overwrites 'id'",
        ),
        ("N", {"label": "form"}, "is not an input, found one that overwrites 'form'; get the file"),
    ],
)
def test_labels_that_do_not_fit_are_refused_at_load(small, last, changes, message):
    labels = [*(f"N{place}" for place in range(len(small.labels) - 1)), last]
    contents = with_labels(small, labels, **{"constrain": False, **changes})
    with pytest.raises(ModelFileError, match=f"^m.seqtag: .*{re.escape(message)}"):
        Model.of(contents, "m.seqtag")


def test_models_that_together_take_too_much_are_refused(small, monkeypatch):
    assert small.dense == len(small.labels) ** 2
    other = replace(small, column=LabelColumn("other"))
    data = bundle.to_bytes([small, other])
    monkeypatch.setattr(bundle, "MOST_DENSE", 2 * small.dense - 1)
    with pytest.raises(ModelFileError) as error:
        bundle.models_of(from_bytes(data), "m.seqtag")
    assert str(error.value) == (
        f"m.seqtag: expected models of at most {2 * small.dense - 1} label bigrams and trigrams in "
        f"a file, found {2 * small.dense} in the first 2; leave one out"
    )
    with pytest.raises(ModelFileError, match="expected models of at most"):
        bundle.to_bytes([small, other])


@pytest.mark.parametrize("name", ["id", "form"])
def test_words_are_never_learnt_as_labels(name):
    sentences = seqtag.read(io.BytesIO(b"1 a N\n2 b V\n\n"), columns=["id", "form", "tag"])
    with pytest.raises(CorpusError) as error:
        seqtag.train(sentences, label=name, epochs=1)
    assert f"expected one of the columns tag for labels, found '{name}'; " in str(error.value)


def test_a_model_that_says_nothing_of_its_training_is_shown():
    tagger = learned("a N\nb V\n")
    model = Model.of(Contents({**tagger.model.config(), "training": {}}, tagger.model.tensors()))
    facts = dict(seqtag.Tagger(model).info), dict(facts_of(seqtag.Tagger(model)))
    assert facts[0]["training"] == {}
    assert facts[1]["trained on"] == "0 sentences, 0 tokens"
