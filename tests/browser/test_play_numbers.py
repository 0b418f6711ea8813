"""docs/play/arithmetic.js: its numbers are seqtag's, on random data."""

from __future__ import annotations

import json

import numpy as np
import pytest

from seqtag import BinaryPerceptron, MulticlassPerceptron, VotedPerceptron
from seqtag.classifiers.feature_maps import MAPS, bias
from seqtag.classifiers.margins import margin, separability
from seqtag.engine.arrays import Instances, Layout
from seqtag.engine.reference import Weights, path_score, phi, potentials, viterbi
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
def learned(arithmetic):
    """What the page and what seqtag make of 1,200 data sets."""
    given = list(data_sets(1200))
    return [
        (one, found, seqtag_model(VotedPerceptron, one))
        for one, found in zip(given, arithmetic(LEARN, given), strict=True)
    ]


def test_every_update_of_1200_data_sets_is_seqtags(learned):
    for given, found, model in learned:
        sign = swapped(given)
        assert np.array_equal(found["w"], sign * model.trajectory(given["points"])), given
        made = model.mistakes_
        assert [each["example"] for each in found["updates"]] == made.example.tolist()
        assert [each["seen"] for each in found["updates"]] == made.seen.tolist()
        assert found["passes"] == model.n_iter_ and found["converged"] == model.converged_
        assert len(found["steps"]) == model.n_iter_ * len(given["y"])
    counts = [model.n_updates_ for _, _, model in learned]
    assert sum(counts) > 10_000 and counts.count(0) > 5
    assert 100 < sum(model.converged_ for _, _, model in learned) < 1100


def test_votes_of_1200_data_sets_are_seqtags(learned):
    for given, found, model in learned:
        assert found["survival"] == model.survival_.tolist()
        votes = swapped(given) * model.decision_function(given["points"])
        assert found["votes"] == votes.tolist(), given


def test_averages_of_1200_data_sets_are_seqtags(learned):
    for given, found, _ in learned:
        model = seqtag_model(lambda **settings: BinaryPerceptron(average=True, **settings), given)
        mean = swapped(given) * np.array([*model.coef_[0], *model.intercept_[: given["bias"]]])
        assert found["mean"] == mean.tolist(), given


def test_averages_on_the_way_are_the_mean_of_all_w(learned):
    for given, found, _ in learned[:300]:
        each = np.array([found["w"][step["updates"]] for step in found["steps"]])
        for look, mean in zip(given["looks"], found["means"], strict=True):
            C = look % (len(each) + 1)
            assert np.allclose(mean, each[:C].mean(axis=0) if C else 0, atol=1e-12)


def test_margins_and_bounds_of_1200_data_sets_are_seqtags(learned):
    separable = 0
    for given, found, _ in learned:
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


# ------------------------------------------------------------------------ one learner for all of them
JOINT = """
  const [xs, ys] = [given.X, given.y], { K, passes } = given, labels = [...new Array(K).keys()];
  const order = Array.from({ length: passes }, () => xs.map((_, i) => i)).flat();
  const told = ({ visits, w, mean }) => ({ mistakes: visits.flatMap(({ mistake }, i) => (mistake ? [i] : [])), all: visits.map((visit) => visit.w), w, mean });
  const block = P.block(K);
  return {
    binary: told(P.learnJoint(order.map((i) => [xs[i], ys[i] ? 1 : -1]), P.half, P.search([-1, 1], P.half))),
    rosenblatt: P.learn(xs, ys.map((y) => (y ? 1 : -1)), { untilConverged: false, passes }).w,
    blocks: told(P.learnJoint(order.map((i) => [xs[i], ys[i]]), block, P.search(labels, block))),
  };
"""


def test_two_and_three_labels_are_calls_of_one_learner(arithmetic):
    given = []
    for seed in range(300):
        random = np.random.RandomState(seed)
        n, K = random.randint(1, 9), random.randint(3, 6)
        X = random.randint(-3, 4, (n, random.randint(1, 4))).tolist()
        y = random.randint(0, K, n).tolist()
        given.append({"X": X, "y": y, "K": int(K), "passes": int(random.randint(1, 5))})
    updates = 0
    for one, found in zip(given, arithmetic(JOINT, given), strict=True):
        X, y, K = one["X"], np.array(one["y"]), one["K"]
        options = {"until_converged": False, "max_iter": one["passes"], "fit_intercept": False}
        binary = BinaryPerceptron(shuffle=False, **options)
        binary.fit(X, np.where(y > 0, 1, -1), classes=[-1, 1])
        assert found["binary"]["w"] == binary.coef_[0].tolist(), one
        assert [found["rosenblatt"][0]] + [
            w for i, w in enumerate(found["binary"]["all"]) if i in found["binary"]["mistakes"]
        ] == found["rosenblatt"]
        for name, average in (("w", False), ("mean", True)):
            model = MulticlassPerceptron(shuffle=False, average=average, **options)
            model.fit(X, y, classes=list(range(K)))
            assert np.allclose(found["blocks"][name], model.coef_.ravel(), atol=1e-12), one
        updates += len(found["blocks"]["mistakes"])
    assert updates > 2000


def prefixes(p):
    """v[t, b], the best score of a prefix that ends in b at t."""
    v = [p.start + p.emission[0]]
    for scores in p.emission[1:]:
        v.append(scores + (v[-1][:, None] + p.transition).max(axis=0))
    return v
