"""Sentences as arrays of strings, of Arrow or numpy, and labels as arrays of the same shape.

Arrow numbers its own arrays, many sentences at a time, and Python sees each distinct word once.
pyarrow is imported only if one of its arrays is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.errors import SeqtagError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from seqtag.features.encoder import Encoder

_NO_OFFSETS = (
    "expected offsets (the start of each sentence and the end of the last one) with an array of "
    "words"
)


class Arrays(NamedTuple):
    """Sentences whose words are end to end in arrays."""

    columns: list[Any]  # for each column the values of all words
    bounds: NDArray[np.int64]  # where sentences begin, and where the last one ends
    shaped: Callable[[NDArray[np.int32], Sequence[str]], Any]  # of label ids and names

    def forms(self, column: int, begin: int, end: int) -> list[list[str]]:
        """Return the values of a column for each of the sentences begin to end."""
        first, last = self.bounds[begin], self.bounds[end]
        words: list[str] = []
        for strings, ids in _pieces(self.columns[column], int(first), int(last)):
            words += strings if ids is None else [strings[i] for i in ids.tolist()]
        bounds = (self.bounds[begin : end + 1] - first).tolist()
        return [words[a:b] for a, b in pairwise(bounds)]

    def numbered(
        self, encoder: Encoder, names: Sequence[str], begin: int, end: int
    ) -> NDArray[np.int32]:
        """Return the type ids (columns, words) int32 of the sentences begin to end."""
        first, last = int(self.bounds[begin]), int(self.bounds[end])
        types = np.empty((len(names), last - first), np.int32)
        for c, name in enumerate(names):
            at = 0
            for words, ids in _pieces(self.columns[c], first, last):
                numbers = encoder.number(name, [words], len(words))
                found = numbers if ids is None else numbers[ids]
                types[c, at : at + len(found)] = found
                at += len(found)
        return types


def arrays_of(sentences: Any, offsets: Any, columns: Sequence[str]) -> Arrays | None:
    """Return sentences as arrays, or None if they are something else.

    Parameters
    ----------
    sentences
        A list array of Arrow, or with `offsets` an array of strings of Arrow or numpy; for a model
        with several columns a mapping with an array for each.
    offsets
        Where sentences begin, and where the last one ends; None for list arrays.
    columns
        Names of the model's columns.

    Raises
    ------
    TypeError
        If an array has elements other than strings, or lists of strings.
    SeqtagError
        If a sentence or word is missing, or the arrays or offsets do not fit together.
    """
    wanted = list(columns) or ["form"]
    if isinstance(sentences, Mapping):
        missing = [name for name in wanted if name not in sentences]
        if missing:
            msg = (
                f"expected an array for the column {missing[0]}, found "
                f"{', '.join(map(str, sentences)) or 'none'}"
            )
            raise TypeError(msg)
        given = [sentences[name] for name in wanted]
    else:
        given = [sentences]
    kinds = [_kind_of(each) for each in given]
    if offsets is None and (None in kinds or "numpy" in kinds):
        if isinstance(sentences, Mapping):
            msg = (
                f"expected sentences, or an Arrow list array for each column, found "
                f"{type(given[0]).__name__}; arrays of words need offsets"
            )
            raise TypeError(msg)
        return None
    if None in kinds:
        msg = (
            "expected an array of strings of pyarrow or numpy with offsets, found "
            f"{type(given[kinds.index(None)]).__name__}"
        )
        raise TypeError(msg)
    if len(given) < len(wanted):
        msg = (
            f"expected a mapping with an array for each of {', '.join(wanted)}, found one array; "
            "give a dictionary of arrays"
        )
        raise TypeError(msg)
    read = [
        _numpy(each, offsets) if kind == "numpy" else _arrow(each, offsets, name)
        for each, kind, name in zip(given, kinds, wanted, strict=True)
    ]
    for each, name in zip(read[1:], wanted[1:], strict=True):
        if not np.array_equal(each.bounds, read[0].bounds):
            msg = (
                f"expected as many words for each sentence in the column {name} as in {wanted[0]}, "
                "found others"
            )
            raise SeqtagError(msg)
    return Arrays([each.columns[0] for each in read], read[0].bounds, read[0].shaped)


def _kind_of(array: Any) -> str | None:
    """Return the library of an array; None for other objects."""
    if isinstance(array, np.ndarray):
        return "numpy"
    if type(array).__module__.partition(".")[0] == "pyarrow" and hasattr(array, "null_count"):
        return "pyarrow"
    return None


def _checked(offsets: Any, words: int) -> NDArray[np.int64]:
    """Return offsets as int64.

    Raises
    ------
    SeqtagError
        If they are not integers that ascend from 0 to the number of words.
    """
    found = np.asarray(offsets)
    if found.ndim != 1 or found.dtype.kind not in "iu" or not len(found):
        msg = f"{_NO_OFFSETS}: integers in one row, found {found.ndim}-d {found.dtype}"
        raise SeqtagError(msg)
    bounds = found.astype(np.int64)
    if bounds[0] != 0 or bounds[-1] != words or np.any(bounds[1:] < bounds[:-1]):
        msg = (
            f"expected offsets that ascend from 0 to the number of words, {words}, found "
            f"{len(bounds)} from {bounds[0]} to {bounds[-1]}"
        )
        raise SeqtagError(msg)
    return bounds


# --------------------------------------------------------------------- numpy
def _numpy(words: NDArray[Any], offsets: Any) -> Arrays:
    """Return the sentences of a numpy array of strings."""
    if words.ndim != 1 or words.dtype.kind not in "UOT":
        msg = (
            "expected words in one row, of the numpy type str, object or StringDType, found "
            f"{words.ndim}-d {words.dtype}"
        )
        raise TypeError(msg)

    def shaped(ids: NDArray[np.int32], names: Sequence[str]) -> NDArray[Any]:
        if words.dtype.kind == "U":
            return np.array(names)[ids]
        return np.array(names, words.dtype)[ids]

    return Arrays([words], _checked(offsets, len(words)), shaped)


# --------------------------------------------------------------------- Arrow
def _arrow(array: Any, offsets: Any, name: str) -> Arrays:
    """Return the sentences of an array, or chunked array, of Arrow."""
    pa = import_module("pyarrow")
    kind = array.type
    tests = ("is_list", "is_large_list", "is_fixed_size_list", "is_list_view", "is_large_list_view")
    if not any(hasattr(pa.types, test) and getattr(pa.types, test)(kind) for test in tests):
        if offsets is None:
            msg = f"{_NO_OFFSETS}, found {kind} alone; give offsets=, or a list array"
            raise TypeError(msg)
        _check_words(pa, array, kind, name)

        def flat(ids: NDArray[np.int32], names: Sequence[str]) -> Any:
            if not isinstance(array, pa.ChunkedArray):
                return _dictionary(pa, ids, names)
            ends = np.cumsum([0, *map(len, array.chunks)]).tolist()
            made = [_dictionary(pa, ids[begin:end], names) for begin, end in pairwise(ends)]
            return pa.chunked_array(made, pa.dictionary(pa.int32(), pa.string()))

        return Arrays([array], _checked(offsets, len(array)), flat)
    if offsets is not None:
        msg = (
            f"expected offsets with an array of words only, found them with {kind}; leave them out"
        )
        raise TypeError(msg)
    if array.null_count:
        missing = array.is_null().to_numpy(zero_copy_only=False) if len(array) else []
        msg = (
            f"expected words for each sentence, found null for sentence {int(np.argmax(missing))}; "
            "drop such rows, or fill them with empty lists"
        )
        raise SeqtagError(msg)
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    for chunk in chunks:
        _validate(chunk, "lists of words in UTF-8")  # or memory beyond them would be read
    parts = [chunk.flatten() for chunk in chunks]
    words = parts[0] if len(parts) == 1 else pa.chunked_array(parts, kind.value_type)
    _check_words(pa, words, kind.value_type, name)
    compute = import_module("pyarrow.compute")
    lengths = [compute.list_value_length(chunk).to_numpy(zero_copy_only=False) for chunk in chunks]
    bounds = np.zeros(len(array) + 1, np.int64)
    np.cumsum(np.concatenate([np.empty(0, np.int64), *lengths]), out=bounds[1:])

    def shaped(ids: NDArray[np.int32], names: Sequence[str]) -> Any:
        large = str(kind).startswith("large_list")
        make = pa.LargeListArray if large else pa.ListArray
        offset_type = np.int64 if large else np.int32
        made, first = [], 0
        for chunk in chunks:
            part = bounds[first : first + len(chunk) + 1]
            labels = _dictionary(pa, ids[part[0] : part[-1]], names)
            made.append(make.from_arrays(pa.array((part - part[0]).astype(offset_type)), labels))
            first += len(chunk)
        if not isinstance(array, pa.ChunkedArray):
            return made[0]
        of_labels = pa.dictionary(pa.int32(), pa.string())
        return pa.chunked_array(made, (pa.large_list if large else pa.list_)(of_labels))

    return Arrays([words], bounds, shaped)


def _check_words(pa: Any, words: Any, kind: Any, name: str) -> None:
    """Raise an error if an array of Arrow has other elements than strings, or null."""
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if str(value) not in ("string", "large_string", "string_view") and (
        len(words) or value != "null"
    ):
        msg = (
            f"expected an array of strings, or of lists of them, for the column {name}, found "
            f"{kind}; cast it to strings"
        )
        raise TypeError(msg)
    if words.null_count:
        missing = words.is_null().to_numpy(zero_copy_only=False)
        msg = (
            f"expected words as strings for the column {name}, found null for word "
            f"{int(np.argmax(missing))} of all; fill it, or drop it"
        )
        raise SeqtagError(msg)


def _dictionary(pa: Any, ids: NDArray[np.int32], names: Sequence[str]) -> Any:
    """Return labels as a dictionary array of Arrow."""
    return pa.DictionaryArray.from_arrays(pa.array(ids), pa.array(list(names), pa.string()))


def _pieces(
    words: Any, begin: int, end: int
) -> Iterator[tuple[list[str], NDArray[np.int32] | None]]:
    """Yield strings and the id of each word, for the words begin to end; no ids: the words."""
    if isinstance(words, np.ndarray):
        yield words[begin:end].tolist(), None
        return
    part = words.slice(begin, end - begin)
    for piece in part.chunks if hasattr(part, "chunks") else [part]:
        chunk = piece
        if not len(chunk):
            continue
        pa = import_module("pyarrow")
        _validate(chunk, "words in UTF-8")
        if pa.types.is_dictionary(chunk.type):
            chunk = chunk.dictionary_decode()
            if chunk.null_count:
                msg = (
                    "expected words as strings, found null in a dictionary; fill it, or drop its "
                    "words"
                )
                raise SeqtagError(msg)
        if str(chunk.type) == "string_view":
            chunk = chunk.cast(pa.large_string())
        encoded = chunk.dictionary_encode()
        ids = encoded.indices.to_numpy(zero_copy_only=False)
        yield encoded.dictionary.to_numpy(zero_copy_only=False).tolist(), ids


def _validate(chunk: Any, expected: str) -> None:
    """Raise an error if an array of Arrow is inconsistent, as other libraries can make them."""
    try:
        chunk.validate(full=True)
    except import_module("pyarrow").ArrowInvalid as error:
        msg = f"expected {expected}, found a damaged array: {error}"
        raise SeqtagError(msg) from error
