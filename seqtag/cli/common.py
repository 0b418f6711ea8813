"""What several commands share: options, notes to the user, progress."""

from __future__ import annotations

import errno
import json
import logging
import os
import signal
import stat
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import click

from seqtag.errors import OptionError, printable
from seqtag.storage.output import check_output, is_same_file, naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TextIO

    from seqtag.catalogue.entries import RemoteFile
    from seqtag.corpus.read import AnyStream
    from seqtag.tagging.pipeline import Loaded

Item = TypeVar("Item")

PENDING = "seqtag.notes"
"""Where options leave what is to be noted once it is known whether anybody wants notes."""

ATTRIBUTES = "seqtag.attributes"
"""Where ``--attributes`` leaves the names of its files, which are read too."""


class Mover(Protocol):
    """Moves a bar on."""

    def __call__(self, count: int, words: str = "", /) -> object:
        """Move it by a count, with these words behind it."""


class Notes(logging.Handler):
    """Messages on stderr, unless quiet; the log of the library goes there too.

    Errors of the log, such as what was passed over, are shown in any case.
    """

    def __init__(self, quiet: bool):
        super().__init__(logging.INFO)
        self.quiet = quiet
        self._shown: set[str] = set()
        log = logging.getLogger("seqtag")
        log.handlers[:] = [self]
        log.setLevel(logging.INFO)
        log.propagate = False
        context = click.get_current_context(silent=True)
        for message in context.meta.pop(PENDING, []) if context else ():
            self(message)

    def emit(self, record: logging.LogRecord) -> None:
        """Show a log record, unless it was shown before."""
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

    def progress(self, items: Iterable[Item], unit: str) -> Iterator[Item]:
        """The items, with a progress bar when a person is looking."""
        with self.bar(unit, None) as bar:
            for item in items:
                yield item
                bar(1)

    def reading(
        self, items: Iterable[Item], streams: Sequence[AnyStream], *, shared: bool
    ) -> Iterator[Item]:
        """The items, with a bar of how much of the streams has been read.

        `shared`: the items go to standard output, where a bar must not come between them.
        """
        sizes = [stream.size for stream in streams]
        known = [size for size in sizes if size is not None]
        total = sum(known) if len(known) == len(sizes) else None
        seen = 0
        with self.bar("B", total, shown=not (shared and _is_terminal(sys.stdout))) as bar:
            for item in items:
                yield item
                position = sum(stream.position for stream in streams)
                bar(position - seen)
                seen = position

    @contextmanager
    def bar(self, unit: str, total: int | None, *, shown: bool = True) -> Iterator[Mover]:
        """What moves a bar on, and may say something behind it, when a person is looking."""
        if self.quiet or not shown or not _is_terminal(sys.stderr):
            yield lambda _, __="": None
            return
        from tqdm import tqdm

        with tqdm(unit=unit, total=total, file=sys.stderr, leave=False, unit_scale=True) as bar:

            def move(count: int, words: str = "") -> None:
                bar.set_postfix_str(words, refresh=False)
                bar.update(count)

            yield move

    @contextmanager
    def fetching(self, file: RemoteFile) -> Iterator[Mover]:
        """Announce a transfer; return what moves its progress bar."""
        self(f"fetching {file.corpus}/{file.part}, release {file.release}")
        with self.bar("B", file.size) as bar:
            yield bar


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


class Terminated(KeyboardInterrupt):
    """SIGTERM: a command ends as it does when interrupted, and keeps what it would keep then."""

    received = False

    @classmethod
    def raise_it(cls, *_: object) -> None:
        """Handle the signal."""
        cls.received = True
        raise cls


def interruption_code() -> int:
    """The exit code of a command that was interrupted or terminated."""
    return 128 + (signal.SIGTERM if Terminated.received else signal.SIGINT)


def complain(message: str) -> None:
    """A message on stderr; a stderr that takes none is no reason to stop."""
    try:
        click.echo(printable(f"seqtag: {message}"), err=True)
    except OSError:
        sys.stderr = None


def check_stdout() -> None:
    """Refuse to begin work whose result has no place to go."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed", "<stdout>")


def say(text: str) -> None:
    """Text for people on stdout, with nothing in it that a terminal obeys."""
    check_stdout()
    with naming("<stdout>"):
        click.echo(printable(text), nl=False)


def print_json(value: object) -> None:
    """One JSON document on stdout."""
    say(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def check_stdin(context: click.Context, names: Iterable[str]) -> None:
    """Refuse to read standard input twice."""
    if list(names).count("-") > 1:
        msg = 'expected "-" (standard input) once, found it again'
        raise click.UsageError(msg, context)


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
        if is_same_file(name, out):
            shown = "standard input" if name == "-" else repr(name)
            msg = (
                f"expected standard output to go elsewhere than into the file that is read, found "
                f"{shown} at both ends; nothing was written, but the shell empties a file after > "
                "before seqtag begins (not after >>): see whether it is whole, and name another"
            )
            raise click.UsageError(msg)


def check_target(
    context: click.Context,
    target: str,
    inputs: Iterable[str | os.PathLike[str]],
    *,
    force: bool,
    model: bool = False,
) -> None:
    """Refuse an output file that cannot be written, before the work.

    Parameters
    ----------
    context
        Of the command.
    target
        The file; ``"-"`` is standard output.
    inputs
        Files that are read, which it must not be; those of ``--attributes`` are known.
    force
        Whether a file that is there may be replaced.
    model
        Whether it is a model, which no device or pipe can be.

    Raises
    ------
    UsageError
        If the name is no name for a file, or of one that is there already.
    CorpusError
        If it is an input.
    OSError
        If its folder is not there, or not to be written.
    """
    if not target or (model and target == "-"):
        msg = f"expected the name of a file to write, found {target!r}"
        raise click.UsageError(msg, context)
    if target == "-":
        return
    check_output(target, [*inputs, *context.meta.get(ATTRIBUTES, ())])
    with suppress(FileNotFoundError, NotADirectoryError):
        mode = os.stat(target).st_mode  # noqa: PTH116  (may name a device)
        if not stat.S_ISREG(mode) and model:
            msg = f"expected a file to write the model to, found {target}"
            raise click.UsageError(msg, context)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
        if not stat.S_ISREG(mode):
            return
        if not force:
            msg = f"{target} is there already; overwrite it with --force"
            raise click.UsageError(msg, context)
    folder, shown = Path(os.path.realpath(target)).parent, str(Path(target).parent)
    if not folder.exists():
        raise FileNotFoundError(errno.ENOENT, "No such directory", shown)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), shown)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), shown)


def load_model(name: str) -> Loaded:
    """What a model file holds, by file or name; an error lists the names."""
    from seqtag.tagging.pipeline import load

    loaded: Loaded = load(name)
    return loaded


@contextmanager
def usage() -> Iterator[None]:
    """Options that the library refuses are those of the command line."""
    try:
        yield
    except OptionError as error:
        raise click.UsageError(error.message) from None
