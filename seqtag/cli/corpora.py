"""``seqtag corpora``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from seqtag.catalogue.entries import entries, parse
from seqtag.catalogue.fetch import fetch, local_path
from seqtag.cli.base import Group
from seqtag.cli.common import Notes, check_stdout, print_json, say, say_table
from seqtag.cli.options import complete_corpora, json_option, quiet_option
from seqtag.errors import CatalogueError, did_you_mean

if TYPE_CHECKING:
    from seqtag.catalogue.entries import CorpusName, Entry


@click.group("corpora", cls=Group)
def command() -> None:
    """List and fetch corpora by name.

    They are stored in $SEQTAG_CACHE, by default the cache folder of the system, and fetched from
    $SEQTAG_CORPORA_MIRROR, by default the addresses in the catalog. A file is stored only if it
    is complete and has the SHA-256 of the catalog.

    \b
    Examples:
      seqtag corpora list
      seqtag train ud:fr_sequoia -o french.seqtag
      seqtag eval -m french.seqtag ud:fr_sequoia/dev
    """


@command.command("list")
@json_option
def list_corpora(as_json: bool) -> int:
    """List all corpora.

    The columns are name, title, script, license, release, size, digest (pinned in the catalog, or
    recorded at the first transfer) and the splits in the cache.

    \b
    Examples:
      seqtag corpora list
      seqtag corpora list --json
    """
    if as_json:
        print_json([asdict(each) | {"here": _here(each)} for each in entries().values()])
        return 0
    rows = [["name", "corpus", "script", "license", "release", "size", "digest", "here"]]
    for entry in entries().values():
        size = f"{sum(entry.bytes) / 1e6:.1f} MB" if entry.bytes else "?"
        digest = "pinned" if entry.sha256 else "first use"
        here = " ".join(_here(entry)) or "-"
        row = [entry.name, entry.title, entry.script, entry.licence, entry.release, size, digest]
        rows.append([*row, here])
    say_table(rows)
    return 0


def _here(entry: Entry) -> list[str]:
    """Return the splits that are in the cache."""
    return [part for part in entry.parts if local_path(entry.file(part)).is_file()]


@command.command("fetch")
@click.argument(
    "names",
    nargs=-1,
    required=True,
    metavar="NAME[@RELEASE][/PART]...",
    shell_complete=complete_corpora,
)
@quiet_option
def fetch_corpora(names: tuple[str, ...], notes: Notes) -> int:
    """Fetch corpora and print their paths.

    Files in the cache are not fetched again, so that this also tells other
    programs where they are. For releases other than that of the catalog no digest
    is known: that of the first transfer is recorded and checked from then on.

    \b
    Examples:
      seqtag corpora fetch conll2000 ud:fr_sequoia
      seqtag corpora fetch ud:fr_sequoia/dev
      seqtag corpora fetch ud:fr_sequoia@2.14
    """
    check_stdout()
    chosen = [_named(name) for name in names]
    for name in chosen:
        notes(f"{name.entry.name}: {name.entry.title}, license: {name.entry.licence}")
        for file in name.files():
            say(f"{fetch(file, notes.announce)}\n")
    return 0


def _named(name: str) -> CorpusName:
    """Return the corpus of this name.

    Raises
    ------
    CatalogueError
        If there is none.
    """
    found = parse(name)
    if found is None:
        msg = (
            f"expected the name of a corpus, found {name!r}"
            f"{did_you_mean(name, entries())}; seqtag corpora list shows them all"
        )
        raise CatalogueError(msg)
    return found
