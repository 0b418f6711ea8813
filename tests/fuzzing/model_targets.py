"""Properties of any model file: it is refused with a message, or it works."""

from __future__ import annotations

import importlib.util
import io
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from seqtag.corpus.read import ReadOptions
from seqtag.errors import ModelFileError, SeqtagError
from seqtag.model import bundle, container
from seqtag.tagging.pipeline import TOKENS, WORDS, Pipeline
from seqtag.tagging.streams import tag_stream
from seqtag.tagging.tagger import Tagger
from tests.fuzzing.choices import Choices
from tests.fuzzing.good_models import good_files
from tests.fuzzing.mutated_models import mutated, signed_again
from tests.strategies import NATIVE, REFERENCE, install

if TYPE_CHECKING:
    from seqtag.model.model import Model

SENTENCES = (["the", "man", "runs"], ["Im", "haus", "", "unseen", "\ud800"], [], ["."])
_ROWS = b"the,b_per\nman,i_per\nruns,o\n\nBob,b_per\nsat,o\n\n"
TEXT = "Ich bin im Haus. Wer?\n\n \tU.S.A. don't\u00a0e\u0301\U0001f600 IM\n"
_LISTED_LABELS = 40  # of more, the reference searches slowly for the best sequences
BACKENDS = [REFERENCE] + [NATIVE] * (importlib.util.find_spec("seqtag.engine._kernel") is not None)


def models(data: bytes) -> str:
    """A good model changed as the bytes decide."""
    choices = Choices(data)
    return check_model(mutated(choices, choices.pick(good_files())))


def model_bytes(data: bytes) -> str:
    """Any bytes, signed."""
    return check_model(signed_again(data))


def check_model(data: bytes) -> str:
    """What a file is: ``accepted``, or why it is refused; an error that is none of ours is raised.

    All backends must say the same.
    """
    said = []
    for backend in BACKENDS:
        with pytest.MonkeyPatch.context() as patch:
            install(backend, patch)
            said.append(_answers(data))
    assert all(answer == said[0] for answer in said), f"backends differ: {said}"
    return "accepted" if not isinstance(said[0], str) else said[0]


def _answers(data: bytes) -> Any:
    """All that a model says of some sentences; the message if it is refused."""
    try:
        read = bundle.models_of(container.from_bytes(data, source="m.seqtag"), "m.seqtag")
        loaded = _loaded(read)
    except ModelFileError as error:
        return _checked(str(error))
    assert bundle.to_bytes(read) == bundle.to_bytes(bundle.models_of(_again(read)))
    taggers = loaded.taggers if isinstance(loaded, Pipeline) else [loaded]
    answers: list[Any] = [_tagged(tagger) for tagger in taggers]
    if isinstance(loaded, Pipeline) and loaded.segmenter is not None:
        answers.append(_cut(loaded))
    return answers


def _checked(message: str) -> str:
    """A message of one line that names the file."""
    assert message.startswith("m.seqtag: "), message
    assert message.isprintable(), message
    assert "internal" not in message
    assert len(message) < 2000, message
    return message


def _again(models: tuple[Model, ...]) -> container.Contents:
    return container.from_bytes(bundle.to_bytes(models))


def _loaded(models: tuple[Model, ...]) -> Tagger | Pipeline:
    """What `seqtag.load` makes of the models of a file."""
    if len(models) == 1 and models[0].column.name not in (TOKENS, WORDS):
        return Tagger(models[0], "m.seqtag")
    return Pipeline(models, "m.seqtag")


def _tagged(tagger: Tagger) -> Any:
    """Labels, margins and the best sequences of some sentences."""
    sentences = [
        {name: words for name in tagger.columns} if tagger.columns else words for words in SENTENCES
    ]
    labels = [tagger.tag(sentence) for sentence in sentences]
    assert [*map(len, labels)] == [*map(len, SENTENCES)]
    assert tagger.tag_many(sentences, threads=2) == labels
    if not tagger.model.coding.needs_forms:
        assert {label for found in labels for label in found} <= {*tagger.labels}
    judged = tagger.tag_many(sentences, scores=True)
    assert [each.labels for each in judged] == labels
    few = len(tagger.model.labels) <= _LISTED_LABELS
    best = tagger.nbest_of(sentences, 3) if few else [[(0.0, found)] for found in labels]
    assert [paths[0][1] for paths in best] == labels
    if tagger.is_calibrated:
        assert all(0 <= p <= 1 for each in judged for p in each.probabilities)
    opened = ReadOptions().after([tagger.info["training"]]).open(io.BytesIO(_ROWS))
    with suppress(SeqtagError):  # columns of other names
        tagged = "".join(each.text() for each in tag_stream([tagger], opened))
        assert tagged.count("\n") == _ROWS.count(b"\n")
    why = tagger.explain(sentences[0], 1)
    repr(tagger)
    return labels, [each.margins for each in judged], best, why.margin


def _cut(pipeline: Pipeline) -> str:
    """A text as CoNLL-U; the message if a label cannot be written."""
    try:
        document = pipeline(TEXT, paragraphs="blank")
        text = "".join(str(each) for each in document)
    except SeqtagError as error:
        assert not isinstance(error, ModelFileError), error
        return str(error)
    for token in document.tokens:
        assert TEXT[token.start : token.end] == token.text
    return text
