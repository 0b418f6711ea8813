"""Choice of the backend: the native kernel, or the reference with the same results.

``SEQTAG_BACKEND=native`` or ``reference`` forces one; by default the native kernel is used if it
was built.
"""

from __future__ import annotations

import importlib.util
import logging
import os
from typing import TypeVar

from seqtag.engine.interface import Backend
from seqtag.errors import BackendError

T = TypeVar("T")

REINSTALL = (
    "install a C++17 compiler and repeat your pip install command with --no-cache-dir "
    "--force-reinstall, because pip may have the slow wheel in its cache"
)
"""How to get the native kernel."""

NOT_BUILT = f"the native kernel was not built; for speed {REINSTALL}"
"""Why the reference is in use if nothing was chosen."""


def is_built() -> bool:
    """Return whether the native kernel is installed."""
    return importlib.util.find_spec("seqtag.engine._kernel") is not None


def _choose() -> str:
    """Return the name of the backend to use."""
    wanted = os.environ.get("SEQTAG_BACKEND", "")
    built = is_built()
    if wanted not in ("", "native", "reference"):
        msg = f"expected SEQTAG_BACKEND=native or reference, found {wanted!r}"
        raise BackendError(msg)
    if wanted == "native" and not built:
        msg = (
            "SEQTAG_BACKEND=native, but the native kernel was not built; unset SEQTAG_BACKEND, or "
            f"{REINSTALL}"
        )
        raise BackendError(msg)
    return wanted or ("native" if built else "reference")


def get(name: str) -> Backend:
    """Import and return a backend, ``native`` or ``reference``."""
    if name == "native":
        from seqtag.engine import native

        return Backend(name, *(getattr(native, field) for field in Backend._fields[1:]))
    from seqtag.engine import frozen, keys, reference

    return Backend(
        name,
        reference.Weights,
        frozen.Decoder,
        keys.index_features,
        keys.drop_features,
        keys.hash_strings,
        keys.Values,
        keys.label_lists,
        keys.join_keys,
        keys.count_cells,
        keys.PhraseMatcher,
    )


def of_kernel(function: T | None, purpose: str) -> T:
    """Return a function that only the kernel has, needed for a purpose.

    Raises
    ------
    BackendError
        If the reference is in use.
    """
    if function is None:
        reason = "SEQTAG_BACKEND asks for it; unset it" if is_built() else NOT_BUILT
        msg = f"expected the native kernel {purpose}, found the reference backend: {reason}"
        raise BackendError(msg)
    return function


BACKEND = _choose()
"""Name of the backend in use: ``native`` or ``reference``."""
if BACKEND == "reference" and not os.environ.get("SEQTAG_BACKEND"):
    logging.getLogger("seqtag").warning("the slow reference backend is in use: %s", NOT_BUILT)

(
    _,
    Weights,
    Decoder,
    index_features,
    drop_features,
    hash_strings,
    Values,
    label_lists,
    join_keys,
    count_cells,
    PhraseMatcher,
    index_by_place,
    Scanner,
    WordScanner,
    json_sentences,
    TokenNumbers,
    Characters,
    ChunkModel,
    hash_attributes,
    BigramCounter,
    ExchangeClustering,
    entropies,
) = get(BACKEND)
