"""The worked example of CONTRIBUTING.md is all that a new label scheme needs."""

from __future__ import annotations

import re
from itertools import product

import pytest

from seqtag.labels import schemes
from seqtag.settings import SETTINGS
from tests.conftest import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def entry(what: str, names: dict[str, object]) -> dict[str, object]:
    """The one line of a dictionary that the text shows after naming the dictionary."""
    line = re.search(rf"entry of `{what}`.*?```python\n +(.*?)\n", TEXT, re.S)[1]
    return eval(f"{{{line}}}", names)


@pytest.fixture
def alphabet(monkeypatch):
    """Labels of the scheme of the example, which is known meanwhile."""
    [(name, scheme)] = entry("_SCHEMES", {"_Scheme": schemes._Scheme}).items()
    monkeypatch.setitem(schemes._SCHEMES, name, scheme)
    [(same_name, labels)] = entry("ALPHABET", {}).items()
    assert name == same_name == "ioe2"
    return labels


def test_the_example_adds_to_the_encodings_that_there_are():
    choices = eval(re.search(r"^ +choices=(\(.*?\)),$", TEXT, re.M)[1])
    assert choices == (*SETTINGS["encoding"].choices, "ioe2")


def test_links_lead_to_files():
    links = re.findall(r"\[[^\]]+\]\(([^)#]+)\)", TEXT)
    assert "docs/architecture.md" in links
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("path", re.findall(r"`((?:seqtag|tests|scripts|\.ci)/[\w./]+)`", TEXT))
def test_paths_that_are_named_are_there(path):
    assert (ROOT / path).exists()


def test_the_scheme_of_the_example_is_recognised(alphabet):
    assert schemes.detect_scheme([["I-NP", "E-NP", "E-NP", "O", "E-VP"]]) == "ioe2"


def test_the_scheme_of_the_example_converts_and_back(alphabet):
    for labels in product(alphabet, repeat=4):
        if not schemes.count_invalid(labels, "ioe2"):
            for other in ("iob1", "iob2", "iobes", "bilou"):
                there = schemes.convert(labels, "ioe2", other)
                assert not schemes.count_invalid(there, other)
                assert schemes.convert(there, other, "ioe2") == list(labels)
                assert schemes.spans(there, other) == schemes.spans(labels, "ioe2")
