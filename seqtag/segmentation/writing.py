r"""Sentences of raw text as CoNLL-U, from which each character of the text can be restored.

White space is written by UDPipe's convention: a single space behind a token goes without saying,
``SpaceAfter=No`` says that there is none, ``SpacesAfter=\n`` what else there is, ``SpacesBefore``
what stands before a token and behind no other, ``SpacesInToken`` how a token with white space
inside is written if not with single spaces.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seqtag.corpus.surface import escape_spaces
from seqtag.engine.backend import write_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Positions = NDArray[np.int64]

_ODD_SPACE = re.compile(r"[^\S \u00a0\u2000-\u200a\u202f\u205f\u3000]|\s{2}")
_BLANKS = "\t_" * 7
_MOST_KNOWN = 1000  # kinds of white space remembered


class ConlluWriter:
    r"""Writer of sentences with consecutive numbers.

    Parameters
    ----------
    token_ranges
        Whether MISC says where in the text, in characters, each token begins and ends.

    Examples
    --------
    >>> writer, two = ConlluWriter(), np.array([2])
    >>> text = writer.write("Stop !\n", np.array([0, 5]), np.array([4, 6]), two, [{}])
    >>> print(text.replace("\t", " "), end="")
    # sent_id = 1
    # text = Stop !
    1 Stop _ _ _ _ _ _ _ _
    2 ! _ _ _ _ _ _ _ SpacesAfter=\n
    <BLANKLINE>
    """

    def __init__(self, *, token_ranges: bool = False):
        self._ranges = token_ranges
        self._number = 0
        self._misc: dict[str, str] = {" ": "_", "": "SpaceAfter=No"}  # by the white space behind

    def write(
        self,
        text: str,
        starts: Positions,
        ends: Positions,
        sentence_ends: Positions,
        words: Sequence[Mapping[int, Sequence[str]]],
        *,
        opens: Mapping[int, str] | None = None,
        before: str = "",
        offset: int = 0,
    ) -> str:
        """Return some sentences as CoNLL-U.

        Parameters
        ----------
        text
            The text; what stands in it behind the last token is white space.
        starts, ends
            Where its tokens begin and end, in characters; none is empty.
        sentence_ends
            Number of tokens up to the end of each sentence; none is empty.
        words
            Per sentence, by the number of the token in it, the words of multiword tokens.
        opens
            Comments before the sentences of these numbers.
        before
            White space before the first token that is behind no other.
        offset
            Characters of the text before this part of it.
        """
        written: list[str | None] = [None] * len(sentence_ends)
        if write_sentences is not None and not self._ranges:
            plain = np.ones(len(sentence_ends), np.bool_)
            plain[:1] = not before
            utf8 = text.encode("utf-8", "surrogatepass")
            places = (starts, ends) if len(utf8) == len(text) else _in_bytes(text, starts, ends)
            ranges, word_ptr, parts = _numbered(words, sentence_ends)
            number = self._number + 1
            written = write_sentences(
                utf8, *places, sentence_ends, plain, ranges, word_ptr, parts, number
            )
        done = []
        bounds = [0, *sentence_ends.tolist()]
        follows = np.append(starts[1:], len(text))
        for number, sentence in enumerate(written):
            self._number += 1
            if opens and number in opens:
                done.append(opens[number])
            if sentence is None:
                here = slice(bounds[number], bounds[number + 1])
                all_three = (each[here].tolist() for each in (starts, ends, follows))
                tokens = [
                    _Token(text[a:b], text[b:c], (a, b)) for a, b, c in zip(*all_three, strict=True)
                ]
                sentence = self._written(tokens, words[number], before, offset)
            done.append(sentence)
            before = ""
        return "".join(done)

    def _written(
        self,
        tokens: Sequence[_Token],
        words: Mapping[int, Sequence[str]],
        before: str,
        offset: int,
    ) -> str:
        """Return a sentence as CoNLL-U, without the kernel."""
        forms, miscs = [], []
        shown = ""
        for number, (form, spaces, (start, end)) in enumerate(tokens):
            items = [self._misc.get(spaces) or self._misc_of(spaces)]
            if self._ranges:
                items.append(f"TokenRange={start + offset}:{end + offset}")
            if before and not number:
                items.insert(0, f"SpacesBefore={escape_spaces(before)}")
            if _ODD_SPACE.search(form):
                items.insert(0, f"SpacesInToken={escape_spaces(form)}")
                form = " ".join(form.split())
            forms.append(form)
            miscs.append("|".join(item for item in items if item != "_") or "_")
            shown += f"{form} " if spaces else form
        rows = "".join(_rows(forms, miscs, words))
        return f"# sent_id = {self._number}\n# text = {shown.removesuffix(' ')}\n{rows}\n"

    def _misc_of(self, spaces: str) -> str:
        """Return the value of MISC for the white space after a token."""
        misc = f"SpacesAfter={escape_spaces(spaces)}"
        if len(self._misc) < _MOST_KNOWN:
            self._misc[spaces] = misc
        return misc


class _Token(NamedTuple):
    """Token, its position, and the white space after it."""

    form: str
    spaces: str
    place: tuple[int, int]


def _numbered(
    words: Sequence[Mapping[int, Sequence[str]]], sentence_ends: Positions
) -> tuple[Positions, Positions, list[bytes]]:
    """Return the numbers of all multiword tokens, where the words of each begin, and the words."""
    tokens, counts, parts = [], [0], []
    firsts = [0, *sentence_ends.tolist()]
    for first, several in zip(firsts, words, strict=False):
        for token, each in several.items():
            tokens.append(first + token)
            parts += [part.encode("utf-8", "surrogatepass") for part in each]
            counts.append(len(parts))
    return np.array(tokens, np.int64), np.array(counts, np.int64), parts


def _in_bytes(text: str, starts: Positions, ends: Positions) -> tuple[Positions, Positions]:
    """Convert the starts and ends of tokens from characters to bytes of UTF-8."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    width = 1 + (codes >= 0x80).astype(np.int64) + (codes >= 0x800) + (codes >= 0x10000)
    before = np.concatenate([[0], np.cumsum(width)])
    return before[starts], before[ends]


def _rows(
    forms: Sequence[str], miscs: Sequence[str], words: Mapping[int, Sequence[str]]
) -> Iterator[str]:
    """Return the lines of a sentence."""
    word = 1
    for token, (form, misc) in enumerate(zip(forms, miscs, strict=True)):
        parts = words.get(token)
        if parts is None:
            yield f"{word}\t{form}{_BLANKS}\t{misc}\n"
            word += 1
            continue
        yield f"{word}-{word + len(parts) - 1}\t{form}{_BLANKS}\t{misc}\n"
        for part in parts:
            yield f"{word}\t{part}{_BLANKS}\t_\n"
            word += 1
