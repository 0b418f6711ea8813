"""Arrays that do not fit together: each function of the kernel refuses them, and none crashes.

seqtag passes no such arrays. Those that a model file may hold are refused on either backend: see
`tests.engine.test_frozen`.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from seqtag.engine.arrays import (
    Allowed,
    Bigrams,
    Cells,
    Instances,
    LabelComponents,
    Layout,
    LocalRows,
    QuantizedWeights,
    State,
    pointers,
)
from seqtag.engine.keys import key_plan
from seqtag.segmentation.characters import BASE
from tests.strategies import NATIVE, NO_ROWS, changed, int32, needs_native

if TYPE_CHECKING:
    from collections.abc import Callable

if NATIVE:
    from seqtag.engine import native

pytestmark = needs_native


def int64(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


# ----------------------------------------------------------------- learning
def weights(**options: Any) -> Any:
    return native.Weights(Layout(3, 3, 1, 1), "float64", "perceptron", **options)


TWO_TOKENS = {
    "sentence_ptr": int64(0, 1, 2),
    "token_ptr": int64(0, 1, 3),
    "features": int32(0, 1, 2),
    "edge_ptr": int64(0, 0, 1),
    "edges": int32(0),
    "set_of": int32(0, 1),
    "set_ptr": int64(0, 2, 3),
    "set_labels": int32(0, 1, 2),
}


def learn(y: Any, visits: Any, cost: Any, choices: Any = None, **x: Any) -> None:
    instances = Instances(**x)
    weights().train_epoch(instances, y, visits, "pa", 1.0, cost, False, None, choices)
    if (y >= 0).all():
        weights().decode(instances)


def learn_locally(types: Any, sentence_ptr: Any, runs: Any, rows: Any, numbers: Any) -> None:
    local, none = LocalRows(types, sentence_ptr, runs, rows), np.zeros(0)
    x = Instances(
        int64(0, 1), none.astype(np.int64), none.astype(np.int32), local=local, numbers=numbers
    )
    native.Weights(Layout(3, 2, 0)).train_epoch(x, int32(0), int64(0))


def cells(**changes: np.ndarray) -> Cells:
    def rows(count: int) -> tuple[np.ndarray, ...]:
        return np.minimum(np.arange(count + 1), 1) * 2, int32(0, 2), np.ones(2, np.float32)

    return Cells(*rows(3), *rows(1), *rows(12), np.zeros(15, np.float32))._replace(**changes)


def go_on(**changes: np.ndarray) -> None:
    for part in ("w", "u", "g"):
        state = State(cells(), cells(), cells(), 4)._replace(**{part: cells(**changes)})
        native.Weights(Layout(3, 3, 2, 1), state=state)


def components(ptr: Any, part: Any) -> None:
    native.Weights(Layout(1, 2, parts=LabelComponents(ptr, part, 2)))


def drop(token_ptr: Any, features: Any, shares: Any, state: Any) -> None:
    twister = SimpleNamespace(get_state=lambda legacy: {"state": {"key": state, "pos": 624}})
    native.drop_features(token_ptr, features, shares, twister)


# ----------------------------------------------------------------- decoding
PLAN, NO_PLAN = key_plan([((0, 0),), ((0, -1), (0, 0))], [0]), key_plan([], [0], 2)
ENCODED = {
    "types": int32([0, 1, 2]),
    "hashes": np.ones((1, 4), np.uint64),
    "sentence_ptr": int64(0, 2, 3),
}


def decoder(plan: Any = PLAN) -> Any:
    chain = (np.zeros(shape, np.float32) for shape in (2, 2, (2, 2)))
    return native.Decoder(1, plan, NO_PLAN, QuantizedWeights(NO_ROWS, NO_ROWS, NO_ROWS, *chain))


def decode(types: Any, hashes: Any, sentence_ptr: Any, groups: Any, ptr: Any, ids: Any) -> None:
    sentences, allowed = (types, hashes, sentence_ptr), Allowed(ptr, ids)
    made = decoder()
    made.decode(*sentences, made.workspace(), allowed)
    made.margins(*sentences, groups, made.workspace(), allowed)
    made.n_best(*sentences, 2, made.workspace(), allowed)


def index(types: Any, hashes: Any, sentence_ptr: Any, **plan: Any) -> None:
    changed_plan = PLAN._replace(**plan)
    decoder(changed_plan)
    native.index_features(changed_plan, types, hashes, sentence_ptr, 1)


# ----------------------------------------------------------------- words and classes
def count(words: Any, sentence_ptr: Any, numbers: Any) -> None:
    counter = native.BigramCounter()
    counter.add(words, sentence_ptr)
    counter.table(numbers)


def exchange(ptr: Any, after: Any, counts: Any, classes: Any) -> None:
    native.ExchangeClustering(Bigrams(ptr, after, counts), classes, 2).visit(1, 2)


def splice(labels: Any) -> None:
    native.Scanner(2, "\t", -1, False, [0], [1]).scan(b"a\tX\nb\tY\n", True).splice(
        [(labels, [b"N", b"V"])]
    )


def write(labels: Any, columns: Any, numbers: Any) -> None:
    rows = native.WordScanner().scan_lines(b"a b\n")
    rows.json([b"x"], [(labels, [b"N", b"V"])], 0)
    rows.conllu(columns.tolist(), [(labels, [b"N", b"V"])], numbers, [], [])


def scan(starts: Any, ends: Any, sentence_ends: Any, ranges: Any, words: Any) -> None:
    parts = [b"a", b"b"]
    native.WordScanner().scan_tokens(b"\tab!", starts, ends, sentence_ends, ranges, words, parts)


def number(codes: Any, kinds: Any, text: Any) -> None:
    characters = native.Characters([[0]], [])
    characters.learn(codes, kinds)
    characters.split(text)


CALLS: dict[str, tuple[Callable[..., None], dict[str, np.ndarray]]] = {
    "train_epoch": (
        learn,
        {**TWO_TOKENS, "y": int32(0, 2), "visits": int64(1, 0), "cost": 1.0 - np.eye(3)},
    ),
    "train_epoch with choices": (
        learn,
        {
            **{k: v for k, v in TWO_TOKENS.items() if k[:3] != "set"},
            **{"y": int32(0, -1), "visits": int64(0, 1), "cost": 1.0 - np.eye(3)},
            "choices": np.array([[True, False, True]]),
        },
    ),
    "train_epoch with local rows": (
        learn_locally,
        {
            "types": int32(0)[None],
            "sentence_ptr": int64(0, 1),
            "runs": np.array([[0, 0, 2, 0], [-1, 0, 1, 0]]),
            "rows": int32(0, 0, 0, 0, 0, 0, 2, 1, 2),
            "numbers": np.array([255, 255, 255, 0], np.uint8),
        },
    ),
    "Weights of a state": (go_on, cells()._asdict()),
    "Weights of parts": (components, {"ptr": int64(0, 1, 2), "part": int32(0, 1)}),
    "drop_features": (
        drop,
        {
            "token_ptr": int64(0, 1, 2),
            "features": int32(0, 1),
            "shares": np.array([0.5, 0.25]),
            "state": np.ones(624, np.uint32),
        },
    ),
    "Decoder": (
        decode,
        {**ENCODED, "groups": int32(0, 1), "ptr": int64(0, 0, 1, 1), "ids": int32(1)},
    ),
    "index_features": (
        index,
        {
            **ENCODED,
            "term_ptr": PLAN.term_ptr,
            "term_attribute": PLAN.term_attribute,
            "term_offset": PLAN.term_offset,
            "seed": PLAN.seed,
            "multiplier": PLAN.multiplier,
        },
    ),
    "label_lists": (
        lambda ids, ptr: native.label_lists(["a", "b"], ids, ptr),
        {"ids": int32(0, 1), "ptr": int64(0, 1, 2)},
    ),
    "BigramCounter": (
        count,
        {"words": int32(1, 2), "sentence_ptr": int64(0, 1, 2), "numbers": int32(0, 1, 2)},
    ),
    "ExchangeClustering": (
        exchange,
        {
            "ptr": int64(0, 1, 3),
            "after": int32(1, 0, 1),
            "counts": int32(2, 2, 3),
            "classes": int32(1, 0),
        },
    ),
    "Characters": (
        number,
        {
            "codes": np.array([97], np.uint32),
            "kinds": np.array([BASE], np.uint8),
            "text": np.array([97, 97], np.uint32),
        },
    ),
    "splice": (splice, {"labels": int32(1, 0)}),
    "conllu": (write, {"labels": int32(1, 0), "columns": int64(3), "numbers": int64(7)}),
    "scan_tokens": (
        scan,
        {
            "starts": int64(1, 3),
            "ends": int64(3, 4),
            "sentence_ends": int64(1, 2),
            "ranges": int64(0),
            "words": pointers([2]),
        },
    ),
    "TokenNumbers": (
        lambda codes, starts, ends: native.TokenNumbers().number(codes, starts, ends),
        {"codes": np.array([97, 98], np.uint32), "starts": int64(0, 1), "ends": int64(1, 2)},
    ),
}
"""A legal call of each, and its arrays."""


@pytest.mark.parametrize(("name", "array"), [(n, a) for n, (_, all) in CALLS.items() for a in all])
def test_each_array_is_checked(name, array):
    call, arrays = CALLS[name]
    call(**arrays)
    refused = 0
    for other in changed(arrays[array]):
        try:
            call(**{**arrays, array: other})
        except ValueError:
            refused += 1
    assert refused
