"""Models: the result of training, as tagging needs it and as model files hold it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from seqtag.engine import backend
from seqtag.engine.arrays import (
    FORBIDDEN,
    MAX_LABELS,
    MAX_TRIGRAM_LABELS,
    MOST_WITH_BIGRAMS,
    NO_TAG_DICTIONARY,
    LabelComponents,
    LabelsByTags,
    QuantizedWeights,
    Rows,
    TagDictionary,
    pointers,
)
from seqtag.errors import ModelFileError, SeqtagError, TemplateError
from seqtag.features.attributes import is_attribute
from seqtag.features.language import parse
from seqtag.features.templates import MOST_COLUMNS
from seqtag.labels.coding import LabelCoding
from seqtag.labels.column import NO_LABELS, LabelColumn, is_column_name
from seqtag.labels.lemmas import LemmaCoding, NormalLemmaCoding
from seqtag.labels.schemes import SCHEMES
from seqtag.labels.spelling import is_spelling
from seqtag.model.attested import AttestedLemmas
from seqtag.model.calibration import Calibration, is_calibration
from seqtag.model.compact import ROWS
from seqtag.model.container import expect, pack_strings, show, unpack_strings
from seqtag.model.known_words import KnownWords, known_attribute
from seqtag.model.sentence_lengths import MOST_LENGTHS, are_lengths
from seqtag.tables.model_io import chosen, facts_of
from seqtag.version import __version__

if TYPE_CHECKING:
    from seqtag.engine.frozen import Decoder
    from seqtag.features.templates import CompiledTemplates, TemplateSet
    from seqtag.model.container import Contents
    from seqtag.tables.table import WordTable

Tensors = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Model:
    """Trained model: label coding, templates, weights, and where they come from. Immutable.

    Parameters
    ----------
    column
        Label column.
    coding
        Scheme and encoding of its labels.
    labels
        Encoded labels; the position of a label is its id.
    templates
        Feature templates, without settings, and their word tables.
    columns
        Columns of the training files up to the last one in use: templates may number columns.
    compiled
        Templates bound to the columns.
    weights
        Integer weights.
    known_words
        Hashes of the words of the training data.
    parts
        Label components that emission weights belong to, instead of complete labels.
    tag_dictionary
        Tag dictionary: the labels that frequent words may have.
    by_tags
        Labels that tokens with certain tags may have, and the lemmas of words with certain tags;
        None if tags do not restrict them.
    writer
        Program that trained it or wrote its file.
    training
        Provenance: settings, seed, size and digest of the corpus, scores. JSON values.
    calibration
        Calibration of margins, if it was learned.
    sentence_lengths
        Scores of sentences of 1, 2, ... words, if a segmenter looks for the best breaks; see
        `seqtag.model.sentence_lengths`.
    attested
        Attested lemmas, which those of unknown words should be; None if they are not used.
    """

    column: LabelColumn
    coding: LabelCoding
    labels: Sequence[str]
    templates: TemplateSet
    columns: Sequence[str]
    compiled: CompiledTemplates
    weights: QuantizedWeights
    known_words: KnownWords
    parts: LabelComponents | None = None
    tag_dictionary: TagDictionary = NO_TAG_DICTIONARY
    by_tags: LabelsByTags | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    calibration: Calibration | None = None
    writer: str = f"seqtag {__version__}"
    sentence_lengths: Sequence[int] = ()
    attested: AttestedLemmas | None = None

    @property
    def interrupted(self) -> bool:
        """True if its training was interrupted."""
        return bool(self.training.get("interrupted"))

    def decoder(self, views: Sequence[Sequence[str]] = ()) -> Decoder:
        """Build the decoder, with the transitions that the label coding forbids.

        `views` as for `CompiledTemplates.key_plans`.
        """
        start, stop, transition = self.weights[3:6]
        legal = self.coding.allowed(self.labels)
        if legal is not None:
            start, transition, stop = (
                np.where(fine, part, np.float32(FORBIDDEN))
                for fine, part in zip(legal, (start, transition, stop), strict=True)
            )
        weights = self.weights._replace(
            start=np.ascontiguousarray(start),
            stop=np.ascontiguousarray(stop),
            transition=np.ascontiguousarray(transition),
        )
        compiled = self.compiled
        return backend.Decoder(
            compiled.order,
            *compiled.key_plans(views),
            weights,
            self.parts,
            self.tag_dictionary,
            self.by_tags,
        )

    @property
    def tables(self) -> Sequence[WordTable]:
        """The word tables that its templates use."""
        return list(self.compiled.tables.values())

    @property
    def dense(self) -> int:
        """Number of label bigram and trigram weights, most of them zero."""
        labels, order = len(self.labels), self.compiled.order
        return sum((0, labels**2, (labels + 1) * labels**2)[: order + 1])

    # ----------------------------------------------------------------- files
    def config(self) -> dict[str, Any]:
        """Return the configuration for a model file."""
        config: dict[str, Any] = {
            "label": self.column.name,
            "scheme": self.coding.scheme,
            "encoding": self.coding.encoding,
            "constrain": self.coding.constrained,
            "coding": self.coding.name,
            "columns": list(self.columns),
            "templates": str(self.templates),
            "own_forms": self.attested is not None and self.attested.own_forms,
            "training": dict(self.training),
            "calibration": None if self.calibration is None else self.calibration.to_dict(),
            "sentence_lengths": list(self.sentence_lengths),
        }
        if self.tables:  # shown by `seqtag info`; a file lists numbers of tables instead
            config["tables"] = [
                {**facts_of(table), "entries": len(table), "values": len(table.values)}
                for table in self.tables
            ]
        return config

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return the arrays for a model file."""
        weights, parts, by_tags = self.weights, self.parts, self.by_tags
        blob, offsets = pack_strings(list(self.labels))
        transition = weights.transition.ravel()
        cells = np.flatnonzero(transition)
        tensors: dict[str, NDArray[Any]] = {
            "labels.blob": blob,
            "labels.offsets": offsets,
            "known": self.known_words.hashes,
            "start": weights.start.astype(np.int32),
            "stop": weights.stop.astype(np.int32),
            "transition.cells": cells.astype(np.int64),
            "transition.weights": transition[cells].astype(np.int32),
            "parts.counts": np.diff(parts.ptr if parts else []).astype(np.uint16),
            "parts.parts": (parts.part if parts else np.zeros(0)).astype(np.int32),
            "attested": self.attested.hashes if self.attested else np.zeros(0, np.uint32),
        }
        rows_of = {
            **{name: getattr(weights, name) for name in _WEIGHTED},
            "tag_dictionary": self.tag_dictionary,
            "by_tags": by_tags or NO_TAG_DICTIONARY,
        }
        for name, rows in rows_of.items():
            tensors[f"{name}.keys"] = rows.keys
            tensors[f"{name}.cells"] = np.diff(rows.row_ptr).astype(np.uint16)
            tensors[f"{name}.labels"] = rows.labels
            if name in _WEIGHTED:
                tensors[f"{name}.weights"] = rows.weights
        return tensors

    @classmethod
    def of(
        cls, contents: Contents, source: str = "<model>", tables: Sequence[WordTable] = ()
    ) -> Model:
        """Build a model from contents with the word tables of its file.

        `seqtag.model.bundle` loads all models of a file.

        Raises
        ------
        ModelFileError
            If the contents are not those of a model, or are inconsistent.
        """
        tensors = contents.tensors
        expect(tensors, TENSORS, source=source)
        with fitting(source):
            config = ModelConfig.of(contents.config, source)
            column = config.column(source)
            templates = _parsed(config.templates, config.columns, source)
            templates = templates.with_tables(chosen(config.tables, tables, source))
            compiled = templates.compile(config.columns)
            coding = config.label_coding(source)
            labels = unpack_strings(
                tensors["labels.blob"], tensors["labels.offsets"], source=source
            )
            order = max(compiled.order, int(config.constrain))
            _check_labels(labels, order, edges=bool(compiled.edges), source=source)
            coding.check(labels)
            if coding.needs_forms and "form" not in compiled.columns:
                refuse(
                    f"expected a template that looks at the column form, from which {coding.name} "
                    "are computed, found none",
                    source,
                )
            attested = None
            if len(tensors["attested"]):
                if not coding.needs_forms or compiled.order or compiled.edges:
                    refuse("expected attested lemmas in a model of lemmas alone", source)
                attested = AttestedLemmas(tensors["attested"], config.own_forms)
            words, tags = _rows(tensors, "tag_dictionary"), _rows(tensors, "by_tags")
            attribute = known_attribute(compiled) if len(words.keys) else -1
            by_tags = None
            if len(tags.keys) or len(tags.labels):
                by_tags = LabelsByTags(compiled.tag_plan(words=coding.needs_forms), *tags[:3])
            return cls(
                column,
                coding,
                labels,
                templates,
                config.columns,
                compiled,
                _weights(tensors, len(labels), compiled.order),
                KnownWords(tensors["known"]),
                parts=_parts(tensors),
                tag_dictionary=TagDictionary(attribute, *words[:3]),
                by_tags=by_tags,
                training=config.training,
                calibration=config.calibration and Calibration.from_dict(config.calibration),
                writer=contents.writer,
                sentence_lengths=config.sentence_lengths,
                attested=attested,
            )


