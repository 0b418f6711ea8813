"""``seqtag agree``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from seqtag.catalogue.fetch import locate
from seqtag.cli.base import Command, in_output
from seqtag.cli.common import check_stdin, check_target, print_json, refuse, say
from seqtag.cli.options import comparing_options, quiet_option, reading_options, write_list
from seqtag.evaluation.agreement import agree
from seqtag.storage.output import atomic

if TYPE_CHECKING:
    from seqtag.cli.options import InputOptions


@click.command("agree", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="A B [C ...]")
@comparing_options
@in_output("--merge", metavar="FILE", help="Write A, with _ instead of labels that differ.")
@reading_options
@quiet_option
def command(
    files: tuple[str, ...],
    label: str | None,
    listed: str | None,
    merge: str | None,
    force: bool,
    reading: InputOptions,
    as_json: bool,
    **_: Any,
) -> int:
    """Measure the agreement of annotators on the same words.

    Kappa is Cohen's for two annotators and Fleiss' for more; chunks are compared by F1, too. Words
    that one annotator left unlabeled (_) are not compared. "-" writes a list or merged file to
    stdout, instead of the figures.

    \b
    Examples:
      seqtag agree anna.conllu ben.conllu
      seqtag agree a.txt b.txt c.txt --label ner --list disputed.tsv
      seqtag agree a.jsonl b.jsonl --merge agreed.jsonl
    """
    check_stdin(files)
    if merge and merge == listed:
        refuse(f"expected another file for --merge than for --list, found {merge!r} for both")
    paths = locate(files)
    for target in filter(None, (listed, merge)):
        check_target(target, paths, force=force)
    found = agree(reading.streams(paths), label)
    if listed:
        write_list(listed, found)
    if merge:
        with atomic(merge) as out:
            out.writelines(text.encode() for text in found.merged())
    if as_json and "-" not in (listed, merge):
        print_json(found.to_dict())
    elif "-" not in (listed, merge):
        names = zip(found.labels, files, strict=True)
        say("".join(f"{letter} {name}\n" for letter, name in names) + f"\n{found}")
    return 0
