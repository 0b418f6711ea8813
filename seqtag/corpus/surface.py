r"""Raw text of a treebank: tokens, the white space around them, paragraphs and documents.

A range of CoNLL-U is one token of several words.  White space is taken from MISC, by the
conventions of CoNLL-U (``SpaceAfter=No``) and of UDPipe (``SpacesAfter=\n``, ``SpacesBefore``,
``SpacesInToken``), escaped (``\u00A0``) or not.  If a sentence has none of these, its comment
``# text`` is used.  If that is missing or has other tokens, there is one space after each.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from seqtag.corpus.conllu import ConlluSentence
from seqtag.corpus.lines import DOCSTART
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from seqtag.corpus.sentence import Sentence

Opens = Literal["document", "paragraph", ""]

# White space without a short code: a field must not end in a space, nor have two in a row.
_OTHER_SPACES = "\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_ESCAPES = {"\\": "\\\\", " ": "\\s", "\t": "\\t", "\r": "\\r", "\n": "\\n", "|": "\\p"} | {
    space: f"\\u{ord(space):04X}" for space in _OTHER_SPACES
}
_SPACES = {code: char for char, code in _ESCAPES.items()}
_ESCAPED = re.compile(r"\\(?:[\\strnp]|u[0-9A-Fa-f]{4})")
_ESCAPABLE = str.maketrans(_ESCAPES)
_MARK = re.compile(r"#\s*new(doc|par)(?:\s|$)")
_SPACE = re.compile(r"\s*")
_WITH_SPACE = re.compile(r"(?:^|\|)(?:SpaceAfter|SpacesAfter|SpacesBefore|SpacesInToken)=")
_TEXT = re.compile(r"#\s*text\s*=\s*(.*)", re.DOTALL)


class Token(NamedTuple):
    """Token of a text.

    Attributes
    ----------
    form
        As its line has it.
    first, words
        Number of its first word, from 0, and how many words it has.
    spaces_after, spaces_before
        The white space after it and, for the first token of a text, before it.
    written
        As the text has it: the form, unless white space within it differs.
    """

    form: str
    first: int
    words: int
    spaces_after: str
    spaces_before: str
    written: str

    @property
    def is_range(self) -> bool:
        """True if it is written as a range: a multiword token."""
        return self.words > 1


class Surface(NamedTuple):
    """Tokens of a sentence, and whether it begins a document or a paragraph."""

    tokens: list[Token]
    opens: Opens

    @property
    def text(self) -> str:
        """The text of the sentence with the white space after it."""
        return "".join(
            f"{token.spaces_before}{token.written}{token.spaces_after}" for token in self.tokens
        )


def surface_of(sentence: Sentence) -> Surface:
    r"""Return the tokens of a sentence; in formats without ranges each word is one.

    Examples
    --------
    >>> import io
    >>> from seqtag.corpus import read
    >>> rows = ["1-2\tIm", "1\tIn", "2\tdem", "3\tBett"]
    >>> misc = ["_", "_", "_", "SpaceAfter=No"]
    >>> text = "".join(row + "\t_" * 7 + f"\t{m}\n" for row, m in zip(rows, misc, strict=True))
    >>> [sentence] = read(io.BytesIO(b"# newpar\n" + text.encode()), "conllu")
    >>> surface = surface_of(sentence)
    >>> [(token.form, token.words) for token in surface.tokens], surface.text, surface.opens
    ([('Im', 2), ('Bett', 1)], 'Im Bett', 'paragraph')
    """
    if not len(sentence):
        return Surface([], "")
    marks: set[str] = set()
    texts: list[str] = []
    if isinstance(sentence, ConlluSentence) and "id" in sentence.columns:
        marks = {found[1] for line in sentence.comments if (found := _MARK.match(line))}
        texts = [found[1] for line in sentence.comments if (found := _TEXT.match(line))]
        ids, forms = sentence.lines("id"), sentence.lines("form")
        has_misc = "misc" in sentence.columns
        misc = sentence.lines("misc") if has_misc else ["_"] * len(ids)
    else:
        forms = sentence.words
        ids = [str(i) for i in range(1, len(forms) + 1)]
        misc = sentence.column("misc") if "misc" in sentence.columns else ["_"] * len(forms)
    tokens = []
    done = 0  # words that are in tokens
    for number, form, note in zip(ids, forms, misc, strict=True):
        if "." in number:
            continue
        first, _, last = number.partition("-")
        if not last and int(first) <= done:
            continue
        count = int(last or first) - done
        tokens.append(Token(form, done, count, *spaces_of(form, note)))
        done += count
    if texts and not any(map(_WITH_SPACE.search, misc)):
        tokens = _spaced_as(tokens, texts[0])
    return Surface(tokens, "document" if "doc" in marks else "paragraph" if marks else "")


def paragraphs_of(sentences: Iterable[Sentence]) -> Iterator[list[Surface]]:
    """Yield the sentences with words, paragraph by paragraph; one paragraph if none is marked."""
    paragraph: list[Surface] = []
    for sentence in sentences:
        surface = surface_of(sentence)
        if not surface.tokens:
            continue
        if surface.opens and paragraph:
            yield paragraph
            paragraph = []
        paragraph.append(surface)
    if paragraph:
        yield paragraph


def raw_text_of(sentences: Iterable[Sentence]) -> str:
    r"""Return the raw text of sentences, with a blank line between paragraphs.

    White space is taken from MISC (`surface_of`); at the end of a paragraph it is replaced by
    the blank line. No sentences give no text, others end with a line end.

    Examples
    --------
    >>> from seqtag.corpus import sentence_of
    >>> raw_text_of([sentence_of({"form": ["Time", "flies"]}), sentence_of({"form": ["So"]})])
    'Time flies So\n'
    """
    texts = (
        "".join(surface.text for surface in paragraph).rstrip()
        for paragraph in paragraphs_of(sentences)
    )
    text = "\n\n".join(texts)
    return text and text + "\n"


def escape_spaces(text: str) -> str:
    r"""Return white space escaped for MISC.

    >>> escape_spaces(" \n"), escape_spaces("\xa0")
    ('\\s\\n', '\\u00A0')
    """
    return text.translate(_ESCAPABLE)


def unescape_spaces(text: str) -> str:
    r"""Return the white space of a value of MISC; anything else is kept.

    >>> unescape_spaces("\\s\\n"), unescape_spaces("\\u00A0")
    (' \n', '\xa0')
    """
    return _ESCAPED.sub(lambda found: _SPACES.get(found[0]) or chr(int(found[0][2:], 16)), text)


def _spaced_as(tokens: list[Token], text: str) -> list[Token]:
    """Return the tokens with the white space of a text, if it consists of them."""
    spaced = []
    end = len(_space_at(text, 0))
    for token in tokens:
        begin, end = end, end + len(token.form)
        if text[begin:end] != token.form:
            return tokens
        spaces = _space_at(text, end)
        end += len(spaces)
        spaced.append(token._replace(spaces_after=spaces))
    if end < len(text):
        return tokens
    spaced[-1] = spaced[-1]._replace(spaces_after=" ")  # the text does not show what follows
    return spaced


def _space_at(text: str, position: int) -> str:
    found = _SPACE.match(text, position)
    return found[0] if found else ""


def spaces_of(form: str, misc: str) -> tuple[str, str, str]:
    """Return the white space after and before a token, and the token as it is written."""
    if misc == "_":
        return " ", "", form
    if misc == "SpaceAfter=No":
        return "", "", form
    after, before, written = " ", "", form
    for item in misc.split("|"):
        name, _, value = item.partition("=")
        if name == "SpaceAfter" and value == "No":
            after = ""
        elif name == "SpacesAfter":
            after = unescape_spaces(value)
        elif name == "SpacesBefore":
            before = unescape_spaces(value)
        elif name == "SpacesInToken":
            written = unescape_spaces(value)
    return after, before, written


_NEW = re.compile(rf"^\ufeff?#\s*newdoc\b|^{DOCSTART}", re.MULTILINE)


def documents_of(sentences: Iterable[Sentence], field: str | None = None) -> list[int] | None:
    r"""Return the number of the document of each sentence with words, from 0.

    Parameters
    ----------
    sentences, field
        As for `numbered_by_document`.

    Returns
    -------
    list of int or None
        One for each sentence; None if there is one document only.

    Raises
    ------
    CorpusError
        If no sentence has such a field.

    Examples
    --------
    >>> import io
    >>> from seqtag.corpus import read
    >>> text = b"-DOCSTART- -X-\n\na X\n\nb X\n\n-DOCSTART- -X-\n\nc X\n"
    >>> documents_of(read(io.BytesIO(text), "columns", columns=["form", "upos"]))
    [0, 0, 1]
    """
    found = [number for number, _ in numbered_by_document(sentences, field)]
    return found if len({*found}) > 1 else None


def numbered_by_document(
    sentences: Iterable[Sentence], field: str | None = None
) -> Iterator[tuple[int, Sentence]]:
    """Yield each sentence with words after the number of its document, from 0.

    Parameters
    ----------
    sentences
        In order, including those without words, because ``-DOCSTART-`` may be in one.
    field
        Name of a comment ``# FIELD = value`` or of a column: sentences of one value are one
        document, and those without a value belong to the previous one. None: a document begins
        with a file, with ``# newdoc`` or with ``-DOCSTART-``.

    Raises
    ------
    CorpusError
        After the last sentence, if none has such a field.
    """
    numbers: dict[str | None, int] = {}
    value: str | None = None
    source = ""
    begun = 0
    pattern = rf"^\ufeff?#\s*{re.escape(field or '')}\s*=\s*(.*)"
    for sentence in sentences:
        if field is None:
            begun += sentence.source != source or bool(_NEW.search(_head(sentence)))
            value = str(begun)
        else:
            own = None
            if match := re.search(pattern, _head(sentence), re.MULTILINE):
                own = match[1].strip()
            elif len(sentence) and field in sentence.columns:
                own = sentence.column(field)[0]
            value = own or (value if sentence.source == source else None)
        source = sentence.source
        if len(sentence):
            yield numbers.setdefault(value, len(numbers)), sentence
    if field is not None and not numbers.keys() - {None}:
        msg = (
            f"expected documents marked by a comment '# {field} = ...' or a column {field!r}, "
            "found neither; name another, or leave it out"
        )
        raise CorpusError(msg, source=source or None)


def _head(sentence: Sentence) -> str:
    if not len(sentence):
        return sentence.raw
    lines = sentence.raw.split("\n", max(0, sentence.line_of(0) - sentence.line))
    return "\n".join(lines[:-1])
