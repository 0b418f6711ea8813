"""Documents: texts as sentences of words, with character offsets."""

from __future__ import annotations

import json
from functools import cached_property, lru_cache
from itertools import accumulate, islice, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from seqtag.corpus import Block
from seqtag.corpus.conllu import COLUMNS as CONLLU
from seqtag.corpus.conllu import ConlluReader
from seqtag.corpus.formats import to_token_list
from seqtag.corpus.sentence import find_column, misc_key, split_key, values_of
from seqtag.corpus.spans import OFFSETS, units_before
from seqtag.corpus.surface import spaces_of
from seqtag.engine import backend
from seqtag.errors import SeqtagError
from seqtag.labels.column import column_meant
from seqtag.labels.schemes import LETTERS, OUTSIDE
from seqtag.labels.schemes import spans as spans_of
from seqtag.lazy import other_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conllu import TokenList

    from seqtag.corpus import Sentence
    from seqtag.corpus.sentence import Span
SHOWN_COLUMNS = ("lemma", "upos", "xpos", "feats")
"""Columns that are attributes of words."""

_UNITS = {  # that characters of one byte of UTF-8 have, of two, of more
    name: [1 + sum(last > limit for limit in limits) for last in (0x7F, 0x7FF, 0xFFFF, 0x10FFFF)]
    for name, limits in OFFSETS.items()
}
_CHUNK_LETTERS = ["".join(sorted(letters)).encode() for letters in LETTERS]
_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_new = tuple.__new__  # makes a named tuple in half the time of its own constructor


class Word(NamedTuple):
    """A syntactic word.

    Attributes
    ----------
    text
        Its form.
    lemma, upos, xpos, feats
        Its annotation; ``_`` if there is none.
    start, end
        Position of its token in the text, in characters.
    """

    text: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    start: int
    end: int


class DocumentToken(NamedTuple):
    """A token of the text: one word, or several if it is a multiword token.

    Attributes
    ----------
    text
        As it is written.
    start, end
        Position in the text, in characters.
    words
        Its words.
    """

    text: str
    start: int
    end: int
    words: tuple[Word, ...]


class DocumentSpan(NamedTuple):
    """A chunk of a text, such as a name.

    Attributes
    ----------
    label
        Its type, such as ``LOC``; the name of the column if chunks have no types.
    text
        As it is written.
    start, end
        Position in the text, in characters.
    words
        Its words.
    score
        The lowest probability of its words, or margin, if it was asked for.
    """

    label: str
    text: str
    start: int
    end: int
    words: tuple[Word, ...]
    score: float | None = None


