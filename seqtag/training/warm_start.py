"""Warm start: weights, labels and words of a trained model in a new learning problem.

A model holds averaged weights and nothing else of its training, so only these are carried over, and
the average starts afresh: it is the mean of the weights after each sentence of the new training,
all of which include the model's weights.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.engine.arrays import Cells, HashArray, TagDictionary, numbered_pairs, pointers
from seqtag.errors import LabelError, ModelFileError
from seqtag.labels.column import component_names
from seqtag.labels.schemes import invalid_transitions, scheme_of
from seqtag.model.freeze import label_places, thaw, with_recall_bias
from seqtag.settings import SETTINGS, Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from seqtag.features.index import IndexedCorpus
    from seqtag.labels.coding import LabelCoding
    from seqtag.labels.column import LabelColumn
    from seqtag.labels.schemes import Transition
    from seqtag.model.model import Model
    from seqtag.tagging.pipeline import Loaded


# --------------------------------------------------------------------------- weights
def with_features_of(model: Model, corpus: IndexedCorpus) -> IndexedCorpus:
    """Return the corpus with rows for the features of the model that its sentences lack."""
    keys, edge_keys = (
        np.concatenate([ours, np.setdiff1d(theirs, ours)])
        for ours, theirs in (
            (corpus.keys, model.weights.emission.keys),
            (corpus.edge_keys, model.weights.edge.keys),
        )
    )
    layout = corpus.layout._replace(rows=len(keys), edges=len(edge_keys))
    return corpus._replace(layout=layout, keys=keys, edge_keys=edge_keys)


def weights_of(model: Model, corpus: IndexedCorpus, labels: Sequence[str]) -> Cells:
    """Return the weights of a model, with the rows and labels of a new training.

    Parameters
    ----------
    model
        The model to continue from.
    corpus
        The new sentences, with rows for all features of the model.
    labels
        The new labels, which include those of the model.
    """
    layout, new, old = corpus.layout, len(labels), len(model.labels)
    weights = model.weights._replace(unit=float(model.training["unit"]))
    cells = thaw(weights, old if model.compiled.order == 2 else 0)
    place = column = label_places(labels, model.labels)
    if layout.parts is not None:
        column = label_places(component_names(labels), component_names(model.labels))
    bigram = (place[:, None] * new + place).ravel()
    emission = _moved(cells[:3], _rows(corpus.keys, weights.emission.keys), column, layout.rows)
    edge = _moved(cells[3:6], _rows(corpus.edge_keys, weights.edge.keys), bigram, layout.edges)
    trigrams = (new + 1) * new if layout.order == 2 else 0
    trigram = (
        cells[6:9] if trigrams else (np.zeros(1, np.int64), *(each[:0] for each in cells[7:9]))
    )
    pair = np.arange(len(trigram[0]) - 1)
    row = np.append(place, new)[pair // old] * new + place[pair % old]
    found = Cells._make(
        [
            *emission,
            *edge,
            *_moved(trigram, row, place, trigrams),
            np.zeros(layout.chain, np.float32),
        ]
    )
    chain, before = found.chain, cells.chain
    chain[place], chain[new + place] = before[:old], before[old : 2 * old]
    if layout.order and len(before) > 2 * old:
        matrix = chain[2 * new :].reshape(new, new)
        matrix[np.ix_(place, place)] = before[2 * old :].reshape(old, old)
    return with_recall_bias(found, labels, -model.training.get("recall_bias", 0.0))


def _rows(keys: HashArray, wanted: HashArray) -> NDArray[np.int64]:
    """Return the row of each key."""
    ascending = np.argsort(keys)
    return ascending[np.searchsorted(keys[ascending], wanted)]


def _moved(
    cells: Sequence[NDArray[Any]], row: NDArray[np.int64], column: NDArray[np.int64], rows: int
) -> tuple[NDArray[Any], ...]:
    """Return cells in other rows and columns: the new one of each old one is given."""
    ptr, old_column, weight = cells
    new_row, new_column = np.repeat(row, np.diff(ptr)), column[old_column].astype(np.int32)
    order = np.lexsort((new_column, new_row))
    return pointers(np.bincount(new_row, minlength=rows)), new_column[order], weight[order]


# --------------------------------------------------------------------------- compatibility
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


def settings_of(model: Model, settings: Mapping[str, Any]) -> Settings:
    """Return the settings given, then those of a model's training; the coding is the model's."""
    names = [setting.attribute for setting in SETTINGS.values()]
    old = {name: model.training[name] for name in names if name in model.training}
    settled = {
        "encoding": model.coding.encoding if model.coding.changes_labels else "keep",
        "label_parts": "split" if model.parts else "whole",
    }
    return Settings().with_values(old).with_values(settled).with_values(settings)


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
    coding = replace(coding, constrained=constrain and coding.constrained)
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
    old = model.tag_dictionary
    kept = np.union1d(old.keys, np.setdiff1d(often.keys, before))
    key, ours = (np.repeat(each.keys, np.diff(each.row_ptr)) for each in (seen, old))
    fits = np.isin(key, kept)
    word = np.searchsorted(kept, np.concatenate([key[fits], ours]))
    label = np.concatenate([seen.labels[fits], label_places(labels, model.labels)[old.labels]])
    word, label, _ = numbered_pairs(word, label, len(labels))
    row_ptr = pointers(np.bincount(word, minlength=len(kept)))
    return TagDictionary(often.attribute, kept, row_ptr, label.astype(np.uint16))
