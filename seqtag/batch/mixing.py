"""Arithmetic of iterative parameter mixing: weights trained on several shards, mixed into one.

A round starts from the same weights on all shards; each trains on its sentences once and returns
the cells that it changed (McDonald, Hall and Mann 2010, "Distributed Training Strategies for the
Structured Perceptron"). A cell then gets the mean of the shards that changed it::

    w' = sum_i n_i w_i / sum_i n_i          over the shards i that changed it; n_i: their sentences
    g' = sum_i n_i g_i / sum_i n_i          sums of squares of the adaptive rule: likewise

A cell with data in one shard only is learned as fast as in that shard alone, and cells of several
shards are not counted several times. The paper has the same coefficients for all cells, which makes
a feature of one shard in S learn S times as slowly.

The average is over the weights after every sentence of every shard. With N sentences in all shards,
R rounds, and ``C = R N``, it is ``w - u / C`` as in `seqtag.engine.reference.Weights`. A shard
continues with the mixed u and counts its own sentences, n_i in each round; the shards then add to u
what they add to the sum over all steps, except for the jump from their mean to w'::

    u' = u + sum_i (u_i - u) + C ((w' - w) - sum_i n_i / N (w_i - w))

All sums are in float64, in the order of the shards, and rounded to float32 once: the same shards
give the same bytes wherever they are trained on. One shard is unchanged: ``w' = w_1, u' = u_1``.

A cell is one weight. All cells of a layout have numbers, from 0: those of the emission rows, one
row after the other, of the edge rows, of the trigram rows, and then the chain (see
`seqtag.engine.arrays.Cells`). A shard has numbers of its own in training, for its rows only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from seqtag.engine.arrays import Cells, CellStates, Layout, State, pointers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from seqtag.engine.arrays import BoolArray, FloatArray, IntArray


T = TypeVar("T")


class Fold(Generic[T]):
    """Merger of a stream of items, in their order, which holds few of them.

    Items are kept until they are as large as the result so far, and then merged with it. An item is
    therefore merged about as often as the result doubles, and memory is about twice that of the
    result.

    Parameters
    ----------
    merge
        Merges items; ``merge([merge([a, b]), c])`` must be ``merge([a, b, c])``.
    size
        Function that returns the number of elements of an item.
    least
        Items with fewer elements together are not merged before `result`.

    Examples
    --------
    >>> fold = Fold(sum, int, least=2)
    >>> for number in [1, 2, 3]:
    ...     fold.add(number)
    >>> fold.result()
    6
    """

    def __init__(
        self, merge: Callable[[Sequence[T]], T], size: Callable[[T], int], least: int = 2**20
    ):
        self._merge, self._size, self._least = merge, size, least
        self._items: list[T] = []
        self._waiting = 0

    def add(self, item: T) -> None:
        """Add an item."""
        self._items.append(item)
        self._waiting += self._size(item)
        if self._waiting >= max(self._size(self._items[0]), self._least):
            self._items = [self.result()]
            self._waiting = 0

    def result(self) -> T:
        """Return all items so far, one or more, merged."""
        return self._merge(self._items)


class Table(NamedTuple):
    """The cells that ever changed, by number.

    Attributes
    ----------
    cells
        Their numbers, (n,) int64, ascending.
    values
        w and u of each, and g with the adaptive rule: (2 or 3, n) float32.
    """

    cells: IntArray
    values: FloatArray

    @classmethod
    def empty(cls, adaptive: bool) -> Table:
        """Return the table of weights that are all 0, which has no cells."""
        return cls(np.zeros(0, np.int64), np.zeros((3 if adaptive else 2, 0), np.float32))

    def at(self, cells: IntArray) -> FloatArray:
        """Return the values of cells in any order, 0 for cells that never changed.

        They are (2 or 3, cells) float32.
        """
        found = np.zeros((len(self.values), len(cells)), np.float32)
        place, here = places(self.cells, cells)
        found[:, here] = self.values[:, place[here]]
        return found


class ShardRows(NamedTuple):
    """Rows of the features that occur in a shard, by their numbers among those of all shards.

    Attributes
    ----------
    layout
        Shape of the weights of all shards.
    rows, edges
        Numbers of the shard's emission and edge rows, int64, ascending. Row i of the shard alone is
        row ``rows[i]`` of all.
    """

    layout: Layout
    rows: IntArray
    edges: IntArray

    @property
    def own(self) -> Layout:
        """Shape of the weights of the shard alone."""
        return self.layout._replace(rows=len(self.rows), edges=len(self.edges))

    @property
    def cells(self) -> IntArray:
        """Numbers of all cells of the shard, ascending: its rows, all trigram rows, the chain."""
        cuts, labels, width = _cuts(self.layout), self.layout.labels, self.layout.width
        emission = self.rows[:, None] * width + np.arange(width)
        edge = cuts[1] + self.edges[:, None] * labels**2 + np.arange(labels**2)
        return np.concatenate([emission.ravel(), edge.ravel(), np.arange(cuts[2], cuts[4])])

    def has(self, cells: IntArray) -> BoolArray:
        """Return for cells in ascending order whether they belong to the shard."""
        cuts, labels = _cuts(self.layout), self.layout.labels
        edge, others = np.searchsorted(cells, cuts[1:3])
        found = np.ones(len(cells), bool)
        found[:edge] = places(self.rows, cells[:edge] // self.layout.width)[1]
        found[edge:others] = places(self.edges, (cells[edge:others] - cuts[1]) // labels**2)[1]
        return found

    def state(self, table: Table, seen: int) -> State:
        """Return the shard's cells of a table as a state of the engine, after `seen` sentences."""
        cuts, labels = _cuts(self.layout), self.layout.labels
        ends = np.searchsorted(table.cells, cuts)

        def rows(kind: int, width: int, wanted: IntArray | range) -> CellStates:
            span = slice(ends[kind], ends[kind + 1])
            row, column = np.divmod(table.cells[span] - cuts[kind], max(width, 1))
            values = table.values[:, span]
            if isinstance(wanted, range):  # all of them
                place, here = row, np.ones(len(row), bool)
            else:
                place, here = places(wanted, row)
            w, u, *g = values[:, here]
            ptr = pointers(np.bincount(place[here], minlength=len(wanted)))
            return CellStates(
                ptr, column[here].astype(np.int32), w, u, g[0] if g else np.zeros_like(w)
            )

        chain = np.zeros((3, self.layout.chain), np.float32)
        last = slice(ends[3], ends[4])
        chain[: len(table.values), table.cells[last] - cuts[3]] = table.values[:, last]
        return State(
            rows(0, self.layout.width, self.rows),
            rows(1, labels**2, self.edges),
            rows(2, labels, range(_trigram_rows(self.layout))),
            chain,
            seen,
        )

    def table(self, state: State, adaptive: bool) -> Table:
        """Return a state of the engine for the shard as a table; the inverse of `state`."""
        cuts, labels = _cuts(self.layout), self.layout.labels
        kept = state.chain.any(axis=0)
        numbers, values = [], []
        for first, width, names, part in (
            (cuts[0], self.layout.width, self.rows, state.emission),
            (cuts[1], labels**2, self.edges, state.edge),
            (cuts[2], labels, np.arange(_trigram_rows(self.layout)), state.trigram),
        ):
            row = np.repeat(names, np.diff(part.ptr))
            numbers.append(first + row * width + part.column)
            values.append(np.stack([part.w, part.u, part.g]))
        numbers.append(cuts[3] + np.flatnonzero(kept))
        values.append(state.chain[:, kept])
        found = np.concatenate(values, axis=1)[: 3 if adaptive else 2]
        return Table(np.concatenate(numbers).astype(np.int64), found)


