"""Training a pipeline: parts in turn, each with jackknifed tags of those before it."""

from __future__ import annotations

import logging
import re
import signal

import numpy as np
import pytest

import seqtag
from seqtag.corpus import sentence_of
from seqtag.errors import CorpusError, OptionError
from seqtag.features.encoder import Column
from seqtag.model.bundle import to_bytes
from seqtag.tagging.streams import tag_stream
from seqtag.tagging.tagger import Tagger
from seqtag.training import data, loop, plan
from seqtag.training.problem import tag_keys
from seqtag.training.train import train
from tests.treebanks import components

ROWS = {
    "the": ("the", "DET", "DT", "_"),
    "dog": ("dog", "NOUN", "NN", "C=x|N=s"),
    "dogs": ("dog", "NOUN", "NNS", "C=x|N=p"),
    "cat": ("cat", "NOUN", "NN", "C=x|N=s"),
    "cats": ("cat", "NOUN", "NNS", "C=x|N=p"),
    "sings": ("sing", "VERB", "VBZ", "M=x|T=p"),
    "sees": ("see", "VERB", "VBZ", "M=x|T=p"),
    "is": ("be", "AUX", "VBZ", "M=x|T=p"),
}
TEXTS = ["the dog sings", "the cats sees the dog", "the cat is the dogs", "dogs is", "the cat sees"]


def treebank(texts=TEXTS, **fixed):
    """Sentences with all columns; some of them with one value throughout."""
    names = ("lemma", "upos", "xpos", "feats")
    sentences = []
    for text in texts:
        words = text.split()
        columns = {name: [ROWS[word][i] for word in words] for i, name in enumerate(names)}
        columns |= {name: [value] * len(words) for name, value in fixed.items()}
        sentences.append(sentence_of({"form": words, **columns}))
    return sentences


def test_each_part_sees_the_tags_of_those_before_it():
    begun = []
    models = components(treebank() * 4, on_component=begun.append)
    assert [model.column.name for model in models] == begun == ["upos", "xpos", "feats", "lemma"]
    assert [model.compiled.columns for model in models] == [
        ("form",),
        ("form", "upos"),
        ("form", "upos", "xpos"),
        ("form", "upos", "xpos"),
    ]
    [words] = [sentence_of({"form": ["the", "cats", "is", "the", "dog"]})]
    [tagged] = tag_stream([Tagger(model) for model in models], [words])
    assert tagged.column("xpos") == ["DT", "NNS", "VBZ", "DT", "NN"]
    assert tagged.column("feats") == ["_", "C=x|N=p", "M=x|T=p", "_", "C=x|N=s"]
    assert tagged.column("lemma") == ["the", "cat", "be", "the", "dog"]


def test_columns_that_say_nothing_are_left_out(caplog):
    with caplog.at_level(logging.WARNING, "seqtag"):
        models = components(treebank(xpos="_", feats="x"))
    assert [model.column.name for model in models] == ["upos", "lemma"]
    assert [record.getMessage() for record in caplog.records] == [
        "the column xpos is '_' everywhere: not learned",
        "the column feats is 'x' everywhere: not learned",
    ]
    assert models[-1].compiled.columns == ("form", "upos")


def test_labels_that_are_named_are_learnt_in_their_order():
    models = components(treebank(), ["lemma", "xpos"], epochs=2)
    assert [model.column.name for model in models] == ["xpos", "lemma"]
    assert models[1].compiled.columns == ("form", "xpos")
    assert {model.training["epochs"] for model in models} == {2}


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (["upos", "head"], "found upos, head; name the columns with --columns, and what to learn"),
        (["form"], "feats, lemma to learn, found form; name the columns"),
        ([], "found none; name"),
    ],
)
def test_other_labels_are_refused(labels, found):
    with pytest.raises(CorpusError) as error:
        components(treebank(), labels)
    assert str(error.value).startswith("expected some of tokens, words, upos, xpos, feats, lemma")
    assert found in str(error.value)


