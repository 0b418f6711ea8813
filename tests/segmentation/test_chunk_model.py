"""Characters labeled by chunks, as the kernel does, against labels by the types of columns.

Both sum the same whole numbers; only text that is written in rare characters is left to types.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.engine import backend
from seqtag.segmentation.paragraphs import SEPARATOR
from seqtag.segmentation.segmenter import Segmenter
from tests.segmentation.test_segmenter import PLAIN, learn

pytestmark = pytest.mark.skipif(backend.ChunkModel is None, reason="the kernel was not built")

LANGUAGES = {
    "English": PLAIN,
    "Armenian": [["Նա", "եկավ", "_:"], ["Ո՞վ", "_,", "ե՞ս", "_:"], ["Այո", "_՛", "_:"]],
    "Turkish": [["İstanbul", "_'da", "ışık", "var", "_."], ["Hayır", "_,", "yok", "_!"]],
    "Hindi": [["मैं", "घर", "गया", "_।"], ["क्या", "वह", "आई", "_?"]],
    "Chinese": [["你", "_好", "_。"], ["我", "_很", "_好", "_，", "_3", "_天", "_。"]],
    "Arabic": [["ذهبَ", "إلى", "البيت", "_."], ["هل", "جاء", "_؟"]],
}
SIGNS = "’'“”«»—–-…·•/:;,.?!()@#€$%&_*՝՞՛।。，؟\u00ad\u200b\u200d\ufe0f\u0301\u094d\u05b0"
BLANKS = [" ", "  ", "\n", "\u00a0", "\u2009", "\t", "\x0b", SEPARATOR, " " * 70]


def texts_of(sentences):
    """Texts of the words of a language, of any characters, signs and blanks."""
    forms = sorted({token.removeprefix("_") for tokens in sentences for token in tokens})
    words = st.one_of(
        st.sampled_from(forms),
        st.text(st.sampled_from("".join(forms) + SIGNS), max_size=9),
        st.text(max_size=3),
        st.sampled_from(
            ["👍🏽", "🇫🇷", "👨\u200d👩\u200d👧", "İ", "ǅ", "ß", "\x00", "\ud800", "1,5", "x" * 30]
        ),
        st.integers(20, 140).map(lambda n: "ab.c" * (n // 4) + "d" * (n % 4)),
    )
    blanks = st.sampled_from(["", *BLANKS, " ", " "])
    return st.lists(st.tuples(words, blanks), max_size=30).map(lambda t: "".join(map("".join, t)))


def check_same(model, sentences, *, by_chunks: bool = True):
    """Segmenters by chunks and by types, which go on with what they know of other texts."""
    segmenter = Segmenter(model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backend, "ChunkModel", None)
        by_types = Segmenter(model)
    assert by_types._chunks is None
    assert segmenter._chunks is not None or not by_chunks

    @given(texts_of(sentences))
    def check(text):
        for found, expected in zip(segmenter.segment(text), by_types.segment(text), strict=True):
            np.testing.assert_array_equal(found, expected)

    check()


@pytest.mark.parametrize("language", LANGUAGES)
def test_labels_by_chunks_are_those_by_types(language):
    sentences = LANGUAGES[language]
    check_same(learn(sentences * 3).model, sentences)


@pytest.mark.parametrize("weights", [(-127, 127), (-1, 0, 1), (-128, -127, 126, 127)])
def test_extreme_weights_and_ties_are_no_exception(weights):
    """Of labels with equal sums the first counts."""
    model = learn(PLAIN * 3).model
    rows = model.weights.emission
    drawn = np.random.RandomState(1).choice(np.array(weights, np.int8), len(rows.weights))
    emission = rows._replace(weights=drawn)
    check_same(replace(model, weights=model.weights._replace(emission=emission)), PLAIN)


@pytest.mark.parametrize(
    "more",
    [
        "prefix(chunk, 1)[0] + value(tail)[0]",
        "suffix(next, 2)[0] + value(tail)[0] + form(opening)[0]",
        "c1[-3]\nform(left)[0]\nform(chunk)[0]",
        "value(tail)[0] + form(before)[0] + prefix(after, 1)[0]",
        "form(signs)[0] + k2[0]\nform(right)[0] + c2[0]",
    ],
)
def test_other_templates(more):
    """By chunks if these templates are summed so."""
    check_same(learn(PLAIN * 3, more).model, PLAIN, by_chunks=False)
