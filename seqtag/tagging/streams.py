"""Taggers run one after another over a stream of sentences: POS feeds chunks, chunks feed names."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from seqtag.corpus import FORMATS, WRITABLE, Block, ReadOptions, Sentence, into_misc, render
from seqtag.corpus.conllu import COLUMNS as CONLLU
from seqtag.corpus.gold import GoldLabels
from seqtag.corpus.layout import LayoutOptions
from seqtag.corpus.sentence import Score, find_column, has_column, key_of, places, split_key
from seqtag.corpus.spans import TEXT_FORMATS
from seqtag.corpus.write import spaces_by_glue
from seqtag.engine import backend
from seqtag.errors import CorpusError, LabelError, OptionError
from seqtag.labels.schemes import OUTSIDE, spans, write_spans
from seqtag.parallel import in_order
from seqtag.tagging.encode import NO_LABEL
from seqtag.tagging.tables import (
    FilledColumns,
    TableTaggers,
    TaggedBlock,
    names_shown,
    shared_columns,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from seqtag.corpus.read import SentenceStream
    from seqtag.tagging.runtime import ModelRuntime
    from seqtag.tagging.tables import TablePlan

_log = logging.getLogger("seqtag")

_BATCH_SENTENCES = 1000  # tagged at once, times the threads
_BATCH_CHARACTERS = 1 << 20  # of such sentences; fewer are tagged at once if they are long


TOKENIZERS = ("model", "nltk")
"""Tokenizers of raw text."""

_LISTS = ("columns", "only")  # options that are several names


@dataclass(frozen=True)
class TagOptions(LayoutOptions):
    """Options of reading, tagging and writing files, as in ``seqtag tag``.

    Attributes
    ----------
    format
        Format of the input; ``auto`` looks at each file.
    columns, separator, comment, header, sentences, outside, scheme
        What is known of a column file: see `seqtag.corpus.LayoutOptions`.
    to
        Format to write, or None for that of the input (CoNLL-U for raw text).
    only
        Components of pipelines to run; None for all.
    paragraphs
        What ends a paragraph of raw text: ``blank``, ``line`` or ``auto``.
    tokenizer
        Tokenizer of raw text: ``model``, if a model can segment, or ``nltk``.
    split_words
        True to split given tokens of several words, such as ``don't``, if a model can.
    token_ranges
        True to write the position of each token in the raw text, to MISC or ``ranges`` of JSON.
    keep
        True to keep labels that the input has; ``_`` is no label.
    margin, probability
        True to fill a column with margins, with probabilities: see `ScoredLabels`.
    nbest
        Number of label sequences to write: those from the second on into columns ``upos2`` and so
        on, their scores into a comment of CoNLL-U.

    Raises
    ------
    OptionError
        If there is no such tokenizer or format to write, or the options do not go together.

    Examples
    --------
    >>> TagOptions(only=["upos"]).as_json()["only"]
    ['upos']
    """

    format: str = "auto"
    to: str | None = None
    only: Sequence[str] | None = None
    paragraphs: str = "auto"
    tokenizer: str = "model"
    split_words: bool = False
    token_ranges: bool = False
    keep: bool = False
    margin: bool = False
    probability: bool = False
    nbest: int = 1

    @property
    def reading(self) -> ReadOptions:
        """The options for reading the input."""
        return ReadOptions(self.format, **self.layout_arguments())

    def __post_init__(self) -> None:
        for name in _LISTS:
            value = getattr(self, name)
            if value is not None:
                value = (value,) if isinstance(value, str) else tuple(value)
                object.__setattr__(self, name, value)
        formats = (*WRITABLE, *TEXT_FORMATS[1:])
        for known, found in ((formats, self.to), (TOKENIZERS, self.tokenizer)):
            if found is not None and found not in known:
                msg = f"expected one of {', '.join(known)}, found {found!r}"
                raise OptionError(msg)
        if self.has_columns and self.to in WRITABLE and not FORMATS[self.to].has_room:
            msg = (
                "expected the format conllu, columns, tsv or jsonl for margins, probabilities and "
                f"several label sequences, found {self.to}, which cannot store them"
            )
            raise OptionError(msg)

        if self.token_ranges and self.to not in (None, "conllu", "jsonl"):
            msg = (
                "expected the format conllu or jsonl for --token-ranges, found "
                f"{self.to}, which cannot store them"
            )
            raise OptionError(msg)

    @property
    def has_columns(self) -> bool:
        """True if columns other than those of labels are written."""
        return self.margin or self.probability or self.nbest > 1

    def as_json(self) -> dict[str, Any]:
        """Return the options as JSON has them."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


