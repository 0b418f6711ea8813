"""Which templates fit a column: by its name, by its labels, or by what they give."""

from __future__ import annotations

import logging

import pytest

import seqtag
from seqtag.corpus import sentence_of
from seqtag.errors import TemplateError
from seqtag.features.language import load
from seqtag.labels.column import LabelColumn
from seqtag.training import choose
from seqtag.training.train import train
from tests.strategies import corpus

CHUNKS = corpus("; ".join(["the B-NP, dog I-NP, runs O", "a B-NP, cat I-NP, sees O"] * 30))
TAGS = corpus("; ".join(["the D, dog N, runs V", "a D, cat N, sees V"] * 30))


def presets_of(tagger):
    """The presets whose templates a model has."""
    names = ("pos", "morph", "chunk", "ner")
    return [n for n in names if str(tagger.model.templates) == templates_of(n)]


def templates_of(name):
    text = str(load(name))
    return "".join(
        line + "\n" for line in text.splitlines() if line and not line.startswith(("set ", "#"))
    )


@pytest.mark.parametrize(
    ("sentences", "preset"),
    [
        (TAGS, "pos"),
        (CHUNKS, "ner"),
        (
            [
                sentence_of({"form": s.words, "pos": s.words, "tag": s.column("tag")})
                for s in CHUNKS
            ],
            "chunk",
        ),
        (corpus("; ".join(f"a{n} N|x={n}, b{n} V|y={n}" for n in range(150))), "morph"),
        (corpus("; ".join(f"a{n} N{n}, b{n} V{n}" for n in range(150))), "pos"),
        (corpus("; ".join(f"a{n} N|x={n}, b{n} V|y={n}" for n in range(50))), "pos"),
    ],
    ids=["tags", "chunks", "chunks with pos", "many parts", "many labels", "few parts"],
)
def test_the_preset_fits_the_labels(sentences, preset):
    tagger = train(sentences, label="tag", epochs=1, quick=True)
    wanted = {line for line in templates_of(preset).splitlines() if "label[-2]" not in line}
    found = {line for line in str(tagger.model.templates).splitlines() if "label[-2]" not in line}
    assert found == wanted


def test_a_name_that_says_it_is_believed():
    for column, preset in {"upos": "pos", "pos": "pos", "ner": "ner", "feats": "morph"}.items():
        assert LabelColumn(column).is_known
        data = [sentence_of({"form": s.words, column: s.column("tag")}) for s in TAGS]
        tagger = train(data, label=column, epochs=1, quick=True)
        assert presets_of(tagger) == [preset]
    assert not LabelColumn("tag").is_known


def test_columns_without_a_form_are_named():
    data = [sentence_of({"word": s.words, "tag": s.column("tag")}) for s in TAGS]
    with pytest.raises(TemplateError, match=r"^expected a column form, .* found word; rename"):
        train(data, label="tag")


@pytest.mark.parametrize("templates", [None, "chunk"])
@pytest.mark.parametrize(
    ("others", "used", "note"),
    [
        ([], [], "no column pos: the templates that look at it are left out"),
        (["upos"], ["upos"], "the column upos serves as pos in the templates"),
        (["upos", "xpos"], ["xpos"], "the column xpos serves as pos in the templates"),
        (["lemma"], [], "no column pos: the templates that look at it are left out"),
        (["upos", "pos"], ["pos"], ""),
    ],
)
def test_chunks_are_learned_with_any_tags(caplog, tmp_path, templates, others, used, note):
    caplog.set_level(logging.INFO, "seqtag")
    rows = "".join(
        "\n".join(
            "\t".join([w, *"T" * len(others), c])
            for w, c in zip(s.words, s.column("tag"), strict=True)
        )
        + "\n\n"
        for s in CHUNKS
    )
    (tmp_path / "a.txt").write_text(rows)
    columns = ["form", *others, "chunk"]
    options = {"columns": columns, "label": "chunk", "templates": templates}
    tagger = train(tmp_path / "a.txt", epochs=2, **options)
    assert [*tagger.columns] == ["form", *used]
    assert [each for each in caplog.messages if " pos" in each and "templates" in each] == (
        [note] * bool(note)
    )
    [found, *_] = seqtag.read(tmp_path / "a.txt", columns=columns)
    assert tagger.tag(found) == ["B-NP", "I-NP", "O"]


