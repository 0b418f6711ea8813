"""Tables and attributes of one's own by options."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json

import pytest

import seqtag
from seqtag.errors import TemplateError
from seqtag.features import attributes
from seqtag.features.attributes import attribute_names, load_attributes
from tests.command_line import call, conllu

MINE = """
from __future__ import annotations
from dataclasses import dataclass
from seqtag.features import attribute

@dataclass
class Ending:
    word: str

@attribute("my_ending")
def my_ending(word: str, n: int) -> str | None:
    return Ending(word).word[-n:] or None
"""
SHORT = ("--epochs", 1, "--min-count", 1)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with a corpus, tables, and a file of attributes."""
    (tmp_path / "train.conllu").write_text(conllu())
    (tmp_path / "names.tsv").write_text("Cat\tanimal\ndog\tanimal\n")
    (tmp_path / "en.classes").write_text(
        "# seqtag table 1\n# name: en\n# words: lower0\n# classes: 2\n# absent: 1\ncat\t0\n"
    )
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "mine.txt").write_text("form[0]\nmy_ending(2)[0]\n")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    attributes._REGISTRY.pop("my_ending", None)


# ----------------------------------------------------------------- tables
def test_training_with_tables(folder, call):
    options = ("--table", "en.classes", "--table", "zoo=names.tsv:lower")
    done = call("train", "train.conllu", *options, *SHORT, "-o", "m.seqtag")
    assert done.code == 0
    info = call("info", "m.seqtag", "--verbose").out.decode()
    assert "table        en (class of 1 words by lower0, 1 values; others: 1; classes: 2)\n" in info
    assert "table        zoo (lexicon of 2 words by lower, 1 values)\n" in info
    assert "  class(en)[-1] + class(en)[0]\n" in info and "  lexicon(zoo)[0]\n" in info
    facts = json.loads(call("info", "m.seqtag", "--json").out)
    assert [table["name"] for table in facts["tables"]] == ["en", "zoo"]
    tagged = call("tag", "-m", "m.seqtag", "train.conllu")
    assert tagged.code == 0


def test_a_file_with_an_equals_sign(folder, call):
    (folder / "a=b").write_text("cat\tx\n")
    done = call("train", "train.conllu", "--table", "a=b", *SHORT, "-o", "m.seqtag", "-q")
    assert done.code == 0
    assert seqtag.load("m.seqtag").model.tables[0].name == "a_b"


@pytest.mark.parametrize(
    "command",
    [
        ("cv", "--folds", 2, "--by", "sentence"),
        ("tune", "--try", "epochs=1,2", "--folds", 2),
    ],
)
def test_every_command_that_trains_takes_tables(folder, call, command):
    name, *more = command
    options = ("--table", "en.classes", "--epochs", 1, "--min-count", 1)
    assert call(name, "train.conllu", *more, *options, "-q").code == 0
    done = call(name, "train.conllu", *more, "--table", "no.classes", "-q")
    assert done.code == 1 and "no.classes" in done.err


def test_a_pipeline_with_tables(folder, call):
    options = ("--label", "upos,xpos", "--table", "en.classes", *SHORT)
    assert call("train", "train.conllu", *options, "-o", "m.seqtag", "-q").code == 0
    assert call("info", "m.seqtag", "--verbose").out.count(b"table        en (") == 2
    assert call("bundle", "m.seqtag", "-o", "n.seqtag", "-q").code == 0
    assert (folder / "m.seqtag").read_bytes() == (folder / "n.seqtag").read_bytes()


def test_a_segmenter_with_tables(folder, call):
    """Where no white space separates words, those of the training data are a table, too."""
    glued = (
        "1\t你\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\t喺度\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n\n"
    )
    (folder / "glued.conllu").write_text(glued * 8)
    with (folder / "names.tsv").open("a") as names:
        names.write("你 喺度\tx\n")  # may be in a text, though it is no token
    options = ("--label", "tokens", "--table", "names.tsv", *SHORT, "-o", "m.seqtag", "-q")
    assert call("train", "glued.conllu", *options).code == 0
    info = call("info", "m.seqtag", "--verbose").out
    assert b"training-words (lexicon of 2 words" in info and b"table        names" in info
    (folder / "text.txt").write_text("你喺度")
    assert call("tag", "-m", "m.seqtag", "text.txt", "--to", "tokens").out == "你 喺度\n".encode()
    again = ("--init", "m.seqtag", "--label", "tokens", *SHORT, "-o", "n.seqtag", "-q")
    assert call("train", "glued.conllu", *again).code == 0
    assert call("info", "n.seqtag", "--verbose").out.count(b"table        ") == 2
    (folder / "names.classes").write_text("# seqtag table 1\n# classes: 1\ncat\t0\n")
    for train, label, table in (
        ("train.conllu", "tokens", "--table=names.tsv"),
        ("glued.conllu", "tokens", "--table=names.classes"),
    ):
        unused = call("train", train, "--label", label, table, *SHORT, "-o", "o.seqtag", "-q")
        assert unused.code == 1
        assert "expected templates that use the table 'names', found none" in unused.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--table", "en.classes", "--templates", "mine.txt"), "add class(en)[0], or leave"),
        (
            ("--table", "places.tsv"),
            "expected entries of one token in the table 'places', found 2 with white space, such "
            "as 'New York', which no token of the training data has; to find names of several "
            "words, write them without tabs, as name,type or one per line",
        ),
        (("--table", "1=names.tsv"), "expected a table with a name of letters, digits and"),
    ],
)
def test_tables_that_do_not_fit(folder, call, options, message):
    (folder / "mine.txt").write_text("form[0]\n")
    (folder / "places.tsv").write_text("Rome\tcity\nNew York\tcity\nLos Angeles\tcity\n")
    (folder / "train.conllu").write_text("# a comment\n" + conllu())
    done = call("train", "train.conllu", *options, *SHORT, "-o", "m.seqtag", "-q")
    assert done.code == 1 and not (folder / "m.seqtag").exists()
    assert message in done.err


