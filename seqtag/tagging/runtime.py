"""What a tagger works with: numberings of types, the kernel's memory, batches, threads."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cached_property
from itertools import accumulate, chain, islice, pairwise, repeat
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from seqtag.caching import BoundedCache
from seqtag.engine import backend
from seqtag.errors import SeqtagError
from seqtag.features.encoder import Encoder
from seqtag.model.bundle import inputs_of, said_by
from seqtag.parallel import in_order
from seqtag.tagging.encode import Tokens, columns_of, fill, rows_of_columns, tokens_of
from seqtag.tagging.explain import Encoded, Explanation, rows_of
from seqtag.tagging.workspace import (
    AnySentence,
    Batch,
    Given,
    Judged,
    Worker,
    allowed_of,
    batches,
    check_threads,
    cuts,
    not_words,
    workspace,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from seqtag.engine.arrays import Allowed, Margins, Paths
    from seqtag.model.model import Model
    from seqtag.tagging.arrays import Arrays

_BATCH_TOKENS = 20_000  # tokens decoded in one call of the kernel
_SPAN_TOKENS = 10 * _BATCH_TOKENS  # tokens of an array that are numbered at a time
_MOST_PATHS = 2**31  # sequences of a sentence: so many never fit

_Found = TypeVar("_Found")
_Result = TypeVar("_Result")


class ModelRuntime:
    """A model at work: sentences in, labels, margins and the n best sequences out.

    Any number of threads may share it. `first` are those of the models of its first pass.
    """

    def __init__(self, model: Model, first: Sequence[ModelRuntime] = ()):
        self.model = model
        self._first = first
        self._decoder = model.decoder()
        self._idle: list[Worker] = []  # workers not in use; list operations are atomic
        self._may_be = BoundedCache(self._ids_written)  # by form and label as written

    @cached_property
    def outputs(self) -> list[str]:
        """What each label id is written as; a begin or single label is B in IOB2, and so on.

        Of lemmas it is the script, see `seqtag.labels.lemmas`.
        """
        return [self.model.coding.decode_alone(label) for label in self.model.labels]

    @cached_property
    def _groups(self) -> NDArray[np.int32]:
        """A number for each label id: the same for those that are written alike."""
        names = self.outputs if self.model.coding.is_local else self.model.labels
        number = {name: i for i, name in enumerate(dict.fromkeys(names))}
        return np.array([number[name] for name in names], np.int32)

    # ----------------------------------------------------------------- one sentence, many
    def _of_one(
        self,
        sentence: AnySentence,
        given: Given | None,
        decode: Callable[[Batch], tuple[Batch, _Found]],
        written: Callable[[Batch, _Found], list[_Result]],
    ) -> _Result:
        """What becomes of one sentence."""
        with self._worker() as worker:
            return written(*decode(self._encode([sentence], [given], worker)))[0]

    def _of_many(
        self,
        sentences: Iterable[AnySentence],
        threads: int,
        given: Iterable[Given | None] | None,
        decode: Callable[[Batch], tuple[Batch, _Found]],
        written: Callable[[Batch, _Found], list[_Result]],
    ) -> list[_Result]:
        """What becomes of many sentences: they are numbered here, while other threads decode."""
        check_threads(threads)
        worker = self._borrow()
        labels = repeat(None) if given is None else iter(given)

        def numbered() -> Iterator[Batch]:
            nonlocal worker
            for batch in batches(sentences, _BATCH_TOKENS):
                if worker.encoder.is_full:
                    worker = self.new_worker()
                yield self._encode(batch, list(islice(labels, len(batch))), worker)

        results: list[_Result] = []
        for batch, found in in_order(decode, numbered(), threads):
            results += written(batch, found)
        self._idle.append(worker)
        return results

    def _of_arrays(self, arrays: Arrays, threads: int) -> Any:
        """Labels of sentences in arrays: no string of Python for each word, nor for each label."""
        check_threads(threads)
        worker = self._borrow()

        def numbered() -> Iterator[Batch]:
            nonlocal worker
            for begin, end in pairwise(cuts(arrays.bounds, _SPAN_TOKENS)):
                if worker.encoder.is_full:
                    worker = self.new_worker()
                yield from self._encode_arrays(arrays, begin, end, worker)

        names = list(dict.fromkeys(self.outputs)) if self.model.coding.is_local else []
        number = {name: i for i, name in enumerate(names)}
        found = [np.empty(0, np.int32)]
        for batch, ids in in_order(self._decode, numbered(), threads):
            if self.model.coding.is_local:
                found.append(self._groups[ids])
                continue
            labels = chain.from_iterable(self._spelt(batch, ids))
            numbers = (number.setdefault(label, len(number)) for label in labels)
            found.append(np.fromiter(numbers, np.int32, len(ids)))
        self._idle.append(worker)
        return arrays.shaped(np.concatenate(found), list(number))

    # ----------------------------------------------------------------- in
    def _encode_arrays(
        self, arrays: Arrays, begin: int, end: int, worker: Worker
    ) -> Iterator[Batch]:
        """The sentences begin to end as type ids of the worker's, in batches."""
        if self._first:
            yield from self._encode_both(arrays, begin, end, worker)
            return
        names = self.model.compiled.columns
        try:
            types = arrays.numbered(worker.encoder, names, begin, end)
        except (TypeError, AttributeError) as error:
            rows = chain.from_iterable(arrays.forms(c, begin, end) for c in range(len(names)))
            raise not_words(chain.from_iterable(rows), error) from error
        forms: list[list[str]] = []
        if self.model.coding.needs_forms:
            forms = arrays.forms(names.index("form"), begin, end)
        bounds = arrays.bounds[begin : end + 1] - arrays.bounds[begin]
        for a, b in pairwise(cuts(bounds, _BATCH_TOKENS)):
            part = np.ascontiguousarray(types[:, bounds[a] : bounds[b]])
            of_part = (bounds[a : b + 1] - bounds[a]).tolist()
            yield Batch([], of_part, part, worker, list(forms[a:b]), [], None)

    def _encode_both(self, arrays: Arrays, begin: int, end: int, worker: Worker) -> Iterator[Batch]:
        """The same for two passes, whose models number the words each in their own way."""
        names = inputs_of(self.model)
        for a, b in pairwise(cuts(arrays.bounds[begin : end + 1], _BATCH_TOKENS)):
            first, last = begin + a, begin + b
            bounds = (arrays.bounds[first : last + 1] - arrays.bounds[first]).tolist()
            rows: dict[str, list[Sequence[str]]] = {
                name: list(arrays.forms(c, first, last)) for c, name in enumerate(names)
            }
            try:
                batch = self._encode_all(rows, bounds, [None] * (last - first), [], worker)
            except (TypeError, AttributeError) as error:
                words = chain.from_iterable(chain.from_iterable(rows.values()))
                raise not_words(words, error) from error
            yield batch

    def _encode(
        self, sentences: Sequence[Any], given: Sequence[Given | None], worker: Worker
    ) -> Batch:
        """Some sentences as type ids of the worker's."""
        plain = {*map(type, sentences)} <= {list}
        token_lists = [] if plain else [tokens_of(sentence) for sentence in sentences]
        names = inputs_of(self.model)
        columns = rows_of_columns(sentences, names)
        bounds = list(accumulate(map(len, columns[0]), initial=0))
        try:
            if self._first:
                rows = dict(zip(names, columns, strict=False))
                return self._encode_all(rows, bounds, given, token_lists, worker)
            types = worker.encoder.encode(columns[: len(names)], bounds[-1])
        except (TypeError, AttributeError, SeqtagError) as error:
            words = chain.from_iterable(values for rows in columns for values in rows)
            raise not_words(words, error) from error
        forms: list[Sequence[str]] = []
        if self.model.coding.needs_forms:
            forms = columns[names.index("form")]
        allowed = self._allowed(given, bounds, forms)
        return Batch(token_lists, bounds, types, worker, forms, list(given), allowed)

    def _encode_all(
        self,
        rows: Mapping[str, list[Sequence[str]]],
        bounds: list[int],
        given: Sequence[Given | None],
        token_lists: list[Tokens | None],
        worker: Worker,
    ) -> Batch:
        """Some sentences, given as columns by name, as type ids for all passes."""
        names = self.model.compiled.columns
        forms = rows["form"] if self.model.coding.needs_forms else []
        allowed = self._allowed(given, bounds, forms)
        types = np.empty((len(names), bounds[-1]), np.int32)
        for row, name in zip(types, names, strict=True):
            if name in rows:
                row[:] = worker.encoder.number(name, rows[name], bounds[-1])
        first = []
        for each, its in zip(self._first, worker.first, strict=True):
            labels = given if each.model.column == self.model.column else [None] * len(given)
            first.append(each._encode_all(rows, bounds, labels, [], its))
        return Batch(token_lists, bounds, types, worker, forms, list(given), allowed, first)

    def _after_first(self, batch: Batch) -> Batch:
        """The batch with what the first pass says of it, if there is one."""
        for each, part, said in zip(self._first, batch.first, batch.worker.said, strict=False):
            _, ids = each._decode(part)
            for row, types in said.items():
                batch.types[row] = types[ids]
        return batch._replace(first=()) if batch.first else batch

    def _seen(self, columns: Sequence[Sequence[str]], batch: Batch) -> Sequence[Sequence[str]]:
        """The columns of one sentence as templates see them: those given, and the first pass's."""
        if not self._first:
            return columns
        names = self.model.compiled.columns
        rows = dict(zip(inputs_of(self.model), columns, strict=True))
        for each, said in zip(self._first, batch.worker.said, strict=True):
            for name, values in said_by(each.model).items():
                if name in names:
                    row = names.index(name)
                    shown = dict(zip(said[row].tolist(), values, strict=True))
                    rows[name] = list(map(shown.__getitem__, batch.types[row].tolist()))
        return [rows[name] for name in names]

    def seen(self, sentences: Iterable[AnySentence]) -> Iterator[AnySentence]:
        """Sentences as templates see them: with what a first pass says, if there is one."""
        for sentence in sentences:
            if not self._first:
                yield sentence
                continue
            with self._worker() as worker:
                batch = self._after_first(self._encode([sentence], [None], worker))
                found = self._seen(columns_of(sentence, inputs_of(self.model)), batch)
            names = self.model.compiled.columns
            yield {name: list(values) for name, values in zip(names, found, strict=True)}

    def _allowed(
        self, given: Sequence[Given | None], bounds: Sequence[int], forms: Sequence[Sequence[str]]
    ) -> Allowed | None:
        """The label ids that given labels leave to each token; None if none is given."""
        if not any(given):
            return None
        lists: list[list[int]] = []
        for number, (labels, (begin, end)) in enumerate(zip(given, pairwise(bounds), strict=True)):
            if labels is None:
                lists += [[] for _ in range(begin, end)]
                continue
            if isinstance(labels, str) or len(labels) != end - begin:
                found = repr(labels) if isinstance(labels, str) else str(len(labels))
                msg = f"expected {end - begin} given labels, one or None per word, found {found}"
                raise SeqtagError(msg)
            words = forms[number] if forms else repeat("")
            for label, form in zip(labels, words, strict=False):
                lists.append([] if label is None else self._learnt_as(label, form))
        return allowed_of(lists)

    def _learnt_as(self, label: str, form: str) -> list[int]:
        """Ids of the labels that may be written so; none if the model does not know it."""
        return self._may_be[form, label]

    def _ids_written(self, key: tuple[str, str]) -> list[int]:
        form, label = key
        return self.model.coding.encoded_ids(label, self.model.labels, form)

    # ----------------------------------------------------------------- the engine
    def _decode(self, batch: Batch) -> tuple[Batch, NDArray[np.int32]]:
        """The batch and its label ids."""
        batch = self._after_first(batch)
        ids = self.decode_types(batch.types, batch.sentence_ptr, batch.worker, batch.allowed)
        return batch, ids

    def _judge(self, batch: Batch) -> tuple[Batch, Margins]:
        """The batch, its label ids and their margins."""
        batch = self._after_first(batch)
        hashes, ptr = batch.worker.encoder.hashes, batch.sentence_ptr
        with workspace(self._decoder, batch.worker) as space:
            return batch, self._decoder.margins(
                batch.types, hashes, ptr, self._groups, space, batch.allowed
            )

    def _search(self, batch: Batch, n: int) -> tuple[Batch, Paths]:
        """The batch and the n best sequences of label ids of its sentences."""
        batch = self._after_first(batch)
        hashes, ptr = batch.worker.encoder.hashes, batch.sentence_ptr
        with workspace(self._decoder, batch.worker) as space:
            most = min(n, _MOST_PATHS)
            return batch, self._decoder.n_best(batch.types, hashes, ptr, most, space, batch.allowed)

    # ----------------------------------------------------------------- out
    def _spelt(self, batch: Batch, ids: NDArray[np.int32]) -> list[list[str]]:
        """Label ids as labels, sentence by sentence; what is given stays."""
        coding = self.model.coding
        names = self.outputs if coding.is_local else list(self.model.labels)
        found = backend.label_lists(names, ids, batch.sentence_ptr)
        if coding.needs_forms:
            found = list(map(coding.decode, found, batch.forms))
        elif not coding.is_local:
            found = list(map(coding.decode, found))
        if batch.allowed is None and not any(batch.given):
            return found
        return [
            each
            if given is None
            else [a if b is None else b for a, b in zip(each, given, strict=True)]
            for each, given in zip(found, batch.given, strict=True)
        ]

    def _written(self, batch: Batch, ids: NDArray[np.int32]) -> list[list[str]]:
        """Labels, sentence by sentence, also written into sentences that are `conllu.TokenList`."""
        found = self._spelt(batch, ids)
        for tokens, each in zip(batch.token_lists, found, strict=False):
            if tokens is not None:
                fill(tokens, self.model.column.split(each))
        return found

    def _judged(self, batch: Batch, found: Margins) -> list[Judged]:
        """Labels and margins, sentence by sentence; those of given labels are infinite."""
        margins = found.margin.tolist()
        judged = []
        for labels, given, (begin, end) in zip(
            self._written(batch, found.labels), batch.given, pairwise(batch.bounds), strict=True
        ):
            here = margins[begin:end]
            if given is not None:
                here = [m if g is None else np.inf for m, g in zip(here, given, strict=True)]
            judged.append(Judged(labels, here))
        return judged

    def _searched(self, batch: Batch, found: Paths) -> list[list[tuple[float, list[str]]]]:
        """Scores and labels of the best sequences, sentence by sentence."""
        results, at = [], 0
        scores = found.score.tolist()
        for s, (begin, end) in enumerate(pairwise(found.ptr.tolist())):
            words = batch.bounds[s + 1] - batch.bounds[s]
            one = batch._replace(
                bounds=[0, words],
                forms=batch.forms[s : s + 1],
                given=batch.given[s : s + 1],
            )
            paths = []
            for path in range(begin, end):
                [labels] = self._spelt(one, found.labels[at : at + words])
                paths.append((scores[path], labels))
                at += words
            results.append(paths)
        return results

    def _explained(self, sentence: AnySentence, token: int, rival: str | None) -> Explanation:
        """What set a label of a sentence apart from the rival: see `Tagger.explain`."""
        with self._worker() as worker:
            batch = self._encode([sentence], [None], worker)
            words = batch.bounds[-1]
            if not -words <= token < words:
                msg = f"expected a word from 0 to {words - 1}, found {token}"
                raise SeqtagError(msg)
            token %= words
            batch, found = self._judge(batch)
            best = found.labels.tolist()
            label = self._spelt(batch, found.labels)[0][token]
            wanted = [int(found.rival[token])] if found.rival[token] >= 0 else []
            if rival is not None:
                wanted = self._learnt_as(rival, batch.forms[0][token] if batch.forms else "")
                if not wanted or rival == label:
                    msg = f"expected a label of the model other than {label}, found {rival!r}"
                    raise SeqtagError(msg)
            other, other_label = None, None
            if wanted:
                lists = [wanted if t == token else [] for t in range(words)]
                _, ids = self._decode(batch._replace(allowed=allowed_of(lists)))
                other, other_label = ids.tolist(), self._spelt(batch, ids)[0][token]
                if label == other_label:  # written alike, they are told apart as they are learnt
                    label, other_label = (self.model.labels[y[token]] for y in (best, other))
            columns = columns_of(sentence, inputs_of(self.model))
            seen = self._seen(columns, batch)
            encoded = Encoded(seen, batch.types, worker.encoder.hashes)
            rows = rows_of(self.model, encoded, token, best, other)
        margin = sum(row.label_weight - row.rival_weight for row in rows)
        if other is None:
            margin = float("inf")
        return Explanation(token, columns[0][token], label, other_label, margin, tuple(rows))

    # ----------------------------------------------------------------- workers
    def _borrow(self) -> Worker:
        """A worker for one caller, until it is put back."""
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = None
        if worker is None or worker.encoder.is_full:
            return self.new_worker()
        return worker

    @contextmanager
    def _worker(self) -> Iterator[Worker]:
        """A worker for one caller; put back if all goes well."""
        worker = self._borrow()
        yield worker
        self._idle.append(worker)

    def new_worker(self) -> Worker:
        """An encoder that knows no types yet, and the kernel's memory for it; of each pass."""
        encoder = Encoder(self.model.compiled, backend.hash_strings)
        names = self.model.compiled.columns
        said = [
            {
                names.index(name): encoder.number(name, [values], len(values))
                for name, values in said_by(each.model).items()
                if name in names
            }
            for each in self._first
        ]
        return Worker(encoder, [], [each.new_worker() for each in self._first], said)

    def decode_types(
        self,
        types: NDArray[np.int32],
        sentence_ptr: NDArray[np.int64],
        worker: Worker,
        allowed: Allowed | None = None,
    ) -> NDArray[np.int32]:
        """Label ids (tokens,) int32 of the type ids (columns, tokens) of the worker's encoder.

        There is a row for each column that templates look at, what a first pass says among them.
        """
        with workspace(self._decoder, worker) as space:
            return self._decoder.decode(types, worker.encoder.hashes, sentence_ptr, space, allowed)
