"""The driver: windows, attempts, reports; the command."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from seqtag.batch import ray_tagging as tagging
from seqtag.batch.files import Models, tag_file
from seqtag.batch.jobs import Job
from seqtag.batch.ledger import BatchReport, Failure, Ledger, read_report
from seqtag.batch.ray_tagging import Step, TagRun
from seqtag.batch.storage import facts_of_all
from seqtag.storage.output import _temporary_name
from seqtag.tagging.streams import TagOptions
from tests.batch.engines import FakeRay, RayError, fake  # noqa: TC001
from tests.command_line import SENTENCES, call, conllu, home, linux
from tests.conftest import ROOT

BROKEN = conllu(labels=False) + "1\tshort\n"
WORDS = sum(len(sentence.split()) for sentence in SENTENCES)


@pytest.fixture
def place(tmp_path, monkeypatch, home) -> Path:
    """A folder with a model and five files to tag."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(home / "upos.seqtag", "my.seqtag")
    Path("in").mkdir()
    for number in range(5):
        Path("in", f"{number}.conllu").write_text(conllu(labels=False))
    return tmp_path


def run(ray: FakeRay, **more) -> BatchReport:
    jobs = [Job(str(path), str(Path("out", path.name))) for path in sorted(Path("in").iterdir())]
    with Ledger("out/ledger.jsonl", "out/") as ledger:
        models = Models.of("my.seqtag")
        return TagRun(ray, models, TagOptions(), ledger, **more).tag(jobs)


def lines(status: str) -> list[dict]:
    """The lines of the ledger with a status."""
    found = map(json.loads, Path("out/ledger.jsonl").read_text().splitlines())
    return [each for each in found if each["status"] == status]


def sources(steps, *_) -> list[str]:
    """The names of the files of a task."""
    return [Path(step.job.source).name for step in steps]


