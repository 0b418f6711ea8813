"""Regular expressions of templates: bounded work on any word, or a refusal."""

from __future__ import annotations

import re

import pytest

from seqtag.errors import TemplateError
from seqtag.features.language import parse
from seqtag.features.regexes import LONGEST_WORD, bounded

REPEATED = "a repeated group"
REFERENCE = "a reference to a group"
MANY = "too many repetitions one after another"


@pytest.mark.parametrize(
    ("regex", "found"),
    [
        ("(a+)+$", REPEATED),
        ("(?:a*)*", REPEATED),
        ("(?:a?b)+", REPEATED),
        ("(?:a|aa)+$", REPEATED),
        ("((a{1,2}){2,3}){4}", REPEATED),
        (r"(?:\b){4000000000}", REPEATED),
        ("(?:)*", REPEATED),
        ("(?:ab){,2}", REPEATED),
        (r"(.*)\1", REFERENCE),
        ("(a)?(?(1)b|c)", "a group that begins with (?("),
        ("(?=a+)b", "a group that begins with (?="),
        ("(?<!a)b", "a group that begins with (?<"),
        ("(?#a)b", "a group that begins with (?#"),
        ("(?x) a +", "a group that begins with (?x"),
        ("a?" * 27, MANY),
        ("(a)?" * 27, MANY),
        ("(a|b)" * 27, MANY),
        ("a*" * 8, MANY),
        ("(?m)^" + "a*" * 5, MANY),
        ("^a|" + "a*" * 5, MANY),
        ("(?:a+|b)" * 5, MANY),
    ],
)
def test_expressions_that_may_take_for_ever_are_refused(regex, found):
    with pytest.raises(TemplateError) as error:
        parse(f'form[0]\nmatch("{regex}")[0]', "my.txt")
    assert str(error.value) == (
        "my.txt:2: expected a regular expression that is fast on any word, found "
        f"{found} in {regex!r}; repeat single characters or sets only, such as [a-z]+"
    )


@pytest.mark.parametrize(
    ("regex", "found"),
    [
        ("(", "missing ), unterminated subpattern at position 0"),
        ("a{99999999999}", "the repetition number is too large"),
        ("(?L)a", "bad inline flags: cannot use 'L' flag with a str pattern at position 3"),
    ],
)
def test_what_is_no_expression_is_refused(regex, found):
    with pytest.raises(TemplateError) as error:
        bounded(regex)
    assert str(error.value) == f'"{regex}" is not a regular expression: {found}; correct it'


@pytest.mark.parametrize("regex", ["(" * 3000 + ")" * 3000, "a" * 201])
def test_long_expressions_are_refused_before_they_are_read(regex):
    with pytest.raises(TemplateError) as error:
        bounded(regex)
    assert str(error.value) == (
        f"expected a regular expression of at most 200 characters, found {len(regex)}; "
        "split it into several templates"
    )
    assert bounded("(" * 100 + ")" * 100).longest == LONGEST_WORD


@pytest.mark.parametrize(
    ("regex", "longest"),
    [
        (r"^\d+$", LONGEST_WORD),
        (r"[^\w\s]+", LONGEST_WORD),
        ("(?i)^[a-z-]{2,5}x", LONGEST_WORD),
        ("^(?:ab|cd|efg)$", LONGEST_WORD),
        (".?.?.?$", LONGEST_WORD),
        ("^[A-Z]+[a-z]*$", LONGEST_WORD),
        ("[A-Z]+[a-z]*$", 400),
        ("^[A-Z]*[a-z]*?[0-9]*$", 400),
        ("^[A-Z]*[a-z]*[0-9]*-*$", 90),
        (r"^(\d|\x41|\N{DIGIT ONE}|\.|\n|[]]|[\]\b])?$", LONGEST_WORD),
        ("(?P<name>x{,3}){0}a{}b{,c", LONGEST_WORD),
        (r"(?i:\Aa*)(?-i:b*)(?s-i:[^]]{2,}?)\Z", 90),
        (r"(?m)^a*b*|\bc", 200),
        (r"^a*b*|\bc", 200),
        ("(?:st|nd|rd|th)?$", LONGEST_WORD),
    ],
)
def test_usual_expressions_see_as_much_of_a_word_as_they_may(regex, longest):
    assert bounded(regex).longest == longest
    for word in ("", "ab", "CD-2000", "Xylem", "x" * 29, "cd", "1"):
        ours, python = bounded(regex).search(word), re.search(regex, word)
        assert (ours and ours[0]) == (python and python[0])
    assert bounded(".+").search("x" * 5000)[0] == "x" * LONGEST_WORD
