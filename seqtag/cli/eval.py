"""``seqtag eval``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from seqtag.catalogue.fetch import locate
from seqtag.cli.base import Command, Real, Whole, in_advanced, in_output, option
from seqtag.cli.common import Notes, check_stdin, check_target, load_model, print_json, refuse, say
from seqtag.cli.eval_warnings import warnings_of
from seqtag.cli.options import (
    comparing_options,
    complete_files,
    raw_option,
    scoring_options,
    write_list,
)
from seqtag.corpus.sentence import find_column
from seqtag.errors import CorpusError
from seqtag.evaluation.agreement import Agreement
from seqtag.evaluation.aligned import METRICS, AlignedReport
from seqtag.evaluation.systems import score_system
from seqtag.labels.column import LabelColumn
from seqtag.tagging.pipeline import Pipeline

if TYPE_CHECKING:
    from seqtag.cli.options import InputOptions
    from seqtag.evaluation.report import Report


FAILED = 3


@click.command("eval", cls=Command)
@click.argument(
    "files", nargs=-1, required=True, metavar="GOLD [PREDICTED]", shell_complete=complete_files
)
@option(
    "-m", "--model", shell_complete=complete_files, help="Model to score on GOLD.", metavar="MODEL"
)
@raw_option
@in_output(
    "--confusion",
    type=Whole(0),
    default=0,
    metavar="N",
    help="Show the N most frequent confusions.",
)
@in_output(
    "--errors",
    type=Whole(0),
    default=0,
    metavar="N",
    help="Show the N most frequent errors by word.",
)
@in_output("--conlleval", "as_conlleval", is_flag=True, help="Write the output of conlleval.")
@in_advanced(
    "--fail-under",
    type=Real(100),
    metavar="X",
    help="Exit with 3 if the score of the --label is under X percent.",
)
@comparing_options
@scoring_options
def command(
    files: tuple[str, ...],
    model: str | None,
    label: str | None,
    raw: bool,
    reading: InputOptions,
    confusion: int,
    errors: int,
    listed: str | None,
    force: bool,
    as_conlleval: bool,
    fail_under: float | None,
    as_json: bool,
    threads: int,
    notes: Notes,
) -> int:
    """Score a model on annotated sentences, or one file against another.

    \b
    Examples:
      seqtag eval -m english.seqtag test.conllu
      seqtag eval gold.txt predicted.txt --label chunk --conlleval
      seqtag eval -m french.seqtag ud:fr_sequoia/dev --raw
    """
    if len(files) != (1 if model else 2):
        wanted = "GOLD with -m MODEL" if model else "GOLD PREDICTED, or -m MODEL GOLD"
        refuse(f"expected {wanted}, found {len(files)} file{'s' * (len(files) > 1)}")
    elif raw and (confusion or errors or listed or as_conlleval):
        refuse(
            "expected texts of the same words for --confusion, --errors, --list and --conlleval, "
            "found --raw; leave one out"
        )
    check_stdin(files)
    paths = locate(files)
    check_target(listed or "-", paths, force=force)
    system: Any = None
    if model:
        system = load_annotator(model) if raw else load_model(model)
    if model and not raw:
        reading = reading.after(each.training for each in system.models)
        reading = replace(reading, tokens_from=reading.tokens_from or system, as_cut=True)
    if (listed or fail_under is not None) and (raw or isinstance(system, Pipeline)):
        names = [*METRICS] if raw else [each.label for each in system.taggers if not each.hidden]
        label = label and (find_column(label, tuple(names)) or label)  # ner: misc.NER
        if label is None and len(names) == 1:
            [label] = names
        elif label not in names:
            refuse(
                "expected --label to name which of several scores --fail-under or --list is about, "
                f"one of {', '.join(names)}; found {label or 'none'}"
            )
    streams = reading.streams(paths)
    system = system or streams[-1]
    report, scored = score_system(
        streams[0],
        system,
        name=model or streams[-1].source,
        label=label,
        aligned=raw and not model,
        raw=raw and bool(model),
        component=label if listed else None,
        threads=threads,
    )
    models = system.models if model else ()
    for text in warnings_of(report, paths[0], reading, models):
        notes(f"note: {text}")
    if listed and scored:
        predicted = [getattr(each, "labels", each) for each in scored.predicted]
        labels = {"gold": scored.gold, "predicted": predicted}
        task = LabelColumn(scored.report.task)
        write_list(listed, Agreement(task, scored.report.scheme, scored.sentences, labels))
    if listed != "-":
        _print(report, confusion, errors, as_json=as_json, as_conlleval=as_conlleval)
    if fail_under is None:
        return 0
    column = "" if isinstance(report, AlignedReport) else f"{report.task} "  # the metric names it
    failed = 100 * report.score < fail_under
    verdict = "under" if failed else "not under"
    notes(f"{column}{report.metric} {100 * report.score:.2f} is {verdict} {fail_under:g}")
    return FAILED if failed else 0


def load_annotator(name: str) -> Pipeline:
    """Load a pipeline that can segment raw text.

    Raises
    ------
    CorpusError
        If it has no tokenizer.
    """
    loaded = load_model(name)
    if isinstance(loaded, Pipeline) and loaded.segmenter:
        return loaded
    msg = (
        f"expected a pipeline with a tokenizer for --raw, found {', '.join(loaded.parts)}; train "
        "one with --label all"
    )
    raise CorpusError(msg, source=name)


def _print(
    report: Report | AlignedReport,
    confusion: int,
    errors: int,
    *,
    as_json: bool,
    as_conlleval: bool,
) -> None:
    """Write the report to stdout."""
    if isinstance(report, AlignedReport):
        if as_json:
            print_json(report.to_dict())
        else:
            say(report.to_text())
    elif as_json:
        value = report.to_dict()
        if confusion:
            value["confusion"] = [row for row in value["confusion"] if row[0] != row[1]][:confusion]
        if errors:
            value["errors"] = [error._asdict() for error in report.errors(errors)]
        print_json(value)
    elif as_conlleval:
        say(report.conlleval())
    else:
        say(report.to_text(confusion))
        if errors:
            say(f"\nmost frequent errors\n{'tokens':>7}  {'gold':<12} {'predicted':<12} word\n")
            for e in report.errors(errors):
                say(f"{e.tokens:>7}  {e.gold:<12} {e.predicted:<12} {e.word}\n")
