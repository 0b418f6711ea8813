"""Threads that share one model get what one alone gets; a sanitizer watches this as well."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor

import pytest

from seqtag.corpus import read, stream
from seqtag.model import bundle
from seqtag.model.container import from_bytes
from seqtag.tagging import runtime
from seqtag.tagging.pipeline import Pipeline
from seqtag.tagging.streams import tag_text
from seqtag.tagging.tagger import Tagger
from tests.command_line import conllu
from tests.fuzzing.good_models import good_files, good_pipeline

SENTENCES = [["the", "old", "man", f"runs{n}"][n % 4 :] for n in range(200)]


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    """Work for every thread."""
    monkeypatch.setattr(runtime, "_BATCH_TOKENS", 20)
    monkeypatch.setattr(stream, "CHUNK", 300)


# Calibrated, without a label chain, of parts of labels, lemmas, word tables.
@pytest.mark.parametrize("number", [0, 1, 3, 4, 6])
def test_all_questions_on_all_threads(number):
    [model] = bundle.models_of(from_bytes(good_files()[number]))
    one, shared = Tagger(model), Tagger(model)
    assert shared.tag_many(SENTENCES, threads=4) == one.tag_many(SENTENCES)
    assert shared.tag_many(SENTENCES, threads=4, scores=True) == one.tag_many(
        SENTENCES, scores=True
    )
    assert shared.nbest_of(SENTENCES, 2, threads=4) == one.nbest_of(SENTENCES, 2)


@pytest.mark.parametrize("number", [3, 6])
def test_single_sentences_from_threads_of_the_caller(number):
    [model] = bundle.models_of(from_bytes(good_files()[number]))
    tagger = Tagger(model)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(tagger.tag, SENTENCES)) == Tagger(model).tag_many(SENTENCES)


def test_files_on_all_threads():
    data = conllu().encode() * 20
    taggers = good_pipeline().taggers
    once = b"".join(tag_text(taggers, read(io.BytesIO(data), "conllu"), threads=1))
    assert b"".join(tag_text(taggers, read(io.BytesIO(data), "conllu"), threads=4)) == once


@pytest.mark.parametrize("to", [None, "jsonl"])
@pytest.mark.parametrize(("number", "rest"), [(6, "tag"), (2, "pos chunk")])
def test_columns_on_all_threads(number, rest, to):
    [model] = bundle.models_of(from_bytes(good_files()[number]))
    columns = ["form", *rest.split()]
    rows = [[" ".join([word, *columns[1:]]) for word in each] for each in SENTENCES]
    data = "\n\n".join(map("\n".join, rows)).encode()

    def found(threads):
        stream = read(io.BytesIO(data), "columns", columns=columns)
        return b"".join(tag_text([Tagger(model)], stream, to, threads))

    assert found(4) == found(1)


def test_raw_text_on_all_threads():
    data = b"Ich bin im Haus. Wer ist hier?\n\nIM\n" * 40
    pipeline = Pipeline(good_pipeline().models)

    def found(threads):
        text = pipeline.segmented(read(io.BytesIO(data), "text"), paragraphs="blank")
        return b"".join(tag_text(pipeline.taggers, text, threads=threads))

    assert found(4) == found(1)


def test_texts_from_threads_of_the_caller():
    texts = [f"Ich bin im Haus. Wer ist {n}?\n\nIM" for n in range(60)]
    shared = Pipeline(good_pipeline().models)
    with ThreadPoolExecutor(4) as pool:
        found = [str(document) for document in pool.map(shared, texts)]
    assert found == [str(good_pipeline()(text)) for text in texts]
