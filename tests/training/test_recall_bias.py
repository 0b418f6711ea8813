"""The setting recall-bias: a lower score of the label O."""

from __future__ import annotations

from seqtag.corpus import sentence_of
from seqtag.features.language import parse
from seqtag.training.train import train


def names():
    """Half of the names follow a word that tells so; before the other half, it is often none."""

    def rows(n):
        kind = "B-X" if n % 2 or n % 5 else "O"
        return {"form": ["at" if n % 2 else "to", f"w{n}", "so"], "tag": ["O", kind, "O"]}

    return [sentence_of(rows(n)) for n in range(150)]


NAMES = parse("form[0]\nform[-1]\nlabel[-1]\nset epochs 3\nset update adaptive\nset margin 1")


def test_recall_bias_finds_more_chunks():
    found = []
    for bias in (-100, 0, 100):
        tagger = train(names(), label="tag", templates=NAMES, tag_dictionary=0, recall_bias=bias)
        found.append(sum(tagger.tag(["at", "w", "so"]).count("O") for _ in range(2)))
    assert found[0] == 6 >= found[1] >= found[2] == 0


def test_training_goes_on_without_the_recall_bias_and_adds_it_again():
    how = {"label": "tag", "tag_dictionary": 0}
    plain, biased = (train(names(), templates=NAMES, recall_bias=bias, **how) for bias in (0, 8))
    learned = [train(names(), init=tagger, **how) for tagger in (plain, biased)]
    assert "recall_bias" not in learned[0].info["training"]
    assert learned[1].info["training"]["recall_bias"] == 8.0
    free = train(names(), init=biased, recall_bias=0, **how)
    sentences = [s.words for s in names()]
    assert free.tag_many(sentences) == learned[0].tag_many(sentences)
