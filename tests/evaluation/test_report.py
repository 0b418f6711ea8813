"""seqtag.evaluation.report: counts, chunks as conlleval sees them, reports."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqtag
from seqtag.errors import LabelError
from seqtag.evaluation import Counts, Origin, WordError, evaluate

IOB = ["O", "B-X", "I-X", "B-Y", "I-Y"]
ALL_SHORT = [labels for length in range(5) for labels in product(IOB, repeat=length)]


def one(gold, predicted, **options):
    return evaluate([gold.split()], [predicted.split()], **options)


# --- the conlleval script, as it counts: token by token, with a flag for "right so far" --------


def chunk_ends(p, t, p_type, t_type):
    return (p, t) in {
        ("B", "B"),
        ("B", "O"),
        ("I", "B"),
        ("I", "O"),
        ("E", "E"),
        ("E", "I"),
        ("E", "O"),
    } or (p != "O" and p_type != t_type)


def chunk_starts(p, t, p_type, t_type):
    return (p, t) in {
        ("B", "B"),
        ("I", "B"),
        ("O", "B"),
        ("O", "I"),
        ("E", "E"),
        ("E", "I"),
        ("O", "E"),
    } or (t != "O" and p_type != t_type)


def conlleval(gold, predicted):
    """What the script prints for these sentences."""
    lines = []
    for a, b in zip(gold, predicted, strict=True):
        lines += [*zip(a, b, strict=True), None]
    tokens = right = 0
    n_right, n_gold, n_found = Counter(), Counter(), Counter()
    inside, last_gold, last_found = False, ("O", ""), ("O", "")
    for line in lines:
        (g, _, g_type), (f, _, f_type) = (label.partition("-") for label in line or ("O", "O"))
        gold_pair = last_gold[0], g, last_gold[1], g_type
        found_pair = last_found[0], f, last_found[1], f_type
        if inside:
            gold_end, found_end = chunk_ends(*gold_pair), chunk_ends(*found_pair)
            if gold_end and found_end and last_gold[1] == last_found[1]:
                inside = False
                n_right[last_gold[1]] += 1
            elif gold_end != found_end or g_type != f_type:
                inside = False
        gold_start, found_start = chunk_starts(*gold_pair), chunk_starts(*found_pair)
        inside = inside or (gold_start and found_start and g_type == f_type)
        n_gold[g_type] += gold_start
        n_found[f_type] += found_start
        if line:
            tokens += 1
            right += line[0] == line[1]
        last_gold, last_found = (g, g_type), (f, f_type)

    def figures(correct, found, total):
        p = 100 * correct / found if found else 0.0
        r = 100 * correct / total if total else 0.0
        f1 = 2 * p * r / (p + r) if p + r else 0.0
        return "precision: %6.2f%%; recall: %6.2f%%; FB1: %6.2f" % (p, r, f1)  # noqa: UP031

    totals = sum(n_right.values()), sum(n_found.values()), sum(n_gold.values())
    text = f"processed {tokens} tokens with {totals[2]} phrases; "
    text += f"found: {totals[1]} phrases; correct: {totals[0]}.\n"
    if tokens:
        text += f"accuracy: {100 * right / tokens:6.2f}%; {figures(*totals)}\n"
    for name in sorted({name for name in n_gold | n_found if n_gold[name] or n_found[name]}):
        text += f"{name:>17}: {figures(n_right[name], n_found[name], n_gold[name])}"
        text += f"  {n_found[name]}\n"
    return text


def test_every_pair_of_sequences_up_to_three():
    by_length = {n: [s for s in ALL_SHORT if len(s) == n] for n in range(4)}
    for n in range(3):
        for gold, predicted in product(by_length[n], repeat=2):
            report = evaluate([gold], [predicted], scheme="iob2")
            assert report.conlleval() == conlleval([gold], [predicted]), (gold, predicted)
    # Length 3 in one go: 15 625 sentences.
    pairs = list(product(by_length[3], repeat=2))
    gold, predicted = zip(*pairs, strict=True)
    assert evaluate(gold, predicted, scheme="iob2").conlleval() == conlleval(gold, predicted)


SENTENCES = st.lists(
    st.lists(st.tuples(st.sampled_from([*IOB, "B-A-Z"]), st.sampled_from([*IOB, "I-A-Z"])))
)


@given(SENTENCES)
def test_corpora_against_conlleval(sentences):
    gold = [[a for a, _ in pairs] for pairs in sentences]
    predicted = [[b for _, b in pairs] for pairs in sentences]
    assert evaluate(gold, predicted, scheme="iob2").conlleval() == conlleval(gold, predicted)


# gold, predicted, scheme, F1 in percent, chunks right, found, gold
WORKED = [
    ("O O B-LOC", "I-PER O B-LOC", "iob2", 66.67, (1, 2, 1)),
    ("I-PER I-PER B-PER O", "I-PER I-PER B-PER O", "iob1", 100, (2, 2, 2)),
    # On IOBES and BILOU the script merges neighbours, so that its own figures differ here.
    ("B-M E-M B-M E-M", "B-M I-M I-M E-M", "iobes", 0, (0, 1, 2)),
    ("S-P S-P O", "S-P S-P O", "iobes", 100, (2, 2, 2)),
    ("S-P S-P O", "B-P E-P O", "iobes", 0, (0, 1, 2)),
    ("U-P U-P O", "U-P U-P O", "bilou", 100, (2, 2, 2)),
    ("U-P U-P O", "B-P L-P O", "bilou", 0, (0, 1, 2)),
    ("B-P I-P E-P O", "B-P I-P I-P O", "iobes", 100, (1, 1, 1)),
    ("O O", "O O", "iob2", 0, (0, 0, 0)),
]


@pytest.mark.parametrize(("gold", "predicted", "scheme", "f1", "counts"), WORKED)
def test_worked_examples(gold, predicted, scheme, f1, counts):
    report = one(gold, predicted, scheme=scheme)
    assert round(100 * report.f1, 2) == f1
    assert report.chunks == Counts(*counts)
    assert report.score == report.f1
    if "-" in gold:
        assert one(gold, predicted) == one(gold, predicted, scheme=scheme)  # found out by itself


# --- counts ----------------------------------------------------------------------------------


def pos_report():
    return evaluate(
        iter([["DET", "NOUN", "VERB"], ["NOUN"], ["DET"]]),
        iter([["DET", "VERB", "VERB"], ["VERB"], ["DET"]]),
        words=iter([["the", "saw", "saw"], ["saw"], ["the"]]),
        known={"the"},
        task="pos",
    )


def test_accuracies_by_hand():
    report = pos_report()
    assert (report.sentences, report.correct_sentences, report.tokens, report.correct) == (
        3,
        1,
        5,
        3,
    )
    assert report.accuracy == report.score == 3 / 5
    assert report.sentence_accuracy == 1 / 3
    assert (report.known_tokens, report.known_correct, report.known_accuracy) == (2, 2, 1.0)
    assert (report.unknown_tokens, report.unknown_correct, report.unknown_accuracy) == (3, 1, 1 / 3)
    assert (report.scheme, report.metric, report.chunks) == (None, "accuracy", Counts(0, 0, 0))
    assert report.confusion == {
        ("DET", "DET"): 2,
        ("NOUN", "VERB"): 2,
        ("VERB", "VERB"): 1,
    }
    assert list(report.labels.items()) == [
        ("DET", Counts(2, 2, 2)),
        ("NOUN", Counts(0, 0, 2)),
        ("VERB", Counts(1, 3, 1)),
    ]
    verb = report.labels["VERB"]
    assert (verb.precision, verb.recall, verb.f1, verb.errors) == (1 / 3, 1.0, 0.5, 2)


def test_invalid_transitions_are_counted_on_either_side():
    report = one("I-X O B-Y O B-Y", "I-X O I-Y O NOUN")
    assert report.scheme == "iob2"
    assert (report.invalid_gold, report.invalid_predicted) == (1, 4)


def test_predicted_labels_that_are_no_chunk_labels_count_as_outside():
    report = one("B-X I-X", "B-X NOUN")
    assert (report.chunks, report.correct) == (Counts(0, 1, 1), 1)


def test_scheme_none_scores_labels_only():
    report = one("B-X", "I-X", scheme=None)
    assert (report.metric, report.score, report.chunk_types, report.invalid_predicted) == (
        "accuracy",
        0.0,
        {},
        0,
    )


def test_nothing_but_o_is_scored_by_accuracy():
    assert one("O O", "O B-X").score == 0.5


@pytest.mark.parametrize("scheme", ["auto", None, "iob2"])
@pytest.mark.parametrize("sentences", [[], [[]]])
def test_empty_input(sentences, scheme):
    report = evaluate(sentences, sentences, words=sentences, known=set(), scheme=scheme)
    assert (report.tokens, report.score, report.accuracy, report.known_accuracy) == (0, 0, 0, 0)
    assert report.sentences == report.correct_sentences == len(sentences)
    assert "tokens" in report.to_text(confusion=3)
    assert report.errors(3) == []
    json.dumps(report.to_dict())
    if scheme == "iob2":
        assert report.conlleval() == (
            "processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0.\n"
        )


def test_word_errors_are_sorted_by_count_then_name():
    report = evaluate(
        [["D", "D", "N", "N", "D"]],
        [["N", "N", "D", "D", "D"]],
        words=[["that", "that", "b", "a", "the"]],
    )
    assert report.errors(2) == [WordError("D", "N", "that", 2), WordError("N", "D", "a", 1)]
    assert len(report.errors(9)) == 3


# --- output ----------------------------------------------------------------------------------


def test_conlleval_pads_types_by_bytes():
    assert "\n               É: precision: 100.00%" in one("B-É", "B-É").conlleval()
    assert "\nA_TYPE_LONGER_THAN_17: prec" in one("B-A_TYPE_LONGER_THAN_17", "O").conlleval()


def test_the_signature_names_the_model_that_was_scored():
    report = one("A B", "A A", task="pos", origin=Origin("0.1.0", "9f86d081", 7))
    assert report.signature == (
        "task:pos|metric:accuracy|scheme:none|sentences:1|tokens:2|model:0.1.0|data:9f86d081|"
        f"seed:7|version:{seqtag.__version__}"
    )
    assert report.to_dict()["origin"] == {"model": "0.1.0", "data": "9f86d081", "seed": 7}
    partly = one("S-X", "S-X", task="chunk", origin=Origin(seed=7))
    assert partly.signature == (
        "task:chunk|metric:conlleval-f1|scheme:iobes|sentences:1|tokens:1|seed:7|"
        f"version:{seqtag.__version__}"
    )


def test_str_is_the_report_and_repr_one_line():
    report = pos_report()
    assert str(report) == report.to_text()
    assert repr(report) == "<seqtag.Report of pos: accuracy 60.00, tokens: 5, sentences: 3>"
    chunk = one("B-X", "B-X", task="chunk")
    assert repr(chunk) == "<seqtag.Report of chunk: conlleval-f1 100.00, tokens: 1, sentences: 1>"


def test_to_dict_holds_everything_at_full_precision():
    report = pos_report()
    found = json.loads(json.dumps(report.to_dict()))
    assert found["score"] == found["accuracy"] == 0.6
    assert found["unknown_accuracy"] == 1 / 3
    assert (found["signature"], found["origin"]) == (report.signature, None)
    assert found["chunks"] is None
    assert found["labels"]["VERB"] == {
        "correct": 1,
        "found": 3,
        "gold": 1,
        "precision": 1 / 3,
        "recall": 1.0,
        "f1": 0.5,
    }
    assert found["confusion"] == [["DET", "DET", 2], ["NOUN", "VERB", 2], ["VERB", "VERB", 1]]
    chunk = one("B-X O", "B-X I-Y").to_dict()
    assert chunk["chunks"]["f1"] == 2 / 3
    assert chunk["chunk_types"]["X"]["f1"] == 1.0
    assert chunk["invalid_predicted"] == 1


def test_text_of_a_pos_report():
    report = pos_report()
    assert report.to_text(confusion=1) == (
        "                           accuracy    correct         of\n"
        "tokens                        60.00          3          5\n"
        "known words                  100.00          2          2\n"
        "unknown words                 33.33          1          3\n"
        "sentences                     33.33          1          3\n"
        "\n"
        "labels with most errors   precision     recall         F1       gold      found\n"
        "NOUN                           0.00       0.00       0.00          2          0\n"
        "VERB                          33.33     100.00      50.00          1          3\n"
        "\n"
        "gold -> predicted            tokens\n"
        "NOUN -> VERB                      2\n"
        "\n"
        f"{report.signature}\n"
    )


# --- errors ----------------------------------------------------------------------------------


NOT_THE_SAME = "expected gold and predicted data of the same sentences, found no"
NO_SEQUENCE = "sentence 1: expected a sequence of"


@pytest.mark.parametrize(
    ("gold", "predicted", "words", "message"),
    [
        ([["O"], ["O"]], [["O"]], None, f"sentence 2: {NOT_THE_SAME} predicted labels here; "),
        ([], [["O"]], None, f"sentence 1: {NOT_THE_SAME} gold labels here; check that"),
        ([["O"]], [["O"]], [], f"sentence 1: {NOT_THE_SAME} words here; check that the files"),
        (
            [["O", "O"]],
            [["O"]],
            None,
            "sentence 1: expected 2 predicted labels as in gold, found 1",
        ),
        ([["O"]], [["O"]], [["a", "b"]], "sentence 1: expected 1 words as in gold, found 2; "),
        (["NOUN"], ["NOUN"], None, f"{NO_SEQUENCE} gold labels, found 'NOUN'; "),
        ([["O"]], ["O"], None, f"{NO_SEQUENCE} predicted labels, found 'O'; "),
        ([[1, 0]], [[1, 0]], None, f"{NO_SEQUENCE} gold labels, found [1, 0]; "),
    ],
)
def test_data_that_do_not_belong_together(gold, predicted, words, message):
    with pytest.raises(LabelError) as caught:
        evaluate(gold, predicted, words=words)
    assert str(caught.value).startswith(message)


def test_gold_labels_must_fit_a_scheme_that_was_asked_for():
    with pytest.raises(LabelError) as caught:
        evaluate([["O"], ["NOUN"]], [["O"], ["O"]], scheme="iob2")
    assert str(caught.value) == (
        'gold sentence 2: expected labels of scheme iob2 ("O", or B, I with "-" and a type), '
        "found 'NOUN' at position 1 of the sentence; check the label column and the scheme"
    )


def test_conlleval_wants_chunks():
    with pytest.raises(LabelError) as caught:
        pos_report().conlleval()
    assert str(caught.value) == (
        "expected chunk labels like B-NP for conlleval, found labels without a scheme; "
        "use to_text(), or call evaluate(..., scheme='iob2')"
    )


def test_chunks_without_a_type_have_a_name_in_tables():
    bare = evaluate([["B", "I", "O"]], [["B", "O", "O"]]).to_text()
    assert "0          1          1\ninvalid transitions" in bare  # after "all", no other row
    assert "\n    " not in bare
    mixed = evaluate([["B", "O", "B-NP"]], [["B", "O", "B-NP"]]).to_text()
    assert re.search(r"\n\(no type\) +100.00 +100.00 +100.00 +1 +1\nNP +100", mixed)
