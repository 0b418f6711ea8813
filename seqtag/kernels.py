"""One choice: the native kernel, or the readable reference with the same answers.

``SEQTAG_BACKEND=native`` or ``reference`` forces one; by default the native kernel is used where
it was built.
"""

from __future__ import annotations

import importlib.util
import os

from seqtag.errors import BackendError

__all__ = ["BACKEND", "Frozen", "Scanner", "Weights", "hash_strings", "index_features"]


def _choose() -> str:
    """Name of the backend to use."""
    wanted = os.environ.get("SEQTAG_BACKEND", "")
    built = importlib.util.find_spec("seqtag._kernel") is not None
    if wanted not in ("", "native", "reference"):
        raise BackendError(f"expected SEQTAG_BACKEND=native or reference, found {wanted!r}")
    if wanted == "native" and not built:
        raise BackendError(
            "SEQTAG_BACKEND=native, but the native kernel was not built; install a C++ compiler "
            "and reinstall seqtag, or unset SEQTAG_BACKEND"
        )
    return wanted or ("native" if built else "reference")


BACKEND = _choose()
"""Name of the backend in use: ``native`` or ``reference``."""

if BACKEND == "native":
    from seqtag.native import Frozen, Scanner, Weights, hash_strings, index_features
else:
    import numpy as np

    from seqtag.encoding import hash_string, index_features
    from seqtag.frozen import Frozen
    from seqtag.reference import Weights

    Scanner = None  # column files are read by seqtag.corpus alone

    def hash_strings(values: list[str]) -> np.ndarray:
        """Hash of each string: (n,) uint64."""
        return np.fromiter(map(hash_string, values), np.uint64, len(values))
