"""Taggers: every way in gives the same labels; damaged models are refused; threads share one."""

from __future__ import annotations

import pickle
from pathlib import Path

import conllu
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus import read, sentence_of
from seqtag.errors import ModelFileError, TemplateError
from seqtag.evaluation.scoring import score
from seqtag.features import attributes
from seqtag.features.language import parse
from seqtag.loading import load
from seqtag.model import container
from seqtag.model.container import Contents
from seqtag.model.model import Model
from seqtag.tagging import workspace
from seqtag.tagging.pipeline import Pipeline
from seqtag.tagging.tagger import Tagger
from seqtag.training.train import train
from tests.strategies import corpus, each_backend, install, words

WORDS = "form[0]\nsuffix(1)[0]\nform[-1]\nlabel[-1]\nlabel[-1] + form[0]"
TRAINING = corpus(
    "the DT, old JJ, man NN, sees VB; the DT, man NN, runs VB; old JJ, men NN, run VB; "
    "a DT, run NN, is VB, old JJ; men NN, man VB, the DT, boat NN; she PR, runs VB, a DT, boat NN"
)
PAIRS = corpus("the D B, man N I, runs V O; runs V O; she N B, runs V O", "form pos tag")
INFLECTED = corpus("the D, man N|s, runs V|s; the D, men N|p, run V|p; man N|s, men N|p, the D")
CHUNKS = corpus("the B-NP, man I-NP, runs O; a B-NP, old I-NP, boat I-NP; she B-NP, runs O")
sentences = st.lists(
    st.lists(st.sampled_from(["the", "man", "runs", "new"]) | words, max_size=6), max_size=5
)


def trained(data=TRAINING, templates: str = WORDS, **options) -> Tagger:
    return train(data, label="tag", templates=parse(templates), epochs=8, **options)


@pytest.fixture(scope="module")
def word_tagger() -> Tagger:
    return trained()


@pytest.fixture(scope="module")
def pair_tagger() -> Tagger:
    return trained(PAIRS, "form[0]\nform(pos)[0]\nform(pos)[-1]\nlabel[-1]")


@pytest.fixture(scope="module")
def rich_tagger() -> Tagger:
    """Second order, labels of parts, known words."""
    return trained(
        INFLECTED,
        f"{WORDS}\nlabel[-2] + label[-1]\nnormal[0]",
        label_parts="split",
        tag_dictionary=1,
    )


# ----------------------------------------------------------------- what goes in
@given(batch=sentences)
def test_many_sentences_are_tagged_like_each_on_any_number_of_threads(word_tagger, batch):
    each = [word_tagger.tag(sentence) for sentence in batch]
    assert [len(labels) for labels in each] == [len(sentence) for sentence in batch]
    assert set().union(*each) <= set(word_tagger.labels)
    for threads in (1, 2, 4):
        assert word_tagger.tag_many(batch, threads) == each
    assert word_tagger.tag_many(iter(batch)) == each


@each_backend
def test_backends_agree(backend, monkeypatch, word_tagger, rich_tagger):
    batch = [s.words for s in TRAINING] + [["unseen", "man", ""]]
    expected = [each.tag_many(batch) for each in (word_tagger, rich_tagger)]
    install(backend, monkeypatch)
    for each, labels in zip((word_tagger, rich_tagger), expected, strict=True):
        copy = Tagger(Model.of(Contents(each.info, each.model.tensors())))
        assert copy.tag_many(batch) == labels
        assert [w in copy.known_words for w in ("man", "unseen")] == [True, False]


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_are_at_least_one(word_tagger, threads):
    with pytest.raises(ValueError) as error:
        word_tagger.tag_many([["a"]], threads)
    assert str(error.value) == f"expected threads of 1 or more, found {threads}"


def test_nothing_to_tag(word_tagger, pair_tagger):
    for each in (word_tagger, pair_tagger):
        assert each.tag([]) == each.tag(()) == []
        assert each.tag_many([]) == []
        assert each.tag_many([[], []]) == [[], []]


def test_odd_words(word_tagger):
    for odd in ("", " ", "\ud800", "\0", "x" * 100_000, "é", "日本"):
        assert len(word_tagger.tag([odd, "man"])) == 2


@pytest.mark.parametrize("wrong", [None, 3, float("nan"), "man", b"man", Path("a.txt")])
def test_what_is_no_sentence(word_tagger, pair_tagger, wrong):
    for each in (word_tagger, pair_tagger):
        known = ["The"] if each is word_tagger else [("The", "DT")]
        for work, data in (
            (each.tag, wrong),
            (each.tag_many, wrong),
            (each.tag_many, [known, wrong]),
        ):
            with pytest.raises(TypeError, match="expected a list of words, found "):
                work(data)


@pytest.mark.parametrize("word", [3, b"man", ("man", "NN"), ["man"]])
def test_words_are_strings(word_tagger, word):
    with pytest.raises(TypeError) as error:
        word_tagger.tag(["the", word])
    assert str(error.value) == f"expected words as strings, found {word!r}"
    assert word_tagger.tag(["the", "man"]) == ["DT", "NN"]  # no trace is left


