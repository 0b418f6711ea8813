"""Encodings other than UTF-8: which one a file seems to have, and what converts it."""

from __future__ import annotations

import re

_VALID = re.compile(
    rb"[\xc3-\xdf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}|\xf0[\x90-\xbf][\x80-\xbf]{2}"
)
_WESTERN = re.compile(  # Windows-1252: a letter beside one of ASCII, or punctuation
    rb"(?<=[A-Za-z])[\xc0-\xff](?![\xc0-\xff])|(?<![\xc0-\xff])[\xc0-\xff](?=[A-Za-z])"
    rb"|[\x80\x85\x91-\x97\x99\xa0\xa1\xa3\xa7\xa9\xab\xae\xb0\xb4\xb7\xbb\xbf]"
)
_OTHER = re.compile(rb"[\x80-\xff]")
_NULL_SHARE = 0.7  # least share of null bytes in wide Latin text; quotation marks have none


def conversion(data: bytes | bytearray, at: int) -> str:
    r"""Return how to convert a file that is not UTF-8, given bytes of it and the first wrong one.

    >>> conversion(b"caf\xe9", 3)
    'convert the file to UTF-8, for example with iconv -f WINDOWS-1252 -t UTF-8 (if it is Western)'
    """
    near = bytes(data[max(at - 1, 0) : at + 4096])
    if _VALID.search(data, 0, at):
        return (
            "other characters are UTF-8: correct this place, or leave out such bytes with iconv "
            "-c -f UTF-8 -t UTF-8"
        )
    western = 10 * len(_WESTERN.findall(near)) >= 8 * len(_OTHER.findall(near))
    if western and not re.search(rb"[\x81\x8d\x8f\x90\x9d]", near):
        name, condition = "WINDOWS-1252", " (if it is Western)"
    else:
        name, condition = "ENCODING", ""
    return f"convert the file to UTF-8, for example with iconv -f {name} -t UTF-8{condition}"


_TAR_MARK = slice(257, 262)  # where tar archives say so

_BINARY: dict[bytes | tuple[bytes, ...], tuple[str, str]] = {
    b"version https://git-lfs": (
        "a pointer of Git LFS instead of the file",
        "fetch it with git lfs pull",
    ),
    (b"x\x9c", b"x\xda", b"x\x01"): (
        "zlib data, as of spaCy's DocBin",
        "give its documents to seqtag.train in Python: DocBin().from_disk(FILE).get_docs(vocab)",
    ),
    (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05", b"\x93NUMPY", b"\x89HDF"): (
        "a pickle or arrays",
        "load it where it comes from, and write words and labels as text",
    ),
    b"/annex/objects/": ("a pointer of git-annex", "fetch the file with git annex get"),
    (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF"): ("a picture or sound", "recognize its text"),
    b"7z\xbc\xaf": ("a 7z archive", "unpack it with 7z x"),
    b"Rar!": ("a RAR archive", "unpack it"),
    b"SQLite format 3\0": ("a database of SQLite", "write its texts with sqlite3"),
    b"%PDF-": ("PDF", "convert it with pdftotext"),
    b"PK\x03\x04": (
        "a ZIP archive, as of DOCX or XLSX",
        "unpack it, or save its text as a text file, or CSV",
    ),
    b"\xd0\xcf\x11\xe0": ("a document of Office", "save it as a text file, or as CSV"),
    (b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"): (
        "Parquet or Arrow",
        "read it in Python: seqtag.train(pyarrow.parquet.read_table(FILE)), and tag a column of "
        "texts with seqtag.load().pipe(table[COLUMN].to_pylist())",
    ),
    b"{\\rtf": ("RTF", "save it as a text file"),
}


def binary_format(start: bytes) -> tuple[str, str] | None:
    """Return the name of a format that is no text, and what to do, by the start of a file.

    >>> binary_format(b"%PDF-1.7"), binary_format(b"dog")
    (('PDF', 'convert it with pdftotext'), None)
    """
    if start[_TAR_MARK] == b"ustar":
        return "a tar archive", "unpack it with tar -xf"
    return next((found for magic, found in _BINARY.items() if start.startswith(magic)), None)


def wide_encoding(start: bytes) -> str:
    r"""Return the name of UTF-16 or UTF-32, if a file begins with a mark or with null bytes.

    >>> wide_encoding(b"\xff\xfea\0"), wide_encoding("dogs".encode("utf-16-be"))
    ('UTF-16', 'UTF-16BE')
    """
    if start.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "UTF-32"
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16"
    if len(start) < 4:
        return ""
    counts = [start[i::4].count(0) / len(start[i::4]) for i in range(4)]
    if any(0 < share < _NULL_SHARE for share in counts):
        return ""
    has_nulls = [share > 0 for share in counts]
    endings = {"LE": [False, True, False, True], "BE": [True, False, True, False]}
    return next((f"UTF-16{end}" for end, nulls in endings.items() if nulls == has_nulls), "")
