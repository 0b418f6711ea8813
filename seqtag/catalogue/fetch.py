"""Files of corpora: their paths in the cache, their digests, and downloads with pooch."""

from __future__ import annotations

import hashlib
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from seqtag.errors import CatalogueError
from seqtag.storage.output import Output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from seqtag.catalogue.entries import RemoteFile

FOLDER = "SEQTAG_CACHE"
"""The environment variable that names another folder to keep corpora in."""

MIRROR = "SEQTAG_CORPORA_MIRROR"
"""Environment variable that names another server or a folder, with the paths of the catalogue."""

MAX_BYTES = 1 << 30
"""Size of the largest file that is fetched."""


class MissingPartError(CatalogueError):
    """A server does not have a part of a corpus."""


_log = logging.getLogger("seqtag")


def locate(
    names: Iterable[str],
    part: str | None = None,
    announce: Callable[[RemoteFile], bool] | None = None,
) -> list[str]:
    """Return a path for each name, and fetch corpora that are not in the cache.

    Parameters
    ----------
    names
        Paths, ``-``, or names of corpora, such as ``ud:fr_sequoia/dev``.
    part
        The split of a corpus that is named without one; None to refuse such names.
    announce
        Called with each file before it is downloaded; returns whether to show a progress bar.

    Raises
    ------
    CatalogueError
        If there is no such corpus or split, or it cannot be fetched.
    """
    found = []
    for name in names:
        if name == "-":
            found.append(name)
            continue
        from seqtag.catalogue.entries import parse  # late: needless for standard input

        corpus = parse(name)
        found.append(str(fetch(corpus.file(part), announce)) if corpus else name)
    return found


def fetch(file: RemoteFile, announce: Callable[[RemoteFile], bool] | None = None) -> Path:
    """Return the path of a file in the cache, after downloading it if it is not there.

    It gets its name when it is complete and its SHA-256 is that of the catalogue. If the catalogue
    has none, the file must come by HTTPS or from a mirror and must not be a web page; its digest is
    recorded in ``NAME.sha256``, logged as a warning, and required from then on.

    Parameters
    ----------
    file
        The file. ``$SEQTAG_CORPORA_MIRROR`` names another server to fetch it from.
    announce
        As for `locate`.

    Raises
    ------
    CatalogueError
        If it cannot be fetched or stored, or has another digest.
    """
    target = local_path(file)
    if not _is_complete(file):
        is_new = not target.exists()
        _download(file, target, progress=announce is not None and announce(file))
        if not file.digest and (fault := _fault_of(target)):
            if is_new:
                target.unlink()
            msg = f"expected a treebank in CoNLL-U, found {fault}; nothing was kept"
            raise CatalogueError(msg, source=f"{file.corpus}/{file.part}")
    if _expected_digest(file) is None:
        digest = _digest_of(target)
        with Output(_record_of(target)) as out:
            out.write(f"{digest}  {target.name}\n".encode())
        _log.warning(
            "%s/%s, release %s: the catalog has no digest to check it against; compare SHA-256 "
            "%s with one from its authors; it was recorded and is required from now on",
            file.corpus,
            file.part,
            file.release,
            digest,
        )
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


def _is_complete(file: RemoteFile) -> bool:
    """Return whether a file is in the cache and has the expected digest, if one is known."""
    path, expected = local_path(file), _expected_digest(file)
    return path.is_file() and (expected is None or _digest_of(path) == expected)


def _record_of(path: Path) -> Path:
    """Return the path of the digest of a fetched file, in the format of ``sha256sum``."""
    return path.with_name(path.name + ".sha256")


def _expected_digest(file: RemoteFile) -> str | None:
    """Return the expected SHA-256 of a file: of the catalogue, or of the first download."""
    if file.digest:
        return file.digest
    try:
        return _record_of(local_path(file)).read_text("utf-8").split()[0]
    except (FileNotFoundError, NotADirectoryError):
        return None


def _fault_of(path: Path) -> str:
    """Return what is wrong with a file that should be CoNLL-U, by its ends; empty if nothing is."""
    if path.suffix != ".conllu":
        return ""
    with path.open("rb") as opened:
        start = opened.read(4096)
        opened.seek(max(0, path.stat().st_size - 2))
        end = opened.read()
    if not start:
        return "an empty file"
    if not start.startswith((b"#", b"1\t", b"1-")):
        return f"a file that begins with {start[:20]!r}"
    return "" if end == b"\n\n" else "a file that ends within a sentence"


