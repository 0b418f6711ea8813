"""JSON Lines of sentences: an object on each line, with ``tokens`` and lists of their labels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from seqtag.corpus.lines import lines_of, shorten, start_of
from seqtag.corpus.sentence import Sentence, json_values
from seqtag.errors import CorpusError
from seqtag.storage import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from seqtag.corpus.layout import Names
    from seqtag.corpus.stream import ByteStream

TOKENS = "tokens"


class JsonSentence(Sentence):
    """Sentence that is an object of JSON, whose other fields are kept."""

    __slots__ = ("_names", "_record", "_values")

    def __init__(
        self,
        raw: str,
        source: str,
        line: int,
        record: Mapping[str, Any],
        columns: Sequence[str] = (),
        names: Names = None,
    ):
        self.raw, self.source, self.line = raw, source, line
        self._record, self._names = record, names
        self._values: dict[str, list[str]] = {}
        for name in [name for name, value in record.items() if value and type(value) is list]:
            with suppress(CorpusError):
                self._values["form" if name == TOKENS else name] = labels_of(record, name, names)
        without = (name for name in columns if not record.get(name))
        self.columns = tuple(dict.fromkeys((*self._values, *without, "form")))

    def __len__(self) -> int:
        return len(self._record[TOKENS])

    def _values_of(self, name: str) -> list[str]:
        return [*self._values.get(name, ["_"] * len(self))]

    def _no_column(self, name: str) -> CorpusError:
        """Return the error for an unknown column, or one whose labels are none."""
        try:
            labels_of(self._record, name, self._names)
        except CorpusError as error:
            return CorpusError(error.message, source=self.source, line=self.line)
        return super()._no_column(name)

    def line_of(self, i: int) -> int:  # noqa: ARG002
        """Return the line of the file of word `i`."""
        return self.line

    def replace(self, values: Mapping[str, Sequence[str]]) -> str:
        """Return `raw` with some columns replaced or added (see `Sentence`)."""
        for name, new in values.items():
            self._check(name, new, "")
        changed = {TOKENS if name == "form" else name: json_values(v) for name, v in values.items()}
        if all(self._record.get(name) == new for name, new in changed.items()):
            return self.raw
        text = json.dumps({**self._record, **changed}, ensure_ascii=False)
        return text + self.raw[len(self.raw.rstrip("\r\n")) :]


def columns_of(records: Iterable[Mapping[str, Any]], names: Names = None) -> tuple[str, ...]:
    """Return the columns of objects: most of their lists are labels of the tokens.

    >>> columns_of([{"tokens": ["Ann"], "ner": ["B-PER"]}, {"tokens": ["ran"], "ner": None}])
    ('form', 'ner')
    """
    reasons = reasons_of(records, names)
    found = [name for name, each in reasons.items() if 2 * sum(map(bool, each)) < len(each)]
    return tuple("form" if name == TOKENS else name for name in found)


def reasons_of(records: Iterable[Mapping[str, Any]], names: Names = None) -> dict[str, list[str]]:
    """Return for each list in objects why it has no labels of the tokens; empty if it has."""
    reasons: dict[str, list[str]] = {}
    for record in records:
        for name in filter(record.get, record):
            try:
                labels_of(record, name, names)
            except CorpusError as error:
                reasons.setdefault(name, []).append(error.message)
            else:
                reasons.setdefault(name, []).append("")
    return reasons


def labels_of(record: Mapping[str, Any], name: str, names: Names = None) -> list[str]:
    """Return the labels of a list, ``_`` where there are none.

    Raises
    ------
    CorpusError
        If they are no labels of the tokens.

    Examples
    --------
    >>> labels_of({"tokens": ["Ann", "ran"], "ner_tags": [1, 0]}, "ner_tags", ["O", "B-PER"])
    ['B-PER', 'O']
    """
    tokens, values = record[TOKENS], record.get(name) or [None] * len(record[TOKENS])
    if not isinstance(values, list) or len(values) != len(tokens):
        found = len(values) if isinstance(values, list) else f"{values!r:.40}"
        msg = (
            f"{name}: expected {len(tokens)} labels, one for each token, found {found}; correct "
            "it, or write null if the sentence has none"
        )
        raise CorpusError(msg)
    if {*map(type, values)} == {str}:
        return [*values]
    known = names.get(name, ()) if isinstance(names, Mapping) else names or ()
    labels = []
    for value in values:
        if type(value) is int and 0 <= value < len(known):
            labels.append(known[value])
        elif value is None or isinstance(value, str):
            labels.append("_" if value is None else value)
        else:
            advice = "name the numbers with --names O,B-PER,... (names=[...] in Python)"
            if known:
                advice = f"--names has {len(known)} names, the first for 0"
            elif any(isinstance(each, str) for each in values):
                advice = "correct it"
            found = f"{'the number ' * (type(value) is int)}{value!r:.40}"
            raise CorpusError(f"{name}: expected labels, found {found}; {advice}")  # noqa: EM102
    return labels


def parsed(text: str) -> dict[str, Any] | None:
    """Return the object of a line; None if it is none with tokens."""
    try:
        record = strict_json.loads(text)
    except ValueError:
        return None
    return record if isinstance(record, dict) and _are_strings(record.get(TOKENS)) else None


def _are_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def read_jsonl(
    stream: ByteStream, source: str, columns: Sequence[str] = (), names: Names = None
) -> Iterator[Sentence]:
    """Read one sentence per line: an object with a list of strings ``tokens``.

    Other lists of as many labels are columns, as are those of `columns` that an object lacks, whose
    words have no label. Labels that are numbers have `names`. All else is kept.
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
        yield JsonSentence(raw, source, line, record, columns, names)
