"""``seqtag cluster``."""

from __future__ import annotations

import click

from seqtag.cli import cluster_status, cluster_tag
from seqtag.cli.base import Group


@click.group("cluster", cls=Group)
def command() -> None:
    """Tag or train on many files, on a Ray cluster (needs the extra ray).

    Without --address and $RAY_ADDRESS, a cluster runs on this machine until the command ends.

    \b
    Examples:
      seqtag cluster tag -m en crawl/*.txt --format text -o tagged
      seqtag cluster status tagged/ledger.jsonl
      seqtag cluster train shards/*.conllu -o english.seqtag
    """


command.add_command(cluster_status.command)
command.add_command(cluster_tag.command)
