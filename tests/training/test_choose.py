"""Automatic settings: what is tried, what is chosen, what is logged and stored."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from seqtag.corpus import sentence_of
from seqtag.errors import TemplateError
from seqtag.evaluation.counts import Counts
from seqtag.features.language import parse
from seqtag.model.bundle import to_bytes
from seqtag.settings import SETTINGS, Settings
from seqtag.training import choose
from seqtag.training.choose import holdout_split
from seqtag.training.runs import Schedule
from seqtag.training.selection import tagger_fit
from seqtag.training.train import train
from tests.strategies import corpus
from tests.treebanks import components

HALF = 150  # sentences; words stand once in each half
TEMPLATES = parse("normal[0]\nnormal[-1]\nlabel[-1]\nset epochs 3\nset min-count 2")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Corpora of these tests are not too small."""
    monkeypatch.setattr(choose, "_TOO_FEW", 100)


def word(n):
    """A word of letters: digits are all one to templates."""
    return "w" + "".join("abcdefghij"[int(digit)] for digit in str(n))


def halves(first, second):
    """Sentences of three words; what is learned of a word in one half is asked in the other.

    Blocks have 25 sentences. The words of block b occur again in block b + 5, those of block 0 in
    block 11.
    """
    number = [(n + 25) % HALF for n in range(HALF)]
    found = [first(n) for n in range(HALF)] + [second(n) for n in number]
    return [
        sentence_of({name: [row[i] for row in rows] for i, name in enumerate(("form", "tag"))})
        for rows in found
    ]


def gains():
    """Words have a label each, which nothing else tells; they are too rare to be learned."""

    def rows(n):
        return [("it", "A"), (word(n), "BC"[n % 7 % 2]), ("so", "A")]

    return halves(rows, rows)


def loses():
    """Words have the label that the word before them asks for, another one each time."""
    return halves(
        lambda n: [("the", "D"), (word(n), "N"), ("so", "A")],
        lambda n: [("to", "T"), (word(n), "V"), ("so", "A")],
    )


def trained(data, **options):
    return train(
        data, **({"label": "tag", "templates": TEMPLATES, "tag_dictionary": "auto"} | options)
    )


def chosen(tagger):
    return tagger.info["training"]["chosen"]["tag_dictionary"]


# ----------------------------------------------------------------- what is chosen
def test_known_words_keep_to_their_labels_where_they_gain(caplog):
    caplog.set_level(logging.INFO, "seqtag")
    tagger = trained(gains())
    assert tagger.info["training"]["tag_dictionary"] == 1
    scores = chosen(tagger)["scores"]
    assert scores["1"] == 1.0 > scores["0"] > 0.6
    assert {name: chosen(tagger)[name] for name in ("metric", "tokens")} == {
        "metric": "accuracy",
        "tokens": 225,
    }
    assert caplog.messages == [
        "tag-dictionary 1, by accuracy on 225 tokens held out of the training data "
        f"(0: {100 * scores['0']:.2f}, 1: 100.00)"
    ]
    assert tagger.tag(["it", "wb"]) == ["A", "C"]


def test_known_words_are_free_where_they_lose():
    tagger = trained(loses())
    assert tagger.info["training"]["tag_dictionary"] == 0
    assert chosen(tagger)["scores"]["0"] == 1.0 > chosen(tagger)["scores"]["1"]
    assert not len(tagger.model.tag_dictionary.keys)


def test_of_equals_the_usual_value_is_chosen():
    sentences = corpus("; ".join(["a X, b Y, c Z"] * 60))
    assert trained(sentences).info["training"]["tag_dictionary"] == 0
    both = trained(sentences, label_parts="split")
    assert both.info["training"]["tag_dictionary"] == 1


def test_the_model_is_that_of_the_value_that_was_chosen():
    for data, value in ((gains(), 1), (loses(), 0)):
        auto, plain = trained(data), trained(data, tag_dictionary=value)
        for name, tensor in plain.model.tensors().items():
            assert np.array_equal(auto.model.tensors()[name], tensor)


def test_the_same_bytes_for_a_seed_and_any_number_of_threads(tmp_path):
    found = []
    for name, options in {"a": {}, "b": {"threads": 2}, "c": {"seed": 2}}.items():
        path = tmp_path / name
        trained(gains(), runs=2, dropout=0.1, **options).save(path)
        found.append(path.read_bytes())
    assert found[0] == found[1] != found[2]


def test_what_is_given_wins():
    for value in (0, 1, 2):
        tagger = trained(gains(), tag_dictionary=value)
        assert tagger.info["training"]["tag_dictionary"] == value
        assert "chosen" not in tagger.info["training"]


def test_words_without_a_label_are_learnt_around():
    data = [
        sentence_of({"form": s.words, "tag": [t if i % 5 else "_" for t in s.column("tag")]})
        for i, s in enumerate(gains(), 1)
    ]
    tagger = trained([s for s in data if s.column("tag")[0] != "_"], unlabeled="learn_around")
    assert tagger.info["training"]["tag_dictionary"] == 1


