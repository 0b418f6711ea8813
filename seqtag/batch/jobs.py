"""Which files are tagged, and what those are called that are written."""

from __future__ import annotations

import glob
import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from seqtag.batch.storage import file_system, is_address
from seqtag.batch.tag_file import DONE
from seqtag.errors import CorpusError, OptionError

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
        Paths; patterns of paths (``crawl/**/*.txt``), whose files are sorted, without manifests
        that an earlier run has written; ``@FILE``, which has a path or an address on each line;
        addresses, which may be patterns too.

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
        yield from _listed(name[1:])
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
    found = sorted(each for each in _matches(name) if _is_input(each))
    if not found:
        raise _no_match(name)
    yield from found


def _listed(list: str) -> Iterator[str]:
    """The names on the lines of a file, in the encoding of names of files."""
    lines = Path(list).read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    names = {number: os.fsdecode(line.strip()) for number, line in enumerate(lines, 1)}
    for number, name in names.items():
        if "\0" in name:
            msg = "expected a path or an address, found a null byte, as in no name of a file"
            raise CorpusError(msg, source=list, line=number)
    if not any(names.values()):
        msg = "expected a path or an address on each line, found none"
        raise CorpusError(msg, source=list)
    yield from filter(None, names.values())


def _matches(pattern: str) -> Iterator[str]:
    """What a pattern finds; below ``**`` each folder once, as links may lead round in circles."""
    head, behind, rest = pattern.partition("**")
    top, name = os.path.split(head)
    if not behind or name or (rest and not rest.startswith("/")):
        yield from glob.iglob(pattern)  # noqa: PTH207  Path.glob takes no whole path
        return
    for start in glob.glob(top) if top else [""]:  # noqa: PTH207
        for folder in _folders(start):
            yield from _matches(str(Path(glob.escape(folder), rest.strip("/") or "*")))


def _folders(top: str) -> Iterator[str]:
    """A folder and those below it that are not hidden, each once."""
    seen = set()
    for folder, below, _ in os.walk(top or ".", followlinks=True):
        found = Path(folder).stat()
        if (found.st_dev, found.st_ino) in seen:
            below.clear()
            continue
        seen.add((found.st_dev, found.st_ino))
        below[:] = sorted(name for name in below if not name.startswith("."))
        yield folder if top else os.path.relpath(folder).removeprefix("./")


def _is_input(name: str) -> bool:
    """Whether what a pattern finds is to be tagged: a file, or a link to none, which will fail.

    No manifest is, beside the file that it tells of.
    """
    path = Path(name)
    if name.endswith(DONE) and Path(name.removesuffix(DONE)).exists():
        return False
    return path.is_file() or (path.is_symlink() and not path.exists())


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
        If two would be written to one file, or one over an input or what a run leaves, a file
        is not below the base, or was written into the folder by a run before.

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
            if _is_written(source, folder):
                msg = (
                    f"expected files that were not written by such a run, found {source} in the "
                    f"folder {folder}; narrow the pattern down, or name another folder"
                )
                raise OptionError(msg)
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


def _is_written(name: str, folder: str) -> bool:
    """Whether a file lies below the folder of a run and has a manifest beside it."""
    if is_address(name) or is_address(folder) or not Path(name + DONE).exists():
        return False
    return Path(os.path.realpath(name)).is_relative_to(os.path.realpath(folder))


def _absolute(name: str) -> str:
    return name if is_address(name) else os.path.realpath(name)
