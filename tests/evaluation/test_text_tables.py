"""Reports in notebooks: the tables of the terminal, as HTML."""

from __future__ import annotations

import pytest

from seqtag.corpus import sentence_of
from seqtag.evaluation import evaluate
from seqtag.evaluation.aligned import score_aligned
from tests.notebook import Shown

GOLD = [["B-<X>", "I-<X>", "O"], ["O"]]
FOUND = [["B-<X>", "O", "O"], ["O"]]


def lines_of(text):
    """The cells of the tables of a text."""
    blocks = [block.splitlines() for block in text.split("\n\n")]
    return [
        [[line[:24].strip(), *line[24:].split()] for line in block if line[24:].strip()]
        for block in blocks
    ]


@pytest.mark.parametrize("words", [None, [["a", "b", "c"], ["d"]]])
def test_notebooks_show_the_tables_of_the_terminal(words):
    report = evaluate(GOLD, FOUND, words=words, known=words and {"a"}, task="<t>")
    shown = Shown.of(report)
    *tables, _ = lines_of(report.to_text(confusion=5).replace(" -> ", "->"))
    assert [[row[1:] for row in table[1:]] for table in shown.tables] == [
        [row[1:] for row in table[1:] if not row[0].startswith("invalid")] for table in tables
    ]
    assert shown.tables[1][1][0] == "all"
    assert shown.tables[-1][1][0] == "I-<X> -> O"
    assert shown.texts == [
        "chunks (iob2)",
        "invalid transitions: 0 in gold, 0 in predicted labels",
        "labels with most errors",
        "gold -> predicted",
        report.signature,
    ]


def test_notebooks_show_scores_of_texts():
    gold = [sentence_of({"form": ["a", "b"], "upos": ["X", "Y"]})]
    report = score_aligned(gold, gold, headline="upos")
    shown = Shown.of(report)
    assert shown.texts == [report.signature]
    assert shown.tables[0][0] == ["", "precision", "recall", "F1", "gold", "found", "aligned"]
    assert ["Tokens", "100.00", "100.00", "100.00", "2", "2", ""] in shown.tables[0]
    assert len(shown.tables[0]) == len(report.metrics) + 1
