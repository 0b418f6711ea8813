"""Warm start: weights, labels and words of a trained model in a new learning problem.

A model holds averaged weights and nothing else of its training, so only these are carried over:
the average starts afresh: it is the mean of the weights after each sentence of the new training,
all of which include the model's weights. Rows of features that the new sentences lack take no part
in the training and are copied from model to model.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.engine.arrays import (
    Cells,
    HashArray,
    Layout,
    State,
    TagDictionary,
    pointers,
)
from seqtag.errors import LabelError, ModelFileError, TemplateError
from seqtag.features.templates import TemplateSet
from seqtag.labels.column import component_names
from seqtag.labels.schemes import invalid_transitions, scheme_of
from seqtag.model.freeze import thaw
from seqtag.settings import SETTINGS, Settings
from seqtag.tagging.tagger import Tagger

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from seqtag.features.index import IndexedCorpus
    from seqtag.features.templates import CompiledTemplates
    from seqtag.labels.coding import LabelCoding
    from seqtag.labels.column import LabelColumn
    from seqtag.labels.schemes import Transition
    from seqtag.model.model import Model
    from seqtag.settings import Value
    from seqtag.tagging.pipeline import Loaded

_NAME = np.dtype(">u8")

_log = logging.getLogger("seqtag")


class CopiedRows(NamedTuple):
    """Rows of a model for features that the corpus lacks, in the columns of the new weights."""

    keys: HashArray  # (rows,) uint64
    ptr: NDArray[np.int64]  # (rows + 1,)
    column: NDArray[np.int32]  # (cells,)
    weight: NDArray[np.float32]  # (cells,)

    def append_to(
        self,
        keys: HashArray,
        ptr: NDArray[Any],
        column: NDArray[Any],
        weight: NDArray[Any],
    ) -> tuple[HashArray, NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return some rows followed by these."""
        return (
            np.concatenate([keys, self.keys]),
            np.concatenate([ptr, ptr[-1] + self.ptr[1:]]),
            np.concatenate([column, self.column]),
            np.concatenate([weight, self.weight]),
        )


class WarmStart(NamedTuple):
    """Initial weights of a problem.

    Attributes
    ----------
    state
        The weights of features that the corpus has, averages and sums at 0.
    emission, edge
        The rows of features that it lacks.
    """

    state: State
    emission: CopiedRows
    edge: CopiedRows

    @classmethod
    def of(
        cls,
        model: Model,
        corpus: IndexedCorpus,
        labels: Sequence[str],
    ) -> WarmStart:
        """Return the weights of a model, with the feature numbers of a corpus.

        Parameters
        ----------
        model
            The model to continue from.
        corpus
            The new sentences.
        labels
            The new labels, which include those of the model.
        """
        layout, width = corpus.layout, len(labels)
        weights = model.weights._replace(unit=float(model.training["unit"]))
        cells = thaw(weights, len(model.labels) if model.compiled.order == 2 else 0)
        place = label_places(labels, model.labels)
        column = place
        if layout.parts is not None:
            column = label_places(component_names(labels), component_names(model.labels))
        bigram = (place[:, None] * width + place).ravel()
        emission, more = _moved(weights.emission.keys, cells[:3], column, corpus.keys)
        edge, more_edges = _moved(weights.edge.keys, cells[3:6], bigram, corpus.edge_keys)
        trigram = _moved_trigrams(cells, place, layout)
        chain = _moved_chain(cells.chain, place, layout)
        found = Cells._make([*emission, *edge, *trigram, chain])
        found = with_recall_bias(found, labels, -model.training.get("recall_bias", 0.0))
        return cls(State(found), more, more_edges)

    def complete(
        self, cells: Cells, keys: HashArray, edge_keys: HashArray
    ) -> tuple[Cells, HashArray, HashArray]:
        """Return the weights of a training with the copied rows, and the keys of all rows."""
        keys, *emission = self.emission.append_to(keys, *cells[:3])
        edge_keys, *edge = self.edge.append_to(edge_keys, *cells[3:6])
        return Cells._make([*emission, *edge, *cells[6:]]), keys, edge_keys