class ShardUpdate(NamedTuple):
    """Changes of a shard in one round, stored in the smaller of two forms.

    Attributes
    ----------
    cells
        Numbers of the cells that changed, ascending, uint32 if that is enough for all cells of the
        layout, else int64. None if `values` are those of all cells of `rows`.
    rows
        The rows of the shard if `cells` is None, else None.
    values
        Values of these cells after the round, as in `Table`.
    updates, wrong_tokens
        As `seqtag.engine.reference.Weights.train_epoch` returns them.
    """

    cells: IntArray | None
    rows: ShardRows | None
    values: FloatArray
    updates: int = 0
    wrong_tokens: int = 0

    @classmethod
    def of(
        cls, rows: ShardRows, before: Table, after: Table, counts: tuple[int, int] = (0, 0)
    ) -> ShardUpdate:
        """Compare the weights before and after a round.

        Parameters
        ----------
        rows
            The rows of the shard.
        before, after
            The weights; cells of `before` that are not the shard's are ignored.
        counts
            Updates and wrong tokens.
        """
        gone = before.cells[~places(after.cells, before.cells)[1]]
        gone = gone[rows.has(gone)]  # cells of the shard that are 0 again
        cells = np.sort(np.concatenate([after.cells, gone]))
        values = after.at(cells)
        changed = (values != before.at(cells)).any(axis=0)
        cells, values = cells[changed], values[:, changed]
        small = cells.astype(np.uint32 if _cuts(rows.layout)[4] <= 2**32 else np.int64)
        every = rows.own.size * len(values) * values.itemsize + rows.rows.nbytes + rows.edges.nbytes
        if small.nbytes + values.nbytes <= every:
            return cls(small, None, values, *counts)
        return cls(None, rows, after.at(rows.cells), *counts)

    def sparse(self, before: Table) -> Table:
        """Return the cells that changed, with their values after the round."""
        if self.rows is None:
            return Table(np.asarray(self.cells, np.int64), self.values)
        cells = self.rows.cells
        changed = (self.values != before.at(cells)).any(axis=0)
        return Table(cells[changed], self.values[:, changed])


