"""The benchmark of the cluster: its data, absent peers, its section of the page. No timing."""

from __future__ import annotations

import doctest
import sys

import pytest

from tests.command_line import conllu
from tests.conftest import ROOT

sys.path.append(str(ROOT))  # the suite stands beside the package and is not installed

from benchmarks import cluster

MACHINE = {"cpu": "a CPU", "cores": "2", "python": "3.12", "date": "2026-01-01", "load": "9.0"}
FOUND = {
    "peers": {
        "machine": MACHINE,
        "corpus": "a treebank",
        "speeds": {"seqtag": 50_000.0, "spaCy": "needs spacy", "NLTK": 25_000.0},
    },
    "speeds": {
        "machine": MACHINE,
        "words": 1000,
        "speeds": {"plain": 50_000.0, "two": 90_000.0},
    },
    "mixing": {
        "machine": MACHINE,
        "corpus": "a treebank",
        "scores": {"1": [0.9, 0.91, 0.92], "2": [0.8, 0.85, 0.9]},
    },
}


def test_examples():
    assert doctest.testmod(cluster).failed == 0


def test_the_section_says_ratios_reasons_and_the_curve():
    text = cluster.section(FOUND)
    assert "(a CPU, 2 cores, Python 3.12, 2026-01-01, load 9.0)" in " ".join(text.split())
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines()]
    assert ["", "NLTK", "25 k/s", "0.50", ""] in rows
    assert ["", "spaCy", "needs spacy", "", ""] in rows
    assert ["", "two", "90 k/s", "1.80", ""] in rows
    assert ["", "2", "80.00", "90.00", ""] in rows
    assert "training on shards" not in cluster.section({"peers": FOUND["peers"]})
    assert "was busy with other work" in text
    idle = FOUND["speeds"] | {"machine": MACHINE | {"load": "0.5"}}
    assert "busy" not in cluster.section({"speeds": idle})


def test_shards_are_learnt_and_judged(tmp_path, monkeypatch):
    path = tmp_path / "a.conllu"
    path.write_text(conllu())
    monkeypatch.setattr(cluster, "SHARDS", (1, 2))
    found = cluster.mixing(path, path, 3)
    assert found.keys() == {"1", "2"}
    assert all(len(scores) == 3 for scores in found.values())
    assert max(found["1"]) == pytest.approx(1.0)
