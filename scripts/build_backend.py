"""The build backend: scikit-build-core, with the sdist made from the list of tracked files.

Everything else is scikit-build-core's own, see `[tool.scikit-build]` in pyproject.toml.
"""

from __future__ import annotations

import compileall
import shutil
import subprocess
import sysconfig
from pathlib import Path

from scikit_build_core import build

ROOT = Path(__file__).resolve().parents[1]


def __getattr__(name: str) -> object:
    """The hooks that are not changed here."""
    return getattr(build, name)


def tracked_files() -> list[str] | None:
    """Files of the repository that git tracks, or None where the folder is no repository."""
    try:
        top, *names = (
            subprocess.run(
                ["git", "-C", ROOT, *command], capture_output=True, check=True, text=True
            ).stdout
            for command in (["rev-parse", "--show-toplevel"], ["ls-files", "-z"])
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    if Path(top.rstrip("\n")).resolve() != ROOT:  # unpacked inside a repository of something else
        return None
    return [name for name in names[0].split("\0") if (ROOT / name).is_file()]


def build_sdist(sdist_directory: str, config_settings: dict | None = None) -> str:
    """Pack the tracked files, and nothing else; all of an unpacked sdist that is not ignored."""
    files = tracked_files()
    if files is None:
        chosen = {"sdist.exclude": ["/PKG-INFO"]}  # is written anew
    else:
        chosen = {
            "sdist.inclusion-mode": "explicit",
            "sdist.include": [f"/{name}" for name in files],
        }
    settings = {**(config_settings or {}), **chosen}
    return build.build_sdist(sdist_directory, settings)


def _refuse_free_threading() -> None:
    """Refuse an interpreter without Python's lock, on which the kernel's objects rely."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        msg = (
            "seqtag: expected a Python with its global lock, found a free-threaded one, on which "
            "seqtag has not been tested; install it with the Python of the same version without t"
        )
        raise SystemExit(msg)


def build_wheel(
    wheel_directory: str,
    config_settings: dict | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build a wheel, but not for free-threaded Python."""
    _refuse_free_threading()
    return build.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str,
    config_settings: dict | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Install in place, with bytecode as `pip install .` makes it, so that commands start fast."""
    _refuse_free_threading()
    compileall.compile_dir(ROOT / "seqtag", quiet=2)
    # pip builds in a new isolated environment each time, and scikit-build-core would then remove
    # the objects, too. Remove its record of the environment and all that CMake knows of it:
    # CMake configures from scratch, and only what has changed is compiled again.
    for record in ROOT.glob("build/*/.skbuild-info.json"):
        record.unlink()
        record.with_name("CMakeCache.txt").unlink(missing_ok=True)
        for compiler in record.parent.glob("CMakeFiles/[0-9]*"):
            shutil.rmtree(compiler)
    return build.build_editable(wheel_directory, config_settings, metadata_directory)
