"""The properties that hold of everything, each by name, for random inputs.

Each is asserted elsewhere too, where a part of it is tested closely; here is the list.
"""

from __future__ import annotations

import io
import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqtag.corpus import READABLE, read
from seqtag.corpus.surface import surface_of
from seqtag.errors import CorpusError, SeqtagError
from seqtag.model import bundle
from seqtag.model.container import from_bytes
from seqtag.storage.compression import compression_of
from seqtag.tagging import runtime
from seqtag.tagging.streams import tag_text
from seqtag.tagging.tagger import Tagger
from tests.fuzzing.good_models import good_files, good_pipeline
from tests.fuzzing.seeds import PIECES
from tests.strategies import NATIVE, REFERENCE, install

FEW = settings(max_examples=25)  # of each format, of each kind of model
ALL = range(len(good_files()))  # of every kind; 5 is a pipeline

_LINES = [b"a X\n", b"b Y\r\n", b"\n", b"1\ta" + b"\t_" * 8 + b"\n", b"# c\n", b"a/X b/Y\n"]
_LINES += [b"(S (X a))\n", b"Im Haus. Wer?\n", *PIECES["readers"]]
lines = st.lists(st.sampled_from(_LINES), max_size=12).map(b"".join)
anything = lines | st.binary(max_size=80)
words = st.sampled_from(["the", "man", "runs", "Im", ""]) | st.text(max_size=5)
tokens = st.from_regex(r"[a-zé/|#=.0-9]{1,5}", fullmatch=True)
batches = st.lists(st.lists(words, max_size=6), max_size=8)
texts = st.text(
    st.sampled_from("Im Haus.\n\t e\u0301?\u00a0\U0001f600'-") | st.characters(codec="utf-8")
)


def taggers(number: int) -> list[Tagger]:
    """The taggers of a good file, made anew on the backend in use."""
    models = bundle.models_of(from_bytes(good_files()[number]))
    return [Tagger(model) for model in models if model.column.name not in ("tokens", "words")]


def asked(tagger: Tagger, batch: list[list[str]]) -> list:
    """Sentences as a tagger wants them."""
    several = len(tagger.columns) > 1
    return [dict.fromkeys(tagger.columns, each) if several else each for each in batch]


# ----------------------------------------------------------------- files
@pytest.mark.parametrize("format", READABLE)
@FEW
@given(data=anything)
def test_what_is_accepted_is_written_as_it_was_read(format, data):
    """write(read(f)) == f, and so it is if columns are put back."""
    if compression_of(data) is not None:
        return  # of which the content is written
    with suppress(CorpusError):
        sentences = list(read(io.BytesIO(data), format))
        plain = data
        if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:64]:
            plain = "".join(each.raw for each in sentences).encode()  # UTF-16 becomes UTF-8
        assert "".join(each.raw for each in sentences).encode() == plain
        if format not in ("auto", "text"):
            assert b"".join(tag_text([], read(io.BytesIO(data), format))) == plain
        for each in sentences:
            with suppress(CorpusError):
                assert each.replace({name: each.column(name) for name in each.columns}) == each.raw


@pytest.mark.parametrize("format", READABLE)
@FEW
@given(data=anything)
def test_any_bytes_give_a_result_or_one_of_our_errors(format, data):
    """A reader, and a tagger behind it: nothing else is raised."""
    tagger = taggers(1)[0]
    with suppress(SeqtagError):
        b"".join(tag_text([tagger], read(io.BytesIO(data), format), "jsonl"))


@FEW
@given(data=anything)
def test_any_bytes_are_a_model_or_one_of_our_errors(data):
    with suppress(SeqtagError):
        bundle.models_of(from_bytes(data))
    head = len(data).to_bytes(8, "little")
    with suppress(SeqtagError):
        bundle.models_of(from_bytes(head + data))


# ----------------------------------------------------------------- words and labels
@pytest.mark.parametrize("to", ["conllu", "tokens", "jsonl"])
@FEW
@given(batch=st.lists(st.lists(tokens, min_size=1), max_size=5))
def test_words_that_come_out_are_those_that_went_in(to, batch):
    data = "".join(" ".join(each) + "\n" for each in batch).encode()
    chain = taggers(1) if to != "tokens" else []
    out = b"".join(tag_text(chain, read(io.BytesIO(data), "tokens"), to))
    if to == "jsonl":
        found = [json.loads(line)["tokens"] for line in out.decode().split("\n")[:-1]]
    else:
        found = [each.words for each in read(io.BytesIO(out), to) if len(each)]
    assert found == batch


@pytest.mark.parametrize("number", ALL)
@FEW
@given(batch=batches)
def test_one_thread_gives_what_several_give(number, batch):
    for tagger in taggers(number):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(runtime, "_BATCH_TOKENS", 3)
            given = asked(tagger, batch)
            one = tagger.tag_many(given, 1)
            assert all(tagger.tag_many(given, n) == one for n in (2, 4))


@pytest.mark.parametrize("number", ALL)
@FEW
@given(batch=batches)
def test_a_batch_gives_what_single_sentences_give(number, batch):
    for tagger in taggers(number):
        given = asked(tagger, batch)
        assert tagger.tag_many(given) == [tagger.tag(each) for each in given]


@pytest.mark.skipif(NATIVE is None, reason="the native kernel was not built")
@pytest.mark.parametrize("number", ALL)
@FEW
@given(batch=batches)
def test_the_kernel_gives_what_the_reference_gives(number, batch):
    found = []
    for backend in (REFERENCE, NATIVE):
        with pytest.MonkeyPatch.context() as patch:
            install(backend, patch)
            here = []
            for tagger in taggers(number):
                judged = tagger.tag_many(asked(tagger, batch), scores=True)
                here.append([(each.labels, each.margins) for each in judged])
            found.append(here)
    assert found[0] == found[1]


# ----------------------------------------------------------------- raw text
@pytest.mark.parametrize("paragraphs", ["auto", "blank", "line"])
@FEW
@given(text=texts)
def test_raw_text_is_rebuilt_from_what_is_written(paragraphs, text):
    stream = read(io.BytesIO(text.encode()), "text")
    with suppress(CorpusError):
        pieces = good_pipeline().segmented(stream, paragraphs=paragraphs)
        out = b"".join(tag_text(good_pipeline().taggers, pieces))
        found = "".join(surface_of(each).text for each in read(io.BytesIO(out), "conllu"))
        assert found == text or not text.strip("\ufeff").strip()
