"""``seqtag cv``, and the options it shares with ``tune`` and ``curve``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from seqtag.cli.common import (
    Notes,
    columns_option,
    format_option,
    json_option,
    print_json,
    quiet_option,
    reading_format,
    threads_option,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seqtag.corpus import Sentence

_OPTIONS = [
    click.option("--label", metavar="COLUMN", help="Column to learn (default: as in train)."),
    format_option,
    columns_option,
    click.option(
        "--templates", metavar="PRESET|FILE", help="Feature templates (default: as in train)."
    ),
    click.option(
        "--seed",
        type=click.IntRange(0),
        default=1,
        show_default=True,
        help="Of all that is random.",
    ),
    click.option("--epochs", type=click.IntRange(1), help="Passes over the data."),
    click.option(
        "--update", type=click.Choice(["perceptron", "pa", "adaptive"]), help="Step rule."
    ),
    click.option("--skip-unlabelled", is_flag=True, help='Leave out sentences with a label "_".'),
    json_option,
    quiet_option,
]


def training_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of every command that trains to find something out."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def sentences_of(
    files: Sequence[str], format: str, columns: tuple[str, ...] | None
) -> list[Sentence]:
    """All sentences with words of some files.

    Raises
    ------
    CorpusError
        If there are none.
    """
    from seqtag.corpus import read
    from seqtag.errors import CorpusError

    format = reading_format(format, columns)
    found = [s for name in files for s in read(name, format, columns=columns) if len(s)]
    if not found:
        msg = "expected sentences to learn from, found none"
        raise CorpusError(msg, source=files[0])
    return found


@click.command("cv")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--folds",
    type=click.IntRange(2),
    default=10,
    show_default=True,
    help="Parts to cut the data into.",
)
@training_options
@threads_option
def command(
    files: tuple[str, ...],
    folds: int,
    format: str,
    columns: tuple[str, ...] | None,
    threads: int,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> int:
    r"""Train on K - 1 parts of the sentences and score on the part left out, K times.

    \b
    seqtag cv train.conllu --folds 5
    """
    from seqtag.training.selection import cross_validate, tagger_fit

    notes = Notes(quiet)
    sentences = sentences_of(files, format, columns)
    found = cross_validate(
        tagger_fit(**settings),
        sentences,
        folds,
        settings["seed"],
        lambda fold, score: notes(f"fold {fold}: {100 * score:.2f}"),
        threads,
    )
    if as_json:
        print_json({"scores": found.scores, "mean": found.mean, "deviation": found.deviation})
    else:
        click.echo(
            f"{100 * found.mean:.2f} +- {100 * found.deviation:.2f} "
            f"(mean and standard deviation of {folds} folds, {len(sentences)} sentences)"
        )
    return 0
