"""The tasks of the comparison, and the one reader that all peers without a reader share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from seqtag.features.templates import TemplateSet

Sentence = list[str] | list[tuple[str, str]]
"""Words; or (word, part of speech) pairs, where the task gives parts of speech."""


class Task(NamedTuple):
    """What is learned: `label` from `columns`, in files below the folder of corpora.

    `preset` names the templates that seqtag uses, and that peers get where they take any.
    """

    name: str
    title: str
    label: str
    columns: tuple[str, ...]
    separator: str
    fields: tuple[int, ...]  # where the columns stand in a line, then the label
    preset: str
    train: str
    test: str
    dev: str | None = None  # for tools that stop by what they see there

    @property
    def templates(self) -> int:
        """How many templates the preset has, those for labels left out."""
        return sum(not each.label_offsets for each in _preset(self.preset).templates)

    @property
    def epochs(self) -> int:
        """How often the preset goes over the training part."""
        return int(_preset(self.preset).settings["epochs"])


def _preset(name: str) -> TemplateSet:
    from seqtag.features.language import load

    return load(name)


_EWT = ("pos", *(f"ud-english-ewt/en_ewt-ud-{part}.conllu" for part in ("train", "test", "dev")))
TASKS = {
    task.name: task
    for task in (
        Task("upos", "UD English-EWT UPOS", "upos", ("form",), "\t", (1, 3), *_EWT),
        Task("xpos", "UD English-EWT XPOS", "xpos", ("form",), "\t", (1, 4), *_EWT),
        Task(
            "chunk",
            "CoNLL-2000 chunks",
            "chunk",
            ("form", "pos"),
            " ",
            (0, 1, 2),
            "chunk",
            "conll2000/train.txt",
            "conll2000/test.txt",
        ),
    )
}

FIRST = {
    "form": ["Time", "flies", "like", "an", "arrow", "."],
    "pos": ["NN", "VBZ", "IN", "DT", "NN", "."],
}
"""The sentence of the cold start."""


def first_sentence(task: Task) -> Sentence:
    """The sentence of the cold start, as the task's taggers take it."""
    return FIRST["form"] if len(task.columns) == 1 else list(zip(*FIRST.values(), strict=True))


def read(task: Task, path: Path) -> tuple[list[Sentence], list[list[str]]]:
    """Sentences and their gold labels; comments, multiword ranges and empty nodes left out."""
    parsed = [parse(task, lines) for lines in token_lines(task, path)]
    return [sentence for sentence, _ in parsed], [labels for _, labels in parsed]


def parse(task: Task, lines: list[str]) -> tuple[Sentence, list[str]]:
    """The sentence and the gold labels of some token lines."""
    rows = [line.split(task.separator) for line in lines]
    *inputs, labels = ([row[field] for row in rows] for field in task.fields)
    return inputs[0] if len(inputs) == 1 else list(zip(*inputs, strict=True)), labels


def token_lines(task: Task, path: Path) -> list[list[str]]:
    """The token lines of each sentence. In CoNLL-U their ids are integers."""
    conllu = task.separator == "\t"
    found: list[list[str]] = [[]]
    with path.open(encoding="utf-8") as file:
        for line in file:
            line = line.rstrip("\n")
            if not line:
                found.append([])
            elif not conllu or line.split("\t", 1)[0].isdigit():
                found[-1].append(line)
    return [lines for lines in found if lines]


def shorten(source: Path, target: Path, sentences: int) -> None:
    """Copy the first sentences of a corpus file."""
    text = source.read_text(encoding="utf-8").split("\n\n", sentences)[:sentences]
    target.write_text("\n\n".join(text).rstrip("\n") + "\n\n", encoding="utf-8")


def words_of(task: Task, sentence: Sentence) -> list[str]:
    """The forms of a sentence."""
    return list(sentence) if len(task.columns) == 1 else [word for word, _ in sentence]
