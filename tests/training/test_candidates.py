"""Which templates fit a column: by its name, or by its labels."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from seqtag.corpus import sentence_of
from seqtag.errors import TemplateError
from seqtag.features.encoder import Column
from seqtag.features.language import load
from seqtag.labels.column import LabelColumn
from seqtag.training.choose import choose
from seqtag.training.data import TrainingData
from seqtag.training.plan import Request, plan
from seqtag.training.runs import Schedule
from seqtag.training.text_examples import TreebankText
from seqtag.training.train import train
from seqtag.training.treebank import Treebank
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
    tagger = train(sentences, label="tag", epochs=1)
    wanted = {line for line in templates_of(preset).splitlines() if "label[-2]" not in line}
    found = {line for line in str(tagger.model.templates).splitlines() if "label[-2]" not in line}
    assert found == wanted


def test_a_name_that_says_it_is_believed():
    for column, preset in {"upos": "pos", "pos": "pos", "ner": "ner", "feats": "morph"}.items():
        assert LabelColumn(column).is_known
        data = [sentence_of({"form": s.words, column: s.column("tag")}) for s in TAGS]
        tagger = train(data, label=column, epochs=1)
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
def test_chunks_are_learned_with_any_tags(caplog, templates, others, used, note):
    caplog.set_level(logging.INFO, "seqtag")
    data = [
        sentence_of(
            {
                "form": s.words,
                **{name: ["T"] * len(s) for name in others},
                "chunk": s.column("tag"),
            }
        )
        for s in CHUNKS
    ]
    tagger = train(data, epochs=2, label="chunk", templates=templates)
    assert [*tagger.columns] == ["form", *used]
    assert [each for each in caplog.messages if " pos" in each and "templates" in each] == (
        [note] * bool(note)
    )
    assert tagger.tag(data[0]) == ["B-NP", "I-NP", "O"]


# ----------------------------------------------------------------- plans
def test_a_pipeline_looks_at_what_is_learned_before():
    request = Request(["tokens", "words", "upos", "xpos", "feats", "lemma", "ner"], True)
    text = TreebankText("to be. ", np.array([2, 5, 6]), np.array([6]))
    tasks = plan(request, ["form"], text)
    assert [str(task.column) for task in tasks] == request.labels
    assert [task.name for task in tasks[:2]] == ["segment", "multiword"]
    assert [other.name for other in tasks[1].others] == ["clitics"]
    assert [task.columns for task in tasks[2:4]] == [("form",), ("form", "upos")]
    assert tasks[4].columns == ("form", "upos", "xpos")
    assert [(other.name, other.columns) for other in tasks[4].others] == [
        ("morph-tags", ("form", "upos"))
    ]


@pytest.mark.parametrize(("values", "preset"), [(255, "feats"), (256, "morph-tags")])
def test_many_values_of_feats_are_learned_by_their_items(values, preset):
    [_, task] = plan(Request(["upos", "feats"], True), ["form"])
    labels = Column.of(f"Case=C{n}|Number=N{n}" for n in range(values))
    words = TrainingData({"form": labels, "feats": labels}, labels, np.array([values]))
    assert choose(task, Treebank(words), Schedule()).name == preset
