"""seqtag.report: what the report holds, and that nothing a corpus holds can run in it."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import seqtag
from seqtag.corpus import sentence_of
from seqtag.evaluation.counts import Counts
from seqtag.evaluation.systems import taggers_of
from seqtag.labels.column import LabelColumn
from seqtag.model.calibration import Calibration
from seqtag.report.analysis import analyze
from seqtag.report.page import explanation_data, report_page
from tests.command_line import home

EVIL = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"&'<!--",
    "\u2028",
    "{{ 7*7 }}",
    "{% raw %}",
    "]]>",
]
VOID = {"meta", "br"}


class Reader(HTMLParser):
    """The elements of a page and its data."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.text, self.texts = [], {}, set()
        self._open, self._within = None, []
        self.feed(page)
        assert self._within == [], "elements without end"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._open = (tag, dict(attrs).get("id"))
        if tag not in VOID:
            self._within.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text[self._open] = self.text.get(self._open, "") + data
        self.texts.add(data)

    def handle_endtag(self, tag):
        assert self._within.pop() == tag, f"</{tag}> at {self.getpos()}"
        self._open = None

    @property
    def data(self):
        return json.loads(self.text["script", "data"])

    @property
    def upos(self):
        return self.data["components"]["upos"]

    def cells(self):
        """Whether the button of each pair of labels in the matrix works."""
        return {
            (attrs["data-gold"], attrs["data-predicted"]): "disabled" not in attrs
            for tag, attrs in self.elements
            if tag == "button" and "aria-label" in attrs
        }


def sentences(*pairs):
    return [
        sentence_of({"form": [w for w, _ in s], "upos": [u for _, u in s]}, source="x", line=i)
        for i, s in enumerate(pairs, 1)
    ]


@pytest.fixture(scope="module")
def tagger(home):
    return seqtag.load(home / "upos.seqtag")


def report_of(tagger, data, **more):
    found = analyze([tagger], data, LabelColumn("upos"), **more)
    return found, report_page([found], model="m/odel", gold="folder/gold.conllu")


def test_what_is_shown(tagger):
    data = sentences(
        [("the", "DET"), ("dog", "NOUN"), ("barks", "NOUN")],
        [("a", "DET"), ("cat", "VERB"), (".", "PUNCT")],
        [("the", "DET"), ("zebra", "NOUN")],
    )
    found, page = report_of(tagger, data)
    assert found.wrong == len(found.mistakes) == 2 + (found.predicted[2] != ["DET", "NOUN"])
    read = Reader(page)
    assert "<title>upos of odel on gold.conllu</title>" in page and "folder/" not in page
    assert f"<b>{100 * found.report.accuracy:.2f}</b>" in page
    assert "not in the training data" in page
    assert read.cells()["NOUN", "VERB"] and read.cells()["VERB", "NOUN"]
    error = next(each for each in read.upos["errors"] if each["gold"] == "VERB")
    assert read.data["sentences"][error["sentence"]]["words"][error["token"]] == "cat"
    assert error["why"]["label"] == "NOUN" and error["why"]["rival"] == "VERB"
    rows, (_, a, b) = error["why"]["rows"], error["why"]["rest"]
    assert sum(x - y for _, x, y in rows) + a - b == error["why"]["margin"] > 0
    assert read.upos["totals"].count(["VERB", "NOUN", 1]) == 1


def test_nothing_wrong_and_nothing_at_all(tagger):
    _, page = report_of(tagger, sentences([("the", "DET"), ("dog", "NOUN")]))
    assert "<h3>Errors</h3><p>There are none.</p>" in page
    _, page = report_of(tagger, [])
    assert "There are none" in page and "Confidence" not in page


@pytest.mark.parametrize("word", EVIL)
def test_everything_is_escaped(tagger, word):
    """Words, labels, types of chunks, components, and names of files and models are text."""
    data = [sentence_of({"form": [word, "the"], "upos": [word, "X"]}, source=word)]
    found = analyze([tagger], data, LabelColumn("upos"))
    chunk = Counts(1, 1, 1)
    labels = replace(found.report, task=word, scheme=word, chunk_types={word: chunk})
    page = report_page(
        [found, replace(found, report=labels)],
        model=f"folder/{word}",
        gold=word,
    )
    read = Reader(page)
    name = Path(word).name
    assert {f"{name} on {name}", word, f"Chunks ({word})"} <= read.texts
    assert word in {gold for gold, _ in read.cells()}
    assert read.data["sentences"][0]["words"][0] == word and word in read.data["components"]
    plain = Reader(report_page([], model="m", gold="g"))
    assert [tag for tag, _ in read.elements].count("script") == 2
    assert not {"img"} & {tag for tag, _ in read.elements}
    for tag in ("style", "script"):
        assert read.text[tag, None] == plain.text[tag, None]


def test_lone_surrogates_are_replaced(tagger):
    _, page = report_of(tagger, sentences([("\ud800", "\ud800")]))
    assert Reader(page).data["sentences"][0]["words"] == ["?"]
    assert page.encode()


