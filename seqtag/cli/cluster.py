"""``seqtag cluster``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from seqtag.cli.base import Command, Group, in_output
from seqtag.cli.options import (
    address_option,
    quiet_option,
    suffix_option,
    tagging_options,
    workers_option,
)

if TYPE_CHECKING:
    from seqtag.cli.common import Notes
    from seqtag.cli.options import InputOptions


@click.group("cluster", cls=Group)
def command() -> None:
    """Tag many files on a Ray cluster (needs the extra ray).

    Without --address and $RAY_ADDRESS, a cluster runs on this machine until the command ends.

    \b
    Examples:
      seqtag cluster tag -m en crawl/*.txt --suffix .conllu -o tagged
    """


@command.command("tag", cls=Command)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@in_output("-o", "--output", required=True, help="Output folder.", metavar="DIR")
@suffix_option
@address_option
@workers_option
@tagging_options
@quiet_option
def tag(
    inputs: tuple[str, ...],
    models: tuple[str, ...],
    output: str,
    suffix: str | None,
    force: bool,
    address: str | None,
    workers: int | None,
    reading: InputOptions,
    threads: int,
    notes: Notes,
    **tagging: Any,
) -> int:
    """Tag files into a folder, each in a task of its own; as seqtag tag -o DIR/ does on threads.

    Inputs and outputs are paths that all machines see. Ray repeats the tasks of lost workers. Run
    the same command again to tag files that are missing or have changed.

    \b
    Examples:
      seqtag cluster tag -m en "crawl/**/*.txt.gz" --suffix .conllu -o tagged
      seqtag cluster tag -m en /data/crawl/*.txt -o /data/out --address auto
    """
    from seqtag.batch.on_ray import ray_runner
    from seqtag.cli.folder import tag_into_folder

    how: dict[str, Any] = {"suffix": suffix, "threads": threads, "force": force}
    with ray_runner(address, workers) as runner:
        how["runner"] = runner
        return tag_into_folder(notes, inputs, output, models, reading, tagging, **how)
