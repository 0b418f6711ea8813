"""The recipes of the pages, with the libraries that are here."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.batch.engines import on_ray, ray
from tests.command_line import SENTENCES, conllu
from tests.conftest import ROOT

PAGES = [
    (ROOT / "docs" / "how-to" / name).read_text("utf-8") for name in ("cluster.md", "tables.md")
]
RECIPES = dict(re.findall(r"^```py\n# ([^\n]*)\n(.*?)^```$", "".join(PAGES), re.M | re.S))
WORDS = sum(len(sentence.split()) for sentence in SENTENCES)


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("crawl").mkdir()
    for number in range(3):
        Path("crawl", f"{number}.conllu").write_text(conllu(labels=False))
    return tmp_path


def test_there_is_one_for_each():
    assert sorted(RECIPES) == ["Dask", "Ray Data", "Spark", "Spark tables", "datasets"]
    for name, text in RECIPES.items():
        compile(text, name, "exec")


@pytest.fixture
def engine(monkeypatch):
    """Asks for the library of a recipe; workers of Spark run this Python."""

    def needed(name: str) -> None:
        pytest.importorskip(name, reason=f"needs {name}: pip install {name}")
        if name == "pyspark" and shutil.which("java") is None:
            pytest.skip("needs Java, on which Spark runs")

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    return needed


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "library"), [("Dask", "dask"), ("Spark", "pyspark")])
def test_files_by_other_engines(place, capfd, engine, name, library):
    engine(library)
    exec(compile(RECIPES[name], name, "exec"), {})
    assert capfd.readouterr().out.strip().splitlines()[-1] == str(3 * WORDS)
    assert len([*Path("tagged").glob("*.conllu")]) == 3


@pytest.mark.filterwarnings("ignore")
def test_datasets(place, capfd, engine):
    engine("datasets")
    exec(compile(RECIPES["datasets"], "datasets", "exec"), {})
    assert capfd.readouterr().out == "['ADV', 'PUNCT']\n"


TOKENS = [["It", "works"], [], None] * 1000
LABELS = [["PRON", "VERB"], [], None] * 1000
KILL_ONCE = """
import os
import signal

def kill_once(table):
    try:
        os.open("{0}", os.O_CREAT | os.O_EXCL)
    except FileExistsError:
        return table
    if "{1}" == "worker":
        os.kill(os.getpid(), signal.SIGKILL)
    return table
"""


@pytest.mark.filterwarnings("ignore")
def test_tables_on_spark(place, engine):
    engine("pyspark")
    import pyarrow
    import pyarrow.parquet
    from pyspark.sql import SparkSession

    from seqtag.batch import annotate
    from seqtag.errors import CorpusError

    table = pyarrow.table({"id": range(3000), "tokens": TOKENS, "text": ["It works."] * 3000})
    pyarrow.parquet.write_table(table, "rows")
    source = RECIPES["Spark tables"]  # Java stays in the folder where it was started
    for name in ("rows", "tagged"):
        source = source.replace(f'"{name}"', f'"{place}/{name}"')
    exec(compile(source, "Spark tables", "exec"), {})
    found = pyarrow.parquet.read_table("tagged")
    assert found.column_names == ["id", "tokens", "text", "upos"]
    assert found["id"].to_pylist() == table["id"].to_pylist()
    assert found["upos"].to_pylist() == LABELS
    rows = SparkSession.builder.getOrCreate().read.parquet(f"{place}/rows")
    texts = annotate(rows.drop("tokens").limit(2), "en").toArrow()
    given = pyarrow.table({"id": [0, 1], "text": ["It works."] * 2})
    assert texts.to_pylist() == annotate(given, "en").to_pylist()
    with pytest.raises(CorpusError, match="expected a field tokens or text, found id"):
        annotate(rows.select("id"), "en")


@on_ray
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lost", ["nothing", "worker", "driver"])
def test_ray_data(place, ray, lost):
    import pyarrow
    import pyarrow.parquet

    Path("rows").mkdir()
    table = pyarrow.table({"id": range(3000), "tokens": TOKENS})
    pyarrow.parquet.write_table(table, "rows/0.parquet", row_group_size=300)
    source = RECIPES["Ray Data"].replace("/shared/", f"{place}/").replace("8 * 2**20", "4096")
    rows = f'ray.data.read_parquet("{place}/rows")'
    source = source.replace(rows, f'{rows}.map_batches(kill_once, batch_format="pyarrow")')
    source = source.replace('"en"', '"en", TagOptions(only=["upos"])')
    source = f"from seqtag.tagging import TagOptions\n{source}"
    program = [sys.executable, "-c", KILL_ONCE.format(place / lost, lost) + source]
    environment = os.environ | {"RAY_ADDRESS": ray.get_runtime_context().gcs_address}

    def written() -> set[str]:
        return {path.stem for path in place.glob("checkpoint/*")} - {
            path.stem for path in place.glob("checkpoint/*.pending.*")
        }

    if lost == "driver":
        with subprocess.Popen(program, env=environment) as process:
            while process.poll() is None and not written():
                pass
            assert process.poll() is None
            process.send_signal(signal.SIGKILL)
    kept = written()
    assert len(kept) < 10
    subprocess.run(program, env=environment, check=True)
    assert kept <= {path.stem.removesuffix("-0") for path in place.glob("tagged/*.parquet")}
    found = pyarrow.parquet.read_table(place / "tagged").sort_by("id")
    assert found["id"].to_pylist() == list(range(3000))
    assert found["upos"].to_pylist() == LABELS
    assert Path(lost).exists()
