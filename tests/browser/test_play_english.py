"""docs/play/english.js: the tagger of the page is the model of `seqtag tag`."""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter
from itertools import chain

import numpy as np
import pytest
from click.testing import CliRunner

from seqtag.cli import cli
from seqtag.corpus import read
from seqtag.features.attributes import resolve
from seqtag.features.normal_forms import normal_form
from tests.browser.test_play_page import PLAY, wait_until
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


def test_labels_of_ewt_dev_are_those_of_the_command(english, built_page, corpora_dir, tmp_path):
    path = corpora_dir / "ud-english-ewt" / "en_ewt-ud-dev.conllu"
    if not path.exists():
        pytest.skip("the treebank is not here")
    built_page[1].save(tmp_path / "page.seqtag")
    command = ["tag", "-m", str(tmp_path / "page.seqtag"), str(path), "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(cli, command)
    assert result.exit_code == 0, result.output
    wanted = [sentence.column("upos") for sentence in read(tmp_path / "out", "conllu")]
    sentences = list(read(path))
    found = labels_of(english, [list(sentence.words) for sentence in sentences])
    assert found == [list(labels) for labels in wanted]
    assert len(found) > 2000
    gold = chain.from_iterable(sentence.column("upos") for sentence in sentences)
    pairs = list(zip(gold, chain.from_iterable(found), strict=True))
    assert 0.953 < sum(label == y for label, y in pairs) / len(pairs) < 0.955


def test_what_the_page_says_about_its_texts_is_true(built_page, corpora_dir):
    folder = corpora_dir / "ud-english-ewt"
    if not (folder / "en_ewt-ud-train.conllu").exists():
        pytest.skip("the treebank is not here")
    train = list(read(folder / "en_ewt-ud-train.conllu"))
    pairs = [pair for each in train for pair in zip(each.words, each.column("upos"), strict=True)]
    fish = Counter(label for word, label in pairs if word.lower() == "fish")
    assert fish == {"NOUN": 23, "PROPN": 4}
    page = (PLAY / "story.js").read_text("utf-8")
    assert "a noun 23 times, a proper noun 4 times" in page
    margins, of_mistakes = [], []
    for sentence in read(folder / "en_ewt-ud-dev.conllu"):
        found = built_page[1].tag(list(sentence.words), scores=True)
        margins += found.margins
        gold = sentence.column("upos")
        of_mistakes += [
            margin
            for margin, label, y in zip(found.margins, found.labels, gold, strict=True)
            if label != y
        ]
    close, usual = map(
        int, re.search(r"CLOSE = (\d+), USUAL = (\d+)", (PLAY / "tagger.js").read_text()).groups()
    )
    assert abs(statistics.median(margins) - usual) < 10
    assert 0.5 < np.mean(np.array(of_mistakes) < close) < 0.55  # of all words, 6%


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
