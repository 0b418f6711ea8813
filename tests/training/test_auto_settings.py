"""Automatic settings: what is tried, what is chosen, what is logged and stored."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest

import seqtag
from seqtag.corpus import sentence_of
from seqtag.engine.arrays import TagDictionary
from seqtag.errors import TemplateError
from seqtag.evaluation.counts import Counts
from seqtag.features import index
from seqtag.features.encoder import Column
from seqtag.features.language import parse
from seqtag.settings import SETTINGS, Settings
from seqtag.training import auto_settings
from seqtag.training.auto_settings import TrialScores, holdout_split, resolve_auto, run_trial
from seqtag.training.pipeline import train_parts
from seqtag.training.problem import judge_of, tag_dictionary_of, to_first_parts
from seqtag.training.runs import Schedule
from seqtag.training.selection import tagger_fit
from seqtag.training.train import train
from tests.strategies import corpus

HALF = 150  # sentences; words stand once in each half
TEMPLATES = parse("normal[0]\nnormal[-1]\nlabel[-1]\nset epochs 3\nset min-count 2")
SPLIT = "normal[0]\nnormal[-1]\nset epochs 3\nset min-count 2\nset label-parts split"


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Corpora of these tests are not too small."""
    monkeypatch.setattr(auto_settings, "_TOO_FEW", 100)


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


def parts():
    """Words keep to their part of speech, which nothing tells; the word before tells the case."""

    def rows(case):
        return lambda n: [(case, "X"), (word(n), f"{'NV'[n % 7 % 2]}|Case={case}"), ("so", "A")]

    return halves(rows("of"), rows("to"))


def trained(data, **options):
    return train(
        data, **({"label": "tag", "templates": TEMPLATES, "tag_dictionary": "auto"} | options)
    )


def chosen(tagger):
    return tagger.info["training"]["chosen"]["tag_dictionary"]


# ----------------------------------------------------------------- what is chosen
@pytest.mark.parametrize("data", ["gains", "loses"])
def test_a_corpus_in_bundles_is_tried_as_any_other(monkeypatch, data):
    """Of millions of tokens, features that many have together stand in bundles."""
    sentences = {"gains": gains, "loses": loses}[data]()
    templates = parse("normal[0]\nprefix(1)[0]\nnormal[-1]\nlabel[-1]\nset epochs 3")
    plain = trained(sentences, templates=templates)
    monkeypatch.setattr(index, "_MANY", 1)
    bundled = trained(sentences, templates=templates)
    assert chosen(bundled) == chosen(plain)
    assert bundled.tag_many(sentences) == plain.tag_many(sentences)


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


def test_known_words_keep_to_their_first_part():
    tagger = trained(parts(), templates=parse(SPLIT))
    assert tagger.info["training"]["tag_dictionary"] == "first"
    scores = chosen(tagger)["scores"]
    assert [*scores] == ["1", "0", "first"]
    assert scores["first"] == 1.0 > max(scores["0"], scores["1"])
    assert tagger.tag(["of", "wb"]) == ["X", "V|Case=of"]
    assert tagger.tag(["to", "wb"]) == ["X", "V|Case=to"]


def test_what_would_make_a_model_large_is_left_out(monkeypatch):
    monkeypatch.setattr(auto_settings, "_MOST_LABELS", 250)
    tagger = trained(parts(), templates=parse(SPLIT))
    assert [*chosen(tagger)["scores"]] == ["1", "0"]


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
    for value in (0, 1, 2, "first"):
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
    monkeypatch.setattr(auto_settings, "_TOO_FEW", 10_000)
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


def test_first_parts_of_a_model_to_go_on_from():
    """A new label of an old word's part is the word's too."""
    how = {"templates": parse("normal[0]\nlabel[-1]\nset epochs 1"), "label_parts": "split"}
    first = trained(corpus("a N|x, b V|x"), tag_dictionary="first", **how)
    again = trained(corpus("c N|y, d A"), init=first, tag_dictionary="first")
    rows = zip(
        again.model.tag_dictionary.row_ptr, again.model.tag_dictionary.row_ptr[1:], strict=False
    )
    labels = again.model.tag_dictionary.labels.tolist()
    sets = sorted([again.model.labels[i] for i in labels[a:b]] for a, b in rows)
    assert sets == [["A"], ["N|x", "N|y"], ["N|x", "N|y"], ["V|x"]]


def test_partial_fit_keeps_to_what_was_chosen():
    sklearn = pytest.importorskip("seqtag.integrations.sklearn")
    X = [s.words for s in gains()]
    y = [s.column("tag") for s in gains()]
    model = sklearn.SequencePerceptron(templates=TEMPLATES, tag_dictionary="auto").fit(X, y)
    assert model.tagger_.info["training"]["tag_dictionary"] == 1
    model.partial_fit([["it", "new"]], [["A", "B"]])
    assert list(model.predict([["it", "wb"]])[0]) == ["A", "C"]


