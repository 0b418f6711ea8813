"""The simulation of large jobs."""

from __future__ import annotations

import doctest
import json
import shutil
import sys

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.test_cluster_benchmark import FOUND

sys.path.append(str(ROOT))  # the suite stands beside the package and is not installed

from benchmarks import simulation
from benchmarks.simulation import Assumed, Measured, bounds, simulate

SMALL = Assumed(tokens=2e9, kills=0)


def test_examples():
    assert doctest.testmod(simulation).failed == 0


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("cores", [1, 7, 100])
@pytest.mark.parametrize("kills", [0, 20])
def test_nothing_is_faster_than_its_bounds(cores, split, kills):
    found = simulate(Measured(), SMALL, cores, split=split, kills=kills)
    if not found.failed:
        assert found.seconds >= max(bounds(Measured(), SMALL, cores, split).values())
    assert found.busy <= 1
    assert (found.killed > 0) == (found.again > 0) == (kills > 0)


def test_a_task_that_is_always_killed_is_given_up():
    found = simulate(Measured(), SMALL, 10, split=False, kills=1e6)
    assert found.failed == found.tasks
    assert found.killed == SMALL.attempts * found.tasks


def test_ranges_beat_whole_files():
    files, ranges = (simulate(Measured(), SMALL, 100, split=s).seconds for s in (False, True))
    assert ranges < files


def test_sizes_have_a_heavy_tail_and_add_up():
    sizes = simulation.file_sizes(Assumed(tokens=1e10))
    assert sizes.sum() == 1e10
    assert np.sort(sizes)[-len(sizes) // 100 :].sum() > sizes.sum() / 5


def test_the_page_says_its_figures(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(simulation, "CORES", (2, 8))
    measured = simulation.changed(Measured(), ["driver=0.25"])
    text = simulation.page(measured, SMALL, "a machine", "Measured once.", tmp_path)
    assert "| driver overhead per task, in seconds | 0.25 |" in text
    assert "Measured once." in text
    assert (tmp_path / "scale" / "simulation.svg").read_text().startswith("<?xml")
    assert "## Comparison" not in text
    (tmp_path / "scale" / "cluster.json").write_text(json.dumps(FOUND))
    assert "## Comparison" in simulation.page(measured, SMALL, "a machine", "", tmp_path)


def test_the_page_in_the_repository_is_what_the_simulation_writes(tmp_path):
    pytest.importorskip("matplotlib")
    docs = simulation.ROOT / "docs"
    (tmp_path / "scale").mkdir()
    shutil.copy(docs / "scale" / "cluster.json", tmp_path / "scale")
    text = simulation.page(Measured(), Assumed(), simulation.MACHINE, simulation.COMMANDS, tmp_path)
    assert (docs / "scale.md").read_text("utf-8") == text, "run python -m benchmarks.simulation"


def test_ranges_of_a_file_are_joined_when_all_are_tagged():
    one = Assumed(tokens=4e7, median=4e7, spread=0, kills=0)
    found = simulate(Measured(), one, 100, split=True)
    assert found.tasks == 4 + 1
    measured = Measured()
    joining = 4e7 * measured.written_per_token / measured.join
    least = 1e7 / measured.tokens_per_second + joining
    assert least < found.seconds < least + 5
    assert found.busy < 0.04  # of a hundred cores four have worked, and joining is no tagging
