"""seqtag in spaCy pipelines: annotating, saving, scoring, several processes; with the real "
"spaCy."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from importlib.metadata import entry_points

import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqtag
from seqtag.corpus import sentence_of
from seqtag.errors import ModelFileError, SeqtagError, install_hint
from seqtag.model import bundle
from tests.conftest import ROOT
from tests.treebanks import annotated, components

spacy = pytest.importorskip("spacy", reason="needs spaCy: pip install -e '.[spacy]'")

from spacy.tokens import Doc, Span, Token  # noqa: E402
from spacy.training import Example  # noqa: E402

import seqtag.integrations.spacy_factories  # noqa: E402  where it is not installed
from seqtag.integrations.spacy import SeqtagComponent, SeqtagTokenizer  # noqa: E402

GERMAN = [
    "Ich/ich/PRON bin/sein/AUX im=in/in/ADP+dem/der/DET Bett/Bett/NOUN ././PUNCT",
    "Er/er/PRON ist/sein/AUX im=in/in/ADP+dem/der/DET Haus/Haus/NOUN ././PUNCT",
    "Ich/ich/PRON bin/sein/AUX hier/hier/ADV !/!/PUNCT",
    "Geht's=Geht/gehen/VERB+'s/es/PRON im=in/in/ADP+dem/der/DET Haus/Haus/NOUN ?/?/PUNCT",
]
NAMED = [
    ("Anna Berg lives in Rome .", "NNP NNP VBZ IN NNP .", "B-PER I-PER O O B-LOC O"),
    ("She lives in New York .", "PRP VBZ IN NNP NNP .", "O O O B-LOC I-LOC O"),
    ("Paris is near .", "NNP VBZ RB .", "B-LOC O O O"),
]
SMALL = {"epochs": 10, "min_count": 1}


def named(column):
    """Sentences with the columns form, pos, and one of chunk labels."""
    return [
        sentence_of({"form": a.split(), "pos": b.split(), column: c.split()}) for a, b, c in NAMED
    ]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder of small models: a German pipeline, and taggers of several columns."""
    folder = tmp_path_factory.mktemp("models")
    bundle.save(folder / "de.seqtag", components(annotated(*GERMAN * 5)))
    words = folder / "words.txt"
    words.write_text("form[0]\nform[-1]\nlabel[-1]\nset min-count 1\n")
    for column in ("ner", "chunk"):
        tagger = seqtag.train(named(column), label=column, templates=words)
        tagger.save(folder / f"{column}.seqtag")
    seqtag.train(named("ner"), label="pos", **SMALL).save(folder / "pos.seqtag")
    seqtag.train(named("chunk"), label="chunk", **SMALL).save(folder / "after.seqtag")
    bare = [sentence_of({"form": ["a", "b"], "mood": ["gay", "sad"]})]
    seqtag.train(bare, label="mood", **SMALL).save(folder / "mood.seqtag")
    return folder


def pipe_of(model, *, lang="de", **config):
    nlp = spacy.blank(lang)
    nlp.add_pipe("seqtag", config={"model": str(model), **config})
    return nlp


@pytest.fixture(scope="module")
def german(home):
    """Tokenizer and component of the German pipeline."""
    return cut_by(home / "de.seqtag")


def cut_by(model):
    tokenizer = {"@tokenizers": "seqtag.Tokenizer.v1", "model": str(model)}
    nlp = spacy.blank("de", config={"nlp": {"tokenizer": tokenizer}})
    nlp.add_pipe("seqtag", config={"model": str(model)})
    return nlp


def facts(doc):
    return [(t.text, t.pos_, t.lemma_, t.whitespace_, bool(t.is_sent_start)) for t in doc]


# ----------------------------------------------------------------- what is set
def test_it_sets_the_attributes_of_an_english_pipeline():
    doc = pipe_of("en", lang="en")("The cats slept in Paris.")
    assert [token.pos_ for token in doc] == ["DET", "NOUN", "VERB", "ADP", "PROPN", "PUNCT"]
    assert [token.tag_ for token in doc] == ["DT", "NNS", "VBD", "IN", "NNP", "."]
    assert [token.lemma_ for token in doc] == ["the", "cat", "sleep", "in", "Paris", "."]
    assert [str(token.morph) for token in doc][1::2] == ["Number=Plur", "", ""]
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Paris", "LOC")]  # of misc.NER
    for attribute in ("POS", "TAG", "LEMMA", "MORPH"):
        assert doc.has_annotation(attribute, require_complete=True)


