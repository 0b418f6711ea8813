"""Labels of another kind among chunk labels are named; no F1 is made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqtag
from seqtag.errors import LabelError
from tests.command_line import call  # noqa: F401  (a fixture)

ODD = ["o", "OO", "0", "B-", "I-", "-", "X", "b-PER", "B_PER", "PAD", "<pad>", "NP", "O."]
SENTENCE = ["O", "B-PER", "I-PER", "O", "B-LOC"]


@given(st.sampled_from(ODD), st.integers(0, 19), st.integers(0, 4))
def test_evaluate_names_them(odd, sentence, word):
    gold = [list(SENTENCE) for _ in range(20)]
    assert seqtag.evaluate(gold, gold).f1 == 1
    predicted = [list(labels) for labels in gold]
    gold[sentence][word] = odd
    with pytest.raises(LabelError) as caught:
        seqtag.evaluate(gold, predicted)
    assert f"found {odd!r} (1 of 100 words)" in str(caught.value)
    assert seqtag.evaluate(predicted, gold).f1 is not None  # a predicted one counts as outside
    plain = seqtag.evaluate(gold, predicted, scheme=None)
    assert (plain.f1, plain.precision, plain.recall) == (None, None, None)
    assert plain.score == 0.99


@given(st.lists(st.lists(st.sampled_from(["NOUN", "VERB", "O", "B", "X"])), max_size=4))
def test_labels_that_are_no_chunks_have_no_f1(gold):
    report = seqtag.evaluate(gold, gold)
    assert (report.f1 is None) == (report.scheme is None)
    assert report.f1 in (None, 1.0)


def test_the_command_names_file_and_line(tmp_path, call):  # noqa: F811
    rows = [f"w{i} X {label}\n" for i, label in enumerate(SENTENCE)]
    good = "".join([*rows, "\n"]) * 20
    wrong = good.replace("w3 X O", "w3 X o", 3)
    (tmp_path / "good.txt").write_text(good)
    (tmp_path / "wrong.txt").write_text(wrong)
    model = tmp_path / "m.seqtag"
    columns = ("--columns", "form,pos,ner")
    assert call("train", tmp_path / "good.txt", *columns, "-o", model, "--epochs", 2).code == 0
    for arguments in (
        [tmp_path / "wrong.txt", tmp_path / "good.txt"],
        ["-m", model, tmp_path / "wrong.txt"],
    ):
        done = call("eval", *arguments, *columns)
        assert done.code == 1
        message = done.err.splitlines()[-1]
        assert message.startswith(
            f"seqtag: {tmp_path / 'wrong.txt'}:4: expected chunk labels such as B-LOC, B-PER, "
            "I-PER, O, found 'o' (3 of 100 words) in the column ner; correct it, or name it with "
            "--outside o if it means O"
        )
        assert call("eval", *arguments, *columns, "--outside", "o").code == 0
    done = call("eval", *[tmp_path / "wrong.txt", tmp_path / "good.txt"], "--scheme", "none")
    assert done.code == 0 and b"97.00" in done.out
