"""docs/play/index.html: its numbers are seqtag's, and everybody can use it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from seqtag import BinaryPerceptron, VotedPerceptron
from seqtag.classifiers.feature_maps import MAPS, bias
from seqtag.classifiers.margins import margin, separability
from seqtag.engine.arrays import Instances, Layout
from seqtag.engine.reference import Weights, path_score, phi, potentials, viterbi
from seqtag.pages.assembly import asset
from seqtag.randomness import visiting_order
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "play" / "index.html"
FEATURES = {
    "identity": np.asarray,
    "squares": lambda X: np.hstack([X, np.asarray(X) ** 2]),
    **MAPS,
}


@pytest.fixture(scope="module")
def arithmetic(chromium):
    """Call a function of the page's arithmetic on each list of arguments."""
    page = chromium.new_page()
    page.goto(PAGE.as_uri())

    def run(body, arguments):
        code = f"text => JSON.stringify(JSON.parse(text).map((given) => {{ const P = perceptron; {body} }}))"
        return json.loads(page.evaluate(code, json.dumps(arguments)))

    yield run
    page.close()


# ------------------------------------------------------------------------ vectors, number by number
LEARN = """
  const X = given.points.map((point) => P.features(given.map, given.bias, point));
  const run = P.learn(X, given.y, given.settings);
  const end = P.standing(run, run.steps.length), zero = given.settings.signOfZero;
  return {
    ...end, X, w: run.w, updates: run.updates, steps: run.steps, passes: run.passes,
    converged: run.converged,
    votes: X.map((x) => P.vote(run, end, x, zero)),
    margin: P.length(end.w) ? P.margin(end.w, X, given.y) : null,
    means: given.looks.map((C) => P.standing(run, C % (run.steps.length + 1)).mean),
    ...(({ separable, margin, R, bound }) => ({ separable, gamma: margin, R, bound: separable ? bound : null }))(P.separability(X, given.y)),
  };
"""


def data_sets(number):
    """Random points, labels and settings, as the page takes them."""
    for seed in range(number):
        random = np.random.RandomState(seed)
        n, most = random.randint(1, 13), random.randint(1, 9)
        yield {
            "points": random.randint(-most, most + 1, (n, 2)).tolist(),
            "y": random.choice([-1, 1], n).tolist(),
            "map": str(random.choice(list(FEATURES))),
            "bias": bool(random.randint(2)),
            "looks": random.randint(0, 200, 3).tolist(),
            "settings": {
                "tiesAreMistakes": bool(random.randint(2)),
                "signOfZero": int(random.choice([-1, 1])),
                "untilConverged": bool(random.randint(2)),
                "passes": int(random.randint(1, 9)),
                "seed": None if random.randint(2) else int(random.randint(2**32, dtype=np.uint64)),
            },
        }


def swapped(given):
    """+1 for labels as they are, -1 where the sign of 0 is +1: there seqtag's labels swap."""
    return -given["settings"]["signOfZero"]


def seqtag_model(model, given):
    """What seqtag learns from the same."""
    settings = given["settings"]
    made = model(
        ties_are_mistakes=settings["tiesAreMistakes"],
        until_converged=settings["untilConverged"],
        max_iter=settings["passes"],
        shuffle=settings["seed"] is not None,
        random_state=settings["seed"] or 0,
        fit_intercept=given["bias"],
        feature_map=FEATURES[given["map"]],
    )
    y = swapped(given) * np.array(given["y"])
    return made.fit(given["points"], y, classes=[-1, 1])


@pytest.fixture(scope="module")
def learnt(arithmetic):
    """What the page and what seqtag make of 1,200 data sets."""
    given = list(data_sets(1200))
    return [
        (one, found, seqtag_model(VotedPerceptron, one))
        for one, found in zip(given, arithmetic(LEARN, given), strict=True)
    ]


