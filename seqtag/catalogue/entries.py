"""The catalogue: one entry for each corpus, read from ``catalogue.toml``."""

from __future__ import annotations

import re
import sys
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from seqtag.errors import CatalogueError, did_you_mean, nearest

_HERE = Path(__file__).parents[1]  # with the tables where installed; next to them in a source tree
CATALOGUE = (_HERE if (_HERE / "corpora").is_dir() else _HERE.parent) / "corpora/catalogue.toml"


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
        The writing system.
    licence
        The licence as stated by the authors.
    release
        The release of the digests and sizes.
    address
        Address of its files, with ``{part}`` and possibly ``{release}``.
    format
        A name of `seqtag.corpus.formats.FORMATS`.
    columns
        Names of the columns.
    parts
        Its splits, of ``train``, ``dev`` and ``test``.
    model
        Name of the model that is learned from it; by default the code of the treebank.
    labels
        Columns to learn for it; empty for all.
    bytes, sha256
        One for each part; empty if the catalogue does not know them for this release.
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
    model: str = ""
    labels: tuple[str, ...] = ()
    bytes: tuple[int, ...] = ()
    sha256: tuple[str, ...] = ()

    @property
    def language(self) -> str:
        """The language in English, as its title begins with it."""
        return self.title.partition(",")[0]

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
            parts = ", ".join(self.parts)
            msg = f"expected one of the splits {parts} of {self.name}, found {part!r}"
            raise CatalogueError(msg)
        at = self.parts.index(part)
        address = self.address.format(part=part, release=self.release)
        size, digest = (self.bytes[at], self.sha256[at]) if self.sha256 else (None, None)
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
    # Imported here, because most commands need no catalogue.
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    tables = tomllib.loads(CATALOGUE.read_text("utf-8"))
    for name, table in tables.items():
        table.setdefault("model", name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else "")
        for key, value in table.items():
            table[key] = tuple(value) if isinstance(value, list) else value
    return {name: Entry(name=name, **table) for name, table in tables.items()}


@lru_cache(maxsize=1)
def treebanks() -> dict[str, Entry]:
    """Return all treebanks by name: those of the catalogue, and the rest of ``treebanks.tsv``.

    Of the rest no digests and sizes are known, and not whether they have all three parts.

    Examples
    --------
    >>> treebanks()["ud:abq_atb"].title, treebanks()["ud:abq_atb"].sha256
    ('Abaza, ATB', ())
    """
    found = {}
    for name, repository, _, last in _rows("treebanks.tsv"):
        language, _, title = repository.removeprefix("UD_").partition("-")
        found[_PREFIX + name] = entries().get(_PREFIX + name) or Entry(
            name=_PREFIX + name,
            title=f"{language.replace('_', ' ')}, {title}",
            script="",
            licence=f"see LICENSE.txt of {repository}",
            release=last,
            address=_ADDRESS.format(repository=repository, name=name),
            format="conllu",
            columns=_COLUMNS,
            parts=("train", "dev", "test"),
            model=name,
        )
    return found | {name: each for name, each in entries().items() if name.startswith(_PREFIX)}


@lru_cache(maxsize=1)
def trainable() -> dict[str, Entry]:
    """Return all corpora that a model can be learned from by its name, by the name of the model.

    >>> trainable()["fr_gsd"].name, trainable()["en_chunk"].name
    ('ud:fr_gsd', 'conll2000')
    """
    return {each.model: each for each in (treebanks() | entries()).values() if each.model}


@lru_cache(maxsize=1)
def languages() -> dict[str, str]:
    """Return the default treebank for each name of a language, in lower case, without blanks.

    Names are ISO 639 codes of two and three letters, the English name, and native names. The
    default is the first treebank of ``catalogue.toml``; else, of those that are not parallel (PUD,
    which have no training part), the one that was released first, and of these the first by name.

    Examples
    --------
    >>> names = languages()
    >>> {names["fr"], names["fra"], names["french"], names["français"]}
    {'ud:fr_sequoia'}
    """
    found = {}
    for code, other, native, default in _rows("languages.tsv"):
        entry = treebanks()[_PREFIX + default]
        for name in (code, other, entry.language, *native.split("|")):
            found[_plain(name)] = entry.name
    found.pop("", None)
    return found


