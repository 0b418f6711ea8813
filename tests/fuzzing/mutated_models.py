"""Mutator of model files: it changes the content of a file and corrects its checksum.

A checksum detects accidental damage, not an attacker, who computes it anew. Therefore all content
is mutated with a valid checksum.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.errors import SeqtagError
from seqtag.model.container import DTYPE_NAMES, DTYPES, canonical, pack_strings, unpack_strings
from seqtag.storage import strict_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tests.fuzzing.choices import Choices

Tensors = dict[str, "NDArray[Any]"]

_WORDS = Path(__file__).with_name("words")
VALUES: list[Any] = [*json.loads(_WORDS.joinpath("values.json").read_text("ascii")), "x" * 3000]
"""What stands in JSON where something else is expected."""
LINES = _WORDS.joinpath("lines.txt").read_text("ascii").splitlines()
"""Lines of templates, right and wrong."""
_KEYS = ["x", "", *["parts", "coding", "calibration", "tables", "absent", "words", "kind", "known"]]
_NAMES = ["p0.x", "p1.known", "p99.known", "x", "p0.p0.known", "t0.x", "t1.hashes", "t99.numbers"]
LABELS: list[str] = [*json.loads(_WORDS.joinpath("labels.json").read_text("ascii")), "x" * 70_000]
"""Labels, as different codings would have them."""


# ----------------------------------------------------------------- files
def take_apart(data: bytes) -> tuple[dict[str, Any], Tensors]:
    """What a good file says beside its tensors, without the checksum; and the tensors."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    fields = json.loads(header.pop("__metadata__")["seqtag"])
    del fields["sha256"]
    body = memoryview(data)[8 + length :]
    tensors = {}
    for name, entry in header.items():
        piece = body[slice(*entry["data_offsets"])]
        tensors[name] = np.frombuffer(piece, DTYPES[entry["dtype"]]).reshape(entry["shape"]).copy()
    return fields, tensors


