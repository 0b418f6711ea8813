"""seqtag models as spaCy components and tokenizers.

spaCy finds both by name, see `seqtag.integrations.spacy_factories`. What spaCy saves includes the
bytes of the model, so no other file is needed to load it.
"""

from __future__ import annotations

import logging
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.errors import install_hint

try:
    from spacy.parts_of_speech import IDS as PARTS_OF_SPEECH
    from spacy.pipeline.pipe import Pipe
    from spacy.scorer import Scorer, get_ner_prf
    from spacy.tokens import Doc, Span, Token
    from spacy.util import filter_spans, minibatch
except ModuleNotFoundError as error:
    message = f"expected spaCy, found none ({error}); {install_hint('spacy')}"
    raise ModuleNotFoundError(message, name=error.name) from error

from seqtag.corpus import sentence_of
from seqtag.corpus.sentence import find_column
from seqtag.engine.arrays import pointers
from seqtag.errors import ModelFileError, SeqtagError
from seqtag.labels.column import LabelColumn
from seqtag.labels.schemes import OUTSIDE, parse
from seqtag.labels.schemes import spans as spans_of
from seqtag.loading import load
from seqtag.model import bundle, container
from seqtag.model.embedded import training_advice
from seqtag.tagging.pipeline import Pipeline
from seqtag.tagging.streams import columns_needed, tag_stream
from seqtag.tagging.tagger import TOKENS, WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from spacy.training import Example
    from spacy.vocab import Vocab
    from typing_extensions import Self

    from seqtag.corpus import Sentence
    from seqtag.model.model import Model
    from seqtag.tagging.document import Document

ATTRIBUTES = {"upos": "pos", "xpos": "tag", "pos": "tag", "feats": "morph", "lemma": "lemma"}
"""spaCy's token attributes by the name of the column; other columns become ``token._``."""

_CONTENT_WORDS = ("ADJ", "ADV", "INTJ", "NOUN", "PROPN", "VERB")
_SPACE_LABELS = {"pos": "SPACE", "tag": "_SP", "morph": ""}  # as spaCy labels white space

_STOPS = frozenset(".!?")  # which end sentences

_log = logging.getLogger("seqtag")

_MODEL_FILE = "model.seqtag"  # in the folder that spaCy saves a component to


class _ModelOwner:
    """Owner of a pipeline, with spaCy's methods to load and save it.

    Attributes
    ----------
    language
        Code of the language of the spaCy pipeline, for messages.
    """

    language = ""

    def __init__(self) -> None:
        self._pipeline: Pipeline | None = None

    @property
    def pipeline(self) -> Pipeline:
        """The loaded models.

        Raises
        ------
        SeqtagError
            If none has been loaded yet.
        """
        if self._pipeline is None:
            advice = training_advice(self.language)
            msg = (
                f'expected a model for {self}, found none; give one with config={{"model": '
                '"NAME or PATH"}, or load the whole pipeline with spacy.load'
            )
            raise SeqtagError(f"{msg}; {advice}" if advice else msg)
        return self._pipeline

    def _use(self, models: Sequence[Model], source: str) -> None:
        """Use those of the models that are applicable; implemented by the subclasses."""

    def load(self, path_or_name: str | PathLike[str]) -> None:
        """Load a model file or an embedded model, as `seqtag.load` does."""
        self._use(load(path_or_name).models, str(path_or_name))

    def to_bytes(self, **_: Any) -> bytes:
        """Return the model file; nothing in it can be excluded."""
        return bundle.to_bytes(self.pipeline.models)

    def from_bytes(self, data: bytes, **_: Any) -> Self:
        """Load the models from the result of `to_bytes`."""
        self._use(bundle.models_of(container.from_bytes(data)), "<bytes>")
        return self

    def to_disk(self, path: str | PathLike[str], **_: Any) -> None:
        """Write the model file into a folder, which is created if it is missing."""
        Path(path).mkdir(parents=True, exist_ok=True)
        bundle.save(Path(path) / _MODEL_FILE, self.pipeline.models)

    def from_disk(self, path: str | PathLike[str], **_: Any) -> Self:
        """Load the models written by `to_disk`."""
        file = Path(path) / _MODEL_FILE
        self._use(bundle.load(file, str(file)), str(file))
        return self


