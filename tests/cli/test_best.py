"""``train --best`` and ``--raw``: what they choose, learn, and say before they start."""

from __future__ import annotations

import json

import pytest

from seqtag.training import raw_text
from tests.command_line import Caller, call

__all__ = ["call"]

SAMPLE = "corpora/sample/en-sample-train.conllu"


@pytest.fixture
def raw(tmp_path):
    """Text of 600 words, each of which is seen often enough."""
    path = tmp_path / "raw.txt"
    words = [f"w{chr(97 + i % 26)}{chr(97 + i // 26)}x" for i in range(600)]
    lines = [" ".join([*words[i : i + 7], "dogs", "run."]) for i in range(0, 600, 5)]
    path.write_text("\n".join(lines * 3) + "\n", encoding="utf-8")
    return path


def facts(call, model):
    return json.loads(call("info", "--json", model).out)


def test_best_is_five_runs_and_a_trial_of_two_passes(tmp_path, call: Caller):
    model = tmp_path / "m.seqtag"
    done = call("train", SAMPLE, "--best", "--label", "upos", "--epochs", 3, "-o", model)
    assert done.code == 0, done.err
    training = facts(call, model)["training"]
    assert training["runs"] == 5
    scores = training["chosen"]["passes"]["scores"]
    better = max(scores, key=lambda passes: (scores[passes], passes == "1"))
    assert training.get("passes", 1) == int(better)
    assert f"note: passes {better}, by accuracy on " in done.err + " ".join(done.notes)
    assert "passes" in call("info", model).out.decode().split("chosen by trial")[1].split("\n")[0]


def test_quick_has_no_trial_of_passes(tmp_path, call: Caller):
    model = tmp_path / "m.seqtag"
    call("train", SAMPLE, "--best", "--label", "upos", "--quick", "--runs", 2, "-o", model)
    training = facts(call, model)["training"]
    assert training["runs"] == 2
    assert "passes" not in training
    assert "chosen" not in training


def test_classes_of_raw_text_are_learned_first(tmp_path, raw, call: Caller):
    models = [tmp_path / "a.seqtag", tmp_path / "b.seqtag"]
    for model in models:
        done = call("train", SAMPLE, "--label", "all", "--raw", raw, "--epochs", 2, "-o", model)
        assert done.code == 0, done.err
    assert models[0].read_bytes() == models[1].read_bytes()
    assert "component tokens, to segment raw.txt" in done.err + " ".join(done.notes)
    assert "500 word classes from 3,594 words of raw text" in done.err + " ".join(done.notes)
    tables = {t["name"] for part in facts(call, models[0])["parts"] for t in part.get("tables", [])}
    assert tables == {"raw"}


def test_an_interruption_of_the_segmenter_of_raw_text_is_not_lost(
    tmp_path, raw, call: Caller, monkeypatch
):
    real = raw_text.classes_of

    def stop(_epoch):
        raise KeyboardInterrupt

    def classes_of(*args, segmenter):
        return real(*args, segmenter=lambda *a, **how: segmenter(*a, **how, on_epoch=stop))

    monkeypatch.setattr("seqtag.training.train.classes_of", classes_of)
    done = call("train", SAMPLE, "--label", "upos", "--raw", raw, "-o", tmp_path / "m.seqtag")
    assert (done.code, [*tmp_path.glob("*.seqtag")]) == (130, [])


def test_text_is_cut_by_rules_for_files_without_spaces(tmp_path, raw, call: Caller):
    data, model = tmp_path / "x.txt", tmp_path / "m.seqtag"
    data.write_text("the\tDT\ndogs\tNNS\nrun\tVBP\n\n" * 20, encoding="utf-8")
    done = call("train", data, "--raw", raw, "-o", model)
    assert done.code == 0, done.err
    assert "raw.txt: tokenized by NLTK's rules for English" in done.err + " ".join(done.notes)


def test_raw_text_is_never_the_output_nor_standard_input_twice(tmp_path, raw, call: Caller):
    before = raw.read_bytes()
    done = call("train", SAMPLE, "--label", "upos", "--raw", raw, "-o", raw, "--force")
    assert "no file was changed" in done.err
    assert raw.read_bytes() == before
    twice = call("train", "-", "--label", "upos", "--raw", "-", "-o", tmp_path / "m.seqtag")
    assert twice.code == 2, twice.err
