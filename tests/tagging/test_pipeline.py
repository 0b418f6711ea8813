"""Pipelines: several models from one file, from text to documents."""

from __future__ import annotations

import io
import itertools
import pickle
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqtag
from seqtag.corpus import read
from seqtag.corpus.stream import TextBytes
from seqtag.corpus.surface import raw_text_of, surface_of
from seqtag.errors import CorpusError, ModelFileError, SeqtagError
from seqtag.features.language import parse
from seqtag.labels.column import LabelColumn
from seqtag.model import bundle
from seqtag.segmentation.reading import SegmentedTexts
from seqtag.tagging.pipeline import Pipeline
from seqtag.tagging.streams import tag_text
from seqtag.tagging.tagger import Tagger
from tests.treebanks import annotated, components

SENTENCES = [
    "Ich/ich/PRON bin/sein/AUX im=in/in/ADP+dem/der/DET Bett/Bett/NOUN ././PUNCT",
    "Er/er/PRON ist/sein/AUX im=in/in/ADP+dem/der/DET Haus/Haus/NOUN ././PUNCT",
    "Ich/ich/PRON bin/sein/AUX hier/hier/ADV !/!/PUNCT",
    "Wer/wer/PRON ist/sein/AUX im=in/in/ADP+dem/der/DET Haus/Haus/NOUN ?/?/PUNCT",
]


@pytest.fixture(scope="module")
def pipeline():
    """A small pipeline of all parts."""
    return Pipeline(components(annotated(*SENTENCES * 5)))


def test_a_text_becomes_a_document(pipeline):
    text = "  Er ist im Bett!\nIch bin hier."
    document = pipeline(text)
    assert [len(sentence) for sentence in document] == [6, 4]
    first, second = document.sentences
    assert [word.text for word in first] == ["Er", "ist", "in", "dem", "Bett", "!"]
    assert [word.lemma for word in first] == ["er", "sein", "in", "der", "Bett", "!"]
    assert [word.upos for word in second] == ["PRON", "AUX", "ADV", "PUNCT"]
    assert {word.feats for word in document.words} == {"_"}
    for each in (*document.tokens, *document):
        assert text[each.start : each.end] == each.text
    im = first.tokens[2]
    assert (im.text, [word.text for word in im.words]) == ("im", ["in", "dem"])
    assert {(word.start, word.end) for word in im.words} == {(9, 11)}
    assert first[4] == first.words[4]
    assert document[1] is second
    assert len(document.words) == 10


def test_documents_are_shown_and_converted(pipeline):
    document = pipeline("Er ist < hier .\n\nWer?", paragraphs="blank")
    assert repr(document) == "<seqtag.Document: 2 sentences, 7 words>"
    assert repr(document[1]) == "<Sentence 'Wer?'>"
    assert str(document).count("# newpar") == 2
    assert str(document) == "".join(map(str, document))
    lists = document.to_token_lists()
    assert [token["form"] for token in lists[1]] == ["Wer", "?"]
    rows = document.to_rows()
    assert rows[-1] == {
        "sentence": 2,
        "word": 2,
        "text": "?",
        "lemma": "?",
        "upos": "PUNCT",
        "xpos": "_",
        "feats": "_",
        "start": 20,
        "end": 21,
    }


@pytest.mark.parametrize("text", ["\ufeffEr ist.", "\ufeff \nEr\x1f", "\t Er ist hier .\u2028\n\n"])
def test_a_sentence_has_the_text_where_it_stands(pipeline, text):
    [sentence] = pipeline(text)
    assert sentence.text == text[sentence.start : sentence.end]
    assert sentence.text.startswith("Er")


def test_nothing_gives_an_empty_document(pipeline):
    for model in (pipeline, pipeline.tagger("upos")):
        for text in ("", " \n"):
            document = model(text)
            assert (len(document), document.words, str(document)) == (0, [], "")


@given(st.text(st.sampled_from("Er ist im Haus.!?\n\t |_é\u0301\u00a0\U0001f600"), max_size=40))
def test_every_character_of_a_text_is_in_its_conllu(pipeline, text):
    conllu = str(pipeline(text)).encode()
    rebuilt = "".join(surface_of(sentence).text for sentence in read(io.BytesIO(conllu), "conllu"))
    assert rebuilt == (text if text.strip() else "")


