"""The perceptron family as classifiers of vectors: sequences of length 1."""

from __future__ import annotations

from seqtag.classifiers.base import LinearClassifier, Perceptron
from seqtag.classifiers.perceptrons import (
    BinaryPerceptron,
    MulticlassPerceptron,
    VotedPerceptron,
)
from seqtag.classifiers.sigmoid import SigmoidNeuron

__all__ = [
    "BinaryPerceptron",
    "LinearClassifier",
    "MulticlassPerceptron",
    "Perceptron",
    "SigmoidNeuron",
    "VotedPerceptron",
]
