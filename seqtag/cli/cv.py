"""``seqtag cv``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from seqtag.cli.base import Command, Whole, option
from seqtag.cli.common import Notes, check_stdout, print_json, say
from seqtag.cli.options import (
    attributes_option,
    complete_files,
    seeds_option,
    threads_option,
    training_arguments,
    training_options,
)

if TYPE_CHECKING:
    from seqtag.cli.options import InputOptions
    from seqtag.evaluation import Report
    from seqtag.training.selection import Folds


@click.command("cv", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=complete_files)
@option("--folds", type=Whole(2), default=10, help="Number of folds.", metavar="K")
@option(
    "--by",
    metavar="UNIT",
    default="document",
    help="Unit that is never split across folds: document (# newdoc, -DOCSTART-, files; else "
    "blocks of sentences), sentence, or the name of a comment (# NAME = ...) or column that "
    "identifies documents.",
)
@seeds_option
@training_options
@threads_option
@attributes_option
def command(
    files: tuple[str, ...],
    folds: int,
    by: str,
    seeds: int,
    reading: InputOptions,
    threads: int,
    as_json: bool,
    notes: Notes,
    **settings: Any,
) -> int:
    """Cross-validate: train on K - 1 folds and score on the fold left out, K times.

    Documents are not split across folds: sentences of one document resemble each other, so that
    splitting them leaks data, and scores are higher than on new text.

    \b
    Examples:
      seqtag cv train.conllu --folds 5
      seqtag cv train.txt --label chunk --folds 10 --threads 2
      seqtag cv train.conllu --by genre
    """
    from seqtag.training.selection import Folds, cross_validate, fold_units, tagger_fit

    check_stdout()
    training_arguments(settings)
    everything = reading.gathered(files, empty=True)
    units = fold_units(everything, folds, by)
    if units.block:
        found = "no documents" if units.documents == 1 else f"{units.documents} documents"
        notes(
            f"note: {found} for {folds} folds (# newdoc, -DOCSTART-); blocks of {units.block} "
            f"sentence{'s' * (units.block > 1)} are kept together instead; scores may be too high"
        )
    reports: list[Report] = []
    first, means = settings.pop("seed"), []
    for seed in range(first, first + seeds):
        scores = cross_validate(
            tagger_fit(reports.append, seed=seed, **settings),
            units.sentences,
            folds,
            seed,
            lambda fold, score: notes(f"fold {fold}: {100 * score:.2f}"),
            threads,
            units.groups,
        )
        means.append(scores.mean)
        if seeds > 1:
            notes(f"seed {seed}: {100 * scores.mean:.2f}")
    signature = units.signature(reports[0], folds, first)
    if seeds > 1:
        _print(Folds(tuple(means)), signature, f"{seeds} seeds", as_json)
    else:
        _print(scores, signature, f"{folds} folds", as_json)
    return 0


def _print(found: Folds, signature: str, what: str, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "scores": found.scores,
                "mean": found.mean,
                "deviation": found.deviation,
                "signature": signature,
            }
        )
        return
    say(
        f"{100 * found.mean:.2f} +- {100 * found.deviation:.2f} "
        f"(mean and standard deviation of {what})\n"
        f"{signature}\n"
    )