class DocumentSentence:
    """A sentence: a sequence of words.

    Parameters
    ----------
    conllu
        The sentence as CoNLL-U, with all white space in MISC; empty for one without words.
    offset
        Number of characters of the text before it.

    Attributes
    ----------
    text : str
        As it is written.
    tokens : tuple of DocumentToken
        Its tokens.
    words : tuple of Word
        Its words.
    start, end : int
        Position in the text, in characters.
    """

    def __init__(self, conllu: str, offset: int):
        self._conllu, self._offset = conllu, offset
        self._misc: list[str] = []  # of each word
        self._tokens: list[tuple[str, int, int]] = []  # text, position and number of words
        self._pieces: list[str] = []  # of each token, with the white space before and after it
        words: list[Word] = []
        left = 0  # words of the current token that are still to come
        start = end = offset
        for line in conllu.split("\n"):
            if not line or line[0] == "#":
                continue
            number, form, lemma, upos, xpos, feats, _, _, _, misc = line.split("\t")
            if not left:
                after, before, token = spaces_of(form, misc)
                start = offset + len(before)
                end = start + len(token)
                offset = end + len(after)
                left = _words_of(number) if "-" in number else 1
                self._tokens.append((token, start, left))
                self._pieces += before, token, after
                if "-" in number:
                    continue
            words.append(_new(Word, (form, lemma, upos, xpos, feats, start, end)))
            self._misc.append(misc)
            left -= 1
        self.words = tuple(words)
        self.start, self.end = (words[0].start, words[-1].end) if words else (offset, offset)
        self.next_offset = offset  # of the sentence after it

    @cached_property
    def tokens(self) -> tuple[DocumentToken, ...]:
        """Its tokens; made when they are first used."""
        words = iter(self.words)
        return tuple(
            DocumentToken(text, start, start + len(text), tuple(islice(words, count)))
            for text, start, count in self._tokens
        )

    @property
    def placed(self) -> Iterator[tuple[str, int, int]]:
        """The forms of its words, and where they begin and end in the text.

        Words of a multiword token that is not written like them are where it is.
        """
        words = iter(self.words)
        for text, start, count in self._tokens:
            forms = [word.text for word in islice(words, count)]
            places = zip(forms, _places_in(text, start, forms), strict=True)
            yield from ((form, *place) for form, place in places)

    @cached_property
    def text(self) -> str:
        """As it is written."""
        return "".join(self._pieces[1:-1])

    @cached_property
    def _sentence(self) -> Sentence:
        return next(sentences_in(self._conllu))

    def __len__(self) -> int:
        """Number of words."""
        return len(self.words)

    def __iter__(self) -> Iterator[Word]:
        return iter(self.words)

    def __getitem__(self, number: int) -> Word:
        return self.words[number]

    def __str__(self) -> str:
        """Return the sentence as CoNLL-U."""
        return self._conllu

    def __repr__(self) -> str:
        return f"<Sentence {self.text!r:.70}>"

    def column(self, name: str) -> list[str]:
        """Return the values of a column of CoNLL-U, or of a key such as ``misc.NER``, one per word.

        Parameters
        ----------
        name
            Such as ``upos``, or the label of any component of the pipeline; columns that CoNLL-U
            does not have are in MISC.

        Raises
        ------
        CorpusError
            If there is no such column.

        Examples
        --------
        >>> import seqtag
        >>> seqtag.load("en").tag_words(["It", "does"]).column("upos")
        ['PRON', 'AUX']
        """
        if not self.words or name == "misc":
            return [*self._misc]
        keyed = split_key(name, CONLLU)
        if keyed is None and find_column(name, CONLLU) is None:
            key = misc_key(name)
            keyed = ("misc", key) if any(f"{key}=" in misc for misc in self._misc) else None
        if keyed and keyed[0] == "misc":
            return values_of(self._misc, keyed[1])
        return self._sentence.column(name)

    def to_token_list(self) -> TokenList:
        """Return the sentence as a ``conllu.TokenList``."""
        return to_token_list(self._sentence)


def _words_of(number: str) -> int:
    """Return the number of words of a multiword token, given its ID."""
    first, _, last = number.partition("-")
    return int(last) - int(first) + 1


def _places_in(text: str, start: int, forms: Sequence[str]) -> Iterable[Span]:
    """Return the positions of the words of a token: that of the token if they are other letters."""
    if "".join(forms) != text:
        return [(start, start + len(text))] * len(forms)
    return pairwise(accumulate(map(len, forms), initial=start))


def sentences_in(conllu: str) -> Iterator[Sentence]:
    """Yield the sentences of CoNLL-U."""
    return ConlluReader("<text>").read([Block(conllu, 1)])