# ----------------------------------------------------------------- no trial
@pytest.mark.parametrize(("label_parts", "value"), [("whole", 0), ("split", 1)])
def test_quick_takes_the_usual_value(label_parts, value):
    tagger = trained(loses(), quick=True, label_parts=label_parts)
    assert tagger.info["training"]["tag_dictionary"] == value
    assert "chosen" not in tagger.info["training"]
    assert len(tagger.model.tag_dictionary.keys) > 0 or not value


def test_a_small_corpus_says_nothing(monkeypatch):
    monkeypatch.setattr(choose, "_TOO_FEW", 10_000)
    assert "chosen" not in trained(gains()).info["training"]
    assert trained(gains()[:5]).info["training"]["tag_dictionary"] == 0


def test_templates_that_do_not_know_words(caplog):
    caplog.set_level(logging.INFO, "seqtag")
    tagger = trained(gains(), templates=parse("form[0]\nset epochs 1\nset label-parts split"))
    assert tagger.info["training"]["tag_dictionary"] == 0
    assert caplog.messages == [
        "tag-dictionary auto: no template uses normal, which identifies known words: 0"
    ]


def test_a_model_to_go_on_from_keeps_to_what_it_has():
    first = trained(gains())
    again = trained(loses(), init=first)
    assert again.info["training"]["tag_dictionary"] == 1
    assert "chosen" not in again.info["training"]
    free = trained(gains(), init=trained(gains(), tag_dictionary=0))
    assert free.info["training"]["tag_dictionary"] == 0


def test_partial_fit_keeps_to_what_was_chosen():
    sklearn = pytest.importorskip("seqtag.integrations.sklearn")
    X = [s.words for s in gains()]
    y = [s.column("tag") for s in gains()]
    model = sklearn.SequencePerceptron(templates=TEMPLATES, tag_dictionary="auto").fit(X, y)
    assert model.tagger_.info["training"]["tag_dictionary"] == 1
    model.partial_fit([["it", "new"]], [["A", "B"]])
    assert list(model.predict([["it", "wb"]])[0]) == ["A", "C"]


# ----------------------------------------------------------------- recall and precision
def names():
    """Half of the names follow a word that tells so; before the other half, it is often none."""

    def rows(n):
        kind = "B-X" if n % 2 or n % 5 else "O"
        return [("at" if n % 2 else "to", "O"), (word(n), kind), ("so", "O")]

    return halves(rows, rows)


NAMES = parse("form[0]\nform[-1]\nlabel[-1]\nset epochs 3\nset update adaptive\nset margin 1")


def test_recall_is_raised_until_it_equals_precision(caplog):
    caplog.set_level(logging.INFO, "seqtag")
    tagger = trained(names(), templates=NAMES, tag_dictionary=0, recall_bias="auto")
    info = tagger.info["training"]
    facts = info["chosen"]["recall_bias"]
    assert facts["metric"] == "conlleval-f1"
    assert str(info["recall_bias"]) in facts["scores"]
    scores = ", ".join(f"{bias}: {100 * score:.2f}" for bias, score in facts["scores"].items())
    assert caplog.messages == [
        f"recall-bias {info['recall_bias']}, by conlleval-f1 on 225 tokens held out of the "
        f"training data ({scores}); the highest value within one standard error of the best, with "
        "recall not above precision: new text has more unknown names (0 turns it off)"
    ]


@pytest.mark.parametrize(
    ("counts", "chosen"),
    [
        ([(50, 90, 40), (50, 90, 40), (50, 80, 60)], 0.2),  # the same F1: the higher bias
        ([(50, 90, 40), (45.1, 85, 40), (44.9, 80, 45)], 0.1),  # the next one costs too much
        ([(50, 70, 80), (60, 60, 80)], 0.0),  # recall is above precision already
        ([(50, 90, 40), (60, 80, 70), (50, 60, 80)], 0.1),
    ],
)
def test_the_highest_recall_bias_that_costs_little(counts, chosen):
    class Judged:
        def __init__(self, score, precision, recall):
            self.score, self.precision, self.recall = score / 100, precision, recall
            self.chunks = Counts(50, 100, 100)

    def judge(bias):
        return Judged(*counts[min(round(bias * 10), len(counts) - 1)])

    if chosen:
        counts = [*counts, (10, 10, 90)]
    found, scores = choose._choose_recall_bias(judge)
    assert found == chosen
    assert len(scores) < len(counts) or not chosen


def test_recall_bias_is_for_chunks():
    tagger = trained(gains(), recall_bias="auto")
    assert "recall_bias" not in tagger.info["training"]
    assert "recall_bias" not in tagger.info["training"]["chosen"]
    quick = trained(names(), templates=NAMES, recall_bias="auto", quick=True)
    assert "recall_bias" not in quick.info["training"]
    assert "chosen" not in quick.info["training"]


def test_recall_bias_finds_more_chunks():
    found = []
    for bias in (-100, 0, 100):
        tagger = trained(names(), templates=NAMES, tag_dictionary=0, recall_bias=bias)
        found.append(sum(tagger.tag(["at", "w", "so"]).count("O") for _ in range(2)))
    assert found[0] == 6 >= found[1] >= found[2] == 0


