"""Taggers one after another over a stream of sentences: POS feeds chunks, chunks feed names."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

from seqtag.corpus import FORMATS, WRITABLE, Block, Sentence, into_misc, render
from seqtag.corpus.conllu import COLUMNS as CONLLU
from seqtag.corpus.keys import has_column
from seqtag.corpus.sentence import find_column
from seqtag.engine import backend
from seqtag.errors import CorpusError
from seqtag.parallel import in_order
from seqtag.tagging.tables import TablePlan, TableTagger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from seqtag.corpus.read import AnyStream
    from seqtag.tagging.tagger import Tagger
    from seqtag.tagging.workspace import Given, Judged

NO_LABEL = "_"
"""What stands in a column where a word has no label."""

_NO_TAGS = ("lemma", "feats")  # columns that word/TAG shows if there are no others
_BATCH_SENTENCES = 1000  # tagged at once, times the threads
_BATCH_CHARACTERS = 1 << 22  # of such sentences; fewer are tagged at once if they are long


@dataclass(frozen=True)
class Asked:
    """What is asked of taggers beside the best labels.

    Attributes
    ----------
    keep
        Whether labels stay that the input has; ``_`` is none.
    margin, probability
        Whether to fill a column with `Tagger.margins`, and with `Tagger.probabilities`.
    nbest
        How many label sequences to write: those from the second on into columns ``upos2`` and so
        on, their scores into a comment of CoNLL-U.
    named
        Whether the columns of margins and probabilities name the labels that they are of.
    """

    keep: bool = False
    margin: bool = False
    probability: bool = False
    nbest: int = 1
    named: bool = False

    @property
    def columns(self) -> bool:
        """Whether there are more columns than those of labels."""
        return self.margin or self.probability or self.nbest > 1

    @property
    def nothing(self) -> bool:
        """Whether the best labels are all."""
        return not (self.keep or self.columns)


@dataclass
class Counts:
    """How much was tagged.

    Attributes
    ----------
    sentences, tokens
        Sentences with words, and their words.
    """

    sentences: int = 0
    tokens: int = 0

    def add(self, sentences: int, tokens: int) -> None:
        """Count some more."""
        self.sentences += sentences
        self.tokens += tokens


class FilledSentence:
    """A sentence together with the columns that taggers have filled so far.

    Parameters
    ----------
    sentence
        The sentence as read.
    """

    __slots__ = ("comments", "filled", "hidden", "sentence")

    def __init__(self, sentence: Sentence):
        self.sentence = sentence
        self.filled: dict[str, list[str]] = {}
        self.hidden: set[str] = set()  # columns filled for other taggers, not to be written
        self.comments: list[str] = []  # lines for CoNLL-U

    def __len__(self) -> int:
        return len(self.sentence)

    def column(self, name: str) -> list[str]:
        """Values of a column or its first alias, as `text` would write them.

        Raises
        ------
        CorpusError
            If neither a tagger nor the file has such a column.
        """
        filled = self._placed()
        found = find_column(name, (*filled, *self.sentence.columns))
        if found is None:
            msg = (
                f"the model needs the column {name}, found {', '.join(self.sentence.columns)}; "
                "name the columns with --columns, or run a model that fills it first, as in "
                "-m en-ewt-xpos -m chunks.seqtag"
            )
            raise CorpusError(msg, source=self.sentence.source, line=self.sentence.line)
        return filled[found] if found in filled else self.sentence.column(found)

    def _placed(self) -> dict[str, list[str]]:
        """What was filled, under the names that the file has for it."""
        columns = self.sentence.columns
        return {find_column(name, columns) or name: found for name, found in self.filled.items()}

    def written(self) -> dict[str, list[str]]:
        """The columns that taggers have filled, under the names that the file has for them."""
        hidden = {find_column(name, self.sentence.columns) or name for name in self.hidden}
        return {name: found for name, found in self._placed().items() if name not in hidden}

    def text(self, to: str | None = None) -> str:
        """The sentence as read with only the filled columns replaced, or in another format.

        From CoNLL-U to CoNLL-U nothing else changes either; columns it does not have go to MISC.

        Raises
        ------
        CorpusError
            If the format has no place for the labels.
        """
        text = self._text(to)
        has_comments = self.sentence.columns == CONLLU if to is None else FORMATS[to].has_comments
        if self.comments and has_comments:
            return _with_comments(text, self.comments)
        return text

    def _text(self, to: str | None) -> str:
        """The sentence without further comments."""
        sentence, is_conllu = self.sentence, self.sentence.columns == CONLLU
        filled = self.written()
        foreign = [name for name in filled if not has_column(name, sentence.columns)]
        form = FORMATS[to] if to in WRITABLE else None  # which `render` refuses
        if to is None or (form and form.has_comments and is_conllu):
            if foreign and is_conllu and to is None:
                msg = (
                    f"expected labels that CoNLL-U has a column for, found {foreign[0]}; write "
                    "them to MISC with --to conllu, or to their own column with --to columns"
                )
                raise CorpusError(msg, source=sentence.source, line=sentence.line)
            if foreign and is_conllu and filled:
                added = {name: filled.pop(name) for name in foreign}
                filled["misc"] = into_misc(sentence.column("misc"), added)
            return sentence.replace(filled) if filled else sentence.raw
        left_out = {*form.drops} if form and not is_conllu else {"id"}
        if sentence.is_bare:
            left_out = {*sentence.columns} - {"form"}
        if form and form.is_tagged_text and filled:
            left_out = {*sentence.columns} - {"form"}
            names = [name for name in filled if name not in _NO_TAGS] or [*filled]
            # The last model's, also where its column is old.
            filled = {names[-1]: filled[names[-1]]}
        read = {n: sentence.column(n) for n in sentence.columns if n not in left_out}
        text = render(read | filled, to)
        return form.frame(text, sentence) if form and form.frame else text


def _with_comments(text: str, comments: Sequence[str]) -> str:
    """A sentence of CoNLL-U with comments behind those that it has."""
    lines = text.split("\n")
    heads = (line.lstrip("\ufeff").strip() for line in lines)
    at = next((i for i, head in enumerate(heads) if head and head[0] != "#"), 0)
    end = "\r" if lines[at].endswith("\r") else ""
    return "\n".join([*lines[:at], *(f"# {comment}{end}" for comment in comments), *lines[at:]])


def tag_stream(
    taggers: Sequence[Tagger],
    sentences: Iterable[Sentence],
    threads: int = 1,
    asked: Asked | None = None,
) -> Iterator[FilledSentence]:
    r"""The sentences in order, each filled by all taggers in turn; memory stays flat.

    Parameters
    ----------
    taggers
        The first one's labels are columns to the second, and so on.
    sentences
        Those without words pass through.
    threads
        Threads to decode on.
    asked
        What is asked of them beside the best labels.

    Examples
    --------
    >>> import io, seqtag
    >>> stream = seqtag.read(io.BytesIO(b"Stop !\n"), "tokens")
    >>> [tagged] = tag_stream([seqtag.load("en-ewt-upos")], stream)
    >>> tagged.text("tagged")
    'Stop/VERB !/PUNCT\n'
    """
    for batch in _tagged_batches(taggers, sentences, threads, asked or Asked()):
        yield from batch


def _tagged_batches(
    taggers: Sequence[Tagger],
    sentences: Iterable[Sentence],
    threads: int,
    asked: Asked,
    ready: Callable[[], bool] = lambda: True,
) -> Iterator[list[FilledSentence]]:
    """The sentences of `tag_stream` in batches; one ends where no more is `ready`."""
    for batch in _batches(sentences, threads, ready):
        with_words = [tagged for tagged in batch if len(tagged)]
        for tagger in taggers:
            given = [labels_in(tagger, each) for each in with_words] if asked.keep else None
            if (asked.margin or asked.probability) and not tagger.hidden:
                judged = tagger.tag_with_margins(with_words, threads, given)
                found = [each.labels for each in judged]
            else:
                judged, found = [], tagger.tag_many(with_words, threads, given)
            more = _searched(tagger, with_words, threads, given, asked.nbest)
            for tagged, labels in zip(with_words, found, strict=True):
                _fill(tagged, tagger, tagger.split_label(labels))
            for number, (tagged, each) in enumerate(zip(with_words, judged, strict=False)):
                kept = given[number] if given else None
                _fill(tagged, tagger, _confidence(tagger, each, kept, asked))
            for tagged, paths in zip(with_words, more, strict=False):
                _fill_paths(tagged, tagger, paths, asked.nbest)
        yield batch


def _fill(tagged: FilledSentence, tagger: Tagger, columns: Mapping[str, list[str]]) -> None:
    """Fill some columns of a sentence; what was filled last stands last."""
    for name, values in columns.items():
        tagged.filled.pop(name, None)
        tagged.filled[name] = values
        (tagged.hidden.add if tagger.hidden else tagged.hidden.discard)(name)


def labels_in(tagger: Tagger, tagged: FilledSentence) -> list[str | None] | None:
    """The labels that a sentence has for a tagger; None where it has none."""
    sentence, column = tagged.sentence, tagger.model.column
    found = [find_column(name, sentence.columns) for name in column.columns]
    if None in found:
        return None
    values = [sentence.column(str(name)) for name in found]
    rows = zip(*values, strict=True)
    return [None if row[0] == NO_LABEL else column.join(row) for row in rows]


def _confidence(
    tagger: Tagger, judged: Judged, given: Given | None, asked: Asked
) -> dict[str, list[str]]:
    """Columns of margins and probabilities."""
    columns = {}
    margin, probability = _confidence_names(tagger, asked)
    if asked.margin:
        columns[margin] = [f"{m:.0f}" for m in judged.margins]
    if asked.probability:
        found = tagger.calibrated(judged.margins, given or [None] * len(judged.labels))
        columns[probability] = [f"{p:.4f}" for p in found]
    return columns


def _confidence_names(tagger: Tagger, asked: Asked) -> tuple[str, str]:
    """Names of the columns of margins and probabilities."""
    of = tagger.label[:1].upper() + tagger.label[1:] if asked.named else ""
    return f"margin{of}", f"p{of}"


def names_filled(tagger: Tagger, asked: Asked) -> list[str]:
    """Names of all columns that a tagger fills."""
    margin, probability = _confidence_names(tagger, asked)
    names = [*tagger.label_columns, *[margin] * asked.margin, *[probability] * asked.probability]
    ranks = range(2, asked.nbest + 1)
    return names + [f"{name}{rank}" for rank in ranks for name in tagger.label_columns]


def _searched(
    tagger: Tagger,
    sentences: Sequence[FilledSentence],
    threads: int,
    given: Iterable[Given | None] | None,
    nbest: int,
) -> list[list[tuple[float, list[str]]]]:
    """The n best sequences of some sentences, if they are to be written."""
    if nbest == 1 or tagger.hidden:
        return []
    return tagger.nbest_many(sentences, nbest, threads, given)


def _fill_paths(
    tagged: FilledSentence, tagger: Tagger, paths: Sequence[tuple[float, list[str]]], nbest: int
) -> None:
    """Fill columns with the sequences from the second on; ``_`` where there are fewer."""
    blank = {name: [NO_LABEL] * len(tagged) for name in tagger.label_columns}
    for rank in range(2, nbest + 1):
        values = tagger.split_label(paths[rank - 1][1]) if rank <= len(paths) else blank
        _fill(tagged, tagger, {f"{name}{rank}": column for name, column in values.items()})
    scores = " ".join(f"{score:.0f}" for score, _ in paths)
    tagged.comments.append(f"nbest_{tagger.label} = {scores}")


def _batches(
    sentences: Iterable[Sentence], threads: int, ready: Callable[[], bool]
) -> Iterator[list[FilledSentence]]:
    batch: list[FilledSentence] = []
    room = _BATCH_CHARACTERS * threads
    for sentence in sentences:
        batch.append(FilledSentence(sentence))
        room -= len(sentence.raw)
        if len(batch) == _BATCH_SENTENCES * threads or room <= 0 or not ready():
            yield batch
            batch, room = [], _BATCH_CHARACTERS * threads
    if batch:
        yield batch


def tag_text(
    taggers: Sequence[Tagger],
    stream: AnyStream,
    to: str | None = None,
    threads: int = 1,
    *,
    flush: bool | None = None,
    asked: Asked | None = None,
    counts: Counts | None = None,
) -> Iterator[bytes]:
    r"""The text of a stream with its label columns filled, or in another format, piece by piece.

    Column files that keep their format take the native way, `seqtag.tagging.tables`; what it
    leaves, and all else, goes through `tag_stream`. The bytes are the same.

    Parameters
    ----------
    taggers, threads
        As for `tag_stream`.
    stream
        What `seqtag.read` returns.
    to
        Format to write, or None for that of the stream.
    flush
        Whether each sentence is a piece by itself. By default pieces are large, but what has
        arrived is given back before one waits for more: a terminal or a co-process gets its
        answer.
    asked
        What is asked of the taggers beside the best labels.
    counts
        Where to count what was tagged.

    Examples
    --------
    >>> import io, seqtag
    >>> stream = seqtag.read(io.BytesIO(b"Stop _\n! _\n"), columns=["form", "upos"])
    >>> b"".join(tag_text([seqtag.load("en-ewt-upos")], stream))
    b'Stop VERB\n! PUNCT\n'
    """
    yield from _tagged_text(taggers, stream, to, threads, flush, asked or Asked(), counts)
    stream.report()


def _tagged_text(
    taggers: Sequence[Tagger],
    stream: AnyStream,
    to: str | None,
    threads: int,
    flush: bool | None,
    asked: Asked,
    counts: Counts | None,
) -> Iterator[bytes]:
    """The pieces of `tag_text`."""
    counted = counts or Counts()
    ready = stream.ready if flush is None else (lambda: not flush)
    plan = None
    sentences: Iterable[Sentence] = stream
    if not taggers and to is None and stream.is_table and counts is None:
        yield from (block.text.encode() for block in stream.blocks())
        return
    if to is None and backend.Scanner is not None and stream.is_table and asked.nothing:
        blocks = stream.blocks()
        first = list(islice(blocks, 1))
        plan = TablePlan(taggers, stream)
        sentences = stream.parse(chain(first, blocks))
    if plan is None or not plan.possible or flush:
        for batch in _tagged_batches(taggers, sentences, threads, asked, ready):
            yield "".join(tagged.text(to) for tagged in batch).encode()
            counted.add(sum(map(bool, map(len, batch))), sum(map(len, batch)))
        return

    idle: list[TableTagger] = []  # not in use; list operations are atomic

    def tag(block: Block) -> tuple[bytes, int, int]:
        try:
            worker = idle.pop()
        except IndexError:
            worker = TableTagger(plan)
        done = worker.tag(block)
        sentences, tokens = worker.sentences, worker.tokens
        idle.append(worker)
        if done is None:
            again = [*tag_stream(taggers, stream.parse([block], block.line))]
            done = "".join(tagged.text() for tagged in again).encode()
            sentences, tokens = sum(map(bool, map(len, again))), sum(map(len, again))
        return done, sentences, tokens

    for piece, sentences_of, tokens_of in in_order(tag, chain(first, blocks), threads, ready):
        yield piece
        counted.add(sentences_of, tokens_of)
