"""Taggers: immutable, safe to share between threads, loaded from one file."""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate, chain, islice, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.engine import backend
from seqtag.engine.arrays import (
    ANY_LABEL,
    FORBIDDEN,
    FrozenWeights,
    KnownLabels,
    Parts,
    Rows,
    pointers,
)
from seqtag.engine.keys import key_plan
from seqtag.errors import LabelError, ModelFileError, SeqtagError
from seqtag.features.encoder import Encoder
from seqtag.features.language import parse
from seqtag.features.templates import AttributeUse, CompiledTemplates
from seqtag.labels.parts import split_parts
from seqtag.labels.schemes import allowed, convert
from seqtag.model import container
from seqtag.model.embedded import find_model
from seqtag.model.known_words import KnownWords
from seqtag.parallel import in_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from conllu import TokenList

_TENSORS = {
    "labels.blob": ("u1", 1),
    "labels.offsets": ("i8", 1),
    "known": ("u8", 1),
    "emission.keys": ("u8", 1),
    "emission.cells": ("u2", 1),
    "emission.labels": ("u2", 1),
    "emission.weights": ("i1", 1),
    "edge.keys": ("u8", 1),
    "edge.cells": ("u2", 1),
    "edge.labels": ("u2", 1),
    "edge.weights": ("i1", 1),
    "trigram.keys": ("u8", 1),
    "trigram.cells": ("u2", 1),
    "trigram.labels": ("u2", 1),
    "trigram.weights": ("i1", 1),
    "start": ("i4", 1),
    "stop": ("i4", 1),
    "transition.cells": ("i8", 1),
    "transition.weights": ("i4", 1),
    "parts.counts": ("u2", 1),
    "parts.parts": ("i4", 1),
    "known_labels.keys": ("u8", 1),
    "known_labels.cells": ("u2", 1),
    "known_labels.labels": ("u2", 1),
}
_BLOCK_TOKENS = 20_000  # tokens decoded in one call of the kernel
_MAX_TYPES = 100_000  # word types remembered by one worker before it starts afresh


class Worker(NamedTuple):
    """A numbering of the types, and what the kernel remembers of them for each thread that decodes.

    One thread at a time may number types; several may decode what is numbered already.
    """

    encoder: Encoder
    workspaces: list[Any]  # those not in use; list operations are atomic


class _Encoded(NamedTuple):
    """Some sentences as type ids."""

    token_lists: list[list[dict[str, Any]] | None]  # of sentences that are conllu.TokenLists
    bounds: list[int]  # where sentences begin, and where the last ends
    types: np.ndarray  # (columns, tokens) int32
    worker: Worker  # whose ids they are


