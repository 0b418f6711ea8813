"""The native kernel: the classes and functions of the reference, compiled.

They have the names, arguments and results of `seqtag.engine.reference`, `frozen` and `keys`, and
check their arguments themselves. `interface` describes those that have no counterpart there.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from seqtag.engine import _kernel


def _with_wide_vectors() -> Any:
    """Return the module with wide vectors, or None; SEQTAG_VECTORS=16 asks for narrow ones."""
    if os.environ.get("SEQTAG_VECTORS") == "16" or not _kernel.has_avx2():
        return None
    if find_spec("seqtag.engine._kernel_avx2") is None:  # some compilers cannot build it
        return None
    return import_module("seqtag.engine._kernel_avx2")  # an error is no reason for narrow vectors


_wide = _with_wide_vectors()
if _wide:
    _kernel.use_engines(_wide.engines)


def vectors() -> str:
    """Return the width of the vectors in use, and why they are not wider."""
    if _wide:
        return "AVX2 vectors (32 bytes)"
    if os.environ.get("SEQTAG_VECTORS") == "16":
        return "vectors of 16 bytes, as SEQTAG_VECTORS asks"
    able = _kernel.has_avx2()
    why = "the compiler could not build it" if able else "the processor does not have it"
    return f"vectors of 16 bytes, without AVX2: {why}"


def draw_secret() -> None:
    """Seed the kernel's hash tables per process (hash-flooding protection)."""
    for module in filter(None, (_kernel, _wide)):
        module.draw_secret(*np.frombuffer(os.urandom(16), np.uint64).tolist())


draw_secret()


def __getattr__(name: str) -> Any:
    """Return a class or function of the kernel."""
    return getattr(_kernel, name)