class ModelConfig(NamedTuple):
    """Configuration of a model in its file; `Model` describes what the entries mean."""

    label: str
    scheme: str | None
    encoding: str | None
    constrain: bool
    coding: str
    columns: Sequence[str]
    templates: str
    own_forms: bool
    training: Mapping[str, Any]
    calibration: Any
    sentence_lengths: Sequence[int]
    tables: Any  # numbers of tables in the file

    @classmethod
    def of(cls, entries: Mapping[str, Any], source: str) -> ModelConfig:
        """Check the entries of a file, each by itself."""
        for name, (expected, fits) in _CONFIG.items():
            if not fits(entries[name]):
                found = show(entries[name])
                refuse(f"expected a model whose {name} is {expected}, found {found}", source)
        complete = {"tables": [], **entries}
        return cls(**{name: complete[name] for name in cls._fields})

    def column(self, source: str) -> LabelColumn:
        """Return the label column."""
        column = LabelColumn(self.label)
        for name in column.columns:
            if name in NO_LABELS:
                msg = "expected a model whose label column is not an input, found one that"
                refuse(f"{msg} overwrites {show(name)}", source)
        return column

    def label_coding(self, source: str) -> LabelCoding:
        """Return the coding of the labels."""
        scheme, encoding, constrain = self.scheme, self.encoding, self.constrain
        if (scheme is None) != (encoding is None) or (constrain and encoding is None):
            refuse(
                "expected a model with both scheme and encoding, or neither and no constrain, "
                f"found scheme {show(scheme)}, encoding {show(encoding)} and constrain {constrain}",
                source,
            )
        return _CODINGS[self.coding](scheme, encoding, constrain)


