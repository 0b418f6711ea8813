"""A tagger of two passes: the same labels on every way in and out, and nothing of the first pass."""

from __future__ import annotations

import io
import pickle
from dataclasses import replace

import numpy as np
import pytest

import seqtag
from seqtag.corpus import read
from seqtag.tagging.explain import names_of
from seqtag.tagging.pipeline import Pipeline, load
from seqtag.tagging.streams import TagOptions, tag_stream, tag_text
from seqtag.tagging.tagger import Tagger
from tests.strategies import each_backend, install


@pytest.fixture(scope="module")
def tagger(sample_dir):
    """Two passes over the sample, of XPOS and UPOS."""
    train = sample_dir / "en-sample-train.conllu"
    return seqtag.train(train, label="xpos", passes=2, epochs=3, tag_dictionary=0)


@pytest.fixture(scope="module")
def dev(sample_dir):
    """The bytes of a file whose columns are filled."""
    return (sample_dir / "en-sample-dev.conllu").read_bytes()


def sentences_in(data: bytes):
    return list(read(io.BytesIO(data), "conllu"))


def test_labels_are_those_of_two_models_one_after_another(tagger, dev):
    """The readable way: tag, and give what was found to the second model as columns."""
    second = Tagger(replace_first(tagger))
    for sentence in sentences_in(dev):
        words = sentence.column("form")
        said = {f"first.{first.label}": first.tag(words) for first in tagger.first}
        assert tagger.tag(words) == second.tag({"form": words, **said})


def replace_first(tagger):
    """The second model by itself, which asks for the columns."""
    return replace(tagger.model, first=())


def test_every_way_in_gives_the_same(tagger, dev):
    sentences = sentences_in(dev)
    many = tagger.tag_many(sentences)
    assert many == tagger.tag_many(sentences, threads=3)
    assert many == [tagger.tag(sentence.column("form")) for sentence in sentences]
    assert many == [judged.labels for judged in tagger.tag_many(sentences, scores=True)]
    assert many == [paths[0][1] for paths in tagger._nbest_many(sentences, 2)]
    assert many == pickle.loads(pickle.dumps(tagger)).tag_many(sentences)
    assert tagger.tag([]) == []
    best, second = tagger.nbest(sentences[0], 2)
    assert best[0] - second[0] == min(tagger.tag(sentences[0], scores=True).margins)


@each_backend
def test_files_are_tagged_alike_on_both_ways(tagger, dev, backend, monkeypatch):
    install(backend, monkeypatch)
    own = Tagger(tagger.model)
    fast = b"".join(tag_text([own], read(io.BytesIO(dev), "conllu"), threads=2))
    slow = "".join(each.text() for each in tag_stream([own], read(io.BytesIO(dev), "conllu")))
    assert fast == slow.encode()
    found = sentences_in(fast)
    assert [each.column("xpos") for each in found] == own.tag_many(found)


def test_nothing_of_the_first_pass_is_written_and_gold_columns_stay(tagger, dev):
    """UPOS of the first pass is not that of the file."""
    tagged = b"".join(tag_text([tagger], read(io.BytesIO(dev), "conllu")))
    assert b"first" not in tagged
    for old, new in zip(sentences_in(dev), sentences_in(tagged), strict=True):
        for name in set(old.columns) - {"xpos"}:
            assert old.column(name) == new.column(name)
    for to in ("columns", "jsonl", "tsv"):
        options = TagOptions(margin=to == "columns")
        text = b"".join(
            tag_text([tagger], read(io.BytesIO(b"It works\n"), "tokens"), to, options=options)
        )
        assert b"first" not in text


def test_a_column_of_that_name_in_a_file_is_left_alone(tagger):
    rows = b"It X _\nworks Y _\n"
    stream = read(io.BytesIO(rows), columns=["form", "first.xpos", "xpos"])
    labels = tagger.tag(["It", "works"])
    expected = f"It X {labels[0]}\nworks Y {labels[1]}\n"
    assert b"".join(tag_text([tagger], stream)).decode() == expected


def test_given_labels_are_given_to_both_passes(tagger, dev):
    [sentence, *_] = sentences_in(dev)
    words = sentence.column("form")
    given = [None] * len(words)
    given[1] = "UH"
    second = Tagger(replace_first(tagger))
    own, other = tagger.first
    said = {"first.xpos": own.tag(words, given), "first.upos": other.tag(words)}
    assert said["first.xpos"][1] == "UH"
    assert tagger.tag(words, given) == second.tag({"form": words, **said}, given)
    strange = [None, "no such label", *given[2:]]
    assert tagger.tag(words, strange)[1] == "no such label"
    assert tagger.tag(words, given, scores=True).margins[1] == np.inf


def test_an_explanation_names_the_labels_of_the_first_pass(tagger):
    words = ["The", "dog", "sleeps", "."]
    why = tagger.explain(words, 1)
    said = tagger.first[0].tag(words)
    shown = [row.feature for row in why.rows if row.template == "first.xpos[+1]"]
    assert shown == [f"first.xpos[+1]={said[2]}"]
    assert sum(row.label_weight - row.rival_weight for row in why.rows) == why.margin
    assert why.margin == tagger.tag(words, scores=True).margins[1]


def test_features_are_named_by_what_the_first_pass_says(tagger):
    words = ["The", "dog", "sleeps", "."]
    names = names_of(tagger.model, tagger.seen([words])).values()
    assert f"first.xpos[0]={tagger.first[0].tag(words)[0]}" in names
    assert [*tagger.first[0].seen([words])] == [words]


def test_two_of_them_in_a_pipeline(tagger, sample_dir, tmp_path, dev):
    """Each sees its own first pass; parts are named and chosen as ever."""
    train = sample_dir / "en-sample-train.conllu"
    upos = seqtag.train(train, label="upos", passes=2, epochs=2, tag_dictionary=0)
    Pipeline([tagger.model, upos.model]).save(tmp_path / "both.seqtag")
    both = load(tmp_path / "both.seqtag")
    assert both.parts == ("xpos", "upos")
    assert both.only("upos").parts == ("upos",)
    sentences = sentences_in(dev)
    for way in (None, "columns"):
        stream = read(io.BytesIO(dev), "conllu")
        done = b"".join(tag_text(both.taggers, stream, way))
        found = list(read(io.BytesIO(done), columns=None if way is None else stream.columns[1:]))
        assert [each.column("xpos") for each in found] == tagger.tag_many(sentences)
        assert [each.column("upos") for each in found] == upos.tag_many(sentences)


def test_lemmas_in_two_passes(sample_dir, dev, tmp_path):
    """Labels that hang on the forms, on the native way too."""
    train = sample_dir / "en-sample-train.conllu"
    lemmas = seqtag.train(train, label="lemma", templates="pos", passes=2, epochs=2)
    lemmas.save(tmp_path / "l.seqtag")
    lemmas = load(tmp_path / "l.seqtag")
    fast = b"".join(tag_text([lemmas], read(io.BytesIO(dev), "conllu")))
    slow = "".join(each.text() for each in tag_stream([lemmas], read(io.BytesIO(dev), "conllu")))
    assert fast == slow.encode()
