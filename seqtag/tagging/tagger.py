"""Taggers: immutable, safe to share between threads, loaded from one file."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from itertools import accumulate, chain, islice, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np

from seqtag.engine import backend
from seqtag.errors import SeqtagError
from seqtag.features.encoder import Encoder
from seqtag.model import bundle, container
from seqtag.model.model import fitting
from seqtag.parallel import in_order
from seqtag.tagging.document import Document
from seqtag.tagging.inputs import Tokens, columns_of, fill, tokens_of
from seqtag.tagging.texts import cut_by_rules, with_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from conllu import TokenList
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from seqtag.corpus.memory import Labels, Values
    from seqtag.labels.column import HasColumns
    from seqtag.model.known_words import KnownWords
    from seqtag.model.model import Model
    from seqtag.training.data import Source
    from seqtag.training.train import Options

_BATCH_TOKENS = 20_000  # tokens decoded in one call of the kernel
_MAX_TYPES = 100_000  # word types remembered by one worker before it starts afresh

AnySentence: TypeAlias = (
    "Sequence[str] | Sequence[tuple[str, ...]] | Mapping[str, Sequence[str]] | HasColumns"
    " | TokenList"
)
"""What `Tagger.tag` takes for a sentence."""


class Worker(NamedTuple):
    """A numbering of the types, and what the kernel remembers of them for each thread that decodes.

    One thread at a time may number types; several may decode what is numbered already.
    """

    encoder: Encoder
    workspaces: list[Any]  # those not in use; list operations are atomic


class _Batch(NamedTuple):
    """Some sentences as type ids."""

    token_lists: list[Tokens | None]  # of sentences that are conllu.TokenLists
    bounds: list[int]  # where sentences begin, and where the last ends
    types: NDArray[np.int32]  # (columns, tokens) int32
    worker: Worker  # whose ids they are
    forms: list[Sequence[str]]  # of each sentence, if the label coding looks at them


class Tagger:
    """A trained model that labels sentences. Make one with `seqtag.train` or `seqtag.load`.

    Never changes, so any number of threads may share it; pickles by value.

    Parameters
    ----------
    model
        What it tags by.
    source
        Name of its file, for messages.
    hidden
        Whether its labels only feed other taggers, and are not written into files.

    Raises
    ------
    ModelFileError
        If the parts of the model do not fit together.

    Examples
    --------
    >>> import seqtag
    >>> tagger = seqtag.load("en-ewt-upos")
    >>> tagger.tag(["Birds", "sing", "."])
    ['NOUN', 'VERB', 'PUNCT']
    >>> tagger.label, tagger.columns
    ('upos', ('form',))
    """

    def __init__(self, model: Model, source: str = "<model>", *, hidden: bool = False):
        self.model, self.hidden = model, hidden
        with fitting(source):
            self._frozen = model.frozen()
        self._idle: list[Worker] = []  # workers not in use; list operations are atomic

    # ----------------------------------------------------------------- what it is
    @property
    def label(self) -> str:
        """What it labels: the name of a column, or ``upos+feats``."""
        return self.model.column.name

    @property
    def label_scheme(self) -> str | None:
        """The scheme its labels are written in, if they are chunk labels."""
        return self.model.coding.written

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns the templates look at, in the order `tag` wants them."""
        return self.model.compiled.columns

    @property
    def label_columns(self) -> tuple[str, ...]:
        """Names of the columns it fills: the label column; two for ``upos+feats``."""
        return self.model.column.columns

    @property
    def known_words(self) -> KnownWords:
        """The words of its training data: ``word in tagger.known_words``."""
        return self.model.known_words

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels it can give, as written in the label column, sorted; scripts for lemmas."""
        return tuple(sorted(set(self.outputs)))

    @cached_property
    def outputs(self) -> list[str]:
        """What each label id is written as; a begin or single label is B in IOB2, and so on.

        Of lemmas it is the script, see `seqtag.labels.lemmas`.
        """
        return [self.model.coding.written_alone(label) for label in self.model.labels]

    @property
    def info(self) -> dict[str, Any]:
        """All that the model file says of the model: templates, training data, scores, writer."""
        return self.model.config() | {"writer": self.model.writer}

    @property
    def sizes(self) -> dict[str, int]:
        """Number of features and of their weights, leaving out those that are zero."""
        rows = self.model.weights.emission, self.model.weights.edge
        return {
            "features": sum(len(each.keys) for each in rows),
            "weights": sum(len(each.weights) for each in rows),
        }

    def __repr__(self) -> str:
        labels = len(self.model.labels)
        return f"<seqtag.Tagger of {self.label}: {labels} labels from {self.columns}>"

    # ----------------------------------------------------------------- tagging
    def tag(self, sentence: AnySentence) -> list[str]:
        """Labels of one sentence.

        Parameters
        ----------
        sentence
            A list of words, for a model that looks at the form alone; a list of tuples, one value
            for each of `columns`, or a dictionary with a list of values for each of them, for
            others; a `seqtag.corpus.Sentence`; or a `conllu.TokenList`, whose label fields are
            filled in place (multiword ranges and empty nodes are skipped).

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

    def tag_many(self, sentences: Iterable[AnySentence], threads: int = 1) -> list[list[str]]:
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

        def numbered() -> Iterator[_Batch]:  # here, while other threads decode
            nonlocal worker
            for batch in _batches(sentences):
                if len(worker.encoder) > _MAX_TYPES:
                    worker = self.new_worker()
                yield self._encode(batch, worker)

        labels: list[list[str]] = []
        for batch, ids in in_order(self._decode, numbered(), threads):
            labels += self._written(batch, ids)
        self._idle.append(worker)
        return labels

    def split_label(self, labels: Sequence[str]) -> dict[str, list[str]]:
        """The values of each of `label_columns` for the labels of a sentence.

        >>> import seqtag
        >>> seqtag.load("en-ewt-upos").split_label(["NOUN", "VERB"])
        {'upos': ['NOUN', 'VERB']}
        """
        return self.model.column.split(labels)

    def _encode(self, sentences: Sequence[Any], worker: Worker) -> _Batch:
        """Some sentences as type ids of the worker's."""
        token_lists = [tokens_of(sentence) for sentence in sentences]
        rows = [columns_of(sentence, self.columns) for sentence in sentences]
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
        needs_forms = self.model.coding.needs_forms
        forms = [row[self.columns.index("form")] for row in rows] if needs_forms else []
        return _Batch(token_lists, bounds, types, worker, forms)

    def _decode(self, batch: _Batch) -> tuple[_Batch, NDArray[np.int32]]:
        """The batch and its label ids."""
        sentence_ptr = np.array(batch.bounds, np.int64)
        return batch, self.decode_types(batch.types, sentence_ptr, batch.worker)

    def _written(self, batch: _Batch, ids: NDArray[np.int32]) -> list[list[str]]:
        """Label ids as labels, sentence by sentence."""
        coding = self.model.coding
        names = self.outputs if coding.is_local else self.model.labels
        labels = list(map(names.__getitem__, ids.tolist()))
        found = [labels[a:b] for a, b in pairwise(batch.bounds)]
        if coding.needs_forms:
            found = list(map(coding.as_written, found, batch.forms))
        elif not coding.is_local:
            found = list(map(coding.as_written, found))
        for tokens, each in zip(batch.token_lists, found, strict=True):
            if tokens is not None:
                fill(tokens, self.split_label(each))
        return found

    @property
    def writes_ids(self) -> bool:
        """Whether `outputs` says how to write each label, whatever its neighbours are."""
        return self.model.coding.is_local

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
        return Worker(Encoder(self.model.compiled, backend.hash_strings), [])

    def decode_types(
        self, types: NDArray[np.int32], sentence_ptr: NDArray[np.int64], worker: Worker
    ) -> NDArray[np.int32]:
        """Label ids (tokens,) int32 of the type ids (columns, tokens) of the worker's encoder."""
        try:
            workspace = worker.workspaces.pop()
        except IndexError:
            workspace = self._frozen.workspace()
        ids = self._frozen.decode(types, worker.encoder.hashes, sentence_ptr, workspace)
        worker.workspaces.append(workspace)
        return ids

    def tag_text(self, text: str) -> Document:
        """A text as a document, cut into sentences and words by rules.

        A pipeline that has learnt to cut does so itself: `seqtag.Pipeline.tag_text`.

        Parameters
        ----------
        text
            Raw text. Without any token the document is empty.

        Raises
        ------
        SeqtagError
            If the model looks at more than words, or the text is none that UTF-8 can hold.
        TypeError
            If it is no text at all.

        Examples
        --------
        >>> import seqtag
        >>> document = seqtag.load("en-ewt-upos").tag_text("Time flies. Why?")
        >>> [(word.text, word.upos, word.start) for word in document.sentences[1]]
        [('Why', 'ADV', 12), ('?', 'PUNCT', 15)]
        """
        if not {*self.columns} <= {"form"}:
            msg = (
                f"expected a model that looks at words for a text, found one that looks at "
                f"{', '.join(self.columns)}; put it behind models that give these, in a pipeline"
            )
            raise SeqtagError(msg)
        sentences = cut_by_rules(text)
        labels = [self.split_label(found) for found in self.tag_many(sentences)]
        return Document(text, with_columns(sentences, labels))

    # ----------------------------------------------------------------- going on
    @overload
    def partial_fit(
        self, data: Source, labels: None = None, **options: Unpack[Options]
    ) -> Tagger: ...
    @overload
    def partial_fit(
        self, data: Iterable[Values], labels: Iterable[Labels], **options: Unpack[Options]
    ) -> Tagger: ...
    def partial_fit(
        self,
        data: Any,
        labels: Iterable[Labels] | None = None,
        *,
        epochs: int | None = 1,
        min_count: int | None = 1,
        **options: Any,
    ) -> Tagger:
        """A tagger that has learnt from more sentences; this one never changes.

        The averaged weights of the model are all that is carried over, whether it was trained a
        moment ago or loaded from a file: the same call gives the same tagger. The new average is
        over the new sentences alone, each time with the old weights in it. So one sentence counts
        as much as a perceptron lets it, however many came before; and a call with a hundred
        sentences is steadier than a hundred calls with one.

        Parameters
        ----------
        data, labels
            As `seqtag.train` takes them: sentences and their labels as lists, or a file or
            sentences that have labels. There may be labels that the model does not know.
        epochs
            Passes over them; None for as many as the model had.
        min_count
            Leave out new features seen less often in them; those of the model stay. None for the
            model's.
        **options
            As for `seqtag.train`.

        Raises
        ------
        CorpusError, TemplateError, LabelError, TypeError, ValueError
            As `seqtag.train` does.

        Examples
        --------
        >>> import seqtag
        >>> tagger = seqtag.load("en-ewt-upos")
        >>> tagger.tag(["Zorb", "!"])
        ['PROPN', 'PUNCT']
        >>> tagger.partial_fit([["Zorb", "!"]], [["INTJ", "PUNCT"]], epochs=3).tag(["Zorb", "!"])
        ['INTJ', 'PUNCT']
        """
        train = import_module("seqtag.training.train").train  # it stands on a floor above
        learnt: Tagger = train(
            data, labels, init=self, epochs=epochs, min_count=min_count, **options
        )
        return learnt

    # ----------------------------------------------------------------- files
    def save(self, path: str | PathLike[str]) -> int:
        """Write the model to one file, whole or not at all; return its size in bytes."""
        return bundle.save(path, [self.model])

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytes, (bundle.to_bytes([self.model]),)


def _batches(sentences: Iterable[AnySentence]) -> Iterator[list[AnySentence]]:
    """The sentences in batches of about `_BATCH_TOKENS` tokens."""
    stream = iter(sentences)
    while batch := list(islice(stream, 64)):
        tokens = sum(map(len, batch))
        while tokens < _BATCH_TOKENS and (more := list(islice(stream, 64))):
            batch += more
            tokens += sum(map(len, more))
        yield batch


def _from_bytes(data: bytes) -> Tagger:
    [model] = bundle.models_of(container.from_bytes(data))
    return Tagger(model)
