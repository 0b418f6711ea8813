"""Model file: a configuration and named arrays, loaded with checks and saved atomically.

The layout is that of safetensors, so that its library and viewers can open the files::

    8 bytes    header length n, unsigned little-endian, a multiple of 8
    n bytes    header: JSON {"__metadata__": {"seqtag": TEXT}, NAME: ENTRY, ...}, padded with spaces
    the rest   tensor data, little-endian, C order, without holes

    ENTRY      {"dtype": "F32", "shape": [3, 2], "data_offsets": [begin, end]}
    TEXT       JSON {"config": {}, "format": 5, "sha256": "", "writer": "seqtag VERSION"}

``format`` is the version of the format: only this one is read. ``sha256`` covers the rest of TEXT
and name, dtype, shape and data of every tensor, in the order of the names.
All JSON is canonical (sorted keys, no spaces, ASCII) and nothing depends on time, place or
machine: the same model gives the same bytes. A file holds data only; loading executes nothing.

This module defines the container and its limits. The entries of the configuration and the tensors
of a model are listed in `seqtag.model.model` (`_CONFIG`, `TENSORS`); those of several models in
one file are numbered by `seqtag.model.bundle`. A change of either is a new `FORMAT_VERSION`.

Messages show foreign data shortened and in ASCII, with advice; `located` adds the file name.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import re
import reprlib
import stat
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.errors import ModelFileError, located
from seqtag.storage import strict_json
from seqtag.storage.encodings import binary_format
from seqtag.storage.output import MODEL_START, atomic
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import DTypeLike, NDArray

FORMAT_VERSION = 5  # the one that is written and read
MAX_HEADER = 16 * 2**20  # bytes: thousands of labels fit, and a hostile header stays harmless
MAX_SIZE = 4 * 2**30  # bytes of tensors: a thousand times a usual model
MAX_DIMENSIONS = 8
MAX_DEPTH = 50  # levels of a configuration: recursion over it never exhausts the stack
_START_BYTES = 512  # by which other files are recognized
_ANOTHER = ("another kind of file", "check the path")
_SHOWN_CHARACTERS = 1000  # characters of foreign data in a message
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


def _require(ok: object, expected: str, found: Any) -> None:
    """Refuse a file that was changed after it was saved, unless `ok`."""
    if not ok:
        msg = f"expected {expected}, found {show(found)}"
        raise damaged(msg)


def read_header(view: memoryview) -> tuple[dict[str, Any], memoryview]:
    """Parse the header; return it and the tensor data."""
    if not view.nbytes:
        msg = "expected a seqtag model file, found an empty file"
        raise damaged(msg)
    _require(view.nbytes >= 8, "at least 8 bytes", view.nbytes)
    length = int.from_bytes(view[:8], "little")
    if length > MAX_HEADER:
        found, remedy = binary_format(bytes(view[:_START_BYTES])) or _ANOTHER
        msg = f"expected a seqtag model, found {found}; {remedy}"
        raise ModelFileError(msg)
    _require(length <= view.nbytes - 8, f"a header of {length} bytes", view.nbytes - 8)
    _require(length % 8 == 0, "a header length that is a multiple of 8", length)
    try:
        header = strict_json.loads(bytes(view[8 : 8 + length]).decode(), max_digits=MAX_DIGITS)
    except ValueError as err:
        msg = f"expected a header in JSON, found a problem: {err}"
        raise damaged(msg) from err
    _require(isinstance(header, dict), "a JSON object as header", header)
    return header, view[8 + length :]


def read_metadata(metadata: Any) -> tuple[dict[str, Any], str, str, bytes]:
    """Return configuration, writer, checksum and what it covers; refuse other files."""
    if not (
        isinstance(metadata, dict)
        and metadata.keys() == {"seqtag"}
        and isinstance(metadata["seqtag"], str)
    ):
        msg = (
            f'expected the metadata key "seqtag" with a string, found {show(metadata)}; '
            "this is not a seqtag model; check the path"
        )
        raise ModelFileError(msg)
    try:
        fields = strict_json.loads(metadata["seqtag"], max_digits=MAX_DIGITS)
        sha256: Any = fields.pop("sha256", None) if isinstance(fields, dict) else None
        signed = canonical(fields)
    except (ValueError, RecursionError) as err:
        msg = f"expected metadata in JSON, found a problem: {err}"
        raise damaged(msg) from err
    _require(isinstance(fields, dict), "metadata in a JSON object", fields)
    writer, config, version = (fields.get(name) for name in ("writer", "config", "format"))
    named = isinstance(writer, str) and writer.isprintable() and len(writer) <= 100
    _require(named, 'the name of a program as "writer"', writer)
    _require(type(version) is int and version > 0, 'a positive integer as "format"', version)
    if version != FORMAT_VERSION:
        advice = "upgrade seqtag" if version > FORMAT_VERSION else "train the model again"
        msg = (
            f"expected a file of format {FORMAT_VERSION}, found format {version}, made by "
            f"{writer}; {advice}"
        )
        raise ModelFileError(msg)
    _require(isinstance(sha256, str), 'a checksum as "sha256"', sha256)
    shallow = isinstance(config, dict) and not is_deep(config)
    _require(shallow, f'a JSON object of at most {MAX_DEPTH} levels as "config"', config)
    return config, writer, sha256, signed


def is_deep(value: Any) -> bool:
    """Return whether lists and objects are nested more than `MAX_DEPTH` levels deep."""
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
    of = f"tensor {name!r}"
    _require(
        TENSOR_NAME.fullmatch(name),
        "a tensor name of ASCII letters, digits, '_' and '.', starting with a letter",
        name,
    )
    keys = {"dtype", "shape", "data_offsets"}
    _require(isinstance(entry, dict) and entry.keys() == keys, f"{sorted(keys)} for {of}", entry)
    code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    known = isinstance(code, str) and code in DTYPES
    _require(known, f"the dtype of {of} to be one of {', '.join(DTYPES)}", code)
    few = _are_counts(shape) and len(shape) <= MAX_DIMENSIONS
    _require(few, f"a shape of at most {MAX_DIMENSIONS} sizes for {of}", shape)
    inside = _are_counts(offsets) and len(offsets) == 2 and offsets[0] <= offsets[1] <= size
    _require(inside, f"two ascending offsets within {size} bytes of data for {of}", offsets)
    itemsize = DTYPES[code].itemsize
    needed, found = itemsize * math.prod(shape), offsets[1] - offsets[0]
    _require(needed == found, f"{needed} bytes for {of} of dtype {code} and shape {shape}", found)
    # numpy refuses absurd sizes even of an empty array, such as (0, 2**62).
    possible = itemsize * math.prod(max(count, 1) for count in shape) <= sys.maxsize
    _require(possible, f"a shape that {of} can have", shape)
    _require(offsets[0] % itemsize == 0, f"{of} at a multiple of {itemsize} bytes", offsets[0])


def _are_counts(value: Any) -> bool:
    """Return whether `value` is a list of integers from 0 (not True or 1.0)."""
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)


# ---- JSON


def canonical(value: Any) -> bytes:
    """Encode a value as canonical JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


