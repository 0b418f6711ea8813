"""Label columns: which columns of a file hold the labels.

Most labels are one column. ``upos+feats`` is two: part of speech and morphology make one label,
``NOUN|Case=Nom``, and are written back into both. Weights may belong to the *components* of such
labels, ``NOUN`` and ``Case=Nom``.

In a file, ``_`` marks a word without annotation. In some columns it is a label instead, see
`LabelColumn.may_be_empty`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Protocol

import numpy as np

from seqtag.engine.arrays import LabelComponents, pointers
from seqtag.errors import CorpusError, LabelError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

FEATS = "feats"
"""The column whose values are sets, see `sorted_feats`."""

_UPOS_FEATS = "upos+feats"
_LEMMA = "lemma"
_PRESETS = {
    "chunk": "chunk",
    "ner": "ner",
    "feats": "morph",
    _UPOS_FEATS: "morph",
    _LEMMA: "lemma",
    "tokens": "segment",
    "words": "multiword",
}
"""The preset of templates for each kind of labels; all other kinds have the preset pos."""

_POS = ("upos", "xpos", "pos")
"""Kinds of labels that are certainly for the preset pos."""

NO_LABELS = ("id", "form")
"""Columns that are never labels: a label would overwrite the words."""

_NOT_ANNOTATED = "_"


TEXT_COLUMNS = ("form", "misc")
"""The columns of raw text, of which no key has labels."""


def is_column_name(value: object) -> bool:
    r"""Return whether a value can name a column in a model: one word, safe to print.

    >>> is_column_name("upos"), is_column_name("my tag"), is_column_name("tag\x1b[2J")
    (True, False, False)
    """
    return isinstance(value, str) and value.split() == [value] and value.isprintable()


class HasColumns(Protocol):
    """A sentence of columns, such as `seqtag.corpus.Sentence`."""

    def __len__(self) -> int:
        """Return the number of words."""

    def column(self, name: str) -> list[str]:
        """Return the values of a column, one per word."""


@dataclass(frozen=True)
class LabelColumn:
    """One or two columns that hold the labels.

    Parameters
    ----------
    name
        A column, or ``upos+feats`` for both as one label.

    Examples
    --------
    >>> LabelColumn("upos+feats").columns
    ('upos', 'feats')
    >>> LabelColumn("misc.NER").kind, LabelColumn("misc.NER").preset
    ('ner', 'ner')
    >>> LabelColumn("upos+feats").split(["NOUN|Case=Nom", "ADP"])
    {'upos': ['NOUN', 'ADP'], 'feats': ['Case=Nom', '_']}
    """

    name: str

    def __str__(self) -> str:
        return self.name

    @classmethod
    def default(cls, available: Sequence[str], source: str | None = None) -> LabelColumn:
        """Return the column to learn if the user names none: upos, or else the last one.

        Before parts of speech in the last column, names and chunks are chosen. Numbers, which stand
        for columns without a name, are chosen only if there are no others.

        Parameters
        ----------
        available
            All columns of the file, in order; those of words and ``misc`` are never chosen.
        source
            The file, for messages.

        Raises
        ------
        CorpusError
            If no column is left.
        """
        candidates = [name for name in available if name not in (*NO_LABELS, "misc", "sentence")]
        if not candidates:
            raise without_labels(available, source)
        named = [name for name in candidates if not name.isdecimal()] or candidates
        named = [name for name in named if name not in ("lemma", "feats")] or named
        chunked = [name for name in ("ner", "chunk") if name in named and named[-1] == "pos"]
        return cls("upos" if "upos" in named else [*chunked, named[-1]][0])

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns: two for ``upos+feats``, else one."""
        return tuple(self.name.split("+")) if self._is_joint else (self.name,)

    @property
    def preset(self) -> str:
        """Preset of templates for these labels; ``pos`` for unknown kinds."""
        return _PRESETS.get(self.kind, "pos")

    @property
    def is_known(self) -> bool:
        """True if the name implies a kind of labels, so that the preset is no guess."""
        return self.kind in (*_PRESETS, *_POS)

    @property
    def kind(self) -> str:
        """Kind of labels: ``ner`` for ``misc.NER``, ``feats`` for ``feats.Case``, or the name."""
        base, _, key = self.name.partition(".")
        if not key:
            return self.name
        return key.lower() if base == "misc" else base

    @property
    def may_be_empty(self) -> bool:
        """True if ``_`` is a label (no features, no lemma), instead of a missing one."""
        return self.name in ("feats", _LEMMA) or self.name.startswith("feats.")

    def may_lack(self, unlabeled: str | None) -> bool:
        """Return whether ``_`` is allowed: as a label, or because it is the mark `unlabeled`."""
        return self.may_be_empty or unlabeled == _NOT_ANNOTATED

    @property
    def is_lemma(self) -> bool:
        """True if the labels are lemmas, which depend on the form."""
        return self.name == _LEMMA

    @property
    def is_exact(self) -> bool:
        """True if the name says which labels these are, so that no other column can replace it.

        Other labels go by several names: ``pos`` may be the tags that CoNLL-U has as ``xpos``.
        """
        return self.name == "upos" or self.is_lemma or self._is_joint

    @property
    def _is_joint(self) -> bool:
        return self.name == _UPOS_FEATS

    def check(self, available: Sequence[str], source: str | None = None) -> None:
        """Refuse a label column that is missing or holds the words.

        Raises
        ------
        CorpusError
            If one of `columns` is not available, or is one of `NO_LABELS`.
        """
        for name in self.columns:
            if name not in available or name in NO_LABELS:
                others = [other for other in available if other not in NO_LABELS]
                if not others:
                    raise without_labels(available, source)
                msg = (
                    f"expected one of the columns {', '.join(others)} for labels, found {name!r}"
                    f"{did_you_mean(name, others)}; choose one of these with --label, or name the "
                    "columns with --columns"
                )
                raise CorpusError(msg, source=source)

    def of(self, sentence: HasColumns) -> list[str]:
        """Return the labels of a sentence, one per word; ``_`` for unlabeled words.

        A word without UPOS is unlabeled, whatever its FEATS.
        """
        values = [sentence.column(name) for name in self.columns]
        if len(values) == 1:
            return values[0] if self.name != FEATS else list(map(sorted_feats, values[0]))
        return [
            _NOT_ANNOTATED if row[0] == _NOT_ANNOTATED else self.normal(self.join(row))
            for row in zip(*values, strict=True)
        ]

    def normal(self, label: str) -> str:
        """Return a label with its features in the order of Universal Dependencies.

        >>> LabelColumn("feats").normal("Number=Sing|Case=Nom"), LabelColumn("xpos").normal("V|A")
        ('Case=Nom|Number=Sing', 'V|A')
        """
        if self._is_joint:
            upos, bar, feats = label.partition("|")
            return upos + bar + sorted_feats(feats)
        return sorted_feats(label) if self.name == FEATS else label

    def join(self, values: Sequence[str]) -> str:
        """Join one value for each of `columns` to one label; see `join_components` for errors."""
        return join_components(*values) if self._is_joint else values[0]

    def split(self, labels: Sequence[str]) -> dict[str, list[str]]:
        """Split labels into the values of each of `columns`, by name; the inverse of `join`."""
        if not self._is_joint:
            return {self.name: list(labels)}
        pairs = [split_components(label) for label in labels]
        return {"upos": [upos for upos, _ in pairs], "feats": [feats for _, feats in pairs]}

    def unannotated(self, values: Sequence[str]) -> int | None:
        """Return the index of the first unlabeled word, or None if there is none.

        `values`: those of the first of `columns`.
        """
        if self.may_be_empty or _NOT_ANNOTATED not in values:
            return None
        return list(values).index(_NOT_ANNOTATED)


