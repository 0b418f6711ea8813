"""Pipelines: the models of a file, run one after another; and what a file is loaded as."""

from __future__ import annotations

import errno
import io
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from seqtag.corpus import read
from seqtag.corpus.conllu import COLUMNS
from seqtag.corpus.keys import has_column
from seqtag.corpus.stream import TextBytes
from seqtag.errors import ModelFileError, SeqtagError
from seqtag.model import bundle, container
from seqtag.model.bundle import inputs_of
from seqtag.model.embedded import embedded_models, find_model
from seqtag.segmentation.multiword import Splitter
from seqtag.segmentation.reading import SegmentedText
from seqtag.segmentation.segmenter import Segmenter
from seqtag.tagging.document import Document, encoded
from seqtag.tagging.streams import tag_text
from seqtag.tagging.summary import html_of_pipeline
from seqtag.tagging.tagger import Tagger

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence
    from os import PathLike

    from seqtag.corpus import Sentence, SentenceStream
    from seqtag.model.model import Model
    from seqtag.segmentation.writing import ConlluWriter

TOKENS, WORDS = "tokens", "words"
"""The parts of a pipeline that are no taggers: the segmenter, and that of multiword tokens."""

_OF_THE_TEXT = ("id", "form", "misc")  # columns that say what the text is


class Pipeline:
    """Models that run one after another: from text to sentences of annotated words.

    Never changes, so any number of threads may share it; pickles by value.

    Parameters
    ----------
    models
        The models in the order in which they run.
    source
        Name of the file, for messages.
    hidden
        Names of parts whose labels only feed other parts, and are not written.

    Attributes
    ----------
    segmenter : Segmenter or None
        Finds tokens and sentences.
    splitter : Splitter or None
        Finds the words of multiword tokens.
    taggers : tuple of Tagger
        Fill the columns of words.

    Raises
    ------
    ModelFileError
        If the parts of a model do not fit together, or one fills a column that says what the text
        is.

    Examples
    --------
    >>> import seqtag
    >>> pipeline = seqtag.load("en")
    >>> document = pipeline("They aren't here. Why?")
    >>> [word.text for word in document.sentences[0]]
    ['They', 'are', "n't", 'here', '.']
    """

    def __init__(
        self, models: Sequence[Model], source: str = "<model>", *, hidden: Container[str] = ()
    ):
        self.models = tuple(models)
        self._source = source
        taken = [name for model in models for name in model.column.columns if name in _OF_THE_TEXT]
        if taken:
            msg = (
                f"expected parts that leave id, form and misc as the text has them, found one that "
                f"fills {taken[0]}; leave it out"
            )
            raise ModelFileError(msg, source=source)
        named = {model.column.name: model for model in models}
        self.segmenter = Segmenter(named[TOKENS], source) if TOKENS in named else None
        self.splitter = Splitter(named[WORDS], source) if WORDS in named else None
        self.taggers = tuple(
            Tagger(model, source, hidden=name in hidden)
            for name, model in named.items()
            if name not in (TOKENS, WORDS)
        )

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of its parts, in the order in which they run."""
        return tuple(model.column.name for model in self.models)

    @property
    def info(self) -> dict[str, Any]:
        """All that the file says of the models: see `Tagger.info`; ``training`` is the last's."""
        last = self.models[-1]
        parts = [model.config() for model in self.models]
        return {"parts": parts, "training": dict(last.training), "writer": last.writer}

    def __repr__(self) -> str:
        return f"<seqtag.Pipeline of {', '.join(self.parts)}>"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return html_of_pipeline(self.models)

    def only(self, *parts: str) -> Pipeline:
        """The pipeline that writes some of the columns; it still finds tokens and words.

        Parameters
        ----------
        *parts
            Names of parts. Others run only if one of these looks at what they say, and are not
            written.

        Raises
        ------
        SeqtagError
            If it has no such part.

        Examples
        --------
        >>> import seqtag
        >>> seqtag.load("en").only("upos")
        <seqtag.Pipeline of tokens, words, upos>
        """
        named = {model.column.name: model for model in self.models}
        for name in parts:
            if name not in named:
                msg = f"expected one of the parts {', '.join(self.parts)}, found {name!r}"
                raise SeqtagError(msg)
        needed = {TOKENS, WORDS, *parts}
        for model in reversed(self.models):
            if model.column.name in needed and model.column.name not in (TOKENS, WORDS):
                needed |= {
                    other.column.name
                    for other in self.models
                    if {*other.column.columns} & {*inputs_of(model)}
                }
        kept = [model for model in self.models if model.column.name in needed]
        return Pipeline(kept, self._source, hidden=needed.difference(parts))

    # ----------------------------------------------------------------- tagging
    def __call__(self, text: str, *, paragraphs: str = "auto") -> Document:
        """A text as a document.

        Parameters
        ----------
        text
            Raw text. Without any token the document is empty.
        paragraphs
            What ends one: ``blank`` for a blank line, ``line`` for a line break, or ``auto``.

        Raises
        ------
        SeqtagError
            If the pipeline has no segmenter, or the text is none that UTF-8 can hold.
        TypeError
            If it is no text at all.
        """
        return self.tag_text(text, paragraphs=paragraphs)

    def tag_text(self, text: str, *, paragraphs: str = "auto") -> Document:
        """A text as a document: what calling the pipeline gives.

        >>> import seqtag
        >>> [word.lemma for word in seqtag.load("en").tag_text("It flies.").words]
        ['it', 'fly', '.']
        """
        return Document(text, self.sentences(text, paragraphs=paragraphs))

    def sentences(self, text: str, *, paragraphs: str = "auto") -> Iterator[Sentence]:
        """The sentences of a text, annotated, as CoNLL-U has them."""
        stream = read(TextBytes(encoded(text)), "text")
        raw = self.segmented(stream, paragraphs=paragraphs)
        filled = {name for tagger in self.taggers for name in tagger.label_columns}
        to = (
            None if all(has_column(name, COLUMNS) for name in filled) else "conllu"
        )  # which puts the others into MISC
        done = b"".join(tag_text(self.taggers, raw, to)) if self.taggers else raw
        yield from read(io.BytesIO(done), "conllu") if isinstance(done, bytes) else done

    def segmented(
        self,
        stream: SentenceStream,
        *,
        paragraphs: str = "auto",
        flush: bool | None = None,
        writer: ConlluWriter | None = None,
        continues: bool = False,
    ) -> SegmentedText:
        """An open text as CoNLL-U without annotation; see `SegmentedText`.

        Raises
        ------
        SeqtagError
            If the pipeline has no segmenter.
        """
        if self.segmenter is None:
            msg = (
                f"expected a pipeline that has learnt tokens, found the parts "
                f"{', '.join(self.parts)}; train one with --label all"
            )
            raise SeqtagError(msg)
        return SegmentedText(
            stream,
            self.segmenter,
            self.splitter,
            paragraphs=paragraphs,
            flush=flush,
            writer=writer,
            continues=continues,
        )

    # ----------------------------------------------------------------- files
    def save(self, path: str | PathLike[str]) -> int:
        """Write the models to one file, whole or not at all; return its size in bytes."""
        return bundle.save(path, self.models)

    def __reduce__(self) -> tuple[object, ...]:
        return _from_bytes, (bundle.to_bytes(self.models),)


