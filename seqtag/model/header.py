"""The header of a model file: its limits, its JSON, and the checks that a foreign one must pass.

The layout is described in `seqtag.model.container`.  Every message shows foreign data short and
in ASCII, and says what to do; the file's name is added by `located`.
"""

from __future__ import annotations

import json
import math
import re
import reprlib
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.errors import ModelFileError
from seqtag.storage import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FORMAT_VERSION = 3  # the newest that is read, and written for models that look into word tables
MIN_READER = 2  # the oldest that is written, for all others: older readers understand those
MAX_HEADER = 16 * 2**20  # bytes: thousands of labels fit, and a hostile header stays harmless
MAX_SIZE = 4 * 2**30  # bytes of tensors: a thousand times the usual model
MAX_DIMENSIONS = 8
MAX_DEPTH = 50  # levels of a configuration: whoever walks it never runs out of stack
_LONGEST_SHOWN = 1000  # characters of foreign data in a message
MAX_DIGITS = 20  # of an integer in JSON: every 64-bit number fits, no slow conversion does

DTYPES = {
    name: np.dtype(code)
    for name, code in {
        "U8": "u1",
        "I8": "i1",
        "U16": "<u2",
        "I16": "<i2",
        "U32": "<u4",
        "I32": "<i4",
        "U64": "<u8",
        "I64": "<i8",
        "F32": "<f4",
        "F64": "<f8",
    }.items()
}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
TENSOR_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")  # never a path, never "__metadata__"


# ---- checks


def read_header(view: memoryview) -> tuple[dict[str, Any], memoryview]:
    """The parsed header and the tensor data."""
    if not view.nbytes:
        msg = "expected a seqtag model file, found an empty file"
        raise damaged(msg)
    if view.nbytes < 8:
        msg = f"expected at least 8 bytes, found {view.nbytes}"
        raise damaged(msg)
    length = int.from_bytes(view[:8], "little")
    if length > MAX_HEADER:
        msg = (
            f"expected a seqtag model file with a header of at most {MAX_HEADER} bytes, found a "
            f"header length of {length}; this is no seqtag model, check the path"
        )
        raise ModelFileError(msg)
    if length > view.nbytes - 8:
        msg = f"expected a header of {length} bytes, found {view.nbytes - 8}: truncated"
        raise damaged(msg)
    if length % 8:
        msg = f"expected a header length that is a multiple of 8, found {length}"
        raise damaged(msg)
    try:
        header = strict_json.loads(bytes(view[8 : 8 + length]).decode(), max_digits=MAX_DIGITS)
    except ValueError as err:
        msg = f"expected a header in JSON, found a problem: {err}"
        raise damaged(msg) from err
    if not isinstance(header, dict):
        msg = f"expected a JSON object as header, found {show(header)}"
        raise damaged(msg)
    return header, view[8 + length :]


class Metadata(NamedTuple):
    """What a file says of itself."""

    config: dict[str, Any]
    format: int
    writer: str
    sha256: str
    signed: bytes  # the text that the checksum covers


def read_metadata(metadata: Any) -> Metadata:
    """What the metadata of a file say, if it is one that this program reads."""
    if not (
        isinstance(metadata, dict)
        and metadata.keys() == {"seqtag"}
        and isinstance(metadata["seqtag"], str)
    ):
        msg = (
            f'expected the metadata key "seqtag" with a text, found {show(metadata)}; '
            "this is no seqtag model, check the path"
        )
        raise ModelFileError(msg)
    try:
        fields = strict_json.loads(metadata["seqtag"], max_digits=MAX_DIGITS)
        sha256 = fields.pop("sha256", None) if isinstance(fields, dict) else None
        signed = canonical(fields)
    except (ValueError, RecursionError) as err:
        msg = f"expected metadata in JSON, found a problem: {err}"
        raise damaged(msg) from err
    if not isinstance(fields, dict):
        msg = f"expected metadata in a JSON object, found {show(fields)}"
        raise damaged(msg)
    writer, config = fields.get("writer"), fields.get("config")
    if not (isinstance(writer, str) and writer.isprintable() and len(writer) <= 100):
        msg = f'expected the name of a program as "writer", found {show(writer)}'
        raise damaged(msg)
    for key in ("format", "reader"):
        found = fields.get(key)
        if type(found) is not int or found < 1:
            msg = f'expected a positive integer as "{key}", found {show(found)}'
            raise damaged(msg)
    if fields["reader"] > FORMAT_VERSION:
        msg = (
            f"made by {writer}, needs reader >= {fields['reader']}, this seqtag is reader "
            f"{FORMAT_VERSION}; upgrade seqtag"
        )
        raise ModelFileError(msg)
    if not isinstance(sha256, str):
        msg = f'expected a checksum as "sha256", found {show(sha256)}'
        raise damaged(msg)
    if not isinstance(config, dict):
        msg = f'expected a JSON object as "config", found {show(config)}'
        raise damaged(msg)
    if is_deep(config):
        msg = f"expected a configuration of at most {MAX_DEPTH} levels, found more"
        raise damaged(msg)
    return Metadata(config, fields["format"], writer, sha256, signed)


