"""``seqtag cluster``."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from seqtag.catalogue.locate import locate
from seqtag.cli.common import Notes, check_stdout, check_target, usage
from seqtag.cli.options import (
    columns_option,
    complete_files,
    files_beside,
    force_option,
    max_sentence_option,
    models_option,
    quiet_option,
    tagging_options,
    threads_option,
    training_arguments,
    training_options,
)
from seqtag.cli.training import (
    check_checkpoints,
    checkpoint_option,
    concluded,
    constrain_option,
    is_unfinished,
    line_of,
    resume_option,
    saying_how_to_go_on,
)
from seqtag.corpus import READABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seqtag.batch.jobs import Job
    from seqtag.batch.ray_tagging import Failure, ModelCopy, Report
    from seqtag.batch.tag_file import FileResult
    from seqtag.cli.common import Mover
    from seqtag.cli.options import Reading
    from seqtag.corpus import ReadLimits
    from seqtag.tagging.chain import TagOptions
    from seqtag.training.runs import Epoch

_ROWS = ("jsonl", "parquet")
_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}


def _bytes_of(context: click.Context, parameter: click.Parameter, value: str | None) -> int:
    """Return a number of bytes, from text such as 64MB; 0 for None."""
    if value is None:
        return 0
    found = re.fullmatch(r"([0-9]{1,15}) ?(KB|MB|GB|)", value, re.IGNORECASE | re.ASCII)
    size = int(found[1]) * _UNITS[found[2].upper()] if found else 0
    if not size:
        msg = f"expected a size above 0 such as 64MB (or KB, GB, or bytes), found {value!r}"
        raise click.BadParameter(msg, context, parameter)
    return size


@click.group("cluster")
def command() -> None:
    """Tag or train on many files, on a Ray cluster (needs the extra ray).

    Without --address and $RAY_ADDRESS, a cluster is started on this machine for the time of the
    command.

    \b
    Examples:
      seqtag cluster tag -m en crawl/*.txt --format text -o tagged
      seqtag cluster train shards/*.conllu -m english.seqtag
    """


address_option = click.option(
    "--address",
    metavar="HOST:PORT",
    help="Address of the cluster, as ray.init takes it (default: $RAY_ADDRESS, or this machine).",
)
workers_option = click.option(
    "--workers",
    type=click.IntRange(1),
    help="Number of processes on this machine, without --address (default: one per core).",
)


@command.command("tag")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@models_option
@click.option("-o", "--output", "folder", required=True, help="Output folder or address.")
@address_option
@workers_option
@click.option(
    "--format",
    "format",
    type=click.Choice([*READABLE, *_ROWS]),
    default="auto",
    metavar="FORMAT",
    help="Format of the files: conllu, columns, text, tokens, ..., or of rows: jsonl, parquet "
    "(default: rows by file name, others detected for each file).",
)
@columns_option
@click.option(
    "--field", help="Field of rows that contains the text or the tokens (default: tokens, or text)."
)
@tagging_options
@click.option("--base", help="Common folder of the inputs; outputs keep the paths below it.")
@click.option(
    "--suffix",
    help="Suffix added to file names (default: .conllu for --format text, the format for --to).",
)
@click.option(
    "--attempts",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Number of attempts for a file whose worker is lost, or that cannot be read or written.",
)
@click.option(
    "--in-flight",
    type=click.IntRange(1),
    help="Number of files in progress (default: two per worker).",
)
@click.option(
    "--split",
    metavar="SIZE",
    callback=_bytes_of,
    help="Split files above this size, such as 64MB, into chunks of about that size, which are "
    "tagged separately and joined to the same bytes (default: one file is one task).",
)
@click.option("--summary", help="File of the summary (default: summary.json in the folder).")
@max_sentence_option
@threads_option
@quiet_option
def tag(
    inputs: tuple[str, ...],
    models: tuple[str, ...],
    folder: str,
    address: str | None,
    workers: int | None,
    format: str,
    columns: tuple[str, ...] | None,
    field: str | None,
    base: str | None,
    suffix: str | None,
    attempts: int,
    in_flight: int | None,
    split: int,
    summary: str | None,
    limits: ReadLimits,
    threads: int,
    quiet: bool,
    **asked: Any,
) -> int:
    """Tag many files; each output has the name of its input, and finished files are skipped.

    Inputs are paths, patterns, @FILE (a name on each line), and addresses such as
    s3://crawl/*.txt.gz. If a file cannot be tagged, it is listed in failed.jsonl in the folder,
    all others are tagged, and the exit code is 1. Run the same command again to tag files that
    are missing or were tagged from another input, by another model or with other options.

    \b
    Examples:
      seqtag cluster tag -m en crawl/*.txt.gz --format text -o tagged
      seqtag cluster tag -m en --only upos --base crawl "crawl/**/*.parquet" -o tagged
      seqtag cluster tag -m en --split 64MB --format text books.txt -o tagged
      seqtag cluster tag -m english.seqtag @files.txt -o s3://tagged --address auto
    """
    from seqtag.batch.jobs import SUMMARY, files_of, jobs_of
    from seqtag.batch.ray_cluster import connected, require_ray
    from seqtag.batch.ray_tagging import tag_files
    from seqtag.model.embedded import DEFAULT_MODELS
    from seqtag.tagging.chain import TagOptions

    notes = Notes(quiet)
    require_ray()
    with usage():
        options = TagOptions(
            format="columns" if columns and format == "auto" else format,
            columns=columns,
            field=field,
            max_sentence=limits.sentence,
            **asked,
        )
        if suffix is None:
            suffix = f".{options.to}" if options.to else ".conllu" if format == "text" else ""
        jobs = jobs_of(files_of(inputs), folder, base=base, suffix=suffix)
        copies = _checked(models or DEFAULT_MODELS, options, jobs)
    with (
        connected(address, workers) as ray,
        notes.bar("file", len(jobs)) as bar,
    ):
        report = tag_files(
            ray,
            jobs,
            copies,
            options,
            threads=threads,
            attempts=attempts,
            in_flight=in_flight,
            split=split,
            listener=_shown(notes, bar),
        )
    _write_failures(folder, report)
    _write_json(summary or f"{folder.rstrip('/')}/{SUMMARY}", _summary(report, copies, options))
    _conclude(notes, report, copies, options)
    return 1 if report.failures else 0


@command.command("train")
@click.argument("shards", nargs=-1, required=True, metavar="SHARD...")
@click.option("-m", "--model", required=True, help="Output file of the model (written atomically).")
@address_option
@workers_option
@click.option(
    "--dev",
    shell_complete=complete_files,
    help="Development set: the model of the round that scores best on it is kept.",
)
@click.option("--rounds", type=click.IntRange(1), help="Epochs of each shard (default: --epochs).")
@click.option(
    "--patience",
    type=click.IntRange(1),
    help="Stop after this many rounds without a better score on the dev set.",
)
@constrain_option
@click.option(
    "--attempts",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Number of attempts for a round of a shard whose worker is lost.",
)
@checkpoint_option
@resume_option
@training_options
@force_option
@click.pass_context
def train(
    context: click.Context,
    /,
    shards: tuple[str, ...],
    model: str,
    address: str | None,
    workers: int | None,
    dev: str | None,
    rounds: int | None,
    attempts: int,
    reading: Reading,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Train a tagger on the shards of a corpus in parallel (iterative parameter mixing).

    A shard is a file, which one worker keeps over all rounds. In each round each shard starts from
    the same weights and makes one pass over its sentences; then the weights are averaged. The model
    depends on the shards, their order and the seed, but not on the workers or their failures; with
    one shard the weights are those of seqtag train.

    \b
    Examples:
      seqtag cluster train shards/*.conllu --dev dev.conllu -m english.seqtag
      seqtag cluster train shards/*.conllu -m english.seqtag --checkpoint checkpoints --resume
      seqtag cluster train @shards.txt --address auto --rounds 20 -m english.seqtag
    """
    from seqtag.batch.jobs import files_of
    from seqtag.batch.parameter_mixing import train_shards
    from seqtag.batch.ray_cluster import connected, require_ray
    from seqtag.batch.ray_training import seated
    from seqtag.batch.storage import is_address

    notes = Notes(quiet)
    if rounds is not None and options["epochs"] is not None:
        msg = "expected --rounds or --epochs, found both, which are the same here; leave one out"
        raise click.UsageError(msg, context)
    if options["patience"] and not dev:
        msg = "--patience needs a --dev set"
        raise click.UsageError(msg, context)
    for name, value in (("--model", model), ("--checkpoint", options["checkpoint"])):
        if value in ("", "-"):
            msg = f"expected a name for {name}, found {value!r}"
            raise click.UsageError(msg, context)
    check_checkpoints(context, options)
    require_ray()
    files = files_of(shards)
    read = [*files, dev, *files_beside(options)]
    here = [each for each in read if each and not is_address(each)]
    force = force or (options["resume"] and is_unfinished(model))
    check_target(context, model, here, force=force, model=True)
    if as_json:
        check_stdout()
    epochs: list[Epoch] = []

    def show(epoch: Epoch) -> None:
        notes(line_of(epoch, 1))
        epochs.append(epoch)

    training_arguments(options)
    options["epochs"] = rounds or options["epochs"]
    options |= reading._asdict()
    dev = locate([dev], "dev", notes.fetching)[0] if dev else None
    with (
        saying_how_to_go_on(options["checkpoint"], notes),
        connected(address, workers) as ray,
    ):
        crew = partial(
            seated,
            ray=ray,
            attempts=attempts,
            on_lost=lambda shard, reason: notes(f"{shard}: the worker was lost: {reason}"),
        )
        tagger = train_shards(files, dev=dev, on_epoch=show, crew=crew, **options)
    return concluded(tagger, model, epochs, notes, as_json, options["checkpoint"])