def column_meant(name: str, columns: Collection[str]) -> str | None:
    """Return the column that a name means: the one called so, or so as a key of MISC; else None.

    >>> column_meant("ner", ["upos", "misc.NER"]), column_meant("pos", ["upos"])
    ('misc.NER', None)
    """
    if name in columns:
        return name
    return next((each for each in columns if LabelColumn(each).kind == str(name).lower()), None)


def without_labels(available: Sequence[str], source: str | None) -> CorpusError:
    """Return the error for a file that has no labels."""
    is_text = tuple(available) == TEXT_COLUMNS
    found = "raw text" if is_text else f"the columns {', '.join(available)} only"
    msg = (
        f"expected a column of labels, found {found}; if there is one, name the format with "
        "--format or the columns with --columns"
    )
    return CorpusError(msg, source=source)


def sorted_feats(feats: str) -> str:
    """Return FEATS, which are a set, in the order of Universal Dependencies, each once.

    >>> sorted_feats("Number=Sing|Case=Nom"), sorted_feats("_")
    ('Case=Nom|Number=Sing', '_')
    """
    if "|" not in feats:
        return feats
    return "|".join(sorted({*feats.split("|")}, key=lambda item: (item.lower(), item)))


def join_components(upos: str, feats: str) -> str:
    """Make one label of a part of speech and its morphological features.

    Parameters
    ----------
    upos
        Part of speech, without ``|``.
    feats
        FEATS as in CoNLL-U: ``Name=Value`` pairs separated by ``|``, or ``_`` for none.

    Returns
    -------
    str
        The components separated by ``|``; `split_components` is the exact inverse.

    Raises
    ------
    LabelError
        If `upos` is empty or holds ``|``, or `feats` is empty.

    Examples
    --------
    >>> join_components("NOUN", "Case=Nom|Number=Sing"), join_components("ADP", "_")
    ('NOUN|Case=Nom|Number=Sing', 'ADP')
    """
    if not upos or "|" in upos:
        msg = f'expected UPOS without "|", found {upos!r}; check the UPOS column'
        raise LabelError(msg)
    if not feats:
        msg = f'expected FEATS with {upos!r}, found an empty string; write "_" for no features'
        raise LabelError(msg)
    return upos if feats == "_" else f"{upos}|{feats}"


