"""The benchmark of the cluster: its data, absent peers, its section of the page. No timing."""

from __future__ import annotations

import doctest
import sys
from pathlib import Path

import pytest

from tests.command_line import conllu
from tests.conftest import ROOT

sys.path.append(str(ROOT))  # the suite stands beside the package and is not installed

from benchmarks import cluster

FOUND = {
    "machine": {
        "cpu": "a CPU",
        "cores": "2",
        "python": "3.12",
        "date": "2026-01-01",
        "load": "9.0",
    },
    "model": "en-ewt-upos",
    "words": 1000,
    "corpus": "a treebank",
    "speeds": {"plain": 50_000.0, "two": 90_000.0, "other": "needs spacy"},
    "mixing": {"1": [0.9, 0.91, 0.92], "2": [0.8, 0.85, 0.9]},
}


def test_examples():
    assert doctest.testmod(cluster).failed == 0


def test_the_section_says_ratios_reasons_and_the_curve():
    text = cluster.section(FOUND)
    assert "a CPU, 2 cores, Python 3.12, 2026-01-01, at a load of 9.0" in text
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines()]
    assert ["", "two", "90 k/s", "1.80", ""] in rows
    assert ["", "other", "needs spacy", "", ""] in rows
    assert ["", "2", "80.00", "90.00", ""] in rows
    assert "training on shards" not in cluster.section(FOUND | {"mixing": {}})
    assert "busy with other work" in text
    free = FOUND | {"machine": FOUND["machine"] | {"load": "0.5"}}
    assert "busy" not in cluster.section(free)
    none = cluster.section(FOUND | {"speeds": {}})
    assert "has not yet been compared" in " ".join(none.split())
    assert "training on shards" in none


def test_a_peer_that_is_missing_is_left_out_with_a_reason(monkeypatch):
    monkeypatch.setattr(cluster, "find_spec", lambda name: None if name == "pyarrow" else name)
    assert cluster.peer("nltk", 1, [], Path("out")) == "needs pyarrow"


def test_shards_are_learnt_and_judged(tmp_path, monkeypatch):
    path = tmp_path / "a.conllu"
    path.write_text(conllu())
    monkeypatch.setattr(cluster, "SHARDS", (1, 2))
    found = cluster.mixing(path, path, 3)
    assert found.keys() == {"1", "2"}
    assert all(len(scores) == 3 for scores in found.values())
    assert max(found["1"]) == pytest.approx(1.0)