def test_sentences_are_tagged_by_themselves(home):
    nlp = pipe_of(home / "pos.seqtag")
    words = ["Paris", "is", "near", ".", "She", "lives", "in", "Rome", "."]
    starts = [i in (0, 4) for i in range(len(words))]
    tagger = seqtag.load(home / "pos.seqtag")
    doc = nlp(Doc(nlp.vocab, words=words, sent_starts=starts))
    assert [token.tag_ for token in doc] == tagger.tag(words[:4]) + tagger.tag(words[4:])
    doc = nlp(Doc(nlp.vocab, words=words))
    assert [token.tag_ for token in doc] == tagger.tag(words)


def sentences(doc):
    return [sentence.text for sentence in doc.sents]


def test_the_segmenter_sets_sentences_if_there_are_none(home):
    nlp = pipe_of(home / "de.seqtag", only=["upos"])
    doc = nlp("Ich bin hier!  Er ist im Bett.\n\nIch bin hier")
    assert sentences(doc) == ["Ich bin hier!  ", "Er ist im Bett.\n\n", "Ich bin hier"]
    assert [sentences(nlp(text)) for text in ("", " ", "Ich")] == [[], [" "], ["Ich"]]
    words = ["Ich", "bin", "hier", "!", "Er", "ist", "hier", "!"]
    given = nlp(Doc(nlp.vocab, words=words, sent_starts=[i == 0 for i in range(8)]))
    assert sentences(given) == [" ".join(words)]
    gold = Doc(nlp.vocab, words=words, sent_starts=[i in (0, 4) for i in range(8)])
    scores = nlp.evaluate([Example(nlp.make_doc(gold.text), gold)])
    assert scores["sents_f"] == 1.0 and "sents_per_type" not in scores
    with pytest.raises(ValueError, match="E030"):
        list(pipe_of(home / "pos.seqtag")("Rome . Paris").sents)


