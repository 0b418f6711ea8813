"""The exceptions of seqtag; each can name the file and the line of the error."""

from __future__ import annotations

import re
from contextlib import contextmanager
from numbers import Integral
from typing import TYPE_CHECKING
from unicodedata import normalize

from seqtag.version import DISTRIBUTION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def check_integer(name: str, value: object, least: int = 1) -> None:
    """Raise `TypeError` or `ValueError` if a value is no integer, or less than another."""
    if not isinstance(value, Integral):
        msg = f"expected {name} as an integer, found {value!r:.60}"
        raise TypeError(msg)
    if int(value) < least:
        msg = f"expected {name} of {least} or more, found {value}"
        raise ValueError(msg)


class SeqtagError(ValueError):
    """Base of all errors that seqtag raises for invalid input.

    Parameters
    ----------
    message
        What was expected, what was found, and what to do next.
    source
        File name (or ``<stdin>``) the trouble was found in, if there is one.
    line
        Line number in `source`, counted from 1, if known.

    Examples
    --------
    >>> print(CorpusError("expected 10 columns, found 9", source="dev.conllu", line=12))
    dev.conllu:12: expected 10 columns, found 9
    """

    def __init__(self, message: str, *, source: str | None = None, line: int | None = None):
        super().__init__(message)
        self.message = message
        self.source = source
        self.line = line

    def __str__(self) -> str:
        place = on_one_line(self.source or "")
        if self.line is not None:
            place = f"{place}:{self.line}" if place else f"line {self.line}"
        return f"{place}: {self.message}" if place else self.message

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.message, self.source, self.line)


def _rebuild(
    cls: type[SeqtagError], message: str, source: str | None, line: int | None
) -> SeqtagError:
    return cls(message, source=source, line=line)


class CorpusError(SeqtagError):
    """A corpus file or stream is not what its format requires."""


class TemplateError(SeqtagError):
    """A feature template cannot be parsed or does not fit the columns."""


class LabelError(SeqtagError):
    """Labels are missing, unusable, or do not fit their scheme."""


class ModelFileError(SeqtagError):
    """A model file is damaged, not of seqtag, or newer than this version."""


class SentenceTooLongError(CorpusError):
    """A sentence exceeds a limit; it is refused in each mode of reading."""


class CatalogueError(SeqtagError):
    """A corpus is not in the catalogue, cannot be fetched, or has another digest than expected."""


class ClusterError(SeqtagError):
    """A cluster cannot be reached, or its work failed."""


class OptionError(SeqtagError):
    """Options do not exist, or exclude each other."""


class BackendError(SeqtagError):
    """A backend does not exist or is not installed."""


@contextmanager
def located(source: str | None, line: int | None = None) -> Iterator[None]:
    """Give errors of seqtag inside the ``with`` block the file and the line that they lack."""
    try:
        yield
    except SeqtagError as err:
        err.source = err.source or source
        err.line = line if err.line is None else err.line
        raise


def install_hint(extra: str) -> str:
    """Return what to run to install the packages of an optional extra.

    Examples
    --------
    >>> install_hint("plot").split(", or ")[0]
    "run pip install -e '.[plot]' in a clone"
    """
    wheel = f"{DISTRIBUTION.replace('-', '_')}-....whl"
    return (
        f"run pip install -e '.[{extra}]' in a clone, or pip install '{wheel}[{extra}]' for a wheel"
    )


def nearest(name: str, known: Iterable[str], least: float = 0.6) -> str | None:
    """Return the most similar known name, or None if none is similar.

    Case, hyphens, underscores and spaces are ignored; the first of equally similar names wins.

    Parameters
    ----------
    name, known
        The name that was given, and those that exist.
    least
        The least similarity, from 0 to 1.

    Examples
    --------
    >>> nearest("CoNLL-U", ["conll2000", "conllu"]), nearest("POS", ["upos", "xpos"])
    ('conllu', 'upos')
    """
    from difflib import SequenceMatcher  # late: only errors need it

    def plain(text: str) -> str:
        return re.sub("[-_ ]", "", text).lower()

    similar = SequenceMatcher(None, "", plain(name))
    best, found = least, None
    for each in known:
        similar.set_seq1(plain(each))
        if similar.ratio() > best or (found is None and similar.ratio() == best):
            best, found = similar.ratio(), each
    return found


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return " (did you mean 'x'?)" for the nearest known name, or an empty string.

    Examples
    --------
    >>> did_you_mean("sufix", ["prefix", "suffix"])
    " (did you mean 'suffix'?)"
    >>> did_you_mean("zzz", ["prefix", "suffix"])
    ''
    """
    near = nearest(name, known)
    return "" if near is None else f" (did you mean {near!r}?)"


def same_letters(expected: str, found: str) -> bool:
    r"""Return whether two texts differ only in their Unicode normal form, which is invisible.

    Examples
    --------
    >>> same_letters("caf\u00e9", "cafe\u0301"), same_letters("cafe", "caf\u00e9")
    (True, False)
    """
    if expected == found or (expected.isascii() and found.isascii()):
        return False
    return normalize("NFC", expected) == normalize("NFC", found)


IN_ANOTHER_FORM = " (the same letters in another Unicode normal form: convert both to NFC)"
"""Explanation that messages add about such texts."""


_UNSAFE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_LONE = "[\ud800-\udc7f\udd00-\udfff]"  # surrogates that encode no byte


def on_one_line(name: str) -> str:
    r"""Return the name of a file for a message, with line breaks escaped.

    >>> print(on_one_line("a\nseqtag: all is well"))
    a\nseqtag: all is well
    """
    return name.replace("\n", r"\n")


def printable(text: str) -> str:
    r"""Return a text with control sequences escaped, safe to print on a terminal.

    Control characters but tabs and line breaks, those that turn the direction of writing, and
    bytes that are no UTF-8 become escapes, which JSON reads as well.

    Examples
    --------
    >>> print(printable("N\x1b[2J"), printable("a\u202eb"), printable("café"))
    N\u001b[2J a\u202eb café
    """
    # A poor locale gives the names of files byte by byte: those that are UTF-8 belong together.
    joined = re.sub(_LONE, _escape, text).encode("utf-8", "surrogateescape")
    return re.sub(_UNSAFE, _escape, joined.decode("utf-8", "surrogateescape"))


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
