"""Labels by tags: what occurs with the tags of a token in training is what it may have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqtag
from seqtag.engine.arrays import Instances
from seqtag.features.language import parse
from seqtag.model import bundle, container
from seqtag.tagging.tagger import Tagger
from seqtag.training.problem import labels_by_tags, with_label_sets
from tests.strategies import corpus

TEMPLATES = "form[0]\nupos[0]\nxpos[0]"
COMPILED = parse(TEMPLATES).compile(["form", "upos", "xpos"])


def as_table(by_tags) -> dict[int, list[int]]:
    rows = np.split(by_tags.labels, by_tags.row_ptr[1:-1])
    return {int(key): row.tolist() for key, row in zip(by_tags.keys, rows, strict=True)}


@pytest.mark.parametrize(
    ("templates", "names"),
    [
        (TEMPLATES, ["upos", "xpos"]),
        ("xpos[0]\nform[0] + upos[0]", ["xpos"]),
        ("form[0]\nsuffix(1)[0] + upos[0]", []),
        ("upos[-1]\nxpos[+1]\nlower[0]", []),
        ("upos[0]\nlabel[-1]", ["upos"]),
        ("upos[0]\nlabel[-1]\nlabel[-2] + label[-1]", []),
    ],
)
def test_templates_of_one_tag_at_the_token_are_its_tags(templates, names):
    compiled = parse(templates).compile(["form", "upos", "xpos"])
    assert [compiled.attributes[a].column for a, _ in compiled.tag_terms] == names
    assert len(compiled.tag_plan().seed) == bool(names)


numbers = st.lists(
    st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(-1, 3)), min_size=1, max_size=20
).filter(lambda tokens: any(label >= 0 for *_, label in tokens))


@given(numbers)
def test_labels_count_once_with_gold_tags_and_twice_with_predicted_ones(tokens):
    gold, tags = (np.array(each, np.uint64) for each in list(zip(*tokens, strict=True))[:2])
    y = np.array([label for *_, label in tokens], np.int32)
    found = labels_by_tags(
        COMPILED.tag_plan(), tags, gold, np.zeros((len(y), 0), np.uint64), y, "ABCD"
    )
    expected: dict[int, set[int]] = {}
    predicted = [(tag, label) for _, tag, label in tokens if label >= 0]
    for true, tag, label in tokens:
        if label >= 0:
            expected.setdefault(true, set()).add(label)
            if predicted.count((tag, label)) > 1 and any(tag == each for each, *_ in tokens):
                expected.setdefault(tag, set()).add(label)
    assert as_table(found) == {key: sorted(labels) for key, labels in expected.items()}

    x = with_label_sets(Instances(*[np.zeros(1, np.int64)] * 3), found, tags, y)
    for n, (_, tag, label) in enumerate(tokens):
        allowed = x.labels_of(n)
        if label >= 0 and label in expected.get(tag, ()):
            assert allowed.tolist() == sorted(expected[tag])
        else:
            assert allowed is None


# ----------------------------------------------------------------- models
LINES = "runs VERB VBZ V3; run VERB VB V; dogs NOUN NNS N2; dog NOUN NN N; sees VERB VBZ V3"


def trained(lines=LINES, **more) -> Tagger:
    templates = {} if "init" in more else {"templates": parse(TEMPLATES)}
    data = corpus(lines, "form upos xpos feats") * 3
    return seqtag.train(data, label="feats", **templates, **more)


def tag(tagger: Tagger, words: str) -> list[str]:
    return [tagger.tag(each)[0] for each in corpus(words, "form upos xpos")]


def test_a_token_has_a_label_that_occurs_with_its_tags():
    """The form has no say against the tags, unless these do not occur together."""
    model = trained().model
    assert model.by_tags is not None
    found = {
        tuple(model.labels[label] for label in row) for row in as_table(model.by_tags).values()
    }
    assert found == {("V3",), ("V",), ("N2",), ("N",)}
    for tagger in (Tagger(model), Tagger(bundle.models_of(reloaded(model))[0])):
        assert tag(tagger, "dogs VERB VB; dogs NOUN NN; runs VERB VBZ") == ["V", "N", "V3"]
        unrestricted = Tagger(replace(model, by_tags=None))
        assert tag(tagger, "dogs NOUN VBZ") == tag(unrestricted, "dogs NOUN VBZ")


def reloaded(model) -> container.Contents:
    return container.from_bytes(bundle.to_bytes([model]))


def test_training_goes_on_with_the_labels_by_tags_of_both():
    first = trained()
    second = trained("dogs VERB VBZ A4; cats NOUN NNS N2", init=first)  # A4 is the first label
    old, new = (
        {
            key: {each.model.labels[j] for j in row}
            for key, row in as_table(each.model.by_tags).items()
        }
        for each in (first, second)
    )
    [more] = [key for key, labels in old.items() if labels == {"V3"}]
    assert new == {**old, more: {"V3", "A4"}}
    unrestricted = Tagger(replace(first.model, by_tags=None))
    assert trained(init=unrestricted).model.by_tags is None
