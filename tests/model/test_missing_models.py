"""Messages about models that are not there: similar names, how to train one of a language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import seqtag
from seqtag.catalogue.entries import entries, parse, treebank_of


def message(name: str) -> str:
    with pytest.raises(FileNotFoundError) as error:
        seqtag.load(name)
    assert error.value.filename == name
    assert str(error.value) == f"{name}: {error.value.strerror}"
    return error.value.strerror


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SEQTAG_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SEQTAG_TRAIN", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", ["fr", "french", "French"])
def test_a_language_names_the_command_that_trains_it(name):
    pattern = (
        r"train the model for French, Sequoia \(license: [^)]+\): seqtag models train (\S+) "
        r"\(downloads 3\.8 MB\), or set SEQTAG_TRAIN=1$"
    )
    found = re.search(pattern, message(name))
    assert treebank_of(found[1]) is parse("ud:fr_sequoia").entry


def test_each_treebank_has_a_language():
    treebanks = [entry for name, entry in entries().items() if name.startswith("ud:")]
    for entry in treebanks:
        code = entry.name[3:].partition("_")[0]
        assert treebank_of(code) is treebank_of(entry.language) is entry
    assert treebank_of("ancient-greek").name == "ud:grc_perseus"
    assert treebank_of("") is None


def test_english_is_there():
    assert repr(seqtag.load("English")) == repr(seqtag.load("eng")) == repr(seqtag.load("en"))
    assert message("en_ewt").endswith("; English is the embedded model 'en'")


def test_a_file_that_is_missing_is_no_language():
    for name in ("fr.seqtag", "models/de.seqtag", "NE.seqtag"):
        assert message(name) == "No such file or directory; embedded models: en"


def test_similar_names_are_named():
    Path("models").mkdir()
    for name in ("fr.seqtag", "models/french-news.seqtag"):
        Path(name).touch()
    assert "did you mean 'fr.seqtag'?" in message("fr")
    assert "did you mean 'models/french-news.seqtag'?" in message("models/french-new")
    assert message("en1").endswith("(did you mean 'en'?); embedded models: en")
    assert "did you mean" not in message("models/zzz")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("frnech", "'French'"),
        ("espanol", "'español'"),
        ("fr_sequoja", "'fr_sequoia'"),
        ("xyz", None),
        ("xyz_sequoia", None),
        ("model", None),
        ("frnech.seqtag", None),  # a file
        ("models/frnech", None),
    ],
)
def test_similar_languages_and_treebanks_are_named(name, near):
    found = re.search(r"\(did you mean (.+)\?\)", message(name))
    assert (found and found[1]) == near


def test_a_folder_does_not_hide_an_embedded_model():
    loaded = repr(seqtag.load("en"))
    Path("en").mkdir()
    assert repr(seqtag.load("en")) == loaded
    Path("fr").mkdir()
    with pytest.raises(IsADirectoryError):
        seqtag.load("fr")
