"""Taggers one after another over a stream of sentences: POS feeds chunks, chunks feed names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from seqtag.corpus import Sentence, render
from seqtag.corpus.conllu import COLUMNS as CONLLU
from seqtag.errors import CorpusError
from seqtag.tagger import Tagger

ALIASES = {"pos": ("xpos", "upos"), "xpos": ("pos",), "upos": ("pos",)}
"""Columns that stand in for one that a file does not have."""

_BLOCK_SENTENCES = 1000  # sentences tagged at once, times the threads


@lru_cache(maxsize=256)
def find_column(name: str, available: tuple[str, ...]) -> str | None:
    """The column itself, or the first of its aliases that is there.

    >>> find_column("pos", ("id", "form", "upos", "xpos"))
    'xpos'
    """
    candidates = (name, *ALIASES.get(name, ()))
    return next((candidate for candidate in candidates if candidate in available), None)


class Tagged:
    """A sentence together with the columns that taggers have filled so far.

    Parameters
    ----------
    sentence
        The sentence as read.
    """

    __slots__ = ("filled", "sentence")

    def __init__(self, sentence: Sentence):
        self.sentence = sentence
        self.filled: dict[str, list[str]] = {}

    def __len__(self) -> int:
        return len(self.sentence)

    def column(self, name: str) -> list[str]:
        """Values of a column or its first alias; what was filled comes before what was read.

        Raises
        ------
        CorpusError
            If neither a tagger nor the file has such a column.
        """
        found = find_column(name, (*self.filled, *self.sentence.columns))
        if found is None:
            raise CorpusError(
                f"the model needs the column {name}, found {', '.join(self.sentence.columns)}; "
                "name the columns with --columns, or run a model that fills it first, as in "
                "-m en-ewt-xpos -m chunks.seqtag",
                source=self.sentence.source,
                line=self.sentence.line,
            )
        return self.filled[found] if found in self.filled else self.sentence.column(found)

    def text(self, to: str | None = None) -> str:
        """The sentence as read with only the filled columns replaced, or in another format.

        From CoNLL-U to CoNLL-U nothing else changes either; columns it does not have go to MISC.

        Raises
        ------
        CorpusError
            If the format has no place for the labels.
        """
        sentence, is_conllu = self.sentence, self.sentence.columns == CONLLU
        filled = {find_column(name, sentence.columns) or name: labels
                  for name, labels in self.filled.items()}  # fmt: skip
        foreign = [name for name in filled if name not in sentence.columns]
        if to is None or (to == "conllu" and is_conllu):
            if foreign and is_conllu and to is None:
                raise CorpusError(
                    f"expected labels that CoNLL-U has a column for, found {foreign[0]}; write "
                    "them to MISC with --to conllu, or to their own column with --to columns",
                    source=sentence.source, line=sentence.line,
                )  # fmt: skip
            if foreign and is_conllu and filled:
                filled["misc"] = self._misc({name: filled.pop(name) for name in foreign})
            return sentence.replace(filled) if filled else sentence.raw
        left_out = {"id", "misc"} if to == "columns" and not is_conllu else {"id"}
        if to == "tagged" and filled:
            left_out = {*sentence.columns} - {"form"}
            filled = dict([filled.popitem()])  # the last model's, also where its column is old
        read = {n: sentence.column(n) for n in sentence.columns if n not in left_out}
        return render(read | filled, to)

    def _misc(self, columns: Mapping[str, list[str]]) -> list[str]:
        """The column MISC with more columns in it, as ``Chunk=B-NP``."""
        misc = self.sentence.column("misc")
        for name, labels in columns.items():
            key = f"{name[:1].upper()}{name[1:]}="
            kept = [[item for item in value.split("|") if item != "_" and not item.startswith(key)]
                    for value in misc]  # fmt: skip
            misc = ["|".join([*items, key + label])
                    for items, label in zip(kept, labels, strict=True)]  # fmt: skip
        return misc


def tag_stream(
    taggers: Sequence[Tagger], sentences: Iterable[Sentence], threads: int = 1
) -> Iterator[Tagged]:
    """The sentences in order, each filled by all taggers in turn; memory stays flat.

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
    >>> stream = seqtag.read(io.BytesIO(b"Stop !\\n"), "tokens")
    >>> [tagged] = tag_stream([seqtag.load("en-ewt-upos")], stream)
    >>> tagged.text("tagged")
    'Stop/VERB !/PUNCT\\n'
    """
    stream = map(Tagged, sentences)
    while block := list(islice(stream, _BLOCK_SENTENCES * threads)):
        with_words = [tagged for tagged in block if len(tagged)]
        for tagger in taggers:
            found = tagger.tag_many(with_words, threads)
            for tagged, labels in zip(with_words, found, strict=True):
                tagged.filled.update(tagger.split_label(labels))
        yield from block
