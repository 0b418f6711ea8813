"""The catalogue itself, and the names in it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from seqtag.catalogue.entries import CATALOGUE, entries, parse
from seqtag.catalogue.fetch import cache_folder, local_path
from seqtag.corpus import READABLE
from seqtag.corpus.conllu import COLUMNS
from seqtag.errors import CatalogueError
from tests.conftest import ROOT

ALL = list(entries().values())


# -------------------------------------------------------------------------- the catalogue
def test_the_catalogue_is_the_one_of_the_repository():
    assert CATALOGUE.resolve() == ROOT / "corpora" / "catalogue.toml"


def test_it_has_conll2000_and_treebanks_of_one_release_in_many_scripts():
    treebanks = [entry for entry in ALL if entry.name.startswith("ud:")]
    others = {entry.model: entry for entry in ALL if entry not in treebanks}
    assert others.pop("en_chunk").name == "conll2000"
    assert {*others} == {f"{code}_ner" for code in ("da", "en", "hr", "pt", "sk", "sr", "sv")}
    assert {entry.name.partition(":")[0] for entry in others.values()} == {"uner"}
    assert len(treebanks) >= 20
    assert {entry.release for entry in treebanks} == {"2.10"}
    assert len({entry.script for entry in treebanks}) >= 12


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_an_entry_says_all_there_is_to_know(entry):
    assert entry.title and entry.licence and entry.script
    assert entry.format in READABLE
    assert entry.columns == COLUMNS if entry.format == "conllu" else "form" in entry.columns
    assert {*entry.labels} <= {*entry.columns}
    assert entry.parts in (("train", "dev", "test"), ("train", "test"))
    pinned = 0 if entry.name.startswith("uner:") else len(entry.parts)
    assert len(entry.bytes) == len(entry.sha256) == len({*entry.sha256}) == pinned
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in entry.sha256)
    assert all(size > 10_000 for size in entry.bytes)
    for part in entry.parts:
        address = urlsplit(entry.file(part).address)
        assert address.scheme == "https"
        assert re.fullmatch(r"[\w./-]+", address.path)
        assert part in Path(address.path).name


def test_files_are_kept_apart():
    kept = [local_path(entry.file(part)) for entry in ALL for part in entry.parts]
    assert len({*kept}) == len(kept)
    assert local_path(ALL[1].at("2.99").file("dev")) not in kept
    assert not any(set(str(path.relative_to(cache_folder()))) & set(':*?"<>|') for path in kept)


# ------------------------------------------------------------------------------- names
def test_a_name_has_a_release_and_a_part():
    name = parse("ud:fr_sequoia@2.14/dev")
    assert (name.entry.release, name.part, name.entry.sha256) == ("2.14", "dev", ())
    assert "/r2.14/" in name.file().address
    assert name.file().digest is None is name.file().size
    assert parse("ud:fr_sequoia@2.10").entry.sha256
    assert [file.part for file in parse("conll2000").files()] == ["train", "test"]
    assert parse("conll2000").file("train").part == "train"


@pytest.mark.parametrize("text", ["-", "train.conllu", "a/b/c", "nltk:treebank", "conll2001", ""])
def test_what_is_no_name_is_a_path(text):
    assert parse(text) is None


def test_a_file_of_that_name_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("conll2000").touch()
    assert parse("conll2000") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "ud:fr_sequoja",
            "expected the name of a corpus, such as ud:fr_sequoia or ud:fr_sequoia/dev, found "
            "'ud:fr_sequoja' (did you mean 'ud:fr_sequoia'?); seqtag models list shows them all",
        ),
        (
            "ud:fr_sequoia/dev/x",
            "expected the name of a corpus, such as ud:fr_sequoia or ud:fr_sequoia/dev, found "
            "'ud:fr_sequoia/dev/x' (did you mean 'ud:fr_sequoia'?); seqtag models list shows them "
            "all",
        ),
        (
            "conll2000/dev",
            "expected one of the splits train, test of conll2000, found 'dev'",
        ),
        (
            "conll2000@2001",
            "expected conll2000 without a release, found @2001; leave it out",
        ),
    ],
)
def test_names_that_are_wrong(text, message):
    with pytest.raises(CatalogueError) as error:
        parse(text)
    assert str(error.value) == message


def test_a_part_must_be_named_where_there_is_no_default():
    with pytest.raises(CatalogueError) as error:
        parse("conll2000").file("dev")
    assert str(error.value) == (
        "expected one of the splits train, test of conll2000, found none; name it, as in "
        "conll2000/test"
    )


# --------------------------------------------------------------------------- the folder
@pytest.mark.skipif(sys.platform != "linux", reason="platformdirs knows the other systems")
@pytest.mark.parametrize(
    ("env", "folder"),
    [
        ({"SEQTAG_CACHE": "/elsewhere", "XDG_CACHE_HOME": "/xdg"}, "/elsewhere"),
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/seqtag"),
        ({"HOME": "/home/me"}, "/home/me/.cache/seqtag"),
    ],
)
def test_the_folder_is_where_the_system_keeps_such_things(monkeypatch, env, folder):
    for name in ("SEQTAG_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert str(cache_folder()) == folder
