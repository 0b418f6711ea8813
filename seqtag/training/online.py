"""Learning as sentences come: one visit each, in the order given, with features that are new.

To learn some sentences and then others is, to the last bit, to learn all of them in one epoch
without shuffling: the complete state of the weights stays, and features are numbered by their first
appearance either way.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.engine import backend
from seqtag.engine.arrays import NO_TAG_DICTIONARY, Cells, CellStates, Instances, Layout, State
from seqtag.errors import LabelError
from seqtag.features.index import index_corpus
from seqtag.model.known_words import KnownWords
from seqtag.tagging.tagger import Tagger
from seqtag.training.runs import recipe_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seqtag.engine.arrays import IntArray
    from seqtag.engine.reference import Weights
    from seqtag.features.encoder import Column
    from seqtag.labels.coding import LabelCoding
    from seqtag.settings import Settings
    from seqtag.training.data import TrainingData
    from seqtag.training.problem import Problem


class OnlineWeights:
    """Weights in training whose rows are added as they appear. Pickles with the complete state.

    Parameters
    ----------
    settings
        How to learn: `update`, `step` and `margin` count.
    layout
        Shape of the initial weights.
    state
        The initial weights, if they are not 0.

    Examples
    --------
    >>> from seqtag.settings import Settings
    >>> weights = OnlineWeights(Settings(), Layout(rows=0, labels=2, order=0))
    >>> x = Instances(np.array([0, 1]), np.array([0, 1]), np.array([0], np.int32))
    >>> weights.learn(x, np.array([1], np.int32), rows=1)
    (1, 1)
    >>> weights.cells().weight
    array([-1.,  1.], dtype=float32)
    """

    def __init__(self, settings: Settings, layout: Layout, state: State | None = None):
        self._recipe = recipe_of(settings)
        self._room = self._layout = layout
        self._weights = self._made(state)

    @property
    def layout(self) -> Layout:
        """Current shape of the weights."""
        return self._layout

    def learn(
        self, x: Instances, y: NDArray[np.int32], rows: int, edges: int = 0
    ) -> tuple[int, int]:
        """Visit sentences once, in their order; return (updates, wrong tokens).

        Parameters
        ----------
        x
            The sentences; new rows continue the numbers of known ones.
        y
            Label id of each token.
        rows, edges
            Current number of rows.
        """
        self._make_room(rows, edges)
        visits = np.arange(len(x.sentence_ptr) - 1, dtype=np.int64)
        how = self._recipe
        return self._weights.train_epoch(x, y, visits, how.rule, how.step, how.cost)

    def cells(self) -> Cells:
        """Return the average of the weights after each sentence."""
        cells, (rows, _, _, edges, _) = self._weights.cells(average=True), self._layout
        return cells._replace(
            row_ptr=cells.row_ptr[: rows + 1], edge_ptr=cells.edge_ptr[: edges + 1]
        )

    # ----------------------------------------------------------------- private
    def _make_room(self, rows: int, edges: int) -> None:
        """Grow geometrically to so many rows; reallocation is expensive."""
        self._layout = self._layout._replace(rows=rows, edges=edges)
        room = self._room
        if rows <= room.rows and edges <= room.edges:
            return
        state = self._weights.state()
        self._room = room._replace(
            rows=2 * rows if rows > room.rows else room.rows,
            edges=2 * edges if edges > room.edges else room.edges,
        )
        self._weights = self._made(
            state._replace(
                emission=_padded(state.emission, self._room.rows),
                edge=_padded(state.edge, self._room.edges),
            )
        )

    def _made(self, state: State | None) -> Weights:
        """The engine's weights."""
        return backend.Weights(self._room, "float32", self._recipe.rule, state)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_weights": self._weights.state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._weights = self._made(state["_weights"])


