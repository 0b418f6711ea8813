"""Every scheme of the table is trained, decoded and converted back."""

from __future__ import annotations

from itertools import product

import pytest

from seqtag.corpus import sentence_of
from seqtag.evaluation.scoring import score
from seqtag.features.language import parse
from seqtag.labels.schemes import SCHEMES, convert, spans
from seqtag.loading import load
from seqtag.training.train import train

TEMPLATES = parse("form[0]\nform[-1]\nform[1]\nform[-1] + form[0]\nform[0] + form[1]\nlabel[-1]")
PHRASES = ["the|NP old|NP man|NP", "dogs|NP", "has|VP been|VP", "ran|VP", "today|AP", "and|O"]
IOB2 = []
"""Sentences of all pairs of phrases, chunks of a type next to each other among them."""
for pair in product(PHRASES, repeat=2):
    rows = []
    for phrase in pair:
        for i, item in enumerate(phrase.split()):
            word, kind = item.split("|")
            rows.append((word, "O" if kind == "O" else f"{'I' if i else 'B'}-{kind}"))
    IOB2.append(rows)


def written_in(scheme):
    """Sentences with labels in a scheme."""
    found = []
    for rows in IOB2:
        words, labels = zip(*rows, strict=True)
        found.append(sentence_of({"form": list(words), "chunk": convert(labels, "iob2", scheme)}))
    return found


@pytest.mark.parametrize("written", SCHEMES)
@pytest.mark.parametrize("encoding", SCHEMES)
def test_a_scheme_is_trained_decoded_and_converted_back(written, encoding):
    sentences = written_in(written)
    tagger = train(
        sentences, label="chunk", templates=TEMPLATES, encoding=encoding, epochs=20, min_count=1
    )
    assert tagger.label_scheme == written
    assert tagger.info["encoding"] == encoding
    gold = [sentence.column("chunk") for sentence in sentences]
    assert tagger.tag_many(sentences) == gold
    assert score(tagger, sentences).f1 == 1
    learned = {label for labels in gold for label in convert(labels, written, encoding)}
    assert set(tagger.model.labels) == learned


@pytest.mark.parametrize("encoding", SCHEMES)
@pytest.mark.parametrize("constrain", [True, False])
def test_all_ways_of_tagging_write_the_scheme_of_the_file(encoding, constrain, tmp_path):
    sentences = written_in("iob2")[::2]
    tagger = train(
        sentences,
        label="chunk",
        templates=TEMPLATES,
        encoding=encoding,
        constrain=constrain,
        epochs=8,
        min_count=1,
    )
    tagger.save(tmp_path / "chunk.seqtag")
    tagger = load(tmp_path / "chunk.seqtag")
    for sentence in sentences:
        gold = sentence.column("chunk")
        assert tagger.tag(sentence) == gold
        assert tagger.tag(sentence, fixed_labels=gold) == gold
        fixed = [gold[0], *[None] * (len(gold) - 1)]
        assert tagger.tag(sentence, fixed_labels=fixed) == gold
        for _, labels in tagger.nbest(sentence, 3):
            assert spans(labels, "iob2") is not None
