"""Two thousand files on a cluster whose nodes, workers and drivers are killed: nothing is lost."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.batch.engines import on_ray
from tests.command_line import SENTENCES, call, conllu, home
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [on_ray, pytest.mark.nightly]

FILES = 2000
KILLS = 3  # of each kind, each some finished files after the last


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head without workers, and two nodes with one each."""
    from ray.cluster_utils import Cluster

    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    for _ in range(2):
        found.add_node(num_cpus=1)
    yield found
    found.shutdown()


def worker(draw: random.Random) -> int | None:
    """A process that tags files: it has one of them, or its output, open."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if str(path.readlink()).startswith(str(Path("out").resolve()) + "/"):
                found.add(int(path.parts[2]))
    return draw.choice(sorted(found)) if found else None


def test_nodes_workers_and_drivers_are_killed(tmp_path, monkeypatch, home, cluster, call):
    monkeypatch.chdir(tmp_path)
    shutil.copy(home / "upos.seqtag", "my.seqtag")
    draw = random.Random(1)
    Path("in").mkdir()
    for number in range(FILES):
        count = draw.choice([1, 20, 100, 200]) if number % 100 else 1500
        sentences = [draw.choice(SENTENCES) for _ in range(count)]
        Path("in", f"{number}.conllu").write_text(conllu(sentences, labels=False))
    Path("names").write_text("".join(f"in/{number}.conllu\n" for number in range(FILES)))
    command = [sys.executable, "-m", "seqtag", "cluster", "tag", "-m", "my.seqtag", "@names"]
    command += ["--address", cluster.address, "-o"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    assert subprocess.run([*command, "whole"], env=env).returncode == 0
    log = Path("log").open("wb")  # noqa: SIM115  closed below

    kinds = ["node", "worker", "driver"] * KILLS
    draw.shuffle(kinds)
    driver, due = None, 1
    while driver is None or driver.poll() is None:
        if driver is None:
            driver = subprocess.Popen([*command, "out"], env=env, stderr=log)
        with suppress(subprocess.TimeoutExpired):
            driver.wait(0.01)
            break
        if not kinds or done_files() < due:
            continue
        if kinds[-1] == "node":
            cluster.remove_node(draw.choice(sorted(cluster.worker_nodes, key=id)), False)
            cluster.add_node(num_cpus=1)
        elif kinds[-1] == "worker":
            if (pid := worker(draw)) in (None, driver.pid):
                continue
            os.kill(pid, signal.SIGKILL)
        else:
            driver.kill()
            driver.wait()
            driver = None
        kinds.pop()
        due = done_files() + draw.randint(1, FILES // 40)
    log.close()
    assert driver.returncode == 0, Path("log").read_text()
    assert not kinds  # all of them were killed

    lines = [json.loads(line) for line in Path("out/ledger.jsonl").read_text().splitlines()]
    assert not [line for line in lines if line["status"] == "failed"]
    last = {line["target"]: line for line in lines if line["status"] in ("tagged", "skipped")}
    assert sorted(last) == sorted(f"{number}.conllu" for number in range(FILES))
    for name, line in last.items():
        data = Path("out", name).read_bytes()
        assert data == Path("whole", name).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (
            line["bytes_written"],
            line["sha256_written"],
        )
    assert sorted(path.name for path in Path("out").iterdir()) == sorted([*last, "ledger.jsonl"])
    assert sum(line["status"] == "tagged" for line in lines) == FILES  # each is recorded once


def done_files() -> int:
    """The number of files that the ledger has."""
    with suppress(OSError):
        return Path("out/ledger.jsonl").read_bytes().count(b'{"status": "tagged"')
    return 0
