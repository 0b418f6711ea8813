"""Corpora of NLTK by name, on made-up corpora in a folder of NLTK's."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
import warnings

import pytest
from nltk.corpus import brown

import seqtag
from seqtag.corpus import read
from seqtag.errors import CorpusError
from tests.command_line import call, chunks  # noqa: F401
from tests.nltk_data import nltk_corpora

FILES = {
    "conll2000/train.txt": chunks(),
    "conll2000/test.txt": "dog NN B-NP\nbarks VBZ B-VP\n\n",
    "conll2002/ned.train": "Anna N B-PER\nslaapt V O\n\n",
    "brown/ca01": "The/at dog/nn barks/vbz ./.\n\n\nDogs/nns bark/vb\n",
    "brown/ca02": "Cats/nns sleep\n",
    "brown/cats.txt": "ca01 news\nca02 news\n",
    "treebank/tagged/wsj_0001.pos": "[ The/DT dog/NN ]\nbarks/VBZ ./.\n\n",
    "gutenberg/a.txt": "No labels.\n",
}


@pytest.fixture
def folder(tmp_path):
    """A folder of NLTK's with made-up corpora."""
    with nltk_corpora(tmp_path, FILES) as corpora:
        yield corpora


def values(name, **options):
    """The columns of a corpus, and the values of each sentence in each."""
    stream = read(name, **options)
    return stream.columns, [
        [sentence.column(column) for column in stream.columns] for sentence in stream
    ]


def message(name, **options):
    with pytest.raises(CorpusError) as error:
        list(read(name, **options))
    return str(error.value)


def test_without_a_file_it_is_that_for_training(folder, caplog):
    caplog.set_level("INFO", "seqtag")
    _, sentences = values("nltk:conll2000")
    assert len(sentences) == 8
    assert caplog.messages == ["nltk:conll2000: read train.txt of 2 files"]


def test_chunk_trees(folder):
    columns, sentences = values("nltk:treebank_chunk")
    assert columns == ("form", "pos", "chunk")
    assert sentences == [
        [["The", "dog", "barks", "."], ["DT", "NN", "VBZ", "."], ["B-NP", "I-NP", "O", "O"]]
    ]


def test_tags_and_words_without(folder):
    columns, sentences = values("nltk:brown")
    assert columns == ("form", "pos")
    assert sentences == [
        [["The", "dog", "barks", "."], ["AT", "NN", "VBZ", "."]],
        [["Dogs", "bark"], ["NNS", "VB"]],
        [["Cats", "sleep"], ["NNS", "_"]],
    ]
    assert values("nltk:brown/ca01")[1] == sentences[:2]


def test_columns_may_have_other_names(folder):
    columns, _ = values("nltk:conll2002", columns=("form", "pos", "ner"))
    assert columns == ("form", "pos", "ner")
    assert message("nltk:conll2002", columns=("form", "ner")) == (
        "nltk:conll2002: expected names for the 3 columns form, pos, chunk, found form, ner; name "
        "each"
    )


def test_training_equals_training_on_the_file(folder, tmp_path, call):  # noqa: F811
    done = call("train", "nltk:conll2000", "-o", tmp_path / "a.seqtag", "--epochs", 3, "-q")
    assert (done.code, done.err) == (0, "")
    file = folder / "conll2000" / "train.txt"
    columns = ("form", "pos", "chunk")
    seqtag.train(file, columns=columns, format="columns", epochs=3).save(tmp_path / "b.seqtag")
    assert (tmp_path / "a.seqtag").read_bytes() == (tmp_path / "b.seqtag").read_bytes()
    done = call("eval", "-m", tmp_path / "a.seqtag", "nltk:conll2000/test.txt", "--json")
    assert b'"tokens": 2' in done.out
    model, name = tmp_path / "a.seqtag", "nltk:conll2000/test.txt"
    for command in (
        ("report", "-m", model, "-o", tmp_path / "r.html", "--resamples", 1, name),
        ("compare", name, model, name, "--resamples", 1),
        ("explain", "-m", model, "--input", name),
    ):
        done = call(*command)
        assert done.code == 0, done.err


def test_data_that_are_not_there(folder, call):  # noqa: F811
    text = (
        "nltk:conll2007: expected the data of the corpus in a folder of NLTK, found none; "
        "download them with python -m nltk.downloader conll2007"
    )
    assert message("nltk:conll2007") == text
    done = call("train", "nltk:conll2007", "-o", folder / "a.seqtag")
    assert (done.code, done.err) == (1, f"seqtag: {text}\n")
    # the package that NLTK names, which is not always called as the corpus
    assert message("nltk:framenet").endswith("python -m nltk.downloader framenet_v17")


def test_a_corpus_that_nltk_does_not_know():
    assert message("nltk:conl2000") == (
        "nltk:conl2000: expected the name of a corpus in nltk.corpus, found 'conl2000' (did you "
        "mean 'conll2000'?)"
    )
    assert "found 'reader'" in message("nltk:reader")


def test_it_is_read_where_nothing_of_nltk_was_imported_before(folder):
    code = (
        "import nltk, seqtag; nltk.data.path[:] = [%r]; "
        "print(len(list(seqtag.read('nltk:conll2000/train'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code % str(folder.parent)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("8\n", "")


def test_a_corpus_without_labels(folder):
    assert message("nltk:gutenberg") == (
        "nltk:gutenberg: expected a corpus that is tagged or chunked, found a "
        "PlaintextCorpusReader; choose one that has tagged_sents() or chunked_sents()"
    )


def test_files_in_another_encoding(folder):
    (folder / "conll2000" / "test.txt").write_text("d\u00f6g NN B-NP\n", "utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # NLTK leaves the file open
        text = message("nltk:conll2000/test.txt")
        gc.collect()
    assert text.startswith("nltk:conll2000/test.txt: expected files in the encoding that NLTK ")
    assert text.endswith("ordinal not in range(128)); download the corpus again")


@pytest.mark.parametrize("word", ["", "a\tb", "a\nb"])
def test_words_that_no_column_can_hold(folder, word):
    brown.fileids()
    brown.tagged_sents = lambda files: [[("a", "X")], [(word, "X")]]  # until it is unloaded
    assert re.search(
        rf"^nltk:brown: expected words .*, found {re.escape(repr(word))} in sentence 2; read ",
        message("nltk:brown"),
    )
