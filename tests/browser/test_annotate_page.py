"""The page of ``seqtag annotate`` in a browser, by keyboard alone, with a real process behind it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import contextmanager

import pytest

from tests.annotate.test_annotate import sentences
from tests.browser.contrast import faint_text
from tests.conftest import ROOT
from tests.serve.served import server

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")

TEXTS = sentences(60)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "texts.txt").write_text("".join(f"{text}\n" for text in TEXTS))
    return tmp_path


@contextmanager
def annotating(new_page, folder, *options, labels="PER,LOC", **view):
    """The process, and a function that opens a window; they are closed before the process ends."""
    arguments = folder / "texts.txt", "--label-set", labels, *options
    with server(*arguments, command="annotate") as (process, where):
        pages = []

        def opened():
            page = new_page(origin=where, viewport={"width": 900, "height": 700}, **view)
            pages.append(page)
            page.goto(where)
            page.wait_for_selector("[role=option]")
            return page

        yield process, opened
        for page in pages:
            page.close()


def decisions(folder):
    lines = (folder / "texts.txt.annotated.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def shown(page):
    """The text that is shown, and its spans: first and last word, and label."""
    text = page.evaluate("document.getElementById('text').textContent")
    for label in ("PER", "LOC"):
        text = text.replace(label, "")
    return text


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def correct(page):
    """Give the text that is shown its spans, by keyboard alone; each span is a word."""
    words = page.locator("[role=option]").evaluate_all(
        "all => all.map(each => each.firstChild.data)"
    )
    names = {"PER": "1", "LOC": "2"}
    text = shown(page)
    spans = {text[start:end]: label for start, end, label in TEXTS[text]}
    press(page, "Home")
    for word in words:
        labels = page.locator("[aria-selected=true] .tag").all_inner_texts()
        if word in spans and labels != [spans[word]]:
            press(page, names[spans[word]])
        elif word not in spans and labels:
            press(page, "Delete")
        press(page, "ArrowRight")


def accept(page):
    before = page.inner_text("#progress")
    press(page, "Enter")
    page.wait_for_function(
        "before => document.getElementById('progress').textContent !== before", arg=before
    )


def test_twenty_texts_by_keyboard_a_kill_and_a_model(new_page, folder):
    with annotating(new_page, folder) as (process, opened):
        page = opened()
        for _ in range(10):
            correct(page)
            accept(page)
        page.close()
        process.kill()
    with annotating(new_page, folder) as (_, opened):
        page = opened()
        assert page.inner_text("#progress").startswith("10 of 60 texts decided")
        for _ in range(10):
            correct(page)
            accept(page)
        press(page, "u")  # the last one again
        page.locator("#status", has_text="Taken back").wait_for()
        assert page.inner_text("#progress").startswith("19 of 60 texts decided")
        accept(page)
        page.locator("#score", has_text="F1").wait_for()
        assert page.locator("#curve circle").count() == 1
    done = decisions(folder)
    assert len({each["text"] for each in done}) == 20
    for each in done:
        spans = [tuple(span) for span in each["spans"]]
        assert spans == TEXTS[each["text"]] and each["answer"] == "accept"
    path, model = folder / "texts.txt.annotated.jsonl", folder / "own.seqtag"
    train = [sys.executable, "-m", "seqtag", "train", "-q", path, "-o", model]
    subprocess.run(train, check=True)
    tag = [sys.executable, "-m", "seqtag", "tag", "-q", "-m", model, "--to", "tagged"]
    text = "On day 7 we met Mira in Tarn.\n"
    found = subprocess.run(tag, input=text, capture_output=True, text=True, check=True).stdout
    assert "Mira/B-PER" in found and "Tarn/B-LOC" in found


def test_ten_texts_as_the_tutorial_says(new_page, folder):
    page_of_docs = (ROOT / "docs" / "own-tagger.md").read_text("utf-8")
    [labels] = re.findall(r"^seqtag annotate logs.txt --label-set (\S+)$", page_of_docs, re.M)
    made, _, decided = re.findall(r"^\$ (.*)$", page_of_docs, re.M)[:3]
    make = f"{made}; {decided}; mv logs.txt texts.txt; mv logs.txt.annotated.jsonl tutorial.jsonl"
    subprocess.run(["sh", "-c", make], check=True, cwd=folder)
    with annotating(new_page, folder, labels=labels) as (_, opened):
        page = opened()
        for _ in range(10):
            words = page.locator("[role=option]").evaluate_all(
                "all => all.map(each => each.firstChild.data)"
            )
            press(page, "Home", *["ArrowRight"] * words.index("Lunet"), "Shift+ArrowRight", "1")
            press(page, *["ArrowRight"] * 2, "2")
            accept(page)
    shown = [json.loads(line) for line in (folder / "tutorial.jsonl").read_text().splitlines()]
    labels_of = [label for *_, label in shown[0]["spans"]]
    done = decisions(folder)
    assert [each["held_out"] for each in done] == [each["held_out"] for each in shown]
    for each in done:
        assert {*each} == {*shown[0], "meta"}
        found = [each["text"][start:end] for start, end, _ in each["spans"]]
        assert re.fullmatch(rf"On day \d+ the boat {found[0]} left {found[1]}\.", each["text"])
        assert [label for *_, label in each["spans"]] == labels_of


def test_hostile_and_other_texts(new_page, folder):
    texts = [
        "<img src=x onerror=alert(1)> \u202eabc",
        "12 كتب الولد رسالة.",
        "👩‍👩‍👧 é " * 1200 + ".",
    ]
    (folder / "texts.txt").write_text("".join(f"{text}\n" for text in texts))
    with annotating(new_page, folder) as (_, opened):
        page = opened()
        for _ in texts:
            assert page.evaluate("document.getElementById('text').textContent") in texts
            direction = page.evaluate("getComputedStyle(document.getElementById('text')).direction")
            press(page, "Home", "ArrowLeft" if direction == "rtl" else "ArrowRight", "2")
            assert page.locator("#w1 .tag").inner_text() == "LOC"
            accept(page)
        assert page.locator("#done").is_visible() and page.inner_text("#source") == ""
        assert page.locator("#accept").is_disabled()
        press(page, "u")
        page.locator("#text").wait_for()
        accept(page)
    for each in decisions(folder):
        [span] = each["spans"]
        assert 0 < span[0] < span[1] <= len(each["text"])


NAMELESS = """() => [...document.querySelectorAll("button, a, input, [tabindex], [role=option], svg")]
  .filter((each) => each.checkVisibility())
  .filter((each) => !(each.getAttribute("aria-label") || each.textContent).trim())
  .map((each) => each.outerHTML.slice(0, 120))"""


def nameless(page):
    """Controls and pictures without a name for screen readers."""
    return page.evaluate(NAMELESS)


def test_tab_goes_through_the_text_and_then_all_buttons(new_page, folder):
    with annotating(new_page, folder, "-m", "en") as (_, opened):
        page = opened()
        stops = page.locator("#text .doubtful, #text .tag").count()
        assert stops > 1  # the model labels the first text too
        seen = []
        while "" not in seen and len(seen) < 40:
            press(page, "Tab")
            seen.append(
                page.evaluate(
                    "(({ id, textContent }) => id || textContent)(document.activeElement)"
                )
            )
            if seen[-1] == "LOC 2":
                break
    assert set(seen[: seen.index("accept")]) == {"text"}
    assert seen[seen.index("accept") :] == ["accept", "remove", "ignore", "PER 1", "LOC 2"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(new_page, folder, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    with annotating(new_page, folder, color_scheme=scheme) as (_, opened):
        page = opened()
        for _ in range(6):
            press(page, "1", "ArrowRight", "2")
            accept(page)
        page.locator("#curve").wait_for()
        found = axe.Axe().run(page).response["violations"]
    assert [(each["id"], each["impact"], each["nodes"][0]["html"]) for each in found] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1200])
def test_screens(new_page, folder, scheme, width):
    with annotating(new_page, folder, "-m", "en", color_scheme=scheme) as (_, opened):
        page = opened()
        page.set_viewport_size({"width": width, "height": 700})
        press(page, "1", "ArrowRight", "2")
        assert faint_text(page) == {} and nameless(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
