"""seqtag compare."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json

import pytest

from tests.command_line import call, chunks, conllu, home


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Gold files, and what two systems made of them."""
    gold = conllu() * 5
    (tmp_path / "gold.conllu").write_text(gold)
    (tmp_path / "a.conllu").write_text(gold.replace("sees\tVERB", "sees\tNOUN"))
    (tmp_path / "b.conllu").write_text(gold.replace("sees\tVERB", "sees\tNOUN", 1))
    (tmp_path / "gold.txt").write_text(chunks() * 5)
    (tmp_path / "a.txt").write_text((chunks() * 5).replace("B-VP", "B-NP", 9))
    (tmp_path / "b.txt").write_text((chunks() * 5).replace("B-VP", "O", 3))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_files(folder, call):
    done = call("compare", "gold.conllu", "a.conllu", "b.conllu")
    assert (done.code, done.err) == (0, "")
    lines = done.out.decode().splitlines()
    assert lines[:2] == ["A a.conllu", "B b.conllu"]
    assert lines[4].split()[:4] == ["tokens", "88.64", "99.55", "+10.91"]
    assert lines[-3].startswith("task:upos|metric:accuracy|scheme:none|sentences:40|tokens:220|")
    assert "|resamples:1000|seed:1|" in lines[-3]
    assert lines[-1] == "B is better than A in tokens: +10.91 points, p = 0.0010 (paired bootstrap)"
    back = call("compare", "gold.conllu", "b.conllu", "a.conllu").out.decode()
    assert "\nA is better than B in tokens: +10.91 points, p = 0.0010 (" in back
    same = call("compare", "gold.conllu", "a.conllu", "a.conllu").out
    assert same.decode().endswith(
        "\nno significant difference in tokens at 5%: p = 1.0000 (paired bootstrap)\n"
    )
    again = call("compare", "gold.conllu", "a.conllu", "b.conllu")
    assert again.out == done.out


def test_chunks_as_json(folder, call):
    options = ("--json",)
    value = json.loads(call("compare", "gold.txt", "a.txt", "b.txt", *options).out)
    assert (value["gold"], value["a"], value["confidence"]) == ("gold.txt", "a.txt", 0.95)
    assert next(iter(value["differences"])) == "f1"
    assert value["differences"]["f1"]["difference"] > 0
    assert "|resamples:1000|seed:1|" in value["signature"]


def test_models_and_a_file(home, folder, call):
    value = json.loads(
        call("compare", "gold.conllu", home / "upos.seqtag", "b.conllu", "--json").out
    )
    assert value["differences"]["accuracy"]["a"] == 1
    assert value["differences"]["accuracy"]["b"] == 219 / 220
    part = call("compare", "gold.conllu", "en", home / "upos.seqtag", "--json")
    value = json.loads(part.out)["differences"]["accuracy"]
    assert value["a"] < value["b"] == 1


def test_texts_cut_otherwise(folder, call):
    done = call("compare", "gold.conllu", "a.conllu", "b.conllu", "--raw", "--label", "upos")
    assert (done.code, done.err) == (0, "")
    lines = done.out.decode().splitlines()
    assert lines[4].split()[:4] == ["UPOS", "88.64", "99.55", "+10.91"]
    assert lines[-3].startswith("task:aligned|metric:upos-f1|sentences:40|")
    raw = call("compare", "gold.conllu", "en", "en", "--raw", "--json")
    value = json.loads(raw.out)
    assert value["differences"]["words"]["difference"] == 0
    mixed = call("compare", "gold.conllu", "en", "gold.conllu", "--raw", "--json")
    assert json.loads(mixed.out)["differences"]["upos"]["b"] == 1
    pipeline = call("compare", "gold.conllu", "en", "b.conllu", "--json")
    assert next(iter(json.loads(pipeline.out)["differences"])) == "words"
