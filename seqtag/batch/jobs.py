"""Inputs and outputs of a run over many files."""

from __future__ import annotations

import glob
import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from seqtag.batch.ledger import LEDGER, Ledger
from seqtag.batch.storage import absolute, file_system, is_address, local_path
from seqtag.errors import CorpusError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_PACKED = (".gz", ".bz2", ".xz", ".zst")


class Job(NamedTuple):
    """A file to tag, and the file to write."""

    source: str
    target: str


def files_of(names: Iterable[str]) -> list[str]:
    """Return the files that arguments name, each once, in their order.

    Parameters
    ----------
    names
        Paths; patterns of paths (``crawl/**/*.txt``), whose files are sorted, without ledgers of
        earlier runs; ``@FILE``, which has a path or an address on each line; addresses, which may
        be patterns too.

    Raises
    ------
    CorpusError
        If no file matches a pattern, a list is empty, a path is a folder, or an address is one
        that other processes cannot see.
    FileNotFoundError
        If a path does not exist; those on lists are checked when they are tagged.
    """
    found: dict[str, None] = {}
    for name in names:
        found.update(dict.fromkeys(_files(name)))
    for name in found:
        check_shared(name)
    return list(found)


def check_shared(name: str) -> None:
    """Refuse an address in the memory of this process, which workers cannot see.

    Raises
    ------
    CorpusError
        If it is one.
    """
    if "memory://" in name:
        msg = (
            "expected files that all workers can see, found the memory of this process; use a path "
            "or a store"
        )
        raise CorpusError(msg, source=name)


def _files(name: str) -> list[str]:
    """Return the files that one argument names."""
    if name.startswith("@"):
        return _read_list(name[1:])
    is_pattern = glob.has_magic(name)
    if is_address(name):
        if not is_pattern:
            return [name]
        system, path = file_system(name)
        found = list(map(system.unstrip_protocol, sorted(system.glob(path))))
    else:
        local = Path(name)
        if local.is_dir():
            msg = f"expected files, found a folder; name its files, for example {local}/*.txt"
            raise CorpusError(msg, source=name)
        if local.exists() or not is_pattern:
            local.stat()
            return [name]
        found = sorted(
            each for each in _matches(name) if not Path(each).is_dir() and Path(each).name != LEDGER
        )
    if not found:
        msg = "expected files by this pattern, found none; check it"
        raise CorpusError(msg, source=name)
    return found


def _read_list(file: str) -> list[str]:
    """Return the names on the lines of a file, in the encoding of file names."""
    lines = Path(file).read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    names = {number: os.fsdecode(line.strip()) for number, line in enumerate(lines, 1)}
    for number, name in names.items():
        if "\0" in name:
            msg = "expected a path or an address, found one with a null byte; correct the name"
            raise CorpusError(msg, source=file, line=number)
    if not any(names.values()):
        msg = "expected a path or an address on each line, found none"
        raise CorpusError(msg, source=file)
    return [*filter(None, names.values())]


def _matches(pattern: str) -> Iterator[str]:
    """Yield the matches of a pattern; below ``**`` each folder once (links may form cycles)."""
    head, stars, rest = pattern.partition("**")
    top, name = os.path.split(head)
    if not stars or name or (rest and not rest.startswith("/")):
        yield from glob.iglob(pattern)  # noqa: PTH207  Path.glob takes no absolute path
        return
    for start in glob.glob(top) if top else [""]:  # noqa: PTH207
        seen = set()
        for folder, below, _ in os.walk(start or ".", followlinks=True):
            found = Path(folder).stat()
            is_new = (found.st_dev, found.st_ino) not in seen
            seen.add((found.st_dev, found.st_ino))
            below[:] = sorted(each for each in below if is_new and not each.startswith("."))
            if is_new:
                inside = folder if start else os.path.relpath(folder).removeprefix("./")
                yield from _matches(str(Path(glob.escape(inside), rest.strip("/") or "*")))


