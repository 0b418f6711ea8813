"""Pipelines: the models of a file, run one after another; loading; chains of models."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from seqtag.corpus import FORMATS, SentenceStream, read
from seqtag.corpus.conllu import COLUMNS as CONLLU
from seqtag.corpus.formats import joined
from seqtag.corpus.sentence import find_column, has_column, sentence_of
from seqtag.corpus.shapes import table_of
from seqtag.corpus.spans import TEXT_FORMATS
from seqtag.corpus.stream import TextBytes
from seqtag.corpus.withheld import check_words
from seqtag.errors import (
    CorpusError,
    ModelFileError,
    OptionError,
    SeqtagError,
    check_integer,
    did_you_mean,
)
from seqtag.labels.column import column_meant
from seqtag.lazy import other_names
from seqtag.model import bundle, container
from seqtag.model.model import check_models
from seqtag.parallel import in_order
from seqtag.segmentation.given_words import SplitWords, split_words
from seqtag.segmentation.multiword import Splitter
from seqtag.segmentation.paragraphs import check_mode
from seqtag.segmentation.reading import (
    ConlluWriter,
    SegmentedText,
    SegmentedTexts,
    has_tokens,
    split_documents,
)
from seqtag.segmentation.rules import RuleSegmenter
from seqtag.segmentation.segmenter import Segmenter
from seqtag.tagging.document import Document, DocumentSentence, encoded, sentences_in
from seqtag.tagging.encode import columns_of, sentences_from
from seqtag.tagging.streams import (
    TagCounts,
    TagOptions,
    score_columns,
    tag_block,
    tag_stream,
    tag_text,
)
from seqtag.tagging.tables import TableTaggers, shared_columns
from seqtag.tagging.tagger import TOKENS, WORDS, Tagger, is_tagger, load_models
from seqtag.tagging.texts import tagged_texts

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterator, Sequence

    from seqtag.corpus import Sentence
    from seqtag.corpus.read import ReadOptions
    from seqtag.model.model import Model

Reading = TypeVar("Reading", bound="ReadOptions")

_log = logging.getLogger("seqtag")

_BATCH_CHARACTERS = 1 << 18  # of the texts that are annotated at once
_OPTIONS = TagOptions()
_TEXT_COLUMNS = ("id", "form", "misc")  # columns that describe the text


class Pipeline:
    """Models that run one after another: from text to sentences of annotated words.

    Immutable, so any number of threads may share it; pickles by value.

    Parameters
    ----------
    models
        The models in the order in which they run; or their file or name, as for `seqtag.load`.
    source
        Name of the file, for messages.
    hidden
        Names of components whose labels only feed other components, and are not written.

    Attributes
    ----------
    source : str
        Name of the file.
    segmenter : Segmenter or None
        Finds tokens and sentences; without one, texts are cut by the rules of NLTK.
    splitter : Splitter or None
        Finds the words of multiword tokens.
    taggers : tuple of Tagger
        Fill the columns of words.
    columns : tuple of str
        The columns that it writes.
    schemes : dict from str to str
        The schemes of those that have chunk labels.

    Raises
    ------
    ModelFileError
        If the arrays of a model do not fit together, or one fills a column that describes the text.
    TypeError
        If these are no models.

    Examples
    --------
    >>> import seqtag
    >>> pipeline = seqtag.load("en")
    >>> document = pipeline("They aren't here. Why?")
    >>> [word.text for word in document.sentences[0]]
    ['They', 'are', "n't", 'here', '.']
    >>> [word.upos for word in pipeline.tag_words(["Why", "?"])]
    ['ADV', 'PUNCT']
    """

    def __init__(
        self,
        models: str | PathLike[str] | Sequence[Model],
        source: str = "<model>",
        *,
        hidden: Container[str] = (),
    ):
        if isinstance(models, (str, PathLike)):
            models, source = load_models(models), str(models)
        check_models(models)
        self.models = tuple(models)
        self.source = source
        taken = [name for model in models for name in model.column.columns if name in _TEXT_COLUMNS]
        if taken:
            msg = (
                "expected components that do not change id, form and misc, found one that fills "
                f"{taken[0]}; leave it out"
            )
            raise ModelFileError(msg, source=source)
        bundle.check_columns(models, source)
        named = {model.column.name: model for model in models}
        self.segmenter = Segmenter(named[TOKENS], source) if TOKENS in named else None
        self.splitter = Splitter(named[WORDS], source) if WORDS in named else None
        self.taggers = tuple(
            Tagger(model, source, hidden=name in hidden)
            for name, model in named.items()
            if name not in (TOKENS, WORDS)
        )
        self._cutter = self.segmenter or RuleSegmenter()
        self._texts = SegmentedTexts(self._cutter, self.splitter)
        self._tables = TableTaggers(self.taggers)
        shown = [tagger for tagger in self.taggers if not tagger.hidden]
        self.columns = tuple(name for tagger in shown for name in tagger.label_columns)
        self._names = [each.label for each in shown if each.finds_names]
        self.schemes = {each.label: each.label_scheme for each in shown if each.label_scheme}
        filled = {name for tagger in self.taggers for name in tagger.label_columns}
        fits = all(has_column(name, CONLLU) for name in filled)
        self._to = None if fits else "conllu"  # which puts the others into MISC

    if not TYPE_CHECKING:
        __getattr__ = other_names(
            {
                "parts": "components pipe_names processors",
                "tagger": "get_pipe",
                "tag_words(words) or pipeline(text)": "tag process annotate predict",
                "seqtag.score(pipeline.only(column), sentences)": "evaluate accuracy",
                "seqtag.train": "add_pipe update fit train",
            }
        )

    @classmethod
    def load(cls, path_or_name: str | PathLike[str]) -> Pipeline:
        """Return the models of a file as a pipeline, even if there is only one; see `seqtag.load`.

        >>> Pipeline.load("en")
        <seqtag.Pipeline of tokens, words, upos, xpos, feats, lemma, misc.NER>
        """
        return cls(load_models(path_or_name), str(path_or_name))

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of its components, in the order in which they run."""
        return tuple(model.column.name for model in self.models)

    @property
    def info(self) -> dict[str, Any]:
        """Metadata of each model, see `Tagger.info`; ``training`` is that of the last model."""
        last = self.models[-1]
        parts = [model.config() for model in self.models]
        return {"parts": parts, "training": dict(last.training), "writer": last.writer}

    def __repr__(self) -> str:
        return f"<seqtag.Pipeline of {', '.join(self.parts)}>"

    def only(self, *parts: str) -> Pipeline:
        """Return a pipeline that writes only some of the columns; it still segments text.

        Parameters
        ----------
        *parts
            Names of components. Others run only if one of these uses their labels, and are not
            written.

        Raises
        ------
        SeqtagError
            If there is no such component.

        Examples
        --------
        >>> import seqtag
        >>> seqtag.load("en").only("upos")
        <seqtag.Pipeline of tokens, words, upos>
        """
        found: Pipeline = _only([self], parts)[0]
        return found

    def tagger(self, part: str) -> Tagger:
        """Return a component as a tagger by itself.

        Sentences that it tags need all columns that it looks at. Where other components predict
        some of them, `only` returns a pipeline that runs these first.

        Parameters
        ----------
        part
            Name of the component.

        Raises
        ------
        SeqtagError
            If there is no such component that labels words.

        Examples
        --------
        >>> import seqtag
        >>> seqtag.load("en").tagger("upos").tag(["Birds", "fly", "."])
        ['NOUN', 'VERB', 'PUNCT']
        >>> seqtag.load("en").tagger("xpos").columns
        ('form', 'upos')
        """
        named = {tagger.label: tagger for tagger in self.taggers}
        return Tagger(named[_component(part, named)].model, self.source)

    # ----------------------------------------------------------------- tagging
    def __call__(self, text: str, *, paragraphs: str = "auto") -> Document:
        """Return a text as a document; the same as `tag_text`."""
        return self.tag_text(text, paragraphs=paragraphs)

    def tag_text(self, text: str, *, paragraphs: str = "auto") -> Document:
        """Return a text as a document.

        Parameters
        ----------
        text
            Raw text. Without any token the document is empty.
        paragraphs
            End of paragraphs: ``blank`` for a blank line, ``line`` for a line break, or ``auto``.

        Raises
        ------
        SeqtagError
            If UTF-8 cannot encode the text.
        CorpusError
            If a model uses columns that no other one fills.
        TypeError
            If it is not a string.

        Examples
        --------
        >>> import seqtag
        >>> [word.lemma for word in seqtag.load("en").tag_text("It flies.").words]
        ['it', 'fly', '.']
        """
        check_mode(paragraphs)
        encoded(text)
        return self._documents([text], paragraphs)[0]

    def pipe(
        self,
        texts: Iterable[str],
        *,
        batch_size: int = 1000,
        threads: int = 1,
        paragraphs: str = "auto",
        options: TagOptions | None = None,
    ) -> Iterator[Document]:
        """Yield many texts as documents, in order; equal to those of `tag_text`, but much faster.

        Texts are read as they are needed, a few batches ahead at most, so memory use is bounded.
        If reading them fails, the documents of the texts before come first, then the error.

        Parameters
        ----------
        texts
            Raw texts, from a generator for example.
        batch_size
            Number of texts to annotate at once; fewer if they are long.
        threads
            Threads to annotate batches on.
        paragraphs
            As for `tag_text`.
        options
            With ``margin`` or ``probability`` spans have a score.

        Raises
        ------
        ValueError
            If `batch_size` or `threads` is less than 1.
        SeqtagError, TypeError
            As `tag_text`, when the document of such a text is due.

        Examples
        --------
        >>> import seqtag
        >>> texts = ["It flies.", "", "They fly. Why?"]
        >>> [len(document) for document in seqtag.load("en").pipe(texts)]
        [1, 0, 2]
        """
        check_integer("threads", threads)
        check_mode(paragraphs)
        is_table = table_of(texts) is not None
        if isinstance(texts, str) or is_table or not isinstance(texts, Iterable):
            found = "a table; give its column of texts" if is_table else f"{texts!r:.60}"
            msg = f"expected a list of texts, or another iterable of them, found {found}"
            raise TypeError(msg)
        check_integer("batch_size", batch_size)
        work = partial(self._documents, paragraphs=paragraphs, options=options or _OPTIONS)
        done = in_order(work, _batches(texts, batch_size), threads)
        return (document for batch in done for document in batch)

    def _documents(
        self, texts: Sequence[str], paragraphs: str, options: TagOptions = _OPTIONS
    ) -> list[Document]:
        """Return the texts of a batch as documents."""
        scores = dict[str, str]()
        if options.margin or options.probability:
            for each in self.taggers:
                scores[each.label] = score_columns(each, self.taggers)[options.probability]
        to = "conllu" if scores else self._to
        if len(texts) == 1 and _is_long(texts[0]):
            whole = read(TextBytes(texts[0].encode()), "text")
            stream = self.segmented(whole, paragraphs=paragraphs)
            tagged = tag_text(self.taggers, stream, to, options=options, tables=self._tables)
            conllu = b"".join(tagged)
        else:
            block = self._texts.block(texts, paragraphs)
            conllu = b""
            if block:
                conllu = tag_block(self._tables, self._texts, to, options, block).write(0)
        pieces = iter(split_documents(conllu.decode()))
        how = self.columns, self.schemes, self._names, scores
        return [Document(text, next(pieces) if has_tokens(text) else "", *how) for text in texts]

    def document(self, text: str, conllu: str) -> Document:
        """Return a text as a document, given the CoNLL-U that this pipeline wrote for it.

        Parameters
        ----------
        text
            The text.
        conllu
            Its sentences, with all white space; empty if it has no token.

        Examples
        --------
        >>> import seqtag
        >>> pipeline = seqtag.load("en")
        >>> document = pipeline("It flies.")
        >>> pipeline.document(document.text, str(document)).words == document.words
        True
        """
        return Document(text, conllu, self.columns, self.schemes, self._names)

    def tag_words(self, words: Sequence[str], *, split: bool = False) -> DocumentSentence:
        """Return a list of words as a sentence.

        Parameters
        ----------
        words
            The words of a sentence. Its text is the words with a space between them.
        split
            Whether multiword tokens are split, such as ``don't``.

        Raises
        ------
        CorpusError
            If a word is empty or has a tab or line break.
        SeqtagError
            If no component can split them.
        TypeError
            If it is one string, or contains something other than words.

        Examples
        --------
        >>> import seqtag
        >>> sentence = seqtag.load("en").tag_words(["Birds", "sing"])
        >>> [(word.text, word.upos, word.lemma) for word in sentence]
        [('Birds', 'NOUN', 'bird'), ('sing', 'VERB', 'sing')]
        """
        return self.tag_many([words], split=split)[0]

    def tag_many(
        self, sentences: Iterable[Sequence[str]], threads: int = 1, *, split: bool = False
    ) -> list[DocumentSentence]:
        """Return many lists of words as sentences, in their order; see `tag_words`.

        Parameters
        ----------
        sentences
            Lists of words.
        threads
            Threads to decode on.
        split
            Whether multiword tokens are split.

        Examples
        --------
        >>> import seqtag
        >>> [str(len(each)) for each in seqtag.load("en").tag_many([["Go", "!"], []])]
        ['2', '0']
        """

        def checked() -> Iterator[Sentence]:
            for number, sentence in enumerate(sentences_from(sentences), 1):
                [words] = columns_of(sentence, ())
                for word in words:
                    if not isinstance(word, str):
                        msg = f"expected words as strings, found {word!r}"
                        raise TypeError(msg)
                yield sentence_of({"form": words}, line=number)

        check_integer("threads", threads)
        given = checked()
        if split:
            if self.splitter is None:
                msg = "expected a model with the component words to split tokens, found none"
                raise SeqtagError(msg)
            given = split_words(given, self.splitter)
        return [
            DocumentSentence(filled.text("conllu") if len(filled) else "", 0)
            for filled in tag_stream(self.taggers, given, threads)
        ]

    def sentences(self, text: str, *, paragraphs: str = "auto") -> Iterator[Sentence]:
        """Yield the annotated sentences of a text, as CoNLL-U has them; see `tag_text`."""
        return sentences_in(str(self.tag_text(text, paragraphs=paragraphs)))

    def segmented(self, stream: SentenceStream, **options: Any) -> SegmentedText:
        """Return an open text as CoNLL-U without annotation, with options of `SegmentedText`."""
        return SegmentedText(stream, self._cutter, self.splitter, **options)

    # ----------------------------------------------------------------- files
    def save(self, path: str | PathLike[str]) -> int:
        """Write the models to one file, atomically; return its size in bytes."""
        return bundle.save(path, self.models)

    def __reduce__(self) -> tuple[object, ...]:
        hidden = [tagger.label for tagger in self.taggers if tagger.hidden]
        return _from_bytes, (bundle.to_bytes(self.models), hidden)


