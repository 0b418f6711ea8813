"""``seqtag eval``."""

from __future__ import annotations

from itertools import zip_longest
from math import isnan
from typing import TYPE_CHECKING, Any

import click

from seqtag.cli.common import (
    Notes,
    check_stdin,
    check_stdout,
    columns_option,
    format_option,
    json_option,
    load_model,
    print_json,
    quiet_option,
    reading_format,
    say,
    threads_option,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from seqtag.corpus import Sentence

FAILED = 3


@click.command("eval")
@click.argument("files", nargs=-1, required=True, metavar="GOLD [PREDICTED]")
@click.option("-m", "--model", help="Model to score on GOLD.")
@click.option(
    "--label", metavar="COLUMN", help="Column to compare (default: the model's, or as in train)."
)
@format_option
@columns_option
@click.option(
    "--confusion",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Show the N most frequent confusions.",
)
@click.option(
    "--errors",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Show the N most frequent errors by word.",
)
@click.option(
    "--conlleval", "as_conlleval", is_flag=True, help="Print the block that conlleval prints."
)
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="X",
    help="Exit with 3 if the score is under X percent.",
)
@json_option
@threads_option
@quiet_option
@click.pass_context
def command(
    context: click.Context,
    files: tuple[str, ...],
    model: str | None,
    label: str | None,
    format: str,
    columns: tuple[str, ...] | None,
    confusion: int,
    errors: int,
    as_conlleval: bool,
    fail_under: float | None,
    as_json: bool,
    threads: int,
    quiet: bool,
) -> int:
    r"""Score a model on annotated sentences, or one file against another.

    \b
    seqtag eval -m english.seqtag test.conllu
    seqtag eval gold.txt predicted.txt --label chunk --conlleval
    """
    from seqtag.corpus import read
    from seqtag.errors import CorpusError
    from seqtag.evaluation.report import evaluate
    from seqtag.tagging.pipeline import find_column, tag_stream
    from seqtag.training.data import default_label, labels_of

    notes = Notes(quiet)
    if len(files) != (1 if model else 2):
        wanted = "GOLD with -m MODEL" if model else "GOLD PREDICTED, or -m MODEL GOLD"
        found = f"{len(files)} file{'s' * (len(files) > 1)}"
        msg = f"expected {wanted}, found {found}"
        raise click.UsageError(msg, context)
    if fail_under is not None and isnan(fail_under):
        msg = "expected a percentage for --fail-under, found nan"
        raise click.UsageError(msg, context)
    check_stdin(context, files)
    check_stdout()
    format = reading_format(format, columns)
    streams = [context.with_resource(read(name, format, columns=columns)) for name in files]
    tagger = load_model(model) if model else None
    if not label:
        label = tagger.label if tagger else default_label(streams[0].columns, streams[0].source)
    # "pos" may stand for Penn tags, as in CoNLL-2000, never for UPOS
    exact = label == "upos" or "+" in label
    places = [label if exact else find_column(label, stream.columns) or label for stream in streams]
    words: list[list[str]] = []
    gold: list[list[str]] = []
    predicted: list[list[str]] = []

    if tagger:
        for tagged in tag_stream([tagger], notes.progress(streams[0], " sentences"), threads):
            if len(tagged):
                words.append(tagged.sentence.words)
                gold.append(labels_of(tagged.sentence, places[0]))
                predicted.append(labels_of(tagged, tagger.label))
    else:
        for left, right in pairs(streams[0], streams[1]):
            words.append(left.words)
            gold.append(labels_of(left, places[0]))
            predicted.append(labels_of(right, places[1]))
    if not gold:
        msg = "expected sentences to score, found none"
        raise CorpusError(msg, source=streams[0].source)
    report = evaluate(
        gold,
        predicted,
        words=words,
        known=tagger.known_words if tagger else None,
        scheme=tagger.label_scheme if tagger and tagger.label_scheme else "auto",
        task=label,
    )

    if as_json:
        value: dict[str, Any] = report.to_dict()
        if confusion:
            value["confusion"] = [row for row in value["confusion"] if row[0] != row[1]][:confusion]
        if errors:
            value["errors"] = [error._asdict() for error in report.errors(errors)]
        print_json(value)
    elif as_conlleval:
        say(report.conlleval())
    else:
        say(report.to_text(confusion))
        if errors:
            say(_error_table(report.errors(errors)))
    if fail_under is not None and 100 * report.score < fail_under:
        notes(f"{report.metric} {100 * report.score:.2f} is under {fail_under}")
        return FAILED
    return 0


def pairs(
    gold: Iterable[Sentence], predicted: Iterable[Sentence]
) -> Iterator[tuple[Sentence, Sentence]]:
    """The sentences with words of two files of the same text, side by side.

    Raises
    ------
    CorpusError
        Where the words differ.
    """
    from seqtag.errors import CorpusError

    for left, right in zip_longest(filter(len, gold), filter(len, predicted)):
        if left is None or right is None:
            short, long = ("gold", right) if left is None else ("predicted", left)
            msg = (
                f"expected as many sentences in both files, found none left in the {short} file "
                f"for {_shown(long.words)}; compare files of the same text"
            )
            raise CorpusError(
                msg,
                source=long.source,
                line=long.line_of(0),
            )
        if left.words != right.words:
            both = enumerate(zip(left.words, right.words, strict=False))
            i = next((i for i, (a, b) in both if a != b), min(len(left), len(right)))
            msg = (
                f"expected the words of {left.source}:{left.line_of(min(i, len(left) - 1))}, "
                f"{_shown(left.words[i:])}, found {_shown(right.words[i:])}; "
                "compare files of the same text"
            )
            raise CorpusError(
                msg,
                source=right.source,
                line=right.line_of(min(i, len(right) - 1)),
            )
        yield left, right


def _shown(words: Sequence[str]) -> str:
    return f'"{" ".join(words[:4])}"' if words else "the end of the sentence"


def _error_table(errors: Sequence[Any]) -> str:
    lines = ["", "most frequent errors", f"{'tokens':>7}  {'gold':<12} {'predicted':<12} word"]
    lines += [f"{e.tokens:>7}  {e.gold:<12} {e.predicted:<12} {e.word}" for e in errors]
    return "\n".join(lines) + "\n"
