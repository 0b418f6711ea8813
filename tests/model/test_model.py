"""seqtag.model.model: what a file says of a model is checked."""

from __future__ import annotations

import re

import numpy as np
import pytest

import seqtag
from seqtag.errors import ModelFileError
from seqtag.labels.lemmas import LemmaCoding
from seqtag.model import bundle
from seqtag.model.container import Contents
from seqtag.model.model import Model
from tests.command_line import chunks, conllu


def test_a_file_of_lemmas_says_so(tmp_path):
    (tmp_path / "train.conllu").write_text(conllu())
    tagger = seqtag.train(tmp_path / "train.conllu", label="lemma", templates="lemma", epochs=2)
    tagger.save(tmp_path / "m.seqtag")
    loaded = seqtag.load(tmp_path / "m.seqtag")
    assert loaded.model.coding == LemmaCoding()
    assert loaded.info["coding"] == "lemmas"
    assert "coding" not in seqtag.load("en-ewt-upos").info


def test_lemmas_without_forms_are_refused(small):
    config, tensors = small.config(), small.tensors()
    blob = np.frombuffer(b"=a=b=c", np.uint8)
    scripts = {"labels.blob": blob, "labels.offsets": np.arange(0, 7, 2)}
    config = {**config, "coding": "lemmas", "templates": "pos[0]\nlabel[-1]\n"}
    with pytest.raises(ModelFileError) as error:
        Model.of(Contents(config, {**tensors, **scripts}), "m.seqtag")
    assert str(error.value) == (
        "m.seqtag: expected a template that looks at the column form, by which lemmas are "
        "written, found none; get the file again or retrain"
    )
    with pytest.raises(ModelFileError, match='does not fit itself: expected a script such as "low'):
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
        ("label", None, "expected a model whose label is a name, found None"),
        ("label", {"a": 1}, "expected a model whose label is a name, found {'a': 1}"),
        ("scheme", {}, "expected a model whose scheme is a name or null, found {}"),
        ("encoding", -1, "expected a model whose encoding is a name or null, found -1"),
        ("constrain", None, "expected a model whose constrain is true or false, found None"),
        ("coding", "poems", "expected a model whose coding is labels or lemmas, found 'poems'"),
        ("coding", [], "expected a model whose coding is labels or lemmas, found []"),
        ("columns", "form", "whose columns is a list of different names, found 'form'"),
        ("columns", ["form"] * 2, "is a list of different names, found ['form', 'form']"),
        ("columns", ["form", 1], "is a list of different names, found ['form', 1]"),
        ("templates", [], "expected a model whose templates is a text, found []"),
        ("training", 1.5, "expected a model whose training is an object, found 1.5"),
        ("training", [None], "expected a model whose training is an object, found [None]"),
    ],
)
def test_entries_of_other_kinds_are_refused(small, name, value, found):
    config = {**small.config(), name: value}
    with pytest.raises(ModelFileError, match=re.escape(found)) as caught:
        Model.of(Contents(config, small.tensors()), "m.seqtag")
    assert str(caught.value).endswith("; get the file again or retrain")
    assert len(str(caught.value)) < 160