# --------------------------------------------------------------------------- weights
def with_recall_bias(cells: Cells, labels: Sequence[str], bias: float) -> Cells:
    """Return weights with a lower score of the label O at every token (setting ``recall-bias``).

    Each token has one label chain weight that depends on its label and the one before: the start or
    a transition. Models without label bigrams have no transitions, and do not change.

    >>> cells = Cells(*[np.zeros(1)] * 9, chain=np.zeros(2 + 2 + 4))
    >>> with_recall_bias(cells, ["B-X", "O"], 0.5).chain.tolist()
    [0.0, -0.5, 0.0, 0.0, 0.0, -0.5, 0.0, -0.5]
    """
    width = len(labels)
    if not bias or "O" not in labels or len(cells.chain) == 2 * width:
        return cells
    chain, outside = cells.chain.copy(), labels.index("O")
    chain[outside] -= bias
    chain[2 * width + outside :: width] -= bias
    return cells._replace(chain=chain)


def label_places(names: Sequence[str], old: Sequence[str]) -> NDArray[np.int64]:
    """Return the number of each of the old names."""
    number = {name: i for i, name in enumerate(names)}
    return np.array([number[name] for name in old], np.int64)


def _moved(
    keys: HashArray,
    cells: Sequence[NDArray[Any]],
    place: NDArray[np.int64],
    wanted: HashArray,
) -> tuple[tuple[NDArray[Any], ...], CopiedRows]:
    """Return rows of cells with the row numbers of the corpus, and those that it lacks.

    `keys` ascend; `place` has the new column of each old one; `wanted` are the keys of the rows.
    """
    ptr, column, weight = cells
    ascending = np.argsort(wanted)
    at = np.searchsorted(wanted[ascending], keys).clip(max=max(len(wanted) - 1, 0))
    row = ascending[at] if len(wanted) else np.zeros(len(keys), np.int64)
    here = wanted[row] == keys if len(wanted) else np.zeros(len(keys), bool)
    of_row = np.repeat(np.arange(len(keys)), np.diff(ptr))
    moved = place[column].astype(np.int32)
    shown = here[of_row]
    rows = _sorted_rows(row[of_row[shown]], moved[shown], weight[shown], len(wanted))
    number = np.cumsum(~here) - 1
    rest = _sorted_rows(number[of_row[~shown]], moved[~shown], weight[~shown], int((~here).sum()))
    return rows, CopiedRows(keys[~here], *rest)


