"""Corpora of NLTK, read as column files in memory.

``nltk:conll2000`` is the corpus ``nltk.corpus.conll2000``: its files with "train" in the name, or
all files if there are none; ``nltk:conll2000/test.txt`` are the files whose names start with this.
"""

from __future__ import annotations

import logging
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from seqtag.corpus.sentence import bad_value
from seqtag.corpus.stream import NamedBytes
from seqtag.errors import CorpusError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

PREFIX = "nltk:"
"""Prefix of the names of NLTK corpora."""

_CHUNKED, _TAGGED = ("form", "pos", "chunk"), ("form", "pos")
_SHOWN = 5  # files that a message names

_log = logging.getLogger("seqtag")


def open_nltk(name: str) -> tuple[NamedBytes, tuple[str, ...]]:
    """Return the sentences of a corpus, tab-separated, and the names of the columns.

    The columns are form, pos and chunk, or form and pos. A word without a label in the
    corpus has ``_``, so that training reports it.

    Parameters
    ----------
    name
        ``nltk:CORPUS`` or ``nltk:CORPUS/FILE``, where the file may be the beginning of the names
        of several.

    Raises
    ------
    CorpusError
        If NLTK knows no such corpus, its data are not there (the message says how to get them),
        it is neither tagged nor chunked, there is no such file, it is in another encoding, or a
        word is empty or holds a tab or a line break.
    """
    corpus, _, part = name.removeprefix(PREFIX).partition("/")
    reader = _reader(corpus, name)
    files = _files(reader, part, name)
    columns, sentences = _read_labels(reader, files, name)
    try:
        text = "".join(_rows(sentences, name))
    except UnicodeDecodeError as error:
        msg = (
            "expected files in the encoding that NLTK reads the corpus in, found another "
            f"({error}); download the corpus again"
        )
        raise CorpusError(msg, source=name) from error
    return NamedBytes(text.encode(), name), columns


def _reader(corpus: str, name: str) -> Any:
    """Return NLTK's reader of an installed corpus."""
    from nltk.corpus.reader.api import CorpusReader
    from nltk.corpus.util import LazyCorpusLoader

    # The attribute nltk.corpus may be a proxy without its readers.
    readers = {
        key: value
        for key, value in vars(import_module("nltk.corpus")).items()
        if isinstance(value, (LazyCorpusLoader, CorpusReader))
    }
    if corpus not in readers:
        msg = (
            f"expected the name of a corpus in nltk.corpus, found {corpus!r}"
            f"{did_you_mean(corpus, readers)}"
        )
        raise CorpusError(msg, source=name)
    try:
        readers[corpus].fileids()
    except LookupError as error:
        # NLTK names the package that has the data.
        package = re.search(r"nltk\.download\('(.+?)'\)", str(error))
        msg = (
            f"expected the data of the corpus in a folder of NLTK, found none; download them with "
            f"python -m nltk.downloader {package[1] if package else corpus}"
        )
        raise CorpusError(msg, source=name) from error
    return readers[corpus]


def _files(reader: Any, part: str, name: str) -> list[str]:
    """Return the files of a corpus, or the one that is named."""
    known: list[str] = list(reader.fileids())
    if part:
        found = [file for file in known if file.startswith(part)]
        if not found:
            shown = ", ".join(known[:_SHOWN]) + (", ..." if len(known) > _SHOWN else "")
            msg = f"expected the name of a file of the corpus ({shown}), found {part!r}"
            raise CorpusError(msg + did_you_mean(part, known), source=name)
        return found
    found = [file for file in known if "train" in file.lower()] or known
    if found != known:
        _log.info("%s: read %s of %d files", name, ", ".join(found), len(known))
    return found


def _read_labels(
    reader: Any, files: Sequence[str], name: str
) -> tuple[tuple[str, ...], Iterable[Iterable[Sequence[str | None]]]]:
    """Return the columns that a reader has, and their values for each word of each sentence."""
    from nltk.chunk.util import tree2conlltags

    for method, columns in (
        ("iob_sents", _CHUNKED),
        ("chunked_sents", _CHUNKED),
        ("tagged_sents", _TAGGED),
    ):
        if hasattr(reader, method):
            try:
                sentences = getattr(reader, method)(files)
            except (ValueError, NotImplementedError):  # files without such a column
                continue
            if method == "chunked_sents":
                return columns, map(tree2conlltags, sentences)
            return columns, sentences
    msg = (
        f"expected a corpus that is tagged or chunked, found a {type(reader).__name__}; choose one "
        "that has tagged_sents() or chunked_sents()"
    )
    raise CorpusError(msg, source=name)


def _rows(sentences: Iterable[Iterable[Sequence[str | None]]], name: str) -> Iterator[str]:
    """Yield the rows of each sentence that has words."""
    for number, sentence in enumerate(sentences, 1):
        rows = [["_" if value is None else value for value in values] for values in sentence]
        for row in rows:
            at = bad_value(row, "\t\r\n")
            if at is not None:
                msg = (
                    f"expected words and labels without tabs and line breaks, found {row[at]!r} "
                    f"in sentence {number}; read the corpus with NLTK, and train on the rest"
                )
                raise CorpusError(msg, source=name)
        if rows:
            yield "".join("\t".join(row) + "\n" for row in rows) + "\n"
