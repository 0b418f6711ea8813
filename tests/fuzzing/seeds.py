"""Where fuzzing begins: small files of ours for each target, and pieces that mean something."""

from __future__ import annotations

import ast
import bz2
import gzip
import lzma
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from seqtag.cli import COMMANDS
from seqtag.corpus import READABLE
from seqtag.features.language import preset_names, preset_text
from tests.command_line import chunks, conllu
from tests.fuzzing.good_models import good_files
from tests.tagging.test_tables import CHAINS

if TYPE_CHECKING:
    from collections.abc import Callable

_CONLLU = conllu(["the dog barks .", "a cat"])
_RANGES = "# newdoc\n# text = im Bett\n1-2\tim\t_\t_\t_\t_\t_\t_\t_\t_\n" + "".join(
    f"{n}\t{w}\t_\tX\t_\t_\t_\t_\t_\t{m}\n"
    for n, w, m in (
        ("1", "in", "_"),
        ("2", "dem", "_"),
        ("2.1", "e", "_"),
        ("3", "Bett", "SpaceAfter=No"),
    )
)
_FILES = [
    _CONLLU,
    _RANGES + "\n",
    "\ufeff# global.columns = ID FORM UPOS X:Y\n1\ta\tN\tq\n2\tb\tV\tq\n\n",
    chunks(["the dog barks .", "a cat"]),
    "-DOCSTART- -X- -X- O\n\nU.N. NNP B-NP B-ORG\nsays VBZ B-VP O\n\n",
    "a X\nb Y\n\n# Z\n  \nc X\r\n",
    "The/DT dog/NN barks/VBZ ./.\n1\\/2/CD x/Y/Z\n",
    "[ The/DT dog/NN ]\nbarks/VBZ ./.\n======\n\n[ a/DT ]\n",
    "( (S (NP-SBJ (DT a) (NN dog)) (VP (VBZ barks) (NP (-NONE- *))) (. .)))\n(S (X y))\n",
    "Raw text, here. More?\nA second line\n\n\tnew paragraph \u00a0e\u0301",
    "one sentence\ttab\nper line\n",
]
_TEMPLATES = [
    "form[0]\nlower[-1] + lower[0]  # of two\nlabel[-1]\nlabel[-2] + label[-1]\nset epochs 3\nbias\n",
    'suffix(pos, 3)[+1]\nmatch("^a+$")[0] + test(form, "\\\\d")[-2]\nlabel[-1] + %1[0]\n',
    "class(c)[0]\nclass(c)[-1] + lexicon(l)[0]\nclass(lemmas)[0] + lexicon(l)[+1]\n",
    'U00:%x[-1,0]/%x[0,1]\nU01:%m[0,0,"^.?.?"]\n*:%t[0,0,"\\u"]\nB\n# note\n',
]
_LABELS = [
    "O",
    "B-NP\nI-NP",
    "B-NP\nI-NP\nO\nB-VP\nE-VP\nS-X",
    "lower 0 3  y\nasis 1 1 a b\n=be\nTried",
    "im\n=n|de\n=\n^A\\|_\nNOUN|Case=Nom|Number=Sing\nVERB",
]
_WORD_TABLES = [
    "# seqtag table 1\n# name: c\n# words: lower0\n# absent: 9\n# classes: 3\n\nthe\t1\nman\t2\n",
    "# seqtag table 1\n# words: form\n# from: here: there\nParis\tcity\tperson\n#\tsign\n# x\ty\n",
    "\ufeffa\tb\r\n# note\n\nE\u0301\tc|d\nÉ\td\r\n",
    "# seqtag table 2\na\tb\n",
]
_REQUESTS = [
    b"Im Haus. Wer?",
    b"data=the%20man&tagger=&input=horizontal",
    b'{"text": "a b", "x": [1]}',
]
_HEADS: dict[str, Callable[[], list[bytes]]] = {
    "outputs": lambda: [
        bytes([to, chain, format, 40])
        for to in range(1, 5)
        for chain in range(len(CHAINS))
        for format in range(2)
    ],
    "evaluation": lambda: [
        bytes([scheme, *[kind, at, at + 3] * 3]) for scheme in range(5) for kind, at in _CUTS
    ],
    "layouts": lambda: [bytes([n, 0, 0, 0, n]) for n in range(100)],
    "serve": lambda: [
        bytes([path, method, kind, 7, query, 9, 0, shape, *range(shape, shape + 5)])
        for path in (0, 2, 4, 6)
        for method in (0, 3)
        for kind in range(4)
        for query in range(10)
        for shape in range(6)
    ],
    "command-line": lambda: [
        *(
            bytes([command, *model, 1, value, 0, number])
            for command in range(len(COMMANDS) + 2)
            for model in ([0], [1, 0])
            for value, number in ((0, 5), (1, 2), (2, 5), (5, 0), (6, 7))
        ),
        *(
            bytes([command, 1, 0, 1, 0, 1, option, option % 4, 25, 0])
            for command in range(len(COMMANDS))
            for option in range(2, 14, 3)
        ),
    ],
}
_CUTS = [(0, 1), (1, 2), (2, 3), (3, 6), (4, 0)]


def words_of(dictionary: Path) -> list[bytes]:
    """Pieces that mean something, of a dictionary of libFuzzer."""
    lines = dictionary.read_text("ascii").splitlines()
    return [ast.literal_eval(f"b{line}") for line in lines]


@cache
def seeds(target: str) -> list[bytes]:
    """Inputs that a target accepts."""
    files = [file.encode() for file in _FILES]
    if target == "readers":
        packed = [pack(files[0]) for pack in (gzip.compress, bz2.compress, lzma.compress)]
        named = ("auto", "columns")  # which are told the columns as well
        heads = [
            bytes([n, *columns, 0, 40])
            for n, format in enumerate(READABLE)
            for columns in ([(kind,) for kind in range(6)] if format in named else [()])
        ]
        return [head + file for head in heads for file in (*files, *packed)]
    if target == "scanner":
        fitting = [
            ((0, 40), 0),
            ((0, 40), 1),
            ((2, 40), 2),
            ((3, 40), 3),
            ((1, 2, 40), 3),
            ((1, 1, 40), 5),
        ]
        return [
            bytes([n, *head]) + files[which] for n in range(len(CHAINS)) for head, which in fitting
        ]
    if target == "text":
        return [bytes([n % 3, 40]) + file for n, file in enumerate(files)]
    if target == "models":
        return [
            bytes([n, 0, k, *range(k, k + 9)]) for n in range(len(good_files())) for k in range(12)
        ]
    if target == "model-bytes":
        return [file for file in good_files() if len(file) < 5000]
    if target in _HEADS:
        rest = {
            "outputs": files[:7],
            "evaluation": files[:2],
            "serve": _REQUESTS,
            "command-line": files[:1],
        }
        return [head + body for head in _HEADS[target]() for body in rest.get(target, [b""])]
    kinds = {"templates": _TEMPLATES, "word-tables": _WORD_TABLES}
    if target == "labels":
        return [bytes([n, n + 1]) + text.encode() for n, text in enumerate(_LABELS)]
    more = [str(preset_text(name)) for name in preset_names()] if target == "templates" else []
    return [text.encode() for text in (*kinds[target], *more)]


PIECES = {path.stem: words_of(path) for path in Path(__file__).with_name("words").glob("*.dict")}
"""Pieces for mutations to put in, of the targets."""
PIECES["text"] = [*PIECES["readers"], *PIECES["text"]]
PIECES["scanner"] = PIECES["outputs"] = PIECES["evaluation"] = PIECES["readers"]
PIECES["models"] = PIECES["layouts"] = []
