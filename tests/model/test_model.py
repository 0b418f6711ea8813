"""What a model file may say: nothing but what a model can be made of."""

import re

import pytest

import seqtag
from seqtag.errors import ModelFileError
from seqtag.model import container
from tests.command_line import chunks


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Configuration and arrays of a small model."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "train.txt").write_text(chunks())
    seqtag.train(folder / "train.txt", epochs=1, min_count=1).save(folder / "m.seqtag")
    return container.load(folder / "m.seqtag")[:2]


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("label", None, "expected a model whose label is a name, found None"),
        ("label", {"a": 1}, "expected a model whose label is a name, found {'a': 1}"),
        ("scheme", {}, "expected a model whose scheme is a name or null, found {}"),
        ("encoding", -1, "expected a model whose encoding is a name or null, found -1"),
        ("constrain", None, "expected a model whose constrain is true or false, found None"),
        ("columns", "form", "whose columns is a list of different names, found 'form'"),
        ("columns", ["form"] * 2, "is a list of different names, found ['form', 'form']"),
        ("columns", ["form", 1], "is a list of different names, found ['form', 1]"),
        ("templates", [], "expected a model whose templates is a text, found []"),
        ("training", 1.5, "expected a model whose training is an object, found 1.5"),
        ("training", [None], "expected a model whose training is an object, found [None]"),
    ],
)
def test_entries_of_other_kinds_are_refused(parts, tmp_path, name, value, found):
    config, tensors = parts
    container.save(tmp_path / "m.seqtag", {**config, name: value}, tensors)
    with pytest.raises(ModelFileError, match=re.escape(found)) as caught:
        seqtag.load(tmp_path / "m.seqtag")
    assert str(caught.value).endswith("; get the file again or retrain")
    assert len(str(caught.value).replace(str(tmp_path), "")) < 150
