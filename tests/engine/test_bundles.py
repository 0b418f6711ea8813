"""Features that stand in bundles: what does not fit is refused."""

from __future__ import annotations

import numpy as np
import pytest

from seqtag.engine.arrays import Instances, Layout
from tests.strategies import NATIVE, int32, needs_native

if NATIVE:
    from seqtag.engine import native

pytestmark = needs_native


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bundles": None}, "bundle_ptr and bundles go together"),
        ({"values": np.ones(2)}, "bundles are of features without values"),
        ({"bundle_ptr": np.array([0, 1])}, "bundle_ptr must ascend from 0 to the number of rows"),
        ({"bundles": int32(0, 3)}, "bundles holds a row out of range"),
        ({"features": int32(-2, 0)}, "features holds a row out of range"),
        ({"features": int32(-1, 3)}, "features holds a row out of range"),
    ],
)
def test_bundles_that_do_not_fit_are_refused(change, message):
    x = Instances(np.array([0, 1]), np.array([0, 2]), int32(-1, 0))
    x = x._replace(bundle_ptr=np.array([0, 2]), bundles=int32(1, 2))
    weights = native.Weights(Layout(3, 2, 0), "float64", "perceptron")
    assert weights.decode(x).tolist() == [0]
    for act in (weights.decode, lambda x: weights.train_epoch(x, int32(0), np.array([0]))):
        with pytest.raises(ValueError) as error:
            act(x._replace(**change))
        assert str(error.value).startswith(message)
