"""Errors of tokens, words and sentences in the report."""

from __future__ import annotations

import io

import pytest

import seqtag
from seqtag.corpus import sentence_of
from seqtag.errors import CorpusError
from seqtag.report.page import report_page
from seqtag.report.segmentation import analyze_segmentation, differences_of


def sentence(text, line=1):
    return sentence_of({"form": text.split()}, source="folder/gold", line=line)


def conllu(*rows):
    lines = ["\t".join([number, form, *"_" * 8]) for number, form in rows]
    return list(seqtag.read(io.BytesIO(("\n".join(lines) + "\n\n").encode()), "conllu"))


def found(gold, predicted):
    return [tuple(each) for each in differences_of(gold, predicted)]


def test_the_same():
    gold = [sentence("a b c"), sentence("d")]
    assert found(gold, gold) == []
    assert found([], []) == []


def test_tokens_and_sentences():
    gold = [sentence("we can not go ."), sentence("why ?", line=9)]
    assert found(gold, [sentence("we cannot g o . why ?")]) == [
        ("tokens", ("can", "not"), ("cannot",), "we", "go . why ?", 1),
        ("tokens", ("go",), ("g", "o"), "we can not", ". why ?", 1),
        ("sentences", ("|",), (), "can not go .", "why ?", 9),
    ]
    back = found([sentence("we cannot g o . why ?")], gold)
    assert [each[:3] for each in back] == [
        ("tokens", ("cannot",), ("can", "not")),
        ("tokens", ("g", "o"), ("go",)),
        ("sentences", (), ("|",)),
    ]


def test_crossing_tokens_are_one_error():
    [each] = found([sentence("abc d")], [sentence("ab cd")])
    assert each[1:3] == (("abc", "d"), ("ab", "cd"))


def test_words_of_a_multiword_token():
    gold = conllu(("1-2", "du"), ("1", "de"), ("2", "le"), ("3", "pain"))
    assert [each[:3] for each in found(gold, conllu(("1", "du"), ("2", "pain")))] == [
        ("words", ("de", "le"), ("du",))
    ]


def test_errors_are_counted_by_pair():
    gold = conllu(*((str(i), "it!") for i in range(1, 4)))
    analysis = analyze_segmentation(seqtag.load("en"), gold, resamples=10)
    [(first, n)] = analysis.most_frequent("tokens")
    assert (first.gold, first.predicted, n) == (("it!",), ("it", "!"), 3)
    assert first.before == "" and first.after == "it! it!"
    wrong = {each.kind for each in analysis.differences}
    assert wrong <= {"tokens", "sentences"} and analysis.report.metrics["tokens"].correct == 0


def test_each_sentence_error_is_listed():
    gold = [*conllu(("1", "Go")), *conllu(("1", "to")), *conllu(("1", "him"), ("2", "."))]
    analysis = analyze_segmentation(seqtag.load("en"), gold, resamples=10)
    errors = [each for each in analysis.differences if each.kind == "sentences"]
    assert errors
    page = report_page([], model="m", gold="g", segmentation=analysis)
    assert page.count('<th scope="row">missed</th>') == len(errors)
    assert "tokens: no differences" in page and f"sentences: {len(errors)} differences" in page


def test_other_texts_are_refused():
    with pytest.raises(CorpusError, match="compare files of the same text"):
        found([sentence("a")], [sentence("b")])
