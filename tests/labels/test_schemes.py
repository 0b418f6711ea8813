"""seqtag.labels.schemes: reading, writing and checking chunk labels; factored labels."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.errors import LabelError
from seqtag.labels.column import join_components, split_components
from seqtag.labels.schemes import (
    SCHEMES,
    allowed,
    convert,
    convert_alone,
    convertible_alone,
    count_transitions,
    detect_scheme,
    invalid_transitions,
    prefixes_of,
    spans,
)

IOB = ["O", "B-X", "I-X", "B-Y", "I-Y"]
ALPHABET = {
    scheme: ["O", *(f"{p}-{kind}" for p in sorted(prefixes_of(scheme) - {"O"}) for kind in "XY")]
    for scheme in SCHEMES
}


def invalid(labels, scheme):
    return invalid_transitions(count_transitions([labels]), scheme)


def sequences(labels, longest):
    for length in range(longest + 1):
        yield from product(labels, repeat=length)


def conlleval_spans(labels):
    """Chunks between the borders that the conlleval script sees: its rules, pair by pair."""

    def start(p, t, p_type, t_type):
        return (p, t) in {("B", "B"), ("I", "B"), ("O", "B"), ("O", "I")} or (
            t != "O" and p_type != t_type
        )

    def end(p, t, p_type, t_type):
        return (p, t) in {("B", "B"), ("B", "O"), ("I", "B"), ("I", "O")} or (
            p != "O" and p_type != t_type
        )

    split = [label.split("-", 1) if "-" in label else [label, ""] for label in labels]
    found, since, before = [], None, ("O", "")
    for t, (prefix, chunk_type) in enumerate([*split, ("O", "")]):
        arguments = before[0], prefix, before[1], chunk_type
        if end(*arguments) and since is not None:
            found.append((before[1], since, t))
            since = None
        if start(*arguments):
            since = t
        before = prefix, chunk_type
    return found


# --- reading ---------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["iob1", "iob2", None])
def test_spans_follow_conlleval_on_every_iob_sequence(scheme):
    for labels in sequences(IOB, 5):
        assert spans(labels, scheme) == conlleval_spans(labels), labels


@pytest.mark.parametrize(
    ("scheme", "labels", "expected"),
    [
        ("iobes", "B-X E-X B-X E-X", [("X", 0, 2), ("X", 2, 4)]),
        ("iobes", "S-X S-X O", [("X", 0, 1), ("X", 1, 2)]),
        ("iobes", "B-X I-X E-X S-Y", [("X", 0, 3), ("Y", 3, 4)]),
        ("bilou", "B-X I-X L-X U-Y", [("X", 0, 3), ("Y", 3, 4)]),
        ("bilou", "U-X B-X L-X", [("X", 0, 1), ("X", 1, 3)]),
        ("ioe1", "I-X E-X I-X I-X I-Y", [("X", 0, 2), ("X", 2, 4), ("Y", 4, 5)]),
        ("ioe2", "I-X E-X E-X E-Y O", [("X", 0, 2), ("X", 2, 3), ("Y", 3, 4)]),
        ("bmes", "B-X M-X E-X S-Y", [("X", 0, 3), ("Y", 3, 4)]),
        ("bmewo", "B-X M-X E-X W-Y O", [("X", 0, 3), ("Y", 3, 4)]),
        # repairs: nothing is thrown away
        ("iobes", "B-X O", [("X", 0, 1)]),
        ("iobes", "O E-X", [("X", 1, 2)]),
        ("iobes", "E-X E-X", [("X", 0, 1), ("X", 1, 2)]),
        ("iobes", "S-X I-X E-X", [("X", 0, 1), ("X", 1, 3)]),
        ("iobes", "B-X E-Y", [("X", 0, 1), ("Y", 1, 2)]),
        ("iobes", "B-X S-X", [("X", 0, 1), ("X", 1, 2)]),
        ("bilou", "B-X I-X", [("X", 0, 2)]),
        # types with hyphens, no type, nothing
        ("iob2", "B-ARGM-LOC I-ARGM-TMP", [("ARGM-LOC", 0, 1), ("ARGM-TMP", 1, 2)]),
        ("iob2", "B I O B", [("", 0, 2), ("", 3, 4)]),
        ("iob2", "", []),
    ],
)
def test_spans_by_hand(scheme, labels, expected):
    assert spans(labels.split(), scheme) == expected


def test_spans_without_scheme_take_foreign_labels_for_outside():
    assert spans(["B-X", "NOUN", "I-X", "B-", "-LRB-", "", "U-X"]) == [
        ("X", 0, 1),
        ("X", 2, 3),
        ("X", 6, 7),
    ]


@pytest.mark.parametrize("label", ["S-X", "NOUN", "B-", "O-X", "", "b-X", "BI-X", "-X"])
def test_spans_refuse_labels_of_another_scheme(label):
    with pytest.raises(LabelError) as caught:
        spans(["O", label], "iob2")
    assert str(caught.value) == (
        'expected labels of scheme iob2 ("O", or B, I with "-" and a type), '
        f"found {label!r} at position 2 of the sentence; check the label column and the scheme"
    )


def test_unknown_scheme_is_named_with_the_known_ones():
    with pytest.raises(LabelError) as caught:
        convert([], "iob2", "bioes")
    assert str(caught.value) == (
        f"expected a label scheme out of {', '.join(SCHEMES)}, found 'bioes'; "
        "detect_scheme finds the scheme of given labels"
    )


# --- writing ---------------------------------------------------------------------------------


@st.composite
def chunkings(draw):
    """Length of a sentence and chunks in it."""
    found, length = [], 0
    for kind, size in draw(st.lists(st.tuples(st.sampled_from("OXY-"), st.integers(1, 4)))):
        if kind != "O":
            found.append(({"-": "A-B"}.get(kind, kind), length, length + size))
        length += size
    return length, found


def write_iob2(length, found):
    labels = ["O"] * length
    for chunk_type, start, end in found:
        labels[start:end] = [f"B-{chunk_type}"] + [f"I-{chunk_type}"] * (end - start - 1)
    return labels


@given(chunkings(), st.sampled_from(SCHEMES), st.sampled_from(SCHEMES))
def test_conversion_keeps_chunks_and_comes_back(chunking, source, target):
    length, found = chunking
    labels = convert(write_iob2(length, found), "iob2", source)
    there = convert(labels, source, target)
    assert spans(labels, source) == spans(there, target) == found
    assert len(there) == length
    assert invalid(labels, source) == invalid(there, target) == 0
    assert convert(there, target, source) == labels


@pytest.mark.parametrize("source", SCHEMES)
@pytest.mark.parametrize("target", SCHEMES)
def test_labels_that_convert_alone_convert_as_in_their_sentence(source, target):
    alone = convertible_alone(source, target)
    found = True
    for labels in map(list, sequences(ALPHABET[source], 3)):
        if invalid(labels, source):
            continue
        expected = convert(labels, source, target)
        if alone:
            assert [convert_alone(label, source, target) for label in labels] == expected
        found = found and all(map(_same_letter(source, target), labels, expected))
    assert found == alone  # and where they do not, some label is written in two ways


def _same_letter(source, target, known={}):  # noqa: B006
    """Compare with the first letter that a label became; false for another one."""
    letters = known.setdefault((source, target), {})
    return lambda old, new: letters.setdefault(old[0], new[0]) == new[0]


def test_a_label_of_another_scheme_does_not_convert_alone():
    with pytest.raises(LabelError, match="found 'M-X'; check the label column and the scheme"):
        convert_alone("M-X", "iobes", "bilou")


def test_convert_without_types_and_with_foreign_labels():
    assert convert(["B", "I", "I", "O", "B"], "iob2", "iobes") == ["B", "I", "E", "O", "S"]
    with pytest.raises(LabelError, match="found 'NOUN' at position 1 of the sentence"):
        convert(["NOUN"], "iob2", "iobes")


# --- checking --------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_valid_means_unchanged_by_rewriting(scheme):
    labels = ALPHABET[scheme]
    start, transition, stop = allowed(labels, scheme)
    for ids in sequences(range(len(labels)), 4):
        sentence = [labels[i] for i in ids]
        valid = convert(sentence, scheme, scheme) == sentence
        by_table = not ids or (
            start[ids[0]] and stop[ids[-1]] and all(transition[a, b] for a, b in pairwise(ids))
        )
        assert valid == bool(by_table) == (invalid(sentence, scheme) == 0), sentence


def test_allowed_shapes():
    start, transition, stop = allowed([], "iob2")
    assert (start.shape, transition.shape, stop.shape) == ((0,), (0, 0), (0,))
    start, transition, stop = allowed(["S-X", "B-X", "O"], "iobes")
    assert {a.dtype.name for a in (start, transition, stop)} == {"bool"}
    assert start.tolist() == [True, True, True]
    assert stop.tolist() == [True, False, True]
    assert transition.tolist() == [[True, True, True], [False] * 3, [True, True, True]]


def test_allowed_refuses_foreign_labels():
    with pytest.raises(LabelError) as caught:
        allowed(["O", "B-X", "L-X"], "iobes")
    assert str(caught.value) == (
        'expected labels of scheme iobes ("O", or B, E, I, S with "-" and a type), '
        "found 'L-X' as label 3 of the label set; check the label column and the scheme"
    )


@pytest.mark.parametrize(
    ("scheme", "labels", "n"),
    [
        ("iob2", "I-X I-X O I-Y", 2),
        ("iob1", "B-X O B-X B-X", 2),
        ("iobes", "B-X", 1),
        ("iobes", "I-X", 2),
        ("bilou", "B-X B-X L-X", 1),
        ("iob2", "O NOUN O", 2),
        ("iob2", "", 0),
    ],
)
def test_count_invalid_by_hand(scheme, labels, n):
    assert invalid(labels.split(), scheme) == n


def test_count_transitions_reads_generators_and_skips_empty_sentences():
    counts = count_transitions(iter([["O"], [], ["O", "O"]]))
    assert counts == Counter({(None, "O"): 2, ("O", None): 2, ("O", "O"): 1})
    assert invalid_transitions(counts, "iobes") == 0


# --- detection -------------------------------------------------------------------------------


@given(st.lists(chunkings(), min_size=1), st.sampled_from(SCHEMES))
def test_detected_scheme_explains_the_labels(many, scheme):
    corpus = [convert(write_iob2(*chunking), "iob2", scheme) for chunking in many]
    detected = detect_scheme(corpus)
    if not any(found for _, found in many):
        assert detected is None
        return
    letters = {label[0] for labels in corpus for label in labels} - {"O"}
    if scheme in ("iob1", "iob2", "ioe2") or letters & set("LUW"):
        assert detected == scheme
    assert sum(invalid(labels, detected) for labels in corpus) == 0


@pytest.mark.parametrize(
    ("labels", "scheme"),
    [
        ("", None),
        ("O O", None),
        ("DET NOUN", None),
        ("NN-SBJ O", None),
        ("-LRB- NN", None),
        ("B-X NOUN", None),
        ("S-X U-X", None),
        # one nameless type, as conlleval reads it
        ("B I O", "iob2"),
        ("I O I B I", "iob1"),
        ("B I E S O", "iobes"),
        ("S B E B I I E", "iobes"),
        ("O U B L", "bilou"),
        ("B-X I O", "iob2"),
        # may be parts of speech
        ("B", None),
        ("S O", None),
        ("S E", None),
        ("B NN O", None),
        ("B M E S", "bmes"),
        ("B E W O", "bmewo"),
        ("I E O", "ioe2"),
        ("M E", None),
        ("E O", None),
        ("B I O X", None),
        ("I-X O", "iob1"),
        ("I-X O B-X", "iob2"),  # one mistake either way
        ("I-X O I-X B-X B-Y", "iob1"),  # one mistake against two
        ("S-X", "iobes"),
        ("B-X I-X L-X", "bilou"),
        ("E-X O", "ioe2"),
        ("I-X E-X I-X O", "ioe1"),
        ("I-X E-X", "ioe2"),
        ("B-X M-X E-X", "bmes"),
        ("W-X O", "bmewo"),
    ],
)
def test_detect_scheme_by_hand(labels, scheme):
    assert detect_scheme([labels.split()]) == scheme


# --- factored labels -------------------------------------------------------------------------


@given(st.text())
def test_labels_come_back_or_are_refused(label):
    try:
        parts = split_components(label)
    except LabelError:
        assert not label or label[0] == "|" or label.partition("|")[1:] in [("|", ""), ("|", "_")]
    else:
        assert join_components(*parts) == label


@pytest.mark.parametrize("label", ["", "|Case=Nom", "NOUN|", "NOUN|_"])
def test_split_parts_refuses_what_join_parts_cannot_make(label):
    with pytest.raises(LabelError) as caught:
        split_components(label)
    assert str(caught.value) == (
        f'expected a label like "NOUN" or "NOUN|Case=Nom", found {label!r}; '
        "make such labels with join_components"
    )
