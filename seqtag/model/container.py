"""The model file: save and load a configuration and named arrays, checked and atomic.

The layout is that of safetensors, so its library and viewers open our files::

    8 bytes    header length n, unsigned little-endian, a multiple of 8
    n bytes    header: JSON {"__metadata__": {"seqtag": TEXT}, NAME: ENTRY, ...}, padded with spaces
    the rest   tensor data, little-endian, C order, without holes

    ENTRY      {"dtype": "F32", "shape": [3, 2], "data_offsets": [begin, end]}
    TEXT       JSON {"config": {}, "format": 2, "reader": 2, "sha256": "", "writer": "seqtag 0.2.0"}

``reader`` is the oldest format version a program must know to read the file.  ``sha256`` covers
the rest of TEXT and name, dtype, shape and data of every tensor, in the order of the names.
All JSON is canonical (sorted keys, no spaces, ASCII) and nothing depends on time, place or
machine: the same model gives the same bytes.  A file holds data only; loading runs nothing.

This module knows the container.  What the configuration means, and which tensors a model must
have, is the business of its caller, who has `seqtag.model.tensors` to check them.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.errors import ModelFileError
from seqtag.model.header import (
    DTYPE_NAMES,
    DTYPES,
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_DIMENSIONS,
    MAX_HEADER,
    MAX_SIZE,
    MIN_READER,
    TENSOR_NAME,
    canonical,
    check_entry,
    check_layout,
    damaged,
    is_deep,
    located,
    name_message,
    read_header,
    read_metadata,
    show,
)
from seqtag.storage import strict_json
from seqtag.storage.output import Output
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


class Contents(NamedTuple):
    """What a model file holds.

    Attributes
    ----------
    config
        The configuration.
    tensors
        Arrays by name, in the order of their names, read-only.
    format
        The format version it is written in.
    writer
        The program that wrote it: ``seqtag 0.2.0``.
    """

    config: dict[str, Any]
    tensors: dict[str, NDArray[Any]]
    format: int = MIN_READER
    writer: str = f"seqtag {__version__}"


# ---- files


def save(
    path: str | os.PathLike[str],
    config: Mapping[str, Any],
    tensors: Mapping[str, NDArray[Any]],
    format: int = MIN_READER,
) -> int:
    """Write a model file, all of it or nothing.

    The bytes go to a temporary file in the same folder, reach the disk, and then take the
    place of `path` in one step: at any moment, a reader finds the old file or the new one,
    whole.  A symbolic link stays and its target is replaced.  A new file gets the usual
    permissions (0666 less the umask); a replaced one keeps those it had.

    Parameters
    ----------
    path
        Where to write.  The folder must exist and be writable.
    config, tensors, format
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
        data = to_bytes(config, tensors, format)
    target = Path(path)
    if target.exists() and not target.is_file():
        # Replacing /dev/null or a folder is never what was meant.
        number = errno.EISDIR if target.is_dir() else errno.EINVAL
        message = f"{os.strerror(number)}: expected a regular file or a new name to save the model"
        raise OSError(number, message, os.fspath(path))
    try:
        with Output(target, compress=False) as out:
            out.write(data)
    except OSError as err:
        message = (
            f"{err.strerror or err}: could not save the model of {len(data)} bytes; an older file "
            "is unchanged; choose an existing, writable folder with that much free space"
        )
        raise OSError(err.errno, message, os.fspath(path)) from err
    return len(data)


