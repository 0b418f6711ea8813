"""``seqtag classes``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from seqtag.catalogue.fetch import locate
from seqtag.cli.base import Command, option
from seqtag.cli.common import Notes, check_stdin, check_target, usage
from seqtag.cli.options import (
    complete_files,
    force_option,
    output_option,
    quiet_option,
    reading_options,
    threads_option,
)

if TYPE_CHECKING:
    from seqtag.cli.options import InputOptions
    from seqtag.tables.learn import Pass


@click.command("classes", cls=Command)
@click.argument("inputs", nargs=-1, required=True, metavar="RAW...", shell_complete=complete_files)
@output_option
@force_option
@option("-K", "--number", type=int, default=500, help="Number of classes.", metavar="N")
@option(
    "--min-count",
    type=int,
    default=3,
    help="Put words seen less often into one class, rare.",
    metavar="N",
)
@option("--passes", type=int, default=4, help="Number of passes over the words.", metavar="N")
@reading_options
@threads_option
@quiet_option
def command(
    inputs: tuple[str, ...],
    output: str,
    force: bool,
    number: int,
    min_count: int,
    passes: int,
    reading: InputOptions,
    threads: int,
    notes: Notes,
) -> int:
    """Learn word classes from raw text: words in similar contexts share a class.

    The classes are features for `seqtag train --table`. Text with one sentence per line and words
    separated by spaces (--format tokens) is read fastest; labels of other files are ignored.
    Threads only speed up reading; the result does not depend on their number.

    \b
    Examples:
      seqtag classes news.txt.xz --format tokens -o news.classes
      seqtag classes -K 200 --min-count 5 a.conllu b.conllu -o small.classes
      zcat crawl.gz | seqtag classes - --format text -o crawl.classes
    """
    from seqtag.tables.learn import WordBigrams, check_options, cluster, source_of

    check_stdin(inputs)
    with usage():
        check_options(number, min_count, passes)
    paths = locate(inputs, "train")
    check_target(output, paths, force=force)
    streams = reading.streams(paths)
    for stream in streams:
        if stream.is_raw:
            notes(
                f"note: {stream.source}: tokenized by NLTK's rules for English; seqtag tag --only "
                "tokens --to tokens tokenizes with a model, for --format tokens here"
            )
    counted = WordBigrams()
    words = (count for stream in streams for count in counted.read(stream, threads))
    for _ in notes.reading(words, streams, shared=output == "-"):
        pass

    def tell(done: Pass) -> None:
        notes(f"pass {done.number}: {done.moved} words moved, perplexity {done.perplexity:.2f}")

    with notes.bar("words", None) as bar:
        found = cluster(counted, number, min_count, passes, on_pass=tell, on_words=bar)
    found.save(output, source_of(inputs))
    notes(
        f"{output}: {len(found)} words in {number} classes, from {found.tokens} words of text "
        f"({found.types} types)"
    )
    return 0
