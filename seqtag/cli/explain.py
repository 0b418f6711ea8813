"""``seqtag explain``."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

import click

from seqtag.cli.base import Command, Whole, option
from seqtag.cli.common import Notes, load_model, print_json, refuse, say, usage
from seqtag.cli.options import general_options, json_option, reading_options, split_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seqtag.cli.options import InputOptions
    from seqtag.corpus.read import SentenceStream
    from seqtag.tagging.pipeline import Chain
    from seqtag.tagging.streams import FilledSentence
    from seqtag.tagging.tagger import Tagger


_SHOWN = 12  # features of a word; the others are summed up, and --json has all


@click.command("explain", cls=Command)
@click.argument("text", required=False)
@option("-m", "--model", default="en", help="Model file or name, also a pipeline.", metavar="MODEL")
@option(
    "-i",
    "--input",
    "source",
    help='Input file instead of a text; "-" is standard input.',
    metavar="FILE",
)
@option("--token", type=Whole(1), metavar="N", help="Explain only word N of each sentence.")
@option("--rival", metavar="LABEL", help="Compare with this label.", shown="the next best")
@option(
    "--only",
    callback=split_names,
    metavar="COLUMN,...",
    help="Explain only these components of a pipeline.",
)
@reading_options
@json_option
@general_options
def command(
    text: str | None,
    model: str,
    source: str | None,
    token: int | None,
    rival: str | None,
    only: tuple[str, ...] | None,
    reading: InputOptions,
    as_json: bool,
    notes: Notes,
) -> int:
    """Explain predictions: the features that decided for a label against its rival, with weights.

    The rival is the label of the best sequence with another label at this word. Labels of chunks
    are shown as they were learned, and in parentheses as they are written, if that is different.
    Sentences and words are counted from 1. The score of a sequence is a sum of weights, and the
    rows add up to the margin between the two sequences: features of the word, label bigrams and
    trigrams where the sequences differ (label[-1]), and the sums of other words whose labels
    change, too (other words). Features are hashed in the model; their names are taken from the
    sentence.

    \b
    Examples:
      seqtag explain -m en "Time flies like an arrow." --only upos --token 3
      seqtag explain -m chunks.seqtag --input dev.txt --json
    """
    from seqtag.corpus import read
    from seqtag.errors import CorpusError
    from seqtag.tagging.pipeline import Chain
    from seqtag.tagging.streams import TagOptions

    if text is not None and source is not None:
        refuse(f"expected a text or --input, found both, {text!r} and {source!r}")
    if text is not None and os.path.isfile(text):  # noqa: PTH113  (texts may be too long)
        notes(
            f"note: explaining the text {text!r}; to explain the sentences of the file of this "
            f"name, write --input {text}"
        )
    with usage():
        chain = Chain([load_model(model)], only)
    if text is not None:
        given = io.BytesIO(text.encode("utf-8", "surrogateescape"))
        given.name = "the text"
        stream = read(given, "text" if chain.cuts else "tokens")
    else:
        [stream] = chain.reading(reading).streams([source or "-"])
    [opened] = chain.cut([stream], TagOptions())
    shown: list[dict[str, object]] = []
    explained = False
    for number, word, tagger, tagged in _words(chain, opened, token):
        why = tagger.explain(tagged, word, rival)
        if as_json:
            facts = why.as_dict() | {"token": word + 1}
            shown.append({"sentence": number, "part": tagger.label, **facts})
        else:
            say(f"{tagger.label}, sentence {number}, {why.to_text(_SHOWN)}\n")
        explained = True
    if token is not None and not explained:
        msg = f"expected a sentence of {token} words or more, found none; choose a smaller --token"
        raise CorpusError(msg, source=stream.source)
    if as_json:
        print_json(shown)
    return 0


def _words(
    chain: Chain, stream: SentenceStream, token: int | None
) -> Iterator[tuple[int, int, Tagger, FilledSentence]]:
    """Yield sentence number, word position, tagger and sentence for each word to explain."""
    from seqtag.tagging.streams import FilledSentence

    for number, sentence in enumerate(filter(len, stream), 1):
        tagged = FilledSentence(sentence)
        words = range(len(sentence))
        for tagger in chain.taggers:
            for word in words if token is None else words[token - 1 : token]:
                if not tagger.hidden:
                    yield number, word, tagger, tagged
            tagged.filled |= tagger.split_label(tagger.tag(tagged))
