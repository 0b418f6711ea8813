"""seqtag.model.bundle: one or several models in a file."""

from __future__ import annotations

from dataclasses import replace

import pytest

import seqtag
from seqtag.errors import ModelFileError
from seqtag.labels.column import LabelColumn
from seqtag.model import bundle
from seqtag.model.container import Contents
from tests.command_line import chunks


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two small models of different columns."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "train.txt").write_text(chunks())
    model = seqtag.train(folder / "train.txt", epochs=1, min_count=1).model
    return [model, replace(model, column=LabelColumn("pos"))]


def same(one, other) -> bool:
    tensors = one.tensors(), other.tensors()
    return one.config() == other.config() and all(
        (tensor == tensors[1][name]).all() for name, tensor in tensors[0].items()
    )


def test_what_is_saved_is_loaded_in_its_order(two, tmp_path):
    size = bundle.save(tmp_path / "two.seqtag", two)
    assert size == (tmp_path / "two.seqtag").stat().st_size
    found = bundle.load(tmp_path / "two.seqtag", "two.seqtag")
    assert [model.column.name for model in found] == ["chunk", "pos"]
    assert all(map(same, found, two))
    assert bundle.to_bytes(two) == (tmp_path / "two.seqtag").read_bytes()


def refused(config: object, tensors: dict | None = None) -> str:
    with pytest.raises(ModelFileError) as caught:
        bundle.models_of(Contents(config, tensors or {}), "m.seqtag")
    return str(caught.value)


def test_a_file_without_parts_is_refused():
    expected = "m.seqtag: expected a list of the models in the file, found "
    assert refused({}).startswith(expected + "None; get the file again")
    assert refused({"parts": {"a": 1}}).startswith(expected)
    assert refused({"parts": [1]}).startswith(expected)
    assert refused({"parts": []}) == ("m.seqtag: expected from 1 to 100 models in a file, found 0")


@pytest.mark.parametrize("name", ["start", "p1.start", "p00.start", "p.start", "p0."])
def test_arrays_of_no_part_are_refused(two, name):
    tensors = {f"p0.{key}": tensor for key, tensor in two[0].tensors().items()}
    tensors[name] = tensors["p0.start"]
    expected = f"expected arrays of the 1 models in the file, found {name!r}; get the file again"
    assert expected in refused({"parts": [two[0].config()]}, tensors)


def test_two_models_of_one_column_are_refused(two):
    with pytest.raises(ModelFileError) as caught:
        bundle.to_bytes([two[0], two[0]])
    assert str(caught.value) == (
        "expected models of different columns in a file, found 2 for 'chunk'; leave one out, or "
        "join their chunks in seqtag tag with -m for each"
    )
