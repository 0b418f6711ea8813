"""Python's own shapes of data: one door for reading, training, tagging and scoring."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest

import seqtag
from seqtag.errors import CorpusError

pd = pytest.importorskip("pandas", reason="needs pandas: pip install -e '.[dev]'")
pl = pytest.importorskip("polars", reason="needs polars: pip install -e '.[dev]'")
pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install -e '.[dev]'")
spacy = pytest.importorskip("spacy", reason="needs spaCy: pip install -e '.[spacy]'")
datasets = pytest.importorskip("datasets", reason="needs datasets: pip install -e '.[dev]'")

WORDS = [["Mira", "Falk", "sings", "."], ["Norvale", "is", "far", "."]]
LABELS = [["B-PER", "I-PER", "O", "O"], ["B-LOC", "O", "O", "O"]]
PAIRS = [[*zip(*each, strict=True)] for each in zip(WORDS, LABELS, strict=True)]
COLUMNS = {"id": [1, float("nan")], "tokens": WORDS, "ner_tags": LABELS}
ROWS = [{"tokens": words, "ner_tags": labels} for words, labels in zip(WORDS, LABELS, strict=True)]
FRAME = pd.DataFrame(
    [
        {"Sentence #": f"Sentence: {n}" if place == 0 else None, "Word": word, "Tag": label}
        for n, sentence in enumerate(PAIRS, 1)
        for place, (word, label) in enumerate(sentence)
    ]
)
FILE = "\n\n".join("\n".join(map("\t".join, sentence)) for sentence in PAIRS) + "\n"
DOCS = [
    spacy.tokens.Doc(
        spacy.blank("en").vocab, words, ents=labels, sent_starts=[True, False, False, False]
    )
    for words, labels in zip(WORDS, LABELS, strict=True)
]

SHAPES = {
    "dictionary of columns": COLUMNS,
    "dictionaries": ROWS,
    "pandas": pd.DataFrame(COLUMNS),
    "pandas, arrays": pd.DataFrame({"words": WORDS, "ner": [*map(np.array, LABELS)]}),
    "pandas, a word a row": FRAME,
    "dictionaries, a word a row": FRAME.to_dict("records"),
    "polars": pl.DataFrame(ROWS),
    "polars, a word a row": pl.DataFrame(FRAME),
    "Arrow": pa.table(COLUMNS),
    "datasets": datasets.Dataset.from_list(ROWS),
}
FILES = {"text": io.StringIO, "bytes": lambda text: io.BytesIO(text.encode())}
OTHERS = {"NLTK": PAIRS, "lists of lists": [[*map(list, each)] for each in PAIRS], "spaCy": DOCS}


def read(data) -> list[tuple[list[str], list[str]]]:
    """Return words and labels of the sentences of data."""
    with seqtag.read(data) as stream:
        return [(sentence.words, sentence.column(sentence.columns[-1])) for sentence in stream]


@pytest.mark.parametrize("data", [*SHAPES.values(), *OTHERS.values()], ids=[*SHAPES, *OTHERS])
def test_any_shape_is_read_and_learned_from(data):
    assert read(data) == [*zip(WORDS, LABELS, strict=True)]
    tagger = seqtag.train(data, dev=data, epochs=2, min_count=1)
    assert (tagger.tag_many(WORDS), tagger.columns) == (LABELS, ("form",))


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_open_files_are_read_and_learned_from(file):
    for data in (file(FILE), [file(FILE)], FILE.encode()):
        assert seqtag.train(data, epochs=1).label == "ner"
    tagger = seqtag.train(file(FILE), epochs=2, min_count=1)
    assert tagger.tag_many(file(FILE)) == LABELS
    assert seqtag.score(tagger, file(FILE)).tokens == 8


TABLES = {name: data for name, data in SHAPES.items() if name != "dictionaries, a word a row"}


@pytest.mark.parametrize("data", TABLES.values(), ids=TABLES)
def test_any_table_is_tagged_and_scored(data):
    [label] = {*seqtag.read(data).columns} & {"ner_tags", "ner", "Tag"}
    tagger = seqtag.train(WORDS, LABELS, label=label, epochs=2, min_count=1)
    assert tagger.tag_many(data) == LABELS
    assert seqtag.score(tagger, data).accuracy == 1
    assert [[w.text for w in each] for each in seqtag.load("en").tag_many(data)] == WORDS


def test_a_sentence_may_have_any_shape():
    tagger = seqtag.train(WORDS, LABELS, label="ner", epochs=2, min_count=1)
    words = WORDS[0]
    for data in (
        (word for word in words),
        np.array(words),
        pd.Series(words),
        {"tokens": words},
        pd.DataFrame({"Word": words}),
        pa.table({"token": words}),
        DOCS[0],
    ):
        assert tagger.tag(data) == LABELS[0]
    assert tagger.tag_many((word for word in each) for each in WORDS) == LABELS
    assert tagger.tag_many(pa.table(COLUMNS)["tokens"]) == LABELS


def test_token_lists_of_conllu_are_read_and_learned_from():
    lists = seqtag.load("en")("It works. It does.").to_token_lists()
    for data in (lists, iter(lists)):
        assert seqtag.train(data, label="upos", epochs=1).labels == ("AUX", "PRON", "PUNCT", "VERB")


def test_labels_of_pairs_are_called_as_one_likes():
    assert seqtag.train(PAIRS, label="ner", epochs=1).label == "ner"
    triples = [[(word, "X", label) for word, label in each] for each in PAIRS]
    named = seqtag.train(triples, columns=["form", "pos", "chunk"], epochs=1)
    assert (named.label, named.columns) == ("chunk", ("form", "pos"))


NAMES = ["O", "B-PER", "I-PER", "B-LOC"]
NUMBERS = [[NAMES.index(label) for label in labels] for labels in LABELS]


@pytest.mark.parametrize("make", [list, lambda rows: [*map(np.array, rows)]])
def test_labels_that_are_numbers_have_names(make):
    columns = {"tokens": WORDS, "label": make(NUMBERS)}
    for how in ({"names": NAMES}, {"names": {"label": NAMES}}):
        for data in ((columns,), (WORDS, make(NUMBERS))):
            tagger = seqtag.train(*data, epochs=2, min_count=1, **how)
            assert tagger.tag_many(WORDS) == LABELS
    for data in ((columns,), (WORDS, make(NUMBERS))):
        with pytest.raises(CorpusError, match=r"name (the numbers|labels that are numbers) with"):
            seqtag.train(*data)


def test_documents_of_spacy_have_tags_too():
    docs = [*spacy.blank("en").pipe(["Time flies. It does."])]
    words, feats = ["Time", "flies", ".", "It", "does", "."], [""] * 6
    docs[0] = spacy.tokens.Doc(
        docs[0].vocab, words, pos=["NOUN", "VERB", "PUNCT"] * 2, tags=feats, lemmas=words
    )
    [sentence] = seqtag.read(docs)
    assert sentence.columns == ("form", "lemma", "upos")
    assert sentence.column("upos") == ["NOUN", "VERB", "PUNCT"] * 2


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (None, TypeError, "expected files, seqtag.corpus.Sentence objects, a table with a column"),
        (3, TypeError, "found 3; give lists of words and lists of labels, as in seqtag.train(sen"),
        ([None], TypeError, "or lists of pairs (word, label), found [None]; give"),
        ({"a": WORDS, "b": LABELS}, TypeError, "found the columns a, b; give lists of words and"),
        ({"text": ["It works.", "Why not?"]}, TypeError, "found the text 'It works.'; give a list"),
        ([*zip(WORDS, LABELS, strict=True)], TypeError, "give lists of words and lists of labels"),
        ([(["It", "rains"], ["A", "B"])] * 2, TypeError, "give lists of words and lists of labels"),
        (
            {"tokens": WORDS, "ner": LABELS[:1]},
            CorpusError,
            "expected as many rows in each column, found 2 of tokens, 1 of ner; give a value",
        ),
        (
            FRAME.replace("far", None),
            CorpusError,
            "<data>:7: expected a value in the column 'form'",
        ),
    ],
)
def test_what_has_no_words_is_refused(data, error, message):
    for work in (seqtag.train, read):
        with pytest.raises(error, match=re.escape(message)):
            work(data)


@pytest.mark.parametrize("data", [None, io.StringIO("a"), COLUMNS, pd.DataFrame(COLUMNS)])
def test_labels_are_for_lists_of_words(data):
    with pytest.raises(TypeError, match="expected lists of words for the labels, found"):
        seqtag.train(data, LABELS)


def test_tables_are_no_lists_of_texts():
    with pytest.raises(TypeError, match="found a table; give its column of texts"):
        seqtag.load("en").pipe(pd.DataFrame({"text": ["It works."]}))


def test_tables_are_sniffed_and_what_is_none_is_refused():
    for data in (pd.DataFrame(COLUMNS), ROWS, {"tokens": WORDS, "ner_tags": LABELS}):
        assert seqtag.sniff(data).columns[-1] == "ner_tags"
    for wrong in (None, 3, [None]):
        with pytest.raises(TypeError, match="expected files, seqtag"):
            seqtag.sniff(wrong)
    with pytest.raises(TypeError, match="expected a path or an open file, found None"):
        seqtag.read_table(None)


def test_one_path_is_tagged_and_no_open_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("It works.\n")
    for number, files in enumerate((path, str(path), [path])):
        assert seqtag.tag_files(files, tmp_path / str(number), "en").tagged == 1
    with path.open() as file, pytest.raises(TypeError, match="PathLike"):
        seqtag.tag_files(file, tmp_path / "out", "en")


def test_a_model_has_no_labels_to_compare():
    tagger = seqtag.load("en").tagger("upos")
    with pytest.raises(TypeError, match=r"expected lists of labels, found <seqtag\.Tagger"):
        seqtag.evaluate(tagger, "dev.conllu")
