"""CRFsuite through python-crfsuite: averaged perceptron, passive-aggressive, L-BFGS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.features import features
from benchmarks.tasks import Sentence, Task, read

if TYPE_CHECKING:
    from pathlib import Path


class Adapter:
    """A linear-chain model on the features of the presets, rendered as strings."""

    module, distribution = "pycrfsuite", "python-crfsuite"
    tasks = ("upos", "xpos", "chunk")

    def __init__(self, algorithm: str):
        self._algorithm = algorithm
        # The perceptrons gain nothing after ten passes here; their default of 100 is slower.
        self._iterations = 100 if algorithm == "lbfgs" else 10
        self.settings = f"preset templates; `{algorithm}`, at most {self._iterations} iterations"

    def train(self, corpus: Path, model: Path, task: Task, seed: int) -> None:
        """Train on the file. CRFsuite shuffles by a seed of its own."""
        import pycrfsuite

        options = {"max_iterations": self._iterations}
        trainer = pycrfsuite.Trainer(self._algorithm, options, verbose=False)
        for sentence, labels in zip(*read(task, corpus), strict=True):
            trainer.append(features(task.columns, sentence), labels)
        trainer.train(str(model / "model.crfsuite"))

    def load(self, model: Path, task: Task) -> None:
        """Open the model file."""
        import pycrfsuite

        self._columns = task.columns
        self._tagger = pycrfsuite.Tagger()
        self._tagger.open(str(model / "model.crfsuite"))

    def tag(self, sentences: list[Sentence]) -> list[list[str]]:
        """Features and labels, sentence by sentence."""
        return [self._tagger.tag(features(self._columns, sentence)) for sentence in sentences]
