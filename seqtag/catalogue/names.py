"""Names of corpora in place of files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from seqtag.catalogue.entries import entries
from seqtag.errors import CatalogueError, did_you_mean

if TYPE_CHECKING:
    from seqtag.catalogue.entries import Entry, RemoteFile

_PREFIX = "ud:"
_NAME = re.compile(r"(?P<name>[^@/]+)(?:@(?P<release>[0-9]+(?:\.[0-9]+)*))?(?:/(?P<part>\w+))?")


class CorpusName(NamedTuple):
    """Name of a corpus or of one of its splits.

    Attributes
    ----------
    entry
        What the catalogue says of it, at the release that was named.
    part
        ``train``, ``dev`` or ``test``; None if no part was named.
    """

    entry: Entry
    part: str | None

    def files(self) -> list[RemoteFile]:
        """Return the file of the split that is named, or of all splits."""
        return [self.entry.file(part) for part in ([self.part] if self.part else self.entry.parts)]

    def file(self, default: str | None = None) -> RemoteFile:
        """Return the file of the split that is named, or of a default.

        Raises
        ------
        CatalogueError
            If there is neither; the message says how to name one.
        """
        part = self.part or (default if default in self.entry.parts else None)
        if part is None:
            name, parts = self.entry.name, self.entry.parts
            msg = (
                f"expected one of the parts {', '.join(parts)} of {name}, found none; name it, "
                f"as in {name}/{parts[-1]}"
            )
            raise CatalogueError(msg)
        return self.entry.file(part)


def parse(text: str) -> CorpusName | None:
    """Parse the name of a corpus: ``NAME``, ``NAME/PART`` or ``NAME@RELEASE/PART``.

    Parameters
    ----------
    text
        What stands where a file is expected. A file of that name is a file.

    Returns
    -------
    CorpusName or None
        None if it is no name of a corpus, but a path, there or not.

    Raises
    ------
    CatalogueError
        If it begins like the name of a treebank, and there is none of that name; or no such part
        or release.

    Examples
    --------
    >>> name = parse("ud:fr_sequoia/dev")
    >>> name.entry.name, name.part
    ('ud:fr_sequoia', 'dev')
    >>> parse("corpora/train.conllu") is None
    True
    """
    found = _NAME.fullmatch(text)
    if text == "-" or Path(text).exists():
        return None
    known = found is not None and found["name"] in entries()
    if not (known or text.startswith(_PREFIX)):
        return None
    if found is None or not known:
        name = found["name"] if found else text
        msg = (
            f"expected the name of a corpus, as ud:fr_sequoia or ud:fr_sequoia/dev, found {text!r}"
            f"{did_you_mean(name, entries())}; seqtag corpora list shows them all"
        )
        raise CatalogueError(msg)
    entry = entries()[found["name"]].at(found["release"] or entries()[found["name"]].release)
    if found["part"]:
        entry.file(found["part"])  # refuses a part that is not there
    return CorpusName(entry, found["part"])
