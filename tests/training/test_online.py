"""Weights whose rows come as they are met are those of all rows at once."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

from seqtag.engine import backend as backends
from seqtag.engine.arrays import RULES
from seqtag.settings import Settings
from seqtag.training.online import OnlineWeights
from seqtag.training.runs import recipe_of
from tests.conftest import ROOT
from tests.strategies import each_backend, install, random_case


def one(x, y, s):
    """Sentence s alone."""
    first, last = x.sentence_ptr[s], x.sentence_ptr[s + 1]
    rows, edges = (slice(ptr[first], ptr[last]) for ptr in (x.token_ptr, x.edge_ptr))
    alone = x._replace(
        sentence_ptr=np.array([0, last - first]),
        token_ptr=x.token_ptr[first : last + 1] - x.token_ptr[first],
        features=x.features[rows],
        values=None if x.values is None else x.values[rows],
        edge_ptr=x.edge_ptr[first : last + 1] - x.edge_ptr[first],
        edges=x.edges[edges],
    )
    return alone, y[first:last]


@each_backend
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("values", [False, True])
def test_rows_may_come_as_they_are_met(rule, values, backend, monkeypatch):
    install(backend, monkeypatch)
    case = random_case(np.random.RandomState(5), 3, 1, 4, values=values, sentences=9, longest=5)
    settings = Settings(update=rule, step=0.5, margin=1.0)
    online = OnlineWeights(settings, case.layout._replace(rows=0, edges=0))
    rows = edges = updates = 0
    for s in range(9):
        x, y = one(case.x, case.y, s)
        rows = max(rows, 1 + int(x.features.max(initial=-1)))
        edges = max(edges, 1 + int(x.edges.max(initial=-1)))
        updates += online.learn(x, y, rows, edges)[0]
        assert (online.layout.rows, online.layout.edges) == (rows, edges)
        online = pickle.loads(pickle.dumps(online))
    whole = backends.Weights(online.layout, "float32", rule)
    how = recipe_of(settings)
    found = whole.train_epoch(case.x, case.y, np.arange(9), how.rule, how.step, how.cost)
    assert found[0] == updates > 3
    for ours, theirs in zip(online.cells(), whole.cells(average=True), strict=True):
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("module", ["seqtag", "seqtag.tagging.pipeline"])
def test_taggers_learn_more_whichever_module_was_imported(module):
    code = f"""
import {module} as home
better = home.load("en").tagger("upos").partial_fit([["Zorb", "!"]], [["INTJ", "PUNCT"]], epochs=3)
print(*better.tag(["Zorb", "!"]))
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "INTJ PUNCT\n"
