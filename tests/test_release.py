"""What scripts/release refuses and finds, without building anything."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from types import SimpleNamespace

import pytest

import seqtag
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="scripts/release needs tomllib")

READY = {
    "seqtag/version.py": '__version__ = "1.2.3"\n',
    "CITATION.cff": "version: 1.2.3\n",
    "CHANGELOG.md": "# Changelog\n\n## 1.2.3 (2030-01-31)\n",
    "pyproject.toml": """
[project]
authors = [{name = "a"}]
maintainers = [{name = "b"}]
urls = {Source = "https://example.org"}
[[tool.dynamic-metadata]]
address = "https://example.org"
""",
}


@pytest.fixture(scope="module")
def script():
    return SimpleNamespace(**runpy.run_path(str(ROOT / "scripts" / "release")))


def repository(folder, **changed):
    """A repository that is ready to be released, but for some files."""
    for name, text in (READY | changed).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "a"]
    for command in (["init", "--quiet"], ["add", "--all"], commit):
        subprocess.run(["git", "-C", folder, *command], check=True)
    return folder


# ----------------------------------------------------------------- what is refused
def test_a_commit_that_is_ready_is_not_refused(script, tmp_path):
    assert script.obstacles(repository(tmp_path)) == []


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "CITATION.cff",
            "version: 1.2.2\n",
            "CITATION.cff: expected version: 1.2.3, found 1.2.2",
        ),
        (
            "CHANGELOG.md",
            "## 1.2.3 (unreleased)\n",
            "CHANGELOG.md: expected a section ## 1.2.3 (YEAR-MONTH-DAY), "
            "found ## 1.2.3 (unreleased)",
        ),
        (
            "CHANGELOG.md",
            "## 1.2.2 (2030-01-01)\n",
            "CHANGELOG.md: expected a section ## 1.2.3 (YEAR-MONTH-DAY), found none",
        ),
    ],
)
def test_versions_that_differ_are_refused(script, tmp_path, name, text, expected):
    assert script.obstacles(repository(tmp_path, **{name: text})) == [expected]


def test_metadata_without_people_and_addresses_are_refused(script, tmp_path):
    bare = "[project]\nname = 'x'\n[[tool.dynamic-metadata]]\nprovider = 'y'\n"
    assert script.obstacles(repository(tmp_path, **{"pyproject.toml": bare})) == [
        "pyproject.toml: expected authors in [project], found none",
        "pyproject.toml: expected maintainers in [project], found none",
        "pyproject.toml: expected urls in [project], found none",
        "pyproject.toml: expected address in [[tool.dynamic-metadata]], found none",
    ]


def test_versions_agree_and_contributing_names_what_is_missing(script):
    version = seqtag.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    headings = [line for line in changelog.splitlines() if line.startswith("## ")]
    released = [line for line in headings if not line.endswith(" (unreleased)")]
    assert released[0].startswith(f"## {version.partition('.dev')[0]} (")
    assert len(headings) - len(released) <= 1
    section = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("## Release")[1]
    assert all(f"`{field}`" in section for field in (*script.REQUIRED, "address"))


# ----------------------------------------------------------------- the workflow
def test_the_workflow_calls_what_is_there():
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    assert "never been run" in text
    for path in re.findall(r"scripts/\w+", text):
        assert (ROOT / path).is_file()
    versions = re.findall(r"^            (3\.\d+)$", text, re.M)
    assert (
        tuple(versions)
        == SimpleNamespace(**runpy.run_path(str(ROOT / "scripts" / "release"))).PYTHONS
    )
