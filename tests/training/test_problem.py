"""Large label sets: what does not fit is known before training, and said."""

from __future__ import annotations

import logging

import pytest

from seqtag.corpus import read, sentence_of
from seqtag.errors import LabelError, TemplateError
from seqtag.evaluation.scoring import score
from seqtag.features import index
from seqtag.features.language import parse
from seqtag.tagging.tagger import Tagger
from seqtag.training import problem as problem_module
from seqtag.training import runs as training_runs
from seqtag.training.train import train
from tests.strategies import corpus, needs_native


def word(number: int) -> str:
    """A word that shares little with others."""
    return "".join(chr(ord("a") + (number * 7919 // 26**place) % 26) for place in range(5))


def many(labels: int):
    """Sentences with so many labels."""
    names = [word(i) for i in range(labels)]
    return [
        sentence_of({"form": names[i : i + 50], "xpos": names[i : i + 50]})
        for i in range(0, labels, 50)
    ]


@pytest.mark.parametrize(
    ("labels", "order", "note"),
    [
        (255, 2, None),
        (
            256,
            1,
            "the column xpos has 256 labels: learned without label trigrams and word-dependent "
            "label bigrams, which are for 255 at most",
        ),
        (
            4097,
            0,
            "the column xpos has 4,097 labels: learned without label bigrams, which are for 4,096 "
            "at most",
        ),
    ],
)
def test_a_preset_falls_back_to_what_fits(labels, order, note, caplog):
    with caplog.at_level(logging.WARNING, "seqtag"):
        tagger = train(many(labels), label="xpos", epochs=5, min_count=1)
    notes = [r.getMessage() for r in caplog.records if "learned without" in r.getMessage()]
    assert notes == ([note] if note else [])
    assert tagger.model.compiled.order == order
    words = [word(i) for i in range(50)]
    assert tagger.tag(words) == words


@pytest.mark.parametrize(
    ("labels", "line", "message"),
    [
        (256, "label[-2] + label[-1]", "expected at most 255 labels with label trigrams and"),
        (256, "label[-1] + form[0]", "found 256 in the column xpos; leave such templates out"),
        (4097, "label[-1]", "expected at most 4,096 labels with label bigrams, found 4,097"),
        (65_536, "bias", "expected at most 65,535 labels in the column xpos, found 65,536; check"),
    ],
)
def test_templates_of_ones_own_are_refused_before_training(labels, line, message, monkeypatch):
    def too_late(*_: object) -> None:
        pytest.fail("training began")

    monkeypatch.setattr(training_runs, "train_runs", too_late)
    with pytest.raises(LabelError) as error:
        train(many(labels), label="xpos", templates=parse(f"form[0]\n{line}"))
    assert message in str(error.value)


def test_lemmas_need_templates_that_look_at_the_form():
    sentence = sentence_of({"form": ["Dogs"], "upos": ["NOUN"], "lemma": ["dog"]})
    with pytest.raises(TemplateError) as error:
        train([sentence], label="lemma", templates=parse("upos[0]"))
    assert str(error.value) == (
        "<templates>: expected a template that looks at the column form, from which the column "
        "lemma is learned, found none; add form[0]"
    )


def test_many_lemmas_are_no_surprise(caplog):
    names = [word(i) for i in range(1100)]
    sentences = [sentence_of({"form": names, "lemma": [name + "x" * 9 for name in names]})]
    with caplog.at_level(logging.WARNING, "seqtag"):
        tagger = train(sentences, label="lemma", templates=parse("form[0]"), epochs=1)
    assert tagger.labels == ("lower 0 0  xxxxxxxxx",)
    assert not caplog.records


@needs_native
@pytest.mark.parametrize(
    "order", ["", "label[-1]\n", "label[-1] + pos[0]\n", "label[-2] + label[-1]\n"]
)
def test_features_in_bundles_teach_the_same(monkeypatch, tmp_path, order):
    sentences = corpus("the D T, cat N N; a D T, dog N N, the D T; old A X", "form pos tag")
    templates = parse(f"form[0]\nsuffix(1)[0]\npos[0]\nprefix(1)[0]\nlower[0]\nform[-1]\n{order}")
    taught = []
    for many in (1, 2**30):
        monkeypatch.setattr(index, "_COMPACT_FEATURES", many)
        tagger = train(sentences, label="tag", templates=templates, min_count=1, epochs=3)
        tagger.save(tmp_path / "model")
        taught.append((tmp_path / "model").read_bytes())
    assert taught[0] == taught[1]


@pytest.mark.parametrize("label", ["upos", "xpos", "upos+feats", "lemma", "chunk"])
def test_columns_are_scored_as_sentences_are(label, sample_dir, monkeypatch):
    """A dev set is scored by numbers; the report is that of `score`."""
    seen = []

    def compare(problem, held_out):
        judge = problem_module.DevJudge(problem, held_out)

        def both(cells):
            report = judge(cells)
            tagger = Tagger(problem.model(cells))
            assert report == score(tagger, dev, words=False)
            seen.append(report.score)
            return report

        return both

    monkeypatch.setattr(training_runs, "DevJudge", compare)
    kind = "chunk.txt" if label == "chunk" else "conllu"
    data, dev = (
        [*read(sample_dir / f"en-sample-{part}.{kind}")][:300] for part in ("train", "dev")
    )
    train(data, dev=dev, label=label, epochs=2)
    assert len(seen) >= 2
    assert len({*seen}) > 1