def test_the_embedded_model_of_the_language_is_the_default(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("seqtag")
    text = "They ran. Why?"
    assert sentences(nlp(text)) == ["They ran.", "Why?"]
    nlp.to_disk(tmp_path / "saved")
    again = spacy.load(tmp_path / "saved")
    assert facts(again(text)) == facts(nlp(text))
    tokenizer = {"@tokenizers": "seqtag.Tokenizer.v1"}
    blank = spacy.blank("en", config={"nlp": {"tokenizer": tokenizer}})
    assert sentences(blank(text)) == ["They ran.", "Why?"]


def test_names_become_entities_and_others_stay(home):
    nlp = pipe_of(home / "ner.seqtag")
    words = NAMED[0][0].split()
    doc = nlp(Doc(nlp.vocab, words=words))
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Anna Berg", "PER"), ("Rome", "LOC")]
    assert [token.ent_iob_ for token in doc] == ["B", "I", "O", "O", "B", "O"]

    doc = Doc(nlp.vocab, words=words)
    doc.ents = [Span(doc, 1, 3, label="MINE")]
    assert [(ent.text, ent.label_) for ent in nlp(doc).ents] == [
        ("Berg lives", "MINE"),
        ("Rome", "LOC"),
    ]


def test_chunks_become_spans_by_the_name_of_the_column(home):
    for model, options, key in (
        ("chunk.seqtag", {}, "chunk"),
        ("chunk.seqtag", {"spans": "sc"}, "sc"),
        ("ner.seqtag", {"spans": "names"}, "names"),
    ):
        nlp = pipe_of(home / model, **options)
        doc = nlp(nlp(Doc(nlp.vocab, words=NAMED[1][0].split())))  # twice is once
        assert [(span.text, span.label_) for span in doc.spans[key]] == [("New York", "LOC")]
        assert not doc.ents
        assert list(nlp("").spans[key]) == []
    doc = pipe_of(home / "chunk.seqtag", spans="ents")("Paris is near .")
    assert [span.text for span in doc.ents] == ["Paris"]


@pytest.mark.parametrize("label", ["ner_tags", "label", "NER"])
def test_names_are_entities_whatever_their_column_is_called(tmp_path, label):
    words, labels = [["In", "Norvale", "."]], [["O", "B-LOC", "O"]]
    seqtag.train(words, labels, label=label, min_count=1).save(tmp_path / "m.seqtag")
    doc = pipe_of(tmp_path / "m.seqtag")("In Norvale .")
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Norvale", "LOC")]


def test_without_sentence_borders_a_warning_says_so_once(home, caplog):
    nlp = pipe_of(home / "ner.seqtag")
    nlp("Paris is near .")
    assert "sentence borders" not in caplog.text
    for _ in range(2):
        nlp("Paris is near . Rome is far .")
    assert caplog.text.count("documents without sentence borders are tagged as one sentence") == 1
    caplog.clear()
    nlp = pipe_of(home / "ner.seqtag")
    nlp.add_pipe("sentencizer", first=True)
    nlp("Paris is near . Rome is far .")
    assert not caplog.text


def test_chunks_run_over_white_space(home):
    doc = pipe_of(home / "ner.seqtag")("She lives in New \n York .\nParis is near .")
    assert [ent.text for ent in doc.ents] == ["New \n York", "Paris"]


def test_a_component_reads_what_an_earlier_one_set(home):
    nlp = pipe_of(home / "pos.seqtag")
    nlp.add_pipe("seqtag", name="chunks", config={"model": str(home / "after.seqtag")})
    doc = nlp("Paris is near .")
    assert [span.text for span in doc.spans["chunk"]] == ["Paris"]
    assert nlp.get_pipe("chunks").pipeline.taggers[0].columns == ("form", "pos")


def test_other_columns_become_extensions(home):
    doc = pipe_of(home / "mood.seqtag")("a b")
    assert [token._.mood for token in doc] == ["gay", "sad"]
    Token.remove_extension("mood")


def test_white_space_is_left_out_and_labelled_as_spacy_does(german):
    nlp = spacy.blank("de")
    nlp.add_pipe("seqtag", source=german)
    doc = nlp("\n Ich  bin\thier ")
    spaces = [token for token in doc if token.is_space]
    assert [(t.pos_, t.lemma_, str(t.morph)) for t in spaces] == [
        ("SPACE", t.text, "") for t in spaces
    ]
    assert len(spaces) == 3
    others = [token.pos_ for token in doc if not token.is_space]
    assert others == ["PRON", "AUX", "ADV"]
    for text in ("", " \n"):
        assert nlp(text).text == text
    assert pipe_of("en", only=["xpos"])(" \n")[0].tag_ == "_SP"


def test_a_token_of_several_words_is_tagged_as_these(german):
    nlp = spacy.blank("de")
    nlp.add_pipe("seqtag", source=german)
    doc = nlp(Doc(nlp.vocab, words=["Er", "ist", "im", "Bett", "."]))
    assert [token.pos_ for token in doc] == ["PRON", "AUX", "ADP", "NOUN", "PUNCT"]
    assert doc[2].lemma_ == "in der"
    doc = nlp(Doc(nlp.vocab, words=["Geht's", "im", "Haus", "?"]))
    assert (doc[0].pos_, doc[0].lemma_) == ("VERB", "gehen es")


@pytest.mark.parametrize(
    ("column", "values", "merged"),
    [
        ("upos", ["ADP", "DET"], "ADP"),
        ("upos", ["CCONJ", "NOUN"], "NOUN"),
        ("xpos", ["APPR", "ART"], "APPR_ART"),
        ("lemma", ["de", "le"], "de le"),
        ("feats", ["_", "_"], "_"),
        ("feats", ["A=2|B=1", "_", "A=1,2|C=3"], "A=1,2|B=1|C=3"),
    ],
)
def test_values_of_several_words_become_one(column, values, merged):
    from seqtag.integrations.spacy import _merged

    assert _merged(column, values) == merged


def test_labels(home, german):
    assert "AUX" in german.get_pipe("seqtag").labels
    assert "in" not in german.get_pipe("seqtag").labels
    assert pipe_of(home / "ner.seqtag").pipe_labels == {"seqtag": ["LOC", "PER"]}
    assert SeqtagComponent().labels == ()


# ----------------------------------------------------------------- the tokenizer
def test_the_tokenizer_cuts_tokens_words_and_sentences(german):
    assert facts(german("Geht's im Haus? Ich bin hier!")) == [
        ("Geht", "VERB", "gehen", "", True),
        ("'s", "PRON", "es", " ", False),
        ("im", "ADP", "in der", " ", False),
        ("Haus", "NOUN", "Haus", "", False),
        ("?", "PUNCT", "?", " ", False),
        ("Ich", "PRON", "ich", " ", True),
        ("bin", "AUX", "sein", " ", False),
        ("hier", "ADV", "hier", "", False),
        ("!", "PUNCT", "!", "", False),
    ]


@given(
    st.text(st.sampled_from("Er ist im Haus's.!?\n\t _é\u0301\u00a0\ufeff\U0001f600"), max_size=40)
)
def test_no_character_is_lost(german, text):
    doc = german(text)
    assert doc.text == text
    assert all(token.text for token in doc)
    assert not len(doc) or doc[0].is_sent_start


@given(st.text(st.sampled_from("ab \n\t\u00a0"), max_size=20))
def test_white_space_is_cut_as_spacy_cuts_it(german, text):
    if "\u00a0" not in text:
        shown = [(token.text, token.whitespace_) for token in german.make_doc(text)]
        wanted = spacy.blank("xx")(text)
        assert [each for each in shown if each[0].isspace()] == [
            (token.text, token.whitespace_) for token in wanted if token.is_space
        ]


# ----------------------------------------------------------------- many documents
def test_the_tokenizer_takes_many_texts_at_once(german):
    texts = ["Er ist im Haus.", "", "  ", "Ich\n\nbin hier! Wer?"]

    def cut(docs):
        return [[(t.text, t.whitespace_, t.is_sent_start) for t in doc] for doc in docs]

    for size in (1, 3, 1000):
        docs = list(german.tokenizer.pipe(iter(texts), batch_size=size))
        assert [doc.text for doc in docs] == texts
        assert cut(docs) == cut(map(german.tokenizer, texts))
    tagged = german.pipe(german.tokenizer.pipe(texts))
    assert [[t.pos_ for t in doc] for doc in tagged] == [
        [t.pos_ for t in german(text)] for text in texts
    ]


def test_pipe_is_one_by_one(german):
    texts = ["Ich bin hier!", "", "Er ist im Bett. Ich bin im Haus.", " "] * 3
    wanted = [facts(german(text)) for text in texts]
    for size in (1, 5, 100):
        assert [facts(doc) for doc in german.pipe(texts, batch_size=size)] == wanted


def test_errors_in_documents_go_where_spacy_is_told(home):
    nlp = pipe_of(home / "after.seqtag")
    text = (
        "expected documents with token.tag_ for <component 'seqtag'>, whose model looks at pos, "
        "found one without; add a component that sets it before this one"
    )
    with pytest.raises(SeqtagError, match=re.escape(text)):
        nlp("Paris")
    caught = []
    nlp.set_error_handler(lambda name, proc, docs, error: caught.append((name, str(error))))
    list(nlp.pipe(["Paris", "Rome"]))
    assert caught == [("seqtag", text)]


SCRIPT = """
import multiprocessing, sys
import spacy

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    nlp = spacy.load(sys.argv[2])
    for doc in nlp.pipe(["Ich bin hier!", "Er ist im Bett."] * 5, n_process=2, batch_size=2):
        print(*[f"{token}/{token.pos_}" for token in doc])
"""


def is_installed():
    """Whether spaCy finds seqtag because it was installed, as in CI."""
    return any(point.name == "seqtag" for point in entry_points(group="spacy_factories"))


def installed(folder):
    """A folder that says what the entry points of seqtag are, as an installation would."""
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    found = re.findall(r"^\[project\.entry-points\.(\w+)\]\n((?:.+\n)+)", project, re.M)
    assert [group for group, _ in found] == ["spacy_factories", "spacy_tokenizers"]
    info = folder / "seqtag_perceptron-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: seqtag-perceptron\nVersion: 0\n")
    points = "".join(f"[{group}]\n{lines}\n" for group, lines in found).replace('"', "")
    (info / "entry_points.txt").write_text(points)
    return folder


