"""The how-to guides are run: all Python blocks of a page, one after another."""

from __future__ import annotations

import doctest
import importlib
import re
import shutil

import pytest

from tests.conftest import ROOT
from tests.nltk_data import nltk_corpora

PAGES = {
    "nltk-conllu": ("nltk",),
    "spacy": ("spacy",),
    "tables": ("pandas", "polars", "pyarrow"),
}
"""The pages, and the libraries that each needs."""


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    for library in PAGES[page]:
        pytest.importorskip(library, reason=f"needs {library}: pip install '.[dev]'")
    if page == "spacy":  # where seqtag is not installed, spaCy cannot find it by itself
        importlib.import_module("seqtag.integrations.spacy_factories")
    shutil.copytree(ROOT / "corpora", tmp_path / "corpora")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "how-to" / f"{page}.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page, page, 0)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    with nltk_corpora(tmp_path, {"conll2000/test.txt": "dog NN B-NP\nbarks VBZ B-VP\n"}):
        results = doctest.DocTestRunner(optionflags=flags).run(test)
    assert (results.attempted > 5, results.failed) == (True, 0)
