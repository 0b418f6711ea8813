"""Arrays of Arrow and numpy: the labels of lists, in arrays of the same shape, or a clear message."""

from __future__ import annotations

import numpy as np
import pytest

import seqtag
from seqtag.errors import SeqtagError
from seqtag.features.language import parse
from seqtag.tagging import runtime

SENTENCES = [["the", "dog"], [], ["a", "cat", "sees", "the", "döner"], ["dogs"]]
LABELS = [["D", "N"], [], ["D", "N", "V", "D", "N"], ["N"]]
WORDS = [word for sentence in SENTENCES for word in sentence]
OFFSETS = [0, 2, 2, 7, 8]
LISTS = [
    "list_(string)",
    "large_list(large_string)",
    "list_(large_string)",
    "list_(string_view)",
    "list_view(string)",
    "large_list_view(string)",
    "list_(dictionary)",
]
STRINGS = [np.dtype("U12"), np.dtype(object)]
if hasattr(np, "dtypes") and hasattr(np.dtypes, "StringDType"):
    STRINGS.append(np.dtypes.StringDType())


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    """Several batches."""
    monkeypatch.setattr(runtime, "_BATCH_TOKENS", 3)
    monkeypatch.setattr(runtime, "_SPAN_TOKENS", 6)


@pytest.fixture(scope="module")
def tagger():
    return seqtag.train(SENTENCES, LABELS, label="upos", epochs=3, min_count=1, quick=True)


@pytest.fixture(scope="module")
def expected(tagger):
    return tagger.tag_many(SENTENCES)


@pytest.fixture(scope="module")
def pa():
    return pytest.importorskip("pyarrow", reason="needs pyarrow: pip install -e '.[arrow]'")


def kind_of(pa, text):
    """A type of Arrow by how it is written here; skipped where this Arrow lacks it."""
    name, _, words = text.rstrip(")").partition("(")
    if words == "dictionary":
        return pa.list_(pa.dictionary(pa.int8(), pa.string()))
    if not (hasattr(pa, name) and hasattr(pa, words)):
        pytest.skip(f"this pyarrow has no {text}")
    return getattr(pa, name)(getattr(pa, words)())


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", LISTS)
def test_lists_of_arrow(pa, tagger, expected, kind, threads):
    array = pa.array(SENTENCES, kind_of(pa, kind))
    found = tagger.tag_many(array, threads=threads)
    found.validate(full=True)
    assert found.to_pylist() == expected
    make = pa.large_list if kind.startswith("large") else pa.list_
    assert found.type == make(pa.dictionary(pa.int32(), pa.string()))


def test_lists_of_one_size(pa, tagger):
    pairs = [["the", "dog"], ["a", "cat"]]
    assert tagger.tag_many(pa.array(pairs, pa.list_(pa.string(), 2))).to_pylist() == (
        tagger.tag_many(pairs)
    )


def test_slices_and_chunks(pa, tagger, expected):
    array = pa.array([["x", "y"], *SENTENCES, ["z"]]).slice(1, len(SENTENCES))
    assert tagger.tag_many(array).to_pylist() == expected
    chunked = pa.chunked_array([array.slice(0, 3), array.slice(3, 0), array.slice(3)])
    found = tagger.tag_many(chunked)
    assert [len(chunk) for chunk in found.chunks] == [3, 0, 1]
    assert found.to_pylist() == expected


def test_words_of_arrow_with_offsets(pa, tagger, expected):
    flat = [label for labels in expected for label in labels]
    words = pa.array(["x", *WORDS, "y"]).slice(1, len(WORDS))
    assert tagger.tag_many(words, offsets=pa.array(OFFSETS)).to_pylist() == flat
    chunked = pa.chunked_array([words.slice(0, 5), words.slice(5)])
    found = tagger.tag_many(chunked, offsets=OFFSETS)
    assert [len(chunk) for chunk in found.chunks] == [5, 3]
    assert found.to_pylist() == flat
    encoded = words.dictionary_encode()
    assert tagger.tag_many(encoded, offsets=OFFSETS).to_pylist() == flat


