"""The templates of the presets ``pos`` and ``chunk`` as strings, for peers that take strings.

Written out by hand, as a user of those tools would, and quick: what depends on one word alone is
computed once per distinct word. A feature is ``number=values``, with the number of the template
in the preset, from 0. A test compares them with the presets.
"""

from __future__ import annotations

from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category, normalize

if TYPE_CHECKING:
    from collections.abc import Sequence

LEFT, RIGHT = "<s>", "</s>"


class Word(NamedTuple):
    """What the templates ask about one word; `own` are the features of the word by itself."""

    form: str
    normal: str
    suffix: str | None  # of three letters
    outline: str
    own: tuple[str, ...]


def _letter(c: str) -> str:
    return "X" if c.isupper() else "x" if c.islower() else "d" if c.isdecimal() else c


def _kind(c: str) -> str:
    kind = category(c)
    if kind[0] == "S" and c not in "<>^`|~":
        return kind
    return "" if kind[0] == "M" or kind == "Cf" else _letter(c)


def _outline(word: str) -> str:
    return "".join(c for c, _ in groupby(filter(None, map(_kind, word))))


def _flags(word: str) -> str:
    tests = (
        word[:1].isupper(),
        word.isupper(),
        any(map(str.isdecimal, word)),
        "-" in word,
        word.isalpha(),
        any(map(str.isupper, word[1:])),
    )
    return "".join("01"[test] for test in tests)


@cache
def pos_word(word: str) -> Word:
    """A word as the preset ``pos`` sees it."""
    lower = word.lower()
    normal = "".join("0" if c.isdecimal() else c for c in lower)
    own = [f"0={word}", f"1={normal}"]
    own += [f"{7 + n}={lower[-n:]}" for n in range(1, 8) if len(lower) >= n]
    own += [f"{14 + n}={lower[:n]}" for n in range(1, 6) if len(lower) >= n]
    own += [f"20={_flags(word)}", f"21={_outline(word)}", f"26={''.join(map(_letter, word))}"]
    bones = "".join("V" if normalize("NFD", c)[0] in "aeiouyæøœ" else c for c in lower)
    own += [
        f"{27 + n}={bones[-n:]}"
        for n in range(3, min(5, len(lower)) + 1)
        if bones[-n:] != lower[-n:]
    ]
    suffix = lower[-3:] if len(lower) >= 3 else None
    return Word(word, normal, suffix, _outline(word), tuple(own))


@cache
def chunk_word(word: str) -> Word:
    """A word as the preset ``chunk`` sees it (29 to 34: endings, beginnings, spelling)."""
    lower = word.lower()
    normal = "".join("0" if c.isdecimal() else c for c in lower)
    own = [f"2={word}", f"26={normal}"]
    own += [f"{27 + n}={lower[-n:]}" for n in (2, 3, 4) if len(lower) >= n]
    own += [f"{30 + n}={lower[:n]}" for n in (2, 3) if len(lower) >= n]
    own.append(f"34={_outline(word)}")
    return Word(word, normal, None, _outline(word), tuple(own))


_LEFT, _RIGHT = Word(LEFT, LEFT, LEFT, LEFT, ()), Word(RIGHT, RIGHT, RIGHT, RIGHT, ())


def pos_features(words: Sequence[str]) -> list[list[str]]:
    """Features of each word of a sentence, by the 33 templates of ``pos``."""
    row = [_LEFT, _LEFT, *map(pos_word, words), _RIGHT, _RIGHT]
    found = []
    for a, b, word, c, d in zip(row, row[1:], row[2:], row[3:], row[4:], strict=False):
        n = word.normal
        features = [
            *word.own,
            f"2={b.normal}",
            f"3={c.normal}",
            f"4={a.normal}",
            f"5={d.normal}",
            f"6={b.normal} {n}",
            f"7={n} {c.normal}",
            f"22={b.outline}",
            f"23={c.outline}",
            f"24={b.outline} {word.outline}",
            f"25={word.outline} {c.outline}",
        ]
        if c.suffix:
            features.append(f"27={n} {c.suffix}")
        if word.suffix:
            if b.suffix:
                features.append(f"28={b.suffix} {word.suffix}")
            if c.suffix:
                features.append(f"29={word.suffix} {c.suffix}")
        found.append(features)
    return found


def chunk_features(sentence: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Features of each (word, part of speech) of a sentence, by the 37 templates of ``chunk``."""
    row = [_LEFT, _LEFT, *(chunk_word(word) for word, _ in sentence), _RIGHT, _RIGHT]
    pos = [LEFT] * 3 + [tag for _, tag in sentence] + [RIGHT] * 3
    found = []
    for i in range(len(sentence)):
        a, b, word, c, d = row[i : i + 5]
        p, q, r, s, t, u, v = pos[i : i + 7]
        form = word.form
        found.append(
            [
                *word.own,
                f"0={a.form}",
                f"1={b.form}",
                f"3={c.form}",
                f"4={d.form}",
                f"5={b.form} {form}",
                f"6={form} {c.form}",
                f"7={p}",
                f"8={q}",
                f"9={r}",
                f"10={s}",
                f"11={t}",
                f"12={u}",
                f"13={v}",
                f"14={q} {r}",
                f"15={r} {s}",
                f"16={s} {t}",
                f"17={t} {u}",
                f"18={q} {r} {s}",
                f"19={r} {s} {t}",
                f"20={s} {t} {u}",
                f"21={s} {form}",
                f"22={b.form} {s}",
                f"23={s} {c.form}",
                f"24={r} {form}",
                f"25={form} {t}",
                f"27={b.normal}",
                f"28={c.normal}",
                f"35={b.outline}",
                f"36={c.outline}",
            ]
        )
    return found


def features(columns: Sequence[str], sentence: Sequence) -> list[list[str]]:
    """Features of a sentence, by the preset that fits its columns."""
    return pos_features(sentence) if len(columns) == 1 else chunk_features(sentence)
