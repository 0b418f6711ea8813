"""A made-up treebank whose words are hidden in tokens by prefixes and suffixes, as in Hebrew.

The prefixes ``w h b l m k`` stack; the article is swallowed by a preposition (``b+h+byt`` is
written ``bbyt``), which only the article of the adjective after it can show; a pronoun is written
at the end of the noun (``btw`` is ``bt+hw``), which may change for it (``mlkh`` and ``hw`` make
``mlktw``); many stems begin and end with the same letters. The words are drawn with a seed, so that
the treebank is always the same.
"""

from __future__ import annotations

from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

LETTERS = "abgdhwzxvyklmnsepcqrjt"
PRONOUNS = {"w": "hw", "h": "hy", "m": "hm", "k": "ath", "y": "any"}
"""What is written at the end of a noun, and the word that it is."""

_Token = tuple[str, list[tuple[str, str]]]
"""A token, and the forms and tags of its words."""


class _Stems(NamedTuple):
    """Words of a part of speech, and how often each is drawn, summed up."""

    words: Sequence[str]
    weights: Sequence[float]

    def draw(self, random: Random) -> str:
        return random.choices(self.words, cum_weights=self.weights)[0]


def _stems(random: Random, count: int, seen: set[str]) -> _Stems:
    """Make up words of three to five letters that no other part of speech has."""
    words: list[str] = []
    while len(words) < count:
        word = "".join(random.choices(LETTERS, k=random.choice((3, 3, 4, 4, 5))))
        if word not in seen:
            seen.add(word)
            words.append(word)
    return _Stems(words, [*accumulate(1 / (n + 5) for n in range(count))])


def clitics(sentences: int, seed: int = 1) -> list[str]:
    """Return the sentences of the treebank, as `tests.treebanks.annotated` reads them.

    The words of a language are the same for all seeds.
    """
    words, random = Random(0), Random(seed)
    seen: set[str] = set()
    nouns, verbs, adjectives, names, adverbs = (
        _stems(words, count, seen) for count in (3000, 1200, 800, 1500, 60)
    )

    def phrase(preposition: str = "") -> list[_Token]:
        """Draw a noun phrase."""
        before = [(preposition, "ADP")] if preposition else []
        if random.random() < 0.2:
            name = names.draw(random)
            return [(preposition + name, [*before, (name, "PROPN")])]
        noun, chance = nouns.draw(random), random.random()
        if chance < 0.15:
            written, word = random.choice([*PRONOUNS.items()])
            stem = noun[:-1] + "t" if noun[-1] == "h" else noun
            return [(preposition + stem + written, [*before, (noun, "NOUN"), (word, "PRON")])]
        article = [("h", "DET")] if chance < 0.8 else []
        swallowed = "" if preposition in ("b", "l", "k") else "h" * len(article)
        found = [(preposition + swallowed + noun, [*before, *article, (noun, "NOUN")])]
        if random.random() < 0.4:
            adjective = adjectives.draw(random)
            found.append(("h" * len(article) + adjective, [*article, (adjective, "ADJ")]))
        return found

    def clause() -> list[_Token]:
        verb = verbs.draw(random)
        found = [*phrase(), (verb, [(verb, "VERB")])]
        if random.random() < 0.3:
            adverb = adverbs.draw(random)
            found.append((adverb, [(adverb, "ADV")]))
        if random.random() < 0.6:
            found += phrase()
        while random.random() < 0.5:
            found += phrase(random.choice("bblllmk"))
        return found

    def sentence() -> str:
        tokens = clause()
        while random.random() < 0.7:
            (token, parts), *rest = clause()
            tokens += [("w" + token, [("w", "CCONJ"), *parts]), *rest]
        written = []
        for token, parts in tokens:
            words = "+".join(f"{word}/{word}/{tag}" for word, tag in parts)
            written.append(words if len(parts) == 1 else f"{token}={words}")
        return " ".join(written)

    return [sentence() for _ in range(sentences)]