@pytest.mark.parametrize(
    ("words", "how", "note"),
    [
        ("dog the cat", "", ""),
        ("dog the cat", ":lower", ""),
        ("Dog The Cat", "", "none of the 3 words"),
        (
            "'dog' 'cat'",
            "",
            "note: none of the 2 words of the table mine is in the training data, so",
        ),
        (
            "fido dog rex",
            "",
            "the table mine has 1 training words, but 3 in lower",
        ),
    ],
)
def test_a_table_that_has_more_words_in_lower_case_is_named(folder, call, words, how, note):
    (folder / "mine.tsv").write_text("".join(f"{word}\tanimal\n" for word in words.split()))
    (folder / "t.txt").write_text("Fido N\nRex N\nthe D\ndog N\ncat N\n\n" * 3)
    table = "--table", f"mine.tsv{how}"
    options = "--columns", "form,pos", *SHORT, "-o", "m.seqtag", "--force"
    done = call("train", "t.txt", *table, *options)
    assert done.code == 0
    assert note in done.err and ("the table mine" in done.err) == bool(note)


def test_templates_that_ask_for_a_table(folder, call):
    (folder / "mine.txt").write_text("form[0]\nclass(en)[0]\n")
    options = ("train.conllu", "--templates", "mine.txt", *SHORT, "-o", "m.seqtag", "-q")
    done = call("train", *options)
    assert done.code == 1 and "mine.txt:2: expected the table 'en'" in done.err
    assert "give its file with --table en=FILE" in done.err
    assert call("train", *options, "--table", "en.classes").code == 0


def test_a_list_of_names(folder, call):
    (folder / "pets.csv").write_text("name,type\nthe cat,animal\nThe Cat,toy\nold dog,animal\n")
    (folder / "t.txt").write_text("The B-X\ncat I-X\nruns O\n\nthe O\nrun O\n\n" * 3)
    more = ("--epochs", 8, "--min-count", 1)
    options = ("--columns", "form,ner", "--table", "pets.csv", *more)
    done = call("train", "t.txt", *options, "-o", "m.seqtag")
    assert done.code == 0
    for note in (
        "note: pets.csv: 2 names, matched as phrases in any case: animal 2, toy 1; 1 have several "
        "types, such as 'the cat'\n",
        "note: table pets: 1 of its 2 names occur in the training data\n",
        "pets.csv:1: 'name,type' names the columns and is no entry\n",
    ):
        assert note in done.err
    info = call("info", "m.seqtag", "--verbose").out
    assert b"table        pets (phrase of 2 names by lower; types: animal, toy)\n" in info
    assert b"  lexicon(pets)[-1]\n" in info
    (folder / "u.txt").write_text("The\nCAT\nruns\n\nOld\n\n")
    plain = call("tag", "-m", "m.seqtag", "u.txt", "--columns", "form").out
    assert plain == b"The\tB-X\nCAT\tI-X\nruns\tO\n\nOld\tO\n\n"
    sentences = [["The", "CAT", "runs"], [], ["Old"]]
    assert seqtag.load("m.seqtag").tag_many(sentences) == [["B-X", "I-X", "O"], [], ["O"]]
    for name, *how in (("cv", "--folds", 2, "--by", "sentence"), ("tune", "--try", "epochs=1,2")):
        assert call(name, "t.txt", *how, *options, "-q").code == 0


def test_a_list_of_names_without_a_name_of_the_data(folder, call):
    (folder / "cities.txt").write_text("Norvale\nSt. Falk\n")
    done = call("train", "train.conllu", "--table", "cities.txt", *SHORT, "-o", "m.seqtag")
    assert done.code == 0
    note = "table cities: 0 of its 2 names occur in the training data, so that it has no effect"
    assert note in done.err


