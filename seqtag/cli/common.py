"""What several commands share: options, notes to the user, progress."""

from __future__ import annotations

import errno
import json
import logging
import sys
from typing import TYPE_CHECKING, TypeVar

import click

from seqtag.corpus import READABLE
from seqtag.files import naming

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from seqtag.tagging.tagger import Tagger

Item = TypeVar("Item")


class ColumnList(click.ParamType):
    """Comma-separated column names."""

    name = "NAME,NAME,..."

    def convert(self, value, param, context):
        """Split the names."""
        if not isinstance(value, str):
            return value
        names = tuple(name.strip() for name in value.split(","))
        if not all(names):
            message = f"expected column names such as form,pos,chunk, found {value!r}"
            self.fail(message, param, context)
        return names


format_option = click.option(
    "--format",
    "format",
    type=click.Choice(READABLE),
    default="auto",
    metavar="FORMAT",
    help="Format of the input: conllu, conll2000, columns, text, tokens, ... (default: found out).",
)
columns_option = click.option(
    "--columns", type=ColumnList(), help="Names of the columns of a column file: form,pos,chunk."
)
quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Print nothing but errors on stderr."
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document on stdout."
)
threads_option = click.option(
    "--threads", type=click.IntRange(1), default=1, show_default=True, help="Threads to work on."
)


def reading_format(format: str, columns: tuple[str, ...] | None) -> str:
    """``--columns`` alone means a column file."""
    return "columns" if columns and format == "auto" else format


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
