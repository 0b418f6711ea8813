"""Corpora in which not all types of chunks were annotated, and words that have one of several."""

from __future__ import annotations

import random

import pytest

import seqtag
from seqtag.errors import CorpusError, OptionError
from seqtag.evaluation.report import evaluate
from seqtag.model.bundle import to_bytes
from seqtag.training.train import train
from tests.command_line import call  # noqa: F401  a fixture
from tests.strategies import NATIVE, REFERENCE, install, needs_native

COLUMNS = {"columns": ["form", "ner"]}
SMALL = {"epochs": 3, "min_count": 1, **COLUMNS}
PARTIAL = {"persons.txt": ["PER"], "places.txt": ["LOC"]}
SYLLABLES = ["ba", "ko", "mi", "ne", "ru", "ta", "vo", "li", "sa", "du"]
FRAMES = (
    "PER met PER in LOC",
    "PER lives in LOC .",
    "the road to LOC is long",
    "we saw PER near LOC",
    "nobody came to LOC",
    "PER laughed .",
    "it rained .",
)


def sentences(count, seed):
    """Return made-up sentences, and their labels."""
    r = random.Random(seed)
    names = random.Random(1)
    known = {
        kind: ["".join(names.choices(SYLLABLES, k=3)).title() + end for _ in range(80)]
        for kind, end in (("PER", ""), ("LOC", "burg"))
    }
    found = []
    for _ in range(count):
        words, labels = [], []
        for word in r.choice(FRAMES).split():
            length = r.randint(1, 2) if word == "PER" else 1
            words += r.choices(known[word], k=length) if word in known else [word]
            labels += [f"{'BI'[i]}-{word}" for i in range(length)] if word in known else ["O"]
        found.append((words, labels))
    return found


def text(rows, *kinds):
    """Return sentences as a file in which only chunks of these types were annotated."""
    lines = [
        "\n".join(
            f"{word}\t{label if label[2:] in kinds else 'O'}"
            for word, label in zip(*row, strict=True)
        )
        for row in rows
    ]
    return "\n\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("persons", 2), ("places", 3)):
        rows = sentences(300, seed)
        kind = {"persons": "PER", "places": "LOC"}[name]
        (tmp_path / f"{name}.txt").write_text(text(rows, kind))
        (tmp_path / f"{name}-full.txt").write_text(text(rows, "PER", "LOC"))
    return tmp_path


def f1(tagger):
    rows = sentences(300, 4)
    found = [tagger.tag(words) for words, _ in rows]
    return 100 * evaluate([gold for _, gold in rows], found, scheme="iob2").score


def test_two_corpora_with_one_type_each_are_as_good_as_one_with_both(folder, caplog):
    caplog.set_level("INFO")
    files, full = ["persons.txt", "places.txt"], ["persons-full.txt", "places-full.txt"]
    assert f1(train(full, **COLUMNS)) > 99
    assert f1(train(files, **COLUMNS)) < 80
    assert f1(train(files, partial=PARTIAL, **COLUMNS)) > 99
    assert "persons.txt: only PER annotated; " in caplog.text
    assert " words labeled O may be LOC" in caplog.text
    assert "LOC: a model of other files found " in caplog.text


def test_a_third_corpus_with_both_types_teaches_as_well(folder):
    (folder / "both.txt").write_text(text(sentences(50, 5), "PER", "LOC"))
    files = ["persons.txt", "both.txt"]
    assert f1(train(files, partial={"persons.txt": ["PER"]}, **COLUMNS)) > 95


def test_where_all_types_were_annotated_nothing_changes(folder):
    files = ["persons-full.txt", "places-full.txt"]
    found = train(files, partial={file: ["PER", "LOC"] for file in files}, **SMALL)
    assert to_bytes([found.model]) == to_bytes([train(files, **SMALL).model])


def test_chunks_do_not_replace_given_ones(folder):
    """In one corpus Norvale is always a place, in the other always a person."""
    rows = [(["we", "saw", "Norvale", "."], ["O", "O", "B-PER", "O"])] * 20
    (folder / "a.txt").write_text(text(rows, "PER"))
    other = [(words, [label.replace("PER", "LOC") for label in labels]) for words, labels in rows]
    (folder / "b.txt").write_text(text(other[:10], "LOC"))
    found = train(["a.txt", "b.txt"], partial={"a.txt": ["PER"], "b.txt": ["LOC"]}, **SMALL)
    assert found.tag(rows[0][0]) == rows[0][1]


@pytest.mark.parametrize(
    ("partial", "told"),
    [
        ({"person.txt": ["PER"]}, "expected training files .*did you mean 'persons.txt'"),
        (
            {"persons.txt": ["PRE"]},
            r"types of chunks \(LOC, PER\), found 'PRE' \(did you mean 'PER'",
        ),
        ({file: ["PER"] for file in PARTIAL}, r"a file annotates, or map=O \(PER\), found 'LOC'"),
    ],
)
def test_what_is_said_of_other_files_and_types_is_refused(folder, partial, told):
    with pytest.raises(CorpusError, match=f"partial: .*{told}"):
        train(["persons.txt", "places.txt"], partial=partial, **SMALL)


