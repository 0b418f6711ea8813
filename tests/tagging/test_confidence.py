"""Margins, n best, given labels, explanations and weights of taggers, whatever their labels."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from seqtag.errors import SeqtagError
from seqtag.model import bundle, container
from seqtag.model.calibration import Calibration
from seqtag.tagging.explain import OTHER_WORDS
from seqtag.tagging.tagger import Tagger
from tests.strategies import corpus
from tests.tagging.test_tagger import CHUNKS, INFLECTED, WORDS, trained

SENTENCE = ["the", "old", "man", "runs"]
TRIGRAMS = f"{WORDS}\nlabel[-2] + label[-1]\nlabel[-1] + suffix(1)[0]"
LEMMAS = corpus("dogs dog, ran run; cats cat, runs run; dog dog, dogs dog", "form lemma")


@pytest.fixture(scope="module")
def taggers() -> dict[str, Tagger]:
    plain = "form[0]\nsuffix(1)[0]\nform[-1]"
    return {
        "order 0": trained(templates=plain),
        "order 1": trained(),
        "order 2": trained(templates=TRIGRAMS),
        "parts": trained(INFLECTED, TRIGRAMS, label_parts="split"),
        "known": trained(templates=f"{TRIGRAMS}\nnormal[0]", tag_dictionary=1),
        "chunks": trained(CHUNKS, encoding="iobes"),
        "free chunks": trained(CHUNKS, encoding="iobes", constrain=False),
    }


def all_of(tagger: Tagger, words: list[str]) -> list[tuple[float, list[str]]]:
    """Every sequence that may be."""
    return tagger.nbest(words, len(tagger.model.labels) ** len(words))


# Chunks that are decoded freely may be written alike: what is written is no measure of them.
KINDS = ["order 0", "order 1", "order 2", "parts", "known", "chunks"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_n_best_and_the_margins_belong_together(taggers, kind):
    tagger, words = taggers[kind], SENTENCE[:3]
    every = all_of(tagger, words)
    assert every[0][1] == tagger.tag(words)
    assert [score for score, _ in every] == sorted((s for s, _ in every), reverse=True)
    assert tagger.nbest(words, 3) == every[:3]
    margins = tagger.tag(words, scores=True).margins
    for t, (label, margin) in enumerate(zip(every[0][1], margins, strict=True)):
        others = [score for score, labels in every if labels[t] != label]
        assert margin == every[0][0] - max(others, default=-np.inf)
    judged = tagger.tag_many([words, [], words[:1]], threads=2, scores=True)
    assert judged[0] == (every[0][1], margins, None)
    assert judged[1] == ([], [], None)
    assert tagger.nbest([], 2) == [(0.0, [])]


@pytest.mark.parametrize("kind", KINDS)
def test_labels_that_are_given_stay(taggers, kind):
    tagger, words = taggers[kind], SENTENCE[:3]
    every = all_of(tagger, words)
    for given in product([None, *tagger.labels], repeat=3):
        found = tagger.tag(words, given)
        assert all(g in (None, label) for g, label in zip(given, found, strict=True))
        fitting = [
            labels
            for _, labels in every
            if all(g in (None, label) for g, label in zip(given, labels, strict=True))
        ]
        if fitting and kind != "known":  # given, a known word may have any label
            assert found == fitting[0]
    margins = tagger.tag(words, [tagger.labels[0], None, None], scores=True).margins
    assert margins[0] == np.inf


def test_given_labels_of_many_sentences(taggers):
    """One that the model does not know stays, too."""
    tagger, given = taggers["order 1"], [None, [None, "NEW", None, None], ["VB"]]
    free = tagger.tag(SENTENCE)
    sentences = [SENTENCE, SENTENCE, ["man"]]
    found = tagger.tag_many(sentences, fixed_labels=given)
    assert found == [free, [free[0], "NEW", *free[2:]], ["VB"]]
    assert tagger.tag_many(sentences, 1, given, scores=True)[1].margins[1] == np.inf


@pytest.mark.parametrize(
    ("given", "found"), [([], "0"), (["DT"], "1"), ("DT", "'DT'"), (["DT", None, None], "3")]
)
@pytest.mark.parametrize("scores", [False, True])
def test_one_given_label_or_none_for_each_word(taggers, given, found, scores):
    with pytest.raises(SeqtagError) as error:
        taggers["order 1"].tag(["the", "man"], given, scores=scores)
    assert str(error.value) == (f"expected 2 fixed labels, one or None per word, found {found}")


@pytest.mark.parametrize("given", [[], [None], [["DT", None]], [None, None, ["DT"]]])
@pytest.mark.parametrize("scores", [False, True])
def test_given_labels_or_none_for_each_sentence(taggers, given, scores):
    both = iter([["the", "man"], ["the", "man"]])
    with pytest.raises(SeqtagError) as error:
        taggers["order 1"].tag_many(both, fixed_labels=given, scores=scores)
    assert str(error.value) == (
        f"expected fixed labels, or None, for each of 2 sentences, found {len(given)}"
    )


def test_lemmas_are_given_as_lemmas():
    from seqtag.training.train import train

    tagger = train(LEMMAS, label="lemma", epochs=4, min_count=1)
    assert tagger.tag(["dogs", "cats"], ["hound", None])[0] == "hound"
    assert tagger.tag(["dogs", "cats"], ["dogs", None])[0] == "dogs"
    assert len(tagger.tag(["dogs"], scores=True).margins) == 1
    assert tagger.nbest(["dogs"], 1)[0][1] == tagger.tag(["dogs"])
    assert tagger.explain(["dogs"], 0).label == tagger.tag(["dogs"])[0]


def test_how_many_sequences(taggers):
    with pytest.raises(ValueError) as error:
        taggers["order 1"].nbest(["the"], 0)
    assert str(error.value) == "expected k of 1 or more, found 0"
    every = taggers["order 1"].nbest(["the"], 100)
    assert taggers["order 1"].nbest(["the"], 10**30) == every


# ----------------------------------------------------------------- calibrated scores
def test_probabilities_need_a_calibration(tmp_path):
    tagger = trained()
    assert not tagger.is_calibrated
    assert tagger.tag(["the"], scores=True).probabilities is None
    with pytest.raises(SeqtagError) as error:
        tagger.check_calibrated()
    assert str(error.value) == (
        "expected a calibrated model of tag, found one without calibration; calibrate it on a dev "
        "set with seqtag bundle --calibrate"
    )
    learned = Calibration((0.0, 1000.0), (0.5, 0.9), 10)
    calibrated = Tagger(replace(tagger.model, calibration=learned))
    path = tmp_path / "a.seqtag"
    calibrated.save(path)
    [again] = bundle.models_of(container.load(path))
    assert again.calibration == learned
    margins = calibrated.tag(SENTENCE, scores=True).margins
    assert calibrated.tag(SENTENCE, scores=True).probabilities == learned.of(margins)
    assert calibrated.tag(SENTENCE, ["DT", None, None, None], scores=True).probabilities[0] == 1.0
    plain, more = tagger.model.config(), calibrated.model.config()
    assert more == plain | {"calibration": learned.to_dict()}


# ----------------------------------------------------------------- explanations
def test_chunks_that_are_decoded_freely(taggers):
    tagger = taggers["free chunks"]
    free = tagger.tag(SENTENCE)
    assert tagger.nbest(SENTENCE, 1)[0][1] == free
    assert tagger.tag(SENTENCE, [None, "I-NP", None, "O"])[1::2] == ["I-NP", "O"]
    why = tagger.explain(SENTENCE, 0)
    assert why.rival != why.label
    assert why.margin == tagger.tag(SENTENCE, scores=True).margins[0]


@pytest.mark.parametrize("kind", KINDS)
def test_the_rows_of_an_explanation_add_up_to_the_margin(taggers, kind):
    tagger = taggers[kind]
    margins, labels = tagger.tag(SENTENCE, scores=True).margins, tagger.tag(SENTENCE)
    for token in range(4):
        why = tagger.explain(SENTENCE, token)
        assert (why.token, why.word, why.written) == (token, SENTENCE[token], labels[token])
        assert why.label in tagger.model.labels  # as its rows show it
        assert why.margin == margins[token]
        if why.rival is None:
            assert why.margin == np.inf
            assert why.as_dict()["margin"] is None
            assert all(row.rival_weight == 0 for row in why.rows)
            continue
        assert why.rival != why.label
        total = sum(row.label_weight for row in why.rows)
        assert total - sum(row.rival_weight for row in why.rows) == why.margin
        assert why.as_dict()["rows"][0] == why.rows[0]._asdict()


@pytest.mark.parametrize("kind", ["order 0", "order 1", "order 2", "parts"])
def test_any_label_may_be_the_rival(taggers, kind):
    tagger = taggers[kind]
    every = all_of(tagger, SENTENCE[:3])
    for rival in tagger.labels:
        if rival == every[0][1][1]:
            continue
        why = tagger.explain(SENTENCE[:3], 1, rival)
        best = max(score for score, labels in every if labels[1] == rival)
        assert why.rival == rival
        assert why.margin == every[0][0] - best


def test_chunk_labels_are_those_of_the_rows(taggers):
    """Rows show labels as learned, in IOBES; the file has IOB2, and so has the rival."""
    tagger, seen = taggers["chunks"], set()
    assert tagger.tag(SENTENCE) == ["B-NP", "I-NP", "I-NP", "O"]
    for rival in ("B-NP", "O"):
        why = tagger.explain(SENTENCE, 2, rival)
        seen.add((why.label, why.rival, why.written, why.written_rival))
        assert f"word 3 man: E-NP (written I-NP), not {why.rival}" in why.to_text()
        chain = [row.feature for row in why.rows if row.template == "label[-1]"]
        assert any("E-NP" in each and str(why.rival) in each for each in chain)
    assert seen == {
        ("E-NP", "B-NP", "I-NP", "B-NP"),
        ("E-NP", "O", "I-NP", "O"),
    }
    with pytest.raises(SeqtagError, match="other than I-NP, found 'I-NP'"):
        tagger.explain(SENTENCE, 2, "I-NP")


def test_what_an_explanation_names(taggers):
    why = taggers["order 2"].explain(SENTENCE, -2, "VB")
    assert (why.token, why.word) == (2, "man")
    features = {row.template: row.feature for row in why.rows}
    assert features["form[0]"] == "form[0]=man"
    assert features["form[-1]"] == "form[-1]=old"
    assert any(row.feature.startswith("label[-1]: JJ NN / ") for row in why.rows)
    assert not any(
        a == b
        for row in why.rows
        if row.template.startswith("label") and row.template != OTHER_WORDS
        for a, _, b in [row.feature.rpartition(": ")[2].partition(" / ")]
    )
    text = why.to_text(top=2).splitlines()
    assert text[0] == f"word 3 man: NN, not VB; margin {why.margin:g}"
    assert text[-1].split() == ["sum", *text[-1].split()[1:3], f"{why.margin:+g}"]
    assert text[-2].split()[:2] == [str(len(why.rows) - 2), "more"]
    first = taggers["order 0"].explain(["old"], 0)
    assert "form[-1]=<s>" in {row.feature for row in first.rows}
    assert str(first) == first.to_text()


@pytest.mark.parametrize(
    ("token", "rival", "message"),
    [
        (4, None, "expected a word from 0 to 3, found 4"),
        (-5, None, "expected a word from 0 to 3, found -5"),
        (0, "DTT", "expected a label of the model other than DT, found 'DTT'"),
        (0, "NNN", "expected a label of the model other than DT, found 'NNN' (did you mean 'NN'?)"),
        (0, "DT", "expected a label of the model other than DT, found 'DT'"),
    ],
)
def test_what_cannot_be_explained(taggers, token, rival, message):
    with pytest.raises(SeqtagError) as error:
        taggers["order 1"].explain(SENTENCE, token, rival)
    assert str(error.value) == message
