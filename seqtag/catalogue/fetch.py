"""Downloads: atomic, resumed after an interruption, one process at a time."""

from __future__ import annotations

import errno
import http.client
import logging
import os
import re
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from seqtag.catalogue.cache import (
    FOLDER,
    digest_of,
    expected_digest,
    is_complete,
    keep_record,
    local_path,
    locked,
)
from seqtag.errors import CatalogueError
from seqtag.storage.output import naming
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from seqtag.catalogue.entries import RemoteFile

MIRROR = "SEQTAG_CORPORA_MIRROR"
"""Environment variable that names another server, with the paths of the catalogue."""

_TRIES = 4
_PAUSE = 0.5  # seconds before the second try; each further pause is longer by as much
_TIMEOUT = 30  # seconds without data from the server
_CHUNK = 1 << 16
_LARGEST = 1 << 30  # bytes of a file whose size the catalogue does not know
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})  # answers after which a request is repeated
_UNWRITABLE = frozenset({errno.EACCES, errno.EEXIST, errno.ENOTDIR, errno.EPERM, errno.EROFS})

_PASSING = (ConnectionResetError, ConnectionAbortedError, TimeoutError, http.client.HTTPException)

_log = logging.getLogger("seqtag")


class _CutError(Exception):
    """The transfer ended early; the part that has arrived is kept."""


def fetch(file: RemoteFile, on_bytes: Callable[[int], object] = lambda _: None) -> Path:
    """Fetch a file, unless the cache has it with the expected digest.

    Its bytes go to a file ``NAME.part`` next to it, where the next try continues; it is renamed
    when its SHA-256 is that of the catalogue. If the catalogue has none, the file must come by
    HTTPS or from a mirror, must not be a web page, and has at most 1 GiB; its digest is recorded in
    ``NAME.sha256``, logged as a warning, and required from then on.

    Parameters
    ----------
    file
        The file. ``$SEQTAG_CORPORA_MIRROR`` names another server to fetch it from.
    on_bytes
        Called with the number of bytes that have arrived since the last call; negative where a
        transfer starts over.

    Returns
    -------
    Path
        Path of the file in the cache.

    Raises
    ------
    CatalogueError
        If it cannot be fetched, or has another digest.
    OSError
        As the system reports it.
    """
    target = local_path(file)
    with naming(str(target)):
        if not is_complete(file, target):
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                with locked(target.with_name(target.name + ".lock")):
                    # Another process may have fetched it meanwhile.
                    if not is_complete(file, target):
                        _transfer(file, target, on_bytes)
            except OSError as error:
                if error.errno not in _UNWRITABLE:
                    raise
                msg = (
                    f"cannot keep corpora there ({error.strerror}); set {FOLDER} to a folder that "
                    "you can write to"
                )
                raise CatalogueError(msg, source=str(target.parent)) from error
        if expected_digest(file, target) is None:
            digest = digest_of(target)
            keep_record(target, digest)
            _log.warning(
                "%s/%s, release %s: the catalog has no digest to check it against; compare SHA-256 "
                "%s with one from its authors; it was recorded and is required from now on",
                file.corpus,
                file.part,
                file.release,
                digest,
            )
    return target


class _Redirects(HTTPRedirectHandler):
    """Redirects, except to an address that is less safe."""

    def redirect_request(self, req: Request, fp: Any, *rest: Any) -> Request | None:
        """Return the request to follow a redirect with."""
        new = super().redirect_request(req, fp, *rest)
        if new is not None and new.type != "https" and (new.type, req.type) != ("http", "http"):
            fp.close()
            msg = (
                f"expected {req.type.upper()} throughout, found a redirect to "
                f"{new.full_url[:200]}; name another server with {MIRROR}"
            )
            raise CatalogueError(msg, source=req.full_url)
        return new


def address_of(file: RemoteFile) -> str:
    """Return the address to fetch a file from: that of the catalogue, or the same at a mirror."""
    mirror = os.environ.get(MIRROR)
    return mirror.rstrip("/") + urlsplit(file.address).path if mirror else file.address


def _transfer(file: RemoteFile, target: Path, on_bytes: Callable[[int], object]) -> None:
    """Fetch into a file next to the target, then rename it."""
    part, address = target.with_name(target.name + ".part"), address_of(file)
    expected = expected_digest(file, target)
    if expected is None:  # it is unknown whether two pieces belong together
        part.unlink(missing_ok=True)
        if not os.environ.get(MIRROR) and not address.startswith("https:"):
            msg = f"expected HTTPS for a file without a digest; name a server with {MIRROR}"
            raise CatalogueError(msg, source=address)
    for attempt in range(1, _TRIES + 1):
        before = part.stat().st_size if part.exists() else 0
        try:
            _receive(address, part, file.size, on_bytes)
        except _CutError as error:
            if attempt == _TRIES:
                msg = f"{error}; try again to continue from there"
                raise CatalogueError(msg, source=address) from error
            if expected is None:
                part.unlink(missing_ok=True)
            time.sleep(_PAUSE * attempt)
            continue
        found = digest_of(part)
        if expected in (found, None):
            break
        part.unlink()
        if not before:  # otherwise its pieces may be of different files
            if file.digest:
                known = "of the catalogue"
                advice = "try again, and check whether a proxy changes files"
            else:
                known = "of the first time"
                advice = (
                    f"if the change is intended, remove {target.name}.sha256 in {target.parent}"
                )
            msg = (
                f"expected the SHA-256 {expected} {known}, found {found}; nothing was kept; "
                f"{advice}"
            )
            raise CatalogueError(msg, source=address)
        on_bytes(-before)
    part.replace(target)


