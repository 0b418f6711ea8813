r"""Sentences of raw text as CoNLL-U, from which every character of the text can be rebuilt.

White space is written by UDPipe's convention: a single space behind a token goes without saying,
``SpaceAfter=No`` says that there is none, ``SpacesAfter=\n`` what else there is, ``SpacesBefore``
what stands before a token and behind no other, ``SpacesInToken`` how a token with white space
inside is written if not with single spaces.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seqtag.corpus.surface import escape_spaces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ODD_SPACE = re.compile(r"[^\S \u00a0\u2000-\u200a\u202f\u205f\u3000]|\s{2}")
_BLANKS = "\t_" * 7


class ConlluWriter:
    r"""Writes sentences, numbered through.

    Parameters
    ----------
    token_ranges
        Whether MISC says where in the text, in characters, each token begins and ends.

    Examples
    --------
    >>> writer = ConlluWriter()
    >>> print(writer.write("Stop !\n", [0, 5], [4, 6], [{}], [2]).replace("\t", " "), end="")
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
        starts: Sequence[int],
        ends: Sequence[int],
        words: Sequence[Mapping[int, Sequence[str]]],
        sentence_ends: Sequence[int],
        *,
        opens: Mapping[int, str] | None = None,
        before: str = "",
        offset: int = 0,
    ) -> str:
        """Some sentences as CoNLL-U.

        Parameters
        ----------
        text
            The text; what stands in it behind the last token is white space.
        starts, ends
            Where its tokens begin and end.
        words
            Per sentence, by the number of the token in it, the words of multiword tokens.
        sentence_ends
            Number of tokens up to the end of each sentence.
        opens
            Comments before the sentences of these numbers.
        before
            White space before the first token that is behind no other.
        offset
            Characters of the text before this part of it.
        """
        out: list[str] = []
        after = [*starts[1:], len(text)]
        first = 0
        for number, last in enumerate(sentence_ends):
            if opens and number in opens:
                out.append(opens[number])
            rows: list[str] = []
            shown: list[str] = []
            ranges = words[number]
            word = 1
            for token in range(first, last):
                start, end = starts[token], ends[token]
                form, spaces = text[start:end], text[end : after[token]]
                misc = self._misc.get(spaces) or self._misc_of(spaces)
                shown.append(form if misc == "SpaceAfter=No" else form + " ")
                if self._ranges:
                    place = f"TokenRange={start + offset}:{end + offset}"
                    misc = place if misc == "_" else f"{misc}|{place}"
                if before:
                    misc = _with(misc, f"SpacesBefore={escape_spaces(before)}")
                    before = ""
                if not form.isalnum() and _ODD_SPACE.search(form):
                    misc = _with(misc, f"SpacesInToken={escape_spaces(form)}")
                    form = " ".join(form.split())
                    shown[-1] = form + " " * (shown[-1][-1:] == " ")
                parts = ranges.get(token - first) if ranges else None
                if parts is None:
                    rows.append(f"{word}\t{form}{_BLANKS}\t{misc}\n")
                    word += 1
                    continue
                rows.append(f"{word}-{word + len(parts) - 1}\t{form}{_BLANKS}\t{misc}\n")
                for part in parts:
                    rows.append(f"{word}\t{part}{_BLANKS}\t_\n")
                    word += 1
            self._number += 1
            shown[-1] = shown[-1].rstrip(" ")
            out.append(f"# sent_id = {self._number}\n# text = {''.join(shown)}\n")
            out += rows
            out.append("\n")
            first = last
        return "".join(out)

    def _misc_of(self, spaces: str) -> str:
        """What MISC says of the white space behind a token."""
        misc = f"SpacesAfter={escape_spaces(spaces)}"
        if len(self._misc) < 1000:
            self._misc[spaces] = misc
        return misc


def _with(misc: str, item: str) -> str:
    """A value of MISC with one more item in front."""
    return item if misc == "_" else f"{item}|{misc}"
