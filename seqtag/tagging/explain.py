"""Explanations of labels by the weights of features.

The *rival* of the label of a token is its label in the best sequence that has another one. The
score of a label sequence is a sum of weights, so the margin between the two sequences is a sum of
differences: of the features of the word itself, and, if the sequences differ elsewhere too, of
other words and of the label chain.

A model file knows features by hashes, not by name. The names of the features of a sentence are
found by computing their keys again.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.engine.keys import keys
from seqtag.errors import SeqtagError, did_you_mean
from seqtag.tagging.encode import allowed_of, columns_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from seqtag.engine.arrays import LabelComponents, Rows
    from seqtag.features.templates import CompiledTemplates, Template
    from seqtag.model.model import Model
    from seqtag.tagging.encode import AnySentence
    from seqtag.tagging.runtime import ModelRuntime

LEFT, RIGHT = "<s>", "</s>"
"""Padding before and after a sentence."""

OTHER_WORDS = "other words"
"""Template of the rows of other words whose labels differ."""


class Row(NamedTuple):
    """The weights of one feature in the two label sequences.

    Attributes
    ----------
    template
        The template, as the language writes it; `OTHER_WORDS` for all features of another word.
    feature
        The feature: ``suffix(2)[0]=ed``; for the label chain the labels of both sequences.
    label_weight, rival_weight
        Its weights in the best sequence and in the rival's, on the model's score scale.
    """

    template: str
    feature: str
    label_weight: float
    rival_weight: float


@dataclass(frozen=True)
class Explanation:
    """Explanation of a label; see `seqtag.Tagger.explain`.

    Attributes
    ----------
    token, word
        Number of the token, from 0, and its first column, usually the form.
    label
        Its label as learned, in the chunk scheme of the model, which `rows` show too.
    rival
        Its label in the best sequence that has another one; None if there is no other.
    margin
        Score of the best sequence less that of the rival's; infinite without a rival.
    rows
        The features that have a weight in either sequence; the largest difference is first.
    written, written_rival
        Both labels as they are written, in the chunk scheme of the files.

    Examples
    --------
    >>> import seqtag
    >>> why = seqtag.load("en").tagger("upos").explain(["Birds", "sing", "."], 1)
    >>> why.label, why.margin > 0
    ('VERB', True)
    >>> sum(row.label_weight - row.rival_weight for row in why.rows) == why.margin
    True
    """

    token: int
    word: str
    label: str
    rival: str | None
    margin: float
    rows: tuple[Row, ...]
    written: str
    written_rival: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return a dictionary for JSON; an infinite margin is None."""
        margin = self.margin if isfinite(self.margin) else None
        return {**vars(self), "margin": margin, "rows": [row._asdict() for row in self.rows]}

    def to_text(self, top: int | None = None) -> str:
        """Format it as a table: a row for each feature, at most `top`, and the sums of all."""
        rival = self.rival or "-"
        shown = self.rows[:top]
        cells = [(row.feature, row.label_weight, row.rival_weight) for row in shown]
        if len(shown) < len(self.rows):
            rest = self.rows[len(shown) :]
            cells.append((f"{len(rest)} more", *_sums(rest)))
        cells.append(("sum", *_sums(self.rows)))
        table = [("feature", self.label, rival, "difference")]
        table += [(name, f"{a:g}", f"{b:g}", f"{a - b:+g}") for name, a, b in cells]
        width = max(len(row[0]) for row in table)
        first, second = (max(10, len(name) + 2) for name in (self.label, rival))
        lines = [f"{a:<{width}}{b:>{first}}{c:>{second}}{d:>12}" for a, b, c, d in table]
        margin = (
            f"{self.margin:g}" if isfinite(self.margin) else "infinite: no other label is allowed"
        )
        label, other = self.label, rival
        if self.label != self.written:
            label += f" (written {self.written})"
        if self.rival != self.written_rival:
            other += f" (written {self.written_rival})"
        head = f"word {self.token + 1} {self.word}: {label}, not {other}; margin {margin}"
        return "\n".join([head, *lines, ""])

    def __str__(self) -> str:
        return self.to_text()


