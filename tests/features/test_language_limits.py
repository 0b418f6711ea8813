"""Template files that would take long to read, or hold too much, are refused."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.errors import TemplateError
from seqtag.features.language import _BEFORE_COMMENT, parse
from seqtag.features.templates import STRING
from tests.features.template_files import message


@pytest.mark.parametrize(
    ("line", "length"),
    [
        ('\\"' * 40_000, 80_000),
        ('"' * 40_001, 40_001),
        ("form" + " " * 40_000 + "x", 40_005),
        ("form[0]" + "#" * 40_000, 40_007),
    ],
)
def test_long_lines_are_refused(line, length):
    assert message(f"form[0]\n{line}") == (
        f"my.txt:2: expected a line of at most 2,000 characters, found {length:,}; "
        "write one template a line"
    )


def test_lines_are_not_searched_for_a_comment_without_end():
    """The search takes 120 bytes for each character: 600 MB for a file of 5 MB."""
    assert message("form[0]\n# " + "x" * 100_000) == (
        "my.txt:2: expected a line of at most 100,000 characters with its comment, found 100,002; "
        "write one template a line"
    )


@given(st.text('"\\# a', max_size=12))
def test_comments_begin_at_a_hash_after_space_that_is_in_no_string(text):
    kept, position = "", 0
    while position < len(text):
        string = re.compile(STRING).match(text, position)
        if string:
            kept, position = kept + string[0], string.end()
            continue
        if text[position] == "#" and (not position or text[position - 1].isspace()):
            break
        kept, position = kept + text[position], position + 1
    assert _BEFORE_COMMENT.match(text)[0] == kept


# Numbers of templates.


def test_too_many_templates_are_refused_before_the_rest_is_read():
    lines = [f"prefix({number})[0]" for number in range(1, 2002)]
    assert len(parse("\n".join(lines[:2000])).templates) == 2000
    assert message("\n".join([*lines, "what is this?"])) == (
        "my.txt:2001: expected at most 2,000 templates with 10,000 terms together, "
        "found 2,001 with 2,001; leave some out"
    )


def test_too_many_terms_are_refused():
    ahead = " + ".join(f"form[{offset}]" for offset in range(9))
    lines = [f"{ahead} + prefix({number})[0]" for number in range(1, 1002)]
    assert len(parse("\n".join(lines[:1000])).templates) == 1000
    assert message("\n".join(lines)) == (
        "my.txt:1001: expected at most 2,000 templates with 10,000 terms together, "
        "found 1,001 with 10,010; leave some out"
    )


def test_more_attributes_than_memory_has_room_for_are_refused():
    text = "".join(f"suffix({n})[0] + prefix({n})[0]\n" for n in range(1, 129))
    assert len(parse(text).compile(["form"]).attributes) == 256
    more = parse(text + "suffix(1)[+1]\nform[0] + suffix(129)[-1]\n", source="my.txt")
    with pytest.raises(TemplateError) as error:
        more.compile(["form"])
    assert str(error.value) == (
        "my.txt:130: expected templates that look at 256 different attributes at most, found "
        '"form[0]" beyond; leave some out'
    )
