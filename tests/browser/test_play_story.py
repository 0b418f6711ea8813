"""docs/play: the story, the captions, three labels, one update, the tagger, and figures in pages."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.browser.contrast import faint_text
from tests.browser.test_play_page import PAGE, address, wait_until
from tests.conftest import ROOT

STEPS = re.findall(r'\n      name: "([\w-]+)"', (PAGE.parent / "story.js").read_text("utf-8"))
PARTS = ("plane", "three", "update", "lattice", "tagger")
SIZES = [(1280, 860, "light"), (1280, 860, "dark"), (390, 844, "light"), (390, 844, "dark")]


@pytest.fixture
def page(new_page, built_page):
    page = new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page.goto(built_page[0].as_uri())
    return page


def go(page, name):
    """Open a step, an example or a part by its name."""
    page.evaluate("name => (location.hash = name)", name)
    wait_until(page, "location.hash.includes('&')")


def caption(page):
    return page.inner_text("section:not([hidden]) .caption")


def stage(page):
    return page.evaluate("current")


# ----------------------------------------------------------------------------------- twelve steps
def test_the_page_opens_the_story_of_twelve_steps(page):
    assert len(STEPS) == len(set(STEPS)) == 12
    seen = []
    for number in range(12):
        assert f"story={STEPS[number]}" in address(page)
        assert page.locator("#guide-step").input_value() == str(number)
        seen.append(page.inner_text("#guide-title"))
        assert len(page.inner_text("#guide-text")) > 100
        assert page.inner_text("#guide-task").endswith((".", "?"))
        wait_until(
            page, "document.querySelector('section:not([hidden]) .caption').textContent.length > 20"
        )
        assert page.locator("#stage section:visible").count() == 1
        assert page.locator(".settings:visible").count() == 0  # folded away
        if number < 11:
            page.click("#guide-forth")
            assert page.evaluate("document.activeElement.id") == "guide-title"
    assert page.locator("#guide-forth").is_disabled()
    for number in range(10, -1, -1):
        page.click("#guide-back")
        assert page.inner_text("#guide-title") == seen[number]
    assert page.locator("#guide-back").is_disabled()
    page.select_option("#guide-step", "9")
    assert page.inner_text("#guide-title") == seen[9]
    for part in PARTS:
        page.click(f"#open-{part}")
        assert stage(page) == part
        assert page.locator("#guide").is_hidden()
        assert "story=" not in address(page)
    page.click("#open-story")
    assert page.inner_text("#guide-title") == seen[9]


@pytest.mark.parametrize("name", STEPS)
def test_a_step_has_an_address_and_survives_a_reload(page, name):
    go(page, name)
    assert f"story={name}" in address(page)
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(50)
    before = [address(page), page.inner_text("#stage"), page.inner_text("#guide-title")]
    page.reload()
    wait_until(
        page, "document.querySelector('section:not([hidden]) .caption').textContent.length > 20"
    )
    assert [address(page), page.inner_text("#stage"), page.inner_text("#guide-title")] == before


def test_links_lead_to_sections_of_the_lecture(page, built_page):
    lecture = (ROOT / "docs" / "from-rosenblatt-to-viterbi.md").read_text("utf-8")
    anchors = {*re.findall(r'<a id="([\w-]+)">', lecture)}
    links = set()
    for name in (*STEPS, *PARTS):
        go(page, name)
        shown = page.locator("#guide-link a, #part-link a").evaluate_all(
            "all => all.map((a) => a.href)"
        )
        assert shown
        links.update(shown)
    assert len(links) == 13  # every section
    for link in links:
        target, _, anchor = link.partition("#")
        assert target == (built_page[0].parents[1] / "from-rosenblatt-to-viterbi.html").as_uri()
        assert anchor in anchors


def test_a_prediction_is_compared_with_the_line_of_w(page):
    put_exactly(page, 1, -2.5)
    assert page.locator("path.guess").count() == 1
    assert page.inner_text("#said") == (
        "Your line is right about 12 of 12 points. There is no line of w yet: press ▶."
    )
    page.click('#plane [data-do="last"]')
    assert page.inner_text("#said").startswith(
        "Your line is right about 12 of 12 points, the line of w about 12;"
    )
    assert page.inner_text("#said").endswith("differ by 0°.")
    put_exactly(page, 4, 4)
    assert re.search("right about [6-9] of 12 .* differ by [4-9][0-9]°", page.inner_text("#said"))
    page.locator("#plot").focus()  # with the keyboard
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator("path.guess").count() == 1
    go(page, "gap")  # with a bias, two places
    page.check('input[name="tool"][value="predict"]', force=True)
    put_exactly(page, -8, 8)
    assert page.inner_text("#said") == "Now click a second point on the line."
    put_exactly(page, 8, -8)
    assert "Your line is right about" in page.inner_text("#said")
    page.select_option("#preset", "circle")  # no line to predict
    assert page.locator("#predict").is_hidden()
    assert page.locator(".guess").count() == 0


def put_exactly(page, p, q):
    box = page.locator("#plot").bounding_box()
    unit = 40 / 680 * (box["width"] - 2)
    page.locator("#plot").click(
        position={"x": box["width"] / 2 + p * unit, "y": box["height"] / 2 - q * unit}, force=True
    )


# --------------------------------------------------------------------------------- words for steps
def test_captions_say_what_a_mistake_does(page):
    go(page, "correct")
    told = [caption(page)]
    for _ in range(6):
        page.keyboard.press("ArrowRight")
        told.append(caption(page))
    assert told == [
        "Nothing has been learned yet: w is 0, so there is no line.",
        "“day” is a +1, but its score is 0: a tie, which counts as a mistake. “day” pulls w toward itself, and its score rises to 20.",
        "“used” is a −1, but its score is 6: a mistake. “used” pushes w away from itself, and its score falls to 1: still wrong.",
        "“day” is a +1, and its score, 14, has the right sign: w stays the same.",
        "“used” is a −1, but its score is 1: a mistake. “used” pushes w away from itself, and its score falls to −4.",
        "“day” is a +1, and its score, 8, has the right sign: w stays the same.",
        "“used” is a −1, and its score, −4, has the right sign: w stays the same. A complete pass without a mistake: the perceptron has converged.",
    ]
    page.click("#open-plane")
    page.click("#clear")
    assert caption(page) == "Click in the plane to add points, then step."
    page.select_option("#preset", "clouds")
    page.click('#plane [data-do="last"]')
    assert "wrong. After 20 passes it stops: no w is right about all points." in caption(page)
    page.select_option("#preset", "gap")
    page.locator("#plane .more summary").click()
    page.fill("#passes", "2")
    page.press("#passes", "Tab")
    page.click('#plane [data-do="last"]')
    assert caption(page).endswith("After 2 passes it stops, although it would converge later.")
    page.select_option("#preset", "clouds")
    page.click('#plane [data-do="last"]')
    assert "the dashed line that of w" in caption(page)


def test_captions_of_a_lattice_name_each_step(page):
    go(page, "viterbi")
    assert "have 46,656 label sequences" in caption(page)
    page.keyboard.press("End")
    assert "PRON VERB ADP DET ADJ NOUN, score 37.3" in page.inner_text("#cell")  # as in the lecture
    go(page, "cake")
    assert "have 256 label sequences" in caption(page)
    page.keyboard.press("ArrowRight")
    assert caption(page) == (
        "“we” comes first: as DET it scores 0, its start weight plus its emission weights."
    )
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert caption(page).startswith("If “bake” is DET, the best label for “we” is PRON: 4 so far")
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    assert "the best last label is NOUN" in caption(page)
    page.keyboard.press("ArrowRight")
    assert caption(page).startswith("Back along the arcs: “cake” is NOUN")
    page.keyboard.press("End")
    assert caption(page) == "All labels are right: w stays the same."
    go(page, "structured")
    page.keyboard.press("End")
    assert caption(page).startswith("“they” should be PRON, not DET; “fish” should be VERB, not")
    page.locator("#guide-actions button").nth(1).click()
    page.keyboard.press("ArrowRight")
    assert "whatever its neighbors are" in caption(page)
    page.locator("#guide-actions button").nth(0).click()
    for _ in range(12):
        page.keyboard.press("End")
        if caption(page) == "All labels are right: w stays the same.":
            break
        page.keyboard.press("ArrowRight")
    else:
        raise AssertionError


def test_the_proof_is_three_growing_bars(page):
    go(page, "bars")
    before = np.zeros(3)
    for mistake in range(1, 30):
        page.keyboard.press("Shift+ArrowRight")
        numbers = page.locator("#bars > .n").all_text_contents()
        low, size, high = now = np.array([float(text) for text in numbers])
        if page.inner_text("#mistakes") != str(mistake):
            break
        assert low <= size <= high
        assert now[0] > before[0]
        assert now[2] > before[2]
        widths = page.locator("#bars i").evaluate_all("all => all.map((i) => i.offsetWidth)")
        assert widths == sorted(widths)
        before = now
    assert mistake == 8  # seven mistakes; the bound is 14.44
    assert "converged" in caption(page)


def test_the_last_example_destroys_w_but_not_the_vote(page):
    go(page, "last-word")
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    assert page.locator("#scores td").all_text_contents()[0] == "12 of 13"
    page.keyboard.press("ArrowRight")
    assert "This makes 5 points wrong" in caption(page)
    assert page.locator("#scores td").all_text_contents() == ["8 of 13", "12 of 13", "12 of 13"]
    for number, name in enumerate(("last", "vote", "mean")):
        page.locator("#guide-actions button").nth(number).click()
        assert page.locator("#decide").input_value() == name
        assert page.locator("#scores tr.now").count() == 1


# ------------------------------------------------------------------------------------ three labels


def test_the_arrows_of_the_story_end_as_those_of_the_lecture(page):
    go(page, "arrows")
    mistakes = 0
    for _ in range(17 * 18):
        page.keyboard.press("ArrowRight")
        mistakes += "moves toward" in caption(page)
    assert mistakes == 48
    assert caption(page).endswith("Pass 17 had no mistake: the perceptron has converged.")
    rows = [row.split("\t") for row in page.locator("#three-weights tr").all_inner_texts()]
    assert rows == [
        ["", "left", "right", "correct"],
        ["w of NOUN", "13", "7", "6 of 6"],
        ["w of VERB", "−19", "−4", "6 of 6"],
        ["w of ADJ", "6", "−3", "6 of 6"],
    ]
    go(page, "classes")
    page.locator(".more summary:visible").click()
    page.fill("#three-passes", "4")
    page.press("#three-passes", "Tab")
    page.click('#three [data-do="last"]')
    assert caption(page).endswith(
        "The limit of 4 passes is reached without convergence; with a higher limit, it would converge in pass 17."
    )


def test_the_region_of_a_label_is_where_its_score_is_best(page):
    go(page, "between")
    page.keyboard.press("End")
    wrong = page.evaluate(
        """() => {
          const ws = [...document.querySelectorAll("#three-weights tbody tr")].map((row) => [...row.cells].slice(1, 4).map((cell) => Number(cell.textContent.replace("−", "-"))));
          const shapes = [...document.querySelectorAll(".region")], svg = document.getElementById("three-plot");
          let wrong = 0;
          for (let p = -7.9; p < 8; p += 0.37) for (let q = -7.9; q < 8; q += 0.41) {
            const spot = svg.createSVGPoint();
            [spot.x, spot.y] = [340 + 40 * p, 340 - 40 * q];
            const scores = ws.map((w) => w[0] * p + w[1] * q + w[2]), best = scores.indexOf(Math.max(...scores));
            if (!shapes[best].isPointInFill(spot)) wrong++;
          }
          return wrong;
        }"""
    )
    assert wrong == 0
    assert "converged" in caption(page)


# -------------------------------------------------------------------------------------- one update
def test_the_same_update_is_shown_three_times(page):
    go(page, "strips")
    cells = lambda: page.locator(".strip").evaluate_all(  # noqa: E731
        "all => all.map((one) => [...one.querySelectorAll('[role=row]')].slice(1).map((row) => [...row.children].slice(1).map((cell) => cell.textContent.replace('−', '-'))))"
    )
    assert [len(one) for one in cells()] == [2, 6, 12]
    for visit in range(4):
        for phase in range(6):
            columns = [np.array(one).T for one in cells()]
            assert [(column[2] == "").all() for column in columns] == [phase < 4] * 3
            assert [(column[0] == "").all() for column in columns] == [phase < 2] * 3
            if phase == 1:
                assert page.locator(".predicted").count() == (3, 3, 1, 1)[visit]
                highest_are_decoded(page)
            if phase == 0:
                before = [column[3].astype(float) for column in columns]
            if phase == 5:
                for column, w in zip(columns, before, strict=True):
                    right, decoded, change, after = column.astype(float)
                    assert np.array_equal(right - decoded, change)
                    assert np.array_equal(after, w + change)
                if visit == 0:  # as in the strips of the lecture
                    words, blocks, sentence = (column[2].astype(int) for column in columns)
                    assert [*words] == [2, 4]
                    assert [*blocks] == [2, 4, -2, -4, 0, 0]
                    assert [*sentence] == [0, 0, 0, 0, 1, -1, 1, -1, 0, 0, 1, -1]
            page.keyboard.press("ArrowRight")
    w = [[float(row[3]) for row in one] for one in cells()]
    assert w[0] == [4, 0]  # as in the table of the lecture
    page.keyboard.press("Shift+ArrowRight")
    assert caption(page).startswith("Example 6.")
    page.keyboard.press("Shift+ArrowLeft")
    assert caption(page).startswith("Example 5.")
    page.keyboard.press("End")
    assert "all three" not in caption(page)
    assert page.locator(".predicted").count() == 0  # all have learned
    page.keyboard.press("Home")
    assert caption(page).startswith("Example 1.")
    page.locator("#update-time").evaluate(
        "e => { e.value = 7; e.dispatchEvent(new Event('input')); }"
    )
    assert caption(page).startswith("Decode")
    page.click('#update [data-do="run"]')
    wait_until(page, "document.querySelector('#update-caption').textContent.startsWith('φ')")
    page.click('#update [data-do="run"]')


def highest_are_decoded(page):
    """Check each ŷ with the scores beside it; of equal ones, ŷ is not y."""
    for strip in page.locator(".strip").all():
        gold, guess = strip.locator("p b").all_text_contents()
        text = strip.locator(".scores").inner_text().replace("scores w · φ are ", "")
        scores = dict(pair.rsplit(": ", 1) for pair in text.split(", "))
        numbers = {label: float(score.replace("−", "-")) for label, score in scores.items()}
        assert numbers[guess] == max(numbers.values())
        assert guess == gold or numbers[guess] >= numbers[gold]
        assert guess != gold or sum(each == numbers[gold] for each in numbers.values()) == 1


# -------------------------------------------------------------------------------------- the tagger
def tags(page):
    return page.locator("#tagger-lattice .tag").all_text_contents()


def test_a_typed_sentence_is_tagged_and_its_weights_add_up(page, built_page):
    go(page, "tagger")
    page.locator("#tagger-lattice .tag").first.wait_for()
    assert tags(page) == ["NOUN", "PRON", "VERB", "DET", "NOUN", "VERB", "NOUN", "PUNCT"]
    page.fill("#tagger-text", "They can't fish.")
    page.press("#tagger-text", "Enter")
    words = ["They", "ca", "n't", "fish", "."]
    assert tags(page) == built_page[1].tag_many([words])[0]
    assert "sentence=They+can%27t+fish." in address(page)
    margins = built_page[1].tag(words, scores=True).margins
    for number, word in enumerate(words):
        page.locator(f'[data-word="{number}"] .token').first.click()
        assert page.inner_text("#tagger-word h3").startswith(f"The weights of “{word}”")
        rows = [row.split("\t") for row in page.locator("#word-weights tbody tr").all_inner_texts()]
        value = lambda text: float(text.replace("−", "-").replace("+", ""))  # noqa: E731
        own, rest, margin = (value(row[-1]) for row in rows[-3:])
        assert margin == own + rest
        assert own == sum(value(row[-1]) for row in rows[:-3])
        assert margin == margins[number]
    page.locator('[data-t="3"][data-b="15"] .hit').click()
    assert "it is VERB instead" in caption(page) or tags(page)[3] == "VERB"
    assert page.locator("#tagger-lattice .arc").count() in (1, 2)
    page.locator('[data-word="0"]').focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.dataset.word") == "0"
    page.keyboard.press("ArrowUp")  # another label of this word
    assert "they” is PRON. The best sequence in which it is PART" in caption(page).replace(
        "T", "t", 1
    )
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    assert caption(page).startswith("“ca”")
    page.keyboard.press("End")
    assert caption(page).startswith("“.”")
    page.locator("#paths .jump").nth(2).click()
    assert caption(page).startswith("“n't”")
    for each in page.locator("#tagger-examples button").all():
        each.click()
        assert page.locator("#tagger-text").input_value() == each.inner_text()
        assert len(tags(page)) > 4
    page.fill("#tagger-text", "")
    page.press("#tagger-text", "Enter")
    assert caption(page) == "Type a sentence."
    page.fill("#tagger-text", "<img src=x onerror=alert(1)> " + "word " * 60)
    page.press("#tagger-text", "Enter")
    assert len(tags(page)) == 40
    assert page.locator("img").count() == 0


def test_without_the_model_the_tagger_says_what_to_do(chromium):
    page = chromium.new_page()
    page.goto(PAGE.as_uri() + "#tagger")
    wait_until(
        page, "document.querySelector('#tagger-caption').textContent.includes('play_page.py')"
    )
    page.close()


# --------------------------------------------------------------------------------- runs, addresses
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_runs_take_at_most_fifteen_seconds(new_page, built_page, motion):
    page = new_page(viewport={"width": 1280, "height": 900}, reduced_motion=motion)
    page.clock.install()
    page.goto(built_page[0].as_uri())
    for name, end in (
        ("average", "After 20 passes it stops"),
        ("arrows", "Pass 17 had no mistake"),
        ("viterbi", "All labels are right"),
    ):
        page.evaluate("name => openNamed(name)", name)
        page.click('section:not([hidden]) [data-do="run"]')
        page.clock.run_for(1000)
        assert end not in caption(page)
        assert "at=" not in address(page)  # it is written at the end
        page.clock.run_for(14_000)
        assert end in caption(page)
        assert page.inner_text('section:not([hidden]) [data-do="run"]') == "Run"
        assert re.search("(at|step)=(480|306|43)$", address(page))
        page.clock.run_for(30_000)  # and it stays there
        assert end in caption(page)
    page.click('#lattice [data-do="run"]')  # again from the beginning
    assert "46,656" in caption(page)
    page.click('#lattice [data-do="run"]')
    page.evaluate("openNamed('structured')")
    for visit in range(1, 4):
        page.click('#lattice [data-do="run"]')
        page.clock.run_for(15_000)
        assert page.locator("#visits tbody tr").count() == visit


# --------------------------------------------------------------------------- figures in other pages
@pytest.mark.parametrize("name", [*STEPS, *PARTS, "fish", "xor", "gap", "classes", "chunks"])
@pytest.mark.parametrize("width", [360, 720])
def test_a_figure_can_be_embedded(new_page, built_page, name, width):
    page = new_page(viewport={"width": width, "height": 600})
    page.goto(f"{built_page[0].as_uri()}?embed={name}")
    wait_until(
        page, "document.querySelector('section:not([hidden]) .caption').textContent.length > 15"
    )
    steps = page.evaluate("story.STEPS.map(({ name, short }) => [name, short])")
    assert page.inner_text("#embed-task") == dict(steps).get(name, "")
    actions = {"no-line": 2, "last-word": 3, "structured": 2}.get(name, 0)
    assert page.locator("#embed-actions button:visible").count() == actions
    for hidden in (
        "header",
        "#guide",
        "#guide-words",
        "#guide-do",
        "footer",
        ".settings",
        "#keys-plot",
    ):
        assert page.locator(hidden).first.is_hidden()
    page.keyboard.press("ArrowRight")
    assert "#" not in page.url
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#embed-link a").get_attribute("href") == f"index.html#{name}"
    page.click("#embed-link a")
    wait_until(page, "location.hash.includes('&')")
    assert page.locator("header").is_visible()


# ------------------------------------------------------------------------------------ small screens
@pytest.mark.parametrize("name", [*STEPS, "gap", "fish", "cake", "chunks", "classes"])
def test_the_words_of_a_step_are_seen_under_its_picture(new_page, built_page, name):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    page.goto(f"{built_page[0].as_uri()}#{name}")
    wait_until(
        page, "document.querySelector('section:not([hidden]) .caption').textContent.length > 15"
    )
    page.keyboard.press("ArrowRight")
    box = page.locator(".caption:visible").bounding_box()
    stepper = page.locator(".stepper:visible")
    lowest = stepper.bounding_box()["y"] if stepper.count() else 844
    assert box["y"] + box["height"] <= lowest + 1
    if stage(page) not in ("update", "tagger"):
        picture = page.locator("section:not([hidden]) :is(.plot, #trellis)").bounding_box()
        assert box["y"] >= picture["y"] + picture["height"]


@pytest.mark.parametrize(("width", "height", "scheme"), SIZES)
def test_text_is_readable_and_nothing_overflows(new_page, built_page, width, height, scheme):
    page = new_page(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    page.goto(built_page[0].as_uri())
    for name in (*STEPS, *PARTS):
        go(page, name)
        wait_until(
            page, "document.querySelector('section:not([hidden]) .caption').textContent.length > 20"
        )
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        cut = "[...document.querySelectorAll('.strip')].some((e) => e.scrollWidth > e.clientWidth)"
        assert not page.evaluate(cut)
        faint = {html: ratio for html, ratio in faint_text(page).items() if "<text" not in html}
        assert faint == {}, name


# ----------------------------------------------------------------------------------------- controls
@pytest.mark.parametrize("part", PARTS)
def test_every_control_can_be_used_in_any_order(page, part):
    """Each box, choice and button of a part, twice, then keys: nothing complains."""
    page.goto(page.url.split("#")[0])
    open_page_built(page, part)
    used = page.evaluate(
        """part => {
          const section = document.getElementById(part), used = new Set();
          const change = (field) => { field.dispatchEvent(new Event("input", { bubbles: true })); field.dispatchEvent(new Event("change", { bubbles: true })); };
          for (let round = 0; round < 2; round++) {
            for (const id of [...section.querySelectorAll("input, select, button")].map((each, i) => i)) {
              const each = section.querySelectorAll("input, select, button")[id];
              if (!each || each.disabled) continue;
              used.add(each.id || each.dataset.do || each.name || each.textContent || each.type);
              if (each.tagName === "SELECT") for (const option of [...each.options].map((o) => o.value)) { each.value = option; change(each); }
              else if (each.tagName === "BUTTON") { each.click(); if (each.dataset.do === "run") each.click(); }
              else if (each.type === "checkbox" || each.type === "radio") each.click();
              else if (each.type === "range") { each.value = each.max / 2; change(each); }
              else { each.value = each.type === "number" ? "3" : "fish"; change(each); }
            }
          }
          return [...used];
        }""",
        part,
    )
    assert len(used) >= {"plane": 20, "three": 13, "update": 8, "lattice": 20, "tagger": 8}[part]
    for key in (
        "Home",
        "ArrowRight",
        "Shift+ArrowRight",
        "n",
        "p",
        "r",
        "r",
        "Shift+ArrowLeft",
        "End",
    ):
        page.keyboard.press(key)
    assert caption(page)


def open_page_built(page, part):
    go(page, part)
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    if part == "tagger":
        page.locator("#tagger-lattice .tag").first.wait_for()