@contextmanager
def fitting(source: str) -> Iterator[None]:
    """Turn errors inside into one about an inconsistent model."""
    try:
        yield
    except ModelFileError:
        raise
    except SeqtagError as error:
        msg = f"the model is inconsistent: {_short(error)}"
        raise ModelFileError(msg, source=source) from error
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        msg = (
            f"expected a complete seqtag model, found a damaged one ({_short(error)}); "
            "get the file again or retrain"
        )
        raise ModelFileError(msg, source=source) from error


def check_models(models: object) -> None:
    """Refuse what is no sequence of models.

    Raises
    ------
    TypeError
        If it is none.
    """
    several = models if isinstance(models, Sequence) else [models]
    for each in several:
        if not isinstance(each, Model):
            msg = f"expected models, found {each!r:.60}; give a file to seqtag.load, or its models"
            raise TypeError(msg)


def _short(error: Exception) -> str:
    """Return the message of an error, shortened and printable."""
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(error))
    half = _SHOWN_CHARACTERS // 2
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:half]} ... {text[-half:]}"


def refuse(message: str, source: str) -> NoReturn:
    """Refuse a model whose parts do not fit together."""
    msg = f"{message}; get the file again or retrain"
    raise ModelFileError(msg, source=source)


_SHOWN_CHARACTERS = 1000  # characters of an error that are shown


