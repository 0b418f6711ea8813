"""Adapt the README to the page of the package, where relative links and pictures do not work.

A provider of dynamic metadata, see `[[tool.dynamic-metadata]]` in pyproject.toml.
"""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"
_RELATIVE = re.compile(r"\[([^\]]+)\]\((?![a-z]+:|#)([^)\s]+)\)")
_PICTURE = re.compile(r"<picture>|!\[")


def for_package_page(text: str, address: str = "") -> str:
    """Return the text with links to an address, or to names of files, and without pictures.

    >>> for_package_page("[A tour](docs/tour.md), [b.md](b.md#c), [d](https://d.org)")
    'A tour (docs/tour.md), b.md, [d](https://d.org)'
    >>> for_package_page("[A tour](docs/tour.md)", "https://example.org/seqtag/blob/main")
    '[A tour](https://example.org/seqtag/blob/main/docs/tour.md)'
    """

    def absolute(link: re.Match[str]) -> str:
        shown, path = link[1], link[2]
        if address:
            return f"[{shown}]({address.rstrip('/')}/{path})"
        file = path.partition("#")[0]
        return shown if shown == file else f"{shown} ({file})"

    blocks = [block for block in text.split("\n\n") if not _PICTURE.search(block)]
    return _RELATIVE.sub(absolute, "\n\n".join(blocks))


def dynamic_metadata(settings: dict[str, str], project: object) -> dict[str, dict[str, str]]:  # noqa: ARG001
    """Return the field ``readme``; the setting ``address`` is the place of the repository."""
    text = for_package_page(README.read_text("utf-8"), settings.get("address", ""))
    return {"readme": {"content-type": "text/markdown", "text": text}}
