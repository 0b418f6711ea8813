"""``seqtag models``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqtag.catalogue import entries as catalogue
from seqtag.catalogue.entries import CorpusName
from seqtag.catalogue.fetch import fetch, local_path
from seqtag.cli.base import Group, option
from seqtag.cli.common import Notes, check_stdout, print_json, say, say_table
from seqtag.cli.options import json_option, quiet_option
from seqtag.errors import CatalogueError, did_you_mean
from seqtag.model.embedded import embedded_models, language_code, trained_path

if TYPE_CHECKING:
    from seqtag.catalogue.entries import Entry

folder_option = option(
    "--from",
    "folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Take the files that are there, such as wo_wtb-ud-train.conllu, instead of fetching them.",
)


@click.group("models", cls=Group)
def command() -> None:
    """List models and treebanks by name; train and fetch them.

    A model is trained where it is used, from a treebank of Universal Dependencies, and stored in
    $SEQTAG_CACHE. Then its name works wherever a model is expected, and that of its treebank
    wherever a file is. A file is stored only if it is complete and has the SHA-256 of the catalog.

    \b
    Examples:
      seqtag models list french
      seqtag models train french
      seqtag models get ud:fr_sequoia
    """


@command.command("list")
@click.argument("name", required=False)
@json_option
def list_models(name: str | None, as_json: bool) -> int:
    """List models, and the treebanks and other corpora that they are trained from.

    NAME is a language, a model or a corpus; without it, those of all languages are listed.

    The columns are the name of the model and of the corpus, its title, license, release, size where
    it is known, and state: embedded, trained or fetched (here), or trainable; * marks the default
    of a language.

    \b
    Examples:
      seqtag models list
      seqtag models list french
      seqtag models list --json
    """
    language = _corpus(name).entry.language if name else None
    found = [
        _facts(entry)
        for entry in (catalogue.treebanks() | catalogue.entries()).values()
        if language in (None, entry.language)
    ]
    if as_json:
        print_json(found)
        return 0
    header = ["name", "default", "corpus", "title", "license", "release", "size", "state"]
    rows = [
        [
            each["model"] or "-",
            "*" if each["default"] else "",
            each["name"],
            each["title"],
            each["licence"],
            each["release"],
            f"{sum(each['bytes']) / 1e6:.1f} MB" if each["bytes"] else "?",
            each["state"],
        ]
        for each in found
    ]
    say_table([header, *rows])
    return 0


def _facts(entry: Entry) -> dict[str, Any]:
    """Return what is listed of a corpus and its model."""
    is_default = entry.name in catalogue.languages().values()
    here = [part for part in entry.parts if local_path(entry.file(part)).is_file()]
    if entry.model and trained_path(entry).is_file():
        state = "trained"
    elif is_default and language_code(entry) in embedded_models():
        state = f"embedded: {language_code(entry)}"
    else:
        state = f"fetched: {' '.join(here)}" if here else "trainable"
    known = {
        "default": is_default,
        "here": here,
        "state": state,
    }
    return asdict(entry) | known


@command.command("get")
@click.argument(
    "names",
    nargs=-1,
    required=True,
    metavar="NAME[@RELEASE][/PART]...",
)
@folder_option
@quiet_option
def get(names: tuple[str, ...], folder: Path | None, notes: Notes) -> int:
    """Fetch corpora and print their paths, in the cache.

    Files in the cache are not fetched again, so that this also tells other programs where they are.
    For releases other than that of the catalog no digest is known.

    \b
    Examples:
      seqtag models get conll2000 french
      seqtag models get ud:fr_sequoia/dev
      seqtag models get ud:fr_sequoia@2.14 --from UD_French-Sequoia
    """
    check_stdout()
    for name in [_corpus(name) for name in names]:
        notes(f"{name.entry.name}: {name.entry.title}, license: {name.entry.licence}")
        for file in name.files():
            say(f"{fetch(file, folder)}\n")
    return 0


@command.command("train")
@click.argument("names", nargs=-1, required=True, metavar="NAME[@RELEASE]...")
@folder_option
@quiet_option
def train(names: tuple[str, ...], folder: Path | None, notes: Notes) -> int:  # noqa: ARG001  (of --quiet, which has its effect)
    """Train models and print their paths; those that are there are not trained again.

    \b
    Examples:
      seqtag models train french
      seqtag models train fr_gsd@2.18 wolof
      seqtag models train wolof@2.18 --from ud-treebanks-v2.18/UD_Wolof-WTB
    """
    from seqtag.training.named import train_named

    check_stdout()
    for entry in [_entry(name) for name in names]:
        say(f"{train_named(entry, folder=folder)}\n")
    return 0


def _entry(name: str) -> Entry:
    """Return the corpus of the name of a language or model."""
    entry = catalogue.treebank_of(name)
    if entry is None:
        near = catalogue.did_you_mean_language(name) or did_you_mean(name, catalogue.entries())
        msg = f"expected a language or a name of seqtag models list, found {name!r}{near}"
        raise CatalogueError(msg)
    return entry


def _corpus(name: str) -> CorpusName:
    """Return the corpus of this name, or of the name of a language or model."""
    return catalogue.parse(name) or CorpusName(_entry(name), None)
