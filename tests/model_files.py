"""Model files to test with: a tiny model, and malformed headers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from seqtag.errors import ModelFileError
from seqtag.model.container import FORMAT_VERSION, from_bytes

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
    fields = {"format": FORMAT_VERSION, "writer": "seqtag 0", "sha256": "0" * 64, "config": {}}
    fields |= changes
    return {"seqtag": json.dumps({k: v for k, v in fields.items() if v is not None})}


def entry(dtype: object, shape: object, *offsets: object) -> dict:
    return {"dtype": dtype, "shape": shape, "data_offsets": list(offsets)}


def refused(data: bytes) -> str:
    """The message with which `data` is refused."""
    with pytest.raises(ModelFileError) as caught:
        from_bytes(data, source="m.seqtag")
    assert caught.value.source == "m.seqtag"
    return str(caught.value)
