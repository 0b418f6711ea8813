"""The JSON reader, and that the package has no other one for foreign data."""

from __future__ import annotations

import re

import pytest

from seqtag.storage import strict_json
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": {"b": 1, "c": 2, "b": 3}}', "^duplicate key 'b'$"),
        ("[NaN]", "^number 'NaN' is not finite$"),
        ("[1e999]", "^number '1e999' is not finite$"),
        ("[-Infinity]", "^number '-Infinity' is not finite$"),
        ("[" * 200_000 + "]" * 200_000, "^nested too deeply$"),
        ("9" * 5000, "^integer of 5000 digits, at most 4300 are allowed$"),
        (b'"\xff"', "invalid start byte"),
        ("{", "Expecting property name"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        strict_json.loads(text)


def test_what_is_read():
    assert strict_json.loads(b'\xef\xbb\xbf{"\xc3\xa9": [1, -2.5, true, null, "x"]}') == {
        "é": [1, -2.5, True, None, "x"]
    }
    with pytest.raises(ValueError, match="at most 3"):
        strict_json.loads("1234", max_digits=3)


OTHERS = {
    "corpus/write.py": "a line that was just written",
    "storage/strict_json.py": "the reader",
    "tagging/document.py": "sentences that were just written",
    "tagging/selection.py": "a line that was just written",
}


def test_there_is_no_other_reader():
    found = {
        path.relative_to(ROOT / "seqtag").as_posix()
        for path in (ROOT / "seqtag").rglob("*.py")
        if re.search(r"(?<!strict_)json\.(?:loads?\(|JSONDecoder\()", path.read_text("utf-8"))
    }
    assert found == OTHERS.keys()