def load(path: str | os.PathLike[str], *, verify: bool = True) -> Contents:
    """Read a model file; its arrays are views of the bytes read.

    The file is read once, after its header and no further than that announces, and all checks
    and arrays are of these bytes: whatever becomes of the file later changes nothing.  The arrays
    are read-only.

    Parameters
    ----------
    path
        A file written by `save`.
    verify
        Read all data once, compare the checksum, and refuse NaN and infinity.  Turn it off where
        the same file has been verified already, as in the workers of a pool; the structure of
        the file is checked in any case.

    Returns
    -------
    Contents

    Raises
    ------
    ModelFileError
        The file is empty, truncated, damaged, no seqtag model, or needs a newer seqtag.
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
    return from_bytes(data, source=os.fspath(path), verify=verify)


def is_model(path: str | os.PathLike[str]) -> bool:
    """Whether a regular file begins as models do; it may still be damaged.

    Examples
    --------
    >>> is_model("pyproject.toml")
    False
    """
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        start = file.read(32)
    return start[8:].startswith(b'{"__metadata__":')  # behind the length of the header


def _read(path: str | os.PathLike[str]) -> bytes:
    """The contents of a file, of which no more is read than its header announces.

    A file that is no model, or says that it is absurdly large, is not read into memory.
    """
    with Path(path).open("rb") as file:
        start = file.read(8)
        length = int.from_bytes(start, "little")
        if len(start) < 8 or length > MAX_HEADER:
            return start  # which says what is wrong
        start += file.read(length)
        if len(start) < 8 + length:
            return start
        announced = _announced(start)
        if announced > MAX_SIZE:
            msg = (
                f"expected a model of at most {MAX_SIZE} bytes, found a header that announces "
                f"{announced}; this is no seqtag model, check the path"
            )
            raise ModelFileError(msg)
        most = len(start) + announced + 1  # one byte more shows a file that is too long
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return start + file.read(most - len(start))
        file.seek(0)  # all of it in one piece: what is checked from here on is this piece alone
        return file.read(min(most, os.fstat(file.fileno()).st_size + 1))


def _announced(start: bytes) -> int:
    """How many bytes of tensors a header announces; 0 if it cannot be read, as is found later."""
    try:
        header, _ = read_header(memoryview(start))
        offsets = [entry["data_offsets"] for name, entry in header.items() if name[:1] != "_"]
        return max((end for _, end in offsets if type(end) is int), default=0)
    except (ModelFileError, KeyError, TypeError, ValueError):
        return 0


# ---- bytes


def to_bytes(
    config: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]], format: int = MIN_READER
) -> bytes:
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
    format
        The format version, which is also the oldest reader that understands the file.

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
    stored = {name: _storable(name, array) for name, array in tensors.items()}
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
    metadata = {
        "config": _checked_config(config),
        "format": format,
        "reader": format,
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


def from_bytes(
    data: bytes | bytearray, *, source: str = "<bytes>", verify: bool = True
) -> Contents:
    """Decode what `to_bytes` made; the arrays are read-only views of `data`.

    Parameters
    ----------
    data
        The contents of a model file.
    source
        The name of `data` in error messages.
    verify
        As in `load`; so are the values returned, and the ModelFileError raised.

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
        about = read_metadata(header.pop("__metadata__", None))
        entries = {name: header[name] for name in sorted(header)}
        for name, entry in entries.items():
            check_entry(name, entry, len(body))
        check_layout(entries, len(body))
        tensors = {}
        for name, entry in entries.items():
            dtype, begin = DTYPES[entry["dtype"]], entry["data_offsets"][0]
            tensors[name] = np.ndarray(entry["shape"], dtype, buffer=body, offset=begin)
        if verify:
            pieces = {name: body[slice(*entry["data_offsets"])] for name, entry in entries.items()}
            found = _checksum(about.signed, entries, pieces)
            if found != about.sha256:
                msg = f"expected the checksum {show(about.sha256)}, found {found!r}"
                raise damaged(msg)
            for name, array in tensors.items():
                _check_finite(name, array)
    return Contents(about.config, tensors, about.format, about.writer)


# ---- checks while writing


def _storable(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """The array in little-endian order, if the format can hold it."""
    if not (isinstance(name, str) and TENSOR_NAME.fullmatch(name)):
        raise ModelFileError(name_message(name))
    if not isinstance(array, np.ndarray) or array.dtype.newbyteorder("<") not in DTYPE_NAMES:
        found = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        msg = (
            f"expected tensor {name!r} to be a numpy array of one of "
            f"{', '.join(map(str, DTYPE_NAMES))}, found {found}; convert it first"
        )
        raise ModelFileError(msg)
    if array.ndim > MAX_DIMENSIONS:
        msg = (
            f"expected tensor {name!r} to have at most {MAX_DIMENSIONS} dimensions, "
            f"found {array.ndim}; reshape it first"
        )
        raise ModelFileError(msg)
    _check_finite(name, array)
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _checked_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration, if JSON returns it as it is."""
    hint = "use dicts with string keys, lists, strings, finite numbers, booleans and None"
    plain = dict(config)
    try:
        returned = strict_json.loads(canonical(plain), max_digits=MAX_DIGITS)
        changed = [key for key in plain if key not in returned or returned[key] != plain[key]]
    except (TypeError, ValueError, RecursionError) as err:
        msg = f"expected a configuration that JSON can hold, found a problem: {err}; {hint}"
        raise ModelFileError(msg) from err
    if is_deep(plain):
        msg = f"expected a configuration of at most {MAX_DEPTH} levels, found more; {hint}"
        raise ModelFileError(msg)
    if changed:
        msg = (
            "expected a configuration that JSON returns unchanged, found "
            f"{show(plain[changed[0]])} under {show(changed[0])}; {hint}"
        )
        raise ModelFileError(msg)
    return plain


# ---- both ways


def _check_finite(name: str, array: NDArray[Any]) -> None:
    """Refuse NaN and infinity, which would spoil every score they meet."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        msg = (
            f"expected finite numbers in tensor {name!r}, found NaN or infinity; "
            "train the model again with a smaller step"
        )
        raise ModelFileError(msg)


def _checksum(
    signed: bytes, entries: Mapping[str, Any], pieces: Mapping[str, bytes | memoryview]
) -> str:
    """SHA-256 over the metadata and all tensors; JSON ends itself, shapes tell lengths of data."""
    digest = hashlib.sha256(signed)
    for name in sorted(entries):
        digest.update(canonical([name, entries[name]["dtype"], entries[name]["shape"]]))
        digest.update(pieces[name])
    return digest.hexdigest()