def test_tuples_for_two_columns(pair_tagger):
    assert pair_tagger.columns == ("form", "pos")
    assert pair_tagger.tag([("the", "D"), ("man", "N"), ("runs", "V")]) == ["B", "I", "O"]
    assert pair_tagger.tag([["the", "D"]]) == ["B"]
    assert pair_tagger.tag(PAIRS[0]) == ["B", "I", "O"]


@pytest.mark.parametrize("word", [("man",), ("man", "N", "I"), "NN"])
def test_tuples_of_another_size(pair_tagger, word):
    with pytest.raises(TypeError) as error:
        pair_tagger.tag([("the", "D"), word])
    assert str(error.value) == f"expected a tuple (form, pos) for every word, found {word!r}"


def test_a_model_that_sees_no_words():
    blind = trained(templates="bias\nlabel[-1]")
    assert blind.columns == ()
    assert len(blind.tag(["a", "b"])) == 2
    assert blind.tag([]) == []
    assert len(blind.known_words) == 0


def test_an_attribute_that_fails_is_not_blamed_on_the_words(monkeypatch):
    def fussy(word: str) -> str:
        return word if word != "zzz" else 3

    monkeypatch.setattr(attributes, "_REGISTRY", dict(attributes._REGISTRY))
    attributes.attribute("fussy")(fussy)
    learned = trained(templates="fussy[0]")
    with pytest.raises(TemplateError, match="attribute 'fussy' must return a string or None"):
        learned.tag(["zzz"])
    assert learned.tag(["man"]) == ["NN"]


# ----------------------------------------------------------------- conllu
CONLLU = """\
# text = vámonos
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\tV\tMood=Imp|Number=Plur\t0\troot\t_\t_
2\tnos\tnos\tPRON\t_\tCase=Acc\t1\tobj\t_\t_
2.1\telided\t_\tX\t_\t_\t_\t_\t_\t_
3\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_

"""


@pytest.fixture
def conllu_file(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU, "utf-8")
    return path


@pytest.mark.parametrize(
    ("label", "labels"),
    [
        ("upos", ["VERB", "PRON", "PUNCT"]),
        ("upos+feats", ["VERB|Mood=Imp|Number=Plur", "PRON|Case=Acc", "PUNCT"]),
        ("feats", ["Mood=Imp|Number=Plur", "Case=Acc", "_"]),
    ],
)
def test_a_token_list_is_filled_in_place(conllu_file, label, labels):
    learned = train(conllu_file, label=label, templates=parse("form[0]"), epochs=8)
    [tokens] = conllu.parse(CONLLU)
    for token in tokens:
        if isinstance(token["id"], int):
            token.update({name: None for name in learned.label_columns})
    assert learned.tag(tokens) == labels
    assert tokens.serialize() == CONLLU  # multiword range and empty node untouched
    if "feats" in learned.label_columns:
        assert tokens[1]["feats"] == {"Mood": "Imp", "Number": "Plur"}
        assert tokens[4]["feats"] is None


def test_a_token_list_is_read_as_its_file_is(conllu_file):
    """Columns that conllu parses (None for "_", a dict for FEATS) are strings again."""
    learned = train(
        conllu_file, label="upos", templates=parse("form(xpos)[0]\nform(feats)[0]"), epochs=8
    )
    [sentence], [tokens] = read(conllu_file), conllu.parse(CONLLU)
    assert learned.tag(tokens) == learned.tag(sentence) == ["VERB", "PRON", "PUNCT"]
    encoder = learned._workspaces._idle[-1].encoder  # no value was new in the second form
    assert len(encoder) == 3
    assert encoder.number("xpos", [["V", "_", "new"]], 3).tolist() == [0, 1, 2]
    feats = ["Mood=Imp|Number=Plur", "Case=Acc", "_", "new"]
    assert encoder.number("feats", [feats], 4).tolist() == [0, 1, 2, 3]


# ----------------------------------------------------------------- known words, memory, threads
def test_known_words(word_tagger):
    known = word_tagger.known_words
    vocabulary = {word for s in TRAINING for word in s.words}
    assert len(known) == len(vocabulary)
    known._answers._most = 1000  # answers are forgotten, and found again
    for _ in range(2):
        assert all(word in known for word in vocabulary)
        assert not any(word in known for word in ("", "Man", "unseen", "zzz"))


def test_a_worker_that_knows_too_many_types_starts_afresh(monkeypatch):
    fresh = trained()
    batch = [[f"w{n}", "man"] for n in range(20)]
    expected = [fresh.tag(sentence) for sentence in batch]
    [used] = fresh._workspaces._idle
    assert len(used.encoder) == 21
    monkeypatch.setattr(workspace, "TAGGERS_BYTES", 2 * used.nbytes)
    made, make = [], fresh.new_workspace
    monkeypatch.setattr(fresh, "new_workspace", lambda: made.append(make()) or made[-1])
    for sentence, labels in zip(batch, expected, strict=True):
        assert fresh.tag(sentence) == labels
        assert len(fresh._workspaces._idle) <= 1
    assert len(made) > 1
    assert max(len(each.encoder) for each in made) < 21


