"""seqtag.model.model: each format of files has a reader of its own."""

from __future__ import annotations

import pytest

import seqtag
from seqtag.model import container
from seqtag.model import model as module
from seqtag.tagging.tagger import Tagger
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
