"""``seqtag cluster``."""

from __future__ import annotations

import click


@click.group("cluster", no_args_is_help=False)
def command() -> None:
    """Many files on many machines, by Ray (the extra ray).

    Without --address, and where $RAY_ADDRESS is not set, a cluster is started on this machine,
    which ends with the command.

    \b
    Examples:
      seqtag cluster
    """
