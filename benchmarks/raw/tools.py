"""The tools that cut raw text, and the steps of those that are libraries.

``python -m benchmarks.raw.tools STEP TOOL ...`` does a step in a process of its own:

        train TRAIN DEV MODEL           learn and write the model file
        raw   MODEL TEXT OUT LANGUAGE   raw text to CoNLL-U
        gold  MODEL BLANK OUT LANGUAGE  tokenized CoNLL-U to annotated CoNLL-U
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Tool:
    """A tool by its name; steps are commands, run in processes of their own.

    Attributes
    ----------
    name
        As the page shows it.
    module, distribution
        What Python imports, and what pip installs.
    settings
        How it was trained, in the page's words.
    trains
        Whether it learns from a treebank: it gives columns then, and takes gold tokens, too.
    """

    name: str
    module: str
    distribution: str
    settings: str
    trains = False

    def command(self, step: str, *paths: Path | str) -> list[str]:
        """The command of a step, with its arguments in the order of this module's docstring."""
        step_of = [sys.executable, "-m", "benchmarks.raw.tools", step, self.name]
        return [*step_of, *map(str, paths)]

    @property
    def absence(self) -> str | None:
        """Why it cannot be measured, or None if it can."""
        try:
            present = find_spec(self.module) is not None
        except ModuleNotFoundError:  # the package around the module is missing
            present = False
        return None if present else f"not installed; pip install {self.distribution}"

    @property
    def version(self) -> str:
        """The installed version."""
        return version(self.distribution)

    def train(self, train: Path, dev: Path, model: Path) -> None:
        """Learn from a treebank."""
        raise NotImplementedError

    def raw(self, model: Path, text: Path, out: Path, language: str) -> None:
        """Turn raw text into CoNLL-U."""
        raise NotImplementedError

    def gold(self, model: Path, blank: Path, out: Path, language: str) -> None:
        """Annotate CoNLL-U without annotation."""
        raise NotImplementedError


class Seqtag(Tool):
    """The pipeline, by its command line."""

    name, module, distribution = "seqtag", "seqtag", "seqtag"
    settings = "`seqtag train --label all`, the dev set as held-out data"
    trains = True

    def command(self, step: str, *paths: Path | str) -> list[str]:
        """The program's own commands."""
        program = [sys.executable, "-m", "seqtag"]
        first, second, third, *_ = map(str, paths)
        if step == "train":
            return [*program, "train", first, "--dev", second, "-o", third, "--label", "all"]
        return [*program, "tag", "-m", first, second, "-o", third, "--force"]

    @property
    def version(self) -> str:
        """That of the package, which need not be installed."""
        import seqtag

        return seqtag.__version__


class UDPipe(Tool):
    """UDPipe 1 with its defaults: tokenizer, tagger and lemmatiser, no parser."""

    name, module, distribution = "UDPipe", "ufal.udpipe", "ufal.udpipe"
    settings = "defaults for tokenizer and tagger, the dev set as held-out data, no parser"
    trains = True

    def train(self, train: Path, dev: Path, model: Path) -> None:
        """Train on the files."""
        from ufal.udpipe import ProcessingError, Trainer

        error = ProcessingError()
        data = Trainer.train(
            "morphodita_parsito",
            self._sentences(train),
            self._sentences(dev),
            Trainer.DEFAULT,
            Trainer.DEFAULT,
            Trainer.NONE,
            error,
        )
        if error.occurred():
            raise RuntimeError(error.message)
        model.write_bytes(data)

    def raw(self, model: Path, text: Path, out: Path, language: str) -> None:
        """Cut and annotate raw text."""
        self._process(model, text, out, "tokenize")

    def gold(self, model: Path, blank: Path, out: Path, language: str) -> None:
        """Annotate gold tokens."""
        self._process(model, blank, out, "conllu")

    def _process(self, model: Path, source: Path, out: Path, reader: str) -> None:
        from ufal.udpipe import Model, Pipeline, ProcessingError

        error = ProcessingError()
        loaded = Model.load(str(model))  # a pipeline does not keep it alive
        pipeline = Pipeline(loaded, reader, Pipeline.DEFAULT, Pipeline.NONE, "conllu")
        with source.open(encoding="utf-8", newline="") as file:
            found = pipeline.process(file.read(), error)
        if error.occurred():
            raise RuntimeError(error.message)
        with out.open("w", encoding="utf-8", newline="") as file:
            file.write(found)

    @staticmethod
    def _sentences(path: Path):
        from ufal.udpipe import InputFormat, ProcessingError, Sentence, Sentences

        reader, error, sentences = (
            InputFormat.newConlluInputFormat(),
            ProcessingError(),
            Sentences(),
        )
        reader.setText(path.read_text(encoding="utf-8"))
        while reader.nextSentence(sentence := Sentence(), error):
            sentences.append(sentence)
        if error.occurred():
            raise RuntimeError(error.message)
        return sentences


class SpaCy(Tool):
    """spaCy's rules for tokens, and its ``sentencizer``."""

    name, module, distribution = "spaCy", "spacy", "spacy"
    settings = "`spacy.blank(language)` with `sentencizer`: rules, no training"

    def raw(self, model: Path, text: Path, out: Path, language: str) -> None:
        """Paragraph by paragraph."""
        import spacy

        try:
            nlp = spacy.blank(language)
        except (ImportError, ValueError):  # no such language, or its tokenizer is not installed
            nlp = spacy.blank("xx")
        nlp.add_pipe("sentencizer")
        nlp.max_length = 10**9
        paragraphs = text.read_text(encoding="utf-8").split("\n\n")
        found = (
            [token.text for token in sentence if not token.is_space]
            for document in nlp.pipe(paragraphs)
            for sentence in document.sents
        )
        write(found, out)


class NLTK(Tool):
    """NLTK's Punkt and word tokenizer, as seqtag uses them where no model cuts the text."""

    name, module, distribution = "NLTK", "nltk", "nltk"
    settings = "Punkt with a few English abbreviations, and `NLTKWordTokenizer`; no training"

    def raw(self, model: Path, text: Path, out: Path, language: str) -> None:
        """A paragraph a line."""
        from seqtag.corpus import read

        with read(text, "text") as sentences:
            write((sentence.words for sentence in sentences), out)


TOOLS = {tool.name: tool for tool in (Seqtag(), UDPipe(), SpaCy(), NLTK())}


def write(sentences: Iterable[list[str]], out: Path) -> None:
    """Sentences of words as CoNLL-U with nothing else in it."""
    with out.open("w", encoding="utf-8") as file:
        for words in sentences:
            file.writelines(f"{i}\t{word}" + "\t_" * 8 + "\n" for i, word in enumerate(words, 1))
            file.write("\n" * bool(words))


def main() -> None:
    """Do the step that the command line names."""
    step, name, *rest = sys.argv[1:]
    tool, language = TOOLS[name], ""
    if step != "train":
        *rest, language = rest
    paths = list(map(Path, rest))
    if step == "train":
        tool.train(*paths)
    else:
        {"raw": tool.raw, "gold": tool.gold}[step](*paths, language)


if __name__ == "__main__":
    main()
