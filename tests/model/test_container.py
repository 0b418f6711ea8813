"""The model file: round trips, an outside reader, damage of every kind, faults while saving."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import seqtag
from seqtag.errors import ModelFileError
from seqtag.model import container as model_file
from seqtag.model.container import (
    FORMAT_VERSION,
    expect,
    from_bytes,
    load,
    pack_strings,
    save,
    to_bytes,
    unpack_strings,
)

CODES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]
CONFIG = {"labels": ["N", "V"], "order": 2, "scale": 0.1, "seed": 2**63, "note": None}


def tiny() -> dict[str, np.ndarray]:
    """One tensor of several types, sizes and dimensions, among them empty and scalar ones."""
    return {
        "w": np.array([[1, -2, 3], [4, 5, -6]], np.int8),
        "keys": np.array([2**64 - 1, 7], np.uint64),
        "bias": np.array([0.5, -0.0, 1e-30], np.float32),
        "empty": np.zeros((0, 3), np.int32),
        "scale": np.array(0.25),
    }


def same(left: dict, right: dict) -> bool:
    """Equal names, types, shapes and bytes (so that -0.0 is not 0.0)."""
    return left.keys() == right.keys() and all(
        a.dtype == right[name].dtype
        and a.shape == right[name].shape
        and a.tobytes() == right[name].tobytes()
        for name, a in left.items()
    )


def craft(header: dict | str | bytes, body: bytes = b"") -> bytes:
    """A file with any header."""
    text = json.dumps(header) if isinstance(header, dict) else header
    raw = text.encode() if isinstance(text, str) else text
    raw += b" " * (-len(raw) % 8)
    return len(raw).to_bytes(8, "little") + raw + body


def metadata(**changes: object) -> dict:
    """Metadata like ours but for some fields; None removes a field."""
    fields = {"format": 1, "reader": 1, "writer": "seqtag 0", "sha256": "0" * 64, "config": {}}
    fields |= changes
    return {"seqtag": json.dumps({k: v for k, v in fields.items() if v is not None})}


def entry(dtype: object, shape: object, *offsets: object) -> dict:
    return {"dtype": dtype, "shape": shape, "data_offsets": list(offsets)}


def refused(data: bytes, **options: bool) -> str:
    """The message with which `data` is refused."""
    with pytest.raises(ModelFileError) as caught:
        from_bytes(data, source="m.seqtag", **options)
    assert caught.value.source == "m.seqtag"
    return str(caught.value)


# ---- round trips


def test_save_and_load_return_the_same_model(tmp_path):
    path = tmp_path / "m.seqtag"
    size = save(path, CONFIG, tiny())
    config, tensors, _ = load(path)
    assert size == path.stat().st_size == len(path.read_bytes())
    assert config == CONFIG
    assert same(tensors, tiny())
    assert list(tensors) == sorted(tensors)
    assert path.read_bytes() == to_bytes(CONFIG, tiny())
    assert same(load(str(path), verify=False)[1], tiny())


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
    got_config, got, format = from_bytes(data)
    assert format == 1
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


def test_views_of_a_file_are_aligned_and_read_only(tmp_path):
    path = tmp_path / "m.seqtag"
    save(path, CONFIG, tiny())
    for array in load(path)[1].values():
        assert not array.flags.owndata
        assert array.flags.aligned
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


def test_views_of_a_bytearray_are_read_only_too():
    tensors = from_bytes(bytearray(to_bytes({}, tiny())))[1]
    assert not any(array.flags.writeable for array in tensors.values())


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
    monkeypatch.setattr(model_file, "_MAX_SIZE", 40)
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


@pytest.mark.parametrize(
    "header",
    [b"[1]     ", b"{}      ", b'{"a":1} ', b'{"a":{"data_offsets":[0]}}      ', b"nonsense"],
)
def test_a_header_that_announces_nothing_is_refused_as_ever(tmp_path, header):
    (tmp_path / "m").write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(ModelFileError, match="m: expected "):
        load(tmp_path / "m")


def test_loaded_views_survive_a_new_save(tmp_path):
    path = tmp_path / "m.seqtag"
    save(path, CONFIG, tiny())
    tensors = load(path)[1]
    save(path, {}, {"w": np.zeros(5000)})
    assert same(tensors, tiny())


# ---- bytes


def test_bytes_depend_on_values_only(tmp_path):
    first = to_bytes(CONFIG, tiny())
    backwards = dict(reversed(tiny().items()))
    assert to_bytes(dict(reversed(CONFIG.items())), backwards) == first


def test_another_process_writes_the_same_bytes(tmp_path):
    code = (
        "import sys, numpy as np; from seqtag.model.container import save;"
        "save(sys.argv[1], {c: ord(c) for c in 'zebra'}, {c: np.arange(3) for c in 'cab'})"
    )
    seen = set()
    for seed in "12":
        path = tmp_path / f"{seed}.seqtag"
        root = str(Path(seqtag.__file__).parents[1])
        env = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": root}
        subprocess.run([sys.executable, "-c", code, path], check=True, env=env, timeout=60)
        seen.add(path.read_bytes())
    assert len(seen) == 1


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
    assert inner == {"config": {"k": "é"}, "format": 1, "reader": 1, "writer": writer}
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
    assert "this is no seqtag model" in refused(numpy_api.save(tiny()))


# ---- damage


def test_every_truncation_is_refused():
    data = to_bytes(CONFIG, tiny())
    for size in range(len(data)):
        refused(data[:size])
        refused(data[:size], verify=False)
    refused(data + b"\0", verify=False)


def test_truncations_of_a_file_are_refused(tmp_path):
    path = tmp_path / "m.seqtag"
    data = to_bytes(CONFIG, tiny())
    for size in (0, 1, 7, 8, 9, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        with pytest.raises(ModelFileError, match=r"m\.seqtag: expected .* the file is damaged"):
            load(path)


def test_single_bit_flips_are_refused_or_harmless():
    data = to_bytes(CONFIG, tiny())
    harmless = 0
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            config, tensors, _ = from_bytes(bytes(flipped))
        except ModelFileError:
            continue
        harmless += 1
        assert config == CONFIG and same(tensors, tiny())
    assert harmless < 8  # nearly everything is covered by the checksum


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(data):
    refused(data)


@given(st.data())
def test_mutations_never_crash(data):
    raw = bytearray(to_bytes(CONFIG, tiny()))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    for verify in (True, False):
        try:
            config, tensors, _ = from_bytes(bytes(raw), verify=verify)
        except ModelFileError:
            continue
        assert not verify or (config == CONFIG and same(tensors, tiny()))


HOSTILE = {
    "empty": (b"", "found an empty file"),
    "short": (b"seqtag", "expected at least 8 bytes, found 6"),
    "length 2**64-1": (b"\xff" * 16, "header length of 18446744073709551615; this is no seqtag"),
    "past the end": (b"\x10" + bytes(7) + b"{}", "a header of 16 bytes, found 2: truncated"),
    "odd length": (b"\x02" + bytes(7) + b"{}", "header length that is a multiple of 8, found 2"),
    "not UTF-8": (craft(b'{"\xff":1}'), "header in JSON, found a problem: 'utf-8' codec"),
    "not JSON": (craft("{nope}"), "header in JSON, found a problem: Expecting property name"),
    "nested": (craft("[" * 200_000), "header in JSON, found a problem: maximum recursion depth"),
    "no object": (craft("[1]"), "expected a JSON object as header, found [1]"),
    "NaN": (craft('{"a":NaN}'), "number 'NaN' is not finite"),
    "infinite": (craft('{"a":1e999}'), "number '1e999' is not finite"),
    "endless integer": (craft(f'{{"a":{"9" * 9999}}}'), "integer of 9999 digits, at most 20"),
    "duplicate key": (craft('{"a":1,"a":1}'), "duplicate key in ['a', 'a']"),
    "no metadata": (craft({}), 'expected the metadata key "seqtag" with a text, found None'),
    "two keys": (craft({"__metadata__": metadata() | {"x": "y"}}), "this is no seqtag model"),
    "no text": (craft({"__metadata__": {"seqtag": 1}}), "found {'seqtag': 1}"),
    "text no JSON": (
        craft({"__metadata__": {"seqtag": "{"}}),
        "expected metadata in JSON, found a problem",
    ),
    "text nested": (
        craft({"__metadata__": {"seqtag": "[" * 99_999}}),
        "expected metadata in JSON, found",
    ),
    "text no object": (
        craft({"__metadata__": {"seqtag": "7"}}),
        "expected metadata in a JSON object, found 7",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_headers(case):
    data, message = HOSTILE[case]
    assert message in refused(data, verify=False)
    assert refused(data).startswith("m.seqtag: ")


def test_nesting_of_any_depth_is_refused_not_a_crash():
    for depth in range(0, sys.getrecursionlimit() + 50, 3):
        nested = "[" * depth + "]" * depth or "0"
        refused(craft(f'{{"__metadata__":{nested}}}'))
        refused(craft(json.dumps({"__metadata__": metadata()})[:-1] + f',"a":{nested}}}'))
        text = metadata()["seqtag"].replace("{}", f'{{"deep":{nested}}}')
        refused(craft({"__metadata__": {"seqtag": text}}))


def test_a_configuration_too_deep_for_json_is_refused():
    value: list = []
    for _ in range(100_000):  # beyond what any Python version follows
        value = [value]
    with pytest.raises(ModelFileError, match="JSON can hold, found a problem: maximum recursion"):
        to_bytes({"deep": value}, {})


def test_messages_stay_short_and_printable():
    message = refused(craft({"__metadata__": {"é\x1b" * 9999: ["x"] * 9999}}))
    assert len(message) < 600 and message.isascii() and message.isprintable()


FIELDS = [
    ({"writer": None}, 'expected the name of a program as "writer", found None'),
    ({"writer": "\x1b[2J"}, r"found '\x1b[2J'"),
    ({"writer": "x" * 101}, 'expected the name of a program as "writer"'),
    ({"format": None}, 'expected a positive integer as "format", found None'),
    ({"format": 0}, 'expected a positive integer as "format", found 0'),
    ({"reader": True}, 'expected a positive integer as "reader", found True'),
    ({"reader": "1"}, "expected a positive integer as \"reader\", found '1'"),
    ({"sha256": 5}, 'expected a checksum as "sha256", found 5'),
    ({"config": []}, 'expected a JSON object as "config", found []'),
    (
        {"reader": 2, "writer": "seqtag 9.1", "config": None},
        "m.seqtag: made by seqtag 9.1, needs reader >= 2, this seqtag is reader 1; upgrade seqtag",
    ),
]


@pytest.mark.parametrize(("changes", "message"), FIELDS)
def test_metadata_fields(changes, message):
    assert message in refused(craft({"__metadata__": metadata(**changes)}), verify=False)


def test_a_newer_format_that_we_can_read_is_read():
    data = craft({"__metadata__": metadata(format=FORMAT_VERSION + 1, more=1, config={"a": 1})})
    assert from_bytes(data, verify=False) == ({"a": 1}, {}, FORMAT_VERSION + 1)


ENTRIES = [
    ({"": entry("U8", [0], 0, 0)}, 0, "expected a tensor name of ASCII letters"),
    ({"../../etc/x": entry("U8", [0], 0, 0)}, 0, "found '../../etc/x'; the file is damaged"),
    ({"a": 1}, 0, "expected ['data_offsets', 'dtype', 'shape'] for tensor 'a', found 1"),
    ({"a": entry("U8", [0], 0, 0) | {"x": 1}}, 0, "expected ['data_offsets', 'dtype', 'shape']"),
    ({"a": entry("BF16", [1], 0, 2)}, 2, "tensor 'a' to be one of U8, I8, "),
    ({"a": entry(["U8"], [1], 0, 1)}, 1, "found ['U8']"),
    ({"a": entry("U8", 1, 0, 1)}, 1, "expected a shape of at most 8 sizes for tensor 'a', found 1"),
    ({"a": entry("U8", [-1], 0, 1)}, 1, "found [-1]"),
    ({"a": entry("U8", [True], 0, 1)}, 1, "found [True]"),
    ({"a": entry("U8", [1] * 9, 0, 1)}, 1, "expected a shape of at most 8 sizes"),
    ({"a": entry("U8", [1], 0)}, 1, "expected two rising offsets within 1 bytes"),
    ({"a": entry("U8", [1], 1, 0)}, 1, "found [1, 0]"),
    ({"a": entry("U8", [1], -1, 0)}, 1, "found [-1, 0]"),
    ({"a": entry("U8", [2], 0, 2)}, 1, "found [0, 2]: truncated or out of range"),
    ({"a": entry("U8", [1], 0.0, 1)}, 1, "found [0.0, 1]"),
    ({"a": entry("U16", [2], 0, 2)}, 2, "expected 4 bytes for tensor 'a' of dtype U16 and shape"),
    ({"a": entry("F64", [2**62, 4], 0, 0)}, 0, "expected 147573952589676412928 bytes for tensor"),
    ({"a": entry("F64", [0, 2**62], 0, 0)}, 0, "found 0: shape too large"),
    ({"a": entry("U8", [1], 0, 1), "b": entry("U16", [1], 1, 3)}, 3, "found offset 1: unaligned"),
    ({"a": entry("U8", [2], 0, 2), "b": entry("U8", [2], 1, 3)}, 3, "offset 2, found 1: overlap"),
    ({"a": entry("U8", [1], 0, 1), "b": entry("U8", [1], 2, 3)}, 3, "at offset 1, found 2: hole"),
    ({"a": entry("U8", [1], 0, 1)}, 9, "expected 1 bytes of data, found 9"),
]


@pytest.mark.parametrize(("entries", "size", "message"), ENTRIES)
def test_tensor_entries(entries, size, message):
    data = craft({"__metadata__": metadata()} | entries, bytes(size))
    assert message in refused(data, verify=False)


def test_damaged_data_is_found_by_the_checksum_alone():
    data = to_bytes({}, {"w": np.zeros(100, np.int8)})
    damaged = data[:-1] + b"\x01"
    assert "expected the checksum '" in refused(damaged)
    assert from_bytes(damaged, verify=False)[1]["w"][-1] == 1


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_neither_written_nor_read(value, monkeypatch):
    tensors = {"w": np.array([1, value], np.float32)}
    with pytest.raises(ModelFileError, match="finite numbers in tensor 'w', found NaN or infinity"):
        to_bytes({}, tensors)
    with monkeypatch.context() as patch:
        patch.setattr(model_file, "_check_finite", lambda name, array: None)
        data = to_bytes({}, tensors)
    assert "m.seqtag: expected finite numbers in tensor 'w'" in refused(data)


# ---- what cannot be written


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"a": {1, 2}}, "JSON can hold, found a problem: Object of type set"),
        ({"a": float("nan")}, "JSON can hold, found a problem: Out of range float"),
        ({"a": 10**30}, "found a problem: integer of 31 digits, at most 20"),
        ({"a": (1, 2)}, r"JSON returns unchanged, found \(1, 2\) under 'a'; use dicts"),
        ({1: "a"}, "JSON returns unchanged, found 'a' under 1; use dicts with string keys"),
        ({"a": {1: 2, "1": 3}}, "JSON can hold, found a problem"),
    ],
)
def test_configurations_that_json_would_change_are_refused(config, message, tmp_path):
    with pytest.raises(ModelFileError, match=message) as caught:
        save(tmp_path / "m.seqtag", config, {})
    assert caught.value.source == str(tmp_path / "m.seqtag")
    assert not list(tmp_path.iterdir())


def test_a_configuration_beyond_the_header_cap_is_refused(monkeypatch):
    monkeypatch.setattr(model_file, "_MAX_HEADER", 1000)
    with pytest.raises(ModelFileError, match=r"a header of at most 1000 bytes.*pack_strings"):
        to_bytes({"labels": ["N"] * 1000}, {})


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("", np.zeros(1), "expected a tensor name of ASCII letters.*found ''"),
        ("__metadata__", np.zeros(1), "found '__metadata__'"),
        (3, np.zeros(1), "found 3"),
        ("a", [1.0], "'a' to be a numpy array of one of uint8, .*, found list; convert it first"),
        ("a", np.zeros(1, bool), "found bool"),
        ("a", np.zeros(1, np.float16), "found float16"),
        ("a", np.array(["x"], object), "found object"),
        ("a", np.zeros((1,) * 9), "at most 8 dimensions, found 9; reshape it first"),
    ],
)
def test_tensors_the_format_cannot_hold_are_refused(name, array, message):
    with pytest.raises(ModelFileError, match=message):
        to_bytes({}, {name: array})


# ---- saving


class BoomError(OSError):
    """A fault that we injected."""


class FullFile:
    """A file on a disk that fills up in the middle of writing."""

    def __init__(self, file):
        self.file = file

    def __enter__(self):
        return self

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __exit__(self, *_):
        self.file.close()

    def write(self, data):
        self.file.write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def fail(*_args, **_keywords):
    raise BoomError(errno.EIO, "boom")


def break_write(patch):
    opened = os.fdopen
    patch.setattr(os, "fdopen", lambda *args: FullFile(opened(*args)))


FAULTS = {
    "open": lambda patch: patch.setattr(os, "open", fail),
    "write": break_write,
    "fsync": lambda patch: patch.setattr(os, "fsync", fail),
    "chmod": lambda patch: patch.setattr(Path, "chmod", fail),
    "replace": lambda patch: patch.setattr(Path, "replace", fail),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_save_leaves_the_old_file_and_nothing_else(fault, tmp_path, monkeypatch):
    path = tmp_path / "m.seqtag"
    save(path, CONFIG, tiny())
    old = path.read_bytes()
    with monkeypatch.context() as patch:
        FAULTS[fault](patch)
        with pytest.raises(OSError, match=r"could not save the model of \d+ bytes; an older file"):
            save(path, {}, {})
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_leaves_no_temporary_file(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save(tmp_path / "m.seqtag", {}, {})
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_synced_is_no_failure(tmp_path, monkeypatch):
    real, calls = os.fsync, []

    def second_fails(number):
        calls.append(number)
        return fail() if len(calls) == 2 else real(number)

    monkeypatch.setattr(os, "fsync", second_fails)
    save(tmp_path / "m.seqtag", CONFIG, {})
    assert load(tmp_path / "m.seqtag") == (CONFIG, {}, FORMAT_VERSION)
    assert os.name == "nt" or len(calls) == 2


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_permissions_follow_the_umask_and_then_the_old_file(tmp_path):
    path = tmp_path / "m.seqtag"
    old = os.umask(0o027)
    try:
        save(path, {}, {})
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        save(path, {"a": 1}, {})
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(old)


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege there")
def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "m.seqtag", tmp_path / "link.seqtag"
    link.symlink_to(target)
    for config in ({"a": 1}, {"a": 2}):  # the link dangles the first time
        save(link, config, {})
        assert link.is_symlink() and not target.is_symlink()
        assert load(target)[0] == config
    assert [p.name for p in (tmp_path / "real").iterdir()] == ["m.seqtag"]


def test_a_folder_is_no_place_for_a_model(tmp_path):
    with pytest.raises(OSError, match="expected a regular file or a new name") as caught:
        save(tmp_path, {}, {})
    assert caught.value.errno == errno.EISDIR and caught.value.filename == str(tmp_path)
    with pytest.raises(OSError, match=tmp_path.name):
        load(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_device_or_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="expected a regular file or a new name") as caught:
        save(tmp_path / "pipe", {}, {})
    assert caught.value.errno == errno.EINVAL
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_missing_paths(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.seqtag")
    with pytest.raises(FileNotFoundError, match="choose an existing, writable folder") as caught:
        save(tmp_path / "none" / "m.seqtag", {}, {})
    assert caught.value.filename == str(tmp_path / "none" / "m.seqtag")


def test_a_read_only_folder_is_named_in_plain_words(tmp_path, monkeypatch):
    if hasattr(os, "geteuid") and os.geteuid() != 0 and os.name != "nt":
        tmp_path.chmod(0o500)
    else:  # the administrator may write anywhere: pretend

        def deny(name, *_):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(name))

        monkeypatch.setattr(os, "open", deny)
    with pytest.raises(PermissionError, match="choose an existing, writable folder") as caught:
        save(tmp_path / "m.seqtag", {}, {})
    assert caught.value.filename == str(tmp_path / "m.seqtag")  # not the temporary file
    tmp_path.chmod(0o700)
    assert not list(tmp_path.iterdir())


# ---- helpers of the caller


def test_expect_accepts_exactly_what_is_wanted():
    wanted = {
        "w": ("i1", 2),
        "keys": (np.uint64, 1),
        "bias": (np.dtype("f4"), 1),
        "empty": ("i4", 2),
        "scale": ("f8", 0),
    }
    expect(from_bytes(to_bytes({}, tiny()))[1], wanted)
    for name in wanted:
        less = {key: value for key, value in wanted.items() if key != name}
        with pytest.raises(ModelFileError, match=f"m: expected the tensors .*, found .*'{name}'"):
            expect(tiny(), less, source="m")
    with pytest.raises(ModelFileError, match=r"expected the tensors .*'more'.*another kind"):
        expect(tiny(), wanted | {"more": ("u1", 1)})
    for wrong in (("i2", 2), ("i1", 1)):
        with pytest.raises(ModelFileError, match=r"'w' to be int.* found int8 with 2"):
            expect(tiny(), wanted | {"w": wrong})


@given(st.lists(st.text()))
def test_strings_round_trip_through_a_file(strings):
    blob, offsets = pack_strings(strings)
    assert blob.dtype == np.uint8 and offsets.dtype == np.int64
    tensors = from_bytes(to_bytes({}, {"blob": blob, "offsets": offsets}))[1]
    assert unpack_strings(tensors["blob"], tensors["offsets"]) == strings


def test_a_lone_surrogate_is_refused():
    with pytest.raises(ModelFileError, match=r"UTF-8 can express, found '\\ud800' at index 1"):
        pack_strings(["ok", "\ud800"])


@pytest.mark.parametrize(
    ("blob", "offsets", "message"),
    [
        (b"ab", [], "m: expected string offsets from 0 to 2, found none"),
        (b"ab", [1, 2], r"from 0 to 2, found \[1, 2\]"),
        (b"ab", [0, 3], r"from 0 to 2, found \[0, 3\]"),
        (b"ab", [0, 1], r"from 0 to 2, found \[0, 1\]"),
        (b"ab", [0, 2, 1, 2], "expected string offsets that never fall, found a fall at 1"),
        (b"ab", [0, 2**63 - 1, -(2**63), 2], "never fall, found a fall at 1"),
        (b"a\xc3\xa9", [0, 2, 3], r"expected strings in UTF-8, found b'a\\xc3' at index 0"),
        (b"a\xff", [0, 1, 2], r"expected strings in UTF-8, found b'\\xff' at index 1"),
    ],
)
def test_damaged_strings_are_refused(blob, offsets, message):
    with pytest.raises(ModelFileError, match=message):
        unpack_strings(np.frombuffer(blob, np.uint8), np.array(offsets, np.int64), source="m")


def test_strings_of_another_type_are_refused():
    with pytest.raises(ModelFileError, match="m: expected tensor 'offsets' to be int64 with 1"):
        unpack_strings(np.zeros(0, np.uint8), np.zeros(1, np.int32), source="m")
