"""What a second pass looks at."""

from __future__ import annotations

import pytest

from seqtag.errors import TemplateError
from seqtag.features.language import load, parse, with_predicted, without_predicted

SAID = ["first.upos", "first.xpos"]


def test_each_column_gets_its_templates():
    found = with_predicted(load("pos"), SAID)
    added = [str(each) for each in found.templates[len(load("pos").templates) :]]
    half = len(added) // 2
    assert [text.replace("upos", "xpos") for text in added[:half]] == added[half:]
    assert "normal[0] + first.upos[+1]" in added
    assert (found.source, found.settings) == ("pos.txt", load("pos").settings)


def test_words_are_not_looked_at_where_there_are_none():
    found = with_predicted(parse("tag[0]"), ["first.tag"])
    assert found.looks_at(["tag", "first.tag"]) == ("tag", "first.tag")


def test_what_is_asked_for_is_all_that_there_is():
    asking = parse("form[0]\nlower[0] + first.xpos[+1]")
    assert with_predicted(asking, SAID) is asking
    assert str(without_predicted(asking, SAID)) == "form[0]\n"
    assert without_predicted(asking, ["first.upos"]) == asking


def test_numbered_columns_stay():
    assert str(without_predicted(parse("%1[0]\nfirst.upos[0]"), SAID)) == "%1[0]\n"


def test_templates_that_see_labels_of_a_first_pass_only():
    with pytest.raises(TemplateError) as error:
        without_predicted(parse("first.upos[0]"), SAID)
    assert str(error.value) == "expected at least one template, found none; for example form[0]"
