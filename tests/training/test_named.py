"""Models by name: trained from a treebank of a mirror, kept with a card."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import seqtag
from seqtag.catalogue.entries import languages, treebank_of, treebanks
from seqtag.errors import CatalogueError
from seqtag.model.embedded import trained_path
from seqtag.training import named
from seqtag.training.named import card_of, train_named
from tests.command_line import SENTENCES, conllu

TREEBANK = "UniversalDependencies/UD_Abaza-ATB/r2.18/abq_atb-ud-{}.conllu"


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    folder = tmp_path / "mirror"
    for part, some in (("train", SENTENCES), ("dev", SENTENCES[:3]), ("test", SENTENCES[3:5])):
        write(folder, part, conllu(some))
    monkeypatch.setenv("SEQTAG_CORPORA_MIRROR", str(folder))
    monkeypatch.setenv("SEQTAG_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SEQTAG_TRAIN", raising=False)
    monkeypatch.chdir(tmp_path)
    return folder


def write(folder, part, text):
    path = folder / TREEBANK.format(part)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def files_of(folder):
    return [path for path in Path(folder).rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_there_are_all_treebanks_and_each_language_has_one_default():
    assert len(treebanks()) == 353
    codes = {name[3:].partition("_")[0] for name in treebanks()}
    for code in codes:
        assert treebank_of(code).name.startswith(f"ud:{code}_")
    for name in ("fr", "FRA", "french", "Français"):
        assert languages()[name.lower()] == treebank_of(name).name == "ud:fr_sequoia"
    assert treebank_of("fr_gsd@2.15").release == "2.15"
    assert treebank_of("fr@../../x") is treebank_of("../fr") is treebank_of("klingon") is None


def test_trained_once_then_used_by_its_name_without_a_mirror(mirror, tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="seqtag models train abaza"):
        seqtag.load("abaza")
    model = train_named(treebank_of("abaza"))
    monkeypatch.setenv("SEQTAG_CORPORA_MIRROR", str(tmp_path / "gone"))
    assert train_named(treebank_of("abq")) == model
    assert repr(seqtag.load("abq_atb")) == repr(seqtag.load("Abaza")) == repr(seqtag.load(model))
    card = card_of(model)
    assert card["sha256"] == hashlib.sha256(model.read_bytes()).hexdigest()
    train = mirror / TREEBANK.format("train")
    assert card["files"]["train"]["sha256"] == hashlib.sha256(train.read_bytes()).hexdigest()
    assert card["figures"]["raw"]["tokens"] <= 100


def test_an_interrupted_training_leaves_no_model(mirror, tmp_path, monkeypatch):
    """It would be found by its name from then on, and taken for a finished one."""
    assert mirror.exists()
    real = named.train

    def stop(epoch):
        if epoch.epoch == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(named, "train", lambda *args, **how: real(*args, **how, on_epoch=stop))
    with pytest.raises(KeyboardInterrupt):
        train_named(treebank_of("abaza"))
    assert not [path for path in files_of(tmp_path / "cache") if path.suffix == ".seqtag"]


def test_it_is_what_training_by_hand_gives_in_any_folder(mirror, tmp_path, monkeypatch):
    entry = treebank_of("abaza")
    first = train_named(entry)
    monkeypatch.setenv("SEQTAG_CACHE", str(tmp_path / "other"))
    second = train_named(entry)
    assert first != second
    assert first.read_bytes() == second.read_bytes()
    assert first.with_suffix(".json").read_bytes() == second.with_suffix(".json").read_bytes()
    path = str(mirror / TREEBANK)
    seqtag.train(path.format("train"), dev=path.format("dev"), label="all").save("by-hand.seqtag")
    assert Path("by-hand.seqtag").read_bytes() == first.read_bytes()


def test_a_variable_trains_it_where_it_is_used(mirror, monkeypatch):
    monkeypatch.setenv("SEQTAG_TRAIN", "1")
    assert "upos" in seqtag.load("abaza").parts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<html>log in</html>\n\n", "found a file that begins with b'<html>log in"),
        ("", "found an empty file"),
        (conllu()[:-20], "found a file that ends within a sentence"),
        ("# text = x\n1\t_\t_" + "\t_" * 7 + "\n\n", "found 1 of 1 forms withheld"),
        ("# a comment\n\n", "found no words"),
        (None, "expected a training part of ud:abq_atb, release 2.18, found none"),
    ],
)
def test_training_parts_that_are_refused(mirror, tmp_path, text, message):
    if text is None:
        (mirror / TREEBANK.format("train")).unlink()
    else:
        write(mirror, "train", text)
    with pytest.raises(CatalogueError) as error:
        train_named(treebank_of("abaza"))
    assert message in str(error.value)
    assert not trained_path(treebank_of("abaza")).exists()
    if "withheld" not in message and "no words" not in message:
        assert files_of(tmp_path / "cache") == []


def test_a_file_that_changes_after_its_first_use_is_refused(mirror):
    model = train_named(treebank_of("abaza"))
    model.unlink()
    for path in Path(os.environ["SEQTAG_CACHE"]).rglob("*.conllu"):
        path.unlink()
    write(mirror, "train", conllu(SENTENCES[1:]))
    with pytest.raises(CatalogueError, match="expected the SHA-256"):
        train_named(treebank_of("abaza"))
    assert not model.exists()


def test_two_processes_make_it_once_and_a_killed_one_leaves_no_model(mirror):
    model = trained_path(treebank_of("abaza"))
    command = [sys.executable, "-m", "seqtag", "models", "train", "abaza"]
    killed = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert killed.stderr
    while b"fetching ud:abq_atb/test" not in killed.stderr.readline():
        pass
    killed.kill()
    killed.communicate()
    assert not model.exists()
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) for _ in "12"]
    said = [each.communicate() for each in both]
    assert [each.returncode for each in both] == [0, 0]
    assert {out for out, _ in said} == {f"{model}\n".encode()}
    assert sum(b"conllu: id, form" in err for _, err in said) == 1
    assert json.loads(model.with_suffix(".json").read_text())["model"] == "abq_atb"
