"""Prose that mentions marks is text, and a named format is read."""

from __future__ import annotations

import io

import pytest

import seqtag
from tests.command_line import call, home

__all__ = ["call", "home"]


def test_the_command_line_refuses_them_unless_the_format_is_named(tmp_path, call):
    text = "Dogs bark .\n<START:person> Mira <END> ran .\n"
    (tmp_path / "in.txt").write_text(text)
    for command in (["tag"], ["train", "-o", tmp_path / "m.seqtag"]):
        done = call(*command, tmp_path / "in.txt")
        assert done.code == 1
        assert "in.txt:2: expected a corpus or text, found text with marks of names" in done.err
        assert "(1 of 2 lines); convert it, for example with a script that writes" in done.err
    done = call("tag", "--format", "tokens", "--to", "tokens", tmp_path / "in.txt")
    assert (done.code, done.out.decode()) == (0, text)


@pytest.mark.parametrize(
    "text",
    [
        "Write <b>dog</b> for bold text.\nIt is <b> in HTML.\nSee https://norvale.example/a.\n",
        "Use the <PER> mark.\nIt goes around names.\n",
        "# Setup\n\n```html\n<p>A dog</p>\n```\n\nThen run it with the file.\nIt works.\n",
        '<p align="center">\n<img src="a.png">\n</p>\n\n'
        + "One line.\nWhy is it here, then?\nThe page has a long line.\nAnother.\n"
        "So it goes on and on, with more.\nAnd on.\nIt ends.\n",
        "- See [install](install.md)\n- See [train](train.md)\n- See [tag](https://a.example)\n",
        "[12/03/2025, 09:14] Mira: Where are you?\n[12/03/2025, 09:15] Tavo: At home.\n",
        "<Mira> where are you?\n<Tavo> at home\n<Mira> ok\n",
        "From: mira@norvale.example\nTo: tavo@norvale.example\n\n> Where are you?\nI am at home now.\n",
        "\\section{Intro}\nWe train~\\cite{falk} with $x_i = 3$.\n",
        "The town was founded in 1802.<ref>Falk 2001</ref>\n* first\n* second {{x|y=1}}\n",
        "2025-03-12 09:14:02,113 ERROR could not bind\n2025-03-12 09:14:03,001 INFO again\n",
        "Meet at 09:15 --> room 3, please.\nBring (all) the notes.\n",
        "WHY NOT GO\n! ! !\nOH NO\n! !\n",
    ],
)
def test_prose_that_mentions_marks_is_text(text):
    more = "It was late. The dog barked at the postman, who ran away.\nWhy did he run?\n"
    assert seqtag.sniff(io.BytesIO((text + more).encode())).format == "text"
