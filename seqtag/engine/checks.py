"""Checks of the arrays of a model before the reference decodes with them.

A damaged model file is refused here. The kernel makes the same checks with the same messages in its
``bind_*.cpp``, which tests compare, and checks all other arguments, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seqtag.engine.arrays import (
    EXACT_FLOAT,
    MAX_LABELS,
    MAX_OFFSET,
    MAX_TRIGRAM_LABELS,
    MAX_WORDS,
    IntArray,
    KeyPlan,
    LabelComponents,
    LabelsByTags,
    Layout,
    QuantizedWeights,
    Rows,
    TagDictionary,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


def require(ok: object, message: str) -> None:
    """Raise ValueError with the message unless `ok`."""
    if not ok:
        raise ValueError(message)


def ascending(ptr: IntArray, end: int) -> bool:
    """Return whether pointers ascend from 0 to `end`."""
    return len(ptr) > 0 and ptr[0] == 0 and ptr[-1] == end and bool((np.diff(ptr) >= 0).all())


def within(values: IntArray, limit: int) -> bool:
    """Return whether all values are in range(limit)."""
    numbers = np.asarray(values)
    return bool((numbers >= 0).all() and (numbers < limit).all())


def ascending_within(ptr: IntArray, values: IntArray | NDArray[np.uint16]) -> bool:
    """Return whether the values of each row ascend."""
    first = np.zeros(len(values) + 1, bool)
    first[ptr] = True  # of its row, or beyond the last
    return bool((first[1:-1] | (values[1:].astype(np.int64) > values[:-1])).all())


def check_parts(parts: LabelComponents, labels: int) -> None:
    """Refuse components that do not fit the labels."""
    require(
        len(parts.ptr) == labels + 1 and ascending(parts.ptr, len(parts.part)),
        "part_ptr must ascend from 0 to the number of parts listed, one step per label",
    )
    require(parts.number > 0, "labels made of parts must have at least one part")
    require(within(parts.part, parts.number), "part holds a part out of range")


def no_room(layout: Layout) -> MemoryError:
    """Return the error for weights that do not fit into memory."""
    gigabytes = layout.memory() / 2**30
    msg = (
        f"expected room for weights of {layout.rows} rows, {layout.labels} labels and order "
        f"{layout.order}, about {gigabytes:.1f} GB, found too little memory; choose fewer "
        "features, a lower order, or another label column"
    )
    return MemoryError(msg)


def check_plan(plan: KeyPlan) -> None:
    """Refuse inconsistent templates."""
    terms = len(plan.term_attribute)
    require(
        ascending(plan.term_ptr, terms) and len(plan.term_offset) == terms,
        "term arrays do not fit together",
    )
    require(len(plan.seed) + 1 == len(plan.term_ptr), "one seed per template")
    require(within(plan.term_attribute, len(plan.attribute_column)), "unknown attribute")
    longest = np.diff(plan.term_ptr).max(initial=0)
    require(longest <= len(plan.multiplier), "conjunction too long")
    require(0 <= plan.shift < 64, "shift must be 0 to 63")
    require(
        (np.abs(plan.term_offset.astype(np.int64)) <= MAX_OFFSET).all(),
        "an offset must be -1000 to 1000",
    )


def check_frozen(
    order: int,
    plan: KeyPlan,
    edge_plan: KeyPlan,
    weights: QuantizedWeights,
    parts: LabelComponents | None,
    known: TagDictionary,
    by_tags: LabelsByTags | None,
) -> None:
    """Refuse a model whose arrays do not fit together, or whose scores could be inexact."""
    check_plan(plan)
    check_plan(edge_plan)
    K = len(weights.start)
    require(0 < K <= MAX_LABELS, "labels must be 1 to 65535")
    require(0 <= order <= 2, "order must be 0, 1 or 2")
    require(order < 2 or K <= MAX_TRIGRAM_LABELS, "second order is for 255 labels at most")
    require(
        not len(weights.edge.keys) or K <= MAX_TRIGRAM_LABELS,
        "label bigrams that see words are for 255 labels at most",
    )
    if parts is not None:
        check_parts(parts, K)
    _check_rows(weights.emission, parts.number if parts else K)
    _check_rows(weights.edge, K * K)
    _check_rows(weights.trigram, K)
    _check_rows(Rows(*known[1:], np.zeros(len(known.labels), np.int8)), K)
    require(-1 <= known.attribute < len(plan.attribute_column), "unknown attribute")
    if by_tags is not None:
        check_plan(by_tags.plan)
        _check_rows(Rows(*by_tags[1:], np.zeros(len(by_tags.labels), np.int8)), K)
        require(
            len(by_tags.plan.seed) in (1, 2) or not len(by_tags.keys),
            "labels by tags need one or two templates",
        )
    shapes = weights.start.shape, weights.stop.shape, weights.transition.shape
    none = order == 0 and shapes[2] == (0, 0)
    require(
        none or shapes == ((K,), (K,), (K, K)),
        "start, stop and transition must be (K,), (K,) and (K, K)",
    )
    most = int(np.diff(parts.ptr).max(initial=1)) if parts else 1
    rows = max(len(plan.seed) * most, len(edge_plan.seed))
    require(rows * 128 <= EXACT_FLOAT, "more rows can meet than 24 bits can sum")
    if order == 2:
        require((weights.trigram.keys <= (K + 1) * K).all(), "a trigram is out of range")


def _check_rows(rows: Rows, width: int) -> None:
    """Refuse rows whose arrays do not fit together."""
    keys, ptr, cells = rows.keys, rows.row_ptr, len(rows.labels)
    require(3 * len(keys) + cells + 1 < MAX_WORDS, "rows and cells are more than 2**31 words hold")
    require(
        len(ptr) == len(keys) + 1 and ascending(ptr, cells),
        "row_ptr must ascend from 0 to the number of cells",
    )
    require(len(rows.weights) == cells, "cell labels and weights differ in length")
    require((rows.labels < width).all(), "a cell's label is out of range")
    require(ascending_within(ptr, rows.labels), "the labels of a row must ascend")
    require(keys.all() and (keys[1:] > keys[:-1]).all(), "keys must ascend")