def is_deep(value: Any) -> bool:
    """Whether lists and objects stand within each other more than `MAX_DEPTH` levels deep."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for each in level
            if isinstance(each, (dict, list))
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return bool(level)


def check_entry(name: str, entry: Any, size: int) -> None:
    """Refuse a header entry that does not describe an array within `size` bytes of data."""
    if not TENSOR_NAME.fullmatch(name):
        raise damaged(name_message(name))
    keys = {"dtype", "shape", "data_offsets"}
    if not isinstance(entry, dict) or entry.keys() != keys:
        msg = f"expected {sorted(keys)} for tensor {name!r}, found {show(entry)}"
        raise damaged(msg)
    code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(code, str) or code not in DTYPES:
        msg = (
            f"expected the dtype of tensor {name!r} to be one of {', '.join(DTYPES)}, "
            f"found {show(code)}"
        )
        raise damaged(msg)
    if not _are_counts(shape) or len(shape) > MAX_DIMENSIONS:
        msg = (
            f"expected a shape of at most {MAX_DIMENSIONS} sizes for tensor {name!r}, "
            f"found {show(shape)}"
        )
        raise damaged(msg)
    if not _are_counts(offsets) or len(offsets) != 2 or not offsets[0] <= offsets[1] <= size:
        msg = (
            f"expected two rising offsets within {size} bytes of data for tensor {name!r}, "
            f"found {show(offsets)}: truncated or out of range"
        )
        raise damaged(msg)
    itemsize = DTYPES[code].itemsize
    needed, found = itemsize * math.prod(shape), offsets[1] - offsets[0]
    # numpy refuses absurd sizes even of an array that is empty, such as (0, 2**62).
    absurd = itemsize * math.prod(max(count, 1) for count in shape) > sys.maxsize
    if needed != found or absurd:
        raise damaged(
            f"expected {needed} bytes for tensor {name!r} of dtype {code} and shape {shape}, "
            f"found {found}" + (": shape too large" if absurd else "")
        )
    if offsets[0] % itemsize:
        msg = (
            f"expected the data of tensor {name!r} at a multiple of {itemsize} bytes, "
            f"found offset {offsets[0]}: unaligned"
        )
        raise damaged(msg)


def check_layout(entries: Mapping[str, Any], size: int) -> None:
    """Refuse tensors that overlap, leave holes, or do not end where the file ends."""
    position = 0
    for begin, end in sorted(entry["data_offsets"] for entry in entries.values()):
        if begin != position:
            problem = "overlap" if begin < position else "hole"
            msg = f"expected a tensor at offset {position}, found {begin}: {problem}"
            raise damaged(msg)
        position = end
    if position != size:
        msg = f"expected {position} bytes of data, found {size}"
        raise damaged(msg)


def _are_counts(value: Any) -> bool:
    """Whether `value` is a list of integers from 0 (True and 1.0 are none)."""
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)


def name_message(name: object) -> str:
    """What is wrong with the name of a tensor."""
    return (
        "expected a tensor name of ASCII letters, digits, '_' and '.', starting with a letter, "
        f"found {show(name)}"
    )


# ---- JSON


def canonical(value: Any) -> bytes:
    """The one JSON text of a value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


# ---- messages


def show(value: Any) -> str:
    """Foreign data, safe to print: short, however long or deep it is, and in ASCII."""
    short = reprlib.Repr()
    short.maxlist = short.maxdict = 20
    short.maxstring = short.maxother = 100
    text = short.repr(value).encode("ascii", "backslashreplace").decode()
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def damaged(message: str) -> ModelFileError:
    """The error for a file that was not saved like this."""
    return ModelFileError(f"{message}; the file is damaged, copy or save it again")


@contextmanager
def located(source: str | None) -> Iterator[None]:
    """Add the file to errors raised inside that do not name one yet."""
    try:
        yield
    except ModelFileError as err:
        err.source = err.source or source
        raise
