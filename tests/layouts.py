"""Column files of all layouts, made from the same sentences."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

NAMES = {
    "PER": ["Ana", "Bo", "Olga Lund"],
    "LOC": ["Rom", "New York", "Ulm"],
    "ORG": ["Acme", "UN"],
}
VERBS = ["likes", "sees", "visits", "leaves", "knows", "calls"]
OTHERS = ["today", "again", "slowly", "there", "often", "never"]
OTHERS += ["#", ",", '"', "1999", "a/b", "x_y"]

Word = tuple[str, str, str]
"""Form, part of speech, label in IOB2."""


def sentences_of(draw: random.Random, count: int) -> list[list[Word]]:
    """Sentences with names, of different lengths, that end with a full stop."""

    def name() -> list[Word]:
        kind = draw.choice([*NAMES])
        first, *rest = draw.choice(NAMES[kind]).split()
        return [(first, "NNP", f"B-{kind}"), *((word, "NNP", f"I-{kind}") for word in rest)]

    def others() -> list[Word]:
        return [(word, "RB", "O") for word in draw.sample(OTHERS, draw.randint(1, 3))]

    return [
        [*name(), (draw.choice(VERBS), "VBZ", "O"), *others(), *name(), *others(), (".", ".", "O")]
        for _ in range(count)
    ]


def prefixes(labels: list[str], begin: str, single: str, end: str) -> list[str]:
    """Labels with other prefixes for the first, a single and the last word of a chunk."""
    found = []
    for i, label in enumerate(labels):
        prefix, _, kind = label.partition("-")
        last = i + 1 == len(labels) or not labels[i + 1].startswith("I")
        if prefix == "B":
            prefix = single if last else begin
        elif prefix == "I" and last:
            prefix = end
        found.append(f"{prefix}-{kind}" if kind else prefix)
    return found


SCHEMES = {
    "iob2": lambda labels: labels,
    "iobes": lambda labels: prefixes(labels, "B", "S", "E"),
    "bilou": lambda labels: prefixes(labels, "B", "U", "L"),
}
SPELLINGS = {
    "plain": lambda label: label,
    "small": str.lower,
    "small prefix": lambda label: label[0].lower() + label[1:],
    "suffix": lambda label: "-".join(label.split("-")[::-1]),
    "underscore": lambda label: label.replace("-", "_"),
    "zero": lambda label: "0" if label == "O" else label,
    "colon": lambda label: label.replace("-", ":"),
    **{
        word: lambda label, word=word: word if label == "O" else label
        for word in ("OTHER", "NONE", "OUT", "nil", "*", "-", "_")
    },
}
SEPARATORS = ["\t", " ", ",", ";", "   ", "\t\t"]
COMMENTS = {
    "none": None,
    "key": "# sent_id = {i}",
    "doc": "# doc {i}",
    "fields": "# id x{i} domain=en",
    "glued": "#id=s{i}",
    "semicolon": "; doc {i}",
    "slashes": "// doc {i}",
    "percent": "%% doc {i}",
    "tab": "#\tpage {i}",
    "angle": "<doc id={i}>",
    "double": "## doc {i}",
    "bang": "#!doc a{i}",
    "four": "# sent_id {i} news",
    "number": "# id={i}",
    "file": "# file:\tx{i}",
    "new": "# new sentence",
    "constant": "# en news web",
}
MARKS = ["blank", "sentence", "restart", "EOS", "<s>"]
ORDERS = ["form ner", "form pos ner", "form ner pos", "id form pos ner", "pos form ner"]
HEADERS = [None, "lower", "Capital"]
TITLES = {"form": "word", "pos": "pos", "ner": "tag", "id": "id", "sentence": "sentence_id"}


@dataclass(frozen=True)
class Made:
    """A file of some layout."""

    text: str
    words: list[list[str]]
    labels: list[list[str]]


def columns_of(order: str, mark: str) -> list[str]:
    """The names of the columns, with those that mark sentences."""
    columns = order.split()
    if mark == "restart" and "id" not in columns:
        columns.insert(0, "id")
    return ["sentence", *columns] if mark == "sentence" else columns


def make(
    sentences: list[list[Word]],
    *,
    separator: str = "\t",
    comment: str = "none",
    header: str | None = None,
    mark: str = "blank",
    scheme: str = "iob2",
    spelling: str = "plain",
    order: str = "form pos ner",
    end: str = "\n",
) -> Made:
    """Return sentences as a file."""
    columns = columns_of(order, mark)

    def field_of(value: str) -> str:
        special = separator in ",;" and (separator in value or value.startswith('"'))
        return '"{}"'.format(value.replace('"', '""')) if special else value

    lines = []
    if header:
        titles = [TITLES[name] for name in columns]
        lines.append(separator.join(t.capitalize() if header == "Capital" else t for t in titles))
    words, labels = [], []
    for i, sentence in enumerate(sentences, 1):
        chunks = SCHEMES[scheme]([label for *_, label in sentence])
        if mark == "<s>":
            lines.append("<s>")
        if COMMENTS[comment]:
            lines.append(COMMENTS[comment].format(i=i))
        for j, ((form, pos, _), label) in enumerate(zip(sentence, chunks, strict=True), 1):
            values = {"form": form, "pos": pos, "ner": SPELLINGS[spelling](label)}
            values |= {"id": str(j), "sentence": str(i)}
            lines.append(separator.join(field_of(values[name]) for name in columns))
        words.append([form for form, *_ in sentence])
        labels.append(chunks)
        if mark in ("blank", "EOS"):
            lines.append("" if mark == "blank" else "EOS")
        if mark == "<s>":
            lines.append("</s>")
    return Made(end.join([*lines, ""]), words, labels)


ALL = [
    dict(
        zip(
            ("separator", "comment", "header", "mark", "scheme", "spelling", "order", "end"),
            values,
            strict=True,
        )
    )
    for values in product(
        SEPARATORS, COMMENTS, HEADERS, MARKS, SCHEMES, SPELLINGS, ORDERS, ["\n", "\r\n"]
    )
    if not (values[1] == "angle" and values[3] == "<s>")  # which of them would end sentences?
]
"""The options of `make` for every layout."""
