"""Reports in notebooks: the tables of the terminal, as HTML."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from seqtag.evaluation import evaluate

GOLD = [["B-<X>", "I-<X>", "O"], ["O"]]
FOUND = [["B-<X>", "O", "O"], ["O"]]


class Shown(HTMLParser):
    """What `_repr_html_` gives: tables as lists of rows of texts, and the texts beside them."""

    ELEMENTS = frozenset({"table", "caption", "thead", "tbody", "tr", "th", "td", "p"})
    ATTRIBUTES = frozenset({("style", "text-align: right"), ("scope", "row"), ("scope", "col")})

    def __init__(self, html):
        super().__init__()
        self.tables, self.texts, self._open = [], [], []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        assert tag in self.ELEMENTS
        assert self.ATTRIBUTES.issuperset(attrs), "no script, no address, no colors"
        self._open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data
        else:
            self.texts.append(data)


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
    shown = Shown(report._repr_html_())
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
