"""``seqtag classes``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from seqtag.catalogue.fetch import locate
from seqtag.cli.base import INPUT, Command, option
from seqtag.cli.common import Notes, check_stdin, check_target, load_model, usage
from seqtag.cli.options import (
    complete_files,
    complete_models,
    force_option,
    output_option,
    quiet_option,
    reading_options,
    threads_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.cli.options import InputOptions
    from seqtag.corpus.read import AnyStream, SentenceStream
    from seqtag.tables.learn import Pass


@click.command("classes", cls=Command)
@click.argument("inputs", nargs=-1, required=True, metavar="RAW...", shell_complete=complete_files)
@output_option
@force_option
@option(
    "-K",
    "--number",
    type=int,
    default=500,
    help="Number of classes.",
    metavar="N",
)
@option(
    "--min-count",
    type=int,
    default=3,
    help="Put words seen less often into one class, rare.",
    metavar="N",
)
@option("--passes", type=int, default=4, help="Number of passes over the words.", metavar="N")
@option(
    "-m",
    "--model",
    shell_complete=complete_models,
    help="Pipeline that tokenizes raw text.",
    shown="NLTK's rules for English",
    metavar="MODEL",
    group=INPUT,
)
@reading_options
@threads_option
@quiet_option
@click.pass_context
def command(
    context: click.Context,
    inputs: tuple[str, ...],
    output: str,
    force: bool,
    number: int,
    min_count: int,
    passes: int,
    model: str | None,
    reading: InputOptions,
    threads: int,
    quiet: bool,
) -> int:
    """Learn word classes from raw text: words in similar contexts share a class.

    The classes are features for `seqtag train --classes`. Text with one sentence per line and words
    separated by spaces (--format tokens) is read fastest; labels of other files are ignored.
    Threads only speed up reading; the result does not depend on their number.

    \b
    Examples:
      seqtag classes news.txt.xz --format tokens -o news.classes
      seqtag classes -K 200 --min-count 5 a.conllu b.conllu -o small.classes
      zcat crawl.gz | seqtag classes - --format text -o crawl.classes
    """
    from seqtag.model.embedded import find_model
    from seqtag.tables.learn import WordBigrams, check_options, cluster, source_of

    notes = Notes(quiet)
    check_stdin(context, inputs)
    with usage():
        check_options(number, min_count, passes)
    paths = locate(inputs, "train", notes.announce)
    check_target(context, output, [*paths, *([find_model(model)] if model else [])], force=force)
    opened = [context.with_resource(reading.open(name)) for name in paths]
    streams = _cut(opened, model, notes)
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


def _cut(streams: Sequence[SentenceStream], model: str | None, notes: Notes) -> Sequence[AnyStream]:
    """Return the streams, with raw text tokenized by the model, if there is one."""
    raw = [stream for stream in streams if stream.is_raw]
    if model is None:
        if raw:
            notes(
                f"note: {raw[0].source}: tokenized by NLTK's rules for English; -m names a "
                "pipeline with a tokenizer, --format tokens reads tokenized text"
            )
        return streams
    loaded = load_model(model)
    if loaded.segmenter is None:
        msg = "expected a pipeline with a tokenizer for -m, found one without; leave -m out"
        raise click.UsageError(msg, click.get_current_context())
    return [loaded.segmented(stream) if stream.is_raw else stream for stream in streams]
