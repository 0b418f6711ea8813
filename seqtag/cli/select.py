"""``seqtag select``."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from seqtag.cli.base import Command, Whole, in_output, option
from seqtag.cli.options import complete_files, general_options, tagging_options
from seqtag.cli.tag import tag_into_file


@click.command("select", cls=Command)
@click.argument("inputs", nargs=-1, metavar="[INPUT|-]...", shell_complete=complete_files)
@option("-n", "--number", type=Whole(1), default=50, metavar="N", help="Sentences to choose.")
@option(
    "--per-document",
    type=Whole(1),
    metavar="K",
    shown="no limit",
    help="Sentences to choose from one document at most: a file, or what begins with # newdoc or "
    "-DOCSTART-.",
)
@in_output(
    "-o", "--output", default="-", shown="standard output", metavar="FILE", help="Output file."
)
@tagging_options
@general_options
def command(number: int, per_document: int | None, **given: Any) -> int:
    """Choose the sentences worth annotating next: those that a model is most uncertain about.

    They are tagged, ready to be corrected, and the most worthwhile comes first. Each has its
    uncertainty, # uncertainty = ... in CoNLL-U or a field in JSON lines. Of sentences with the same
    words one is chosen. Raw text is written as CoNLL-U. Of JSON with texts, texts are chosen, and
    their objects are written as by tag.

    \b
    Examples:
      seqtag select -m names.seqtag -n 50 crawl.txt -o next.conllu
      seqtag select -m en --only upos --per-document 3 --to jsonl *.conllu
      seqtag select -m en --only ner texts.jsonl --to label-studio
    """
    from seqtag.tagging.selection import selected

    names = "notes", "inputs", "output", "models", "reading", "threads", "force"
    usual = {name: given.pop(name) for name in names}
    choose = partial(selected, number=number, per_document=per_document)
    return tag_into_file(**usual, tagging=given, choose=choose)
