"""``seqtag eval``."""

from __future__ import annotations

import io
from itertools import zip_longest
from math import isnan
from typing import TYPE_CHECKING, Any, Protocol

import click

from seqtag.catalogue.locate import locate
from seqtag.cli.common import Notes, check_stdin, check_stdout, load_model, print_json, say
from seqtag.cli.hints import GoldFile, note_evaluation
from seqtag.cli.options import (
    attributes_option,
    columns_option,
    complete_files,
    complete_labels,
    complete_models,
    format_option,
    json_option,
    last_label,
    limits_options,
    quiet_option,
    reading_format,
    resamples_option,
    seed_option,
    threads_option,
)
from seqtag.corpus import UNLIMITED, Sentence, SentenceStream, read
from seqtag.corpus.aliases import find_column
from seqtag.corpus.surface import raw_text_of
from seqtag.errors import IN_ANOTHER_FORM, CorpusError, same_letters
from seqtag.evaluation.aligned import AlignedReport, score_aligned
from seqtag.evaluation.compare import intervals, intervals_text
from seqtag.evaluation.report import Report, evaluate
from seqtag.evaluation.scoring import origin_of, score
from seqtag.labels.column import LabelColumn
from seqtag.tagging.document import SHOWN
from seqtag.tagging.pipeline import Pipeline
from seqtag.tagging.streams import FilledSentence, tag_stream, tag_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from seqtag.corpus import Limits
    from seqtag.evaluation.significance import Interval
    from seqtag.tagging.pipeline import Loaded
    from seqtag.tagging.tagger import Tagger


FAILED = 3


@click.command("eval")
@click.argument(
    "files",
    nargs=-1,
    required=True,
    metavar="GOLD [PREDICTED]",
    shell_complete=complete_files,
)
@click.option("-m", "--model", shell_complete=complete_models, help="Model to score on GOLD.")
@click.option(
    "--label",
    multiple=True,
    callback=last_label,
    shell_complete=complete_labels,
    metavar="COLUMN",
    help="Column to compare (default: the model's, or as in train).",
)
@click.option(
    "--aligned",
    is_flag=True,
    help="Score tokens, sentences, words and all labels of CoNLL-U cut in another way.",
)
@click.option("--raw", is_flag=True, help="Let the model cut the raw text of GOLD; as --aligned.")
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
@click.option("--conlleval", "as_conlleval", is_flag=True, help="Print what conlleval prints.")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="X",
    help="Exit with 3 if the score is under X percent.",
)
@click.option(
    "--ci", is_flag=True, help="Show 95% intervals of the scores (bootstrap over sentences)."
)
@resamples_option
@seed_option
@json_option
@limits_options
@threads_option
@quiet_option
@attributes_option
@click.pass_context
def command(
    context: click.Context,
    files: tuple[str, ...],
    model: str | None,
    label: str | None,
    aligned: bool,
    raw: bool,
    format: str,
    columns: tuple[str, ...] | None,
    confusion: int,
    errors: int,
    as_conlleval: bool,
    fail_under: float | None,
    ci: bool,
    resamples: int,
    seed: int,
    as_json: bool,
    limits: Limits,
    threads: int,
    quiet: bool,
) -> int:
    """Score a model on annotated sentences, or one file against another.

    \b
    Examples:
      seqtag eval -m english.seqtag test.conllu
      seqtag eval gold.txt predicted.txt --label chunk --conlleval
      seqtag eval -m french.seqtag ud:fr_sequoia/dev --raw
    """
    notes = Notes(quiet)
    aligned = aligned or raw
    _check_files(context, files, model)
    _check_aligned(context, model, aligned, raw, bool(confusion or errors or as_conlleval))
    if ci and as_conlleval:
        msg = "expected --ci or --conlleval, found both; leave one out"
        raise click.UsageError(msg, context)
    if fail_under is not None and isnan(fail_under):
        msg = "expected a percentage for --fail-under, found nan"
        raise click.UsageError(msg, context)
    check_stdin(context, files)
    check_stdout()
    format = reading_format(format, columns)
    paths = locate(files, progress=notes.fetching)
    streams = [
        context.with_resource(read(name, format, columns=columns, limits=limits)) for name in paths
    ]
    report: Report | AlignedReport
    if aligned:
        report = score_texts(streams, model, label or "words", notes, samples=ci)
    elif model:
        report = score_model(
            streams[0], load_model(model), model, label, threads, notes, samples=ci
        )
    else:
        gold, predicted = streams
        column = LabelColumn(label) if label else usual_column(gold)
        places = [placed(column, stream) for stream in streams]
        both = pairs(gold, predicted)
        report = score_file(both, places[0], places[1], column.name, samples=ci)
    if not report.sentences:
        msg = "expected sentences to score, found none"
        raise CorpusError(msg, source=streams[0].source)

    note_evaluation(notes, report, GoldFile(paths[0], format, columns, limits), model)
    found = intervals(report, resamples=resamples, seed=seed) if ci else {}
    _print(report, confusion, errors, found, as_json=as_json, as_conlleval=as_conlleval)
    if fail_under is not None and 100 * report.score < fail_under:
        notes(f"{report.metric} {100 * report.score:.2f} is under {fail_under}")
        return FAILED
    return 0


