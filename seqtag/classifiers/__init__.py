"""Classifiers of vectors: the perceptron family, as sequences of length 1."""

from __future__ import annotations

from seqtag.classifiers.base import Perceptron
from seqtag.classifiers.linear import LinearClassifier
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