class Sums(NamedTuple):
    """Sums over shards, for each cell that one of them changed.

    Attributes
    ----------
    cells
        Their numbers, (n,) int64, ascending.
    terms
        The sums, (6, n) float64, in the notation of this module: of n_i, 1, n_i w_i,
        n_i / N (w_i - w), u_i, and n_i g_i; the last only with the adaptive rule.
    """

    cells: IntArray
    terms: FloatArray

    @classmethod
    def of(cls, before: Table, after: Table, own: int, every: int) -> Sums:
        """Return the terms of a shard, which has `own` of the `every` sentences of all shards."""
        w, u, *g = after.values.astype(np.float64)
        old = before.at(after.cells)[0].astype(np.float64)
        ones = np.ones(len(w))
        terms = [own * ones, ones, own * w, own / every * (w - old), u]
        return cls(after.cells, np.stack([*terms, *(own * each for each in g)]))

    @classmethod
    def add(cls, parts: Sequence[Sums]) -> Sums:
        """Add sums in their order, so that rounding does not depend on how they are grouped."""
        numbers, which = np.unique(np.concatenate([s.cells for s in parts]), return_inverse=True)
        terms = np.empty((len(parts[0].terms), len(numbers)))
        for kind, to in enumerate(terms):
            every = np.concatenate([part.terms[kind] for part in parts])
            to[:] = np.bincount(which.reshape(-1), every, len(numbers))
        return cls(numbers, terms)