# ----------------------------------------------------------------- attributes of one's own
def test_attributes_of_ones_own(folder, call):
    mine = ("--attributes", "mine.py")
    options = ("train.conllu", "--templates", "mine.txt", *SHORT)
    assert call("train", *options, "-o", "m.seqtag", "-q", *mine).code == 0
    for command in (
        ("tag", "-m", "m.seqtag", "train.conllu"),
        ("eval", "-m", "m.seqtag", "train.conllu"),
        ("info", "m.seqtag"),
        ("explain", "-m", "m.seqtag", "the cat", "--token", 1),
        ("report", "-m", "m.seqtag", "train.conllu", "-o", "r.html", "--force"),
        ("bundle", "m.seqtag", "--calibrate", "train.conllu", "-o", "c.seqtag", "--force"),
        ("bundle", "m.seqtag", "-o", "b.seqtag", "--force"),
        ("compare", "train.conllu", "m.seqtag", "m.seqtag"),
    ):
        attributes._REGISTRY.pop("my_ending", None)
        done = call(*command)
        assert done.code == 1, command
        assert (
            "m.seqtag: expected the attribute 'my_ending', with which this model was trained, "
            "found none of that name; name the Python file that defines it with --attributes "
            "FILE.py, "
            "or import it before the model is loaded" in done.err
        )
        done = call(*command, *mine)
        assert done.code == 0, (command, done.err)
    for command in (
        ("cv", *options, "--folds", 2, "--by", "sentence"),
        ("tune", *options, "--try", "step=.1", "--dev", "train.conllu"),
    ):
        attributes._REGISTRY.pop("my_ending", None)
        assert call(*command, "-q").code == 1
        assert call(*command, "-q", *mine).code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x = 1",
            "bad.py: expected functions decorated with seqtag.features.attribute, found none",
        ),
        ("\n\n1 / 0", "bad.py:3: expected Python that registers attributes, found an error: ZeroD"),
    ],
)
def test_files_that_register_nothing(folder, call, text, message):
    (folder / "bad.py").write_text(text)
    done = call("tag", "-m", "en", "train.conllu", "--attributes", "bad.py")
    assert done.code == 1 and done.err.startswith(f"seqtag: {message}")
    with pytest.raises(TemplateError):
        load_attributes("bad.py")


@pytest.fixture
def registry(monkeypatch):
    """Attributes that a test registers are gone after it."""
    monkeypatch.setattr(attributes, "_REGISTRY", dict(attributes._REGISTRY))


HEAD = "from seqtag.features import attribute\n@attribute('failing')\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise SystemExit(3)", "bad.py:1: expected Python that registers attributes, found an er"),
        (
            f"{HEAD}def f(word):\n    return {{}}[word]",
            "list:1: attribute 'failing' fails at bad.py:4 (KeyError: 'a'); correct the function",
        ),
        (
            f"{HEAD}def f(word):\n    if word != 'a': raise SystemExit(word)",
            "attribute 'failing' fails at bad.py:4 (SystemExit: the); correct the function",
        ),
        (
            f"{HEAD}class Word(str): pass",
            "list:1: expected a function as the attribute 'failing', found <class 'seqtag_attri",
        ),
    ],
)
@pytest.mark.usefixtures("registry")
def test_functions_that_fail(folder, call, text, message):
    """No traceback of ours, no exit code of theirs: their own file and line."""
    (folder / "bad.py").write_text(text)
    (folder / "list").write_text("failing[0]\n")
    options = ("--templates", "list", "--attributes", "bad.py", "--format", "conllu")
    done = call("train", "train.conllu", "-o", "new", *options)
    assert (done.code, done.out) == (1, b"")
    assert f"seqtag: {message}" in done.err


@pytest.mark.usefixtures("registry")
def test_a_function_that_fails_when_a_model_is_used(folder, call):
    head = HEAD.replace("failing", "later")
    (folder / "bad.py").write_text(f"{head}def f(word):\n    return word\n")
    (folder / "list").write_text("later[0]\n")
    train = ("train", "train.conllu", "-o", "new", "--templates", "list", "--epochs", 1)
    assert call(*train, "--attributes", "bad.py").code == 0
    (folder / "bad.py").write_text(f"{head}def f(word):\n    return {{}}[word]\n")
    done = call("tag", "-m", "new", "train.conllu", "--attributes", "bad.py")
    assert (done.code, done.out) == (1, b"")
    assert done.err.endswith(
        "attribute 'later' fails at bad.py:4 (KeyError: 'a'); correct the function\n"
    )


def test_a_file_loaded_again(folder):
    assert load_attributes("mine.py") == ["my_ending"] == load_attributes("mine.py")
    assert "my_ending" in attribute_names()
