"""Template files of CRF++ and Wapiti."""

from __future__ import annotations

import string

import pytest

from seqtag.features.language import parse
from seqtag.features.templates import Term
from tests.features.template_files import message

CRFPP_FILE = r"""
# words
U00:%x[-1,0]
U01:%x[0,0]
U02:%x[-1,0]/%x[0,0]
u_lower X=%X[ 0,0]

*:Suf-3=%m[ 0,0,".?.?.?$"]
*:Caps=%t[+1,0,"^\u"]
*T:%T[-1,1,"\P*a"]
U10:%M[0,0,"\d\d*"]
U
B10:%x[0,1]
B
set epochs 5
"""


def test_crfpp_file():
    template_set = parse(CRFPP_FILE)
    assert str(template_set).splitlines() == [
        "%0[-1]",
        "%0[0]",
        "%0[-1] + %0[0]",
        "lower(%0)[0]",
        r'match(%0, ".?.?.?\Z")[0]',
        r'label[-1] + match(%0, ".?.?.?\Z")[0]',
        r'test(%0, "^[A-Z]")[+1]',
        r'label[-1] + test(%0, "^[A-Z]")[+1]',
        r'test(%1, "[^!-/:-@\[-`{-~]*?a")[-1]',
        r'label[-1] + test(%1, "[^!-/:-@\[-`{-~]*?a")[-1]',
        'match_lower(%0, "[0-9][0-9]*?")[0]',
        "bias",
        "label[-1] + %1[0]",
        "label[-1]",
        "set epochs 5",
    ]
    assert template_set.templates[5].line == template_set.templates[4].line == 8
    assert parse(str(template_set)) == template_set
    compiled = template_set.compile(["form", "pos"])
    assert [compiled.apply(i, "Boeing747") for i in range(5)] == [
        "Boeing747",
        "boeing747",
        "747",
        "1",
        "0",
    ]
    assert len(compiled.edges) == 4


def test_wapiti_punctuation():
    compiled = parse(r'U:%m[0,0,"^\p*$"]').compile(["form"])
    assert compiled.apply(0, string.punctuation) == string.punctuation
    assert compiled.apply(0, "é") == ""


@pytest.mark.parametrize(
    ("regex", "word", "value"),
    [
        ("^.?.?", "Walk", "Wa"),
        (".?.?$", "Walk", "lk"),
        (".?.?.?$", "a", "a"),
        (r"\u\l*$", "McDonald", "Donald"),
        (r"^\u*$", "McD", ""),
        (r"\a*", "abc", ""),  # the star is lazy
        (r"\p\w\W", "x-1%", "-1%"),
        (r"\.\*\?\$", "a.*?$", ".*?$"),
        (r"a+(b)[c]|^$d", "a+(b)[c]|^$d", "a+(b)[c]|^$d"),  # literal in Wapiti
        (r"\"\s\S", 'x" y', '" y'),
        (r"\\", "a\\b", "\\"),
        (r"\A\D\L\U", "1aAa", "1aAa"),
        ("", "abc", ""),
    ],
)
def test_wapiti_regex(regex, word, value):
    compiled = parse(f'U:%m[0,0,"{regex}"]').compile(["form"])
    assert compiled.apply(0, word) == value


@pytest.mark.parametrize(
    ("line", "start"),
    [
        ("U:%y[0,0]", 'expected macros %x[row,col], %m[row,col,"regex"] or %t[row,col,"regex"]'),
        ("U:%x[@1,0]", "expected macros"),
        ("U:%x[0]", "expected macros"),
        ("U:%m[0,0]", "expected a regular expression in %m and %t, and none in %x, found"),
        ('U:%x[0,0,"a"]', "expected a regular expression in %m and %t, and none in %x"),
        ('U:%t[0,0,"*a"]', 'expected a character before * in the regular expression "*a"; write'),
        ('U:%t[0,0,"a?*"]', "expected a character before *"),
        ("U:%x[10,0]", "expected an offset from -9 to 9, found 10"),
        ("X:%x[0,0]", "expected a CRF++ or Wapiti template that begins with U, B or *, found"),
    ],
)
def test_crfpp_error(line, start):
    assert message(f"U:%x[0,0]\n{line}").startswith(f"my.txt:2: {start}")


def test_a_foreign_template_that_is_repeated_is_kept_once(caplog):
    text = "# Unigram\nU00:%x[0,0]\n\nU01:%x[0,1]/%x[0,0]\nU02:%x[0,0]\nU03:%x[0,0]/%x[0,1]\nB\n"
    assert parse(text, "a") == parse("U:%x[0,0]\nU:%x[0,1]/%x[0,0]\nB\n")
    assert caplog.messages == [
        "a:5: the template is already on line 2; it is used once",
        "a:6: the template is already on line 4; it is used once",
    ]
    caplog.clear()
    assert parse("*:%x[0,0]\nB:%x[0,0]\nU:%x[0,1]\nB\n*\n") == parse("*:%x[0,0]\nU:%x[0,1]\nB\nU\n")
    assert [message.split(":")[1] for message in caplog.messages] == ["2", "5"]
    assert "is already on line 1; remove one" in message("form[0]\nform[0]")


def test_a_column_that_looks_like_crfpp():
    assert parse("u:x[0]").templates[0].terms == (Term("form", "u:x"),)
