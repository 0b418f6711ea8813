"""docs/play/index.html: everybody can use it."""

from __future__ import annotations

import re

import pytest

from seqtag.report.page import asset
from tests.conftest import ROOT

PLAY = ROOT / "docs" / "play"
PAGE = PLAY / "index.html"


def wait_until(page, code):
    """Wait until code is true; the page does not allow `wait_for_function`, which needs `eval`."""
    for _ in range(600):
        if page.evaluate(code):
            return
        page.wait_for_timeout(50)
    raise AssertionError(code)


def open_page(page, where="#plane"):
    """Open the page with all settings unfolded."""
    page.goto(PAGE.as_uri() + where)
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")


@pytest.fixture
def page(new_page):
    page = new_page(viewport={"width": 1280, "height": 900})
    open_page(page)
    return page


def state(page):
    """All that the page shows and keeps: what stands in it, its fields and its address."""
    return page.evaluate(
        """() => [document.querySelector("main").innerText, location.hash,
            ["marks", "regions", "lines", "trellis", "strip", "three-marks", "three-regions"].map((id) => document.getElementById(id).innerHTML),
            [...document.querySelectorAll("input, select")].map((field) => [field.value, field.checked, field.className])]"""
    )


def put(page, p, q):
    """Click where the point (p, q) is."""
    page.locator("#plot").scroll_into_view_if_needed()
    box = page.locator("#plot").bounding_box()
    unit = 40 / 680 * box["width"]
    page.mouse.click(
        box["x"] + box["width"] / 2 + p * unit, box["y"] + box["height"] / 2 - q * unit
    )


def address(page):
    """Where the page is, as it says itself: what the driver has heard of it may be behind."""
    return page.evaluate("location.href")


def points(page):
    return re.search("points=([^&]*)", address(page))[1]


def test_clicks_put_change_and_erase_points(page):
    page.click("#clear")
    assert points(page) == ""
    put(page, 2, 4)
    page.check('input[name="tool"][value="-1"]', force=True)
    put(page, -6, 1)
    put(page, 3, 0)
    assert points(page) == "2,4p-6,1m3,0m"
    put(page, 2, 4)
    assert points(page) == "2,4m-6,1m3,0m"
    page.check('input[name="tool"][value="0"]', force=True)
    put(page, 3, 0)
    put(page, 5, 5)
    assert points(page) == "2,4m-6,1m"
    assert page.inner_text("#said") == "No point at (5, 5)"
    assert page.locator("#marks .point.minus").count() == 2
    assert page.locator("#preset").input_value() == "own"


