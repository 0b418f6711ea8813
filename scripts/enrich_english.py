"""Enrich UD English-EWT with rare kinds of words, put into copies of its own sentences.

The treebank has few abbreviations before figures and names, and few hashtags, names of files,
currencies, and units. Each rule names the words that it replaces and what it writes for them: a
title for a title, an address for a name after a preposition. A copy has one new word, a few have
two; its other words, tags and borders are those of the treebank. Everything is drawn with a fixed
seed. On EWT dev, tokens, sentences and words rise (+.06, +.36, +.06; means of 3 seeds), UPOS stays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Row = list[str]  # the ten columns of CoNLL-U
Word = tuple[str, str, str, str, str]  # FORM, LEMMA, UPOS, XPOS, FEATS

_SAME = 4  # copies of one sentence by a rule, at most
_AGAIN = 0.5  # copies of copies, for each copy of a sentence of the treebank

_FORM, _LEMMA, _UPOS, _XPOS, _FEATS, _MISC = 1, 2, 3, 4, 5, 9

_TITLES = (
    "Mr. Mr. Mrs. Mrs. Mrs. Ms. Dr. Dr. Prof. Prof. Rev. Fr. Gen. Col. Capt. Lt. Maj. Sgt. Cpl. "
)
_TITLES += "Cmdr. Adm. Gov. Sen. Rep. Pres. Supt. Hon. Messrs. St."
_FIRM = "Inc. Corp. Co. Ltd. Bros. Plc. Assn. Dept. Univ. Inst. Mfg. Intl."
_COUNTRY = "U.S. U.K. U.N. E.U. U.A.E. L.A. D.C. N.Y. B.C. U.S.A."
_STREET = "St. Ave. Rd. Blvd. Ln. Dr. Ct. Hwy. Pl. Sq. Pkwy."
_BEFORE_FIGURES = (
    "No. Nos. Fig. Figs. Vol. Ch. Sec. Art. Ext. Apt. Ste. Rm. Eq. p. pp. no. fig. vol. "
)
_BEFORE_FIGURES += "ch. sec. art. ext. para. ed."
_MONTHS = {
    "January": "Jan.",
    "February": "Feb.",
    "March": "Mar.",
    "April": "Apr.",
    "August": "Aug.",
    "September": "Sept. Sep.",
    "October": "Oct.",
    "November": "Nov.",
    "December": "Dec.",
    "Monday": "Mon.",
    "Tuesday": "Tue. Tues.",
    "Wednesday": "Wed.",
    "Thursday": "Thu. Thurs.",
    "Friday": "Fri.",
    "Saturday": "Sat.",
    "Sunday": "Sun.",
}
_UNITS = (
    "km kg g mg mcg lb lbs oz ft cm mm m ml l mph kph mpg GB MB KB TB GHz MHz kHz Hz kW W V mA "
)
_UNITS += "dB px dpi fps rpm hrs hr min mins sec secs yrs mi gal qt cal kcal kWh psi acres bps Mbps"
_EMOTICONS = ":) :( :-) :-( ;) ;-) :D :-D :P :-P :p =) =( =D :/ :-/ :O :o :'( :') ^_^ xD XD <3 </3 "
_EMOTICONS += "o_O O_o -_- >:( D: :| :-| :3 8) :] :[ :* ;P (: ): T_T \\o/ :-)) :)) :c"
_EXTENSIONS = (
    "doc docx xls xlsx csv pdf txt ppt pptx jpg jpeg png gif mp3 mp4 wav avi mov zip tar.gz "
)
_EXTENSIONS += (
    "py js sh exe dll html xml json yaml yml md ini cfg conf log sql cpp h java rb iso bak"
)
_DOMAINS = "com org net edu gov co.uk org.uk ac.uk de fr io info ca com.au eu ie us tv me"
_QUOTES = "«_» “_” „_“ ‘_’ ‹_› »_«"
_DASHES = "- -- – —"
_INITIALS = "ABCDEFGHIJKLMNOPRSTVW"


class _Names:
    """Random words of the treebank, and addresses made of them."""

    def __init__(self, words: Sequence[str], random: Random):
        self.words, self.random = words, random

    def one_of(self, text: str) -> str:
        return self.random.choice(text.split())

    def word(self) -> str:
        return self.random.choice(self.words)

    def joined(self, signs: str) -> str:
        """Return one to three words or numbers, with signs between them."""
        parts = [self.word() for _ in range(self.random.choice((1, 1, 2, 2, 3)))]
        if self.random.random() < 0.25:
            parts.append(str(self.random.randrange(1, 2030)))
        return self.random.choice(signs.split(" ")).join(parts)

    def cased(self, text: str) -> str:
        return self.random.choice((text, text, text, text.title(), text.upper()))

    def host(self) -> str:
        inner = f"{self.word()}." if self.random.random() < 0.2 else ""
        return f"{inner}{self.joined('- ')}.{self.one_of(_DOMAINS)}"

    def url(self) -> str:
        random = self.random
        scheme = random.choice(
            ("http://", "https://", "www.", "http://www.", "https://www.", "", "")
        )
        path = "".join(f"/{self.joined('- _ ')}" for _ in range(random.choice((0, 0, 1, 1, 2, 3))))
        if path and random.random() < 0.2:
            path += f".{random.choice(('html', 'htm', 'php', 'pdf', 'jpg', 'aspx'))}"
        if random.random() < 0.2:
            path += "/"
        if path and random.random() < 0.3:
            path += (
                f"?{self.word()[:4]}={random.choice((self.word(), str(random.randrange(2000))))}"
            )
            if random.random() < 0.4:
                path += f"&{self.word()[0]}={random.randrange(100)}"
        if path and random.random() < 0.1:
            path += f"#{self.word()}"
        return f"{scheme}{self.cased(self.host()) if not path else self.host()}{path}"

    def email(self) -> str:
        text = f"{self.joined('. _ - +  .')}@{self.host()}"
        return self.random.choice(("", "", "", "", "mailto:")) + self.random.choice(
            (text, text, text, text.title())
        )

    def file(self) -> str:
        name = self.cased(self.joined("_ - . "))
        return f"{name}.{self.one_of(_EXTENSIONS)}"

    def handle(self) -> str:
        return f"@{self.cased(self.joined('_ . '))}"

    def hashtag(self) -> str:
        words = [self.word() for _ in range(self.random.choice((1, 2)))]
        text = "".join(map(str.title, words)) if self.random.random() < 0.4 else "".join(words)
        return f"#{text}{self.random.choice(('', '', '', str(self.random.randrange(2009, 2030))))}"

    def version(self) -> str:
        parts = [str(self.random.randrange(20)) for _ in range(self.random.choice((3, 3, 4)))]
        return ".".join(parts)

    def date(self) -> str:
        year, month, day = (
            self.random.randrange(*each) for each in ((1950, 2030), (1, 13), (1, 29))
        )
        return f"{year}-{month:02}-{day:02}"

    def initial(self) -> str:
        return f"{self.random.choice(_INITIALS)}."


@dataclass(frozen=True)
class _Rule:
    """Words to replace, given the sentence and a position, and what to write for them.

    Attributes
    ----------
    copies
        Number of copies.
    fits
        Whether the word at a position of a sentence is one of them.
    write
        What to write for it.
    spaced
        Whether spaces surround it.
    before
        Whether it is written before the word, which stays.
    """

    copies: int
    fits: Callable[[Sequence[Row], int], bool]
    write: Callable[[_Names, Row], Word]
    spaced: bool = False
    before: bool = False


def _word(form: str, upos: str, xpos: str, feats: str = "_", lemma: str = "") -> Word:
    return form, lemma or form, upos, xpos, feats


def _name(form: str) -> Word:
    return _word(form, "PROPN", "NNP", "Number=Sing")


def _address(form: str) -> Word:
    return _word(form, "PROPN", "ADD")


def _form(rows: Sequence[Row], i: int) -> str:
    return rows[i][_FORM] if 0 <= i < len(rows) else ""


def _tag(rows: Sequence[Row], i: int, column: int = _UPOS) -> str:
    return rows[i][column] if 0 <= i < len(rows) else ""


def _is_one_of(text: str) -> Callable[[Sequence[Row], int], bool]:
    forms = {*text.split()}
    return lambda rows, i: rows[i][_FORM] in forms


def _is_name_alone(rows: Sequence[Row], i: int) -> bool:
    around = {_tag(rows, i - 1), _tag(rows, i + 1)}
    return (
        rows[i][_XPOS] == "NNP"
        and not around & {"PROPN", "NOUN", "ADJ", "NUM", "PART"}
        and _form(rows, i + 1) != "-"
        and _form(rows, i - 1) != "-"
    )


def _follows(*forms: str) -> Callable[[Sequence[Row], int], bool]:
    return lambda rows, i: _form(rows, i - 1).lower() in forms and _is_name_alone(rows, i)


def _is_digits(text: str) -> bool:
    return text.replace(",", "").replace(".", "").isdecimal()


def _ends(rows: Sequence[Row], i: int) -> bool:
    final = i == len(rows) - 1 and rows[i][_FORM] in ("!", ".")
    return final and _tag(rows, i - 1) in ("NOUN", "ADJ", "ADV", "PRON", "VERB", "PROPN")


_MEASURES = (
    "minutes miles feet pounds inches hours degrees meters gallons acres yards days weeks mins"
)
_RULES = (
    _Rule(
        50,
        lambda rows, i: (
            rows[i][_XPOS] == "NNP"
            and i == 0
            and rows[i][_FORM][1:].islower()
            and _tag(rows, i + 1) in ("VERB", "AUX", "PROPN", "PUNCT", "CCONJ")
        ),
        lambda names, _: _name(names.one_of(_TITLES)),
        before=True,
    ),
    _Rule(
        40,
        lambda rows, i: (
            ((_is_digits(rows[i][_FORM]) and rows[i][_XPOS] == "CD") or rows[i][_FORM] == "$")
            and _tag(rows, i - 1) in ("VERB", "ADP", "PUNCT", "AUX")
            and _tag(rows, i + 1) in ("NOUN", "NUM")
        ),
        lambda names, _: _word(names.one_of("approx. approx. ca. c. est."), "ADV", "RB"),
        before=True,
    ),
    _Rule(
        50,
        lambda rows, i: (
            _form(rows, i - 1) in ("(", ",")
            and rows[i][_UPOS] in ("NOUN", "DET", "ADJ", "PROPN", "VERB")
        ),
        lambda names, _: _word(
            names.one_of("e.g. e.g. i.e. i.e. cf. cf. viz. esp. incl."), "ADV", "FW"
        ),
        before=True,
    ),
    _Rule(
        40,
        lambda rows, i: (
            _is_one_of("Mr. Mrs. Ms. Dr. Lt. Gen. Rev. Sen.")(rows, i)
            and _tag(rows, i + 1) == "PROPN"
        ),
        lambda names, _: _name(names.one_of(_TITLES)),
    ),
    _Rule(
        40,
        lambda rows, i: (
            rows[i][_XPOS] == "NNP"
            and _form(rows, i)
            in (
                "President",
                "General",
                "Professor",
                "Senator",
                "Captain",
                "Minister",
                "Governor",
                "Doctor",
                "Judge",
                "Secretary",
                "Sheikh",
                "Sir",
            )
            and _tag(rows, i + 1) == "PROPN"
        ),
        lambda names, _: _name(names.one_of(_TITLES)),
    ),
    _Rule(
        30,
        lambda rows, i: (
            rows[i][_XPOS] == "NNP"
            and _tag(rows, i + 1, _XPOS) == "NNP"
            and _tag(rows, i - 1) != "PROPN"
            and rows[i][_FORM][1:].islower()
            and _form(rows, i + 1)[1:].islower()
        ),
        lambda names, _: _name(names.initial()),
    ),
    _Rule(10, _is_one_of("Inc. Corp. Co. Ltd."), lambda names, _: _name(names.one_of(_FIRM))),
    _Rule(5, _is_one_of("U.S. U.N. D.C. USA UK"), lambda names, _: _name(names.one_of(_COUNTRY))),
    _Rule(
        10,
        lambda rows, i: (
            rows[i][_FORM] in ("Street", "Road", "Avenue", "St.", "Ave", "Drive")
            and rows[i][_UPOS] == "PROPN"
            and _tag(rows, i - 1) in ("PROPN", "NUM", "ADJ")
        ),
        lambda names, _: _name(names.one_of(_STREET)),
    ),
    _Rule(
        20,
        lambda rows, i: rows[i][_FORM] in _MONTHS,
        lambda names, row: _word(
            names.one_of(_MONTHS[row[_FORM]]),
            "PROPN",
            "NNP",
            "Abbr=Yes|Number=Sing",
            row[_LEMMA],
        ),
    ),
    _Rule(
        30,
        lambda rows, i: (
            rows[i][_UPOS] in ("NOUN", "SYM")
            and _tag(rows, i + 1) == "NUM"
            and _form(rows, i + 1).isdecimal()
            and (rows[i][_FORM] == "#" or _tag(rows, i - 1) in ("DET", "ADP", "PUNCT", "VERB", ""))
        ),
        lambda names, _: (
            lambda form: _word(form, "NOUN", "NN", "Abbr=Yes|Number=Sing", form.lower())
        )(names.one_of(_BEFORE_FIGURES)),
    ),
    _Rule(
        15,
        lambda rows, i: (
            rows[i][_FORM].lower() in ("about", "approximately", "around", "nearly", "almost")
            and rows[i][_UPOS] == "ADV"
            and (_tag(rows, i + 1) == "NUM" or _form(rows, i + 1) == "$")
        ),
        lambda names, _: _word(names.one_of("approx. approx. approx. ca. c. est."), "ADV", "RB"),
    ),
    _Rule(
        7,
        lambda rows, i: (
            rows[i][_FORM] in ("least", "most", "only", "over", "maximum", "minimum", "just")
            and _is_digits(_form(rows, i + 1))
        ),
        lambda names, _: _word(names.one_of("max. min. avg."), "ADJ", "JJ", "Degree=Pos"),
    ),
    _Rule(
        25,
        lambda rows, i: (
            _form(rows, i - 1) in (",", "(", "-", "--")
            and rows[i][_FORM]
            in (
                "e.g.",
                "i.e.",
                "especially",
                "particularly",
                "perhaps",
                "maybe",
                "including",
                "probably",
                "mainly",
                "mostly",
                "even",
                "usually",
                "basically",
                "also",
                "possibly",
                "like",
                "only",
                "not",
            )
        ),
        lambda names, _: _word(
            names.one_of("e.g. e.g. i.e. i.e. cf. viz. esp. incl. resp."), "ADV", "FW"
        ),
    ),
    _Rule(
        10,
        lambda rows, i: (
            rows[i][_FORM] == "and" and _tag(rows, i - 1) == _tag(rows, i + 1) == "PROPN"
        ),
        lambda names, _: _word(names.one_of("vs. vs. v. vs"), "ADP", "IN"),
    ),
    _Rule(
        10,
        lambda rows, i: (
            rows[i][_FORM] in ("etc", "etc.", "others", "more")
            and _tag(rows, i + 1) != "NOUN"
            and i + 2 < len(rows)
            and rows[i][_UPOS] != "ADV"
            and _tag(rows, i - 1) in ("NOUN", "PUNCT", "PROPN", "CCONJ")
        ),
        lambda _names, _row: _word("etc.", "NOUN", "FW", "Abbr=Yes|Number=Plur"),
        spaced=True,
    ),
    _Rule(
        15,
        lambda rows, i: (
            rows[i][_FORM].lower() in ("am", "pm", "p.m.", "a.m.")
            and rows[i][_UPOS] == "NOUN"
            and i + 1 < len(rows)
        ),
        lambda names, _: _word(names.one_of("a.m. p.m."), "NOUN", "NN", "Number=Sing"),
        spaced=True,
    ),
    _Rule(
        25,
        lambda rows, i: rows[i][_FORM] in _MEASURES.split() and _is_digits(_form(rows, i - 1)),
        lambda names, _: _word(
            names.one_of(_UNITS),
            "NOUN",
            *names.random.choice((("NN", "Number=Sing"), ("NNS", "Number=Plur"))),
        ),
    ),
    _Rule(
        15,
        lambda rows, i: rows[i][_FORM] == "$" and _tag(rows, i + 1) == "NUM",
        lambda names, _: _word(names.one_of("€ € € £ £ £ ¥"), "SYM", "$"),
    ),
    _Rule(
        15,
        lambda rows, i: (
            _is_digits(rows[i][_FORM])
            and rows[i][_XPOS] == "CD"
            and _tag(rows, i - 1) in ("NOUN", "PROPN")
            and _tag(rows, i + 1) not in ("PROPN", "NOUN")
        ),
        lambda names, _: _word(names.version(), "NUM", "CD", "NumForm=Digit|NumType=Card"),
    ),
    _Rule(
        60,
        lambda rows, i: (
            rows[i][_FORM].isdecimal()
            and len(rows[i][_FORM]) == 4
            and _tag(rows, i - 1) in ("ADP", "PUNCT", "VERB", "AUX")
            and _tag(rows, i + 1) in ("PUNCT", "ADP", "CCONJ", "")
        ),
        lambda names, _: _word(names.date(), "NUM", "CD", "NumForm=Digit|NumType=Card"),
    ),
    _Rule(
        10,
        lambda rows, i: (
            rows[i][_UPOS] == "SYM" and rows[i][_XPOS] == "NFP" and len(rows[i][_FORM]) < 5
        ),
        lambda names, _: _word(names.one_of(_EMOTICONS), "SYM", "NFP"),
    ),
    _Rule(15, _ends, lambda names, _: _word(names.one_of(_EMOTICONS), "SYM", "NFP"), spaced=True),
    _Rule(10, _ends, lambda names, _: _address(names.hashtag()), spaced=True),
    _Rule(7, _follows("in", "of", "at", "with", "for"), lambda names, _: _address(names.hashtag())),
    _Rule(
        15,
        lambda rows, i: _is_name_alone(rows, i) and i > 0,
        lambda names, _: _address(names.handle()),
    ),
    _Rule(7, lambda rows, i: rows[i][_XPOS] == "ADD", lambda names, _: _address(names.url())),
    _Rule(
        30, _follows("on", "at", "from", "to", "in", "of"), lambda names, _: _address(names.url())
    ),
    _Rule(
        10,
        lambda rows, i: (
            _form(rows, i - 1) == "(" and _form(rows, i + 1) == ")" and rows[i][_UPOS] != "NUM"
        ),
        lambda names, _: _address(names.random.choice((names.url, names.url, names.email))()),
    ),
    _Rule(15, _follows("to", "from", "with", "by", "at"), lambda names, _: _address(names.email())),
    _Rule(
        17,
        lambda rows, i: (
            re.fullmatch(r"\S+\.(doc|xls|pdf)", rows[i][_FORM], re.IGNORECASE) is not None
            and rows[i][_UPOS] == "NOUN"
        ),
        lambda names, _: _word(names.file(), "NOUN", "NN", "Number=Sing"),
    ),
    _Rule(
        20,
        lambda rows, i: (
            _is_name_alone(rows, i) and _tag(rows, i - 1) in ("ADP", "VERB", "CCONJ", "AUX")
        ),
        lambda names, _: _word(names.file(), "NOUN", "NN", "Number=Sing"),
    ),
    _Rule(
        20,
        lambda rows, i: (
            rows[i][_FORM]
            in (
                "file",
                "document",
                "report",
                "letter",
                "message",
                "list",
                "book",
                "article",
                "attachment",
                "program",
                "agreement",
            )
        ),
        lambda names, _: _word(names.file(), "NOUN", "NN", "Number=Sing"),
    ),
)


def _sentences(lines: Iterable[str]) -> Iterator[list[Row]]:
    """Yield the words of the sentences without ranges and empty words, with a final mark."""
    rows: list[Row] = []
    for line in lines:
        if line.strip():
            if not line.startswith("#"):
                rows.append(line.rstrip("\n").split("\t"))
        else:
            if rows and all(row[0].isdecimal() for row in rows) and rows[-1][_UPOS] == "PUNCT":
                yield rows
            rows = []


def enriched(lines: Sequence[str], seed: int = 1) -> str:
    """Return CoNLL-U of copies of sentences in which one or two words are replaced.

    Parameters
    ----------
    lines
        Those of a file in CoNLL-U.
    seed
        Of all draws.
    """
    random = Random(seed)
    sentences = [rows for rows in _sentences(lines) if 4 <= len(rows) <= 40]
    forms = {row[_FORM] for rows in sentences for row in rows}
    words = [f for f in forms if f.isascii() and f.isalpha() and f.islower() and 3 <= len(f) <= 9]
    names = _Names(sorted(words), random)
    made: list[list[Row]] = []
    for part in (1, _AGAIN):
        pool, once = made or sentences, []
        for rule in _RULES:
            places = [(rows, i) for rows in pool for i in range(len(rows)) if rule.fits(rows, i)]
            for _ in range(min(round(part * rule.copies), _SAME * len(places))):
                rows, i = random.choice(places)
                word = rule.write(names, rows[i])
                if not (word[0].endswith(".") and _form(rows, i + 1) == "."):  # one is both
                    once.append(_with(rows, i, word, rule))
        made += once
    made += _with_other_marks(sentences, random)
    random.shuffle(made)
    return "".join("".join("\t".join(row) + "\n" for row in rows) + "\n" for rows in made)


def _with_other_marks(sentences: Sequence[list[Row]], random: Random) -> list[list[Row]]:
    """Return copies of sentences with other quotation marks, dashes, and ellipses."""
    opens, closes = ({"``"}, {"''"})
    quoted = [
        rows for rows in sentences if [r[_XPOS] in opens | closes for r in rows].count(True) == 2
    ]
    dashed = [
        rows
        for rows in sentences
        if any(r[_FORM] in _DASHES.split() and r[_XPOS] in ",:" for r in rows)
    ]
    dotted = [rows for rows in sentences if any(r[_FORM] == "..." for r in rows)]
    made = []
    for pool, copies in ((quoted, 60), (dashed, 80), (dotted, 30)):
        for rows in random.sample(pool, min(copies, len(pool))):
            copy = [[*row] for row in rows]
            first, last = random.choice(_QUOTES.split()).split("_")
            dash, spaced = random.choice(("–", "—", "—")), random.choice((True, False, False))
            for i, row in enumerate(copy):
                if row[_XPOS] in opens | closes:
                    row[_FORM] = row[_LEMMA] = first if row[_XPOS] in opens else last
                elif row[_FORM] == "...":
                    row[_FORM] = "…"
                elif row[_FORM] in _DASHES.split() and row[_XPOS] in ",:" and i:
                    row[_FORM] = row[_LEMMA] = dash
                    row[_MISC] = copy[i - 1][_MISC] = "_" if spaced else "SpaceAfter=No"
            copy[-1][_MISC] = "_"
            made.append(copy)
    return made


def _with(rows: Sequence[Row], i: int, word: Word, rule: _Rule) -> list[Row]:
    """Return a copy of a sentence with the word of a rule."""
    copy = [[*row] for row in rows]
    if rule.before:
        copy.insert(i, [*rows[i][:_MISC], "_"])
        for number, row in enumerate(copy[i:], i + 1):
            row[0] = str(number)
    copy[i][_FORM : _FEATS + 1] = word
    if rule.spaced and i:
        copy[i - 1][_MISC] = "_"
    if rule.spaced and _tag(copy, i + 1) != "PUNCT":
        copy[i][_MISC] = "_"
    copy[-1][_MISC] = "_"  # another sentence follows
    return copy