def test_a_worker_that_knows_long_words_starts_afresh(monkeypatch):
    fresh = trained()
    monkeypatch.setattr(workspace, "TAGGERS_BYTES", 40_000_000)
    held = []
    for n in range(25):
        fresh.tag([f"{n}{'x' * 1_000_000}", "man"])
        fresh.tag(["man"])  # the next one begins anew if the last one filled it
        held.append(fresh._workspaces._idle[-1].nbytes)
    assert max(held) <= 10_000_000
    assert sorted(held) != held


# ----------------------------------------------------------------- what it says of itself
def test_what_a_tagger_is(word_tagger):
    assert (word_tagger.label, word_tagger.columns, word_tagger.label_columns) == (
        "tag",
        ("form",),
        ("tag",),
    )
    assert word_tagger.labels == ("DT", "JJ", "NN", "PR", "VB")
    assert word_tagger.label_scheme is None
    assert word_tagger.info["training"]["epochs"] == 8
    assert repr(word_tagger) == "<seqtag.Tagger of tag: 5 labels from ('form',)>"
    assert word_tagger.split_label(["NN"]) == {"tag": ["NN"]}


def test_a_tagger_is_used_like_a_pipeline_of_one_model(word_tagger):
    pipeline = Pipeline([word_tagger.model])
    assert (pipeline.models, pipeline.parts) == (word_tagger.models, word_tagger.parts)
    assert word_tagger.taggers == (word_tagger,)
    assert [each.label for each in pipeline.taggers] == [word_tagger.label]
    assert word_tagger.segmenter is pipeline.segmenter is None


def test_what_each_label_is_written_as():
    chunks = trained(CHUNKS, encoding="iobes")
    written = [label.replace("S-", "B-").replace("E-", "I-") for label in chunks.model.labels]
    assert chunks.outputs == written != chunks.model.labels
    assert chunks.labels == ("B-NP", "I-NP", "O")
    assert chunks.writes_ids
    as_learned = Tagger(
        Model.of(Contents(chunks.info | {"scheme": "iobes"}, chunks.model.tensors()))
    )
    assert as_learned.outputs == chunks.model.labels
    assert as_learned.writes_ids
    for changed in ({"scheme": "iob1"}, {"constrain": False}):  # it depends on the neighbours
        model = Model.of(Contents(chunks.info | changed, chunks.model.tensors()))
        assert not Tagger(model).writes_ids


# ----------------------------------------------------------------- files
@pytest.mark.parametrize("data", [TRAINING, CHUNKS, INFLECTED], ids=["words", "chunks", "parts"])
def test_saved_loaded_and_pickled_it_is_the_same(tmp_path, data, rich_tagger):
    first = rich_tagger if data is INFLECTED else trained(data, WORDS)
    path, again = tmp_path / "a.seqtag", tmp_path / "b.seqtag"
    size = first.save(path)
    assert size == path.stat().st_size
    loaded, pickled = load(path), pickle.loads(pickle.dumps(first))
    batch = [s.words for s in data]
    for copy in (loaded, pickled, pickle.loads(pickle.dumps(loaded))):
        assert copy.tag_many(batch) == first.tag_many(batch)
        assert copy.info == first.info
        assert copy.save(again) == size
        assert again.read_bytes() == path.read_bytes()


def test_a_model_of_another_kind(tmp_path):
    path = tmp_path / "a.seqtag"
    container.save(path, {"parts": [{}]}, {"p0.w": np.zeros(1)})
    with pytest.raises(ModelFileError) as error:
        load(path)
    assert str(error.value).startswith(f"{path}: expected the tensors ")


# ----------------------------------------------------------------- lemmas
@pytest.fixture(scope="module")
def lemmatiser():
    data = corpus("Dogs dog, cats cat, barks bark, is be, PARIS Paris; sees see", "form lemma")
    templates = parse("form[0]\nsuffix(1)[0]\noutline[0]")
    return train(data, label="lemma", templates=templates, epochs=8)


def test_lemmas_are_made_from_forms(lemmatiser):
    assert lemmatiser.tag(["is", "sings", "LYONS", "s"]) == ["be", "sing", "Lyons", "s"]
    assert lemmatiser.tag([]) == []
    assert lemmatiser.tag_many([["cats"], [], ["Dogs", "is"]], threads=2) == [
        ["cat"],
        [],
        ["dog", "be"],
    ]
    assert Tagger(lemmatiser.model).tag(["wins"]) == ["win"]
    assert "=be" in lemmatiser.labels


def test_lemmas_are_scored_as_lemmas(lemmatiser):
    gold = sentence_of({"form": ["is", "wins", "runs"], "lemma": ["be", "win", "run away"]})
    report = score(lemmatiser, [gold])
    assert (report.correct, report.known_correct, report.unknown_tokens) == (2, 1, 2)
    assert report.confusion["run away", "run"] == 1