def names(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


def test_all_files_are_tagged_a_few_at_a_time(place, fake, monkeypatch):
    monkeypatch.setattr(tagging, "_TASK_FILES", 1)  # no file is small
    heard = []
    report = run(fake, listener=lambda done, report: heard.append((done, report.tagged)))
    tagged = [(done["status"], n) for done, n in heard if done and done["status"] == "tagged"]
    assert tagged == [("tagged", number) for number in range(1, 6)]
    assert heard[-1][0]["status"] == "end" and None in {done and None for done, _ in heard}
    assert fake.most == 4  # two for each worker
    found = report.as_json()
    assert (found["files"], found["tagged"], found["failures"]) == (5, 5, [])
    assert (found["sentences"], found["tokens"]) == (5 * len(SENTENCES), 5 * WORDS)
    assert (found["workers"], found["formats"]) == (2, {"conllu": 5})
    again = run(fake, threads=2).as_json()
    assert (again["skipped"], again["tokens"], again["workers"]) == (5, 0, 1)


def test_small_files_share_a_task(place, fake):
    tasks = []
    fake.lose = lambda steps, *_: tasks.append(len(steps)) or False
    for number in range(5, 40):
        Path("in", f"{number:02}.conllu").write_text(conllu(labels=False))
    assert run(fake).tagged == 40
    assert sum(tasks) == 40
    assert 4 <= len(tasks) < 40 and max(tasks) > min(tasks)  # the last are smaller


def test_files_that_are_done_need_no_task(place, fake):
    run(fake)
    for number in range(5):
        os.utime(f"in/{number}.conllu", (1, 1))
    assert run(fake).skipped == 5  # digested, and known again
    assert len(lines("skipped")) == 5
    fake.lose = lambda *_: pytest.fail("a task")
    report = run(fake)
    assert (report.skipped, len(lines("run")), len(lines("tagged"))) == (5, 3, 5)
    Path("out").rename("moved")
    Path("moved").rename("out")
    assert run(fake).skipped == 5


def test_the_ledger_says_what_is_there(place, fake):
    report = run(fake)
    for line in lines("tagged"):
        source, target = Path(line["source"]), Path("out", line["target"])
        for path, digest, size in (
            (source, line["sha256_read"], line["bytes_read"]),
            (target, line["sha256_written"], line["bytes_written"]),
        ):
            data = path.read_bytes()
            assert (hashlib.sha256(data).hexdigest(), len(data)) == (digest, size)
    found, running = read_report("out/ledger.jsonl")
    assert not running
    assert found.as_json() == report.as_json() | {"seconds": found.as_json()["seconds"]}


def test_a_damaged_output_of_the_same_size_is_noticed_when_asked(place, fake):
    run(fake)
    data = Path("out/2.conllu").read_bytes()
    Path("out/2.conllu").write_bytes(data.replace(b"NOUN", b"VERB"))
    assert run(fake).skipped == 5
    report = run(fake, verify=True)
    assert (report.tagged, report.skipped) == (1, 4)
    assert lines("tagged")[-1]["reason"] == "output"
    assert Path("out/2.conllu").read_bytes() == data


@pytest.mark.parametrize("together", [1, 500])
def test_a_worker_that_is_lost_costs_an_attempt(place, fake, monkeypatch, together):
    monkeypatch.setattr(tagging, "_TASK_FILES", together)
    lost = []

    def lose(steps, *_):
        if "3.conllu" in sources(steps) and len(lost) < 2:
            lost.append(steps)
            return True
        return False

    fake.lose = lose
    report = run(fake)
    assert lost[0][0].job.source == str(place / "in" / sources(lost[0])[0])
    assert (report.tagged, report.failures, len(lost)) == (5, [], 2)


def test_a_file_that_costs_every_worker_is_given_up(place, fake):
    lost = []
    fake.lose = lambda steps, *_: "3.conllu" in sources(steps) and not lost.append(len(steps))
    report = run(fake, attempts=2)
    failure = Failure("in/3.conllu", "the worker was lost: The worker died unexpectedly")
    assert report.failures == [failure]
    assert [each["error"] for each in lines("failed")] == [failure.error]
    assert report.tagged == 4
    assert [each for each in lost if each == 1] == [1, 1]


def test_a_task_of_many_files_that_is_lost_is_repeated_file_by_file(place, fake):
    for number in range(5, 40):
        Path("in", f"{number:02}.conllu").write_text(conllu(labels=False))
    lost = []
    fake.lose = lambda steps, *_: "1.conllu" in sources(steps) and not lost.append(len(steps))
    report = run(fake, attempts=1)
    assert [each.source for each in report.failures] == ["in/1.conllu"]
    assert report.tagged == 39
    assert len(lost) == 2 and lost[0] > lost[1] == 1


def test_only_recorded_outputs_are_looked_up(place, fake, monkeypatch):
    asked = []
    monkeypatch.setattr(
        tagging, "facts_of_all", lambda names: asked.append(names) or facts_of_all(names)
    )
    run(fake)
    run(fake)
    assert [len(each) for each in asked] == [5, 10]


@linux
def test_a_worker_that_takes_too_long_ends(place):
    os.mkfifo("pipe")  # opening it blocks
    code = (
        "from seqtag.batch.ray_tagging import *; from seqtag.batch.files import Models\n"
        "from seqtag.batch import ray_tagging; from seqtag.batch.jobs import Job\n"
        "from seqtag.tagging import TagOptions\n"
        "models, how = Models.of('my.seqtag'), {'options': TagOptions()}\n"
        "ray_tagging._models[models.digests] = models\n"
        "tag_steps([Step(Job('pipe', 'out'), 0, None)], models.digests, [], 0.5, how)\n"
    )
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=env, timeout=60)
    assert done.returncode == 1
    assert b"Timeout" in done.stderr and b'File "<string>", line 6' in done.stderr


class _StoreError(Exception):
    """An error that a library for stores has of its own."""


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(5, "Input/output error", "a.txt"), "a.txt: Input/output error"),
        (OSError("odd"), "odd"),
        (MemoryError("no room"), "internal error: MemoryError: no room"),
        (_StoreError("no credentials"), "_StoreError: no credentials"),
    ],
)
@pytest.mark.parametrize("together", [1, 500])
def test_what_may_go_better_is_tried_again(place, fake, monkeypatch, error, message, together):
    monkeypatch.setattr(tagging, "_TASK_FILES", together)
    errors = [error] * 2

    def fail(source, *arguments, **more):
        if Path(source).name == "3.conllu" and errors:
            raise errors.pop()
        return tag_file(source, *arguments, **more)

    monkeypatch.setattr(tagging, "tag_file", fail)
    assert run(fake).tagged == 5
    assert not errors
    errors += [error] * 9
    Path("out/3.conllu").unlink()
    report = run(fake)
    assert (report.failures, len(errors)) == ([Failure("in/3.conllu", message)], 6)


