"""seqtag.evaluation.agreement: kappa, F1, what is left out, disagreements and what is agreed."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqtag
from seqtag.errors import CorpusError, LabelError, OptionError
from seqtag.evaluation import agree


def agreement(*annotators, column="tag"):
    """The agreement on sentences, whose labels are separated by blanks."""
    files = [[each.split() for each in sentences] for sentences in annotators]
    tokens = [["w"] * len(each) for each in files[0]]
    return agree([seqtag.read({"tokens": tokens, column: each}) for each in files])


def test_fleiss_kappa_of_a_published_example():
    """14 raters, 10 subjects, 5 categories: .210 (Wikipedia, Fleiss' kappa, worked example)."""
    counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    rows = [
        [name for name, n in zip("vwxyz", row, strict=True) for _ in range(n)] for row in counts
    ]
    annotators = [[" ".join(column)] for column in zip(*rows, strict=True)]
    *_, of_all = agreement(*annotators).reports.values()
    assert round(of_all.kappa, 3) == 0.210


labels = st.lists(st.tuples(*[st.sampled_from(["N", "V", "X"])] * 3), min_size=1, max_size=30)


@given(labels)
def test_kappa_is_that_of_sklearn_and_nltk(rows):
    sklearn = pytest.importorskip("sklearn.metrics")
    nltk = pytest.importorskip("nltk.metrics.agreement")
    columns = [*zip(*rows, strict=True)]
    reports = agreement(*([" ".join(column)] for column in columns)).reports
    for pair, (a, b) in {"A, B": (0, 1), "A, C": (0, 2), "B, C": (1, 2)}.items():
        if len({*columns[a], *columns[b]}) == 1:
            assert reports[pair].kappa is None
        else:
            expected = sklearn.cohen_kappa_score(columns[a], columns[b])
            assert reports[pair].kappa == pytest.approx(expected)
    if len({label for row in rows for label in row}) > 1:
        data = [(i, word, x) for i, each in enumerate(columns) for word, x in enumerate(each)]
        assert reports["A, B, C"].kappa == pytest.approx(nltk.AnnotationTask(data).pi())


@given(
    st.lists(
        st.tuples(*[st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"])] * 2),
        min_size=1,
        max_size=20,
    )
)
def test_f1_is_that_of_seqeval(rows):
    metrics = pytest.importorskip("seqeval.metrics")
    a, b = (["O", "B-X", *column] for column in zip(*rows, strict=True))
    report = agreement([" ".join(a)], [" ".join(b)], column="ner").report("A", "B")
    assert report.f1 == pytest.approx(metrics.f1_score([a], [b]))


def test_chunks_are_compared_in_any_scheme(caplog):
    found = agreement(["B-PER I-PER O B-LOC"], ["B-PER E-PER O O"], column="ner")
    assert "the gold labels are iobes, and are read as iob2" in caplog.text
    report = found.report("A", "B")
    assert (found.scheme, report.accuracy, report.f1) == ("iob2", 0.75, 2 / 3)
    assert report.kappa == pytest.approx(2 / 3)
    assert {name: each.f1 for name, each in report.chunk_types.items()} == {"LOC": 0, "PER": 1}


def test_overlapping_chunks_are_one_disagreement():
    found = agreement(["B-X I-X I-X O B-X"], ["B-X I-X B-Y O B-X"], column="ner")
    [row] = found.disagreements()
    assert (row["line"], row["sentence"], row["A"], row["B"], row["before"], row["after"]) == (
        1,
        1,
        ["B-X", "I-X", "I-X"],
        ["B-X", "I-X", "B-Y"],
        [],
        ["w", "w"],
    )
    [merged] = found.merged()
    assert json.loads(merged)["ner"] == ["_", "_", "_", "O", "B-X"]


def test_words_that_one_annotator_left_out_are_not_compared(caplog):
    found = agreement(["B-X I-X O B-X O", "O"], ["B-X _ O B-X B-Y", "O"], column="ner")
    assert "<data>:1: 1 words have no label, not compared" in caplog.text
    assert [row["B"] for row in found.disagreements()] == [["B-Y"]]
    assert found.report("A", "B").accuracy == 4 / 5
    assert json.loads(next(found.merged()))["ner"] == ["B-X", "_", "O", "B-X", "_"]


def test_in_feats_no_features_are_a_label():
    found = agreement(["_ A=b"], ["_ A=c"], column="feats")
    assert found.report("A", "B").accuracy == 0.5
    with pytest.raises(LabelError, match=r"merge upos\+feats"):
        next(found.merged())


def test_one_label_everywhere_has_no_kappa():
    found = agreement(["N N"], ["N N"])
    assert (found.report("A", "B").accuracy, found.report("A", "B").kappa) == (1, None)
    assert "undefined" in str(found) and "nan" not in str(found)


def test_an_annotator_without_chunks_agrees_with_none_of_them():
    found = agreement(["O O O"], ["B-X O O"], ["B-X O O"], column="ner")
    assert [each.f1 for each in found.reports.values()] == [0, 0, 1, 0.5]


def test_the_merged_file_keeps_all_else():
    text = b"# a\n\n# newdoc\n1\tgo\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n# end\n"
    files = [io.BytesIO(text), io.BytesIO(text.replace(b"VERB", b"NOUN"))]
    found = agree([seqtag.read(each, "conllu") for each in files])
    assert "".join(found.merged()).encode() == text.replace(b"VERB", b"_")


def test_refusals():
    with pytest.raises(OptionError, match="expected 2 to 26 annotators, found 1"):
        agreement(["N"])
    with pytest.raises(CorpusError, match="expected words that all annotators have labeled"):
        agreement(["_ N"], ["N _"])
    with pytest.raises(LabelError, match=r"<data>:1: expected chunk labels such as B-X"):
        agreement(["B-X I-X " * 9 + "B_X"], ["O " * 19], column="ner")
    with pytest.raises(LabelError, match="expected chunk labels"):
        agreement(["B-X I-X"], ["NOUN VERB"], column="ner")
    one, other = (seqtag.read({"tokens": [[w]], "tag": [["N"]]}) for w in ("a", "b"))
    with pytest.raises(
        CorpusError, match='<data>:1: expected the words of <data>:1, "a", found "b"'
    ):
        agree([one, other])
    text, longer = (seqtag.read({"tokens": [["a"]] * n, "tag": [["N"]] * n}) for n in (1, 2))
    with pytest.raises(CorpusError, match='of <data>:2, "a", found the end of the file'):
        agree([longer, text])