# ---- messages


def show(value: Any) -> str:
    """Show foreign data safely: short, however long or deep it is, and in ASCII."""
    short = reprlib.Repr()
    short.maxlist = short.maxdict = 20
    short.maxstring = short.maxother = 100
    text = short.repr(value).encode("ascii", "backslashreplace").decode()
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def damaged(message: str) -> ModelFileError:
    """Return the error for a file that was changed after it was saved."""
    return ModelFileError(f"{message}; the file is damaged, copy or save it again")


def expect(
    tensors: Mapping[str, NDArray[Any]],
    wanted: Mapping[str, tuple[DTypeLike, int]],
    *,
    source: str | None = None,
) -> None:
    """Refuse tensors that do not have exactly the given names, types and dimensions.

    Parameters
    ----------
    tensors
        What `load` returned.
    wanted
        For each name the dtype and the number of dimensions.
    source
        The file, for error messages.

    Raises
    ------
    ModelFileError
        A tensor is missing, unknown, or of another type or number of dimensions.

    Examples
    --------
    >>> expect({"w": np.zeros((2, 3))}, {"w": ("f8", 2)})
    >>> expect({"w": np.zeros(6)}, {"w": ("f8", 2)}, source="a.seqtag")
    Traceback (most recent call last):
    seqtag.errors.ModelFileError: a.seqtag: expected tensor 'w' to be float64 with 2 dimensions, \
found float64 with 1; this is another kind of model, or a damaged one
    """
    hint = "this is another kind of model, or a damaged one"
    with located(source):
        if tensors.keys() != wanted.keys():
            msg = (
                f"expected the tensors {show(sorted(wanted))}, "
                f"found {show(sorted(tensors))}; {hint}"
            )
            raise ModelFileError(msg)
        for name, (dtype, ndim) in wanted.items():
            found = tensors[name]
            if found.dtype != np.dtype(dtype) or found.ndim != ndim:
                msg = (
                    f"expected tensor {name!r} to be {np.dtype(dtype)} with {ndim} dimensions, "
                    f"found {found.dtype} with {found.ndim}; {hint}"
                )
                raise ModelFileError(msg)