def test_lists_and_pipelines_are_not_annotated_in_part(folder):
    with pytest.raises(CorpusError, match="expected training files"):
        train([["Mira"]] * 2, [["B-PER"]] * 2, partial=PARTIAL, epochs=1)
    with pytest.raises(OptionError, match="expected map or partial with one label"):
        train("persons.txt", label=["ner"], partial={"persons.txt": ["PER"]}, **SMALL)


def test_the_command_trains_as_python_does(folder, call):  # noqa: F811
    files, how = ["persons.txt", "places.txt"], ("--columns", "form,ner", "--epochs", 3)
    part = ("--partial", "persons.txt:PER", "--partial", "places.txt:LOC")
    done = call("train", *files, "-o", "m.seqtag", "--min-count", 1, *how, *part)
    assert (done.code, done.out) == (0, b"")
    assert "persons.txt: only PER annotated; " in done.err
    assert seqtag.load("m.seqtag").tag(["we", "saw"]) == ["O", "O"]
    python = train(files, partial=PARTIAL, **SMALL)
    assert (folder / "m.seqtag").read_bytes() == to_bytes([python.model])
    one = train(files, partial={**PARTIAL, "places.txt": "LOC"}, **SMALL)
    assert to_bytes([one.model]) == to_bytes([python.model])
    for given in (["persons.txt"], ["persons.txt:PER", "persons.txt:LOC"], [":PER"]):
        options = [part for each in given for part in ("--partial", each)]
        refused = call("train", *files, "-o", "n.seqtag", *options)
        assert refused.code == 2
        assert f"--partial FILE:TYPE,TYPE,..., each once, found {given[-1]!r}" in refused.err


# ----------------------------------------------------------------- sets of labels
WORDS = [["they", "can", "fish"], ["a", "can"], ["fish", "swim"]] * 3
GOLD = [["PRON", {"AUX", "VERB"}, {"NOUN", "VERB"}], ["DET", "NOUN"], ["NOUN", "VERB"]] * 3


def test_a_word_may_have_one_of_several_labels():
    tagger = train(WORDS, GOLD, label="upos", epochs=10, min_count=1)
    assert tagger.labels == ("AUX", "DET", "NOUN", "PRON", "VERB")
    assert tagger.info["training"]["labelled"] == 15
    assert tagger.tag(["they", "can", "fish"])[1] in {"AUX", "VERB"}
    numbers = {"DET": 0, "NOUN": 1, "PRON": 2, "VERB": 3, "AUX": 4}
    coded = [
        [{numbers[n] for n in each} if isinstance(each, set) else numbers[each] for each in row]
        for row in GOLD
    ]
    how = {"label": "upos", "epochs": 10, "min_count": 1, "names": [*numbers]}
    assert to_bytes([train(WORDS, coded, **how).model]) == to_bytes([tagger.model])


def test_a_set_of_one_label_is_that_label():
    alone = [[{label} for label in labels] for _, labels in sentences(20, 6)]
    words, labels = (list(part) for part in zip(*sentences(20, 6), strict=True))
    models = [train(words, gold, label="ner", epochs=2).model for gold in (alone, labels)]
    assert to_bytes([models[0]]) == to_bytes([models[1]])


@pytest.mark.parametrize("labels", [set(), {1}, {"NOUN", None}])
def test_what_is_no_set_of_labels_is_refused(labels):
    with pytest.raises(CorpusError, match="expected a string in the column 'upos'"):
        train([["fish"]], [[labels]], label="upos")


@needs_native
@pytest.mark.parametrize("update", ["adaptive", "pa"])
def test_both_backends_learn_sets_alike(update, monkeypatch):
    rows = [(["Mira", "saw", "Rome"], [{"B-PER", "B-ORG"}, "O", {"B-LOC", "O"}])] * 3
    rows += sentences(20, 6)
    found = []
    for backend in (REFERENCE, NATIVE):
        install(backend, monkeypatch)
        words, labels = (list(part) for part in zip(*rows, strict=True))
        how = {"label": "ner", "epochs": 3, "min_count": 1, "update": update}
        found.append(to_bytes([train(words, labels, **how).model]))
    assert found[0] == found[1]


@needs_native
def test_both_backends_complete_alike(folder, monkeypatch):
    found = []
    for backend in (REFERENCE, NATIVE):
        install(backend, monkeypatch)
        for name in ("persons", "places"):
            rows = sentences(30, len(name))
            (folder / f"{name}.txt").write_text(text(rows, "PER" if name == "persons" else "LOC"))
        tagger = train(["persons.txt", "places.txt"], partial=PARTIAL, **SMALL)
        found.append(to_bytes([tagger.model]))
    assert found[0] == found[1]