Loaded: TypeAlias = "Tagger | Pipeline"
"""What a model file is loaded as."""


@overload
def load(path_or_name: Literal["en"]) -> Pipeline: ...
@overload
def load(path_or_name: Literal["en-ewt-upos", "en-ewt-xpos"]) -> Tagger: ...
@overload
def load(path_or_name: str | PathLike[str]) -> Any: ...  # of a file nobody knows before
def load(path_or_name: str | PathLike[str]) -> Loaded:
    """What a model file holds: a tagger, or a pipeline if there are several models or a segmenter.

    Parameters
    ----------
    path_or_name
        Path of a ``.seqtag`` file, or the name of an embedded model: ``en``, ``en-ewt-upos``,
        ``en-ewt-xpos``.

    Raises
    ------
    ModelFileError
        If the file is not a model, damaged, or made by a newer seqtag.
    FileNotFoundError
        If there is no such file; the message lists the embedded models.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> load("en-ewt-xpos").label
    'xpos'
    >>> load("en")
    <seqtag.Pipeline of tokens, words, upos, xpos, feats, lemma>
    """
    source = str(path_or_name)
    try:
        models = bundle.load(find_model(path_or_name), source)
    except FileNotFoundError as error:
        raise no_such_model(source, error) from error
    return of_models(models, source)


def no_such_model(name: str, error: FileNotFoundError) -> FileNotFoundError:
    """The error about a model that is not there, with the names of those that are."""
    names = f"{error.strerror or 'No such file'}; the embedded models are "
    return FileNotFoundError(errno.ENOENT, names + ", ".join(embedded_models()), name)


def of_models(models: Sequence[Model], source: str) -> Loaded:
    """A tagger, or a pipeline if there are several models or a segmenter."""
    if len(models) == 1 and models[0].column.name not in (TOKENS, WORDS):
        return Tagger(models[0], source)
    return Pipeline(models, source)


def load_tagger(path_or_name: str | PathLike[str]) -> Tagger:
    """The tagger of a model file that holds one model; see `load`.

    Raises
    ------
    SeqtagError
        If the file holds a pipeline.

    Examples
    --------
    >>> load_tagger("en-ewt-upos").label
    'upos'
    """
    loaded: Loaded = load(path_or_name)
    if isinstance(loaded, Tagger):
        return loaded
    msg = (
        f"{path_or_name}: expected a model of one column, found a pipeline of "
        f"{', '.join(loaded.parts)}; name another, or use seqtag.load"
    )
    raise SeqtagError(msg)


def _from_bytes(data: bytes) -> Pipeline:
    return Pipeline(bundle.models_of(container.from_bytes(data)))
