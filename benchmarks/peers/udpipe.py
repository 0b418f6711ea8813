"""UDPipe 1 (MorphoDiTa's tagger) through ufal.udpipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.peers import passes
from benchmarks.tasks import Sentence, Task, token_lines

if TYPE_CHECKING:
    from pathlib import Path

PASSES = 20  # what UDPipe makes by default
_FIELD = {"upos": 3, "xpos": 4}
_ATTRIBUTE = {"upos": "upostag", "xpos": "xpostag"}


class Adapter:
    """A model of one label column: the other columns are blanked before training."""

    module, distribution = "ufal.udpipe", "ufal.udpipe"
    settings = "tagger only, no lemmas or features"
    tasks = ("upos", "xpos")

    def __init__(self, default: bool):
        self._default = default

    def length(self, task: Task) -> str:
        """Twenty passes by default, all of them where it sees no dev part."""
        return passes(PASSES if self._default else task.epochs, self._default)

    def train(self, corpus: Path, model: Path, task: Task, seed: int, dev: Path | None) -> None:
        """Train on the file. UDPipe has no seed here."""
        from ufal.udpipe import InputFormat, ProcessingError, Sentence, Sentences, Trainer

        reader = InputFormat.newConlluInputFormat()
        reader.setText(
            "".join(
                "\n".join(_only(line.split("\t"), _FIELD[task.label]) for line in lines) + "\n\n"
                for lines in token_lines(task, corpus)
            )
        )
        error, sentences = ProcessingError(), Sentences()
        while reader.nextSentence(sentence := Sentence(), error):
            sentences.append(sentence)
        xpos = int(task.label == "xpos")
        iterations = PASSES if self._default else task.epochs
        options = (
            f"models=1;templates_1=tagger;iterations_1={iterations};provide_lemma_1=0;"
            f"use_lemma_1=0;provide_xpostag_1={xpos};use_xpostag_1={xpos};provide_feats_1=0;"
            "use_feats_1=0"
        )
        data = Trainer.train(
            "morphodita_parsito", sentences, Sentences(), Trainer.NONE, options, Trainer.NONE, error
        )
        if error.occurred():
            raise RuntimeError(error.message)
        (model / "model.udpipe").write_bytes(data)

    def load(self, model: Path, task: Task) -> None:
        """Read the model."""
        from ufal.udpipe import Model

        self._attribute = _ATTRIBUTE[task.label]
        self._model = Model.load(str(model / "model.udpipe"))

    def tag(self, sentences: list[Sentence]) -> list[list[str]]:
        """Sentence by sentence."""
        return [self._tag(words) for words in sentences]

    def _tag(self, words: list[str]) -> list[str]:
        from ufal.udpipe import Model
        from ufal.udpipe import Sentence as UDPipeSentence

        sentence = UDPipeSentence()
        for word in words:
            sentence.addWord(word)
        self._model.tag(sentence, Model.DEFAULT)
        return [getattr(word, self._attribute) for word in list(sentence.words)[1:]]


def _only(fields: list[str], kept: int) -> str:
    """A CoNLL-U line with its id, form and one more field."""
    return "\t".join(field if i in (0, 1, kept) else "_" for i, field in enumerate(fields))
