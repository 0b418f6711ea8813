"""Train the embedded English pipeline on UD English-EWT and write its card.

Usage: python scripts/train_english.py FOLDER_OF_UD_ENGLISH_EWT [--raw TEXT] [--out models]

The folder holds en_ewt-ud-{train,dev,test}.conllu, as the treebank is distributed. TEXT is raw
text, tokenized, one sentence a line, in which word classes are found. The same treebank, text,
seqtag and options give byte-identical models.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import TYPE_CHECKING

from english_classes import add_option, classes_of

import seqtag
from seqtag.corpus import read
from seqtag.corpus.surface import raw_text_of
from seqtag.evaluation import score_aligned
from seqtag.tagging.pipeline import Pipeline
from seqtag.tagging.streams import tag_text
from seqtag.training.pipeline import train_parts

if TYPE_CHECKING:
    from seqtag.evaluation.aligned import AlignedReport

CARD = """\
# The pipeline `en`

From raw English to CoNLL-U: {parts}; {mb:.1f} MB.

F1 by the rules of the CoNLL 2018 shared task, in percent, on UD English-EWT, measured by this
script in the same way as `seqtag eval` does. *Raw* is the text of the file, *gold* its words.
Settings were chosen on dev, test was looked at once.

{table}

| | |
|---|---|
| Data | Universal Dependencies English Web Treebank (UD_English-EWT), train part: {sentences:,} sentences, {tokens:,} words; weblogs, newsgroups, e-mails, reviews, questions and answers |
{raw}| Licence | CC BY-SA 4.0, that of the treebank; attribution in [LICENSE.txt](LICENSE.txt) |
| Made by | seqtag {version}: `python scripts/train_english.py ud-english-ewt --runs {runs}{with_raw}` |
| Meant for | modern written English as people type it |
| Limits | web text of 2000 to 2012: other registers and speech score lower; no lexicon beyond treebank and raw text |
"""
HEAD = (
    "| | tokens | sentences | words | UPOS | XPOS | UFeats | AllTags | lemmas |\n"
    + "|---" * 9
    + "|\n"
)


def row(name: str, report: AlignedReport) -> str:
    """A row of the table."""
    figures = " | ".join(f"{100 * counts.f1:.2f}" for counts in report.metrics.values())
    return f"| {name} | {figures} |"


def main() -> None:
    """Train, score, and write model and card."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("treebank", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "models")
    parser.add_argument("--runs", type=int, default=1)
    add_option(parser)
    options = parser.parse_args()
    tables, raw_text = classes_of(options.raw)

    train = options.treebank / "en_ewt-ud-train.conllu"
    models = train_parts(train, runs=options.runs, tables=tables, on_component=print)
    pipeline = Pipeline(models)
    size = pipeline.save(options.out / "en.seqtag")
    rows = []
    for part in ("dev", "test"):
        path = options.treebank / f"en_ewt-ud-{part}.conllu"
        gold = list(read(path))
        raw = pipeline.sentences(raw_text_of(gold), paragraphs="blank")
        rows.append(row(f"{part}, raw", score_aligned(gold, raw)))
        tagged = b"".join(tag_text(pipeline.taggers, read(path)))
        rows.append(row(f"{part}, gold", score_aligned(gold, read(io.BytesIO(tagged), "conllu"))))
    training = models[-1].training
    card = CARD.format(
        parts=", ".join(pipeline.parts),
        mb=size / 1e6,
        table=HEAD + "\n".join(rows),
        sentences=training["sentences"],
        tokens=training["tokens"],
        version=seqtag.__version__,
        runs=options.runs,
        raw=raw_text,
        with_raw=f" --raw {options.raw.name}" if options.raw else "",
    )
    (options.out / "en.md").write_text(card, encoding="utf-8")
    print(card)


if __name__ == "__main__":
    main()
