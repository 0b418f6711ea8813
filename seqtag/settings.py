"""The settings of training: type, range and meaning, each written down once."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from seqtag.errors import TemplateError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Setting = int | float | str

SETTINGS: Mapping[str, tuple[type, str, Callable[..., bool]]] = {
    "epochs": (int, "a whole number from 1", lambda v: v >= 1),
    "update": (str, "perceptron, pa or adaptive", lambda v: v in ("perceptron", "pa", "adaptive")),
    "step": (float, "a number above 0", lambda v: 0 < v < inf),
    "margin": (float, "a number from 0", lambda v: 0 <= v < inf),
    "min-count": (int, "a whole number from 1", lambda v: v >= 1),
    "encoding": (
        str,
        "keep, iob2, iobes or bilou",
        lambda v: v in ("keep", "iob2", "iobes", "bilou"),
    ),
    "dropout": (float, "a number from 0 to below 1", lambda v: 0 <= v < 1),
    "label-parts": (str, "whole or split", lambda v: v in ("whole", "split")),
    "known-labels": (int, "a whole number from 0", lambda v: v >= 0),
}
"""Settings that a template file can make: type, what is allowed (in words, and as a test).

epochs: passes over the training sentences. update: the learning rule. step: C of pa, eta of
adaptive; perceptron ignores it. margin: cost of a wrong label in training. min-count: features
seen less often are dropped. encoding: the label scheme trained with. dropout: the share of
features hidden at random in training. label-parts: split gives weights to the parts of labels
such as NOUN|Case=Nom. known-labels: words seen this often in training are only given labels they
had there; 0 restricts no word.
"""


def check_setting(name: str, value: Setting) -> Setting:
    """The value of a setting in its type, if `SETTINGS` allows it.

    Raises
    ------
    TemplateError
        If there is no such setting, or the value has another type or is out of range.

    Examples
    --------
    >>> check_setting("margin", 1)
    1.0
    """
    if name not in SETTINGS:
        msg = (
            f"unknown setting {name!r}{did_you_mean(name, SETTINGS)}; "
            f"settings are {', '.join(SETTINGS)}"
        )
        raise TemplateError(msg)
    kind, _, allows = SETTINGS[name]
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind or not allows(value):
        raise setting_error(name, value)
    return value


def setting_error(name: str, value: Setting) -> TemplateError:
    """The error that says what a setting expects."""
    return TemplateError(f"the setting {name} expects {SETTINGS[name][1]}, found {value!r}")