_DEFAULTS = TagOptions()


@dataclass
class TagCounts:
    """Number of sentences with words, and of words, that were tagged."""

    sentences: int = 0
    tokens: int = 0

    def add(self, sentences: int, tokens: int) -> None:
        """Count more sentences and tokens."""
        self.sentences += sentences
        self.tokens += tokens


class FilledSentence(FilledColumns["list[str]"]):
    """A sentence with the columns that taggers have filled so far.

    Parameters
    ----------
    sentence
        The sentence as read.
    """

    __slots__ = ("comments", "margins", "sentence", "sparse")

    def __init__(self, sentence: Sentence):
        super().__init__(sentence.columns)
        self.sentence = sentence
        self.sparse: set[str] = set()  # keys of MISC that words outside lack
        self.comments: list[str] = []  # lines for CoNLL-U
        self.margins: list[list[float]] = []  # of each tagger, where they are asked for

    def __len__(self) -> int:
        return len(self.sentence)

    def column(self, name: str) -> list[str]:
        """Return the values of a column or its first alias, as `text` would write them.

        Raises
        ------
        CorpusError
            If neither a tagger nor the file has such a column.
        """
        filled = self.by_file_name()
        found = find_column(name, (*filled, *self.sentence.columns))
        if found is None:
            msg = (
                f"the model needs the column {name}, found {', '.join(self.sentence.columns)}; "
                "name the columns with --columns, or run a model that fills it first, as in "
                "-m en -m chunks.seqtag"
            )
            raise CorpusError(msg, source=self.sentence.source, line=self.sentence.line)
        return filled[found] if found in filled else self.sentence.column(found)

    def fill(self, tagger: ModelRuntime, columns: Mapping[str, list[str]]) -> None:
        """Fill columns for a tagger."""
        super().fill(tagger, columns)
        if tagger.model.training.get("lacks_outside"):
            self.sparse.update(columns)

    def fill_paths(
        self, tagger: ModelRuntime, paths: Sequence[tuple[float, list[str]]], nbest: int
    ) -> None:
        """Fill columns with the sequences from the second on; ``_`` if there are fewer."""
        blank = {name: [NO_LABEL] * len(self) for name in tagger.label_columns}
        for rank in range(2, nbest + 1):
            values = tagger.split_label(paths[rank - 1][1]) if rank <= len(paths) else blank
            self.fill(tagger, {f"{name}{rank}": column for name, column in values.items()})
        scores = " ".join(f"{score:.0f}" for score, _ in paths)
        self.comments.append(f"nbest_{tagger.label} = {scores}")

    def text(self, to: str | None = None) -> str:
        """Return the sentence as read with only the filled columns replaced, or in another format.

        From CoNLL-U to CoNLL-U nothing else changes either; columns it does not have go to MISC.

        Raises
        ------
        CorpusError
            If the format has no place for the labels.
        """
        text = self._text_without_comments(to)
        has_comments = self.sentence.columns == CONLLU if to is None else FORMATS[to].has_comments
        if not (self.comments and has_comments):
            return text
        lines = text.split("\n")
        heads = (line.lstrip("\ufeff").strip() for line in lines)
        at = next((i for i, head in enumerate(heads) if head and head[0] != "#"), 0)
        end = "\r" if lines[at].endswith("\r") else ""
        comments = [f"# {comment}{end}" for comment in self.comments]
        return "\n".join([*lines[:at], *comments, *lines[at:]])

    def _text_without_comments(self, to: str | None) -> str:
        sentence, is_conllu = self.sentence, self.sentence.columns == CONLLU
        filled = self.by_file_name(hidden=False)
        for name in self.sparse & filled.keys():
            if to == "conllu" or (to is None and split_key(name, sentence.columns)):
                filled[name] = [NO_LABEL if each == OUTSIDE else each for each in filled[name]]
        foreign = [name for name in filled if not has_column(name, sentence.columns)]
        form = FORMATS[to] if to in WRITABLE else None  # which `render` refuses
        if to is None or (form and form.has_comments and is_conllu):
            if foreign and is_conllu:
                added = {name: filled.pop(name) for name in foreign}
                filled["misc"] = into_misc(sentence.column("misc"), added)
            return sentence.replace(filled) if filled else sentence.raw
        left_out = {*form.drops} if form and not is_conllu else {"id"}
        if sentence.is_bare:
            left_out = {*sentence.columns} - {"form"}
        if form and form.most_labels is not None and (filled or not form.most_labels):
            left_out = {*sentence.columns} - {"form"}  # also if the column is old
            filled = {name: filled[name] for name in names_shown([*filled], form)}
        read = {n: sentence.column(n) for n in sentence.columns if n not in left_out}
        read |= spaces_by_glue(sentence) if to == "conllu" else {}
        text = render(read | filled, to)
        return form.frame(text, sentence) if form and form.frame else text


