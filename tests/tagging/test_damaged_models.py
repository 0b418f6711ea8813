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
from tests.strategies import changed, corpus, each_backend, install
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


COMPLETE = "expected a complete seqtag model, found a damaged one"


@each_backend
def test_tensors_that_do_not_fit_together_are_refused(backend, monkeypatch, word_tagger):
    install(backend, monkeypatch)
    for name, array in word_tagger.model.tensors().items():
        refused = 0
        for other in (None, array.astype("c8"), array[None], *changed(array)):
            try:
                damaged(word_tagger, name, other if other is None else lambda _, other=other: other)
            except ModelFileError as error:
                refused += 1
                assert str(error).startswith("a.seqtag: ")
        assert refused >= 3, name


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        *(
            (name, None, f"{COMPLETE} ({name!r})")
            for name in ("templates", "columns", "label", "scheme", "encoding", "constrain")
        ),
        ("start", lambda a: a * 0 + 2**24 + 1, f"{COMPLETE} (start must be integers up to "),
        ("transition.cells", lambda a: a + 25, f"{COMPLETE} ("),
        ("edge.keys", lambda a: a[::-1], f"{COMPLETE} (keys must ascend)"),
        (
            "tag_dictionary.keys",
            lambda a: np.ones(1, np.uint64),
            "the model is inconsistent: expected a template with the attribute normal, ",
        ),
        ("templates", lambda _: "form[0", "the model is inconsistent: "),
        ("templates", lambda _: "lemma[0]", "expected the attribute 'lemma', with which "),
        ("columns", lambda _: [], "the model is inconsistent: "),
    ],
)
def test_a_model_that_does_not_fit_itself_is_refused(word_tagger, name, change, message):
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