def _digest_of(path: Path) -> str:
    sha = hashlib.sha256()  # importing pooch takes longer than most commands
    with path.open("rb") as opened:
        while chunk := opened.read(1 << 20):
            sha.update(chunk)
    return sha.hexdigest()


def _copy(source: Path, target: Path, expected: str | None) -> None:
    """Copy a file of a mirror that is a folder."""
    try:
        digest = _digest_of(source)
        if expected not in (None, digest):
            msg = f"expected the SHA-256 {expected}, found {digest}; nothing was kept"
            raise CatalogueError(msg, source=str(source))
        target.parent.mkdir(parents=True, exist_ok=True)
        with source.open("rb") as opened, Output(target, compress=False) as out:
            while chunk := opened.read(1 << 20):
                out.write(chunk)
    except FileNotFoundError as error:
        msg = f"is not there; nothing was kept; {MIRROR} names a folder"
        raise MissingPartError(msg, source=str(source)) from error
    except OSError as error:
        msg = (
            f"cannot be copied ({error}); nothing was kept; check {MIRROR}, which names a folder, "
            f"and {FOLDER}"
        )
        raise CatalogueError(msg, source=str(source)) from error


def _download(file: RemoteFile, target: Path, *, progress: bool) -> None:
    """Download a file with pooch, which checks its digest before it gets its name."""
    mirror, expected = os.environ.get(MIRROR), _expected_digest(file)
    if mirror and "://" not in mirror:
        _copy(Path(mirror + urlsplit(file.address).path), target, expected)
        return
    # Late: these take longer to import than a short text to tag.
    import pooch
    import requests

    address = mirror.rstrip("/") + urlsplit(file.address).path if mirror else file.address

    def check(response: requests.Response, **_: Any) -> None:
        """Refuse what could be recorded by mistake as a file that has no digest."""
        is_packed = response.headers.get("Content-Encoding", "identity") != "identity"
        size = response.headers.get("Content-Length", "0")
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        msg = ""
        if expected is None and not (response.url.startswith("https:") or mirror):
            msg = f"expected HTTPS for a file without a digest, found {response.url[:200]}"
        elif expected is None and is_page and response.ok:
            msg = "expected a corpus, found a web page; check whether the network asks for a login"
        elif is_packed or (size.isdecimal() and int(size) > MAX_BYTES):
            msg = f"expected at most {MAX_BYTES:,} bytes, not packed, found a file that is not"
        if msg or not response.ok:
            response.close()  # pooch leaves it open
        if msg:
            msg += f"; or name another server with {MIRROR}"
            raise CatalogueError(msg, source=address)

    pooch.get_logger().setLevel(logging.WARNING)  # seqtag announces the file itself
    store = pooch.create(
        target.parent,
        "",
        registry={target.name: expected},
        urls={target.name: address},
        retry_if_failed=1,
    )
    downloader = pooch.HTTPDownloader(
        progressbar=progress,
        chunk_size=1 << 16,
        headers={"Accept-Encoding": "identity"},
        hooks={"response": check},
    )
    try:
        store.fetch(target.name, downloader=downloader)
    except CatalogueError:
        raise
    except requests.RequestException as error:
        msg = (
            f"cannot be downloaded ({error}); nothing was kept; check the network and try again, "
            f"name another server with {MIRROR} (such as https://example.org), or put the file at "
            f"{target}"
        )
        is_missing = error.response is not None and error.response.status_code == 404
        kind = MissingPartError if is_missing else CatalogueError
        raise kind(msg, source=address) from error
    except OSError as error:
        msg = (
            f"cannot keep corpora there ({error.strerror or error}); set {FOLDER} to a folder that "
            "you can write to"
        )
        raise CatalogueError(msg, source=str(target.parent)) from error
    except ValueError as error:  # of pooch, about the digest
        advice = (
            "try again, and check whether a proxy changes files"
            if file.digest
            else f"if the change is intended, remove {_record_of(target)}"
        )
        msg = f"expected the SHA-256 {expected}, found another; nothing was kept; {advice}"
        raise CatalogueError(msg, source=address) from error
