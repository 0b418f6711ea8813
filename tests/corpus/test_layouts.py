"""The layout that made a file is found: words, sentences and labels are read as they were written.

The files are made by `tests.layouts`, from the product of separators, comments, headers, marks of
sentences, schemes, spellings of labels, orders of columns, and line ends.
"""

from __future__ import annotations

import io
import json
import random

import pytest

import seqtag
from tests.command_line import call, home
from tests.layouts import ALL, columns_of, make, sentences_of

__all__ = ["call", "home"]


def read(text: str, **options: object) -> list[seqtag.Sentence]:
    return list(seqtag.read(io.BytesIO(text.encode()), **options))


@pytest.mark.parametrize("seed", range(8))
def test_files_of_every_layout_are_read_as_they_were_made(seed):
    draw = random.Random(seed)
    for settings in draw.sample(ALL, 250):
        made = make(sentences_of(draw, draw.randint(8, 30)), **settings)
        columns = columns_of(settings["order"], settings["mark"])
        every = read(made.text, columns=columns if draw.random() < 0.3 else None)
        assert "".join(each.raw for each in every) == made.text, settings
        found = [each for each in every if len(each)]
        assert [each.words for each in found] == made.words, settings
        assert [each.column("ner") for each in found] == made.labels, settings
        for each, labels in zip(found[:3], made.labels, strict=False):
            assert each.replace({"ner": labels}) == each.raw, settings
            outside = each.replace({"ner": ["O"] * len(labels)})
            changed = [a == b for a, b in zip(each.raw.split(), outside.split(), strict=True)]
            assert changed.count(False) == sum(label != "O" for label in labels), settings


@pytest.mark.parametrize("seed", range(12))
def test_train_tag_and_eval_agree_with_the_plain_file(seed, call, tmp_path):
    """Whatever the layout: the same model, the same predictions, the same scores."""
    draw = random.Random(seed)
    settings = draw.choice(ALL)
    seen, unseen = sentences_of(draw, 30), sentences_of(draw, 20)
    plain = {"order": "form pos ner" if "pos" in settings["order"] else "form ner"}
    plain["scheme"] = settings["scheme"]
    scores, labels = [], []
    for name, how in (("plain", plain), ("other", settings)):
        folder = tmp_path / name
        folder.mkdir()
        made = make(unseen, **how)
        (folder / "train").write_bytes(make(seen, **how).text.encode())
        (folder / "gold").write_bytes(made.text.encode())
        done = call("train", folder / "train", "-o", folder / "m", "--epochs", "3", "-q")
        assert done.code == 0, (settings, done.err)
        done = call("eval", folder / "gold", "-m", folder / "m", "--json")
        assert done.code == 0, (settings, done.err)
        scores.append({k: v for k, v in json.loads(done.out).items() if k in ("f1", "accuracy")})
        tagged = call("tag", folder / "gold", "-m", folder / "m", "-q").out.decode()
        found = [each for each in read(tagged) if len(each)]
        assert [each.words for each in found] == made.words, settings
        labels.append([each.column("ner") for each in found])
        assert len(tagged.split("\n")) == len(made.text.split("\n"))
        assert tagged.count("\r") == made.text.count("\r")
    assert scores[0] == scores[1], settings
    assert labels[0] == labels[1], settings
