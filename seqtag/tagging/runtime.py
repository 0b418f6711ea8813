"""Running a model: sentences are encoded, decoded by the engine, and written as labels."""

from __future__ import annotations

import logging
from functools import cached_property, partial
from itertools import accumulate, chain, islice, pairwise, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from seqtag.caching import BoundedCache
from seqtag.corpus.sentence import KEYED_COLUMNS, find_column
from seqtag.engine import backend
from seqtag.engine.arrays import pointers
from seqtag.errors import SeqtagError, check_integer
from seqtag.features.encoder import Column
from seqtag.labels.column import FEATS, sorted_feats
from seqtag.labels.schemes import PHRASES, parse
from seqtag.parallel import Pool, in_order
from seqtag.tagging.encode import (
    NO_LABEL,
    AnySentence,
    Batch,
    FixedLabels,
    allowed_of,
    batches,
    fill,
    not_words,
    rows_of_columns,
    sentences_from,
    tokens_of,
)
from seqtag.tagging.unknown_lemmas import TokenIds, UnknownLemmas
from seqtag.tagging.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from seqtag.engine.arrays import Allowed, Margins, Paths
    from seqtag.features.encoder import Encoder
    from seqtag.model.model import Model

    Ids: TypeAlias = NDArray[np.int32]
    """(tokens,) label ids."""

