"""Multiword tokens of a treebank as examples to learn from: characters and their scripts."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import lru_cache
from math import log2
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seqtag.corpus.surface import surface_of
from seqtag.errors import CorpusError
from seqtag.features.encoder import Column
from seqtag.features.normal_forms import normal_form
from seqtag.labels.coding import has_controls
from seqtag.segmentation.multiword import (
    COPY,
    END,
    LONGEST,
    NOTHING,
    InContext,
    SplitScript,
    Symbol,
    Words,
    columns_of,
    in_context,
    is_upper,
    letters_of,
)
from seqtag.training.data import TrainingData

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from seqtag.corpus.sentence import Sentence

_MOST_WRITTEN = 5  # symbols by one script, beyond what the words have more than the token
_MOST_CELLS = 4000  # characters times symbols of a token that is aligned
_ROUNDS = 4  # in which scripts are chosen by how often the last round chose them,
_SOME = 500  # for this many multiword tokens or up to twice as many, then once for all
_SHARE = 0.05  # of a token's places that a reading has, else it is a slip
_RARE = 0.1  # what a script not yet chosen counts

Pair = tuple[str, Words]
"""A multiword token and its words."""


class _Example(NamedTuple):
    """A token of the treebank; None for one word."""

    place: InContext
    words: Words | None


def word_examples(sentences: Iterable[Sentence], columns: Sequence[str]) -> TrainingData:
    """The tokens of a treebank as sequences of characters, labelled with scripts.

    A token that always has the same words is one example.  One that has not is an example at each
    of its places, and has its neighbours as columns.

    Parameters
    ----------
    sentences
        Sentences of a treebank; others than CoNLL-U have no ranges.
    columns
        Those that templates look at, of `seqtag.segmentation.multiword.COLUMNS`.

    Raises
    ------
    CorpusError
        If there are no multiword tokens.
    """
    examples, source = _gathered(sentences)
    seen: defaultdict[str, Counter[Words | None]] = defaultdict(Counter)
    for each in examples:
        seen[each.place.token][each.words] += 1
    believed = {form: _believed(counts) for form, counts in seen.items()}
    pairs = {(form, words) for form, readings in believed.items() for words in readings if words}
    if not pairs:
        msg = (
            "expected multiword tokens, which CoNLL-U writes as ranges such as 1-2, found none; "
            "leave the label words out, there is nothing to learn for it"
        )
        raise CorpusError(msg, source=source)
    if "form" not in columns:  # nothing could tell readings apart
        believed = {form: readings[:1] for form, readings in believed.items()}
    differ = {normal_form(form) for form, readings in believed.items() if len(readings) > 1}
    ambiguous = {form for form in believed if normal_form(form) in differ}
    kept = []
    for each in examples:
        form = each.place.token
        if each.words in believed[form]:
            kept.append(each)
            if form not in ambiguous:
                believed[form] = []  # once is enough
    scripts = scripts_of(sorted(pairs))
    labels = (
        script
        for (token, *_), words in kept
        for script in (scripts[token, words] if words else [COPY] * len(letters_of(token)))
    )
    return TrainingData(
        columns_of([each.place for each in kept], ambiguous, columns),
        Column.of(labels),
        np.array([len(letters_of(each.place.token)) for each in kept], np.int64),
    )


def _gathered(sentences: Iterable[Sentence]) -> tuple[list[_Example], str | None]:
    """The tokens that are short enough, with words that labels can hold, and the file's name."""
    examples = []
    source = None
    for sentence in sentences:
        source = source or sentence.source
        words = sentence.words
        tokens = surface_of(sentence).tokens
        forms = [token.form for token in tokens]
        for i, (form, first, count, *_) in enumerate(tokens):
            several = tuple(words[first : first + count]) if count > 1 else None
            if len(form) <= LONGEST and not any(map(has_controls, several or ())):
                examples.append(_Example(in_context(forms, i), several))
    return examples, source


def _believed(counts: Counter[Words | None]) -> list[Words | None]:
    """The readings of a token that are no slips, the most frequent first."""
    total = counts.total()
    often = counts.most_common()
    return [words for words, count in often if count >= _SHARE * total and (count > 1 or total < 4)]


