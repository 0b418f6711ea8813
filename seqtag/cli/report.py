"""``seqtag report``."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import click

from seqtag.catalogue.fetch import locate
from seqtag.cli.base import Command, Whole, in_output, option
from seqtag.cli.common import Notes, check_target, load_model
from seqtag.cli.options import force_option, scoring_options
from seqtag.corpus.gold import column_in
from seqtag.corpus.withheld import check_words
from seqtag.errors import CorpusError, printable
from seqtag.evaluation.systems import taggers_of
from seqtag.labels.column import LabelColumn
from seqtag.storage.output import atomic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from seqtag.cli.options import InputOptions
    from seqtag.corpus import Sentence


@click.command("report", cls=Command)
@click.argument("gold", metavar="GOLD")
@option("-m", "--model", required=True, help="Model to analyze.", metavar="MODEL")
@in_output(
    "-o",
    "--output",
    default="report.html",
    metavar="FILE",
    help='Output file ("-": standard output).',
)
@force_option
@option(
    "--label",
    metavar="COLUMN",
    help="Component of a pipeline to analyze by itself.",
    shown="all",
)
@option(
    "--errors",
    type=Whole(0),
    default=2000,
    metavar="N",
    help="Number of errors to show with their sentences and explanations.",
)
@scoring_options
def command(
    gold: str,
    model: str,
    output: str,
    force: bool,
    label: str | None,
    errors: int,
    reading: InputOptions,
    threads: int,
    notes: Notes,
) -> int:
    """Write an HTML page about a model on GOLD: scores, confusions, errors and explanations.

    The page has all components of a pipeline whose labels GOLD has. It is one file without external
    resources; it contains sentences of GOLD.

    \b
    Examples:
      seqtag report -m english.seqtag dev.conllu
      seqtag report -m en dev.conllu --label xpos -o xpos.html
    """
    from seqtag.model.embedded import find_model
    from seqtag.report.analysis import analyze
    from seqtag.report.page import report_page

    [gold] = locate([gold])
    check_target(output, [gold, find_model(model)], force=force)
    loaded = load_model(model)
    shown: list[str | None] = [each.label for each in loaded.taggers if not each.hidden]
    names = [label] if label else shown or [None]  # which is the first one
    chains = [taggers_of(loaded, name, model) for name in names]
    reading = reading.after(each.training for each in loaded.models)
    with reading.open(gold) as stream:
        check_words(stream)
        columns = [
            column_in(LabelColumn(label or each[-1].label), stream.columns) for each in chains
        ]
        sentences = [each for each in stream if len(each)]
    if not sentences:
        msg = "expected sentences to score, found none"
        raise CorpusError(msg, source=gold)
    pairs = list(zip(chains, columns, strict=True))
    if len(pairs) > 1:
        kept = [pair for pair in pairs if _has_labels(pair[1], sentences)]
        if without := [pair[1].name for pair in pairs if pair not in kept]:
            notes(f"{gold} has no labels in {', '.join(without)}: not in the report")
        pairs = kept or pairs[:1]
    found = [
        analyze(
            taggers,
            sentences,
            column,
            errors=errors // len(pairs),
            threads=threads,
        )
        for taggers, column in pairs
    ]
    page = report_page(found, model=printable(model), gold=printable(gold))
    with atomic(output) as out:
        out.write(page.encode())
    if output != "-":
        scores = (
            f"{each.report.task} " * (len(found) > 1)
            + f"{each.report.metric} {100 * each.report.score:.2f}"
            for each in found
        )
        notes(f"{output}: {', '.join(scores)}")
    return 0


def _has_labels(column: LabelColumn, sentences: Iterable[Sentence]) -> bool:
    """Return whether there are gold labels in a column."""
    with suppress(CorpusError):
        return any({*column.of(sentence)} - {"_"} for sentence in sentences)
    return False
