"""Small models of every kind, trained on made-up words: what the mutator starts from."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from seqtag.corpus import read
from seqtag.features.language import parse
from seqtag.model import bundle, container
from seqtag.model.calibration import Calibration
from seqtag.tables.table import WordTable
from seqtag.tagging.pipeline import Pipeline
from seqtag.training.train import train
from tests.strategies import corpus
from tests.treebanks import annotated, components

_TRAINING = (
    "the DT, old JJ, man NN, sees VB; the DT, man NN, runs VB; she PR, runs VB, a DT, boat NN"
)
_CHUNKS = "a D B-NP, man N I-NP, runs V O; she P B-NP, sees V O, a D B-NP, boat N I-NP"
_INFLECTED = "the D, man N|s, runs V|s; the D, men N|p, run V|p; man N|s, men N|p, the D"
_LEMMAS = "Dogs dog, cats cat, barks bark, is be, PARIS Paris; sees see"
_SPELLED = "word,tag\nAnn,b_per\nLee,i_per\nran,o\n\nBob,b_per\nsat,o\n\nin,o\nRome,b_loc\n\n"
_TREES = [
    "Ich/ich/PRON bin/sein/AUX im=in/in/ADP+dem/der/DET Haus/Haus/NOUN ././PUNCT",
    "Wer/wer/PRON ist/sein/AUX hier/hier/ADV ?/?/PUNCT",
]


def _learned(sentences: Any, label: str, templates: str, **options: Any) -> Any:
    return train(
        sentences, label=label, templates=parse(templates), epochs=4, min_count=1, **options
    )


@cache
def good_files() -> tuple[bytes, ...]:
    """Files of models: all orders and codings, label parts, known labels, calibration, a bundle,
    word tables, a layout with its own spelling of labels, split keys."""
    words = "form[0]\nsuffix(1)[0]\nlabel[-1]\nlabel[-1] + form[0]"
    plain = _learned(corpus(_TRAINING), "tag", words)
    alone = _learned(corpus(_TRAINING), "tag", "form[0]\nbias")
    encoded = "form[0]\npos[-1]\nlabel[-1]\nset encoding iobes"
    chunks = _learned(corpus(_CHUNKS, "form pos chunk"), "chunk", encoded)
    long = f'{words}\nlabel[-2] + label[-1]\nnormal[0]\nmatch("^m.*n$")[0]'
    rich = _learned(corpus(_INFLECTED), "tag", long, label_parts="split", tag_dictionary=1)
    calibration = Calibration((0.0, 10.0), (0.5, 0.9), 100)
    lemmas = _learned(corpus(_LEMMAS, "form lemma"), "lemma", "form[0]\nsuffix(1)[0]")
    tables = [
        WordTable.of("c", [("the", "1"), ("man", "2"), ("boat", "2")], "lower0", "9", "class"),
        WordTable.of("l", [("The", ["A", "B"]), ("runs", ["C"])], origin={"from": "nowhere"}),
        WordTable.of("lemmas", [("run", ["V"]), ("ma", ["N"])], "lower"),
    ]
    looking = f"{words}\nclass(c)[0]\nclass(c)[-1] + lexicon(l)[0]\nclass(lemmas)[0]"
    with_tables = _learned(corpus(_TRAINING), "tag", looking, tables=tables)
    of_names = "form[0]\nform[-1]\nlabel[-1]\nset encoding bilou"
    spelled = _learned(read(io.BytesIO(_SPELLED.encode())), "ner", of_names)
    steps = Calibration((-1.5, 0.0, 2.0), (0.0, 0.25, 1.0), 7)
    files = [
        [replace(plain.model, calibration=calibration)],
        [alone.model],
        [chunks.model],
        [rich.model],
        [lemmas.model],
        components(annotated(*_TREES * 2)),
        [replace(with_tables.model, calibration=steps)],
        [spelled.model],
        [*components(annotated(*_TREES * 2)), plain.model, spelled.model],
    ]
    return (*map(bundle.to_bytes, files), _with_split_keys(bundle.to_bytes(files[0])))


def _with_split_keys(data: bytes) -> bytes:
    """The file of a model with few keys, stored as many are."""
    config, tensors, *_ = container.from_bytes(data)
    keys = tensors["p0.emission.keys"]
    bits = np.zeros(len(keys) + 2**16, np.uint8)
    bits[(keys >> np.uint64(32)).astype(np.int64) + np.arange(len(keys))] = 1
    parts = {"low": keys.astype(np.uint32), "high": np.packbits(bits)}
    stored = {name: array for name, array in tensors.items() if array is not keys}
    stored |= {f"p0.emission.keys.{name}": array for name, array in parts.items()}
    return container.to_bytes(config, stored)


@cache
def good_pipeline() -> Pipeline:
    """A pipeline of all parts."""
    return Pipeline(components(annotated(*_TREES * 2)))
