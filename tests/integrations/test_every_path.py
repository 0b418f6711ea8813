"""Equal answers on every path of raw text: command, Python, spaCy, and REST.

The text is the test part of EWT where the corpora are present, else that of the sample.
"""

from __future__ import annotations

import io
from itertools import chain
from typing import TYPE_CHECKING

import pytest

import seqtag
from seqtag.corpus import read
from tests.command_line import call  # noqa: F401  (a fixture)
from tests.conftest import ROOT
from tests.serve.served import server

if TYPE_CHECKING:
    from pathlib import Path

EWT = ROOT.parent / "shared/corpora/ud-english-ewt"
SAMPLE = ROOT / "corpora/sample"
LABELS = ("lemma", "upos", "xpos", "feats")


@pytest.fixture(scope="module")
def gold() -> Path:
    """A treebank."""
    found = EWT / "en_ewt-ud-test.conllu"
    return found if found.exists() else SAMPLE / "en-sample-test.conllu"


@pytest.fixture(scope="module")
def text(gold):
    """The text of the treebank, one sentence on each line."""
    lines = gold.read_text("utf-8").splitlines()
    return "".join(line[9:] + "\n" for line in lines if line.startswith("# text = "))


@pytest.fixture(scope="module")
def en():
    """The embedded model."""
    return seqtag.load("en")


@pytest.fixture(scope="module")
def document(en, text):
    """The text, tagged in Python."""
    return en(text)


@pytest.fixture(scope="module")
def expected(document):
    """The sentences of the text, tagged in Python: rows of a word and its labels."""
    return [[(w.text, w.lemma, w.upos, w.xpos, w.feats) for w in each] for each in document]


def rows_of(conllu):
    """The sentences of CoNLL-U, in the same way."""
    columns = ("form", *LABELS)
    sentences = read(io.BytesIO(conllu.encode()), "conllu")
    return [[*zip(*map(each.column, columns), strict=True)] for each in sentences]


def test_python(en, text, document, expected):
    assert rows_of(str(document)) == expected
    (again,) = en.pipe([text])
    assert str(again) == str(document)
    rows = [tuple(row[name] for name in ("text", *LABELS)) for row in document.to_rows()]
    assert rows == [*chain(*expected)]


def test_command(call, tmp_path, text, document):  # noqa: F811
    (tmp_path / "in.txt").write_bytes(text.encode())
    assert call("tag", "-m", "en", tmp_path / "in.txt", "-q").out.decode() == str(document)


def test_spacy(text, expected):
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    from spacy.tokens import MorphAnalysis

    import seqtag.integrations.spacy_factories  # noqa: F401  where it is not installed
    from seqtag.integrations.spacy import SeqtagTokenizer

    nlp = spacy.blank("en")
    nlp.tokenizer = SeqtagTokenizer(nlp.vocab, "en")
    nlp.add_pipe("seqtag")
    nlp.max_length = len(text)
    found = [
        [(w.text, w.lemma_, w.pos_, w.tag_, w.morph) for w in each if not w.is_space]
        for each in nlp(text).sents
    ]
    # spaCy sorts features in its own order
    assert found == [
        [(*row[:4], MorphAnalysis(nlp.vocab, row[4])) for row in sentence] for sentence in expected
    ]


def test_rest(text, document, expected):
    httpx = pytest.importorskip("httpx", reason="httpx is not installed")
    pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    pytest.importorskip("starlette", reason="starlette is not installed")
    with server("-m", "en") as (_, address), httpx.Client(base_url=address, timeout=60) as client:
        fields = {"data": text, "tokenizer": "", "tagger": ""}
        found = client.post("process", data=fields).json()["result"]
        assert found == str(document)
        answer = client.post("api/tag", json={"text": text}).json()
        shown = [
            [
                (word["form"], *(word["labels"][name] for name in LABELS))
                for token in sentence["tokens"]
                for word in token["words"]
            ]
            for sentence in answer["sentences"]
        ]
        assert shown == expected
