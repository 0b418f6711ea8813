"""What is learned from where: files, columns, labels, and what is refused before training."""

from __future__ import annotations

import logging

import pytest

from seqtag.corpus import read
from seqtag.errors import CorpusError, LabelError
from seqtag.training.train import train
from tests.strategies import corpus
from tests.training.small_corpus import CONLLU, TEMPLATES, TRAINING, column_file, model


def test_the_label_column_is_found(tmp_path):
    path = column_file(tmp_path, CONLLU, "a.conllu")
    assert train(path, epochs=1).label == "upos"
    assert train(corpus("a x 1", "form pos num"), templates=TEMPLATES, epochs=1).label == "num"


def test_several_files_are_one_corpus(tmp_path):
    paths = [column_file(tmp_path, text, name) for text, name in (("a X\n", "1"), ("b Y\n", "2"))]
    tagger = model(paths, format="columns", columns=["form", "tag"])
    assert tagger.tag(["b"]) == ["Y"]
    assert tagger.info["training"]["sentences"] == 2


@pytest.mark.parametrize("name", ["my tag", "tag\x1b[2J", "tag\xa0"])
def test_columns_with_names_that_no_model_can_hold(tmp_path, name):
    """They were learned, saved, and refused when the model was loaded."""
    path = column_file(tmp_path, "the x DT\ncat y NN\n")
    for names in (["form", "pos", name], ["form", name, "tag"]):
        with read(path, columns=names) as stream:
            sentences = list(stream)
        for data, how in ((path, {"columns": names}), (sentences, {})):
            with pytest.raises(CorpusError) as error:
                train(data, epochs=1, **how)
            assert str(error.value).endswith(
                "expected names of columns without white space and control characters, found "
                f"{name!r}; rename it"
            )


def test_sentences_without_words_are_passed_over():
    tagger = model([*TRAINING, *corpus("\n\n")], epochs=1)
    assert tagger.info["training"]["sentences"] == len(TRAINING)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "expected seed of 0 or more, found -1"),
        ({"runs": 0}, "expected runs of 1 or more, found 0"),
        ({"patience": 0}, "expected patience of 1 or more, found 0"),
        ({"seed": 2**32}, "expected a seed below 2**32, found 4294967296; choose a smaller one"),
    ],
)
def test_impossible_options(options, message):
    with pytest.raises(ValueError) as error:
        model(**options)
    assert str(error.value) == message


@pytest.mark.parametrize("nothing", [[], "empty file"])
def test_no_sentences(tmp_path, nothing):
    data = nothing or []
    if data:
        data = read(column_file(tmp_path, "\n\n"), "columns", columns=["form", "tag"])
    with pytest.raises(CorpusError, match="expected sentences to learn from, found none"):
        model(data)


@pytest.mark.parametrize("native", [True, False])
def test_labels_with_control_characters_are_refused(tmp_path, monkeypatch, native):
    if not native:
        monkeypatch.setattr("seqtag.engine.backend.Scanner", None)
    path = column_file(tmp_path, "a X\nb Y\n\nc X\n\x1b \x1b[2J\n")
    with (
        read(path, "columns", columns=["form", "tag"]) as stream,
        pytest.raises(LabelError) as error,
    ):
        model(stream)
    assert str(error.value) == (
        f"{path}:5: expected a label without control characters in the column tag, found "
        r"'\x1b[2J'; correct it, or choose another column with --label"
    )


def test_labels_with_control_characters_may_be_in_sentences_that_are_left_out(tmp_path):
    text = "a X\nb Y\n\nc _\nd \x7f\n\n"
    path = column_file(tmp_path, text)
    with read(path, "columns", columns=["form", "tag"]) as stream:
        assert model(stream, unlabeled="skip").labels == ("X", "Y")
    path.write_text(text + "e \x7f\n")
    with (
        read(path, "columns", columns=["form", "tag"]) as stream,
        pytest.raises(LabelError, match=r":7: expected a label without control characters"),
    ):
        model(stream, unlabeled="skip")


def test_no_sentence_is_annotated(tmp_path):
    path = column_file(tmp_path, "d _\n")
    with (
        read(path, "columns", columns=["form", "tag"]) as stream,
        pytest.raises(CorpusError, match=r"found none \(1 without labels were skipped\)"),
    ):
        model(stream, unlabeled="skip")


def test_a_label_column_that_looks_wrong(caplog):
    data = corpus("; ".join(f"w{n} {n}" for n in range(60)))
    with caplog.at_level(logging.WARNING, "seqtag"):
        model(data, epochs=1)
    found = "has 60 different labels in 60 tokens; check that it is the label column"
    assert f"the column tag {found}" in caplog.text


def test_an_encoding_for_labels_that_are_no_chunks_is_refused():
    with pytest.raises(LabelError, match="expected chunk labels such as B-NP to learn as iobes"):
        train(corpus("the DT, cat NN"), label="tag", encoding="iobes")


def test_a_column_without_labels_teaches_nothing():
    with pytest.raises(LabelError, match='labels in the column feats, found "_" for every'):
        train(corpus("a _ X, b _ X", "form feats pos"), label="feats")


def test_the_order_given_may_stay():
    """Without shuffling no seed matters, and sentences are visited as they come."""
    sentences = corpus("the DT, cat NN; a DT, dog NN; cat NN, runs VB; runs VB")

    def weights(data, **how):
        model = train(data, templates="pos", min_count=1, epochs=1, dropout=0, **how).model
        return model.weights.emission.weights.tobytes(), model.training.get("shuffle")

    as_given = weights(sentences, shuffle=False)
    assert as_given == weights(sentences, shuffle=False, seed=5)
    assert as_given != weights(sentences[::-1], shuffle=False)
    assert as_given[1] is False
    assert weights(sentences)[1] is None
