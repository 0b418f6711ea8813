"""Messages, progress bars and checks of outputs that the commands share."""

from __future__ import annotations

import errno
import gc
import json
import logging
import os
import re
import stat
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

import click

from seqtag.errors import OptionError, on_one_line, printable
from seqtag.storage.output import check_output, descriptor_of, is_same_file, naming

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TextIO

    from seqtag.corpus import SentenceStream
    from seqtag.tagging.pipeline import Loaded

    Mover = Callable[..., object]

Item = TypeVar("Item")

ATTRIBUTES = "seqtag.attributes"
"""Key of the files of ``--attributes``, which are inputs too."""


_PARAMETER = re.compile(r'\buse (\w+)="(\w+)"')  # of Python, which is an option here


_SECONDS = 3  # before a progress bar is shown


class Notes(logging.Handler):
    """Messages on stderr unless quiet, including the log of the library.

    Errors of the log, such as sentences that were skipped, are shown in any case.
    """

    def __init__(self, quiet: bool):
        super().__init__(logging.INFO)
        self.quiet = quiet
        self._shown: set[str] = set()
        log = logging.getLogger("seqtag")
        log.handlers[:] = [self]
        log.setLevel(logging.ERROR if quiet else logging.INFO)
        log.propagate = False

    def emit(self, record: logging.LogRecord) -> None:
        """Show a log record unless it was shown before."""
        message = record.getMessage()
        if message not in self._shown:
            self._shown.add(message)
            if record.levelno >= logging.ERROR:
                complain(message)
            else:
                self(f"note: {message}")

    def __call__(self, message: str) -> None:
        """Show a message."""
        if not self.quiet:
            complain(message)

    @property
    def on_terminal(self) -> bool:
        """Whether messages are shown, on a terminal."""
        return not self.quiet and _is_terminal(sys.stderr)

    def reading(
        self,
        items: Iterable[Item],
        streams: Sequence[SentenceStream],
        *,
        shared: bool,
        speed: Callable[[], str] = str,
    ) -> Iterator[Item]:
        """Yield the items, with a progress bar of the bytes that were read from the streams.

        Parameters
        ----------
        items
            Anything that is made of the streams.
        streams
            The inputs.
        shared
            Whether the items go to standard output; on a terminal they must not mix with a bar.
        speed
            Returns what stands beside the bar.
        """
        sizes = [stream.file.size for stream in streams]
        known = [size for size in sizes if size is not None]
        total = sum(known) if len(known) == len(sizes) else None
        seen = 0
        with self.bar("B", total, shown=not (shared and _is_terminal(sys.stdout))) as bar:
            for item in items:
                yield item
                position = sum(stream.file.position for stream in streams)
                bar(position - seen, speed())
                seen = position

    @contextmanager
    def bar(self, unit: str, total: int | None, *, shown: bool = True) -> Iterator[Mover]:
        """Show a progress bar after three seconds, if stderr is a terminal.

        Returns what advances it, and takes the words beside it.
        """
        if not shown or not self.on_terminal:
            yield lambda _, __="": None
            return
        from tqdm import tqdm

        with tqdm(
            unit=unit,
            total=total,
            file=sys.stderr,
            leave=False,
            unit_scale=True,
            delay=_SECONDS,
        ) as bar:

            def move(count: int, words: str = "") -> None:
                bar.set_postfix_str(words, refresh=False)
                bar.update(count)

            yield move


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def complain(message: str) -> None:
    """Write a message to stderr; ignore write errors there.

    The library names parameters as Python does; they are shown as options.
    """
    if sys.stderr is None:  # for which click before 8.1.4 raises
        return
    message = _PARAMETER.sub(r"use --\1 \2", message)
    try:
        click.echo(f"seqtag: {printable(message)}", err=True)
    except OSError:
        sys.stderr = None


def os_message(error: OSError) -> str:
    """Return an error of the system with the name of the file, and what to do next."""
    name = f"{on_one_line(str(error.filename))}: " if error.filename else ""
    what = str(error.strerror or error)
    remedy = "" if ";" in what else _REMEDIES.get(error.errno or 0)  # it may have one already
    if name.startswith(("http:", "https:")):
        remedy = "download it first"
    return f"{name}{what}{f'; {remedy}' if remedy else ''}"


_REMEDIES = {
    errno.EACCES: "check its permissions",
    errno.EDQUOT: "free some space and try again",
    errno.EIO: "check the disk",
    errno.EISDIR: "name its files, as in FOLDER/*.txt",
    errno.ENOENT: "check the path",
    errno.ENOSPC: "free some space and try again",
    errno.ENOTDIR: "check the path",
    errno.EPIPE: "its reader has closed it; some of the output is missing",
    errno.EROFS: "name another place",
}


