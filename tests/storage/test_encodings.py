"""The advice about files in other encodings works when it is followed."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus import read
from seqtag.errors import CorpusError

iconv = pytest.mark.skipif(shutil.which("iconv") is None, reason="iconv is not installed")
TEXT = "mira B-PER\nlikes O\n“Café” O\nünder O\nnaïve O\n\n"


def refusal(path) -> str:
    with pytest.raises(CorpusError) as caught:
        list(read(path))
    return str(caught.value)


def converted(path, advice: str) -> bytes:
    """The output of the command in a message."""
    command = re.search(r"iconv .*?UTF-8(?= |$)", advice)
    assert command, advice
    return subprocess.run(
        f"{command[0]} < {path}", shell=True, capture_output=True, check="-c -f" not in command[0]
    ).stdout


@iconv
@pytest.mark.parametrize(
    "encoding",
    [
        *("cp1252", "latin-1", "utf-16", "utf-16-le", "utf-16-be", "utf-32"),
    ],
)
def test_other_encodings(encoding, tmp_path):
    text = TEXT.replace("“", '"').replace("”", '"') if encoding == "latin-1" else TEXT
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode(encoding))
    assert converted(path, refusal(path)).decode() == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_no_text_with_null_bytes(encoding, tmp_path):
    path = tmp_path / "a.txt"
    for text in ("Собака бежит.\n", "a"):
        path.write_bytes(text.encode(encoding))
        assert "found a null byte" in refusal(path)


@given(st.text(st.characters(codec="cp1252", exclude_categories=["Cc"]), min_size=1))
def test_what_is_said_to_be_western_can_be_converted(tmp_path_factory, text):
    data = f"Café {text}\n".encode("cp1252")
    path = tmp_path_factory.getbasetemp() / "western.txt"
    path.write_bytes(data)
    try:
        found = list(read(path, "text"))
    except CorpusError as error:
        if "WINDOWS-1252" in str(error):
            assert data.decode("cp1252")
    else:
        assert found


@iconv
def test_utf_8_with_some_wrong_bytes(tmp_path):
    path = tmp_path / "mixed.txt"
    path.write_bytes("Café O\n".encode() * 3 + b"caf\xe9 O\n\n")
    message = refusal(path)
    assert f"{path}:4: " in message
    assert converted(path, message).decode() == "Café O\n" * 3 + "caf O\n\n"


@pytest.mark.parametrize("encoding", ["koi8-r", "euc-jp", "gb18030", "cp1251"])
def test_others_are_not_guessed(encoding, tmp_path):
    text = "слово O\n" if encoding in ("koi8-r", "cp1251") else "日本語 O\n"
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode(encoding))
    assert "iconv -f ENCODING -t UTF-8" in refusal(path)