def treebank_of(language: str) -> Entry | None:
    """Return the corpus of a name of a language or of a model; None if there is none.

    Examples
    --------
    >>> treebank_of("Français").name, treebank_of("fr_gsd@2.15").release, treebank_of("klingon")
    ('ud:fr_sequoia', '2.15', None)
    """
    name, at, release = language.removeprefix(_PREFIX).partition("@")
    found = trainable().get(name) or treebanks().get(languages().get(_plain(name), ""))
    if found is None or (at and not re.fullmatch(r"[0-9]+(\.[0-9]+)*", release)):
        return None
    return found.at(release) if release else found


def did_you_mean_language(name: str) -> str:
    """Return " (did you mean 'x'?)": a name of a language, or a treebank of the same language.

    Names of fewer than four letters are not suggested: most of them are similar to some code.

    Examples
    --------
    >>> did_you_mean_language("frnech"), did_you_mean_language("fr_sequoja")
    (" (did you mean 'French'?)", " (did you mean 'fr_sequoia'?)")
    >>> did_you_mean_language("xyz"), did_you_mean_language("xyz_sequoia")
    ('', '')
    """
    if "_" in name:
        name = name.removeprefix(_PREFIX).partition("@")[0]
        start = name.partition("_")[0] + "_"
        return did_you_mean(name, [each for each in trainable() if each.startswith(start)])
    near = nearest(_plain(name), [each for each in languages() if len(each) > 3], 0.75)
    if near is None:
        return ""
    language = treebanks()[languages()[near]].language
    return f" (did you mean {language if _plain(language) == near else near!r}?)"


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", unicodedata.normalize("NFC", name)).lower()


def _rows(name: str) -> list[list[str]]:
    """Return the rows of a table next to the catalogue, without its header."""
    lines = CATALOGUE.with_name(name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines[1:]]


_PREFIX = "ud:"
_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_ADDRESS = (
    "https://raw.githubusercontent.com/UniversalDependencies/{repository}/r{{release}}/"
    "{name}-ud-{{part}}.conllu"
)
_NAME = re.compile(r"(?P<name>[^@/]+)(?:@(?P<release>[0-9]+(?:\.[0-9]+)*))?(?:/(?P<part>\w+))?")


class CorpusName(NamedTuple):
    """Name of a corpus or of one of its splits.

    Attributes
    ----------
    entry
        Its entry in the catalogue, at the given release.
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
            If there is neither; the message explains how to name one.
        """
        part = self.part or (default if default in self.entry.parts else None)
        if part is None:
            parts, name = ", ".join(self.entry.parts), self.entry.name
            msg = f"expected one of the splits {parts} of {name}, found none; name it, as in {name}"
            msg += f"/{self.entry.parts[-1]}"
            raise CatalogueError(msg)
        return self.entry.file(part)


def parse(text: str) -> CorpusName | None:
    """Parse the name of a corpus: ``NAME``, ``NAME/PART`` or ``NAME@RELEASE/PART``.

    Parameters
    ----------
    text
        Name in place of a file. An existing file of that name is used.

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
    if text == "-" or Path(text).exists():
        return None
    found, is_treebank = _NAME.fullmatch(text), text.startswith(_PREFIX)
    known = entries() | treebanks() if is_treebank else entries()
    entry = known.get(found["name"]) if found else None
    if not (entry or is_treebank):
        return None
    if found is None or entry is None:
        near = did_you_mean(found["name"] if found else text, known)
        msg = (
            "expected the name of a corpus, such as ud:fr_sequoia or ud:fr_sequoia/dev, found "
            f"{text!r}{near}; seqtag models list shows them all"
        )
        raise CatalogueError(msg)
    entry = entry.at(found["release"] or entry.release)
    if found["part"]:
        entry.file(found["part"])  # refuses a part that is not there
    return CorpusName(entry, found["part"])
