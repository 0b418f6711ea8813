"""``seqtag train``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from seqtag.catalogue.entries import parse
from seqtag.catalogue.locate import locate
from seqtag.cli.common import (
    Notes,
    check_stdin,
    check_stdout,
    check_target,
    load_model,
    note_backend,
    print_json,
)
from seqtag.cli.options import (
    attributes_option,
    complete_files,
    files_beside,
    force_option,
    quick_option,
    threads_option,
    training_arguments,
    training_options,
)
from seqtag.cli.training import (
    check_checkpoints,
    checkpoint_option,
    code_of,
    concluded,
    constrain_option,
    facts_of,
    is_unfinished,
    line_of,
    resume_option,
    saying_how_to_go_on,
    written_first,
)

if TYPE_CHECKING:
    from seqtag.cli.options import InputOptions
    from seqtag.training.runs import Epoch


@click.command("train")
@click.argument("train", nargs=-1, required=True, shell_complete=complete_files)
@click.option("-m", "--model", required=True, help="Output file of the model (written atomically).")
@click.option(
    "--dev",
    shell_complete=complete_files,
    help="Development set: the model of the epoch that scores best on it is kept.",
)
@click.option(
    "--runs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Train several models with different shuffling and average them.",
)
@click.option(
    "--patience",
    type=click.IntRange(1),
    help="Stop after this many epochs without a better score on the dev set.",
)
@constrain_option
@click.option(
    "--init",
    metavar="MODEL",
    help="Model to continue from: its labels, words and features are kept, and its templates and "
    "settings are the defaults.",
)
@checkpoint_option
@click.option(
    "--checkpoint-every",
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="Write checkpoints after so many seconds instead, also within an epoch.",
)
@resume_option
@training_options
@quick_option
@threads_option
@force_option
@attributes_option
@click.pass_context
def command(
    context: click.Context,
    /,
    train: tuple[str, ...],
    model: str,
    dev: str | None,
    reading: InputOptions,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Train a tagger or a pipeline on annotated sentences.

    \b
    Examples:
      seqtag train train.conllu --dev dev.conllu -m english.seqtag
      seqtag train train.txt --label chunk -m chunks.seqtag
      seqtag train train.conllu -m english.seqtag --label all
      seqtag train ud:fr_sequoia -m french.seqtag
      seqtag train more.conllu --init english.seqtag -m better.seqtag
      seqtag train partly.conllu --unlabeled learn-around -m english.seqtag
      seqtag train train.conllu -m english.seqtag --checkpoint checkpoints --resume
    """
    from seqtag.model import bundle
    from seqtag.tagging.pipeline import Pipeline
    from seqtag.training.train import train as train_model

    notes = Notes(quiet)
    named = [(f"--{name}", options[name]) for name in ("label", "init", "checkpoint")]
    for name, value in [("--model", model), *named]:
        if value in ("", "-"):
            msg = f"expected a name for {name}, found {value!r}"
            raise click.UsageError(msg, context)
    inputs = [*train, *([dev] if dev else [])]
    check_stdin(context, inputs)
    check_checkpoints(context, options)
    force = force or (options["resume"] and is_unfinished(model))
    read = [*inputs, *files_beside(options)]
    check_target(context, model, read, force=force, model=True)
    if as_json:
        check_stdout()
    note_backend(notes)
    train, dev = _by_name(train, dev, options, notes)

    if options["patience"] and not dev:
        msg = "--patience needs a --dev set"
        raise click.UsageError(msg, context)
    epochs: list[Epoch] = []

    def show(epoch: Epoch) -> None:
        notes(line_of(epoch, options["runs"]))
        epochs.append(epoch)

    options |= vars(reading) | {"on_epoch": show}
    options["init"] = options["init"] and load_model(options["init"])
    training_arguments(options, learn_around=True)
    label = options["label"]
    several = label is not None and ("," in label or label in ("all", "tokens", "words"))
    if several:
        refused = {
            "--templates": options["templates"],
            "--unlabeled skip": options["unlabeled"] == "skip",
            "--unlabeled learn-around": options["unlabeled"] == "learn_around",
        }
        for name in (name for name, given in refused.items() if given):
            msg = (
                f"expected {name} with one label, found {label}; train such components one by one "
                "and combine them with seqtag bundle"
            )
            raise click.UsageError(msg, context)
        if label != "all":
            options["label"] = [name.strip() for name in label.split(",")]
    with saying_how_to_go_on(options["checkpoint"], notes):
        trained = train_model(
            train, dev=dev, on_component=lambda name: notes(f"part {name}"), **options
        )
    if not isinstance(trained, Pipeline):
        return concluded(trained, model, epochs, notes, as_json, options["checkpoint"])
    models = trained.models
    listed = ", ".join(f"{each.column} ({len(each.labels)})" for each in models)
    with written_first():
        size = bundle.save(model, models)
        notes(f"{model}: {listed}, {size / 1e6:.1f} MB")
    if as_json:
        facts = {"model": model, "bytes": size, "epochs": list(map(facts_of, epochs))}
        print_json(facts | {"parts": [each.config() for each in models]})
    return code_of(model, options["checkpoint"], interrupted=models[-1].interrupted, notes=notes)


def _by_name(
    train: tuple[str, ...], dev: str | None, options: dict[str, Any], notes: Notes
) -> tuple[tuple[str, ...], str | None]:
    """Return the files to read; a corpus named alone brings its dev split and all its columns."""
    corpus = parse(train[0]) if len(train) == 1 else None
    if corpus and corpus.part is None:
        if dev is None and "dev" in corpus.entry.parts:
            dev = f"{train[0]}/dev"
        of_one_label = options["label"] or options["templates"] or options["unlabeled"] != "error"
        if corpus.entry.format == "conllu" and not of_one_label:
            options["label"] = "all"
        label = options["label"]
        shown = [f"--dev {dev}"] * bool(dev) + [f"--label {label}"] * bool(label)
        notes(" ".join([f"training on {train[0]}/train", *shown]))
    paths = tuple(locate(train, "train", notes.fetching))
    return paths, locate([dev], "dev", notes.fetching)[0] if dev else None