class SeqtagComponent(_ModelOwner, Pipe):
    """Component of a spaCy pipeline that annotates the tokens of a document.

    UPOS becomes ``token.pos``, XPOS ``token.tag``, FEATS ``token.morph`` and LEMMA
    ``token.lemma``; chunks become spans; any other column becomes ``token._.NAME``. Input columns
    are read from what earlier components have set. Sentences are those of the document; if it has
    none, the segmenter of the model sets them, and without a segmenter the document is tagged as a
    single sentence. White space is left out, and gets spaCy's labels for it. Tagging does not
    change the component, so threads may share it. It pickles by value.

    A token that the models split into several words (French "du") is tagged as these words. Its
    tags and lemmas are joined as by ``spacy convert --merge-subtokens``, and its part of speech is
    that of the first content word, if there is one.

    Parameters
    ----------
    name
        Name in the spaCy pipeline.
    model
        Name of an embedded model, or path of a model file; None if it is loaded later by
        `from_disk` or `from_bytes`.
    only
        Names of the components of a pipeline file to use; see
        `seqtag.tagging.pipeline.Pipeline.only`.
    spans
        Target of chunks: ``ents`` for ``doc.ents``, else a key of ``doc.spans``. ``auto`` uses
        ``ents`` for names, and the name of the column for phrases such as NP.
        Existing entities are kept.

    Raises
    ------
    ModelFileError
        If the file has no tagger, or one of parts of speech that spaCy does not have.
    FileNotFoundError
        If there is no such file.
    SeqtagError
        If the file has no component with a name in `only`.

    Examples
    --------
    >>> import spacy
    >>> doc = SeqtagComponent(model="en")(spacy.blank("en")("The cats slept."))
    >>> [token.lemma_ for token in doc]
    ['the', 'cat', 'sleep', '.']
    >>> [len(sentence) for sentence in SeqtagComponent(model="en")(doc).sents]
    [4]
    """

    def __init__(
        self,
        name: str = "seqtag",
        model: str | PathLike[str] | None = None,
        *,
        only: Sequence[str] | None = None,
        spans: str = "auto",
    ):
        super().__init__()
        self.name = name
        self._only = None if only is None else tuple(only)
        self._spans = spans
        self._has_warned = False
        if model is not None:
            self.load(model)

    def __repr__(self) -> str:
        return f"<component {self.name!r}>"

    def _use(self, models: Sequence[Model], source: str) -> None:
        pipeline = Pipeline(models, source)
        if self._only is not None:
            pipeline = pipeline.only(*self._only)
        if not pipeline.taggers:
            msg = (
                f"expected a model that labels words, found one of {', '.join(pipeline.parts)}; "
                "name another, or use this one as tokenizer"
            )
            raise ModelFileError(msg, source=source)
        known = sorted(name for name in PARTS_OF_SPEECH if name)
        for tagger in pipeline.taggers:
            if "upos" in tagger.label_columns and not tagger.hidden:
                others = [v for v in tagger.split_label(tagger.labels)["upos"] if v not in known]
                if others:
                    msg = (
                        f"expected universal parts of speech ({', '.join(known)}) for token.pos, "
                        f"found {others[0]!r}; retrain it with these, or with --label xpos for "
                        "token.tag"
                    )
                    raise ModelFileError(msg, source=source)
        segmenters = [model for model in pipeline.models if model.column.name == TOKENS]
        self._segmenter = Pipeline(segmenters, source) if segmenters else None
        self._pipeline = pipeline
        for name in self._columns:
            if name not in ATTRIBUTES and not Token.has_extension(name):
                Token.set_extension(name, default=None)

    def __reduce__(self) -> tuple[Any, ...]:
        data = None if self._pipeline is None else self.to_bytes()
        return _component, (self.name, self._only, self._spans, data)

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels that it can assign, sorted: types of chunks, no lemmas."""
        if self._pipeline is None:
            return ()
        found: set[str] = set()
        for tagger in self._pipeline.taggers:
            if tagger.label in self._pipeline.schemes:
                kinds = (parse(label)[1] for label in tagger.labels if label != OUTSIDE)
                found.update(kind or tagger.label for kind in kinds)
            elif not (tagger.hidden or tagger.model.coding.needs_forms):
                found.update(tagger.labels)
        return tuple(sorted(found))

    @property
    def _columns(self) -> list[str]:
        """Columns that become attributes of tokens."""
        return [name for name in self.pipeline.columns if name not in self.pipeline.schemes]

    # ----------------------------------------------------------------- annotating
    def __call__(self, doc: Doc) -> Doc:
        """Annotate a document in place."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate documents in place, in batches of `batch_size`, which is faster."""
        for batch in minibatch(stream, size=batch_size):
            docs = list(batch)
            try:
                self._annotate(docs)
            except Exception as error:  # spaCy's error handler decides
                self.get_error_handler()(self.name, self, docs, error)
            yield from docs

    def _annotate(self, docs: Sequence[Doc]) -> None:
        """Tag the sentences of some documents at once, and set the attributes."""
        columns, schemes = self._columns, self.pipeline.schemes
        unset = [doc for doc in docs if not _has_sentences(doc)]
        if self._segmenter is not None:
            set_sentences(unset, self._segmenter)
        elif not self._has_warned and any(_STOPS.intersection(map(str, doc[:-1])) for doc in unset):
            self._has_warned = True
            _log.warning(
                "%s: documents without sentence borders are tagged as one sentence; add "
                'nlp.add_pipe("sentencizer") before it, or use a model with a segmenter',
                self,
            )
        units = self._units(docs)
        chunks: dict[tuple[int, str], list[Span]] = {}
        tagged = tag_stream(self.pipeline.taggers, map(self._sentence_of, units))
        for unit, sentence in zip(units, tagged, strict=True):
            unit.write({name: sentence.filled[name] for name in columns})
            for label, scheme in schemes.items():
                found = unit.spans(spans_of(sentence.filled[label], scheme), label)
                chunks.setdefault((id(unit.doc), self._key(label)), []).extend(found)
        for doc in docs:
            label_white_space(doc, columns)
            for key in {*map(self._key, schemes)}:
                mark(doc, key, chunks.get((id(doc), key), []))

    def _units(self, docs: Iterable[Doc]) -> list[Unit]:
        """Return the sentences of documents, with the words of each token."""
        sentences = [(doc, tokens) for doc in docs for tokens in sentences_of(doc)]
        texts = [token.text for _, tokens in sentences for token in tokens]
        parts: list[Sequence[str]] = [(text,) for text in texts]
        bounds = pointers(len(tokens) for _, tokens in sentences)
        if self.pipeline.splitter is not None:
            ptr = pointers(map(len, texts))
            words = self.pipeline.splitter.split("".join(texts), ptr[:-1], ptr[1:], bounds[1:])
            for number, several in words.items():
                parts[number] = several
        each = zip(sentences, pairwise(bounds.tolist()), strict=True)
        return [Unit(doc, tokens, parts[a:b]) for (doc, tokens), (a, b) in each]

    def _sentence_of(self, unit: Unit) -> Sentence:
        """Return a sentence with its words and the input columns, from the document."""
        columns = {"form": unit.words}
        for name in columns_needed(self.pipeline.taggers):
            given = tuple(column for column in (*ATTRIBUTES, name) if is_set(unit.doc, column))
            found = find_column(name, given)
            if found is None:
                attribute = ATTRIBUTES.get(name)
                where = f"token.{attribute}_" if attribute else f"token._.{name}"
                msg = (
                    f"expected documents with {where} for {self}, whose model looks at {name}, "
                    f"found one without; add a component that sets it before this one"
                )
                raise SeqtagError(msg)
            columns[found] = unit.spread([value_of(token, found) for token in unit.tokens])
        return sentence_of(columns, source=str(self))

    def _key(self, label: str) -> str:
        """Return the key of the chunks of a column: ``ents``, or one of ``doc.spans``."""
        if self._spans != "auto":
            return self._spans
        if any(each.finds_names for each in self.pipeline.taggers if each.label == label):
            return "ents"
        return LabelColumn(label).kind

    # ----------------------------------------------------------------- scoring
    def score(self, examples: Iterable[Example], **options: Any) -> dict[str, Any]:
        """Return spaCy's scores of its attributes: ``tag_acc``, ``ents_f``, ``spans_chunk_f``..."""
        examples = list(examples)
        scores: dict[str, Any] = {}
        if self._segmenter is not None:
            scores |= Scorer.score_spans(examples, "sents", has_annotation=_has_sentences)
            del scores["sents_per_type"]
        for name in self._columns:
            attribute = ATTRIBUTES.get(name)
            if attribute is not None:
                getter: Any = getattr
                if attribute == "morph":  # compared by key
                    getter = lambda token, name: getattr(token, name).key  # noqa: E731
                scores |= Scorer.score_token_attr(examples, attribute, getter=getter, **options)
        for key in sorted({*map(self._key, self.pipeline.schemes)}):
            if key == "ents":
                scores |= get_ner_prf(examples, **options)
            else:
                scores |= Scorer.score_spans(
                    examples,
                    f"spans_{key}",
                    getter=lambda doc, _, key=key: doc.spans.get(key, ()),
                    has_annotation=lambda doc, key=key: key in doc.spans,
                    allow_overlap=True,
                )
        return scores


