"""``seqtag cluster tag``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from seqtag.cli.base import Command, Real, in_advanced, in_cluster, in_output
from seqtag.cli.common import Notes, usage
from seqtag.cli.options import (
    address_option,
    attempts_option,
    columns_option,
    format_option,
    layout_options,
    max_sentence_option,
    models_option,
    quiet_option,
    tagging_options,
    threads_option,
    workers_option,
)

if TYPE_CHECKING:
    from seqtag.batch.ledger import BatchReport, Entry
    from seqtag.corpus import ReadLimits

_EVERY = 30.0  # seconds between two lines about the progress


@click.command("tag", cls=Command)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@models_option
@in_output(
    "-o",
    "--output",
    "folder",
    required=True,
    help="Output folder or address.",
    metavar="DIR",
)
@address_option
@workers_option
@format_option
@columns_option
@layout_options
@tagging_options
@in_advanced(
    "--base",
    help="Common folder of the inputs; outputs keep the paths below it.",
    metavar="DIR",
)
@in_advanced(
    "--suffix",
    help="Suffix added to file names.",
    shown=".conllu for --format text, the format for --to",
    metavar="SUFFIX",
)
@attempts_option
@in_cluster(
    "--verify",
    is_flag=True,
    help="Read finished outputs, and tag those again whose content has changed.",
)
@in_advanced(
    "--time-limit",
    type=Real(min_open=True),
    help="Time that an attempt at a file may take.",
    shown="an hour, and a second for each 10 kB",
    metavar="SECONDS",
)
@in_cluster(
    "--ledger",
    help="File of the record of all files, which later runs continue; see seqtag cluster status.",
    shown="ledger.jsonl in the folder",
    metavar="FILE",
)
@max_sentence_option
@threads_option
@quiet_option
def command(
    inputs: tuple[str, ...],
    models: tuple[str, ...],
    folder: str,
    address: str | None,
    workers: int | None,
    format: str,
    columns: tuple[str, ...] | None,
    base: str | None,
    suffix: str | None,
    attempts: int,
    verify: bool,
    time_limit: float | None,
    ledger: str | None,
    limits: ReadLimits,
    threads: int,
    notes: Notes,
    **tagging: Any,
) -> int:
    """Tag many files; each output has the name of its input, and finished files are skipped.

    Inputs are paths, patterns, @FILE (a name on each line), and addresses such as
    s3://crawl/*.txt.gz. If a file cannot be tagged, all others are tagged, and the exit code is
    1. Run the same command again to tag files that are missing or were tagged from another
    input, by another model or with other options. The ledger records what was done to each file;
    seqtag cluster status reads it.

    \b
    Examples:
      seqtag cluster tag -m en crawl/*.txt.gz --format text -o tagged
      seqtag cluster tag -m en --base crawl "crawl/**/*.conllu" -o tagged
      seqtag cluster tag -m en @files.txt -o s3://tagged --ledger tagged.jsonl
    """
    from seqtag.batch.files import Models
    from seqtag.batch.jobs import files_of, jobs_of, open_ledger
    from seqtag.batch.ray_cluster import connected, require_ray
    from seqtag.batch.ray_tagging import TagRun
    from seqtag.model.embedded import DEFAULT_MODELS
    from seqtag.tagging.streams import TagOptions

    require_ray()
    with usage():
        options = TagOptions(
            format="columns" if columns and format == "auto" else format,
            columns=columns,
            max_sentence=limits.sentence,
            **tagging,
        )
        if suffix is None:
            suffix = f".{options.to}" if options.to else ".conllu" if format == "text" else ""
        jobs = jobs_of(files_of(inputs), folder, base=base, suffix=suffix)
        names = models or DEFAULT_MODELS
        loaded = Models.of(list(names))
        loaded.chain(options.only)  # which refuses options that do not fit
        record = open_ledger(ledger, folder, jobs)
    shown = time.monotonic()
    with record, connected(address, workers) as ray, notes.bar("file", len(jobs)) as bar:

        def show(entry: Entry | None, report: BatchReport) -> None:
            nonlocal shown
            status = entry["status"] if entry else ""
            if entry and status == "failed":
                notes(f"{entry['source']} failed: {entry['error']}")
            done = report.skipped if status == "run" else status in ("tagged", "skipped", "failed")
            bar(done, f"{report.tokens_per_second:,} tokens/s")
            if not notes.on_terminal and time.monotonic() - shown > _EVERY:
                shown = time.monotonic()
                notes(report.progress())

        run = TagRun(
            ray,
            loaded,
            options,
            record,
            threads=threads,
            attempts=attempts,
            time_limit=time_limit or 0.0,
            verify=verify,
            listener=show,
        )
        report = run.tag(jobs, names)
    notes(
        f"{report.tagged} tagged, {report.skipped} skipped, {len(report.failures)} failed; "
        f"{report.tokens:,} tokens in {report.seconds:.0f} s, {report.tokens_per_second:,} a second"
    )
    if options.format == "auto" and options.to is None and report.formats["text"]:
        notes(
            f"note: files of raw text that became CoNLL-U with unchanged names: "
            f"{report.formats['text']:,}; --format text adds .conllu"
        )
    return 1 if report.failures else 0