def _receive(address: str, part: Path, size: int | None, on_bytes: Callable[[int], object]) -> None:
    """Append the missing bytes to a file.

    Raises
    ------
    CatalogueError
        If the server has no such file, or one of another length.
    _CutError
        If less has arrived than there is.
    """
    start = part.stat().st_size if part.exists() else 0
    if size is not None and start >= size:
        on_bytes(start)
        if start == size:
            return
        on_bytes(-start)
        start = 0
    with _open(address, start, part) as response:
        given: str = response.headers.get("Content-Range", "")
        if response.status == HTTPStatus.PARTIAL_CONTENT:
            if not (start and given.startswith(f"bytes {start}-")):
                part.unlink(missing_ok=True)
                what = f"the bytes from {start} on" if start else "the complete file"
                found = given[:60] or "an unknown part"
                msg = f"expected {what}, found {found}"
                if start:  # then ask for the complete file
                    raise _CutError(msg)
                msg += f"; nothing was kept; name another server with {MIRROR}"
                raise CatalogueError(msg, source=address)
        elif response.status == HTTPStatus.OK:
            start = 0  # the server sends the file from its beginning
        else:
            msg = (
                f"expected a file, found {response.status} {response.reason[:60]}; name another "
                f"server with {MIRROR}"
            )
            raise CatalogueError(msg, source=address)
        on_bytes(start)
        length = response.headers.get("Content-Length", "")
        if length and not re.fullmatch("[0-9]{1,18}", length):
            msg = (
                f"expected a Content-Length of up to 18 digits, found {length[:20]!r}... "
                f"({len(length)} characters); name another server with {MIRROR}"
            )
            raise CatalogueError(msg, source=address)
        reported = start + int(length) if length else None
        if size is not None and reported not in (size, None):
            msg = f"expected {size} bytes, found {reported}; nothing was kept; check the address"
            raise CatalogueError(msg, source=address)
        total = reported if size is None else size
        if size is None and (total or 0) > _LARGEST:
            raise _too_large(total, address)
        if size is None and response.headers.get_content_type() == "text/html":
            msg = (
                "expected a corpus, found a web page; check the release, and whether the network "
                "asks for a login"
            )
            raise CatalogueError(msg, source=address)
        if total is None and not getattr(response, "chunked", False):
            msg = (
                "expected the length of the file, found none, so that a truncated file could not "
                "be detected; try another server"
            )
            raise CatalogueError(msg, source=address)
        with naming(str(part)), part.open("ab" if start else "wb") as out:
            done, is_cut = 0, False
            while start + done <= (_LARGEST if total is None else total):  # no more than there is
                try:
                    chunk = response.read(_CHUNK)
                except (OSError, http.client.HTTPException):
                    is_cut = True
                    break
                if not chunk:
                    break
                out.write(chunk)
                done += len(chunk)
                on_bytes(len(chunk))
            out.flush()
            os.fsync(out.fileno())
    if total is None and start + done > _LARGEST:
        part.unlink()
        raise _too_large(None, address)
    if is_cut or (total is not None and start + done < total):
        msg = f"the transfer was cut at {start + done} of {total or '?'} bytes"
        raise _CutError(msg)


def _too_large(found: int | None, address: str) -> CatalogueError:
    what = "more" if found is None else f"{found} bytes"
    msg = (
        f"expected at most {_LARGEST} bytes of a file whose size the catalog does not have, found "
        f"{what}; nothing was kept; download it yourself, and use its path"
    )
    return CatalogueError(msg, source=address)


def _open(address: str, start: int, part: Path) -> Any:
    """Return the response of the server, from some byte on if it supports that.

    Raises
    ------
    CatalogueError
        If the server refuses, or cannot be reached.
    _CutError
        If that may pass by itself.
    """
    headers = {"User-Agent": f"seqtag/{__version__}", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        return build_opener(_Redirects).open(Request(address, headers=headers), timeout=_TIMEOUT)
    except CatalogueError:
        raise
    except HTTPError as error:
        error.close()
        if start and error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            part.unlink()  # it does not match the file of the server
        elif error.code not in _AGAIN:
            msg = (
                f"expected a file, found {error.code} {error.reason}; if it has moved, name "
                f"another server with {MIRROR}"
            )
            raise CatalogueError(msg, source=address) from error
        msg = f"the server answered {error.code} {error.reason}"
        raise _CutError(msg) from error
    except (ValueError, http.client.InvalidURL) as error:
        msg = f"expected an address such as https://example.org, found none ({error}); see {MIRROR}"
        raise CatalogueError(msg, source=address) from error
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, _PASSING):
            msg = f"the connection was lost ({reason})"
            raise _CutError(msg) from error
        shown = getattr(reason, "strerror", None) or reason
        msg = (
            f"cannot reach {urlsplit(address).netloc} ({shown}); check the network, name another "
            f"server with {MIRROR}, or put the file at the path that seqtag corpora path prints"
        )
        raise CatalogueError(msg, source=address) from error
