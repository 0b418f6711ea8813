"""JSON Lines of sentences: an object on each line, with ``tokens`` and lists of their labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from seqtag.corpus.lines import lines_of, shorten, start_of
from seqtag.corpus.sentence import Sentence
from seqtag.errors import CorpusError
from seqtag.storage import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from seqtag.corpus.stream import ByteStream

TOKENS = "tokens"


class JsonSentence(Sentence):
    """Sentence that is an object of JSON, whose other fields are kept."""

    __slots__ = ("_record",)

    def __init__(self, raw: str, source: str, line: int, record: Mapping[str, Any]):
        self.raw, self.source, self.line = raw, source, line
        self._record = record
        self.columns = columns_of(record)

    def __len__(self) -> int:
        return len(self._record[TOKENS])

    def _values_of(self, name: str) -> list[str]:
        return list(self._record[TOKENS if name == "form" else name])

    def line_of(self, i: int) -> int:  # noqa: ARG002
        """Return the line of the file of word `i`."""
        return self.line

    def replace(self, values: Mapping[str, Sequence[str]]) -> str:
        """Return `raw` with some columns replaced or added (see `Sentence`)."""
        for name, new in values.items():
            self._check(name, new, "")
        changed = {TOKENS if name == "form" else name: list(v) for name, v in values.items()}
        if all(self._record.get(name) == new for name, new in changed.items()):
            return self.raw
        text = json.dumps({**self._record, **changed}, ensure_ascii=False)
        return text + self.raw[len(self.raw.rstrip("\r\n")) :]


def columns_of(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns of an object: lists of as many strings as there are tokens."""
    count = len(record[TOKENS])
    lists = [name for name, value in record.items() if _are_strings(value) and len(value) == count]
    return tuple("form" if name == TOKENS else name for name in lists)


def parsed(text: str) -> dict[str, Any] | None:
    """Return the object of a line; None if it is none with tokens."""
    try:
        record = strict_json.loads(text)
    except ValueError:
        return None
    return record if isinstance(record, dict) and _are_strings(record.get(TOKENS)) else None


def _are_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def read_jsonl(stream: ByteStream, source: str) -> Iterator[Sentence]:
    """Read one sentence per line: an object with a list of strings ``tokens``.

    Other lists of as many strings are columns; all else is kept.
    """
    for raw, line in lines_of(stream):
        record = parsed(raw[start_of(raw) :]) if raw.strip("\ufeff \t\r\n") else {TOKENS: []}
        if record is None:
            msg = (
                f"expected an object of JSON with a list of strings {TOKENS!r}, found "
                f"{shorten(raw.strip())}; write one sentence per line"
            )
            stream.warnings.pass_over(CorpusError(msg, source=source, line=line))
            record = {TOKENS: []}
        yield JsonSentence(raw, source, line, record)
