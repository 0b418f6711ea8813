"""The treebank of a training, and the examples of each kind of task.

There are three kinds: words with their label (any column), characters of the text with what ends at
them (the component tokens), and letters of tokens with the script that makes words of them (the
component words).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, compress
from typing import TYPE_CHECKING

from seqtag.features.templates import TAG_COLUMNS
from seqtag.segmentation.multiword import TAGGED
from seqtag.tables.lexicon import with_tables
from seqtag.training.data import TrainingData, gold_name
from seqtag.training.text_examples import (
    TreebankText,
    check_multiword,
    gather_words,
    part_table,
    token_examples,
    word_examples,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from seqtag.corpus import Sentence
    from seqtag.features.encoder import Column
    from seqtag.training.task import Task
    from seqtag.training.text_examples import WordExample

PARTS_OF_WORDS = "clitics"
"""The preset of the component words that looks at the parts of tokens."""


@dataclass(frozen=True)
class Treebank:
    """Annotated sentences to learn from.

    Attributes
    ----------
    words
        All columns that some task looks at or learns, by name. Those that earlier tasks predict
        have the predicted values; the given ones are then in a column `gold_name`.
    text
        Its text, where tokens are learned.
    tokens
        The tokens of each sentence, where their words are learned.
    """

    words: TrainingData
    text: TreebankText | None = None
    tokens: Sequence[Sequence[WordExample]] = ()

    def with_text_of(self, component: str, sentences: Iterable[Sentence]) -> Treebank:
        """Return the treebank with what a component that reads text learns from.

        Raises
        ------
        CorpusError
            If there are no multiword tokens for the component words.
        """
        if component == "tokens":
            return replace(self, text=TreebankText.of(sentences))
        tokens, source = gather_words(sentences)
        check_multiword(tokens, source)
        return replace(self, tokens=tokens)

    def with_columns(self, columns: Mapping[str, Column]) -> Treebank:
        """Return the treebank with predicted columns."""
        tags = [name for name in columns if name in TAG_COLUMNS]
        gold = {gold_name(name): self.words.columns[name] for name in tags}
        return replace(self, words=self.words.with_columns(gold | {**columns}))

    def where(self, kept: NDArray[np.bool_]) -> Treebank:
        """Return some of the sentences, (sentences,) bool, without their text."""
        return Treebank(self.words.where(kept), tokens=[*compress(self.tokens, kept.tolist())])


def examples_of(task: Task, treebank: Treebank) -> tuple[Task, TrainingData]:
    """Return the examples of a task, and the task with the word table that is made of them.

    Raises
    ------
    CorpusError
        If multiword tokens are to be learned, and there are none.
    """
    if not task.reads_text:
        return _words(task, treebank)
    return {"tokens": _characters, "words": _letters}[task.column.name](task, treebank)


def _words(task: Task, treebank: Treebank) -> tuple[Task, TrainingData]:
    """Return words with their labels."""
    columns = treebank.words.columns
    gold = [name for name in map(gold_name, TAG_COLUMNS) if name in columns]
    labeled = treebank.words._replace(labels=columns[str(task.column)])
    return task, labeled.select([*task.columns, *gold])


def _characters(task: Task, treebank: Treebank) -> tuple[Task, TrainingData]:
    """Return characters of the text with what ends at them."""
    text, templates = treebank.text, task.templates
    if text is None:
        msg = f"expected a treebank with its text for the component {task.column}, found none"
        raise ValueError(msg)
    anew = task.init is None
    return task, token_examples(text, templates.columns, templates.tables, jackknifed=anew)


def _letters(task: Task, treebank: Treebank) -> tuple[Task, TrainingData]:
    """Return letters of tokens with scripts."""
    tokens = [*chain.from_iterable(treebank.tokens)]
    tagged = task.init is not None and any(TAGGED in label for label in task.init.labels)
    if task.name == PARTS_OF_WORDS and task.init is None:
        templates = with_tables(task.templates, [part_table(tokens)])
        task = replace(task, templates=templates, available=tuple(templates.columns))
        tagged = len({tag for each in tokens for tag in each.tags}) > 1
    templates = task.templates
    anew = task.init is None
    return task, word_examples(
        tokens, templates.columns, tagged=tagged, tables=templates.tables, jackknifed=anew
    )
