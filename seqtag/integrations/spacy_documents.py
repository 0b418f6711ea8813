"""Documents of spaCy as sentences of words, and what was found put back into their tokens."""

from __future__ import annotations

from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

from spacy.tokens import Doc, Span, Token
from spacy.util import filter_spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ATTRIBUTES = {"upos": "pos", "xpos": "tag", "pos": "tag", "feats": "morph", "lemma": "lemma"}
"""What spaCy calls an attribute of tokens, by the name of the column; others become ``token._``."""

_OPEN = ("ADJ", "ADV", "INTJ", "NOUN", "PROPN", "VERB")  # what a token of several words is first
_SPACE = {"pos": "SPACE", "tag": "_SP", "morph": ""}  # as spaCy labels white space


class Unit(NamedTuple):
    """A sentence of a document: its tokens but white space, and the words that each is."""

    doc: Doc
    tokens: list[Token]
    parts: list[Sequence[str]]

    @property
    def words(self) -> list[str]:
        """The words of all tokens."""
        return [word for part in self.parts for word in part]

    def split(self, words: Mapping[int, Sequence[str]]) -> Unit:
        """The same with the words of some of its tokens, by their numbers."""
        return self._replace(parts=[words.get(i, part) for i, part in enumerate(self.parts)])

    def spread(self, values: Sequence[str]) -> list[str]:
        """A value for each word, given one for each token."""
        return [v for v, part in zip(values, self.parts, strict=True) for _ in part]

    def write(self, columns: Mapping[str, Sequence[str]]) -> None:
        """Set attributes of the tokens to the values of their words."""
        bounds = list(pairwise(accumulate(map(len, self.parts), initial=0)))
        for name, values in columns.items():
            for token, (start, end) in zip(self.tokens, bounds, strict=True):
                value = values[start] if end == start + 1 else _merged(name, values[start:end])
                _set(token, name, value)

    def spans(self, chunks: Iterable[tuple[str, int, int]]) -> list[Span]:
        """Chunks of words as spans of tokens."""
        owners = [
            token.i for token, part in zip(self.tokens, self.parts, strict=True) for _ in part
        ]
        return [Span(self.doc, owners[a], owners[b - 1] + 1, label=kind) for kind, a, b in chunks]


def sentences_of(doc: Doc) -> Iterator[Unit]:
    """The sentences that have more than white space; the document if it has none."""
    for sentence in doc.sents if doc.has_annotation("SENT_START") else [doc]:
        tokens = [token for token in sentence if not token.is_space]
        if tokens:
            yield Unit(doc, tokens, [(token.text,) for token in tokens])


def _merged(name: str, values: Sequence[str]) -> str:
    """The value of a token of several words."""
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
    """Set the attribute that a column is."""
    attribute = ATTRIBUTES.get(name)
    if attribute is None:
        token._.set(name, value)
    elif attribute == "morph":
        token.set_morph("" if value == "_" else value)
    else:
        setattr(token, f"{attribute}_", value)


def value_of(token: Token, name: str) -> str:
    """The attribute that a column is."""
    attribute = ATTRIBUTES.get(name)
    if attribute is None:
        return str(token._.get(name))
    if attribute == "morph":
        return str(token.morph) or "_"
    return str(getattr(token, f"{attribute}_"))


def is_set(doc: Doc, name: str) -> bool:
    """Whether the tokens of a document have the attribute that a column is."""
    if name in ATTRIBUTES:
        return bool(doc.has_annotation(ATTRIBUTES[name].upper()))
    return bool(Token.has_extension(name))


def label_white_space(doc: Doc, columns: Sequence[str]) -> None:
    """Give white space what spaCy gives to it."""
    for token in doc:
        if token.is_space:
            for name in columns:
                attribute = ATTRIBUTES.get(name)
                if attribute is not None:
                    _set(token, name, _SPACE.get(attribute, token.text))


def mark(doc: Doc, key: str, found: Sequence[Span]) -> None:
    """Set the chunks of a document; entities that are there already stay."""
    if key != "ents":
        doc.spans[key] = found
        return
    taken = {i for span in doc.ents for i in range(span.start, span.end)}
    free = [span for span in found if taken.isdisjoint(range(span.start, span.end))]
    doc.set_ents([*doc.ents, *filter_spans(free)], default="outside")
