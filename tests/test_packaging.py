"""What is shipped, and what .ci/run promises: tracked files, notices, the README's own commands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from typing import TYPE_CHECKING

import pytest

import seqtag
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

TRACKED = (
    "LICENSE",
    "LICENSES/nanobind.txt",
    "LICENSES/robin_map.txt",
    "README.md",
    "benchmarks/__main__.py",
    "docs/tour/order.svg",
    "models/LICENSE.txt",
    "pyproject.toml",
    "scripts/build_backend.py",
    "scripts/package_page.py",
    "seqtag/version.py",
    "tests/test_packaging.py",
)


CI_RUN = (ROOT / ".ci" / "run").read_text("utf-8")
CI_FUNCTIONS = (ROOT / ".ci" / "functions.sh").read_text("utf-8")


def quick_start() -> list[str]:
    """The commands of the README's quick start."""
    text = (ROOT / "README.md").read_text("utf-8").split("## Quick start")[1].split("\n## ")[0]
    return re.findall(r"^```sh\n(.*)\n```$", text, re.M)


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", folder, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def small_tree(folder: Path) -> Path:
    """A few of our files, to be tracked."""
    for name in TRACKED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def sdist(tree: Path, out: Path) -> tarfile.TarFile:
    """The source distribution that the backend of a tree builds."""
    subprocess.run(
        [sys.executable, "-c", f"import build_backend as b; b.build_sdist({str(out)!r})"],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tree / "scripts"), *sys.path])},
        check=True,
        capture_output=True,
    )
    [path] = out.glob("*.tar.gz")
    return tarfile.open(path)


def names(archive: tarfile.TarFile) -> list[str]:
    """Names in an archive, without its top folder."""
    return sorted(name.split("/", 1)[1] for name in archive.getnames())


# ----------------------------------------------------------------- the source distribution
@pytest.fixture
def archive(tmp_path):
    """The sdist of a tracked tree with other things lying about."""
    pytest.importorskip(
        "scikit_build_core", reason="needs scikit-build-core: pip install -e '.[test]'"
    )
    tree = small_tree(tmp_path / "tree")
    git(tree, "init", "--quiet")
    git(tree, "add", "--all")
    (tree / "notes.txt").touch()
    (tree / "seqtag" / "scratch.py").touch()
    (tree / "build").mkdir()
    (tree / "build" / "left.o").touch()
    with sdist(tree, tmp_path / "first") as built:
        yield built


def test_the_sdist_holds_the_tracked_files_and_nothing_else(archive):
    assert names(archive) == sorted([*TRACKED, "PKG-INFO"])


def test_an_unpacked_sdist_gives_the_same_sdist(archive, tmp_path):
    archive.extractall(
        tmp_path / "unpacked", **({"filter": "data"} if sys.version_info >= (3, 12) else {})
    )
    [tree] = (tmp_path / "unpacked").iterdir()
    git(tmp_path, "init", "--quiet")  # a repository around it is not ours
    with sdist(tree, tmp_path / "second") as again:
        assert names(again) == names(archive)


def test_metadata_say_the_version_once_and_name_every_licence(archive):
    member = next(name for name in archive.getnames() if name.endswith("PKG-INFO"))
    metadata = archive.extractfile(member).read().decode()
    assert f"\nVersion: {seqtag.__version__}\n" in metadata
    assert set(re.findall(r"^License-File: (.*)$", metadata, re.M)) == {
        name for name in TRACKED if name.startswith("LICENSE") or name.startswith("models/")
    }
    versions = re.findall(r"^Classifier: .* :: (3\.\d+)$", metadata, re.M)
    assert f"{sys.version_info[0]}.{sys.version_info[1]}" in versions


def test_no_link_of_the_package_page_leads_into_the_repository(archive):
    member = next(name for name in archive.getnames() if name.endswith("PKG-INFO"))
    page = archive.extractfile(member).read().decode()
    assert "\nDescription-Content-Type: text/markdown\n" in page
    assert re.findall(r"\]\((?!https?:|#)[^)]*\)", page) == []
    assert "lecture (docs/from-rosenblatt-to-viterbi.md)" in page
    assert "<picture>" not in page


# ----------------------------------------------------------------- what pyproject.toml promises
@pytest.mark.skipif(sys.version_info < (3, 11), reason="needs tomllib")
def test_an_installation_without_a_compiler_says_so_in_one_line():
    import tomllib

    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["scikit-build"]
    [without] = [each for each in build["overrides"] if each["if"].get("failed")]
    assert without["messages"]["after-success"] == (
        "{yellow}seqtag was built without its native kernel: the same answers, much more slowly; "
        "for speed install a C++17 compiler and repeat the command with --no-cache-dir "
        "--force-reinstall, because pip may have this slow wheel in its cache"
    )
    assert build["wheel"]["packages"]["seqtag/corpora"] == "corpora"
    assert "seqtag/corpora/sample/**" in build["wheel"]["exclude"]


# ----------------------------------------------------------------- .ci/run
def test_ci_runs_the_commands_of_the_readme():
    function = re.search(r"^quick_start\(\) \{.*?^\}$", CI_FUNCTIONS, re.M | re.S)[0]
    found = [
        subprocess.run(
            ["bash", "-c", f"{function}\nquick_start {n}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.rstrip("\n")
        for n in (1, 2)
    ]
    assert found == quick_start()
    assert all(f'bash -c "$(quick_start {n})"' in CI_RUN for n in (1, 2))


def test_nightly_parts_of_changed_packages(tmp_path):
    """None without git, else those whose files are not the recorded ones."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "nightly", tmp_path / ".ci" / "nightly")
    for folder in ("seqtag/batch", "seqtag/report"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.py").touch()

    def changed():
        command = ["bash", tmp_path / ".ci" / "nightly", "--changed"]
        env = os.environ | {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
        return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout

    assert changed() == ""
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    every = changed().split()
    assert {"ray", "threads", "browsers"} < {*every}
    env = {name: value for name, value in os.environ.items() if name != "SEQTAG_NIGHTLY_PASSED"}
    command = ["bash", tmp_path / ".ci" / "nightly", "--record", *every]
    subprocess.run(command, check=True, env=env)
    assert changed() == ""
    (tmp_path / "seqtag/batch/a.py").write_text("changed")
    assert changed().split() == ["threads", "ray"]
    git(tmp_path, "add", "--all")
    assert changed().split() == ["threads", "ray"]
    (tmp_path / "seqtag/report/a.py").write_text("changed")
    assert changed().split() == ["threads", "ray", "browsers"]


@pytest.mark.parametrize("hook", ["build_wheel", "build_editable"])
def test_the_build_refuses_free_threaded_python(hook, tmp_path):
    """Its kernel relies on Python's lock."""
    program = (
        "import sysconfig\n"
        "found = sysconfig.get_config_var\n"
        "sysconfig.get_config_var = lambda name: name == 'Py_GIL_DISABLED' or found(name)\n"
        f"import build_backend\nbuild_backend.{hook}({str(tmp_path)!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "scripts"), *sys.path])},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("seqtag: expected a Python with its global lock, found a free-")