TEXTS = st.lists(
    st.text(st.sampled_from("Er ist im Haus.!?\n\t |_é\u0301\u00a0\u2029\ufeff\u200d"), max_size=30)
    | st.sampled_from(["", " \n", "Er ist im Haus.", "Er ist\n\nim Bett! Wer?", "\ufeffEr\nist"]),
    max_size=8,
)


def streamed(pipeline, text, paragraphs):
    """The text as CoNLL-U, by itself, as files are tagged."""
    stream = pipeline.segmented(read(TextBytes(text.encode()), "text"), paragraphs=paragraphs)
    return b"".join(tag_text(pipeline.taggers, stream)).decode()


@given(TEXTS, st.sampled_from(["auto", "blank", "line"]), st.integers(1, 9), st.integers(0, 40))
def test_many_texts_become_the_documents_of_each(pipeline, texts, paragraphs, size, longest):
    expected = [streamed(pipeline, text, paragraphs) for text in texts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SegmentedTexts, "MOST_CHARACTERS", longest)
        patch.setattr("seqtag.tagging.pipeline._BATCH_CHARACTERS", 2 * longest)
        for threads in (1, 2):
            options = {"batch_size": size, "threads": threads, "paragraphs": paragraphs}
            documents = list(pipeline.pipe(texts, **options))
            assert [document.text for document in documents] == texts
            assert [str(document) for document in documents] == expected
    for document in documents:
        for token in document.tokens:
            assert document.text[token.start : token.end] == token.text


def test_texts_are_read_as_they_are_needed(pipeline):
    read_so_far = []

    def texts():
        for number in itertools.count():
            read_so_far.append(number)
            yield f"Er ist im Haus {number}."

    for threads, most in ((1, 2), (2, 12)):
        read_so_far.clear()
        documents = pipeline.pipe(texts(), batch_size=2, threads=threads)
        assert read_so_far == []
        assert next(documents).text == "Er ist im Haus 0."
        assert len(read_so_far) <= most
        documents.close()
        assert len(read_so_far) <= most


@pytest.mark.parametrize("threads", [1, 2])
def test_documents_come_before_the_error_of_a_later_text(pipeline, threads):
    def failing():
        yield from ["Er ist.", "Wer?", "Ich!"]
        msg = "no more"
        raise OSError(msg)

    for texts, error in (
        (failing(), OSError),
        (["Er ist.", "Wer?", "Ich!", 5, "Ich"], TypeError),
        (["Er ist.", "Wer?", "Ich!", "\ud800", "Ich"], SeqtagError),
    ):
        documents = pipeline.pipe(texts, batch_size=2, threads=threads)
        assert [next(documents).text for _ in range(3)] == ["Er ist.", "Wer?", "Ich!"]
        with pytest.raises(error):
            next(documents)
        assert list(documents) == []


def test_pipe_refuses_wrong_arguments_at_once(pipeline):
    for options, error in (
        ({"batch_size": 0}, ValueError),
        ({"threads": 0}, ValueError),
        ({"paragraphs": "page"}, CorpusError),
    ):
        with pytest.raises(error):
            pipeline.pipe(["Er"], **options)
    with pytest.raises(TypeError, match="a list of texts"):
        pipeline.pipe("Er ist im Haus.")


def test_a_pickled_pipeline_writes_the_same_columns():
    pipeline = seqtag.load("en").only("xpos")
    copy = pickle.loads(pickle.dumps(pipeline))
    assert [each.hidden for each in copy.taggers] == [True, False]
    assert copy("Time flies.").to_rows() == pipeline("Time flies.").to_rows()
    assert pickle.loads(pickle.dumps(pipeline.taggers[0])).hidden


def test_saved_loaded_and_pickled_it_is_the_same(pipeline, tmp_path):
    pipeline.save(tmp_path / "all.seqtag")
    text = "Wer ist im Bett?"
    for copy in (seqtag.load(tmp_path / "all.seqtag"), pickle.loads(pickle.dumps(pipeline))):
        assert copy.parts == ("tokens", "words", "upos", "lemma")
        assert str(copy(text)) == str(pipeline(text))
    assert repr(copy) == "<seqtag.Pipeline of tokens, words, upos, lemma>"
    assert len(pipeline.info["parts"]) == 4


def test_a_name_that_no_model_has_is_answered_with_those_there_are(tmp_path):
    there = {"nl": "seqtag models train nl", tmp_path / "x.seqtag": "; embedded models: en"}
    for name, advice in there.items():
        with pytest.raises(FileNotFoundError) as error:
            seqtag.load(name)
        assert error.value.filename == str(name)
        assert error.value.strerror.startswith("No such file or directory; ")
        assert advice in error.value.strerror


