"""``seqtag lexicon``."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seqtag.catalogue.fetch import locate
from seqtag.cli.base import Command, option
from seqtag.cli.common import Notes, check_stdin, check_target
from seqtag.cli.options import (
    complete_files,
    complete_labels,
    force_option,
    output_option,
    quiet_option,
    reading_options,
    words_option,
)
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from seqtag.cli.options import InputOptions


@click.command("lexicon", cls=Command)
@click.argument(
    "tagged", nargs=-1, required=True, metavar="TAGGED...", shell_complete=complete_files
)
@output_option
@option(
    "--column",
    metavar="COLUMN",
    shell_complete=complete_labels,
    help="Column of the values.",
    shown="upos in CoNLL-U, else the last column",
)
@option(
    "--min-count",
    type=click.IntRange(1),
    default=1,
    help="Leave out words that are seen less often.",
    metavar="N",
)
@words_option
@reading_options
@force_option
@quiet_option
def command(
    tagged: tuple[str, ...],
    output: str,
    column: str | None,
    min_count: int,
    words: str,
    reading: InputOptions,
    force: bool,
    notes: Notes,
) -> int:
    """Collect the values that words have in tagged files, such as their tags in another corpus.

    The output is a TSV file: on each line a word and its values. `seqtag train --lexicon` makes
    features of it, which presets use automatically.

    \b
    Examples:
      seqtag lexicon other.conllu -o other.lexicon
      seqtag lexicon news.txt --column pos --min-count 2 -o news.lexicon
    """
    from seqtag.tables.lexicon import build_lexicon, name_of
    from seqtag.tables.tsv import write_word_table
    from seqtag.training.data import open_corpus

    check_stdin(tagged)
    check_target(output, tagged, force=force)
    with ExitStack() as files:
        data = locate(tagged, "train", notes.announce)
        corpus = open_corpus(data, files, reading)
        header, rows = build_lexicon(corpus, column, min_count, words)
    if not rows:
        msg = (
            'expected words with values other than "_", often enough for --min-count, found none; '
            "name another column with --column, or give more text"
        )
        raise CorpusError(msg, source=tagged[0])
    source = ", ".join(Path(name).name for name in tagged)
    name = {} if output == "-" else {"name": name_of(output)}
    header = {**name, **header, "source": source}
    write_word_table(output, header, rows, overwrite=force)
    notes(f"{output}: {len(rows):,} words, {len({*map(tuple, (v for _, *v in rows))}):,} values")
    return 0
