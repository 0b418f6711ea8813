"""Shared fixtures, hypothesis profiles, signals as in a terminal, and the optional real corpora."""

from __future__ import annotations

import logging
import os
import signal
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from seqtag.errors import printable

settings.register_profile("dev", max_examples=50, deadline=None)
if not os.access(".", os.W_OK):  # a folder that is read-only after the installation
    settings.register_profile("dev", settings.get_profile("dev"), database=None)
slow = [HealthCheck.too_slow]
settings.register_profile(
    "ci", settings.get_profile("dev"), derandomize=True, suppress_health_check=slow
)
# For `pytest --hypothesis-profile=nightly`, with other examples each time.
settings.register_profile("nightly", max_examples=300, deadline=None, suppress_health_check=slow)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

ROOT = Path(__file__).resolve().parents[1]

# A shell starts `command &` in a script with SIGINT ignored, as many CI systems do, and each child
# inherits that. Restore the default for the tests, the workers of pytest-xdist and all subprocesses.
if (
    threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def log_of_a_library():
    """Notes go where the program that imports seqtag wants them; commands of other tests say otherwise."""
    log = logging.getLogger("seqtag")
    log.handlers[:], log.propagate = [], True
    log.setLevel(logging.NOTSET)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="run the exhaustive tests, too")


def pytest_configure(config: pytest.Config) -> None:
    # Its cache cannot be written in a folder that is read-only after the installation.
    config.addinivalue_line("filterwarnings", "ignore::pytest.PytestCacheWarning")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests marked `nightly` unless --nightly is given."""
    if not config.getoption("--nightly"):
        exhaustive = {item for item in items if item.get_closest_marker("nightly")}
        config.hook.pytest_deselected(items=list(exhaustive))
        items[:] = [item for item in items if item not in exhaustive]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Let what tests log of odd file names pass between the processes of pytest-xdist."""
    report = yield
    report.sections = [(name, printable(text)) for name, text in report.sections]
    return report


@pytest.fixture(scope="session")
def corpora_dir() -> Path:
    """The folder of real corpora: $SEQTAG_CORPORA, or ../shared/corpora beside the repository."""
    folder = Path(os.environ.get("SEQTAG_CORPORA", ROOT.parent / "shared" / "corpora"))
    if not folder.is_dir():
        pytest.skip("real corpora not found; set SEQTAG_CORPORA to the folder that holds them")
    return folder


@pytest.fixture(scope="session")
def sample_dir() -> Path:
    """The sample corpus of the repository."""
    return ROOT / "corpora" / "sample"
