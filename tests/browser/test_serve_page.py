"""The page of ``seqtag serve`` in a browser, with a real server behind it."""

from __future__ import annotations

import pytest

from tests.serve.served import server

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")


@pytest.fixture(scope="module")
def address(chromium):
    with server("-m", "en", "-m", "en-ewt-upos") as (_, where):
        yield where


@pytest.fixture
def page(new_page, address):
    page = new_page(origin=address, viewport={"width": 900, "height": 800})
    page.goto(address)
    page.wait_for_selector("#part option", state="attached")
    return page


def tag(page, text):
    page.fill("#text", text)
    page.press("#text", "Control+Enter")
    page.locator("#status", has_text="word").wait_for()


def test_a_text_and_a_word(page):
    tag(page, "Time flies. It doesn't!")
    assert page.inner_text("#status") == "2 sentences, 7 words"
    assert page.locator(".sentence").count() == 2
    words = [text.split() for text in page.locator(".word").all_inner_texts()]
    assert words[0] == ["Time", "NOUN", "time"]
    assert [word[0] for word in words[3:]] == ["It", "does", "n't", "!"]
    page.locator(".word").first.click()
    page.wait_for_selector("#details:not([hidden])")
    details = page.inner_text("#details")
    assert "Number=Sing" in details and "Why upos NOUN?" in details
    assert "NOUN rather than" in details and "The 5 best label sequences" in details
    assert page.locator(".nbest tr").count() == 5
    page.keyboard.press("Escape")
    assert page.locator("#details").is_hidden()
    assert page.evaluate("document.activeElement.textContent").startswith("Time")


def test_other_parts_and_models(page):
    tag(page, "Time flies.")
    page.select_option("#part", "xpos")
    assert page.locator(".word").first.inner_text().split() == ["Time", "NN", "time"]
    page.select_option("#model", "en-ewt-upos")
    assert page.locator(".word").count() == 0
    tag(page, "Stop it.")
    assert page.locator(".word").first.inner_text().split() == ["Stop", "VERB"]


def test_hostile_text_is_text(page):
    text = "<img src=x onerror=alert(1)> </script><script>alert(1)</script> \u202eabc"
    tag(page, text)
    shown = "".join(page.locator(".word > span").all_inner_texts())
    assert "onerror" in shown and page.locator("#sentences img").count() == 0
    page.locator(".word").first.click()
    page.wait_for_selector("#details:not([hidden])")


def test_what_goes_wrong_is_said(page):
    broken = "fetch = async () => ({ ok: false, json: async () => ({ error: 'send less text' }) })"
    page.evaluate(broken)
    page.fill("#text", "x")
    page.click("button.main")
    page.wait_for_selector("#status.error")
    assert page.inner_text("#status") == "send less text"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1200])
def test_screens(new_page, address, scheme, width):
    page = new_page(origin=address, viewport={"width": width, "height": 700}, color_scheme=scheme)
    page.goto(address)
    page.wait_for_selector("#part option", state="attached")
    tag(page, "Supercalifragilisticexpialidocious" * 4 + " words are long.")
    page.locator(".word").first.click()
    page.wait_for_selector("#details:not([hidden])")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground = page.evaluate(
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    )
    assert (sum(ground) / 3 > 200) == (scheme == "light")
