"""What people of other toolkits type first: it exists, or the message names what does."""

from __future__ import annotations

import copy
import pickle
import re

import pytest

import seqtag
from seqtag.errors import SeqtagError
from seqtag.tagging.pipeline import Chain

PIPELINE = seqtag.load()
DOCUMENT = PIPELINE("Mira Falk sings. It works.")
TAGGER = PIPELINE.tagger("upos")
OWNERS = {
    "seqtag": seqtag,
    "Pipeline": PIPELINE,
    "Document": DOCUMENT,
    "DocumentSentence": DOCUMENT.sentences[0],
    "Word": DOCUMENT.words[0],
    "DocumentSpan": DOCUMENT.ents[0],
    "Tagger": TAGGER,
}


def test_the_embedded_model_is_loaded_by_default():
    assert PIPELINE.info == seqtag.load("en").info == seqtag.Pipeline("en").info


@pytest.mark.parametrize(
    ("owner", "name", "ours"),
    [
        ("Pipeline", "components", "parts"),
        ("Pipeline", "pipe_names", "parts"),
        ("Pipeline", "get_pipe", "tagger"),
        ("Document", "sents", "sentences"),
        ("Document", "entities", "ents"),
        ("Word", "pos_", "upos"),
        ("Word", "pos", "upos"),
        ("Word", "tag_", "xpos"),
        ("Word", "lemma_", "lemma"),
        ("Word", "start_char", "start"),
        ("Word", "end_char", "end"),
        ("DocumentSpan", "label_", "label"),
        ("DocumentSpan", "type", "label"),
        ("DocumentSpan", "end_char", "end"),
        ("Tagger", "predict", "tag"),
        ("Tagger", "tag_sents", "tag_many"),
    ],
)
def test_attributes_by_their_names_elsewhere(owner, name, ours):
    assert getattr(OWNERS[owner], name) == getattr(OWNERS[owner], ours)


@pytest.mark.parametrize(
    ("owner", "name", "use"),
    [
        ("seqtag", "pos_tag", "; use seqtag.load().tag_words(words)"),
        ("seqtag", "tag", "; use seqtag.load().tag_words(words)"),
        ("seqtag", "word_tokenize", "; use seqtag.load()(text)"),
        ("Pipeline", "evaluate", "; use seqtag.score(pipeline.only(column), sentences)"),
        ("Pipeline", "add_pipe", "; use seqtag.train"),
        ("Document", "to_conllu", "; use str(document)"),
        ("Document", "to_json", "; use json.dumps(document.to_dict())"),
        ("seqtag", "CRF", "; use seqtag.integrations.sklearn.SequencePerceptron"),
        ("Document", "save", "; use pathlib.Path(name).write_text(str(document))"),
        ("Document", "upos", "; use [word.upos for word in document.words]"),
        ("seqtag", "cross_validate", "; use the command seqtag cv"),
        ("seqtag", "list_models", "; use the command seqtag models"),
        ("Pipeline", "predict", "; use tag_words(words) or pipeline(text)"),
        ("DocumentSentence", "pos_", "; use sentence.column(name)"),
        ("DocumentSentence", "ents", "; use document.ents"),
        ("Word", "ent_type_", "; use document.ents"),
        ("Document", "to_pandas", "; use pandas.DataFrame(document.to_rows())"),
        ("Tagger", "predict_proba", "; use tag(words, scores=True)"),
        ("Tagger", "evaluate", "; use seqtag.score(tagger, file)"),
        ("seqtag", "unheard_of", ""),
        ("Word", "unheard_of", ""),
    ],
)
def test_the_message_names_what_to_use(owner, name, use):
    called = "module 'seqtag'" if owner == "seqtag" else owner
    with pytest.raises(AttributeError) as error:
        getattr(OWNERS[owner], name)
    assert str(error.value) == f"{called} has no attribute {name!r}{use}"
    assert (error.value.name, error.value.obj) == (name, OWNERS[owner])


