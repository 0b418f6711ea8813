"""The how-to guides are run: all Python blocks of a page, one after another."""

from __future__ import annotations

import doctest
import importlib
import re
import shutil

import pytest

from tests.conftest import ROOT

PAGES = {
    "nltk-conllu": ("nltk",),
    "spacy": ("spacy",),
    "tables": ("pandas", "polars", "pyarrow"),
}
"""The pages, and the libraries that each needs."""


def nltk_data(folder):
    """A folder as NLTK's downloader makes it, with a corpus of ours under the name of one of its."""
    place = folder / "nltk_data" / "corpora" / "conll2000"
    place.mkdir(parents=True)
    for part in ("train", "test"):
        sample = ROOT / "corpora" / "sample" / f"en-sample-{part}.chunk.txt"
        shutil.copy(sample, place / f"{part}.txt")
    return folder / "nltk_data"


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    for library in PAGES[page]:
        pytest.importorskip(library, reason=f"needs {library}: pip install '.[dev]'")
    if page == "spacy":  # where seqtag is not installed, spaCy cannot find it by itself
        importlib.import_module("seqtag.integrations.spacy_factories")
    if page == "nltk-conllu":
        data = importlib.import_module("nltk.data")
        monkeypatch.setattr(data, "path", [str(nltk_data(tmp_path))])
    shutil.copytree(ROOT / "corpora", tmp_path / "corpora")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "how-to" / f"{page}.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page, page, 0)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    results = doctest.DocTestRunner(optionflags=flags).run(test)
    assert (results.attempted > 5, results.failed) == (True, 0)
