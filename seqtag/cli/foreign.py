"""Other distributions that install a package seqtag; ``seqtag --version`` reports them, too."""

from __future__ import annotations

import sys
from pathlib import Path

from seqtag.version import DISTRIBUTION


def foreign_packages(*, by_files: bool = False) -> list[str]:
    """Return other distributions that are called seqtag or, `by_files`, install a package seqtag.

    importlib.metadata would do the same, but takes longer to import than this takes to run.
    """
    ours = DISTRIBUTION.replace("-", "_")
    found = set()
    for folder in map(Path, sys.path):
        for info in folder.glob("*-info" if by_files else "seqtag-*-info"):
            name, _, version = info.stem.partition("-")
            record = info / "RECORD"
            if name == "seqtag" or (
                by_files
                and name != ours
                and record.is_file()
                and b"\nseqtag/__init__.py," in b"\n" + record.read_bytes()
            ):
                found.add(f"{name} {version}")
    return sorted(found)


def describe_foreign(found: list[str]) -> str:
    """Return what to do about foreign distributions."""
    names = " ".join(each.split()[0] for each in found)
    return (
        f"{', '.join(found)} provides the import name seqtag, too, and may replace files of "
        f"{DISTRIBUTION}; run pip uninstall {names}, then repeat your pip install command with "
        "--force-reinstall"
    )