def _check_files(context: click.Context, files: Sequence[str], model: str | None) -> None:
    """Refuse too many files, or too few."""
    if len(files) != (1 if model else 2):
        wanted = "GOLD with -m MODEL" if model else "GOLD PREDICTED, or -m MODEL GOLD"
        found = f"{len(files)} file{'s' * (len(files) > 1)}"
        msg = f"expected {wanted}, found {found}"
        raise click.UsageError(msg, context)


def _check_aligned(
    context: click.Context, model: str | None, aligned: bool, raw: bool, by_word: bool
) -> None:
    """Refuse options that do not go with ``--aligned`` and ``--raw``."""
    msg = ""
    if raw and not model:
        msg = "expected -m MODEL with --raw, found none"
    elif aligned and model and not raw:
        msg = "expected --raw with -m MODEL, or GOLD PREDICTED with --aligned, found neither"
    elif aligned and by_word:
        msg = (
            "expected texts of the same words for --confusion, --errors and --conlleval, found "
            f"{'--raw' if raw else '--aligned'}; leave one out"
        )
    if msg:
        raise click.UsageError(msg, context)


def score_model(
    stream: SentenceStream,
    tagger: Loaded,
    model: str,
    label: str | None,
    threads: int,
    notes: Notes,
    *,
    samples: bool = False,
) -> Report | AlignedReport:
    """A model's labels against those of a file; those of a pipeline in all columns at once."""
    if isinstance(tagger, Pipeline):
        if label not in (*tagger.parts, None):
            msg = f"expected one of the parts {', '.join(tagger.parts)}, found {label!r}"
            raise CorpusError(msg, source=model)
        gold = list(in_conllu(stream))
        text = b"".join(tag_text(tagger.taggers, _again(gold), threads=threads))
        found = _only_filled(tagger, read(io.BytesIO(text), "conllu", limits=UNLIMITED))
        return score_aligned(
            gold,
            notes.progress(found, " sentences"),
            headline=label or "words",
            origin=origin_of(tagger.info),
            samples=samples,
        )
    return score_part([tagger], stream, label, threads, notes, samples=samples)


def score_part(
    taggers: Sequence[Tagger],
    stream: SentenceStream,
    label: str | None,
    threads: int,
    notes: Notes,
    *,
    samples: bool = False,
) -> Report:
    """The labels of the last tagger against those of a file; the others feed it."""
    *feeders, tagger = taggers
    column = LabelColumn(label or tagger.label)
    place = placed(column, stream)
    shown = notes.progress(stream, " sentences")
    return score(
        tagger,
        tag_stream(feeders, shown, threads) if feeders else map(FilledSentence, shown),
        gold=lambda tagged: place.of(tagged.sentence),
        task=column.name,
        threads=threads,
        samples=samples,
    )


