"""seqtag behind NLTK's interfaces, on corpora read by NLTK's own readers."""

from __future__ import annotations

import pickle

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.chunk.util import conlltags2tree, tree2conlltags
from nltk.corpus.reader import ConllCorpusReader, TaggedCorpusReader
from nltk.tag.api import TaggerI
from nltk.tree import Tree

import seqtag
from seqtag.corpus import render, sentence_of, to_token_list
from seqtag.errors import CorpusError, LabelError, TemplateError
from seqtag.integrations.nltk import SeqtagChunkParser, SeqtagTagger
from seqtag.labels.schemes import convert

TAGGED = """The/DT dog/NN barks/VBZ ./.
A/DT cat/NN sleeps/VBZ ./.
Dogs/NNS chase/VBP the/DT cat/NN ./.
The/DT old/JJ cat/NN sees/VBZ a/DT dog/NN ./.
"""
CHUNKED = """The DT B-NP
dog NN I-NP
barks VBZ B-VP

A DT B-NP
cat NN I-NP
in IN B-PP
the DT B-NP
garden NN I-NP
sleeps VBZ B-VP
. . O

Yesterday NN B-NP
the DT B-NP
old JJ I-NP
cat NN I-NP
saw VBD B-VP
a DT B-NP
dog NN I-NP
. . O
"""
SMALL = {"epochs": 8, "min_count": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder NLTK's readers may read: it must be registered as one of NLTK's data folders."""
    folder = tmp_path_factory.mktemp("corpora")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nltk.data, "path", [*nltk.data.path, str(folder)])
        yield folder


@pytest.fixture(scope="module")
def tagged(folder):
    (folder / "a.pos").write_text(TAGGED, encoding="utf-8")
    return TaggedCorpusReader(str(folder), ["a.pos"]).tagged_sents()


@pytest.fixture(scope="module")
def chunked(folder):
    (folder / "a.txt").write_text(CHUNKED, encoding="utf-8")
    reader = ConllCorpusReader(
        str(folder), ["a.txt"], ("words", "pos", "chunk"), chunk_types=("NP", "VP", "PP")
    )
    return reader.chunked_sents()


@pytest.fixture(scope="module")
def tagger(tagged):
    return SeqtagTagger(load=False).train(tagged, **SMALL)


@pytest.fixture(scope="module")
def parser(chunked):
    return SeqtagChunkParser().train(chunked, **SMALL)


def columns_of(tree):
    return dict(zip(("form", "pos", "chunk"), zip(*tree2conlltags(tree), strict=True), strict=True))


def message(call, *arguments, error=CorpusError, **options):
    with pytest.raises(error) as caught:
        call(*arguments, **options)
    return str(caught.value)


# ------------------------------------------------------------------------------ SeqtagTagger
def test_tags_as_the_tagger_inside(tagger):
    words = ["The", "old", "dog", "sleeps", "."]
    pairs = [("The", "DT"), ("old", "JJ"), ("dog", "NN"), ("sleeps", "VBZ"), (".", ".")]
    assert isinstance(tagger, TaggerI)
    assert tagger.tag(words) == pairs
    assert tagger.tagger.tag(words) == [label for _, label in pairs]


@given(st.lists(st.lists(st.text(max_size=4), max_size=5), max_size=5))
def test_tag_sents_is_tag_on_each(tagger, sentences):
    tagged = tagger.tag_sents(iter(sentences))
    assert tagged == [tagger.tag(words) for words in sentences]
    assert [[word for word, _ in pairs] for pairs in tagged] == sentences


def test_a_pipeline_tags_sentences_as_it_does_without_nltk(tagged):
    sentences = [[], *([word for word, _ in pairs] for pairs in tagged)]
    pipeline = seqtag.load("en").only("xpos")
    labels = [[word.xpos for word in found] for found in pipeline.tag_many(sentences)]
    found = SeqtagTagger().tag_sents(sentences)
    assert [[label for _, label in pairs] for pairs in found] == labels


def test_nltk_scores_it(tagger, tagged):
    wrong = [[("The", "DT"), ("dog", "VBZ")]]
    assert tagger.accuracy(tagged) == 1.0
    assert tagger.accuracy(wrong) == 0.5
    assert tagger.confusion(wrong)["VBZ", "NN"] == 1
    perfect = dict.fromkeys(tagger.tagger.labels, 1.0)
    assert tagger.recall(tagged) == tagger.precision(tagged) == perfect
    assert tagger.f_measure(wrong)["DT"] == 1.0
    assert tagger.f_measure(wrong)["VBZ"] == 0.0
    assert "NN | 1.0000 | 1.0000 | 1.0000" in tagger.evaluate_per_tag(tagged)


def test_training_equals_training_on_the_file(tagger, tagged, tmp_path):
    path = tmp_path / "same.txt"
    text = (
        render({"form": [w for w, _ in s], "pos": [p for _, p in s]}, "columns") for s in tagged
    )
    path.write_text("".join(text), encoding="utf-8")
    same = seqtag.train(path, format="columns", columns=("form", "pos"), label="pos", **SMALL)
    same.model.training.pop("layout")  # of a file
    assert same.save(tmp_path / "a.seqtag") == tagger.save(tmp_path / "b.seqtag")
    assert (tmp_path / "a.seqtag").read_bytes() == (tmp_path / "b.seqtag").read_bytes()


def test_options_reach_the_trainer(tagged):
    epochs = []
    trained = SeqtagTagger(load=False).train(
        tagged, dev=tagged, label="upos", epochs=2, seed=7, on_epoch=epochs.append
    )
    assert trained.tagger.label == "upos"
    assert trained.tagger.info["training"]["seed"] == 7
    assert [epoch.dev is not None for epoch in epochs] == [True, True]


def test_saved_loaded_pickled(tagger, tmp_path):
    words = ["Dogs", "see", "the", "cat"]
    path = tmp_path / "small.seqtag"
    assert tagger.save(path) == path.stat().st_size
    for same in (
        SeqtagTagger.load(path),
        SeqtagTagger(str(path)),
        SeqtagTagger(tagger.tagger),
        pickle.loads(pickle.dumps(tagger)),
    ):
        assert type(same) is SeqtagTagger
        assert same.tag(words) == tagger.tag(words)
    assert repr(tagger) == f"SeqtagTagger({tagger.tagger!r})"


def test_a_model_of_several_columns_takes_tuples(chunked):
    gold = [[((w, p), c) for w, p, c in tree2conlltags(tree)] for tree in chunked]
    sentences = [sentence_of(columns_of(tree)) for tree in chunked]
    tagger = SeqtagTagger(seqtag.train(sentences, label="chunk", **SMALL))
    assert tagger.accuracy(gold) == 1.0
    assert tagger.tag([("The", "DT")])[0][0] == ("The", "DT")


@pytest.mark.parametrize("bad", [[("The", "DT"), "NN"], ("The", "DT"), [("The", "DT", "B-NP")]])
def test_training_wants_pairs(bad):
    text = message(SeqtagTagger(load=False).train, [[("a", "DT")], bad])
    assert text.startswith("<tagged_sents>:2: expected pairs (word, pos) in every sentence, found ")
    assert text.endswith("; give lists of pairs, one list per sentence")


def test_a_word_without_label_is_named():
    # what NLTK's readers give for a word without a slash
    text = message(
        SeqtagTagger(load=False).train, [[("a", "DT")]], dev=[[("a", "DT"), ("dog", None)]]
    )
    assert text == (
        "<dev>:1: expected a string in the column 'pos', found None for word 2; "
        "give every word a value, or leave the sentence out"
    )


def test_it_is_used_as_the_tagger_of_nltk(tagged, tmp_path):
    """Its calls are those of `nltk.tag.perceptron.PerceptronTagger`."""
    tagger = SeqtagTagger(load=False)
    assert repr(tagger) == "SeqtagTagger(None)"
    for call in (lambda: tagger.tag(["Time"]), lambda: tagger.save(tmp_path / "a")):
        with pytest.raises(ValueError, match="expected a trained SeqtagTagger, found one without"):
            call()
    tagger.train(tagged, str(tmp_path / "a.seqtag"), 3)
    assert tagger.classes == {".", "DT", "JJ", "NN", "NNS", "VBP", "VBZ"}
    assert tagger.tagger.info["training"]["best_epochs"] == [3]
    with pytest.raises(TypeError, match="epochs"):
        tagger.train(tagged, nr_iter=3, epochs=4)
    english = SeqtagTagger()
    assert english.train(tagged, nr_iter=2) is english and english.classes == tagger.classes
    with pytest.raises(ValueError, match="expected a trained SeqtagChunkParser, found one"):
        SeqtagChunkParser().parse([("the", "DT")])


def test_sentences_may_be_iterators_such_as_zip(tagged, parser, chunked):
    listed = SeqtagTagger(load=False).train(tagged, nr_iter=2)
    tagger = SeqtagTagger(load=False).train((iter(sent) for sent in tagged), nr_iter=2)
    assert pickle.dumps(tagger.tagger) == pickle.dumps(listed.tagger)
    assert tagger.tag(word for word in ["the", "dog"]) == listed.tag(["the", "dog"])
    words, tags = zip(*chunked[0].leaves(), strict=True)
    assert parser.parse(zip(words, tags, strict=True)) == chunked[0]


@pytest.mark.parametrize("of", [SeqtagTagger, SeqtagChunkParser])
def test_sentences_are_not_given_to_the_constructor(of, chunked):
    with pytest.raises(TypeError, match=r"expected a Tagger or a path, found .* method train$"):
        of(list(chunked))


# ------------------------------------------------------------------------------ SeqtagChunkParser
def test_parses_into_trees(parser, chunked):
    tree = parser.parse([("The", "DT"), ("old", "JJ"), ("dog", "NN"), ("barks", "VBZ"), (".", ".")])
    assert str(tree) == "(S (NP The/DT old/JJ dog/NN) (VP barks/VBZ) ./.)"
    assert parser.parse([]) == Tree("S", [])
    assert [parser.parse(gold.leaves()) for gold in chunked] == list(chunked)
    assert list(parser.parse_sents([gold.leaves() for gold in chunked])) == list(chunked)


def test_nltk_scores_chunks(parser, chunked):
    score = parser.accuracy(chunked)
    assert (score.accuracy(), score.precision(), score.recall()) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("scheme", ["iob1", "iob2", "iobes", "bilou"])
def test_any_scheme_becomes_trees(chunked, scheme):
    sentences = []
    for tree in chunked:
        columns = columns_of(tree)
        columns["chunk"] = convert(columns["chunk"], "iob2", scheme)
        sentences.append(sentence_of(columns))
    tagger = seqtag.train(sentences, label="chunk", encoding="keep", **SMALL)
    assert tagger.label_scheme == scheme
    parser = SeqtagChunkParser(tagger)
    assert [parser.parse(gold.leaves()) for gold in chunked] == list(chunked)


PAIRS = st.tuples(st.text(min_size=1, max_size=5), st.sampled_from(["DT", "NN", "VBZ", ""]))


@given(st.lists(PAIRS, max_size=8))
def test_no_word_is_lost_in_a_tree(parser, tokens):
    tree = parser.parse(tokens)
    assert tree.leaves() == tokens
    # the labels are a valid sequence: a strict reading gives the same tree
    assert conlltags2tree(tree2conlltags(tree), strict=True) == tree


@pytest.mark.parametrize(
    "bad",
    [
        Tree.fromstring("(S (NP (DT the) (NN dog)))"),
        Tree("S", [Tree("NP", ["the", "dog"])]),
        Tree("S", [Tree("NP", [Tree("NP", [("the", "DT")])])]),
        [("the", "DT")],
    ],
)
def test_chunk_training_wants_flat_trees_of_pairs(bad):
    text = message(SeqtagChunkParser().train, [Tree("S", []), bad])
    assert text.startswith(
        "<chunked_sents>:2: expected a tree whose children are (word, pos) pairs or chunks of "
        "such pairs, found "
    )
    assert text.endswith("; give chunked_sents(), not parsed_sents()")


def test_a_model_of_other_labels_is_refused(tagger):
    assert message(SeqtagChunkParser, tagger.tagger, error=LabelError) == (
        "expected a model of chunk labels such as B-NP, I-NP and O, found a model of pos "
        "(., DT, JJ, NN, NNS, ...); train one with SeqtagChunkParser().train"
    )
    flat = [Tree("S", [("the", "DT")])]
    assert "found a model of chunk (O)" in message(
        SeqtagChunkParser().train, flat, error=LabelError, **SMALL
    )


def test_a_model_of_other_columns_is_refused(tmp_path):
    templates = tmp_path / "lemma.txt"
    templates.write_text("lemma[0]\nlabel[-1]\n", encoding="utf-8")
    sentence = sentence_of({"form": ["a", "b"], "lemma": ["a", "b"], "chunk": ["B-X", "O"]})
    other = seqtag.train([sentence], label="chunk", templates=templates)
    assert message(SeqtagChunkParser, other, error=TemplateError) == (
        "expected a model that looks at the columns form and pos, found one that looks at lemma; "
        "train one with SeqtagChunkParser().train"
    )


def test_words_alone_are_enough_for_names(chunked):
    pairs = [[(w, c) for w, _, c in tree2conlltags(tree)] for tree in chunked]
    names = SeqtagTagger(load=False).train(pairs, label="ner", **SMALL)
    assert names.tagger.columns == ("form",)
    assert SeqtagChunkParser(names.tagger).parse(chunked[0].leaves()) == chunked[0]


# ------------------------------------------------------------------------------ sentence_of
def test_sentence_of_columns():
    given = {"form": ["a\nb", ""], "pos": ("X", "Y")}
    sentence = sentence_of(given, source="<spam>", line=7)
    given["form"].append("later")
    assert sentence.words == ["a\nb", ""]
    assert sentence.column("pos") == ["X", "Y"]
    assert (len(sentence), sentence.columns, sentence.raw) == (2, ("form", "pos"), "")
    assert (sentence.source, sentence.line, sentence.line_of(1)) == ("<spam>", 7, 7)
    assert len(sentence_of({"form": []})) == len(sentence_of({})) == 0
    assert to_token_list(sentence_of({"form": ["Hi"]}))[0]["form"] == "Hi"