def test_the_keyboard_is_enough_in_the_plane(page):
    page.click("#clear")
    page.focus("#plot")
    assert (
        page.locator("#plot .cursor").evaluate("e => getComputedStyle(e).visibility") == "visible"
    )
    assert page.locator("#plot").evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    for key in ("ArrowRight", "ArrowUp", "+", "ArrowLeft", "ArrowLeft", "-", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    assert points(page) == "1,1p-1,1m-1,0p"
    page.keyboard.press("Delete")
    assert points(page) == "1,1p-1,1m"
    page.keyboard.press("n")
    assert page.inner_text("#example h3") == "Pass 1, example 1 of 2"
    for _ in range(30):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("+")
    assert points(page) == "1,1p-1,1m-1,-8p"
    page.keyboard.press("Tab")  # out of the plane
    assert page.evaluate("document.activeElement.dataset.do") == "first"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert address(page).endswith("at=2")
    page.keyboard.press("Home")
    assert "at=" not in address(page)


@pytest.mark.parametrize("part", ["plane", "three", "update", "lattice"])
def test_stepping_back_restores_the_state(page, part):
    page.emulate_media(reduced_motion="reduce")  # no boundary is still turning
    page.click(f"#open-{part}")
    seen = [state(page)]
    for _ in range({"three": 15, "update": 35}.get(part, 45)):
        page.keyboard.press("ArrowRight")
        seen.append(state(page))
    assert len({repr(each) for each in seen}) == len(seen)
    for before in reversed(seen[:-1]):
        page.keyboard.press("ArrowLeft")
        assert state(page) == before
    page.keyboard.press("ArrowLeft")  # before the beginning there is nothing
    assert state(page) == seen[0]


@pytest.mark.parametrize("part", ["plane", "lattice"])
def test_a_link_brings_the_same_state(page, new_page, part):
    page.emulate_media(reduced_motion="reduce")
    page.click(f"#open-{part}")
    if part == "plane":
        page.select_option("#preset", "circle")
        page.select_option("#decide", "mean")
        page.select_option("#order", "seed")
        page.fill("#seed", "7")
        page.press("#seed", "Tab")
        page.locator('#plane [data-do="leap"]').click(click_count=5)
    else:
        page.locator('#lattice [data-do="last"]').click(click_count=3)
        page.fill("#word-0", "we")  # after three sentences: the average goes on
        page.press("#word-0", "Tab")
        page.select_option("#gold-0", "0")
        assert all(part in address(page) for part in ("seen=3", "&u=", "we/DET"))
        page.locator('#lattice [data-do="last"]').click()
    other = new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    open_page(other, address(page).removeprefix(PAGE.as_uri()))
    assert state(other) == state(page)


def test_xor_needs_the_product(page):
    page.select_option("#preset", "xor")
    page.click('#plane [data-do="last"]')
    assert "no line separates" in page.inner_text("#bound")
    assert "Not converged in 20 passes" in page.inner_text("#bound")
    assert page.locator("#lifted").is_hidden()
    page.select_option("#map", "product")
    page.click('#plane [data-do="last"]')
    assert "Converged in" in page.inner_text("#bound")
    assert page.locator("#lifted").is_visible()


def test_weights_words_and_gold_labels_can_be_changed(page):
    page.click("#open-lattice")
    page.select_option("#story", "cake")
    field = page.get_by_label("Weight of DET, then VERB")
    assert field.input_value() == "-2"
    field.fill("3")
    field.press("Tab")
    assert (
        page.evaluate("document.activeElement.getAttribute('aria-label')") == "Weight of DET, stop"
    )
    page.keyboard.press("Escape")
    page.click('#lattice [data-do="last"]')
    assert "1 label wrong" in page.inner_text("#cell")
    rows = [row.split("\t") for row in page.inner_text("#delta tbody").split("\n")]
    assert ["DET → VERB", "0", "1", "−1", "3", "2", "3", "2"] in rows
    assert ["the · DET", "1", "1", "0", "3", "3", "3", "3"] in rows
    assert field.input_value() == "2" and field.get_attribute("class") == "down"
    page.select_option("#gold-3", "3")  # now it is what is gold; the update stays
    page.click('#lattice [data-do="last"]')
    assert "wrong" in page.inner_text("#cell")
    page.fill("#word-3", "snake")
    page.press("#word-3", "Tab")
    assert page.evaluate("document.activeElement.id") == "gold-3"
    assert "snake" in page.inner_text("#emission") and "cake" not in page.inner_text(
        "#emission"
    ).replace("snake", "")
    page.get_by_label("Add a word").click()
    assert page.locator("#words input").count() == 5
    page.fill("#labels", "DET NOUN VERB ADJ")
    page.press("#labels", "Enter")
    assert page.locator("#row-names text.row").all_text_contents() == ["DET", "NOUN", "VERB", "ADJ"]
    assert page.get_by_label("Weight of the, DET").input_value() == "3"
    page.click("#zero-weights")
    assert {each.input_value() for each in page.locator(".weights input").all()} == {"0"}


def test_an_example_can_be_linked_to_by_its_name(new_page):
    page = new_page()
    for part, field in (("plane", "#preset"), ("three", "#three-preset"), ("lattice", "#story")):
        page.goto(PAGE.as_uri())
        names = page.locator(f"{field} option").evaluate_all("all => all.map((one) => one.value)")
        assert names.pop().startswith("own") and len(names) > 2
        for name in names:
            page.goto(f"{PAGE.as_uri()}#{name}")
            wait_until(page, f"location.hash.startsWith('#{part}&')")
            assert page.locator(f"#{part}").is_visible()
            assert page.locator(field).input_value() == name


def test_names_in_the_documentation_are_known_to_the_page(page):
    known = page.evaluate(
        "() => [...story.STEPS.map(({ name }) => name), ...Object.keys(parts), ...Object.values(parts).flatMap(({ presets }) => Object.keys(presets))]"
    )
    linked = [
        name
        for path in (ROOT / "docs").glob("*.md")
        for name in re.findall(r"play/index\.html(?:#|\?embed=)([\w-]+)\)", path.read_text("utf-8"))
    ]
    assert len(linked) > 15
    assert {*linked} <= {*known}
    assert [name for name in {*known} if known.count(name) > 1] == ["own"]


@pytest.mark.parametrize("width", [320, 360, 768, 1920])
def test_no_screen_is_too_narrow(new_page, width):
    page = new_page(viewport={"width": width, "height": 740}, has_touch=True)
    open_page(page)
    for part, field, name in (("plane", "#preset", "circle"), ("lattice", "#story", "cake")):
        page.locator(f"#open-{part}").tap()
        page.select_option(field, name)
        page.locator(f'#{part} [data-do="last"]').tap()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        buttons = page.locator(f"#{part} [data-do]").all()
        assert min(button.bounding_box()["height"] for button in buttons) >= 34


@pytest.mark.parametrize("part", ["plane", "three", "update", "lattice"])
def test_everything_has_a_name(page, part):
    page.click(f"#open-{part}")
    unnamed = page.evaluate(
        """part => [...document.querySelectorAll(`#${part} :is(button, input, select, svg[role], [role=region])`)]
            .filter((each) => !each.getAttribute("aria-label") && !(each.labels && each.labels.length) && !each.textContent.trim())
            .map((each) => each.outerHTML)""",
        part,
    )
    assert unnamed == []


def test_hostile_addresses_are_harmless(page):
    for bad in (
        "#plane&points=<img src=x onerror=alert(1)>9,9p1,1p&map=none&passes=x&at=-5&seed=1e99&order=seed",
        "#lattice&labels=<b>&text=<img src=x onerror=alert(1)>/X&w=a,b:1e999&visit=1e9&step=-3",
        "#lattice&labels=&text=&w=&first=99",
        "#%E0%A4%A&text=%E0%A4%A",
        "#elsewhere",
    ):
        page.goto(PAGE.as_uri() + bad)
        page.reload()
        page.keyboard.press("ArrowRight")
        assert page.locator("img, main b > b").count() == 0


# --------------------------------------------------------------------------------------- the files
def test_the_page_asks_for_nothing_but_its_own_files():
    text = PAGE.read_text("utf-8")
    asked = re.findall(r"""(?:src|href)=["'](?!data:)([^"']*)""", text)
    assert {*asked} == {path.name for path in PLAY.iterdir()} - {"index.html"}
    assert "default-src 'none'" in text
    for path in PLAY.glob("*.*"):
        assert not re.search(
            r"@import|url\(|https?:(?!//www\.w3\.org/)|fetch\(", path.read_text("utf-8")
        )


def test_the_style_begins_with_that_of_the_other_pages():
    house = (PLAY / "play.css").read_text("utf-8").split("\n/* The page:")[0]
    assert len(house) > 2000
    kept = {
        " ".join(rule.split())
        for rule in asset("report/common.css").replace("}", "}\n\n").split("\n\n")
    }
    rules = [" ".join(rule.split()) for rule in house.replace("}", "}\n\n").split("\n\n")]
    assert [rule for rule in rules if rule not in kept] == []