def _sums(rows: Sequence[Row]) -> tuple[float, float]:
    return sum(row.label_weight for row in rows), sum(row.rival_weight for row in rows)


def explain(
    tagger: ModelRuntime, sentence: AnySentence, token: int, rival: str | None = None
) -> Explanation:
    """Explain a label: see `Tagger.explain`."""
    model, names = tagger.model, tagger.model.labels
    with tagger.workspace() as workspace:
        batch = tagger.encode([sentence], [None], workspace)
        words = batch.bounds[-1]
        if not -words <= token < words:
            msg = f"expected a word from 0 to {words - 1}, found {token}"
            raise SeqtagError(msg)
        token %= words
        batch, found = tagger.decode_margins(batch)
        best = found.labels.tolist()
        written = tagger.write_labels(batch, found.labels)[0][token]
        if rival is None:
            wanted = [int(found.rival[token])] if found.rival[token] >= 0 else []
        else:
            named = tagger.ids_written(batch.forms[0][token] if batch.forms else "", rival)
            wanted = [each for each in named if each != best[token]]
            if rival == written or not wanted:
                others = () if batch.forms else {*tagger.outputs} - {written}
                msg = f"expected a label of the model other than {written}, found {rival!r}"
                raise SeqtagError(msg + did_you_mean(rival, others))
        other, other_written = None, None
        if wanted:
            lists = [wanted if t == token else [] for t in range(words)]
            _, ids = tagger.decode(batch._replace(allowed=allowed_of(lists)))
            other, other_written = ids.tolist(), tagger.write_labels(batch, ids)[0][token]
        label, other_label = written, other_written
        if not batch.forms or written == other_written:  # as the rows show them
            label, other_label = names[best[token]], other and names[other[token]]
        columns = columns_of(sentence, model.compiled.columns)
        encoded = Encoded(columns, batch.types, workspace.encoder.hashes)
        rows = [*_of_words(model, encoded, token, best, other or best)]
        if model.compiled.order:
            rows += _of_chain(model, encoded, best, other or best)
    if other is None:
        rows = [row._replace(rival_weight=0.0) for row in rows]
    rows = [row for row in rows if row.label_weight or row.rival_weight]
    rows.sort(key=lambda row: -abs(row.label_weight - row.rival_weight))
    a, b = _sums(rows)
    margin = float("inf") if other is None else a - b
    word, forms = columns[0][token], (written, other_written)
    return Explanation(token, word, label, other_label, margin, tuple(rows), *forms)


class Encoded(NamedTuple):
    """One sentence: its columns, type ids and hashes."""

    columns: Sequence[Sequence[str]]
    types: NDArray[np.int32]  # (columns, T)
    hashes: NDArray[np.uint64]

    @property
    def ptr(self) -> NDArray[np.int64]:
        """The pointer array of one sentence."""
        return np.array([0, self.types.shape[1]], np.int64)


def _of_words(
    model: Model, sentence: Encoded, token: int, best: Sequence[int], other: Sequence[int]
) -> Iterator[Row]:
    """Yield the features of the token, and the sums of other words whose labels differ."""
    compiled, labels = model.compiled, model.labels
    plan, _ = compiled.key_plans()
    found = keys(plan, sentence.types, sentence.hashes, sentence.ptr)
    templates = [each for each in model.templates.templates if not each.label_offsets]
    words = sentence.columns[0]
    for t, (a, b) in enumerate(zip(best, other, strict=True)):
        if t != token and a == b:
            continue
        pairs = [
            (
                _weight(model.weights.emission, key, a, model.parts),
                _weight(model.weights.emission, key, b, model.parts),
            )
            for key in found[t]
        ]
        if t == token:
            for number, template in enumerate(templates):
                if found[t, number] and any(pairs[number]):
                    text = feature_text(compiled, template, compiled.templates[number], sentence, t)
                    yield Row(str(template), text, *pairs[number])
        else:
            text = f"word {t + 1} {words[t]}: {labels[a]} / {labels[b]}"
            yield Row(OTHER_WORDS, text, sum(x for x, _ in pairs), sum(y for _, y in pairs))


