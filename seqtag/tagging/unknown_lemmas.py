"""Lemmas of unknown words: the best script whose lemma is attested.

Scripts make *explor* of *explored* as well as *explore*. If the lemma of an unknown word is not an
attested one (`seqtag.model.attested`), the best script of an attested lemma is taken instead, as
long as its score is not much lower. Where most words are their own lemmas, lists of words have
inflected forms, too, and a word itself comes after other attested lemmas; it need not be attested.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.engine.arrays import Allowed, distinct, pointers, ranges
from seqtag.labels.lemmas import keeps_form

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seqtag.engine.frozen import Decoder
    from seqtag.features.encoder import Column
    from seqtag.model.attested import AttestedLemmas
    from seqtag.model.model import Model

_MOST_SCRIPTS = 8  # scripts of a word, the best ones, that are tried
_NEAR_SCORE = 320  # a score may be as much lower; no weight is above 127
_ENTRY_BYTES = 100  # of a number in a dictionary


class TokenIds(NamedTuple):
    """Encoded sentences, as decoders take them."""

    types: NDArray[np.int32]
    hashes: NDArray[np.uint64]
    sentence_ptr: NDArray[np.int64]


class AttestedLabels(NamedTuple):
    """Labels to choose from, of each token the best first."""

    tokens: NDArray[np.intp]
    labels: NDArray[np.int32]


class LemmaMemory:
    """Which words of a numbering are unknown, and which of their lemmas are attested."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.is_known = np.zeros(0, np.int8)  # of each form: 1 or 0, -1 if not looked up
        self.attested: dict[int, bool] = {}  # by form and label

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return len(self.is_known) + _ENTRY_BYTES * len(self.attested)


class UnknownLemmas:
    """Finds attested lemmas of unknown words.

    Parameters
    ----------
    model
        A model without label bigrams.
    lemmas
        Its attested lemmas.
    decoder
        Its decoder.
    """

    def __init__(self, model: Model, lemmas: AttestedLemmas, decoder: Decoder):
        self._model, self._lemmas, self._decoder = model, lemmas, decoder
        self._row = model.compiled.columns.index("form")
        self._radius = int(np.abs(model.compiled.key_plans()[0].term_offset).max(initial=0))
        self._edits = np.array([not label.startswith("=") for label in model.labels])
        changes = [not (lemmas.own_forms and keeps_form(label)) for label in model.labels]
        self._changes = np.array(changes)

    def attested(
        self,
        tokens: TokenIds,
        ids: NDArray[np.int32],
        forms: Column,
        memory: LemmaMemory,
        buffers: Any,
        allowed: Allowed | None = None,
    ) -> AttestedLabels:
        """Return other labels for unknown words whose best lemmas are not attested.

        Parameters
        ----------
        tokens
            The sentences.
        ids
            (tokens,) int32: their best labels.
        forms
            The form of each token.
        memory, buffers
            Working memory for the numbering of the types, and that of the decoder.
        allowed
            Labels that tokens may have; tokens with such labels keep them.
        """
        form_ids = tokens.types[self._row]
        with memory.lock:
            [places] = self._changes[ids].nonzero()
            if allowed is not None:
                places = places[np.diff(allowed.ptr)[places] == 0]
            places = self._unknown(places, form_ids, forms, memory)
            if len(places):
                fine = self._attested(form_ids[places], ids[places], places, forms, memory)
                places = places[~fine]
        if not len(places):
            return AttestedLabels(places, ids[:0])

        # Tokens around a word are part of what templates see; they keep their labels.
        sentence = np.searchsorted(tokens.sentence_ptr, places, "right") - 1
        first = np.maximum(tokens.sentence_ptr[sentence], places - self._radius)
        last = np.minimum(tokens.sentence_ptr[sentence + 1], places + self._radius + 1)
        ptr = pointers(last - first)
        seen = ranges(first, last - first)
        fixed = np.ones(len(seen), np.int64)
        fixed[ptr[:-1] + places - first] = 0
        paths = self._decoder.n_best(
            np.ascontiguousarray(tokens.types[:, seen]),
            tokens.hashes,
            ptr,
            _MOST_SCRIPTS,
            buffers,
            Allowed(pointers(fixed), ids[seen[fixed > 0]]),
        )
        count = np.diff(paths.ptr)
        begin = pointers(np.repeat(last - first, count))[:-1]
        labels = paths.labels[begin + np.repeat(places - first, count)]
        words = np.repeat(places, count)
        near = paths.score >= np.repeat(paths.score[paths.ptr[:-1]] - _NEAR_SCORE, count)
        near &= self._edits[labels]
        labels, words = labels[near], words[near]
        with memory.lock:
            found = self._attested(form_ids[words], labels, words, forms, memory)
        found &= self._changes[labels]
        own = ~self._changes[labels] & ~np.isin(words, words[found])
        return AttestedLabels(words[found | own], labels[found | own])

    def _unknown(
        self,
        tokens: NDArray[np.intp],
        form_ids: NDArray[np.int32],
        forms: Column,
        memory: LemmaMemory,
    ) -> NDArray[np.intp]:
        """Return those tokens that are unknown words."""
        missing = int(form_ids.max(initial=-1)) + 1 - len(memory.is_known)
        if missing > 0:
            room = np.full(missing + len(memory.is_known), -1, np.int8)
            memory.is_known = np.concatenate([memory.is_known, room])
        known = memory.is_known[form_ids[tokens]]
        if (known < 0).any():
            new = tokens[known < 0]
            types, first, _ = distinct(form_ids[new])
            memory.is_known[types] = self._model.known_words.among(forms.values_of(new[first]))
            known = memory.is_known[form_ids[tokens]]
        found: NDArray[np.intp] = tokens[known == 0]
        return found

    def _attested(
        self,
        form_ids: NDArray[np.int32],
        labels: NDArray[np.int32],
        tokens: NDArray[np.intp],
        forms: Column,
        memory: LemmaMemory,
    ) -> NDArray[np.bool_]:
        """Return whether the lemma of each form and label is attested: (tokens,) bool."""
        width = np.int64(len(self._model.labels))
        pairs, first, which = distinct(form_ids * width + labels)
        numbers = pairs.tolist()
        new = [n for n, pair in enumerate(numbers) if pair not in memory.attested]
        if new:
            words = forms.values_of(tokens[first[new]])
            scripts = [self._model.labels[number] for number in (pairs[new] % width).tolist()]
            lemmas = self._model.coding.decode(scripts, words)
            attested = self._lemmas.among(lemmas).tolist()
            memory.attested.update(zip([numbers[n] for n in new], attested, strict=True))
        known = np.array([memory.attested[pair] for pair in numbers], bool)
        found: NDArray[np.bool_] = known[which]
        return found
