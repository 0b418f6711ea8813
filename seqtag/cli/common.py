"""What several commands share: options, notes to the user, progress."""

from __future__ import annotations

import errno
import json
import logging
import signal
import sys
from typing import TYPE_CHECKING, TypeVar

import click

from seqtag.files import naming

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from seqtag.tagging.tagger import Tagger

Item = TypeVar("Item")


class Notes(logging.Handler):
    """Messages on stderr, unless quiet; the log of the library goes there too."""

    def __init__(self, quiet: bool):
        super().__init__(logging.WARNING)
        self.quiet = quiet
        log = logging.getLogger("seqtag")
        log.handlers[:] = [self]
        log.propagate = False

    def emit(self, record: logging.LogRecord) -> None:
        """Show a log record."""
        self(f"note: {record.getMessage()}")

    def __call__(self, message: str) -> None:
        """Show a message."""
        if not self.quiet:
            complain(message)

    def progress(
        self, items: Iterable[Item], unit: str, size: Callable[[Item], int] = lambda _: 1
    ) -> Iterator[Item]:
        """The items, with a progress bar when a person is looking; `size` is of one, in units."""
        if self.quiet or sys.stderr is None or not sys.stderr.isatty():
            yield from items
            return
        from tqdm import tqdm

        with tqdm(unit=unit, file=sys.stderr, leave=False, unit_scale=True) as bar:
            for item in items:
                yield item
                bar.update(size(item))


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
        click.echo(f"seqtag: {message}", err=True)
    except OSError:
        sys.stderr = None


def check_stdout() -> None:
    """Refuse to begin work whose result has no place to go."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed", "<stdout>")


def say(text: str) -> None:
    """Text on stdout, as it is."""
    check_stdout()
    with naming("<stdout>"):
        click.echo(text, nl=False)


def print_json(value: object) -> None:
    """One JSON document on stdout."""
    say(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def check_stdin(context: click.Context, names: Iterable[str]) -> None:
    """Refuse to read standard input twice."""
    if list(names).count("-") > 1:
        msg = 'expected "-" (standard input) once, found it again'
        raise click.UsageError(msg, context)


def load_model(name: str) -> Tagger:
    """A tagger by file or name; an error lists the names."""
    from seqtag.model.embedded import DEFAULT_MODELS
    from seqtag.tagging.tagger import load

    try:
        return load(name)
    except FileNotFoundError as error:
        names = f"{error.strerror}; the embedded models are {' and '.join(DEFAULT_MODELS)}"
        raise FileNotFoundError(error.errno, names, name) from error