def scripts_of(pairs: Sequence[Pair]) -> dict[Pair, list[str]]:
    """The scripts that make words of tokens, one for each character; few different ones.

    `seqtag.segmentation.multiword.words_of` undoes it.

    Parameters
    ----------
    pairs
        Tokens and their words, none empty. The order decides between scripts that are as good.

    Examples
    --------
    >>> scripts = scripts_of([("don't", ("do", "n't")), ("Im", ("In", "dem"))])
    >>> scripts["don't", ("do", "n't")], scripts["Im", ("In", "dem")]
    (['=', '=|', '=', '=', '='], ['=n|de', '='])
    """
    parted = ((pair, _parted(*pair)) for pair in pairs)
    plain = {pair: scripts for pair, scripts in parted if scripts}
    aligned = {pair: _cut_out(*pair) for pair in pairs if pair not in plain}
    some = list(aligned)[:: max(1, len(aligned) // _SOME)]
    counts = Counter(script for scripts in plain.values() for script in scripts)
    costs = _Costs()
    for _ in range(_ROUNDS):
        aligned |= {pair: _aligned(*pair, costs, aligned[pair]) for pair in some}
        costs = _Costs(counts + Counter(script for pair in some for script in aligned[pair]))
    aligned = {pair: _aligned(*pair, costs, known) for pair, known in aligned.items()}
    return plain | aligned


def _parted(token: str, words: Words) -> list[str] | None:
    """The scripts of a token that is nothing but its words; None of others."""
    lengths = [len(letters_of(word)) for word in words]
    if "".join(words) != token or sum(lengths) != len(letters_of(token)):
        return None
    scripts = [COPY + END * (i == length) for length in lengths for i in range(1, length + 1)]
    scripts[-1] = COPY
    return scripts


def _cut_out(token: str, words: Words) -> list[str]:
    """Scripts that copy what both begin and end with, and write the rest in one place."""
    letters, symbols = letters_of(token), _symbols(words)
    shorter = min(len(letters), len(symbols))
    left = 0
    while left < shorter and letters[left] == symbols[left]:
        left += 1
    left = min(left, len(letters) - 1)
    right = 0
    while right < shorter - left - 1 and letters[-1 - right] == symbols[-1 - right]:
        right += 1
    rest = symbols[left : len(symbols) - right]
    written = _script(letters[left], rest, is_upper(token))
    return [
        *[COPY] * left,
        written,
        *[NOTHING] * (len(letters) - left - right - 1),
        *[COPY] * right,
    ]


class _Costs(dict[str, float]):
    """What scripts cost: less if they change less, or once they were chosen, if they often were."""

    def __init__(self, chosen: Counter[str] | None = None):
        super().__init__()
        self._chosen, self._all = chosen, chosen.total() if chosen else 0

    def __missing__(self, script: str) -> float:
        if self._chosen is None:
            cost = 0.0 if script == COPY else 1 + len(script) - 0.5 * (script[0] == COPY)
        else:
            cost = log2(self._all / (self._chosen[script] + _RARE)) + 0.01 * len(script)
        self[script] = cost
        return cost


def _aligned(token: str, words: Words, costs: _Costs, known: list[str]) -> list[str]:
    """The scripts of least cost that make the words of the token, given some; the first of equals.

    A shortest path through (characters read, symbols written), where no way is followed on that
    costs more than the scripts known.
    """
    upper, letters, symbols = is_upper(token), letters_of(token), _symbols(words)
    count = len(symbols)
    if len(letters) * count > _MOST_CELLS:
        return known
    most = max(_MOST_WRITTEN, count - len(letters) + _MOST_WRITTEN)
    enough = sum(costs[script] for script in known) + 1e-6
    best = {0: 0.0}  # by the number of symbols written
    ways: list[dict[int, tuple[int, str]]] = []  # for each character, where from and by what
    for i, letter in enumerate(letters):
        last = i == len(letters) - 1
        reached: dict[int, float] = {}
        way: dict[int, tuple[int, str]] = {}
        for begin, spent in best.items():
            for end in [count] if last else range(begin, min(begin + most, count) + 1):
                script = _script(letter, symbols[begin:end], upper)
                total = spent + costs[script]
                if total < reached.get(end, enough):
                    reached[end] = total
                    way[end] = begin, script
        best = reached
        ways.append(way)
    if not best:
        return known
    scripts: list[str] = []
    for way in reversed(ways):
        count, script = way[count]
        scripts.append(script)
    return scripts[::-1]


def _symbols(words: Words) -> tuple[Symbol, ...]:
    """What is to be written."""
    return tuple(symbol for word in words for symbol in (*letters_of(word), None))[:-1]


@lru_cache(maxsize=1 << 18)
def _script(letter: str, symbols: tuple[Symbol, ...], upper: bool) -> str:
    """The script that writes some symbols for a character, in lower case if that will do."""
    copied = symbols.index(letter) if letter in symbols else -1
    items = [COPY if i == copied else s and "\\" + s for i, s in enumerate(symbols)]
    folded = [s and s.lower() if len(s or "") == len((s or "").lower()) else s for s in items]
    script = SplitScript(False, tuple(folded))
    if _spelt(script.symbols(letter, upper)) == _spelt(symbols):
        return str(script)
    return str(SplitScript(True, tuple(items)))


def _spelt(symbols: Iterable[Symbol]) -> list[Symbol]:
    """Symbols with each code point for itself."""
    return [part for symbol in symbols for part in (symbol or [None])]