# ----------------------------------------------------------------- tried
@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(choose, "_TOO_FEW", 100)


def test_presets_are_tried_against_each_other(small, caplog):
    caplog.set_level(logging.INFO, "seqtag")
    tagger = train(TAGS, label="tag", templates="auto", epochs=2)
    told = tagger.info["training"]["chosen"]
    assert [*told] == ["templates", "tag_dictionary"]
    assert [*told["templates"]["scores"]] == ["pos", "morph"]
    assert presets_of(tagger) == ["pos"]  # of equals the usual one
    assert caplog.messages[0] == (
        "templates pos, by accuracy on 45 tokens held out of the training data "
        "(pos: 100.00, morph: 100.00)"
    )
    assert caplog.messages[1].startswith("tag-dictionary 0, by accuracy on 45 tokens")


def test_the_best_is_chosen(small, monkeypatch):
    scores = iter([0.5, 0.9])
    trial = choose._trial

    def scored(*arguments, **options):
        found = trial(*arguments, **options)
        return found._replace(values=dict.fromkeys(found.values, next(scores)))

    monkeypatch.setattr(choose, "_trial", scored)
    tagger = train(TAGS, label="tag", templates="auto", epochs=1)
    assert presets_of(tagger) == ["morph"]
    assert tagger.info["training"]["label_parts"] == "split"


def test_chunks_are_tried_with_and_without_parts_of_speech(small):
    data = [sentence_of({"form": s.words, "pos": s.words, "x": s.column("tag")}) for s in CHUNKS]
    told = train(data, label="x", templates="auto", epochs=1).info["training"]["chosen"]
    assert [*told["templates"]["scores"]] == ["chunk", "ner"]
    assert told["templates"]["metric"] == "conlleval-f1"


@pytest.mark.parametrize(("best", "biased"), [("chunk", False), ("ner", True)])
def test_the_recall_bias_is_chosen_if_the_best_asks_for_it(small, monkeypatch, best, biased):
    trial = choose._trial

    def scored(tasks, *arguments, **options):
        found = trial(tasks, *arguments, **options)
        return found._replace(values=dict.fromkeys(found.values, float(tasks[-1].name == best)))

    monkeypatch.setattr(choose, "_trial", scored)
    data = [sentence_of({"form": s.words, "pos": s.words, "x": s.column("tag")}) for s in CHUNKS]
    told = train(data, label="x", templates="auto", epochs=1).info["training"]["chosen"]
    assert ("recall_bias" in told) == biased


def test_settings_given_hold_for_all(small):
    tagger = train(TAGS, label="tag", templates="auto", epochs=1, tag_dictionary=2)
    assert [*tagger.info["training"]["chosen"]] == ["templates"]
    assert tagger.info["training"]["tag_dictionary"] == 2


def test_quick_small_corpora_and_models_to_go_on_from_try_nothing():
    first = train(TAGS, label="tag", templates="auto", epochs=1)  # 180 tokens
    assert "chosen" not in first.info["training"]
    quick = train(TAGS, label="tag", templates="auto", epochs=1, quick=True)
    again = train(TAGS, label="tag", templates="auto", epochs=1, init=quick)
    assert presets_of(quick) == presets_of(again) == ["pos"]


def test_the_estimator_tries_them(small):
    sklearn = pytest.importorskip("seqtag.integrations.sklearn")
    X, y = [s.words for s in TAGS], [s.column("tag") for s in TAGS]
    model = sklearn.SequencePerceptron(templates="auto", epochs=1).fit(X, y)
    assert "templates" in model.tagger_.info["training"]["chosen"]
    fixed = sklearn.SequencePerceptron(templates="auto", epochs=1, order=1).fit(X, y)
    assert "templates" not in fixed.tagger_.info["training"].get("chosen", {})
