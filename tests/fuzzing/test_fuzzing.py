"""The fuzzing itself: every target takes its seeds, some changes to them, and finds what is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.errors import ModelFileError
from seqtag.model.container import from_bytes
from tests.fuzzing.good_models import good_files
from tests.fuzzing.loop import fuzz
from tests.fuzzing.mutated_models import put_together, signed_again, take_apart
from tests.fuzzing.seeds import PIECES, seeds
from tests.fuzzing.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_targets_hold(name, tmp_path):
    some = seeds(name)[:: max(1, len(seeds(name)) // 20)]
    found = fuzz(
        name, TARGETS[name], some, PIECES[name], crashes=tmp_path, seconds=1e6, runs=len(some) + 30
    )
    assert found.failures == 0
    assert found.executions == len(some) + 30
    assert found.accepted > 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", [name for name in TARGETS if PIECES[name] and name != "model-bytes"]
)
@given(data=st.data())
def test_targets_hold_of_what_hypothesis_draws(name, data):
    head = data.draw(st.binary(min_size=4, max_size=4))  # format, columns, and so on
    piece = st.sampled_from(PIECES[name]) | st.sampled_from([b"a", b"1", b"x y", b"\n"])
    TARGETS[name](head + b"".join(data.draw(st.lists(piece, max_size=20))))


@pytest.mark.parametrize("number", range(8))
def test_models_that_are_taken_apart_go_together_again(number):
    data = good_files()[number]
    assert put_together(*take_apart(data)) == signed_again(data) == data
    at = data.index(b"config") - 20
    changed = data.replace(b'\\"seed\\":1', b'\\"seed\\":2')
    assert changed != data
    with pytest.raises(ModelFileError, match="expected the checksum"):
        from_bytes(changed)
    assert from_bytes(signed_again(changed)).config["parts"][0]["training"]["seed"] == 2
    assert signed_again(data[:at]) == data[:at]
