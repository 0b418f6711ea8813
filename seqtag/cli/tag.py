"""``seqtag tag``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from seqtag.cli import names
from seqtag.cli.common import Notes, check_stdin, load_model, usage
from seqtag.cli.inputs import located
from seqtag.cli.options import (
    ColumnList,
    columns_option,
    format_option,
    max_sentence_option,
    quiet_option,
    reading_format,
    threads_option,
)
from seqtag.corpus import WRITABLE
from seqtag.segmentation.paragraphs import PARAGRAPHS

if TYPE_CHECKING:
    from seqtag.corpus import Limits


@click.command("tag")
@click.argument("inputs", nargs=-1, metavar="[INPUT|-]...", shell_complete=names.corpora_or_files)
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    shell_complete=names.models,
    help="Model file or name; several run one after another (default: the English models).",
)
@click.option("-o", "--output", default="-", help="File to write to, whole or not at all.")
@format_option
@columns_option
@click.option(
    "--to",
    type=click.Choice(WRITABLE),
    metavar="FORMAT",
    help="Format of the output: conllu, columns, conll2000, conll2003, tagged, tokens, tsv (with "
    "a head line), jsonl (an object for each sentence; default: the input with its label columns "
    "filled; conllu for text).",
)
@click.option(
    "--only",
    type=ColumnList(),
    metavar="PART,PART,...",
    help="Run these parts of a pipeline only (and its tokens and words): upos,lemma.",
)
@click.option(
    "--paragraphs",
    type=click.Choice(PARAGRAPHS),
    default="auto",
    show_default=True,
    help="What ends a paragraph of raw text: a blank line, or every line break.",
)
@click.option(
    "--tokenizer",
    type=click.Choice(("model", "nltk")),
    default="model",
    show_default=True,
    help="What cuts raw text: the model, if it has learnt to, or NLTK.",
)
@click.option(
    "--token-ranges",
    is_flag=True,
    help="Say in MISC where in the raw text each token stands: TokenRange=START:END.",
)
@click.option(
    "--flush/--no-flush",
    default=None,
    help="Write each sentence as soon as it is tagged (default: before waiting for more input).",
)
@click.option(
    "--keep",
    is_flag=True,
    help='Keep the labels of the input (all but "_") and decode the others around them.',
)
@click.option(
    "--margin",
    is_flag=True,
    help="Write how much better each label is than any other: Margin= in MISC, or a last column.",
)
@click.option(
    "--probability",
    is_flag=True,
    help="Write calibrated scores (models of `seqtag calibrate`): P= in MISC, or a last column.",
)
@click.option(
    "--nbest",
    type=click.IntRange(1),
    default=1,
    metavar="K",
    help="Write the K best label sequences: Upos2=, Upos3=, ... in MISC, or as last columns.",
)
@max_sentence_option
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
    only: tuple[str, ...] | None,
    paragraphs: str,
    tokenizer: str,
    token_ranges: bool,
    flush: bool | None,
    keep: bool,
    margin: bool,
    probability: bool,
    nbest: int,
    limits: Limits,
    threads: int,
    quiet: bool,
) -> int:
    """Label text or CoNLL files; all of the input is written back, with its labels filled in.

    \b
    Examples:
      echo "Time flies like an arrow." | seqtag tag --to tagged
      seqtag tag -m english.seqtag corpus.conllu.gz -o tagged.conllu.gz
      seqtag tag -m en -m chunks.seqtag book.txt --to jsonl
      seqtag tag -m english.seqtag --keep --margin half-annotated.conllu
    """
    from seqtag.corpus import read
    from seqtag.files import Output, check_output
    from seqtag.model.embedded import DEFAULT_MODELS, find_model
    from seqtag.tagging.chain import Chain, TagOptions

    notes = Notes(quiet)
    inputs = inputs or ("-",)
    check_stdin(context, inputs)
    inputs = tuple(located(inputs, notes))
    models = models or DEFAULT_MODELS
    check_output(output, [*inputs, *map(find_model, models)])
    format = reading_format(format, columns)
    with usage():
        chain = Chain([load_model(model) for model in models], only)
        options = TagOptions(
            to=to,
            only=only,
            paragraphs=paragraphs,
            tokenizer=tokenizer,
            token_ranges=token_ranges,
            keep=keep,
            margin=margin,
            probability=probability,
            nbest=nbest,
        )
        streams = [
            context.with_resource(read(name, format, columns=columns, limits=limits))
            for name in inputs
        ]
        pieces = chain.tagged(streams, options, threads, flush=flush)
    by_rules = [] if chain.cuts else [s.source for s in streams if s.format == "text"]
    if by_rules and tokenizer == "model":
        notes(
            f"note: {by_rules[0]}: cut by NLTK's rules for English, as no model here has learnt to "
            "cut text; --label all trains one that has, --tokenizer nltk asks for the rules"
        )
    with Output(output) as out:
        for piece in notes.reading(pieces, streams, shared=output == "-"):
            out.write(piece)
            if output == "-":
                out.flush()
    return 0
