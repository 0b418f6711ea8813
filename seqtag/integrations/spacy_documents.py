"""Conversion of spaCy documents to sentences of words, and of labels to token attributes."""

from __future__ import annotations

from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

from spacy.tokens import Doc, Span, Token
from spacy.util import filter_spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ATTRIBUTES = {"upos": "pos", "xpos": "tag", "pos": "tag", "feats": "morph", "lemma": "lemma"}
"""spaCy's token attributes by the name of the column; other columns become ``token._``."""

_OPEN = ("ADJ", "ADV", "INTJ", "NOUN", "PROPN", "VERB")  # content words
_SPACE = {"pos": "SPACE", "tag": "_SP", "morph": ""}  # as spaCy labels white space


class Unit(NamedTuple):
    """Sentence of a document: its tokens except white space, and the words of each token."""

    doc: Doc
    tokens: list[Token]
    parts: list[Sequence[str]]

    @property
    def words(self) -> list[str]:
        """Words of all tokens."""
        return [word for part in self.parts for word in part]

    def split(self, words: Mapping[int, Sequence[str]]) -> Unit:
        """Return the sentence with other words for some of its tokens, by their numbers."""
        return self._replace(parts=[words.get(i, part) for i, part in enumerate(self.parts)])

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

    def spans(self, chunks: Iterable[tuple[str, int, int]]) -> list[Span]:
        """Return chunks of words as spans of tokens."""
        owners = [
            token.i for token, part in zip(self.tokens, self.parts, strict=True) for _ in part
        ]
        return [Span(self.doc, owners[a], owners[b - 1] + 1, label=kind) for kind, a, b in chunks]


def sentences_of(doc: Doc) -> Iterator[Unit]:
    """Yield the sentences that are not only white space; the document if it has none."""
    for sentence in doc.sents if doc.has_annotation("SENT_START") else [doc]:
        tokens = [token for token in sentence if not token.is_space]
        if tokens:
            yield Unit(doc, tokens, [(token.text,) for token in tokens])


def _merged(name: str, values: Sequence[str]) -> str:
    """Return the value of a token with several words."""
    if name == "upos":
        return next((value for value in values if value in _OPEN), values[0])
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
    for token in doc:
        if token.is_space:
            for name in columns:
                attribute = ATTRIBUTES.get(name)
                if attribute is not None:
                    _set(token, name, _SPACE.get(attribute, token.text))


def mark(doc: Doc, key: str, found: Sequence[Span]) -> None:
    """Set the chunks of a document; existing entities are kept."""
    if key != "ents":
        doc.spans[key] = found
        return
    taken = {i for span in doc.ents for i in range(span.start, span.end)}
    free = [span for span in found if taken.isdisjoint(range(span.start, span.end))]
    doc.set_ents([*doc.ents, *filter_spans(free)], default="outside")
