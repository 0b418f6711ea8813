"""sklearn-crfsuite: CRFsuite as a scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.features import features
from benchmarks.peers import passes
from benchmarks.tasks import Sentence, Task, read

if TYPE_CHECKING:
    from pathlib import Path


class Adapter:
    """``CRF`` on the features of the presets, rendered as strings."""

    module, distribution = "sklearn_crfsuite", "sklearn-crfsuite"
    tasks = ("upos", "xpos", "chunk")

    def __init__(self, default: bool):
        self._default = default
        how = "defaults (`lbfgs`)" if default else "`ap`, otherwise defaults"
        self.settings = f"preset templates; {how}"

    def length(self, task: Task) -> str:
        """Its default is L-BFGS to to convergence."""
        return "to convergence, default" if self._default else passes(task.epochs, default=False)

    def train(self, corpus: Path, model: Path, task: Task, seed: int, dev: Path | None) -> None:
        """Train on the file. CRFsuite shuffles by a seed of its own."""
        from sklearn_crfsuite import CRF

        sentences, labels = read(task, corpus)
        options = {} if self._default else {"algorithm": "ap", "max_iterations": task.epochs}
        crf = CRF(**options, model_filename=str(model / "model.crfsuite"))
        crf.fit([features(task.columns, sentence) for sentence in sentences], labels)

    def load(self, model: Path, task: Task) -> None:
        """Open the model file."""
        from sklearn_crfsuite import CRF

        self._columns = task.columns
        self._crf = CRF(model_filename=str(model / "model.crfsuite"))
        if self._crf.tagger_ is None:  # opens the file
            raise FileNotFoundError(model / "model.crfsuite")

    def tag(self, sentences: list[Sentence]) -> list[list[str]]:
        """Features of all sentences, then their labels."""
        rows = [features(self._columns, sentence) for sentence in sentences]
        return [list(labels) for labels in self._crf.predict(rows)]
