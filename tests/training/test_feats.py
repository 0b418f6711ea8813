"""FEATS is a set: the order in which a file writes it makes no difference."""

from __future__ import annotations

import io
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import seqtag
from seqtag.evaluation import score
from seqtag.features.language import parse
from seqtag.labels.column import LabelColumn
from seqtag.tagging.streams import tag_text
from seqtag.training.calibration import calibrate
from tests.command_line import call  # noqa: F401  (a fixture)

TEMPLATES = parse("form[0]\nlabel[-1]")
WORDS = {
    "Dogs": ("NOUN", "Case=Nom|Number=Plur"),
    "him": ("PRON", "Case=Acc|number[psor]=Sing|Number=Sing|Person=3"),
    "see": ("VERB", "Tense=Pres"),
    ".": ("PUNCT", "_"),
}


def conllu(seed: int, sentences: int = 6) -> bytes:
    """The same sentences, their FEATS in another order for each seed."""
    chance, lines = random.Random(seed), []
    for _ in range(sentences):
        for i, (word, (upos, feats)) in enumerate(WORDS.items(), 1):
            items = feats.split("|")
            chance.shuffle(items)
            lines.append("\t".join([str(i), word, "_", upos, "_", "|".join(items), *"____"]))
        lines.append("")
    return ("\n".join(lines) + "\n").encode()


def read(data: bytes):
    return list(seqtag.read(io.BytesIO(data), "conllu"))


@pytest.mark.parametrize("label", ["feats", "upos+feats"])
def test_orders_are_one_label_that_is_sorted(label):
    tagger = seqtag.train(read(conllu(1)), label=label, templates=TEMPLATES, epochs=2)
    assert len(tagger.labels) == 4
    wanted = ["Case=Nom|Number=Plur", "Case=Acc|Number=Sing|number[psor]=Sing|Person=3"]
    found = tagger.split_label(tagger.tag(list(WORDS)))["feats"]
    assert found == [*wanted, "Tense=Pres", "_"]
    assert score(tagger, read(conllu(2))).accuracy == 1
    fixed = "Person=3|Number=Sing|number[psor]=Sing|Case=Acc"
    fixed = fixed if label == "feats" else f"PRON|{fixed}"
    assert tagger.tag(["Dogs"], fixed_labels=[fixed], scores=True).labels == [fixed]
    assert calibrate(tagger, read(conllu(3))).reliability[label]


@given(st.lists(st.sampled_from(["Case=Nom", "case=Acc", "Number=Sing", "Number[psor]=Sing"])))
def test_normal_labels(items):
    column = LabelColumn("feats")
    found = column.normal("|".join(items) or "_")
    assert column.normal(found) == found
    assert {*found.split("|")} == {*(items or "_")}
    assert [*map(str.lower, found.split("|"))] == sorted(map(str.lower, found.split("|")))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 99), st.integers(0, 99))
def test_features_as_input(a, b):
    templates = parse("feats[0]\nfeats[-1]")
    tagger = seqtag.train(read(conllu(a)), label="upos", templates=templates, min_count=1)
    expected = [upos for upos, _ in WORDS.values()]
    for sentence in read(conllu(b, 2)):
        assert tagger.tag(sentence) == expected
    assert len({*tagger.tag_many(read(conllu(b)))[0]}) == 4
    data = conllu(b).replace(b"NOUN", b"_")
    [text] = tag_text([tagger], seqtag.read(io.BytesIO(data), "conllu"))
    assert text == conllu(b)


def test_commands(tmp_path, call):  # noqa: F811
    paths = [tmp_path / f"{seed}.conllu" for seed in range(3)]
    for seed, path in enumerate(paths):
        path.write_bytes(conllu(seed))
    for label in ("feats", "upos+feats"):
        done = call("eval", paths[0], paths[1], "--label", label, "--fail-under", 100)
        assert done.code == 0
    model = tmp_path / "m.seqtag"
    assert call("train", paths[0], "--label", "upos+feats", "-o", model).code == 0
    assert call("eval", "-m", model, paths[2], "--fail-under", 100).code == 0
    kept = call("tag", "-m", model, "--keep", paths[2])
    assert kept.out == paths[2].read_bytes()
    upos = tmp_path / "upos.seqtag"
    assert call("train", paths[0], "--label", "upos", "-o", upos).code == 0
    assert call("tag", "-m", upos, paths[2]).out == paths[2].read_bytes()
    written = call("tag", "-m", model, paths[2]).out
    assert b"Case=Acc|Number=Sing|number[psor]=Sing|Person=3" in written
