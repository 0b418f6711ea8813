"""Tables for training: files, lexicons, lemmas; and that every way of training carries them."""

from __future__ import annotations

from dataclasses import replace

import pytest

import seqtag
from seqtag.corpus import read
from seqtag.errors import CorpusError, TemplateError
from seqtag.features.language import load, parse
from seqtag.model.bundle import to_bytes
from seqtag.tables.lexicon import (
    check_used,
    given_tables,
    name_of,
    read_table,
    tables_of,
)
from seqtag.tables.table import WordTable
from seqtag.tables.tsv import write_word_table
from seqtag.tagging.pipeline import Pipeline
from seqtag.training.calibration import calibrate
from seqtag.training.selection import cross_validate, tagger_fit
from tests.command_line import conllu
from tests.strategies import corpus, each_backend, install
from tests.treebanks import components

DATA = corpus("the DT, old JJ, man NN, sees VB; the DT, man NN, runs VB; old JJ, men NN, run VB")
CLASSES = WordTable.of("c", [("the", ["1"]), ("man", ["2"])], "lower0", "9", "class")
NAMES = WordTable.of("names", [("man", ["x"]), ("boy", ["x"])])
HOW = {"label": "tag", "epochs": 3, "min_count": 1}


# ----------------------------------------------------------------- files
def test_a_table_of_classes(tmp_path):
    header = {"name": "en", "words": "lower0", "classes": "2", "absent": "1", "tokens": "9"}
    write_word_table(tmp_path / "t", header, [("the", "0")])
    table = read_table(tmp_path / "t")
    assert (table.name, table.words, table.kind, table.absent) == ("en", "lower0", "class", "1")
    assert table.origin == {"classes": "2", "tokens": "9"}
    other = read_table(tmp_path / "t", name="x", kind="lexicon")
    assert (other.name, other.kind) == ("x", "lexicon")


def test_a_list_of_ones_own(tmp_path):
    (tmp_path / "my cities.tsv").write_text("Paris\tcity\n")
    table = read_table(tmp_path / "my cities.tsv", words="lower")
    assert (table.name, table.words, table.kind) == ("my_cities", "lower", "lexicon")
    assert name_of("é/20 M.classes.xz") == "_20_M"


@pytest.mark.parametrize(
    ("header", "options", "found"),
    [
        ({"words": "upper"}, {}, "found 't', 'upper' and 'lexicon'; correct its header, or name"),
        ({"name": "a b"}, {}, "found 'a b', 'form' and 'lexicon'; correct its header"),
        ({}, {"name": "7"}, "found '7', 'form' and 'lexicon'"),
    ],
)
def test_what_a_header_may_not_say(tmp_path, header, options, found):
    write_word_table(tmp_path / "t", header, [("a", "b")])
    with pytest.raises(CorpusError) as caught:
        read_table(tmp_path / "t", **options)
    assert str(caught.value).startswith(
        f"{tmp_path / 't'}: expected a table with a name of letters"
    )
    assert found in str(caught.value)


def test_tables_have_different_names():
    with pytest.raises(
        TemplateError, match="distinct table names, found 2 called 'c'; name one of"
    ):
        tables_of([CLASSES, NAMES, CLASSES])


def test_a_table_that_nothing_looks_into():
    with pytest.raises(
        TemplateError, match=r"table 'names', found none \(they ask for none\); add"
    ):
        seqtag.train(DATA, templates=parse("form[0]"), tables=[NAMES], **HOW)
    with pytest.raises(TemplateError) as caught:
        check_used([CLASSES], [given_tables(load("lemma"), [CLASSES])])
    assert str(caught.value) == (
        "lemma.txt: expected templates that use the table 'c', found none (the preset lemma "
        "has none); add class(c)[0], or leave the table out"
    )


# ----------------------------------------------------------------- every way of training
@each_backend
def test_training_with_a_preset(backend, monkeypatch):
    install(backend, monkeypatch)
    tagger = seqtag.train(DATA, templates="pos", tables=[CLASSES, NAMES], **HOW)
    assert tagger.model.tables == [CLASSES, NAMES]
    without = seqtag.train(DATA, templates="pos", **HOW)
    assert tagger.sizes["features"] > without.sizes["features"] and not without.model.tables


def test_tables_help_with_unknown_words():
    data = corpus("a X, b X; c Y, d Y") * 3
    table = WordTable.of("t", [(w, [k]) for w, k in zip("abcdefgh", "XXYYXXYY", strict=True)])
    tagger = seqtag.train(data, templates=parse("form[0]\nlexicon(t)[0]"), tables=[table], **HOW)
    assert tagger.tag(["e", "f", "g", "h"]) == ["X", "X", "Y", "Y"]


def test_going_on_from_a_model():
    first = seqtag.train(DATA, templates="pos", tables=[CLASSES], **HOW)
    again = seqtag.train(DATA, init=first, epochs=1)
    assert again.model.tables == [CLASSES] and again.model.templates == first.model.templates
    same = seqtag.train(DATA, init=first, tables=[CLASSES], epochs=1)
    assert to_bytes([same.model]) == to_bytes([again.model])
    other = replace(CLASSES, absent="8")
    with pytest.raises(TemplateError, match="expected the table 'c' of the model to continue from"):
        seqtag.train(DATA, init=first, tables=[other], epochs=1)
    with pytest.raises(TemplateError, match="use the table 'names', found none"):
        seqtag.train(DATA, init=first, tables=[NAMES], epochs=1)


def test_pipelines_carry_tables(tmp_path):
    (tmp_path / "train.conllu").write_text(conllu())
    models = components(
        tmp_path / "train.conllu", ["upos", "xpos", "lemma"], tables=[CLASSES], epochs=1
    )
    assert [len(model.tables) for model in models] == [1, 1, 0]
    Pipeline(models).save(tmp_path / "m.seqtag")
    loaded = seqtag.load(tmp_path / "m.seqtag")
    assert loaded.models[0].tables[0] is loaded.models[1].tables[0]
    again = components(tmp_path / "train.conllu", ["upos"], init=loaded, epochs=1)
    assert [table.digest for table in again[0].tables] == [CLASSES.digest]
    [lemmas] = components(tmp_path / "train.conllu", ["lemma"], tables=[CLASSES], epochs=1)
    assert lemmas.tables == []
    assert lemmas.attested.among(["The", "man", "men"]).tolist() == [True, True, False]


def test_calibration_and_folds_carry_tables():
    how = HOW | {"templates": "pos", "tables": [CLASSES]}
    tagger = seqtag.train(DATA, **how)
    [model] = calibrate(tagger, DATA).models
    assert model.tables == [CLASSES]
    assert len(cross_validate(tagger_fit(**how), DATA, 3).scores) == 3


def test_explanations_name_values():
    tagger = seqtag.train(DATA, templates=parse("class(c)[0]"), tables=[CLASSES], **HOW)
    features = {row.feature for row in tagger.explain(["The", "Man"], 1).rows}
    assert "class(c)[0]=2" in features


def test_files_and_sentences_give_the_same_bytes(tmp_path):
    treebank = tmp_path / "train.conllu"
    treebank.write_text(conllu())
    write_word_table(tmp_path / "c", {"classes": "1"}, [("the", "1"), ("dog", "2")])
    found = {
        to_bytes([seqtag.train(data, tables=[tmp_path / "c"], epochs=2).model])
        for data in (treebank, list(read(treebank)))
    }
    assert len(found) == 1
