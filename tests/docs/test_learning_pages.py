"""The pages on lists and on partial annotation are run: all Python blocks of a page in turn."""

from __future__ import annotations

import doctest
import re

import pytest

from seqtag.cli.train import command
from tests.conftest import ROOT

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def page_of(name: str) -> str:
    return (ROOT / "docs" / "how-to" / f"{name}.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["python-lists", "partial-annotation"])
def test_python_blocks_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", page_of(name), re.M | re.S)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, name, 0)
    results = doctest.DocTestRunner(optionflags=FLAGS).run(test)
    assert (results.attempted > 5, results.failed) == (True, 0)


@pytest.mark.parametrize("name", ["python-lists", "partial-annotation"])
def test_commands_have_the_options_that_the_pages_name(name):
    lines = re.findall(r"^seqtag train (.*)$", page_of(name), re.M)
    known = {option for parameter in command.params for option in parameter.opts}
    assert lines
    assert {*re.findall(r"(?<!\S)--?[a-z-]+", " ".join(lines))} <= known
