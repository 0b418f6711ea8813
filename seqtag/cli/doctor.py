"""``seqtag doctor``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from seqtag.cli.base import Command
from seqtag.cli.common import print_json, say
from seqtag.cli.foreign import describe_foreign, foreign_packages
from seqtag.cli.options import json_option
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

EXTRAS = {
    "arrow": ("pyarrow",),
    "plot": ("matplotlib",),
    "ray": ("fsspec", "pyarrow", "ray"),
    "serve": ("starlette", "uvicorn"),
    "sklearn": ("sklearn",),
    "spacy": ("spacy",),
    "zstd": () if sys.version_info >= (3, 14) else ("zstandard",),
}
"""The modules that each extra installs, for extras that add features."""


class Finding(NamedTuple):
    """Result of one check; `problem` if something has to be done about it."""

    name: str
    text: str
    problem: bool = False


@click.command("doctor", cls=Command)
@json_option
def command(as_json: bool) -> int:
    """Check the installation: backend, versions, extras, models, foreign packages.

    The exit code is 1 if there is a problem.

    \b
    Examples:
      seqtag doctor
      seqtag doctor --json
    """
    findings = [_backend(), *_shadows(), *_versions(), *_extras(), *_models(), _foreign()]
    wrong = any(each.problem for each in findings)
    if as_json:
        print_json({"ok": not wrong, "checks": [each._asdict() for each in findings]})
    else:
        for each in findings:
            say(f"{each.name:<14} {'problem: ' if each.problem else ''}{each.text}\n")
    return int(wrong)


def _backend() -> Finding:
    from seqtag.engine.backend import BACKEND, is_built, why_no_kernel

    if BACKEND == "reference":
        if is_built():
            return Finding("backend", "reference, as SEQTAG_BACKEND asks (slow)")
        return Finding("backend", f"reference: {why_no_kernel()}", problem=True)
    from seqtag.engine.native import vectors

    return Finding("backend", f"native, {vectors()}")


def _shadows() -> Iterator[Finding]:
    """Warn about sources in the current folder that Python would import instead of this package.

    A package installed in place is found by an import hook, which precedes all folders.
    """
    from seqtag.engine.backend import has_kernel

    here, this = Path.cwd() / "seqtag", Path(__file__).resolve().parents[1]
    searched = any(Path(folder).resolve() == this.parent for folder in sys.path)
    sources = (here / "engine" / "backend.py").is_file() and here.resolve() != this
    if searched and sources and not has_kernel(here):
        text = (
            f"warning: Python started in this folder imports {here}, which has no native kernel, "
            f"instead of {this}; start it in another folder, or run pip install -e . here"
        )
        yield Finding("folder", text)


def _versions() -> Iterator[Finding]:
    import platform
    from importlib.metadata import version

    names = ("numpy", "click", "conllu", "jinja2", "nltk", "tqdm")
    python = f"Python {platform.python_version()}"
    packages = ", ".join([python, *(f"{name} {version(name)}" for name in names)])
    yield Finding("seqtag", f"{__version__} in {Path(__file__).parents[1]}")
    yield Finding("versions", packages)
    yield Finding("platform", f"{platform.platform()}, {sys.executable}")


def _extras() -> Iterator[Finding]:
    from importlib.util import find_spec

    from seqtag.errors import install_hint

    for extra, modules in EXTRAS.items():
        missing = [name for name in modules if find_spec(name) is None]
        text = f"not installed ({', '.join(missing)}); {install_hint(extra)}"
        yield Finding(f"extra {extra}", text if missing else "installed")


def _models() -> Iterator[Finding]:
    from seqtag.errors import SeqtagError
    from seqtag.model.embedded import DEFAULT_MODELS, MODELS
    from seqtag.tagging.pipeline import load

    names = {path.stem for path in MODELS.glob("*.seqtag")}
    for name in sorted(names.union(DEFAULT_MODELS)):
        path = MODELS / f"{name}.seqtag"
        try:
            load(path)
        except (SeqtagError, OSError) as error:
            yield Finding("model", f"{error}; reinstall seqtag", problem=True)
        else:
            yield Finding("model", f"{name} ({path.stat().st_size / 1e6:.1f} MB, readable)")


def _foreign() -> Finding:
    found = foreign_packages(by_files=True)
    return Finding("foreign", describe_foreign(found) if found else "none", problem=bool(found))
