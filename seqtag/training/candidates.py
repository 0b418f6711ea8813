"""Ways to learn a column: which templates fit its labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from seqtag.errors import TemplateError
from seqtag.features.language import load
from seqtag.labels.schemes import scheme_of
from seqtag.tables.lexicon import asks_for_lemmas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.features.templates import TemplateSet
    from seqtag.labels.column import LabelColumn
    from seqtag.settings import Settings
    from seqtag.tables.table import WordTable
    from seqtag.training.data import TrainingData

AUTO = "auto"
"""In the place of templates: those that do best among the presets that fit the labels."""

_FOR_CHUNKS = ("chunk", "ner")
_FOR_WORDS = ("pos", "morph")
_MANY = 255  # labels; of more that have parts, the parts are learnt


@dataclass(frozen=True)
class Way:
    """Templates to learn a column by.

    Attributes
    ----------
    name
        That of the preset, or where they come from.
    templates, settings
        They, and what is set by all together.
    columns
        Those that they look at.
    second
        The way of a second pass, if there is one: some of its columns are what the first says.
    """

    name: str
    templates: TemplateSet
    settings: Settings
    columns: tuple[str, ...]
    second: Way | None = None

    def part_of(self, examples: TrainingData, names: Sequence[str]) -> TrainingData:
        """The columns of this way, of examples whose columns have these names."""
        return examples._replace(columns=[examples.columns[names.index(n)] for n in self.columns])

    def with_lemmas(self, table: WordTable) -> Way:
        """The way with the table of lemmas, if its templates ask for one."""
        second = self.second and self.second.with_lemmas(table)
        templates = self.templates
        if asks_for_lemmas(templates):
            templates = templates.with_tables([table])
        return replace(self, templates=templates, second=second)


def names_for(column: LabelColumn, available: Sequence[str]) -> list[str]:
    """Presets for a column of which the name does not say what its labels are.

    They look at columns that are there, beside `column`; which fit, `fitting_labels` says.

    Examples
    --------
    >>> from seqtag.labels.column import LabelColumn
    >>> names_for(LabelColumn("tag"), ["form"])
    ['ner', 'pos', 'morph']
    """
    if column.is_known and not {column.preset} & {*_FOR_CHUNKS, *_FOR_WORDS}:
        return [column.preset]
    return [name for name in (*_FOR_CHUNKS, *_FOR_WORDS) if _fits(name, available)]


def all_passes(ways: Sequence[Way]) -> list[Way]:
    """The ways of all passes."""
    return [each for way in ways for each in (way, way.second) if each is not None]


def columns_of(ways: Sequence[Way], available: Sequence[str]) -> list[str]:
    """All columns that some way looks at, in their order."""
    wanted = {name for way in all_passes(ways) for name in way.columns}
    return [name for name in available if name in wanted]


def fitting_labels(ways: Sequence[Way], examples: TrainingData, column: LabelColumn) -> list[Way]:
    """The ways that fit labels, the usual one first; there is one at least.

    Chunk labels are learnt by ``chunk`` if there are parts of speech, else by ``ner``; more than
    255 labels that have parts, such as ``NOUN|Case=Nom``, by ``morph``; others by ``pos``. Where
    the name of the column says what its labels are, the preset of that name is the usual one.
    """
    if len(ways) == 1:
        return [*ways]
    kind = _FOR_CHUNKS if scheme_of(examples.transitions()) else _FOR_WORDS
    fitting = [way for way in ways if way.name in kind]
    usual = column.preset if column.is_known else kind[0]
    if kind == _FOR_WORDS and not column.is_known and _have_parts(examples.labels.types):
        usual = "morph"
    return sorted(fitting, key=lambda way: way.name != usual) or [*ways]


def _have_parts(labels: Sequence[str]) -> bool:
    """Whether there are many labels, and they say what they are made of."""
    return len(labels) > _MANY and 2 * sum("|" in label for label in labels) > len(labels)


def _fits(name: str, available: Sequence[str]) -> bool:
    """Whether the columns that a preset looks at are there."""
    try:
        load(name).compile(available)
    except TemplateError:
        return False
    return True