def test_every_update_of_1200_data_sets_is_seqtags(learnt):
    for given, found, model in learnt:
        sign = swapped(given)
        assert np.array_equal(found["w"], sign * model.trajectory(given["points"])), given
        made = model.mistakes_
        assert [each["example"] for each in found["updates"]] == made.example.tolist()
        assert [each["seen"] for each in found["updates"]] == made.seen.tolist()
        assert found["passes"] == model.n_iter_ and found["converged"] == model.converged_
        assert len(found["steps"]) == model.n_iter_ * len(given["y"])
    counts = [model.n_updates_ for _, _, model in learnt]
    assert sum(counts) > 10_000 and counts.count(0) > 5
    assert 100 < sum(model.converged_ for _, _, model in learnt) < 1100


def test_votes_of_1200_data_sets_are_seqtags(learnt):
    for given, found, model in learnt:
        assert found["survival"] == model.survival_.tolist()
        votes = swapped(given) * model.decision_function(given["points"])
        assert found["votes"] == votes.tolist(), given


def test_averages_of_1200_data_sets_are_seqtags(learnt):
    for given, found, _ in learnt:
        model = seqtag_model(lambda **settings: BinaryPerceptron(average=True, **settings), given)
        mean = swapped(given) * np.array([*model.coef_[0], *model.intercept_[: given["bias"]]])
        assert found["mean"] == mean.tolist(), given


def test_averages_on_the_way_are_the_mean_of_all_w(learnt):
    for given, found, _ in learnt[:300]:
        each = np.array([found["w"][step["updates"]] for step in found["steps"]])
        for look, mean in zip(given["looks"], found["means"], strict=True):
            C = look % (len(each) + 1)
            assert np.allclose(mean, each[:C].mean(axis=0) if C else 0, atol=1e-12)


def test_margins_and_bounds_of_1200_data_sets_are_seqtags(learnt):
    separable = 0
    for given, found, _ in learnt:
        X, y = np.array(found["X"], float), given["y"]
        mapped = FEATURES[given["map"]](np.array(given["points"], float))
        assert np.array_equal(X, bias(mapped) if given["bias"] else mapped)
        best = separability(X, y)
        assert found["separable"] == best.separable, given
        assert found["gamma"] == pytest.approx(best.margin, rel=1e-7)
        assert found["R"] == pytest.approx(best.radius, rel=1e-15)
        if best.separable:
            separable += 1
            assert found["bound"] == pytest.approx(best.bound, rel=1e-7)
            assert len(found["updates"]) <= found["bound"] * (1 + 1e-9)
        if found["margin"] is not None:
            assert found["margin"] == margin(found["w"][-1], X, y)
    assert 300 < separable < 1100


def test_orders_are_seqtags(arithmetic):
    random = np.random.RandomState(0)
    given = [
        [int(n), int(seed), int(run), int(number)]
        for n, seed, run, number in random.randint(0, 2**31, (60, 4)) % [2000, 2**31, 9, 99]
    ]
    orders = arithmetic("return P.visitingOrder(...given)", given)
    assert orders == [visiting_order(*each).tolist() for each in given]


# ---------------------------------------------------------------------------------------- lattices
TRAIN = """
  const { rows, K, order, ties, start } = given, at = P.layout(rows, K, order), visits = [];
  let state = { w: start, u: start.map(() => 0), seen: 0 };
  for (const s of given.visits) {
    const visit = P.visit(at, state, given.x[s], given.y[s], ties);
    const { y, last, cells } = visit.lattice;
    visits.push({
      y, wrong: visit.wrong, delta: visit.delta, right: visit.right, w: visit.after.w, u: visit.after.u,
      mean: P.average(visit.after), v: cells.map((row) => row.map((cell) => cell.v)),
      best: last && last.length ? Math.max(...last) : null, alone: P.viterbi(at, state.w, given.x[s]).y,
    });
    state = visit.after;
  }
  return visits;
"""