class Document:
    """A text with its sentences. Made by `seqtag.tagging.pipeline.Pipeline`.

    Parameters
    ----------
    text
        The text.
    conllu
        Its sentences as CoNLL-U, in order, with all white space.
    columns
        Names of the columns that were filled.
    schemes
        Schemes of those that have chunk labels.
    names
        Those whose chunks are names.
    scores
        Columns that have their scores.

    Examples
    --------
    >>> import seqtag
    >>> document = seqtag.load("en")("Time flies. It works.")
    >>> [word.upos for word in document.sentences[1]]
    ['PRON', 'VERB', 'PUNCT']
    >>> word = document.sentences[1].words[1]
    >>> word.text, word.lemma, document.text[word.start : word.end]
    ('works', 'work', 'works')
    >>> len(document), len(document.words)
    (2, 6)
    """

    def __init__(
        self,
        text: str,
        conllu: str,
        columns: Sequence[str] = (),
        schemes: Mapping[str, str] | None = None,
        names: Sequence[str] = (),
        scores: Mapping[str, str] | None = None,
    ):
        self.text = text
        self._conllu = conllu
        self._columns = columns
        self._schemes = schemes or {}
        self._names = names
        self._scores = scores or {}

    @cached_property
    def sentences(self) -> list[DocumentSentence]:
        """The sentences; made when they are first used."""
        sentences: list[DocumentSentence] = []
        offset = 0
        for block in _blocks(self._conllu):
            sentences.append(DocumentSentence(f"{block}\n\n", offset))
            offset = sentences[-1].next_offset
        return sentences

    def __len__(self) -> int:
        """Number of sentences."""
        return len(self.sentences)

    def __iter__(self) -> Iterator[DocumentSentence]:
        return iter(self.sentences)

    def __getitem__(self, number: int) -> DocumentSentence:
        return self.sentences[number]

    @property
    def words(self) -> list[Word]:
        """The words of all sentences."""
        return [word for sentence in self.sentences for word in sentence.words]

    @property
    def tokens(self) -> list[DocumentToken]:
        """The tokens of all sentences."""
        return [token for sentence in self.sentences for token in sentence.tokens]

    @property
    def ents(self) -> list[DocumentSpan]:
        """Names: the chunks of a column of names, which are no phrases such as NP.

        Of several columns, it is the one called ``ner`` or ``misc.NER``, or the first.

        Examples
        --------
        >>> import seqtag
        >>> words, labels = [["In", "Oslo", "."]], [["O", "B-LOC", "O"]]
        >>> names = seqtag.train(words, labels, label="ner", min_count=1)
        >>> [(each.text, each.label, each.start) for each in names("In Oslo.").ents]
        [('Oslo', 'LOC', 3)]
        """
        if not self._names:
            return []
        return self.spans(column_meant("ner", self._names) or self._names[0])

    def spans(self, column: str) -> list[DocumentSpan]:
        """Return the chunks of a column.

        Parameters
        ----------
        column
            A column of chunk labels, such as ``chunk`` or ``misc.NER``.

        Raises
        ------
        SeqtagError
            If the models fill no such column.
        """
        column = column_meant(column, self._schemes) or column
        if column not in self._schemes:
            found = ", ".join(self._schemes) or "none"
            msg = f"expected a column of chunk labels, which here are {found}; found {column!r}"
            raise SeqtagError(msg)
        name = self._scores.get(column)
        return [
            span
            for sentence in self.sentences
            for span in self._spans_in(sentence, column, sentence.column(name) if name else ())
        ]

    def _spans_in(
        self, sentence: DocumentSentence, column: str, scores: Sequence[str] = ()
    ) -> list[DocumentSpan]:
        """Return the chunks of a sentence; those without a type have the name of the column."""
        found = []
        places: Sequence[tuple[str, int, int]] = ()
        for kind, first, last in spans_of(self._values(sentence, column), self._schemes[column]):
            places = places or [*sentence.placed]
            start, end = places[first][1], places[last - 1][2]
            score = min(map(float, scores[first:last]), default=None)
            within = sentence.words[first:last]
            found.append(
                DocumentSpan(kind or column, self.text[start:end], start, end, within, score)
            )
        return found

    def _values(self, sentence: DocumentSentence, column: str) -> Sequence[str]:
        """Return a column; words outside of chunks may lack the key of MISC."""
        place, key = _source_of(column)
        values = sentence.column(CONLLU[place])
        values = values_of(values, key) if key else values
        if column not in self._schemes:
            return values
        return [OUTSIDE if value == "_" else value for value in values]

    def __str__(self) -> str:
        """Return the document as CoNLL-U."""
        return self._conllu

    def __repr__(self) -> str:
        return f"<seqtag.Document: {len(self)} sentences, {len(self.words)} words>"

    if not TYPE_CHECKING:
        __getattr__ = other_names(
            {
                "sentences": "sents",
                "ents": "entities ner",
                "str(document)": "to_conllu to_conll",
                "json.dumps(document.to_dict())": "to_json",
                "[word.upos for word in document.words]": "upos pos tags labels lemma lemmas",
                "pandas.DataFrame(document.to_rows())": "to_pandas to_df",
                "pathlib.Path(name).write_text(str(document))": "to_disk save write",
            }
        )

    def __array__(self, *_: Any, **__: Any) -> Any:
        """Refuse to be a table, such as ``pandas.DataFrame(document)``."""
        msg = "expected rows, found a document; use pandas.DataFrame(document.to_rows())"
        raise TypeError(msg)

    def to_token_lists(self) -> list[TokenList]:
        """Return the sentences as ``conllu.TokenList``."""
        return [sentence.to_token_list() for sentence in self.sentences]

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a dictionary for each word, for ``pandas.DataFrame``.

        Besides the fields of `Word` it has the columns of the models that CoNLL-U has in MISC.

        Examples
        --------
        >>> import seqtag
        >>> seqtag.load("en")("Stop!").to_rows()[1]["text"]
        '!'
        """
        rows: list[dict[str, Any]] = []
        names = ("sentence", "word", *Word._fields)
        others = [name for name in self._columns if find_column(name, CONLLU) not in SHOWN_COLUMNS]
        for number, sentence in enumerate(self.sentences, 1):
            of_sentence = [
                dict(zip(names, (number, place, *word), strict=True))
                for place, word in enumerate(sentence.words, 1)
            ]
            for name in others:
                for row, value in zip(of_sentence, self._values(sentence, name), strict=True):
                    row[name] = value
            rows += of_sentence
        return rows

    def to_dict(self, offsets: str = "codepoint") -> dict[str, Any]:
        """Return the text and its spans as a dictionary that JSON can hold.

        The ``spans`` of all columns are in the order of the text, with ``label``, ``text``,
        ``start`` and ``end``; with ``score`` if it was asked for, and with ``column`` if several
        columns have chunks.

        Parameters
        ----------
        offsets
            As for `to_dicts`.

        Raises
        ------
        SeqtagError
            If there is no such unit.

        Examples
        --------
        >>> import seqtag
        >>> seqtag.load("en")("She lives in London.").to_dict()["spans"]
        [{'label': 'LOC', 'text': 'London', 'start': 13, 'end': 19}]
        """
        units = units_before(self.text, _limits_of(offsets))
        spans = [
            _span_dict(span, units) | ({"column": column} if len(self._schemes) > 1 else {})
            for column in self._schemes
            for span in self.spans(column)
        ]
        return {"text": self.text, "spans": sorted(spans, key=itemgetter("start"))}

    def to_dicts(self, offsets: str = "codepoint") -> Iterator[dict[str, Any]]:
        """Yield each sentence as a dictionary that JSON can hold.

        It has its ``text`` and its ``tokens``. Tokens have ``text``, ``start``, ``end`` and
        ``words``; words have ``form`` and ``labels`` by column. If the models find chunks, it has
        ``spans`` by column, with ``label``, ``text``, ``start`` and ``end``.

        Parameters
        ----------
        offsets
            Unit of ``start`` and ``end``: ``codepoint`` for characters, ``utf16`` for code units
            of UTF-16, or ``byte`` for bytes of UTF-8.

        Raises
        ------
        SeqtagError
            If there is no such unit.

        Examples
        --------
        >>> import seqtag
        >>> [sentence] = seqtag.load("en").only("upos")("\N{WAVING HAND SIGN} Hi").to_dicts("utf16")
        >>> sentence["tokens"][1]
        {'text': 'Hi', 'start': 3, 'end': 5, 'words': [{'form': 'Hi', 'labels': {'upos': 'INTJ'}}]}
        """
        return iter(json.loads(self.json_sentences(offsets)))

    def json_sentences(self, offsets: str = "codepoint") -> bytes:
        """Return the list of all dictionaries of `to_dicts` as JSON, which takes much less time.

        Parameters
        ----------
        offsets
            As for `to_dicts`.

        Raises
        ------
        SeqtagError
            If there is no such unit.

        Examples
        --------
        >>> import seqtag
        >>> seqtag.load("en").only("upos")("Hi").json_sentences()[:55]
        b'[{"text":"Hi","tokens":[{"text":"Hi","start":0,"end":2,'
        """
        limits = _limits_of(offsets)
        if backend.json_sentences is None:
            units = units_before(self.text, limits)
            return _as_json([self._dict_of(each, units) for each in self.sentences]).encode()
        how = _columns_of((*self._columns,), (*self._schemes,)), _CHUNK_LETTERS, _UNITS[offsets]
        return b"[%b]" % backend.json_sentences(self.text.encode(), self._conllu.encode(), *how)

    def _dict_of(self, sentence: DocumentSentence, units: Sequence[int]) -> dict[str, Any]:
        """Return a sentence as `to_dicts` does."""
        labels = {name: self._values(sentence, name) for name in self._columns}
        words = (
            {"form": word.text, "labels": {name: each[i] for name, each in labels.items()}}
            for i, word in enumerate(sentence)
        )
        tokens = [
            {
                "text": token.text,
                "start": units[token.start],
                "end": units[token.end],
                "words": [*islice(words, len(token.words))],
            }
            for token in sentence.tokens
        ]
        spans = {
            name: [_span_dict(each, units) for each in self._spans_in(sentence, name)]
            for name in self._schemes
        }
        return {"text": sentence.text, "tokens": tokens} | ({"spans": spans} if spans else {})


DocumentSentence.__getattr__ = other_names(  # type: ignore[attr-defined]
    {"document.ents": "ents entities ner"}
    | {"sentence.column(name)": "pos_ tag_ lemma_ pos upos xpos lemma tags labels"}
)
Word.__getattr__ = other_names(  # type: ignore[attr-defined]
    {"upos": "pos pos_", "xpos": "tag tag_", "lemma": "lemma_", "feats": "morph", "end": "end_char"}
    | {"start": "idx start_char", "document.ents": "ner ent_type ent_type_ misc"}
)
DocumentSpan.__getattr__ = other_names(  # type: ignore[attr-defined]
    {"label": "label_ type", "start": "start_char", "end": "end_char"}
)


@lru_cache
def _columns_of(
    columns: tuple[str, ...], chunks: tuple[str, ...]
) -> list[tuple[bytes, int, bytes, bool]]:
    """Return columns as the kernel takes them."""
    named = ((name, *_source_of(name)) for name in dict.fromkeys(columns))
    return [(name.encode(), place, key.encode(), name in chunks) for name, place, key in named]


def _source_of(name: str) -> tuple[int, str]:
    """Return the column of CoNLL-U, by number, that has the labels of a column, and their key."""
    keyed = split_key(name, CONLLU)
    if keyed:
        return CONLLU.index(keyed[0]), keyed[1]
    column = find_column(name, CONLLU)
    if column is None:
        return CONLLU.index("misc"), misc_key(name)
    return CONLLU.index(column), ""


def _limits_of(offsets: str) -> Sequence[int]:
    if offsets not in OFFSETS:
        msg = f"expected offsets in one of {', '.join(OFFSETS)}, found {offsets!r:.80}"
        raise SeqtagError(msg)
    return OFFSETS[offsets]


def _span_dict(span: DocumentSpan, units: Sequence[int]) -> dict[str, Any]:
    places = {"start": units[span.start], "end": units[span.end]}
    score = {} if span.score is None else {"score": span.score}
    return {"label": span.label, "text": span.text, **places, **score}


def _blocks(conllu: str) -> Iterator[str]:
    """Yield the sentences of CoNLL-U, one after another, to save memory."""
    start = 0
    while (end := conllu.find("\n\n", start)) >= 0:
        yield conllu[start:end]
        start = end + 2


def encoded(text: str) -> bytes:
    """Encode a text in UTF-8.

    Raises
    ------
    SeqtagError
        If UTF-8 cannot encode it.
    TypeError
        If it is not a string.
    """
    if not isinstance(text, str):
        msg = (
            f"expected a text, found {type(text).__name__}; decode bytes, join words, and give "
            "several texts to pipe"
        )
        raise TypeError(msg)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        msg = (
            f"expected text, found the lone surrogate {text[error.start]!r} at character "
            f"{error.start}; decode it from its bytes again, or leave it out"
        )
        raise SeqtagError(msg) from error