def pack_strings(strings: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Concatenate strings in UTF-8, for storage as two tensors.

    Parameters
    ----------
    strings
        Any n strings; empty ones, line breaks and NUL are kept.

    Returns
    -------
    blob : ndarray of uint8, shape (bytes,)
    offsets : ndarray of int64, shape (n + 1,)
        String i is ``blob[offsets[i]:offsets[i + 1]]``.

    Raises
    ------
    ModelFileError
        A string has a lone surrogate, which UTF-8 cannot express.

    Examples
    --------
    >>> blob, offsets = pack_strings(["the", "", "café"])
    >>> blob.size, offsets.tolist()
    (8, [0, 3, 3, 8])
    """
    encoded = []
    for string in strings:
        try:
            encoded.append(string.encode())
        except UnicodeEncodeError as err:
            msg = (
                f"expected strings that UTF-8 can express, found {show(string)} at index "
                f"{len(encoded)}; remove the lone surrogate"
            )
            raise ModelFileError(msg) from err
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(item) for item in encoded], out=offsets[1:])
    return np.array(bytearray().join(encoded), np.uint8), offsets


def unpack_strings(
    blob: NDArray[np.uint8], offsets: NDArray[np.int64], *, source: str | None = None
) -> list[str]:
    """Split what `pack_strings` concatenated.

    Parameters
    ----------
    blob
        uint8, shape (bytes,).
    offsets
        int64, shape (n + 1,), from 0 to the length of `blob`, never falling.
    source
        The file, for error messages.

    Returns
    -------
    list of str
        n strings.

    Raises
    ------
    ModelFileError
        The arrays are of another type or shape, the offsets do not fit, or a string is not UTF-8.

    Examples
    --------
    >>> unpack_strings(*pack_strings(["the", "", "café"]))
    ['the', '', 'café']
    """
    with located(source):
        expect({"blob": blob, "offsets": offsets}, {"blob": ("u1", 1), "offsets": ("i8", 1)})
        ends = offsets[[0, -1]].tolist() if offsets.size else []
        _require(ends == [0, blob.size], f"string offsets from 0 to {blob.size}", ends)
        # Compared, not subtracted: a difference of hostile numbers may overflow.
        falls = np.flatnonzero(offsets[1:] < offsets[:-1]).tolist()
        _require(not falls, "string offsets that do not decrease", falls)
        data = blob.tobytes()
        strings: list[str] = []
        for begin, end in pairwise(offsets.tolist()):
            try:
                strings.append(data[begin:end].decode())
            except UnicodeDecodeError as err:
                found = f"found {show(data[begin:end])} at index {len(strings)}"
                msg = f"expected strings in UTF-8, {found}"
                raise damaged(msg) from err
        return strings


class Contents(NamedTuple):
    """Contents of a model file.

    Attributes
    ----------
    config
        The configuration.
    tensors
        Arrays by name, in the order of their names, read-only.
    writer
        The program that wrote it: ``seqtag VERSION``.
    """

    config: dict[str, Any]
    tensors: dict[str, NDArray[Any]]
    writer: str = f"seqtag {__version__}"


# ---- files


def save(
    path: str | os.PathLike[str],
    config: Mapping[str, Any],
    tensors: Mapping[str, NDArray[Any]],
) -> int:
    """Write a model file atomically.

    The bytes go to a temporary file in the same folder, are flushed to disk, and then replace
    `path` in one step: a reader always finds the complete old or new file. A symbolic link stays
    and its target is replaced. A new file gets the usual permissions (0666 less the umask); a
    replaced one keeps its own.

    Parameters
    ----------
    path
        Where to write.  The folder must exist and be writable.
    config, tensors
        What `to_bytes` takes; arrays may have any memory layout and byte order.

    Returns
    -------
    int
        The size of the file in bytes.

    Raises
    ------
    ModelFileError
        `config` or `tensors` cannot be stored.  Nothing is written.
    OSError
        The file cannot be written, or `path` is not a regular file.  An older file is untouched
        and no temporary file remains.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = save(Path(folder, "tiny.seqtag"), {"order": 1}, {"w": np.array([1, -1], "i1")})
    ...     config, tensors, *_ = load(Path(folder, "tiny.seqtag"))
    >>> config, tensors["w"].tolist()
    ({'order': 1}, [1, -1])
    """
    with located(os.fspath(path)):
        data = to_bytes(config, tensors)
    target = Path(path)
    if target.exists() and not target.is_file():
        # Replacing /dev/null or a folder is never intended.
        number = errno.EISDIR if target.is_dir() else errno.EINVAL
        message = f"{os.strerror(number)}: expected a regular file or a new name to save the model"
        raise OSError(number, message, os.fspath(path))
    try:
        with atomic(target, compress=False) as out:
            out.write(data)
    except OSError as err:
        message = (
            f"{err.strerror or err}: could not save the model of {len(data)} bytes; an older file "
            "is unchanged; choose an existing, writable folder with that much free space"
        )
        raise OSError(err.errno, message, os.fspath(path)) from err
    return len(data)


def load(path: str | os.PathLike[str]) -> Contents:
    """Load a model file; its arrays are read-only views of the bytes.

    The file is read once, not beyond what its header announces, and all checks and arrays use
    these bytes: later changes of the file have no effect.

    Parameters
    ----------
    path
        A file written by `save`.

    Returns
    -------
    Contents

    Raises
    ------
    ModelFileError
        The file is empty, truncated, damaged, no seqtag model, or of another format.
    OSError
        The file cannot be read: missing, a folder, no permission.

    Examples
    --------
    >>> load("no/such.seqtag")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'no/such.seqtag'
    """
    with located(os.fspath(path)):
        data = _read(path)
    return from_bytes(data, source=os.fspath(path))


def is_model(path: str | os.PathLike[str]) -> bool:
    """Return whether a regular file begins like a model; it may still be damaged.

    Examples
    --------
    >>> is_model("pyproject.toml")
    False
    """
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        start = file.read(32)
    return start[8:].startswith(MODEL_START)


def _read(path: str | os.PathLike[str]) -> bytes | memoryview:
    """Read a file up to what its header announces.

    A file that is not a model, or announces an absurd size, is not read into memory.
    """
    with Path(path).open("rb") as file:
        start = file.read(8)
        length = int.from_bytes(start, "little")
        if len(start) < 8 or length > MAX_HEADER:
            return start + file.read(_START_BYTES)  # the caller finds what is wrong
        start += file.read(length)
        if len(start) < 8 + length:
            return start
        try:
            header, _ = read_header(memoryview(start))
            offsets = [entry["data_offsets"] for name, entry in header.items() if name[:1] != "_"]
            announced = max((end for _, end in offsets if type(end) is int), default=0)
        except (ModelFileError, KeyError, TypeError, ValueError):
            announced = 0  # the caller finds what is wrong
        if announced > MAX_SIZE:
            msg = (
                f"expected a model of at most {MAX_SIZE} bytes, found a header that announces "
                f"{announced}; this is not a seqtag model; check the path"
            )
            raise ModelFileError(msg)
        most = len(start) + announced + 1  # one more byte reveals a file that is too long
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return start + file.read(most - len(start))
        file.seek(0)  # read in one piece, which is what all checks see
        # An array, not bytes: numpy takes large pages, which is faster.
        data = np.empty(min(most, os.fstat(file.fileno()).st_size + 1), np.uint8)
        size = file.readinto(data.data)
        data.flags.writeable = False
        return data[:size].data


# ---- bytes


def to_bytes(config: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> bytes:
    """Encode a model; the bytes depend on the values and the seqtag version only.

    Parameters
    ----------
    config
        Values that JSON returns as they were: string keys, lists (not tuples), finite numbers,
        integers of at most 20 digits.  May be empty.
    tensors
        Arrays by name: integers of 8 to 64 bits, float32 or float64 without NaN and infinity, at
        most 8 dimensions, any size including 0.  Names are ASCII letters, digits, ``_`` and
        ``.``, and start with a letter.  May be empty.

    Raises
    ------
    ModelFileError
        Something in `config` or `tensors` cannot be stored.

    Examples
    --------
    >>> data = to_bytes({"labels": ["N", "V"]}, {"w": np.zeros((2, 3), np.float32)})
    >>> config, tensors, *_ = from_bytes(data)
    >>> config["labels"], tensors["w"].shape
    (['N', 'V'], (2, 3))
    """
    stored: dict[str, NDArray[Any]] = {}
    for name, array in tensors.items():
        _check_finite(name, array)
        stored[name] = array.astype(array.dtype.newbyteorder("<"), copy=False)
    # Wide items first: every tensor starts at a multiple of its item size.
    widest_first = sorted(stored, key=lambda name: (-stored[name].itemsize, name))
    header: dict[str, Any] = {}
    pieces: dict[str, bytes] = {}
    end = 0
    for name in widest_first:
        array = stored[name]
        pieces[name] = array.tobytes()
        begin, end = end, end + len(pieces[name])
        header[name] = {
            "dtype": DTYPE_NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
    _check_config(config)
    metadata = {
        "config": config,
        "format": FORMAT_VERSION,
        "writer": f"seqtag {__version__}",
    }
    metadata["sha256"] = _checksum(canonical(metadata), header, pieces)
    header["__metadata__"] = {"seqtag": canonical(metadata).decode("ascii")}
    text = canonical(header)
    text += b" " * (-len(text) % 8)
    if len(text) > MAX_HEADER:
        msg = (
            f"expected a header of at most {MAX_HEADER} bytes, the configuration makes it "
            f"{len(text)}; move long lists of strings to tensors with pack_strings"
        )
        raise ModelFileError(msg)
    if end > MAX_SIZE:
        msg = (
            f"expected tensors of at most {MAX_SIZE} bytes, found {end}; "
            "train with fewer features or labels"
        )
        raise ModelFileError(msg)
    return b"".join([len(text).to_bytes(8, "little"), text, *pieces.values()])


def from_bytes(data: bytes | bytearray | memoryview, *, source: str = "<bytes>") -> Contents:
    """Decode what `to_bytes` made; the arrays are read-only views of `data`.

    Parameters
    ----------
    data
        The contents of a model file.
    source
        The name of `data` in error messages.

    Raises
    ------
    ModelFileError
        As `load`.

    Examples
    --------
    >>> from_bytes(to_bytes({"order": 2}, {})).config
    {'order': 2}
    >>> from_bytes(b"", source="a.seqtag")
    Traceback (most recent call last):
    seqtag.errors.ModelFileError: a.seqtag: expected a seqtag model file, found an empty file; \
the file is damaged, copy or save it again
    """
    with located(source):
        view = memoryview(data).toreadonly()
        header, body = read_header(view)
        config, writer, sha256, signed = read_metadata(header.pop("__metadata__", None))
        entries = {name: header[name] for name in sorted(header)}
        for name, entry in entries.items():
            check_entry(name, entry, len(body))
        position = 0
        for begin, end in sorted(entry["data_offsets"] for entry in entries.values()):
            _require(begin == position, f"a tensor at offset {position}", begin)
            position = end
        _require(position == len(body), f"{position} bytes of data", len(body))
        tensors = {}
        for name, entry in entries.items():
            dtype, begin = DTYPES[entry["dtype"]], entry["data_offsets"][0]
            tensors[name] = np.ndarray(entry["shape"], dtype, buffer=body, offset=begin)
        pieces = {name: body[slice(*entry["data_offsets"])] for name, entry in entries.items()}
        found = _checksum(signed, entries, pieces)
        _require(found == sha256, f"the checksum {show(sha256)}", found)
        for name, array in tensors.items():
            _check_finite(name, array)
    return Contents(config, tensors, writer)


# ---- checks while writing


def _check_config(config: Mapping[str, Any]) -> None:
    """Refuse a configuration that would be read otherwise than it is, or not at all."""
    problem = ""
    try:
        returned = strict_json.loads(canonical(config), max_digits=MAX_DIGITS)
    except (TypeError, ValueError, RecursionError) as err:
        returned, problem = None, f": {err}"
    if is_deep(config) or returned != config:
        msg = f"expected a configuration that JSON returns unchanged, found {show(config)}{problem}"
        raise ModelFileError(msg)


# ---- both ways


def _check_finite(name: str, array: NDArray[Any]) -> None:
    """Refuse NaN and infinity, which would invalidate all scores."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        msg = (
            f"expected finite numbers in tensor {name!r}, found NaN or infinity; "
            "train the model again with a smaller step"
        )
        raise ModelFileError(msg)


def _checksum(
    signed: bytes, entries: Mapping[str, Any], pieces: Mapping[str, bytes | memoryview]
) -> str:
    """Return the SHA-256 of metadata and tensors; JSON is self-delimiting, shapes imply lengths."""
    digest = hashlib.sha256(signed)
    for name in sorted(entries):
        digest.update(canonical([name, entries[name]["dtype"], entries[name]["shape"]]))
        digest.update(pieces[name])
    return digest.hexdigest()