def _sorted_rows(
    row: NDArray[Any], column: NDArray[Any], weight: NDArray[Any], rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """Return cells in order of row and column, with pointers."""
    order = np.lexsort((column, row))
    return pointers(np.bincount(row, minlength=rows)), column[order], weight[order]


def _moved_trigrams(
    cells: Cells, place: NDArray[np.int64], layout: Layout
) -> tuple[NDArray[Any], ...]:
    """Return the trigram weights; none if the old or the new model has none."""
    new, old = layout.labels, len(place)
    rows = (new + 1) * new if layout.order == 2 else 0
    nothing = np.zeros(0, np.int64)
    if not rows or len(cells.trigram_ptr) == 1:
        return _sorted_rows(nothing, nothing.astype(np.int32), cells.trigram_weight[:0], rows)
    row = np.repeat(np.arange((old + 1) * old), np.diff(cells.trigram_ptr))
    first = np.append(place, new)[row // old]
    moved = first * new + place[row % old]
    column = place[cells.trigram_label].astype(np.int32)
    return _sorted_rows(moved, column, cells.trigram_weight, rows)


def _moved_chain(
    chain: NDArray[Any], place: NDArray[np.int64], layout: Layout
) -> NDArray[np.float32]:
    """Return start, stop and transition weights; 0 where one of both models has none."""
    new, old = layout.labels, len(place)
    found = np.zeros(layout.chain, np.float32)
    found[place], found[new + place] = chain[:old], chain[old : 2 * old]
    if layout.order and len(chain) > 2 * old:
        matrix = found[2 * new :].reshape(new, new)
        matrix[np.ix_(place, place)] = chain[2 * old :].reshape(old, old)
    return found


# --------------------------------------------------------------------------- compatibility
def default_label(init: Loaded | None) -> str | None:
    """Return the column that a model labels; None if there are several, or no model."""
    return init.label if isinstance(init, Tagger) else None


def check_labels_column(init: Loaded, column: LabelColumn) -> None:
    """Refuse to continue from a model that does not label a column.

    Raises
    ------
    LabelError
        If so.
    """
    known = [model.column for model in init.models]
    if column not in known:
        names = ", ".join(map(str, known))
        msg = (
            f"expected a column that the model to continue from labels ({names}), found {column}; "
            "choose one of these, or another model"
        )
        raise LabelError(msg)


def part_of(init: Loaded | None, column: LabelColumn, settings: Mapping[str, Any]) -> Model | None:
    """Return the component of a model that labels a column, if there is one.

    Raises
    ------
    LabelError
        If it has weights for components of labels where settings ask for complete ones, or the
        other way round.
    ModelFileError
        If it does not record the unit of its weights.
    """
    models = init.models if init is not None else ()
    found = next((model for model in models if model.column == column), None)
    if found is None:
        return None
    is_complete = found.parts is None
    if settings.get("label_parts") not in (None, "whole" if is_complete else "split"):
        kind = "whole labels" if is_complete else "the components of labels"
        msg = (
            f"expected label-parts as in the model, which has weights for {kind}, found "
            f"{settings['label_parts']}; leave the setting out"
        )
        raise LabelError(msg)
    if not isinstance(found.training.get("unit"), float):
        msg = "expected a model that records the unit of its weights, found none; train it again"
        raise ModelFileError(msg)
    return found


def note_left_out(init: Loaded | None, names: Sequence[str]) -> None:
    """Warn about components of the model to continue from that the new model lacks."""
    models = init.models if init is not None else ()
    left_out = [str(each.column) for each in models if str(each.column) not in names]
    if left_out:
        _log.warning(
            "the new model has only %s; %s of the model to continue from %s not kept",
            ", ".join(names),
            ", ".join(left_out),
            "is" if len(left_out) == 1 else "are",
        )


def settings_of(
    model: Model,
    templates: Mapping[str, Value] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Settings:
    """Return the settings given, then those of new templates, then those of a model's training.

    The label coding is that of the model.
    """
    names = [setting.attribute for setting in SETTINGS.values()]
    old = {name: model.training[name] for name in names if name in model.training}
    settled = {
        "encoding": model.coding.encoding if model.coding.changes_labels else "keep",
        "label_parts": "split" if model.parts else "whole",
    }
    begun = Settings().with_values(old)
    return begun.with_values(templates or {}).with_values(settled).with_values(settings or {})


def merged_templates(model: Model, templates: TemplateSet | None) -> TemplateSet:
    """Return the model's templates, then those that are new.

    The key of a feature contains the number of its template, so those of the model keep theirs.

    Raises
    ------
    TemplateError
        If one of the model's is missing, or a new one would renumber the model's label bigrams
        that see words.
    """
    if templates is None:
        return model.templates
    old, new = (
        {(frozenset(each.terms), each.label_offsets): each for each in given.templates}
        for given in (model.templates, templates)
    )
    missing = [str(template) for key, template in old.items() if key not in new]
    if missing:
        msg = (
            f'expected the templates of the model and new ones, found them without "{missing[0]}"'
            f"{f' and {len(missing) - 1} more' if len(missing) > 1 else ''}; weights were learned "
            "for all of them: add it, or train without --init"
        )
        raise TemplateError(msg, source=templates.source)
    added = [template for key, template in new.items() if key not in old]
    if len(model.weights.edge.keys) and any(not each.label_offsets for each in added):
        plain = next(each for each in added if not each.label_offsets)
        msg = (
            f'expected no new templates without labels, found "{plain}": the model has label '
            "bigrams that see words, which are numbered after these; train without --init"
        )
        raise TemplateError(msg, source=templates.source)
    both = (*model.templates.templates, *added)
    tables = {**model.templates.tables, **templates.tables}
    return TemplateSet(both, templates.settings, templates.source, tables)


def check_columns(model: Model, compiled: CompiledTemplates) -> None:
    """Refuse columns whose positions differ from those of the model's templates.

    Raises
    ------
    TemplateError
        If a template now looks at another column.
    """
    for kind in ("templates", "edges"):
        old, new = (
            [[(each.attributes[a], offset) for a, offset in terms] for terms in getattr(each, kind)]
            for each in (model.compiled, compiled)
        )
        if new[: len(old)] != old:
            msg = (
                f"expected the columns {', '.join(model.compiled.columns)} where the model's "
                f"templates look for them, found {', '.join(compiled.columns)}; name the columns "
                "with --columns"
            )
            raise TemplateError(msg)


def coding_to_go_on(
    model: Model,
    transitions: Mapping[Transition, int],
    settings: Settings,
    *,
    constrain: bool,
    encoding_given: bool,
) -> LabelCoding:
    """Return the coding of a model for new sentences, whose chunk scheme may differ.

    Raises
    ------
    LabelError
        If an encoding is given that is not the model's, or the model has chunk labels and the
        new labels are none.
    """
    coding = model.coding
    wanted = coding.scheme if settings.encoding == "keep" else settings.encoding
    if encoding_given and wanted != coding.encoding:
        msg = (
            f"expected the encoding {coding.encoding or 'keep'} that the model has learned, found "
            f"{settings.encoding}; leave it out, or train without --init"
        )
        raise LabelError(msg)
    if coding.scheme is None:
        return coding
    free = model.compiled.order == 0  # then nothing could be constrained
    coding = replace(coding, constrained=constrain and (coding.constrained or free))
    if not invalid_transitions(transitions, str(coding.scheme)):
        return coding
    written = scheme_of(transitions)
    if written is None:
        other = next(label for pair in transitions for label in pair if label is not None)
        msg = (
            f"expected chunk labels such as the model's, written as {coding.scheme}, found "
            f"labels like {other!r}; is it the right column?"
        )
        raise LabelError(msg)
    return replace(coding, scheme=written)


# --------------------------------------------------------------------------- words
def merged_tag_dictionary(
    model: Model,
    labels: Sequence[str],
    seen: TagDictionary,
    often: TagDictionary,
    before: HashArray,
) -> TagDictionary:
    """Return the tag dictionary after both trainings.

    Words in the tag dictionary of the model get the labels of the new sentences as well. A
    frequent word of the new sentences is added only if the model does not know it, because the
    labels that a known word had are not stored.

    Parameters
    ----------
    model
        The model to continue from.
    labels
        The new labels, whose numbers `seen` and `often` have.
    seen, often
        The labels of all words of the new sentences, and of those that are frequent there.
    before
        Keys of words that the model knows.
    """
    old, place = model.tag_dictionary, label_places(labels, model.labels)
    allowed = {key: {*place[[*found]].tolist()} for key, found in _labels_of(old).items()}
    new = {*_names(often.keys)} - {*_names(before)}
    for key, found in _labels_of(seen).items():
        if key in allowed or key in new:
            allowed.setdefault(key, set()).update(found)
    rows = [sorted(allowed[key]) for key in sorted(allowed)]
    return TagDictionary(
        often.attribute,
        np.frombuffer(b"".join(sorted(allowed)), _NAME).astype(np.uint64),
        pointers(map(len, rows)),
        np.array([label for row in rows for label in row], np.uint16),
    )


def _labels_of(known: TagDictionary) -> dict[bytes, list[int]]:
    """Return the labels of each word, by its key as bytes."""
    labels = np.split(known.labels.astype(np.int64), known.row_ptr[1:-1])
    return {key: found.tolist() for key, found in zip(_names(known.keys), labels, strict=False)}


def _names(keys: HashArray) -> list[bytes]:
    """Return keys as bytes in the same order: Python seeds hashes of bytes, not those of ints."""
    data = keys.astype(_NAME).tobytes()
    return [data[start : start + 8] for start in range(0, len(data), 8)]
