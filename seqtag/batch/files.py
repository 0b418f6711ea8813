"""Tagging of many files into a folder: finished outputs are skipped, bad files are reported.

The folder has a record of what its outputs depend on besides their inputs. An output gets its name
when it is complete, so one that is neither older than its input nor than the record is finished.
There is no other state: after a kill, run the same command again.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from seqtag.corpus.shapes import is_file
from seqtag.errors import CorpusError, OptionError
from seqtag.loading import load
from seqtag.model import bundle
from seqtag.parallel import as_finished
from seqtag.storage import strict_json
from seqtag.storage.compression import compression_for
from seqtag.storage.output import atomic, check_output
from seqtag.tagging.pipeline import Chain, Pipeline
from seqtag.tagging.streams import TagCounts, TagOptions
from seqtag.tagging.tagger import Tagger
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from seqtag.tagging.pipeline import Loaded

RECORD = ".seqtag.json"
"""Name of the record in a folder of outputs."""

AnyModel: TypeAlias = "str | PathLike[str] | Loaded"
"""A model by path or name, or a loaded one."""


class Job(NamedTuple):
    """A file to tag, and the file to write."""

    source: str
    target: str


Result: TypeAlias = "tuple[Job, int | Exception]"
"""A file with the number of its words, or with the error."""

Runner: TypeAlias = "Callable[[Callable[..., Result], Sequence[Job], int], Iterator[Result]]"
"""Function that calls another for each file, on some threads, and yields the results."""


@dataclass
class Summary:
    """What became of many files.

    Attributes
    ----------
    tagged, skipped
        Number of files that were tagged, and of those that were finished before.
    tokens
        Number of words of the files that were tagged.
    failures
        The error of each file that could not be tagged, by its name.
    """

    tagged: int = 0
    skipped: int = 0
    tokens: int = 0
    failures: dict[str, Exception] = field(default_factory=dict)


_chain = lru_cache(1)(Chain)


def tag_file(
    loaded: tuple[Loaded, ...],
    options: TagOptions,
    job: Job,
    threads: int = 1,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Result:
    """Tag a file; return the number of its words, or the error. Any process may call it."""
    chain, counts = _chain(loaded, options.only), TagCounts()
    try:
        check_output(job.target, [job.source])
        before = _changed(job.source)
        Path(job.target).parent.mkdir(parents=True, exist_ok=True)
        with Path(job.source).open("rb") as file, atomic(job.target) as out:
            stream = chain.reading(options.reading).open(file, announce=False)
            for piece in chain.tagged([stream], options, threads, counts=counts):
                if is_stopped():
                    raise InterruptedError
                out.write(piece)
            if _changed(job.source) != before:
                msg = "expected a file that stays as it is, found that it changed; tag it again"
                raise CorpusError(msg, source=job.source)
    except Exception as error:
        return job, error
    return job, counts.tokens


def run_on_threads(
    work: Callable[..., Result], jobs: Sequence[Job], threads: int
) -> Iterator[Result]:
    """Tag as many files at the same time as there are threads; the last ones on several each."""
    stopped = Event()
    each = max(1, threads // max(1, len(jobs)))
    return as_finished(
        lambda job: work(job, each, stopped.is_set), jobs, min(threads, len(jobs)), stopped.set
    )


def tag_files(
    files: str | PathLike[str] | Iterable[str | PathLike[str]],
    folder: str | PathLike[str],
    model: AnyModel | Sequence[AnyModel],
    options: TagOptions | None = None,
    *,
    suffix: str | None = None,
    threads: int = 1,
    force: bool = False,
    runner: Runner = run_on_threads,
    on_file: Callable[[Summary, int], object] = lambda *_: None,
) -> Summary:
    r"""Tag files into a folder, each under its name; skip those that are finished.

    An output is written atomically, and is finished if its input has not changed since. A file that
    cannot be tagged does not stop the others. The record of the folder, ``.seqtag.json``, has the
    version of seqtag, the digest of the models, the options, and the common folder of the inputs.

    Parameters
    ----------
    files
        A path or several, and patterns such as ``crawl/**/*.txt``. Outputs keep the paths that
        their inputs have below their common folder.
    folder
        The folder to write to; it must not contain the inputs.
    model
        A model by path or name; a loaded model; or several, which run one after another.
    options
        How to read, tag and write; None for the defaults.
    suffix
        Ending of the names of outputs, such as ``.conllu``, instead of that of the inputs. The
        ending of a compression stays.
    threads
        Threads; each tags a file of its own.
    force
        True to tag all files again, also in a folder that has outputs of another model or options.
    runner
        What tags the files: threads of this process, or a cluster.
    on_file
        Called after each file, with what is done so far, and the number of all files.

    Raises
    ------
    OptionError
        If the folder has outputs of another model, version or options, files would be written to
        one output, there are no files, or options do not fit the model; nothing is tagged then.
    ModelFileError, OSError
        As `seqtag.load`, or if the record cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("Time flies.")
    >>> found = tag_files([folder / "a.txt"], folder / "tagged", "en", suffix=".conllu")
    >>> found.tagged, found.tokens, (folder / "tagged" / "a.conllu").exists()
    (1, 3, True)
    >>> tag_files([folder / "a.txt"], folder / "tagged", "en", suffix=".conllu").skipped
    1
    """
    options = options or TagOptions()
    several: Sequence[Any] = model if isinstance(model, list | tuple) else [model]
    loaded = tuple(each if isinstance(each, Tagger | Pipeline) else load(each) for each in several)
    _chain(loaded, options.only)  # which refuses options that do not fit
    folder = os.fspath(folder).rstrip("/")
    record = f"{folder}/{RECORD}"
    known = {} if force else _read_record(record)
    names: Any = [files] if is_file(files) else files or ()
    sources = dict.fromkeys(each for name in names for each in _matches(os.fspath(name)))
    if not sources:
        msg = "expected files to tag, found none; name at least one"
        raise OptionError(msg)
    base = _base_of(sources, known.get("inputs"))
    jobs = todo = _jobs_of(sources, folder, base, suffix)
    recipe = options.as_json() | {"suffix": suffix, "inputs": base}
    recipe |= {"version": __version__, "model": _digest_of(loaded)}
    if not force:
        _check_outputs(known, recipe, [job.target for job in jobs])
    if known:
        since = _changed(record)
        todo = [job for job in jobs if _changed(job.target) < max(since, _changed(job.source))]
    else:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with atomic(record) as out:
            out.write(json.dumps(recipe, indent=1).encode())
    summary = Summary(skipped=len(jobs) - len(todo))
    for job, result in runner(partial(tag_file, loaded, options), todo, threads):
        if isinstance(result, Exception):
            summary.failures[job.source] = result
        else:
            summary.tagged += 1
            summary.tokens += result
        on_file(summary, len(jobs))
    return summary


# --------------------------------------------------------------------------- the record
def _digest_of(loaded: Sequence[Loaded]) -> str:
    """Return the digest of models, and of which labels they do not write."""
    digest = hashlib.sha256()
    for each in loaded:
        hidden = [tagger.label for tagger in each.taggers if tagger.hidden]
        digest.update(bundle.to_bytes(each.models) + json.dumps(hidden).encode())
    return digest.hexdigest()


def _read_record(record: str) -> dict[str, Any]:
    """Return the record of a folder; empty if there is none."""
    try:
        return dict(strict_json.loads(Path(record).read_bytes()))
    except FileNotFoundError:
        return {}
    except (TypeError, ValueError):
        return {"record": "damaged"}


def _check_outputs(
    known: Mapping[str, Any], recipe: Mapping[str, Any], targets: Sequence[str]
) -> None:
    """Refuse a folder with other outputs than this recipe gives, or with outputs of unknown origin.

    Raises
    ------
    OptionError
        If it is one.
    """
    if known:
        found = [
            f"{name}={known.get(name)!r} (now {recipe.get(name)!r})"
            for name in {**known, **recipe}
            if known.get(name) != recipe.get(name)
        ]
    else:
        found = [f"{name} without a record" for name in targets if _changed(name)]
    if found:
        msg = (
            f"expected a new folder, or one with outputs of the same model, version and options, "
            f"found {', '.join(found[:9])}; name another folder, or tag all files again with "
            "--force"
        )
        raise OptionError(msg)


# --------------------------------------------------------------------------- names
def _matches(name: str) -> list[str]:
    """Return the files of a pattern such as ``crawl/**/*.txt``, sorted; other names as they are."""
    found = [] if Path(name).exists() else glob.glob(name, recursive=True)  # noqa: PTH207
    return sorted(found) or [name]


def _changed(name: str) -> float:
    """Return the time of the last change of a file in seconds; 0 if there is none."""
    try:
        return Path(name).stat().st_mtime
    except OSError:
        return 0.0


def _absolute(name: str) -> Path:
    return Path(os.path.abspath(name))  # noqa: PTH100  (links keep their names)


def _base_of(sources: Iterable[str], known: str | None) -> str:
    """Return the common folder of all inputs: the known one, if they are in it."""
    folders = [_absolute(name).parent for name in sources]
    if known is not None and all(folder.is_relative_to(known) for folder in folders):
        return known
    return os.path.commonpath(folders)


def _jobs_of(sources: Iterable[str], folder: str, base: str, suffix: str | None) -> list[Job]:
    """Return the job of each file.

    Raises
    ------
    OptionError
        If two files would be written to one, or an input is in the folder of the outputs.
    """
    source_of: dict[str, str] = {}
    for source in sources:
        path = _absolute(source)
        target = f"{folder}/{_renamed(path.relative_to(base), suffix).as_posix()}"
        if target in source_of or path.is_relative_to(_absolute(folder)):
            msg = (
                f"expected inputs outside of {folder} that have different outputs, found {source}, "
                f"to be written to {target}; leave it out, or tag it into another folder"
            )
            raise OptionError(msg)
        source_of[target] = source
    return [Job(source, target) for target, source in source_of.items()]


def _renamed(path: Path, suffix: str | None) -> Path:
    """Return a path with another ending; that of a compression stays.

    >>> _renamed(Path("a/1.txt.gz"), ".conllu").as_posix(), _renamed(Path("b.txt"), None).as_posix()
    ('a/1.conllu.gz', 'b.txt')
    """
    if suffix is None:
        return path
    packed = compression_for(path.name)
    if packed is None or compression_for(suffix):
        return path.with_suffix(suffix)
    return path.with_suffix("").with_suffix(suffix + packed.suffix)
