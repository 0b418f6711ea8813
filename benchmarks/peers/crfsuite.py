"""CRFsuite through python-crfsuite: averaged perceptron, passive-aggressive, L-BFGS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.features import features
from benchmarks.peers import passes
from benchmarks.tasks import Sentence, Task, read

if TYPE_CHECKING:
    from pathlib import Path

PASSES = 100  # what CRFsuite's perceptrons make by default


class Adapter:
    """A linear-chain model on the features of the presets, rendered as strings."""

    module, distribution = "pycrfsuite", "python-crfsuite"
    tasks = ("upos", "xpos", "chunk")

    def __init__(self, algorithm: str, default: bool):
        self._algorithm, self._default = algorithm, default
        self.settings = f"preset templates; `{algorithm}`, otherwise defaults"

    def length(self, task: Task) -> str:
        """L-BFGS has an end of its own; a pass of it is not what a pass of the others is."""
        if self._algorithm == "lbfgs":
            return "to convergence, default"
        return passes(PASSES if self._default else task.epochs, self._default)

    def train(self, corpus: Path, model: Path, task: Task, seed: int, dev: Path | None) -> None:
        """Train on the file. CRFsuite shuffles by a seed of its own."""
        import pycrfsuite

        options = {} if self._default else {"max_iterations": task.epochs}
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
