"""The catalogue: one entry for each corpus, read from ``catalogue.toml``."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from seqtag.errors import CatalogueError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_HERE = Path(__file__).parents[1]
CATALOGUE = next(  # beside the modules where installed, beside the package in a source tree
    (
        path
        for folder in (_HERE, _HERE.parent)
        if (path := folder / "corpora" / "catalogue.toml").is_file()
    ),
    _HERE / "corpora" / "catalogue.toml",
)


class RemoteFile(NamedTuple):
    """File of a corpus on a server.

    Attributes
    ----------
    corpus
        Name of the corpus.
    release
        Its release.
    part
        ``train``, ``dev`` or ``test``.
    address
        Where it is.
    size
        Bytes; None if the catalogue does not know them.
    digest
        SHA-256 in hexadecimal digits; None if the catalogue does not know it.
    """

    corpus: str
    release: str
    part: str
    address: str
    size: int | None
    digest: str | None


@dataclass(frozen=True)
class Entry:
    """Entry of the catalogue: a corpus.

    Attributes
    ----------
    name
        ``conll2000``, or ``ud:`` and the code of a treebank.
    title
        Language and corpus.
    script
        What it is written in.
    licence
        As its authors state it.
    release
        The one that digests and sizes belong to.
    address
        Of its files, with ``{part}`` and perhaps ``{release}``.
    format
        A name of `seqtag.corpus.formats.FORMATS`.
    columns
        Names of the columns.
    parts
        ``train``, ``dev``, ``test``, as far as it has them.
    bytes, sha256
        One for each part; empty where the release is not the one of the catalogue.
    """

    name: str
    title: str
    script: str
    licence: str
    release: str
    address: str
    format: str
    columns: tuple[str, ...]
    parts: tuple[str, ...]
    bytes: tuple[int, ...] = ()
    sha256: tuple[str, ...] = ()

    @property
    def is_pinned(self) -> bool:
        """Whether the catalogue has the digests of its files."""
        return bool(self.sha256)

    def at(self, release: str) -> Entry:
        """Return the same corpus at another release, without digests.

        Raises
        ------
        CatalogueError
            If its address does not name a release.
        """
        if release == self.release:
            return self
        if "{release}" not in self.address:
            msg = f"expected {self.name} without a release, found @{release}; leave it out"
            raise CatalogueError(msg)
        return replace(self, release=release, bytes=(), sha256=())

    def file(self, part: str) -> RemoteFile:
        """Return the file of a split.

        Raises
        ------
        CatalogueError
            If it has no such part; the message lists them.
        """
        if part not in self.parts:
            msg = (
                f"expected one of the parts {', '.join(self.parts)} of {self.name}, found {part!r}"
            )
            raise CatalogueError(msg)
        at = self.parts.index(part)
        address = self.address.format(part=part, release=self.release)
        size, digest = (self.bytes[at], self.sha256[at]) if self.is_pinned else (None, None)
        return RemoteFile(self.name, self.release, part, address, size, digest)


@lru_cache(maxsize=1)
def entries() -> dict[str, Entry]:
    """Return all entries of the catalogue by name, in its order.

    Examples
    --------
    >>> entry = entries()["ud:fr_sequoia"]
    >>> entry.title, entry.parts
    ('French, Sequoia', ('train', 'dev', 'test'))
    >>> entry.file("dev").size
    626970
    """
    tables = read_tables(CATALOGUE.read_text("utf-8"))
    for table in tables.values():
        for key, value in table.items():
            table[key] = tuple(value) if isinstance(value, list) else value
    return {name: Entry(name=name, **table) for name, table in tables.items()}


def read_tables(text: str) -> dict[str, dict[str, Any]]:
    r"""Parse the text of a catalogue.

    Parameters
    ----------
    text
        TOML whose top level holds tables only, one for each corpus.

    Raises
    ------
    CatalogueError
        If the text is not TOML, or has a value outside a table.

    Examples
    --------
    >>> read_tables('["x"]\nparts = ["train", "dev"]\nbytes = [1, 2]\n')
    {'x': {'parts': ['train', 'dev'], 'bytes': [1, 2]}}
    """
    try:
        tables = tomllib.loads(text)
    except (RecursionError, tomllib.TOMLDecodeError) as err:
        msg = f"expected TOML, found an error: {err}; correct the file, or install seqtag again"
        raise CatalogueError(msg, source=CATALOGUE.name) from None
    for name, table in tables.items():
        if not isinstance(table, dict):
            msg = f'expected tables ["name"] only, found the value {name!r}; move it into a table'
            raise CatalogueError(msg, source=CATALOGUE.name)
    return tables
