"""The page for users of sklearn-crfsuite is run, with sklearn-crfsuite."""

from __future__ import annotations

import doctest
import re

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "how-to" / "from-sklearn-crfsuite.md").read_text(encoding="utf-8")


def test_the_page_does_what_it_says(tmp_path, monkeypatch):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    pytest.importorskip("sklearn_crfsuite", reason="sklearn-crfsuite is not installed")
    monkeypatch.chdir(tmp_path)
    source = "\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S))
    test = doctest.DocTestParser().get_doctest(source, {}, "page", "page", 0)
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
    assert results.attempted > 20
    assert results.failed == 0
    assert (tmp_path / "names.seqtag").exists()


def test_three_lines_change():
    [block] = re.findall(r"^```diff\n(.*?)^```$", PAGE, re.M | re.S)
    assert [line[0] for line in block.splitlines() if line] == ["-", "+"] * 3