def test_a_file_of_one_tagger_is_a_tagger(pipeline, tmp_path):
    bundle.save(tmp_path / "one.seqtag", pipeline.models[2:3])
    assert isinstance(seqtag.load(tmp_path / "one.seqtag"), Tagger)
    bundle.save(tmp_path / "tokens.seqtag", pipeline.models[:1])
    cutter = seqtag.load(tmp_path / "tokens.seqtag")
    assert [len(sentence) for sentence in cutter("Er ist. Er ist.")] == [3, 3]


def test_parts_can_be_left_out(pipeline):
    assert pipeline.only("upos").parts == ("tokens", "words", "upos")
    lemmas = pipeline.only("lemma")
    assert lemmas.parts == pipeline.parts  # it looks at upos
    assert [word.upos for word in lemmas("Er ist.").words] == ["_"] * 3
    assert [word.lemma for word in lemmas("Er ist.").words] == ["er", "sein", "."]


def test_without_a_segmenter_rules_cut_texts(pipeline):
    tagger = pipeline.tagger("upos")
    for text in ("Er ist hier. Was?\nNein", "Er ist hier. " * 2000):
        document = Pipeline([tagger.model])(text)
        assert str(document) == str(tagger(text))
        assert str(document).startswith("# newdoc\n# newpar\n# sent_id = 1\n# text = Er ist hier.")


def changed(pipeline, name, **changes):
    """The models of a pipeline, of which one is changed."""
    return [
        replace(model, **changes) if model.column.name == name else model
        for model in pipeline.models
    ]


def relabelled(pipeline, name, label):
    """The models of a pipeline, of which one has another last label."""
    [model] = [model for model in pipeline.models if model.column.name == name]
    return changed(pipeline, name, labels=[*model.labels[:-1], label])


@pytest.mark.parametrize("script", ["=\n1\tX", "=|\t", "\r"])
def test_scripts_that_would_break_lines_are_refused(pipeline, script):
    with pytest.raises(ModelFileError) as error:
        Pipeline(relabelled(pipeline, "words", script), "m")
    assert str(error.value) == (
        f"m: expected scripts without tabs and line breaks, found {script!r}; get the file again "
        "or retrain"
    )


def test_parts_that_do_not_fit_are_refused_in_a_sentence(pipeline):
    named = {model.column.name: model for model in pipeline.models}

    def refused(*models):
        with pytest.raises(ModelFileError) as error:
            Pipeline(models, "m")
        return str(error.value)

    assert refused(*relabelled(pipeline, "tokens", "x")) == (
        "m: expected a segmenter with some of the labels inside, joined, token, sentence, found "
        "'x'; train one with --label tokens"
    )
    tagger = replace(named["lemma"], column=LabelColumn("tokens"), labels=["token"])
    assert refused(tagger).startswith("m: expected a segmenter with some of the columns c1, c2, ")
    assert ", found 'form'; train one with --label tokens" in refused(tagger)
    segmenter = replace(named["tokens"], column=LabelColumn("words"))
    assert ", found one of words that looks at 'c1'; train one with" in refused(segmenter)
    for name in ("tokens", "words"):
        weights = named[name].weights
        damaged = weights._replace(start=weights.start[:0])
        found = refused(*changed(pipeline, name, weights=damaged))
        assert found.startswith("m: expected a complete seqtag model, found a damaged one (")
    for name in ("form", "misc"):
        found = refused(*changed(pipeline, "upos", column=LabelColumn(name)))
        assert found == (
            "m: expected components that do not change id, form and misc, found one that fills "
            f"{name}; leave it out"
        )


def test_what_is_no_text_is_refused(pipeline):
    for model in (pipeline, pipeline.tagger("upos")):
        with pytest.raises(SeqtagError) as error:
            model("a\ud800")
        assert str(error.value) == (
            "expected text, found the lone surrogate '\\ud800' at character 1; decode it from its "
            "bytes again, or leave it out"
        )
        for thing, name in ((b"Er", "bytes"), (["Er"], "list"), (None, "NoneType")):
            with pytest.raises(TypeError) as error:
                model(thing)
            assert str(error.value) == (
                f"expected a text, found {name}; decode bytes, join words, and give several texts "
                "to pipe"
            )


