"""seqtag: sequence labelling with the averaged structured perceptron."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqtag.classifiers import BinaryPerceptron, MulticlassPerceptron, VotedPerceptron
    from seqtag.corpus import read
    from seqtag.evaluation import evaluate
    from seqtag.perceptron import train
    from seqtag.sigmoid import SigmoidNeuron
    from seqtag.tagger import Tagger, load

__version__ = "0.1.0"
__all__ = [
    "BinaryPerceptron", "MulticlassPerceptron", "SigmoidNeuron", "Tagger", "VotedPerceptron",
    "__version__", "evaluate", "load", "read", "train",
]  # fmt: skip

_HOME = {
    "Tagger": "tagger", "evaluate": "evaluation", "load": "tagger", "read": "corpus",
    "train": "perceptron", "BinaryPerceptron": "classifiers",
    "MulticlassPerceptron": "classifiers", "VotedPerceptron": "classifiers",
    "SigmoidNeuron": "sigmoid",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that a command loads what it needs."""
    if name not in _HOME:
        raise AttributeError(f"module 'seqtag' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"seqtag.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
