"""The training data of the embedded English pipeline, made from the corpora, in CoNLL-U.

UD English-EWT and copies of some of its sentences (`scripts.enrich_english`), UD English-GUM with the
conventions of EWT (`scripts.harmonize_english`), and the odd sentences of `corpora/everyday`; the even
ones are held out. Taggers learn copies in title case, lower case, and capitals besides, as headlines
and messages are written, the everyday sentences twice, and short sentences of the words of the
treebanks (`scripts.short_english`). Names are learned from the sentences of EWT that Universal NER
has annotated, some of them also in lower case, from the everyday ones, GUM, WikiGold and the Broad
Twitter Corpus, and at last from the first two again, whose conventions are those to follow.
"""

from __future__ import annotations

import io
from functools import cached_property
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from scripts.enrich_english import enriched
from scripts.harmonize_english import harmonized
from scripts.short_english import short_sentences
from seqtag.corpus import read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seqtag.corpus import Sentence

EVERYDAY = Path(__file__).parents[1] / "corpora" / "everyday"
_IN_TITLES, _IN_LOWER_CASE, _IN_CAPITALS = 600, 600, 200  # copies
_SHORT = 1500  # sentences: UPOS of everyday sentences 95.75 -> 95.96, of EWT dev +.02
_NAMES_IN_LOWER_CASE = 0.15  # of the sentences of EWT: F1 of its dev 71.2 -> 71.7 to 72.1
_CORPORA_OF_NAMES = "gum", "wikigold", "broad-twitter"
_NAMES_AGAIN = 5  # how often names see each everyday one: F1 of kinds held out 75.2 -> 77.5 (of 3)
_KINDS = "PER", "LOC", "ORG"  # of names
_AGAIN = 2  # how often taggers see each everyday sentence
_LONGEST = 25  # words of a copy


def sentences_of(text: str) -> list[Sentence]:
    """Read CoNLL-U."""
    return list(read(io.BytesIO(text.encode()), "conllu"))


def _blocks(text: str) -> list[str]:
    return [f"{block}\n\n" for block in text.strip().split("\n\n")]


def everyday(*, held_out: bool) -> dict[str, str]:
    """Return the odd or the even sentences of each kind, in CoNLL-U."""
    files = sorted(EVERYDAY.glob("*.conllu"))
    halves = ((path, _blocks(path.read_text(encoding="utf-8"))[held_out::2]) for path in files)
    return {path.stem: "".join(blocks) for path, blocks in halves}


def _title(form: str) -> str:
    return form[:1].upper() + form[1:]


def _recased(blocks: Sequence[str], copies: int, change: Callable[[str], str], seed: int) -> str:
    """Return copies of sentences with forms in another case, but for addresses."""
    done = []
    for block in Random(seed).sample(blocks, copies):
        rows = (line.split("\t") for line in block.splitlines())
        for row in rows:
            if len(row) == 10 and row[4] != "ADD":
                row[1] = change(row[1])
            if len(row) == 10:
                done.append("\t".join(row))
        done.append("")
    return "\n".join(done) + "\n"


def _names_by_sentence(path: Path) -> dict[str, list[str]]:
    """Return the labels of names by ``sent_id``, from columns of numbers, words and labels."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# sent_id = "):
            name = line.removeprefix("# sent_id = ")
        elif line[:1].isdigit():
            found.setdefault(name, []).append(line.split("\t")[2])
    return found


def _of_names(path: Path) -> str:
    """Return a file of words and labels of names as CoNLL-U with NER in MISC."""
    done, number = [], 0
    for line in path.read_text(encoding="utf-8").splitlines():
        form, tab, label = line.partition("\t")
        number = number + 1 if tab else 0
        name = f"NER={label}" if label[2:] in _KINDS else "_"
        if tab:
            done.append(f"{number}\t{form}" + 7 * "\t_" + f"\t{name}\n")
        elif not line:
            done.append("\n")
    return "".join(done)


def with_names(conllu: str, path: Path) -> str:
    """Return the sentences whose names a file of Universal NER has, with NER in MISC."""
    names = _names_by_sentence(path)
    done = []
    for block in _blocks(conllu):
        lines = block.splitlines()
        name = next(x for x in lines if x.startswith("# sent_id")).removeprefix("# sent_id = ")
        rows = [line.split("\t") for line in lines if line.partition("\t")[0].isdigit()]
        labels = names.get(name, [])
        if len(labels) == len(rows):
            for row, label in zip(rows, labels, strict=True):
                row[9] = f"NER={label}" if label[2:] in _KINDS else "_"
            done.append("".join("\t".join(row) + "\n" for row in rows) + "\n")
    return "".join(done)


class EnglishData:
    """The corpora in a folder, and what is learned from them.

    Attributes
    ----------
    text
        What tokens, sentences and words are learned from.
    tags
        What UPOS, XPOS, FEATS and lemmas are learned from.
    all_names, names
        What names are learned from first, and what then, with ``NER`` in MISC.
    """

    def __init__(self, corpora: Path):
        self.corpora = corpora

    def ewt(self, part: str) -> str:
        """Return a part of UD English-EWT."""
        path = self.corpora / "ud-english-ewt" / f"en_ewt-ud-{part}.conllu"
        return path.read_text(encoding="utf-8")

    def names_of_ewt(self, part: str) -> str:
        """Return a part of UD English-EWT with names."""
        return with_names(self.ewt(part), self.corpora / "uner-english-ewt" / f"{part}.iob2")

    @cached_property
    def gum(self) -> str:
        """UD English-GUM with the conventions of EWT."""
        path = self.corpora / "ud-english-gum" / "train.conllu"
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        return "".join(harmonized(lines, self.ewt("train").splitlines(keepends=True)))

    @cached_property
    def everyday(self) -> str:
        """The everyday sentences to train on."""
        return "".join(everyday(held_out=False).values())

    @cached_property
    def text(self) -> str:
        ewt = self.ewt("train")
        return ewt + enriched(ewt.splitlines(keepends=True)) + self.gum + self.everyday

    @cached_property
    def tags(self) -> str:
        treebanks = self.ewt("train") + self.gum
        short = short_sentences(treebanks.splitlines(), _SHORT)
        blocks = [block for block in _blocks(treebanks) if block.count("\n") < _LONGEST]
        copies = ((_IN_TITLES, _title), (_IN_LOWER_CASE, str.lower), (_IN_CAPITALS, str.upper))
        recased = (_recased(blocks, n, change, n) for n, change in copies)
        return self.text + (_AGAIN - 1) * self.everyday + "".join(recased) + short

    @property
    def other_names(self) -> str:
        """Names of other corpora than EWT."""
        folder = self.corpora / "names-english"
        return "".join(_of_names(folder / f"{name}.iob2") for name in _CORPORA_OF_NAMES)

    @cached_property
    def all_names(self) -> str:
        blocks = _blocks(self.names_of_ewt("train"))
        small = _recased(blocks, round(_NAMES_IN_LOWER_CASE * len(blocks)), str.lower, 7)
        return self.names + self.other_names + small

    @cached_property
    def names(self) -> str:
        return self.names_of_ewt("train") + _NAMES_AGAIN * self.everyday
