"""Taggers one after another over a stream of sentences: POS feeds chunks, chunks feed names."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from seqtag.corpus import Block, Sentence, into_misc, render
from seqtag.corpus.aliases import find_column
from seqtag.corpus.conllu import COLUMNS as CONLLU
from seqtag.corpus.records import with_facts
from seqtag.corpus.table import DOCSTART
from seqtag.engine.backend import BACKEND
from seqtag.errors import CorpusError
from seqtag.parallel import in_order
from seqtag.tagging.tables import TablePlan, TableTagger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from seqtag.corpus.read import AnyStream
    from seqtag.tagging.tagger import Tagger

_NO_TAGS = ("lemma", "feats")  # columns that word/TAG shows if there are no others
_BATCH_SENTENCES = 1000  # tagged at once, times the threads


class FilledSentence:
    """A sentence together with the columns that taggers have filled so far.

    Parameters
    ----------
    sentence
        The sentence as read.
    """

    __slots__ = ("filled", "hidden", "sentence")

    def __init__(self, sentence: Sentence):
        self.sentence = sentence
        self.filled: dict[str, list[str]] = {}
        self.hidden: set[str] = set()  # columns filled for other taggers, not to be written

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

    def _written(self) -> dict[str, list[str]]:
        """What is to be written, under the names that the file has for it."""
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
        sentence, is_conllu = self.sentence, self.sentence.columns == CONLLU
        filled = self._written()
        foreign = [name for name in filled if name not in sentence.columns]
        if to is None or (to == "conllu" and is_conllu):
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
        left_out = {"id", "misc"} if to == "columns" and not is_conllu else {"id"}
        if sentence.is_bare:
            left_out = {*sentence.columns} - {"form"}
        if to == "tagged" and filled:
            left_out = {*sentence.columns} - {"form"}
            names = [name for name in filled if name not in _NO_TAGS] or [*filled]
            filled = {
                names[-1]: filled[names[-1]]
            }  # the last model's, also where its column is old
        read = {n: sentence.column(n) for n in sentence.columns if n not in left_out}
        return _framed(render(read | filled, to), sentence, to)


def _framed(text: str, sentence: Sentence, to: str) -> str:
    """A rendered sentence with what a format says of it beside its words."""
    if to == "jsonl" and text:
        return with_facts(text, sentence)
    heads = getattr(sentence, "comments", ()) if to == "conll2003" else ()
    begins = any(line.startswith((DOCSTART, "# newdoc")) for line in heads)
    return f"{DOCSTART} -X- -X- O\n\n{text}" if begins else text


def tag_stream(
    taggers: Sequence[Tagger], sentences: Iterable[Sentence], threads: int = 1
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

    Examples
    --------
    >>> import io, seqtag
    >>> stream = seqtag.read(io.BytesIO(b"Stop !\n"), "tokens")
    >>> [tagged] = tag_stream([seqtag.load("en-ewt-upos")], stream)
    >>> tagged.text("tagged")
    'Stop/VERB !/PUNCT\n'
    """
    for batch in _tagged_batches(taggers, sentences, threads):
        yield from batch


def _tagged_batches(
    taggers: Sequence[Tagger],
    sentences: Iterable[Sentence],
    threads: int,
    ready: Callable[[], bool] = lambda: True,
) -> Iterator[list[FilledSentence]]:
    """The sentences of `tag_stream` in batches; one ends where no more is `ready`."""
    for batch in _batches(sentences, _BATCH_SENTENCES * threads, ready):
        with_words = [tagged for tagged in batch if len(tagged)]
        for tagger in taggers:
            found = tagger.tag_many(with_words, threads)
            for tagged, labels in zip(with_words, found, strict=True):
                for name, values in tagger.split_label(labels).items():
                    tagged.filled.pop(name, None)  # what was filled last stands last
                    tagged.filled[name] = values
                    (tagged.hidden.add if tagger.hidden else tagged.hidden.discard)(name)
        yield batch


def _batches(
    sentences: Iterable[Sentence], most: int, ready: Callable[[], bool]
) -> Iterator[list[FilledSentence]]:
    batch: list[FilledSentence] = []
    for sentence in sentences:
        batch.append(FilledSentence(sentence))
        if len(batch) == most or not ready():
            yield batch
            batch = []
    if batch:
        yield batch


def tag_text(
    taggers: Sequence[Tagger],
    stream: AnyStream,
    to: str | None = None,
    threads: int = 1,
    *,
    flush: bool | None = None,
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

    Examples
    --------
    >>> import io, seqtag
    >>> stream = seqtag.read(io.BytesIO(b"Stop _\n! _\n"), columns=["form", "upos"])
    >>> b"".join(tag_text([seqtag.load("en-ewt-upos")], stream))
    b'Stop VERB\n! PUNCT\n'
    """
    ready = stream.ready if flush is None else (lambda: not flush)
    plan = None
    sentences: Iterable[Sentence] = stream
    if not taggers and to is None and stream.is_table:
        yield from (block.text.encode() for block in stream.blocks())
        return
    if to is None and BACKEND == "native" and stream.is_table:
        blocks = stream.blocks()
        first = list(islice(blocks, 1))
        plan = TablePlan(taggers, stream)
        sentences = stream.parse(chain(first, blocks))
    if plan is None or not plan.possible or flush:
        for batch in _tagged_batches(taggers, sentences, threads, ready):
            yield "".join(tagged.text(to) for tagged in batch).encode()
        return

    idle: list[TableTagger] = []  # not in use; list operations are atomic

    def tag(block: Block) -> bytes:
        try:
            worker = idle.pop()
        except IndexError:
            worker = TableTagger(plan)
        done = worker.tag(block)
        idle.append(worker)
        if done is None:
            again = tag_stream(taggers, stream.parse([block], block.line))
            done = "".join(tagged.text() for tagged in again).encode()
        return done

    yield from in_order(tag, chain(first, blocks), threads, ready)