def corpora(number):
    """Random sentences, labels and whole weights to begin with."""
    for seed in range(number):
        random = np.random.RandomState(seed)
        rows, K, order = random.randint(1, 6), random.randint(1, 5), int(random.randint(4) > 0)
        T = random.randint(0, 6, random.randint(1, 4))
        x = [
            [random.permutation(rows)[: random.randint(0, 3)].tolist() for _ in range(t)] for t in T
        ]
        size = Layout(rows, K, order).size
        start = random.randint(-2, 3, size) * random.randint(0, 2)
        chain = rows * K
        if not order:
            start[chain:] = 0
        yield {
            "rows": int(rows),
            "K": int(K),
            "order": order,
            "ties": bool(random.randint(2)),
            "start": start.tolist(),
            "x": x,
            "y": [random.randint(0, K, t).tolist() for t in T],
            "visits": [int(s) for _ in range(3) for s in random.permutation(len(T))],
        }


def instances(x):
    tokens = [token for sentence in x for token in sentence]
    return Instances(
        np.cumsum([0, *map(len, x)]),
        np.cumsum([0, *map(len, tokens)]),
        np.array([row for token in tokens for row in token], np.int32),
    )


def test_lattices_and_updates_of_1000_corpora_are_the_references(arithmetic):
    given = list(corpora(1000))
    updates = 0
    for one, visits in zip(given, arithmetic(TRAIN, given), strict=True):
        layout = Layout(one["rows"], one["K"], one["order"])
        x, y = instances(one["x"]), np.array([k for gold in one["y"] for k in gold], np.int32)
        weights = Weights(layout, "float64", "perceptron")
        weights.w[:] = one["start"]
        for s, found in zip(one["visits"], visits, strict=True):
            gold = np.array(one["y"][s], np.int32)
            p = potentials(layout, x, s, weights.w)
            y_hat = viterbi(p, against=gold if one["ties"] else None)
            assert found["y"] == y_hat.tolist(), one
            assert found["alone"] == viterbi(p).tolist(), one
            assert found["right"] == phi(layout, x, s, gold).tolist()
            delta = phi(layout, x, s, gold) - phi(layout, x, s, y_hat)
            assert found["delta"] == delta.tolist()
            if len(gold) and one["order"]:
                assert found["best"] == path_score(p, y_hat)
                assert np.array_equal(found["v"], prefixes(p))
            made, wrong = weights.train_epoch(x, y, [s], ties_are_mistakes=one["ties"])
            updates += made
            assert found["wrong"] == wrong
            assert found["w"] == weights.w.tolist() and found["u"] == weights.u.tolist()
            assert found["mean"] == (weights.w - weights.u / weights.seen).tolist()
    assert updates > 1500


def prefixes(p):
    """v[t, b], the best score of a prefix that ends in b at t."""
    v = [p.start + p.emission[0]]
    for scores in p.emission[1:]:
        v.append(scores + (v[-1][:, None] + p.transition).max(axis=0))
    return v


def test_the_tour_is_on_the_page(new_page):
    page = new_page()
    page.goto(PAGE.as_uri() + "#plane&points=2,4m1,-2m&at=6")
    assert "3 ≤ (R / γ)², which is 11.56" in page.inner_text("#bound")
    assert page.locator("#weights tbody tr").first.inner_text().split() == ["w", "−4", "0"]
    page.goto(PAGE.as_uri() + "#lattice")
    page.reload()
    wrong = []
    for _ in range(12):
        page.keyboard.press("End")
        wrong.append(re.search("(\\d) labels? wrong|all right", page.inner_text("#cell"))[0])
        page.keyboard.press("ArrowRight")
    assert [text != "all right" for text in wrong] == [True] * 7 + [False] * 5  # section 10


# -------------------------------------------------------------------------------- as people use it
@pytest.fixture
def page(new_page):
    page = new_page(viewport={"width": 1280, "height": 900})
    page.goto(PAGE.as_uri())
    return page


