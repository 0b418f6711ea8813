"""Which files are tagged, and what those are called that are written."""

from __future__ import annotations

import glob
import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from seqtag.errors import CorpusError, OptionError
from seqtag.tagging.files import DONE
from seqtag.tagging.places import file_system, is_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FAILED, SUMMARY = "failed.jsonl", "summary.json"
"""Files that a run leaves beside those that it has tagged."""

_PACKED = (".gz", ".bz2", ".xz", ".zst")


class Job(NamedTuple):
    """A file to tag, and the one to write."""

    source: str
    target: str


def files_of(names: Iterable[str]) -> list[str]:
    """The files that arguments name, each once, in their order.

    Parameters
    ----------
    names
        Paths; patterns of paths (``crawl/**/*.txt``), whose files are sorted; ``@FILE``, which has
        a path or an address on each line; addresses, which may be patterns too.

    Raises
    ------
    CorpusError
        If there is no file by a pattern, a list is empty, or a path is a folder.
    FileNotFoundError
        If a path that is named leads nowhere; those on lists are looked at when it is their turn.
    """
    found: dict[str, None] = {}
    for name in names:
        found.update(dict.fromkeys(_files(name)))
    return list(found)


def _files(name: str) -> Iterator[str]:
    """The files that an argument names."""
    if name.startswith("@"):
        lines = Path(name[1:]).read_text(encoding="utf-8").splitlines()
        names = [line.strip() for line in lines if line.strip()]
        if not names:
            msg = "expected a path or an address on each line, found none"
            raise CorpusError(msg, source=name[1:])
        yield from names
        return
    is_pattern = glob.has_magic(name)
    if is_address(name):
        yield from _at_address(name) if is_pattern else [name]
        return
    path = Path(name)
    if path.is_dir():
        msg = f"expected files, found a folder; name those in it, as {path}/*.txt"
        raise CorpusError(msg, source=name)
    if path.exists() or not is_pattern:
        path.stat()
        yield name
        return
    matches = glob.iglob(name, recursive=True)  # noqa: PTH207  Path.glob takes no whole path
    found = sorted(each for each in matches if Path(each).is_file())
    if not found:
        raise _no_match(name)
    yield from found


def _at_address(pattern: str) -> Iterator[str]:
    """The files of a store by a pattern."""
    system, path = file_system(pattern)
    found = sorted(system.glob(path))
    if not found:
        raise _no_match(pattern)
    yield from map(system.unstrip_protocol, found)


def _no_match(pattern: str) -> CorpusError:
    return CorpusError("expected files by this pattern, found none; check it", source=pattern)


def jobs_of(
    files: Sequence[str], folder: str, *, base: str | None = None, suffix: str = ""
) -> list[Job]:
    """What the files are written as.

    Parameters
    ----------
    files
        Paths and addresses.
    folder
        Path or address of the folder to write to.
    base
        Folder of all the files: their paths below it are kept. None to keep their names alone.
    suffix
        What is put behind each name, before the ending of a compression.

    Raises
    ------
    OptionError
        If two would be written to one file, or one over an input or what a run leaves, or a file
        is not below the base.

    Examples
    --------
    >>> jobs_of(["crawl/a/1.txt.gz"], "tagged", base="crawl", suffix=".conllu")
    [Job(source='crawl/a/1.txt.gz', target='tagged/a/1.txt.conllu.gz')]
    """
    taken = {_joined(folder, name): "what a run leaves" for name in (FAILED, SUMMARY)}
    inputs = {_absolute(name) for name in files}
    jobs = []
    for source in files:
        target = _joined(folder, _suffixed(_below(source, base), suffix))
        for name in (target, target + DONE):
            if name in taken:
                msg = (
                    f"expected a name of its own for each file, found {name} for {taken[name]} "
                    f"and {source}; keep their folders with --base, or tag them one by one"
                )
                raise OptionError(msg)
            taken[name] = source
            if _absolute(name) in inputs:
                msg = (
                    f"expected another folder than that of the input, found {folder} for {source}; "
                    "name another, nothing was changed"
                )
                raise OptionError(msg)
        jobs.append(Job(source, target))
    return jobs


def _below(name: str, base: str | None) -> str:
    """The path of a file below a folder; its name if there is none."""
    path = name.partition("://")[2] if is_address(name) else name
    if base is None:
        return PurePosixPath(path).name if is_address(name) else Path(path).name
    inside = name
    if is_address(name) and is_address(base):
        inside = name.removeprefix(base.rstrip("/") + "/")
    elif not (is_address(name) or is_address(base)):
        inside = Path(os.path.relpath(name, base)).as_posix()
    if is_address(inside) or inside.startswith("../") or (is_address(base) and inside == name):
        msg = f"expected files below the base {base}, found {name}; name a folder that has them all"
        raise OptionError(msg)
    return inside


def _suffixed(name: str, suffix: str) -> str:
    """A name with a suffix, before the ending of a compression."""
    for packed in _PACKED:
        if name.endswith(packed):
            return name.removesuffix(packed) + suffix + packed
    return name + suffix


def _joined(folder: str, name: str) -> str:
    """A name in a folder."""
    return f"{folder.rstrip('/')}/{name}" if is_address(folder) else str(Path(folder, name))


def _absolute(name: str) -> str:
    return name if is_address(name) else os.path.realpath(name)
