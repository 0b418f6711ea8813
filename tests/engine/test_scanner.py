"""The native scanner: what it refuses; what it gives, the tests of tables say."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.strategies import NATIVE, int32, needs_native

if NATIVE:
    from seqtag.engine import native

pytestmark = needs_native


def test_scanned_rows_keep_their_text():
    scanner = native.Scanner(1, "\t", -1, False, [0], [-1])
    first, second = scanner.scan(b"a\nb\n", True), scanner.scan(b"b\n", False)
    assert first.splice([(int32(0, 0), [b"N"])]) == b"a\tN\nb\tN\n"
    assert second.splice([(int32(0), [b"V"])]) == b"b\tV\n"
    assert second.types.tolist() == [[1]]


def test_words_of_columns_are_written_in_another_format():
    for write in ([], [-1], [0, -1]):
        rows = native.Scanner(2, "\t", -1, False, [0], write).scan(b"a\tN\n", True)
        with pytest.raises(ValueError, match=r"^columns of the file, of forms first"):
            rows.words(False)
    words = (
        native.Scanner(2, "\t", -1, False, [0], [0])
        .scan(b"a\tN\nb\tN\n\nc\tV\n", True)
        .words(False)
    )
    assert words.sentence_ptr.tolist() == [0, 2, 3]
    assert words.lines([], b"/", b" ", b"\n", None) == b"a b\nc\n"


def test_tokens_are_numbered_line_by_line():
    scanner = native.WordScanner()
    rows = scanner.scan_lines(b"\xef\xbb\xbfa b\r\n\n \t\nb\xef\xbb\xbf c\ta ")
    np.testing.assert_array_equal(rows.types, [int32(0, 1, 1, 2, 0)])
    assert rows.sentence_ptr.tolist() == [0, 2, 2, 2, 5]
    assert scanner.new_values() == [b"a", b"b", b"c"]
    rows = scanner.scan_lines("é\u00a0x a\n".encode())
    np.testing.assert_array_equal(rows.types, [int32(3, 0)])
    assert rows.sentence_ptr.tolist() == [0, 2]
    assert scanner.new_values() == ["é\u00a0x".encode()]
    empty = scanner.scan_lines(b"")
    assert (empty.types.tolist(), empty.sentence_ptr.tolist()) == ([[]], [0])


def test_words_are_written_with_labels():
    rows = native.WordScanner().scan_lines(b"a b\n\nb\n")
    ids, names = int32(0, 1, 0), [b"X", b"Y"]
    assert rows.lines([], b"/", b" ", b"\n", None) == b"a b\nb\n"
    assert rows.lines([(ids, names)], b"/", b" ", b"\n", None) == b"a/X b/Y\nb/X\n"
    two = [(ids, names), (ids, names)]
    assert rows.lines(two, b" ", b"\n", b"\n\n", None) == b"a X X\nb Y Y\n\nb X X\n\n"
    assert rows.lines(two, b" ", b"\n", b"\n", 98) == b"99 a X X\n99 b Y Y\n100 b X X\n"
    shown = rows.json([b"x"], [(ids, names)], 0)
    assert shown == b'{"tokens": ["a", "b"], "x": ["X", "Y"]}\n{"tokens": ["b"], "x": ["X"]}\n'
    shown = rows.conllu([3], [(ids, names)], None, [], []).replace(b"\t_", b"").decode()
    assert shown == "# text = a b\n1\ta\tX\n2\tb\tY\n\n# text = b\n1\tb\tX\n\n"


def test_values_are_escaped_in_json():
    names = ["".join(map(chr, range(256))), "\u2028日本"]
    rows = native.WordScanner().scan_lines('"\\\0\b\x1f\x7fé x\n'.encode())
    shown = rows.json([b'"'], [(int32(0, 1), [name.encode() for name in names])], 0).decode()
    expected = {"tokens": ['"\\\0\b\x1f\x7fé', "x"], '"': names}
    assert shown == json.dumps(expected, ensure_ascii=False) + "\n"


def test_sentences_that_are_no_conllu_of_the_text_have_no_json():
    line, columns, letters = b"1\ta" + b"\t_" * 8 + b"\n", [(b"x", 3, b"", False)], [b"B", b"", b""]
    assert native.json_sentences(b"a b", line + b"\n", columns, letters, [1, 1, 1, 1]) == (
        b'{"text":"a","tokens":[{"text":"a","start":0,"end":1,'
        b'"words":[{"form":"a","labels":{"x":"_"}}]}]}'
    )
    several = (b"1-2" + line[1:] + line, b"2-1" + line[1:] + line, b"10-2" + line[1:] + line)
    for conllu in (line, line[:-1], b"1\ta\n\n", b"\n", *(each + b"\n" for each in several)):
        with pytest.raises(ValueError, match=r"^a (line|sentence|token) has no "):
            native.json_sentences(b"a b", conllu, columns, letters, [1, 1, 1, 1])
    with pytest.raises(ValueError, match=r"^a token ends after the text"):
        native.json_sentences(b"a", 2 * line + b"\n", columns, letters, [1, 1, 1, 1])