def part_of(loaded: Loaded, label: str | None, model: str) -> Sequence[Tagger]:
    """The tagger of a column (the first one if none is named), behind those that it needs.

    Raises
    ------
    CorpusError
        If a pipeline has no such part.
    """
    if not isinstance(loaded, Pipeline):
        return [loaded]
    names = [tagger.label for tagger in loaded.taggers]
    wanted = label or next(iter(names), None)
    if wanted not in names:
        msg = f"expected a part that labels words, of {', '.join(loaded.parts)}, found {label!r}"
        raise CorpusError(msg, source=model)
    taggers = loaded.only(str(wanted)).taggers
    return taggers[: 1 + [tagger.label for tagger in taggers].index(str(wanted))]


def _only_filled(pipeline: Pipeline, sentences: SentenceStream) -> SentenceStream:
    """The sentences without what a file said already in columns that the pipeline does not fill."""
    filled = {name for tagger in pipeline.taggers for name in tagger.label_columns}
    empty = [name for name in SHOWN if name not in filled]
    if not empty:
        return sentences
    rows = (
        each.replace({name: ["_"] * len(each) for name in empty}) for each in sentences if len(each)
    )
    return read(io.BytesIO("".join(rows).encode()), "conllu", limits=UNLIMITED)


def score_texts(
    streams: Sequence[SentenceStream],
    model: str | None,
    headline: str,
    notes: Notes,
    *,
    samples: bool = False,
) -> AlignedReport:
    """One file against another of the same text, or against what a model makes of its text."""
    gold, *others = map(in_conllu, streams)
    if others:
        shown = notes.progress(gold, " sentences")
        return score_aligned(shown, others[0], headline=headline, samples=samples)
    annotator = load_annotator(str(model))
    sentences = list(gold)
    predicted = annotator.sentences(raw_text_of(sentences), paragraphs="blank")
    return score_aligned(
        sentences,
        notes.progress(predicted, " sentences"),
        headline=headline,
        origin=origin_of(annotator.info),
        samples=samples,
    )


class Annotator(Protocol):
    """What ``--raw`` asks of a model."""

    @property
    def info(self) -> Mapping[str, Any]:
        """What its file says of it."""
        ...

    def sentences(self, text: str, /, *, paragraphs: str) -> Iterator[Sentence]:
        """The annotated sentences of a raw text."""
        ...


def load_annotator(name: str) -> Annotator:
    """The pipeline of a model file.

    Raises
    ------
    CorpusError
        If it cannot cut text.
    """
    loaded = load_model(name)
    if isinstance(loaded, Pipeline) and loaded.segmenter:
        return loaded
    parts = loaded.parts if isinstance(loaded, Pipeline) else (loaded.label,)
    msg = (
        f"expected a pipeline that has learnt tokens for --raw, found {', '.join(parts)}; train "
        "one with --label all"
    )
    raise CorpusError(msg, source=name)


def _again(sentences: Iterable[Sentence]) -> SentenceStream:
    """A stream of some sentences of CoNLL-U; what has no words may have been passed over."""
    text = "".join(sentence.raw for sentence in sentences if len(sentence))
    return read(io.BytesIO(text.encode()), "conllu", limits=UNLIMITED)


def in_conllu(stream: SentenceStream) -> Iterator[Sentence]:
    """The sentences of a CoNLL-U file."""
    for sentence in stream:
        if len(sentence) and "id" not in sentence.columns:
            msg = (
                "expected CoNLL-U, which says where tokens and sentences are, found a file with "
                f"the columns {', '.join(sentence.columns)}; give files in CoNLL-U"
            )
            raise CorpusError(msg, source=sentence.source, line=sentence.line_of(0))
        yield sentence


