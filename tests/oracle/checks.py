"""Argument checks that the kernel makes and the reference leaves out, with the same messages."""

from __future__ import annotations

import numpy as np

from seqtag.engine.arrays import (
    MAX_BIGRAMS,
    MAX_CLASSES,
    MAX_TRIGRAM_LABELS,
    RULES,
    Allowed,
    Bigrams,
    BoolArray,
    Cells,
    Cost,
    HashArray,
    Instances,
    IntArray,
    KeyPlan,
    Layout,
    State,
)
from seqtag.engine.checks import ascending, ascending_within, check_parts, require, within

MAX_BIGRAM_LABELS = 46_339
"""Labels with first order: the K (K + 2) weights of the chain are numbered in 32 bits."""

MAX_ROWS = 2**31 - 1
"""Emission rows, edge rows, and tokens at a time: they are numbered in 32 bits."""


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


def check_instances(layout: Layout, x: Instances) -> None:
    """Refuse an inconsistent corpus, or one that does not fit the weights."""
    require(x.bundles is None, "expected features written out, found bundles")
    tokens, width = len(x.token_ptr) - 1, len(x.features)
    require(
        tokens >= 0 and ascending(x.sentence_ptr, tokens),
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
        x.token_ptr[0] == 0 and (dense or ascending(x.token_ptr, width)),
        "token_ptr must ascend from 0 to the number of features",
    )
    require(within(x.features, layout.rows), "features holds a row out of range")
    require(
        dense or x.values is None or len(x.values) == width, "values must be as long as features"
    )
    if x.edge_ptr is None or x.edges is None:
        require(x.edge_ptr is x.edges, "edge_ptr and edges go together")
    else:
        require(
            len(x.edge_ptr) == tokens + 1 and ascending(x.edge_ptr, len(x.edges)),
            "edge_ptr must ascend from 0 to the number of edges",
        )
        require(within(x.edges, layout.edges), "edges holds a row out of range")
    if x.set_of is None or x.set_ptr is None or x.set_labels is None:
        none = x.set_of is None and x.set_ptr is None and x.set_labels is None
        require(none, "set_of, set_ptr and set_labels go together")
        return
    ptr, labels = x.set_ptr, x.set_labels
    require(
        ascending(ptr, len(labels)) and bool((ptr[1:] > ptr[:-1]).all()),
        "set_ptr must ascend from 0 to the number of labels, and no set may be empty",
    )
    require(
        len(x.set_of) == tokens and within(x.set_of + 1, len(ptr)),
        "set_of must hold the number of a set for each token, or -1",
    )
    require(
        within(labels, layout.labels) and ascending_within(ptr, labels),
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
    require(within(y + several, K + several), "y holds a label id out of range")
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
    require(within(visits, len(x.sentence_ptr) - 1), "visits holds a sentence out of range")
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
            ascending(ptr, len(column)),
            "the state's pointers must ascend from 0 to the number of cells",
        )
        require(len(weight) == len(column), "the state must have a weight for each cell")
        require(
            within(column, width) and ascending_within(ptr, column),
            "the state's columns must ascend within a row and be in range",
        )
    fits = cells.chain.shape == (layout.chain,)
    require(fits, "the state is of other labels or another order")


# --------------------------------------------------------------------------- encoded sentences
def check_columns(
    plan: KeyPlan, types: IntArray, hashes: HashArray, sentence_ptr: IntArray
) -> None:
    """Refuse encoded sentences that do not fit the templates."""
    attributes = len(plan.attribute_column)
    require(hashes.shape[0] == attributes, "hashes must hold one row per attribute")
    require(types.shape[1] <= MAX_ROWS, "types must hold 2147483647 tokens at most")
    require(within(plan.attribute_column, types.shape[0]), "unknown column")
    require(attributes == 0 or within(types, hashes.shape[1]), "types holds an id out of range")
    require(
        ascending(sentence_ptr, types.shape[1]),
        "sentence_ptr must ascend from 0 to the number of tokens",
    )


def check_allowed(allowed: Allowed | None, tokens: int, labels: int) -> None:
    """Refuse allowed labels that do not fit the tokens or the model."""
    if allowed is None:
        return
    require(
        len(allowed.ptr) == tokens + 1 and ascending(allowed.ptr, len(allowed.labels)),
        "allowed_ptr must ascend from 0 to the number of labels listed, one step per token",
    )
    require(within(allowed.labels, labels), "allowed holds a label id out of range")


# --------------------------------------------------------------------------- bigrams
def check_words(words: IntArray, sentence_ptr: IntArray) -> None:
    """Refuse sentences of words that cannot be counted."""
    require((words >= 1).all(), "words must be at least 1")
    require(
        ascending(sentence_ptr, len(words)),
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
        len(ptr) == V + 1 and ascending(ptr, len(after)) and len(counts) == len(after),
        "ptr must ascend from 0 to the number of bigrams, one step per word",
    )
    require(within(after, V), "after holds a word out of range")
    fits = bool((counts >= 1).all()) and counts.sum(dtype=np.int64) <= MAX_BIGRAMS
    require(fits, "counts must be at least 1, and 2**31 - 1 in all")
    require(0 <= open <= MAX_CLASSES and within(classes, MAX_CLASSES), "classes are 4096 at most")
    first = np.bincount(np.repeat(np.arange(V), np.diff(ptr)), counts, V)
    second = np.bincount(after, counts, V)
    require((first == second).all(), "each word must be as often the first as the second of a pair")


# --------------------------------------------------------------------------- lists
def check_named(names: int, ids: IntArray, ptr: IntArray) -> None:
    """Refuse ids without a name, and rows that do not fit the ids."""
    require(ascending(ptr, len(ids)), "ptr must ascend from 0 to the number of ids")
    require(within(ids, names), "an id without a name")
