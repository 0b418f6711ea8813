"""Tokens and sentences learned from small made-up treebanks."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import chain, pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus import read
from seqtag.engine import backend
from seqtag.engine.backend import BACKEND
from seqtag.errors import ModelFileError
from seqtag.features.encoder import Column, Encoder
from seqtag.features.language import load, parse
from seqtag.labels.coding import LabelCoding
from seqtag.labels.column import LabelColumn
from seqtag.segmentation import segmenter as module
from seqtag.segmentation.characters import (
    COLUMNS,
    Numbering,
    character_columns,
    character_rows,
    spelled_out,
)
from seqtag.segmentation.paragraphs import SEPARATOR
from seqtag.segmentation.segmenter import Segmenter
from seqtag.settings import Settings
from seqtag.tables.table import WordTable, text_columns
from seqtag.training.problem import build_problem
from seqtag.training.runs import Schedule, fit
from seqtag.training.task import Task
from seqtag.training.text_examples import TreebankText, token_examples
from tests.segmentation.sentences import sentences_of, sentences_of_pieces

NATIVE = BACKEND == "native"


def treebank(sentences) -> str:
    """CoNLL-U of sentences of tokens; ``_`` before one says that no space is there."""
    lines = []
    for tokens, following in pairwise([*sentences, [""]]):
        number = 1
        for token, after in pairwise([*tokens, following[0]]):
            misc = "SpaceAfter=No" if after.startswith("_") else "_"
            words = token.removeprefix("_").split("+")
            if len(words) > 1:
                end = number + len(words) - 1
                lines.append(f"{number}-{end}\t{''.join(words)}" + "\t_" * 7 + f"\t{misc}")
                misc = "_"
            for word in words:
                lines.append(f"{number}\t{word}" + "\t_" * 7 + f"\t{misc}")
                number += 1
        lines.append("")
    return "\n".join(lines) + "\n"


def text_of(sentences) -> TreebankText:
    return TreebankText.of(read(io.BytesIO(treebank(sentences).encode()), "conllu"))


def examples_of(sentences, columns=COLUMNS):
    return token_examples(text_of(sentences), columns)


def learn(sentences, more="", tables=(), **settings) -> Segmenter:
    templates = parse(f"{load('segment')}\n{more}").with_tables(tables)
    available = (*COLUMNS, *chain.from_iterable(text_columns(table.name) for table in tables))
    columns = templates.compile(available).columns
    values = Settings().with_values(templates.settings).with_values({"min_count": 1} | settings)
    task = Task(LabelColumn("tokens"), templates, values, available, coding=LabelCoding())
    data = token_examples(text_of(sentences), columns, templates.tables)
    problem = build_problem(task, data)
    return Segmenter(fit(problem, Schedule(1, 1, None, 1, None)))


PLAIN = [
    ["The", "cat", "can't", "sleep", "_."],
    ["Mr.", "Fox", "saw", "it", "_."],
    ["Did", "he", "_?"],
    ["No", "_,", "Mr.", "Dog", "did", "_!"],
    ["It", "is", "3", "_."],
]


@pytest.fixture(scope="module")
def plain() -> Segmenter:
    return learn(PLAIN * 4)


def test_a_treebank_is_segmented_as_it_was_learnt(plain):
    text = "The cat can't sleep.\nMr. Fox   saw it. Did he? No, Mr. Dog did! It is 3."
    assert sentences_of(plain, text) == [[t.removeprefix("_") for t in s] for s in PLAIN]


def test_nothing_comes_of_nothing(plain):
    for text in ("", " ", "\n\u2029 \t", "\u3000" * 300_000):
        found = plain.segment(text)
        assert [each.tolist() for each in found] == [[], [], []]
        assert {each.dtype for each in found} == {np.dtype(np.int64)}


def test_paragraphs_end_sentences(plain):
    assert sentences_of(plain, f"The cat{SEPARATOR}saw it{SEPARATOR}") == [
        ["The", "cat"],
        ["saw", "it"],
    ]


def test_no_spaces_between_tokens():
    chinese = learn([["_我们", "_爱", "_猫", "_。"], ["_猫", "_好", "_。"], ["_好", "_。"]] * 8)
    assert sentences_of(chinese, "我们爱猫。好。猫好。") == [
        ["我们", "爱", "猫", "。"],
        ["好", "。"],
        ["猫", "好", "。"],
    ]


def test_spaces_inside_tokens():
    vietnamese = learn([["Trả lời", "ông", "."], ["ông", "trả lời", "10 000", "."]] * 8)
    assert "joined" in vietnamese.model.labels
    assert sentences_of(vietnamese, "ông trả  lời 10\n000 . Trả lời .") == [
        ["ông", "trả  lời", "10\n000", "."],
        ["Trả lời", "."],
    ]


def test_no_token_goes_over_white_space_that_never_did(plain):
    assert "joined" not in plain.model.labels
    text = "caca 10 000 .' a\u0301 \u0301 x"
    starts, ends, _ = plain.segment(text)
    assert not any(text[a:b].split()[1:] for a, b in zip(starts, ends, strict=True))


def test_ranges_are_one_token():
    german = learn([["Im+Haus", "_."], ["Im+Haus", "ist", "er", "_."]] * 8)
    assert sentences_of(german, "ImHaus ist er. ImHaus.") == [
        ["ImHaus", "ist", "er", "."],
        ["ImHaus", "."],
    ]


@pytest.mark.parametrize("sign", ["👨\u200d👩\u200d👧", "👍🏽", "🇫🇷", "❤\ufe0f", "n\u0303"])
def test_what_is_one_character_is_never_split(plain, sign):
    for text in (f"The {sign} cat{sign}{sign}.", sign):
        starts, ends, _ = plain.segment(text)
        inside = {
            at + k
            for at in range(len(text))
            if text.startswith(sign, at)
            for k in range(1, len(sign))
        }
        assert not inside & ({*starts.tolist()} | {*ends.tolist()})


words = st.sampled_from(
    ["cat", "Mr.", "it.", "Did", "he?", "no,", "3", "3.", "can't", "👍🏽", "é", "好好。"]
)
spaces = st.sampled_from([" ", "", "\n", "  ", SEPARATOR, " " * 70])


def texts_of(words):
    return st.lists(st.tuples(words, spaces), max_size=40).map(lambda t: "".join(map("".join, t)))


texts = texts_of(words)
marks = st.sampled_from(["…", "it…", "—", "--", "cat—it", "2023-05-01", "3-05-01", "05-01-2023"])
marked_texts = texts_of(words | marks)


@given(marked_texts)
def test_marks_are_of_one_spelling(plain, text):
    """Tokens end as in the text with dots, colons and blanks for them, but never in an ellipsis."""
    spelled, added = spelled_out(text)
    starts, ends, _ = plain.segment(text)
    wanted = plain.segment(spelled).ends
    wanted = wanted[~np.isin(wanted - 1, added)]
    assert (starts < ends).all()
    assert ends.tolist() == (wanted - np.searchsorted(added, wanted)).tolist()


@given(texts)
def test_what_views_score_is_what_their_columns_score(plain, text):
    """A segmenter has one type of a row for several columns; a model has one for each."""
    model, rows = plain.model, character_rows(text)
    columns = {name: Column.of(values) for name, values in character_columns(text).items()}
    encoder, decoder = Encoder(model.compiled, backend.hash_strings), model.decoder()
    names = model.compiled.columns
    for name in names:
        encoder.extend(name, 0, columns[name].types)
    types = np.array([columns[name].ids for name in names], np.int32)
    labels = decoder.decode(types, encoder.hashes, rows.paragraphs, decoder.workspace())
    ends = {int(end) for end, label in zip(rows.ends, labels, strict=True) if label}
    ends |= {int(rows.ends[i]) for i, gap in enumerate(rows.gaps[1:]) if gap} | {*rows.ends[-1:]}
    assert ends == {*plain.segment(text).ends.tolist()}


@given(st.lists(marked_texts, max_size=4))
def test_piecewise_is_as_whole(plain, pieces):
    assert sentences_of_pieces(plain, pieces) == sentences_of(plain, "".join(pieces))


@given(marked_texts)
def test_windows_do_not_show(plain, text):
    whole = sentences_of(plain, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_WINDOW", 7)
        patch.setattr(module, "SEGMENTER_BYTES", 20_000)
        assert sentences_of(plain, text) == whole


def test_chunks_that_bring_no_new_values_are_forgotten_too(plain, monkeypatch):
    """In mixed case each chunk is new to the kernel, but nothing that columns hold is."""
    random = Random(1)
    chunks = ("".join(random.choices("aA", k=24)) for _ in range(4000 if NATIVE else 40))
    text = " ".join(chunks)
    plain._workspaces._idle.clear()
    whole = sentences_of(plain, text)
    everything = plain._workspaces._idle[-1].nbytes
    held, full = [], module._Workspace.is_full.fget

    def is_full(workspace):
        held.append(workspace.nbytes)
        return full(workspace)

    monkeypatch.setattr(module._Workspace, "is_full", property(is_full))
    monkeypatch.setattr(module, "_WINDOW", len(text) // 20)
    plain._workspaces._idle.clear()
    monkeypatch.setattr(module, "SEGMENTER_BYTES", everything // 2)
    assert sentences_of(plain, text) == whole
    assert len(held) >= 20
    assert max(held) < 0.8 * everything
    [last] = plain._workspaces._idle  # what it knows of the last windows is of use to the next text
    assert 0 < last.nbytes < everything // 2


@pytest.mark.parametrize("piece", ["a", "\u0301", "好。", "🇫", "."])
def test_endless_chunks_are_segmented(plain, piece):
    text = piece * (200_000 if BACKEND == "native" else 500)
    starts, ends, sentence_ends = plain.segment(text)
    assert (starts[0], ends[-1], sentence_ends[-1]) == (0, len(text), len(starts))
    assert (starts[1:] == ends[:-1]).all()


def test_sentences_come_as_soon_as_they_are_certain(plain):
    text = "The cat can't sleep. " + "Mr. Fox saw it " * 8
    assert sentences_of(plain, text, final=False) == [["The", "cat", "can't", "sleep", "."]]
    assert sentences_of(plain, "The cat can't sleep. Mr.", final=False) == []
    closed = f"The cat can't sleep.{SEPARATOR}"
    assert sentences_of(plain, closed, final=False) == [["The", "cat", "can't", "sleep", "."]]


def test_attributes_of_tables_are_looked_up_by_hashes():
    table = WordTable.of("short", [("mr.", ["yes"]), ("dr.", ["yes"])], words="lower0")
    template = "lexicon(left, short)[0] + k2[0]"
    with_table = learn(PLAIN * 4, template, [table], min_count=4)
    text = "Mr. Fox saw it. Dr. Dog did!"
    found = sentences_of(with_table, text)
    assert found == [["Mr.", "Fox", "saw", "it", "."], ["Dr.", "Dog", "did", "!"]]
    with pytest.MonkeyPatch.context() as patch:  # as strings, which the encoder looks up itself
        patch.setattr(Numbering, "new_hashes", lambda *_: None)
        with_table._workspaces._idle.clear()
        assert sentences_of(with_table, text) == found


def test_words_that_nothing_separates_are_looked_up():
    sentences = [
        *(["_小猫", "_爱", "_我们", "_。"], ["_大", "_狗", "_爱", "_小鸟", "_。"]),
        *(["_我", "_爱", "_大鸟", "_。"], ["_我们", "_爱", "_小", "_狗", "_。"]),
    ]
    known = [(word, ["x"]) for word in ("小猫", "小鸟", "大鸟", "我们", "他们")]
    found = learn(sentences * 4, "covers:words[0]", [WordTable.of("words", known)])
    tokens = sentences_of(found, "他们爱我们。大狗爱大鸟。")
    assert tokens == [["他们", "爱", "我们", "。"], ["大", "狗", "爱", "大鸟", "。"]]


def test_columns_without_their_table_are_refused():
    table = WordTable.of("words", [("cat", ["x"])])
    model = learn(PLAIN, "ends:words[0]", [table]).model
    without = replace(model.compiled, tables={})
    with pytest.raises(ModelFileError, match=r"some of the columns c1, .*found 'ends:words'"):
        Segmenter(replace(model, compiled=without))