def test_shards_take_the_usual_value():
    tagger = seqtag.train_shards(
        [gains()[:200], gains()[200:]],
        label="tag",
        templates=TEMPLATES,
        tag_dictionary="auto",
    )
    assert tagger.info["training"]["tag_dictionary"] == 0


def test_shards_keep_to_first_parts():
    """As one training does."""
    how = {"label": "tag", "templates": parse(SPLIT), "tag_dictionary": "first"}
    shards = seqtag.train_shards([parts()[:200], parts()[200:]], **how)
    plain = train(parts(), **how)
    for found, wanted in zip(shards.model.tag_dictionary, plain.model.tag_dictionary, strict=True):
        assert np.array_equal(found, wanted)


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
        f"training data ({scores})"
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
def test_the_highest_recall_bias_that_costs_little(monkeypatch, counts, chosen):
    class Judged:
        def __init__(self, score, precision, recall):
            self.score, self.precision, self.recall = score / 100, precision, recall
            self.chunks = Counts(50, 100, 100)

    def judge(problem, _):
        place = round(problem.settings.recall_bias * 10)
        return lambda _: Judged(*counts[min(place, len(counts) - 1)])

    if chosen:
        counts = [*counts, (10, 10, 90)]
    monkeypatch.setattr(auto_settings, "judge_of", judge)
    problems, examples = [], []
    problem = posed(names(), problems, examples, templates=NAMES, recall_bias="auto")
    found, scores = auto_settings._choose_recall_bias(problem, examples[0], None)
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
    for name, options in {"stopped": {"epochs": 4}}.items():
        stop = Stopping(2)
        with pytest.raises(RuntimeError):
            trained(gains(), checkpoint=tmp_path / name, on_epoch=stop, **options)
        again = trained(gains(), checkpoint=tmp_path / name, resume=True, **options)
        assert again.model.config() == whole.model.config()
        for tensor, wanted in whole.model.tensors().items():
            assert np.array_equal(again.model.tensors()[tensor], wanted)


class Stopping:
    """Ends a training at the end of an epoch."""

    def __init__(self, epoch):
        self.epoch = epoch

    def __call__(self, epoch):
        if epoch.epoch == self.epoch:
            raise RuntimeError


def test_an_interruption_of_the_trial_leaves_no_model():
    examples, problem = [], []
    schedule = Schedule(1, 1, None, 1, None)
    schedule.stop.request()
    found = posed(gains(), problem, examples)
    with pytest.raises(KeyboardInterrupt):
        resolve_auto(found, examples[0], schedule)


def posed(data, problem, examples, **options):
    """The problem of a training, and its examples, before anything is chosen."""

    def keep(found, data, schedule, **_):
        problem.append(found)
        examples.append(data)
        raise InterruptedError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auto_settings, "resolve_auto", keep)
        with pytest.raises(InterruptedError):
            trained(data, **options)
    return problem[0]


# ----------------------------------------------------------------- folds and parts
def test_each_fold_decides_inside_its_own_part():
    fit = tagger_fit(label="tag", templates=TEMPLATES, tag_dictionary="auto")
    assert fit(gains())(gains()) > fit(loses())(gains())


def test_parts_of_a_pipeline_choose_for_themselves(caplog):
    caplog.set_level(logging.INFO, "seqtag")
    data = [
        sentence_of(
            {"form": s.words, "upos": s.column("tag"), "xpos": [t.lower() for t in t_of(s)]}
        )
        for s in gains()
    ]
    parts = train_parts(data, ["upos", "xpos"], epochs=2, min_count=2)
    assert ["tag_dictionary" in part.training["chosen"] for part in parts] == [True, True]
    assert sum(message.startswith("tag-dictionary") for message in caplog.messages) == 2
    quick = train_parts(data, ["upos", "xpos"], epochs=2, quick=True)
    assert ["chosen" in part.training for part in quick] == [False, False]


def t_of(sentence):
    return sentence.column("tag")


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


def test_a_trial_learns_from_the_others_only():
    """Features are frequent among the sentences that it learns from."""
    examples, problems = [], []
    problem = posed(gains(), problems, examples)
    cut = holdout_split(examples[0].lengths)
    tokens = np.repeat(cut.training, examples[0].lengths)
    x = auto_settings._select_sentences(problem, cut.training, tokens)
    assert len(x.sentence_ptr) - 1 == cut.training.sum()
    assert len(x.token_ptr) - 1 == tokens.sum()
    counts = np.bincount(x.features)
    assert counts[counts > 0].min() >= problem.settings.min_count


