"""A small catalogue on a server of this machine, instead of the real one."""

from __future__ import annotations

import hashlib
import json

import pytest

from seqtag.catalogue import entries
from seqtag.corpus.conllu import COLUMNS
from tests.catalogue.server import serving
from tests.command_line import SENTENCES, chunks, conllu

PARTS = {
    "ud:xx_toy": {
        "train": conllu(),
        "dev": conllu(SENTENCES[:3]),
        "test": conllu(SENTENCES[3:5]),
    },
    "toychunks": {"train": chunks(), "test": chunks(SENTENCES[:2])},
}


def written(name, parts, **changes):
    """An entry of a catalogue, as text."""
    blobs = [text.encode() for text in parts.values()]
    table = {
        "title": "Toy, " + name,
        "script": "Latin",
        "licence": "CC0",
        "release": "1.5",
        "address": "https://example.org/toys/r{release}/" + name.replace(":", "_") + "-{part}.txt",
        "format": "conllu" if name.startswith("ud:") else "conll2000",
        "columns": [*COLUMNS] if name.startswith("ud:") else ["form", "pos", "chunk"],
        "parts": [*parts],
        "bytes": [*map(len, blobs)],
        "sha256": [hashlib.sha256(blob).hexdigest() for blob in blobs],
    } | changes
    lines = [f'["{name}"]', *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    return "\n".join([*lines, ""])


@pytest.fixture
def toys(tmp_path, monkeypatch):
    """A server with the corpora ud:xx_toy and toychunks, in a catalogue of their own."""
    catalogue = tmp_path / "catalogue.toml"
    catalogue.write_text("\n".join(written(name, parts) for name, parts in PARTS.items()))
    for name in ("treebanks.tsv", "languages.tsv"):
        (tmp_path / name).write_text("header\n")
    monkeypatch.setattr(entries, "CATALOGUE", catalogue)
    monkeypatch.setenv("SEQTAG_CACHE", str(tmp_path / "cache"))
    _forget()
    with serving() as server:
        monkeypatch.setenv("SEQTAG_CORPORA_MIRROR", server.address)
        for release in ("1.5", "2.0"):
            for name, parts in PARTS.items():
                for part, text in parts.items():
                    path = f"/toys/r{release}/{name.replace(':', '_')}-{part}.txt"
                    server.files[path] = text.encode()
        yield server
    _forget()


def _forget() -> None:
    for known in (entries.entries, entries.treebanks, entries.trainable, entries.languages):
        known.cache_clear()
