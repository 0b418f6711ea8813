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

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.engine.arrays import Cells, CellStates, Layout, State, pointers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from seqtag.engine.arrays import FloatArray, IntArray


def union(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers of two ascending arrays, ascending, each once.

    `numpy.union1d` takes fifty times as long where it hashes numbers instead of sorting them.

    >>> union(np.array([2, 5]), np.array([1, 5])).tolist()
    [1, 2, 5]
    """
    both = np.sort(np.concatenate([one, other]), kind="stable")
    is_new = np.ones(len(both), bool)
    is_new[1:] = both[1:] != both[:-1]
    return both[is_new]


def add_by_key(
    keys: NDArray[Any], sums: NDArray[Any], more_keys: NDArray[Any], more: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Add columns of numbers to those that have the same key.

    Parameters
    ----------
    keys, more_keys
        Keys of the columns, ascending, without repetitions.
    sums, more
        The columns, (n, keys).

    Examples
    --------
    >>> found = add_by_key(*map(np.array, ([2, 5], [[1, 1]], [1, 5], [[3, 3]])))
    >>> [each.tolist() for each in found]
    [[1, 2, 5], [[3, 1, 4]]]
    """
    every = union(keys, more_keys)
    total = np.zeros((len(sums), len(every)), sums.dtype)
    total[:, np.searchsorted(every, keys)] = sums
    total[:, np.searchsorted(every, more_keys)] += more
    return every, total


class Table(NamedTuple):
    """The cells that ever changed, by number.

    Attributes
    ----------
    cells
        Their numbers, (n,) int64, ascending.
    values
        w, u and g of each: (3, n) float32.
    """

    cells: IntArray
    values: FloatArray

    @classmethod
    def empty(cls) -> Table:
        """Return the table of weights that are all 0, which has no cells."""
        return cls(np.zeros(0, np.int64), np.zeros((3, 0), np.float32))

    def at(self, cells: IntArray) -> FloatArray:
        """Return the values of cells, (3, cells), which are 0 for cells that never changed."""
        place = np.searchsorted(self.cells, cells)
        here = np.append(self.cells, -1)[place] == cells
        found = np.zeros((3, len(cells)), np.float32)
        found[:, here] = self.values[:, place[here]]
        return found

    def changes(self, before: Table) -> Table:
        """Return the cells whose values were others before, with their values now."""
        cells = union(before.cells, self.cells)
        values = self.at(cells)
        changed = (values != before.at(cells)).any(axis=0)
        return Table(cells[changed], values[:, changed])


class ShardRows(NamedTuple):
    """Rows of the features that occur in a shard, by their numbers among those of all shards.

    Attributes
    ----------
    layout
        Shape of the weights of all shards.
    rows, edges
        Row i of the shard alone is row ``rows[i]`` of all, and so are the edge rows; int64.
    """

    layout: Layout
    rows: IntArray
    edges: IntArray

    @classmethod
    def all_of(cls, layout: Layout) -> ShardRows:
        """Return all rows of a layout."""
        return cls(layout, np.arange(layout.rows), np.arange(layout.edges))

    @property
    def own(self) -> Layout:
        """Shape of the weights of the shard alone."""
        return self.layout._replace(rows=len(self.rows), edges=len(self.edges))

    def blocks(self) -> list[tuple[int, IntArray, int, int]]:
        """Return the blocks of cells: emission, edge, and trigram rows, and the chain as one row.

        Of each: its first cell, the shard's rows, the number of all rows, the cells of a row.
        """
        rows, labels, order, edges, _ = self.layout
        trigrams = (labels + 1) * labels if order == 2 else 0
        edge = rows * self.layout.width
        trigram = edge + edges * labels**2
        chain = trigram + trigrams * labels
        return [
            (0, self.rows, rows, self.layout.width),
            (edge, self.edges, edges, labels**2),
            (trigram, np.arange(trigrams), trigrams, labels),
            (chain, np.arange(1), 1, self.layout.chain),
        ]

    def state(self, table: Table, seen: int = 0) -> State:
        """Return the shard's cells of a table as a state of the engine, after `seen` sentences."""
        parts = []
        for first, own, rows, width in self.blocks():
            cuts = np.searchsorted(table.cells, first + np.arange(rows + 1) * width)
            start, length = cuts[own], cuts[own + 1] - cuts[own]
            ptr = pointers(length)
            place = np.repeat(start - ptr[:-1], length) + np.arange(ptr[-1])
            column = table.cells[place] - np.repeat(first + own * width, length)
            parts.append(CellStates(ptr, column.astype(np.int32), *table.values[:, place]))
        emission, edge, trigram, last = parts
        chain = np.zeros((3, self.layout.chain), np.float32)
        chain[:, last.column] = last[2:]
        return State(emission, edge, trigram, chain, seen)

    def table(self, state: State) -> Table:
        """Return a state of the engine for the shard as a table; the inverse of `state`."""
        column = np.flatnonzero(state.chain.any(axis=0))
        chain = CellStates(pointers([len(column)]), column, *state.chain[:, column])
        parts = [state.emission, state.edge, state.trigram, chain]
        cells = np.concatenate(
            [
                first + np.repeat(own * width, np.diff(part.ptr)) + part.column
                for (first, own, _, width), part in zip(self.blocks(), parts, strict=True)
            ]
        )
        order = np.argsort(cells)
        values = np.concatenate([np.stack([part.w, part.u, part.g]) for part in parts], axis=1)
        return Table(cells[order], values[:, order])

    def weights(self, table: Table, average_over: int = 0) -> Cells:
        """Return a table as weights of the engine: w, or the average ``w - u / average_over``.

        `average_over`: the number of sentences visited so far, C; 0 for w.
        """
        values = table.values.copy()
        if average_over:
            values[0] -= values[1] / np.float32(average_over)
        kept = values[0] != 0
        state = self.state(Table(table.cells[kept], values[:, kept]))
        rows = (state.emission, state.edge, state.trigram)
        return Cells._make([*(array for part in rows for array in part[:3]), state.chain[0]])


def mix_weights(
    before: Table, after: Iterable[Table], sentences: Sequence[int], rounds: int
) -> Table:
    """Return the mixed weights after a round; memory does not depend on the number of shards.

    Parameters
    ----------
    before
        The weights that all shards started from.
    after
        The cells that each shard changed, with their new values, in the order of the shards.
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
    >>> one = Table(np.array([3]), np.array([[2], [0], [0]], np.float32))
    >>> two = Table(np.array([3, 7]), np.array([[5, 1], [0, 0], [0, 0]], np.float32))
    >>> mix_weights(Table.empty(), [one, two], [1, 2], 1).values[0]
    array([4., 1.], dtype=float32)
    """
    every = sum(sentences)
    cells, sums = np.zeros(0, np.int64), np.zeros((6, 0))
    for table, own in zip(after, sentences, strict=True):
        w, u, g = table.values.astype(np.float64)
        old = before.at(table.cells)[0].astype(np.float64)
        ones = np.ones(len(w))
        terms = np.stack([own * ones, ones, own * w, own / every * (w - old), u, own * g])
        cells, sums = add_by_key(cells, sums, table.cells, terms)
    seen, shards, w, moved, u, g = sums
    old = before.at(cells).astype(np.float64)
    values = np.empty((3, len(cells)), np.float32)
    values[0], values[2] = w / seen, g / seen
    jump = (values[0] - old[0]) - moved
    values[1] = u - (shards - 1) * old[1] + rounds * every * jump

    both = union(before.cells, cells)
    mixed = before.at(both)
    mixed[:, np.searchsorted(both, cells)] = values
    kept = mixed.any(axis=0)
    return Table(both[kept], mixed[:, kept])
