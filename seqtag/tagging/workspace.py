"""Sentences on their way through a tagger: numberings of words, batches, parts of arrays."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from seqtag.engine.arrays import Allowed, pointers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conllu import TokenList
    from numpy.typing import NDArray

    from seqtag.features.encoder import Encoder
    from seqtag.labels.column import HasColumns
    from seqtag.tagging.encode import Tokens

AnySentence: TypeAlias = (
    "Sequence[str] | Sequence[tuple[str, ...]] | Mapping[str, Sequence[str]] | HasColumns"
    " | TokenList"
)
"""What `Tagger.tag` takes for a sentence."""

Given: TypeAlias = "Sequence[str | None]"
"""Labels of a sentence that are given: one for each word, None where there is none."""


class Judged(NamedTuple):
    """Labels of a sentence, and how much better each is than any other: see `Tagger.margins`."""

    labels: list[str]
    margins: list[float]


class Worker(NamedTuple):
    """A numbering of the types, and what the kernel remembers of them for each thread that decodes.

    One thread at a time may number types; several may decode what is numbered already.
    """

    encoder: Encoder
    workspaces: list[Any]  # those not in use; list operations are atomic
    first: Sequence[Worker] = ()  # those of the models of a first pass
    said: Sequence[Mapping[int, NDArray[np.int32]]] = ()  # of each, type ids of its labels by row


class Batch(NamedTuple):
    """Some sentences as type ids."""

    token_lists: list[Tokens | None]  # of sentences that are conllu.TokenLists; none of plain lists
    bounds: list[int]  # where sentences begin, and where the last ends
    types: NDArray[np.int32]  # (columns, tokens) int32
    worker: Worker  # whose ids they are
    forms: list[Sequence[str]]  # of each sentence, if the label coding looks at them
    given: list[Given | None]  # the labels of each sentence that stay
    allowed: Allowed | None  # the labels that they leave to each token
    first: Sequence[Batch] = ()  # the same for the models of a first pass that is still to come

    @property
    def sentence_ptr(self) -> NDArray[np.int64]:
        """The bounds as the engine wants them."""
        return np.array(self.bounds, np.int64)


@contextmanager
def workspace(decoder: Any, worker: Worker) -> Iterator[Any]:
    """The kernel's memory for one thread."""
    try:
        space = worker.workspaces.pop()
    except IndexError:
        space = decoder.workspace()
    yield space
    worker.workspaces.append(space)


def check_threads(threads: int) -> None:
    """Refuse a number of threads that is none."""
    if threads < 1:
        msg = f"expected threads of 1 or more, found {threads}"
        raise ValueError(msg)


def not_words(words: Iterable[Any], error: Exception) -> Exception:
    """What to say of words of which some are no strings; the error itself if all are."""
    odd = next((word for word in words if not isinstance(word, str)), words)
    if odd is words:
        return error
    return TypeError(f"expected words as strings, found {odd!r}")


def cuts(bounds: NDArray[np.int64], tokens: int) -> list[int]:
    """Where parts of about so many tokens begin, and the last ends, as numbers of sentences."""
    cuts, sentences = [0], len(bounds) - 1
    while cuts[-1] < sentences:
        full = int(np.searchsorted(bounds, bounds[cuts[-1]] + tokens))
        cuts.append(min(max(full, cuts[-1] + 1), sentences))
    return cuts


def allowed_of(lists: Sequence[Sequence[int]]) -> Allowed:
    """What each token may have, given as lists; an empty one for anything."""
    flat = np.fromiter(chain.from_iterable(lists), np.int32)
    return Allowed(pointers(map(len, lists)), flat)


def batches(sentences: Iterable[AnySentence], tokens: int) -> Iterator[list[AnySentence]]:
    """The sentences in batches of about so many tokens."""
    stream = iter(sentences)
    while batch := list(islice(stream, 64)):
        found = sum(map(len, batch))
        while found < tokens and (more := list(islice(stream, 64))):
            batch += more
            found += sum(map(len, more))
        yield batch