# ----------------------------------------------------------------- sentences
def tag_stream(
    taggers: Sequence[ModelRuntime],
    sentences: Iterable[Sentence],
    threads: int = 1,
    options: TagOptions | None = None,
) -> Iterator[FilledSentence]:
    r"""Yield the sentences in order, each filled by all taggers in turn; memory use is constant.

    Parameters
    ----------
    taggers
        The labels of the first are columns to the second, and so on.
    sentences
        Those without words pass through.
    threads
        Threads to decode on.
    options
        Which output to add to the best labels, and which labels to keep.

    Examples
    --------
    >>> import io, seqtag
    >>> stream = seqtag.read(io.BytesIO(b"Stop !\n"), "tokens")
    >>> [tagged] = tag_stream([seqtag.load("en").tagger("upos")], stream)
    >>> tagged.text("tagged")
    'Stop/VERB !/PUNCT\n'
    """
    for batch in _tagged_batches(taggers, sentences, threads, options or _DEFAULTS):
        yield from batch


def _tagged_batches(
    taggers: Sequence[ModelRuntime],
    sentences: Iterable[Sentence],
    threads: int,
    options: TagOptions,
    ready: Callable[[], bool] = lambda: True,
) -> Iterator[list[FilledSentence]]:
    """Yield the sentences of `tag_stream` in batches; one ends if no more input is `ready`."""
    own = [name for each in taggers for name in each.label_columns]
    readers = [GoldLabels(each.model.column, each.label_scheme, partial=True) for each in taggers]
    again = {i: name for name, places in shared_columns(taggers).items() for i in places[1:]}
    for batch in _batches(sentences, threads, ready):
        with_words = [sentence for sentence in batch if len(sentence)]
        for place, (tagger, reader) in enumerate(zip(taggers, readers, strict=True)):
            fixed = None
            if options.keep:
                fixed = [_kept_labels(reader, each.sentence, own) for each in with_words]
            with_scores = (options.margin or options.probability) and not tagger.hidden
            if not with_scores:
                found = tagger.labels_of(with_words, threads, fixed)
            else:
                if options.probability and with_words:
                    tagger.check_calibrated()
                scored = tagger.scored_labels_of(with_words, threads, fixed)
                found = [each.labels for each in scored]
            paths: list[list[tuple[float, list[str]]]] = []
            if options.nbest > 1 and not tagger.hidden:
                paths = tagger.nbest_of(with_words, options.nbest, threads, fixed)
            for sentence, labels in zip(with_words, found, strict=True):
                if name := again.get(place):
                    known = sentence.filled[name]
                    labels = _with_free_chunks(known, labels, str(tagger.label_scheme))
                sentence.fill(tagger, {name: labels} if name else tagger.split_label(labels))
            if with_scores:
                margin, probability = score_columns(tagger, taggers)
                for sentence, each in zip(with_words, scored, strict=True):
                    sentence.margins.append(each.margins)
                    if options.margin:
                        sentence.fill(tagger, {margin: [Score(f"{m:.0f}") for m in each.margins]})
                    if options.probability:
                        chances = each.probabilities or ()
                        sentence.fill(tagger, {probability: [Score(f"{p:.4f}") for p in chances]})
            for sentence, best in zip(with_words, paths, strict=False):
                sentence.fill_paths(tagger, best, options.nbest)
        yield batch


