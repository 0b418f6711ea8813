"""The recipes of the pages for rows of tables, with the libraries that are here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import seqtag
from tests.batch.engines import on_ray
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "how-to" / "tables.md").read_text("utf-8")
RECIPES = dict(re.findall(r"^```py\n# ([^\n]*)\n(.*?)^```$", PAGE, re.M | re.S))
TEXTS = ["It works.", None, "", "Why? Time flies."] * 50


@pytest.fixture
def rows(tmp_path, monkeypatch) -> list[str]:
    """A Parquet file with texts, some of them missing; and what each becomes."""
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)
    Path("rows").mkdir()
    table = pyarrow.table({"id": range(len(TEXTS)), "text": TEXTS})
    parquet.write_table(table, "rows/0.parquet", row_group_size=50)
    return [str(each) for each in seqtag.load("en").pipe(text or "" for text in TEXTS)]


def test_there_is_one_for_each():
    assert sorted(RECIPES) == ["Ray Data", "datasets"]


@pytest.mark.filterwarnings("ignore")
def test_datasets(rows, tmp_path, monkeypatch):
    pytest.importorskip("datasets", reason="needs datasets: pip install datasets")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    found: dict[str, object] = {}
    exec(compile(RECIPES["datasets"], "datasets", "exec"), found)
    assert found["tagged"]["conllu"][:] == rows
    assert found["tagged"]["id"][:] == [*range(len(TEXTS))]


class TestOnRay:
    pytestmark = on_ray

    def test_ray_data(self, rows):
        import pyarrow.parquet

        pytest.importorskip("ray.data", reason="needs Ray Data: pip install 'ray[data]'")
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        program = [sys.executable, "-c", RECIPES["Ray Data"]]
        subprocess.run(program, env=environment, check=True)
        found = pyarrow.parquet.read_table("tagged").sort_by("id")
        assert found["conllu"].to_pylist() == rows
