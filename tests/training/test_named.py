"""Models by name: trained from a treebank of a mirror, and kept."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import seqtag
from seqtag.catalogue.entries import languages, treebank_of, treebanks
from seqtag.errors import CatalogueError, CorpusError
from seqtag.model.embedded import find_model, trained_path
from seqtag.training import named
from seqtag.training.named import train_named
from tests.command_line import SENTENCES, call, conllu, posix
from tests.serve.served import server

TREEBANK = "UniversalDependencies/UD_Abaza-ATB/r2.18/abq_atb-ud-{}.conllu"


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    folder = tmp_path / "mirror"
    for part, some in (("train", SENTENCES), ("dev", SENTENCES[:3]), ("test", SENTENCES[3:5])):
        for release in ("2.18", "2.10", "2.9"):
            write(folder, part, conllu(some), release)
    monkeypatch.setenv("SEQTAG_CORPORA_MIRROR", str(folder))
    monkeypatch.setenv("SEQTAG_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SEQTAG_TRAIN", raising=False)
    monkeypatch.chdir(tmp_path)
    return folder


def write(folder, part, text, release="2.18"):
    path = folder / TREEBANK.format(part).replace("r2.18", f"r{release}")
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
    assert not [path for path in files_of(tmp_path / "cache") if "test" in path.name]


def test_an_interrupted_training_leaves_no_model(mirror, tmp_path, monkeypatch):
    """It would be found by its name from then on, and taken for a finished one."""
    assert mirror.exists()
    real = named.train

    def stop(epoch):
        if epoch.epoch == 2:
            signal.raise_signal(signal.SIGINT)  # the training ends, and has a result

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
    path = str(mirror / TREEBANK)
    seqtag.train(path.format("train"), dev=path.format("dev"), label="all").save("by-hand.seqtag")
    assert Path("by-hand.seqtag").read_bytes() == first.read_bytes()


@pytest.mark.parametrize("train", [True, False])
def test_a_variable_or_an_argument_trains_it_where_it_is_used(mirror, monkeypatch, train):
    if not train:
        monkeypatch.setenv("SEQTAG_TRAIN", "1")
    assert "upos" in seqtag.load("abaza", train=train).parts


def test_spacy_takes_the_model_of_its_language(mirror):
    spacy = pytest.importorskip("spacy")
    train_named(treebank_of("abaza"))
    nlp = spacy.blank("xx")
    nlp.lang = "abq"  # spaCy knows no Abaza
    nlp.add_pipe("seqtag")
    nlp.add_pipe("seqtag", name="named", config={"model": "Abaza"})
    assert [token.pos_ for token in nlp("the dog barks")] == ["DET", "NOUN", "VERB"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<html>log in</html>\n\n", "found a line that begins with b'<html>log in"),
        ("# text = x\n1\t_\t_" + "\t_" * 7 + "\n\n", "found _ for most"),
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
    if "_ for most" not in message:
        assert files_of(tmp_path / "cache") == []


def test_parts_with_a_known_digest_are_not_left_out(mirror):
    entry = treebank_of("abaza")
    texts = [(mirror / TREEBANK.format(part)).read_bytes() for part in entry.parts]
    digests = tuple(hashlib.sha256(text).hexdigest() for text in texts)
    entry = replace(entry, bytes=tuple(map(len, texts)), sha256=digests)
    (mirror / TREEBANK.format("dev")).unlink()
    with pytest.raises(CatalogueError, match=r"-dev.conllu: cannot be read \(No such file"):
        train_named(entry)
    assert not trained_path(entry).exists()


def test_a_training_part_without_tabs_is_refused_with_its_line(mirror):
    write(mirror, "train", conllu() + "1 Time\n\n")
    with pytest.raises(CorpusError, match=rf"{conllu().count(chr(10)) + 1}: expected .*columns"):
        train_named(treebank_of("abaza"))
    assert not trained_path(treebank_of("abaza")).exists()


def test_files_of_a_folder_are_taken(mirror, tmp_path, monkeypatch, call):
    first = train_named(treebank_of("abaza"))
    monkeypatch.setenv("SEQTAG_CORPORA_MIRROR", str(tmp_path / "gone"))
    monkeypatch.setenv("SEQTAG_CACHE", str(tmp_path / "other"))
    folder = (mirror / TREEBANK.format("train")).parent
    done = call("models", "train", "abaza", "--from", folder)
    assert (done.code, Path(done.out.decode().strip()).read_bytes()) == (0, first.read_bytes())
    assert "ud:abq_atb@2.18: Abaza, ATB, license: see LICENSE.txt of UD_Abaza-ATB" in done.err
    monkeypatch.setenv("SEQTAG_CACHE", str(tmp_path / "third"))
    (folder / "abq_atb-ud-dev.conllu").unlink()
    second = train_named(treebank_of("abaza"), folder=folder)
    assert "dev" not in seqtag.load(second).tagger("upos").info["training"]
    assert call("models", "get", "abaza/dev", "--from", folder).code == 1


@posix
def test_a_model_is_used_where_nothing_can_be_written(mirror):
    entry, other = treebank_of("abaza"), treebank_of("abaza@2.10")
    model = train_named(entry)
    if os.geteuid() == 0:
        trained_path(other).with_suffix(".lock").mkdir()  # no permissions keep root from writing
    else:
        model.parent.chmod(0o500)
    try:
        assert train_named(entry) == model
        with pytest.raises(CatalogueError, match="cannot keep models there"):
            train_named(other)
    finally:
        model.parent.chmod(0o700)


def test_a_name_without_a_release_is_the_newest_that_was_trained(mirror, caplog):
    old, older = (train_named(treebank_of(f"abaza@{release}")) for release in ("2.10", "2.9"))
    with caplog.at_level("INFO", "seqtag"):
        assert find_model("abaza") == find_model("abq_atb") == old
    assert "abaza: abq_atb@2.10 was trained here and is used" in caplog.messages
    assert find_model("abq_atb@2.9") == older
    assert find_model("abaza@2.18") == Path("abaza@2.18")
    assert find_model("abaza") == old != train_named(treebank_of("abaza")) == find_model("abaza")


def test_two_processes_make_it_once(mirror):
    model = trained_path(treebank_of("abaza"))
    command = [sys.executable, "-m", "seqtag", "models", "train", "abaza"]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) for _ in "12"]
    said = [each.communicate() for each in both]
    assert [each.returncode for each in both] == [0, 0]
    assert {out for out, _ in said} == {f"{model}\n".encode()}
    assert sum(b"conllu: id, form" in err for _, err in said) == 1
    assert "upos" in seqtag.load(model).parts


def test_a_damaged_model_is_trained_again(mirror):
    model = train_named(treebank_of("abaza"))
    good = model.read_bytes()
    model.write_bytes(good[:1000])
    assert train_named(treebank_of("abaza")) == model
    assert model.read_bytes() == good


@posix
def test_a_full_disk_leaves_nothing(mirror, tmp_path):
    from resource import RLIMIT_FSIZE, setrlimit

    model = train_named(treebank_of("abaza"))
    size = model.stat().st_size
    command = [sys.executable, "-m", "seqtag", "models", "train", "abaza", "-q"]
    for most in (500, size // 2):
        shutil.rmtree(tmp_path / "cache")
        done = subprocess.run(
            command,
            preexec_fn=lambda most=most: setrlimit(RLIMIT_FSIZE, (most, most)),
            capture_output=True,
            check=False,
        )
        assert done.returncode == 1 and b"File too large" in done.stderr
        assert not model.exists()
        assert all(path.stat().st_size < most for path in files_of(tmp_path / "cache"))
        assert not [path for path in files_of(tmp_path / "cache") if path.suffix == ".tmp"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert model.stat().st_size == size


def test_a_corpus_of_names_has_a_model(mirror):
    rows = {"Ann": "B-PER", "Lee": "I-PER", "sees": "O", "Rome": "B-LOC", ".": "O"}
    names = ["Ann Lee sees Rome .", "Rome sees Ann .", "Ann sees Ann Lee ."] * 4
    text = "".join(
        "".join(f"{i}\t{word}\t{rows[word]}\t-\t-\n" for i, word in enumerate(each.split(), 1))
        + "\n"
        for each in names
    )
    path = mirror / "UniversalNER/UNER_English-EWT/master/en_ewt-ud-train.iob2"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    train_named(treebank_of("en_ner"))
    words = seqtag.load("en_ner").tag(["Ann", "Lee", "sees", "Rome", "."])
    assert words == ["B-PER", "I-PER", "O", "B-LOC", "O"]


ONE = conllu(SENTENCES[:1])
ALL = ("tokens", "upos", "xpos", "lemma")


def without(column, text):
    """A treebank with ``_`` in a column."""
    found = []
    for line in text.split("\n"):
        fields = line.split("\t")
        fields[column:] = ["_", *fields[column + 1 :]] if len(fields) > 1 else []
        found.append("\t".join(fields))
    return "\n".join(found)


@pytest.mark.parametrize(
    ("train", "parts"),
    [
        (ONE, ALL),
        ("\n".join(ONE.split("\n")[1:2]) + "\n\n", ("tokens",)),  # a word
        (conllu() + ONE.replace("DET", "X"), ALL),  # a label is seen once
        (without(4, conllu()), ("tokens", "upos", "lemma")),
        (without(3, conllu()), ("tokens", "xpos", "lemma")),
        (without(2, conllu()), ("tokens", "upos", "xpos")),
    ],
)
def test_small_and_incomplete_treebanks(mirror, caplog, train, parts):
    write(mirror, "train", train)
    write(mirror, "dev", without(1, conllu()))
    caplog.set_level("INFO", "seqtag")
    train_named(treebank_of("abaza"))
    assert "ud:abq_atb/dev: not used, because most of its forms are _" in caplog.messages
    assert seqtag.load("abaza").parts == parts


def test_the_models_of_a_language_are_listed(call):
    every = json.loads(call("models", "list", "--json").out)
    french = json.loads(call("models", "list", "French", "--json").out)
    assert french == [each for each in every if each["title"].startswith("French, ")] != []
    assert [each["model"] for each in french if each["default"]] == ["fr_sequoia"]
    assert json.loads(call("models", "list", "fr_gsd", "--json").out) == french
    assert call("models", "list", "klingon").code == 1
