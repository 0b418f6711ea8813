"""Files of corpora: their paths in the cache, their digests, and downloads with requests."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from seqtag.errors import CatalogueError
from seqtag.storage.digests import digest_of
from seqtag.storage.output import atomic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from seqtag.catalogue.entries import RemoteFile

FOLDER = "SEQTAG_CACHE"
"""The environment variable that names another folder to keep corpora in."""

MIRROR = "SEQTAG_CORPORA_MIRROR"
"""Environment variable that names another server or a folder, with the paths of the catalogue."""

MAX_BYTES = 1 << 28
"""Size of the largest file that is fetched, if the catalogue does not know it."""

_PAUSE_SECONDS = 1.0  # before a second attempt


class MissingPartError(CatalogueError):
    """A server does not have a part of a corpus."""


class _TransferError(CatalogueError):
    """A transfer that failed; another one may not."""


_log = logging.getLogger("seqtag")


def locate(names: Iterable[str], part: str | None = None) -> list[str]:
    """Return a path for each name, and fetch corpora that are not in the cache.

    Parameters
    ----------
    names
        Paths, ``-``, or names of corpora, such as ``ud:fr_sequoia/dev``.
    part
        The split of a corpus that is named without one; None to refuse such names.

    Raises
    ------
    CatalogueError
        If there is no such corpus or split, or it cannot be fetched.
    """
    found = []
    for name in names:
        corpus = None
        if name != "-":
            from seqtag.catalogue.entries import parse  # late: needless for standard input

            corpus = parse(name)
        found.append(str(fetch(corpus.file(part))) if corpus else name)
    return found


def fetch(file: RemoteFile, folder: Path | None = None) -> Path:
    """Return the path of a file in the cache, after downloading it if it is not there.

    It gets its name when it is complete and its SHA-256 is that of the catalogue. If the catalogue
    has none, the file must come by HTTPS or from a mirror and look like a corpus.

    Parameters
    ----------
    file
        The file. ``$SEQTAG_CORPORA_MIRROR`` names another server or a folder to fetch it from.
    folder
        Has files of these names, which are taken instead.

    Raises
    ------
    CatalogueError
        If it cannot be fetched or stored, or has another digest.
    """
    target = local_path(file)
    try:
        if not (target.is_file() and file.digest in (None, digest_of(target))):
            _log.info("fetching %s/%s, release %s", file.corpus, file.part, file.release)
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                _download(file, target, folder)
            except _TransferError:
                time.sleep(_PAUSE_SECONDS)
                _download(file, target, folder)
    except OSError as error:
        msg = (
            f"cannot keep corpora there ({error.strerror or error}); check space and "
            f"permissions, or set {FOLDER} to another folder"
        )
        raise CatalogueError(msg, source=str(target.parent)) from error
    return target


def cache_folder() -> Path:
    """Return the cache folder: ``$SEQTAG_CACHE``, or that of the system for seqtag."""
    if named := os.environ.get(FOLDER):
        return Path(named).absolute()
    import platformdirs  # late: most commands need no corpus

    return platformdirs.user_cache_path("seqtag", appauthor=False).absolute()


def local_path(file: RemoteFile) -> Path:
    """Return the path of a file in the cache, whether it exists or not."""
    folder = f"{file.corpus.replace(':', '-')}-{file.release}"
    return cache_folder() / "corpora" / folder / Path(urlsplit(file.address).path).name


def _download(file: RemoteFile, target: Path, folder: Path | None) -> None:
    """Write a file to its place in the cache if it is complete and what was expected."""
    mirror, path = os.environ.get(MIRROR, ""), urlsplit(file.address).path
    if folder:
        address = str(folder / target.name)
    else:
        address = mirror.rstrip("/") + path if mirror else file.address
    if folder or (mirror and "://" not in mirror):
        chunks = _read(address)
    else:
        chunks = _request(address, secure=not (file.digest or mirror))
    if file.digest is None:
        chunks = _checked(chunks, address)
    most, size, sha = file.size or MAX_BYTES, 0, hashlib.sha256()
    advice = "try again, and check whether a proxy changes files"
    if mirror or folder:
        advice = f"expected are the files of release {file.release}"
        if file.corpus.startswith("ud:"):
            advice += f"; for those of another one, use a name such as {file.corpus[3:]}@2.15"
    with atomic(target, compress=False) as out:
        for chunk in chunks:
            size += len(chunk)
            if size > most:
                msg = f"expected at most {most:,} bytes, found more; nothing was kept; {advice}"
                raise CatalogueError(msg, source=address)
            sha.update(chunk)
            out.write(chunk)
        if file.digest not in (None, sha.hexdigest()):
            msg = f"expected the SHA-256 {file.digest}, found {sha.hexdigest()}; nothing was kept; "
            raise CatalogueError(msg + advice, source=address)


def _checked(chunks: Iterable[bytes], address: str) -> Iterator[bytes]:
    """Yield the bytes of a treebank without a digest; refuse what cannot be one."""
    fault, has_words, end = "", False, b"\n"
    for chunk in chunks:
        block = end + chunk
        if other := re.search(rb"\n([^#0-9\n].{,20})", block):
            fault = f"a line that begins with {other[1]!r}"
            break
        has_words = has_words or re.search(rb"\n[0-9]", block) is not None
        end = block[-2:]
        yield chunk
    if not fault and not has_words:
        fault = "no words"
    elif not fault and end != b"\n\n":
        fault = "a file that ends within a sentence"
    if fault:
        msg = (
            f"expected a treebank, found {fault}; nothing was kept; check whether the network asks "
            f"for a login, or name another server with {MIRROR}"
        )
        raise CatalogueError(msg, source=address)


def _read(path: str) -> Iterator[bytes]:
    """Yield the bytes of a file of a folder."""
    try:
        with Path(path).open("rb") as opened:
            yield from iter(partial(opened.read, 1 << 16), b"")
    except OSError as error:
        msg = f"cannot be read ({error.strerror}); nothing was kept; check the folder"
        kind = MissingPartError if isinstance(error, FileNotFoundError) else CatalogueError
        raise kind(msg, source=path) from error


def _request(address: str, *, secure: bool) -> Iterator[bytes]:
    """Yield the bytes of a file of a server."""
    import requests  # late: these take longer to import than a short text to tag
    from tqdm import tqdm

    is_silent = None if _log.isEnabledFor(logging.INFO) else True  # None: shown on a terminal
    headers = {"Accept-Encoding": "identity"}
    try:
        with requests.get(address, stream=True, timeout=30, headers=headers) as response:
            response.raise_for_status()
            packed = response.headers.get("Content-Encoding", "identity")
            size = response.headers.get("Content-Length", "")
            if packed != "identity" or (secure and not response.url.startswith("https:")):
                msg = (
                    "expected HTTPS for a file without a digest, and no packed file, found "
                    f"{response.url[:200]} ({packed[:20]}); name another server with {MIRROR}"
                )
                raise CatalogueError(msg, source=address)
            total = int(size) if size.isdecimal() else None
            with tqdm(total=total, unit="B", unit_scale=True, disable=is_silent) as bar:
                for chunk in response.iter_content(1 << 16):
                    bar.update(len(chunk))
                    yield chunk
    except CatalogueError:
        raise
    except (requests.RequestException, ValueError) as error:  # an address that is none, too
        is_missing = getattr(getattr(error, "response", None), "status_code", 0) == 404
        msg = (
            f"cannot be downloaded ({str(error)[:400]}); nothing was kept; check the network and "
            f"try again, or name another server with {MIRROR} (such as https://example.org)"
        )
        raise (MissingPartError if is_missing else _TransferError)(msg, source=address) from error