def test_interrupted_it_ends_all_tasks_and_leaves_no_rest(place, fake, call, monkeypatch):
    monkeypatch.setattr(tagging, "_TASK_FILES", 1)
    left = _temporary_name(Path("out", "4.conllu").absolute())

    def interrupt(done, report):
        if report.tagged == 2:
            left.touch()  # as a writer that was killed leaves it
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(fake, listener=interrupt)
    assert len(fake.cancelled) == 2  # of five, two were done and one was about to be begun
    assert not left.exists()
    assert status(call).startswith("interrupted: 2 of 5 files")
    report = run(fake)
    assert (report.tagged, report.skipped) == (3, 2)


def test_folders_are_looked_through_once(place, fake, monkeypatch):
    seen = []
    monkeypatch.setattr(tagging, "remove_leftovers", seen.append)
    monkeypatch.setattr(
        "seqtag.storage.output.remove_leftovers", lambda *_: pytest.fail("each time")
    )
    run(fake)
    assert seen == ["out"]


# ----------------------------------------------------------------- the command
TAG = ("cluster", "tag", "-m", "my.seqtag", "-o", "out")


def status(call, *more) -> str:
    return call("cluster", "status", "out/ledger.jsonl", *more).out.decode()


def test_the_command_tags_and_sums_up(place, fake, call):
    done = call(*TAG, "in/*.conllu", "--ledger", "sums/all.jsonl", "--workers", 2)
    assert (done.code, done.out) == (0, b"")
    assert done.err.startswith("seqtag: 5 tagged, 0 skipped, 0 failed; 220 tokens in ")
    assert fake.inits[0]["num_cpus"] == 2
    assert fake.inits[0]["address"] == "local"
    first = json.loads(Path("sums/all.jsonl").read_text().splitlines()[0])
    digest = hashlib.sha256(Path("my.seqtag").read_bytes()).hexdigest()
    assert first["models"] == [{"name": "my.seqtag", "sha256": digest}]
    assert (first["files"], first["options"]["format"]) == (5, "auto")
    one = call("tag", "-m", "my.seqtag", "in/0.conllu")
    assert Path("out/0.conllu").read_bytes() == one.out
    refused = call(*TAG, "in/*.conllu")
    assert refused.code == 2 and "no such run in out/ledger.jsonl; choose" in refused.err
    for path in Path("out").glob("*.conllu"):
        path.unlink()
    assert call(*TAG, "in/*.conllu").code == 0
    again = call(*TAG, "in/*.conllu", "-q", "--address", "10.0.0.1:6379")
    assert (again.code, again.err) == (0, "")
    assert fake.inits[2]["address"] == "10.0.0.1:6379"
    assert status(call).startswith("finished: 5 of 5 files\n0 tagged, 5 skipped, 0 failed; 0 tok")


def test_failures_are_named_and_forgotten_when_they_are_mended(place, fake, call):
    Path("in/1.conllu").write_text(BROKEN)
    fake.lose = lambda steps, *_: "0.conllu" in sources(steps)
    done = call(*TAG, "in/*.conllu", "--attempts", 2)
    assert done.code == 1
    assert "seqtag: in/0.conllu failed: the worker was lost: The worker died unexpec" in done.err
    shown = call("cluster", "status", "out/ledger.jsonl")
    assert shown.code == 1
    found = sorted(shown.out.decode().splitlines()[2:])
    assert found[0].startswith("in/0.conllu failed: the worker was lost")
    assert found[1].startswith("in/1.conllu failed: ")
    assert "expected 10 tab-separated columns" in found[1]
    fake.lose = lambda *_: False
    Path("in/1.conllu").write_text(conllu())
    done = call(*TAG, "in/*.conllu")
    assert done.code == 0
    assert "2 tagged, 3 skipped, 0 failed" in done.err
    shown = call("cluster", "status", "out/ledger.jsonl")
    assert (shown.code, len(shown.out.splitlines())) == (0, 2)


