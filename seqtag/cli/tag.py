"""``seqtag tag``."""

from __future__ import annotations

import os
from functools import partial
from pathlib import PurePath
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from seqtag.catalogue.fetch import locate
from seqtag.cli.base import Command, in_output
from seqtag.cli.common import Notes, check_stdin, check_target, load_model, refuse, usage
from seqtag.cli.options import (
    complete_files,
    general_options,
    suffix_option,
    tagging_options,
    text_column_option,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from seqtag.cli.options import InputOptions


@click.command("tag", cls=Command)
@click.argument("inputs", nargs=-1, metavar="[INPUT|-]...", shell_complete=complete_files)
@in_output(
    "-o",
    "--output",
    default="-",
    shown="standard output",
    help="Output file (written atomically); or a folder, an existing one or a name with / at its "
    "end, which gets an output for each input.",
    metavar="FILE|DIR/",
)
@suffix_option
@text_column_option
@tagging_options
@general_options
def command(
    inputs: tuple[str, ...],
    models: tuple[str, ...],
    output: str,
    suffix: str | None,
    force: bool,
    reading: InputOptions,
    threads: int,
    notes: Notes,
    **tagging: Any,
) -> int:
    """Tag text or CoNLL files; the output is the input with its label columns filled.

    Into a folder, finished outputs are skipped, --threads are shared by the files, and a file that
    cannot be tagged does not stop the others: the exit code is 1. --force tags all files again.

    \b
    Examples:
      echo "Time flies like an arrow." | seqtag tag --to tagged
      seqtag tag -m english.seqtag corpus.conllu.gz -o tagged.conllu.gz
      seqtag tag -m en -m chunks.seqtag book.txt --to jsonl
      seqtag tag -m english.seqtag --keep --label-margin partly.conllu
      seqtag tag -m en crawl/*.txt --suffix .conllu -o tagged/
      seqtag tag -m en --only ner texts.jsonl --to doccano
    """
    if output.endswith(("/", os.sep)) or os.path.isdir(output):  # noqa: PTH112
        from seqtag.cli.folder import tag_into_folder

        how = {"suffix": suffix, "threads": threads, "force": force}
        return tag_into_folder(notes, inputs or ("-",), output, models, reading, tagging, **how)
    if suffix is not None:
        refuse(f"expected --suffix with -o DIR/, found {output!r}; leave it out, or name a folder")
    return tag_into_file(notes, inputs, output, models, reading, tagging, threads, force=force)


def tag_into_file(
    notes: Notes,
    inputs: tuple[str, ...],
    output: str,
    models: tuple[str, ...],
    reading: InputOptions,
    tagging: Mapping[str, Any],
    threads: int,
    *,
    force: bool,
    choose: Callable[..., Iterator[bytes]] | None = None,
) -> int:
    """Tag files, or what `choose` chooses of them, which is called as `Chain.tagged`.

    All others are options of the command line.
    """
    from seqtag.model.embedded import DEFAULT_MODELS, find_model
    from seqtag.storage.output import atomic, is_standard_output
    from seqtag.tagging.pipeline import Chain
    from seqtag.tagging.streams import TagCounts, TagOptions

    inputs = inputs or ("-",)
    check_stdin(inputs)
    inputs = tuple(locate(inputs))
    models = models or DEFAULT_MODELS
    check_target(output, [*inputs, *map(find_model, models)], force=force)
    with usage():
        chain = Chain([load_model(model) for model in models], tagging["only"])
        options = TagOptions(**tagging, offsets=reading.offsets)
        streams = chain.reading(reading).streams(inputs)
        counts = TagCounts() if notes.on_terminal else None
        tag = choose or partial(Chain.tagged, counts=counts)
        pieces = tag(chain, streams, options, threads)
    by_rules = [] if chain.cuts else [s.source for s in streams if s.is_raw or s.format == "spans"]
    if by_rules and options.tokenizer == "model":
        notes(
            f"note: {by_rules[0]}: tokenized by NLTK's rules for English, because no model here "
            "has a tokenizer; --label all trains one, --tokenizer nltk chooses the rules"
        )
    is_other = PurePath(output).suffix in (".json", ".jsonl", ".tsv", ".csv")
    if is_other and options.to is None and any(stream.is_raw for stream in streams):
        notes(f"note: {output}: text is written as conllu, whatever the ending; see --to")
    start = perf_counter()
    shared = is_standard_output(output)

    def speed() -> str:
        done = counts.tokens if counts else 0
        return f"{done / (perf_counter() - start):,.0f} words a second"

    with atomic(output) as out:
        for piece in notes.reading(pieces, streams, shared=shared, speed=speed):
            out.write(piece)
            if shared:
                out.flush()
    if counts and counts.tokens:
        notes(f"{counts.tokens:,} words in {perf_counter() - start:.1f} s, {speed()}")
    return 0
