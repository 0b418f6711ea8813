"""Too little memory at any allocation: a message and an exit code, or all as without the fault."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.memory_faults import COMMANDS, FINE, Faults
from tests.strategies import needs_native

pytestmark = [
    needs_native,
    pytest.mark.skipif(
        sys.platform != "linux" or not shutil.which("cc"), reason="needs LD_PRELOAD"
    ),
]


@pytest.fixture(scope="module")
def faults(tmp_path_factory) -> Faults:
    return Faults(Path(tmp_path_factory.mktemp("faults")))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="CPython 3.10 itself ends without a message")
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_end_with_a_message_and_without_half_a_file(faults, name):
    """`.ci/nightly memory` tries many more allocations."""
    outcomes = list(faults.outcomes(COMMANDS[name], 4))
    assert len(outcomes) == 8
    assert [(what, fault, found.err) for what, fault, found in outcomes if what not in FINE] == []
    assert any(what == "refused" for what, *_ in outcomes)
