"""The report in a browser: mouse, keyboard, light and dark, narrow screens, hostile words."""

from __future__ import annotations

import pytest

from seqtag.corpus import sentence_of
from seqtag.labels.column import LabelColumn
from seqtag.report.analysis import analyze
from seqtag.report.page import report_page
from seqtag.training.train import train
from tests.browser.contrast import faint_text

EVIL = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"&'<!--",
    "\u2028",
    "{{ 7*7 }}",
]


def sentence(words, labels):
    return sentence_of({"form": words, "upos": labels})


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The file of a report with a few errors, among hostile words and many labels."""
    data = [sentence(["the", "dog"], ["DET", "NOUN"]), sentence(["dogs", "bark"], ["NOUN", "VERB"])]
    tagger = train(data, label="upos", epochs=3, min_count=1)
    gold = [
        sentence(["the", "dog", "barks"], ["DET", "VERB", "VERB"]),
        *(sentence([word, "dogs", "the"], [f"X{i}", "NOUN", word]) for i, word in enumerate(EVIL)),
        *(sentence(["the", "dogs"], ["DET", "VERB"]) for _ in range(30)),
    ]
    found = analyze([tagger], gold, LabelColumn("upos"))
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(report_page([found], model="m", gold="g"), encoding="utf-8")
    return path.as_uri()


def test_a_click_on_a_cell_shows_its_sentences_and_a_click_on_a_word_why(new_page, report):
    page = new_page(viewport={"width": 1200, "height": 900})
    page.goto(report)
    assert page.locator("#browser").is_hidden()
    page.click('.matrix button[data-gold="VERB"][data-predicted="NOUN"]')
    assert page.locator("#browser h3").inner_text() == "upos: gold VERB, predicted NOUN"
    assert page.locator("#errors > li").count() == 20
    page.click("text=Show more")
    assert page.locator("#errors > li").count() == 31
    assert page.locator("text=Show more").is_hidden()
    first = page.locator("#errors .target").first
    assert first.inner_text().split() == ["dog", "VERB", "NOUN"]
    why = page.locator("#errors .explanation").first
    assert why.is_hidden()
    first.click()
    assert why.is_visible() and first.get_attribute("aria-expanded") == "true"
    assert "NOUN rather than VERB: margin" in why.inner_text()
    assert "[0]=dog" in why.inner_text()
    first.click()
    assert why.is_hidden()
    page.click("text=Close")
    assert page.locator("#browser").is_hidden()


def test_the_keyboard_is_enough(new_page, report):
    page = new_page()
    page.goto(report)
    focused = "document.activeElement.dataset.gold + ' ' + document.activeElement.dataset.predicted"
    page.keyboard.press("Tab")
    start = page.evaluate(focused)
    assert page.locator(".matrix button[tabindex='0']").count() == 1
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) != start
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focused) == start
    for _ in range(50):
        page.keyboard.press("ArrowUp")  # to the edge and no further
    edge = page.evaluate(focused)
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "browser"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator("#errors .explanation").first.is_visible()
    page.keyboard.press("Escape")
    assert page.locator("#browser").is_hidden()
    assert page.evaluate(focused) == edge


def test_tables_sort(new_page, report):
    page = new_page()
    page.goto(report)
    names = "[...document.querySelector('table.sorts').tBodies[0].rows].map(r => r.cells[0].textContent)"
    before = page.evaluate(names)
    page.click("table.sorts th:first-child button")
    after = [name for name in page.evaluate(names) if name.isalpha()]
    assert after == sorted(after) != [name for name in before if name.isalpha()]
    assert page.get_attribute("table.sorts th:first-child", "aria-sort") == "ascending"
    page.click("table.sorts th:first-child button")
    assert page.get_attribute("table.sorts th:first-child", "aria-sort") == "descending"
    page.click("table.sorts th:nth-child(5) button")
    gold = page.evaluate(names.replace("cells[0]", "cells[4]"))
    assert list(map(int, gold)) == sorted(map(int, gold), reverse=True)


@pytest.mark.parametrize("width", [320, 390, 1600])
def test_no_screen_is_too_narrow(new_page, report, width):
    page = new_page(viewport={"width": width, "height": 700})
    page.goto(report)
    page.click('.matrix button[data-gold="VERB"][data-predicted="NOUN"]')
    page.locator("#errors .target").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_hostile_words_are_words(new_page, report):
    page = new_page()
    page.goto(report)
    assert page.locator("img").count() == 0
    for word in EVIL:
        button = page.locator(".matrix button").filter(visible=True)
        golds = button.evaluate_all("all => all.map(each => each.dataset.gold)")
        button.nth(golds.index(word)).click()
        assert word.split()[:1] == page.locator("#browser h3 .gold").inner_text().split()[:1]
        page.keyboard.press("Escape")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read(new_page, report, scheme):
    page = new_page(color_scheme=scheme)
    page.goto(report)
    page.click('.matrix button[data-gold="VERB"][data-predicted="NOUN"]')
    page.locator("#errors .target").first.click()
    assert page.locator(".matrix .h5").count() and page.locator(".explanation").count()
    assert faint_text(page) == {}


def test_arabic_runs_from_right_to_left(new_page, tmp_path):
    """Also in sentences that begin with a number, among Latin labels."""
    words = ["12", "كتب", "الولد", "رسالة"]
    tagger = train([sentence(words, ["NUM", "VERB", "NOUN", "NOUN"])], label="upos", epochs=2)
    gold = [sentence(words, ["NUM", "VERB", "VERB", "فعل"])]
    path = tmp_path / "page.html"
    found = analyze([tagger], gold, LabelColumn("upos"))
    path.write_text(report_page([found], model="m", gold="g"), encoding="utf-8")
    page = new_page()
    page.goto(path.as_uri())
    page.click('.matrix button[data-gold="VERB"][data-predicted="NOUN"]')
    shown = page.locator(".sentence > *")
    left = shown.evaluate_all("all => all.map(each => each.getBoundingClientRect().x)")
    assert left == sorted(left, reverse=True)
    assert page.locator("html").get_attribute("lang") == "en"
