"""seqtag.model.bundle: the models of two passes in a file, and what is refused there."""

from __future__ import annotations

from dataclasses import replace

import pytest

import seqtag
from seqtag.errors import ModelFileError
from seqtag.features.language import parse
from seqtag.model import bundle, container
from seqtag.model.bundle import attach_first_pass, flatten, input_columns, predicted_columns

WORDS = [["the", "dog"], ["a", "cat"]]


@pytest.fixture(scope="module")
def twice():
    """A model of two passes."""
    return seqtag.train(WORDS, [["DET", "NOUN"]] * 2, label="tag", passes=2, epochs=1).model


@pytest.fixture(scope="module")
def other():
    """A model of one pass, of another column."""
    return seqtag.train(WORDS, [["D", "N"]] * 2, label="other", epochs=1).model


def contents(*models):
    return container.from_bytes(bundle.to_bytes(models))


def test_a_file_lists_the_models_of_a_first_pass_before_the_one_they_are_for(twice, other):
    found = contents(other, twice)
    assert [part["label"] for part in found.config["parts"]] == ["other", "tag", "tag"]
    assert [part.get("first") for part in found.config["parts"]] == [None, None, [1]]
    models = bundle.models_of(found)
    assert [len(model.first) for model in models] == [0, 1]
    assert bundle.to_bytes(models) == bundle.to_bytes([other, twice])


def test_what_it_looks_at_and_what_its_first_pass_says(twice):
    assert input_columns(twice) == input_columns(twice.first[0]) == ("form",)
    assert predicted_columns(twice.first[0]) == {"first.tag": ["DET", "NOUN"]}
    assert flatten([twice]) == [twice.first[0], twice]


def test_columns_of_both_passes_are_in_the_order_of_the_corpus():
    sentences = [{"form": words, "pos": ["D", "N"]} for words in WORDS]
    templates = parse("pos[0]\nform[0] + first.tag[0]")
    tagger = seqtag.train(
        sentences, [["B", "I"]] * 2, label="tag", templates=templates, passes=2, epochs=1
    )
    assert tagger.columns == ("form", "pos")
    assert tagger.first[0].columns == ("pos",)
    assert tagger.tag([("the", "D"), ("dog", "N")]) == ["B", "I"]


@pytest.mark.parametrize("numbers", [[1], [2], [-1], [0, 0], [0, 1], [True], ["0"], "0", None, {}])
def test_numbers_that_are_not_those_just_before_are_refused(twice, numbers):
    found = contents(twice)
    found.config["parts"][1]["first"] = numbers
    with pytest.raises(ModelFileError) as error:
        bundle.models_of(found, "m.seqtag")
    assert str(error.value).startswith(
        "m.seqtag: expected numbers of the models of one pass just before number 1 for its first "
        "pass, found "
    )
    assert str(error.value).endswith("; get the file again or retrain")


def test_a_first_pass_of_two_passes_is_refused(twice):
    with pytest.raises(ModelFileError, match="models of one pass just before number 1"):
        attach_first_pass([twice, twice], [[], [0]], "m.seqtag")


def test_a_first_pass_that_nobody_looks_at_is_refused(twice, other):
    for first, second in ((other, twice), (twice.first[0], other)):
        with pytest.raises(ModelFileError) as error:
            attach_first_pass([first, replace(second, first=())], [[], [0]], "m.seqtag")
        assert str(error.value).startswith(
            "m.seqtag: expected a model with templates that use a column of its first pass (first"
        )
