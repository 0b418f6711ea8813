"""Settings of training: one field each, from which options and documentation are made.

Template files (``set min-count 2``), `seqtag.train` (``min_count=2``), the command line
(``--min-count 2``), ``seqtag info`` and the documentation of all of them read the fields of
`Settings`; a new setting is a new field.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from seqtag.engine.arrays import RULES
from seqtag.errors import TemplateError, did_you_mean
from seqtag.labels.schemes import SCHEMES

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = int | float | str

_MANY_TOKENS = (
    100_000  # dropout of rare features gains .3 points with 38,000 tokens, .03 with 200,000
)


MANY_LABELS = 255
"""With more labels, words keep to those they had, and components are learned if there are any."""


class Setting(NamedTuple):
    """Definition of a setting.

    Attributes
    ----------
    name
        As template files and the command line write it: ``min-count``.
    type
        ``int``, ``float`` or ``str``.
    default
        Its value if neither templates nor the caller give one.
    help
        Its effect, in one sentence.
    choices
        The allowed values of a setting that is a word.
    words
        Words that are allowed instead of a number.
    least, most
        The range of a number; ends named in `open_ends` are excluded.
    """

    name: str
    type: type[int] | type[float] | type[str]
    default: Value
    help: str
    choices: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    least: float = -inf
    most: float = inf
    open_ends: str = ""

    @property
    def attribute(self) -> str:
        """The name in Python: ``min_count``."""
        return self.name.replace("-", "_")

    @property
    def expected(self) -> str:
        """Description of the allowed values.

        >>> SETTINGS["step"].expected
        'a number above 0, at most 1,000,000'
        """
        if self.choices:
            return f"{', '.join(self.choices[:-1])} or {self.choices[-1]}"
        kind = "an integer" if self.type is int else "a number"
        low = f"{'above' if 'least' in self.open_ends else 'from'} {self.least:,}"
        words = "".join(f", {word}" for word in self.words[:-1])
        instead = f"{words} or {self.words[-1]}" if self.words else ""
        if "most" in self.open_ends:
            return f"{kind} {low} to below {self.most:,}{instead}"
        return f"{kind} {low}, at most {self.most:,}{instead}"

    def check(self, value: Value) -> Value:
        """Return the value in the setting's type, if it is allowed.

        Raises
        ------
        TemplateError
            If it has another type or is out of range.
        """
        if isinstance(value, np.generic):  # as drawn by scipy and numpy, for a search
            value = value.item()
        if self.type is float and type(value) is int:
            value = float(value)
        if value in self.words and isinstance(value, str):
            return value
        if type(value) is not self.type or not self._allows(value):
            near = did_you_mean(str(value), (*self.choices, *self.words))
            msg = f"the setting {self.name} expects {self.expected}, found {value!r}{near}"
            raise TemplateError(msg)
        return value

    def parse(self, text: str) -> Value:
        """Parse a value.

        Raises
        ------
        TemplateError
            If it is not an allowed value.
        """
        try:
            value: Value = self.type(text)
        except ValueError:
            value = text
        return self.check(value)

    def _allows(self, value: Value) -> bool:
        if isinstance(value, str):
            return value in self.choices
        if not isfinite(value) or not self.least <= value <= self.most:
            return False
        at_end = (value == self.least and "least" in self.open_ends) or (
            value == self.most and "most" in self.open_ends
        )
        return not at_end


def _setting(default: Value, help: str, **more: Any) -> Any:
    return field(default=default, metadata={"help": help, **more})


@dataclass(frozen=True)
class Settings:
    """Values of all settings.

    Examples
    --------
    >>> Settings().with_values({"min-count": 2}).min_count
    2
    """

    epochs: int = _setting(10, "Passes over the training sentences.", least=1, most=10**9)
    update: str = _setting(
        "perceptron",
        "Update rule: perceptron, pa (passive-aggressive), or adaptive (per-weight step sizes).",
        choices=RULES,
    )
    step: float = _setting(
        1.0,
        "Step size: C of pa, eta of adaptive; not used by perceptron.",
        least=0,
        most=10**6,
        open_ends="least",
    )
    margin: float = _setting(
        0.0,
        "Cost of a wrong label in training (loss-augmented decoding); 0 is none.",
        least=0,
        most=10**6,
    )
    min_count: int = _setting(
        1, "Leave out features that are seen less often in training.", least=1, most=10**9
    )
    encoding: str = _setting(
        "keep",
        "Scheme in which chunk labels are learned; output uses the scheme of the input.",
        choices=("keep", *SCHEMES),
    )
    dropout: float | str = _setting(
        0.0,
        "Share of features that are dropped at random in each epoch. rare: a feature seen n times "
        "is dropped with probability 1/(n + 1); auto: rare for small corpora, else 0.",
        least=0,
        most=1,
        words=("rare", "auto"),
        open_ends="most",
    )
    label_parts: str = _setting(
        "whole",
        "Give weights to whole labels, or (split) to the components of labels such as "
        "NOUN|Case=Nom.",
        choices=("whole", "split"),
    )
    tag_dictionary: int | str = _setting(
        0,
        "Restrict words seen at least this often in training to the labels that they had there; 0 "
        "restricts none. auto: 1 with more than 255 labels, else 0.",
        least=0,
        most=10**9,
        words=("auto",),
    )
    recall_bias: float | str = _setting(
        0.0,
        "Lower the score of the label O by this much, so that more chunks are found; auto: 0.2, or "
        "0.5 if more than half of the words in chunks occur there once.",
        least=-(10**6),
        most=10**6,
        words=("auto",),
    )

    def with_values(self, values: Mapping[str, Value | None]) -> Settings:
        """Return the settings with some values replaced; None keeps a value.

        Parameters
        ----------
        values
            By name, written with hyphens or underscores.

        Raises
        ------
        TemplateError
            If a setting is unknown, or a value is not allowed.
        """
        changed = {
            name.replace("-", "_"): check_setting(name.replace("_", "-"), value)
            for name, value in values.items()
            if value is not None
        }
        return replace(self, **changed)  # type: ignore[arg-type]

    def for_corpus(self, tokens: int, labels: int, once: float) -> Settings:
        """Return the settings for a corpus, without those that are ``auto``.

        Parameters
        ----------
        tokens
            Its size: below 100,000 tokens dropout is rare.
        labels
            Number of its labels; with more than `MANY_LABELS` known words keep to theirs.
        once
            The share of the words in chunks that occur there once. New text has many unknown names
            if this is large, and more are found with a larger recall bias.

        Examples
        --------
        >>> auto = Settings(dropout="auto", tag_dictionary="auto", recall_bias="auto")
        >>> [auto.for_corpus(n, 9, .3).dropout for n in (99_999, 100_000)]
        ['rare', 0.0]
        >>> [auto.for_corpus(10_000, n, .3).tag_dictionary for n in (255, 256)]
        [0, 1]
        >>> [auto.for_corpus(10_000, 9, once).recall_bias for once in (.5, .6)]
        [0.2, 0.5]
        """
        dropout, least, bias = self.dropout, self.tag_dictionary, self.recall_bias
        if least == "auto":  # gains up to 3 points of FEATS with many values, loses .2 with few
            least = int(labels > MANY_LABELS)
        if dropout == "auto":
            dropout = "rare" if tokens < _MANY_TOKENS else 0.0
        if bias == "auto":  # measured on six corpora of names; more than half only in WNUT-17
            bias = 0.5 if once > 0.5 else 0.2
        return replace(self, dropout=dropout, tag_dictionary=least, recall_bias=bias)

    def to_dict(self) -> dict[str, Value]:
        """Return the values by their names in Python; newer settings only if not the default."""
        return {
            name: value for name, value in asdict(self).items() if name != "recall_bias" or value
        }


_TYPES: dict[str, type[int] | type[float] | type[str]] = {
    "int": int,
    "int | str": int,  # a number, or a word instead
    "float": float,
    "float | str": float,
    "str": str,
}

SETTINGS: dict[str, Setting] = {
    name: Setting(name, _TYPES[str(each.type)], cast("Value", each.default), **each.metadata)
    for each in fields(Settings)
    for name in [each.name.replace("_", "-")]
}
"""The settings by name, as template files write it, in the order of the fields."""


def check_setting(name: str, value: Value) -> Value:
    """Return the value of a setting in its type.

    Raises
    ------
    TemplateError
        If there is no such setting, or the value has another type or is out of range.

    Examples
    --------
    >>> check_setting("margin", 1)
    1.0
    """
    return find_setting(name).check(value)


def find_setting(name: str) -> Setting:
    """Return the setting of a name, written with hyphens.

    Raises
    ------
    TemplateError
        If there is none.
    """
    if name not in SETTINGS:
        near = did_you_mean(name, SETTINGS)
        msg = f"unknown setting {name!r}{near}; settings are {', '.join(SETTINGS)}"
        raise TemplateError(msg)
    return SETTINGS[name]
