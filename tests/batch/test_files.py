"""Many files into a folder: each once, by its name, and nothing else."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import seqtag
from seqtag.batch import tag_files
from seqtag.errors import CorpusError, OptionError
from seqtag.tagging import TagOptions
from seqtag.tagging.pipeline import Chain
from tests.command_line import SENTENCES, SEQTAG, call, conllu, home, posix, run
from tests.conftest import ROOT

WORDS = sum(len(sentence.split()) for sentence in SENTENCES)


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A folder to work in, with three files whose time of change is long ago."""
    monkeypatch.chdir(tmp_path)
    for number in range(3):
        write(f"in/{number}.conllu", conllu(labels=False))
    return tmp_path


@pytest.fixture
def model(home) -> Path:
    return home / "upos.seqtag"


def write(name: str, text: str, age: float = 100.0) -> None:
    """Write a file that was changed some time ago."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    then = time.time() - age
    os.utime(path, (then, then))


def names(folder: str) -> list[str]:
    """All files below a folder but its record."""
    found = (path.relative_to(folder) for path in Path(folder).rglob("*") if path.is_file())
    return sorted(map(str, {*found} - {Path(".seqtag.json")}))


def written(*files: str) -> list[int]:
    """What a file gets anew when it is written again."""
    return [Path(file).stat().st_ino for file in files]


# ----------------------------------------------------------------- outputs
@pytest.mark.parametrize("threads", [1, 2])
def test_the_bytes_are_those_of_one_file(place, model, call, threads):
    call("tag", "-m", model, "in/0.conllu", "-o", "one.conllu")
    done = call("tag", "-m", model, "in/*.conllu", "-o", "out/", "--threads", threads)
    assert (done.code, done.out) == (0, b"")
    assert f"3 tagged, 0 skipped, 0 failed; {3 * WORDS} words in " in done.err
    assert names("out") == ["0.conllu", "1.conllu", "2.conllu"]
    assert {path.read_bytes() for path in Path("out").glob("*.conllu")} == {
        Path("one.conllu").read_bytes()
    }


def test_a_folder_that_exists_needs_no_slash(place, model, call):
    Path("out").mkdir()
    assert call("tag", "-m", model, "in/0.conllu", "-o", "out").code == 0
    assert names("out") == ["0.conllu"]
    two = ("tag", "-q", "-m", model, "in/0.conllu", "in/1.conllu", "-o", "both.conllu")
    assert call(*two).code == 0  # without one, they are written one after another
    assert Path("both.conllu").read_bytes() == 2 * Path("out/0.conllu").read_bytes()


def test_names_keep_the_folders_below_the_common_one(place, model):
    write("in/a/x.txt", "the dog barks .")
    write("in/b/x.txt", "a cat barks .")
    options = TagOptions(format="tokens", to="tagged")
    tag_files(["in/**/x.txt"], "out", model, options)
    assert names("out") == ["a/x.txt", "b/x.txt"]
    assert Path("out/b/x.txt").read_text() == "a/DET cat/NOUN barks/VERB ./PUNCT\n"
    found = tag_files(["in/b/x.txt"], "out", model, options)  # the known folder is common, too
    assert (found.tagged, found.skipped) == (0, 1)
    write("more/0.txt", "a cat .")
    with pytest.raises(OptionError, match=r"inputs='.*in' \(now '.*more'\)"):
        tag_files(["more/0.txt"], "out", model, options)


def test_there_are_no_notes_about_single_files(place, model):
    for number in range(2):
        write(f"text/{number}.txt", "The dog barks.\nA cat barks.\n")
    done = run("tag", "-m", "en", "text/*", "-o", "out/", cwd=place)
    assert (done.notes, done.err.count("\n")) == ([], 1)
    assert done.err.startswith("seqtag: 2 tagged, 0 skipped, 0 failed; 16 words in ")


def test_a_suffix_is_the_ending_before_that_of_a_compression(place, model):
    write("in/a.b.txt", "the dog .")
    Path("in/c.txt.gz").write_bytes(gzip.compress(b"the cat ."))
    options = TagOptions(format="tokens", to="conllu")
    tag_files(["in/a.b.txt", "in/c.txt.gz"], "out", model, options, suffix=".conllu")
    assert names("out") == ["a.b.conllu", "c.conllu.gz"]
    assert b"\tcat\t" in gzip.decompress(Path("out/c.conllu.gz").read_bytes())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["in/0.conllu", "in/0.txt", "-o", "out/", "--suffix", ".x"], "in/0.txt, to be written to"),
        (["in/0.conllu", "-o", "in/"], "expected inputs outside of in that have different outputs"),
        (["in/0.conllu", "-o", "./"], "expected inputs outside of . that have different outputs"),
        (["-", "-o", "out/"], "expected files to tag into a folder, found standard input"),
        (["in/0.conllu", "-o", "out/", "--suffix", "a/b"], "expected an ending such as .conllu"),
        (["in/0.conllu", "-o", "out", "--suffix", ".x"], "expected --suffix with -o DIR/, found"),
        (["in/0.conllu", "-o", "out/", "--only", "xpos"], "expected one of the components upos"),
    ],
)
def test_what_is_refused_before_anything_is_written(place, model, call, arguments, message):
    write("in/0.txt", "the dog .")
    done = call("tag", "-m", model, *arguments)
    assert done.code in (1, 2)
    assert message in done.err
    assert names(".") == ["in/0.conllu", "in/0.txt", "in/1.conllu", "in/2.conllu"]
    assert Path("in/0.conllu").read_text() == conllu(labels=False)


# ----------------------------------------------------------------- again
def test_finished_files_are_skipped_and_changed_ones_tagged_again(place, model):
    first = tag_files(["in/*"], "out", model)
    assert (first.tagged, first.skipped, first.tokens) == (3, 0, 3 * WORDS)
    before = written("out/0.conllu", "out/1.conllu")
    assert tag_files(["in/*"], "out", model).skipped == 3
    write("in/1.conllu", conllu(SENTENCES[:1], labels=False), age=-1)
    Path("out/2.conllu").unlink()
    again = tag_files(["in/*"], "out", model)
    assert (again.tagged, again.skipped) == (2, 1)
    after = written("out/0.conllu", "out/1.conllu")
    assert after[0] == before[0] and after[1] != before[1]
    assert len(Path("out/1.conllu").read_text()) < len(Path("out/0.conllu").read_text())


def test_a_folder_of_another_recipe_is_refused_unless_forced(place, model, home, call):
    tag = ("tag", "-m", model, "in/0.conllu", "in/1.conllu", "-o", "out/")
    assert call(*tag).code == 0
    before = Path("out/0.conllu").read_bytes()
    for options, difference in [
        (["--to", "tagged"], "to=None (now 'tagged')"),
        (["--lenient"], "lenient=False (now True)"),
        (["--suffix", ".conllu"], "suffix=None (now '.conllu')"),
        (["-m", home / "xpos.seqtag"], "model='"),
    ]:
        done = call(*tag, *options)
        assert (done.code, done.out) == (2, b"")
        assert f", found {difference}" in done.err
        assert "; name another folder, or tag all files again with --force" in done.err
    assert Path("out/0.conllu").read_bytes() == before

    forced = call(*tag[:4], "-o", "out/", "--to", "tagged", "--force")  # one of the two files
    assert "1 tagged, 0 skipped" in forced.err
    assert Path("out/0.conllu").read_text().startswith("the/DET dog/NOUN barks/VERB")
    later = call(*tag, "--to", "tagged")  # the other one is of the old recipe: not finished
    assert "1 tagged, 1 skipped" in later.err
    assert Path("out/0.conllu").read_bytes() == Path("out/1.conllu").read_bytes()


def test_a_file_of_attributes_that_changed_is_another_recipe(place, model):
    mine = "from seqtag.features import attribute\nattribute('mine')(lambda word: word)\n"
    write("mine.py", mine)
    tag = ("tag", "-q", "-m", model, "in/*", "-o", "out/", "--attributes", "mine.py")
    assert [run(*tag, cwd=place).code, run(*tag, cwd=place).code] == [0, 0]
    write("mine.py", f"{mine}\n# changed")
    assert "found attributes=['" in run(*tag, cwd=place).err


def test_a_folder_of_another_version_is_refused(place, model):
    tag_files(["in/*"], "out", model)
    record = Path("out/.seqtag.json")
    known = json.loads(record.read_text())
    record.write_text(json.dumps(known | {"version": "0.1"}))
    with pytest.raises(OptionError, match=rf"version='0.1' \(now '{seqtag.__version__}'\)"):
        tag_files(["in/*"], "out", model)
    record.write_text("[")
    with pytest.raises(OptionError, match="found record='damaged'"):
        tag_files(["in/*"], "out", model)


def test_files_that_nobody_knows_are_not_overwritten(place, model):
    write("out/1.conllu", "mine")
    with pytest.raises(OptionError, match=r"found out/1.conllu without a record; name another"):
        tag_files(["in/*"], "out", model)
    assert Path("out/1.conllu").read_text() == "mine"
    assert tag_files(["in/*"], "out", model, force=True).tagged == 3


def test_a_model_by_path_is_the_loaded_one_but_not_a_part_of_it(place, model):
    tag_files(["in/*"], "out", model)
    assert tag_files(["in/*"], "out", [seqtag.load(model)]).skipped == 3
    pipeline = seqtag.load("en")
    tag_files(["in/0.conllu"], "all", pipeline)
    with pytest.raises(OptionError, match="found model="):
        tag_files(["in/0.conllu"], "all", pipeline.only("lemma"))


# ----------------------------------------------------------------- failures
@pytest.mark.parametrize("threads", [1, 2])
def test_a_bad_file_is_listed_and_the_rest_finished(place, model, call, threads):
    write("in/1.conllu", conllu(labels=False) + "1\tshort\n")
    tag = ("tag", "-q", "-m", model, "in/*", "none.conllu", "-o", "out/", "--threads", threads)
    done = call(*tag)
    assert done.code == 1
    lines = sorted(done.err.splitlines())
    assert "in/1.conllu:61: expected 10 tab-separated columns" in lines[0]
    assert lines[1] == "seqtag: none.conllu: No such file or directory; check the path"
    assert len(lines) == 2
    assert names("out") == ["in/0.conllu", "in/2.conllu"]
    write("in/1.conllu", conllu(labels=False))
    write("none.conllu", conllu(labels=False))
    assert call(*tag).code == 0
    assert names("out") == ["in/0.conllu", "in/1.conllu", "in/2.conllu", "none.conllu"]


def test_errors_of_python_are_those_of_the_files(place, model):
    write("in/1.conllu", "1\tshort\n\n")
    found = tag_files(["in/*"], "out", model, TagOptions(format="conllu"))
    assert isinstance(found.failures.pop("in/1.conllu"), CorpusError)
    assert (found.tagged, found.failures) == (2, {})


def test_a_file_that_changes_while_it_is_read_is_not_finished(place, model, monkeypatch):
    tagged = Chain.tagged

    def with_a_writer(self, streams, *arguments, **options):
        yield from tagged(self, streams, *arguments, **options)
        os.utime("in/0.conllu")

    monkeypatch.setattr(Chain, "tagged", with_a_writer)
    found = tag_files(["in/0.conllu"], "out", model)
    assert "stays as it is, found that it changed" in str(found.failures["in/0.conllu"])
    assert names("out") == []


@posix
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_killed_and_repeated_gives_the_same_bytes(place, model, how):
    for number in range(24):
        write(f"in/{number}.conllu", conllu(SENTENCES * 200, labels=False))
    tag = ("tag", "-m", model, "in/*.conllu", "--threads", 2, "-o")
    assert run(*tag, "whole/", cwd=place).code == 0
    command = [*SEQTAG, *map(str, tag), "out/"]
    process = subprocess.Popen(
        command, env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE
    )
    while len(list(Path("out").glob("*.conllu"))) < 3:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(how)
    _, err = process.communicate(timeout=60)
    assert process.returncode == (-9 if how == signal.SIGKILL else 130), err
    kept = [name for name in names("out") if name.endswith(".conllu")]
    assert 3 <= len(kept) < 24
    if how is signal.SIGINT:
        assert kept == names("out")  # no temporary files
        assert err.endswith(b"seqtag: interrupted\n")
    before = written(*(f"out/{name}" for name in kept))
    done = run(*tag, "out/", cwd=place)
    assert done.code == 0
    assert f"{24 - len(kept)} tagged, {len(kept)} skipped, 0 failed" in done.err
    assert written(*(f"out/{name}" for name in kept)) == before
    assert [name for name in names("out") if name.endswith(".conllu")] == names("whole")
    for name in names("whole"):
        assert Path("out", name).read_bytes() == Path("whole", name).read_bytes()


def test_a_cluster_without_ray(place, model, call, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    done = call("cluster", "tag", "-m", model, "in/*", "-o", "out")
    assert (done.code, done.out) == (1, b"")
    assert done.err.startswith("seqtag: expected the package ray, found none; run pip install -e")
    assert not Path("out").exists()
