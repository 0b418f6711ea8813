"""The command line: data on stdout, everything else on stderr.

Exit codes: 0 done, 1 data or run-time error, 2 usage, 3 ``--fail-under`` not met, 130
interrupted, 143 terminated.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from seqtag.cli.base import Group, option, write_sections
from seqtag.cli.common import Notes, check_redirection, complain, os_message
from seqtag.cli.signals import Interruption, interruption_code, interruption_word
from seqtag.errors import did_you_mean
from seqtag.storage.nonblocking import make_output_wait
from seqtag.storage.output import naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COMMAND_GROUPS = {
    "Use": {
        "tag": "Label text or CoNLL files.",
        "train": "Train a tagger on annotated sentences.",
        "eval": "Score a model, or one file against another.",
        "serve": "Serve models over HTTP: a web page, JSON, UDPipe's API.",
        "info": "Show a model, a file, templates, or the installation.",
    },
    "Understand": {
        "agree": "Measure the agreement of annotators.",
        "compare": "Test whether one system is better than another.",
        "report": "Write an HTML page of scores, confusions and errors.",
        "explain": "Show why a word has its label.",
    },
    "Tune": {
        "cv": "Cross-validate: train and score on K folds.",
        "tune": "Search for the best settings.",
    },
    "Data": {
        "annotate": "Annotate texts in the browser; a model learns as you go.",
        "models": "List models and treebanks; train and fetch them by name.",
        "select": "Choose the sentences worth annotating next.",
        "classes": "Learn word classes from raw text.",
        "bundle": "Combine models in one file; calibrate their scores.",
    },
    "Scale": {"cluster": "Tag many files on a Ray cluster."},
}
"""Commands by group, in the order of the help, and what each does."""

COMMANDS = {name: text for group in COMMAND_GROUPS.values() for name, text in group.items()}

SYNONYMS = {
    **dict.fromkeys(("--iterations", "--iter", "--n-iter", "--max-iter"), "--epochs"),
    **dict.fromkeys(("--jobs", "--n-jobs", "--workers", "--processes"), "--threads"),
    **dict.fromkeys(("--lr", "--learning-rate"), "--step"),
    "--features": "--templates",
    **dict.fromkeys(("--lang", "--language"), "--model"),
    "--out": "--output",
    **dict.fromkeys(("predict", "parse", "tokenize", "ner", "pos", "lemmatize"), "tag"),
    **dict.fromkeys(("download", "fetch", "list"), "models"),
    "test": "eval",
}
"""Options and commands of other tools and what they are called here, for suggestions."""

INSTEAD = {
    **dict.fromkeys(("--train", "--input"), "files to read are named without an option"),
    **dict.fromkeys(("--test", "--split"), "use seqtag eval for a test part, seqtag cv for folds"),
    **dict.fromkeys(("--verbose", "-v"), "everything is said unless --quiet is given"),
    "--text": 'write the text to standard input: echo "TEXT" | seqtag tag',
    **dict.fromkeys(("--ner", "--pos", "--lemma"), "choose columns with --only upos,lemma,ner"),
    "version": "use seqtag --version",
    "convert": "tag writes other formats with --to; the packages conllu and pandas need no model",
}
"""What to do instead of other options and commands."""


class _ReaderGoneError(Exception):
    """The reader of standard output has closed it, which is no error (for click it is)."""


class _Commands(Group):
    """Group of commands whose modules are imported when they are called."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except BrokenPipeError as error:
            if error.filename in (None, "<stdout>"):
                raise _ReaderGoneError from error
            raise click.ClickException(os_message(error)) from error  # click ends in silence

    def list_commands(self, _: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"seqtag.cli.{name}").command
        return command

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        sections = {group: list(texts.items()) for group, texts in COMMAND_GROUPS.items()}
        write_sections(formatter, sections)

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            context.fail(f"expected a command, found {args[0]!r}{_instead(args[0], COMMANDS)}")
        return super().resolve_command(context, args)


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from seqtag.engine.backend import BACKEND
        from seqtag.version import __version__

        click.echo(f"seqtag {__version__} ({BACKEND} backend)")
        context.exit()


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="seqtag COMMAND --help shows examples and the options of a command.",
)
@option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version and the backend in use.",
)
@option("--debug", is_flag=True, expose_value=False, help="Show where an error came from.")
def cli() -> None:
    """Train, apply and evaluate taggers, chunkers and other sequence labelers.

    \b
    Examples:
      echo "Time flies like an arrow." | seqtag tag
      seqtag train train.conllu --dev dev.conllu -o english.seqtag
      seqtag train ud:fr_sequoia -o french.seqtag
      seqtag eval -m english.seqtag test.conllu
    """


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    args = list(sys.argv[1:] if args is None else args)
    if args[:1] == ["help"]:
        args = [*args[1:], "--help"]
    debug = "--debug" in args
    Notes(quiet=not {"-q", "--quiet"}.isdisjoint(args))  # before the command makes its own
    Interruption.handle()
    make_output_wait()
    for stream in (sys.stdout, sys.stderr):  # the same bytes in each locale
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")
    try:
        check_redirection(args)
        code = cli.main(args, prog_name="seqtag", standalone_mode=False) or 0
        _finish_stdout()
        return code
    except getattr(click.exceptions, "NoArgsIsHelpError", ()) as error:
        click.echo(error.format_message(), err=True)
        return 2
    except (_ReaderGoneError, BrokenPipeError):
        _close_stdout()
        return 0
    except (KeyboardInterrupt, click.Abort):
        return _interrupted()
    except click.UsageError as error:
        complain(_usage_message(error))
        return 2
    except click.ClickException as error:
        complain(error.format_message())
        return error.exit_code
    except Exception as error:  # errors of input get one line; all others are bugs
        if isinstance(error.__cause__, KeyboardInterrupt):  # Python < 3.12, while a class is made
            return _interrupted()
        if debug:
            raise
        from seqtag.errors import SeqtagError

        if isinstance(error, SeqtagError):
            complain(str(error))
        elif isinstance(error, OSError):
            complain(os_message(error))
        elif isinstance(error, MemoryError):
            complain(str(error) or _TOO_LITTLE)
        elif isinstance(error, ImportError) and "failed to map segment" in str(error):
            complain(_TOO_LITTLE)  # for a library, under ulimit -v
        else:
            what = f"{type(error).__name__}: {error}".splitlines()[0]
            complain(f"internal error, please report it: {what} (seqtag --debug ... shows where)")
        _close_stdout()
        return 1


