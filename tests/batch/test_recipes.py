"""The recipes of the page, with the libraries that are here."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from seqtag.batch import SeqtagBatch
from tests.batch.engines import on_ray, ray
from tests.command_line import SENTENCES, conllu
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "how-to" / "cluster.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^```py\n# ([^\n]*)\n(.*?)^```$", PAGE, re.M | re.S))
WORDS = sum(len(sentence.split()) for sentence in SENTENCES)


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("crawl").mkdir()
    for number in range(3):
        Path("crawl", f"{number}.conllu").write_text(conllu(labels=False))
    return tmp_path


def test_there_is_one_for_each():
    assert sorted(RECIPES) == ["Dask", "Ray Data", "Spark", "datasets"]
    for name, text in RECIPES.items():
        compile(text, name, "exec")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "library"), [("Dask", "dask"), ("Spark", "pyspark")])
def test_files_by_other_engines(place, capfd, name, library):
    pytest.importorskip(library, reason=f"needs {library}")
    if name == "Spark" and shutil.which("java") is None:
        pytest.skip("needs Java")
    exec(compile(RECIPES[name], name, "exec"), {})
    assert capfd.readouterr().out.strip().splitlines()[-1] == str(3 * WORDS)
    assert len([*Path("tagged").glob("*.done")]) == 3


@pytest.mark.filterwarnings("ignore")
def test_datasets(place, capfd, monkeypatch):
    pytest.importorskip("datasets", reason="needs datasets")
    exec(compile(RECIPES["datasets"], "datasets", "exec"), {})
    assert capfd.readouterr().out == "['ADV', 'PUNCT']\n"


@on_ray
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dies", [False, True])
def test_ray_data(place, ray, dies):
    import pyarrow
    import pyarrow.parquet

    class DiesOnce(SeqtagBatch):
        """A worker that is lost with its first batch; it travels by value."""

        def __call__(self, batch):
            mark = Path(f"{place}/died")
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().__call__(batch)

    table = pyarrow.table({"id": range(30), "tokens": [["It", "works"]] * 30})
    pyarrow.parquet.write_table(table, "rows.parquet")
    source = RECIPES["Ray Data"].replace('"rows.parquet"', f'"{place}/rows.parquet"')
    source = source.replace('"tagged-rows"', f'"{place}/tagged-rows"')
    if dies:
        source = source.replace("    SeqtagBatch,", "    DiesOnce,")
    exec(compile(source, "Ray Data", "exec"), {"DiesOnce": DiesOnce})
    found = pyarrow.parquet.read_table(place / "tagged-rows")
    assert found["id"].to_pylist() == list(range(30))
    assert found["upos"].to_pylist() == [["PRON", "VERB"]] * 30
    assert Path("died").exists() == dies
