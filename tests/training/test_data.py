"""Corpora to numbered columns: the native scanner and the readable way agree."""

from __future__ import annotations

import io
from functools import partial
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus import read
from seqtag.engine import backend as backends
from seqtag.errors import CorpusError, LabelError
from seqtag.features.encoder import Column
from seqtag.labels.coding import LabelCoding
from seqtag.labels.column import LabelColumn
from seqtag.labels.schemes import SCHEMES, convert, count_transitions, prefixes_of
from seqtag.training.data import Corpus, TrainingData, Unlabeled
from seqtag.training.problem import learned_labels
from tests.strategies import FEW

HEAD = "# text = Dogs bark.\n"
DOGS = "1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur\t_\t_\t_\t_\n"
BARK = "2\tbark\tbark\tVERB\tVBP\t_\t_\t_\t_\t_\n"
RANGE = "1-2\tDogsbark\t_\t_\t_\t_\t_\t_\t_\t_\n"
BARE = "1\tDogs\tdog\t_\t_\t_\t_\t_\t_\t_\n"

FILES = {
    "plain": HEAD + DOGS + BARK + "\n" + DOGS + "\n",
    "crlf": (HEAD + DOGS + BARK + "\n").replace("\n", "\r\n"),
    "mark": "\ufeff" + HEAD + DOGS + "\n",
    "range": RANGE + DOGS + BARK + "\n",
    "no end": HEAD + DOGS + BARK,
    "blank lines": "\n\n" + HEAD + DOGS + "\n\n\n" + DOGS + BARK + "\n",
}


def tagged(sources) -> TrainingData:
    return Corpus(sources, ("form", "tag"), None).gather(["form"], LabelColumn("tag"))


def gathered(text: str, label: str, natively: bool, **options) -> TrainingData:
    stream = read(io.BytesIO(text.encode()), options.pop("format", "conllu"))
    source = stream if natively else list(stream)
    return Corpus([source], stream.columns, None).gather(["form"], LabelColumn(label), **options)


def same(a: TrainingData, b: TrainingData) -> None:
    assert a.digest() == b.digest()
    assert {n: c.types for n, c in a.columns.items()} == {n: c.types for n, c in b.columns.items()}
    assert (a.labels.types, a.labels.values()) == (b.labels.types, b.labels.values())
    assert a.lengths.tolist() == b.lengths.tolist()


@pytest.mark.parametrize("label", ["upos", "xpos", "feats", "upos+feats"])
@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_both_ways_to_read_agree(text, label):
    sentences = read(io.BytesIO(text.encode()), "conllu")
    expected = [each for sentence in sentences for each in LabelColumn(label).of(sentence)]
    for natively in (False, True):
        found = gathered(text, label, natively)
        assert found.labels.values() == expected
        same(found, gathered(text, label, False))


def test_words_of_sentences_left_out_leave_no_trace(caplog):
    text = DOGS + BARK + "\n" + BARE.replace("Dogs", "Cats") + "\n" + DOGS + "\n"
    for natively in (False, True):
        found = gathered(text, "upos", natively, unlabeled=Unlabeled(skip=True))
        assert found.columns["form"].types == ["Dogs", "bark"]
        assert found.labels.types == ["NOUN", "VERB"]
        assert found.lengths.tolist() == [2, 1]
        assert "1 sentences with unannotated words were skipped" in caplog.text


@pytest.mark.parametrize("natively", [False, True])
def test_a_missing_label_is_named_with_its_line(natively):
    message = r'<stream>:4: expected a label in the column upos, found "_"'
    with pytest.raises(LabelError, match=message):
        gathered(HEAD + DOGS + "\n" + BARE + "\n", "upos", natively)
    assert gathered(BARE + "\n", "feats", natively).labels.types == ["_"]


@pytest.mark.parametrize("natively", [False, True])
def test_odd_lines_are_refused_alike(natively):
    with pytest.raises(CorpusError, match="<stream>:2: expected 10 tab-separated columns, found"):
        gathered(DOGS + "2\tbark\tbark\tVERB\n\n", "upos", natively)
    with pytest.raises(CorpusError, match="expected sentences to learn from, found none"):
        gathered(HEAD, "upos", natively)


@pytest.mark.skipif(backends.Scanner is None, reason="the native kernel is not built")
def test_odd_blocks_among_plain_ones(monkeypatch):
    """Runs of spaces are not plain: such blocks are read line by line, in the same numbering."""
    monkeypatch.setattr("seqtag.corpus.stream.CHUNK", 16)
    text = "the DT\ncat NN\n\na  DT\ndog   NN\n\nthe DT\ndog NN\n\na DT\ncow NN\n\n"
    found = [
        tagged([source])
        for stream in (True, False)
        for source in [read(io.BytesIO(text.encode()), columns=["form", "tag"])]
        for source in [source if stream else list(source)]
    ]
    same(*found)
    assert found[0].columns["form"].types == ["the", "cat", "a", "dog", "cow"]


CHUNKS = [
    "O",
    "B-X",
    "I-X",
    "E-X",
    "S-X",
    "B-Y",
    "I-Y",
    "E-Y",
    "S-Y",
    "L-X",
    "U-X",
    "M-X",
    "W-X",
    "B",
    "I",
]


@pytest.mark.parametrize("source", SCHEMES)
@pytest.mark.parametrize("target", SCHEMES)
@FEW
@given(data=st.data())
def test_labels_are_converted_as_sentences_are(source, target, data):
    """Valid or not: a window of three labels says all that the sentence does."""
    fitting = [label for label in CHUNKS if label == "O" or label[0] in letters(source)]
    sentence = st.lists(st.sampled_from(fitting), min_size=1, max_size=8)
    labels = data.draw(st.lists(sentence, min_size=1, max_size=4))
    lengths = np.array([len(names) for names in labels])
    corpus = TrainingData({}, Column.of(chain.from_iterable(labels)), lengths)
    learned = learned_labels(corpus, LabelCoding(source, target), None)
    found = [learned.types[i][0] for i in learned.ids]
    as_they_are = source == target  # valid or not
    convert_one = list if as_they_are else partial(convert, source=source, target=target)
    assert found == [new for names in labels for new in convert_one(names)]


def letters(scheme: str) -> str:
    return "".join(sorted(prefixes_of(scheme) - {"O"}))


@given(st.lists(st.lists(st.sampled_from("ABC"), min_size=1), min_size=1))
def test_transitions_are_counted(labels):
    text = "\n\n".join("\n".join(f"w {name}" for name in sentence) for sentence in labels)
    data = tagged([read(io.BytesIO(text.encode()), columns=["form", "tag"])])
    assert data.transitions() == count_transitions(labels)
    assert data.lengths.dtype == np.int64
