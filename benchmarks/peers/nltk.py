"""NLTK's PerceptronTagger: a greedy averaged perceptron."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from benchmarks.peers import passes
from benchmarks.tasks import Sentence, Task, read

if TYPE_CHECKING:
    from pathlib import Path

PASSES = 5  # what NLTK makes by default


class Adapter:
    """The tagger with its own features, and its dictionary of unambiguous words."""

    module, distribution = "nltk", "nltk"
    settings = "`PerceptronTagger`"
    tasks = ("upos", "xpos")

    def __init__(self, default: bool):
        self._default = default

    def length(self, task: Task) -> str:
        """Five passes by default."""
        return passes(PASSES if self._default else task.epochs, self._default)

    def train(self, corpus: Path, model: Path, task: Task, seed: int, dev: Path | None) -> None:
        """Train on the file. NLTK shuffles with the global generator."""
        random.seed(seed)
        tagged = [
            list(zip(words, labels, strict=True))
            for words, labels in zip(*read(task, corpus), strict=True)
        ]
        tagger = _tagger(model)
        tagger.train(tagged, nr_iter=PASSES if self._default else task.epochs)
        tagger.save_to_json(lang="bench", loc=str(model))

    def load(self, model: Path, task: Task) -> None:
        """Read the three JSON files."""
        self._tagger = _tagger(model)
        self._tagger.load_from_json(lang="bench", loc=str(model))

    def tag(self, sentences: list[Sentence]) -> list[list[str]]:
        """Sentence by sentence."""
        return [[label for _, label in self._tagger.tag(words)] for words in sentences]


def _tagger(model: Path):
    """An empty tagger that may read and write the folder."""
    import nltk.data
    from nltk.tag.perceptron import PerceptronTagger

    if str(model) not in nltk.data.path:
        nltk.data.path.append(str(model))
    return PerceptronTagger(load=False)