class SeqtagTokenizer(_ModelOwner):
    """spaCy tokenizer and sentence segmenter from a pipeline file.

    Tokens are those of the text. A token whose words are spelled in the text letter by letter
    (English "don't") becomes these words, others (French "du") are not split. White space is
    tokenized as in spaCy, so no character is lost. It pickles by value.

    Parameters
    ----------
    vocab
        Vocabulary of the spaCy pipeline: ``nlp.vocab``.
    model
        Path of a pipeline file with a segmenter, or the name of an embedded one; None if it is
        loaded later by `from_disk` or `from_bytes`.

    Raises
    ------
    ModelFileError
        If the file has no segmenter.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> nlp.tokenizer = SeqtagTokenizer(nlp.vocab, "en")
    >>> [[token.text for token in sentence] for sentence in nlp("It doesn't.  Why?").sents]
    [['It', 'does', "n't", '.', ' '], ['Why', '?']]
    """

    def __init__(self, vocab: Vocab, model: str | PathLike[str] | None = None):
        super().__init__()
        self.vocab = vocab
        if model is not None:
            self.load(model)

    def __repr__(self) -> str:
        return "<tokenizer seqtag.Tokenizer.v1>"

    def _use(self, models: Sequence[Model], source: str) -> None:
        kept = [model for model in models if model.column.name in (TOKENS, WORDS)]
        if TOKENS not in [model.column.name for model in kept]:
            msg = (
                "expected a pipeline with a tokenizer, found "
                f"{', '.join(model.column.name for model in models)}; train one with --label all"
            )
            raise ModelFileError(msg, source=source)
        self._pipeline = Pipeline(kept, source)

    def __call__(self, text: str) -> Doc:
        """Tokenize a text.

        Raises
        ------
        SeqtagError
            If there is no model, or the text cannot be encoded in UTF-8.
        """
        return self._doc_of(self.pipeline(text))

    def pipe(self, texts: Iterable[str], batch_size: int = 1000) -> Iterator[Doc]:
        """Tokenize texts in batches of `batch_size`, which is much faster.

        spaCy calls its tokenizer for each text. ``nlp.pipe(nlp.tokenizer.pipe(texts))`` tokenizes
        batches.

        Raises
        ------
        SeqtagError
            As a call, when the document of such a text is due.

        Examples
        --------
        >>> import spacy
        >>> tokenizer = SeqtagTokenizer(spacy.blank("en").vocab, "en")
        >>> [[token.text for token in doc] for doc in tokenizer.pipe(["It doesn't.", "Why?"])]
        [['It', 'does', "n't", '.'], ['Why', '?']]
        """
        return map(self._doc_of, self.pipeline.pipe(texts, batch_size=batch_size))

    def _doc_of(self, document: Document) -> Doc:
        text = document.text
        words: list[str] = []
        spaces: list[bool] = []
        begins: list[bool] = []  # whether a sentence begins

        def add(word: str, *, first: bool = False) -> None:
            words.append(word)
            spaces.append(False)
            begins.append(first)

        def add_space(space: str) -> None:
            if words and space.startswith(" "):
                spaces[-1], space = True, space[1:]
            if space:
                add(space)

        end = 0
        for number, sentence in enumerate(document):
            for place, token in enumerate(sentence.tokens):
                add_space(text[end : token.start])
                pieces = [word.text for word in token.words]
                if "".join(pieces) != token.text:
                    pieces = [token.text]
                add(pieces[0], first=number > 0 and place == 0)
                for piece in pieces[1:]:
                    add(piece)
                end = token.end
        add_space(text[end:])
        begins[:1] = [True] * len(begins[:1])
        return Doc(self.vocab, words=words, spaces=spaces, sent_starts=begins)


