"""``seqtag tune``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from seqtag.cli.base import Command, option
from seqtag.cli.common import Notes, check_stdout, print_json, refuse, say
from seqtag.cli.options import (
    attributes_option,
    complete_files,
    training_arguments,
    training_options,
)
from seqtag.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from seqtag.cli.options import InputOptions


@click.command("tune", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=complete_files)
@option(
    "--try",
    "choices",
    multiple=True,
    required=True,
    metavar="SETTING=VALUE,...",
    help="Setting of training (epochs, update, step, ...) or templates, with the values to try; "
    "repeat it for a grid.",
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
    type=click.IntRange(2),
    default=5,
    metavar="K",
    help="Number of folds, without --dev.",
)
@option(
    "--trials",
    type=click.IntRange(1),
    metavar="N",
    help="Number of combinations to try, drawn at random.",
    shown="all",
)
@training_options
@attributes_option
def command(
    files: tuple[str, ...],
    choices: tuple[str, ...],
    dev: str | None,
    folds: int,
    trials: int | None,
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
    from seqtag.training.selection import grid, random_settings, search, tagger_fit

    check_stdout()
    training_arguments(fixed)
    space = _space(choices)
    candidates = random_settings(space, trials, fixed["seed"]) if trials else grid(space)
    sentences = reading.gathered(files)
    held_out = reading.gathered([dev], "dev") if dev else None
    found = search(
        lambda settings: tagger_fit(dev=held_out, **fixed | settings),
        candidates,
        sentences,
        dev=held_out,
        k=folds,
        random_state=fixed["seed"],
        on_trial=lambda trial: notes(f"{100 * trial.score:.2f}  {_shown(trial.settings)}"),
    )
    if as_json:
        print_json(
            [
                {"score": t.score, "settings": t.settings, "folds": t.folds and t.folds.scores}
                for t in found
            ]
        )
    else:
        for trial in found:
            say(f"{100 * trial.score:.2f}  {_shown(trial.settings)}\n")
    return 0


def _space(given: Iterable[str]) -> dict[str, list[Any]]:
    """Return the checked values to try for each setting."""
    from seqtag.features.language import load as load_templates

    space: dict[str, list[Any]] = {}
    for each in given:
        setting_name, _, listed = each.partition("=")
        name = setting_name.strip().replace("_", "-")
        values = [value.strip() for value in listed.split(",")]
        setting = SETTINGS.get(name)
        key = setting.attribute if setting else name
        if not name or not all(values):
            refuse(f"expected a setting and its values, such as epochs=5,10, found {each!r}")
        elif setting is None and name != "templates":
            names = ", ".join([*SETTINGS, "templates"])
            refuse(f"expected --try with one of {names}, found {name!r}")
        elif key in space:
            refuse(f"expected --try {name} once, found it twice")
        for value in values if setting is None else ():
            load_templates(value)  # which refuses it before anything is trained
        space[key] = [setting.parse(value) for value in values] if setting else values
    return space


def _shown(settings: dict[str, Any]) -> str:
    """Return settings as options of the command line."""
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in settings.items())
