"""Which files are tagged, and what those are called that are written."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest

from seqtag.batch import jobs
from seqtag.batch.jobs import Job, files_of, jobs_of, open_ledger
from seqtag.batch.ledger import FileResult, Ledger
from seqtag.batch.storage import facts_of, open_output
from seqtag.errors import CorpusError, OptionError
from tests.command_line import linux


@pytest.fixture
def crawl(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("b.txt", "a.txt", "x/a.txt", "x/y/c.txt.gz", "odd[1].txt"):
        path = Path("crawl", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("It works.\n")
    return tmp_path / "crawl"


def test_files_are_named_in_many_ways_and_taken_once(crawl):
    Path("files.txt").write_text("crawl/b.txt\n\n  crawl/none.txt \n")
    assert files_of(["crawl/b.txt", "crawl/?.txt"]) == ["crawl/b.txt", "crawl/a.txt"]
    assert files_of(["crawl/**/*.txt*"]) == [
        "crawl/a.txt",
        "crawl/b.txt",
        "crawl/odd[1].txt",
        "crawl/x/a.txt",
        "crawl/x/y/c.txt.gz",
    ]
    assert files_of(["@files.txt"]) == ["crawl/b.txt", "crawl/none.txt"]
    assert files_of(["crawl/odd[1].txt"]) == ["crawl/odd[1].txt"]
    assert files_of(["s3://crawl/a.txt"]) == ["s3://crawl/a.txt"]


def test_patterns_of_addresses(monkeypatch):
    pytest.importorskip("fsspec", reason="needs fsspec: pip install -e '.[ray]'")
    monkeypatch.setattr(jobs, "check_shared", lambda _: None)
    root = f"memory://{uuid.uuid4().hex}"
    for name in ("b.txt", "a.txt", "c.conllu"):
        with open_output(f"{root}/{name}") as (out, _):
            out.write(b"x")
    found = files_of([f"{root}/*.txt"])
    assert [Path(name).name for name in found] == ["a.txt", "b.txt"]
    assert all(map(facts_of, found))
    with pytest.raises(CorpusError, match="expected files by this pattern, found none; check it"):
        files_of([f"{root}/*.xml"])


def test_names_that_lead_nowhere(crawl):
    with pytest.raises(CorpusError) as error:
        files_of(["crawl/*.xml"])
    assert str(error.value) == "crawl/*.xml: expected files by this pattern, found none; check it"
    with pytest.raises(CorpusError) as error:
        files_of(["crawl"])
    assert str(error.value) == (
        "crawl: expected files, found a folder; name its files, for example crawl/*.txt"
    )
    Path("empty.txt").write_text("\n")
    with pytest.raises(CorpusError) as error:
        files_of(["@empty.txt"])
    assert str(error.value) == ("empty.txt: expected a path or an address on each line, found none")


def test_names_of_what_is_written():
    files = ["crawl/a.txt", "s3://bucket/x/b.txt.gz"]
    assert jobs_of(files, "out", suffix=".conllu") == [
        Job("crawl/a.txt", str(Path("out", "a.txt.conllu"))),
        Job("s3://bucket/x/b.txt.gz", str(Path("out", "b.txt.conllu.gz"))),
    ]
    assert jobs_of(files[1:], "gs://out/", base="s3://bucket") == [
        Job(files[1], "gs://out/x/b.txt.gz")
    ]
    assert jobs_of(["crawl/x/a.txt"], "out", base="crawl/") == [
        Job("crawl/x/a.txt", str(Path("out", "x", "a.txt")))
    ]


@pytest.mark.parametrize(
    ("files", "base"),
    [
        (["other/a.txt"], "crawl"),
        (["s3://bucket/a.txt"], "crawl"),
        (["crawl/a.txt"], "s3://bucket"),
        (["s3://bucket/a.txt"], "s3://buck"),
    ],
)
def test_files_that_are_not_below_the_base(files, base):
    with pytest.raises(OptionError) as error:
        jobs_of(files, "out", base=base)
    assert str(error.value) == (
        f"expected files below the base {base}, found {files[0]}; name a folder that has them all"
    )


def test_names_that_clash():
    with pytest.raises(OptionError) as error:
        jobs_of(["crawl/a.txt", "crawl/x/a.txt"], "out")
    assert str(error.value) == (
        "expected a different output name for each file, found out/a.txt for crawl/a.txt and "
        "crawl/x/a.txt; keep their folders with --base, or tag them in separate runs"
    )
    with pytest.raises(OptionError, match=r"found out/ledger\.jsonl for the ledger and"):
        jobs_of(["ledger.jsonl"], "out")


@pytest.mark.parametrize(
    ("folder", "suffix", "message"),
    [
        ("", "", "expected the name of a folder to write to, found ''"),
        ("out", "/../x", "expected a suffix of file names, without a folder, found '/../x'"),
    ],
)
def test_nothing_is_written_outside_of_the_folder(folder, suffix, message):
    with pytest.raises(OptionError) as caught:
        jobs_of(["a.txt"], folder, suffix=suffix)
    assert str(caught.value) == message


def test_inputs_are_not_written_over(crawl):
    for folder in ("crawl", str(crawl)):
        with pytest.raises(OptionError) as error:
            jobs_of(["crawl/a.txt"], folder)
        assert str(error.value) == (
            f"expected an output folder other than that of the input, found {folder} for "
            "crawl/a.txt; "
            "choose another; no file was changed"
        )


# ----------------------------------------------------------------- strangers
def test_links_that_lead_round_in_circles(crawl):
    """Two of them were 2^40 paths."""
    for name in ("one", "two"):
        Path("crawl", name).symlink_to(".", target_is_directory=True)
    Path("crawl", ".git").mkdir()
    Path("crawl", ".git", "a.txt").write_text("no")
    assert files_of(["crawl/**/c.*", "**/b.txt"]) == ["crawl/x/y/c.txt.gz", "crawl/b.txt"]
    assert files_of(["crawl/x/**"]) == ["crawl/x/a.txt", "crawl/x/y/c.txt.gz"]
    assert files_of(["crawl/**/x/**/*.gz"]) == ["crawl/x/y/c.txt.gz"]
    assert files_of([f"{crawl}/**/y/*"]) == [f"{crawl}/x/y/c.txt.gz"]


def test_links_to_nothing_are_not_passed_over(crawl):
    Path("crawl", "gone.txt").symlink_to("nowhere")
    assert "crawl/gone.txt" in files_of(["crawl/*.txt"])


@linux
def test_lists_of_names_that_are_no_utf_8(crawl):
    odd = os.fsdecode(b"crawl/\xff.txt")
    Path("crawl/b.txt").rename(odd)
    Path("files.txt").write_bytes(b"\xef\xbb\xbfcrawl/\xff.txt\r\ncrawl/a\xe2\x80\xa8b.txt\n")
    assert files_of(["@files.txt"]) == [odd, "crawl/a\u2028b.txt"]
    Path("files.txt").write_bytes(b"crawl/a.txt\na\0b\n")
    with pytest.raises(CorpusError) as error:
        files_of(["@files.txt"])
    assert str(error.value) == (
        "files.txt:2: expected a path or an address, found one with a null byte; correct the name"
    )


def test_what_a_run_has_written_is_no_input_by_itself(crawl):
    with Ledger("crawl/x/ledger.jsonl", "crawl/x/") as ledger:
        ledger.add(FileResult("b", "crawl/x/a.txt", *RESULT))
    assert files_of(["crawl/x/*"]) == ["crawl/x/a.txt"]
    for folder in ("crawl/x", str(crawl / "x"), "crawl/../crawl/x/"):
        for source in ("crawl/x/a.txt", str(crawl / "x" / "a.txt")):
            with pytest.raises(OptionError) as error:
                open_ledger(None, folder, [Job(source, "crawl/x/a.txt.y")])
            assert str(error.value) == (
                f"expected input files, found the output of a cluster run, {source} in the folder "
                f"{folder}; narrow the pattern, or choose another folder"
            )
    open_ledger(None, "again", [Job("crawl/x/a.txt", "again/a.txt")]).close()


def test_files_that_no_run_wrote_are_not_replaced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs = [Job(f"{name}.txt", f"out/{name}.conllu") for name in "abc"]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "b.conllu").write_text("mine")
    for name in (None, "other.jsonl"):
        with pytest.raises(
            OptionError, match=r"found 1 files such as out/b.conllu and no such run"
        ):
            open_ledger(name, "out", jobs)
    with open_ledger(None, "out", jobs[:1]) as ledger:
        ledger.append({"status": "run"})
    open_ledger(None, "out", jobs).close()  # which a killed run may have written


def test_a_ledger_is_no_input_and_no_output(tmp_path):
    for job in (Job("a", str(tmp_path / "b")), Job(str(tmp_path / "b"), "a")):
        with pytest.raises(OptionError, match="expected a ledger that is no input and no output"):
            open_ledger(str(tmp_path / "b"), str(tmp_path), [job])
    assert [*tmp_path.iterdir()] == []


@linux
@pytest.mark.parametrize("name", ["/dev/null", "/dev/full", "pipe"])
def test_a_ledger_is_no_device_and_no_pipe(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with pytest.raises(CorpusError, match=f"^{name}: expected a file for the ledger, found a dev"):
        open_ledger(name, "out", [Job("a.txt", "out/a.txt")])


def test_a_store_has_no_ledger(tmp_path):
    with pytest.raises(OptionError) as error:
        open_ledger(None, "s3://tagged", [])
    assert str(error.value) == (
        "expected --ledger with a file on this machine, found none; s3://tagged is in a store, "
        "where nothing can be appended to a file"
    )
    with pytest.raises(OptionError, match="a file on this machine, found s3:"):
        open_ledger("s3://tagged/l.jsonl", "s3://tagged", [])
    with open_ledger(str(tmp_path / "l.jsonl"), "s3://tagged", []) as ledger:
        ledger.add(FileResult("b", "s3://tagged/b", *RESULT))
    with pytest.raises(OptionError, match="found the output of a cluster run, s3://tagged/b in"):
        open_ledger(str(tmp_path / "l.jsonl"), "s3://tagged/", [Job("s3://tagged/b", "c")])


def test_the_memory_of_a_process_is_no_place_for_workers(tmp_path):
    for refused in (lambda: files_of(["memory://a/b"]), lambda: jobs_of(["a"], "memory://out")):
        with pytest.raises(CorpusError) as error:
            refused()
        assert str(error.value).endswith(
            ": expected files that all workers can see, found the memory of this process; use a "
            "path or a store"
        )


RESULT = ("tagged", "new", "text", 1, 2, 3, 4, "5", "6", "7", "8", 9.0)
