"""Corpora in which not all types of chunks were annotated, and words that have one of several."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest

from seqtag.errors import CorpusError
from seqtag.evaluation.report import evaluate
from seqtag.model.bundle import to_bytes
from seqtag.training.train import train
from tests.command_line import call  # noqa: F401  a fixture
from tests.strategies import NATIVE, REFERENCE, install, needs_native

COLUMNS = {"columns": ["form", "ner"]}
SMALL = {"epochs": 3, "min_count": 1, **COLUMNS}
FILES, FULL = ["persons.txt", "places.txt"], ["persons-full.txt", "places-full.txt"]
PARTIAL = {"persons.txt": ["PER"], "places.txt": ["LOC"]}
FRAMES = """PER met PER in LOC; PER lives in LOC .; the road to LOC is long; we saw PER near LOC;
nobody came to LOC; PER laughed .; it rained ."""
STEMS = [*map("".join, product(["ba", "ko", "mi", "ne"], ["ru", "ta", "vo"], ["li", "sa", "du"]))]
NAMES = {"PER": [*map(str.title, STEMS)], "LOC": [f"{stem.title()}burg" for stem in STEMS]}


def sentences(count, seed):
    """Return made-up sentences with their labels."""
    choose, found = random.Random(seed), []
    for _ in range(count):
        words, labels = [], []
        for word in choose.choice(FRAMES.split(";")).split():
            names = choose.choices(NAMES[word], k=choose.randint(1, 2)) if word in NAMES else [word]
            words += names
            begin = f"B-{word}" if word in NAMES else "O"
            labels += [begin, begin.replace("B", "I", 1)][: len(names)]
        found.append((words, labels))
    return found


def write(name, rows, *kinds):
    """Write sentences in which only chunks of these types were annotated."""
    with Path(name).open("w", encoding="utf-8") as file:
        for words, labels in rows:
            known = (label if label[2:] in kinds else "O" for label in labels)
            file.writelines(map("{}\t{}\n".format, words, known))
            file.write("\n")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, kind, rows in (
        ("persons", "PER", sentences(300, 2)),
        ("places", "LOC", sentences(300, 3)),
    ):
        write(f"{name}.txt", rows, kind)
        write(f"{name}-full.txt", rows, "PER", "LOC")
    return tmp_path


def f1(tagger):
    rows = sentences(300, 4)
    found = [tagger.tag(words) for words, _ in rows]
    return 100 * evaluate([gold for _, gold in rows], found, scheme="iob2").score


# ----------------------------------------------------------------- files
def test_two_corpora_with_one_type_each_are_as_good_as_one_with_both(folder, caplog):
    caplog.set_level("INFO")
    assert f1(train(FULL, **COLUMNS)) > 99
    assert f1(train(FILES, **COLUMNS)) < 80
    assert f1(train(FILES, partial=PARTIAL, **COLUMNS)) > 99
    assert "persons.txt: only PER annotated; " in caplog.text
    assert " words labeled O may be LOC" in caplog.text
    assert "LOC: a model of other files found " in caplog.text


def test_where_all_types_were_annotated_nothing_changes(folder):
    found = train(FULL, partial=dict.fromkeys(FULL, "PER,LOC"), **SMALL)
    assert to_bytes([found.model]) == to_bytes([train(FULL, **SMALL).model])


def test_chunks_do_not_replace_given_ones(folder):
    """In one corpus Norvale is always a person, in the other, which is smaller, a place."""
    rows = [(["we", "saw", "Norvale", "."], ["O", "O", "B-PER", "O"])] * 20
    write("a.txt", rows, "PER")
    write("b.txt", [(words, ["O", "O", "B-LOC", "O"]) for words, _ in rows[:10]], "LOC")
    found = train(["a.txt", "b.txt"], partial={"a.txt": "PER", "b.txt": "LOC"}, **SMALL)
    assert found.tag(rows[0][0]) == rows[0][1]


@pytest.mark.parametrize(
    ("partial", "told"),
    [
        ({"person.txt": "PER"}, "training files .*did you mean 'persons.txt'"),
        ({"persons.txt": "PRE"}, r"types of chunks \(LOC, PER\), found 'PRE' \(did you mean 'PER'"),
        (dict.fromkeys(FILES, "PER"), r"a file annotates, or map=O \(PER\), found 'LOC'"),
    ],
)
def test_what_is_said_of_other_files_and_types_is_refused(folder, partial, told):
    with pytest.raises(CorpusError, match=f"partial: expected .*{told}"):
        train(FILES, partial=partial, **SMALL)


def test_the_command_trains_as_python_does(folder, call):  # noqa: F811
    part = ("--partial", "persons.txt:PER", "--partial", "places.txt:LOC")
    how = ("--columns", "form,ner", "--epochs", 3, "--min-count", 1)
    done = call("train", *FILES, "-o", "m.seqtag", *how, *part)
    assert (done.code, done.out) == (0, b"")
    assert "persons.txt: only PER annotated; " in done.err
    python = train(FILES, partial=PARTIAL, **SMALL)
    assert (folder / "m.seqtag").read_bytes() == to_bytes([python.model])
    for given in (["persons.txt"], ["persons.txt:PER", "persons.txt:LOC"], [":PER"]):
        options = [part for each in given for part in ("--partial", each)]
        refused = call("train", *FILES, "-o", "n.seqtag", *options)
        assert refused.code == 2
        assert f"--partial FILE:TYPE,TYPE,..., each once, found {given[-1]!r}" in refused.err


@needs_native
def test_both_backends_complete_alike(folder, monkeypatch):
    found = []
    write("persons.txt", sentences(30, 7), "PER")
    write("places.txt", sentences(30, 8), "LOC")
    for backend in (REFERENCE, NATIVE):
        install(backend, monkeypatch)
        found.append(to_bytes([train(FILES, partial=PARTIAL, **SMALL).model]))
    assert found[0] == found[1]


# ----------------------------------------------------------------- sets of labels
WORDS = [["they", "can", "fish"], ["a", "can"], ["fish", "swim"]] * 3
GOLD = [["PRON", {"AUX", "VERB"}, {"NOUN", "VERB"}], ["DET", "NOUN"], ["NOUN", "VERB"]] * 3
OF_WORDS = {"label": "upos", "epochs": 10, "min_count": 1}


def test_a_word_may_have_one_of_several_labels():
    tagger = train(WORDS, GOLD, **OF_WORDS)
    assert tagger.labels == ("AUX", "DET", "NOUN", "PRON", "VERB")
    assert tagger.info["training"]["labelled"] == 15
    assert tagger.tag(["they", "can", "fish"])[1] in {"AUX", "VERB"}
    coded = [[0, {1, 2}, {3, 2}], [4, 3], [3, 2]] * 3
    named = train(WORDS, coded, names=["PRON", "AUX", "VERB", "NOUN", "DET"], **OF_WORDS)
    assert to_bytes([named.model]) == to_bytes([tagger.model])


@pytest.mark.parametrize("labels", [set(), {1}, {"NOUN", None}])
def test_what_is_no_set_of_labels_is_refused(labels):
    with pytest.raises(CorpusError, match="expected a string in the column 'upos'"):
        train([["fish"]], [[labels]], label="upos")


@needs_native
@pytest.mark.parametrize("update", ["adaptive", "pa"])
def test_both_backends_learn_sets_alike(update, monkeypatch):
    rows = [(["Mira", "saw", "Rome"], [{"B-PER", "B-ORG"}, "O", {"B-LOC", "O"}])] * 3
    words, labels = zip(*rows, *sentences(20, 6), strict=True)
    found = []
    for backend in (REFERENCE, NATIVE):
        install(backend, monkeypatch)
        how = {"label": "ner", "epochs": 3, "min_count": 1, "update": update}
        found.append(to_bytes([train([*words], [*labels], **how).model]))
    assert found[0] == found[1]
