"""Texts with spans as a corpus of the commands, and in Python."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json

import pytest

import seqtag
from seqtag.errors import CorpusError
from tests.command_line import call, home

PLACES = ["Norvale", "Oslo", "Rome", "Port Hale"]
TEXTS = [
    f"{name} lives in {place}. {name}'s dog, too." for name in ("Mira", "Ada") for place in PLACES
]
SPANS = [
    [
        (0, text.index(" "), "PER"),
        (text.index(" in ") + 4, text.index("."), "LOC"),
        (text.index(". ") + 2, text.index("'"), "PER"),
    ]
    for text in TEXTS
]
TRAINING = ["--min-count", 1, "--epochs", 3]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rows = seqtag.from_spans(TEXTS, SPANS)
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_model_tags_texts_as_it_was_trained(folder, call):
    done = call("train", "train.jsonl", "-o", "own.seqtag", *TRAINING)
    assert (done.code, "tokens (3), words (2), ner (5)" in done.err) == (0, True)
    scores = json.loads(call("eval", "-m", "own.seqtag", "train.jsonl", "--json").out)
    assert scores["score"] == 1.0
    (folder / "raw.txt").write_text(TEXTS[0])
    tagged = call("tag", "-m", "own.seqtag", "raw.txt").out.decode()
    assert [line.split("\t")[1] for line in tagged.splitlines() if "NER=B" in line] == [
        "Mira",
        "Norvale",
        "Mira",
    ]


def test_a_model_to_continue_from_cuts_the_texts(folder, call):
    call("train", "train.jsonl", "-o", "own.seqtag", *TRAINING)
    assert call("train", "train.jsonl", "--init", "own.seqtag", "-o", "b.seqtag").code == 0
    models = [seqtag.load(name).models for name in ("en", "own.seqtag", "b.seqtag")]
    cutters = [[model.labels for model in each[:2]] for each in models]
    assert cutters[0] == cutters[1] == cutters[2]


def test_spans_that_fit_no_words_are_missed(folder, call):
    row = {"text": "Mirafalk lives in Norvale.", "spans": [[0, 4, "PER"], [18, 25, "LOC"]]}
    (folder / "gold.jsonl").write_text(json.dumps(row))
    done = call("eval", "-m", "en", "gold.jsonl", "--json")
    scores = json.loads(done.out)
    assert scores["chunk_types"]["PER"]["gold"] == 1
    assert scores["chunks"]["recall"] <= 0.5
    note = "gold.jsonl:1: 1 span counted as missed: not whole words of a sentence: 'Mira' (0 to 4"
    assert note in done.err


@pytest.mark.parametrize(
    "command",
    [
        ["cv", "train.jsonl", "--folds", 2, *TRAINING],
        ["compare", "train.jsonl", "en", "own.seqtag"],
        ["eval", "train.jsonl", "train.jsonl"],
        ["info", "train.jsonl"],
        ["train", "train.jsonl", "--dev", "train.jsonl", "-o", "c.seqtag", *TRAINING],
    ],
)
def test_commands_read_texts_with_spans(folder, call, command):
    call("train", "train.jsonl", "-o", "own.seqtag", *TRAINING)
    done = call(*command)
    assert (done.code, "Traceback" in done.err) == (0, False)


def test_the_first_line_of_a_training_says_that_there_are_more_files_and_that_a_model_cuts(
    folder, call
):
    done = call("train", "train.jsonl", "train.jsonl", "-o", "two.seqtag", *TRAINING)
    assert "train.jsonl and 1 other file: " in done.notes[-1]
    assert "; cut into words by a model (see --tokens-from)" in done.notes[-1]


def test_folds_count_spans_that_fit_no_words_as_missed(folder, call):
    spans = [[0, 4, "PER"], [18, 25, "LOC"]]
    rows = [{"text": f"Mirafalk lives in Norvale {at}.", "spans": spans} for at in range(4)]
    (folder / "unfit.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = call("cv", "unfit.jsonl", "--folds", 2, *TRAINING, "--json")
    assert json.loads(done.out)["mean"] == pytest.approx(2 / 3)  # half of the spans are found


def test_folds_do_not_split_texts(folder, call):
    assert "by:document|units:8" in call("cv", "train.jsonl", "--folds", 2, *TRAINING).out.decode()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tokens-from", "none.seqtag"], "none.seqtag: No such file"),
        (["--overlaps", "shortest"], "expected one of longest"),
        (["--offsets", "utf8"], "expected one of codepoint, utf16, byte"),
        (["--format", "spans", "--label", "upos"], "expected one of the columns ner"),
    ],
)
def test_what_is_refused(folder, call, options, message):
    done = call("train", "train.jsonl", "-o", "own.seqtag", *options)
    assert done.code != 0
    assert message in done.err
    assert "Traceback" not in done.err


def test_messages_name_the_options_of_the_command(folder, call):
    regions = [{"start": 3, "end": 7, "label": "PER", "text": "Mira"}]
    rows = [
        {"text": "\N{ROCKET} Mira", "spans": regions},
        {"text": "Mira", "spans": [[0, 4, "A"], [0, 4, "B"]]},
    ]
    (folder / "odd.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = call("train", "odd.jsonl", "-o", "own.seqtag", *TRAINING)
    assert "odd.jsonl:2: expected spans that do not overlap" in done.err
    assert "use --overlaps longest" in done.err
    done = call("train", "odd.jsonl", "-o", "own.seqtag", "--overlaps", "longest", *TRAINING)
    assert "use --offsets utf16" in done.err


def test_a_model_without_a_tokenizer_cuts_no_texts(folder, call):
    seqtag.load("en").tagger("upos").save("upos.seqtag")
    done = call("train", "train.jsonl", "-o", "own.seqtag", "--tokens-from", "upos.seqtag")
    assert (done.code, "expected a model with the component tokens" in done.err) == (1, True)


def test_in_python():
    rows = seqtag.from_spans(TEXTS, SPANS)
    pipeline = seqtag.train(rows, min_count=1, epochs=3)
    assert pipeline.parts == ("tokens", "words", "ner")
    assert seqtag.score(pipeline, rows).f1 == 1.0
    found = [pipeline(text).ents for text in TEXTS]
    again = seqtag.from_spans(TEXTS, found)
    assert [
        [tuple(span[part] for part in ("start", "end", "label")) for span in row["spans"]]
        for row in again
    ] == SPANS
    with pytest.raises(CorpusError, match="do not overlap"):
        seqtag.train(seqtag.from_spans(["Oslo"], [[(0, 4, "A"), (0, 4, "B")]]))