def state(page):
    """All that the page shows and keeps: what stands in it, its fields and its address."""
    return page.evaluate(
        """() => [document.querySelector("main").innerText, location.hash,
            ["marks", "regions", "lines", "trellis", "strip"].map((id) => document.getElementById(id).innerHTML),
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


@pytest.mark.parametrize("part", ["plane", "lattice"])
def test_stepping_back_restores_the_state(page, part):
    page.emulate_media(reduced_motion="reduce")  # no boundary is still turning
    page.click(f"#open-{part}")
    seen = [state(page)]
    for _ in range(45):
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
    other.goto(address(page))
    other.select_option("#preset" if part == "plane" else "#story", "own")
    page.select_option("#preset" if part == "plane" else "#story", "own")
    assert state(other) == state(page)


def test_run_goes_on_until_it_is_stopped(page):
    page.click('#plane [data-do="run"]')
    assert page.inner_text('#plane [data-do="run"]') == "Pause"
    page.locator("#example h3", has_text="example 2").wait_for()
    page.keyboard.press("r")
    assert page.inner_text('#plane [data-do="run"]') == "Run"


def test_what_decides_and_what_a_tie_is_can_be_chosen(page):
    page.goto(PAGE.as_uri() + "#plane&points=2,4m-6,1m&at=2")
    assert page.inner_text("#mistakes") == "2"
    page.select_option("#ties", "decide")
    page.keyboard.press("Escape")
    page.click('#plane [data-do="last"]')
    assert page.inner_text("#mistakes") == "0"  # sign(0) = -1 is right for both
    page.select_option("#zero", "1")
    page.click('#plane [data-do="last"]')
    assert page.inner_text("#mistakes") != "0"
    for name in ("last", "vote", "mean"):
        page.select_option("#decide", name)
        assert page.locator("#scores tr.now").count() == 1


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


def cell(page, t, b):
    return page.locator(f'#trellis [data-t="{t}"][data-b="{b}"]')


def test_the_lattice_is_filled_cell_by_cell_and_traced_back(page):
    page.click("#open-lattice")
    page.select_option("#story", "cake")
    assert page.locator("#trellis [data-v]").count() == 0
    for _ in range(16):
        page.keyboard.press("ArrowRight")
    assert page.locator("#trellis [data-v]").count() == 16
    assert [cell(page, 3, b).get_attribute("data-v") for b in range(4)] == ["11", "14", "11", "11"]
    assert cell(page, 3, 1).get_attribute("data-back") == "0"
    assert "= e + best = 2 + 9 = 11, from DET" in page.inner_text("#cell")
    cell(page, 3, 1).click()
    assert "= e + best = 1 + 13 = 14, from DET" in page.inner_text("#cell")
    for count in (1, 2, 3, 4):
        page.keyboard.press("ArrowRight")
        assert page.locator("#trellis .cell.best").count() == count
    page.keyboard.press("ArrowRight")
    assert "PRON VERB DET NOUN, score 14" in page.inner_text("#cell")
    assert "all right" in page.inner_text("#cell")


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
    assert page.locator("#trellis text.row").all_text_contents() == ["DET", "NOUN", "VERB", "ADJ"]
    assert page.get_by_label("Weight of the, DET").input_value() == "3"
    page.click("#zero-weights")
    assert {each.input_value() for each in page.locator(".weights input").all()} == {"0"}


def test_the_average_decodes_and_learns_nothing(page):
    page.click("#open-lattice")
    for _ in range(4):
        page.keyboard.press("End")
        page.keyboard.press("ArrowRight")
    weights = page.locator(".weights input").evaluate_all("all => all.map((each) => each.value)")
    page.select_option("#with", "mean")
    means = page.locator(".weights input").evaluate_all("all => all.map((each) => each.value)")
    assert means != weights and page.locator(".weights input").first.get_attribute("readonly") == ""
    page.locator("#sentences button").nth(1).click()
    page.click('#lattice [data-do="last"]')
    assert "The average only decodes" in page.inner_text("#cell")
    page.click('#lattice [data-do="last"]')
    page.select_option("#with", "w")
    page.click('#lattice [data-do="first"]')
    assert (
        page.locator(".weights input").evaluate_all("all => all.map((each) => each.value)")
        == weights
    )


def shade(page, selector):
    code = "e => getComputedStyle(e)[e.namespaceURI.endsWith('svg') ? 'fill' : 'backgroundColor'].match(/[0-9.]+/g).slice(0, 3).map(Number)"
    return sum(page.locator(selector).first.evaluate(code)) / 3


def test_light_and_dark(new_page):
    light, dark = (new_page(color_scheme=name) for name in ("light", "dark"))
    for page in (light, dark):
        page.goto(PAGE.as_uri())
    assert shade(light, "body") > 230 and shade(light, "#plot .ground-minus") > 200
    assert shade(dark, "body") < 40 and shade(dark, "#plot .ground-minus") < 60


@pytest.mark.parametrize("width", [320, 360, 768, 1920])
def test_no_screen_is_too_narrow(new_page, width):
    page = new_page(viewport={"width": width, "height": 740}, has_touch=True)
    page.goto(PAGE.as_uri())
    for box in page.locator("details").all():
        box.evaluate("e => (e.open = true)")
    for part, field, name in (("plane", "#preset", "circle"), ("lattice", "#story", "cake")):
        page.locator(f"#open-{part}").tap()
        page.select_option(field, name)
        page.locator(f'#{part} [data-do="last"]').tap()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        buttons = page.locator(f"#{part} [data-do]").all()
        assert min(button.bounding_box()["height"] for button in buttons) >= 34


def test_a_tap_puts_a_point(new_page):
    page = new_page(viewport={"width": 360, "height": 740}, has_touch=True)
    page.goto(PAGE.as_uri())
    page.locator("#clear").tap()
    page.locator("#plot").scroll_into_view_if_needed()
    box = page.locator("#plot").bounding_box()
    page.touchscreen.tap(
        box["x"] + box["width"] / 2 + 2 * 40 / 680 * box["width"], box["y"] + box["height"] / 2
    )
    page.wait_for_function("location.hash.includes('p&')")  # taps become clicks in their time
    assert points(page) == "2,0p"


def test_who_wants_no_motion_gets_none(new_page):
    page = new_page(reduced_motion="reduce")
    page.goto(PAGE.as_uri())
    assert page.locator(".gauge i").evaluate("e => getComputedStyle(e).transitionDuration") == "0s"
    page.keyboard.press("ArrowRight")
    assert turns(page) == (True, True)
    page.emulate_media(reduced_motion="no-preference")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert turns(page) == (False, True)


def turns(page):
    """Whether the next mistake moves the boundary at once, and whether it moves it at all."""
    return tuple(
        page.evaluate(
            """async () => {
                const boundary = () => document.querySelector("#lines .boundary").getAttribute("d");
                const before = boundary();
                document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
                const first = boundary();
                await new Promise((done) => setTimeout(done, 1500));
                return [first === boundary(), before !== boundary()];
            }"""
        )
    )


@pytest.mark.parametrize("part", ["plane", "lattice"])
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


# ------------------------------------------------------------------------------------- the one file
def test_the_page_is_one_file_of_the_house():
    text = PAGE.read_text("utf-8")
    assert not re.search(
        r"""(src|href)=["'](?!data:)|@import|url\(|https?:(?!//www\.w3\.org/)""", text
    )
    assert "default-src 'none'" in text
    house = text.split("<style>\n")[1].split("\n/* The page:")[0]
    assert len(house) > 2000
    kept = {
        " ".join(rule.split()) for rule in asset("common.css").replace("}", "}\n\n").split("\n\n")
    }
    rules = [" ".join(rule.split()) for rule in house.replace("}", "}\n\n").split("\n\n")]
    assert [rule for rule in rules if rule not in kept] == []


def test_the_documentation_links_to_the_page():
    for name in ("index.md", "from-rosenblatt-to-viterbi.md"):
        assert "(play/index.html)" in (ROOT / "docs" / name).read_text("utf-8")
