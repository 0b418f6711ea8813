"""Lists of words and lists of labels as sentences to learn from."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from seqtag.corpus import sentences_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from seqtag.corpus import Sentence
    from seqtag.corpus.memory import Labels


class Listed(NamedTuple):
    """Sentences to learn from and dev sentences, and the label of words that have none, if any."""

    data: list[Sentence]
    dev: list[Sentence] | None
    unlabelled: str | None


def listed(
    data: Any,
    labels: Iterable[Labels],
    dev: Any,
    label: str,
    columns: Sequence[str] | None,
    unlabelled: str | None,
) -> Listed:
    """Lists of words and of labels, and a pair of such lists for a dev set, as sentences.

    Raises
    ------
    TypeError
        If `data` is a file, or `dev` is no pair.
    """
    missing = unlabelled or ""
    found, some = _listed(data, labels, label, columns, missing)
    held_out, more = None, False
    if dev is not None:
        held_out, more = _listed(*_pair_of(dev), label, columns, missing)
    return Listed(found, held_out, missing if some or more else unlabelled)


def _listed(
    data: Any, labels: Iterable[Labels], label: str, columns: Sequence[str] | None, missing: str
) -> tuple[list[Sentence], bool]:
    """Sentences of plain lists, and whether some word has no label."""
    if isinstance(data, (str, PathLike)):
        msg = f"expected lists of words for the labels, found {data!r}; a file has its own labels"
        raise TypeError(msg)
    some = False

    def noted() -> Iterator[Labels]:
        nonlocal some
        for each in labels:
            some = some or (not isinstance(each, str) and None in each)
            yield each

    found = list(sentences_of(data, noted(), label, columns=columns, missing=missing))
    return found, some


def _pair_of(dev: Any) -> tuple[Any, Any]:
    """The sentences and the labels of a dev set of lists."""
    if not isinstance(dev, (tuple, list)) or len(dev) != 2:
        msg = f"expected dev as a pair (sentences, labels), found {dev!r:.60}"
        raise TypeError(msg)
    return dev[0], dev[1]
