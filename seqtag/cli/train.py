"""``seqtag train``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from seqtag.catalogue.entries import parse
from seqtag.catalogue.fetch import locate
from seqtag.cli.base import Command, Whole, in_advanced, in_input, in_training, option
from seqtag.cli.common import (
    Notes,
    check_stdin,
    check_stdout,
    check_target,
    load_model,
    refuse,
    usage,
)
from seqtag.cli.options import (
    attributes_option,
    complete_files,
    force_option,
    is_pipeline,
    other_inputs,
    output_option,
    threads_option,
    training_arguments,
    training_options,
)
from seqtag.cli.training import TrainingReport

if TYPE_CHECKING:
    from seqtag.cli.options import InputOptions


def _pairs(_: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Return pairs of a name and a value, each name at most once, as a dictionary."""
    found: dict[str, str] = {}
    separator = {"map": "=", "partial": ":"}[str(option.name)]
    for each in values:
        name, __, value = each.rpartition(separator)
        if not name or not value or name in found:
            refuse(f"expected --{option.name} {option.metavar}, each once, found {each!r}")
        found[name] = value
    return found


@click.command("train", cls=Command)
@click.argument("train", nargs=-1, required=True, shell_complete=complete_files)
@output_option
@option(
    "--dev",
    shell_complete=complete_files,
    help="Development set: the model of the epoch that scores best on it is kept.",
    metavar="FILE",
)
@in_advanced(
    "--runs",
    type=Whole(1),
    default=1,
    help="Train so many models with different shuffling and average them: 5 gain .1 to .4 points.",
    metavar="N",
)
@in_advanced(
    "--constrain/--no-constrain", default=True, help="Predict only valid sequences of chunk labels."
)
@option(
    "--init",
    metavar="MODEL",
    help="Model to continue from: its templates apply, its labels, words and features are kept, "
    "and its settings are the defaults. Components that are not trained are not kept.",
)
@training_options
@in_training(
    "--patience",
    type=Whole(1),
    help="Stop after this many epochs without a better score on the dev set.",
    metavar="N",
)
@in_input(
    "--map",
    multiple=True,
    callback=_pairs,
    metavar="NAME=NAME",
    help="Another name for a label or a type of chunks, in all files, to join corpora: "
    "person=PER; misc=O drops a type. May be repeated.",
)
@in_input(
    "--partial",
    multiple=True,
    callback=_pairs,
    metavar="FILE:TYPE,TYPE,...",
    help="In FILE, which is one of those to train on, only chunks of these types were annotated: O "
    "means none of these. Models of the other files find the others. May be repeated.",
)
@threads_option
@force_option
@attributes_option
def command(
    train: tuple[str, ...],
    output: str,
    dev: str | None,
    reading: InputOptions,
    force: bool,
    as_json: bool,
    notes: Notes,
    **options: Any,
) -> int:
    """Train a tagger or a pipeline on annotated sentences.

    \b
    Examples:
      seqtag train train.conllu --dev dev.conllu -o english.seqtag
      seqtag train train.txt --label chunk -o chunks.seqtag
      seqtag train train.conllu -o english.seqtag --label all
      seqtag train train.conllu -o english.seqtag --table news.classes --runs 5
      seqtag train ud:fr_sequoia -o french.seqtag
      seqtag train more.conllu --init english.seqtag -o better.seqtag
      seqtag train partly.conllu --unlabeled learn-around -o english.seqtag
    """
    from seqtag.training.train import train as train_model

    inputs = [*train, *([dev] if dev else [])]
    check_stdin(inputs)
    for name, value in {"output": output, **options}.items():
        if name in ("output", "label", "init") and value in ("", "-"):
            refuse(f"expected a name for --{name}, found {value!r}")
    check_target(output, [*inputs, *other_inputs(options)], force=force, model=True)
    if as_json:
        check_stdout()
    given = train
    train, dev = _by_name(train, dev, options, notes)
    path_of = dict(zip(given, train, strict=True))
    options["partial"] = {path_of.get(k, k): v for k, v in options["partial"].items()}
    if options["patience"] and not dev:
        refuse("--patience needs a --dev set")
    label = options["label"]
    if is_pipeline(label):
        options["label"] = [name.strip() for name in label.split(",")]
    training_arguments(options, train=True)
    options["init"] = options["init"] and load_model(options["init"])
    report = TrainingReport(notes, output, runs=options["runs"])
    with usage():
        trained = train_model(
            train,
            dev=dev,
            on_epoch=report.add,
            on_component=report.add_component,
            **reading.arguments(),
            **options,
        )
    return report.save(trained, as_json=as_json)


def _by_name(
    train: tuple[str, ...], dev: str | None, options: dict[str, Any], notes: Notes
) -> tuple[tuple[str, ...], str | None]:
    """Return the files to read; a corpus named alone brings its dev split and all its columns."""
    corpus = parse(train[0]) if len(train) == 1 else None
    if corpus and corpus.part is None:
        if dev is None and "dev" in corpus.entry.parts:
            dev = f"{train[0]}/dev"
        chosen = [options[name] for name in ("label", "templates", "map", "partial")]
        of_one_label = any(chosen) or options["unlabeled"] != "error"
        if corpus.entry.format == "conllu" and not of_one_label:
            options["label"] = "all"
        label = options["label"]
        shown = [f"--dev {dev}"] * bool(dev) + [f"--label {label}"] * bool(label)
        notes(" ".join([f"training on {train[0]}/train", *shown]))
    paths = tuple(locate(train, "train"))
    return paths, locate([dev], "dev")[0] if dev else None
