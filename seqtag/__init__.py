"""seqtag: sequence labelling with the averaged structured perceptron."""

from __future__ import annotations

from seqtag import hooks
from seqtag.version import __version__

TYPE_CHECKING = (
    False  # type checkers take it for true; importing typing would take ten times as long
)
if TYPE_CHECKING:
    from seqtag.batch.parameter_mixing import train_shards
    from seqtag.batch.tag_file import FileResult, tag_file
    from seqtag.classifiers import (
        BinaryPerceptron,
        MulticlassPerceptron,
        SigmoidNeuron,
        VotedPerceptron,
    )
    from seqtag.corpus import read
    from seqtag.evaluation import evaluate
    from seqtag.tables.learn import WordClasses, learn_classes
    from seqtag.tables.lexicon import read_table
    from seqtag.tables.table import WordTable
    from seqtag.tagging.chain import TagOptions
    from seqtag.tagging.document import Document
    from seqtag.tagging.pipeline import Pipeline, load
    from seqtag.tagging.tagger import Tagger
    from seqtag.training.train import train

__all__ = [
    "BinaryPerceptron",
    "Document",
    "FileResult",
    "MulticlassPerceptron",
    "Pipeline",
    "SigmoidNeuron",
    "TagOptions",
    "Tagger",
    "VotedPerceptron",
    "WordClasses",
    "WordTable",
    "__version__",
    "evaluate",
    "learn_classes",
    "load",
    "read",
    "read_table",
    "tag_file",
    "train",
    "train_shards",
]

_HOME = {
    "BinaryPerceptron": "classifiers",
    "Document": "tagging.document",
    "FileResult": "batch.tag_file",
    "MulticlassPerceptron": "classifiers",
    "Pipeline": "tagging.pipeline",
    "SigmoidNeuron": "classifiers",
    "TagOptions": "tagging.chain",
    "Tagger": "tagging.tagger",
    "VotedPerceptron": "classifiers",
    "WordClasses": "tables.learn",
    "WordTable": "tables.table",
    "evaluate": "evaluation",
    "learn_classes": "tables.learn",
    "load": "tagging.pipeline",
    "read": "corpus",
    "read_table": "tables.lexicon",
    "tag_file": "batch.tag_file",
    "train": "training.train",
    "train_shards": "batch.parameter_mixing",
}


def _partial_fit(*args: object, **options: object) -> object:
    """Call `seqtag.training.online.partial_fit`, imported at the first call."""
    from importlib import import_module

    return import_module("seqtag.training.online").partial_fit(*args, **options)


hooks.register("partial_fit", _partial_fit)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that a command loads what it needs."""
    if name not in _HOME:
        msg = f"module 'seqtag' has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib import import_module

    value = getattr(import_module(f"seqtag.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
