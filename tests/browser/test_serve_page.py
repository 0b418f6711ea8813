"""The page of ``seqtag serve`` in a browser, with a real server behind it."""

from __future__ import annotations

import pytest

import seqtag
from tests.browser.contrast import faint_text
from tests.serve.served import server

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")


@pytest.fixture(scope="module")
def address(chromium, tmp_path_factory):
    upos = tmp_path_factory.mktemp("models") / "upos.seqtag"
    seqtag.load("en").tagger("upos").save(upos)
    with server("-m", "en", "-m", str(upos)) as (_, where):
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
    assert words[0] == ["Time", "NOUN", "NN", "Number", "Sing", "time", "O"]
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
    assert page.locator(".word").first.locator(".shown").inner_text() == "NOUN"
    page.select_option("#part", "xpos")
    assert page.locator(".word").first.locator(".shown").inner_text() == "NN"
    page.select_option("#model", "upos")
    assert page.locator(".word").count() == 0
    tag(page, "Stop it.")
    assert page.locator(".word").first.inner_text().split() == ["Stop", "VERB"]


def test_the_start_explains_itself_and_has_examples(page):
    assert page.input_value("#text") == "" and page.locator("#tools").is_hidden()
    assert "labels each word" in page.inner_text("#start")
    assert faint_text(page) == {}
    page.locator("#examples button").nth(1).click()
    page.locator("#status", has_text="2 sentences").wait_for()
    assert page.locator("#start").is_hidden()


def test_multiword_tokens_have_brackets_and_features_a_table(page):
    tag(page, "It doesn't fly.")
    assert page.locator(".token .surface").all_inner_texts() == ["doesn't"]
    assert page.locator(".token .word > span").all_inner_texts() == ["does", "n't"]
    rows = page.locator(".word", has_text="does").first.locator("tr").all_inner_texts()
    assert ["Mood", "Ind"] in [row.split() for row in rows]
    assert page.inner_text("#columns") == "upos, xpos, feats, lemma, misc.NER"


def test_conllu_is_copied_and_downloaded(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tag(page, "Time flies.")
    page.click("#copy")
    page.locator("#status", has_text="copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "1\tTime\ttime\tNOUN\tNN\tNumber=Sing\t" in copied
    with page.expect_download() as download:
        page.click("#download")
    assert download.value.suggested_filename == "tagged.conllu"
    assert download.value.path().read_text() == copied


def test_the_address_holds_the_text(page, new_page, address):
    tag(page, "Stop & go? 100%")
    where = page.url
    assert page.get_attribute("#permalink", "href") == where[where.index("#") :]
    other = new_page(origin=address)
    other.goto(where)
    other.locator("#status", has_text="word").wait_for()
    assert other.input_value("#text") == "Stop & go? 100%"
    assert other.locator(".word").count() == page.locator(".word").count()
    other.evaluate("location.hash = '#model=none&text=Go!'")
    other.locator("#status", has_text="1 sentence, 2 words").wait_for()
    tag(other, "x " * 5000)
    assert "#" not in other.url and other.locator("#permalink").is_hidden()


def test_arabic_runs_from_right_to_left(page):
    tag(page, "12 كتب الولد رسالة.")
    left = page.locator(".word").evaluate_all("all => all.map(e => e.getBoundingClientRect().x)")
    assert len(left) == 5 and left == sorted(left, reverse=True)


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
    assert faint_text(page) == {}
