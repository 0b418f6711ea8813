"""docs/play/english.js: the tagger of the page is the model of `seqtag tag`."""

from __future__ import annotations

import json

import pytest

from seqtag.corpus import read
from seqtag.features.attributes import resolve
from seqtag.features.normal_forms import normal_form
from tests.browser.test_play_page import wait_until
from tests.conftest import ROOT

SAMPLE = ROOT / "corpora" / "sample"
WORDS = [
    "don’t",
    "Naïve",
    "10,000",
    "McDonald's",
    "U.S.",
    "ＡＢ３",
    "£5",
    "☺",
    "x̂",
    "İstanbul",
    "ΣΟΦΟΣ",
    "ǅ",
    "한국",
    "re-use",
    "``",
    "<3",
    "½",
    "²",
    "café",
    "soft\xadly",
    "\u200b",
    "Ⅷ",
    "__init__",
    "C++",
    "...",
    "--",
    "über-cool",
    "ǳ",
]


@pytest.fixture(scope="module")
def english(chromium, built_page):
    """Evaluate an expression of the page with its model."""
    page = chromium.new_page()
    page.goto(built_page[0].as_uri() + "#tagger")
    wait_until(page, "window.englishModel")
    page.evaluate("window.opened = english.open(englishModel)")
    yield page.evaluate
    page.close()


def labels_of(english, sentences):
    code = "all => all.map((words) => opened.decode(words).y.map((k) => opened.labels[k]))"
    return english(code, sentences)


def sentences_of(path):
    return [list(sentence.words) for sentence in read(path) if len(sentence)]


def test_attributes_are_those_of_seqtag(english):
    code = "words => words.map((word) => opened.describe(word).values)"
    data = english("JSON.stringify(opened.data.attributes)")
    attributes = [(name, *args) for name, *args in json.loads(data) if name != "class"]
    for word, values in zip(WORDS, english(code, WORDS), strict=True):
        wanted = [resolve(name, args)(normal_form(word)) for name, *args in attributes]
        found = values[: len(wanted)]
        if word == "한국":  # Hangul has skeletons of its own
            wanted, found = wanted[:-3], found[:-3]
        assert found == wanted, word


def test_labels_of_the_sample_corpus_are_seqtags(english, built_page):
    sentences = [
        words
        for part in ("train", "dev", "test")
        for words in sentences_of(SAMPLE / f"en-sample-{part}.conllu")
    ]
    sentences += [[word] for word in WORDS] + [WORDS]
    assert len(sentences) > 250
    assert labels_of(english, sentences) == built_page[1].tag_many(sentences)


def test_margins_and_paths_are_those_of_all_sequences(english):
    """Of two words, all label sequences are tried."""
    code = """words => {
      const { y, score, through, margins, emission, path } = opened.decode(words), { start, stop, transition } = opened.data;
      const K = start.length, all = [];
      const of = (a, b) => start[a] + emission[0][a] + transition[a][b] + emission[1][b] + stop[b];
      for (let a = 0; a < K; a++) for (let b = 0; b < K; b++) all.push([of(a, b), a, b]);
      const best = (list) => Math.max(...list.map(([value]) => value));
      return [
        score === best(all), of(...y) === score,
        through[0].every((value, k) => value === best(all.filter(([, a]) => a === k))),
        through[1].every((value, k) => value === best(all.filter(([, , b]) => b === k))),
        through[0].every((value, k) => path(0, k)[0] === k && of(...path(0, k)) === value),
        margins[1] === score - best(all.filter(([, , b]) => b !== y[1])),
      ];
    }"""
    for words in (["The", "dog"], ["barks", "loudly"], ["zxq", "!"]):
        assert english(code, words) == [True] * 6


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("They can't fish.", "They ca n't fish ."),
        ("It’s John's $3.50, isn't it?", "It 's John 's $ 3.50 , is n't it ?"),
        ("I cannot... (really)", "I can not ... ( really )"),
        ("The U.S. re-use", "The U.S. re-use"),
        ("", ""),
    ],
)
def test_typed_sentences_become_words(english, text, words):
    assert english("text => english.tokenize(text).join(' ')", text) == words