# --------------------------------------------------------------------------- private
def _component(
    name: str, only: Sequence[str] | None, spans: str, data: bytes | None
) -> SeqtagComponent:
    component = SeqtagComponent(name, only=only, spans=spans)
    return component if data is None else component.from_bytes(data)


# ----------------------------------------------------------------- documents
class Unit(NamedTuple):
    """Sentence of a document: its tokens except white space, and the words of each token."""

    doc: Doc
    tokens: list[Token]
    parts: list[Sequence[str]]

    @property
    def words(self) -> list[str]:
        """Words of all tokens."""
        return [word for part in self.parts for word in part]

    def spread(self, values: Sequence[str]) -> list[str]:
        """Return a value for each word, given one for each token."""
        return [v for v, part in zip(values, self.parts, strict=True) for _ in part]

    def write(self, columns: Mapping[str, Sequence[str]]) -> None:
        """Set attributes of the tokens to the values of their words."""
        bounds = list(pairwise(accumulate(map(len, self.parts), initial=0)))
        for name, values in columns.items():
            for token, (start, end) in zip(self.tokens, bounds, strict=True):
                value = values[start] if end == start + 1 else _merged(name, values[start:end])
                _set(token, name, value)

    def spans(self, chunks: Iterable[tuple[str, int, int]], label: str) -> list[Span]:
        """Return chunks of words as spans of tokens; those without a type get a label."""
        owners = [
            token.i for token, part in zip(self.tokens, self.parts, strict=True) for _ in part
        ]
        return [
            Span(self.doc, owners[first], owners[last - 1] + 1, label=kind or label)
            for kind, first, last in chunks
        ]


