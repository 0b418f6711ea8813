"""Installation by pip without a compiler, and how the fast kernel is installed afterwards."""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path

import pytest

from seqtag.engine.backend import NOT_BUILT, REINSTALL
from seqtag.version import DISTRIBUTION
from tests.conftest import ROOT
from tests.test_packaging import sdist


@pytest.mark.nightly
def test_pip_keeps_the_slow_wheel_until_its_cache_is_bypassed(tmp_path):
    with sdist(ROOT, tmp_path) as built:
        archive = f"{DISTRIBUTION} @ {Path(built.name).as_uri()}"  # by name: pip caches its wheel
    venv.create(tmp_path / "venv", with_pip=True)
    env = {name: value for name, value in os.environ.items() if not name.startswith("SEQTAG_")}
    env.pop("PIP_NO_CACHE_DIR", None)
    env["PIP_CACHE_DIR"] = str(tmp_path / "cache")

    def run(*command, **changed):
        return subprocess.run(
            [tmp_path / "venv" / "bin" / command[0], *command[1:]],
            env=env | changed,
            cwd=tmp_path,
            input="Time flies.",
            capture_output=True,
            text=True,
            check=True,
        )

    installed = run("pip", "install", "-v", archive, CXX="/bin/false")
    assert "seqtag was built without its native kernel" in installed.stdout + installed.stderr
    assert run("seqtag", "--version").stdout.endswith(" (reference backend)\n")
    tagged = run("seqtag", "tag", "--only", "upos", "--to", "tagged")
    assert tagged.stdout == "Time/NOUN flies/VERB ./PUNCT\n"
    assert tagged.stderr.count(NOT_BUILT) == 1

    again = ("pip", "install", "--force-reinstall", "--no-deps", archive)
    run(*again)
    assert run("seqtag", "--version").stdout.endswith(" (reference backend)\n")
    assert "--no-cache-dir --force-reinstall" in REINSTALL
    run(*again, "--no-cache-dir")
    assert run("seqtag", "--version").stdout.endswith(" (native backend)\n")
    assert NOT_BUILT not in run("seqtag", "tag").stderr


@pytest.mark.nightly
def test_a_program_that_pyinstaller_froze_tags(tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    bin_folder = tmp_path / "venv" / "bin"
    found = subprocess.run([bin_folder / "pip", "install", "-q", "pyinstaller"], check=False)
    if found.returncode:
        pytest.skip("PyInstaller cannot be installed here")
    with sdist(ROOT, tmp_path) as built:
        subprocess.run([bin_folder / "pip", "install", "-q", built.name], check=True)
    program = tmp_path / "program.py"
    program.write_text(
        'import seqtag\nprint([word.upos for word in seqtag.load("en")("Time flies.").words])\n'
        "print(seqtag.load('en').tagger('upos').tag(['Birds', 'fly']))\n"
    )
    subprocess.run([bin_folder / "pyinstaller", "--onedir", program], cwd=tmp_path, check=True)
    frozen = tmp_path / "dist" / "program" / "program"
    done = subprocess.run(
        [frozen], capture_output=True, text=True, check=True, env={"HOME": str(tmp_path)}
    )
    assert done.stdout == "['NOUN', 'VERB', 'PUNCT']\n['NOUN', 'VERB']\n"