def _interrupted() -> int:
    """Say that the command was interrupted or terminated, and return its exit code."""
    complain(interruption_word())
    return interruption_code()


_TOO_LITTLE = "found too little memory; use smaller inputs, or free some memory"


def _instead(name: str, known: Iterable[str]) -> str:
    """Return what to use instead of an unknown option or command, in words that go on."""
    if name in INSTEAD:
        return f"; {INSTEAD[name]}"
    return did_you_mean(SYNONYMS.get(name, name), known)


def _usage_message(error: click.UsageError) -> str:
    """Return what is wrong with the arguments, and where to look."""
    message = error.format_message()
    if isinstance(error, click.NoSuchOption) and error.ctx:
        known = [
            name for each in error.ctx.command.params for name in each.opts if name[:2] == "--"
        ]
        name = error.option_name
        message = f"expected an option, found {name!r}{_instead(name, known)}"
    if error.ctx is None:
        return message
    advice = f"see {error.ctx.command_path} --help"
    return f"{message}; {advice}" if message.endswith(")") else f"{message} ({advice})"


def _finish_stdout() -> None:
    """Raise errors of standard output now; at exit they could not be reported.

    Some file systems report a lack of space only when a file is closed: close a copy.
    """
    if sys.stdout is None:
        return
    with naming("<stdout>"):
        sys.stdout.flush()
        try:
            number = os.dup(sys.stdout.fileno())
        except (OSError, ValueError):  # not a file of the system
            return
        os.close(number)


def _close_stdout() -> None:
    """Keep Python from reporting a broken standard output again at exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