class Tagger:
    """A trained model that labels sentences. Make one with `seqtag.train` or `seqtag.load`.

    Never changes, so any number of threads may share it; pickles by value.

    Parameters
    ----------
    config, tensors
        What a model file holds.
    source
        Name of the file, for messages.

    Examples
    --------
    >>> import seqtag
    >>> tagger = seqtag.load("en-ewt-upos")
    >>> tagger.tag(["Birds", "sing", "."])
    ['NOUN', 'VERB', 'PUNCT']
    >>> tagger.label, tagger.columns
    ('upos', ('form',))
    """

    def __init__(
        self, config: Mapping[str, Any], tensors: Mapping[str, np.ndarray], source: str = "<model>"
    ):
        self._config, self._tensors, self._source = config, tensors, source
        container.expect(dict(tensors), _TENSORS, source=source)
        try:
            self.label: str = str(config["label"])
            self.label_scheme: str | None = config["scheme"]
            self._encoding: str | None = config["encoding"]
            self._constrain = bool(config["constrain"])
            self._templates = parse(config["templates"])
            self._compiled = self._templates.compile(config["columns"])
            blob, offsets = tensors["labels.blob"], tensors["labels.offsets"]
            self._labels = container.unpack_strings(blob, offsets, source=source)
            self._decoder = self._make_decoder()
        except ModelFileError:
            raise
        except SeqtagError as error:
            msg = f"the model does not fit itself: {error}"
            raise ModelFileError(msg, source=source) from error
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            msg = (
                f"expected a complete seqtag model, found a damaged one ({error}); "
                "get the file again or retrain"
            )
            raise ModelFileError(
                msg,
                source=source,
            ) from error
        self.known_words = KnownWords(tensors["known"])
        self._idle: list[Worker] = []  # workers not in use; list operations are atomic

    # ----------------------------------------------------------------- what it is
    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns the templates look at, in the order `tag` wants them."""
        return self._compiled.columns

    @property
    def label_columns(self) -> tuple[str, ...]:
        """Names of the columns it fills: the label column; two for ``upos+feats``."""
        return tuple(self.label.split("+")) if self._is_factored else (self.label,)

    @property
    def _is_factored(self) -> bool:
        return self.label == "upos+feats"

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels it can give, as written in the label column, sorted."""
        return tuple(sorted(set(self.outputs)))

    @cached_property
    def outputs(self) -> list[str]:
        """What each label id is written as; a begin or single label is B in IOB2, and so on."""
        if not self._encoding or self._encoding == self.label_scheme:
            return self._labels
        letters = {"S": "B", "U": "B", "E": "I", "L": "I"}
        return [letters.get(label[0], label[0]) + label[1:] for label in self._labels]

    @property
    def info(self) -> dict[str, Any]:
        """All that the model file says of the model: templates, training data, scores."""
        return dict(self._config)

    @property
    def sizes(self) -> dict[str, int]:
        """Number of features and of their weights, leaving out those that are zero."""
        names = ("emission", "edge")
        return {
            "features": sum(len(self._tensors[f"{name}.keys"]) for name in names),
            "weights": sum(len(self._tensors[f"{name}.weights"]) for name in names),
        }

    def __repr__(self) -> str:
        return f"<seqtag.Tagger of {self.label}: {len(self._labels)} labels from {self.columns}>"

    # ----------------------------------------------------------------- tagging
    def tag(self, sentence: Sequence[Any] | TokenList) -> list[str]:
        """Labels of one sentence.

        Parameters
        ----------
        sentence
            A list of words, for a model that looks at the form alone; a list of tuples, one value
            for each of `columns`, for others; a `seqtag.corpus.Sentence`; or a
            `conllu.TokenList`, whose label fields are filled in place (multiword ranges and
            empty nodes are skipped).

        Returns
        -------
        list of str
            One label per word; none for an empty sentence.

        Raises
        ------
        TypeError
            If the sentence is one string, or holds something other than words.

        Examples
        --------
        >>> import seqtag
        >>> seqtag.load("en-ewt-xpos").tag("The cat sat on the mat .".split())
        ['DT', 'NN', 'VBD', 'IN', 'DT', 'NN', '.']
        """
        worker = self._borrow()
        labels = self._written(*self._decode(self._encode([sentence], worker)))[0]
        self._idle.append(worker)
        return labels

    def tag_many(self, sentences: Iterable[Sequence[Any]], threads: int = 1) -> list[list[str]]:
        """Labels of many sentences, in their order; the same on any number of threads.

        Parameters
        ----------
        sentences
            Sentences as `tag` takes them.
        threads
            Threads to decode on (the kernel works without Python's global lock).

        Examples
        --------
        >>> import seqtag
        >>> seqtag.load("en-ewt-upos").tag_many([["Go", "!"], [], ["Well", ",", "no", "."]])
        [['VERB', 'PUNCT'], [], ['INTJ', 'PUNCT', 'INTJ', 'PUNCT']]
        """
        if threads < 1:
            msg = f"expected threads of 1 or more, found {threads}"
            raise ValueError(msg)
        worker = self._borrow()

        def encoded() -> Iterator[_Encoded]:  # here, while other threads decode
            nonlocal worker
            for block in _blocks(sentences):
                if len(worker.encoder) > _MAX_TYPES:
                    worker = self.new_worker()
                yield self._encode(block, worker)

        labels: list[list[str]] = []
        for block, ids in in_order(self._decode, encoded(), threads):
            labels += self._written(block, ids)
        self._idle.append(worker)
        return labels

    def split_label(self, labels: Sequence[str]) -> dict[str, list[str]]:
        """The values of each of `label_columns` for the labels of a sentence.

        >>> import seqtag
        >>> seqtag.load("en-ewt-upos").split_label(["NOUN", "VERB"])
        {'upos': ['NOUN', 'VERB']}
        """
        if not self._is_factored:
            return {self.label: list(labels)}
        pairs = [split_parts(label) for label in labels]
        return {"upos": [upos for upos, _ in pairs], "feats": [feats for _, feats in pairs]}

    def _encode(self, sentences: Sequence[Sequence[Any]], worker: Worker) -> _Encoded:
        """Some sentences as type ids of the worker's."""
        token_lists = [_token_list(sentence) for sentence in sentences]
        rows = [self._columns_of(sentence) for sentence in sentences]
        bounds = list(accumulate((len(row[0]) for row in rows), initial=0))
        columns = [chain.from_iterable(map(itemgetter(c), rows)) for c in range(len(self.columns))]
        try:
            types = worker.encoder.encode(columns, bounds[-1])
        except (TypeError, AttributeError, SeqtagError) as error:
            words = (word for row in rows for values in row for word in values)
            odd = [word for word in words if not isinstance(word, str)]
            if not odd:
                raise
            msg = f"expected words as strings, found {odd[0]!r}"
            raise TypeError(msg) from error
        return _Encoded(token_lists, bounds, types, worker)

    def _decode(self, block: _Encoded) -> tuple[_Encoded, np.ndarray]:
        """The block and its label ids."""
        sentence_ptr = np.array(block.bounds, np.int64)
        return block, self.decode_types(block.types, sentence_ptr, block.worker)

    def _written(self, block: _Encoded, ids: np.ndarray) -> list[list[str]]:
        """Label ids as labels, sentence by sentence."""
        names = list(map(self.outputs.__getitem__, ids.tolist()))
        found = [names[a:b] for a, b in pairwise(block.bounds)]
        if not self.writes_ids:
            found = [
                convert(self._names(ids[a:b]), self._encoding, self.label_scheme)
                for a, b in pairwise(block.bounds)
            ]
        for token_list, labels in zip(block.token_lists, found, strict=True):
            if token_list is not None:
                self._fill(token_list, labels)
        return found

    @cached_property
    def writes_ids(self) -> bool:
        """Whether `outputs` says how to write each label, whatever its neighbours are.

        Not so if labels are learnt in another scheme and decoded freely, or written as IOB1.
        """
        if not self._encoding or self._encoding == self.label_scheme:
            return True
        return self._constrain and self.label_scheme == "iob2"

    def _names(self, ids: np.ndarray) -> list[str]:
        return [self._labels[i] for i in ids.tolist()]

    def _columns_of(self, sentence: Any) -> Sequence[Sequence[str]]:
        """The sentence's values of each column."""
        if hasattr(sentence, "column"):  # a seqtag.corpus.Sentence
            return [sentence.column(name) for name in self.columns or ("form",)]
        tokens = _token_list(sentence)
        if tokens is not None:
            from conllu.serializer import serialize_field

            names = self.columns or ("form",)
            return [[serialize_field(token[name]) for token in tokens] for name in names]
        if isinstance(sentence, str):
            msg = f"expected a list of words, found the string {sentence[:40]!r}; split it first"
            raise TypeError(msg)
        if len(self.columns) <= 1:
            return [sentence]
        for values in sentence:
            if isinstance(values, str) or len(values) != len(self.columns):
                msg = (
                    f"expected a tuple ({', '.join(self.columns)}) for every word, found {values!r}"
                )
                raise TypeError(msg)
        return list(zip(*sentence, strict=True)) or [()] * len(self.columns)

    def _fill(self, tokens: list[dict[str, Any]], labels: list[str]) -> None:
        """Write the labels into the tokens of a conllu.TokenList."""
        from conllu.parser import parse_dict_value

        for name, values in self.split_label(labels).items():
            for token, value in zip(tokens, values, strict=True):
                token[name] = parse_dict_value(value) if name == "feats" else value

    def _borrow(self) -> Worker:
        """A worker for one caller, until it is put back."""
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = None
        if worker is None or len(worker.encoder) > _MAX_TYPES:
            return self.new_worker()
        return worker

    def new_worker(self) -> Worker:
        """An encoder that knows no types yet, and the kernel's memory for it."""
        return Worker(Encoder(self._compiled, backend.hash_strings), [])

    def decode_types(
        self, types: np.ndarray, sentence_ptr: np.ndarray, worker: Worker
    ) -> np.ndarray:
        """Label ids (tokens,) int32 of the type ids (columns, tokens) of the worker's encoder."""
        try:
            workspace = worker.workspaces.pop()
        except IndexError:
            workspace = self._decoder.workspace()
        ids = self._decoder.decode(types, worker.encoder.hashes, sentence_ptr, workspace)
        worker.workspaces.append(workspace)
        return ids

    # ----------------------------------------------------------------- files
    def save(self, path: str | PathLike[str]) -> int:
        """Write the model to one file, whole or not at all; return its size in bytes."""
        return container.save(path, self._config, self._tensors)

    def __reduce__(self):
        return _from_bytes, (container.to_bytes(self._config, self._tensors),)

    def _make_decoder(self):
        """The kernel's view of the weights, with what the label scheme forbids."""
        tensors, K = self._tensors, len(self._labels)
        start, stop = (np.asarray(tensors[name], np.float32) for name in ("start", "stop"))
        n = K if label_order(self._compiled) else 0  # order 0 has no transitions
        transition = np.zeros(n * n, np.float32)
        cells = tensors["transition.cells"]
        if len(cells) and cells.min() < 0:
            msg = "a transition is out of range"
            raise ValueError(msg)
        transition[cells] = tensors["transition.weights"]
        transition = transition.reshape(n, n)
        if self._constrain:
            legal = allowed(self._labels, self._encoding)
            start, transition, stop = (
                np.where(fine, part, np.float32(FORBIDDEN))
                for fine, part in zip(legal, (start, transition, stop), strict=True)
            )
        rows = (_rows(tensors, name) for name in ("emission", "edge", "trigram"))
        counts, part = tensors["parts.counts"], np.ascontiguousarray(tensors["parts.parts"])
        P = min(int(part.max(initial=-1)) + 1, len(part))  # each is listed: no damage asks for more
        parts = Parts(pointers(counts), part, P) if len(counts) else None
        keys, row_ptr, allowed_labels, _ = _rows(tensors, "known_labels")
        attribute = known_attribute(self._compiled) if len(keys) else -1
        return backend.Frozen(
            label_order(self._compiled),
            *plans(self._compiled),
            FrozenWeights(*rows, *map(np.ascontiguousarray, (start, stop, transition))),
            parts,
            KnownLabels(attribute, keys, row_ptr, allowed_labels),
        )


