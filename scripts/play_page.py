"""Build the page to play with: docs/play, and the English model that it decodes with.

Usage: python scripts/play_page.py build/play [--seqtag FILE]

The files of docs/play are copied, with links to pages of the site in place of Markdown files, and
model.js is written next to them. The build of the site does the same. The page decodes with the component `upos` of `en`, made smaller: without label trigrams, so that
its lattice has one state for each label, and without small weights. No corpus is needed. The result is
also a model of seqtag: `--seqtag` saves it, so that `seqtag tag` can be compared with the page.
"""

from __future__ import annotations

import argparse
import base64
import dataclasses
import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import seqtag
from seqtag.engine.arrays import Rows, pointers
from seqtag.engine.keys import LEFT, RIGHT
from seqtag.features.builtin import _CONSONANTS, _VOWELS
from seqtag.features.normal_forms import AS_PLAIN, PLAIN_CHARACTERS
from seqtag.features.templates import KEY_BITS
from seqtag.tagging.tagger import Tagger

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from seqtag.model.model import Model

SOURCE = Path(__file__).resolve().parents[1] / "docs" / "play"
_MARKDOWN = re.compile(r"(\.\./[\w-]+)\.md\b")
LEAST = 14
"""A feature stays if one of its weights is at least this; its weights below half of it do not."""
BITS = 40
"""Bits of a feature key in the page, of 48 in `en`: a word not seen before has no weight by chance."""
LICENSE = "CC BY-SA 4.0, from the UD English Web Treebank and other open texts: models/LICENSE.txt"


def small_model(model: Model) -> Model:
    """Return a model without label trigrams and small weights.

    Parameters
    ----------
    model
        A model of complete labels, without templates that join labels and words.
    """
    rows = model.weights.emission
    count = np.diff(rows.row_ptr)
    weights = abs(rows.weights.astype(np.int64))
    row = np.repeat(np.arange(len(rows.keys)), count)
    largest = np.maximum.reduceat(weights, rows.row_ptr[:-1])
    kept = (largest[row] >= LEAST) & (2 * weights >= LEAST)
    left = largest >= LEAST
    emission = Rows(
        rows.keys[left],
        pointers(np.bincount(row[kept], minlength=len(left))[left]),
        rows.labels[kept],
        rows.weights[kept],
    )
    none = Rows(rows.keys[:0], np.zeros(1, np.int64), rows.labels[:0], rows.weights[:0])
    return dataclasses.replace(
        model,
        weights=model.weights._replace(emission=emission, trigram=none),
        templates=model.templates.at_order(1),
        compiled=dataclasses.replace(model.compiled, trigram=False),
    )


def exported(model: Model) -> dict[str, Any]:
    """Return all that the page needs, as JSON values; docs/play/english.js reads it."""
    compiled, weights = model.compiled, model.weights
    (table,) = model.tables
    plan, _ = compiled.key_plans()
    shown = [
        [[f"{use.function}({', '.join(map(str, use.args))})" if use.args else use.function, at]
         for use, at in ((compiled.attributes[number], at) for number, at in terms)]
        for terms in compiled.templates
    ]  # fmt: skip
    return {
        "license": LICENSE,
        "source": model.writer,
        "labels": list(model.labels),
        "bits": BITS,
        "ends": [hex(LEFT), hex(RIGHT)],
        "attributes": [[use.function, *use.args] for use in compiled.attributes],
        "templates": [list(map(list, terms)) for terms in compiled.templates],
        "names": [" + ".join(f"{name}[{at:+d}]".replace("+0", "0") for name, at in terms)
                  for terms in shown],
        "seeds": list(map(hex, plan.seed.tolist())),
        "multipliers": list(map(hex, plan.multiplier.tolist())),
        "start": _integers(weights.start),
        "stop": _integers(weights.stop),
        "transition": list(map(_integers, weights.transition)),
        "plain": {chr(char): chr(to) for char, to in PLAIN_CHARACTERS.items()},
        "invisible": "".join(chr(char) for char, to in AS_PLAIN.items() if to is None),
        "vowels": "".join(sorted(_VOWELS)),
        "consonants": "".join(sorted(_CONSONANTS)),
        "values": [*table.values, table.absent],
        "words": _text(_deltas(table.hashes >> np.uint64(32))),
        "classes": _text(_varints(table.numbers.tolist())),
        "keys": _text(_deltas(weights.emission.keys >> np.uint64(KEY_BITS - BITS))),
        "cells": _text(_cells(weights.emission)),
    }  # fmt: skip


def _integers(weights: Any) -> list[int]:
    return list(map(int, weights))


def _varints(numbers: Iterable[int]) -> bytes:
    """Return numbers as bytes: 7 bits each, the lowest first; the last byte is below 128."""
    found = bytearray()
    for number in numbers:
        rest = number
        while rest > 127:
            found.append(128 | rest & 127)
            rest >>= 7
        found.append(rest)
    return bytes(found)


def _deltas(numbers: Any) -> bytes:
    """Return ascending numbers as the differences between them."""
    steps = np.diff(numbers.astype(np.int64), prepend=0)
    if not (steps[1:] > 0).all():
        msg = "expected numbers that differ in the bits that are kept, found equal ones"
        raise ValueError(msg)
    return _varints(steps.tolist())


def _cells(rows: Rows) -> bytes:
    """Return two bytes for each weight: its label, plus 128 for the last of a row; the weight."""
    labels = rows.labels.astype(np.uint8)
    labels[rows.row_ptr[1:] - 1] |= 128
    return np.stack([labels, rows.weights.view(np.uint8)], axis=1).tobytes()


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def build(folder: Path) -> Tagger:
    """Write the page and its model to a folder; return the same model as a tagger."""
    shutil.copytree(SOURCE, folder, dirs_exist_ok=True)
    for path in folder.glob("*.*"):
        text = path.read_text("utf-8")
        path.write_text(_MARKDOWN.sub(r"\1.html", text), "utf-8")
    model = small_model(seqtag.load("en").tagger("upos").model)
    values = json.dumps(exported(model), ensure_ascii=False, separators=(",", ":"))
    script = f'"use strict";\nwindow.englishModel = {values};\n'
    (folder / "model.js").write_text(script, "utf-8")
    return Tagger(model)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--seqtag", type=Path, metavar="FILE", help="also save the model for seqtag"
    )
    options = parser.parse_args(arguments)
    tagger = build(options.folder)
    if options.seqtag:
        tagger.save(options.seqtag)
    size = (options.folder / "model.js").stat().st_size
    print(f"wrote {options.folder}/index.html, and a model of {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
