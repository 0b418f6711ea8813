"""The simulation of large jobs."""

from __future__ import annotations

import doctest
import json
import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import ROOT

sys.path.append(str(ROOT))  # the suite stands beside the package and is not installed

from benchmarks import simulation
from benchmarks.simulation import (
    Assumed,
    Measured,
    bounds,
    cut_to_pieces,
    file_sizes,
    simulate,
    small_files,
    tasks_of,
    traffic,
)

SMALL = Assumed(read=1e10, kills=0)
SIZES = file_sizes(Measured(), SMALL, 1)


def test_examples():
    assert doctest.testmod(simulation).failed == 0


@pytest.mark.parametrize("sizes", [SIZES, cut_to_pieces(Measured(), SIZES)])
@pytest.mark.parametrize("cores", [1, 7, 100])
@pytest.mark.parametrize("kills", [0, 2])
def test_nothing_is_faster_than_its_bounds(cores, sizes, kills):
    slow = Measured(tokens_per_second=7e4)  # long enough for losses
    tasks = tasks_of(slow, sizes)
    found = simulate(slow, replace(SMALL, kills=kills, attempts=99), tasks, cores, 1)
    found = found.stretched(traffic(slow, SMALL, sizes).least(SMALL))
    limits = bounds(slow, SMALL, sizes, tasks, cores)
    del limits["local disks"]
    assert found.given_up == 0
    assert found.seconds >= max(limits.values())
    assert found.busy <= 1
    assert (found.killed > 0) == (found.again > 0) == (kills > 0)


def test_a_task_that_is_always_lost_is_given_up():
    tasks = tasks_of(Measured(), SIZES)
    found = simulate(Measured(), replace(SMALL, kills=1e6), tasks, 10, 1)
    assert found.given_up == found.tasks == len(SIZES)
    assert found.killed == SMALL.attempts * found.tasks


def test_a_machine_is_lost_with_all_its_cores_once():
    """Its tasks are done again when it is lost, not before, and never twice for one loss."""
    one = np.full(16, 1000 * Measured().speed)
    tasks = tasks_of(Measured(), one)
    given = replace(SMALL, kills=3.6, back=0.0, attempts=99)  # a loss in 1,000 s
    found = [simulate(Measured(), given, tasks, 16, seed) for seed in range(20)]
    assert all(run.killed % 16 == 0 for run in found)
    assert {run.killed for run in found} > {0, 16}


def test_small_files_share_tasks_and_cost_the_driver_their_number():
    tasks = small_files(Measured(), 100_000)
    assert 100 < tasks.each <= simulation.MOST
    slow = simulate(Measured(file=0.01), SMALL, tasks, 1000, 1)
    assert slow.seconds == pytest.approx(1000, rel=0.1)


def test_the_page_in_the_repository_is_what_the_simulation_writes(tmp_path):
    pytest.importorskip("matplotlib")
    docs = simulation.ROOT / "docs"
    shutil.copytree(docs / "scale", tmp_path / "scale")
    found = json.loads(simulation.STORE.read_text("utf-8"))
    text = simulation.page(found, simulation.MACHINE, simulation.COMMANDS, tmp_path)
    assert (docs / "scale.md").read_text("utf-8") == text, "run python -m benchmarks.simulation"
    measured, assumed = Measured(**found["measured"]), Assumed(**found["assumed"])
    sizes = file_sizes(measured, assumed, 20)
    run = simulate(measured, assumed, tasks_of(measured, cut_to_pieces(measured, sizes)), 1000, 20)
    assert found["lines"]["at most 64 MB"]["1000"][19] == pytest.approx(list(run))
