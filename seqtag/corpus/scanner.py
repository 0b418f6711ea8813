"""The one driver of the native scanner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seqtag.engine import backend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.corpus import SentenceStream


def scanner_of(stream: SentenceStream, read: Sequence[str], write: Sequence[int] = ()) -> Any:
    """A native scanner for a file of columns, whose separator is known.

    Parameters
    ----------
    stream
        The file.
    read
        Names of the columns to number.
    write
        Numbers of the columns to splice labels into; -1 is a new one behind the last.
    """
    is_conllu = not stream.extensible
    return backend.Scanner(
        len(stream.columns),
        stream.separator,
        stream.columns.index("id") if is_conllu and "id" in stream.columns else -1,
        is_conllu,
        [stream.columns.index(name) for name in read],
        list(write),
    )
