"""Threads that learn from one corpus learn what one alone does; a sanitizer watches this as well."""

from __future__ import annotations

import io

import pytest

from seqtag.corpus import read, stream
from seqtag.features.language import parse
from seqtag.model.bundle import to_bytes
from seqtag.tables.learn import learn_classes
from seqtag.training.train import train
from tests.command_line import SENTENCES, conllu
from tests.strategies import corpus
from tests.treebanks import annotated, components

DATA = corpus(
    "the DT, old JJ, man NN, sees VB; the DT, man NN, runs VB; old JJ, men NN, run VB; "
    "a DT, run NN, is VB, old JJ; she PR, runs VB, a DT, boat NN"
)
TREES = ["Ich/ich/PRON bin/sein/AUX im=in/in/ADP+dem/der/DET Haus/Haus/NOUN ././PUNCT"]
TEMPLATES = parse("form[0]\nsuffix(1)[0]\nlabel[-1] + form[0]\nlabel[-2] + label[-1]")


@pytest.mark.parametrize("options", [{}, {"passes": 2}, {"dropout": 0.2, "dev": DATA[:1]}])
def test_runs_at_the_same_time(options):
    templates = "form[0]\nlabel[-1]\nfirst.tag[+1]" if "passes" in options else str(TEMPLATES)
    how = {"label": "tag", "templates": parse(templates), "epochs": 3, "runs": 3, **options}
    one, many = (to_bytes([train(DATA, threads=n, **how).model]) for n in (1, 3))
    assert many == one


def test_folds_of_a_pipeline_at_the_same_time():
    one, many = (to_bytes(components(annotated(*TREES * 6), threads=n, epochs=2)) for n in (1, 3))
    assert many == one


@pytest.mark.parametrize("format", ["conllu", "tokens", "text"])
def test_words_that_are_counted_at_the_same_time(format, monkeypatch):
    monkeypatch.setattr(stream, "CHUNK", 200)
    text = conllu() * 8 if format == "conllu" else "\n".join(SENTENCES * 20)

    def found(threads):
        data = read(io.BytesIO(text.encode()), format)
        return learn_classes(data, classes=3, min_count=1, threads=threads)

    assert found(4).of("dog") == found(1).of("dog")
    assert [found(4).members(n) for n in range(3)] == [found(1).members(n) for n in range(3)]