def _with_free_chunks(labels: Sequence[str], others: Sequence[str], scheme: str) -> list[str]:
    """Return labels with those chunks of others that are outside of theirs, in a scheme.

    >>> _with_free_chunks(["B-PER", "O", "O"], ["B-ORG", "I-ORG", "B-ORG"], "iob2")
    ['B-PER', 'O', 'B-ORG']
    """
    free = [label == OUTSIDE for label in labels]
    found = [chunk for chunk in spans(others) if all(free[chunk[1] : chunk[2]])]
    chunks = sorted([*spans(labels), *found], key=itemgetter(1))
    return write_spans(chunks, len(labels), scheme)


def _kept_labels(
    reader: GoldLabels, sentence: Sentence, filled: Sequence[str]
) -> list[str | None] | None:
    """Return the labels that a sentence keeps, None for words without one; None if it has none.

    `filled`: all columns that taggers fill, of which only one can be in a column of the file.

    Raises
    ------
    LabelError
        If they cannot be written in the scheme of the model.
    """
    column = reader.column
    place = places((*filled, *column.columns), sentence.columns)
    if not all(has_column(place[name], sentence.columns) for name in column.columns):
        return None
    rows = zip(*(sentence.column(place[name]) for name in column.columns), strict=True)
    labels = [NO_LABEL if row[0] == NO_LABEL else column.join(row) for row in rows]
    reader.locate(labels, sentence)
    [kept] = reader.converted([labels])
    for i, (label, converted) in enumerate(zip(labels, kept, strict=True)):
        if converted == NO_LABEL != label:
            msg = (
                f"expected chunks of the scheme {reader.scheme}, which the model writes, or labels "
                f"for all words next to a chunk, found {label!r} next to a word without a label; "
                "complete the chunk, or leave --keep out"
            )
            raise LabelError(msg, source=sentence.source, line=sentence.line_of(i))
    return [None if label == NO_LABEL else new for label, new in zip(labels, kept, strict=True)]


def score_columns(tagger: ModelRuntime, taggers: Sequence[ModelRuntime]) -> tuple[str, str]:
    """Return the names of the columns of margins and probabilities, one pair for each tagger."""
    is_alone = sum(not each.hidden for each in taggers) < 2
    of = "" if is_alone else tagger.label[:1].upper() + tagger.label[1:]
    return f"margin{of}", f"p{of}"


def _batches(
    sentences: Iterable[Sentence], threads: int, ready: Callable[[], bool]
) -> Iterator[list[FilledSentence]]:
    """Yield sentences in batches; those before an error come before it."""
    batch: list[FilledSentence] = []
    room = _BATCH_CHARACTERS * threads
    try:
        for sentence in sentences:
            batch.append(FilledSentence(sentence))
            room -= len(sentence.raw)
            if len(batch) == _BATCH_SENTENCES * threads or room <= 0 or not ready():
                yield batch
                batch, room = [], _BATCH_CHARACTERS * threads
    except Exception:
        yield batch
        raise
    if batch:
        yield batch


def columns_needed(taggers: Iterable[ModelRuntime]) -> list[str]:
    """Return the input columns that no earlier tagger fills."""
    filled: tuple[str, ...] = ("form",)
    needed: list[str] = []
    for tagger in taggers:
        needed += [name for name in tagger.columns if find_column(name, filled) is None]
        filled += tagger.label_columns
    return list(dict.fromkeys(needed))


# ----------------------------------------------------------------- text
def tag_text(
    taggers: Sequence[ModelRuntime],
    stream: SentenceStream,
    to: str | None = None,
    threads: int = 1,
    *,
    flush: bool | None = None,
    options: TagOptions | None = None,
    counts: TagCounts | None = None,
    tables: TableTaggers | None = None,
) -> Iterator[bytes]:
    r"""Yield the text of a stream with its label columns filled, or in another format, in pieces.

    Column files that keep their format, tokens and segmented text are tagged natively, see
    `seqtag.tagging.tables`; blocks that it cannot tag, and all other files, go through
    `tag_stream`. The bytes are the same.

    Parameters
    ----------
    taggers, threads
        As for `tag_stream`.
    stream
        From `seqtag.read`.
    to
        Format to write, or None for that of the stream.
    flush
        True to yield each sentence as a piece by itself. By default pieces are large, but what has
        arrived is yielded before waiting for more input: a terminal or a co-process gets its
        answer.
    options
        As for `tag_stream`.
    counts
        Counts to add to.
    tables
        Working memory of the taggers, for streams that all have the same columns.

    Examples
    --------
    >>> import io, seqtag
    >>> stream = seqtag.read(io.BytesIO(b"Stop _\n! _\n"), columns=["form", "upos"])
    >>> b"".join(tag_text([seqtag.load("en").tagger("upos")], stream))
    b'Stop VERB\n! PUNCT\n'
    """
    options = options or _DEFAULTS
    if tables is None:
        shown = [each for each in taggers if not each.hidden]
        _note_places(shown, stream, to)
        if to and options.only:
            _note_left_out(shown, stream.source, to)
        tables = TableTaggers(taggers, threads)
    ready = stream.file.ready if flush is None else (lambda: not flush)
    counted = counts or TagCounts()
    if not flush and _plan(tables, stream, to, options):

        def tag(task: Callable[[], Block]) -> TaggedBlock:
            return tag_block(tables, stream, to, options, task())

        for write, *size in in_order(tag, stream.block_tasks(), threads, ready):
            yield write(stream.count(size[0]))
            counted.add(*size)
    else:
        for batch in _tagged_batches(taggers, stream, threads, options, ready):
            yield "".join(tagged.text(to) for tagged in batch).encode()
            counted.add(*_size(batch))
    stream.report()


