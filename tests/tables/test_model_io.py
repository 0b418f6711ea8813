"""Word tables in model files: each once, checked as strictly as the rest."""

from __future__ import annotations

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
from tests.strategies import corpus, each_backend, install

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
def refused(change) -> str:
    """What is said of a file of which something was changed."""
    contents = container.from_bytes(bundle.to_bytes([trained().model]))
    config, tensors = dict(contents.config), dict(contents.tensors)
    change(config, tensors)
    data = container.to_bytes(config, tensors)
    with pytest.raises(ModelFileError) as caught:
        bundle.models_of(container.from_bytes(data), "m")
    return str(caught.value)


def put(name, value):
    return lambda config, tensors: tensors.update({name: np.asarray(value)})


def fact(**changes):
    def change(config, tensors):
        config["tables"] = [config["tables"][0] | changes, *config["tables"][1:]]

    return change


def numbers(value):
    def change(config, tensors):
        config["parts"] = [config["parts"][0] | {"tables": value}]

    return change


NONE = "expected numbers of the 2 tables in the file, of different names, found"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("t0.hashes", np.array([2, 1], "u8")), "is inconsistent: expected a table of"),
        (put("t0.numbers", np.array([0, 1], "u4")), "expected tensor 'numbers' to be uint16"),
        (put("t0.values.offsets", np.array([0, 9], "i8")), "expected string offsets from 0 to 2"),
        (put("t0.values.blob", np.array([49, 255], "u1")), "expected strings in UTF-8"),
        (put("t0.more", np.zeros(1)), "expected the tensors ['hashes', 'numbers', "),
        (put("t9.hashes", np.zeros(1, "u8")), "expected arrays of the 1 models in the file, fo"),
        (lambda config, tensors: tensors.pop("t1.hashes"), "expected the tensors ['hashes', "),
        (lambda config, _: config.update(tables=5), "a list of the tables in the file, found 5"),
        (fact(name=5), "a list of the tables in the file, found [{"),
        (fact(name="a b"), "a list of the tables in the file, found [{"),
        (fact(more=1), "a list of the tables in the file, found [{"),
        (fact(origin={"a": 1}), "a list of the tables in the file, found [{"),
        (fact(words="upper"), "expected a table whose words are one of"),
        (fact(name="names"), NONE),
        (numbers([2]), f"{NONE} [2]"),
        (numbers([True]), f"{NONE} [True]"),
        (numbers([-1]), f"{NONE} [-1]"),
        (numbers([0, 0]), f"{NONE} [0, 0]"),
        (numbers({}), f"{NONE} {{}}"),
        (numbers([0]), "is inconsistent: <templates>:3: expected the table 'names', which"),
    ],
)
def test_files_that_do_not_fit_themselves(change, message):
    assert message in refused(change)


def test_too_many_tables(monkeypatch):
    data = bundle.to_bytes([trained().model])
    monkeypatch.setattr(in_files, "MOST_TABLES", 1)
    with pytest.raises(ModelFileError, match="m: expected at most 1 tables in a file, found 2"):
        bundle.models_of(container.from_bytes(data), "m")
    with pytest.raises(ModelFileError, match="expected at most 1 tables in a file, found 2"):
        bundle.to_bytes([trained().model])