def test_training_goes_on_without_the_recall_bias_and_adds_it_again():
    how = {"templates": NAMES, "tag_dictionary": 0}
    plain, biased = (trained(names(), recall_bias=bias, **how) for bias in (0, 8))
    learned = [trained(names(), init=tagger, **how) for tagger in (plain, biased)]
    assert "recall_bias" not in learned[0].info["training"]
    assert learned[1].info["training"]["recall_bias"] == 8.0
    free = trained(names(), init=biased, recall_bias=0, **how)
    sentences = [s.words for s in names()]
    assert free.tag_many(sentences) == learned[0].tag_many(sentences)
    auto = trained(names(), init=biased, recall_bias="auto", **how)
    assert auto.info["training"]["recall_bias"] == 8.0


# ----------------------------------------------------------------- stopped and gone on
def test_a_training_that_goes_on_chooses_the_same(tmp_path):
    whole = trained(gains(), epochs=4)

    def stop(epoch):
        if epoch.epoch == 2:
            raise RuntimeError

    how = {"epochs": 4, "checkpoint": tmp_path}
    with pytest.raises(RuntimeError):
        trained(gains(), on_epoch=stop, **how)
    again = trained(gains(), resume=True, **how)
    assert to_bytes([again.model]) == to_bytes([whole.model])


def test_an_interruption_of_the_trial_leaves_no_model(monkeypatch):
    def interrupted(problem, schedule, *more):
        schedule.stop.request()
        return run(problem, schedule, *more)

    run = choose.train_run
    monkeypatch.setattr(choose, "train_run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        trained(gains())


# ----------------------------------------------------------------- folds and parts
def test_each_fold_decides_inside_its_own_part():
    fit = tagger_fit(label="tag", templates=TEMPLATES, tag_dictionary="auto")
    assert fit(gains())(gains()) > fit(loses())(gains())


def test_parts_of_a_pipeline_choose_for_themselves(caplog):
    caplog.set_level(logging.INFO, "seqtag")
    data = [
        sentence_of(
            {"form": s.words, "upos": s.column("tag"), "xpos": [t.lower() for t in s.column("tag")]}
        )
        for s in gains()
    ]
    models = components(data, ["upos", "xpos"], epochs=2, min_count=2)
    assert ["tag_dictionary" in part.training["chosen"] for part in models] == [True, True]
    assert sum(message.startswith("tag-dictionary") for message in caplog.messages) == 2
    quick = components(data, ["upos", "xpos"], epochs=2, quick=True)
    assert ["chosen" in part.training for part in quick] == [False, False]


# ----------------------------------------------------------------- the trial itself
def test_a_trial_holds_out_whole_blocks_from_all_over():
    found = holdout_split(np.full(900, 10))
    assert not (found.training & found.held_out).any()
    assert (found.training | found.held_out).all()
    changes = np.flatnonzero(np.diff(found.held_out.astype(int)))
    assert set(np.diff(changes).tolist()) == {50, 150}
    few = holdout_split(np.full(900, 10), enough=4000)
    assert int(few.held_out.sum()) == 100
    assert few.training[:50].all()
    assert few.training[500:].any()
    assert holdout_split(np.full(5, 1000)) is None
    assert holdout_split(np.full(99, 1)) is None


@pytest.mark.parametrize(("make", "ends"), [(gains, False), (loses, True)])
def test_a_trial_ends_where_words_lose_early(monkeypatch, make, ends):
    visited = []
    visits = Schedule.visits

    def spy(schedule, sentences, run, epoch):
        visited.extend([epoch] * (run == 0))
        return visits(schedule, sentences, run, epoch)

    monkeypatch.setattr(Schedule, "visits", spy)
    longer = trained(make(), epochs=5)
    assert visited == ([1, 2, 3] if ends else [1, 2, 3, 4, 5])
    assert chosen(longer) == chosen(trained(make(), epochs=3 if ends else 5))


def test_edges_are_tried_too():
    templates = parse("normal[0]\nlabel[-1]\nlabel[-1] + normal[-1]\nset epochs 3\nset min-count 2")
    assert chosen(trained(gains(), templates=templates))["scores"]["1"] == 1.0


def test_a_trial_of_chunks_is_judged_by_f1():
    data = corpus("; ".join(["the B-NP, dog I-NP, runs O", "a B-NP, cat I-NP, sees O"] * 40))
    assert chosen(trained(data))["metric"] == "conlleval-f1"


# ----------------------------------------------------------------- the setting
def test_the_setting_is_a_number_or_a_word():
    setting = SETTINGS["tag-dictionary"]
    assert [setting.parse(text) for text in ("2", "auto")] == [2, "auto"]
    with pytest.raises(TemplateError) as error:
        setting.parse("some")
    assert str(error.value) == (
        "the setting tag-dictionary expects an integer from 0, at most 1,000,000,000 or auto, "
        "found 'some'"
    )
    assert parse("normal[0]\nset tag-dictionary auto").settings == {"tag-dictionary": "auto"}
    assert Settings(tag_dictionary=3).without_auto().tag_dictionary == 3
