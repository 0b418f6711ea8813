"""HTML as a notebook shows it, checked: well-formed, nothing that runs, nothing from elsewhere."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

ELEMENTS = {
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "p",
    "details",
    "summary",
    "pre",
}
STYLES = {"text-align: left", "text-align: right", "border-top: 1px solid"}


class Shown(HTMLParser):
    """What `_repr_html_` gives: tables as lists of rows of texts, and the texts beside them."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []

    @classmethod
    def of(cls, value: Any) -> Shown:
        shown = cls()
        shown.feed(value._repr_html_())
        shown.close()
        assert shown._open == []
        return shown

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ELEMENTS
        for name, value in attrs:
            assert name in ("style", "scope"), "no script, no address, no colours"
            assert name != "style" or value in STYLES
            assert name != "scope" or (tag == "th" and value in ("row", "col"))
        self._open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data
        else:
            self.texts.append(data)