def split_components(label: str) -> tuple[str, str]:
    """Split a label made by `join_components`.

    Parameters
    ----------
    label
        Part of speech, then features, separated by ``|``.

    Returns
    -------
    upos, feats
        `feats` is ``_`` if the label has no features.

    Raises
    ------
    LabelError
        If `join_components` cannot have made the label.

    Examples
    --------
    >>> split_components("NOUN|Case=Nom|Number=Sing"), split_components("ADP")
    (('NOUN', 'Case=Nom|Number=Sing'), ('ADP', '_'))
    """
    upos, bar, feats = label.partition("|")
    if not upos or (bar and feats in ("", "_")):
        msg = (
            f'expected a label like "NOUN" or "NOUN|Case=Nom", found {label!r}; '
            "make such labels with join_components"
        )
        raise LabelError(msg)
    return upos, feats or "_"


def label_components(labels: Sequence[str]) -> LabelComponents:
    """Number the components of labels such as ``NOUN|Case=Nom``: the texts between the bars.

    A component that a label has twice counts once. The numbers are those of `component_names`.

    >>> found = label_components(["ADJ", "NOUN|Case=Nom"])
    >>> found.ptr.tolist(), found.part.tolist()
    ([0, 1, 3], [0, 2, 1])
    """
    split = [list(dict.fromkeys(label.split("|"))) for label in labels]
    number = {part: i for i, part in enumerate(component_names(labels))}
    part = np.array([number[part] for part in chain.from_iterable(split)], np.int32)
    return LabelComponents(pointers(map(len, split)), part, len(number))


def component_names(labels: Sequence[str]) -> list[str]:
    """Return the components of labels, sorted by name; `label_components` numbers them so.

    >>> component_names(["ADJ", "NOUN|Case=Nom"])
    ['ADJ', 'Case=Nom', 'NOUN']
    """
    return sorted({part for label in labels for part in label.split("|")})
