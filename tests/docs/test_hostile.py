"""The tables of docs/reliability.md on memory, and the script that makes them."""

import json
import sys
from random import Random

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


def test_tables_of_the_page_are_the_limits_of_the_code_and_the_stored_results():
    from benchmarks import hostile

    page = hostile.PAGE.read_text("utf-8")
    for name, table in hostile.tables(json.loads(hostile.STORE.read_text("utf-8"))).items():
        assert f"<!-- {name}: written by python -m benchmarks.hostile -->\n\n{table}\n" in page


def test_all_hostile_files_can_be_written(tmp_path):
    from benchmarks import hostile

    for file in hostile.FILES.values():
        hostile.write(file, 1000, tmp_path / "file")
        start = (tmp_path / "file").read_bytes()[:2]
        assert (start == b"\x1f\x8b") == file.packed
    assert hostile.hostile_request(Random(1))[0]


@pytest.mark.nightly
def test_memory_does_not_grow_with_the_file_or_the_number_of_requests(tmp_path):
    from benchmarks import hostile

    file = hostile.FILES["65,000 words in each sentence of CoNLL-U"]
    hostile.write(file, 5_000_000, tmp_path / "short")
    hostile.write(file, 20_000_000, tmp_path / "long")
    short, long = (hostile.peak(file, tmp_path / name)[0] for name in ("short", "long"))
    assert long < min(1.1 * short, 550)
    *_, after = hostile.measure_server(600, workers=1)
    assert after < 250
