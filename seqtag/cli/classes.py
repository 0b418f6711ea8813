"""``seqtag classes``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from seqtag.catalogue.locate import locate
from seqtag.cli.common import Notes, check_stdin, check_target, load_model, usage
from seqtag.cli.hints import note_backend
from seqtag.cli.options import (
    columns_option,
    complete_files,
    complete_models,
    force_option,
    format_option,
    limits_options,
    quiet_option,
    reading_format,
    threads_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.corpus import ReadLimits
    from seqtag.corpus.read import AnyStream, SentenceStream
    from seqtag.tables.learn import Pass


@click.command("classes")
@click.argument("inputs", nargs=-1, required=True, metavar="RAW...", shell_complete=complete_files)
@click.option("-o", "--output", required=True, help="File to write the classes to.")
@force_option
@click.option(
    "-K", "--classes", "number", type=int, default=500, show_default=True, help="Classes to find."
)
@click.option(
    "--min-count",
    type=int,
    default=3,
    show_default=True,
    help="Words seen less often are all in one class, rare.",
)
@click.option(
    "--passes", type=int, default=4, show_default=True, help="How often each word is visited."
)
@click.option(
    "-m",
    "--model",
    shell_complete=complete_models,
    help="Pipeline that cuts raw text into words (default: NLTK's rules for English).",
)
@format_option
@columns_option
@limits_options
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
    format: str,
    columns: tuple[str, ...] | None,
    limits: ReadLimits,
    threads: int,
    quiet: bool,
) -> int:
    """Put the words of raw text into classes; words in the same places share one.

    The classes are features for `seqtag train --classes`. Text of one sentence a line, its words
    separated by spaces (--format tokens), is read fast; labels of other files are not looked at.
    The result is the same on any number of threads, which only read.

    \b
    Examples:
      seqtag classes news.txt.xz --format tokens -o news.classes
      seqtag classes -K 200 --min-count 5 a.conllu b.conllu -o small.classes
      zcat crawl.gz | seqtag classes - --format text -o crawl.classes
    """
    from seqtag.corpus import read
    from seqtag.model.embedded import find_model
    from seqtag.tables.bigrams import WordBigrams
    from seqtag.tables.learn import check_options, cluster, source_of

    notes = Notes(quiet)
    note_backend(notes)
    check_stdin(context, inputs)
    with usage():
        check_options(number, min_count, passes)
    paths = locate(inputs, "train", notes.fetching)
    check_target(context, output, [*paths, *([find_model(model)] if model else [])], force=force)
    format = reading_format(format, columns)
    opened = [
        context.with_resource(read(name, format, columns=columns, limits=limits)) for name in paths
    ]
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
    """The streams with raw text cut into words by the model, if there is one."""
    from seqtag.tagging.pipeline import Pipeline

    raw = [stream for stream in streams if stream.format == "text"]
    if model is None:
        if raw:
            notes(
                f"note: {raw[0].source}: cut by NLTK's rules for English; a pipeline that has "
                "learnt to cut text does it by -m, and text in tokens is read by --format tokens"
            )
        return streams
    loaded = load_model(model)
    if not isinstance(loaded, Pipeline) or loaded.segmenter is None:
        msg = "expected a pipeline that has learnt tokens for -m, found other models; leave it out"
        raise click.UsageError(msg, click.get_current_context())
    return [loaded.segmented(stream) if stream.format == "text" else stream for stream in streams]
