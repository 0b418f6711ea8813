"""The worked example of CONTRIBUTING.md is all that a new label scheme needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")

END_TO_END = """
from seqtag import evaluate, train
from seqtag.corpus import sentence_of
from seqtag.features.language import parse
from seqtag.labels.schemes import SCHEMES, convert, detect_scheme

assert SCHEMES[-1] == "bioe"
assert detect_scheme([["B-NP", "E-NP", "B-NP", "O", "B-VP"]]) == "bioe"
iob2 = [
    (["the", "old", "man", "sees", "her"], ["B-NP", "I-NP", "I-NP", "B-VP", "B-NP"]),
    (["the", "man", "her", "and", "sees"], ["B-NP", "I-NP", "B-NP", "O", "B-VP"]),
]
templates = parse("form[0]\\nform[-1]\\nform[1]\\nlabel[-1]")
for written, encoding in [("iob2", "bioe"), ("bioe", "keep"), ("bioe", "iobes"), ("ioe1", "bioe")]:
    gold = [convert(labels, "iob2", written) for _, labels in iob2]
    data = [
        sentence_of({"form": words, "chunk": labels})
        for (words, _), labels in zip(iob2, gold, strict=True)
    ]
    tagger = train(
        data, label="chunk", templates=templates, encoding=encoding, epochs=10, min_count=1
    )
    assert tagger.label_scheme == written
    found = tagger.tag_many([words for words, _ in iob2])
    assert found == gold, (written, encoding, found)
    assert evaluate(gold, found, scheme=written).f1 == 1
"""


@pytest.mark.parametrize("path", re.findall(r"`((?:seqtag|tests|scripts|\.ci)/[\w./]+)`", TEXT))
def test_paths_that_are_named_are_there(path):
    assert (ROOT / path).exists()


def test_the_scheme_of_the_example_is_trained_decoded_and_converted_back(tmp_path):
    [line] = re.findall(r"```python\n( *\"bioe\": .*)\n```", TEXT)
    shutil.copytree(
        ROOT / "seqtag",
        tmp_path / "seqtag",
        ignore=shutil.ignore_patterns("__pycache__", "_native"),
    )
    module = tmp_path / "seqtag" / "labels" / "schemes.py"
    before, table, after = module.read_text("utf-8").partition("_SCHEMES = {\n")
    module.write_text(
        before + table + after.replace("}\n", f"    {line.strip()}\n}}\n", 1), "utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-W", "error", "-c", END_TO_END],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
            "SEQTAG_BACKEND": "reference",  # the copy has the kernel only in some installations
        },
    )
    assert (done.returncode, done.stderr) == (0, "")
