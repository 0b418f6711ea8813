"""The ledger: what is in it after whatever happens."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from typing import TYPE_CHECKING

import pytest

from seqtag.batch.ledger import FileResult, Ledger, read_report
from seqtag.errors import CorpusError
from tests.command_line import linux

if TYPE_CHECKING:
    from pathlib import Path

RESULT = ("tagged", "new", "text", 1, 2, 3, 4, "5", "6", "7", "8", 9.0)
RUN = {"status": "run", "files": 2, "skipped": 0, "begun": 1.0}


def result(name: str) -> FileResult:
    return FileResult(f"in/{name}", f"out/{name}", *RESULT)


@pytest.fixture
def path(tmp_path) -> Path:
    """A ledger of a run that was interrupted after two files."""
    found = tmp_path / "a" / "ledger.jsonl"
    with Ledger(found, "out/") as ledger:
        ledger.append(RUN)
        ledger.add(result("a"))
        ledger.add(result("b"))
    return found


def test_what_was_added_is_there_again(path):
    with Ledger(path, "out/") as ledger:
        assert [*ledger] == ["out/a", "out/b"]
        assert ledger.get("out/a") == result("a")
        assert ledger.get("out/c") is None
    with Ledger(path, "s3://moved/") as ledger:
        assert "s3://moved/b" in ledger


def test_at_each_byte_that_a_kill_may_cut_it_the_complete_lines_count(path):
    data = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(data) if byte == 10]
    for length in range(len(data) + 1):
        path.write_bytes(data[:length])
        complete = sum(end <= length for end in ends)
        report, is_running = read_report(path)
        assert (report.tagged, is_running) == (max(0, complete - 1), False)
        with Ledger(path, "out/") as ledger:
            assert len([*ledger]) == max(0, complete - 1)
            ledger.add(result("c"))
        assert path.read_bytes()[: max([0, *ends[:complete]])] == data[: max([0, *ends[:complete]])]
        assert all(json.loads(line) for line in path.read_bytes().splitlines())


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"\xff\n",
        b"[]\n",
        b"{}\n",
        b'{"status": "tagged"}\n',
        b"[" * 100_000 + b"\n",
        b"a text that is no ledger",
    ],
)
def test_what_is_no_ledger_is_refused_and_stays(path, line):
    data = path.read_bytes() + line
    path.write_bytes(data)
    for use in (Ledger, read_report):
        with pytest.raises(CorpusError) as error:
            use(path)
        assert str(error.value) == (
            f"{path}:4: expected a line of a ledger, found something else; remove this line, and "
            "its file is tagged again"
        )
    assert path.read_bytes() == data


def test_a_run_without_its_facts_is_refused(path):
    path.write_text('{"status": "run"}\n')
    with pytest.raises(CorpusError, match=r"ledger.jsonl:1: expected a line of a ledger"):
        read_report(path)


def test_one_process_writes(path):
    with Ledger(path):
        with pytest.raises(CorpusError, match="expected a ledger that no process writes"):
            Ledger(path)
        report, is_running = read_report(path)
        assert (report.tagged, is_running) == (2, True)
        assert report.seconds > 1e9  # it began in 1970
    assert not read_report(path)[1]


def _write(path: str) -> None:
    ledger = Ledger(path, "out/")
    for number in range(1000):
        ledger.add(result(str(number)))
    os.kill(os.getpid(), signal.SIGKILL)


@linux
def test_nothing_is_lost_with_the_process(path):
    process = multiprocessing.get_context("spawn").Process(target=_write, args=(str(path),))
    process.start()
    process.join(100)
    assert process.exitcode == -signal.SIGKILL
    with Ledger(path, "out/") as ledger:
        assert len([*ledger]) == 1002
