"""seqtag: sequence labeling with the averaged structured perceptron."""

from __future__ import annotations

from seqtag.lazy import names_of
from seqtag.version import __version__

TYPE_CHECKING = (
    False  # type checkers take it for true; importing typing would take ten times as long
)
if TYPE_CHECKING:
    from seqtag.batch import tag_files
    from seqtag.classifiers import (
        BinaryPerceptron,
        MulticlassPerceptron,
        SigmoidNeuron,
        VotedPerceptron,
    )
    from seqtag.corpus import Layout, Sentence, read, sniff
    from seqtag.evaluation import Report, evaluate, score
    from seqtag.loading import load
    from seqtag.tables.learn import WordClasses, learn_classes
    from seqtag.tables.lexicon import read_table
    from seqtag.tables.table import WordTable
    from seqtag.tagging.document import Document
    from seqtag.tagging.pipeline import Pipeline
    from seqtag.tagging.tagger import Tagger
    from seqtag.training.train import train

__all__ = [
    "BinaryPerceptron",
    "Document",
    "Layout",
    "MulticlassPerceptron",
    "Pipeline",
    "Report",
    "Sentence",
    "SigmoidNeuron",
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
    "score",
    "sniff",
    "tag_files",
    "train",
]

_HOME = {
    "BinaryPerceptron": "seqtag.classifiers",
    "Document": "seqtag.tagging.document",
    "Layout": "seqtag.corpus",
    "MulticlassPerceptron": "seqtag.classifiers",
    "Pipeline": "seqtag.tagging.pipeline",
    "Report": "seqtag.evaluation",
    "Sentence": "seqtag.corpus",
    "SigmoidNeuron": "seqtag.classifiers",
    "Tagger": "seqtag.tagging.tagger",
    "VotedPerceptron": "seqtag.classifiers",
    "WordClasses": "seqtag.tables.learn",
    "WordTable": "seqtag.tables.table",
    "evaluate": "seqtag.evaluation",
    "learn_classes": "seqtag.tables.learn",
    "load": "seqtag.loading",
    "read": "seqtag.corpus",
    "read_table": "seqtag.tables.lexicon",
    "score": "seqtag.evaluation",
    "sniff": "seqtag.corpus",
    "tag_files": "seqtag.batch",
    "train": "seqtag.training.train",
}


__getattr__ = names_of(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