# --------------------------------------------------------------------------- contents
_WEIGHTED = ("emission", "edge", "trigram")  # rows that have weights

TENSORS = {
    "labels.blob": ("u1", 1),
    "labels.offsets": ("i8", 1),
    "known": ("u8", 1),
    "start": ("i4", 1),
    "stop": ("i4", 1),
    "transition.cells": ("i8", 1),
    "transition.weights": ("i4", 1),
    "parts.counts": ("u2", 1),
    "parts.parts": ("i4", 1),
    "attested": ("u4", 1),
    **{f"{rows}.keys": ("u8", 1) for rows in ROWS},
    **{f"{rows}.cells": ("u2", 1) for rows in ROWS},
    **{f"{rows}.labels": ("u2", 1) for rows in ROWS},
    **{f"{rows}.weights": ("i1", 1) for rows in _WEIGHTED},
}
"""Data type and number of dimensions of each array of a file."""

_LARGEST_WEIGHT = 2**24
"""Weights of labels and label bigrams: all up to this are numbers of float32."""

_NO_DEV: Mapping[str, Any] = {"metric": "", "score": 0.0, "signature": ""}

_CODINGS = {coding.name: coding for coding in (LabelCoding, LemmaCoding, NormalLemmaCoding)}

_CONFIG: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "label": ("the name of a column", is_column_name),
    "scheme": (f"one of {', '.join(SCHEMES)} or null", lambda value: value in (None, *SCHEMES)),
    "encoding": (f"one of {', '.join(SCHEMES)} or null", lambda value: value in (None, *SCHEMES)),
    "constrain": ("true or false", lambda value: isinstance(value, bool)),
    "coding": (" or ".join(_CODINGS), lambda value: isinstance(value, str) and value in _CODINGS),
    "columns": ("a list of at most 10,000 distinct names", lambda value: _are_names(value)),
    "templates": ("a text", lambda value: isinstance(value, str)),
    "own_forms": ("true or false", lambda value: isinstance(value, bool)),
    "training": ("an object of facts about the training", lambda value: _is_training(value)),
    "calibration": (
        "increasing margins with shares that do not decrease, or null",
        lambda value: value is None or is_calibration(value),
    ),
    "sentence_lengths": (f"a list of at most {MOST_LENGTHS} integers", are_lengths),
}
"""Description and check of each entry of the configuration."""


def _is_training(value: Any) -> bool:
    """Return whether a value is an object whose usual entries, if present, have the right types."""
    if not isinstance(value, dict):
        return False
    dev, epochs = value.get("dev", _NO_DEV), value.get("best_epochs", [])
    return (
        all(type(value.get(name, 0)) is int for name in ("sentences", "tokens"))
        and isinstance(value.get("corpus_sha256", ""), str)
        and _is_layout(value.get("layout", {"columns": [], "label": ""}))
        and isinstance(epochs, list)
        and isinstance(dev, dict)
        and dev.keys() >= _NO_DEV.keys()
        and type(dev["score"]) in (int, float)
    )


def _is_layout(value: Any) -> bool:
    """Return whether a value records the columns of a file, the learned one and its spelling."""
    if not isinstance(value, dict) or not {"columns", "label"} <= value.keys():
        return False
    spelling = value.get("spelling", {})
    return (
        value.keys() <= {"columns", "label", "spelling", "mark"}
        and isinstance(value.get("mark", ""), str)
        and _are_names(value["columns"])
        and isinstance(value["label"], str)
        and isinstance(spelling, dict)
        and (not spelling or is_spelling(spelling))
    )


