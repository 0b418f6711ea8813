"""Made-up sentences with addresses, abbreviations, amounts and the like, tagged from raw text."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

import pytest

import seqtag
from seqtag.corpus import Sentence, read
from seqtag.corpus.surface import raw_text_of, surface_of
from seqtag.tagging.pipeline import Pipeline

HERE = Path(__file__).parent
LEAST = {"seen": 0.91, "unseen": 0.87}
"""Least fraction of right sentences of each file."""


def by_start(sentences: list[Sentence]) -> dict[int, Sentence]:
    """Return sentences by the number of characters of tokens before them."""
    sizes = [sum(len(token.form) for token in surface_of(each).tokens) for each in sentences]
    return dict(zip(accumulate(sizes, initial=0), sentences, strict=False))


def is_right(gold: Sentence, found: Sentence | None) -> bool:
    """Return whether the tokens are the same, and UPOS of those marked with ``Focus=Yes``."""
    if found is None or found.words != gold.words:
        return False
    forms = [[token.form for token in surface_of(each).tokens] for each in (gold, found)]
    tags = zip(gold.column("misc"), gold.column("upos"), found.column("upos"), strict=True)
    return forms[0] == forms[1] and all(
        a == b for misc, a, b in tags if "Focus=Yes" in (misc or "").split("|")
    )


def wrong_sentences(pipeline: Pipeline, path: Path) -> tuple[list[Sentence], int]:
    """Return the sentences of a file that the pipeline gets wrong, and the number of all."""
    gold = list(read(path))
    found = by_start(list(pipeline.sentences(raw_text_of(gold), paragraphs="blank")))
    wrong = [each for at, each in by_start(gold).items() if not is_right(each, found.get(at))]
    return wrong, len(gold)


@pytest.mark.parametrize("name", LEAST)
def test_most_made_up_sentences_are_right(name):
    path = HERE / f"{name}.conllu"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    pipeline = seqtag.load("en")
    assert isinstance(pipeline, Pipeline)
    wrong, total = wrong_sentences(pipeline, path)
    assert 1 - len(wrong) / total >= LEAST[name], f"{len(wrong)} of {total} sentences are wrong"