def _checked(models: Sequence[str], options: TagOptions, jobs: Sequence[Job]) -> list[ModelCopy]:
    """Load the models and check that they fit the options."""
    import hashlib

    from seqtag.batch.ray_tagging import ModelCopy
    from seqtag.batch.rows import RowTagger, row_format
    from seqtag.batch.tag_file import Models, bytes_of_model, models_of_bytes

    found, copies = [], []
    for name in models:
        data = bytes_of_model(name)
        found.append(models_of_bytes(data, name))
        copies.append(ModelCopy(name, hashlib.sha256(data).hexdigest(), data))
    chain = Models.of(found).chain(options.only)
    if any(row_format(job.source, options.format) for job in jobs):
        RowTagger(chain, options)
    return copies


def _shown(notes: Notes, bar: Mover) -> Callable[[FileResult | Failure | None, Report], None]:
    """Return a listener that shows progress and failures."""
    from seqtag.batch.ray_tagging import Failure

    def show(done: FileResult | Failure | None, report: Report) -> None:
        if isinstance(done, Failure):
            notes(f"{done.file} failed: {done.error}")
        bar(0 if done is None else 1, f"{report.tokens_per_second:,} tokens/s")

    return show


def _summary(report: Report, copies: Sequence[ModelCopy], options: TagOptions) -> dict[str, Any]:
    """Return the summary of a run for JSON."""
    models = [{"name": copy.name, "sha256": copy.digest} for copy in copies]
    return report.as_json() | {"models": models, "options": options.as_json()}


