"""Sentences of text without punctuation, by words and lengths."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus import read
from seqtag.errors import ModelFileError
from seqtag.features.language import load as load_templates
from seqtag.labels.coding import LabelCoding
from seqtag.labels.column import LabelColumn
from seqtag.loading import load
from seqtag.model import sentence_lengths as lengths_module
from seqtag.model.sentence_lengths import HORIZON, next_break
from seqtag.segmentation import unpunctuated as module
from seqtag.segmentation.paragraphs import SEPARATOR
from seqtag.segmentation.segmenter import Segmenter
from seqtag.settings import Settings
from seqtag.tagging.pipeline import Pipeline
from seqtag.tagging.tagger import training_size
from seqtag.training.problem import build_problem
from seqtag.training.runs import Schedule, fit
from seqtag.training.sentence_trial import with_sentence_lengths
from seqtag.training.task import Task
from seqtag.training.text_examples import TreebankText, is_unpunctuated, token_examples
from tests.segmentation.sentences import sentences_of, sentences_of_pieces

SENTENCES = [
    "jah qaþ im Iesus",
    "ni waiht auk ist gahuliþ",
    "iþ is qaþ",
    "jah gawandida sik",
    "ni mag ik",
]


def treebank(sentences, after="_") -> TreebankText:
    rows = "".join(
        "".join(
            f"{number}\t{word}" + "\t_" * 7 + f"\t{after}\n"
            for number, word in enumerate(sentence.split(), 1)
        )
        + "\n"
        for sentence in sentences
    )
    return TreebankText.of(read(io.BytesIO(rows.encode()), "conllu"))


def problem_of(sentences):
    templates = load_templates("sentences")
    values = Settings().with_values(templates.settings)
    task = Task(LabelColumn("tokens"), templates, values, ("form",), coding=LabelCoding())
    return build_problem(task, token_examples(treebank(sentences), ["form"]))


SCHEDULE = Schedule(1, 1, None, 1, None)


@pytest.fixture(scope="module")
def plain() -> Segmenter:
    model = fit(problem_of(SENTENCES * 4), SCHEDULE)
    return Segmenter(replace(model, sentence_lengths=[-30, 5, 10, 10, 0]))


def test_a_treebank_is_segmented_as_it_was_learned(plain):
    text = " ".join(SENTENCES)
    assert [" ".join(s) for s in sentences_of(plain, text)] == SENTENCES
    assert sentences_of(plain, f" iþ is{SEPARATOR}qaþ ") == [["iþ", "is"], ["qaþ"]]
    for nothing in ("", " \n", SEPARATOR):
        assert sentences_of(plain, nothing) == []


def test_its_file_has_the_scores_of_lengths(plain, tmp_path):
    Pipeline([plain.model]).save(tmp_path / "m.seqtag")
    again = load(tmp_path / "m.seqtag").segmenter
    assert [*again.model.sentence_lengths] == [-30, 5, 10, 10, 0]
    assert sentences_of(again, "iþ is qaþ") == sentences_of(plain, "iþ is qaþ")
    assert training_size(again.model) == "1 paragraphs, 72 words"


def test_treebanks_with_marks_are_not_unpunctuated():
    assert is_unpunctuated(treebank(SENTENCES))
    assert not is_unpunctuated(treebank(SENTENCES, "SpaceAfter=No"))
    assert not is_unpunctuated(treebank([f"{each} ." for each in SENTENCES]))
    ambiguous = [each.replace(" ", " · ") + " ·" for each in SENTENCES]
    assert is_unpunctuated(treebank(ambiguous))


def test_other_columns_are_refused(plain):
    templates = load_templates("sentences")
    compiled = templates.compile(["form"])
    labels = ["a", "sentence"]
    with pytest.raises(ModelFileError, match="with some of the labels"):
        Segmenter(replace(plain.model, compiled=compiled, labels=labels))


words = st.sampled_from(["jah", "iþ", "ni", "is", "qaþ", "ik", "x" * 70, "3"])
spaces = st.sampled_from([" ", "\n", "  ", SEPARATOR])
texts = st.lists(st.tuples(words, spaces), max_size=60).map(lambda t: "".join(map("".join, t)))


@given(st.lists(texts, max_size=4), st.sampled_from([2, 8]))
def test_piecewise_is_as_whole(plain, pieces, horizon):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lengths_module, "HORIZON", horizon)
        whole = sentences_of(plain, "".join(pieces))
        assert sentences_of_pieces(plain, pieces) == whole


@given(texts)
def test_the_number_of_words_scored_at_a_time_does_not_matter(plain, text):
    whole = sentences_of(plain, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_WORDS", 3)
        patch.setattr(module, "SEGMENTER_BYTES", 2_000)
        assert sentences_of(plain, text) == whole


scores = st.integers(-4, 4)


@given(st.lists(scores, min_size=1, max_size=8), st.lists(scores, min_size=1, max_size=4))
def test_breaks_are_those_of_the_highest_score(margins, lengths):
    def score(ends):
        total = sum(margins[end - 1] for end in ends if end < len(margins))
        sizes = [end - begin for begin, end in pairwise([0, *ends])]
        return total + sum(lengths[min(size, len(lengths)) - 1] for size in sizes)

    count, found, at = len(margins), [], 0
    while at < count:
        at = next_break(margins, lengths, at, count, closed=True)
        found.append(at)
    choices = product([False, True], repeat=count - 1)
    ends = [[i + 1 for i, is_end in enumerate((*each, True)) if is_end] for each in choices]
    assert score(found) == max(map(score, ends))


def test_a_break_waits_for_the_words_it_depends_on():
    assert next_break([9, -9], [0], 0, 2, closed=False) is None
    assert next_break([9] * HORIZON, [0], 0, HORIZON, closed=False) == 1
    assert next_break([9] * HORIZON, [0], 0, HORIZON - 1, closed=False) is None
    assert next_break([-9] * 200, [0], 0, 200, closed=False) is None
    assert next_break([-9] * 200, [0], 0, 200, closed=True) == 200
    assert next_break([-9] * 150 + [9] * 100, [0], 0, 250, closed=False) == 151


def test_the_trial_chooses_scores_of_lengths():
    sentences = SENTENCES * 130
    problem = problem_of(sentences)
    model = fit(problem, SCHEDULE)
    found = with_sentence_lengths(model, problem, SCHEDULE)
    facts = found.training["chosen"]["sentence_lengths"]
    assert facts["scores"]["none"] > 0.9
    assert facts["tokens"] == sum(len(each.split()) for each in sentences)
    assert Segmenter(found).segment(" ".join(SENTENCES)).sentence_ends.tolist()[-1] == 18
    few = problem_of(SENTENCES)
    assert with_sentence_lengths(model, few, SCHEDULE) is model
