"""Attested lemmas: words that the lemma of an unknown word may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from seqtag.engine import backend
from seqtag.features import builtin  # noqa: F401  the attribute is there
from seqtag.features.attributes import resolve
from seqtag.features.native import hash_attributes
from seqtag.features.normal_forms import normal_forms
from seqtag.model.known_words import are_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from seqtag.tables.table import WordTable

_HASH_BITS = np.uint64(32)  # bits of a hash: one of 100,000 other words per 40,000 seems attested


class AttestedLemmas(NamedTuple):
    """Lemmas of the training data and words of tables, as hashes.

    Words are compared in lower case, with 0 for each digit.

    Parameters
    ----------
    hashes
        (words,) uint32, ascending.
    own_forms
        Whether a word may be its own lemma though that is not attested: where most words are.

    Examples
    --------
    >>> lemmas = AttestedLemmas.of([("Boats", "boat"), ("sees", "see"), ("Rome", "Rome")])
    >>> lemmas.among(["Boat", "see", "rome", "boats"]).tolist(), lemmas.own_forms
    ([True, True, True, False], False)
    """

    hashes: NDArray[np.uint32]
    own_forms: bool

    @classmethod
    def of(
        cls,
        pairs: Iterable[tuple[str, str]],
        tables: Iterable[WordTable] = (),
        before: AttestedLemmas | None = None,
    ) -> AttestedLemmas:
        """Collect lemmas.

        Parameters
        ----------
        pairs
            Distinct pairs of form and lemma. ``_`` is no lemma.
        tables
            Tables of words that are attested, too.
        before
            Lemmas to add to.
        """
        found = [pair for pair in pairs if pair[1] != "_"]
        own = sum(form.lower() == lemma.lower() for form, lemma in found)
        lists = [_short(table.hashes) for table in tables]
        if before is not None:
            lists.append(before.hashes)
        hashes = np.concatenate([_hashes([lemma for _, lemma in found]), *lists])
        return cls(np.unique(hashes), before.own_forms if before else 2 * own > len(found))

    def among(self, lemmas: Sequence[str]) -> NDArray[np.bool_]:
        """Return which lemmas are attested: (lemmas,) bool."""
        return are_in(self.hashes, _hashes(lemmas))


def _hashes(lemmas: Sequence[str]) -> NDArray[np.uint32]:
    lower, words = resolve("normal"), list(lemmas)
    in_kernel = hash_attributes({0: lower}, words)
    if in_kernel:
        return _short(in_kernel[0])
    return _short(backend.hash_strings(cast("list[str]", lower.many(normal_forms(words)))))


def _short(hashes: NDArray[np.uint64]) -> NDArray[np.uint32]:
    return (hashes >> _HASH_BITS).astype(np.uint32)