@pytest.mark.parametrize("predicted", [None, ("DET", "DT"), ("X", "Y")])
def test_values_of_feats_are_those_of_gold_tags(predicted, monkeypatch):
    def tags(fitted, treebank, _):
        [name] = fitted.task.column.columns
        gold = treebank.words.columns[name]
        if predicted is None:
            return treebank.with_columns({name: gold})
        tag = predicted[0] if name == "upos" else predicted[1]
        return treebank.with_columns({name: Column([tag], np.zeros_like(gold.ids))})

    monkeypatch.setattr(loop, "jackknifed", tags)
    feats = components(treebank(), ["upos", "xpos", "feats"])[2]
    by_tags = feats.by_tags
    assert by_tags is not None
    rows = np.split(by_tags.labels, by_tags.row_ptr[1:-1])
    found = [{feats.labels[label] for label in row} for row in rows]
    expected = {(upos, xpos): {label} for _, upos, xpos, label in ROWS.values()}
    upos, xpos = map(Column.of, zip(*expected, strict=True))
    keys = tag_keys(feats.compiled, by_tags.plan, {"upos": upos, "xpos": xpos})[:, 0].tolist()
    assert dict(zip(by_tags.keys.tolist(), found, strict=True)) == dict(
        zip(keys, expected.values(), strict=True)
    )


def test_many_values_of_feats_are_learned_with_their_neighbors(monkeypatch):
    """Few values are learned one by one."""
    few = components(treebank(), ["upos", "xpos", "feats"])[2]
    assert (few.compiled.order, few.training["label_parts"]) == (0, "whole")
    monkeypatch.setattr(plan, "MANY_LABELS", 1)
    many = components(treebank(), ["upos", "xpos", "feats"])[2]
    assert (many.compiled.order, many.training["label_parts"]) == (1, "split")
    assert many.compiled.columns == ("form", "upos")
    assert many.by_tags is not None
    alone = components(treebank() * 4, ["feats"])[0]
    assert alone.compiled.columns == ("form",)


def test_columns_that_are_missing_are_named():
    with pytest.raises(CorpusError) as error:
        components([sentence_of({"form": ["a"], "tag": ["b"]})])
    assert str(error.value) == (
        "expected one or several of the columns upos, xpos, feats, lemma to learn, found form, "
        "tag; name the columns with --columns"
    )
    with pytest.raises(CorpusError, match="of the columns upos, w, found 'form'"):
        components([sentence_of({"upos": ["a"], "w": ["b"]})], ["upos"])


def test_lemmas_without_tags():
    [words] = treebank(["the dogs is"])
    bare = [sentence_of({name: s.column(name) for name in ("form", "lemma")}) for s in treebank()]
    assert train(bare, label="lemma").tag(words.words) == ["the", "dog", "be"]


def test_the_tags_that_later_parts_see_are_of_models_that_did_not_see_the_sentence(monkeypatch):
    """In each fold a word of its own: no model that tags it has met it, nor the label it has."""
    monkeypatch.setattr(loop, "_FOLDS", 3)
    monkeypatch.setattr(data, "_LONGEST_BLOCK", 1)
    sentences = [
        sentence_of({"form": ["the", word], "upos": ["DET", f"X{word}"], "lemma": ["the", word]})
        for word in ("dog", "cat", "hen")
    ]
    seen = []
    build = loop.build_problem

    def spy(task, examples):
        if "upos" in examples.columns:  # the component lemma
            seen.extend(examples.columns["upos"].values())
        return build(task, examples)

    monkeypatch.setattr(loop, "build_problem", spy)
    components(sentences, ["upos", "lemma"])
    assert seen[::2] == ["DET"] * 3
    for word, tag in zip(("dog", "cat", "hen"), seen[1::2], strict=True):
        assert tag != f"X{word}"


def test_a_dev_set_chooses_the_epochs():
    epochs = []
    models = components(treebank(), dev=treebank(["the cat sings"]), on_epoch=epochs.append)
    assert all(epoch.dev is not None for epoch in epochs)
    assert len(epochs) == sum(model.training["epochs"] for model in models)
    assert [model.training["dev"]["score"] for model in models] == [1.0] * 4


