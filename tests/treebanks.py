"""Made-up treebanks of a few words."""

from __future__ import annotations

import io
from itertools import chain
from typing import TYPE_CHECKING, Any

from seqtag.corpus import read
from seqtag.training.text_examples import gather_words, word_examples
from seqtag.training.train import train

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.corpus import Sentence
    from seqtag.model.model import Model
    from seqtag.training.data import TrainingData


def components(data: Any, label: Any = "all", **options: Any) -> list[Model]:
    """The models of a pipeline trained on data."""
    return [*train(data, label=label, **options).models]


def treebank(*sentences: str) -> list[Sentence]:
    """A CoNLL-U treebank, written "Ich bin im=in+dem Bett" for short."""
    return list(read(io.BytesIO("\n".join(map(rows, sentences)).encode()), "conllu"))


def rows(sentence: str) -> str:
    """The rows of a sentence."""
    lines, done = [], 0
    for token in sentence.split():
        form, several, words = token.partition("=")
        parts = words.split("+") if several else [form]
        if several:
            lines.append(f"{done + 1}-{done + len(parts)}\t{form}")
        lines += [f"{done + i}\t{word}" for i, word in enumerate(parts, 1)]
        done += len(parts)
    return "".join(line + "\t_" * 8 + "\n" for line in lines)


def annotated(*sentences: str) -> list[Sentence]:
    """A CoNLL-U treebank, written "bin/sein/AUX im=in/in/ADP+dem/der/DET" for short.

    No space stands before punctuation.
    """
    text = ""
    for sentence in sentences:
        lines: list[list[str]] = []
        done = 0
        for token in sentence.split():
            form, several, words = token.partition("=")
            parts = [word.rsplit("/", 2) for word in (words if several else token).split("+")]
            if parts[0][2] == "PUNCT" and lines:
                lines[-1][9] = "SpaceAfter=No"
            if several:
                lines.append([f"{done + 1}-{done + len(parts)}", form, *["_"] * 8])
            for word, lemma, upos in parts:
                done += 1
                lines.append([str(done), word, lemma, upos, *["_"] * 6])
        text += "".join("\t".join(line) + "\n" for line in lines) + "\n"
    return list(read(io.BytesIO(text.encode()), "conllu"))


def examples_of_words(sentences: Sequence[Sentence], columns: Sequence[str]) -> TrainingData:
    """The tokens of a treebank as examples of multiword tokens, with labels without tags."""
    gathered, _ = gather_words(sentences)
    return word_examples([*chain.from_iterable(gathered)], columns)
