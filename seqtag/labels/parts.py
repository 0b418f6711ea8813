"""Labels made of parts, such as ``NOUN|Case=Nom`` of UPOS and FEATS."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from seqtag.engine.arrays import Parts, pointers
from seqtag.errors import LabelError

if TYPE_CHECKING:
    from collections.abc import Sequence


def join_parts(upos: str, feats: str) -> str:
    """Make one label of a part of speech and its morphological features.

    Parameters
    ----------
    upos
        Part of speech, without ``|``.
    feats
        FEATS as in CoNLL-U: ``Name=Value`` parts separated by ``|``, or ``_`` for none.

    Returns
    -------
    str
        The parts separated by ``|``; `split_parts` takes them apart again, exactly.

    Raises
    ------
    LabelError
        If `upos` is empty or holds ``|``, or `feats` is empty.

    Examples
    --------
    >>> join_parts("NOUN", "Case=Nom|Number=Sing"), join_parts("ADP", "_")
    ('NOUN|Case=Nom|Number=Sing', 'ADP')
    """
    if not upos or "|" in upos:
        msg = f'expected UPOS without "|", found {upos!r}; check the UPOS column'
        raise LabelError(msg)
    if not feats:
        msg = f'expected FEATS with {upos!r}, found an empty string; write "_" for no features'
        raise LabelError(msg)
    return upos if feats == "_" else f"{upos}|{feats}"


def split_parts(label: str) -> tuple[str, str]:
    """Take a label made by `join_parts` apart.

    Parameters
    ----------
    label
        Part of speech, then features, separated by ``|``.

    Returns
    -------
    upos, feats
        `feats` is ``_`` if the label has no features.

    Raises
    ------
    LabelError
        If `join_parts` cannot have made the label.

    Examples
    --------
    >>> split_parts("NOUN|Case=Nom|Number=Sing"), split_parts("ADP")
    (('NOUN', 'Case=Nom|Number=Sing'), ('ADP', '_'))
    """
    upos, bar, feats = label.partition("|")
    if not upos or (bar and feats in ("", "_")):
        msg = (
            f'expected a label like "NOUN" or "NOUN|Case=Nom", found {label!r}; '
            "make such labels with join_parts"
        )
        raise LabelError(msg)
    return upos, feats or "_"


def split_labels(labels: Sequence[str]) -> Parts:
    """The parts of labels such as ``NOUN|Case=Nom``: what stands between the bars, each once.

    >>> split_labels(["ADJ", "NOUN|Case=Nom"]).part.tolist()
    [0, 2, 1]
    """
    split = [list(dict.fromkeys(label.split("|"))) for label in labels]
    number = {part: i for i, part in enumerate(part_names(labels))}
    part = np.array([number[part] for part in chain.from_iterable(split)], np.int32)
    return Parts(pointers(map(len, split)), part, len(number))


def part_names(labels: Sequence[str]) -> list[str]:
    """The parts that labels have, sorted: a part's place is its number in `split_labels`.

    >>> part_names(["ADJ", "NOUN|Case=Nom"])
    ['ADJ', 'Case=Nom', 'NOUN']
    """
    return sorted({part for label in labels for part in label.split("|")})
