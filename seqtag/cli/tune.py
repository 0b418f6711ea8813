"""``seqtag tune``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from seqtag.cli.base import Command, Whole, option
from seqtag.cli.common import Notes, check_stdout, print_json, refuse, say
from seqtag.cli.options import (
    attributes_option,
    complete_files,
    seeds_option,
    training_arguments,
    training_options,
)
from seqtag.errors import did_you_mean
from seqtag.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from seqtag.cli.options import InputOptions
    from seqtag.training.selection import Fit, Trial


_OTHERS = ("templates", "runs", "table")
"""What can be tried besides settings."""


@click.command("tune", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=complete_files)
@option(
    "--try",
    "choices",
    multiple=True,
    required=True,
    metavar="SETTING=VALUE,...",
    help="Setting of training (epochs, update, step, ...), templates, runs or table, with the "
    "values to try; repeat it for a grid.",
)
@option(
    "--dev",
    shell_complete=complete_files,
    metavar="FILE",
    help="Development set to score on; the best epoch on it is kept, as by train.",
    shown="cross-validation",
)
@option(
    "--folds",
    type=Whole(2),
    default=5,
    metavar="K",
    help="Number of folds, without --dev.",
)
@seeds_option
@training_options
@attributes_option
def command(
    files: tuple[str, ...],
    choices: tuple[str, ...],
    dev: str | None,
    folds: int,
    seeds: int,
    reading: InputOptions,
    as_json: bool,
    notes: Notes,
    **fixed: Any,
) -> int:
    """Train and score combinations of settings, and list the best first.

    \b
    Examples:
      seqtag tune train.conllu --try epochs=5,10 --try min-count=1,2
      seqtag tune train.conllu --dev dev.conllu --try step=0.03,0.05,0.1
    """
    from seqtag.training.selection import grid, search, tagger_fit

    check_stdout()
    training_arguments(fixed)
    candidates = grid(_space(choices))
    sentences = reading.gathered(files)
    held_out = reading.gathered([dev], "dev") if dev else None

    def fit_with(seed: int, settings: dict[str, Any]) -> Fit:
        return tagger_fit(dev=held_out, **_arguments(settings, fixed | {"seed": seed}))

    of_settings: dict[str, list[Trial]] = {_shown(each): [] for each in candidates}
    for seed in range(fixed["seed"], fixed["seed"] + seeds):
        for trial in search(
            partial(fit_with, seed),
            candidates,
            sentences,
            dev=held_out,
            k=folds,
            random_state=seed,
            on_trial=lambda trial: notes(f"{100 * trial.score:.2f}  {_shown(trial.settings)}"),
        ):
            of_settings[_shown(trial.settings)].append(trial)
    found = sorted(map(_mean, of_settings.values()), key=lambda trial: -trial.score)
    if as_json:
        print_json(
            [
                {"score": t.score, "settings": t.settings, "folds": t.folds and t.folds.scores}
                for t in found
            ]
        )
        return 0
    for trial in found:
        several = trial.folds if seeds > 1 else None
        spread = f" +- {100 * several.deviation:.2f}" if several else ""
        say(f"{100 * trial.score:.2f}{spread}  {_shown(trial.settings)}\n")
    return 0


def _mean(trials: Sequence[Trial]) -> Trial:
    """Return the trial of several seeds, whose scores stand in the place of those of folds."""
    from seqtag.training.selection import Folds

    if len(trials) == 1:
        return trials[0]
    folds = Folds(tuple(trial.score for trial in trials))
    return trials[0]._replace(score=folds.mean, folds=folds)


def _space(given: Iterable[str]) -> dict[str, list[Any]]:
    """Return the checked values to try for each setting."""
    space: dict[str, list[Any]] = {}
    for each in given:
        setting_name, _, listed = each.partition("=")
        name = setting_name.strip().replace("_", "-")
        values = [value.strip() for value in listed.split(",")]
        setting = SETTINGS.get(name)
        key = setting.attribute if setting else name
        if not name or not all(values):
            refuse(f"expected a setting and its values, such as epochs=5,10, found {each!r}")
        elif setting is None and name not in _OTHERS:
            names = [*SETTINGS, *_OTHERS]
            near = did_you_mean(name, names)
            refuse(f"expected --try with one of {', '.join(names)}, found {name!r}{near}")
        elif key in space:
            refuse(f"expected --try {name} once, found it twice")
        space[key] = [setting.parse(v) if setting else _other(name, v) for v in values]
    return space


def _other(name: str, value: str) -> Any:
    """Return a value of what is no setting, which is refused before anything is trained."""
    from seqtag.features.language import load
    from seqtag.tables.lexicon import read_table

    if name == "runs":
        return Whole(1)(value)
    if name == "templates":
        load(value)
    elif value != "none":
        read_table(value)
    return value


def _arguments(settings: dict[str, Any], fixed: dict[str, Any]) -> dict[str, Any]:
    """Return what a training takes for settings that are tried, and those that are not."""
    from seqtag.tables.lexicon import read_table

    file = settings.get("table", "none")
    more = [read_table(file)] if file != "none" else []
    others = {name: value for name, value in settings.items() if name != "table"}
    return fixed | others | {"tables": [*fixed["tables"], *more]}


def _shown(settings: dict[str, Any]) -> str:
    """Return settings as options of the command line."""
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in settings.items())
