"""seqtag.model.bundle: one or several models in a file, and each format of files has a reader."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import seqtag
from seqtag.errors import ModelFileError
from seqtag.labels.column import LabelColumn
from seqtag.model import bundle, container
from seqtag.model.container import FORMAT_VERSION, Contents
from seqtag.tagging.tagger import Tagger
from tests.command_line import chunks

FILES = Path(__file__).with_name("files")
OLD_WORDS = ["the man walks", "a cat saw Dogs and men"]
OLD_LABELS = {  # of OLD_WORDS, and the scores of the best labels of another sentence
    2: {
        "tag": ["DET NOUN VERB", "DET NOUN VERB NOUN DET NOUN", 740, 422, 300],
        "chunk": ["B-NP I-NP B-VP", "B-NP I-NP B-VP B-NP I-NP B-VP", 585, 344, 273],
    },
    3: {"tag": ["DET NOUN VERB", "DET NOUN VERB NOUN VERB NOUN", 452, 368, 355]},
}


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


def test_files_of_format_1_are_single_models(two, tmp_path):
    """As 0.1.0 wrote them: one configuration, which says nothing of forms."""
    for model in two:
        config = {key: value for key, value in model.config().items() if key != "forms"}
        old = container.to_bytes(config, model.tensors(), format=1)
        (tmp_path / "old.seqtag").write_bytes(old)
        assert container.load(tmp_path / "old.seqtag").format == 1
        [found] = bundle.load(tmp_path / "old.seqtag", "m")
        assert found.column == model.column
        assert found.compiled.forms != "normal"  # words as they are written


@pytest.mark.parametrize("number", [2, 3])
def test_files_that_0_2_0_wrote_tag_as_they_did(number, tmp_path):
    """Format 2: two models, one of second order with a tag dictionary; 3: a table, two passes."""
    path = FILES / f"format-{number}.seqtag"
    assert container.load(path).format == number
    models = bundle.load(path, "m")
    bundle.save(tmp_path / "new.seqtag", models)
    assert container.load(tmp_path / "new.seqtag").format == FORMAT_VERSION
    for each in (models, bundle.load(tmp_path / "new.seqtag", "m")):
        found = {}
        for tagger in map(Tagger, each):
            tagged = [" ".join(tagger.tag(words.split())) for words in OLD_WORDS]
            scores = [score for score, _ in tagger.nbest(["a", "cat", "walks"], 3)]
            found[tagger.label] = [*tagged, *scores]
        assert found == OLD_LABELS[number]


def test_keys_of_old_models_keep_their_64_bits():
    [old] = bundle.load(FILES / "format-3.seqtag", "m")
    new = seqtag.train([["a", "dog"]], [["DET", "NOUN"]], label="tag", epochs=1).model
    assert (old.compiled.key_bits, new.compiled.key_bits) == (64, 48)
    assert new.config()["key_bits"] == 48
    assert new.weights.emission.keys.max() < 2**48 < old.weights.emission.keys.max()


def test_old_models_are_trained_further_with_keys_of_64_bits():
    old = next(iter(bundle.load(FILES / "format-2.seqtag", "m")))
    words, tags = [["the", "zebra", "walks"]], [["DET", "NOUN", "VERB"]]
    again = seqtag.train(words, tags, label="tag", init=Tagger(old), epochs=2).model
    assert again.compiled.key_bits == 64
    assert {*old.weights.emission.keys.tolist()} & {*again.weights.emission.keys.tolist()}
    assert again.weights.emission.keys.max() > 2**48


def test_a_later_format_that_can_be_read_is_read_as_the_latest_that_is_known(two):
    data = bundle.to_bytes(two)
    contents = container.from_bytes(data)._replace(format=7)
    assert len(bundle.models_of(contents)) == 2


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
        "expected models of different columns in a file, found 2 for 'chunk'; leave one out"
    )


def test_too_many_models_are_refused(two):
    with pytest.raises(ModelFileError, match="from 1 to 100 models in a file, found 101"):
        bundle.to_bytes([two[0]] * 101)
