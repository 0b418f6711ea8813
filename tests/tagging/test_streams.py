"""Taggers in a row over streams of sentences."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import io
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqtag
from seqtag.corpus import read
from seqtag.errors import CorpusError
from seqtag.tagging.streams import FilledSentence, TagOptions, find_column, tag_stream
from seqtag.tagging.tagger import Tagger
from tests.command_line import SENTENCES, chunks, conllu, home


def tagged_of(text: str, format: str = "auto", **filled: list[str]) -> FilledSentence:
    """The first sentence of a text with columns filled."""
    tagged = FilledSentence(next(iter(read(io.BytesIO(text.encode()), format))))
    tagged.filled.update(filled)
    return tagged


def test_columns_and_their_aliases():
    conll = ("form", "pos", "chunk")
    assert find_column("chunk", conll) == "chunk"
    assert find_column("xpos", conll) == find_column("upos", conll) == "pos"
    assert find_column("pos", ("form", "upos", "xpos")) == "xpos"
    assert find_column("pos", ("form", "upos")) == "upos"
    assert find_column("xpos", ("form", "upos")) is None
    assert find_column("ner", conll) is None


def test_what_was_filled_comes_before_what_was_read():
    tagged = tagged_of("the OLD B-NP\n", "conll2000", pos=["NEW"])
    assert tagged.column("form") == ["the"]
    assert tagged.column("pos") == tagged.column("xpos") == ["NEW"]
    assert tagged.column("chunk") == ["B-NP"]
    gold = tagged_of(conllu(["dog"]), upos=["X"])
    assert gold.column("pos") == ["NN"]  # xpos is nearer to pos than upos is, filled or not
    assert gold.column("upos") == ["X"]


def test_a_missing_column_is_an_error_with_a_remedy():
    with pytest.raises(CorpusError) as error:
        tagged_of("the dog\n", "tokens").column("pos")
    assert str(error.value) == (
        "<stream>:1: the model needs the column pos, found form; name the columns with --columns, "
        "or run a model that fills it first, as in -m en -m chunks.seqtag"
    )


def test_text_puts_labels_under_the_names_of_the_file():
    tagged = tagged_of("the  OLD X\n\n", "conll2000", xpos=["DT"], chunk=["B-NP"])
    assert tagged.text() == "the  DT B-NP\n\n"
    assert tagged.text("columns") == "the\tDT\tB-NP\n\n"
    assert tagged.text("tagged") == "the/B-NP\n"


def test_tagged_output_holds_the_last_model_s_labels_and_upos_rather_than_xpos():
    assert tagged_of(conllu(["dog"]), upos=["U"], xpos=["X"]).text("tagged") == "dog/U\n"
    assert tagged_of(conllu(["dog"]), upos=["U"], chunk=["C"]).text("tagged") == "dog/C\n"
    assert tagged_of(conllu(["dog"]), xpos=["X"], upos=["U"]).text("tagged") == "dog/U\n"


def test_a_new_column_is_named_in_the_header():
    data = io.BytesIO(b"form\tlemma\nDogs\tdog\n\nsee\tsee\n")
    first, second = map(FilledSentence, read(data, "columns", header=True))
    for each, label in ((first, "NOUN"), (second, "VERB")):
        each.filled["upos"] = [label]
    text = first.text() + second.text()
    assert text == "form\tlemma\tupos\nDogs\tdog\tNOUN\n\nsee\tsee\tVERB\n"


def test_a_document_of_conllu_begins_one_of_conll_2003():
    tagged = tagged_of("# newdoc\n" + conllu(["dog"]), chunk=["B-NP"], ner=["O"])
    assert tagged.text("conll2003") == "-DOCSTART- -X- -X- O\n\ndog NN B-NP O\n\n"


def test_raw_text_has_no_room_for_labels():
    with pytest.raises(CorpusError, match=r"cannot store the column 'upos'; write another format"):
        tagged_of("the\n", "tokens", upos=["DET"]).text()


def test_one_model_feeds_the_next(home):
    taggers = [seqtag.load(home / f"{name}.seqtag") for name in ("xpos", "chunk")]
    words = io.BytesIO("".join(f"{sentence}\n" for sentence in SENTENCES).encode())
    texts = [tagged.text("conll2000") for tagged in tag_stream(taggers, read(words, "tokens"))]
    assert "".join(texts) == chunks()


def test_long_sentences_are_tagged_few_at_once(home, monkeypatch):
    """Memory is limited in bytes, not only in sentences."""
    sizes = []
    labels_of = Tagger.labels_of

    def counted(self, sentences, *arguments):
        sizes.append(len(sentences))
        return labels_of(self, sentences, *arguments)

    monkeypatch.setattr(Tagger, "labels_of", counted)
    tagger = seqtag.load(home / "upos.seqtag")
    words = io.BytesIO(b"".join(b"%d%s\n" % (n, b"x" * 1_000_000) for n in range(20)))
    assert sum(1 for _ in tag_stream([tagger], read(words, "tokens"))) == 20
    assert max(sizes) < 6


def test_sentences_come_out_before_all_are_read(home):
    tagger = seqtag.load(home / "upos.seqtag")
    read_so_far = []

    def sentences():
        for sentence in read(io.BytesIO(b"dog\n" * 3000), "tokens"):
            read_so_far.append(sentence)
            yield sentence

    stream = tag_stream([tagger], sentences())
    assert next(stream).filled == {"upos": ["NOUN"]}
    assert len(read_so_far) == 1000


def test_sentences_before_a_malformed_one_come_out_first(home):
    data = io.BytesIO(b"dog NN B-NP\n\ncat NN\n\n")
    stream = tag_stream([seqtag.load(home / "upos.seqtag")], read(data, "conll2000"))
    assert next(stream).filled == {"upos": ["NOUN"]}
    with pytest.raises(CorpusError, match="<stream>:3: expected 3 columns, found 2"):
        next(stream)


def test_several_sequences_keep_the_labels_of_each_sentence(home):
    data = read(io.BytesIO(b"dog _\n\ncat NEW\n\n"), columns=["form", "upos"])
    options = TagOptions(keep=True, nbest=2)
    first, second = tag_stream([seqtag.load(home / "upos.seqtag")], data, options=options)
    assert first.filled["upos"] == ["NOUN"] != first.filled["upos2"]
    assert second.filled == {"upos": ["NEW"], "upos2": ["NEW"]}


def test_two_columns_at_once():
    tagger = seqtag.train(
        read(io.BytesIO(conllu().replace("NN\t_", "NN\tNumber=Sing").encode())),
        label="upos+feats",
        epochs=2,
        min_count=1,
    )
    [tagged] = tag_stream([tagger], read(io.BytesIO(conllu(["the dog"], labels=False).encode())))
    assert tagged.filled == {"upos": ["DET", "NOUN"], "feats": ["_", "Number=Sing"]}
    assert "2\tdog\tdog\tNOUN\t_\tNumber=Sing\t_" in tagged.text()


@cache
def embedded() -> seqtag.Tagger:
    """An embedded model."""
    return seqtag.load("en").tagger("upos")


WORDS = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\t\r\n"), min_size=1
)


@given(
    st.lists(st.lists(WORDS, min_size=1, max_size=4), max_size=4), st.sampled_from(["\n", "\r\n"])
)
def test_any_words_pass_unchanged(sentences, end):
    """Whatever the words are, only the label column of the lines is another."""
    rows = [
        [f"{i}\t{word}\t_\tOLD" + "\t_" * 6 for i, word in enumerate(words, 1)]
        for words in sentences
    ]
    data = "".join(end.join([*lines, "", ""]) for lines in rows)
    stream = read(io.BytesIO(data.encode()), "conllu")
    texts = [tagged.text() for tagged in tag_stream([embedded()], stream)]
    after = [line.split("\t") for line in "".join(texts).split("\n")]
    before = [line.split("\t") for line in data.split("\n")]
    assert all(len(a) == 1 or a[3] != "OLD" for a in after)
    assert [a[:3] + a[4:] for a in after] == [b[:3] + b[4:] for b in before]
