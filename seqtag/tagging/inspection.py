"""The weights of a model, with names for its features.

A model file knows features by 64-bit hashes, not by name. The names of those that a corpus has are
found by making the keys of its features again; the others keep their number.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seqtag.engine import backend
from seqtag.engine.arrays import pointers
from seqtag.engine.keys import keys
from seqtag.features.encoder import Encoder
from seqtag.tagging.explanation import LEFT, RIGHT, Encoded, feature_text
from seqtag.tagging.inputs import columns_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from seqtag.engine.arrays import Rows
    from seqtag.model.model import Model
    from seqtag.tagging.batches import AnySentence

_BATCH = 2000  # sentences whose keys are made at once


class Weight(NamedTuple):
    """A weight that is not zero.

    Attributes
    ----------
    feature
        Name of the feature, or ``#`` and its key where that is all that is known.
    label
        The label, or the part of labels, or the labels one after another.
    weight
        In units of the model; no feature has more than 127.
    """

    feature: str
    label: str
    weight: float


def names_of(model: Model, sentences: Iterable[AnySentence]) -> dict[int, str]:
    """Names of the features of a model that some sentences have, by key.

    Parameters
    ----------
    model
        Its keys are looked for.
    sentences
        As `Tagger.tag` takes them; the training data name every feature.

    Examples
    --------
    >>> import seqtag
    >>> names = names_of(seqtag.load("en-ewt-upos").model, [["Birds", "sing"]])
    >>> "suffix(2)[0]=ng" in names.values()
    True
    """
    names: dict[int, str] = {}
    encoder = Encoder(model.compiled, backend.hash_strings)
    batch: list[Sequence[Sequence[str]]] = []
    for sentence in sentences:
        batch.append(columns_of(sentence, model.compiled.columns))
        if len(batch) == _BATCH:
            _name(model, encoder, batch, names)
            batch = []
    if batch:
        _name(model, encoder, batch, names)
    return names


def _name(
    model: Model,
    encoder: Encoder,
    batch: Sequence[Sequence[Sequence[str]]],
    out_names: dict[int, str],
) -> None:
    """Add the names of the features of some sentences, given as columns."""
    compiled = model.compiled
    ptr = pointers(len(each[0]) for each in batch)
    columns = [[each[c] for each in batch] for c in range(len(compiled.columns))]
    types = encoder.encode(columns, int(ptr[-1]))
    templates = model.templates.templates
    kinds = (
        (model.weights.emission, compiled.templates, [t for t in templates if not t.label_offsets]),
        (model.weights.edge, compiled.edges, [t for t in templates if t.label_offsets and t.terms]),
    )
    for (rows, terms, written), plan in zip(kinds, compiled.key_plans(), strict=True):
        found = keys(plan, types, encoder.hashes, ptr)
        for number, (template, term) in enumerate(zip(written, terms, strict=True)):
            distinct, first = np.unique(found[:, number], return_index=True)
            known = np.isin(distinct, rows.keys)
            for key, n in zip(distinct[known].tolist(), first[known].tolist(), strict=True):
                if key not in out_names:
                    s = int(np.searchsorted(ptr, n, side="right")) - 1
                    here = slice(int(ptr[s]), int(ptr[s + 1]))
                    one = Encoded(batch[s], types[:, here], encoder.hashes)
                    out_names[key] = feature_text(compiled, template, term, one, n - here.start)


def weights_of(
    model: Model, names: Mapping[int, str], label: str | None = None, feature: str | None = None
) -> list[Weight]:
    """Weights of features, the largest first, whatever their sign.

    Parameters
    ----------
    model
        Whose weights.
    names
        Of features by key; see `names_of`.
    label
        Those of one label only, as it is learnt, or one of the parts that labels are made of.
    feature
        Those of features only whose name fits a pattern with ``*`` and ``?``.
    """
    labels = list(model.labels)
    columns = _parts(model) if model.parts else labels
    found = list(_of_rows(model.weights.emission, names, columns))
    pairs = [f"{a} {b}" for a in labels for b in labels] if len(model.weights.edge.keys) else []
    found += _of_rows(model.weights.edge, names, pairs)
    return _chosen(found, label, feature)


def transitions_of(
    model: Model, label: str | None = None, feature: str | None = None
) -> list[Weight]:
    """Weights of label bigrams and trigrams, as `weights_of`; ends of sentences are labels there.

    Chunk labels that may not follow each other have no weight at all.
    """
    weights, labels = model.weights, list(model.labels)
    found: list[Weight] = []
    if model.compiled.order:
        for names, row in (
            ([f"{LEFT} {x}" for x in labels], weights.start),
            ([f"{x} {RIGHT}" for x in labels], weights.stop),
        ):
            pairs = zip(names, row.tolist(), strict=True)
            found += [Weight("label[-1]", name, weight) for name, weight in pairs]
        for i, j in zip(*np.nonzero(weights.transition), strict=True):
            pair = f"{labels[i]} {labels[j]}"
            found.append(Weight("label[-1]", pair, float(weights.transition[i, j])))
    starts = [*labels, LEFT]
    for key, j, weight in _cells(weights.trigram):
        a, b = divmod(key - 1, len(labels))
        three = f"{starts[a]} {labels[b]} {labels[j]}"
        found.append(Weight("label[-2] + label[-1]", three, weight))
    return _chosen([each for each in found if each.weight], label, feature)


def _chosen(found: Iterable[Weight], label: str | None, feature: str | None) -> list[Weight]:
    """The weights asked for, the largest first."""
    kept = [
        each
        for each in found
        if (label is None or label in (each.label, each.label.rpartition(" ")[2]))
        and (feature is None or fnmatchcase(each.feature, feature))
    ]
    return sorted(kept, key=lambda each: (-abs(each.weight), each.feature, each.label))


def _of_rows(rows: Rows, names: Mapping[int, str], columns: Sequence[str]) -> Iterator[Weight]:
    """The weights of some rows."""
    for key, j, weight in _cells(rows):
        yield Weight(names.get(key, f"#{key:016x}"), columns[j], weight)


def _cells(rows: Rows) -> Iterator[tuple[int, int, float]]:
    """Key, column and weight of each cell."""
    row_keys = np.repeat(rows.keys, np.diff(rows.row_ptr)).tolist()
    yield from zip(row_keys, rows.labels.tolist(), map(float, rows.weights.tolist()), strict=True)


def _parts(model: Model) -> list[str]:
    """Names of the parts that labels are made of."""
    names: dict[int, str] = {}
    if model.parts is not None:
        for j, label in enumerate(model.labels):
            split = dict.fromkeys(label.split("|"))
            names.update(zip(model.parts.of(j).tolist(), split, strict=True))
    return [names[part] for part in range(len(names))]
