"""``seqtag models``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from seqtag.catalogue import entries as corpora
from seqtag.cli.base import Group, option
from seqtag.cli.common import Notes, check_stdout, print_json, say, say_table
from seqtag.cli.options import json_option, quiet_option
from seqtag.errors import CatalogueError
from seqtag.model.embedded import (
    embedded_models,
    language_code,
    trained_model,
    trained_path,
    training_advice,
)

if TYPE_CHECKING:
    from pathlib import Path

    from seqtag.catalogue.entries import Entry


@click.group("models", cls=Group)
def command() -> None:
    """List, train and remove models by the name of their language or treebank.

    A model is trained where it is used, from a treebank of Universal Dependencies, and stored in
    $SEQTAG_CACHE. Then its name works wherever a model is expected.

    \b
    Examples:
      seqtag models list
      seqtag models train french
      seqtag models card french
    """


@command.command("list")
@click.argument("name", required=False)
@json_option
def list_models(name: str | None, as_json: bool) -> int:
    """List the treebanks and other corpora that models can be trained from.

    NAME is a language, or a model of it; without it, those of all languages are listed.

    The columns are name, corpus, license, release, size and estimated time where they are known,
    and state: embedded, trained (here), or trainable; * marks the default of a language.

    \b
    Examples:
      seqtag models list
      seqtag models list french
      seqtag models list --json
    """
    defaults = {*corpora.languages().values()}
    language = _named(name).language if name else None
    rows = []
    for model, entry in corpora.trainable().items():
        if language not in (None, entry.language):
            continue
        code = language_code(entry)
        state = "trained" if trained_path(entry).is_file() else "trainable"
        if state == "trainable" and code in embedded_models() and entry.name in defaults:
            state = f"embedded: {code}"
        size = f"{sum(entry.bytes) / 1e6:.1f} MB" if entry.bytes else "?"
        seconds = f"{max(1, round(corpora.training_seconds(entry)))} s" if entry.bytes else "?"
        is_default = "*" if entry.name in defaults else ""
        license_ = entry.licence if entry.script else "?"  # it names a file
        rows.append([model, is_default, entry.title, license_, entry.release, size, seconds, state])
    header = ["name", "default", "corpus", "license", "release", "size", "time", "state"]
    if as_json:
        print_json([dict(zip(header, row, strict=True)) for row in rows])
    else:
        say_table([header, *rows])
    return 0


@command.command("train")
@click.argument("names", nargs=-1, required=True, metavar="NAME[@RELEASE]...")
@option("--best", is_flag=True, help="Train for accuracy: 5 runs.")
@option("--locked", is_flag=True, help="Accept only files with digests that are known.")
@quiet_option
def train_models(names: tuple[str, ...], best: bool, locked: bool, notes: Notes) -> int:
    """Train models and print their paths; those that are there are not trained again.

    Digests of files are those of the catalog, or are recorded in $SEQTAG_CACHE/seqtag.lock when a
    file is fetched first; a copy of that file makes --locked accept the same files elsewhere.

    \b
    Examples:
      seqtag models train french
      seqtag models train fr_gsd@2.18 wolof
      seqtag models train wolof --locked
    """
    from seqtag.training.named import train_named

    check_stdout()
    for entry in [_named(name) for name in names]:
        model = train_named(entry, best=best, locked=locked, announce=notes.announce)
        say(f"{model}\n")
    return 0


@command.command("card")
@click.argument("name")
def card(name: str) -> int:
    """Print the card of a trained model: data, settings, figures, license.

    \b
    Examples:
      seqtag models card french
    """
    from seqtag.training.named import card_of

    print_json(card_of(_trained(name)))
    return 0


@command.command("remove")
@click.argument("name")
def remove(name: str) -> int:
    """Remove a trained model and its card.

    \b
    Examples:
      seqtag models remove french
    """
    model = _trained(name)
    model.unlink()
    model.with_suffix(".json").unlink(missing_ok=True)
    return 0


def _named(name: str) -> Entry:
    entry = corpora.treebank_of(name)
    if entry is None:
        near = corpora.did_you_mean_language(name)
        msg = f"expected a language or a model of seqtag models list, found {name!r}{near}"
        raise CatalogueError(msg)
    return entry


def _trained(name: str) -> Path:
    model = trained_model(name, _named(name))
    if not model.is_file():
        advice = training_advice(name)
        msg = f"expected a model that was trained here, found none of {name}; {advice}"
        raise CatalogueError(msg, source=str(model))
    return model
