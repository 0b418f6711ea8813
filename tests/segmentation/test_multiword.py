"""Multiword tokens: scripts, columns of characters, and the splitter on made-up languages."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus import sentence_of
from seqtag.engine.arrays import pointers
from seqtag.errors import ModelFileError
from seqtag.features.language import load, parse
from seqtag.labels.coding import LabelCoding
from seqtag.labels.column import LabelColumn
from seqtag.model import bundle
from seqtag.segmentation import multiword
from seqtag.segmentation.multiword import (
    COLUMNS,
    TAGGED,
    SplitScript,
    Splitter,
    script_of,
    words_of,
)
from seqtag.settings import Settings
from seqtag.training.problem import build_problem
from seqtag.training.runs import Schedule, fit
from seqtag.training.task import Task
from seqtag.training.train import train
from tests.strategies import REFERENCE, install
from tests.treebanks import examples_of_words, treebank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.model.model import Model
    from seqtag.segmentation.multiword import Words


def learned(*sentences: str, templates: str | None = None) -> Model:
    """A model of the multiword tokens of a made-up treebank."""
    template_set = parse(templates) if templates else load("multiword")
    columns = template_set.compile(COLUMNS).columns
    examples = examples_of_words(treebank(*sentences), columns)
    settings = Settings().with_values(template_set.settings)
    column = LabelColumn("words")
    task = Task(column, template_set, settings, COLUMNS, coding=LabelCoding())
    return fit(build_problem(task, examples), Schedule(1, 1, None, 1, None))


def split_tokens(splitter: Splitter, *sentences: Sequence[str]) -> dict[int, Words]:
    """The words of the multiword tokens of some sentences."""
    tokens = [*chain(*sentences)]
    ptr = pointers([len(token) + 1 for token in tokens])
    text = "".join(f"{token} " for token in tokens)
    return splitter.split(text, ptr[:-1], ptr[1:] - 1, pointers(map(len, sentences))[1:])


def split(model: Model, text: str) -> str:
    """The words of a sentence, those of multiword tokens joined by +."""
    tokens = text.split()
    found = split_tokens(Splitter(model), tokens)
    return " ".join("+".join(found.get(i, (token,))) for i, token in enumerate(tokens))


GERMAN = [
    "Ich bin im=in+dem Haus",
    "Im=In+dem Haus bin ich zum=zu+dem Essen",
    "am=an+dem Abend zur=zu+der Ruhe",
    "das ist der Hut vom=von+dem Onkel",
    "warum ist er dumm",
]
ENGLISH = [
    "I do=do n't go",
    "they don't=do+n't see it",
    "she isn't=is+n't here",
    "we can't=ca+n't go",
    "he won't=wo+n't",
    "the ant and the tent went on",
]
TURKISH = [
    "evdeki=evde+ki kedi",
    "bahçedeki=bahçede+ki ağaç",
    "sokaktaki=sokakta+ki adam",
    "odadaki=odada+ki masa",
    "denizdeki=denizde+ki gemi",
    "evde kedi var sokakta adam",
    "belki eski yedek ekip",
]
ARABIC = [
    "وكتاب=و+كتاب",
    "ورجل=و+رجل",
    "وبيت=و+بيت",
    "وقلم=و+قلم",
    "كتاب رجل بيت قلم",
    "للبيت=ل+البيت للرجل=ل+الرجل للقلم=ل+القلم",
    "البيت الرجل القلم",
]
FRENCH = [
    "le chat du=de+le voisin",
    "il va au=à+le bois",
    "Aux=À+les armes",
    "il va aux=à+les bois",
    *["le fils des=de+les voisins", "il parle des=de+les chats", "le goût des=de+les pommes"] * 2,
    *["il mange des pommes", "je vois des chats", "il a des voisins"] * 2,
]


# ----------------------------------------------------------------- scripts
@given(st.text("=|^_\\abA", max_size=8))
def test_scripts_are_read_as_they_are_written(label):
    script = SplitScript.read(label)
    assert SplitScript.read(str(script)) == script


@pytest.mark.parametrize(
    ("token", "scripts", "words"),
    [
        ("du", ["=", "e|le"], ("de", "le")),
        ("Du", ["=", "e|le"], ("De", "le")),
        ("DU", ["=", "e|le"], ("DE", "LE")),
        ("Au", ["à", "|le"], ("À", "le")),
        ("A", ["à|le"], ("À", "le")),
        ("Dunno", ["=", "=|", "=|", "=", "="], ("Du", "n", "no")),
        ("Ab", ["^x|y", "="], ("x", "yb")),
        ("ab", [r"\=\|\^\_\\", "_"], (r"=|^_\ "[:-1],)),
        ("ß", ["=|ß"], ("ß", "ß")),
        ("abc", ["|", "=||", "="], ("b", "c")),
        ("ab", ["_", "_"], ()),
        ("ab", ["=|", "=|"], ("a", "b")),
        ("o\u0308x", ["=|", "="], ("o\u0308", "x")),
    ],
)
def test_what_scripts_write(token, scripts, words):
    assert words_of(token, scripts) == words


@given(st.text("=|_\\@a", max_size=6), st.text("=|_\\@A", max_size=4))
def test_labels_have_a_script_and_a_tag(text, tag):
    script = str(SplitScript.read(text))
    assert script_of(script) == script
    assert script_of(script + TAGGED + tag) == script


# ----------------------------------------------------------------- made-up languages
@pytest.mark.parametrize(
    ("sentences", "text", "expected"),
    [
        (GERMAN, "Im Haus im Hut", "In+dem Haus in+dem Hut"),
        (GERMAN, "IM HAUS ZUR RUHE", "IN+DEM HAUS ZU+DER RUHE"),
        (GERMAN, "Ist es dumm", "Ist es dumm"),
        (ENGLISH, "I DON'T see", "I DO+N'T see"),
        (ENGLISH, "we can’t and don’t", "we ca+n’t and do+n’t"),
        (ENGLISH, "he doesn't and hasn't", "he does+n't and has+n't"),
        (TURKISH, "gemideki kedi", "gemide+ki kedi"),
        (TURKISH, "Masadaki eski ağaç", "Masada+ki eski ağaç"),
        (ARABIC, "وباب", "و+باب"),
        (ARABIC, "وكتاب رجل للبيت", "و+كتاب رجل ل+البيت"),
        (FRENCH, "le lit du chat", "le lit de+le chat"),
        (FRENCH, "AU voisin Du", "À+LE voisin De+le"),
        (FRENCH, "je mange des chats", "je mange des chats"),
        (FRENCH, "le fils des chats", "le fils de+les chats"),
    ],
)
def test_splits_made_up_languages(sentences, text, expected):
    assert split(learned(*sentences), text) == expected


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_composed_and_decomposed_tokens_are_split_the_same(form):
    model = learned(*(normalize(form, line) for line in TURKISH))
    for text, expected in (
        ("bahçedeki ağaç", "bahçede+ki ağaç"),
        ("köyümdeki ağaç", "köyümde+ki ağaç"),
    ):
        for other in ("NFC", "NFD"):
            assert split(model, normalize(other, text)) == normalize(other, expected)


def test_reference_backend_splits_the_same(monkeypatch):
    model = learned(*FRENCH)
    text = "le fils des voisins va aux bois il mange des pommes du voisin"
    found = split(model, text)
    install(REFERENCE, monkeypatch)
    assert split(model, text) == found
    assert bundle.to_bytes([learned(*FRENCH)]) == bundle.to_bytes([model])


# ----------------------------------------------------------------- the splitter
def test_many_sentences_at_once_are_split_as_each_alone():
    model = learned(*FRENCH)
    sentences = [line.split() for line in ("le goût des chats", "", "du bois", "il mange des bois")]
    splitter = Splitter(model)
    at_once = split_tokens(splitter, *sentences)
    alone = [split_tokens(Splitter(model), each) for each in sentences]
    assert alone == [{2: ("de", "les")}, {}, {0: ("de", "le")}, {}]
    assert at_once == {2: ("de", "les"), 4: ("de", "le")}
    assert split_tokens(splitter, *sentences) == at_once
    assert split_tokens(splitter) == {}


@pytest.mark.parametrize(
    ("column", "tokens"), [("after", ["so ab on", "so ab"]), ("before", ["on ab so", "ab so"])]
)
def test_neighbors_are_those_of_the_sentence(column, tokens):
    with_on, alone = tokens
    model = learned(
        with_on.replace("ab", "ab=a+b"), alone, templates=f"form[0] + {column}[0] + char[0]"
    )
    in_order = [each.split() for each in ["on", alone, "on"]]
    assert split_tokens(Splitter(model), *in_order) == {}
    assert split(model, with_on) == with_on.replace("ab", "a+b")


def test_what_is_known_is_forgotten_when_it_is_much(monkeypatch):
    splitter = Splitter(learned(*TURKISH))
    monkeypatch.setattr(multiword, "MOST_BYTES", 0)
    monkeypatch.setattr(multiword, "_BATCH_TOKENS", 3)
    for i in range(5):
        known = splitter._known
        tokens = [f"x{i}{j}" for j in range(7)]
        assert split_tokens(splitter, [*tokens, "evdeki"]) == {7: ("evde", "ki")}
        assert splitter._known is not known


@given(st.lists(st.sampled_from(["des", "le", "fils", "", "\ud800", "du"]), max_size=9))
def test_what_is_known_does_not_change_what_is_found(french, tokens):
    model, splitter = french
    alone = split_tokens(Splitter(model), tokens)
    assert split_tokens(splitter, tokens) == alone
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multiword.backend, "TokenNumbers", None)
        assert split_tokens(Splitter(model), tokens) == alone


@pytest.fixture(scope="module")
def french():
    model = learned(*FRENCH)
    return model, Splitter(model)


def test_odd_tokens_stay_as_they_are():
    splitter = Splitter(learned(*TURKISH))
    longest = "x" * (multiword.MOST_TOKEN_CHARACTERS - 4) + "deki"
    odd = ["", "\ud800", "\0", "👩‍👩‍👧", "a b", "x" + longest, "x" * 10_000_000]
    assert split_tokens(splitter, odd) == {}
    assert split_tokens(splitter, [longest]) == {0: (longest[:-2], "ki")}


def test_templates_need_not_look_at_neighbours():
    model = learned(*FRENCH, templates="token[0] + start[0]")
    assert len(model.known_words) == 0
    assert split(model, "le chat du voisin") == "le chat de+le voisin"


def test_models_of_something_else_are_refused():
    tagger = train([sentence_of({"form": ["a"], "upos": ["X"]})], templates=parse("suffix(1)[0]"))
    assert split_tokens(Splitter(tagger.model)) == {}  # form is one of its columns
    other = sentence_of({"form": ["a"], "lemma": ["a"], "upos": ["X"]})
    model = train([other], label="upos", templates=parse("lemma[0]")).model
    with pytest.raises(
        ModelFileError,
        match=r"expected a model of multiword tokens, which looks at char, start, .*found one of "
        r"upos that looks at 'lemma'; train one with --label words",
    ):
        Splitter(model)