def put_together(fields: dict[str, Any], tensors: Tensors) -> bytes:
    """A file with a checksum that is right; nothing is checked."""
    header: dict[str, Any] = {}
    pieces = []
    end = 0
    for name, array in sorted(tensors.items(), key=lambda item: (-item[1].itemsize, item[0])):
        pieces.append(array.tobytes())
        begin, end = end, end + array.nbytes
        header[name] = {
            "dtype": DTYPE_NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
    return _file(fields, header, b"".join(pieces))


def _file(fields: dict[str, Any], header: dict[str, Any], body: bytes) -> bytes:
    """The bytes of a file, signed."""
    signed = fields | {"sha256": _checksum(fields, header, body)}
    text = canonical({**header, "__metadata__": {"seqtag": canonical(signed).decode()}})
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + body


def _checksum(fields: dict[str, Any], header: dict[str, Any], body: bytes) -> str:
    """What a reader will compute, as far as it gets."""
    digest = hashlib.sha256(canonical(fields))
    for name in sorted(header):
        entry = header[name]
        digest.update(canonical([name, entry.get("dtype"), entry.get("shape")]))
        digest.update(body[slice(*entry["data_offsets"])])
    return digest.hexdigest()


def signed_again(data: bytes) -> bytes:
    """Any bytes, with the right checksum if they are like a model file; else as they are."""
    try:
        length = int.from_bytes(data[:8], "little")
        header = strict_json.loads(data[8 : 8 + length])
        fields = strict_json.loads(header.pop("__metadata__")["seqtag"])
        del fields["sha256"]
        return _file(fields, header, data[8 + length :])
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return data


# ----------------------------------------------------------------- mutations
def mutated(choices: Choices, data: bytes) -> bytes:
    """A good file with one to four changes, signed again."""
    fields, tensors = take_apart(data)
    for _ in range(1 + choices.below(4)):
        change = choices.pick(_CHANGES)
        change(choices, fields, tensors)
    data = put_together(fields, tensors)
    if choices.below(8) == 7:  # the header itself, and bytes anywhere
        data = signed_again(with_other_bytes(choices, data))
    return data


def _change_config(choices: Choices, fields: dict[str, Any], tensors: Tensors) -> None:
    """Another value somewhere in the configuration; or none, or one more."""
    place, key = choices.pick(_places(fields["config"], "config"))
    kind = choices.below(8)
    if kind == 0 and key in place:
        del place[key]
    elif kind == 1:
        other, name = choices.pick(_places(fields["config"], "config"))
        place[key] = json.loads(json.dumps(other[name]))
    elif kind == 2 and isinstance(place, dict):
        place[choices.pick(_KEYS)] = choices.pick(VALUES)
    elif isinstance(place[key], str) and kind < 6:
        place[key] = _other_text(choices, place[key])
    elif isinstance(place[key], list) and kind < 6:
        place[key] = place[key][choices.below(3) :] * choices.below(4)
    else:
        place[key] = choices.pick(VALUES)


def _places(value: Any, key: Any, parent: Any = None) -> list[tuple[Any, Any]]:
    """Container and key of every value within a value."""
    found = [] if parent is None else [(parent, key)]
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in items:
        if isinstance(inner, (dict, list)):
            found += _places(inner, name, value)
        else:
            found.append((value, name))
    found.reverse()  # what is deep inside first
    return found or [({"config": value}, "config")]


def _change_templates(choices: Choices, fields: dict[str, Any], tensors: Tensors) -> None:
    """Other templates in a part."""
    parts = [part for part in _parts(fields) if isinstance(part.get("templates"), str)]
    if not parts:
        return
    part = choices.pick(parts)
    lines = part["templates"].split("\n")
    at = choices.below(len(lines))
    if choices.below(3):
        lines.insert(at, choices.pick(LINES))
    else:
        del lines[at]
    part["templates"] = "\n".join(lines)


def _parts(fields: dict[str, Any]) -> list[dict[str, Any]]:
    """The configurations of the models in a file, as far as they are such."""
    config = fields["config"]
    listed = config.get("parts", [config]) if isinstance(config, dict) else []
    return [part for part in listed if isinstance(part, dict)] if isinstance(listed, list) else []


def _change_fields(choices: Choices, fields: dict[str, Any], tensors: Tensors) -> None:
    """What the file says of itself."""
    name = choices.pick(["format", "writer", "more"])
    fields[name] = choices.pick([1, 2, 3, "seqtag 9", *VALUES])


def _change_items(choices: Choices, fields: dict[str, Any], tensors: Tensors) -> None:
    """Some numbers of a tensor."""
    array = _some_tensor(choices, tensors)
    if not array.size:
        return
    flat = array.reshape(-1)
    limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else np.finfo(array.dtype)
    for _ in range(1 + choices.below(3)):
        at = choices.below(flat.size)
        kind = choices.below(6)
        with np.errstate(all="ignore"):
            if kind < 2:
                flat[at] += np.array(1 - 2 * kind).astype(array.dtype)
            elif kind == 2:
                flat[at] = limits.max
            elif kind == 3:
                flat[at] = limits.min
            elif kind == 4:
                flat[at] = choices.below(min(300, int(limits.max)))
            else:
                whole = choices.take(array.itemsize).ljust(array.itemsize, b"\0")
                found = np.frombuffer(whole, array.dtype)
                flat[at] = found[0] if array.dtype.kind in "iu" or np.isfinite(found[0]) else 0


def _change_shape(choices: Choices, fields: dict[str, Any], tensors: Tensors) -> None:
    """A tensor cut, grown, turned round, or of another type."""
    name = choices.pick(sorted(tensors))
    array = tensors[name]
    size = len(array) if array.ndim else 0
    change: Callable[[], Any] = choices.pick(
        [
            lambda: array[: choices.below(size + 1)],
            lambda: array[choices.below(size + 1) :],
            lambda: array[::-1],
            lambda: np.sort(array, axis=None),
            lambda: np.repeat(array.reshape(-1), 2),
            lambda: np.concatenate([array.reshape(-1)[: choices.below(9)], array.reshape(-1)]),
            lambda: np.append(array.reshape(-1), np.zeros(1 + choices.below(70), array.dtype)),
            lambda: np.zeros_like(array),
            lambda: array[None],
            lambda: array.reshape(-1)[:1].reshape(()) if size else array,
            lambda: array.astype(choices.pick(sorted(DTYPES.values(), key=str))),
            lambda: np.zeros(choices.below(1 << 16), array.dtype),
        ]
    )
    with np.errstate(all="ignore"):
        tensors[name] = np.array(change(), order="C")


def _change_names(choices: Choices, fields: dict[str, Any], tensors: Tensors) -> None:
    """A tensor by another name, none, one more, or two that change places."""
    name, other = choices.pick(sorted(tensors)), choices.pick(sorted(tensors))
    kind = choices.below(4)
    if kind == 0 and len(tensors) > 1:
        del tensors[name]
    elif kind == 1:
        tensors[choices.pick(_NAMES)] = tensors[name]
    else:
        tensors[name], tensors[other] = tensors[other], tensors[name]


def _change_labels(choices: Choices, fields: dict[str, Any], tensors: Tensors) -> None:
    """Other labels in a part: other words, or more of them and room for what hangs on them."""
    names = [name for name in sorted(tensors) if name.endswith("labels.blob")]
    if not names:
        return
    prefix = choices.pick(names).removesuffix("labels.blob")
    try:
        labels = unpack_strings(tensors[f"{prefix}labels.blob"], tensors[f"{prefix}labels.offsets"])
    except (SeqtagError, KeyError):
        return  # spoilt by a change before
    label = choices.pick(LABELS)
    if labels and choices.below(2):
        labels[choices.below(len(labels))] = label
    else:
        more = choices.pick([1, 1, 2, 40, 300])
        labels += [f"{label}{n or ''}" for n in range(more)]
        for name in ("start", "stop"):
            row = tensors.get(prefix + name)
            if row is not None and row.ndim == 1:
                tensors[prefix + name] = np.append(row, np.zeros(more, row.dtype))
    tensors[f"{prefix}labels.blob"], tensors[f"{prefix}labels.offsets"] = pack_strings(labels)


def _change_tables(choices: Choices, fields: dict[str, Any], tensors: Tensors) -> None:
    """Other values or words in a word table, or one table more or less, and who looks into which."""
    names = [name for name in sorted(tensors) if name.endswith("values.blob")]
    config = fields["config"]
    listed = config.get("tables") if isinstance(config, dict) else None
    if not names or not isinstance(listed, list):
        return
    prefix = choices.pick(names).removesuffix("values.blob")
    kind = choices.below(5)
    if kind == 0:
        blob, offsets = f"{prefix}values.blob", f"{prefix}values.offsets"
        values = [choices.pick(LABELS) for _ in range(choices.below(5))]
        tensors[blob], tensors[offsets] = pack_strings(values)
    elif kind == 1:
        for name in ("hashes", "numbers"):  # words gone, or again
            if prefix + name in tensors:
                tensors[prefix + name] = tensors[prefix + name][:: choices.pick([2, 3, -1])].copy()
    elif kind == 2:
        for part in _parts(fields):
            part["tables"] = [choices.below(5) for _ in range(choices.below(4))]
    elif kind == 3:
        config["tables"] = listed[choices.below(2) :] * choices.below(4)
    elif listed and isinstance(listed[-1], dict):
        key = choices.pick(["name", "words", "kind", "absent", "origin"])
        listed[-1][key] = choices.pick(VALUES)


def _some_tensor(choices: Choices, tensors: Tensors) -> NDArray[Any]:
    return tensors[choices.pick(sorted(tensors))]


def _other_text(choices: Choices, text: str) -> str:
    """A text with a piece of it gone, or another in its place."""
    at = choices.below(len(text) + 1)
    piece = str(choices.pick([value for value in VALUES if isinstance(value, str)]))
    return text[:at] + piece * choices.below(2) + text[at + choices.below(4) :]


def with_other_bytes(choices: Choices, data: bytes) -> bytes:
    """Some bytes of a file changed, most of them in its header."""
    raw = bytearray(data)
    within = choices.pick([8, min(len(raw), 4000), len(raw)])
    for _ in range(1 + choices.below(3)):
        at = choices.below(within)
        raw[at : at + choices.below(4)] = choices.take(choices.below(4))
    return bytes(raw)


_CHANGES = [
    _change_config,
    _change_config,
    _change_templates,
    _change_fields,
    _change_items,
    _change_items,
    _change_items,
    _change_shape,
    _change_shape,
    _change_names,
    _change_labels,
    _change_labels,
    _change_tables,
]
