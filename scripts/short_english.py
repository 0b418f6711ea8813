"""Short English sentences of the words of a treebank, by patterns of tags.

Treebanks of running text have few short statements, headlines and commands, so that taggers take the
verb of *Dogs bark* for a noun. Words are drawn with the lemmas and features that the treebank gives
them, verbs mostly among those that are nouns elsewhere. What the sentences say does not matter; they
are for taggers, which learn that a verb may follow a subject at once.
"""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Row = tuple[str, str, str, str, str]  # FORM, LEMMA, UPOS, XPOS, FEATS

_PATTERNS = (
    "NNS VBP .",
    "NNS VBP .",
    "the NN VBZ .",
    "NNP VBZ .",
    "NNS VBP , NNS VBP .",
    "NNS VBP RB .",
    "NNS VBP IN NN",
    "NNS VBP NNS IN NN",
    "NNP VBZ NNS",
    "NN VBZ NNS",
    "NN VBZ IN NNP",
    "JJ NN VBZ NNS",
    "VB the NN .",
    "VB the NN and VB the NN .",
    "VB NNS and VB a NN .",
    "PRP VBP NNS .",
    "when the NN VBZ , VB the NN .",
    "does the NN VBI ?",
    "when did the NNS VBI ?",
    "what NN does the NN VBI ?",
)
_FIXED: dict[str, Row] = {
    "the": ("the", "the", "DET", "DT", "Definite=Def|PronType=Art"),
    "a": ("a", "a", "DET", "DT", "Definite=Ind|PronType=Art"),
    "and": ("and", "and", "CCONJ", "CC", "_"),
    "when": ("when", "when", "ADV", "WRB", "PronType=Int"),
    "what": ("what", "what", "DET", "WDT", "PronType=Int"),
    "does": ("does", "do", "AUX", "VBZ", "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"),
    "did": ("did", "do", "AUX", "VBD", "Mood=Ind|Number=Plur|Person=3|Tense=Past|VerbForm=Fin"),
    "?": ("?", "?", "PUNCT", ".", "_"),
    ",": (",", ",", "PUNCT", ",", "_"),
    ".": (".", ".", "PUNCT", ".", "_"),
}
_PRONOUNS: tuple[Row, ...] = (
    ("we", "we", "PRON", "PRP", "Case=Nom|Number=Plur|Person=1|PronType=Prs"),
    ("they", "they", "PRON", "PRP", "Case=Nom|Number=Plur|Person=3|PronType=Prs"),
)
_SINGULAR = "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"
_PLURAL = "Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin"
_FIRST = "Mood=Ind|Number=Plur|Person=1|Tense=Pres|VerbForm=Fin"
_IMPERATIVE = "Mood=Imp|VerbForm=Fin"
_AMBIGUOUS = 0.7  # of the verbs
_LEAST = 2  # times that a verb occurs


def _third_person(lemma: str) -> str:
    if lemma.endswith(("s", "x", "z", "ch", "sh")):
        return f"{lemma}es"
    if lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
        return f"{lemma[:-1]}ies"
    return f"{lemma}s"


class _Words:
    """Words of a treebank by XPOS."""

    def __init__(self, lines: Iterable[str], random: Random):
        self._random = random
        verbs: dict[str, int] = defaultdict(int)
        self._of: dict[str, dict[Row, None]] = defaultdict(dict)
        for line in lines:
            row = line.rstrip("\n").split("\t")
            if len(row) < 6 or not row[1].isalpha() or not row[1].isascii():
                continue
            form, lemma, upos, xpos, feats = row[1:6]
            cased = form.istitle() if xpos == "NNP" else form.islower()
            if upos == "VERB" and lemma.isalpha() and lemma.islower():
                verbs[lemma] += 1
            elif cased and len(form) > 1 and "Typo" not in feats and "Abbr" not in feats:
                self._of[xpos][form, lemma, upos, xpos, feats] = None
        nouns = {row[0] for row in self._of["NN"]}
        self._verbs = sorted(lemma for lemma, times in verbs.items() if times >= _LEAST)
        self._ambiguous = [lemma for lemma in self._verbs if lemma in nouns]
        self._upos = {
            "NN": "NOUN",
            "NNS": "NOUN",
            "NNP": "PROPN",
            "RB": "ADV",
            "IN": "ADP",
            "JJ": "ADJ",
        }
        self._lists = {
            xpos: sorted(row for row in self._of[xpos] if row[2] == upos)
            for xpos, upos in self._upos.items()
        }

    def one(self, tag: str, before: str) -> Row:
        """Return a word for a tag of a pattern that follows another one."""
        if tag in _FIXED:
            return _FIXED[tag]
        if tag == "PRP":
            return self._random.choice(_PRONOUNS)
        if not tag.startswith("VB"):
            return self._random.choice(self._lists[tag])
        is_ambiguous = self._random.random() < _AMBIGUOUS
        lemma = self._random.choice(self._ambiguous if is_ambiguous else self._verbs)
        if tag == "VBZ":
            return _third_person(lemma), lemma, "VERB", tag, _SINGULAR
        if tag == "VB":
            return lemma, lemma, "VERB", tag, _IMPERATIVE
        if tag == "VBI":
            return lemma, lemma, "VERB", "VB", "VerbForm=Inf"
        return lemma, lemma, "VERB", tag, _FIRST if before == "we" else _PLURAL


def short_sentences(lines: Iterable[str], number: int, seed: int = 1) -> str:
    """Return so many short sentences, in CoNLL-U, of the words of some lines of CoNLL-U."""
    random = Random(seed)
    words = _Words(lines, random)
    done = []
    for _ in range(number):
        before = ""
        for i, tag in enumerate(random.choice(_PATTERNS).split(), 1):
            form, *rest = words.one(tag, before)
            before = form
            form = form[:1].upper() + form[1:] if i == 1 else form
            done.append("\t".join([str(i), form, *rest, "_", "_", "_", "_"]))
        done.append("")
    return "\n".join(done) + "\n"
