"""Made-up corpora where NLTK looks for its own."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


@contextmanager
def nltk_corpora(folder: Path, files: Mapping[str, str]) -> Iterator[Path]:
    """The folder of corpora, with these files; NLTK's readers forget others, and it afterwards."""
    corpora = folder / "nltk_data" / "corpora"
    for name, text in files.items():
        (corpora / name).parent.mkdir(parents=True, exist_ok=True)
        (corpora / name).write_text(text, encoding="utf-8")
    readers = vars(import_module("nltk.corpus"))
    path = [str(folder / "nltk_data")]

    def forget() -> None:
        for reader in [*readers.values()]:
            if not isinstance(reader, type) and "_unload" in getattr(reader, "__dict__", ()):
                reader._unload()

    with mock.patch.object(import_module("nltk.data"), "path", path):
        forget()
        try:
            yield corpora
        finally:
            forget()
