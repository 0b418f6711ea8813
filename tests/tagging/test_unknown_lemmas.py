"""Lemmas of unknown words: attested where a script that makes one is nearly the best."""

from __future__ import annotations

import io
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import seqtag
from seqtag.corpus import read
from seqtag.engine import frozen
from seqtag.errors import ModelFileError
from seqtag.features.encoder import Column
from seqtag.features.language import load
from seqtag.model.attested import AttestedLemmas
from seqtag.model.container import Contents
from seqtag.model.model import Model
from seqtag.tables.table import WordTable
from seqtag.tagging import unknown_lemmas
from seqtag.tagging.streams import tag_text
from seqtag.tagging.unknown_lemmas import LemmaMemory, TokenIds, UnknownLemmas

PAST = ("walk", "talk", "look", "seem", "move", "love", "hope", "use", "row", "agree")
PRESENT = ("walk", "move", "love", "row", "look", "use")
PAIRS = [word for verb in PAST for word in (f"{verb.removesuffix('e')}ed", verb)]
PAIRS += [word for verb in PRESENT for word in (f"{verb}s", verb)]
WORDS = st.lists(st.text("aeloprsdw", min_size=1, max_size=4), min_size=1, max_size=4)


def treebank(pairs: list[str]) -> str:
    rows = zip(pairs[::2], pairs[1::2], strict=True)
    lines = (f"1\t{form}\t{lemma}\tVERB\t_\t_\t_\t_\t_\t_\n\n" for form, lemma in rows)
    return "".join(lines)


@cache
def tagger(*words: str) -> seqtag.Tagger:
    """A tagger of lemmas, with a table of words that they may be."""
    data = read(io.BytesIO(treebank(PAIRS).encode()), "conllu")
    tables = [WordTable.of("words", [(word, ["yes"]) for word in words])] if words else []
    templates = load("lemma").within(["form", "upos"])
    return seqtag.train(data, label="lemma", templates=templates, tables=tables)


def lemma(form: str, *words: str) -> str:
    return tagger(*words).tag([(form, "VERB")])[0]


@pytest.mark.parametrize(
    ("form", "word"), [("talved", "talv"), ("talved", "talve"), ("wored", "wore"), ("wored", "wor")]
)
def test_the_lemma_of_an_unknown_word_is_in_a_table(form, word):
    assert lemma(form, word) == word
    assert tagger(word).tag([(form, "VERB")], scores=True).labels == [word]
    assert tagger(word).nbest([(form, "VERB")], 1)[0][1] == [word]
    sentence = [("moved", "VERB"), (form, "VERB")]
    assert tagger(word).tag(sentence, ["MOVE", None]) == ["MOVE", tagger(word).tag(sentence)[1]]


def test_lemmas_of_training_are_attested():
    assert tagger().model.attested.among(["Move", "agree", "explore"]).tolist() == [1, 1, 0]
    assert lemma("moved", "mov") == "move"  # a known word


def test_a_word_may_be_its_own_lemma_where_most_are():
    pairs = [("a", "a"), ("be", "be"), ("does", "do")]
    assert AttestedLemmas.of(pairs).own_forms
    assert not AttestedLemmas.of(pairs[1:]).own_forms
    more = AttestedLemmas.of(pairs[1:], before=AttestedLemmas.of(pairs))
    assert more.own_forms
    assert more.among(["a", "DO", "_"]).tolist() == [True, True, False]


def test_the_word_itself_comes_after_other_attested_lemmas(monkeypatch):
    monkeypatch.setattr(unknown_lemmas, "_NEAR_SCORE", 1000)
    same = [word for word in ("bus", "day", "pea", "tea", "sea", "fifed", "beded") for _ in "12"]
    data = read(io.BytesIO(treebank(PAIRS[:4] + PAIRS[8:12] + same).encode()), "conllu")
    table = WordTable.of("words", [(word, ["yes"]) for word in ("roved", "rov")])
    templates = load("lemma").within(["form", "upos"])
    own = seqtag.train(data, label="lemma", templates=templates, tables=[table])
    assert own.model.attested.own_forms
    assert own.tag([("roved", "VERB")]) == ["rov"]


def test_a_file_keeps_attested_lemmas(tmp_path):
    tagger("wor").save(tmp_path / "m.seqtag")
    loaded = seqtag.load(tmp_path / "m.seqtag")
    assert loaded.tag([("wored", "VERB")]) == ["wor"]
    before, after = tagger("wor").model.attested, loaded.model.attested
    assert before.own_forms == after.own_forms
    np.testing.assert_array_equal(before.hashes, after.hashes)


def test_attested_lemmas_belong_to_models_of_lemmas():
    model = tagger().model
    config = {**model.config(), "coding": "labels"}
    with pytest.raises(ModelFileError, match="attested lemmas in a model of lemmas alone"):
        Model.of(Contents(config, model.tensors()), "m.seqtag")


@settings(max_examples=30)
@given(st.lists(WORDS, min_size=1, max_size=4))
def test_all_outputs_agree(sentences):
    own = tagger("saw", "wor", "sow", "eas")
    rows = [[(f"{word}d", "VERB") for word in sentence] for sentence in sentences]
    found = own.tag_many(rows)
    assert [own.tag(row) for row in rows] == found
    assert [own.tag(row, scores=True).labels for row in rows] == found
    assert [own.nbest(row, 1)[0][1] for row in rows] == found
    text = "".join(
        "".join(f"{n}\t{w}\t_\t{u}\t_\t_\t_\t_\t_\t_\n" for n, (w, u) in enumerate(row, 1)) + "\n"
        for row in rows
    )
    lines = b"".join(tag_text([own], read(io.BytesIO(text.encode()), "conllu"))).decode()
    written = [line.split("\t")[2] for line in lines.split("\n") if line]
    assert written == [label for sentence in found for label in sentence]


@settings(max_examples=30)
@given(WORDS)
def test_both_decoders_choose_the_same(words):
    model = tagger("saw", "wor", "sow", "eas").model
    forms = Column.of([f"{word}d" for word in words])
    columns = {"form": forms, "upos": Column.of(["VERB"] * len(words))}
    compiled = model.compiled
    workspace = tagger("saw", "wor", "sow", "eas").new_workspace()
    for name in compiled.columns:
        workspace.encoder.extend(name, 0, columns[name].types)
    types = np.array([columns[name].ids for name in compiled.columns], np.int32)
    tokens = TokenIds(types, workspace.encoder.hashes, np.array([0, len(words)]))
    native = model.decoder()
    parts = (model.weights, model.parts, model.tag_dictionary, model.by_tags)
    reference = frozen.Decoder(compiled.order, *compiled.key_plans(), *parts)
    results = []
    for decoder in (native, reference):
        buffers = decoder.workspace()
        ids = decoder.decode(*tokens, buffers)
        unknown = UnknownLemmas(model, model.attested, decoder)
        found = unknown.attested(tokens, ids, forms, LemmaMemory(), buffers)
        results.append((found.tokens.tolist(), found.labels.tolist()))
    assert results[0] == results[1]
