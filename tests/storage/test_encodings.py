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
from tests.command_line import call  # noqa: F401  (a fixture)

iconv = pytest.mark.skipif(shutil.which("iconv") is None, reason="iconv is not installed")
TEXT = "mira B-PER\nlikes O\n“Café” O\nünder O\nnaïve O\n\n"


def refusal(path) -> str:
    with pytest.raises(CorpusError) as caught:
        list(read(path))
    return str(caught.value)


def converted(path, advice: str) -> bytes:
    """The output of the command in a message."""
    command = re.search(r"(?:iconv|python3) .*?(?:UTF-8|NEW)(?= |$)", advice)
    assert command, advice
    line = command[0].removesuffix(" > NEW").removesuffix(" < FILE")
    return subprocess.run(
        f"{line} < {path}", shell=True, capture_output=True, check="-c -f UTF-8" not in line
    ).stdout


@iconv
@pytest.mark.parametrize(
    "encoding",
    [
        *("cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"),
        "latin-1",
    ],
)
def test_other_encodings(encoding, tmp_path):
    text = TEXT.replace("“", '"').replace("”", '"') if encoding == "latin-1" else TEXT
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode(encoding))
    assert converted(path, refusal(path)).decode() == text


@iconv
@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-le", "utf-32-be"])
def test_utf_32_of_any_script_is_named(encoding, tmp_path):
    path = tmp_path / "a.txt"
    for text in ("Собака бежит.\n", "日本語。", "𝒳𝒴", "a"):
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


def test_surrogates_in_utf_8(tmp_path, call):  # noqa: F811
    pairs = "\U0001f600 and \U00020000"
    wrong = pairs.encode("utf-16-be")
    units = [wrong[i : i + 2] for i in range(0, len(wrong), 2)]
    cesu = "".join(unit.decode("utf-16-be", "surrogatepass") for unit in units)
    path = tmp_path / "cesu.txt"
    path.write_bytes(b"mira O\n" + cesu.encode("utf-8", "surrogatepass") + b" O\n\n")
    message = refusal(path)
    assert f"{path}:2: " in message and "CESU-8" in message
    assert converted(path, message).decode() == f"mira O\n{pairs} O\n\n"
    done = call("tag", "-m", "en", path, "--format", "text")
    assert done.code == 1 and "python3 -c" in done.err


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
