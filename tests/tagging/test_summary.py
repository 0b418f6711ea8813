"""What notebooks show of taggers."""

from __future__ import annotations

import seqtag
from seqtag.corpus import sentence_of
from seqtag.features.language import parse
from tests.command_line import call, home  # noqa: F401
from tests.notebook import Shown


def test_notebooks_show_what_the_command_says(home, call):  # noqa: F811
    for name in ("upos", "chunk"):
        path = home / f"{name}.seqtag"
        shown = Shown.of(seqtag.load(path))
        text = call("info", path, "--verbose").out.decode()
        lines, templates = text.split("templates\n")
        assert [f"{name:<12} {value}" for name, value in shown.tables[0]] == lines.splitlines()[1:]
        assert shown.texts[:2] == [f"seqtag.Tagger of {name}", "templates"]
        assert shown.texts[2].splitlines() == [line[2:] for line in templates.splitlines()]


def test_names_of_any_letters_are_escaped():
    sentences = [sentence_of({"form": ["a", "b"], "<b>&": ["<i>", "X"]})]
    templates = parse('form[0]\ntest("<script>")[0]\nset min-count 1')
    shown = Shown.of(seqtag.train(sentences, label="<b>&", templates=templates, epochs=2))
    assert shown.texts[0] == "seqtag.Tagger of <b>&"
    assert 'test("<script>")[0]' in shown.texts[2]
