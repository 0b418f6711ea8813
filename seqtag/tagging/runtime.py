"""Running a model: sentences are encoded, decoded by the engine, and written as labels."""

from __future__ import annotations

import logging
from functools import cached_property, partial
from itertools import accumulate, chain, islice, pairwise, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from seqtag.caching import BoundedCache
from seqtag.corpus.sentence import KEYED_COLUMNS, find_column
from seqtag.engine import backend
from seqtag.engine.arrays import pointers
from seqtag.errors import SeqtagError
from seqtag.features.encoder import Column
from seqtag.labels.column import FEATS, sorted_feats
from seqtag.parallel import Pool, in_order
from seqtag.tagging.encode import (
    NO_LABEL,
    AnySentence,
    Batch,
    FixedLabels,
    allowed_of,
    batches,
    check_threads,
    columns_of,
    fill,
    not_words,
    rows_of_columns,
    tokens_of,
)
from seqtag.tagging.unknown_lemmas import TokenIds, UnknownLemmas
from seqtag.tagging.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from seqtag.engine.arrays import Allowed, Margins, Paths
    from seqtag.features.encoder import Encoder
    from seqtag.model.model import Model
    from seqtag.tagging.explain import Explanation

_BATCH_TOKENS = 20_000  # tokens decoded in one call of the kernel
_MANY = 50  # words; so many should have some feature
_MAX_PATHS = 2**31  # more sequences of a sentence than fit into memory

_log = logging.getLogger("seqtag")

_Found = TypeVar("_Found")
_Result = TypeVar("_Result")


class ScoredLabels(NamedTuple):
    """Labels of a sentence with scores.

    Attributes
    ----------
    labels
        The best labels, one per word.
    margins
        For each word, the score of the best label sequence less that of the best one with another
        label at this word (a max-marginal): 0 for a tie, infinite where there is no other label or
        the label is fixed. Labels that are written alike count as one. Margins are on the score
        scale of the model: whole numbers, of which no feature weight is above 127. They compare
        words tagged by one model; probabilities compare with those of other models.
    probabilities
        Calibrated scores: the share of labels with such margins that was right on the data that
        the calibration has seen. 1 for fixed labels. Those of the labels of a word do not add
        up to 1. None if the model has no calibration.
    """

    labels: list[str]
    margins: list[float]
    probabilities: list[float] | None


