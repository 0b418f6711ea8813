"""seqtag models as spaCy components and tokenizers.

spaCy finds both by name, see `seqtag.integrations.spacy_factories`. Whatever spaCy saves holds the
bytes of the model, so that it needs no other file when it is loaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqtag.errors import install_hint

try:
    from spacy.parts_of_speech import IDS as PARTS_OF_SPEECH
    from spacy.pipeline.pipe import Pipe
    from spacy.scorer import Scorer, get_ner_prf
    from spacy.tokens import Doc, Token
    from spacy.util import minibatch
except ModuleNotFoundError as error:
    message = f"expected spaCy, found none ({error}); {install_hint('spacy')}"
    raise ModuleNotFoundError(message, name=error.name) from error

from seqtag.corpus import sentence_of
from seqtag.corpus.sentence import find_column
from seqtag.errors import ModelFileError, SeqtagError
from seqtag.integrations.spacy_documents import (
    ATTRIBUTES,
    is_set,
    label_white_space,
    mark,
    sentences_of,
    value_of,
)
from seqtag.labels.schemes import spans as spans_of
from seqtag.model import bundle, container
from seqtag.tagging.pipeline import TOKENS, WORDS, Pipeline, load
from seqtag.tagging.streams import tag_stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    from spacy.tokens import Span
    from spacy.training import Example
    from spacy.vocab import Vocab
    from typing_extensions import Self

    from seqtag.corpus import Sentence
    from seqtag.integrations.spacy_documents import Unit
    from seqtag.model.model import Model
    from seqtag.tagging.tagger import Tagger

_FILE = "model.seqtag"  # in the folder that spaCy saves a component to


class _Holder:
    """What holds a pipeline, and gives and takes its bytes as spaCy wants."""

    def __init__(self) -> None:
        self._pipeline: Pipeline | None = None

    @property
    def pipeline(self) -> Pipeline:
        """The models.

        Raises
        ------
        SeqtagError
            If none were given or loaded yet.
        """
        if self._pipeline is None:
            msg = (
                f'expected a model for {self}, found none; give one with config={{"model": '
                '"NAME or PATH"}, or load the whole pipeline with spacy.load'
            )
            raise SeqtagError(msg)
        return self._pipeline

    def _use(self, models: Sequence[Model], source: str) -> None:
        """Take these models, as far as they are of use here; for the two below to say."""

    def load(self, path_or_name: str | PathLike[str]) -> None:
        """Take the models of a file or of an embedded model, as `seqtag.load` finds it."""
        loaded: Any = load(path_or_name)
        models = loaded.models if isinstance(loaded, Pipeline) else (loaded.model,)
        self._use(models, str(path_or_name))

    def to_bytes(self, **_: Any) -> bytes:
        """The model file; what spaCy would exclude is not in it anyhow."""
        return bundle.to_bytes(self.pipeline.models)

    def from_bytes(self, data: bytes, **_: Any) -> Self:
        """Take the models of `to_bytes`."""
        self._use(bundle.models_of(container.from_bytes(data)), "<bytes>")
        return self

    def to_disk(self, path: str | PathLike[str], **_: Any) -> None:
        """Write the model file into a folder, which is made if it is not there."""
        Path(path).mkdir(parents=True, exist_ok=True)
        bundle.save(Path(path) / _FILE, self.pipeline.models)

    def from_disk(self, path: str | PathLike[str], **_: Any) -> Self:
        """Take the models that `to_disk` wrote."""
        file = Path(path) / _FILE
        self._use(bundle.load(file, str(file)), str(file))
        return self


class SeqtagComponent(_Holder, Pipe):
    """A component of a spaCy pipeline that annotates the tokens of a document.

    UPOS becomes ``token.pos``, XPOS ``token.tag``, FEATS ``token.morph`` and LEMMA
    ``token.lemma``; chunks become spans; any other column becomes ``token._.NAME``. Taggers that
    look at such columns read what earlier components have set. Sentences are those of the
    document; one without is tagged as a single sentence. White space is left out, and gets what
    spaCy gives to it. Never changes while it tags, so threads may share it; pickles by value.

    A token that the models know as several words (French "du") is tagged as these words. Its tags
    and lemmas are put together as ``spacy convert --merge-subtokens`` does, and its part of speech
    is that of the first word with content, if there is one.

    Parameters
    ----------
    name
        What the pipeline calls it.
    model
        Name of an embedded model, or path of a model file; None if `from_disk` or `from_bytes`
        will bring the model.
    only
        Names of the parts of a pipeline file that are of interest; see
        `seqtag.tagging.pipeline.Pipeline.only`.
    spans
        Where chunks go: ``ents`` for ``doc.ents``, else a key of ``doc.spans``. ``auto`` takes
        ``ents`` for a column ``ner``, and the name of the column for others. Entities that are
        there already stay.

    Raises
    ------
    ModelFileError
        If the file holds no tagger, or one of parts of speech that spaCy does not have.
    FileNotFoundError
        If there is no such file.
    SeqtagError
        If the file has no part of a name in `only`.

    Examples
    --------
    >>> import spacy
    >>> doc = SeqtagComponent(model="en")(spacy.blank("en")("The cats slept."))
    >>> [token.lemma_ for token in doc]
    ['the', 'cat', 'sleep', '.']
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
        if model is not None:
            self.load(model)

    def __repr__(self) -> str:
        return f"<component {self.name!r}>"

    def _use(self, models: Sequence[Model], source: str) -> None:
        pipeline = Pipeline([m for m in models if m.column.name != TOKENS] or models, source)
        if self._only is not None:
            pipeline = pipeline.only(*self._only)
        if not pipeline.taggers:
            msg = (
                f"expected a model that labels words, found one of {', '.join(pipeline.parts)}; "
                "name another, or use this one as tokenizer"
            )
            raise ModelFileError(msg, source=source)
        for tagger in pipeline.taggers:
            _check_parts_of_speech(tagger, source)
        self._needs = _needs(pipeline.taggers)
        self._chunkers = [t for t in pipeline.taggers if t.label_scheme and not t.hidden]
        self._columns = [
            name
            for tagger in pipeline.taggers
            if not tagger.label_scheme and not tagger.hidden
            for name in tagger.label_columns
        ]
        for name in self._columns:
            if name not in ATTRIBUTES and not Token.has_extension(name):
                Token.set_extension(name, default=None)
        self._pipeline = pipeline

    def __reduce__(self) -> tuple[Any, ...]:
        data = None if self._pipeline is None else self.to_bytes()
        return _component, (self.name, self._only, self._spans, data)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that it can give, sorted: types of chunks, nothing of lemmas."""
        if self._pipeline is None:
            return ()
        found: set[str] = set()
        for tagger in self._pipeline.taggers:
            if tagger in self._chunkers:
                found |= {
                    kind
                    for label in tagger.labels
                    for kind, _, _ in self._spans_of(tagger, [label])
                }
            elif not (tagger.hidden or tagger.model.coding.needs_forms):
                found.update(tagger.labels)
        return tuple(sorted(found))

    # ----------------------------------------------------------------- annotating
    def __call__(self, doc: Doc) -> Doc:
        """Annotate a document in place."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate documents in place, `batch_size` of them at a time, which is faster."""
        for batch in minibatch(stream, size=batch_size):
            docs = list(batch)
            try:
                self._annotate(docs)
            except Exception as error:  # spaCy's users say what becomes of it
                self.get_error_handler()(self.name, self, docs, error)
            yield from docs

    def _annotate(self, docs: Sequence[Doc]) -> None:
        """Tag the sentences of some documents at once, and write what was found."""
        taggers, splitter = self.pipeline.taggers, self.pipeline.splitter
        units = [unit for doc in docs for unit in sentences_of(doc)]
        if splitter is not None:
            splits = splitter.split([[token.text for token in unit.tokens] for unit in units])
            units = [unit.split(words) for unit, words in zip(units, splits, strict=True)]
        chunks: dict[tuple[int, str], list[Span]] = {}
        tagged = tag_stream(taggers, map(self._sentence_of, units))
        for unit, sentence in zip(units, tagged, strict=True):
            unit.write({name: sentence.filled[name] for name in self._columns})
            for tagger in self._chunkers:
                place = id(unit.doc), self._key(tagger)
                found = self._spans_of(tagger, sentence.filled[tagger.label])
                chunks.setdefault(place, []).extend(unit.spans(found))
        for doc in docs:
            label_white_space(doc, self._columns)
            for key in {self._key(tagger) for tagger in self._chunkers}:
                mark(doc, key, chunks.get((id(doc), key), []))

    def _sentence_of(self, unit: Unit) -> Sentence:
        """The words, and what the document has of the columns that taggers look at."""
        columns = {"form": unit.words}
        for name in self._needs:
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

    @staticmethod
    def _spans_of(tagger: Tagger, labels: Sequence[str]) -> list[tuple[str, int, int]]:
        """The chunks; those without a type are of the column's name."""
        found = spans_of(labels, tagger.label_scheme)
        return [(kind or tagger.label, start, end) for kind, start, end in found]

    def _key(self, tagger: Tagger) -> str:
        """Where a tagger's chunks go."""
        if self._spans != "auto":
            return self._spans
        return "ents" if tagger.label == "ner" else tagger.label

    # ----------------------------------------------------------------- scoring
    def score(self, examples: Iterable[Example], **options: Any) -> dict[str, Any]:
        """What it has set, scored as spaCy does: ``tag_acc``, ``ents_f``, ``spans_chunk_f``, ..."""
        examples = list(examples)
        scores: dict[str, Any] = {}
        for name in self._columns:
            attribute = ATTRIBUTES.get(name)
            if attribute is not None:
                getter = _morph_of if attribute == "morph" else getattr
                scores |= Scorer.score_token_attr(examples, attribute, getter=getter, **options)
        for key in sorted({self._key(tagger) for tagger in self._chunkers}):
            scores |= get_ner_prf(examples, **options) if key == "ents" else _scores(examples, key)
        return scores


