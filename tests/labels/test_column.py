"""The label column: which columns hold labels, and how sentences give them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqtag
from seqtag.corpus import sentence_of
from seqtag.errors import CorpusError
from seqtag.features.language import preset_names
from seqtag.labels.column import LabelColumn

SENTENCE = sentence_of(
    {"form": ["Dogs", "bark", "."], "upos": ["NOUN", "_", "PUNCT"], "feats": ["N=P", "T=Past", "_"]}
)


@pytest.mark.parametrize(
    ("columns", "default"),
    [
        (("id", "form", "upos", "xpos", "misc"), "upos"),
        (("form", "pos", "chunk"), "chunk"),
        (("form", "chunk", "ner", "pos"), "ner"),
        (("form", "label", "misc"), "label"),
    ],
)
def test_the_default_is_upos_or_the_last_one(columns, default):
    assert LabelColumn.default(columns) == LabelColumn(default)


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (("id", "form", "misc"), "the columns id, form, misc only"),
        (("form", "misc"), "raw text"),
    ],
)
def test_no_default_among_words_alone(columns, found):
    with pytest.raises(CorpusError) as error:
        LabelColumn.default(columns, "a.txt")
    assert str(error.value) == (
        f"a.txt: expected a column of labels, found {found}; if there is one, name the format with --format or the columns with --columns"
    )


def test_labels_of_a_sentence():
    assert LabelColumn("upos").of(SENTENCE) == ["NOUN", "_", "PUNCT"]
    assert LabelColumn("upos+feats").of(SENTENCE) == ["NOUN|N=P", "_", "PUNCT"]
    assert LabelColumn("upos+feats").columns == ("upos", "feats")


@given(st.lists(st.tuples(st.sampled_from("NV"), st.sampled_from(["_", "A=b", "A=b|C=d"]))))
def test_two_columns_make_one_label_and_come_back(rows):
    column = LabelColumn("upos+feats")
    labels = [column.join(row) for row in rows]
    split = column.split(labels)
    assert list(zip(split["upos"], split["feats"], strict=True)) == rows
    assert LabelColumn("upos").split(labels) == {"upos": labels}


def test_underscores_are_labels_in_feats_and_lemmas_only():
    assert LabelColumn("upos").unannotated(["NOUN", "_"]) == 1
    assert LabelColumn("upos").unannotated(["NOUN"]) is None
    assert LabelColumn("feats").unannotated(["_", "_"]) is None
    assert LabelColumn("lemma").unannotated(["be", "_"]) is None


@pytest.mark.parametrize("name", ["upos+feats", "form", "id", "tag"])
def test_columns_that_are_not_there_are_refused(name):
    column = LabelColumn(name)
    LabelColumn("upos").check(("form", "upos"))
    with pytest.raises(CorpusError, match="expected one of the columns upos for labels, found '"):
        column.check(("id", "form", "upos"))


@pytest.mark.parametrize(
    "name", ["upos", "chunk", "ner", "feats", "upos+feats", "tokens", "words", "lemma", "anything"]
)
def test_every_label_has_a_preset(name):
    assert LabelColumn(name).preset in preset_names()


def test_similar_columns_are_named():
    for ask in (
        lambda: LabelColumn("upso").check(("form", "upos")),
        lambda: SENTENCE.column("upso"),
        lambda: seqtag.train([SENTENCE], label=["upos", "feat"]),
        lambda: seqtag.train([SENTENCE], label="feast"),
    ):
        with pytest.raises(CorpusError, match=r" \(did you mean '(upos|feats)'\?\)"):
            ask()
