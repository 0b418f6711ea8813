"""``seqtag tag``."""

from __future__ import annotations

import click

from seqtag.cli.common import Notes, check_stdin, load_model
from seqtag.cli.options import (
    columns_option,
    format_option,
    quiet_option,
    reading_format,
    threads_option,
)
from seqtag.corpus import WRITABLE


@click.command("tag")
@click.argument("inputs", nargs=-1, metavar="[INPUT|-]...")
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    help="Model file or name; several run one after another (default: the English models).",
)
@click.option("-o", "--output", default="-", help="File to write to, whole or not at all.")
@format_option
@columns_option
@click.option(
    "--to",
    type=click.Choice(WRITABLE),
    metavar="FORMAT",
    help="Format of the output: conllu, columns, conll2000, tagged, tokens "
    "(default: the input with its label columns filled; conllu for text).",
)
@click.option(
    "--flush/--no-flush",
    default=None,
    help="Write each sentence as soon as it is tagged (default: before waiting for more input).",
)
@threads_option
@quiet_option
@click.pass_context
def command(
    context: click.Context,
    inputs: tuple[str, ...],
    models: tuple[str, ...],
    output: str,
    format: str,
    columns: tuple[str, ...] | None,
    to: str | None,
    flush: bool | None,
    threads: int,
    quiet: bool,
) -> int:
    """Label text or CoNLL files; all of the input is written back, with its labels filled in.

    \b
    echo "Time flies like an arrow." | seqtag tag --to tagged
    seqtag tag -m english.seqtag corpus.conllu.gz -o tagged.conllu.gz
    """
    from seqtag.corpus import FORMATS, read
    from seqtag.errors import CorpusError
    from seqtag.files import Output, check_output
    from seqtag.model.embedded import DEFAULT_MODELS, find_model
    from seqtag.tagging.streams import tag_text

    notes = Notes(quiet)
    inputs = inputs or ("-",)
    check_stdin(context, inputs)
    models = models or DEFAULT_MODELS
    check_output(output, [*inputs, *map(find_model, models)])
    taggers = [load_model(model) for model in models]
    labels = [name for tagger in taggers for name in tagger.label_columns]
    format = reading_format(format, columns)
    streams = [context.with_resource(read(name, format, columns=columns)) for name in inputs]
    with_labels = [stream for stream in streams if stream.columns != ("form",)]
    for stream in with_labels[1:] if to is None else ():
        if stream.format != (first := with_labels[0]).format:
            msg = (
                f"expected the format {first.format} of {first.source}, found {stream.format}; "
                "tag the files one by one, or choose the format of the output with --to"
            )
            raise CorpusError(msg, source=stream.source)
    if to is None and not FORMATS[streams[0].format].in_place:
        to = "conllu" if {*labels} <= {"upos", "xpos", "feats", "pos"} else "columns"
    pieces = (
        piece for stream in streams for piece in tag_text(taggers, stream, to, threads, flush=flush)
    )
    with Output(output) as out:
        for piece in notes.reading(pieces, streams, shared=output == "-"):
            out.write(piece)
            if output == "-":
                out.flush()
    return 0
