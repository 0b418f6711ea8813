"""Word tables in model files: each once, checked as strictly as the rest."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import seqtag
from seqtag.errors import ModelFileError
from seqtag.features.language import parse
from seqtag.labels.column import LabelColumn
from seqtag.model import bundle, container
from seqtag.tables import model_io as in_files
from seqtag.tables.table import WordTable
from seqtag.tagging.tagger import Tagger
from tests.strategies import changed, corpus, each_backend, install

DATA = corpus("the DT, old JJ, man NN, sees VB; the DT, man NN, runs VB; old JJ, men NN, run VB")
CLASSES = WordTable.of(
    "c-1", [("the", ["1"]), ("men", ["2"])], "lower0", "9", "class", {"classes": "9"}
)
NAMES = WordTable.of("names", [("man", ["é", "x"]), ("sees", ["y"])])
TEXT = "form[0]\nclass(c-1)[0]\nlexicon(names)[-1] + class(c-1)[0]\nlabel[-1]"


def trained(text: str = TEXT) -> Tagger:
    templates = parse(text).with_tables([CLASSES, NAMES])
    return seqtag.train(DATA, templates=templates, label="tag", epochs=3, min_count=1)


@each_backend
def test_tables_come_back(backend, monkeypatch):
    install(backend, monkeypatch)
    tagger = trained()
    data = bundle.to_bytes([tagger.model])
    [model] = bundle.models_of(container.from_bytes(data))
    assert bundle.to_bytes([model]) == data
    assert [table.digest for table in model.tables] == [CLASSES.digest, NAMES.digest]
    assert [dict(table.origin) for table in model.tables] == [{"classes": "9"}, {}]
    sentence = ["The", "man", "sees", "men"]
    assert Tagger(model).tag(sentence) == tagger.tag(sentence)
    assert model.templates.tables == model.compiled.tables


def test_what_a_model_says_of_its_tables():
    first, second = trained().info["tables"]
    assert first == {
        "name": "c-1",
        "words": "lower0",
        "kind": "class",
        "absent": "9",
        "origin": {"classes": "9"},
        "entries": 2,
        "values": 2,
    }
    assert second["name"] == "names"
    assert "tables" not in trained("form[0]").info


def test_a_table_of_two_models_is_there_once():
    one = trained().model
    two = replace(trained("form[0]\nlexicon(names)[0]").model, column=LabelColumn("pos"))
    three = replace(trained("form[0]").model, column=LabelColumn("chunk"))
    contents = container.from_bytes(bundle.to_bytes([one, two, three]))
    assert [each["name"] for each in contents.config["tables"]] == ["c-1", "names"]
    assert [part.get("tables") for part in contents.config["parts"]] == [[0, 1], [1], None]
    models = bundle.models_of(contents)
    assert [len(model.tables) for model in models] == [2, 1, 0]
    assert models[0].tables[1] is models[1].tables[0]


# ----------------------------------------------------------------- what is refused
def refused(config: dict, tensors: dict) -> str:
    """What is said of a file, or an empty text."""
    data = container.to_bytes(config, tensors)
    try:
        bundle.models_of(container.from_bytes(data), "m")
    except ModelFileError as error:
        assert str(error).startswith("m: ")
        return str(error)
    return ""


@pytest.fixture(scope="module")
def contents():
    config, tensors, *_ = container.from_bytes(bundle.to_bytes([trained().model]))
    return config, tensors


def test_arrays_that_do_not_fit_a_table_are_refused(contents):
    config, tensors = contents
    assert "expected arrays of the 1 mod" in refused(config, {**tensors, "t9.hashes": np.ones(1)})
    assert "expected the tensors ['hashes'" in refused(config, {**tensors, "t0.more": np.ones(1)})
    for name in filter(re.compile("t[01]").match, tensors):
        less = {each: array for each, array in tensors.items() if each != name}
        assert "expected the tensors ['hashes', 'numbers', " in refused(config, less)
        assert "to be " in refused(config, {**less, name: tensors[name][None]})
        assert any([refused(config, {**less, name: other}) for other in changed(tensors[name])])


@pytest.mark.parametrize(
    "wrong", [{"name": 5}, {"name": "a b"}, {"more": 1}, {"origin": {"a": 1}}, None]
)
def test_what_is_no_list_of_tables_is_refused(wrong, contents):
    config, tensors = contents
    tables = 5 if wrong is None else [config["tables"][0] | wrong, *config["tables"][1:]]
    found = refused({**config, "tables": tables}, tensors)
    assert "expected a list of the tables in the file, found" in found


@pytest.mark.parametrize("numbers", [[2], [True], [-1], [0, 0], {}, [0]])
def test_numbers_of_no_table_are_refused(numbers, contents):
    config, tensors = contents
    found = refused({**config, "parts": [config["parts"][0] | {"tables": numbers}]}, tensors)
    wanted = f"numbers of the 2 tables in the file, of different names, found {numbers}"
    assert wanted in found or (numbers == [0] and "expected the table 'names', which" in found)


def test_too_many_tables(monkeypatch):
    data = bundle.to_bytes([trained().model])
    monkeypatch.setattr(in_files, "MOST_TABLES", 1)
    with pytest.raises(ModelFileError, match="m: expected at most 1 tables in a file, found 2"):
        bundle.models_of(container.from_bytes(data), "m")
    with pytest.raises(ModelFileError, match="expected at most 1 tables in a file, found 2"):
        bundle.to_bytes([trained().model])
