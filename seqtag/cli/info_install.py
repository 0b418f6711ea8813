"""``seqtag info`` without a model: backend, versions, models."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from seqtag.cli.common import print_json, say_table
from seqtag.errors import SeqtagError
from seqtag.loading import load
from seqtag.model import embedded
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIBRARIES = ("numpy", "click", "conllu", "jinja2", "nltk", "requests", "tqdm")
_PROBLEM = "problem: "  # the beginning of what something has to be done about


def show_installation(*, as_json: bool) -> int:
    """Print what is installed; return 1 if there is a problem."""
    versions = [f"Python {platform.python_version()}"]
    facts = [
        ("backend", _backend()),
        ("seqtag", f"{__version__} in {Path(__file__).parents[1]}"),
        ("versions", ", ".join([*versions, *(f"{name} {version(name)}" for name in _LIBRARIES)])),
        ("platform", f"{platform.platform()}, {sys.executable}"),
        *(("model", text) for text in _models()),
    ]
    is_sound = not any(text.startswith(_PROBLEM) for _, text in facts)
    if as_json:
        print_json({"ok": is_sound, "checks": [{"name": n, "text": text} for n, text in facts]})
    else:
        say_table(facts)
    return int(not is_sound)


def _backend() -> str:
    from seqtag.engine.backend import BACKEND, NOT_BUILT, is_built

    if BACKEND != "reference":
        from seqtag.engine.native import vectors

        return f"native, {vectors()}"
    if is_built():
        return "reference, as SEQTAG_BACKEND asks (slow)"
    return f"{_PROBLEM}reference: {NOT_BUILT}"


def _models() -> Iterator[str]:
    for name in sorted({*embedded.embedded_models(), *embedded.DEFAULT_MODELS}):
        path = embedded.MODELS / f"{name}.seqtag"
        try:
            load(path)
            yield f"{name} ({path.stat().st_size / 1e6:.1f} MB, readable)"
        except (SeqtagError, OSError) as error:
            yield f"{_PROBLEM}{error}; reinstall seqtag"
