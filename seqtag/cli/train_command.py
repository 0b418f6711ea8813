"""``seqtag train``."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import click

from seqtag.cli.common import (
    Notes,
    check_stdin,
    check_stdout,
    columns_option,
    format_option,
    json_option,
    print_json,
    quiet_option,
    reading_format,
    threads_option,
)


@click.command("train")
@click.argument("train", nargs=-1, required=True)
@click.option("-m", "--model", required=True, help="File to write the model to.")
@click.option("--dev", help="Development set: the epoch that scores best on it is kept.")
@click.option(
    "--label",
    metavar="COLUMN",
    help="Column to learn: upos, xpos, feats, upos+feats, chunk, ner, ... "
    "(default: upos in CoNLL-U, the last column elsewhere).",
)
@format_option
@columns_option
@click.option(
    "--templates",
    metavar="PRESET|FILE",
    help="Feature templates: pos, chunk, ner, morph or a file (default: what fits the label).",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=1,
    show_default=True,
    help="Of the shuffling.",
)
@click.option(
    "--runs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Models trained with different shuffling and averaged into one.",
)
@click.option("--epochs", type=click.IntRange(1), help="Passes over the data.")
@click.option(
    "--patience",
    type=click.IntRange(1),
    help="Stop after this many epochs without a better score on the dev set.",
)
@click.option(
    "--update",
    type=click.Choice(["perceptron", "pa", "adaptive"]),
    help="Step rule: the classical perceptron, passive-aggressive, or per-weight adaptive.",
)
@click.option("--step", type=float, help="C of pa, eta of adaptive.")
@click.option("--margin", type=float, help="Cost of a wrong label while learning; 0 is none.")
@click.option("--min-count", type=click.IntRange(1), help="Leave out features seen less often.")
@click.option(
    "--encoding",
    type=click.Choice(["keep", "iob2", "iobes", "bilou"]),
    help="Scheme to learn chunk labels in; they are written back in their own.",
)
@click.option(
    "--label-parts",
    type=click.Choice(["whole", "split"]),
    help="Give weights to whole labels, or to the parts of labels such as NOUN|Case=Nom.",
)
@click.option(
    "--known-labels",
    type=click.IntRange(0),
    metavar="N",
    help="Words seen N times or more keep to the labels they had; 0 restricts none.",
)
@click.option("--dropout", type=float, help="Share of features hidden at random in each epoch.")
@click.option(
    "--constrain/--no-constrain",
    default=True,
    show_default=True,
    help="Give only valid sequences of chunk labels.",
)
@click.option("--skip-unlabelled", is_flag=True, help='Leave out sentences with a label "_".')
@threads_option
@click.option("--force", is_flag=True, help="Overwrite the model file.")
@json_option
@quiet_option
@click.pass_context
def command(
    context: click.Context,
    train: tuple[str, ...],
    model: str,
    dev: str | None,
    format: str,
    columns: tuple[str, ...] | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    r"""Train a tagger on annotated sentences.

    \b
    seqtag train train.conllu --dev dev.conllu -m english.seqtag
    seqtag train train.txt --label chunk -m chunks.seqtag
    """
    from seqtag.files import check_output
    from seqtag.training.train import Epoch
    from seqtag.training.train import train as train_tagger

    notes = Notes(quiet)
    if options["patience"] and not dev:
        msg = "--patience needs a --dev set"
        raise click.UsageError(msg, context)
    for name, value in (("--model", model), ("--label", options["label"])):
        if value in ("", "-"):
            msg = f"expected a name for {name}, found {value!r}"
            raise click.UsageError(msg, context)
    inputs = [*train, *([dev] if dev else [])]
    check_stdin(context, inputs)
    check_output(model, [*inputs, *([templates] if (templates := options["templates"]) else [])])
    if as_json:
        check_stdout()
    target = Path(model)
    if target.exists() and not target.is_file():
        msg = f"expected a file to write the model to, found {model}"
        raise click.UsageError(msg, context)
    if target.exists() and not force:
        msg = f"{model} is there already; overwrite it with --force"
        raise click.UsageError(msg, context)
    if not target.resolve().parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such directory", str(target.parent))

    epochs: list[dict[str, Any]] = []

    def show(epoch: Epoch) -> None:
        line = f"run {epoch.run} " if options["runs"] > 1 else ""
        line += f"epoch {epoch.epoch}: {epoch.updates} updates, {epoch.wrong_tokens} wrong tokens"
        if epoch.dev is not None:
            line += f", dev {epoch.dev.metric} {100 * epoch.dev.score:.2f}" + " *" * epoch.best
        notes(line)
        epochs.append(
            {
                "run": epoch.run,
                "epoch": epoch.epoch,
                "updates": epoch.updates,
                "wrong_tokens": epoch.wrong_tokens,
                "dev": epoch.dev and epoch.dev.score,
            }
        )

    tagger = train_tagger(
        train,
        dev=dev,
        format=reading_format(format, columns),
        columns=columns,
        on_epoch=show,
        **options,
    )
    size = tagger.save(model)
    training = tagger.info["training"]
    notes(
        f"{model}: {tagger.label} from {', '.join(tagger.columns)}, {len(tagger.labels)} labels, "
        f"{training['sentences']} sentences, {size / 1e6:.1f} MB"
    )
    if as_json:
        print_json({"model": model, "bytes": size, "epochs": epochs, **tagger.info})
    if training.get("interrupted"):
        notes("interrupted: the model holds the epochs finished until then")
        return 130
    return 0