def _print(
    report: Report | AlignedReport,
    confusion: int,
    errors: int,
    found: dict[str, Interval],
    *,
    as_json: bool,
    as_conlleval: bool,
) -> None:
    """The report on stdout."""
    extra: dict[str, Any] = {"intervals": found} if found else {}
    more = f"\n{intervals_text(report, found)}" if found else ""
    if isinstance(report, AlignedReport):
        if as_json:
            print_json(report.to_dict() | extra)
        else:
            say(report.to_text() + more)
    elif as_json:
        value: dict[str, Any] = report.to_dict() | extra
        if confusion:
            value["confusion"] = [row for row in value["confusion"] if row[0] != row[1]][:confusion]
        if errors:
            value["errors"] = [error._asdict() for error in report.errors(errors)]
        print_json(value)
    elif as_conlleval:
        say(report.conlleval())
    else:
        say(report.to_text(confusion) + more)
        if errors:
            say(_error_table(report.errors(errors)))


def placed(column: LabelColumn, stream: SentenceStream) -> LabelColumn:
    """The label column under the name that a file has for it."""
    if column.is_exact:
        return column
    return LabelColumn(find_column(column.name, stream.columns) or column.name)


def usual_column(gold: SentenceStream) -> LabelColumn:
    """The label column where none is named.

    Raises
    ------
    CorpusError
        If there are words only, or nothing at all: an empty file has no columns.
    """
    try:
        return LabelColumn.default(gold.columns, gold.source)
    except CorpusError:
        if any(map(len, gold)):
            raise
    msg = "expected sentences to score, found none"
    raise CorpusError(msg, source=gold.source)


def score_file(
    both: Iterable[tuple[Sentence, Sentence]],
    gold_column: LabelColumn,
    predicted_column: LabelColumn,
    task: str,
    *,
    samples: bool = False,
) -> Report:
    """The labels of one file against those of another."""
    words, gold, predicted = [], [], []
    for left, right in both:
        words.append(left.words)
        gold.append(gold_column.of(left))
        predicted.append(predicted_column.of(right))
    return evaluate(gold, predicted, words=words, scheme="auto", task=task, samples=samples)


def pairs(
    gold: Iterable[Sentence], predicted: Iterable[Sentence]
) -> Iterator[tuple[Sentence, Sentence]]:
    """The sentences with words of two files of the same text, side by side.

    Raises
    ------
    CorpusError
        Where the words differ.
    """
    for left, right in zip_longest(filter(len, gold), filter(len, predicted)):
        if left is None or right is None:
            short, long = ("gold", right) if left is None else ("predicted", left)
            msg = (
                f"expected as many sentences in both files, found none left in the {short} file "
                f"for {_shown(long.words)}; compare files of the same text"
            )
            raise CorpusError(msg, source=long.source, line=long.line_of(0))
        if left.words != right.words:
            both = enumerate(zip(left.words, right.words, strict=False))
            i = next((i for i, (a, b) in both if a != b), min(len(left), len(right)))
            same = same_letters("\n".join(left.words[i:]), "\n".join(right.words[i:]))
            form = IN_ANOTHER_FORM if same else ""
            msg = (
                f"expected the words of {left.source}:{left.line_of(min(i, len(left) - 1))}, "
                f"{_shown(left.words[i:])}, found {_shown(right.words[i:])}{form}; "
                "compare files of the same text"
            )
            raise CorpusError(msg, source=right.source, line=right.line_of(min(i, len(right) - 1)))
        yield left, right


def _shown(words: Sequence[str]) -> str:
    return f'"{" ".join(words[:4])}"' if words else "the end of the sentence"


def _error_table(errors: Sequence[Any]) -> str:
    lines = ["", "most frequent errors", f"{'tokens':>7}  {'gold':<12} {'predicted':<12} word"]
    lines += [f"{e.tokens:>7}  {e.gold:<12} {e.predicted:<12} {e.word}" for e in errors]
    return "\n".join(lines) + "\n"