class ModelRuntime:
    """Runs a model on sentences. Any number of threads may share it.

    Parameters
    ----------
    model
        The model.
    """

    def __init__(self, model: Model):
        self.model = model
        self._empty: set[str] = set()  # columns that were empty, which was said
        self._decoder = model.decoder()
        self._workspaces: Pool[Workspace] = Pool(lambda workspace: workspace.is_full)
        self._unknown = None
        if model.attested is not None:
            self._unknown = UnknownLemmas(model, model.attested, self._decoder)

    @cached_property
    def outputs(self) -> list[str]:
        """The written label of each label id: B for a begin or single label in IOB2, etc.

        For lemmas it is the edit script, see `seqtag.labels.lemmas`.
        """
        return [self.model.coding.decode_alone(label) for label in self.model.labels]

    @cached_property
    def _groups(self) -> NDArray[np.int32]:
        """A number for each label id: equal for labels that are written alike."""
        names = self.outputs if self.model.coding.is_local else self.model.labels
        number = {name: i for i, name in enumerate(dict.fromkeys(names))}
        return np.array([number[name] for name in names], np.int32)

    @cached_property
    def _ids_of(self) -> BoundedCache[tuple[str, str], list[int]]:
        """Return label ids by form and label as written; made late, as it refers back to this."""
        return BoundedCache(self._ids_written)

    def new_workspace(self, encoder: Encoder | None = None) -> Workspace:
        """Return working memory for `decode_types`, with the types of `encoder` if there is one."""
        return Workspace(self.model, encoder)

    def decode_types(
        self,
        types: NDArray[np.int32],
        sentence_ptr: NDArray[np.int64],
        workspace: Workspace,
        allowed: Allowed | None = None,
        forms: Column | None = None,
    ) -> NDArray[np.int32]:
        """Decode sentences given as type ids.

        Parameters
        ----------
        types
            (columns, tokens) int32: ids of the encoder of the workspace, a row for each column
            that templates use.
        sentence_ptr
            (sentences + 1,) int64: where sentences begin, and where the last ends.
        workspace
            From `new_workspace`.
        allowed
            The label ids that each token may have; None for all.
        forms
            The form of each token; the lemmas of unknown words depend on it.

        Returns
        -------
        numpy.ndarray
            (tokens,) int32: label ids.
        """
        with workspace.borrow_buffers(self._decoder.workspace) as buffers:
            tokens = TokenIds(types, workspace.encoder.hashes, sentence_ptr)
            ids = self._decoder.decode(*tokens, buffers, allowed)
            if forms is not None and self._unknown is not None:
                found = self._unknown.attested(
                    tokens, ids, forms, workspace.lemmas, buffers, allowed
                )
                places, first = np.unique(found.tokens, return_index=True)
                ids[places] = found.labels[first]
            return ids

    def decode_columns(
        self, columns: Mapping[str, Column], lengths: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Decode sentences given as columns by name.

        Parameters
        ----------
        columns
            Those that templates use, and others.
        lengths
            (sentences,) int64: numbers of tokens.

        Returns
        -------
        numpy.ndarray
            (tokens,) int32: label ids.
        """
        names, workspace = self.model.compiled.columns, self.new_workspace()
        for name in names:
            workspace.encoder.extend(name, 0, columns[name].types)
        types = np.array([columns[name].ids for name in names], np.int32)
        return self.decode_types(types, pointers(lengths), workspace, forms=columns.get("form"))

    def note_empty(self, name: str, place: str, words: int, source: str) -> None:
        """Warn, once, about a column that templates use and that is empty for so many words.

        `place` is its name in the file. Few words may well have no features, or no key of MISC.
        """
        if name in self._empty or "." in name or words < (_MANY if name in KEYED_COLUMNS else 1):
            return
        self._empty.add(name)
        _log.warning(
            '%sthe model of %s looks at the column %s, which is "_" for every word here; fill it '
            "first, for example with a model before it, as in -m en -m chunks.seqtag",
            f"{source}: " * bool(source),
            self.model.column,
            place,
        )

    # ----------------------------------------------------------------- one sentence, many
    def _run_one(
        self,
        sentence: AnySentence,
        fixed: FixedLabels | None,
        decode: Callable[[Batch], tuple[Batch, _Found]],
        write: Callable[[Batch, _Found], list[_Result]],
    ) -> _Result:
        with self._workspaces.borrow(self.new_workspace) as workspace:
            return write(*decode(self._encode([sentence], [fixed], workspace)))[0]

    def _run_many(
        self,
        sentences: Iterable[AnySentence],
        threads: int,
        fixed: Iterable[FixedLabels | None] | None,
        decode: Callable[[Batch], tuple[Batch, _Found]],
        write: Callable[[Batch, _Found], list[_Result]],
    ) -> list[_Result]:
        """Encode sentences in this thread while others decode."""
        check_threads(threads)
        if fixed is not None:
            sentences, fixed = list(sentences), list(fixed)
            if len(fixed) != len(sentences):
                msg = (
                    f"expected fixed labels, or None, for each of {len(sentences)} sentences, "
                    f"found {len(fixed)}"
                )
                raise SeqtagError(msg)
        workspace = self._workspaces.take(self.new_workspace)
        labels = repeat(None) if fixed is None else iter(fixed)

        def encoded() -> Iterator[Batch]:
            nonlocal workspace
            for batch in batches(sentences, _BATCH_TOKENS):
                if workspace.is_full:
                    workspace = self._workspaces.take(self.new_workspace)
                yield self._encode(batch, list(islice(labels, len(batch))), workspace)

        results: list[_Result] = []
        for batch, found in in_order(decode, encoded(), threads):
            results += write(batch, found)
        self._workspaces.put(workspace)
        return results

    # ----------------------------------------------------------------- encoding
    def _encode(
        self, sentences: Sequence[Any], fixed: Sequence[FixedLabels | None], workspace: Workspace
    ) -> Batch:
        plain = {*map(type, sentences)} <= {list}
        token_lists = [] if plain else [tokens_of(sentence) for sentence in sentences]
        names = self.model.compiled.columns
        columns = rows_of_columns(sentences, names)
        bounds = list(accumulate(map(len, columns[0]), initial=0))
        columns = [
            [[*map(sorted_feats, row)] for row in values] if name == FEATS else values
            for name, values in zip(names or ["form"], columns, strict=True)
        ]
        for name, values in zip(names, columns, strict=False):
            if name != "form" and all(row.count(NO_LABEL) == len(row) for row in values):
                first = getattr(sentences[0], "sentence", sentences[0])
                place = find_column(name, getattr(first, "columns", ())) or name
                self.note_empty(name, place, bounds[-1], getattr(first, "source", ""))
        try:
            types = workspace.encoder.encode(columns[: len(names)], bounds[-1])
        except (TypeError, AttributeError, SeqtagError) as error:
            words = chain.from_iterable(values for rows in columns for values in rows)
            raise not_words(words, error) from error
        forms: list[Sequence[str]] = []
        if self.model.coding.needs_forms:
            forms = columns[names.index("form")]
        allowed = self._allowed(fixed, bounds, forms)
        return Batch(token_lists, bounds, types, workspace, forms, list(fixed), allowed)

    def _allowed(
        self,
        fixed: Sequence[FixedLabels | None],
        bounds: Sequence[int],
        forms: Sequence[Sequence[str]],
    ) -> Allowed | None:
        """Return the label ids that fixed labels allow for each token; None if none is fixed."""
        if all(labels is None for labels in fixed):
            return None
        lists: list[list[int]] = []
        for number, (labels, (begin, end)) in enumerate(zip(fixed, pairwise(bounds), strict=True)):
            if labels is None:
                lists += [[] for _ in range(begin, end)]
                continue
            if isinstance(labels, str) or len(labels) != end - begin:
                found = repr(labels) if isinstance(labels, str) else str(len(labels))
                msg = f"expected {end - begin} fixed labels, one or None per word, found {found}"
                raise SeqtagError(msg)
            words = forms[number] if forms else repeat("")
            for label, form in zip(labels, words, strict=False):
                lists.append([] if label is None else self._ids_of[form, label])
        return allowed_of(lists)

    def _ids_written(self, key: tuple[str, str]) -> list[int]:
        """Return the ids of the labels that can be written so; none for an unknown label."""
        form, label = key
        label = self.model.column.normal(label)
        return self.model.coding.encoded_ids(label, self.model.labels, form)

    # ----------------------------------------------------------------- decoding
    def _decode(self, batch: Batch) -> tuple[Batch, NDArray[np.int32]]:
        """Return the batch and its label ids."""
        return batch, self.decode_types(
            batch.types, batch.sentence_ptr, batch.workspace, batch.allowed, _forms_of(batch)
        )

    def _with_attested(self, batch: Batch) -> Batch:
        """Allow unknown words only their attested lemmas, where `decode_types` chooses one."""
        forms = _forms_of(batch)
        if self._unknown is None or forms is None:
            return batch
        with batch.workspace.borrow_buffers(self._decoder.workspace) as buffers:
            tokens = TokenIds(batch.types, batch.workspace.encoder.hashes, batch.sentence_ptr)
            ids = self._decoder.decode(*tokens, buffers, batch.allowed)
            found = self._unknown.attested(
                tokens, ids, forms, batch.workspace.lemmas, buffers, batch.allowed
            )
        if not len(found.tokens):
            return batch
        lists: list[list[int]] = [[] for _ in ids]
        if batch.allowed is not None:
            lists = [batch.allowed.of(n).tolist() for n in range(len(ids))]
        for token, label in zip(found.tokens.tolist(), found.labels.tolist(), strict=True):
            lists[token].append(label)
        return batch._replace(allowed=allowed_of(lists))

    def _decode_margins(self, batch: Batch) -> tuple[Batch, Margins]:
        """Return the batch, its label ids and their margins."""
        batch = self._with_attested(batch)
        hashes, ptr = batch.workspace.encoder.hashes, batch.sentence_ptr
        with batch.workspace.borrow_buffers(self._decoder.workspace) as buffers:
            return batch, self._decoder.margins(
                batch.types, hashes, ptr, self._groups, buffers, batch.allowed
            )

    def leads(
        self, sentences: Iterable[AnySentence], labels: Sequence[str]
    ) -> list[tuple[list[str], NDArray[np.float64]]]:
        """Return for each sentence its labels, and by how much they lead over others.

        The lead (words, labels) over a label is the score of the best sequence less that of the
        best one with this label at the word; infinite if the label is impossible there.
        """
        decode = partial(self._decode_leads, labels=labels)
        return self._run_many(sentences, 1, None, decode, self._write_leads)

    def _decode_leads(
        self, batch: Batch, labels: Sequence[str]
    ) -> tuple[Batch, tuple[NDArray[np.int32], NDArray[np.float64]]]:
        """Return the batch, its label ids and their leads over labels, which are decoded in turn.

        The margin between two groups of labels, one of which is a label alone, is the lead.
        """
        batch = self._with_attested(batch)
        hashes, ptr = batch.workspace.encoder.hashes, batch.sentence_ptr
        leads = np.full((batch.bounds[-1], len(labels)), np.inf)
        with batch.workspace.borrow_buffers(self._decoder.workspace) as buffers:
            best = self._decoder.decode(batch.types, hashes, ptr, buffers, batch.allowed)
            for column, label in enumerate(labels):
                groups = np.zeros(len(self.model.labels), np.int32)
                groups[self.model.coding.ids_alone(label, self.model.labels)] = 1
                found = self._decoder.margins(
                    batch.types, hashes, ptr, groups, buffers, batch.allowed
                )
                leads[:, column] = np.where(groups[best], 0.0, found.margin)
        return batch, (best, leads)

    def _decode_nbest(self, batch: Batch, k: int) -> tuple[Batch, Paths]:
        """Return the batch and the k best sequences of label ids of each sentence."""
        batch = self._with_attested(batch)
        hashes, ptr = batch.workspace.encoder.hashes, batch.sentence_ptr
        with batch.workspace.borrow_buffers(self._decoder.workspace) as buffers:
            return batch, self._decoder.n_best(
                batch.types, hashes, ptr, min(k, _MAX_PATHS), buffers, batch.allowed
            )

    # ----------------------------------------------------------------- output
    def _write_labels(self, batch: Batch, ids: NDArray[np.int32]) -> list[list[str]]:
        """Return label ids as labels, sentence by sentence, with fixed labels as they are."""
        coding = self.model.coding
        names = self.outputs if coding.is_local else list(self.model.labels)
        found = backend.label_lists(names, ids, batch.sentence_ptr)
        if coding.needs_forms:
            found = list(map(coding.decode, found, batch.forms))
        elif not coding.is_local:
            found = list(map(coding.decode, found))
        if batch.allowed is None:
            return found
        return [
            each
            if fixed is None
            else [a if b is None else b for a, b in zip(each, fixed, strict=True)]
            for each, fixed in zip(found, batch.fixed, strict=True)
        ]

    def _write(self, batch: Batch, ids: NDArray[np.int32]) -> list[list[str]]:
        """Return labels, sentence by sentence, and fill sentences that are `conllu.TokenList`."""
        found = self._write_labels(batch, ids)
        for tokens, each in zip(batch.token_lists, found, strict=False):
            if tokens is not None:
                fill(tokens, self.model.column.split(each))
        return found

    def _write_scored(self, batch: Batch, found: Margins) -> list[ScoredLabels]:
        """Return labels with scores, sentence by sentence."""
        all_margins = found.margin.tolist()
        calibration = self.model.calibration
        results = []
        for labels, fixed, (begin, end) in zip(
            self._write(batch, found.labels), batch.fixed, pairwise(batch.bounds), strict=True
        ):
            margins = all_margins[begin:end]
            if fixed is not None:
                margins = [m if f is None else np.inf for m, f in zip(margins, fixed, strict=True)]
            probabilities = None
            if calibration is not None:
                probabilities = calibration.of(margins)
                if fixed is not None:
                    probabilities = [
                        p if f is None else 1.0 for p, f in zip(probabilities, fixed, strict=True)
                    ]
            results.append(ScoredLabels(labels, margins, probabilities))
        return results

    def _write_leads(
        self, batch: Batch, found: tuple[NDArray[np.int32], NDArray[np.float64]]
    ) -> list[tuple[list[str], NDArray[np.float64]]]:
        """Return labels and leads, sentence by sentence."""
        ids, leads = found
        labels = self._write_labels(batch, ids)
        return [
            (each, leads[a:b]) for each, (a, b) in zip(labels, pairwise(batch.bounds), strict=True)
        ]

    def _write_nbest(self, batch: Batch, found: Paths) -> list[list[tuple[float, list[str]]]]:
        """Return scores and labels of the best sequences, sentence by sentence."""
        results, at = [], 0
        scores = found.score.tolist()
        for s, (begin, end) in enumerate(pairwise(found.ptr.tolist())):
            words = batch.bounds[s + 1] - batch.bounds[s]
            one = batch._replace(
                bounds=[0, words], forms=batch.forms[s : s + 1], fixed=batch.fixed[s : s + 1]
            )
            paths = []
            for path in range(begin, end):
                [labels] = self._write_labels(one, found.labels[at : at + words])
                paths.append((scores[path], labels))
                at += words
            results.append(paths)
        return results

    def _explain(self, sentence: AnySentence, token: int, rival: str | None) -> Explanation:
        """Explain a label: see `Tagger.explain`."""
        # late: rarely needed
        from seqtag.tagging.explain import Encoded, Explanation, rival_ids, rows_of

        with self._workspaces.borrow(self.new_workspace) as workspace:
            batch = self._encode([sentence], [None], workspace)
            words = batch.bounds[-1]
            if not -words <= token < words:
                msg = f"expected a word from 0 to {words - 1}, found {token}"
                raise SeqtagError(msg)
            token %= words
            batch, found = self._decode_margins(batch)
            names = self.model.labels
            best = found.labels.tolist()
            written = self._write_labels(batch, found.labels)[0][token]
            wanted = [int(found.rival[token])] if found.rival[token] >= 0 else []
            if rival is not None:
                so = self._ids_of[batch.forms[0][token] if batch.forms else "", rival]
                shown = () if batch.forms else names
                wanted = rival_ids(rival, so, best[token], written, shown)
            other, other_written = None, None
            if wanted:
                lists = [wanted if t == token else [] for t in range(words)]
                _, ids = self._decode(batch._replace(allowed=allowed_of(lists)))
                other, other_written = ids.tolist(), self._write_labels(batch, ids)[0][token]
            label, other_label = written, other_written
            if not batch.forms or written == other_written:  # as the rows show them
                label, other_label = names[best[token]], other and names[other[token]]
            columns = columns_of(sentence, self.model.compiled.columns)
            encoded = Encoded(columns, batch.types, workspace.encoder.hashes)
            rows = rows_of(self.model, encoded, token, best, other)
        margin = sum(row.label_weight - row.rival_weight for row in rows)
        if other is None:
            margin = float("inf")
        word, forms = columns[0][token], (written, other_written)
        return Explanation(token, word, label, other_label, margin, tuple(rows), *forms)


def _forms_of(batch: Batch) -> Column | None:
    """Return the form of each token of a batch, if its labels depend on it."""
    forms = [*chain.from_iterable(batch.forms)]
    return Column(forms, np.arange(len(forms))) if forms else None
