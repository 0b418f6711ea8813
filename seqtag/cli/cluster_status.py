"""``seqtag cluster status``."""

from __future__ import annotations

import click

from seqtag.cli.base import Command
from seqtag.cli.common import print_json, say
from seqtag.cli.options import complete_files, json_option


@click.command("status", cls=Command)
@click.argument("ledger", metavar="LEDGER", shell_complete=complete_files)
@json_option
def command(ledger: str, as_json: bool) -> int:
    """Show how far a run of seqtag cluster tag is, from its ledger, and the files that failed.

    The run may be in progress, finished, or interrupted. The exit code is 1 if files failed.

    \b
    Examples:
      seqtag cluster status tagged/ledger.jsonl
      seqtag cluster status tagged/ledger.jsonl --json
    """
    from seqtag.batch.ledger import read_report

    report, is_running = read_report(ledger)
    state = "running" if is_running else "finished" if report.ended else "interrupted"
    if as_json:
        print_json({"state": state} | report.as_json())
        return 1 if report.failures else 0
    lines = [
        f"{state}: {report.progress()}",
        f"{report.tagged:,} tagged, {report.skipped:,} skipped, {len(report.failures):,} failed; "
        f"{report.tokens:,} tokens in {report.seconds:,.0f} s",
    ]
    lines += [f"{source} failed: {error}" for source, error in report.failures]
    say("\n".join(lines) + "\n")
    return 1 if report.failures else 0
