"""Output files under faults, kills, rivals, owners and lists of access."""

from __future__ import annotations

import errno
import os
import re
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seqtag.errors import CorpusError
from seqtag.storage import output as files
from seqtag.storage.output import Output, check_output
from tests.faults import each_fault

OLD, NEW = b"old\n" * 3, b"new\n" * 5_000  # more than a buffer
SUFFIXES = ("", ".gz", ".bz2", ".xz", ".zst")
KINDS = tuple(
    (error, after)
    for error in (errno.ENOSPC, errno.EIO, KeyboardInterrupt)
    for after in (False, True)
)

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and locks")


# ----------------------------------------------------------------------------- faults
@pytest.mark.parametrize("old", [OLD, None], ids=["over a file", "anew"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_fault_at_any_call_leaves_the_old_file_or_the_new_one(suffix, old, tmp_path):
    if suffix == ".zst":
        pytest.importorskip("zstandard")
    target = tmp_path / f"out{suffix}"
    with Output(target) as out:
        out.write(NEW)
    new, seen = target.read_bytes(), set()
    for faults in each_fault(pytest.MonkeyPatch, *KINDS):
        target.unlink(missing_ok=True)
        if old is not None:
            target.write_bytes(old)
        caught = None
        try:
            with Output(target, overwrite=old is not None) as out:
                out.write(NEW)
        except (OSError, KeyboardInterrupt) as error:
            caught = error
        found = target.read_bytes() if target.exists() else None
        assert found in (old, new), faults.calls
        if caught is None:
            assert found == new, faults.calls  # no success without the file
        elif isinstance(caught, OSError):
            assert found == old or (faults.last, faults.after) == ("replace", True), faults.calls
            assert caught.filename == str(target) and caught.filename2 is None, faults.calls
        assert [path for path in tmp_path.iterdir() if path != target] == [], faults.calls
        if faults.happened:
            seen.add(faults.last)
    naming = "link" if old is None else "replace"
    assert {"open", "write", "flush", "fsync", naming, "close"} <= seen
    assert ("fchmod" in seen) == (old is not None and os.name == "posix")


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # closed a moment later by Python
def test_an_interrupt_anywhere_leaves_the_old_file_or_the_new_one(tmp_path, monkeypatch):
    """Signals come between any two steps of Python, so after each of them one comes here."""
    target = tmp_path / "out"
    before = sys.gettrace()
    monkeypatch.setattr(os, "fsync", lambda _: None)  # takes most of the time
    for at in range(1, 10_000):
        target.write_bytes(OLD)
        steps = 0

        def trace(frame, event, _, at=at):
            nonlocal steps
            if frame.f_code.co_filename != files.__file__:
                return None
            frame.f_trace_opcodes = True
            steps += event == "opcode"
            if steps == at and event == "opcode":
                raise KeyboardInterrupt
            return trace

        interrupted = False
        try:
            sys.settrace(trace)
            with Output(target) as out:
                out.write(NEW)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            sys.settrace(before)
        out = None  # what is left of it
        assert target.read_bytes() in (OLD, NEW)
        assert [path.name for path in tmp_path.iterdir()] == ["out"], at
        if not interrupted:
            break
    assert at > 500 and target.read_bytes() == NEW


# ----------------------------------------------------------------------------- kills and rivals
KILLED = r"""
import os, signal, sys
import pytest
from seqtag.storage.output import Output
from tests.faults import Faults

class Killed(Faults):
    def run(self, name, call, args=(), half=None):
        if len(self.calls) + 1 == self._at:
            if half is not None:
                half()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().run(name, call, args, half)

target, *moments = sys.argv[1:]
for at in map(int, moments):
    child = os.fork()
    if not child:
        with pytest.MonkeyPatch.context() as patch:
            Killed(patch, at)
            with Output(target) as out:
                out.write(b"new\n" * 5_000)
        os._exit(0)
    killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    with open(target, "rb") as file:
        found = file.read()
    folder = os.path.dirname(target)
    print(int(killed), found[:4].decode().strip(), len(found), len(os.listdir(folder)) - 1)
"""


@posix
def test_a_process_killed_at_any_call_leaves_the_old_file_or_the_new_one(tmp_path):
    target = tmp_path / "out"
    target.write_bytes(OLD)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, target, *map(str, range(1, 60))],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    kills = [row for row in rows if row[0] == "1"]
    assert 15 < len(kills) < len(rows) == 59  # after the last call nothing is killed
    for _, text, size, left in rows:
        assert (text, int(size)) in (("old", len(OLD)), ("new", len(NEW)))
        assert int(left) <= 1  # each removes what the one before has left
    assert [row[1] for row in kills] == sorted((row[1] for row in kills), reverse=True)
    assert {row[3] for row in kills} == {"0", "1"}  # some had a temporary file
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


WRITING = """
import sys, time
from seqtag.storage.output import Output
with Output(sys.argv[1], overwrite=len(sys.argv) < 4) as out:
    out.write(sys.argv[2].encode() * 50_000)
    print("writing", flush=True)
    sys.stdin.readline()
"""


def writing(target: Path, text: str, *keep: str) -> subprocess.Popen[str]:
    """A process in the midst of writing a file; a line lets it finish."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITING, target, text, *keep],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL if keep else None,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "writing\n"
    return process


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("name", ["out", "out.b.gz", ".out"])
def test_a_file_that_appears_meanwhile_stays_and_the_new_one_is_kept(
    name, links, tmp_path, monkeypatch
):
    def refuse(*_args):
        raise OSError(errno.EPERM, "no hard links on this file system")

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    target = tmp_path / name
    for number in (2, 3):
        there = f"the new output is in .*-{number}"
        with (
            pytest.raises(FileExistsError, match=there) as found,
            Output(target, overwrite=False, compress=False) as out,
        ):
            out.write(NEW)
            target.write_bytes(OLD)
        assert found.value.filename == str(target)
        beside = Path(re.search("is in (.*);", str(found.value))[1])
        assert (target.read_bytes(), beside.read_bytes()) == (OLD, NEW)
    assert beside.name == {"out": "out-3", "out.b.gz": "out-3.b.gz", ".out": ".out-3"}[name]
    with Output(target, overwrite=False, compress=False) as out:
        out.write(OLD)  # the bytes that it has
    with Output(tmp_path / "other", overwrite=False) as out:
        out.write(NEW)
    assert (tmp_path / "other").read_bytes() == NEW
    assert len(list(tmp_path.iterdir())) == 4
    with (
        pytest.raises(FileExistsError, match=r"the new output is in .*new-2;"),
        Output(tmp_path / "new", overwrite=False) as out,
    ):
        out.write(NEW)
        (tmp_path / "new").symlink_to("nowhere")  # which looks like no file
    assert (tmp_path / "new-2").read_bytes() == NEW


@posix
def test_of_processes_that_may_not_overwrite_none_loses_its_bytes(tmp_path):
    target, texts = tmp_path / "out", "abcd"
    processes = [writing(target, text, "keep") for text in texts]
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    assert sorted(process.wait(60) for process in processes) == [0, 1, 1, 1]
    for process in processes:
        process.communicate()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out-2", "out-3", "out-4"]
    assert {path.read_bytes()[:1].decode() for path in tmp_path.iterdir()} == {*texts}


@posix
def test_what_a_killed_process_leaves_is_removed_and_said(tmp_path, caplog):
    target, other = tmp_path / "out", tmp_path / "out2"
    for path in (target, other):
        with writing(path, "half") as process:
            process.kill()
    assert len(list(tmp_path.iterdir())) == 2
    [left] = tmp_path.glob(f".seqtag-{files._mark('out')}-*")
    with caplog.at_level("INFO", "seqtag"), Output(target) as out:
        assert not left.exists()  # before it takes room itself
        out.write(b"new")
    assert caplog.messages == [f"{left} was left by a killed process; it was removed"]
    assert len(list(tmp_path.iterdir())) == 2  # that of another file is left to its next writer
    with Output(other) as out:
        out.write(b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out2"]


@posix
def test_of_two_processes_the_last_one_wins(tmp_path):
    target = tmp_path / "out"
    target.write_bytes(OLD)
    with writing(target, "a") as first, writing(target, "b") as second:
        assert len(list(tmp_path.iterdir())) == 3  # the second let the first one's file be
        with Output(target) as out:
            out.write(b"c")
        assert target.read_bytes() == b"c"
        second.communicate("\n")
        assert target.read_bytes() == b"b" * 50_000
        first.communicate("\n")
    assert (first.returncode, second.returncode) == (0, 0)
    assert target.read_bytes() == b"a" * 50_000
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_another_machine_may_write_is_left_alone_for_a_day(tmp_path, monkeypatch):
    target = tmp_path / "out"
    monkeypatch.setattr(files, "_HERE", "elsewhere")
    fresh, old = files._temporary_name(target), files._temporary_name(target)
    monkeypatch.undo()
    folder = files._temporary_name(target)
    for path in (fresh, old):
        path.write_bytes(b"half")
    yesterday = time.time() - 90_000
    os.utime(old, (yesterday, yesterday))
    folder.mkdir()  # nothing of ours
    os.utime(folder, (yesterday, yesterday))
    with Output(target) as out:
        out.write(b"new")
    assert set(tmp_path.iterdir()) == {target, fresh, folder}


def test_the_folder_is_not_looked_through_if_somebody_else_does(tmp_path, monkeypatch):
    monkeypatch.setattr(files.os, "listdir", lambda _: pytest.fail("looked through"))
    left = files._temporary_name(tmp_path / "out")
    left.touch()
    with Output(tmp_path / "out", tidy=False) as out:
        out.write(b"new")
    assert (tmp_path / "out").read_bytes() == b"new"
    assert left.exists()


@posix
def test_where_there_are_no_locks_age_decides(tmp_path, monkeypatch):
    import fcntl

    def refuse(*_):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", refuse)
    target = tmp_path / "out"
    fresh, old = files._temporary_name(target), files._temporary_name(target)
    for path in (fresh, old):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    with Output(target) as out:
        out.write(b"new")
    assert set(tmp_path.iterdir()) == {target, fresh}


@posix
def test_a_file_that_was_taken_before_it_was_locked_is_made_anew(tmp_path, monkeypatch):
    import fcntl

    real, calls = fcntl.flock, []

    def rival(number, how):
        calls.append(how)
        if len(calls) == 1:  # a rival looks at it, and removes it
            raise BlockingIOError(errno.EAGAIN, "locked")
        if len(calls) == 2:  # another one has just done so
            [path] = tmp_path.iterdir()
            path.unlink()
        return real(number, how)

    monkeypatch.setattr(fcntl, "flock", rival)
    with Output(tmp_path / "out") as out:
        out.write(b"new")
    assert len(calls) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


# ----------------------------------------------------------------------------- owners and lists
@pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() != 0, reason="needs the super-user")
def test_the_owner_and_the_group_are_kept(tmp_path):
    target, link = tmp_path / "out", tmp_path / "link"
    target.write_bytes(OLD)
    os.chown(target, 4321, 8765)
    target.chmod(0o4640)
    link.symlink_to("out")
    with Output(link) as out:
        [temporary] = set(tmp_path.iterdir()) - {target, link}
        assert (temporary.stat().st_uid, temporary.stat().st_gid) == (4321, 8765)
        out.write(b"new")
    found = target.stat()
    assert (found.st_uid, found.st_gid) == (4321, 8765)
    assert stat.S_IMODE(found.st_mode) == 0o640  # a program's rights are not for new bytes
    assert link.is_symlink() and target.read_bytes() == b"new"


def test_other_hard_links_go_on_naming_the_old_file(tmp_path):
    target, other = tmp_path / "out", tmp_path / "other"
    target.write_bytes(OLD)
    other.hardlink_to(target)
    with Output(target) as out:
        out.write(b"new")
    assert (target.read_bytes(), other.read_bytes()) == (b"new", OLD)


def access(*entries: tuple[int, int, int]) -> bytes:
    """A list of access as Linux keeps it: tag, permissions, number of the user or group."""
    head = (2).to_bytes(4, "little")
    parts = [(*entry[:2], entry[2] & 0xFFFFFFFF) for entry in entries]
    return head + b"".join(
        tag.to_bytes(2, "little") + may.to_bytes(2, "little") + who.to_bytes(4, "little")
        for tag, may, who in parts
    )


def with_access(path: Path, name: str, value: bytes) -> None:
    """Set a list of access, or skip the test where there are none."""
    if not hasattr(os, "setxattr"):
        pytest.skip("lists of access are Linux's here")
    try:
        os.setxattr(path, name, value)
    except OSError:
        pytest.skip("this file system has no lists of access")


# The owner may read and write, user 4321 may read, the group and others nothing.
READER = access((1, 6, -1), (2, 4, 4321), (4, 0, -1), (16, 4, -1), (32, 0, -1))


def test_the_list_of_access_is_kept(tmp_path):
    target = tmp_path / "out"
    target.write_bytes(OLD)
    with_access(target, files._ACCESS, READER)
    with Output(target) as out:
        out.write(b"new")
    assert os.getxattr(target, files._ACCESS) == READER
    with pytest.MonkeyPatch.context() as patch:

        def refuse(*_):
            raise OSError(errno.ENOTSUP, "no lists")

        patch.setattr(os, "setxattr", refuse)
        with Output(target) as out:
            out.write(b"newer")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600  # the mask must not become the group's


def test_the_list_of_the_folder_gives_nobody_what_the_old_file_did_not(tmp_path):
    target = tmp_path / "out"
    target.write_bytes(OLD)
    target.chmod(0o640)
    with_access(tmp_path, "system.posix_acl_default", READER)
    with Output(target) as out:
        out.write(b"new")
    assert files._ACCESS not in os.listxattr(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    with Output(tmp_path / "new") as out:
        out.write(b"new")
    assert files._ACCESS in os.listxattr(tmp_path / "new")  # as any new file there


# ----------------------------------------------------------------------------- names
def test_links_that_go_round_are_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links") as caught, Output(tmp_path / "a"):
        pass
    assert (caught.value.errno, caught.value.filename) == (errno.ELOOP, str(tmp_path / "a"))


def test_names_of_any_length_have_a_temporary_file(tmp_path):
    for name in ("n" * 255, "\udcff" * 85 if os.name == "posix" else "x"):
        with Output(tmp_path / name) as out:
            out.write(b"new")
        assert (tmp_path / name).read_bytes() == b"new"
        with (
            pytest.raises(FileExistsError, match="the new output is in"),
            Output(tmp_path / name, overwrite=False) as out,
        ):
            out.write(b"newer")
    assert sum(path.read_bytes() == b"newer" for path in tmp_path.iterdir()) == 2


def test_standard_input_is_an_input(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(OLD)
    with path.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        with pytest.raises(CorpusError, match="expected an output file other than the input '-'"):
            check_output(path, ["-"])
        check_output(tmp_path / "b", ["-"])


def test_a_device_tells_of_a_failing_close():
    with pytest.raises(OSError, match="Input/output") as caught, Output(os.devnull) as out:
        real = out._file

        class Failing:
            def __getattr__(self, name):
                return getattr(real, name)

            def close(self):
                real.close()
                raise OSError(errno.EIO, os.strerror(errno.EIO))

        out._file = Failing()
    assert caught.value.filename == os.devnull


# ----------------------------------------------------------------------------- who writes
WRITES = re.compile(
    r"""open\((?:[^()]*,\s*)?["'](?=[rwxabt+]*[wxa+])[rwxabt+]+["']"""
    r"""|(?<!formatter)\.write_(?:text|bytes)\("""
    r"""|os\.(?:replace|rename|open|mkdir|makedirs)\(|\.rename\(|\.mkdir\(|tempfile\.|shutil\."""
)
KNOWN = {
    "cli/serve.py": "opens the null device in place of standard streams that are closed",
    "serve/metrics.py": "files of metrics, which workers map into memory",
    "catalogue/fetch.py": "removes a treebank that it refuses",
    "cli/__init__.py": "the null device, for a standard output that is gone",
    "cli/models.py": "removes models when it is asked to; asks on the terminal",
    "integrations/spacy.py": "the folder that spaCy asks for; the model in it is saved as any",
    "storage/output.py": "the one writer",
    "storage/places.py": "folders of outputs; what is sent to a store when it is complete",
    "training/named.py": "the folder of models, its lock, and the name of a complete model",
}
"""Modules that write otherwise than by `Output`, and what."""


def test_whoever_writes_a_file_does_so_by_the_one_writer():
    """Add a module here only with tests of its own under faults."""
    package = Path(files.__file__).parents[1]
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if WRITES.search(
            re.sub(r"^\s*>>>.*|^\s*\.\.\. .*", "", path.read_text("utf-8"), flags=re.M)
        )
    }
    assert found == KNOWN.keys()


def test_the_bytes_are_on_disk_before_the_file_gets_its_name(tmp_path, monkeypatch):
    """Otherwise a power failure may leave the new name with an empty file."""
    calls = []
    sync, replace = os.fsync, Path.replace

    def synced(number):
        calls.append("folder" if stat.S_ISDIR(os.fstat(number).st_mode) else "file")
        sync(number)

    def renamed(path, target):
        calls.append("name")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    with Output(tmp_path / "a") as out:
        out.write(b"new")
    assert calls[:2] == ["file", "name"]
    assert "folder" in calls[2:] or sys.platform == "win32"
