"""Digests of files."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_CHUNK_BYTES = 1 << 20


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    sha = hashlib.sha256()
    with path.open("rb") as opened:
        while chunk := opened.read(_CHUNK_BYTES):
            sha.update(chunk)
    return sha.hexdigest()
