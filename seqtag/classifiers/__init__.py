"""Classifiers of vectors: the perceptron family, as sequences of length 1."""

from __future__ import annotations

from seqtag.classifiers.linear import LinearClassifier
from seqtag.classifiers.perceptrons import (
    BinaryPerceptron,
    MulticlassPerceptron,
    Perceptron,
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
