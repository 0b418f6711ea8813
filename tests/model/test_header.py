"""Damaged and hostile model files: each is refused, in a sentence."""

from __future__ import annotations

import json
import re
import sys
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.errors import ModelFileError
from seqtag.model import container
from seqtag.model.container import FORMAT_VERSION, from_bytes, to_bytes
from tests.model_files import CONFIG, craft, entry, metadata, refused, same, tiny


def test_every_truncation_is_refused():
    data = to_bytes(CONFIG, tiny())
    for size in range(len(data)):
        refused(data[:size])
    refused(data + b"\0")


def test_single_bit_flips_are_refused_or_harmless():
    data = to_bytes(CONFIG, tiny())
    harmless = 0
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            config, tensors, *_ = from_bytes(bytes(flipped))
        except ModelFileError:
            continue
        harmless += 1
        assert config == CONFIG and same(tensors, tiny())
    assert harmless < 8  # nearly everything is covered by the checksum


@given(st.data())
def test_mutations_never_crash(data):
    raw = bytearray(to_bytes(CONFIG, tiny()))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    with suppress(ModelFileError):
        config, tensors, *_ = from_bytes(bytes(raw))
        assert config == CONFIG
        assert same(tensors, tiny())


HOSTILE = {
    "empty": (b"", "found an empty file"),
    "short": (b"seqtag", "expected at least 8 bytes, found 6"),
    "length 2**64-1": (b"\xff" * 16, "expected a seqtag model, found"),
    "past the end": (b"\x10" + bytes(7) + b"{}", "a header of 16 bytes, found 2"),
    "odd length": (b"\x02" + bytes(7) + b"{}", "header length that is a multiple of 8, found 2"),
    "not UTF-8": (craft(b'{"\xff":1}'), "header in JSON, found a problem: 'utf-8' codec"),
    "nested": (craft("[" * 200_000), "header in JSON, found a problem: nested too deeply"),
    "no object": (craft("[1]"), "expected a JSON object as header, found [1]"),
    "infinite": (craft('{"a":1e999}'), "number '1e999' is not finite"),
    "endless integer": (craft(f'{{"a":{"9" * 9999}}}'), "integer of 9999 digits, at most 20"),
    "duplicate key": (craft('{"a":1,"a":1}'), "duplicate key 'a'"),
    "no metadata": (craft({}), 'expected the metadata key "seqtag" with a string, found None'),
    "no text": (craft({"__metadata__": {"seqtag": 1}}), "this is not a seqtag model"),
    "text no JSON": (craft({"__metadata__": {"seqtag": "{"}}), "expected metadata in JSON"),
    "text no object": (craft({"__metadata__": {"seqtag": "7"}}), "in a JSON object, found 7"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_headers(case, tmp_path):
    data, message = HOSTILE[case]
    assert message in refused(data)
    assert refused(data).startswith("m.seqtag: ")
    (tmp_path / "m.seqtag").write_bytes(data)
    with pytest.raises(ModelFileError, match=re.escape(message)):
        container.load(tmp_path / "m.seqtag")


def test_nesting_of_any_depth_is_refused_not_a_crash():
    for depth in range(0, sys.getrecursionlimit() + 50, 3):
        nested = "[" * depth + "]" * depth or "0"
        refused(craft(f'{{"__metadata__":{nested}}}'))
        refused(craft(json.dumps({"__metadata__": metadata()})[:-1] + f',"a":{nested}}}'))
        text = metadata()["seqtag"].replace("{}", f'{{"deep":{nested}}}')
        refused(craft({"__metadata__": {"seqtag": text}}))


def test_messages_stay_short_and_printable():
    message = refused(craft({"__metadata__": {"é\x1b" * 9999: ["x"] * 9999}}))
    assert len(message) < 600 and message.isascii() and message.isprintable()


FIELDS = [
    ({"writer": "\x1b[2J"}, r"""the name of a program as "writer", found '\x1b[2J'"""),
    ({"writer": "x" * 101}, 'expected the name of a program as "writer"'),
    ({"format": True}, 'expected a positive integer as "format", found True'),
    ({"sha256": 5}, 'expected a checksum as "sha256", found 5'),
    ({"config": []}, 'expected a JSON object of at most 50 levels as "config", found []'),
    (
        {"format": FORMAT_VERSION + 1, "writer": "seqtag 9.1", "config": None},
        f"m.seqtag: expected a file of format {FORMAT_VERSION}, found format {FORMAT_VERSION + 1}, "
        "made by seqtag 9.1; upgrade seqtag",
    ),
    ({"format": 1}, "found format 1, made by seqtag 0; train the model again"),
]


@pytest.mark.parametrize(("changes", "message"), FIELDS)
def test_metadata_fields(changes, message):
    assert message in refused(craft({"__metadata__": metadata(**changes)}))


def test_other_metadata_are_ignored():
    data = craft({"__metadata__": metadata(more=1, config={"a": 1})})
    assert "expected the checksum" in refused(data)  # which is that of other metadata


ENTRIES = [
    ({"../../etc/x": entry("U8", [0], 0, 0)}, 0, "found '../../etc/x'; the file is damaged"),
    ({"a": 1}, 0, "expected ['data_offsets', 'dtype', 'shape'] for tensor 'a', found 1"),
    ({"a": entry("U8", [0], 0, 0) | {"x": 1}}, 0, "expected ['data_offsets', 'dtype', 'shape']"),
    ({"a": entry("BF16", [1], 0, 2)}, 2, "tensor 'a' to be one of U8, I8, "),
    ({"a": entry(["U8"], [1], 0, 1)}, 1, "found ['U8']"),
    ({"a": entry("U8", 1, 0, 1)}, 1, "expected a shape of at most 8 sizes for tensor 'a', found 1"),
    ({"a": entry("U8", [True], 0, 1)}, 1, "found [True]"),
    ({"a": entry("U8", [1] * 9, 0, 1)}, 1, "expected a shape of at most 8 sizes"),
    ({"a": entry("U8", [1], 0)}, 1, "expected two ascending offsets within 1 bytes"),
    ({"a": entry("U8", [1], -1, 0)}, 1, "found [-1, 0]"),
    ({"a": entry("U8", [2], 0, 2)}, 1, "found [0, 2]"),
    ({"a": entry("U16", [2], 0, 2)}, 2, "expected 4 bytes for tensor 'a' of dtype U16 and shape"),
    ({"a": entry("F64", [0, 2**62], 0, 0)}, 0, "expected a shape that tensor 'a' can have"),
    ({"a": entry("U8", [1], 0, 1), "b": entry("U16", [1], 1, 3)}, 3, "a multiple of 2 bytes"),
    ({"a": entry("U8", [2], 0, 2), "b": entry("U8", [2], 1, 3)}, 3, "at offset 2, found 1"),
    ({"a": entry("U8", [1], 0, 1), "b": entry("U8", [1], 2, 3)}, 3, "at offset 1, found 2"),
    ({"a": entry("U8", [1], 0, 1)}, 9, "expected 1 bytes of data, found 9"),
]


@pytest.mark.parametrize(("entries", "size", "message"), ENTRIES)
def test_tensor_entries(entries, size, message):
    data = craft({"__metadata__": metadata()} | entries, bytes(size))
    assert message in refused(data)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_neither_written_nor_read(value, monkeypatch):
    tensors = {"w": np.array([1, value], np.float32)}
    with pytest.raises(ModelFileError, match="finite numbers in tensor 'w', found NaN or infinity"):
        to_bytes({}, tensors)
    with monkeypatch.context() as patch:
        patch.setattr(container, "_check_finite", lambda name, array: None)
        data = to_bytes({}, tensors)
    assert "m.seqtag: expected finite numbers in tensor 'w'" in refused(data)


def test_a_deep_configuration_is_neither_written_nor_read(monkeypatch):
    value: list = []
    for _ in range(48):
        value = [value]
    config = {"deep": value}
    assert from_bytes(to_bytes(config, {}))[0] == config
    config = {"deep": [[value]]}
    with pytest.raises(ModelFileError, match="JSON returns unchanged, found"):
        to_bytes(config, {})
    with monkeypatch.context() as patched:
        patched.setattr(container, "is_deep", lambda _: False)
        data = to_bytes(config, {})
    assert "object of at most 50 levels" in refused(data)