def mix_weights(
    before: Table, after: Iterable[Table], sentences: Sequence[int], rounds: int
) -> Table:
    """Return the mixed weights after a round; memory does not depend on the number of shards.

    Parameters
    ----------
    before
        The weights that all shards started from.
    after
        The cells that each shard changed, with their new values, in the order of the shards, of
        which there is at least one.
    sentences
        Number of sentences of each shard.
    rounds
        Number of rounds, this one included.

    Returns
    -------
    Table
        Cells that are 0 in all their values are left out.

    Examples
    --------
    >>> one = Table(np.array([3]), np.array([[2], [0]], np.float32))
    >>> two = Table(np.array([3, 7]), np.array([[5, 1], [0, 0]], np.float32))
    >>> mix_weights(Table.empty(False), [one, two], [1, 2], 1).values[0]
    array([4., 1.], dtype=float32)
    """
    every = sum(sentences)
    fold: Fold[Sums] = Fold(Sums.add, lambda found: len(found.cells))
    for table, own in zip(after, sentences, strict=True):
        fold.add(Sums.of(before, table, own, every))
    cells, (seen, shards, w, moved, u, *g) = fold.result()
    old = before.at(cells).astype(np.float64)
    values = np.empty((len(old), len(cells)), np.float32)
    values[0] = w / seen
    for each in g:
        values[2] = each / seen
    jump = (values[0] - old[0]) - moved
    values[1] = u - (shards - 1) * old[1] + rounds * every * jump

    stays = ~places(cells, before.cells)[1]
    everything = np.concatenate([before.cells[stays], cells])
    order = np.argsort(everything)
    both = np.concatenate([before.values[:, stays], values], axis=1)[:, order]
    kept = both.any(axis=0)
    return Table(everything[order][kept], both[:, kept])


def weights_of(table: Table, layout: Layout, average_over: int = 0) -> Cells:
    """Return a table as weights of the engine: w, or the average ``w - u / average_over``.

    `average_over`: the number of sentences visited so far, C; 0 for w.
    """
    w, u = table.values[:2]
    if average_over:
        w = w - u / np.float32(average_over)
    kept = w != 0
    cells, w = table.cells[kept], w[kept]
    cuts, labels = _cuts(layout), layout.labels
    ends = np.searchsorted(cells, cuts)
    found: list[IntArray | FloatArray] = []
    for kind, (rows, width) in enumerate(
        [(layout.rows, layout.width), (layout.edges, labels**2), (_trigram_rows(layout), labels)]
    ):
        span = slice(ends[kind], ends[kind + 1])
        row, column = np.divmod(cells[span] - cuts[kind], width)
        ptr = pointers(np.bincount(row, minlength=rows))
        found += [ptr, column.astype(np.int32), w[span]]
    chain = np.zeros(layout.chain, np.float32)
    chain[cells[ends[3] :] - cuts[3]] = w[ends[3] :]
    return Cells._make([*found, chain])


def _trigram_rows(layout: Layout) -> int:
    """Return the number of pairs of the two previous labels, or of the start and a label."""
    return (layout.labels + 1) * layout.labels if layout.order == 2 else 0


def _cuts(layout: Layout) -> list[int]:
    """Return where the numbers of emission, edge, trigram and chain cells begin, and the end."""
    labels = layout.labels
    sizes = [layout.rows * layout.width, layout.edges * labels**2, _trigram_rows(layout) * labels]
    return [0, *np.cumsum([*sizes, layout.chain], dtype=np.int64).tolist()]


def places(numbers: NDArray[Any], wanted: NDArray[Any]) -> tuple[IntArray, BoolArray]:
    """Find numbers among ascending ones.

    Parameters
    ----------
    numbers
        Ascending integers without repetitions; there may be none.
    wanted
        Integers in any order.

    Returns
    -------
    place, here
        For each of `wanted`, its index in `numbers`, and whether it is there. If it is not, the
        index is that of another number, or 0.
    """
    place = np.searchsorted(numbers, wanted).clip(max=max(len(numbers) - 1, 0))
    here = numbers[place] == wanted if len(numbers) else np.zeros(len(wanted), bool)
    return place, here
