"""Comparison of reports, and the counts of sentences that it draws from."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus import sentence_of
from seqtag.errors import LabelError
from seqtag.evaluation import compare, evaluate, intervals, score_aligned
from seqtag.evaluation.counts import f1_of

LABELS = st.sampled_from(["O", "B-X", "I-X", "B-Y"])
SENTENCES = st.lists(
    st.lists(st.tuples(LABELS, LABELS, LABELS), min_size=1, max_size=5), min_size=1, max_size=6
)
GOLD = [["B-X", "I-X", "O"], ["O", "B-Y"], ["B-X"], ["O"]] * 10
FIRST = [["B-X", "O", "O"], ["O", "B-Y"], ["B-Y"], ["O"]] * 10
SECOND = [["B-X", "I-X", "O"], ["O", "O"], ["B-X"], ["O"]] * 10
WORDS = [["a", "b", "c"], ["d", "a"], ["e"], ["f"]] * 10


def report(predicted, **more):
    return evaluate(GOLD, predicted, samples=True, **more)


@given(SENTENCES)
def test_the_counts_of_sentences_make_the_scores(sentences):
    gold, predicted, words = ([[t[i] for t in s] for s in sentences] for i in range(3))
    found = evaluate(gold, predicted, words=words, known={"O", "B-X"}, scheme="iob2", samples=True)
    names = list(found.samples.counts)
    assert names == ["accuracy", "f1", "known", "unknown", "sentences"]
    scores = f1_of(found.samples.table(names).sum(axis=0))
    expected = [
        found.accuracy,
        found.f1,
        found.known_accuracy,
        found.unknown_accuracy,
        found.sentence_accuracy,
    ]
    np.testing.assert_allclose(scores, expected)
    assert len(found.samples) == found.sentences


def test_figures():
    a, b = report(FIRST), report(SECOND)
    found = compare(a, b, seed=2)
    assert list(found.differences) == ["f1", "accuracy", "sentences"]
    f1 = found.differences["f1"]
    assert (f1.a, f1.b) == (a.score, b.score) == pytest.approx((1 / 3, 0.8))
    assert f1.interval.low < f1.difference < f1.interval.high
    assert f1.a_interval.low < f1.a < f1.a_interval.high
    assert f1.p < 0.05
    assert found.signature.startswith(
        "task:label|metric:conlleval-f1|scheme:iob2|sentences:40|tokens:70|resamples:1000|"
        "seed:2|version:"
    )
    assert compare(a, b, seed=2) == found
    assert compare(a, b, seed=3).differences["f1"].interval != f1.interval


def test_the_other_way_round_is_the_opposite():
    a, b = report(FIRST), report(SECOND)
    one, other = compare(a, b).differences["f1"], compare(b, a).differences["f1"]
    assert other.difference == -one.difference
    assert other.interval == (-one.interval.high, -one.interval.low)
    assert other.p == one.p


def test_no_difference():
    found = compare(report(FIRST), report(FIRST))
    for each in found.differences.values():
        assert (each.difference, each.interval) == (0, (0, 0))
        assert each.p == 1


def test_text_and_json():
    found = compare(report(FIRST), report(SECOND))
    lines = str(found).splitlines()
    assert " ".join(lines[0].split()) == "95% intervals of B - A A B B - A from to p"
    assert lines[1].startswith("chunk F1") and "+46.67" in lines[1]
    assert lines[-3:] == [found.signature, "", found.verdict]
    value = json.loads(json.dumps(found.to_dict()))
    assert value["differences"]["f1"]["difference"] == pytest.approx(0.8 - 1 / 3)


def test_known_words_are_compared_if_they_are_the_same():
    a = report(FIRST, words=WORDS, known={"a"})
    assert "known" in compare(a, report(SECOND, words=WORDS, known={"a"})).differences
    other = compare(a, report(SECOND, words=WORDS, known={"b"})).differences
    assert "known" not in other and "accuracy" in other


def test_intervals():
    a = report(FIRST)
    found = intervals(a)
    assert found == {n: d.a_interval for n, d in compare(a, a).differences.items()}


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (
            report(FIRST),
            evaluate(GOLD, SECOND),
            "expected a report with the counts of each sentence, found one without; make it with "
            "samples=True",
        ),
        (
            report(FIRST),
            evaluate(GOLD[:3], SECOND[:3], samples=True),
            "expected two reports on the same gold sentences, found 40 sentences in one and 3 in "
            "the other, or others; score both systems on one file",
        ),
        (
            report(FIRST),
            evaluate(GOLD[::-1], SECOND[::-1], samples=True),
            "expected two reports on the same gold sentences, found 40 sentences in one and 40 in "
            "the other, or others; score both systems on one file",
        ),
    ],
)
def test_what_cannot_be_compared(a, b, message):
    with pytest.raises(LabelError) as error:
        compare(a, b)
    assert str(error.value) == message


# --------------------------------------------------------------------------- texts cut otherwise
def cut(*sentences):
    return [
        sentence_of({"form": text.split(), "upos": ["X"] * len(text.split())}) for text in sentences
    ]


TEXT = cut("a b c", "d", "e f", "gh i")
TEXTS = st.sampled_from(
    [cut("a b c", "d e f", "gh i"), cut("ab c d e f g h i"), cut("a b", "c d e", "f g", "h i")]
)


@given(TEXTS)
def test_the_counts_of_gold_sentences_make_the_scores_of_texts(found):
    whole = score_aligned(TEXT, found)
    assert whole.samples is None
    sampled = score_aligned(TEXT, found, samples=True)
    assert sampled.metrics == whole.metrics
    assert len(sampled.samples) == 4
    for name, counts in sampled.metrics.items():
        assert tuple(sampled.samples.table([name]).sum(axis=0)[0]) == counts, name


def test_texts_are_compared():
    one = score_aligned(TEXT, cut("ab c d e f g h i"), samples=True, headline="tokens")
    two = score_aligned(TEXT, TEXT, samples=True, headline="tokens")
    found = compare(one, two)
    assert list(found.differences)[:2] == ["tokens", "sentences"]
    assert found.differences["tokens"].b == 1
    assert "UFeats" in str(found) and "\nSentences " in str(found)
    assert found.signature.startswith("task:aligned|metric:tokens-f1|sentences:4|tokens:")
