"""Segmenter: tokens and sentences of raw text, by a model that labels characters."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.caching import SEGMENTER_BYTES
from seqtag.engine import backend
from seqtag.errors import ModelFileError
from seqtag.features.encoder import Encoder
from seqtag.features.native import calls_of
from seqtag.model.container import show
from seqtag.model.model import fitting
from seqtag.parallel import Pool
from seqtag.segmentation.characters import (
    AHEAD,
    BASE,
    BEFORE,
    COLUMNS,
    JOINER,
    NEW_PARAGRAPH,
    SPELLING_REACH,
    Numbering,
    code_kind,
    view_of,
    views_with,
)
from seqtag.segmentation.paragraphs import SEPARATOR
from seqtag.segmentation.unpunctuated import WordBreaks
from seqtag.tables.table import Lookup, text_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from seqtag.engine.interface import ChunkModel
    from seqtag.model.model import Model
    from seqtag.segmentation.characters import CharacterRows

INSIDE, JOINED, TOKEN, SENTENCE = "inside", "joined", "token", "sentence"
"""The labels of characters: inside a token, with white space after it or without; the last of a
token; the last of a sentence, and so of a token. A model without the third ends tokens and
sentences at white space only; so does one of words, see `seqtag.segmentation.unpunctuated`."""

_WINDOW = 1 << 18  # code points labeled at a time
_LONG_PARAGRAPH = 1 << 16  # pieces of it are labeled, as those with unusual characters take longer
_MOST_CONTEXT = 1 << 12  # code points


class Segments(NamedTuple):
    """Positions of tokens and sentences.

    Attributes
    ----------
    starts, ends
        Code points where tokens begin and end, (tokens,) int64.
    sentence_ends
        Number of tokens up to the end of each sentence, (sentences,) int64.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    sentence_ends: NDArray[np.int64]


class _Typed(NamedTuple):
    """Working memory for labels by types: numbers of values, and the kernel's buffers."""

    numbering: Numbering
    encoder: Encoder
    buffers: Any

    @property
    def nbytes(self) -> int:
        sums: int = getattr(self.buffers, "nbytes", 0)
        return self.numbering.nbytes + self.encoder.nbytes + sums


class _Workspace:
    """Working memory for one thread: by chunks, and by types when they are needed."""

    def __init__(self, new_numbering: Callable[[], Numbering], new_typed: Callable[[], _Typed]):
        self.chunks, self._new_typed = new_numbering(), new_typed

    @cached_property
    def typed(self) -> _Typed:
        return self._new_typed()

    @property
    def nbytes(self) -> int:
        return self.chunks.nbytes + (self.typed.nbytes if "typed" in vars(self) else 0)

    @property
    def is_full(self) -> bool:
        return self.nbytes > SEGMENTER_BYTES