@pytest.mark.parametrize("dtype", STRINGS, ids=str)
def test_words_of_numpy_with_offsets(tagger, expected, dtype):
    found = tagger.tag_many(np.array(WORDS, dtype), offsets=np.array(OFFSETS, np.uint32))
    assert found.tolist() == [label for labels in expected for label in labels]
    assert found.dtype.kind == dtype.kind
    every_second = np.array([w for word in WORDS for w in (word, "x")], dtype)[::2]
    assert tagger.tag_many(every_second, offsets=OFFSETS).tolist() == found.tolist()


def test_nothing_at_all(pa, tagger):
    assert tagger.tag_many(np.array([], "U1"), offsets=[0]).tolist() == []
    assert tagger.tag_many(pa.array([[], []])).to_pylist() == [[], []]
    for empty in (pa.array([], pa.list_(pa.string())), pa.chunked_array([], pa.list_(pa.string()))):
        assert tagger.tag_many(empty).to_pylist() == []


def test_a_numpy_array_without_offsets_holds_sentences(tagger):
    rows = np.array([["the", "dog"], ["a", "cat"]])
    assert tagger.tag_many(rows) == tagger.tag_many(rows.tolist())


def test_models_of_several_columns(pa):
    rows = [[(word, word[:1]) for word in sentence] for sentence in SENTENCES]
    templates = parse("form[0]\npos[0]\nlabel[-1]")
    columns = [{"form": s, "pos": [word[:1] for word in s]} for s in SENTENCES]
    tagger = seqtag.train(columns, LABELS, label="chunk", templates=templates, min_count=1)
    expected = tagger.tag_many(rows)
    first = [[word[:1] for word in sentence] for sentence in SENTENCES]
    found = tagger.tag_many({"form": pa.array(SENTENCES), "pos": pa.array(first)})
    assert found.to_pylist() == expected
    flat = {"form": np.array(WORDS), "pos": np.array([word[:1] for word in WORDS])}
    assert tagger.tag_many(flat, offsets=OFFSETS).tolist() == [
        label for labels in expected for label in labels
    ]
    with pytest.raises(
        SeqtagError, match="as many words for each sentence in the column pos as in"
    ):
        tagger.tag_many({"form": pa.array(SENTENCES), "pos": pa.array(first[::-1])})
    with pytest.raises(TypeError, match="expected an array for the column pos, found form"):
        tagger.tag_many({"form": pa.array(SENTENCES)})
    with pytest.raises(TypeError, match="a mapping with an array for each of form, pos, found one"):
        tagger.tag_many(pa.array(SENTENCES))


def test_labels_that_are_not_written_one_by_one(pa):
    sentences = [["in", "New", "York"], [], ["Bonn", "is", "in", "Germany", "now"]]
    labels = [["O", "I-P", "I-P"], [], ["I-P", "O", "O", "I-P", "O"]]
    chunks = seqtag.train(sentences, labels, label="ner", epochs=4, min_count=1, encoding="iobes")
    assert not chunks.writes_ids
    assert chunks.tag_many(pa.array(sentences)).to_pylist() == chunks.tag_many(sentences)
    lemmas = seqtag.train(
        [{"form": s, "upos": ["X"] * len(s)} for s in sentences],
        [[word.lower() for word in s] for s in sentences],
        label="lemma",
        templates=parse("form[0]\nsuffix(1)[0]"),
        epochs=3,
        min_count=1,
    )
    assert lemmas.tag_many(pa.array(sentences)).to_pylist() == lemmas.tag_many(sentences)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda pa: pa.array([["a"], ["b", None]]), SeqtagError, "found null for word 2 of all"),
        (lambda pa: pa.array([["a"], None]), SeqtagError, "found null for sentence 1; drop such"),
        (lambda pa: pa.array([[1]]), TypeError, "found int64; cast it to strings"),
        (lambda pa: pa.array([[b"a"]]), TypeError, "found binary; cast it to strings"),
        (lambda pa: pa.array([[["a"]]]), TypeError, r"found list<\w+: string>; cast it"),
        (lambda pa: pa.array([[None]]), TypeError, "found null; cast it to strings"),
        (lambda pa: pa.array(["a"]), TypeError, "found string alone; give offsets="),
        (lambda pa: pa.array([[["a"]]])[0], TypeError, "expected words as strings, found <pyarrow"),
        (lambda pa: {"form": [["a"]]}, TypeError, "Arrow list array for each column, found list"),
        (
            lambda pa: pa.ListArray.from_arrays(
                pa.array([0, 1], pa.int32()),
                pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([None], pa.string())),
            ),
            SeqtagError,
            "found null in a dictionary; fill it",
        ),
        (
            lambda pa: pa.ListArray.from_arrays(
                pa.array([0, 1], pa.int32()),
                pa.Array.from_buffers(
                    pa.string(),
                    1,
                    [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")],
                ),
            ),
            SeqtagError,
            "expected lists of words in UTF-8, found a damaged array",
        ),
        (
            lambda pa: pa.Array.from_buffers(
                pa.list_(pa.string()),
                2,
                [None, pa.py_buffer(np.array([0, -5, 1], np.int32))],
                children=[pa.array(["a"])],
            ),
            SeqtagError,
            "expected lists of words in UTF-8, found a damaged array: .*-5",
        ),
        (
            lambda pa: (
                kind_of(pa, "list_view(string)")
                and pa.ListViewArray.from_arrays(
                    pa.array([0], pa.int32()), pa.array([50], pa.int32()), pa.array(["a"])
                )
            ),
            SeqtagError,
            "expected lists of words in UTF-8, found a damaged array: .*50",
        ),
    ],
)
def test_what_is_refused(pa, tagger, make, kind, message):
    with pytest.raises(kind, match=message):
        tagger.tag_many(make(pa))


