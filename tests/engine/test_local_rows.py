"""Local rows that do not fit are refused."""

from __future__ import annotations

import numpy as np
import pytest

from seqtag.engine.arrays import Instances, Layout, LocalRows
from tests.strategies import NATIVE, int32, needs_native

if NATIVE:
    from seqtag.engine import native

pytestmark = needs_native

NUMBERS = np.array([255, 255, 255, 0], np.uint8)
RUNS = np.array([[0, 0, 2, 0], [-1, 0, 1, 0]])
LOCAL = LocalRows(int32(0)[None], np.array([0, 1]), RUNS, int32(0, 0, 0, 0, 0, 0, 2, 1, 2))
X = Instances(
    np.array([0, 1]), np.zeros(0, np.int64), np.zeros(0, np.int32), local=LOCAL, numbers=NUMBERS
)


def changed(run: int, field: int, value: int):
    runs = RUNS.copy()
    runs[run, field] = value
    return {"runs": runs}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"types": int32(-1)[None]}, "types holds an id out of range"),
        ({"types": int32(1)[None]}, "the rows of a run must be as many as its places"),
        ({"types": int32(0, 0)[None]}, "sentence_ptr must ascend from 0 to the number of tokens"),
        ({"sentence_ptr": np.array([0, 2])}, "the sentences of local rows must ascend"),
        ({"rows": int32(0, 0, 0, 0, 0, 0, 2, 1, 3)}, "rows holds a row out of range"),
        ({"rows": int32(0, 0, 0, 0, 0, 0, 3, 1, 2)}, "rows holds a row out of range"),
        ({"rows": int32(0, 0, 0, 0, 0, 0, -1, 1, 2)}, "rows holds a row out of range"),
        ({"runs": RUNS[:0]}, "runs must be (runs, 4), one of them at least"),
        ({"runs": RUNS[:1]}, "numbers must hold one for each token and run without a column"),
        (changed(0, 0, 1), "a run looks at an unknown column"),
        (changed(0, 1, 1001), "an offset must be -1000 to 1000"),
        (changed(0, 2, 0), "a run must have templates, or just one"),
        (changed(1, 2, 2), "a run must have templates, or just one"),
        (changed(0, 2, 3), "the rows of a run must be as many as its places"),
        (changed(0, 3, 1), "the rows of a run must be as many as its places"),
    ],
)
def test_local_rows_that_do_not_fit_are_refused(change, message):
    refused(X._replace(local=LOCAL._replace(**change)), message)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        (NUMBERS[:3], "numbers must hold one for each token and run without a column"),
        (np.zeros(6, np.uint8), "numbers must hold one for each token and run without a column"),
        (np.array([3, 0, 0, 0], np.uint8), "numbers holds a row out of range"),
        (None, "local and numbers go together"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(numbers, message):
    refused(X._replace(numbers=numbers), message)


@pytest.mark.parametrize("change", [{"features": int32(0)}, {"values": np.ones(1)}])
def test_local_rows_are_all_rows(change):
    weights = native.Weights(Layout(3, 2, 0), "float64", "perceptron")
    assert weights.decode(X).tolist() == [0]
    refused(X._replace(**change), "local rows are all rows, without values")


def refused(x: Instances, message: str) -> None:
    weights = native.Weights(Layout(3, 2, 0), "float64", "perceptron")
    for act in (weights.decode, lambda x: weights.train_epoch(x, int32(0), np.array([0]))):
        with pytest.raises(ValueError) as error:
            act(x)
        assert str(error.value).startswith(message)
