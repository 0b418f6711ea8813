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
from seqtag.labels.schemes import SCHEMES
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


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("label", None, "expected a model whose label is the name of a column, found None"),
        ("label", {"a": 1}, "expected a model whose label is the name of a column, found {'a': 1}"),
        ("label", "a\tb\n", "expected a model whose label is the name of a column, found"),
        ("scheme", {}, f"whose scheme is one of {', '.join(SCHEMES)} or null, found {{}}"),
        ("encoding", -1, f"whose encoding is one of {', '.join(SCHEMES)} or null, found -1"),
        ("constrain", None, "expected a model whose constrain is true or false, found None"),
        ("coding", "poems", "expected a model whose coding is labels or lemmas or normal-lemmas,"),
        ("coding", [], "expected a model whose coding is labels or lemmas or normal-lemmas,"),
        ("columns", "form", "is a list of at most 10,000 distinct names, found 'form'"),
        ("columns", ["form"] * 2, "10,000 distinct names, found ['form', 'form']"),
        ("columns", ["form", 1], "10,000 distinct names, found ['form', 1]"),
        ("columns", ["form", "\x1b[2J"], r"distinct names, found ['form', '\x1b[2J']"),
        ("columns", [f"c{n}" for n in range(10_001)], "at most 10,000 distinct names, found"),
        ("templates", [], "expected a model whose templates is a text, found []"),
        ("scheme", "zzz", "bmes, bmewo or null, found 'zzz'"),
        ("training", {"sentences": "x"}, "found {'sentences': 'x'}"),
        ("training", {"tokens": None}, "found {'tokens': None}"),
        ("training", {"corpus_sha256": 5}, "found {'corpus_sha256': 5}"),
        ("training", {"best_epochs": 3}, "found {'best_epochs': 3}"),
        ("training", {"dev": {"metric": "x"}}, "found {'dev': {'metric': 'x'}}"),
        ("calibration", {"margins": []}, "with shares that do not decrease, or null, found {'marg"),
        ("training", 1.5, "whose training is an object of facts about the training, found 1.5"),
        ("training", [None], "whose training is an object of facts about the training, found"),
    ],
)
def test_entries_of_other_kinds_are_refused(small, name, value, found):
    config = {**small.config(), name: value}
    with pytest.raises(ModelFileError, match=re.escape(found)) as caught:
        Model.of(Contents(config, small.tensors()), "m.seqtag")
    assert str(caught.value).endswith("; get the file again or retrain")
    assert len(str(caught.value)) < 300


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


def test_a_label_that_is_there_twice_is_refused(small):
    contents = with_labels(small, ["N", "\x1b", "\x1b"], constrain=False)
    with pytest.raises(ModelFileError) as error:
        Model.of(contents, "m.seqtag")
    assert str(error.value) == (
        r"m.seqtag: expected distinct labels, found '\x1b' twice; get the file again or retrain"
    )


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


# ----------------------------------------------------------------------------- odd configurations
@pytest.mark.parametrize("name", ["id", "form"])
def test_a_label_that_would_overwrite_the_words_is_refused(small, name):
    config = {**small.config(), "label": name}
    with pytest.raises(ModelFileError) as error:
        Model.of(Contents(config, small.tensors()), "m.seqtag")
    assert str(error.value) == (
        "m.seqtag: expected a model whose label column is not an input, found one that overwrites "
        f"{name!r}; get the file again or retrain"
    )


@pytest.mark.parametrize("name", ["id", "form"])
def test_words_are_never_learnt_as_labels(name):
    sentences = seqtag.read(io.BytesIO(b"1 a N\n2 b V\n\n"), columns=["id", "form", "tag"])
    with pytest.raises(CorpusError) as error:
        seqtag.train(sentences, label=name, epochs=1)
    assert f"expected one of the columns tag for labels, found '{name}'; " in str(error.value)


@pytest.mark.parametrize(
    ("scheme", "encoding", "constrain"),
    [(None, "iobes", False), ("iob2", None, False), (None, None, True)],
)
def test_half_a_scheme_is_refused(small, scheme, encoding, constrain):
    odd = {"scheme": scheme, "encoding": encoding, "constrain": constrain}
    with pytest.raises(ModelFileError) as error:
        Model.of(Contents({**small.config(), **odd}, small.tensors()), "m.seqtag")
    assert str(error.value) == (
        "m.seqtag: expected a model with both scheme and encoding, or neither and no constrain, "
        f"found scheme {scheme!r}, encoding {encoding!r} and constrain {constrain}; "
        "get the file again or retrain"
    )


def test_labels_that_are_not_of_their_scheme_are_refused_at_load(small):
    odd = {"scheme": "iob2", "encoding": "iobes", "constrain": False}
    contents = with_labels(small, [f"N{place}" for place in range(len(small.labels))], **odd)
    with pytest.raises(ModelFileError) as error:
        Model.of(contents, "m.seqtag")
    assert str(error.value).startswith(
        "m.seqtag: the model is inconsistent: expected labels of scheme iobes "
    )
    assert "found 'N0' as label 1 of the label set; check the label column" in str(error.value)


@pytest.mark.parametrize("odd", ["\x1b[2J", "\n", "a\tb", "\x7f", "\x9b2J"])
def test_labels_with_control_characters_are_refused_at_load(small, odd):
    contents = with_labels(small, [*small.labels[:-1], odd], constrain=False)
    with pytest.raises(ModelFileError) as error:
        Model.of(contents, "m.seqtag")
    assert str(error.value) == (
        "m.seqtag: the model is inconsistent: expected labels without control characters, "
        f"found {odd!r}; retrain the model"
    )


def test_a_model_that_says_nothing_of_its_training_is_shown():
    tagger = learned("a N\nb V\n")
    model = Model.of(Contents({**tagger.model.config(), "training": {}}, tagger.model.tensors()))
    facts = dict(seqtag.Tagger(model).info), dict(facts_of(seqtag.Tagger(model)))
    assert facts[0]["training"] == {}
    assert facts[1]["trained on"] == "0 sentences, 0 tokens"
