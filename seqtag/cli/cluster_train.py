"""``seqtag cluster train``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from seqtag.catalogue.fetch import locate
from seqtag.cli.base import Command
from seqtag.cli.common import Notes, refuse
from seqtag.cli.options import (
    address_option,
    attempts_option,
    force_option,
    output_option,
    training_arguments,
    training_options,
    workers_option,
)
from seqtag.cli.training import (
    TrainingReport,
    check_training,
    checkpoint_option,
    constrain_option,
    dev_option,
    patience_option,
    resume_option,
)

if TYPE_CHECKING:
    from seqtag.cli.options import InputOptions


@click.command("train", cls=Command)
@click.argument("shards", nargs=-1, required=True, metavar="SHARD...")
@output_option
@address_option
@workers_option
@dev_option
@constrain_option
@attempts_option
@checkpoint_option
@resume_option
@training_options
@patience_option
@force_option
def command(
    shards: tuple[str, ...],
    output: str,
    address: str | None,
    workers: int | None,
    dev: str | None,
    attempts: int,
    reading: InputOptions,
    force: bool,
    as_json: bool,
    notes: Notes,
    **options: Any,
) -> int:
    """Train a tagger on the shards of a corpus in parallel (iterative parameter mixing).

    A shard is a file, which one worker keeps over all epochs. In each epoch each shard starts from
    the same weights and makes one pass over its sentences; then the weights are averaged. The model
    depends on the shards, their order and the seed, but not on the workers or their failures; with
    one shard the weights are those of seqtag train.

    \b
    Examples:
      seqtag cluster train shards/*.conllu --dev dev.conllu -o english.seqtag
      seqtag cluster train shards/*.conllu -o big.seqtag --checkpoint c --resume
      seqtag cluster train @shards.txt --address auto --epochs 20 -o big.seqtag
    """
    from seqtag.batch.jobs import files_of
    from seqtag.batch.parameter_mixing import train_shards
    from seqtag.batch.ray_cluster import connected, require_ray
    from seqtag.batch.ray_training import ray_shards
    from seqtag.batch.storage import is_address

    if options["patience"] and not dev:
        refuse("--patience needs a --dev set")
    require_ray()
    files = files_of(shards)
    here = [each for each in (*files, dev) if each and not is_address(each)]
    check_training(here, output, options, force=force, as_json=as_json)
    training_arguments(options)
    report = TrainingReport(notes, output, options["checkpoint"], force=force)
    dev = locate([dev], "dev", notes.announce)[0] if dev else None
    with report.interruptible(), connected(address, workers) as ray:
        tagger = train_shards(
            files,
            dev=dev,
            on_epoch=report.add,
            workers=partial(ray_shards, ray=ray, attempts=attempts),
            **reading.arguments(),
            **options,
        )
    return report.save(tagger, as_json=as_json)