def _of_chain(
    model: Model, sentence: Encoded, best: Sequence[int], other: Sequence[int]
) -> Iterator[Row]:
    """Yield label bigrams, those with words too, and trigrams, where the labels differ."""
    weights, compiled, labels = model.weights, model.compiled, model.labels
    words, count = len(best), len(labels)
    _, plan = compiled.key_plans()
    found = keys(plan, sentence.types, sentence.hashes, sentence.ptr)
    templates = [each for each in model.templates.templates if each.label_offsets and each.terms]

    def names(y: Sequence[int], first: int, last: int) -> str:
        shown = [LEFT] * (first < 0) + [
            labels[y[t]] for t in range(max(first, 0), min(last, words))
        ]
        return " ".join(shown + [RIGHT] * (last > words))

    def differ(first: int, last: int) -> bool:
        first = max(first, 0)
        return list(best[first:last]) != list(other[first:last])

    def row(template: str, first: int, last: int, pair: Iterable[float], seen: str = "") -> Row:
        text = f"{names(best, first, last)} / {names(other, first, last)}"
        label_weight, rival_weight = map(float, pair)
        return Row(template, f"{template}: {seen}{text}", label_weight, rival_weight)

    both, bigram, trigram = (best, other), "label[-1]", "label[-2] + label[-1]"
    if words and differ(0, 1):
        yield row(bigram, -1, 1, (weights.start[y[0]] for y in both))
    if words and differ(words - 1, words):
        yield row(bigram, words - 1, words + 1, (weights.stop[y[-1]] for y in both))
    for t in range(1, words):
        if differ(t - 1, t + 1):
            yield row(bigram, t - 1, t + 1, (weights.transition[y[t - 1], y[t]] for y in both))
            for number, template in enumerate(templates):
                if found[t, number]:
                    text = feature_text(compiled, template, compiled.edges[number], sentence, t)
                    cells = [y[t - 1] * count + y[t] for y in both]
                    pair = [_weight(weights.edge, found[t, number], cell) for cell in cells]
                    yield row(str(template), t - 1, t + 1, pair, f"{text}: ")
        if compiled.order == 2 and differ(t - 2, t + 1):
            before = [y[t - 2] if t > 1 else count for y in both]
            row_keys = [1 + a * count + y[t - 1] for a, y in zip(before, both, strict=True)]
            cells = [y[t] for y in both]
            pair = [_weight(weights.trigram, *each) for each in zip(row_keys, cells, strict=True)]
            yield row(trigram, t - 2, t + 1, pair)


def feature_text(
    compiled: CompiledTemplates,
    template: Template,
    terms: Sequence[tuple[int, int]],
    sentence: Encoded,
    t: int,
) -> str:
    """Return the feature of a template at t, as ``lower[-1]=the + lower[0]=cat``."""
    found = []
    for term, (attribute, offset) in zip(template.terms, terms, strict=True):
        at = t + offset
        if at < 0:
            value: str | None = LEFT
        elif at >= sentence.types.shape[1]:
            value = RIGHT
        elif row := compiled.phrase_rows.get(attribute):
            table = compiled.tables[str(term.table)]
            value = [*table.attribute_values, table.absent][sentence.types[row, at]]
        else:
            column = compiled.columns.index(compiled.attributes[attribute].column)
            value = compiled.apply(attribute, sentence.columns[column][at])
        found.append(f"{term}={value}")
    return " + ".join(found) or str(template)


def _weight(rows: Rows, key: Any, column: int, parts: LabelComponents | None = None) -> float:
    """Return the weight of a label, or of its components, in the row of a feature key."""
    at = int(rows.keys.searchsorted(np.uint64(key)))
    if at == len(rows.keys) or rows.keys[at] != np.uint64(key):
        return 0.0
    begin, end = int(rows.row_ptr[at]), int(rows.row_ptr[at + 1])
    total = 0
    for wanted in [column] if parts is None else parts.of(column):
        place = bisect_left(rows.labels, wanted, begin, end)  # labels of a row ascend
        if place < end and rows.labels[place] == wanted:
            total += int(rows.weights[place])
    return float(total)