def _are_names(value: Any) -> bool:
    """Return whether a value is a list of different names, not too many and printable."""
    if not isinstance(value, list) or len(value) > MOST_COLUMNS:
        return False
    shown = all(isinstance(name, str) and name.isprintable() for name in value)
    return shown and len({*value}) == len(value)


def _parsed(text: str, columns: Sequence[str], source: str) -> TemplateSet:
    """Parse the templates of a file.

    Raises
    ------
    ModelFileError
        If they need an attribute that is not registered.
    """
    try:
        templates = parse(text)
        templates.looks_at(columns)
    except TemplateError as error:
        name = error.message.partition("'")[2].partition("'")[0]
        if not error.message.startswith("unknown ") or is_attribute(name):
            raise
        msg = (
            f"expected the attribute {name!r}, with which this model was trained, found none of "
            "that name; name the Python file that defines it with --attributes FILE.py, or import "
            "it before the model is loaded"
        )
        raise ModelFileError(msg, source=source) from error
    return templates


def _check_labels(labels: Sequence[str], order: int, *, edges: bool, source: str) -> None:
    """Refuse too many labels before a table of all pairs is allocated."""
    limit, what = MAX_LABELS, ""
    if order == 2 or edges:
        limit, what = MAX_TRIGRAM_LABELS, " with label trigrams or word-dependent label bigrams"
    elif order == 1:
        limit, what = MOST_WITH_BIGRAMS, " with label bigrams"
    if not 1 <= len(labels) <= limit:
        msg = f"expected a model of 1 to {limit:,} labels{what}, found {len(labels):,}"
        refuse(msg, source)
    if len({*labels}) < len(labels):
        twice = next(label for label, count in Counter(labels).items() if count > 1)
        refuse(f"expected distinct labels, found {show(twice)} twice", source)


def _weights(tensors: Tensors, labels: int, order: int) -> QuantizedWeights:
    """Build the weights of a model; order 0 has no transitions."""
    if not len(tensors["start"]) == len(tensors["stop"]) == labels:
        msg = f"start, stop and transition must be of the {labels} labels"
        raise ValueError(msg)
    for name in ("start", "stop", "transition.weights"):
        found = tensors[name]
        most = _LARGEST_WEIGHT
        if found.max(initial=0) > most or found.min(initial=0) < -most:
            msg = f"{name} must be integers up to {most:,}, which float32 represents exactly"
            raise ValueError(msg)
    side = labels if order else 0
    transition = np.zeros(side * side, np.float32)
    cells = tensors["transition.cells"]
    if len(cells) and cells.min() < 0:
        msg = "a transition is out of range"
        raise ValueError(msg)
    transition[cells] = tensors["transition.weights"]
    return QuantizedWeights(
        _rows(tensors, "emission"),
        _rows(tensors, "edge"),
        _rows(tensors, "trigram"),
        np.asarray(tensors["start"], np.float32),
        np.asarray(tensors["stop"], np.float32),
        transition.reshape(side, side),
    )


def _parts(tensors: Tensors) -> LabelComponents | None:
    """Return the components of labels; None if labels have none."""
    counts, part = tensors["parts.counts"], np.ascontiguousarray(tensors["parts.parts"])
    # Each component is listed, so that a damaged file cannot ask for more.
    components = min(int(part.max(initial=-1)) + 1, len(part))
    return LabelComponents(pointers(counts), part, components) if len(counts) else None


def _rows(tensors: Tensors, name: str) -> Rows:
    row_ptr = pointers(tensors[f"{name}.cells"])
    keys, labels = (np.ascontiguousarray(tensors[f"{name}.{part}"]) for part in ("keys", "labels"))
    weights = tensors.get(f"{name}.weights", np.zeros(len(labels), np.int8))
    return Rows(keys, row_ptr, labels, np.ascontiguousarray(weights))