def test_progress_is_shown_off_a_terminal(place, fake, call, monkeypatch):
    monkeypatch.setattr("seqtag.cli.cluster_tag._EVERY", -1.0)
    err = call(*TAG, "in/*.conllu").err
    assert "seqtag: 0 of 5 files\n" in err
    assert re.search(r"seqtag: 5 of 5 files; [0-9,]+ tokens/s\n", err)
    assert call(*TAG, "in/*.conllu", "-q").err == ""


@linux
def test_names_that_are_no_utf_8(place, fake, call):
    odd = os.fsdecode(b"\xff.conllu")
    Path("in/0.conllu").rename(f"in/{odd}")
    Path("in/1.conllu").rename(f"in/1{odd}")
    Path(f"in/1{odd}").write_text(BROKEN)
    done = call(*TAG, "in/*.conllu")
    assert done.code == 1
    assert "4 tagged, 0 skipped, 1 failed" in done.err
    [line] = lines("failed")
    assert line["source"] == f"in/1{odd}"
    assert call("cluster", "status", "out/ledger.jsonl").code == 1
    assert "3 skipped" in call(*TAG, "in/*.conllu").err.replace("4 skipped", "3 skipped")
    assert Path(f"out/{odd}").read_bytes() == Path("out/2.conllu").read_bytes()


def test_raw_text_and_names(place, fake, call):
    Path("in/a.txt").write_text("It works.\n")
    text = ("cluster", "tag", "-m", "en", "--only", "upos", "in/a.txt")
    assert call(*text, "-o", "one", "--format", "text").code == 0
    assert names("one") == ["a.txt.conllu", "ledger.jsonl"]
    assert call(*text, "-o", "two", "--format", "text", "--to", "tagged").code == 0
    assert Path("two/a.txt.tagged").read_text() == "It/PRON works/VERB ./PUNCT\n"
    done = call(*text, "-o", "three")
    assert "note: files of raw text that became CoNLL-U with unchanged names: 1; " in done.err
    assert Path("three/a.txt").read_text().startswith("# newdoc")
    done = call(*text, "-o", "four", "--suffix", ".x", "--base", ".")
    assert done.code == 0, done.err
    assert Path("four/in/a.txt.x").is_file()


def test_a_model_that_is_replaced_meanwhile_changes_nothing(place, fake, call, home):
    def replace(*_):
        shutil.copy(home / "xpos.seqtag", "my.seqtag")
        return False

    fake.lose = replace
    assert call(*TAG, "in/*.conllu").code == 0
    [model] = lines("run")[0]["models"]
    assert model["sha256"] == hashlib.sha256((home / "upos.seqtag").read_bytes()).hexdigest()
    assert "\tDET\t_\t" in Path("out/4.conllu").read_text()


def test_what_cannot_be_is_said_before_anything_begins(place, fake, call):
    for more, code, message in (
        (("--only", "xpos"), 1, "expected one of the components upos, found 'xpos'"),
        (
            ("--to", "tagged", "--label-margin"),
            2,
            "expected the format conllu or columns for margins",
        ),
        (("in/none.conllu",), 1, "in/none.conllu: No such file or directory"),
        (("in",), 1, "in: expected files, found a folder"),
        (("-m", "none"), 1, "none: No such file or directory; embedded models: en"),
        (
            ("-o", "in"),
            2,
            "expected an output folder other than that of the input, found in for in/0",
        ),
    ):
        done = call(*TAG, "in/0.conllu", *more)
        assert (done.code, message in done.err) == (code, True), done.err
    assert fake.inits == []


def test_no_cluster_at_an_address(place, fake, call):
    fake.init_error = ConnectionError("Could not find any\nrunning")
    done = call(*TAG, "in/0.conllu", "--address", "10.0.0.1:6379")
    assert (done.code, done.err) == (
        1,
        "seqtag: expected a Ray cluster at 10.0.0.1:6379, found none (Could not find any); check "
        "the address, or leave it out for a cluster on this machine\n",
    )