def check_stdout() -> None:
    """Raise an error before the work if standard output is closed."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed", "<stdout>")


def say(text: str) -> None:
    """Write text to stdout, with control characters escaped."""
    check_stdout()
    with naming("<stdout>"):
        click.echo(printable(text), nl=False)


def say_table(rows: Iterable[Sequence[str]], sides: str = "<") -> None:
    """Write rows of cells to stdout, in columns.

    Parameters
    ----------
    rows
        Rows of equal length, the heading among them.
    sides
        Alignment of each column, as in format specifications; the last one is repeated.
    """
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = sides.ljust(len(widths), sides[-1])
    for row in rows:
        cells = zip(row, sides, widths, strict=True)
        say("  ".join(f"{cell:{side}{width}}" for cell, side, width in cells).rstrip() + "\n")


def print_json(value: object) -> None:
    """Write a JSON document to stdout."""
    say(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def refuse(message: str) -> NoReturn:
    """Refuse the arguments of the command."""
    raise click.UsageError(message, click.get_current_context(silent=True))


def check_stdin(names: Iterable[str]) -> None:
    """Refuse to read standard input twice."""
    if list(names).count("-") > 1:
        refuse('expected "-" (standard input) once, found it again')


def check_redirection(args: Iterable[str]) -> None:
    """Refuse a standard output that the shell has redirected into one of our files.

    Raises
    ------
    UsageError
        If standard output is a file that `args` name, or standard input.
    """
    try:
        out = os.fstat(sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):  # closed, or no file at all
        return
    if not stat.S_ISREG(out.st_mode):
        return
    for name in ["-", *args, *(arg.partition("=")[2] for arg in args)]:
        if descriptor_of(name) != 1 and is_same_file(name, out):  # the output may be /dev/stdout
            shown = "standard input" if name == "-" else repr(name)
            refuse(
                f"expected standard output to be another file than the inputs, found {shown} as "
                "both; seqtag wrote nothing, but the shell empties a file after > before seqtag "
                "starts (not after >>): check the file, and redirect to another one"
            )


def check_target(
    target: str,
    inputs: Iterable[str | os.PathLike[str]],
    *,
    force: bool,
    model: bool = False,
) -> None:
    """Refuse an output file that cannot be written, before the work.

    Parameters
    ----------
    target
        The file; ``"-"`` is standard output.
    inputs
        Files that are read; those of ``--attributes`` are added.
    force
        Whether an existing file may be replaced.
    model
        Whether it is a model, which cannot be written to a device or pipe.

    Raises
    ------
    UsageError
        If the name is not that of a file, or the file exists.
    CorpusError
        If it is an input.
    OSError
        If its folder does not exist or is not writable.
    """
    number = descriptor_of(target)
    if not target or (model and (target == "-" or number is not None)):
        refuse(f"expected the name of a file to write, found {target!r}")
    if target == "-":
        return
    check_output(target, [*inputs, *click.get_current_context().meta.get(ATTRIBUTES, ())])
    if number is not None:
        with naming(target):
            os.fstat(number)
        return
    with suppress(FileNotFoundError, NotADirectoryError):
        mode = os.stat(target).st_mode  # noqa: PTH116  (may name a device)
        if not stat.S_ISREG(mode) and model:
            refuse(f"expected a file to write the model to, found {target}")
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
        if not stat.S_ISREG(mode):
            return
        if not force:
            refuse(f"{target} exists; overwrite it with --force")
    if target.endswith(("/", os.sep)):  # of a folder that does not exist
        refuse(f"expected the name of a file to write, found {target!r}")
    with naming(target):  # which the error about a current folder that was removed lacks
        folder, shown = Path(os.path.realpath(target)).parent, str(Path(target).parent)
    if not folder.exists():
        raise FileNotFoundError(errno.ENOENT, "No such directory", shown)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), shown)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), shown)


def load_model(name: str) -> Loaded:
    """Load a model by file or name."""
    from seqtag.loading import load

    loaded: Loaded = load(name)
    gc.freeze()  # a model lives as long as the command: the collector need not visit it again
    return loaded


@contextmanager
def usage() -> Iterator[None]:
    """Turn errors of the library about options into usage errors."""
    try:
        yield
    except OptionError as error:
        raise click.UsageError(error.message) from None
