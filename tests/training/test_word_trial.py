"""The trial that chooses the model of multiword tokens, on a made-up treebank with clitics."""

from __future__ import annotations

import re
from itertools import chain

import numpy as np
import pytest

from seqtag.model import bundle, container
from seqtag.segmentation import multiword, word_parts
from seqtag.segmentation.multiword import COPY, TAGGED, Splitter, in_context, script_of
from seqtag.segmentation.word_parts import PARTS
from seqtag.tagging.pipeline import Pipeline
from seqtag.training import choose, loop
from seqtag.training import treebank as treebank_module
from seqtag.training.choose import _tokens_right as tokens_right
from seqtag.training.choose import holdout_split
from seqtag.training.text_examples import WordExample, gather_words, part_table, word_examples
from tests.clitics import clitics
from tests.treebanks import annotated, components, treebank


def words_model(sentences, **settings):
    [model] = components(sentences, ["words"], **settings)
    return model


def only_clitics(monkeypatch):
    """Take the second preset without a trial."""
    monkeypatch.setattr(loop, "choose", lambda task, *_: (task, *task.others)[-1])


def is_tagged(model):
    return any(TAGGED in label for label in model.labels)


def example(token):
    return WordExample(in_context([token], 0), None, ())


def test_labels_have_the_tag_of_the_word_where_a_script_begins():
    [gathered], _ = gather_words(annotated("im=in/in/ADP+dem/der/DET a/a/X"))
    data = word_examples(gathered, ["char"], tagged=True)
    assert data.labels.values() == [r"=n|de\@ADP", r"=\@DET", r"=\@X"]


def test_tags_are_the_usual_ones():
    lines = ["to/to/PART", "to/to/ADP", "to/to/ADP", "du=de/de/ADP+le/le/DET"]
    gathered, _ = gather_words(annotated(*lines))
    data = word_examples([*chain.from_iterable(gathered)], ["char"], tagged=True)
    assert data.labels.values()[:2] == [r"=\@ADP"] * 2


def test_tokens_are_looked_up_in_all_others():
    lines = ["du=de/de/ADP+le/le/DET", "DU=DE/de/ADP+LE/le/DET", "auxle=aux/x/X+le/le/DET le/le/X"]
    examples = [*chain.from_iterable(gather_words(annotated(*lines))[0])]
    tables, columns = {PARTS: part_table(examples)}, [f"rest:{PARTS}", f"head:{PARTS}"]
    data = word_examples(examples, columns, tables=tables)
    rest, head = (column.values() for column in data.columns.values())
    assert rest == [*"-.-.--", "F1L1", *"-.-."]
    assert head == [*"-" * 10, "L2"]
    data = word_examples(examples, columns, tables=tables, jackknifed=False)
    rest, head = (column.values() for column in data.columns.values())
    assert rest == [*"-.-.--", "F1L2", *"-.-."]
    assert head == [*"-" * 6, "B1", *"---", "L2"]


@pytest.fixture(scope="module")
def hidden():
    return annotated(*clitics(145)), gather_words(annotated(*clitics(50, seed=2)))[0]


def test_tokens_with_many_hidden_words_have_labels_with_tags(hidden, caplog):
    caplog.set_level("INFO", "seqtag")
    training, held_out = hidden
    model = words_model(training)
    assert is_tagged(model)
    assert "templates clitics, by tokens with the right words on" in caplog.text
    assert tokens_right(Splitter(model), held_out) > 0.8
    again = words_model(training)
    assert bundle.to_bytes([again]) == bundle.to_bytes([model])


def test_a_model_goes_on_with_its_labels(hidden, monkeypatch):
    only_clitics(monkeypatch)
    training, _ = hidden
    model = words_model(training[5:])
    again = words_model(training, init=Pipeline([model]))
    assert {*again.labels} >= {*model.labels}
    assert is_tagged(again)


def test_few_scripts_have_labels_without_tags():
    lines = ["I/I/PRON don't=do/do/AUX+n't/not/PART go/go/VERB"] * 400
    assert not is_tagged(words_model(annotated(*lines)))


def test_without_tags_labels_have_none():
    model = words_model(treebank(*["le du=de+le bois"] * 800))
    assert [*map(script_of, model.labels)] == [*model.labels]
    assert COPY in model.labels


def test_treebanks_without_tags_look_at_parts(caplog):
    caplog.set_level("INFO", "seqtag")
    training = annotated(*(re.sub("/[A-Z]+", "/_", line) for line in clitics(145)))
    model = words_model(training)
    assert "templates clitics" in caplog.text
    assert not is_tagged(model)
    assert [table.name for table in model.tables] == [PARTS]


def test_parts_find_more_words(hidden, monkeypatch):
    training, held_out = hidden
    only_clitics(monkeypatch)
    found = tokens_right(Splitter(words_model(training)), held_out)
    monkeypatch.setattr(treebank_module, "with_tables", lambda templates, _: templates)
    without = words_model(training)
    assert not without.tables
    assert found > tokens_right(Splitter(without), held_out) + 0.01


def test_models_with_parts_are_saved_and_read(hidden, monkeypatch):
    only_clitics(monkeypatch)
    training, held_out = hidden
    model = words_model(training[:60])
    data = bundle.to_bytes([model])
    [again] = bundle.models_of(container.from_bytes(data))
    assert len(again.tables[0]) == len(model.tables[0]) > 100
    assert bundle.to_bytes([again]) == data
    ours, theirs = (tokens_right(Splitter(each), held_out) for each in (model, again))
    assert ours == theirs


def test_long_tokens_are_not_looked_up(hidden, monkeypatch):
    looked_up = []

    def find_in(table):
        find = word_parts.find_in(table)
        return lambda texts: looked_up.extend(texts) or find(texts)

    only_clitics(monkeypatch)
    monkeypatch.setattr(multiword, "find_in", find_in)
    splitter = Splitter(words_model(hidden[0][:60]))
    assert tokens_right(splitter, [[example("x" * 10_000)], [example("w" * 1_000_000)]]) == 1
    assert not looked_up
    tokens = [chr(ord("a") + i) + "h" * (multiword.MOST_TOKEN_CHARACTERS - 1) for i in range(20)]
    tokens_right(splitter, [[*map(example, tokens)]])
    assert len(looked_up) < 20 * sum(map(len, tokens))


def test_a_trial_holds_out_whole_blocks_from_all_over():
    found = holdout_split(np.full(900, 10))
    assert not (found.training & found.held_out).any()
    assert (found.training | found.held_out).all()
    changes = np.flatnonzero(np.diff(found.held_out.astype(int)))
    assert set(np.diff(changes).tolist()) == {50, 150}
    few = holdout_split(np.full(900, 10), most=4000)
    assert int(few.held_out.sum()) == 100
    assert few.training[:50].all()
    assert few.training[500:].any()
    assert holdout_split(np.full(5, 1000)) is None
    assert holdout_split(np.full(99, 1)) is None


def test_an_interruption_of_the_trial_leaves_no_model(hidden, monkeypatch):
    def interrupted(problem, schedule, *more):
        schedule.stop.request()
        return run(problem, schedule, *more)

    run = choose.train_run
    monkeypatch.setattr(choose, "train_run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        words_model(hidden[0])