class _Tokens(NamedTuple):
    """Positions where tokens begin and end, and whether a sentence ends with each."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    sentences: NDArray[np.bool_]


_NOTHING = _Tokens(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.bool_))


class Segmenter:
    r"""Finds the tokens and sentences of raw text. Immutable; threads may share it.

    Parameters
    ----------
    model
        Labels characters: see `seqtag.training.text_examples`.
    source
        Name of its file, for messages.

    Raises
    ------
    ModelFileError
        If it is a model of other labels, or its parts do not fit together.
    """

    def __init__(self, model: Model, source: str = "<model>"):
        self.model = model
        if model.column.name != "tokens":
            msg = (
                f"expected a model of tokens, found one of {model.column}; "
                "train one with --label tokens"
            )
            raise ModelFileError(msg, source=source)
        by_words = model.compiled.columns == ("form",)
        tables = model.compiled.tables
        columns = (*COLUMNS, *chain.from_iterable(map(text_columns, tables)))
        for what, allowed, found in (
            ("labels", (INSIDE, JOINED, TOKEN, SENTENCE), model.labels),
            ("columns", ("form",) if by_words else columns, model.compiled.columns),
        ):
            unknown = [name for name in found if name not in allowed]
            if unknown:
                msg = (
                    f"expected a segmenter with some of the {what} {', '.join(allowed)}, found "
                    f"{show(unknown[0])}; train one with --label tokens"
                )
                raise ModelFileError(msg, source=source)
        self._words: WordBreaks | None = None
        if by_words:
            with fitting(source):
                self._words = WordBreaks(model, SENTENCE)
            return
        with fitting(source):
            by_view, self._views = _by_view(model)
            self._decoder = by_view.decoder(self._views)
            reach = int(abs(model.compiled.key_plans()[0].term_offset).max(initial=0))
            self._chunks = _chunk_model(model)
        self._compiled = by_view.compiled
        self._calls = []  # of each column of each view, if the kernel has all of its attributes
        for view in self._views:
            calls = [
                calls_of(
                    each.by if isinstance(each, Lookup) else each
                    for each in self._compiled.functions_of[name].values()
                )
                for name in view
            ]
            self._calls.append(None if None in calls else [each or [] for each in calls])
        reach += SPELLING_REACH
        self._context, self._ahead = BEFORE + reach, AHEAD + reach + 1
        self._joined, self._token, self._sentence = (
            model.labels.index(label) if label in model.labels else -1
            for label in (JOINED, TOKEN, SENTENCE)
        )
        self._only_at_spaces = TOKEN not in model.labels
        self._workspaces: Pool[_Workspace] = Pool(lambda workspace: workspace.is_full)

    def segment(self, text: str, *, begin: int = 0, final: bool = True) -> Segments:
        r"""Return the tokens and sentences of a text.

        Parameters
        ----------
        text
            Paragraphs, with `seqtag.segmentation.paragraphs.SEPARATOR` between them. All white
            space is equivalent.
        begin
            Start of the text to segment; the text before it is context only. See `context_of`.
        final
            Whether the text is complete. If not, only sentences that later text cannot change are
            returned: those that end some 50 characters before the end, or with a paragraph.

        Returns
        -------
        Segments
            Positions in code points of `text`; empty for white space. The end of a paragraph ends
            a sentence.
        """
        if self._words:
            return Segments(*self._words.find(text, begin, final=final))
        workspace = self._workspaces.take(self._new_workspace)
        found: list[_Tokens] = []
        at, size, is_open = begin, 0, False
        while at < len(text):
            is_long = text.find(SEPARATOR, at + _LONG_PARAGRAPH, at + _WINDOW) < 0
            size = size or (min(_LONG_PARAGRAPH, _WINDOW) if is_long else _WINDOW)
            first, end = self.context_of(text, at), min(len(text), at + size)
            last = end == len(text)
            tokens, done, is_open = self._window(
                text[first:end], at - first, is_open, last and final, workspace
            )
            found.append(_Tokens(tokens.starts + first, tokens.ends + first, tokens.sentences))
            if last:
                break
            done += first
            size = 0 if done > at else 2 * size  # much white space, or one endless character
            at = done
            if workspace.is_full:
                workspace = self._workspaces.take(self._new_workspace)
        self._workspaces.put(workspace)
        if len(found) != 1:
            found = [_Tokens(*map(np.concatenate, zip(_NOTHING, *found, strict=True)))]
        [(starts, ends, sentences)] = found
        [sentence_ends] = sentences.nonzero()
        sentence_ends += 1
        kept = int(sentence_ends[-1]) if len(sentence_ends) else 0
        return Segments(starts[:kept], ends[:kept], sentence_ends)

    def context_of(self, text: str, done: int) -> int:
        """Return the start of the context to keep of a text that is final up to `done`."""
        if self._words:
            return self._words.context_of(text, done)
        rows = 0
        for at in range(done - 1, max(-1, done - _MOST_CONTEXT), -1):
            if text[at] == SEPARATOR:
                return at
            rows += code_kind(text[at]) == BASE and code_kind(text[at - 1 : at] or " ") != JOINER
            if rows == self._context:
                return at
        return max(0, done - _MOST_CONTEXT)

    def _window(
        self, text: str, begin: int, is_open: bool, final: bool, workspace: _Workspace
    ) -> tuple[_Tokens, int, bool]:
        """Return what begins and ends in a text from `begin` on, as far as it is final.

        `is_open`: whether a token goes on there; the last value returned is the same for the
        position after the rows that are final, which precedes it.
        """
        rows, labels = self._labels(text, workspace)
        first, last = int(rows.starts.searchsorted(begin)), len(labels)
        if not final and last and SEPARATOR not in text[int(rows.ends[-1]) :]:
            last = max(first, int(rows.paragraphs[-2]), last - self._ahead)
        done = int(rows.starts[last]) if last < len(labels) else len(text)
        # Whether a sentence, and whether a token, ends with each row.
        gaps = np.full(len(labels), NEW_PARAGRAPH, np.uint8)
        gaps[:-1] = rows.gaps[1:]
        here = slice(first, last)
        gaps, labels, starts, stops = gaps[here], labels[here], rows.starts[here], rows.ends[here]
        is_spaced, is_whole = gaps > 0, starts < stops
        sentences = ((labels == self._sentence) & is_whole) | (gaps == NEW_PARAGRAPH)
        if self._only_at_spaces:
            sentences &= is_spaced
        ends = sentences | (is_spaced & (labels != self._joined))
        ends |= (labels == self._token) & is_whole
        [lasts] = ends.nonzero()
        firsts = np.empty(len(lasts) + 1, np.intp)
        firsts[0], firsts[1:] = 0, lasts + 1
        is_closed = bool(ends[-1]) if len(ends) else True  # no token begins after the last row
        firsts = firsts[is_open : len(firsts) - is_closed]
        tokens = _Tokens(starts[firsts], stops[lasts], sentences[lasts])
        return tokens, done, not is_closed if len(ends) else is_open

    def _labels(self, text: str, workspace: _Workspace) -> tuple[CharacterRows, NDArray[np.int32]]:
        """Return the rows of a text and their labels."""
        if self._chunks is None:
            return self._typed_labels(text, workspace)
        rows, labels = workspace.chunks.label(text, self._chunks)
        left = labels < 0
        if left.any():  # paragraphs with very long chunks or unusual characters
            pieces = [
                text[int(rows.starts[first]) : int(rows.ends[end - 1])]
                for first, end in pairwise(rows.paragraphs.tolist())
                if left[first]
            ]
            labels[left] = self._typed_labels(SEPARATOR.join(pieces), workspace)[1]
        return rows, labels

    def _typed_labels(
        self, text: str, workspace: _Workspace
    ) -> tuple[CharacterRows, NDArray[np.int32]]:
        """Return the rows of a text and their labels, by the types of their columns."""
        numbering, encoder, buffers = workspace.typed
        rows, types = numbering.read(text)
        latest = types.max(axis=1, initial=-1).tolist()
        for number, (view, calls) in enumerate(zip(self._views, self._calls, strict=True)):
            if latest[number] < numbering.reported[number]:
                continue
            new = calls and numbering.new_hashes(number, calls)
            if new:
                for name, hashes in zip(view, new[1], strict=True):
                    encoder.extend_hashes(name, new[0], hashes)
            else:
                first, found = numbering.new_values(number)
                for name, values in zip(view, found, strict=True):
                    encoder.extend(name, first, values)
        return rows, self._decoder.decode(types, encoder.hashes, rows.paragraphs, buffers)

    def _new_workspace(self) -> _Workspace:
        return _Workspace(self._new_numbering, self._new_typed)

    def _new_numbering(self) -> Numbering:
        names = [[name.partition(":")[2] for name in view] for view in self._views]
        return Numbering(names, self._compiled.tables)

    def _new_typed(self) -> _Typed:
        encoder = Encoder(self._compiled, backend.hash_strings)
        return _Typed(self._new_numbering(), encoder, self._decoder.workspace())


def _chunk_model(model: Model) -> ChunkModel | None:
    """Return the model in a form that needs no types, if it has one and the kernel is there."""
    compiled = model.compiled
    calls = calls_of(compiled.functions)
    has_more = compiled.order or model.parts or model.by_tags or model.tag_dictionary.attribute >= 0
    if backend.ChunkModel is None or calls is None or has_more:
        return None
    made = backend.ChunkModel(
        compiled.key_plans()[0],
        model.weights.emission,
        len(model.labels),
        [COLUMNS.index(use.column) if use.column in COLUMNS else -1 for use in compiled.attributes],
        calls,
    )
    return made if made.fits else None


def _by_view(model: Model) -> tuple[Model, list[list[str]]]:
    """Return a model whose templates look at the columns of views, and these columns by view.

    ``3:tail`` is the column ``tail`` of view 3. A template looks at one view, if one has all its
    columns and they are at one position: then its scores are summed once for each type. Others look
    at the last views that have their columns, which have the fewest types.
    """
    compiled, known = model.compiled, model.tag_dictionary
    every = views_with(compiled.tables)
    uses: dict[tuple[int, int], int] = {}  # number of each view and attribute

    def number(attribute: int, view: int | None = None) -> int:
        if view is None:
            column = compiled.attributes[attribute].column
            view = max(n for n, columns in enumerate(every) if column in columns)
        return uses.setdefault((view, attribute), len(uses))

    def bound(terms: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        alone = len({offset for _, offset in terms}) == 1
        columns = [compiled.attributes[n].column for n, _ in terms]
        view = view_of(columns, every) if alone else None
        return tuple((number(n, view), offset) for n, offset in terms)

    templates, edges = tuple(map(bound, compiled.templates)), tuple(map(bound, compiled.edges))
    if known.attribute >= 0:
        known = known._replace(attribute=number(known.attribute))
    attributes = [
        compiled.attributes[n]._replace(column=f"{view}:{compiled.attributes[n].column}")
        for view, n in uses
    ]
    columns = {use.column for use in attributes}
    names = [[f"{i}:{name}" for name in view] for i, view in enumerate(every)]
    views = [[name for name in view if name in columns] for view in names]
    compiled = replace(
        compiled,
        columns=tuple(chain.from_iterable(views)),
        attributes=tuple(attributes),
        templates=templates,
        edges=edges,
        functions=tuple(compiled.functions[n] for _, n in uses),
    )
    return replace(model, compiled=compiled, tag_dictionary=known), [view for view in views if view]
