"""spaCy's tagger on a small convolutional network, trained from scratch."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from benchmarks.peers import passes
from benchmarks.tasks import Sentence, Task, read

if TYPE_CHECKING:
    from pathlib import Path

    from spacy import Language

STEPS = 20_000  # spaCy's default stops here at the latest


class Adapter:
    """The pipes of ``spacy init config --pipeline tagger``, without vectors."""

    module, distribution = "spacy", "spacy"
    settings = "`init config --pipeline tagger`: `tok2vec` and `tagger`, no vectors"
    tasks = ("upos", "xpos")

    def __init__(self, default: bool):
        self._default = default

    def length(self, task: Task) -> str:
        """By default it stops when the dev part shows no gain for 1,600 steps."""
        if self._default:
            return "until the dev part gains no more, default"
        return passes(task.epochs, default=False)

    def train(self, corpus: Path, model: Path, task: Task, seed: int, dev: Path | None) -> None:
        """Train on the file, as ``spacy train`` does with what ``spacy init config`` writes."""
        import spacy
        from spacy.cli.init_config import init_config
        from spacy.training.initialize import init_nlp
        from spacy.training.loop import train

        config = init_config(lang="en", pipeline=["tagger"], optimize="efficiency", gpu=False)
        config["system"]["seed"] = seed
        length = config["training"]
        length["max_steps"] = STEPS
        if not self._default:  # the epochs alone count; it looks at a sentence once, and goes on
            length |= {"max_epochs": task.epochs, "patience": 0, "max_steps": 0}
            length["eval_frequency"] = 10**9
        blank = spacy.blank("en")
        parts = {"train": _docs(blank, task, corpus)}
        held_out = self._default and dev is not None
        parts["dev"] = _docs(blank, task, dev) if held_out else parts["train"][:1]
        for name, docs in parts.items():
            config["paths"][name] = str(_binary(docs, model.parent / f"{name}.spacy"))
        train(init_nlp(config), model, stdout=_Quiet(), stderr=_Quiet())
        kept = "model-best" if self._default else "model-last"
        (model / kept).rename(model / "model")
        for other in ("model-best", "model-last"):
            shutil.rmtree(model / other, ignore_errors=True)

    def load(self, model: Path, task: Task) -> None:
        """Read the pipeline."""
        import spacy

        self._nlp = spacy.load(model / "model")

    def tag(self, sentences: list[Sentence]) -> list[list[str]]:
        """All sentences in one stream of batches."""
        from spacy.tokens import Doc

        docs = (Doc(self._nlp.vocab, words=words) for words in sentences)
        return [[token.tag_ for token in doc] for doc in self._nlp.pipe(docs, batch_size=256)]


class _Quiet:
    """A stream that keeps nothing."""

    def write(self, text: str) -> None:
        """Drop the text."""

    def flush(self) -> None:
        """Nothing is held back."""


def _docs(blank: Language, task: Task, corpus: Path) -> list[Any]:
    """The sentences of a file, each a document."""
    from spacy.tokens import Doc

    return [
        Doc(blank.vocab, words=words, tags=labels)
        for words, labels in zip(*read(task, corpus), strict=True)
    ]


def _binary(docs: list[Any], path: Path) -> Path:
    """Documents in the format that spaCy trains on."""
    from spacy.tokens import DocBin

    DocBin(docs=docs, attrs=["ORTH", "SPACY", "TAG"]).to_disk(path)
    return path