def _write_json(name: str, found: dict[str, Any]) -> None:
    """Write a JSON document to a path or an address."""
    from seqtag.batch.storage import place_of
    from seqtag.batch.tag_file import json_bytes

    with place_of(name).output() as out:
        out.write(json_bytes(found, indent=2))


def _write_failures(folder: str, report: Report) -> None:
    """Write the list of failed files, or remove it if there are none."""
    from dataclasses import asdict

    from seqtag.batch.jobs import FAILED
    from seqtag.batch.storage import place_of
    from seqtag.batch.tag_file import json_bytes

    place = place_of(f"{folder.rstrip('/')}/{FAILED}")
    if not report.failures:
        place.remove()
        return
    with place.output() as out:
        for failure in sorted(report.failures, key=lambda each: each.file):
            out.write(json_bytes(asdict(failure)))


def _conclude(
    notes: Notes, report: Report, copies: Sequence[ModelCopy], options: TagOptions
) -> None:
    """Report the results of a run."""
    import hashlib

    from seqtag.batch.tag_file import bytes_of_model

    notes(
        f"{report.tagged} tagged, {report.skipped} skipped, {len(report.failures)} failed; "
        f"{report.tokens:,} tokens in {report.seconds:.0f} s, {report.tokens_per_second:,} a second"
    )
    if options.format == "auto" and options.to is None and report.formats["text"]:
        notes(
            f"note: {report.formats['text']} files were raw text and became CoNLL-U with unchanged "
            "names; --format text adds .conllu"
        )
    for reason, count in report.uncut.items():
        notes(f"note: {count} large files were not split: {reason}")
    for copy in copies:
        with suppress(OSError):
            if hashlib.sha256(bytes_of_model(copy.name)).hexdigest() != copy.digest:
                notes(
                    f"note: {copy.name} has changed since the start; all files were tagged with "
                    "the old model; run the same command again to tag with the new one"
                )
