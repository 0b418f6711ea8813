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
    from seqtag.corpus import Layout, Sentence, from_spans, read, sniff
    from seqtag.evaluation import Report, evaluate, score
    from seqtag.loading import load
    from seqtag.tables.learn import WordClasses, learn_classes
    from seqtag.tables.lexicon import read_table
    from seqtag.tables.table import WordTable
    from seqtag.tagging.document import Document
    from seqtag.tagging.pipeline import Pipeline
    from seqtag.tagging.selection import uncertainty
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
    "from_spans",
    "learn_classes",
    "load",
    "read",
    "read_table",
    "score",
    "sniff",
    "tag_files",
    "train",
    "uncertainty",
]

_NAMES = {
    "seqtag.batch": ["tag_files"],
    "seqtag.classifiers": [
        "BinaryPerceptron",
        "MulticlassPerceptron",
        "SigmoidNeuron",
        "VotedPerceptron",
    ],
    "seqtag.corpus": ["Layout", "Sentence", "from_spans", "read", "sniff"],
    "seqtag.evaluation": ["Report", "evaluate", "score"],
    "seqtag.loading": ["load"],
    "seqtag.tables.learn": ["WordClasses", "learn_classes"],
    "seqtag.tables.lexicon": ["read_table"],
    "seqtag.tables.table": ["WordTable"],
    "seqtag.tagging.document": ["Document"],
    "seqtag.tagging.pipeline": ["Pipeline"],
    "seqtag.tagging.selection": ["uncertainty"],
    "seqtag.tagging.tagger": ["Tagger"],
    "seqtag.training.train": ["train"],
}

_OTHERS = {
    "seqtag.load().tag_words(words)": "pos_tag pos_tag_sents tag",
    "the module seqtag.integrations.spacy": "spacy",
    "seqtag.load()(text)": "nlp word_tokenize sent_tokenize tokenize ne_chunk ner",
    "the command seqtag models": "models download list_models",
    "the command seqtag cv": "cv cross_validate",
    "tagger.explain(words, token)": "explain",
    "seqtag.integrations.sklearn.SequencePerceptron": "SequencePerceptron Perceptron CRF fit",
}

__getattr__ = names_of(__name__, _NAMES, _OTHERS)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