def test_the_training_text_is_cut_as_the_treebank_has_it(pipeline):
    gold = annotated(*SENTENCES)
    found = pipeline.sentences(raw_text_of(gold), paragraphs="blank")
    pairs = zip(found, gold, strict=True)
    assert all(a.column(n) == b.column(n) for a, b in pairs for n in ("form", "lemma", "upos"))


def test_training_gives_the_same_bytes_again(pipeline):
    again = components(annotated(*SENTENCES * 5), threads=2)
    assert bundle.to_bytes(again) == bundle.to_bytes(pipeline.models)
    assert re.search(rb'"label":"lemma"', bundle.to_bytes(again).replace(b"\\", b""))


# ----------------------------------------------------------------- lists of words
def test_lists_of_words_are_tagged_as_their_text_is():
    pipeline = seqtag.load("en")
    [expected] = pipeline.tag_text("The dogs bark .").sentences
    sentence = pipeline.tag_words(["The", "dogs", "bark", "."])
    assert [word.upos for word in sentence] == [word.upos for word in expected]
    assert [word.lemma for word in sentence] == ["the", "dog", "bark", "."]
    assert (sentence.text, sentence[1].start, sentence[1].end) == ("The dogs bark .", 4, 8)
    found = pipeline.tag_many([["The", "dogs", "bark", "."], [], ("Stop",)] * 600, threads=2)
    assert str(found[0]) == str(found[-3]) == str(sentence)
    assert [len(each) for each in found[:3]] == [4, 0, 1]
    assert (found[1].text, found[1].words, str(found[1])) == ("", (), "")


@pytest.mark.parametrize("words", ["one string", ["a", 3], [("a", "b")]])
def test_what_is_no_list_of_words_is_refused(words):
    for model in (seqtag.load("en"), seqtag.load("en").tagger("upos")):
        with pytest.raises(TypeError, match=r"expected (words as strings|a list of words)"):
            model.tag_words(words)


def test_a_tagger_of_several_columns_takes_no_list_of_words_alone():
    words, labels = [[("a", "X"), ("b", "Y")]], [["D", "N"]]
    tagger = seqtag.train(
        words, labels, columns=["form", "pos"], templates=parse("pos[0]"), min_count=1
    )
    with pytest.raises(SeqtagError, match="expected a model that looks at words"):
        tagger.tag_words(["a", "b"])


# ----------------------------------------------------------------- loading
def test_a_class_loads_what_it_is(tmp_path):
    seqtag.load("en").tagger("upos").save(tmp_path / "upos.seqtag")
    assert seqtag.Tagger.load(tmp_path / "upos.seqtag").label == "upos"
    assert seqtag.Pipeline.load("en").parts == seqtag.load("en").parts
    assert seqtag.Pipeline.load(tmp_path / "upos.seqtag").parts == ("upos",)
    with pytest.raises(SeqtagError) as refused:
        seqtag.Tagger.load("en")
    assert str(refused.value) == (
        "en: expected a model of one column, found a pipeline of tokens, words, upos, xpos, feats, "
        "lemma, misc.NER; use seqtag.load('en').tagger('upos')"
    )


# ----------------------------------------------------------------- components
def test_a_component_labels_words_as_its_pipeline_does():
    pipeline = seqtag.load("en")
    sentences = [["The", "dogs", "bark", "."], ["Time", "flies", "like", "an", "arrow"], ["Stop"]]
    found = pipeline.tag_many(sentences)
    upos = [[word.upos for word in sentence] for sentence in found]
    xpos = [[word.xpos for word in sentence] for sentence in found]
    assert pipeline.tagger("upos").tag_many(sentences) == upos
    tagger = pipeline.tagger("xpos")
    assert (tagger.label, tagger.columns) == ("xpos", ("form", "upos"))
    pairs = [[*zip(words, tags, strict=True)] for words, tags in zip(sentences, upos, strict=True)]
    assert tagger.tag_many(pairs) == xpos
    with pytest.raises(TypeError, match=r"a tuple \(form, upos\) for every word, found 'Stop'"):
        tagger.tag(["Stop"])


def test_components_that_do_not_exist_are_refused():
    pipeline = seqtag.load("en")
    for find in (pipeline.tagger, pipeline.only):
        with pytest.raises(SeqtagError, match=r"found 'xops' \(did you mean 'xpos'\?\)"):
            find("xops")
        with pytest.raises(SeqtagError, match=r"found \['xpos'\]"):
            find(["xpos"])


def test_a_file_with_the_name_of_a_model_is_used(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seqtag.load("en").tagger("xpos").save("en")
    assert seqtag.load("en").label == "xpos"