def run(folder, *arguments):
    """Run Python where seqtag is installed, as far as spaCy can tell."""
    path = {} if is_installed() else {"PYTHONPATH": f"{ROOT}{os.pathsep}{installed(folder)}"}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=os.environ | path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_several_processes(german, tmp_path, method):
    if method == "fork" and not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    german.to_disk(tmp_path / "saved")
    (tmp_path / "script.py").write_text(SCRIPT)
    lines = run(tmp_path, tmp_path / "script.py", method, tmp_path / "saved").splitlines()
    assert (
        lines
        == ["Ich/PRON bin/AUX hier/ADV !/PUNCT", "Er/PRON ist/AUX im/ADP Bett/NOUN ./PUNCT"] * 5
    )


def test_spacy_finds_it_by_name_and_imports_nothing_before(tmp_path):
    code = (
        "import sys, spacy\n"
        "nlp = spacy.blank('en')\n"
        "print(*sorted(m for m in sys.modules if m.startswith('seqtag')))\n"
        "nlp.add_pipe('seqtag', config={'model': 'en'})\n"
        "cut = {'nlp': {'tokenizer': {'@tokenizers': 'seqtag.Tokenizer.v1', 'model': 'en'}}}\n"
        "print(*[token.pos_ for token in nlp(spacy.blank('en', config=cut)('It works.'))])\n"
    )
    imported, tags = run(tmp_path, "-c", code).splitlines()
    assert imported.split() == [
        "seqtag",
        "seqtag.integrations",
        "seqtag.integrations.spacy_factories",
        "seqtag.lazy",
        "seqtag.version",
    ]
    assert tags == "PRON VERB PUNCT"


