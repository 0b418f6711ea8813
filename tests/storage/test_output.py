"""Output files under faults, kills, rivals and owners; what is written straight."""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from seqtag.errors import CorpusError
from seqtag.storage import output as files
from seqtag.storage.output import atomic, check_output
from tests.faults import each_fault

OLD, NEW = b"old\n" * 3, b"new\n" * 5_000  # more than a buffer
SUFFIXES = ("", ".gz", ".bz2", ".xz", ".zst")
KINDS = tuple(
    (error, after)
    for error in (errno.ENOSPC, errno.EIO, KeyboardInterrupt)
    for after in (False, True)
)


# ----------------------------------------------------------------------------- faults
@pytest.mark.parametrize("old", [OLD, None], ids=["over a file", "anew"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_fault_at_any_call_leaves_the_old_file_or_the_new_one(suffix, old, tmp_path):
    if suffix == ".zst":
        pytest.importorskip("backports.zstd" if sys.version_info < (3, 14) else "compression.zstd")
    target = tmp_path / f"out{suffix}"
    with atomic(target) as out:
        out.write(NEW)
    new, seen = target.read_bytes(), set()
    for faults in each_fault(pytest.MonkeyPatch, *KINDS):
        target.unlink(missing_ok=True)
        if old is not None:
            target.write_bytes(old)
        caught = None
        try:
            with atomic(target) as out:
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
    assert {"open", "write", "flush", "fsync", "replace", "close"} <= seen
    assert ("fchmod" in seen) == (old is not None)


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
            with atomic(target) as out:
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
    assert at > 200 and target.read_bytes() == NEW


# ----------------------------------------------------------------------------- kills and rivals
WRITING = """
import sys
from seqtag.storage.output import atomic
with atomic(sys.argv[1]) as out:
    out.write(sys.argv[2].encode() * 50_000)
    print("writing", flush=True)
    sys.stdin.readline()
"""


def writing(target: Path, text: str) -> subprocess.Popen[str]:
    """A process in the midst of writing a file; a line lets it finish."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITING, target, text],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "writing\n"
    return process


def test_a_killed_process_leaves_the_old_file(tmp_path):
    target = tmp_path / "out"
    target.write_bytes(OLD)
    with writing(target, "half") as process:
        process.kill()
    assert target.read_bytes() == OLD
    [left] = set(tmp_path.iterdir()) - {target}
    assert re.fullmatch(r"\.seqtag-\w+\.tmp", left.name)


def test_of_two_processes_the_last_one_wins(tmp_path):
    target = tmp_path / "out"
    target.write_bytes(OLD)
    with writing(target, "a") as first, writing(target, "b") as second:
        assert len(list(tmp_path.iterdir())) == 3  # the second let the first one's file be
        with atomic(target) as out:
            out.write(b"c")
        assert target.read_bytes() == b"c"
        second.communicate("\n")
        assert target.read_bytes() == b"b" * 50_000
        first.communicate("\n")
    assert (first.returncode, second.returncode) == (0, 0)
    assert target.read_bytes() == b"a" * 50_000
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


# ----------------------------------------------------------------------------- permissions and owners
def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400, 0o666, 0o4640])
def test_output_is_as_private_as_the_file_it_replaces(mode, tmp_path):
    target = tmp_path / "out"
    target.write_bytes(OLD)
    target.chmod(mode)
    created = []

    def spy(name, flags, mode=0o777, **rest):
        number = opened(name, flags, mode, **rest)
        created.append(stat.S_IMODE(os.fstat(number).st_mode))
        return number

    opened = os.open
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", spy)
        with atomic(target) as out:
            [temporary] = set(tmp_path.iterdir()) - {target}
            assert created == [0o600]
            assert mode_of(temporary) == mode & 0o777  # before the first byte
            out.write(NEW)
    assert (mode_of(target), target.read_bytes()) == (mode & 0o777, NEW)


def test_new_output_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        with atomic(tmp_path / "out") as out:
            out.write(NEW)
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "out") == 0o640


def test_a_group_that_may_not_be_kept_gains_nothing(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError

    target = tmp_path / "out"
    target.write_bytes(OLD)
    target.chmod(0o664)
    monkeypatch.setattr(os, "fchown", refuse)
    with atomic(target) as out:
        out.write(NEW)
    assert mode_of(target) == 0o644


@pytest.mark.skipif(os.geteuid() != 0, reason="needs the super-user")
def test_the_owner_and_the_group_are_kept(tmp_path):
    target = tmp_path / "out"
    target.write_bytes(OLD)
    os.chown(target, 4321, 8765)
    with atomic(target) as out:
        out.write(NEW)
    assert (target.stat().st_uid, target.stat().st_gid) == (4321, 8765)


def test_other_hard_links_go_on_naming_the_old_file(tmp_path):
    target, other = tmp_path / "out", tmp_path / "other"
    target.write_bytes(OLD)
    other.hardlink_to(target)
    with atomic(target) as out:
        out.write(b"new")
    assert (target.read_bytes(), other.read_bytes()) == (b"new", OLD)


# ----------------------------------------------------------------------------- names
def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "real").write_bytes(OLD)
    (tmp_path / "link").symlink_to("real")
    with atomic(tmp_path / "link") as out:
        out.write(NEW)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_bytes() == NEW


def test_links_that_go_round_are_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links") as caught, atomic(tmp_path / "a"):
        pass
    assert (caught.value.errno, caught.value.filename) == (errno.ELOOP, str(tmp_path / "a"))


@pytest.mark.parametrize("name", ["n" * 255, "\udcff" * 85])
def test_names_of_any_length_have_a_temporary_file(name, tmp_path):
    with atomic(tmp_path / name) as out:
        out.write(NEW)
    assert (tmp_path / name).read_bytes() == NEW


def test_errors_name_the_target(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, atomic(tmp_path / "none" / "out"):
        pass
    assert caught.value.filename == str(tmp_path / "none" / "out")
    with pytest.raises(IsADirectoryError), atomic(tmp_path):
        pass


@pytest.mark.parametrize("suffix", SUFFIXES[1:])
def test_compressed_output_is_reproducible(suffix, tmp_path):
    if suffix == ".zst":
        pytest.importorskip("backports.zstd" if sys.version_info < (3, 14) else "compression.zstd")
    names = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for name in names:
        with atomic(name) as out:
            assert out.write(NEW) == len(NEW)
            out.flush()
            assert not name.exists()
    assert names[0].read_bytes() == names[1].read_bytes() != NEW
    with atomic(names[0], compress=False) as out:
        out.write(NEW)
    assert names[0].read_bytes() == NEW


# ----------------------------------------------------------------------------- written straight
def test_standard_output(monkeypatch):
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer))
    with atomic("-") as out:
        out.write(b"x\r\n")
    assert buffer.getvalue() == b"x\r\n"
    with pytest.raises(RuntimeError), atomic("/dev/stdout"):
        raise RuntimeError
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(OSError, match="standard output is closed: '<stdout>'"), atomic("-"):
        pass


def test_a_device_is_written_and_its_errors_name_it():
    with atomic(os.devnull) as out:
        out.write(NEW)
    assert not Path(os.devnull).is_file()
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):  # noqa: SIM117
        with atomic("/dev/full") as out:
            out.write(b"x")


def test_a_compressed_stream_that_was_not_finished_does_not_look_so(tmp_path):
    os.mkfifo(tmp_path / "pipe.gz")

    def write():
        with pytest.raises(RuntimeError), atomic(tmp_path / "pipe.gz") as out:
            out.write(NEW)
            raise RuntimeError

    writer = threading.Thread(target=write)
    writer.start()
    data = (tmp_path / "pipe.gz").read_bytes()
    writer.join()
    with pytest.raises(EOFError):
        gzip.decompress(data)


def test_an_output_must_not_be_an_input(tmp_path, monkeypatch):
    path, linked, new = (tmp_path / name for name in "abc")
    path.write_bytes(OLD)
    linked.hardlink_to(path)
    with pytest.raises(CorpusError, match=r"expected an output file other than .*another"):
        check_output(linked, ["-", path])
    check_output("-", [path])
    check_output(path, ["-", tmp_path / "none", tmp_path])
    check_output(new, [path])
    check_output(os.devnull, [os.devnull])
    with path.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        with pytest.raises(CorpusError, match="expected an output file other than the input '-'"):
            check_output(path, ["-"])
        check_output(new, ["-"])


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
    "integrations/spacy.py": "the folder that spaCy asks for; the model in it is saved as any",
    "storage/output.py": "the one writer",
    "batch/files.py": "folders of outputs",
    "cli/annotate.py": "the file of decisions, to which each one is added",
    "tagging/document.py": "names the line that writes a document",
    "training/named.py": "the folder of models, its lock, and the name of a complete model",
}
"""Modules that write otherwise than by `atomic`, and what."""


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
        calls.append("file")
        sync(number)

    def renamed(path, target):
        calls.append("name")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    with atomic(tmp_path / "a") as out:
        out.write(b"new")
    assert calls == ["file", "name"]
