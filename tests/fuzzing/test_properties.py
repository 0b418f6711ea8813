"""Whatever the words: one thread, batch or backend gives what another gives.

What holds of files and of raw text is what the targets of fuzzing assert.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqtag.model import bundle
from seqtag.model.container import from_bytes
from seqtag.tagging import runtime
from seqtag.tagging.tagger import Tagger
from tests.fuzzing.good_models import good_files
from tests.strategies import NATIVE, REFERENCE, install

words = st.sampled_from(["the", "man", "runs", "Im", ""]) | st.text(max_size=5)


@pytest.mark.parametrize("number", range(len(good_files())))  # of every kind
@settings(max_examples=25)
@given(sentences=st.lists(st.lists(words, max_size=6), max_size=8))
def test_threads_batches_and_backends_give_the_same(number, sentences):
    found = []
    for backend in (REFERENCE, *([NATIVE] if NATIVE else [])):
        with pytest.MonkeyPatch.context() as patch:
            install(backend, patch)
            patch.setattr(runtime, "_BATCH_TOKENS", 3)
            models = bundle.models_of(from_bytes(good_files()[number]))
            taggers = [Tagger(each) for each in models if each.column.name not in _TEXT]
            found.append([_labels(tagger, sentences) for tagger in taggers])
    assert all(each == found[0] for each in found)


_TEXT = ("tokens", "words")  # of characters


def _labels(tagger, sentences):
    """Labels and margins, the same however they are asked for."""
    if len(tagger.columns) > 1:
        sentences = [dict.fromkeys(tagger.columns, each) for each in sentences]
    labels = tagger.tag_many(sentences, 1)
    assert all(tagger.tag_many(sentences, threads) == labels for threads in (2, 4))
    assert [tagger.tag(each) for each in sentences] == labels
    return [(each.labels, each.margins) for each in tagger.tag_many(sentences, scores=True)]