def jobs_of(
    files: Sequence[str], folder: str, *, base: str | None = None, suffix: str = ""
) -> list[Job]:
    """Return the job of each file, with the file to write.

    Parameters
    ----------
    files
        Paths and addresses.
    folder
        Path or address of the folder to write to.
    base
        Common folder of the files: their paths below it are kept. None to keep their names only.
    suffix
        Suffix of each name, before the ending of a compression.

    Raises
    ------
    OptionError
        If two would be written to one file, or one over an input or the ledger, or a file is not
        below the base, or the folder has no name, or the suffix names one.
    CorpusError
        If the folder is one that other processes cannot see.

    Examples
    --------
    >>> jobs_of(["crawl/a/1.txt.gz"], "tagged", base="crawl", suffix=".conllu")
    [Job(source='crawl/a/1.txt.gz', target='tagged/a/1.txt.conllu.gz')]
    """
    if not folder:
        msg = "expected the name of a folder to write to, found ''"
        raise OptionError(msg)
    if "/" in suffix or os.sep in suffix:
        msg = f"expected a suffix of file names, without a folder, found {suffix!r}"
        raise OptionError(msg)
    check_shared(folder)
    taken = {_joined(folder, LEDGER): "the ledger"}
    inputs = {_absolute(name) for name in files}
    jobs = []
    for source in files:
        name = _relative_path(source, base)
        packed = next((each for each in _PACKED if name.endswith(each)), "")
        target = _joined(folder, name.removesuffix(packed) + suffix + packed)
        if target in taken:
            msg = (
                f"expected a different output name for each file, found {target} for "
                f"{taken[target]} and {source}; keep their folders with --base, or tag them in "
                "separate runs"
            )
            raise OptionError(msg)
        taken[target] = source
        if _absolute(target) in inputs:
            msg = (
                f"expected an output folder other than that of the input, found {folder} for "
                f"{source}; choose another; no file was changed"
            )
            raise OptionError(msg)
        jobs.append(Job(source, target))
    return jobs


def open_ledger(path: str | None, folder: str, jobs: Sequence[Job]) -> Ledger:
    """Open the ledger of a run.

    Parameters
    ----------
    path
        Its file; None for ``ledger.jsonl`` in the folder of the outputs.
    folder
        Path or address of that folder.
    jobs
        The files of the run.

    Raises
    ------
    OptionError
        If the ledger would be at an address, or is an input or output of the run, an input was
        written by an earlier run, or outputs exist and there was none.
    CorpusError, OSError
        As `Ledger`.
    """
    if is_address(path or folder):
        found = f"found {path}" if path else f"found none; {folder} is in a store"
        msg = (
            f"expected --ledger with a file on this machine, {found}, where nothing can be "
            "appended to a file"
        )
        raise OptionError(msg)
    if path is not None:
        name = Path(path).name
        same = [each for job in jobs for each in job if each.endswith(name)]
        if _absolute(path) in map(_absolute, same):
            msg = f"expected a ledger that is no input and no output, found {path}; name another"
            raise OptionError(msg)
    ledger = Ledger(path or _joined(folder, LEDGER), _joined(folder, "x")[:-1])
    written = {*map(absolute, ledger)}
    again = next((each for each, _ in jobs if absolute(each) in written), None)
    paths = [local_path(job.target) for job in jobs if ledger.is_new]
    msg = ""
    if there := [path for path in paths if path and Path(path).is_file()]:
        msg = (
            f"expected outputs that do not exist, or the ledger of the run that wrote them, found "
            f"{len(there):,} files such as {there[0]} and no such run in {ledger.path}; choose "
            "another folder, or move them"
        )
    elif again is not None:
        msg = (
            f"expected input files, found the output of a cluster run, {again} in the folder "
            f"{folder}; narrow the pattern, or choose another folder"
        )
    if msg:
        ledger.close()
        raise OptionError(msg)
    return ledger


def _relative_path(name: str, base: str | None) -> str:
    """Return the path of a file below a folder; its name if the folder is None."""
    if base is None:
        return (PurePosixPath if is_address(name) else Path)(name).name
    inside = name
    if is_address(name) and is_address(base):
        inside = name.removeprefix(base.rstrip("/") + "/")
    elif not (is_address(name) or is_address(base)):
        inside = Path(os.path.relpath(name, base)).as_posix()
    if is_address(inside) or inside.startswith("../") or (is_address(base) and inside == name):
        msg = f"expected files below the base {base}, found {name}; name a folder that has them all"
        raise OptionError(msg)
    return inside


def _joined(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}" if is_address(folder) else str(Path(folder, name))


def _absolute(name: str) -> str:
    return name if is_address(name) else os.path.realpath(name)
