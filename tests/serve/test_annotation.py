"""What the server says of a text: where words stand."""

from __future__ import annotations

import pytest

from seqtag.model import bundle
from seqtag.model.container import from_bytes
from seqtag.serve.annotation import annotate
from seqtag.serve.work_queue import Deadline
from seqtag.tagging.tagger import Tagger
from tests.fuzzing.good_models import good_files, good_pipeline


@pytest.mark.parametrize("kind", ["tagger", "pipeline"])
@pytest.mark.parametrize("text", ["Im  Haus. Wer?\n\n \te\u0301 hier\n", "\n Im\u00a0 Haus", " \n"])
def test_words_stand_in_the_text_where_they_are_said_to(kind, text):
    [model] = bundle.models_of(from_bytes(good_files()[3]))
    loaded = Tagger(model) if kind == "tagger" else good_pipeline()
    found = [*annotate(loaded, text, Deadline(1e6))]
    tokens = [token for sentence in found for token in sentence["tokens"]]
    assert [text[each["start"] : each["end"]] for each in tokens] == [t["text"] for t in tokens]
    assert "".join(each["text"] for each in tokens) == "".join(text.split())