# ----------------------------------------------------------------- saved and loaded
def test_on_disk_it_needs_no_other_file(german, home, tmp_path):
    (tmp_path / "copy.seqtag").write_bytes((home / "de.seqtag").read_bytes())
    nlp = cut_by(tmp_path / "copy.seqtag")
    (tmp_path / "copy.seqtag").unlink()
    nlp.to_disk(tmp_path / "saved")
    loaded = spacy.load(tmp_path / "saved")
    text = "Geht's im Haus?\n\n Ich bin hier."
    assert facts(loaded(text)) == facts(german(text))
    assert loaded.config["components"]["seqtag"]["model"] == str(tmp_path / "copy.seqtag")
    loaded.to_disk(tmp_path / "again")
    parts = [
        [
            (tmp_path / run / place / "model.seqtag").read_bytes()
            for place in ("seqtag", "tokenizer")
        ]
        for run in ("saved", "again")
    ]
    assert parts[0] == parts[1]


def test_in_bytes(german):
    tokenizer = {"@tokenizers": "seqtag.Tokenizer.v1"}
    nlp = spacy.blank("de", config={"nlp": {"tokenizer": tokenizer}})
    nlp.add_pipe("seqtag")
    nlp.from_bytes(german.to_bytes())
    assert facts(nlp("Er ist im Bett.")) == facts(german("Er ist im Bett."))


def test_pickled(german, home):
    again = pickle.loads(pickle.dumps(german))
    assert facts(again("Er ist im Bett.")) == facts(german("Er ist im Bett."))
    component = SeqtagComponent("names", home / "ner.seqtag", spans="sc")
    again = pickle.loads(pickle.dumps(component))
    assert (again.name, again._spans, again.labels) == ("names", "sc", component.labels)
    assert pickle.loads(pickle.dumps(SeqtagComponent())).labels == ()
    assert pickle.loads(pickle.dumps(SeqtagTokenizer(german.vocab)))._pipeline is None


# ----------------------------------------------------------------- scores
def test_scores(home):
    nlp = pipe_of(home / "pos.seqtag")
    nlp.add_pipe("seqtag", name="names", config={"model": str(home / "ner.seqtag")})
    nlp.add_pipe("seqtag", name="chunks", config={"model": str(home / "after.seqtag")})
    doc = Doc(
        nlp.vocab,
        words=["Paris", "is", "near", "."],
        tags=["NNP", "VBZ", "JJ", "."],
        ents=["B-LOC", "O", "O", "O"],
    )
    doc.spans["chunk"] = [Span(doc, 0, 2, label="LOC")]
    blank = Doc(nlp.vocab, words=[token.text for token in doc])
    found = nlp.evaluate([Example(blank, doc)])
    assert (found["tag_acc"], found["ents_f"], found["spans_chunk_f"]) == (0.75, 1.0, 0.0)
    assert found["ents_per_type"]["LOC"]["f"] == 1.0