class SeqtagTokenizer(_Holder):
    """A spaCy tokenizer made of a pipeline file; it ends sentences too.

    Tokens are those of the text. One of several words that stand in it letter by letter (English
    "don't") becomes these words, others (French "du") stay whole. White space is cut as spaCy does
    it, so that no character is lost. Pickles by value.

    Parameters
    ----------
    vocab
        That of the pipeline: ``nlp.vocab``.
    model
        Path of a pipeline file that has learnt tokens, or the name of an embedded one; None if
        `from_disk` or `from_bytes` will bring it.

    Raises
    ------
    ModelFileError
        If the file has not learnt tokens.
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
                "expected a pipeline that has learnt tokens, found "
                f"{', '.join(model.column.name for model in models)}; train one with --label all"
            )
            raise ModelFileError(msg, source=source)
        self._pipeline = Pipeline(kept, source)

    def __reduce__(self) -> tuple[Any, ...]:
        data = None if self._pipeline is None else self.to_bytes()
        return _tokenizer, (self.vocab, data)

    def __call__(self, text: str) -> Doc:
        """Cut a text.

        Raises
        ------
        SeqtagError
            If there is no model, or the text is none that UTF-8 can hold.
        """
        words: list[str] = []
        spaces: list[bool] = []
        opens: list[bool] = []  # whether a sentence begins

        def add(word: str, *, first: bool = False) -> None:
            words.append(word)
            spaces.append(False)
            opens.append(first)

        def add_space(space: str) -> None:
            if words and space.startswith(" "):
                spaces[-1], space = True, space[1:]
            if space:
                add(space)

        behind = 0
        for number, sentence in enumerate(self.pipeline(text)):
            for place, token in enumerate(sentence.tokens):
                add_space(text[behind : token.start])
                pieces = [word.text for word in token.words]
                if "".join(pieces) != token.text:
                    pieces = [token.text]
                add(pieces[0], first=number > 0 and place == 0)
                for piece in pieces[1:]:
                    add(piece)
                behind = token.end
        add_space(text[behind:])
        opens[:1] = [True] * len(opens[:1])
        return Doc(self.vocab, words=words, spaces=spaces, sent_starts=opens)


# --------------------------------------------------------------------------- private
def _morph_of(token: Token, attribute: str) -> int:
    """The features as the scorer can compare them."""
    key: int = getattr(token, attribute).key
    return key


def _scores(examples: Sequence[Example], key: str) -> dict[str, Any]:
    """Scores of spans."""
    scores: dict[str, Any] = Scorer.score_spans(
        examples,
        f"spans_{key}",
        getter=lambda doc, _: doc.spans.get(key, ()),
        has_annotation=lambda doc: key in doc.spans,
        allow_overlap=True,
    )
    return scores


def _check_parts_of_speech(tagger: Tagger, source: str) -> None:
    """Refuse a model of parts of speech that spaCy does not have."""
    if "upos" in tagger.label_columns and not tagger.hidden:
        known = sorted(name for name in PARTS_OF_SPEECH if name)
        odd = [v for v in tagger.split_label(tagger.labels)["upos"] if v not in known]
        if odd:
            msg = (
                f"expected universal parts of speech ({', '.join(known)}) for token.pos, found "
                f"{odd[0]!r}; retrain it with these, or with --label xpos for token.tag"
            )
            raise ModelFileError(msg, source=source)


def _needs(taggers: Iterable[Tagger]) -> list[str]:
    """Columns that taggers look at and no earlier one fills."""
    filled: tuple[str, ...] = ("form",)
    needed: list[str] = []
    for tagger in taggers:
        needed += [name for name in tagger.columns if find_column(name, filled) is None]
        filled += tagger.label_columns
    return list(dict.fromkeys(needed))


def _component(
    name: str, only: Sequence[str] | None, spans: str, data: bytes | None
) -> SeqtagComponent:
    """Unpickle."""
    component = SeqtagComponent(name, only=only, spans=spans)
    return component if data is None else component.from_bytes(data)


def _tokenizer(vocab: Vocab, data: bytes | None) -> SeqtagTokenizer:
    """Unpickle."""
    tokenizer = SeqtagTokenizer(vocab)
    return tokenizer if data is None else tokenizer.from_bytes(data)