def test_a_trial_of_a_setting_that_is_given():
    examples, problems = [], []
    problem = posed(gains(), problems, examples)
    given = replace(problem, settings=replace(problem.settings, tag_dictionary=1))
    schedule = Schedule(1, 1, None, 1, None)
    auto, one = (run_trial(p, examples[0], schedule) for p in (problem, given))
    assert one.scores == {1: auto.scores[1]}
    assert resolve_auto(given, examples[0], schedule) is given


@pytest.mark.parametrize("make", [gains, loses, parts])
def test_a_trial_is_a_training_and_an_evaluation(make):
    """Only sentences that a value forbids are decoded again, which is to evaluate them all."""
    examples, problems = [], []
    options = {"templates": parse(SPLIT)} if make is parts else {}
    problem = posed(make(), problems, examples, **options)
    schedule = Schedule(1, 1, None, 1, None)
    found = run_trial(problem, examples[0], schedule)
    cut = holdout_split(examples[0].lengths)
    for value, score in found.scores.items():
        given = replace(problem.settings, tag_dictionary=value)
        tokens = np.repeat(cut.training, examples[0].lengths)
        columns = [Column(c.types, c.ids[tokens]) for c in examples[0].columns.values()]
        known = tag_dictionary_of(
            problem.compiled, columns, (problem.y[tokens], None), problem.labels, given
        )
        x = auto_settings._select_sentences(problem, cut.training, tokens)
        cells = auto_settings._train_trial(
            problem, problem.y[tokens], x, schedule, lambda cells: cells, early=False
        )
        judge = judge_of(replace(problem, tag_dictionary=known), examples[0].where(cut.held_out))
        assert judge(cells).score == score


@pytest.mark.parametrize(("make", "ends"), [(gains, False), (loses, True)])
def test_a_trial_ends_where_words_lose_early(monkeypatch, make, ends):
    monkeypatch.setattr(auto_settings, "_EARLY_EPOCHS", (2, 4))
    examples, problems = [], []
    problem = posed(make(), problems, examples)
    schedule = Schedule(1, 1, None, 1, None)
    longer, shorter = (
        replace(problem, settings=replace(problem.settings, epochs=epochs)) for epochs in (5, 2)
    )
    visited = []
    monkeypatch.setattr(
        Schedule, "visits", lambda _, n, run, epoch: visited.append(epoch) or np.arange(n)
    )
    found = run_trial(longer, examples[0], schedule, early=True)
    assert visited == ([1, 2] if ends else [1, 2, 3, 4, 5])
    assert found == run_trial(shorter if ends else longer, examples[0], schedule)
    visited.clear()
    run_trial(longer, examples[0], schedule)  # to be compared with other templates
    assert visited == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("make", [gains, loses, parts])
def test_rows_that_the_trial_does_not_meet_make_no_difference(monkeypatch, make):
    small = chosen(trained(make()))
    monkeypatch.setattr(auto_settings, "_without_unused_rows", lambda problem, x: (problem, x))
    assert chosen(trained(make())) == small


def test_edges_are_tried_too():
    templates = parse("normal[0]\nlabel[-1]\nlabel[-1] + normal[-1]\nset epochs 3\nset min-count 2")
    assert chosen(trained(gains(), templates=templates))["scores"]["1"] == 1.0


def test_a_trial_of_chunks_is_judged_by_f1():
    data = corpus("; ".join(["the B-NP, dog I-NP, runs O", "a B-NP, cat I-NP, sees O"] * 40))
    assert chosen(trained(data))["metric"] == "conlleval-f1"


# ----------------------------------------------------------------- the setting
def test_first_parts():
    known = TagDictionary(
        0, np.array([3, 7], np.uint64), np.array([0, 1, 3]), np.array([1, 0, 2], np.uint16)
    )
    found = to_first_parts(known, ["A", "N|x", "N|y", "V"])
    assert found.labels.tolist() == [1, 2, 0, 1, 2]
    assert found.row_ptr.tolist() == [0, 2, 5]
    nothing = TagDictionary(0, known.keys[:0], np.zeros(1, np.int64), known.labels[:0])
    assert not len(to_first_parts(nothing, ["A"]).keys)


def test_the_setting_is_a_number_or_a_word():
    setting = SETTINGS["tag-dictionary"]
    assert [setting.parse(text) for text in ("2", "first", "auto")] == [2, "first", "auto"]
    with pytest.raises(TemplateError) as error:
        setting.parse("some")
    assert str(error.value) == (
        "the setting tag-dictionary expects an integer from 0, at most 1,000,000,000, first or "
        "auto, found 'some'"
    )
    assert parse("normal[0]\nset tag-dictionary auto").settings == {"tag-dictionary": "auto"}
    assert Settings(tag_dictionary=3).without_auto().tag_dictionary == 3


def test_equals_go_to_the_first():
    assert TrialScores({1: 0.5, 0: 0.5, "first": 0.4}, "accuracy", 10).best == 1
