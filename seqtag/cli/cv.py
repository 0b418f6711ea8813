"""``seqtag cv``."""

from __future__ import annotations

from typing import Any

import click

from seqtag.cli import names
from seqtag.cli.common import Notes, check_stdout, print_json, say
from seqtag.cli.hints import note_backend
from seqtag.cli.options import sentences_of, threads_option, training_options


@click.command("cv")
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", shell_complete=names.corpora_or_files
)
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
    """Train on K - 1 parts of the sentences and score on the part left out, K times.

    \b
    Examples:
      seqtag cv train.conllu --folds 5
      seqtag cv train.txt --label chunk --folds 10 --threads 2
    """
    from seqtag.training.selection import cross_validate, tagger_fit

    check_stdout()
    notes = Notes(quiet)
    note_backend(notes)
    sentences = sentences_of(files, format, columns, notes)
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
        say(
            f"{100 * found.mean:.2f} +- {100 * found.deviation:.2f} "
            f"(mean and standard deviation of {folds} folds, {len(sentences)} sentences)\n"
        )
    return 0
