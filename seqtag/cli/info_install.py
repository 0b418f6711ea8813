"""``seqtag info`` without a model: backend, versions, extras, models, foreign packages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from seqtag.cli.common import print_json, say_table
from seqtag.version import DISTRIBUTION, __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

EXTRAS = {
    "plot": ("matplotlib",),
    "ray": ("ray",),
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


def show_installation(*, as_json: bool) -> int:
    """Print what is installed; return 1 if there is a problem."""
    findings = [_backend(), *_versions(), *_extras(), *_models(), _foreign()]
    wrong = any(each.problem for each in findings)
    if as_json:
        print_json({"ok": not wrong, "checks": [each._asdict() for each in findings]})
    else:
        say_table([(each.name, "problem: " * each.problem + each.text) for each in findings])
    return int(wrong)


def _backend() -> Finding:
    from seqtag.engine.backend import BACKEND, is_built, why_no_kernel

    if BACKEND == "reference":
        if is_built():
            return Finding("backend", "reference, as SEQTAG_BACKEND asks (slow)")
        return Finding("backend", f"reference: {why_no_kernel()}", problem=True)
    from seqtag.engine.native import vectors

    return Finding("backend", f"native, {vectors()}")


def _versions() -> Iterator[Finding]:
    import platform
    from importlib.metadata import version

    names = ("numpy", "click", "conllu", "jinja2", "nltk", "requests", "tqdm")
    python = f"Python {platform.python_version()}"
    yield Finding("seqtag", f"{__version__} in {Path(__file__).parents[1]}")
    yield Finding("versions", ", ".join([python, *(f"{name} {version(name)}" for name in names)]))
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
    from seqtag.loading import load
    from seqtag.model.embedded import DEFAULT_MODELS, MODELS

    for name in sorted({path.stem for path in MODELS.glob("*.seqtag")}.union(DEFAULT_MODELS)):
        path = MODELS / f"{name}.seqtag"
        try:
            load(path)
        except (SeqtagError, OSError) as error:
            yield Finding("model", f"{error}; reinstall seqtag", problem=True)
        else:
            yield Finding("model", f"{name} ({path.stat().st_size / 1e6:.1f} MB, readable)")


def _foreign() -> Finding:
    """Look for other distributions that install a package seqtag."""
    from importlib.metadata import distributions

    found = {
        each.metadata["Name"]: each.version
        for each in distributions()
        if each.metadata["Name"] != DISTRIBUTION
        and "\nseqtag/__init__.py," in f"\n{each.read_text('RECORD')}"
    }
    if not found:
        return Finding("foreign", "none")
    text = (
        f"{', '.join(f'{name} {version}' for name, version in sorted(found.items()))} provides the "
        f"import name seqtag, too, and may replace files of {DISTRIBUTION}; run pip uninstall "
        f"{' '.join(sorted(found))}, then repeat your pip install command with --force-reinstall"
    )
    return Finding("foreign", text, problem=True)
