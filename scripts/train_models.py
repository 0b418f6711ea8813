"""Train the embedded models on UD English-EWT and write their card.

Usage: python scripts/train_models.py FOLDER_OF_UD_ENGLISH_EWT [--raw TEXT] [--out models]

The folder holds en_ewt-ud-{train,dev,test}.conllu, as the treebank is distributed. TEXT is raw
text, tokenized, one sentence a line, in which word classes are found. The same treebank, text,
seqtag and options give byte-identical models.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np
from english_classes import add_option, classes_of

import seqtag
from seqtag.engine.arrays import QuantizedWeights, Rows, pointers
from seqtag.engine.backend import hash_strings
from seqtag.engine.frozen import Decoder
from seqtag.evaluation.scoring import score
from seqtag.features.encoder import Encoder
from seqtag.features.language import preset_text
from seqtag.training import problem

if TYPE_CHECKING:
    from seqtag.engine.arrays import Cells

CARD = """\
# Embedded models

The pipeline `en`, from raw text to all columns, has [a card of its own](en.md). Two taggers:

{table}

Accuracy in percent of tokens, with gold tokenisation, measured by this script in the same way as
`seqtag eval` does; *unknown* words do not occur in the training part. Test was looked at once per
model, settings were chosen on dev.

| | |
|---|---|
| Data | Universal Dependencies English Web Treebank (UD_English-EWT), train part: {sentences:,} sentences, {tokens:,} tokens; weblogs, newsgroups, e-mails, reviews, questions and answers |
{raw}| Licence | CC BY-SA 4.0, that of the treebank; attribution in [LICENSE.txt](LICENSE.txt) |
| Labels | `en-ewt-upos`: the {upos_labels} universal parts of speech; `en-ewt-xpos`: {xpos_labels} Penn Treebank tags as EWT uses them |
| Templates | preset `pos` (below) and what it adds for word classes, `--runs {runs} --seed 1` |
| Weights | whole numbers of 8 bits; rounding them changed dev accuracy by {upos_rounding:+.3f} (UPOS) and {xpos_rounding:+.3f} points (XPOS) against the float32 averages |
| Made by | seqtag {version}: `python scripts/train_models.py ud-english-ewt --runs {runs}{with_raw}` |
| Meant for | modern written English, one sentence at a time, tokenised as in UD English |
| Limits | web text of 2000 to 2012: other registers and speech score lower; no lexicon beyond treebank and raw text; labels of single words without context are guesses |

## Templates

```
{templates}```
"""
ROW = "| `{name}` | {mb:.2f} MB | {dev} | {dev_known} / {dev_unknown} | {test} | {test_known} / {test_unknown} |"
HEAD = """\
| model | size | dev | known / unknown | test | known / unknown |
|---|---|---|---|---|---|
"""


def train(
    path: Path, label: str, runs: int, tables: list[seqtag.WordTable]
) -> tuple[seqtag.Tagger, Cells, np.ndarray]:
    """A tagger, and the averaged weights that it holds rounded, with the keys of their rows."""
    with mock.patch.object(problem, "freeze", wraps=problem.freeze) as rounding:
        tagger = seqtag.train(path, label=label, templates="pos", runs=runs, seed=1, tables=tables)
    cells, keys, *_ = rounding.call_args.args
    return tagger, cells, keys


def unrounded_accuracy(tagger: seqtag.Tagger, cells: Cells, keys: np.ndarray, path: Path) -> float:
    """Accuracy of the weights as they are on an annotated file, by the reference decoder."""
    ascending = np.argsort(keys)
    spans = [np.arange(cells.row_ptr[row], cells.row_ptr[row + 1]) for row in ascending]
    where = np.concatenate(spans)
    trigrams = np.arange(1, len(cells.trigram_ptr), dtype=np.uint64)
    compiled, labels = tagger.model.compiled, len(tagger.outputs)
    start, stop, transition = np.split(cells.chain.astype(np.float32), [labels, 2 * labels])
    weights = QuantizedWeights(
        _rows(keys[ascending], pointers(map(len, spans)), cells.label[where], cells.weight[where]),
        _rows(keys[:0], pointers([]), cells.edge_label, cells.edge_weight),
        _rows(trigrams, cells.trigram_ptr, cells.trigram_label, cells.trigram_weight),
        start,
        stop,
        transition.reshape(labels, labels),
    )
    decoder = Decoder(compiled.order, *compiled.key_plans(), weights)
    sentences = [sentence for sentence in seqtag.read(path) if sentence]
    words = [word for sentence in sentences for word in sentence.words]
    encoder = Encoder(compiled, hash_strings)
    types = encoder.encode([[words]], len(words))
    found = decoder.decode(types, encoder.hashes, pointers(map(len, sentences)))
    gold = [label for sentence in sentences for label in tagger.model.column.of(sentence)]
    right = [tagger.outputs[i] == label for i, label in zip(found, gold, strict=True)]
    return float(np.mean(right))


def _rows(keys: np.ndarray, row_ptr: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> Rows:
    return Rows(keys, row_ptr, labels.astype(np.uint16), weights.astype(np.float32))


def main() -> None:
    """Train, score, and write models and card."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("treebank", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "models")
    parser.add_argument("--runs", type=int, default=1)
    add_option(parser)
    options = parser.parse_args()
    tables, raw_text = classes_of(options.raw)

    rows, taggers, rounding = [], {}, {}
    for label in ("upos", "xpos"):
        name = f"en-ewt-{label}"
        part = {p: options.treebank / f"en_ewt-ud-{p}.conllu" for p in ("train", "dev", "test")}
        tagger, cells, keys = train(part["train"], label, options.runs, tables)
        taggers[label] = tagger
        size = tagger.save(options.out / f"{name}.seqtag")
        figures = {}
        for p in ("dev", "test"):
            report = score(tagger, seqtag.read(part[p]))
            figures[p] = f"{100 * report.accuracy:.2f}"
            figures[f"{p}_known"] = f"{100 * report.known_accuracy:.2f}"
            figures[f"{p}_unknown"] = f"{100 * report.unknown_accuracy:.2f}"
        exact = unrounded_accuracy(tagger, cells, keys, part["dev"])
        rounding[label] = 100 * (score(tagger, seqtag.read(part["dev"])).accuracy - exact)
        rows.append(ROW.format(name=name, mb=size / 1e6, **figures))
        print(rows[-1])
    training = taggers["upos"].info["training"]
    card = CARD.format(
        table=HEAD + "\n".join(rows),
        version=seqtag.__version__,
        runs=options.runs,
        raw=raw_text,
        with_raw=f" --raw {options.raw.name}" if options.raw else "",
        sentences=training["sentences"],
        tokens=training["tokens"],
        upos_rounding=rounding["upos"],
        xpos_rounding=rounding["xpos"],
        upos_labels=len(taggers["upos"].labels),
        xpos_labels=len(taggers["xpos"].labels),
        templates=preset_text("pos"),
    )
    (options.out / "README.md").write_text(card, encoding="utf-8")


if __name__ == "__main__":
    main()
