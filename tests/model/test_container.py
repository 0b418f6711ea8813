"""The model file: round trips, its bytes, an outside reader, what cannot be written."""

from __future__ import annotations

import json
import os
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import seqtag
from seqtag.errors import ModelFileError
from seqtag.model import container
from seqtag.model.container import from_bytes, load, save, to_bytes
from tests.model_files import CONFIG, entry, refused, same, tiny

CODES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]
# ---- round trips


def test_save_and_load_return_the_same_model(tmp_path):
    path = tmp_path / "m.seqtag"
    size = save(path, CONFIG, tiny())
    config, tensors, *_ = load(path)
    assert size == path.stat().st_size == len(path.read_bytes())
    assert config == CONFIG
    assert same(tensors, tiny())
    assert list(tensors) == sorted(tensors)
    assert path.read_bytes() == to_bytes(CONFIG, tiny())


def test_a_model_is_known_by_its_beginning(tmp_path):
    path = tmp_path / "m.seqtag"
    save(path, CONFIG, tiny())
    assert container.is_model(path)
    path.write_bytes(path.read_bytes()[:40])
    assert container.is_model(path)  # damaged, but meant to be one
    for data in (b"", b"1\tx\n", b'{"__metadata__": 1}'):
        path.write_bytes(data)
        assert not container.is_model(path)
    assert not container.is_model(tmp_path)
    assert not container.is_model(tmp_path / "none")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ARRAYS = st.sampled_from(CODES).flatmap(
    lambda code: npst.arrays(
        code,
        npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
        elements={"allow_nan": False, "allow_infinity": False} if code[0] == "f" else None,
    )
)
NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_.]{0,6}", fullmatch=True)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.dictionaries(NAMES, ARRAYS, max_size=4))
def test_round_trip_of_any_model(config, tensors):
    data = to_bytes(config, tensors)
    got_config, got, *_ = from_bytes(data)
    assert got_config == config
    assert same(got, tensors)
    assert all(a.flags.aligned and not a.flags.writeable for a in got.values())
    assert to_bytes(got_config, got) == data


@pytest.mark.parametrize(
    "array",
    [
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(6.0).reshape(2, 3).T,
        np.arange(10)[::-3],
        np.broadcast_to(np.float32(2), (3, 2)),
        np.arange(4, dtype=">i4"),
    ],
)
def test_any_memory_layout_and_byte_order_is_stored_right(array):
    (got,) = from_bytes(to_bytes({}, {"a": array}))[1].values()
    np.testing.assert_array_equal(got, array)
    assert got.dtype.isnative or sys.byteorder == "big"


def test_what_becomes_of_the_file_after_loading_changes_nothing(tmp_path):
    path = tmp_path / "m.seqtag"
    save(path, CONFIG, tiny())
    old = path.read_bytes()
    tensors = load(path)[1]
    for change in (lambda: os.truncate(path, 10), lambda: path.write_bytes(b"x" * len(old))):
        change()
        assert same(tensors, tiny())
        assert to_bytes(CONFIG, tensors) == old


def test_a_model_is_read_no_further_than_its_header_announces(tmp_path, monkeypatch):
    path = tmp_path / "m.seqtag"
    save(path, CONFIG, tiny())
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(2**40)  # a hole
    with pytest.raises(ModelFileError, match=r"m.seqtag: expected \d+ bytes of data, found \d+"):
        load(path)
    os.truncate(path, size)
    monkeypatch.setattr(container, "MAX_SIZE", 40)
    with pytest.raises(
        ModelFileError, match=r"m.seqtag: expected a model of at most 40 bytes, found a header that"
    ):
        load(path)
    with pytest.raises(ModelFileError, match=r"expected tensors of at most 40 bytes, found \d+"):
        save(path, CONFIG, tiny())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_model_may_come_through_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    data = to_bytes(CONFIG, tiny())
    thread = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[data])
    thread.start()
    assert same(load(tmp_path / "pipe")[1], tiny())
    thread.join()


# ---- bytes


def test_bytes_depend_on_values_only():
    first = to_bytes(CONFIG, tiny())
    backwards = dict(reversed(tiny().items()))
    assert to_bytes(dict(reversed(CONFIG.items())), backwards) == first


def test_literal_bytes():
    data = to_bytes({"k": "é"}, {"b": np.array([1, 2], "u1"), "a": np.array([1], ">u2")})
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    assert length % 8 == 0
    assert data[8 + length :] == b"\x01\x00\x01\x02"
    inner = json.loads(header.pop("__metadata__")["seqtag"])
    assert header == {"a": entry("U16", [1], 0, 2), "b": entry("U8", [2], 2, 4)}
    assert len(inner.pop("sha256")) == 64
    writer = f"seqtag {seqtag.__version__}"
    assert inner == {"config": {"k": "é"}, "format": 5, "writer": writer}
    assert data[8 : 8 + length].isascii()


def test_the_safetensors_library_reads_our_files(tmp_path):
    safetensors = pytest.importorskip("safetensors")
    numpy_api = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "m.seqtag"
    tensors = tiny() | {f"t.{code}": np.arange(3).astype(code) for code in CODES}
    save(path, CONFIG, tensors)
    assert same(numpy_api.load_file(path), tensors)
    with safetensors.safe_open(path, "np") as file:
        assert json.loads(file.metadata()["seqtag"])["config"] == CONFIG


def test_we_refuse_other_safetensors_files():
    numpy_api = pytest.importorskip("safetensors.numpy")
    assert "this is not a seqtag model" in refused(numpy_api.save(tiny()))


# ---- what cannot be written


@pytest.mark.parametrize(
    "config", [{"a": {1}}, {"a": float("nan")}, {"a": 10**30}, {"a": (1, 2)}, {1: "a"}]
)
def test_configurations_that_json_would_change_are_refused(config, tmp_path):
    with pytest.raises(ModelFileError, match="JSON returns unchanged, found") as caught:
        save(tmp_path / "m.seqtag", config, {})
    assert caught.value.source == str(tmp_path / "m.seqtag")
    assert not list(tmp_path.iterdir())


def test_a_configuration_beyond_the_header_cap_is_refused(monkeypatch):
    monkeypatch.setattr(container, "MAX_HEADER", 1000)
    with pytest.raises(ModelFileError, match=r"a header of at most 1000 bytes.*pack_strings"):
        to_bytes({"labels": ["N"] * 1000}, {})
