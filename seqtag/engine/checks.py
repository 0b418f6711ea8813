"""Argument checks of the reference: every number that it indexes with or divides by.

Arrays of a damaged model file, or of a wrong call, are refused here. The kernel makes the same
checks with the same messages in its ``bind_*.cpp``; tests compare both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seqtag.engine.arrays import (
    EXACT_FLOAT,
    MAX_BIGRAM_LABELS,
    MAX_BIGRAMS,
    MAX_CLASSES,
    MAX_LABELS,
    MAX_OFFSET,
    MAX_ROWS,
    MAX_TRIGRAM_LABELS,
    MAX_WORDS,
    RULES,
    Allowed,
    Bigrams,
    BoolArray,
    Cells,
    Cost,
    Instances,
    IntArray,
    KeyPlan,
    LabelComponents,
    LabelsByTags,
    Layout,
    QuantizedWeights,
    Rows,
    State,
    TagDictionary,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seqtag.engine.arrays import HashArray


def require(ok: object, message: str) -> None:
    """Raise ValueError with the message unless `ok`."""
    if not ok:
        raise ValueError(message)


def _ascending(ptr: IntArray, end: int) -> bool:
    """Return whether pointers ascend from 0 to `end`."""
    return len(ptr) > 0 and ptr[0] == 0 and ptr[-1] == end and bool((np.diff(ptr) >= 0).all())


def _within(values: IntArray, limit: int) -> bool:
    """Return whether all values are in range(limit)."""
    numbers = np.asarray(values)
    return bool((numbers >= 0).all() and (numbers < limit).all())


def _ascending_within(ptr: IntArray, values: IntArray | NDArray[np.uint16]) -> bool:
    """Return whether the values of each row ascend."""
    first = np.zeros(len(values) + 1, bool)
    first[ptr] = True  # of its row, or beyond the last
    return bool((first[1:-1] | (values[1:].astype(np.int64) > values[:-1])).all())


# --------------------------------------------------------------------------- training
def check_layout(layout: Layout) -> None:
    """Refuse a layout whose weights cannot be numbered."""
    rows, labels, order, edges, parts = layout
    require(
        0 <= rows <= MAX_ROWS and 0 <= edges <= MAX_ROWS, "rows and edges must be 0 to 2147483647"
    )
    require(labels > 0, "labels must be at least 1")
    require(0 <= order <= 2, "order must be 0, 1 or 2")
    require(order < 1 or labels <= MAX_BIGRAM_LABELS, "first order is for 46339 labels at most")
    require(order < 2 or labels <= MAX_TRIGRAM_LABELS, "second order is for 255 labels at most")
    require(
        edges == 0 or labels <= MAX_TRIGRAM_LABELS,
        "label bigrams that see words are for 255 labels at most",
    )
    if parts is not None:
        check_parts(parts, labels)


def check_parts(parts: LabelComponents, labels: int) -> None:
    """Refuse components that do not fit the labels."""
    require(
        len(parts.ptr) == labels + 1 and _ascending(parts.ptr, len(parts.part)),
        "part_ptr must ascend from 0 to the number of parts listed, one step per label",
    )
    require(parts.number > 0, "labels made of parts must have at least one part")
    require(_within(parts.part, parts.number), "part holds a part out of range")


def check_instances(layout: Layout, x: Instances) -> None:
    """Refuse an inconsistent corpus, or one that does not fit the weights."""
    require(x.bundles is None, "expected features written out, found bundles")
    tokens, width = len(x.token_ptr) - 1, len(x.features)
    require(
        tokens >= 0 and _ascending(x.sentence_ptr, tokens),
        "sentence_ptr must ascend from 0 to the number of tokens",
    )
    dense = (
        tokens > 1
        and x.values is not None
        and width > 0
        and len(x.values) == tokens * width
        and bool((np.diff(x.token_ptr) == width).all())
    )
    require(
        x.token_ptr[0] == 0 and (dense or _ascending(x.token_ptr, width)),
        "token_ptr must ascend from 0 to the number of features",
    )
    require(_within(x.features, layout.rows), "features holds a row out of range")
    require(
        dense or x.values is None or len(x.values) == width, "values must be as long as features"
    )
    if x.edge_ptr is None or x.edges is None:
        require(x.edge_ptr is x.edges, "edge_ptr and edges go together")
    else:
        require(
            len(x.edge_ptr) == tokens + 1 and _ascending(x.edge_ptr, len(x.edges)),
            "edge_ptr must ascend from 0 to the number of edges",
        )
        require(_within(x.edges, layout.edges), "edges holds a row out of range")
    if x.set_of is None or x.set_ptr is None or x.set_labels is None:
        none = x.set_of is None and x.set_ptr is None and x.set_labels is None
        require(none, "set_of, set_ptr and set_labels go together")
        return
    ptr, labels = x.set_ptr, x.set_labels
    require(
        _ascending(ptr, len(labels)) and bool((ptr[1:] > ptr[:-1]).all()),
        "set_ptr must ascend from 0 to the number of labels, and no set may be empty",
    )
    require(
        len(x.set_of) == tokens and _within(x.set_of + 1, len(ptr)),
        "set_of must hold the number of a set for each token, or -1",
    )
    require(
        _within(labels, layout.labels) and _ascending_within(ptr, labels),
        "set_labels must ascend within a set and be in range",
    )


def check_epoch(
    layout: Layout,
    x: Instances,
    y: IntArray,
    visits: IntArray,
    rule: str,
    cost: Cost | None,
    adaptive: bool,
    choices: BoolArray | None = None,
) -> None:
    """Refuse invalid arguments of an epoch."""
    K = layout.labels
    check_instances(layout, x)
    require(len(y) == len(x.token_ptr) - 1, "y must hold one label per token")
    several = 0 if choices is None else len(choices)
    require(_within(y + several, K + several), "y holds a label id out of range")
    require(
        choices is None or (np.shape(choices)[1:] == (K,) and np.any(choices, axis=1).all()),
        "choices must be (C, K), with a label in every row",
    )
    if x.set_of is not None and x.set_ptr is not None and x.set_labels is not None:
        restricted = np.flatnonzero(x.set_of >= 0)
        inside = np.zeros((len(x.set_ptr) - 1, K), bool)
        inside[np.repeat(np.arange(len(inside)), np.diff(x.set_ptr)), x.set_labels] = True
        gold = y[restricted]
        require(
            bool((gold >= 0).all() and inside[x.set_of[restricted], gold].all()),
            "y must hold a label of the token's set",
        )
    require(_within(visits, len(x.sentence_ptr) - 1), "visits holds a sentence out of range")
    require(cost is None or np.shape(cost) in ((), (K, K)), "cost must be a number or (K, K)")
    require(rule in RULES, f"rule must be {', '.join(RULES[:-1])} or {RULES[-1]}")
    require(
        rule != "adaptive" or adaptive,
        "these weights were made without room for the adaptive rule",
    )


def check_state(layout: Layout, state: State) -> None:
    """Refuse a state that does not fit the layout."""
    require(state.seen >= 0, "seen must be at least 0")
    for cells in (state.w, state.u, state.g):
        if cells is not None:
            _check_cells(layout, cells)


def _check_cells(layout: Layout, cells: Cells) -> None:
    """Refuse cells of a state that do not fit the layout."""
    K = layout.labels
    trigrams = (K + 1) * K if layout.order == 2 else 0
    for ptr, column, weight, rows, width in (
        (cells.row_ptr, cells.label, cells.weight, layout.rows, layout.width),
        (cells.edge_ptr, cells.edge_label, cells.edge_weight, layout.edges, K * K),
        (cells.trigram_ptr, cells.trigram_label, cells.trigram_weight, trigrams, K),
    ):
        require(len(ptr) == rows + 1, "the state is of other rows")
        require(
            _ascending(ptr, len(column)),
            "the state's pointers must ascend from 0 to the number of cells",
        )
        require(len(weight) == len(column), "the state must have a weight for each cell")
        require(
            _within(column, width) and _ascending_within(ptr, column),
            "the state's columns must ascend within a row and be in range",
        )
    fits = cells.chain.shape == (layout.chain,)
    require(fits, "the state is of other labels or another order")


def no_room(layout: Layout) -> MemoryError:
    """Return the error for weights that do not fit into memory."""
    gigabytes = layout.memory() / 2**30
    msg = (
        f"expected room for weights of {layout.rows} rows, {layout.labels} labels and order "
        f"{layout.order}, about {gigabytes:.1f} GB, found too little memory; choose fewer "
        "features, a lower order, or another label column"
    )
    return MemoryError(msg)


# --------------------------------------------------------------------------- keys
def check_plan(plan: KeyPlan) -> None:
    """Refuse inconsistent templates."""
    terms = len(plan.term_attribute)
    require(
        _ascending(plan.term_ptr, terms) and len(plan.term_offset) == terms,
        "term arrays do not fit together",
    )
    require(len(plan.seed) + 1 == len(plan.term_ptr), "one seed per template")
    require(_within(plan.term_attribute, len(plan.attribute_column)), "unknown attribute")
    longest = np.diff(plan.term_ptr).max(initial=0)
    require(longest <= len(plan.multiplier), "conjunction too long")
    require(0 <= plan.shift < 64, "shift must be 0 to 63")
    require(
        (np.abs(plan.term_offset.astype(np.int64)) <= MAX_OFFSET).all(),
        "an offset must be -1000 to 1000",
    )


def check_columns(
    plan: KeyPlan, types: IntArray, hashes: HashArray, sentence_ptr: IntArray
) -> None:
    """Refuse encoded sentences that do not fit the templates."""
    attributes = len(plan.attribute_column)
    require(hashes.shape[0] == attributes, "hashes must hold one row per attribute")
    require(types.shape[1] <= MAX_ROWS, "types must hold 2147483647 tokens at most")
    require(_within(plan.attribute_column, types.shape[0]), "unknown column")
    require(attributes == 0 or _within(types, hashes.shape[1]), "types holds an id out of range")
    require(
        _ascending(sentence_ptr, types.shape[1]),
        "sentence_ptr must ascend from 0 to the number of tokens",
    )


# --------------------------------------------------------------------------- the frozen model
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


def check_allowed(allowed: Allowed | None, tokens: int, labels: int) -> None:
    """Refuse allowed labels that do not fit the tokens or the model."""
    if allowed is None:
        return
    require(
        len(allowed.ptr) == tokens + 1 and _ascending(allowed.ptr, len(allowed.labels)),
        "allowed_ptr must ascend from 0 to the number of labels listed, one step per token",
    )
    require(_within(allowed.labels, labels), "allowed holds a label id out of range")


def _check_rows(rows: Rows, width: int) -> None:
    """Refuse rows whose arrays do not fit together."""
    keys, ptr, cells = rows.keys, rows.row_ptr, len(rows.labels)
    require(3 * len(keys) + cells + 1 < MAX_WORDS, "rows and cells are more than 2**31 words hold")
    require(
        len(ptr) == len(keys) + 1 and _ascending(ptr, cells),
        "row_ptr must ascend from 0 to the number of cells",
    )
    require(len(rows.weights) == cells, "cell labels and weights differ in length")
    require((rows.labels < width).all(), "a cell's label is out of range")
    require(_ascending_within(ptr, rows.labels), "the labels of a row must ascend")
    require(keys.all() and (keys[1:] > keys[:-1]).all(), "keys must ascend")


# --------------------------------------------------------------------------- bigrams
def check_words(words: IntArray, sentence_ptr: IntArray) -> None:
    """Refuse sentences of words that cannot be counted."""
    require((words >= 1).all(), "words must be at least 1")
    require(
        _ascending(sentence_ptr, len(words)),
        "sentence_ptr must ascend from 0 to the number of tokens",
    )


def check_numbers(numbers: IntArray, last: int) -> None:
    """Refuse negative numbers, or too few for the words up to `last`."""
    require(len(numbers) > last, "numbers must hold one number per word")
    require((numbers >= 0).all(), "numbers must be at least 0")


def check_exchange(bigrams: Bigrams, classes: IntArray, open: int) -> None:
    """Refuse bigrams and classes that do not fit together."""
    ptr, after, counts = bigrams
    V = len(classes)
    require(
        len(ptr) == V + 1 and _ascending(ptr, len(after)) and len(counts) == len(after),
        "ptr must ascend from 0 to the number of bigrams, one step per word",
    )
    require(_within(after, V), "after holds a word out of range")
    fits = bool((counts >= 1).all()) and counts.sum(dtype=np.int64) <= MAX_BIGRAMS
    require(fits, "counts must be at least 1, and 2**31 - 1 in all")
    require(0 <= open <= MAX_CLASSES and _within(classes, MAX_CLASSES), "classes are 4096 at most")
    first = np.bincount(np.repeat(np.arange(V), np.diff(ptr)), counts, V)
    second = np.bincount(after, counts, V)
    require((first == second).all(), "each word must be as often the first as the second of a pair")


# --------------------------------------------------------------------------- lists
def check_named(names: int, ids: IntArray, ptr: IntArray) -> None:
    """Refuse ids without a name, and rows that do not fit the ids."""
    require(_ascending(ptr, len(ids)), "ptr must ascend from 0 to the number of ids")
    require(_within(ids, names), "an id without a name")
