"""seqtag models as NLTK taggers and chunk parsers.

Importing this module imports NLTK, which takes a second. Models are saved in seqtag's own format,
never by NLTK: a model file contains no code and may be in any folder.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

from nltk.chunk.api import ChunkParserI
from nltk.chunk.util import conlltags2tree, tree2conlltags
from nltk.tag.api import TaggerI
from nltk.tree import Tree

from seqtag import loading
from seqtag.corpus import Sentence, sentence_of
from seqtag.errors import CorpusError, LabelError, TemplateError
from seqtag.labels.schemes import convert
from seqtag.tagging.encode import columns_of
from seqtag.tagging.pipeline import Pipeline
from seqtag.tagging.tagger import Tagger
from seqtag.training.train import train

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from seqtag.tagging.pipeline import Loaded

Self = TypeVar("Self", bound="_Adapter")


class _Adapter:
    """Base class of the adapters: a model, unless it is still to be trained, and its file.

    Of a pipeline, the last component gives the labels, and those before it what it looks at.
    """

    _model: Loaded | None = None

    def __init__(self, tagger_or_name: Loaded | str | PathLike[str] | None = None):
        if isinstance(tagger_or_name, (Tagger, Pipeline)):
            self._use(tagger_or_name)
        elif isinstance(tagger_or_name, (str, PathLike)):
            self._use(loading.load(tagger_or_name))
        elif tagger_or_name is not None:
            found = _shorten(tagger_or_name)
            msg = f"expected a Tagger or a path, found {found}; give sentences to the method train"
            raise TypeError(msg)

    def _use(self, model: Loaded) -> None:
        self._model = model

    @property
    def model(self) -> Loaded:
        """The model: a tagger or a pipeline."""
        if self._model is None:
            msg = f"expected a trained {type(self).__name__}, found one without a model; train it"
            raise ValueError(msg)
        return self._model

    @property
    def tagger(self) -> Tagger:
        """The tagger that gives the labels."""
        return self.model.taggers[-1]

    @classmethod
    def load(cls: type[Self], path_or_name: str | PathLike[str]) -> Self:
        """Load a model file, as `seqtag.load` does."""
        return cls(path_or_name)

    def save(self, path: str | PathLike[str]) -> int:
        """Write the model to a file (atomically); return its size in bytes."""
        return self.model.save(path)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r})"


class SeqtagTagger(_Adapter, TaggerI):
    """seqtag model with NLTK's tagger interface, used as NLTK's ``PerceptronTagger`` is.

    Scoring is NLTK's: ``accuracy``, ``confusion``, ``precision``, ``recall``, ``f_measure`` and
    ``evaluate_per_tag`` take tagged sentences. Pickles by value.

    Parameters
    ----------
    tagger_or_name
        A `seqtag.Tagger` or `seqtag.Pipeline`, or the path of a model; by default English Penn
        tags, those of ``seqtag.load("en").only("xpos")``.
    load
        Whether to load that default; without it, the tagger must be trained.

    Examples
    --------
    >>> SeqtagTagger().tag(["Time", "flies"])
    [('Time', 'NN'), ('flies', 'VBZ')]
    >>> corpus = [[("the", "DT"), ("cat", "NN")], [("a", "DT"), ("dog", "NN")]]
    >>> tagger = SeqtagTagger(load=False)
    >>> _ = tagger.train(corpus, nr_iter=3, min_count=1)
    >>> tagger.tag(["the", "dog"])
    [('the', 'DT'), ('dog', 'NN')]
    >>> tagger.accuracy(corpus)
    1.0
    """

    def __init__(
        self, tagger_or_name: Loaded | str | PathLike[str] | None = None, *, load: bool = True
    ):
        if tagger_or_name is None and load:
            tagger_or_name = loading.load("en").only("xpos")
        super().__init__(tagger_or_name)

    @property
    def classes(self) -> set[str]:
        """The labels."""
        return {*self.tagger.labels}

    def train(
        self,
        tagged_sents: Iterable[Sequence[tuple[str, str]]],
        save_loc: str | PathLike[str] | None = None,
        nr_iter: int | None = None,
        *,
        dev: Iterable[Sequence[tuple[str, str]]] | None = None,
        label: str = "pos",
        **options: Any,
    ) -> SeqtagTagger:
        """Train on the tagged sentences of any NLTK corpus reader, and forget an earlier model.

        Parameters
        ----------
        tagged_sents
            Lists of (word, label) pairs, as from ``tagged_sents()``. Sentences without words are
            skipped.
        save_loc
            File to write the model to.
        nr_iter
            Number of epochs; by default the one of the templates.
        dev
            Tagged sentences that select the best epoch.
        label
            Name of the label column; it selects the templates: ``ner`` for names, ``pos`` for
            all others.
        **options
            As in `seqtag.train`: ``templates``, ``seed``, ``runs``, ``patience``, ``epochs``, ...

        Returns
        -------
        SeqtagTagger
            This tagger.

        Raises
        ------
        CorpusError
            If there are no sentences, or a sentence has something other than pairs of strings; the
            message gives the number of the sentence. NLTK's readers return None for the label of a
            word without one.
        """
        held_out = None if dev is None else _tagged(dev, label, "<dev>")
        sentences = _tagged(tagged_sents, label, "<tagged_sents>")
        if nr_iter is not None:
            if "epochs" in options:
                msg = f"expected nr_iter or epochs, found both: {nr_iter} and {options['epochs']}"
                raise TypeError(msg)
            options["epochs"] = nr_iter
        self._use(train(sentences, dev=held_out, label=label, **options))
        if save_loc is not None:
            self.save(save_loc)
        return self

    def tag(self, tokens: Sequence[Any]) -> list[tuple[Any, str]]:
        """Pair every token of a sentence with its label; none for an empty sentence.

        Parameters
        ----------
        tokens
            Words; for a model with several input columns, tuples with a value for each.

        Raises
        ------
        TypeError
            If the sentence is one string, or contains something other than words.
        """
        return self.tag_sents([tokens])[0]

    def tag_sents(self, sentences: Iterable[Sequence[Any]]) -> list[list[tuple[Any, str]]]:
        """Tag many sentences, faster than one by one."""
        sentences = [s if hasattr(s, "__len__") else list(s) for s in sentences]
        *before, tagger = self.model.taggers
        given: list[Any] = sentences
        if before:
            given = [{"form": columns_of(words, ["form"])[0]} for words in sentences]
            for each in before:
                for columns, found in zip(given, each.tag_many(given), strict=True):
                    columns |= each.split_label(found)
        labels = tagger.tag_many(given)
        return [list(zip(*pair, strict=True)) for pair in zip(sentences, labels, strict=True)]


class SeqtagChunkParser(_Adapter, ChunkParserI):
    """seqtag model of chunks or names with NLTK's chunk parser interface.

    ``accuracy`` is NLTK's and takes chunk trees. Pickles by value.

    Parameters
    ----------
    tagger_or_name
        A `seqtag.Tagger`, or the path of a model file. Its labels are chunk labels in any scheme;
        its input columns are form and pos, or one of them. Without, the parser must be trained.

    Raises
    ------
    LabelError
        If the model's labels are not chunk labels.
    TemplateError
        If it has other input columns.

    Examples
    --------
    >>> tree = Tree("S", [Tree("NP", [("the", "DT"), ("cat", "NN")]), ("sat", "VBD")])
    >>> parser = SeqtagChunkParser().train([tree], epochs=3, min_count=1)
    >>> print(parser.parse([("the", "DT"), ("dog", "NN"), ("sat", "VBD")]))
    (S (NP the/DT dog/NN) sat/VBD)
    """

    def _use(self, model: Loaded) -> None:
        tagger = model.taggers[-1]
        if tagger.label_scheme is None:
            shown = ", ".join(tagger.labels[:5]) + (", ..." if len(tagger.labels) > 5 else "")
            msg = (
                f"expected a model of chunk labels such as B-NP, I-NP and O, found a model of "
                f"{tagger.label} ({shown}); train one with SeqtagChunkParser().train"
            )
            raise LabelError(msg)
        if not {"form", "pos"}.issuperset(tagger.columns):
            msg = (
                "expected a model that looks at the columns form and pos, found one that looks at "
                f"{', '.join(tagger.columns)}; train one with SeqtagChunkParser().train"
            )
            raise TemplateError(msg)
        super()._use(model)

    def train(
        self, chunked_sents: Iterable[Tree], *, dev: Iterable[Tree] | None = None, **options: Any
    ) -> SeqtagChunkParser:
        """Train on the chunk trees of any NLTK corpus reader, and forget an earlier model.

        Parameters
        ----------
        chunked_sents
            Trees of depth two over (word, part of speech) pairs, as from ``chunked_sents()``.
        dev
            Chunk trees that select the best epoch.
        **options
            As in `seqtag.train`: ``templates``, ``seed``, ``runs``, ``patience``, ``epochs``, ...

        Returns
        -------
        SeqtagChunkParser
            This parser.

        Raises
        ------
        CorpusError
            If there are no trees, or a tree is deeper or has other leaves; the message gives the
            number of the tree.
        LabelError
            If there is no chunk in any tree.
        """
        held_out = None if dev is None else _chunked(dev, "<dev>")
        sentences = _chunked(chunked_sents, "<chunked_sents>")
        self._use(train(sentences, dev=held_out, label="chunk", **options))
        return self

    def parse(self, tokens: Sequence[tuple[str, str]]) -> Tree:
        """Group the words of a sentence into chunks.

        Parameters
        ----------
        tokens
            Pairs of word and part of speech.

        Returns
        -------
        Tree
            A tree ``S`` of chunks and the pairs outside of them; without words it is empty.

        Raises
        ------
        CorpusError
            If the sentence has something other than pairs of strings.
        """
        sentence = _of_pairs(tokens, "pos", "<tokens>", 1)
        labels = self.tagger.tag(sentence)
        scheme = self.tagger.label_scheme
        if scheme and scheme != "iob2":
            labels = convert(labels, scheme, "iob2")
        return conlltags2tree(
            list(zip(sentence.words, sentence.column("pos"), labels, strict=True))
        )


def _tagged(
    sents: Iterable[Sequence[tuple[str, str]]], label: str, source: str
) -> Iterator[Sentence]:
    """Yield sentences with the columns form and `label`."""
    for number, sent in enumerate(sents, 1):
        yield _of_pairs(sent, label, source, number)


def _chunked(trees: Iterable[Tree], source: str) -> Iterator[Sentence]:
    """Yield sentences with the columns form, pos and chunk."""
    for number, tree in enumerate(trees, 1):
        # NLTK would take a leaf "dog" for the word "d" with the part of speech "o".
        depth_fits = isinstance(tree, Tree) and tree.height() <= 3
        if not depth_fits or not all(map(_is_pair, tree.leaves())):
            msg = (
                "expected a tree whose children are (word, pos) pairs or chunks of such pairs, "
                f"found {_shorten(tree)}; give chunked_sents(), not parsed_sents()"
            )
            raise CorpusError(msg, source=source, line=number)
        values = zip(*tree2conlltags(tree), strict=True)
        columns = dict(zip(("form", "pos", "chunk"), values, strict=False))  # none if it is empty
        yield sentence_of(columns, source=source, line=number)


def _of_pairs(pairs: Sequence[tuple[str, str]], second: str, source: str, number: int) -> Sentence:
    """Return a sentence with the columns form and `second`."""
    pairs = list(pairs)  # it may be an iterator, such as zip
    for pair in pairs:
        if not _is_pair(pair):
            msg = (
                f"expected pairs (word, {second}) in every sentence, found {_shorten(pair)}; give "
                "lists of pairs, one list per sentence"
            )
            raise CorpusError(msg, source=source, line=number)
    columns = {"form": [word for word, _ in pairs], second: [value for _, value in pairs]}
    return sentence_of(columns, source=source, line=number)


def _is_pair(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and not isinstance(value, Tree) and len(value) == 2


def _shorten(value: Any) -> str:
    """Return a value on one line, for a message."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