def _plan(
    tables: TableTaggers, stream: SentenceStream, to: str | None, options: TagOptions
) -> TablePlan | None:
    """Return the plan for blocks of a stream; None if they cannot be tagged natively."""
    has_blocks = stream.is_table or stream.is_bare
    if backend.Scanner is None or not has_blocks or options.keep or options.has_columns:
        return None
    plan = tables.plan(stream, to)
    return plan if plan.possible else None


def tag_block(
    tables: TableTaggers,
    stream: SentenceStream,
    to: str | None,
    options: TagOptions,
    block: Block,
) -> TaggedBlock:
    """Return a block of a stream with its label columns filled; see `tag_text`."""
    done = None
    if plan := _plan(tables, stream, to, options):
        with tables.borrow(plan) as tagger:
            done = tagger.tag(block)
    if done is None:
        parsed = stream.parse([Block(block.text, block.line)], block.line)
        tagged = tag_stream(tables.taggers, parsed, options=options)
        batch = [(each, each.text(to)) for each in tagged]
        text = "".join(text for _, text in batch).encode()
        number = FORMATS[to or stream.format].number if stream.is_bare else None
        write = partial(_renumbered, text, number)
        done = TaggedBlock(write, *_size([each for each, _ in batch]))
    return done


def _note_places(taggers: Sequence[ModelRuntime], stream: SentenceStream, to: str | None) -> None:
    """Log where labels go that the file has no column for."""
    names: dict[str, str] = {}
    for name in (name for each in taggers for name in each.label_columns):
        names.setdefault(key_of(name), name)
    found = places(names.values(), stream.columns)
    for name, place in found.items():
        wanted = find_column(name, stream.columns)
        if wanted not in (None, place):
            _log.info(
                "%s: %s is a new column, because another goes to %s", stream.source, name, wanted
            )
    new = [name for name, place in found.items() if not has_column(place, stream.columns)]
    if new and to is None and stream.format == "columns" and stream.layout.evidence:
        _log.info(
            "%s: words are in column %d of %d; behind the last one comes %s",
            stream.source,
            stream.columns.index("form") + 1,
            len(stream.columns),
            ", ".join(new),
        )


def _note_left_out(taggers: Sequence[ModelRuntime], source: str, to: str) -> None:
    """Log which of the columns that were asked for a format has no room for."""
    names = [name for each in taggers for name in each.label_columns]
    left_out = [name for name in names if name not in names_shown(names, FORMATS[to])]
    if left_out:
        _log.info("%s: the format %s has no room for %s", source, to, ", ".join(left_out))


def _renumbered(text: bytes, number: tuple[bytes, bytes] | None, before: int) -> bytes:
    """Return text with its sentences numbered from those before it, if they have a number."""
    if not number or not before:
        return text
    begin, end = number
    first, *others = (b"\n" + text).split(begin)  # as if a line had ended before
    parts = [first]
    for sentence, other in enumerate(others, before + 1):
        parts += (begin, b"%d" % sentence, other[other.index(end) :])
    return b"".join(parts)[1:]


def _size(batch: Sequence[FilledSentence]) -> tuple[int, int]:
    """Return the number of sentences with words, and of words."""
    return sum(map(bool, map(len, batch))), sum(map(len, batch))
