"""seqtag itself, with its presets."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.tasks import Sentence, Task


class Adapter:
    """``seqtag.train`` and ``Tagger.tag_many``; files go through ``seqtag tag``."""

    module, distribution = "seqtag", "seqtag"
    settings = "the presets `pos` and `chunk`, without a dev set"
    tasks = ("upos", "xpos", "chunk")

    def length(self, task: Task) -> str:
        """As long as the preset says."""
        return f"{task.epochs} passes"

    def train(self, corpus: Path, model: Path, task: Task, seed: int, dev: Path | None) -> None:
        """Train on the file, with the preset of the label."""
        import seqtag

        seqtag.train(corpus, label=task.label, seed=seed).save(model / "model.seqtag")

    def load(self, model: Path, task: Task) -> None:
        """Map the model file."""
        import seqtag

        self._tagger = seqtag.load(model / "model.seqtag")

    def tag(self, sentences: list[Sentence]) -> list[list[str]]:
        """All sentences in one call."""
        return self._tagger.tag_many(sentences)

    def file_command(self, model: Path, source: Path, target: Path) -> list[str]:
        """Tag a file to a file with the tool's own command."""
        return [
            sys.executable,
            "-m",
            "seqtag",
            "tag",
            "-q",
            "-m",
            str(model / "model.seqtag"),
            str(source),
            "-o",
            str(target),
            "--force",
        ]
