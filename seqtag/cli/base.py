"""Classes of commands and options: help in groups, suggestions."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import click

from seqtag.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OPTIONS = "Options"
OUTPUT = "Output"
INPUT = "Input"
FEATURES = "Features"
TRAINING = "Training settings"
CLUSTER = "Cluster"
GENERAL = "General"
ADVANCED = "Advanced"

GROUPS = {
    OPTIONS: "",
    OUTPUT: "",
    INPUT: "",
    FEATURES: "",
    TRAINING: "seqtag info --templates PRESET shows the values of a preset.",
    CLUSTER: "",
    GENERAL: "",
    ADVANCED: "",
}
"""Groups of options in the order of the help, and what is said about each."""

_JOIN = "\xa0"  # a blank at which lines are not broken
_NAME_WIDTH = 26  # of the column of names; longer ones have a line of their own


class Option(click.Option):
    """Option that belongs to a group of the help and shows its default.

    Parameters
    ----------
    *args
        As `click.Option` takes them.
    group
        One of `GROUPS`.
    shown
        Default to show, if it is not the default value.
    **more
        As `click.Option` takes them.
    """

    def __init__(self, *args: Any, group: str = OPTIONS, shown: str = "", **more: Any):
        super().__init__(*args, **more)
        self.group, self.shown = group, shown

    @property
    def default_text(self) -> str:
        """The default as the help shows it; empty if there is none."""
        if self.secondary_opts and isinstance(self.default, bool):
            return (self.opts if self.default else self.secondary_opts)[0].lstrip("-")
        if self.shown or self.is_flag or not isinstance(self.default, (str, int, float)):
            return self.shown
        return f"{self.default:g}" if isinstance(self.default, float) else str(self.default)

    def get_help_record(self, context: click.Context) -> tuple[str, str] | None:
        """Return the names, and the help with the default."""
        record = super().get_help_record(context)
        if record is None:
            return None
        default = self.default_text
        note = "required" if self.required else f"default:{_JOIN}{default}" if default else ""
        return record[0], f"{self.help}  [{note}]" if note else self.help or ""


option = partial(click.option, cls=Option)
"""Decorator that adds an `Option`."""
in_input = partial(option, group=INPUT)
in_output = partial(option, group=OUTPUT)
in_advanced = partial(option, group=ADVANCED)
in_general = partial(option, group=GENERAL)
in_training = partial(option, group=TRAINING)
in_features = partial(option, group=FEATURES)
in_cluster = partial(option, group=CLUSTER)
"""Decorators that add an `Option` of a group."""


class Choice(click.Choice):  # type: ignore[type-arg]
    """Choice of words that suggests the nearest one."""

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> Any:
        """Return the value if it is one of the choices."""
        if value not in self.choices:
            words = ", ".join(self.choices)
            near = did_you_mean(str(value), self.choices)
            self.fail(f"expected one of {words}, found {value!r}{near}", param, context)
        return value


class Whole(click.IntRange):
    """Whole number in a range."""

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> Any:
        """Return the value as a number in the range."""
        try:
            return super().convert(value, param, context)
        except click.BadParameter:
            most = "" if self.max is None else f" to {self.max}"
            msg = f"expected a whole number from {self.min}{most}, found {value!r}"
            self.fail(msg, param, context)


class Real(click.FloatRange):
    """Number from 0 to `most`, by default three years of seconds; not NaN, as in click's ranges."""

    def __init__(self, most: float = 1e8, *, min_open: bool = False):
        super().__init__(0, most, min_open=min_open)

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> Any:
        """Return the value as a number in the range."""
        number = nan
        with suppress(click.BadParameter):
            number = super().convert(value, param, context)
        if isnan(number):
            least = "above 0" if self.min_open else "from 0"
            msg = f"expected a number {least} to {self.max:g}, found {value!r}"
            self.fail(msg, param, context)
        return number


class Command(click.Command):
    """Command whose help shows its options in groups."""

    def get_help(self, context: click.Context) -> str:
        """Return the help."""
        return super().get_help(context).replace(_JOIN, " ")

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group."""
        groups = {
            group: [record for each in options if (record := each.get_help_record(context))]
            for group, options in option_groups(self, context).items()
        }
        write_sections(formatter, groups)


class Group(click.Group):
    """Group of commands whose help shows their options in groups."""

    command_class = Command


def write_sections(
    formatter: click.HelpFormatter, sections: Mapping[str, Sequence[tuple[str, str]]]
) -> None:
    """Write named lists of terms with their texts, all texts in one column."""
    names = [name for rows in sections.values() for name, _ in rows if len(name) <= _NAME_WIDTH]
    width = max(map(len, names))
    for section, rows in sections.items():
        with formatter.section(section):
            if GROUPS.get(section):
                formatter.write_text(GROUPS[section])
            formatter.write_dl([(f"{name:<{width}}", text) for name, text in rows], col_max=width)


def option_groups(command: click.Command, context: click.Context) -> dict[str, list[click.Option]]:
    """Return the options of a command that are not hidden, by group, in the order of the help.

    Parameters
    ----------
    command
        The command.
    context
        A context of it; ``click.Context(command)`` is enough.
    """
    found: dict[str, list[click.Option]] = {}
    for each in command.get_params(context):
        if isinstance(each, click.Option) and not each.hidden:
            found.setdefault(getattr(each, "group", GENERAL), []).append(each)
    return {group: found[group] for group in GROUPS if group in found}
