"""What several commands share: options, notes to the user, progress."""

from __future__ import annotations

import errno
import json
import logging
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

import click

from seqtag.errors import OptionError, printable
from seqtag.files import naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import TextIO

    from seqtag.corpus.read import AnyStream
    from seqtag.tagging.pipeline import Loaded

Item = TypeVar("Item")

PENDING = "seqtag.notes"
"""Where options leave what is to be noted once it is known whether anybody wants notes."""


class Mover(Protocol):
    """Moves a bar on."""

    def __call__(self, count: int, words: str = "", /) -> object:
        """Move it by a count, with these words behind it."""


class Notes(logging.Handler):
    """Messages on stderr, unless quiet; the log of the library goes there too."""

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


def check_target(context: click.Context, target: Path, force: bool) -> None:
    """Refuse a model file that cannot be written, before the work."""
    if target.exists() and not target.is_file():
        msg = f"expected a file to write the model to, found {target}"
        raise click.UsageError(msg, context)
    if target.exists() and not force:
        msg = f"{target} is there already; overwrite it with --force"
        raise click.UsageError(msg, context)
    if not target.resolve().parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such directory", str(target.parent))


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
