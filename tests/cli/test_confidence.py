"""seqtag tag --keep, --label-margin, --nbest; bundle --calibrate, explain; eval."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json
import re

import pytest

import seqtag
from tests.command_line import call, chunks, conllu, home, run


@pytest.fixture(scope="module")
def calibrated(home, tmp_path_factory):
    """The model of UPOS with a calibration."""
    path = tmp_path_factory.mktemp("calibrated") / "upos.seqtag"
    done = run("bundle", home / "upos.seqtag", "--calibrate", home / "train.conllu", "-o", path)
    assert done.code == 0, done.err
    assert "upos calibrated" in done.err
    assert "expected calibration error" in done.out.decode()
    return path


def rows(out: bytes) -> list[list[str]]:
    lines = out.decode().splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


TEXT = (
    "# sent_id = 1\n1\tthe\t_\tX\t_\t_\t_\t_\t_\tA=1\n2\tdog\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    "1\tbarks\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_confidence_goes_to_misc(call, calibrated, tmp_path, end):
    path = tmp_path / "in.conllu"
    path.write_bytes(TEXT.replace("\n", end).encode())
    options = "--label-margin", "--probability", "--nbest", "2", "--keep"
    done = call("tag", "-m", calibrated, path, *options)
    assert (done.code, done.err) == (0, "")
    assert done.out.count(end.encode()) == done.out.count(b"\n")
    tagger = seqtag.load(calibrated)
    given = ["X", None]
    labels, margins = (
        tagger.tag(["the", "dog"], given),
        tagger.tag(["the", "dog"], given, scores=True).margins,
    )
    paths = tagger.nbest(["the", "dog"], 2, given)
    scores = " ".join(f"{score:.0f}" for score, _ in paths)
    lines = done.out.decode().replace("\r", "").split("\n")
    assert lines[:2] == ["# sent_id = 1", f"# nbest_upos = {scores}"]
    found = rows(done.out)
    assert [row[3] for row in found[:2]] == labels == ["X", labels[1]]
    chances = tagger.tag(["the", "dog"], given, scores=True).probabilities
    misc = [
        f"Margin={margin:.0f}|P={p:.4f}|Upos2={second}"
        for margin, p, second in zip(margins, chances, paths[1][1], strict=True)
    ]
    assert [row[9] for row in found[:2]] == [f"A=1|{misc[0]}", misc[1]]
    assert misc[0].startswith("Margin=inf|P=1.0000|Upos2=X")


def test_confidence_in_column_files_is_the_last_column(home, call, tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("the\t_\ndog\tVERB\n\n")
    how = ("--columns", "form,upos", "--label-margin", "--keep")
    done = call("tag", "-m", home / "upos.seqtag", path, *how)
    tagger = seqtag.load(home / "upos.seqtag")
    given = [None, "VERB"]
    labels, margins = (
        tagger.tag(["the", "dog"], given),
        tagger.tag(["the", "dog"], given, scores=True).margins,
    )
    assert rows(done.out) == [
        ["the", labels[0], f"{margins[0]:.0f}"],
        ["dog", "VERB", "inf"],
    ]


def test_several_models_name_their_margins(home, call, tmp_path):
    path = tmp_path / "in.conllu"
    path.write_text(TEXT)
    models = "-m", home / "upos.seqtag", "-m", home / "xpos.seqtag"
    done = call("tag", *models, path, "--label-margin", "--nbest", "2")
    misc = [item.partition("=")[0] for item in rows(done.out)[1][9].split("|")]
    assert misc == ["MarginUpos", "Upos2", "MarginXpos", "Xpos2"]
    assert b"\n# nbest_upos = " in done.out and b"\n# nbest_xpos = " in done.out


def test_chunks_are_kept_as_they_are_written(home, call, tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("the DT _\ndog NN B-NP\nbarks VBZ _\n\n")
    options = "--format", "conll2000", "--keep"
    done = call("tag", "-m", home / "chunk.seqtag", path, *options)
    words = [("the", "DT"), ("dog", "NN"), ("barks", "VBZ")]
    labels = seqtag.load(home / "chunk.seqtag").tag(words, [None, "B-NP", None])
    assert labels[1] == "B-NP"
    assert [line.split()[2] for line in done.out.decode().split("\n")[:3]] == labels


# ----------------------------------------------------------------- calibrate, eval
def test_eval_shows_how_calibrated_scores_fit(home, call, calibrated):
    gold = home / "train.conllu"
    text = call("eval", "-m", calibrated, gold).out.decode()
    assert "calibrated scores" in text and "expected calibration error" in text
    value = json.loads(call("eval", "-m", calibrated, gold, "--json").out)
    assert sum(each["tokens"] for each in value["reliability"]["bins"]) == value["tokens"]
    assert 0 <= value["reliability"]["error"] <= 1
    plain = json.loads(call("eval", "-m", home / "upos.seqtag", gold, "--json").out)
    assert "reliability" not in plain
    value.pop("reliability")
    assert plain == value


def test_the_parts_of_a_pipeline_are_calibrated(home, call, tmp_path):
    both, done = tmp_path / "both.seqtag", tmp_path / "done.seqtag"
    assert call("bundle", home / "upos.seqtag", home / "xpos.seqtag", "-o", both).code == 0
    how = "--calibrate", home / "train.conllu", "-o", done
    assert "upos, xpos; upos, xpos calibrated" in call("bundle", both, *how).err
    assert all(model.calibration for model in seqtag.load(done).models)


def test_the_dev_set_is_read_as_the_model_read_its_training_file(call, tmp_path):
    """As by eval: the name of its label column is not one that would be guessed."""
    data, model, done = (tmp_path / name for name in ("t.txt", "m.seqtag", "done.seqtag"))
    data.write_bytes(chunks().replace(" ", "\t").encode())
    how = "--columns", "form,pos,label", "--label", "label", "--epochs", "2", "-q"
    assert call("train", data, *how, "-o", model).code == 0
    assert call("eval", "-m", model, data, "-q").code == 0
    assert "label; label calibrated" in call("bundle", model, "--calibrate", data, "-o", done).err


def test_gold_labels_of_another_kind_are_not_calibrated_on(home, call, tmp_path):
    """Scores learned from them are nonsense; a column of ``_`` stays uncalibrated."""
    other = tmp_path / "other.conllu"
    upos = conllu()
    for label in ("DET", "NOUN", "VERB", "ADJ", "PUNCT"):
        upos = upos.replace(f"\t{label}\t", f"\tx{label}\t")
    other.write_text(upos)
    plain = tmp_path / "plain.txt"
    plain.write_text(chunks().replace(" B-", " ").replace(" I-", " "))
    for model, path, message in (
        ("upos", other, "expected labels of the model, such as ADJ, DET, NOUN, PUNCT, found none"),
        ("chunk", plain, "expected chunk labels as the model writes them (iob2), found 'NP' in"),
    ):
        target = tmp_path / "new.seqtag"
        done = call("bundle", home / f"{model}.seqtag", "--calibrate", path, "-o", target)
        assert (done.code, done.out, target.exists()) == (1, b"", False)
        assert re.search(rf"seqtag: {path}(:1)?: {re.escape(message)}", done.err)


def test_nothing_to_calibrate_on(home, call, tmp_path):
    path = tmp_path / "in.conllu"
    path.write_text(conllu(labels=False))
    done = call("bundle", home / "upos.seqtag", "--calibrate", path, "-o", tmp_path / "a.seqtag")
    assert done.code == 1
    assert "expected gold labels in a column upos to calibrate on, found none" in done.err


def test_no_word_with_a_choice_to_calibrate_on(call, tmp_path):
    """Words that keep to the one label that they had in training say nothing of margins."""
    text = conllu(["the dog barks ."] * 9)
    (tmp_path / "in.conllu").write_text(text)
    model, out = tmp_path / "m.seqtag", tmp_path / "a.seqtag"
    train = ("train", tmp_path / "in.conllu", "-o", model, "--tag-dictionary", 1, "--epochs", 1)
    assert call(*train).code == 0
    done = call("bundle", model, "--calibrate", tmp_path / "in.conllu", "-o", out)
    assert (done.code, out.exists()) == (1, False)
    assert done.err.endswith(
        "in.conllu: expected words that could have several labels to calibrate on, found none: "
        "each word here had only one label in training; give more text\n"
    )


# ----------------------------------------------------------------- explain
def test_explain_shows_the_features_that_decided(home, call, tmp_path):
    model = home / "upos.seqtag"
    done = call("explain", "-m", model, "the dog barks", "--token", "2")
    why = seqtag.load(model).explain(["the", "dog", "barks"], 1)
    assert done.out.decode() == f"upos, sentence 1, {why.to_text(12)}\n"
    [value] = json.loads(call("explain", "-m", model, "the dog", "--token", "1", "--json").out)
    expected = seqtag.load(model).explain(["the", "dog"], 0).as_dict()
    assert value == {"sentence": 1, "part": "upos", **expected, "token": 1}  # as --token counts
    path = tmp_path / "in.conllu"
    path.write_text(TEXT)
    every = json.loads(call("explain", "-m", model, "--input", path, "--json").out)
    assert [(each["sentence"], each["word"]) for each in every] == [
        (1, "the"),
        (1, "dog"),
        (2, "barks"),
    ]
    rival = call("explain", "-m", model, "the dog", "--token", "2", "--rival", "VERB", "--json")
    assert json.loads(rival.out)[0]["rival"] == "VERB"
    assert call("explain", "-m", model, "", "--json").out == b"[]\n"


def test_explain_runs_the_parts_before(home, call, tmp_path):
    both = tmp_path / "both.seqtag"
    call("bundle", home / "upos.seqtag", home / "xpos.seqtag", "-o", both)
    every = json.loads(call("explain", "-m", both, "the dog", "--json").out)
    assert [each["part"] for each in every] == ["upos", "upos", "xpos", "xpos"]
    some = json.loads(call("explain", "-m", both, "the dog", "--only", "xpos", "--json").out)
    assert [each["part"] for each in some] == ["xpos", "xpos"]
