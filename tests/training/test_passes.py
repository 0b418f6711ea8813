"""Two passes: what the second learns from, which settings both have, and what is refused."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import seqtag
from seqtag.corpus import sentence_of
from seqtag.errors import CorpusError, SeqtagError, TemplateError
from seqtag.features.language import parse
from seqtag.integrations.sklearn import SequencePerceptron
from seqtag.model.bundle import digest, models_of, to_bytes
from seqtag.model.container import from_bytes
from seqtag.tables.table import WordTable
from seqtag.training import choose, loop, runs
from seqtag.training.train import train
from tests.training.test_checkpoints import killed

TAGS = {
    "the": ("DET", "DT"),
    "dog": ("NOUN", "NN"),
    "dogs": ("NOUN", "NNS"),
    "cat": ("NOUN", "NN"),
    "sings": ("VERB", "VBZ"),
    "sees": ("VERB", "VBZ"),
    "old": ("ADJ", "JJ"),
}
TEXTS = ["the dog sings", "the old cat sees the dog", "dogs", "the cat sees old dogs", "the cat"]


def treebank(texts=TEXTS, **fixed):
    """Sentences with both columns of tags; some of the columns with one value throughout."""
    sentences = []
    for text in texts:
        words = text.split()
        upos, xpos = (list(column) for column in zip(*map(TAGS.get, words), strict=True))
        columns = {"form": words, "upos": upos, "xpos": xpos}
        columns |= {name: [value] * len(words) for name, value in fixed.items()}
        sentences.append(sentence_of(columns))
    return sentences


def chunked(copies=4):
    """Sentences with parts of speech, and chunks of several words."""
    rows = [("the", "DT", "B-NP"), ("dog", "NN", "I-NP"), ("sees", "VB", "B-VP")]
    rows += [("the", "DT", "B-NP"), ("cat", "NN", "I-NP")]
    names = ("form", "pos", "chunk")
    columns = {n: list(values) for n, values in zip(names, zip(*rows, strict=True), strict=True)}
    return [sentence_of(columns)] * copies


def spied(monkeypatch):
    """What each problem is posed about, in the order in which they are."""
    posed = []
    build = loop.build_problem

    def spy(task, examples):
        posed.append((str(task.column), examples.columns, examples))
        return build(task, examples)

    monkeypatch.setattr(loop, "build_problem", spy)
    return posed


def test_the_second_model_sees_the_labels_of_the_first_on_both_sides():
    tagger = train(treebank(), label="upos", passes=2)
    assert tagger.columns == ("form",)
    assert [first.label for first in tagger.first] == ["upos", "xpos"]
    assert tagger.model.compiled.columns == ("form", "first.upos", "first.xpos")
    assert "first.upos[+2]\n" in tagger.info["templates"]
    assert tagger.tag(["the", "old", "dog", "sings"]) == ["DET", "ADJ", "NOUN", "VERB"]
    assert tagger.info["training"]["passes"] == 2
    assert "passes" not in tagger.first[0].info["training"]


def test_the_first_model_is_that_of_one_pass():
    once, twice = (train(treebank(), label="upos", passes=n) for n in (1, 2))
    assert once.first == ()
    assert digest(twice.first[0].model) == digest(once.model)


def test_labels_seen_in_training_are_of_models_that_did_not_see_the_sentence(monkeypatch):
    """Each sentence has a word, and a label, of its own."""
    monkeypatch.setattr(loop, "_FOLDS", 3)
    monkeypatch.setattr(loop, "_BLOCK", 1)
    posed = spied(monkeypatch)
    words = ("dog", "cat", "hen")
    sentences = [sentence_of({"form": ["the", w], "tag": ["DET", f"X{w}"]}) for w in words]
    tagger = train(sentences, label="tag", passes=2)
    _, *folds, (_, columns, _) = posed
    assert [len(examples.lengths) for _, _, examples in folds] == [2, 2, 2]
    seen = columns["first.tag"].values()
    assert seen[::2] == ["DET"] * 3
    assert all(tag != f"X{word}" for word, tag in zip(words, seen[1::2], strict=True))
    assert tagger.first[0].tag(["the", "dog"]) == ["DET", "Xdog"]  # who has seen it knows


def test_dev_sentences_are_seen_with_the_labels_of_the_whole_first_model(monkeypatch):
    """Words that one fold never met would be wrong there; the dev score is that of the file."""
    judged = []
    judge = runs.DevJudge

    def spy(problem, held_out):
        judged.append(held_out.columns)
        return judge(problem, held_out)

    monkeypatch.setattr(runs, "DevJudge", spy)
    dev = treebank(["the dogs sees", "old cat"])
    tagger = train(treebank(), label="upos", dev=dev, passes=2)
    first, _, second = judged
    assert list(first) == ["form"]
    labels = [label for s in dev for label in tagger.first[0].tag(s.column("form"))]
    assert second["first.upos"].values() == labels
    found = [label for s in dev for label in tagger.tag(s.column("form"))]
    gold = [label for s in dev for label in s.column("upos")]
    score = np.mean([a == b for a, b in zip(found, gold, strict=True)])
    assert tagger.info["training"]["dev"]["score"] == pytest.approx(float(score))


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"label": "upos"}, ["upos", "xpos"]),
        ({"label": "xpos"}, ["xpos", "upos"]),
        ({"label": "upos+feats"}, ["upos+feats"]),
        ({"label": "xpos", "templates": "xpos"}, ["xpos"]),  # the text gives UPOS
        ({"label": "upos", "templates": parse("form[0]\nfirst.upos[+1]")}, ["upos"]),
        ({"label": "upos", "templates": parse("form[0]\nfirst.xpos[+1]")}, ["upos", "xpos"]),
    ],
)
def test_what_the_first_pass_says(how, said):
    tagger = train(treebank(feats="_"), passes=2, **how)
    assert [first.label for first in tagger.first] == said


@pytest.mark.parametrize(("value", "why"), [("_", "all"), ("X", "one value")])
def test_a_column_that_is_not_annotated_is_no_part_of_the_first_pass(value, why):
    tagger = train(treebank(xpos=value), label="upos", passes=2)
    assert [first.label for first in tagger.first] == ["upos"], why
    assert "first.xpos" not in tagger.info["templates"]


def test_templates_of_your_own_get_those_of_the_second_pass_unless_they_have_some():
    plain = train(treebank(), label="upos", templates=parse("form[0]"), passes=2)
    assert plain.info["templates"].startswith("form[0]\nfirst.upos[-2]\n")
    own = parse("form[0]\nform[0] + first.upos[+1]\nset passes 2")
    tagger = train(treebank(), label="upos", templates=own)
    assert tagger.info["templates"] == "form[0]\nform[0] + first.upos[+1]\n"
    assert tagger.first[0].info["templates"] == "form[0]\n"


def test_chunks_are_seen_as_they_were_learnt():
    tagger = train(chunked(), label="chunk", passes=2, encoding="iobes", min_count=1)
    assert tagger.columns == ("form", "pos")
    assert {*tagger.first[0].model.labels} == {"B-NP", "E-NP", "S-VP"}
    words = [("the", "DT"), ("dog", "NN"), ("sees", "VB")]
    assert tagger.tag(words) == ["B-NP", "I-NP", "B-VP"]
    assert "first.chunk[+1]=S-VP" in str(tagger.explain(words, 1, rival="B-VP"))


def test_labels_of_two_columns_are_two_columns():
    sentences = treebank(feats="N=s")
    tagger = train(sentences, label="upos+feats", passes=2)
    assert tagger.model.compiled.columns == ("form", "first.upos", "first.feats")
    assert tagger.tag(["the", "dog"]) == ["DET|N=s", "NOUN|N=s"]


def test_lemmas_are_seen_as_scripts():
    sentences = [
        sentence_of({"form": ["dogs", "sing"], "lemma": ["dog", "sing"]}),
        sentence_of({"form": ["cats", "see"], "lemma": ["cat", "see"]}),
    ] * 2
    tagger = train(sentences, label="lemma", passes=2)
    assert tagger.tag(["cats", "sing"]) == ["cat", "sing"]


def test_tables_dropout_and_runs_go_through_both_passes():
    names = WordTable.of("names", [("dog", ["animal"]), ("cat", ["animal"])])
    tagger = train(treebank(), label="upos", tables=[names], dropout=0.1, runs=2, passes=2)
    for each in (tagger, *tagger.first):
        assert "lexicon(names)[0]" in each.info["templates"]
        assert (each.info["training"]["runs"], each.info["training"]["dropout"]) == (2, 0.1)
        assert [table.name for table in each.model.tables] == ["names"]
    own = parse("form[0]\nlexicon(names)[0] + first.upos[+1]")
    asking = train(treebank(), label="upos", tables=[names], templates=own, passes=2)
    assert [len(each.model.tables) for each in (asking, *asking.first)] == [1, 0]


def test_the_tag_dictionary_is_chosen_once_and_holds_for_both(monkeypatch):
    monkeypatch.setattr(choose, "_TOO_FEW", 1)
    tagger = train(treebank() * 4, label="upos", passes=2)
    assert "tag_dictionary" in tagger.info["training"]["chosen"]
    values = {each.info["training"]["tag_dictionary"] for each in (tagger, *tagger.first)}
    assert len(values) == 1
    assert not any("chosen" in each.info["training"] for each in tagger.first)
    given = train(treebank(), label="upos", tag_dictionary=1, passes=2)
    assert [e.info["training"]["tag_dictionary"] for e in (given, *given.first)] == [1, 1, 1]


def test_a_component_of_a_pipeline_may_have_two_passes():
    pipeline = train(treebank(), label=["upos", "xpos"], passes=2)
    assert [[str(each.column) for each in model.first] for model in pipeline.models] == [
        ["upos", "xpos"],
        ["xpos"],
    ]
    assert pipeline.tag_words(["the", "dog"]).column("xpos") == ["DT", "NN"]


def test_templates_that_choose_themselves():
    tagger = train(treebank() * 4, label="upos", templates="auto", passes=2, epochs=2)
    assert [first.label for first in tagger.first] == ["upos", "xpos"]


def test_partly_labelled_sentences():
    sentences = treebank()
    words = sentences[0].column("form")
    sentences.append(sentence_of({"form": words, "upos": ["DET", "_", "_"], "xpos": ["X"] * 3}))
    tagger = train(sentences, label="upos", unlabeled="learn_around", passes=2)
    assert tagger.tag(["the", "dog"]) == ["DET", "NOUN"]
    assert [first.label for first in tagger.first] == ["upos", "xpos"]


def test_lists_and_one_sentence():
    tagger = seqtag.train([["a", "dog"]], [["DET", "NOUN"]], passes=2)
    assert tagger.tag(["a", "dog"]) == ["DET", "NOUN"]
    assert [first.label for first in tagger.first] == ["label"]


def test_the_estimator_takes_two_passes():
    X, y = [["the", "cat"], ["a", "dog"], ["the", "dog"]], [["D", "N"]] * 3
    model = SequencePerceptron(passes=2).fit(X, y)
    assert len(model.tagger_.first) == 1
    assert model.predict([["a", "cat"]]).tolist() == [["D", "N"]]


@pytest.mark.parametrize("where", ["upos", "xpos", "second"])
def test_an_interruption_leaves_the_first_model_or_both(where, monkeypatch):
    seen = []

    def stop(epoch):
        seen.append(epoch)
        if where == "second" and len(seen) == 20 + 3:
            raise KeyboardInterrupt
        if where == "upos" and len(seen) == 3:
            raise KeyboardInterrupt

    if where == "xpos":
        build = loop.build_problem

        def interrupted(task, examples):
            if str(task.column) == where:
                raise KeyboardInterrupt
            return build(task, examples)

        monkeypatch.setattr(loop, "build_problem", interrupted)
    tagger = train(treebank(), label="upos", passes=2, on_epoch=stop)
    assert tagger.model.interrupted
    assert [first.label for first in tagger.first] == ["upos", "xpos"] * (where == "second")
    assert tagger.tag(["the", "dog"]) == ["DET", "NOUN"]


@pytest.mark.parametrize("at", [3, 12, 15, 22, 30])
def test_a_training_goes_on_to_the_same_bytes(at, monkeypatch, tmp_path):
    how = {"label": "upos", "passes": 2, "dropout": 0.2, "dev": treebank(["old dogs"])}
    whole = train(treebank(), **how)
    how["checkpoint"] = tmp_path / "stand"
    killed(at - 1, monkeypatch, partial(train, treebank(), **how))
    found = train(treebank(), resume=True, **how)
    assert to_bytes([found.model]) == to_bytes([whole.model])


def test_what_is_refused():
    tagger = train(treebank(), label="upos", passes=2, epochs=1)
    once = train(treebank(), label="upos", epochs=1)
    anew = "expected passes 1 for going on from a model, found 2; train one of two passes anew"
    with pytest.raises(TemplateError, match=anew):
        train(treebank(), label="upos", init=tagger)
    with pytest.raises(TemplateError, match=anew):
        train(treebank(), label="upos", init=once, passes=2)
    with pytest.raises(TemplateError, match=anew):
        tagger.partial_fit([["the"]], [["DET"]])
    with pytest.raises(SeqtagError) as error:
        SequencePerceptron(passes=2).fit([[{"word": "a"}]], [["D"]])
    assert str(error.value) == (
        "expected passes 1 for feature dicts, found 2; give words, or leave it out"
    )
    with pytest.raises(TemplateError) as error:
        SequencePerceptron(passes=2).partial_fit([["a"]], [["D"]], classes=["D", "N"])
    assert str(error.value) == (
        "expected passes 1 for learning online, found 2; leave it out, or call fit"
    )
    with pytest.raises(CorpusError) as error:
        train(treebank(**{"first.upos": "x"}), label="upos", passes=2)
    assert str(error.value) == (
        "expected a corpus without a column first.upos, which the first of two passes "
        "predicts, found one; give it another name with --columns"
    )
    with pytest.raises(TemplateError, match=r'unknown column .first.upos. in "first.upos\[0\]"'):
        train(treebank(), label="upos", templates=parse("form[0]\nfirst.upos[0]"))


def test_what_is_written_is_read_again():
    model = train(treebank(), label="upos", passes=2, epochs=2).model
    [found] = models_of(from_bytes(to_bytes([model])))
    assert found.config() == model.config()
    assert to_bytes([found]) == to_bytes([model])
