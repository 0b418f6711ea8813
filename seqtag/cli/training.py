"""Checkpoints, epochs and results of the commands that train models."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqtag.cli.common import Notes, interruption_code, load_model, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seqtag.tagging.tagger import Tagger
    from seqtag.training.runs import Epoch

checkpoint_option = click.option(
    "--checkpoint",
    metavar="DIR",
    help="Folder for checkpoints, written after each epoch and when interrupted.",
)
constrain_option = click.option(
    "--constrain/--no-constrain",
    default=True,
    show_default=True,
    help="Predict only valid sequences of chunk labels.",
)
resume_option = click.option(
    "--resume",
    is_flag=True,
    help="Resume from the newest checkpoint, if there is one; the model of an interrupted training "
    "is overwritten.",
)


def check_checkpoints(context: click.Context, options: dict[str, Any]) -> None:
    """Refuse options of checkpoints without a folder, and a folder that contains the model."""
    if options["checkpoint"] is not None:
        folder = Path(os.path.realpath(options["checkpoint"]))
        if folder.is_relative_to(os.path.realpath(context.params["model"])):
            msg = (
                f"expected a folder for --checkpoint that is not the model, found {folder.name!r} "
                "as both; choose another"
            )
            raise click.UsageError(msg, context)
    else:
        for name in ("resume", "checkpoint_every"):
            if options.get(name) not in (None, False):
                msg = f"--{name.replace('_', '-')} needs a folder: --checkpoint DIR"
                raise click.UsageError(msg, context)


def is_unfinished(path: str) -> bool:
    """Return whether a file is the model of an interrupted training."""
    from seqtag.errors import SeqtagError
    from seqtag.model.container import is_model
    from seqtag.tagging.pipeline import Pipeline

    if not is_model(path):
        return False
    try:
        loaded = load_model(path)
    except SeqtagError:  # not written by a training
        return False
    return (loaded.models[-1] if isinstance(loaded, Pipeline) else loaded.model).interrupted


def code_of(model: str, checkpoint: str | None, *, interrupted: bool, notes: Notes) -> int:
    """Return the exit code, and report an interruption."""
    if not interrupted:
        return 0
    notes(f"interrupted: {model} holds what was learned until then{_how_to_go_on(checkpoint)}")
    return interruption_code()


@contextmanager
def written_first() -> Iterator[None]:
    """Delay a first interruption until the model is saved."""
    from seqtag.training.interruption import Stop, put_off

    stop = Stop()
    with put_off(stop):
        yield
    if stop.asked():
        raise KeyboardInterrupt


@contextmanager
def saying_how_to_go_on(checkpoint: str | None, notes: Notes) -> Iterator[None]:
    """Report whether there is a checkpoint, if an interruption leaves no model."""
    try:
        yield
    except KeyboardInterrupt:
        if checkpoint is not None:
            notes(f"no model was written{_how_to_go_on(checkpoint)}")
        raise


def _how_to_go_on(checkpoint: str | None) -> str:
    """Return how to resume after an interruption, for a message."""
    from seqtag.training.checkpoints import files_of

    if checkpoint is None:
        return ""
    if not files_of(checkpoint):
        return f"; there is no checkpoint in {checkpoint} yet"
    return f"; to resume from {checkpoint}, run the same command with --resume"


def line_of(epoch: Epoch, runs: int) -> str:
    """Return a line about an epoch."""
    line = f"run {epoch.run} " if runs > 1 else ""
    line += f"epoch {epoch.epoch}: {epoch.updates} updates, {epoch.wrong_tokens} wrong tokens"
    if epoch.dev is not None:
        line += f", dev {epoch.dev.metric} {100 * epoch.dev.score:.2f}" + " *" * epoch.best
    return line


def facts_of(epoch: Epoch) -> dict[str, Any]:
    """Return the facts of an epoch for JSON."""
    return {
        "run": epoch.run,
        "epoch": epoch.epoch,
        "updates": epoch.updates,
        "wrong_tokens": epoch.wrong_tokens,
        "dev": epoch.dev and epoch.dev.score,
    }


def concluded(
    tagger: Tagger,
    model: str,
    epochs: Sequence[Epoch],
    notes: Notes,
    as_json: bool,
    checkpoint: str | None,
) -> int:
    """Save a tagger, describe it, and return the exit code."""
    with written_first():
        size = tagger.save(model)
        notes(
            f"{model}: {tagger.label} from {', '.join(tagger.columns)}, {len(tagger.labels)} "
            f"labels, {tagger.info['training']['sentences']} sentences, {size / 1e6:.1f} MB"
        )
    if as_json:
        facts = {"model": model, "bytes": size, "epochs": list(map(facts_of, epochs))}
        print_json(facts | tagger.info)
    return code_of(model, checkpoint, interrupted=tagger.model.interrupted, notes=notes)
