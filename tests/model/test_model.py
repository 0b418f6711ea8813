"""seqtag.model.model: each format of files has a reader, and what a file says is checked."""

from __future__ import annotations

import re

import numpy as np
import pytest

import seqtag
from seqtag.errors import ModelFileError
from seqtag.labels.lemmas import LemmaCoding
from seqtag.model import container
from seqtag.model import model as module
from seqtag.model.container import Contents
from seqtag.tagging.tagger import Tagger
from tests.command_line import chunks, conllu
from tests.conftest import ROOT

UPOS = ROOT / "models" / "en-ewt-upos.seqtag"


def second(contents, source):
    """The reader of a second format, whose label column has another name in the file."""
    config = contents.config | {"label": contents.config["column"]}
    return module._from_format_1(contents._replace(config=config), source)


def in_format(number: int, monkeypatch) -> bytes:
    """The embedded model as a program of a later format would write it."""
    config, tensors, *_ = container.load(UPOS)
    if number == 2:
        config["column"] = config.pop("label")
    monkeypatch.setattr(container, "FORMAT_VERSION", number)
    data = container.to_bytes(config, tensors)
    monkeypatch.undo()
    return data


def test_a_file_is_read_as_its_format_says(tmp_path, monkeypatch):
    path = tmp_path / "second.seqtag"
    path.write_bytes(in_format(2, monkeypatch))
    monkeypatch.setattr(container, "FORMAT_VERSION", 2)
    monkeypatch.setitem(module._READERS, 2, second)
    for name in (path, UPOS):
        assert seqtag.load(name).label == "upos"
    copy = Tagger(module.Model.of(container.load(path)))
    assert copy.tag(["Stop", "!"]) == ["VERB", "PUNCT"]


def test_a_later_format_that_can_be_read_is_read_as_the_latest_that_is_known(monkeypatch):
    contents = container.from_bytes(in_format(7, monkeypatch))
    assert contents.format == 7
    assert module.Model.of(contents).column.name == "upos"


def test_the_latest_format_is_the_one_that_is_written():
    assert max(module._READERS) == container.FORMAT_VERSION


@pytest.mark.parametrize("name", ["en-ewt-upos", "en-ewt-xpos"])
def test_the_embedded_models_have_a_format_that_is_known(name):
    assert container.load(ROOT / "models" / f"{name}.seqtag").format in module._READERS


def test_a_file_of_lemmas_says_so(tmp_path):
    (tmp_path / "train.conllu").write_text(conllu())
    tagger = seqtag.train(tmp_path / "train.conllu", label="lemma", templates="lemma", epochs=2)
    tagger.save(tmp_path / "m.seqtag")
    loaded = seqtag.load(tmp_path / "m.seqtag")
    assert loaded.model.coding == LemmaCoding()
    assert loaded.info["coding"] == "lemmas"
    assert "coding" not in seqtag.load(UPOS).info


def test_lemmas_without_forms_are_refused(parts):
    config, tensors = parts
    blob = np.frombuffer(b"=a=b=c", np.uint8)
    scripts = {"labels.blob": blob, "labels.offsets": np.arange(0, 7, 2)}
    config = {**config, "coding": "lemmas", "templates": "pos[0]\nlabel[-1]\n"}
    with pytest.raises(ModelFileError) as error:
        module.Model.of(Contents(config, {**tensors, **scripts}, 1, "seqtag"), "m.seqtag")
    assert str(error.value) == (
        "m.seqtag: expected a template that looks at the column form, by which lemmas are "
        "written, found none; get the file again or retrain"
    )
    with pytest.raises(ModelFileError, match='does not fit itself: expected a script such as "low'):
        module.Model.of(container.from_bytes(container.to_bytes(config, tensors)), "m.seqtag")


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Configuration and arrays of a small model."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "train.txt").write_text(chunks())
    seqtag.train(folder / "train.txt", epochs=1, min_count=1).save(folder / "m.seqtag")
    return container.load(folder / "m.seqtag")[:2]


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
def test_entries_of_other_kinds_are_refused(parts, tmp_path, name, value, found):
    config, tensors = parts
    container.save(tmp_path / "m.seqtag", {**config, name: value}, tensors)
    with pytest.raises(ModelFileError, match=re.escape(found)) as caught:
        seqtag.load(tmp_path / "m.seqtag")
    assert str(caught.value).endswith("; get the file again or retrain")
    assert len(str(caught.value).replace(str(tmp_path), "")) < 150