@pytest.mark.parametrize(
    ("where", "left"), [("upos", ["upos"]), ("feats", ["upos", "xpos", "feats"])]
)
def test_an_interruption_leaves_the_parts_that_are_finished(where, left):
    begun = []

    def stop(epoch):
        if epoch.epoch == 2 and begun[-1] == where:
            signal.raise_signal(signal.SIGINT)

    models = components(treebank(), on_component=begun.append, on_epoch=stop)
    assert [model.column.name for model in models] == left
    assert [model.interrupted for model in models] == [False] * (len(models) - 1) + [True]


@pytest.mark.parametrize(("where", "left"), [("upos", None), ("feats", ["upos", "xpos"])])
def test_an_interruption_before_the_first_epoch_of_a_part(where, left, monkeypatch):
    fit = loop.fit

    def stop(problem, *arguments):
        if problem.task.column.name == where:
            raise KeyboardInterrupt
        return fit(problem, *arguments)

    monkeypatch.setattr(loop, "fit", stop)
    if left is None:
        with pytest.raises(KeyboardInterrupt):
            components(treebank())
    else:
        assert [model.column.name for model in components(treebank())] == left


def test_sentences_fewer_than_folds():
    models = components(treebank(["the dog sings"]), ["upos", "xpos"])
    assert [model.column.name for model in models] == ["upos", "xpos"]


# ----------------------------------------------------------------- any column, or key of MISC
NAMED = """\
1\tMary\tMary\tPROPN\tNNP\t_\t_\t_\t_\tNER=B-PER
2\tJones\tJones\tPROPN\tNNP\t_\t_\t_\t_\tNER=I-PER
3\tsees\tsee\tVERB\tVBZ\t_\t_\t_\t_\tNER=O
4\tParis\tParis\tPROPN\tNNP\t_\t_\t_\t_\tNER=B-LOC|SpaceAfter=No
5\t.\t.\tPUNCT\t.\t_\t_\t_\t_\tNER=O

1\tParis\tParis\tPROPN\tNNP\t_\t_\t_\t_\tNER=B-LOC
2\tsleeps\tsleep\tVERB\tVBZ\t_\t_\t_\t_\tNER=O|SpaceAfter=No
3\t.\t.\tPUNCT\t.\t_\t_\t_\t_\tNER=O

"""


def test_names_in_misc_are_an_ordinary_component(tmp_path):
    """Learned, saved, loaded, and written into the MISC of text that has other keys there."""
    (tmp_path / "names.conllu").write_text(NAMED * 4)
    how = {"epochs": 5, "encoding": "iobes"}
    pipeline = seqtag.train(tmp_path / "names.conllu", label=["upos", "misc.NER"], **how)
    assert isinstance(pipeline, seqtag.Pipeline)
    assert pipeline.parts == ("upos", "misc.NER")
    assert (pipeline.models[1].coding.scheme, pipeline.models[1].coding.encoding) == (
        "iob2",
        "iobes",
    )
    pipeline.save(tmp_path / "names.seqtag")
    loaded = seqtag.load(tmp_path / "names.seqtag")
    assert loaded.tag_words(["Paris", "sleeps", "."]).column("misc.NER") == ["B-LOC", "O", "O"]
    assert loaded.tag_words([]).column("misc.NER") == []
    bare = re.sub(r"NER=[^|\n]*\|", "", NAMED)
    (tmp_path / "bare.conllu").write_text(re.sub(r"NER=[^|\n]*", "_", bare))
    seqtag.tag_files([tmp_path / "bare.conllu"], tmp_path / "out", loaded)
    found = (tmp_path / "out" / "bare.conllu").read_text().splitlines()
    for ours, theirs in zip(found, NAMED.splitlines(), strict=True):
        assert {*re.split(r"[\t|]", ours)} == {*re.split(r"[\t|]", theirs)}


def test_train_returns_what_the_label_asks_for():
    how = {"epochs": 1}
    assert seqtag.train(treebank(), label="upos", **how).label == "upos"
    assert seqtag.train(treebank(), label=["upos"], **how).parts == ("upos",)
    complete = seqtag.train(treebank(), label="all", **how)
    assert complete.parts == ("upos", "xpos", "feats", "lemma")
    assert to_bytes(complete.models) == to_bytes(components(treebank(), **how))
    message = "expected templates with one label, found upos, xpos; train such components one by"
    with pytest.raises(OptionError, match=message):
        seqtag.train(treebank(), label=["upos", "xpos"], templates="pos")
