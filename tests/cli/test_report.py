"""seqtag report."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.command_line import call, conllu, home, linux


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "gold.conllu").write_text(conllu().replace("sees\tVERB", "sees\tNOUN", 1))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_page(home, folder, call):
    done = call("report", "-m", home / "upos.seqtag", "gold.conllu", "-o", "report.html")
    assert (done.code, done.out) == (0, b"")
    assert done.err == "seqtag: report.html: accuracy 97.73\n"
    page = (folder / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and 'data-gold="NOUN" data-predicted="VERB"' in page
    again = call("report", "-m", home / "upos.seqtag", "gold.conllu", "-o", "-", "-q")
    assert (again.out.decode(), again.err) == (page, "")


@linux
def test_a_name_that_is_no_utf8(home, folder, call):
    name = os.fsdecode(b"\xff\x1b.conllu")
    Path(name).write_text(conllu())
    done = call("report", "-m", home / "upos.seqtag", name, "-o", "page.html")
    assert done.code == 0, done.err
    assert "\\udcff\\u001b.conllu" in Path("page.html").read_text("utf-8")


def test_parts_of_a_pipeline(folder, call):
    done = call("report", "-m", "en", "gold.conllu", "-o", "-")
    assert b"<title>en on gold.conllu</title>" in done.out
    assert b'id="component-1"' in done.out
    assert "gold.conllu has no labels in feats, misc.NER: not in the report" in done.err
    done = call("report", "-m", "en", "gold.conllu", "-o", "-", "--label", "upos")
    assert b'id="component-2"' not in done.out
    done = call("report", "-m", "en", "gold.conllu", "-o", "-", "--label", "feats")
    assert b"task:feats|" in done.out
