"""The model card of the embedded model agrees with the model."""

from __future__ import annotations

from itertools import chain

from seqtag.corpus import read
from seqtag.corpus.surface import raw_text_of
from seqtag.evaluation import score_aligned
from seqtag.model.embedded import MODELS
from seqtag.tagging.pipeline import Pipeline
from tests.conftest import ROOT

CARD = (ROOT / "models" / "en.md").read_text("utf-8")


def test_the_card_describes_the_model():
    pipeline = Pipeline.load("en")
    size = (MODELS / "en.seqtag").stat().st_size
    [table] = pipeline.tagger("upos").model.tables
    for fact in (
        f"components {', '.join(pipeline.parts)}.",
        f"| Size | {size / 1e6:.1f} MB |",
        f"| Trained with | {pipeline.models[-1].writer} |",
        f"{table.origin['classes']} classes",
        f"from {int(table.origin['tokens']):,} words",
        f"{len(pipeline.tagger('xpos').labels)} in all; UPOS has {len(pipeline.taggers[0].labels)}",
    ):
        assert fact in CARD


def test_the_card_has_the_scores_on_the_sample():
    gold = list(chain.from_iterable(map(read, sorted((ROOT / "corpora/sample").glob("*.conllu")))))
    raw = Pipeline.load("en").sentences(raw_text_of(gold), paragraphs="blank")
    metrics = score_aligned(gold, raw).metrics
    names = "tokens", "sentences", "upos", "xpos", "lemma"
    figures = " | ".join(f"{100 * metrics[name].f1:.2f}" for name in names)
    assert f"| sample | {figures} |" in CARD
    assert f"`corpora/sample` (CC0), {sum(map(len, gold)):,} words" in CARD
