"""Models that do not fit themselves are refused, in a sentence; whatever else loads works."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.errors import ModelFileError
from seqtag.features.language import parse
from seqtag.model.container import Contents, pack_strings
from seqtag.model.model import Model
from seqtag.tagging.tagger import Tagger
from seqtag.training.train import train
from tests.fuzzing.targets import TARGETS
from tests.strategies import corpus, each_backend, install
from tests.tagging.test_tagger import trained


@pytest.fixture(scope="module")
def word_tagger() -> Tagger:
    return trained()


@pytest.fixture(scope="module")
def lemmatiser() -> Tagger:
    data = corpus("Dogs dog, cats cat, is be", "form lemma")
    return train(data, label="lemma", templates=parse("form[0]\nsuffix(1)[0]"), epochs=4)


def damaged(good: Tagger, name: str, change) -> Tagger:
    """The tagger with one tensor or configuration entry changed, or without it."""
    config, tensors = dict(good.info), dict(good.model.tensors())
    part = tensors if name in tensors else config
    if change is None:
        del part[name]
    else:
        part[name] = change(part[name])
    return Tagger(Model.of(Contents(config, tensors), "a.seqtag"), "a.seqtag")


def of_type(dtype):
    return lambda array: array.astype(dtype)


def bump(array):
    return np.concatenate([array[:-1], array[-1:] + np.ones(1, array.dtype)])


COMPLETE = "expected a complete seqtag model, found a damaged one"


@each_backend
@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("start", None, "expected the tensors "),
        ("start", of_type("i8"), "expected tensor 'start' to be int32 with 1 dimensions, found"),
        ("emission.weights", of_type("i2"), "expected tensor 'emission.weights' to be int8"),
        ("transition.weights", lambda a: a[None], "expected tensor 'transition.weights' to be"),
        ("labels.blob", lambda a: a[:-1], "expected string offsets from 0 to "),
        ("labels.blob", lambda a: a | 0x80, "expected strings in UTF-8"),
        ("labels.offsets", lambda a: a[:0], "expected string offsets from 0 to "),
        ("labels.offsets", lambda a: a[[0, 2, 1, 3, 4, 5]], "expected string offsets that do not"),
        ("labels.offsets", lambda a: a[[0, 2, 3, 4, 5]], f"{COMPLETE} ("),
        ("emission.cells", bump, f"{COMPLETE} (row_ptr must ascend from 0 to the number of cells)"),
        ("emission.cells", lambda a: a[1:], f"{COMPLETE} (row_ptr must ascend"),
        ("edge.cells", bump, f"{COMPLETE} (row_ptr must ascend"),
        ("emission.weights", lambda a: a[1:], f"{COMPLETE} (cell labels and weights differ in"),
        ("edge.weights", lambda a: a[1:], f"{COMPLETE} (cell labels and weights differ in length)"),
        ("emission.labels", lambda a: a + np.uint16(5), f"{COMPLETE} (a cell's label is out of"),
        ("edge.labels", lambda a: a + np.uint16(25), f"{COMPLETE} (a cell's label is out of"),
        ("emission.keys", lambda a: a[::-1], f"{COMPLETE} (keys must ascend)"),
        ("edge.keys", lambda a: a[::-1], f"{COMPLETE} (keys must ascend)"),
        ("emission.keys", lambda a: a * np.uint64(0), f"{COMPLETE} (keys must ascend)"),
        ("start", lambda a: a[1:], f"{COMPLETE} (start, stop and transition must be of the 5"),
        ("start", lambda a: a * 0 + 2**24 + 1, f"{COMPLETE} (start must be integers up to "),
        ("stop", lambda a: a * 0 - 2**30, f"{COMPLETE} (stop must be integers up to 16,777,216"),
        ("transition.weights", lambda a: a * 0 + 2**30, f"{COMPLETE} (transition.weights must be"),
        ("start", lambda a: np.append(a, a[:1]), f"{COMPLETE} (start, stop and transition must "),
        ("stop", lambda a: a[:0], f"{COMPLETE} (start, stop and transition must be "),
        ("transition.cells", lambda a: a - 25, f"{COMPLETE} (a transition is out of range"),
        ("transition.cells", lambda a: a[1:], f"{COMPLETE} ("),
        ("transition.cells", lambda a: a + 25, f"{COMPLETE} ("),
        ("trigram.cells", lambda a: np.ones(1, np.uint16), f"{COMPLETE} (row_ptr must ascend"),
        ("parts.counts", lambda a: np.ones(5, np.uint16), f"{COMPLETE} (part_ptr must ascend"),
        ("tag_dictionary.cells", lambda a: np.ones(1, np.uint16), f"{COMPLETE} (row_ptr must"),
        (
            "tag_dictionary.keys",
            lambda a: np.ones(1, np.uint64),
            "the model is inconsistent: expected a template with the attribute normal, ",
        ),
        ("templates", None, f"{COMPLETE} ('templates')"),
        ("templates", lambda _: "form[0", "the model is inconsistent: "),
        ("templates", lambda _: "lemma[0]", "expected the attribute 'lemma', with which "),
        ("columns", None, f"{COMPLETE} ('columns')"),
        ("columns", lambda _: [], "the model is inconsistent: "),
        ("label", None, f"{COMPLETE} ('label')"),
        ("scheme", None, f"{COMPLETE} ('scheme')"),
        ("encoding", None, f"{COMPLETE} ('encoding')"),
        ("constrain", None, f"{COMPLETE} ('constrain')"),
    ],
)
def test_a_model_that_does_not_fit_itself_is_refused(
    backend, monkeypatch, word_tagger, name, change, message
):
    install(backend, monkeypatch)
    with pytest.raises(ModelFileError) as error:
        damaged(word_tagger, name, change)
    assert str(error.value).startswith(f"a.seqtag: {message}")


def test_weights_of_more_labels_than_there_are_labels_are_refused():
    """Also where no table of label bigrams has to fit them."""
    plain = trained(templates="form[0]")
    with pytest.raises(ModelFileError, match="must be of the 5 labels"):
        damaged(plain, "start", lambda a: np.append(a, a))


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("x" * 70_000, "expected a script such as"),
        ("a\x1b[2J\nb", "expected labels without control characters"),
    ],
)
def test_what_a_model_says_wrong_is_shown_short_and_on_one_line(lemmatiser, label, message):
    tensors = dict(lemmatiser.model.tensors())
    tensors["labels.blob"], tensors["labels.offsets"] = pack_strings(
        [label, *lemmatiser.model.labels[1:]]
    )
    with pytest.raises(ModelFileError, match=message) as error:
        Model.of(Contents(lemmatiser.info, tensors), "a.seqtag")
    assert len(str(error.value)) < 1200
    assert str(error.value).isprintable()


@pytest.mark.parametrize("target", ["models", "model-bytes"])
@given(data=st.binary(max_size=80))
def test_any_model_with_a_right_checksum_is_refused_or_works(target, data):
    """On both backends alike: see `tests.fuzzing.model_targets`."""
    TARGETS[target](data)