def test_scores_of_a_pipeline(german):
    doc = Doc(
        german.vocab,
        words=["Er", "ist", "hier"],
        pos=["PRON", "AUX", "NOUN"],
        lemmas=["er", "sein", "hier"],
    )
    found = german.evaluate([Example(german.make_doc("Er ist hier"), doc)])
    assert (found["pos_acc"], found["lemma_acc"]) == (2 / 3, 1.0)
    nlp = pipe_of("en", lang="en", only=["feats"])
    morphs = ["", "Number=Sing"]
    doc = Doc(nlp.vocab, words=["Two", "cats"], morphs=morphs)
    assert nlp.evaluate([Example(nlp.make_doc("Two cats"), doc)])["morph_acc"] == 0.0


# ----------------------------------------------------------------- what goes wrong
def test_a_missing_file_is_said_at_once(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"embedded models: en$"):
        pipe_of(tmp_path / "none.seqtag")
    with pytest.raises(FileNotFoundError, match=r"embedded models: en$"):
        cut_by(tmp_path / "none.seqtag")


def test_no_model_yet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "de").mkdir()  # no model
    nlp = spacy.blank("de")
    nlp.add_pipe("seqtag")
    text = (
        "expected a model for <component 'seqtag'>, found none; give one with "
        'config={"model": "NAME or PATH"}, or load the whole pipeline with spacy.load'
    )
    advice = "; train the model for German, GSD (license: CC BY-SA 4.0): seqtag models train de"
    with pytest.raises(SeqtagError, match=re.escape(text + advice)):
        nlp("Ich")
    with pytest.raises(SeqtagError, match=re.escape(text) + "$"):
        SeqtagComponent()(nlp.make_doc("Ich"))
    with pytest.raises(SeqtagError, match=r"for <tokenizer seqtag\.Tokenizer\.v1>, found none"):
        SeqtagTokenizer(nlp.vocab)("Ich")


def test_models_of_no_use(home, tmp_path):
    parts = {model.column.name: model for model in seqtag.load(home / "de.seqtag").models}
    bundle.save(tmp_path / "cut.seqtag", [parts["tokens"]])
    bundle.save(tmp_path / "words.seqtag", [parts["tokens"], parts["words"]])
    for name, found in (("cut", "tokens"), ("words", "tokens, words")):
        with pytest.raises(ModelFileError) as error:
            pipe_of(tmp_path / f"{name}.seqtag")
        assert str(error.value).endswith(
            f"{name}.seqtag: expected a model that labels words, found one of {found}; name "
            "another, or use this one as tokenizer"
        )
    with pytest.raises(ModelFileError) as error:
        cut_by(home / "ner.seqtag")
    assert str(error.value).endswith(
        "ner.seqtag: expected a pipeline with a tokenizer, found ner; train one with --label all"
    )
    with pytest.raises(
        SeqtagError, match="expected one of the components tokens, words, upos, lemma, found"
    ):
        pipe_of(home / "de.seqtag", only=["xpos"])


def test_parts_of_speech_that_spacy_does_not_have(tmp_path):
    sentences = [sentence_of({"form": ["a", "b"], "upos": ["NOUN", "THING"]})]
    seqtag.train(sentences, label="upos", **SMALL).save(tmp_path / "odd.seqtag")
    with pytest.raises(ModelFileError) as error:
        pipe_of(tmp_path / "odd.seqtag")
    text = str(error.value)
    assert "expected universal parts of speech (ADJ, ADP, " in text
    assert text.endswith("found 'THING'; retrain it with these, or with --label xpos for token.tag")


def test_without_spacy_the_extra_is_named(tmp_path):
    code = (
        "import sys; sys.modules['spacy'] = None\n"
        "try:\n    import seqtag.integrations.spacy\n"
        "except ModuleNotFoundError as error:\n    print(error)\n"
    )
    said = run(tmp_path, "-c", code)
    assert said.startswith("expected spaCy, found none (")
    assert said.endswith(f"); {install_hint('spacy')}\n")
