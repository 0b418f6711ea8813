"""``seqtag select``: what is worth annotating next."""

from __future__ import annotations

import json
import re

import pytest

import seqtag
from seqtag.cli import main

TEXTS = {
    "a.txt": "It rains. Sing fish ductile! We went home.\n",
    "b.txt": "Sing fish ductile! Rain rains run down downs.\n",
}
MODEL = ("-m", "en", "--only", "upos")


@pytest.fixture
def files(tmp_path):
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    return [str(tmp_path / name) for name in TEXTS]


@pytest.fixture
def select(capsys):
    def run(*args):
        assert main(["select", *MODEL, *args]) == 0
        return capsys.readouterr()

    return run


def test_the_most_uncertain_sentences_come_first_and_once(files, select):
    out, err = select(*files)
    assert "chose 4 sentences, not 50" in err
    values = [float(each) for each in re.findall("^# uncertainty = (.*)$", out, re.MULTILINE)]
    assert values == sorted(values, reverse=True)
    assert out.count("# text = Sing fish ductile!") == 1
    assert "newdoc" not in out and out.endswith("\n\n") and "\n\n\n" not in out
    pipeline = seqtag.load("en").only("upos")
    sentences = [each for text in TEXTS.values() for each in pipeline.sentences(text)]
    expected = {*seqtag.uncertainty(pipeline, sentences).tolist()}
    assert values == pytest.approx(sorted(expected, reverse=True), rel=1e-3)


def test_fewer_are_the_first_of_many_and_few_of_each_document(files, select):
    found = [select(*files, "-n", str(number), "-q").out for number in (1, 2, 4)]
    assert found[2].startswith(found[1]) and found[1].startswith(found[0])
    out, _ = select(*files, "--per-document", "1", "--to", "jsonl")
    texts = [json.loads(line)["text"] for line in out.splitlines()]
    assert len(texts) == 2
    assert all(any(text in whole for text in texts) for whole in TEXTS.values())


def test_objects_keep_their_fields(tmp_path, select):
    rows = [{"id": 7, "tokens": ["It", "was"]}, {"id": 8, "tokens": []}]
    file = tmp_path / "a.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    [found] = map(json.loads, select(str(file), "-q").out.splitlines())
    assert found.pop("uncertainty") > 0
    assert found == {"id": 7, "tokens": ["It", "was"], "upos": ["PRON", "AUX"]}


def test_columns_have_no_room_for_the_uncertainty(tmp_path, select):
    file = tmp_path / "a.col"
    file.write_text("It\trains\nIt\tends\n\nIt\tis\n\n")
    out, err = select(str(file), "--columns", "form,_", "--to", "columns")
    assert out.count("\tPRON\n") == 3 and out.count("\n\n") == 2
    assert "no room for uncertainty" in err


def test_labels_that_are_kept_are_certain(tmp_path, select):
    file = tmp_path / "a.col"
    file.write_text("fish\tNOUN\nswim\tVERB\n\nfish\t_\nswam\tVERB\n")
    out, _ = select(str(file), "--columns", "form,upos", "--keep", "--to", "jsonl")
    first, last = map(json.loads, out.splitlines())
    assert first["tokens"] == ["fish", "swam"] and first["uncertainty"] > 0
    assert last["uncertainty"] == 0


def test_nothing_to_choose_from(tmp_path, select):
    file = tmp_path / "empty.txt"
    file.write_text("\n")
    out, err = select(str(file))
    assert out == "" and "chose 0 sentences" in err


def test_of_objects_with_texts_texts_are_chosen(tmp_path, select):
    texts = ["Rain rains. Sing fish ductile!", "We went home.", "We went home.", ""]
    rows = [{"id": at, "text": text} for at, text in enumerate(texts)]
    file = tmp_path / "a.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    out, err = select(str(file), "-n", "3", "--per-document", "1")
    assert "--per-document is unused" in err
    found = [json.loads(line) for line in out.splitlines()]
    assert [each["id"] for each in found] == [0, 1, 3]
    pipeline = seqtag.load("en").only("upos")
    expected = seqtag.uncertainty(pipeline, texts)[[0, 1, 3]]
    assert [each["uncertainty"] for each in found] == pytest.approx(expected, rel=1e-3)
    words = found[1]["sentences"][0]["tokens"][0]["words"]
    assert words == [{"form": "We", "labels": {"upos": "PRON"}}]
    out, err = select(str(file), "-n", "9")
    assert "chose 3 texts, not 9" in err


def test_chosen_tasks_of_an_annotation_tool_are_tasks(tmp_path, capsys):
    row = {"id": 4, "data": {"text": "Mira Falk sings.", "page": 2}, "annotations": []}
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps([row]))
    args = ("-m", "en", "--only", "ner", "--to", "label-studio", "-n", "1")
    assert main(["select", *args, str(file)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["data"].pop("uncertainty") > 0
    assert {name: found[name] for name in row} == row
    [region] = found["predictions"][0]["result"]
    assert region["value"]["text"] == "Mira Falk"
