"""seqtag.serve.annotation: documents of any model, with a segmenter or without."""

from __future__ import annotations

import pytest

from seqtag.model import bundle
from seqtag.model.container import from_bytes
from seqtag.serve.annotation import documents
from seqtag.serve.work import Deadline
from seqtag.tagging.pipeline import Pipeline
from tests.fuzzing.good_models import good_files, good_pipeline


@pytest.mark.parametrize("kind", ["tagger", "pipeline"])
@pytest.mark.parametrize("text", ["Im  Haus. Wer?\n\n \te\u0301 hier\n", "\n Im\u00a0 Haus", " \n"])
def test_words_stand_in_the_text_where_they_are_said_to(kind, text):
    [model] = bundle.models_of(from_bytes(good_files()[3]))
    pipeline = Pipeline([model]) if kind == "tagger" else good_pipeline()
    texts = [text, text * 2000, text]  # a long one goes by itself
    for whole, document in zip(texts, documents(pipeline, texts, Deadline(1e6)), strict=True):
        tokens = [token for sentence in document.to_dicts() for token in sentence["tokens"]]
        found = [whole[each["start"] : each["end"]] for each in tokens]
        assert found == [each["text"] for each in tokens]
        assert "".join(found) == "".join(whole.split())