def test_the_policy_allows_the_script_and_the_style_alone(tagger):
    _, page = report_of(tagger, sentences([("a", "X")]))
    read = Reader(page)
    policy = next(a["content"] for _, a in read.elements if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(read.text[tag, None].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert not [a for _, a in read.elements if {"style", "src", "href", "onclick"} & {*a}]
    assert "http://" not in page and "https://" not in page


def test_errors_are_left_out_evenly_and_it_says_so(tagger):
    many = [("dog", "X"), ("the", "Y"), ("sees", "Z")]
    data = sentences(*([each] for each in many * 20))
    found, page = report_of(tagger, data, errors=5)
    golds = [each.gold for each in found.mistakes]
    assert len(golds) == 5 and min(map(golds.count, "XYZ")) == 1
    assert "5 of 60 errors are on this page" in page
    _, page = report_of(tagger, data, errors=2)
    assert sorted(Reader(page).cells().values()) == [False, True, True]
    found, _ = report_of(tagger, [*data, data[1]], errors=1)
    assert [each.gold for each in found.mistakes] == ["Y"]  # of the most frequent confusion
    _, page = report_of(tagger, data, errors=0)
    assert not any(Reader(page).cells().values())
    assert Reader(page).data == {
        "sentences": [],
        "components": {"upos": {"labels": {}, "errors": [], "totals": []}},
    }


def test_a_large_corpus_makes_no_large_page(tagger, monkeypatch):
    data = sentences(*([("dog", "X"), *[("the", "DET")] * n] for n in (50, 3, 50)))
    monkeypatch.setattr("seqtag.report.analysis._SHOWN_TOKENS", 60)
    found, page = report_of(tagger, data)
    assert [each.sentence for each in found.mistakes] == [0, 1]
    assert "2 of 3 errors are on this page" in page


def test_many_labels_are_drawn_together(tagger):
    long = "x" * 500
    data = sentences(*([("dog", f"L{i:02}")] * (1 + i) for i in range(60)), [("dog", long)])
    _, page = report_of(tagger, data, errors=10)  # explaining all 1,831 takes long
    labels = 62  # those, the long one, and what was predicted
    assert f"<i>{labels - 24} others</i>" in page
    assert len(re.findall('<th scope="col"[^>]*><span>', page)) == 25
    assert f"and {labels - 1 - 30} more confusions" in page
    assert "x" * 79 + "…" in page


def test_chunks(home):
    path = home / "train.txt"
    tagger = seqtag.load(home / "chunk.seqtag")
    found = analyze([tagger], seqtag.read(path), LabelColumn("chunk"))
    page = report_page([found], model="m", gold="g")
    assert "Chunks (iob2)" in Reader(page).texts and "chunk F1" in page


def test_calibrated_scores(tagger):
    model = replace(tagger.model, calibration=Calibration((0.0, 9.0), (0.5, 0.9), 9))
    data = sentences([("the", "DET"), ("dog", "X")])
    found, page = report_of(seqtag.Tagger(model), data)
    assert found.calibration.tokens == found.margins.tokens == 2
    assert sum(each.tokens * each.accuracy for each in found.calibration.bins) == 1
    assert "off on average" in page and "--calibrate" not in page


def test_scores_come_first_and_signatures_last(tagger):
    _, page = report_of(tagger, sentences([("the", "DET"), ("dog", "X")]))
    places = [page.index(each) for each in ('class="cards"', "Confusions", "task:upos|")]
    assert places == sorted(places) and page.index("<footer") < places[-1]


def test_all_components_on_one_page(home):
    pipeline = seqtag.load("en")
    path = home / "train.conllu"
    gold = list(seqtag.read(path))
    found = [
        analyze(taggers_of(pipeline, name, "en"), gold, LabelColumn(name))
        for name in ("upos", "xpos")
    ]
    page = report_page(found, model="en", gold="g")
    read = Reader(page)
    links = [attrs["href"] for tag, attrs in read.elements if tag == "a"]
    assert links == ["#component-1", "#component-2"]
    assert {link[1:] for link in links} <= {attrs.get("id") for _, attrs in read.elements}
    assert {*read.data["components"]} == {"upos", "xpos"}
    for analysis in found:
        component = read.data["components"][analysis.report.task]
        for error, mistake in zip(component["errors"], analysis.mistakes, strict=True):
            golds, _ = component["labels"][str(error["sentence"])]
            words = read.data["sentences"][error["sentence"]]["words"]
            assert golds[error["token"]] == mistake.gold and len(words) == len(golds)


def test_words_without_a_gold_lemma_are_no_mistakes():
    data = [sentence_of({"form": ["Dogs", "barked"], "lemma": ["_", "barks"]}, source="x")]
    found = analyze(taggers_of(seqtag.load("en"), "lemma", "en"), data, LabelColumn("lemma"))
    assert [each.gold for each in found.mistakes] == ["barks"]
    assert (found.wrong, found.margins.tokens) == (1, 1)
    page = report_page([found], model="en", gold="g")
    assert Reader(page).data["components"]["lemma"]["totals"] == [["barks", "bark", 1]]


# ----------------------------------------------------------------- parts
def test_an_explanation_is_cut_short():
    row = {"template": "t", "feature": "f" * 999, "label_weight": 2, "rival_weight": 1}
    given = {"label": "a", "rival": None, "written_rival": None, "margin": None, "rows": [row] * 5}
    found = explanation_data(given, 3)
    assert (len(found["rows"]), found["rest"]) == (3, [2, 4, 2])
    assert len(found["rows"][0][0]) == 160