def plans(compiled: CompiledTemplates) -> tuple:
    """Key plans of the emission templates and of the label bigrams that see words."""
    columns = [compiled.columns.index(use.column) for use in compiled.attributes]
    emission = key_plan(compiled.templates, columns)
    return emission, key_plan(compiled.transitions, columns, first=len(compiled.templates))


def label_order(compiled: CompiledTemplates) -> int:
    """How many labels back the score of a label looks: 0, 1 or 2."""
    return 2 if compiled.trigram else int(compiled.bigram or bool(compiled.transitions))


def known_attribute(compiled: CompiledTemplates) -> int:
    """Number of the attribute by which known words are recognised: ``normal`` of the form.

    Raises
    ------
    LabelError
        If no template looks at it.
    """
    try:
        return compiled.attributes.index(AttributeUse("form", "normal"))
    except ValueError:
        msg = (
            "expected a template with the attribute normal, by which the setting known-labels "
            "recognises words, found none; add normal[0] or leave the setting out"
        )
        raise LabelError(msg) from None


def pack(
    weights: FrozenWeights,
    labels: Sequence[str],
    known: Iterable[str],
    parts: Parts | None = None,
    known_labels: KnownLabels = ANY_LABEL,
) -> dict[str, np.ndarray]:
    """The tensors of a model file."""
    blob, offsets = container.pack_strings(list(labels))
    tensors = {"labels.blob": blob, "labels.offsets": offsets}
    tensors["known"] = np.unique(backend.hash_strings(sorted(known)))
    for name in ("emission", "edge", "trigram"):
        keys, row_ptr, cell_labels, cell_weights = getattr(weights, name)
        tensors[f"{name}.keys"] = keys
        tensors[f"{name}.cells"] = np.diff(row_ptr).astype(np.uint16)
        tensors[f"{name}.labels"] = cell_labels
        tensors[f"{name}.weights"] = cell_weights
    transition = weights.transition.ravel()
    cells = np.flatnonzero(transition)
    tensors["transition.cells"] = cells.astype(np.int64)
    tensors["transition.weights"] = transition[cells].astype(np.int32)
    tensors["start"], tensors["stop"] = (
        part.astype(np.int32) for part in (weights.start, weights.stop)
    )
    tensors["parts.counts"] = np.diff(parts.ptr if parts else []).astype(np.uint16)
    tensors["parts.parts"] = (parts.part if parts else np.zeros(0)).astype(np.int32)
    tensors["known_labels.keys"] = known_labels.keys
    tensors["known_labels.cells"] = np.diff(known_labels.row_ptr).astype(np.uint16)
    tensors["known_labels.labels"] = known_labels.labels
    return tensors


