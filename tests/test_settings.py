"""Settings: one record each, and everything made from it."""

from __future__ import annotations

import re
from dataclasses import fields
from inspect import signature

import numpy as np
import pytest

from seqtag.cli.train import command as train_command
from seqtag.corpus import ReadOptions
from seqtag.errors import TemplateError
from seqtag.features.language import load, parse, preset_names, preset_text
from seqtag.settings import SETTINGS, Settings, check_setting, find_setting
from seqtag.training.train import Options, train


def test_every_field_is_a_setting_with_a_default_that_is_allowed():
    told = list(Settings(recall_bias=0.5).to_dict())
    assert [setting.attribute for setting in SETTINGS.values()] == told
    assert list(Settings().to_dict()) == [name for name in told if name != "recall_bias"]
    for setting in SETTINGS.values():
        assert setting.check(setting.default) == setting.default
        assert setting.help.endswith(".")


def test_presets_leave_nothing_to_the_trainer():
    for name in preset_names():
        assert list(load(name).settings) == list(SETTINGS)
        listed = parse(preset_text(name)).settings
        assert listed
        assert all(value != SETTINGS[each].default for each, value in listed.items())


def test_the_command_line_has_every_setting():
    options = {option.name: option for option in train_command.params}
    for setting in SETTINGS.values():
        assert options[setting.attribute].help == setting.help


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("epochs", 0, "the setting epochs expects an integer from 1, at most 1,000,000,000, "),
        ("epochs", True, "found True"),
        ("epochs", np.float64(2), "found 2.0"),
        ("step", 0.0, "the setting step expects a number above 0, at most 1,000,000, found 0.0"),
        ("step", 1e38, "found 1e+38"),
        ("margin", float("inf"), "found inf"),
        ("dropout", 1, "the setting dropout expects a number from 0 to below 1, rare or auto,"),
        ("update", "sgd", "expects perceptron, pa or adaptive, found 'sgd'"),
        ("min-counts", 1, "unknown setting 'min-counts' (did you mean 'min-count'?); settings are"),
    ],
)
def test_what_is_not_allowed_is_refused(name, value, message):
    with pytest.raises(TemplateError) as error:
        check_setting(name, value)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [("epochs", "5", 5), ("margin", "1", 1.0), ("update", "pa", "pa"), ("step", ".5", 0.5)],
)
def test_texts_are_parsed(name, text, value):
    found = find_setting(name).parse(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "value"),
    [("margin", np.float64(0.5)), ("margin", np.int64(2)), ("epochs", np.int64(2))],
)
def test_numbers_of_numpy_are_numbers(name, value):
    found = check_setting(name, value)
    assert (found, type(found)) == (value, SETTINGS[name].type)


def test_none_leaves_a_setting_as_it_is():
    settings = Settings().with_values({"min_count": 3, "epochs": None, "label-parts": "split"})
    assert settings == Settings(min_count=3, label_parts="split")


def test_train_lists_the_settings():
    listed = str(train.__doc__).partition("**settings")[2].partition("Returns")[0]
    names = [setting.attribute for setting in SETTINGS.values()]
    assert re.findall(r"``(\w+)``", listed) == names


def test_the_parameters_of_train_are_listed_once():
    """Documentation, command line and estimator have no others than `Options`."""
    doc = str(train.__doc__).partition("Parameters\n")[2].partition("Returns\n")[0]
    names = re.findall(r"^    ([a-z_, ]+)$", doc, re.M)
    documented = {name for line in names for name in line.split(", ")} - {"data", "labels", "dev"}
    settings = {setting.attribute for setting in SETTINGS.values()}
    assert documented - {"label"} == {*Options.__annotations__} - settings
    reading = {field.name for field in fields(ReadOptions)}
    own = {"train", "dev", "label", "output", "force", "as_json", "notes", "attributes", "lenient"}
    on_command = {each.name for each in train_command.params} - own - reading
    assert on_command <= {*Options.__annotations__}
    sklearn = pytest.importorskip("seqtag.integrations.sklearn")
    own = {"order", "random_state", "verbose", "columns"}
    assert {*signature(sklearn.SequencePerceptron).parameters} - own <= {*Options.__annotations__}


def test_the_options_of_train_are_typed_as_the_settings():
    for setting in SETTINGS.values():
        expected = setting.type.__name__ + (" | str" if setting.words else "")
        assert Options.__annotations__[setting.attribute].__forward_arg__ == f"{expected} | None"


def test_the_estimator_has_every_setting():
    sklearn = pytest.importorskip("seqtag.integrations.sklearn")
    parameters = signature(sklearn.SequencePerceptron).parameters
    for setting in SETTINGS.values():
        assert parameters[setting.attribute].default is None, setting.name
