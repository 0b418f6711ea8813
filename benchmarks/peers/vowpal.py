"""Vowpal Wabbit: learning to search with a linear policy, hashed features."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.features import features
from benchmarks.peers import passes
from benchmarks.tasks import Sentence, Task, read

if TYPE_CHECKING:
    from pathlib import Path

_SPECIAL = str.maketrans({":": "\N{RATIO}", "|": "\N{DIVIDES}", " ": "_"})
"""Characters that mean something in VW's text format."""


class Adapter:
    """``--search_task sequence`` on the features of the presets, rendered as strings."""

    module, distribution = "vowpalwabbit", "vowpalwabbit"
    settings = "preset templates; `--search_task sequence --search_rollout none -b 24`"
    tasks = ("upos", "xpos", "chunk")

    def __init__(self, default: bool):
        self._default = default

    def length(self, task: Task) -> str:
        """One pass by default."""
        return passes(1 if self._default else task.epochs, self._default)

    def train(self, corpus: Path, model: Path, task: Task, seed: int, dev: Path | None) -> None:
        """Write the features as VW's text, and train on that file."""
        from vowpalwabbit import Workspace

        sentences, gold = read(task, corpus)
        names = sorted({label for labels in gold for label in labels})
        number = {name: i for i, name in enumerate(names, 1)}
        text = model.parent / "train.vw"
        with text.open("w", encoding="utf-8") as file:
            for sentence, labels in zip(sentences, gold, strict=True):
                for line, label in zip(_lines(task.columns, sentence), labels, strict=True):
                    file.write(f"{number[label]} {line}\n")
                file.write("\n")
        Workspace(
            f"--search {len(names)} --search_task sequence --search_rollout none -b 24 "
            f"--passes {1 if self._default else task.epochs} --random_seed {seed} --holdout_off "
            f"--cache_file {text}.cache -k --quiet -d {text} -f {model / 'model.vw'}"
        ).finish()
        (model / "labels.json").write_text(json.dumps(names))

    def load(self, model: Path, task: Task) -> None:
        """Read the model and the list of labels."""
        from vowpalwabbit import Workspace

        self._columns = task.columns
        self._names = ["", *json.loads((model / "labels.json").read_text())]
        self._workspace = Workspace(f"-i {model / 'model.vw'} -t --quiet")

    def tag(self, sentences: list[Sentence]) -> list[list[str]]:
        """Features as VW's text, parsed and labeled sentence by sentence."""
        return [self._tag(sentence) for sentence in sentences]

    def _tag(self, sentence: Sentence) -> list[str]:
        examples = [self._workspace.parse(line) for line in _lines(self._columns, sentence)]
        examples = [example[0] if isinstance(example, list) else example for example in examples]
        self._workspace.predict(examples)
        found = [self._names[example.get_multiclass_prediction()] for example in examples]
        self._workspace.finish_example(examples)
        return found


def _lines(columns: tuple[str, ...], sentence: Sentence) -> list[str]:
    """The lines of a sentence, without labels."""
    return [
        "|f " + " ".join(feature.translate(_SPECIAL) for feature in row)
        for row in features(columns, sentence)
    ]