def _rows(tensors: Mapping[str, np.ndarray], name: str) -> Rows:
    row_ptr = pointers(tensors[f"{name}.cells"])
    keys, labels = (np.ascontiguousarray(tensors[f"{name}.{part}"]) for part in ("keys", "labels"))
    weights = tensors.get(f"{name}.weights", np.zeros(len(labels), np.int8))
    return Rows(keys, row_ptr, labels, np.ascontiguousarray(weights))


def _token_list(sentence: Any) -> list[dict[str, Any]] | None:
    """The words of a conllu.TokenList, or None if the sentence is something else."""
    if type(sentence).__name__ != "TokenList":
        return None
    return [token for token in sentence if isinstance(token["id"], int)]


def _blocks(sentences: Iterable[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
    """The sentences in blocks of about `_BLOCK_TOKENS` tokens."""
    stream = iter(sentences)
    while block := list(islice(stream, 64)):
        tokens = sum(map(len, block))
        while tokens < _BLOCK_TOKENS and (more := list(islice(stream, 64))):
            block += more
            tokens += sum(map(len, more))
        yield block


def _from_bytes(data: bytes) -> Tagger:
    return Tagger(*container.from_bytes(data))


def load(path_or_name: str | PathLike[str]) -> Tagger:
    """A tagger from a model file, or one of the embedded models by name.

    Parameters
    ----------
    path_or_name
        Path of a ``.seqtag`` file, or ``en-ewt-upos``, ``en-ewt-xpos``.

    Raises
    ------
    ModelFileError
        If the file is not a model, damaged, or made by a newer seqtag.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> load("en-ewt-xpos").label
    'xpos'
    """
    return Tagger(*container.load(find_model(path_or_name)), source=str(path_or_name))