class OnlineTagger:
    """A tagger that learns online, sentence by sentence. Pickles with the complete state.

    Parameters
    ----------
    problem
        The problem of the first sentences, for its templates, columns, coding and labels; the
        sentences are not learned yet. Each feature counts from its first occurrence: ``min_count``,
        ``tag_dictionary`` and ``dropout`` have no effect. No label can be added later.
    """

    def __init__(self, problem: Problem):
        layout = problem.corpus.layout._replace(rows=0, edges=0)
        self._weights = OnlineWeights(problem.settings, layout)
        self._like = replace(
            problem,
            corpus=problem.corpus._replace(layout=layout),
            y=problem.y[:0],
            known_words=KnownWords.of(()),
            tag_dictionary=NO_TAG_DICTIONARY,
            by_tags=None,
            attested=None,
            origin={"sentences": 0, "tokens": 0, "corpus_sha256": ""},
        )
        self._rows: dict[int, int] = {}  # of each feature key
        self._edges: dict[int, int] = {}

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that examples must have."""
        return self._like.compiled.columns

    def learn(self, examples: TrainingData) -> tuple[int, int]:
        """Visit sentences once, in their order; return (updates, wrong tokens).

        Raises
        ------
        LabelError
            If a label is not one of the first problem.
        """
        like = self._like
        columns = like.compiled.columns
        examples = examples.select(columns)
        forms = examples.columns.get("form")
        y = learned_ids(examples, like.coding, like.labels, forms)
        found = index_corpus(
            like.compiled,
            [examples.columns[name] for name in columns],
            examples.lengths,
            len(like.labels),
            parts=like.parts,
        )
        x = found.instances._replace(
            features=_known(self._rows, found.keys, found.instances.features)
        )
        if x.edges is not None:
            x = x._replace(edges=_known(self._edges, found.edge_keys, x.edges))
        before, digest = like.origin, examples.digest()
        self._like = replace(
            like,
            known_words=like.known_words.with_words(forms.types if forms else ()),
            origin={
                "sentences": before["sentences"] + len(examples.lengths),
                "tokens": before["tokens"] + len(y),
                "corpus_sha256": sha256((before["corpus_sha256"] + digest).encode()).hexdigest(),
            },
        )
        return self._weights.learn(x, y, len(self._rows), len(self._edges))

    def tagger(self) -> Tagger:
        """Return the tagger of the average of the weights after each sentence."""
        keys, edge_keys = (np.array([*rows], np.uint64) for rows in (self._rows, self._edges))
        corpus = self._like.corpus._replace(
            layout=self._weights.layout, keys=keys, edge_keys=edge_keys
        )
        facts = {"runs": 1, "best_epochs": [1], "online": True}
        return Tagger(replace(self._like, corpus=corpus).model(self._weights.cells(), facts))


def learned_ids(
    examples: TrainingData,
    coding: LabelCoding,
    labels: Sequence[str],
    forms: Column | None = None,
) -> NDArray[np.int32]:
    """Return the label id of each token, given all labels as they are learned.

    Raises
    ------
    LabelError
        If one is not among them.
    """
    learned = examples.encoded_by(coding, forms)
    number = {label: i for i, label in enumerate(labels)}
    unseen = [label for label in learned.types if label not in number]
    if unseen:
        shown = ", ".join(labels[:5]) + (", ..." if len(labels) > 5 else "")
        msg = (
            f"expected labels of the first call ({shown}), found {unseen[0]!r}; name all labels "
            "there as classes=..."
        )
        raise LabelError(msg)
    ids = np.array([number[label] for label in learned.types], np.int32)
    y: NDArray[np.int32] = ids[learned.ids]
    return y


def _known(rows: dict[int, int], keys: NDArray[np.uint64], found: IntArray) -> NDArray[np.int32]:
    """Return features as rows of all features so far, found by key."""
    numbers = np.array([rows.setdefault(key, len(rows)) for key in keys.tolist()], np.int32)
    known: NDArray[np.int32] = numbers[found]
    return known


def _padded(cells: CellStates, rows: int) -> CellStates:
    """Return the cells with empty rows after them."""
    more = np.full(rows + 1 - len(cells.ptr), cells.ptr[-1], np.int64)
    return cells._replace(ptr=np.concatenate([cells.ptr, more]))