@pytest.mark.parametrize(
    ("words", "offsets", "kind", "message"),
    [
        (["a", "b"], [0, 1], SeqtagError, "ascend from 0 to the number of words, 2, found 2 from"),
        (["a", "b"], [1, 2], SeqtagError, "found 2 from 1 to 2"),
        (["a", "b"], [0, 2, 1, 2], SeqtagError, "ascend from 0"),
        (["a", "b"], [], SeqtagError, "integers in one row, found 1-d float64"),
        (["a", "b"], [[0, 2]], SeqtagError, "integers in one row, found 2-d int"),
        (["a", "b"], [0.0, 2.0], SeqtagError, "found 1-d float64"),
        ([1, 2], [0, 2], TypeError, "str, object or StringDType, found 1-d int"),
        ([["a"], ["b"]], [0, 2], TypeError, "found 2-d <U1"),
    ],
)
def test_words_and_offsets_that_do_not_fit(tagger, words, offsets, kind, message):
    with pytest.raises(kind, match=message):
        tagger.tag_many(np.array(words), offsets=offsets)


def test_what_offsets_and_given_labels_go_with(pa, tagger):
    with pytest.raises(
        TypeError, match="array of strings of pyarrow or numpy with offsets, found l"
    ):
        tagger.tag_many(["a"], offsets=[0, 1])
    with pytest.raises(TypeError, match=r"found them with list<\w+: string>; leave them out"):
        tagger.tag_many(pa.array([["a"]]), offsets=[0, 1])
    with pytest.raises(TypeError, match="expected words as strings, found 5"):
        tagger.tag_many(np.array(["a", 5], object), offsets=[0, 2])
    with pytest.raises(TypeError, match="expected words as strings, found None"):
        tagger.tag_many(np.array([None], object), offsets=[0, 1])
    with pytest.raises(SeqtagError, match="lists of words where labels are fixed, found arrays"):
        tagger.tag_many(pa.array([["a"]]), fixed_labels=[["D"]])
    with pytest.raises(ValueError, match="expected threads of 1 or more, found 0"):
        tagger.tag_many(pa.array([["a"]]), threads=0)


@pytest.mark.parametrize("threads", [1, 2])
def test_two_passes_number_the_words_each_in_their_own_way(threads):
    tagger = seqtag.train(SENTENCES, LABELS, label="upos", epochs=3, min_count=1, passes=2)
    found = tagger.tag_many(np.array(WORDS, object), threads, offsets=OFFSETS)
    assert found.tolist() == [label for labels in tagger.tag_many(SENTENCES) for label in labels]
    with pytest.raises(TypeError, match="expected words as strings, found 5"):
        tagger.tag_many(np.array(["a", 5], object), threads, offsets=[0, 2])
