"""Train the embedded models on UD English-EWT and write their card.

Usage: python scripts/train_models.py FOLDER_OF_UD_ENGLISH_EWT [--out models] [--runs N]

The folder holds en_ewt-ud-{train,dev,test}.conllu, as the treebank is distributed. The same
treebank, seqtag and options give byte-identical models.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import seqtag
from seqtag.engine import frozen
from seqtag.engine.arrays import Cells, pointers
from seqtag.engine.backend import hash_strings
from seqtag.features.encoder import Encoder
from seqtag.features.language import load, preset_text
from seqtag.tagging.tagger import label_order, plans
from seqtag.training import train as perceptron

if TYPE_CHECKING:
    from seqtag.evaluation.report import Report

CARD = """\
# Embedded models

{table}

Accuracy in percent of tokens, with gold tokenisation, measured by this script in the same way as
`seqtag eval` does; *unknown* words do not occur in the training part. Test was looked at once per
model, settings were chosen on dev.

| | |
|---|---|
| Data | Universal Dependencies English Web Treebank (UD_English-EWT), train part: {sentences:,} sentences, {tokens:,} tokens; weblogs, newsgroups, e-mails, reviews, questions and answers |
| Licence | CC BY-SA 4.0, that of the treebank; attribution in [LICENSE.txt](LICENSE.txt) |
| Labels | `en-ewt-upos`: the {upos_labels} universal parts of speech; `en-ewt-xpos`: {xpos_labels} Penn Treebank tags as EWT uses them |
| Templates | preset `pos` (below), `--runs {runs} --seed 1` |
| Weights | whole numbers of 8 bits; rounding them changed dev accuracy by {upos_rounding:+.3f} (UPOS) and {xpos_rounding:+.3f} points (XPOS) against the float32 averages |
| Made by | seqtag {version}: `python scripts/train_models.py ud-english-ewt --runs {runs}` |
| Meant for | modern written English, one sentence at a time, tokenised as in UD English |
| Limits | web text of 2000 to 2012: other registers and speech score lower; the models hold no lexicon beyond the treebank; labels of single words without context are guesses |

## Templates

```
{templates}```
"""
ROW = "| `{name}` | {mb:.2f} MB | {dev} | {dev_known} / {dev_unknown} | {test} | {test_known} / {test_unknown} |"
HEAD = """\
| model | size | dev | known / unknown | test | known / unknown |
|---|---|---|---|---|---|
"""


def score(tagger: seqtag.Tagger, path: Path) -> Report:
    """Report of a tagger on an annotated file."""
    sentences = [sentence for sentence in seqtag.read(path) if sentence]
    return seqtag.evaluate(
        [tagger.model.column.of(sentence) for sentence in sentences],
        tagger.tag_many(sentences),
        words=[sentence.words for sentence in sentences],
        known=tagger.known_words,
    )


class Unrounded:
    """Keeps the averaged weights that `seqtag.train` rounds, to tag with them as they are."""

    def __init__(self) -> None:
        self._freeze = perceptron.freeze
        self._arguments: tuple[Cells, np.ndarray, np.ndarray, int] | None = None
        perceptron.freeze = self._keep

    def _keep(self, *arguments: object) -> frozen.FrozenWeights:
        self._arguments = arguments
        return self._freeze(*arguments)

    def accuracy(self, tagger: seqtag.Tagger, path: Path) -> float:
        """Accuracy in percent of the last weights on an annotated file, by the reference."""
        cells, keys, _, labels = self._arguments
        order = np.argsort(keys)
        lengths = np.diff(cells.row_ptr)
        where = np.concatenate([np.arange(cells.row_ptr[r], cells.row_ptr[r + 1]) for r in order])
        rows = frozen.Rows(
            keys[order],
            pointers(lengths[order]),
            cells.label[where].astype(np.uint16),
            cells.weight[where].astype(np.float32),
        )
        trigram = np.arange(1, len(cells.trigram_ptr), dtype=np.uint64)
        trigrams = frozen.Rows(
            trigram,
            cells.trigram_ptr,
            cells.trigram_label.astype(np.uint16),
            cells.trigram_weight.astype(np.float32),
        )
        none = frozen.Rows(keys[:0], np.zeros(1, np.int64), rows.labels[:0], rows.weights[:0])
        start, stop, transition = np.split(cells.chain.astype(np.float32), [labels, 2 * labels])
        compiled = load("pos").compile(["form"])
        decoder = frozen.Frozen(
            label_order(compiled),
            *plans(compiled),
            frozen.FrozenWeights(rows, none, trigrams, start, stop, transition.reshape(labels, -1)),
        )
        sentences = [sentence for sentence in seqtag.read(path) if sentence]
        words = [word for sentence in sentences for word in sentence.words]
        encoder = Encoder(compiled, hash_strings)
        types = encoder.encode([words], len(words))
        found = decoder.decode(types, encoder.hashes, pointers(map(len, sentences)))
        gold = [label for sentence in sentences for label in tagger.model.column.of(sentence)]
        names = tagger.outputs
        return 100 * np.mean([names[i] == label for i, label in zip(found, gold, strict=True)])


def main() -> None:
    """Train, score, and write models and card."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("treebank", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "models")
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()

    rows, taggers, rounding = [], {}, {}
    unrounded = Unrounded()
    for label in ("upos", "xpos"):
        name = f"en-ewt-{label}"
        part = {p: options.treebank / f"en_ewt-ud-{p}.conllu" for p in ("train", "dev", "test")}
        tagger = taggers[label] = seqtag.train(
            part["train"], label=label, templates="pos", runs=options.runs, seed=1
        )
        size = tagger.save(options.out / f"{name}.seqtag")
        figures = {}
        for p in ("dev", "test"):
            report = score(tagger, part[p])
            figures[p] = f"{100 * report.accuracy:.2f}"
            figures[f"{p}_known"] = f"{100 * report.known_accuracy:.2f}"
            figures[f"{p}_unknown"] = f"{100 * report.unknown_accuracy:.2f}"
        exact = unrounded.accuracy(tagger, part["dev"])
        rounding[label] = 100 * score(tagger, part["dev"]).accuracy - exact
        rows.append(ROW.format(name=name, mb=size / 1e6, **figures))
        print(rows[-1])
    training = taggers["upos"].info["training"]
    card = CARD.format(
        table=HEAD + "\n".join(rows),
        version=seqtag.__version__,
        runs=options.runs,
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