_BATCH_TOKENS = 20_000  # tokens decoded in one call of the kernel
_ENOUGH_WORDS = 50  # of which some should have a feature or a key of MISC
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
    hidden
        Whether its labels only feed other taggers and are not written into files.
    """

    def __init__(self, model: Model, *, hidden: bool = False):
        self.model = model
        self.hidden = hidden
        self._empty: set[str] = set()  # columns that were empty, which was said
        self._decoder = model.decoder()
        self._workspaces: Pool[Workspace] = Pool(lambda workspace: workspace.is_full)
        self._unknown = None
        if model.attested is not None:
            self._unknown = UnknownLemmas(model, model.attested, self._decoder)

    @property
    def label(self) -> str:
        """Name of the column that it fills, or ``upos+feats``."""
        return self.model.column.name

    @property
    def label_scheme(self) -> str | None:
        """The scheme that its labels are written in, if they are chunk labels."""
        return self.model.coding.scheme

    @cached_property
    def finds_names(self) -> bool:
        """True if its labels are chunks that are names, not phrases, whatever it is called."""
        kind, types = self.model.column.kind, {parse(label)[1] for label in self.model.labels}
        is_phrases = kind == "chunk" or not types.isdisjoint(PHRASES)
        return self.label_scheme is not None and (kind == "ner" or not is_phrases)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the templates use, in the order in which `tag` takes them."""
        return self.model.compiled.columns

    @property
    def label_columns(self) -> tuple[str, ...]:
        """Names of the columns that it fills: the label column; two for ``upos+feats``."""
        return self.model.column.columns

    @property
    def is_calibrated(self) -> bool:
        """True if scores include probabilities, after ``seqtag bundle --calibrate``."""
        return self.model.calibration is not None

    @property
    def writes_ids(self) -> bool:
        """True if `outputs` is the written form of each label, independent of its neighbors."""
        return self.model.coding.is_local

    def split_label(self, labels: Sequence[str]) -> dict[str, list[str]]:
        """Return the values of each of `label_columns` for the labels of a sentence.

        >>> import seqtag
        >>> seqtag.load("en").tagger("upos").split_label(["NOUN", "VERB"])
        {'upos': ['NOUN', 'VERB']}
        """
        return self.model.column.split(labels)

    def check_calibrated(self) -> None:
        """Raise `SeqtagError` if the model has no calibration."""
        if not self.is_calibrated:
            msg = (
                f"expected a calibrated model of {self.label}, found one without calibration; "
                "calibrate it on a dev set with seqtag bundle --calibrate"
            )
            raise SeqtagError(msg)

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

    def ids_written(self, form: str, label: str) -> list[int]:
        """Return the ids of the labels that can be written so for a form; none if it is unknown.

        >>> import seqtag
        >>> len(seqtag.load("en").tagger("upos").ids_written("dog", "NOUN"))
        1
        """
        return self._ids_of[form, label]

    @cached_property
    def _ids_of(self) -> BoundedCache[tuple[str, str], list[int]]:
        """Ids by form and label; made late, as it refers back to this."""
        coding, labels, normal = self.model.coding, self.model.labels, self.model.column.normal
        return BoundedCache(lambda key: coding.encoded_ids(normal(key[1]), labels, key[0]))

    def workspace(self) -> AbstractContextManager[Workspace]:
        """Lend working memory that is kept for the next use."""
        return self._workspaces.borrow(self.new_workspace)

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
        buffers = workspace.take_buffers(self._decoder.workspace)
        tokens = TokenIds(types, workspace.encoder.hashes, sentence_ptr)
        ids = self._decoder.decode(*tokens, buffers, allowed)
        if forms is not None and self._unknown is not None:
            found = self._unknown.attested(tokens, ids, forms, workspace.lemmas, buffers, allowed)
            if len(found.tokens):
                places, first = np.unique(found.tokens, return_index=True)
                ids[places] = found.labels[first]
        workspace.put_buffers(buffers)
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
        ptr = pointers(lengths)
        types = np.array([columns[name].ids for name in names], np.int32)
        types = workspace.encoder.with_phrases(types, ptr)
        return self.decode_types(types, ptr, workspace, forms=columns.get("form"))

    def note_empty(self, name: str, place: str, words: int, source: str) -> None:
        """Warn, once, about a column that templates use and that is empty for so many words.

        `place` is its name in the file. Few words may well have no features, or no key of MISC.
        """
        if (
            name in self._empty
            or "." in name
            or words < (_ENOUGH_WORDS if name in KEYED_COLUMNS else 1)
        ):
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
    def labels_of(
        self,
        sentences: Iterable[AnySentence],
        threads: int = 1,
        fixed: Iterable[FixedLabels | None] | None = None,
    ) -> list[list[str]]:
        """Return the best labels of sentences; each `conllu.TokenList` is filled."""
        return self._run(sentences, threads, fixed, self.decode, self._write)

    def scored_labels_of(
        self,
        sentences: Iterable[AnySentence],
        threads: int = 1,
        fixed: Iterable[FixedLabels | None] | None = None,
    ) -> list[ScoredLabels]:
        """Return the best labels of sentences with scores; each `conllu.TokenList` is filled."""
        return self._run(sentences, threads, fixed, self.decode_margins, self._write_scored)

    def nbest_of(
        self,
        sentences: Iterable[AnySentence],
        k: int,
        threads: int = 1,
        fixed: Iterable[FixedLabels | None] | None = None,
    ) -> list[list[tuple[float, list[str]]]]:
        """Return the k best label sequences of sentences: see `Tagger.nbest`."""
        check_integer("k", k)
        count = min(k, _MAX_PATHS)
        decode = partial(self._searched, self._decoder.n_best, count)
        return self._run(sentences, threads, fixed, decode, self._write_nbest)

    def margins_of_labels(
        self, sentences: Iterable[AnySentence], labels: Sequence[str]
    ) -> list[tuple[list[str], NDArray[np.float64]]]:
        """Return for each sentence its labels, and their margins over each of some labels.

        The margin (words, labels) over a label is the score of the best sequence less that of the
        best one with this label at the word; infinite if the label is impossible there.
        """
        is_label = np.zeros((len(labels), len(self.model.labels)), np.int32)
        for row, label in zip(is_label, labels, strict=True):
            row[self.model.coding.ids_alone(label, self.model.labels)] = 1

        def decode(batch: Batch) -> tuple[Batch, tuple[Ids, NDArray[np.float64]]]:
            """Decode each label in turn: the margin between it alone and the others is wanted."""
            batch, best = self.decode(self._with_attested(batch))
            margins = np.full((batch.bounds[-1], len(labels)), np.inf)
            for column, groups in enumerate(is_label):
                _, found = self._searched(self._decoder.margins, groups, batch)
                margins[:, column] = np.where(groups[best], 0.0, found.margin)
            return batch, (best, margins)

        def write(
            batch: Batch, found: tuple[Ids, NDArray[np.float64]]
        ) -> list[tuple[list[str], NDArray[np.float64]]]:
            ids, margins = found
            words = zip(self.write_labels(batch, ids), pairwise(batch.bounds), strict=True)
            return [(each, margins[a:b]) for each, (a, b) in words]

        return self._run(sentences, 1, None, decode, write)

    def _run_one(
        self,
        sentence: AnySentence,
        fixed: FixedLabels | None,
        decode: Callable[[Batch], tuple[Batch, _Found]],
        write: Callable[[Batch, _Found], list[_Result]],
    ) -> _Result:
        """Do what `_run` does for one sentence, in less time."""
        with self.workspace() as workspace:
            return write(*decode(self.encode([sentence], [fixed], workspace)))[0]

    def _run(
        self,
        sentences: Iterable[AnySentence],
        threads: int,
        fixed: Iterable[FixedLabels | None] | None,
        decode: Callable[[Batch], tuple[Batch, _Found]],
        write: Callable[[Batch, _Found], list[_Result]],
    ) -> list[_Result]:
        """Encode sentences in this thread while others decode."""
        check_integer("threads", threads)
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
            for batch in batches(sentences_from(sentences), _BATCH_TOKENS):
                if workspace.is_full:
                    workspace = self._workspaces.take(self.new_workspace)
                yield self.encode(batch, list(islice(labels, len(batch))), workspace)

        results: list[_Result] = []
        for batch, found in in_order(decode, encoded(), threads):
            results += write(batch, found)
        self._workspaces.put(workspace)
        return results

    # ----------------------------------------------------------------- encoding
    def encode(
        self, sentences: Sequence[Any], fixed: Sequence[FixedLabels | None], workspace: Workspace
    ) -> Batch:
        """Return sentences as type ids of the workspace, with the labels that are fixed."""
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

    # ----------------------------------------------------------------- decoding
    def decode(self, batch: Batch) -> tuple[Batch, Ids]:
        """Return the batch and its label ids."""
        return batch, self.decode_types(
            batch.types, batch.sentence_ptr, batch.workspace, batch.allowed, _forms_of(batch)
        )

    def _with_attested(self, batch: Batch) -> Batch:
        """Allow unknown words only their attested lemmas, where `decode_types` chooses one."""
        forms = _forms_of(batch)
        if self._unknown is None or forms is None:
            return batch
        buffers = batch.workspace.take_buffers(self._decoder.workspace)
        tokens = TokenIds(batch.types, batch.workspace.encoder.hashes, batch.sentence_ptr)
        ids = self._decoder.decode(*tokens, buffers, batch.allowed)
        memory = batch.workspace.lemmas
        found = self._unknown.attested(tokens, ids, forms, memory, buffers, batch.allowed)
        batch.workspace.put_buffers(buffers)
        if not len(found.tokens):
            return batch
        lists: list[list[int]] = [[] for _ in ids]
        if batch.allowed is not None:
            lists = [batch.allowed.of(n).tolist() for n in range(len(ids))]
        for token, label in zip(found.tokens.tolist(), found.labels.tolist(), strict=True):
            lists[token].append(label)
        return batch._replace(allowed=allowed_of(lists))

    def _searched(
        self, search: Callable[..., _Found], wanted: Any, batch: Batch
    ) -> tuple[Batch, _Found]:
        """Return the batch, with attested lemmas, and what a method of the decoder finds in it."""
        batch = self._with_attested(batch)
        hashes, ptr = batch.workspace.encoder.hashes, batch.sentence_ptr
        buffers = batch.workspace.take_buffers(self._decoder.workspace)
        found = search(batch.types, hashes, ptr, wanted, buffers, batch.allowed)
        batch.workspace.put_buffers(buffers)
        return batch, found

    def decode_margins(self, batch: Batch) -> tuple[Batch, Margins]:
        """Return the batch, its label ids and their margins."""
        return self._searched(self._decoder.margins, self._groups, batch)

    # ----------------------------------------------------------------- output
    def write_labels(self, batch: Batch, ids: NDArray[np.int32]) -> list[list[str]]:
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
        found = self.write_labels(batch, ids)
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
                [labels] = self.write_labels(one, found.labels[at : at + words])
                paths.append((scores[path], labels))
                at += words
            results.append(paths)
        return results


def _forms_of(batch: Batch) -> Column | None:
    """Return the form of each token of a batch, if its labels depend on it."""
    forms = [*chain.from_iterable(batch.forms)]
    return Column(forms, np.arange(len(forms))) if forms else None