def _is_long(text: str) -> bool:
    return len(text) > SegmentedTexts.MOST_CHARACTERS


def _batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Yield texts in batches; long ones by themselves. After an error the last batch comes first.

    Raises
    ------
    SeqtagError, TypeError
        As `encoded`.
    """
    texts = iter(texts)
    batch: list[str] = []
    room = _BATCH_CHARACTERS
    while True:
        try:
            text = next(texts)
            encoded(text)
        except StopIteration:
            break
        except Exception:
            if batch:
                yield batch
            raise
        if batch and (_is_long(text) or len(text) > room):
            yield batch
            batch, room = [], _BATCH_CHARACTERS
        batch.append(text)
        room -= len(text)
        if _is_long(text) or len(batch) == size:
            yield batch
            batch, room = [], _BATCH_CHARACTERS
    if batch:
        yield batch


def _component(name: str, known: Collection[str]) -> str:
    """Return the component that a name means, such as misc.NER for ner.

    Raises
    ------
    SeqtagError
        If there is no such component.
    """
    found = column_meant(name, known) if isinstance(name, str) else None
    if found is None:
        msg = (
            f"expected one of the components {', '.join(known)}, found {name!r}"
            f"{did_you_mean(str(name), known)}"
        )
        raise SeqtagError(msg)
    return found


def _needed(models: Sequence[Model], only: Sequence[str]) -> set[str]:
    """Return the names of the components to run for some of them: also those that they use."""
    needed = {TOKENS, WORDS, *only}
    for model in reversed(models):
        if model.column.name in needed and model.column.name not in (TOKENS, WORDS):
            needed |= {
                other.column.name
                for other in models
                if any(find_column(name, other.column.columns) for name in model.compiled.columns)
            }
    return needed


def _from_bytes(data: bytes, hidden: Sequence[str]) -> Pipeline:
    return Pipeline(bundle.models_of(container.from_bytes(data)), hidden=hidden)


# ----------------------------------------------------------------- cutting
class Cutter:
    """Cuts texts into sentences of words. Its models are loaded when they are first used.

    Parameters
    ----------
    model
        A file or name of a model with the component tokens; or a loaded model: without that
        component, the rules of NLTK cut, as when it tags texts.

    Examples
    --------
    >>> [document] = Cutter("en").pipe(["It works. Why?"])
    >>> [len(sentence) for sentence in document]
    [3, 2]
    """

    def __init__(self, model: Any):
        self._model = model

    @cached_property
    def models(self) -> list[Model]:
        """The models that find tokens, sentences and the words of multiword tokens.

        Raises
        ------
        ModelFileError
            If a file has none.
        """
        loaded = getattr(self._model, "models", None)
        models = load_models(self._model) if loaded is None else loaded
        found = [model for model in models if model.column.name in (TOKENS, WORDS)]
        if loaded is None and not found:
            msg = "expected a model with the component tokens, to cut texts, found one without"
            raise ModelFileError(msg, source=str(self._model))
        return found

    def pipe(self, texts: Iterable[str], threads: int = 1) -> Iterator[Document]:
        """Yield texts as documents of words without labels."""
        return Pipeline(self.models).pipe(texts, threads=threads)


# ----------------------------------------------------------------- loading
Loaded: TypeAlias = "Tagger | Pipeline"
"""The content of a model file."""


def of_models(models: Sequence[Model], source: str) -> Loaded:
    """Return a tagger, or a pipeline if there are several models or a segmenter."""
    return Tagger(models[0], source) if is_tagger(models) else Pipeline(models, source)


# ----------------------------------------------------------------- chains
class Chain:
    """Models of several files, one after another, from open files to bytes.

    Parameters
    ----------
    loaded
        The content of each file, from `load`.
    only
        Components of pipelines, and columns of single taggers, to write; None for all. Others run
        only if one of these uses their labels.

    Attributes
    ----------
    taggers : list of Tagger
        All taggers, in the order in which they run.

    Raises
    ------
    SeqtagError
        If no model has such a component.
    OptionError
        If several fill one column, and it is none of chunks.
    """

    def __init__(self, loaded: Sequence[Loaded], only: Sequence[str] | None = None):
        if only:
            loaded = _only(loaded, only)
        self.cutter = next((each for each in loaded if each.segmenter), None)
        self.splitter = next((each.splitter for each in loaded if each.splitter), None)
        self.taggers = [tagger for each in loaded for tagger in each.taggers]
        for name, places in shared_columns(self.taggers).items():
            _log.info(
                "%s: filled by %d models, the later ones where the others write O",
                name,
                len(places),
            )

    @property
    def columns(self) -> list[str]:
        """Names of the columns that are written."""
        return [name for tagger in self.shown for name in tagger.label_columns]

    @property
    def shown(self) -> list[Tagger]:
        """The taggers whose labels are written."""
        return [tagger for tagger in self.taggers if not tagger.hidden]

    def reading(self, options: Reading) -> Reading:
        """Return options for reading texts, and files as those that the models learned from."""
        known = options.after(each.model.training for each in self.shown)
        return replace(known, is_text=True)

    @property
    def cuts(self) -> bool:
        """True if a model cuts raw text."""
        return self.cutter is not None

    def cut(
        self,
        streams: Sequence[SentenceStream],
        options: TagOptions,
        threads: int = 1,
        *,
        flush: bool | None = None,
    ) -> list[SentenceStream]:
        """Return the streams, with raw text cut by a model if one can.

        Parameters
        ----------
        streams, options, threads, flush
            As for `tagged`.

        Raises
        ------
        OptionError
            If ranges of tokens are wanted and no text is cut by a model, or the format is one of
            texts.
        """
        if options.to in TEXT_FORMATS[1:]:
            msg = f"expected a format of sentences, found {options.to}; leave --to out"
            raise OptionError(msg)
        for stream in streams:
            check_words(stream)
        if options.split_words:
            splitter = self.splitter
            if splitter is None:
                msg = "expected a model with the component words for --split-words, found none"
                raise OptionError(msg)
            streams = [each if each.is_raw else SplitWords(each, splitter) for each in streams]
        cutter = self.cutter if options.tokenizer == "model" else None
        is_cut = cutter is not None and any(stream.is_raw for stream in streams)
        if options.token_ranges and not is_cut:
            msg = (
                "expected raw text and a pipeline that segments it for --token-ranges, found "
                "other input; leave one out"
            )
            raise OptionError(msg)
        if cutter is None:
            return list(streams)
        writer = ConlluWriter(token_ranges=options.token_ranges)
        return [
            cutter.segmented(
                stream,
                paragraphs=options.paragraphs,
                flush=flush,
                writer=writer,
                threads=threads,
                document=stream.source if len(streams) > 1 else "",
            )
            if stream.is_raw
            else stream
            for stream in streams
        ]

    def tagged(
        self,
        streams: Sequence[SentenceStream],
        options: TagOptions,
        threads: int = 1,
        *,
        flush: bool | None = None,
        counts: TagCounts | None = None,
    ) -> Iterator[bytes]:
        r"""Yield the output of some open files, piece by piece, one file after another.

        Parameters
        ----------
        streams
            From `seqtag.read`.
        options
            How to tag and to write; those of reading are not used.
        threads, flush
            As for `seqtag.tagging.streams.tag_text`.
        counts
            Counts to add to.

        Raises
        ------
        OptionError
            If ranges of tokens are wanted and no text is cut by a model.
        CorpusError
            If the files have different formats and none is chosen for the output.

        Examples
        --------
        >>> import io, seqtag
        >>> chain = Chain([seqtag.load("en")], only=["upos"])
        >>> stream = seqtag.read(io.BytesIO(b"It works.\n"), "text")
        >>> b"".join(chain.tagged([stream], TagOptions(to="tagged")))
        b'It/PRON works/VERB ./PUNCT\n'
        """
        if options.to in TEXT_FORMATS[1:] or any(each.format == "spans" for each in streams):
            pipeline = self.of_texts([each.format for each in streams], options)
            records = chain.from_iterable(stream.texts() for stream in streams)
            return tagged_texts(pipeline, records, options, threads, counts or TagCounts())
        sources = self.cut(streams, options, threads, flush=flush)
        to = options.to or _format_of(sources, self.columns)
        if options.has_columns and to is None and sources[0].columns == CONLLU:
            to = "conllu"  # with the new columns in MISC
        pieces = (
            piece
            for source in sources
            for piece in tag_text(
                self.taggers, source, to, threads, flush=flush, options=options, counts=counts
            )
        )
        return joined(pieces, to)

    def of_texts(self, formats: Sequence[str], options: TagOptions) -> Pipeline:
        """Return the models as a pipeline for texts with other fields.

        Raises
        ------
        OptionError
            If the input is none, or the options do not fit.
        """
        possible = TEXT_FORMATS if any(each.label_scheme for each in self.shown) else ("jsonl",)
        msg = ""
        if {*formats} != {"spans"}:
            msg = (
                f"expected texts of JSON for --to {options.to}, found the format "
                f'{", ".join(formats)}; write each text as an object, {{"text": "..."}}, or name '
                "the column of a table with --text-column (1 if each line is a text)"
            )
        elif options.to not in (None, *possible):
            msg = f"expected --to {', '.join(possible)} for these texts, found --to {options.to}"
        elif options.keep or options.nbest > 1 or options.split_words:
            msg = "expected no --keep, --nbest or --split-words for texts of JSON; leave them out"
        if msg:
            raise OptionError(msg)
        models = [each.model for each in self.taggers]
        if self.cutter is not None and options.tokenizer == "model":
            models = Cutter(self.cutter).models + models
        return Pipeline(models, hidden=[each.label for each in self.taggers if each.hidden])


def _only(loaded: Sequence[Any], only: Sequence[str]) -> list[Any]:
    """Return models that write only some columns."""
    models = [model for each in loaded for model in each.models]
    known = list(dict.fromkeys(model.column.name for model in models))
    only = [_component(name, known) for name in only]
    needed = _needed(models, only)
    hidden = needed.difference(only)
    found: list[Loaded] = []
    for each in loaded:
        kept = [model for model in each.models if model.column.name in needed]
        if kept and isinstance(each, Pipeline):
            found.append(Pipeline(kept, each.source, hidden=hidden))
        elif isinstance(each, Tagger) and kept:
            found.append(Tagger(each.model, hidden=True) if each.label in hidden else each)
    return found


def _format_of(streams: Sequence[SentenceStream], labels: Sequence[str]) -> str | None:
    """Return the format to write if none is chosen; None for that of the input.

    Raises
    ------
    CorpusError
        If the inputs have different formats.
    """
    with_labels = [stream for stream in streams if stream.columns != ("form",)]
    for stream in with_labels[1:]:
        if stream.format != (first := with_labels[0]).format:
            msg = (
                f"expected the format {first.format} of {first.source}, found {stream.format}; "
                "tag the files one by one, or choose the format of the output with --to"
            )
            raise CorpusError(msg, source=stream.source)
    if not FORMATS[streams[0].format].in_place:
        fits = all(has_column(name, (*CONLLU, "pos")) for name in labels)
        return "conllu" if fits else "columns"
    fits = all(has_column(name, CONLLU) for name in labels)
    if isinstance(streams[0], SegmentedText) and not fits:
        return "conllu"  # with what it has no column for in MISC
    return None