def test_the_message_is_seen_by_programs_that_import_the_name():
    with pytest.raises(
        ImportError, match=re.escape("'pos_tag'; use seqtag.load().tag_words(words)")
    ):
        from seqtag import pos_tag  # noqa: F401
    assert not hasattr(seqtag, "pos_tag")


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: seqtag.Tagger(None), "expected models, found None; give a file to seqtag.load"),
        (lambda: seqtag.load(None), "expected the path or the name of a model, found None"),
        (lambda: seqtag.evaluate("a.seqtag", "b.txt"), "expected lists of labels, found 'a.se"),
        (lambda: seqtag.Pipeline(None), "expected models, found None"),
        (lambda: seqtag.Pipeline([TAGGER]), "expected models, found <seqtag.Tagger of upos"),
        (
            lambda: list(PIPELINE.pipe(None)),
            "expected a list of texts, or another iterable of them",
        ),
        (lambda: list(PIPELINE.pipe([None])), "expected a text, found NoneType; decode bytes"),
        (lambda: seqtag.train([None], [None]), "expected labels for every sentence, found 0"),
        (lambda: seqtag.train([None], [["X"]]), "expected a string in the column 'form', found N"),
        (lambda: seqtag.tag_files(None, "out", PIPELINE), "expected files to tag, found none"),
    ],
)
def test_what_is_nothing_is_refused(work, message):
    with pytest.raises((TypeError, SeqtagError), match=re.escape(message)):
        work()


def test_classes_of_a_tagger_are_a_list():
    assert TAGGER.classes_ == list(TAGGER.labels)


def test_objects_are_copied_as_before():
    for each in (DOCUMENT, DOCUMENT.words[0], TAGGER):
        for again in (copy.copy(each), pickle.loads(pickle.dumps(each))):
            assert repr(again) == repr(each)


def test_a_document_is_no_table_by_itself():
    pd = pytest.importorskip("pandas", reason="needs pandas: pip install -e '.[dev]'")
    with pytest.raises(TypeError, match=re.escape("use pandas.DataFrame(document.to_rows())")):
        pd.DataFrame(DOCUMENT)
    assert pd.DataFrame({"doc": [DOCUMENT]})["doc"].map(len).tolist() == [2]


def test_several_texts_are_for_pipe():
    with pytest.raises(TypeError, match=r"found list; .* give several texts to pipe"):
        PIPELINE(["It works.", "Why?"])


def test_components_by_the_name_of_their_key():
    for name in ("ner", "NER", "misc.NER"):
        assert PIPELINE.tagger(name).label == "misc.NER"
        assert PIPELINE.only(name).columns == ("misc.NER",)
        assert Chain([PIPELINE], only=[name]).columns == ["misc.NER"]
        assert DOCUMENT.spans(name) == DOCUMENT.ents
    for work in (PIPELINE.tagger, PIPELINE.only):
        with pytest.raises(SeqtagError, match=r"found 'nerr' \(did you mean 'misc.NER'\?\)|'nerr'"):
            work("nerr")


@pytest.mark.parametrize("label", ["ner_tags", "label", "NER", "tags", "ner", "misc.NER"])
def test_names_are_entities_whatever_their_column_is_called(label):
    words, labels = [["In", "Norvale", "."]], [["O", "B-LOC", "O"]]
    tagger = seqtag.train(words, labels, label=label, min_count=1)
    for model in (tagger, seqtag.Pipeline(tagger.models)):
        assert [each.text for each in model("In Norvale.").ents] == ["Norvale"]


def test_of_several_columns_of_names_the_one_called_so_is_taken():
    words = [["In", "Norvale", "."]]
    models = [
        *seqtag.train(words, [["B-X", "O", "O"]], label="other", min_count=1).models,
        *seqtag.train(words, [["O", "B-LOC", "O"]], label="ner", min_count=1).models,
    ]
    for order in (models, models[::-1]):
        assert [each.text for each in seqtag.Pipeline(order)("In Norvale.").ents] == ["Norvale"]
    assert [each.text for each in seqtag.Pipeline(models[:1])("In Norvale.").ents] == ["In"]


@pytest.mark.parametrize("label", ["chunk", "chunk_tags", "label"])
def test_phrases_are_no_entities(label):
    words, labels = [["the", "cat", "sat"]], [["B-NP", "I-NP", "B-VP"]]
    document = seqtag.train(words, labels, label=label, min_count=1)("the cat sat")
    assert (document.ents, [each.label for each in document.spans(label)]) == ([], ["NP", "VP"])
