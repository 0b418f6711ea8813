"""What the server says of a text: where words stand."""

from __future__ import annotations

import pytest

import seqtag
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
    [found] = (list(each) for each in annotate(loaded, [text], Deadline(1e6)))
    tokens = [token for sentence in found for token in sentence["tokens"]]
    assert [text[each["start"] : each["end"]] for each in tokens] == [t["text"] for t in tokens]
    assert "".join(each["text"] for each in tokens) == "".join(text.split())


def test_names_are_spans_of_the_text():
    words = [["We", "left", "New", "York", "."], ["Oslo", "is", "near", "."]]
    labels = [["O", "O", "B-LOC", "I-LOC", "O"], ["B-LOC", "O", "O", "O"]]
    names = seqtag.train(words, labels, label="ner", min_count=1)
    text = "  We left  New  York. Oslo is near."
    found = [s["spans"] for each in annotate(names, [text], Deadline(1e6)) for s in each]
    assert found == [
        {"ner": [{"label": "LOC", "text": "New  York", "start": 11, "end": 20}]},
        {"ner": [{"label": "LOC", "text": "Oslo", "start": 22, "end": 26}]},
    ]
    spans = [span for each in names(text).ents for span in [each._asdict()]]
    assert [{name: span[name] for name in found[0]["ner"][0]} for span in spans] == [
        span for each in found for span in each["ner"]
    ]
    plain = seqtag.train(words, [["A" for _ in each] for each in words], min_count=1)
    [found] = annotate(plain, [text], Deadline(1e6))
    assert all("spans" not in each for each in found)