def set_sentences(docs: Sequence[Doc], segmenter: Pipeline) -> None:
    """Set the sentences of documents to those of their text; none begins inside a token."""
    for doc, found in zip(docs, segmenter.pipe([doc.text for doc in docs]), strict=True):
        starts = {sentence.tokens[0].start for sentence in found.sentences[1:]}
        for token in doc:
            token.is_sent_start = token.i == 0 or token.idx in starts


def _has_sentences(doc: Doc) -> bool:
    return bool(doc.has_annotation("SENT_START"))


def sentences_of(doc: Doc) -> Iterator[list[Token]]:
    """Yield the tokens of each sentence but white space; those of the document if it has none."""
    for sentence in doc.sents if _has_sentences(doc) else [doc]:
        tokens = [token for token in sentence if not token.is_space]
        if tokens:
            yield tokens


def _merged(name: str, values: Sequence[str]) -> str:
    """Return the value of a token with several words."""
    if name == "upos":
        return next((value for value in values if value in _CONTENT_WORDS), values[0])
    if name == "lemma":
        return " ".join(values)
    if name != "feats":
        return "_".join(values)
    features: dict[str, set[str]] = {}
    for item in chain.from_iterable(value.split("|") for value in values if value != "_"):
        feature, _, value = item.partition("=")
        features.setdefault(feature, set()).update(value.split(","))
    return "|".join(f"{key}={','.join(sorted(features[key]))}" for key in sorted(features)) or "_"


def _set(token: Token, name: str, value: str) -> None:
    """Set the token attribute of a column."""
    attribute = ATTRIBUTES.get(name)
    if attribute is None:
        token._.set(name, value)
    elif attribute == "morph":
        token.set_morph("" if value == "_" else value)
    else:
        setattr(token, f"{attribute}_", value)


def value_of(token: Token, name: str) -> str:
    """Return the token attribute of a column."""
    attribute = ATTRIBUTES.get(name)
    if attribute is None:
        return str(token._.get(name))
    if attribute == "morph":
        return str(token.morph) or "_"
    return str(getattr(token, f"{attribute}_"))


def is_set(doc: Doc, name: str) -> bool:
    """Return whether the tokens of a document have the attribute of a column."""
    if name in ATTRIBUTES:
        return bool(doc.has_annotation(ATTRIBUTES[name].upper()))
    return bool(Token.has_extension(name))


def label_white_space(doc: Doc, columns: Sequence[str]) -> None:
    """Give white space spaCy's labels for it."""
    for i in np.flatnonzero(doc.to_array("IS_SPACE")).tolist():
        token = doc[i]
        for name in columns:
            attribute = ATTRIBUTES.get(name)
            if attribute is not None:
                _set(token, name, _SPACE_LABELS.get(attribute, token.text))


def mark(doc: Doc, key: str, found: Sequence[Span]) -> None:
    """Set the chunks of a document; existing entities are kept."""
    if key != "ents":
        doc.spans[key] = found
        return
    taken = {i for span in doc.ents for i in range(span.start, span.end)}
    free = [span for span in found if taken.isdisjoint(range(span.start, span.end))]
    doc.set_ents([*doc.ents, *filter_spans(free)], default="outside")
