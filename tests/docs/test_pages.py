"""Pages are run: console and Python blocks of the README and others, and all doctests."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys

import click
import pytest

import seqtag
from benchmarks import options
from seqtag.cli import COMMANDS
from seqtag.corpus import FORMATS
from seqtag.features.attributes import TABLE_ATTRIBUTES
from seqtag.settings import SETTINGS
from tests.conftest import ROOT

PAGES = {
    "README.md": (),
    "docs/index.md": ("nltk",),
    "docs/tutorial.md": ("nltk",),
    "docs/conllu.md": (),
    "docs/own-tagger.md": ("spacy",),
    "docs/how-to/annotate.md": (),
    "docs/how-to/before-you-tag.md": (),
    "docs/how-to/classifiers.md": (),
    "docs/how-to/confidence.md": (),
    "docs/how-to/distill.md": (),
    "docs/how-to/evaluate.md": (),
    "docs/how-to/from-sklearn-crfsuite.md": ("sklearn", "sklearn_crfsuite"),
    "docs/how-to/left-to-others.md": ("scipy", "sklearn"),
    "docs/how-to/many-files.md": (),
    "docs/how-to/names-from-little-data.md": (),
    "docs/how-to/nltk-conllu.md": ("nltk",),
    "docs/how-to/partial-annotation.md": (),
    "docs/how-to/python-lists.md": ("nltk",),
    "docs/how-to/python.md": ("nltk",),
    "docs/how-to/select.md": (),
    "docs/how-to/settings.md": (),
    "docs/how-to/spacy.md": ("spacy",),
    "docs/how-to/tables.md": ("pandas", "polars", "pyarrow"),
    "docs/how-to/tag.md": ("nltk",),
    "docs/how-to/texts-with-spans.md": (),
    "docs/how-to/train.md": (),
    "docs/how-to/troubleshooting.md": (),
    "docs/how-to/word-lists.md": (),
    "docs/reference/formats.md": (),
    "docs/reference/model-file.md": (),
    "docs/reference/templates.md": (),
}
"""The pages with blocks to run, and the libraries that each needs."""

OTHERS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    """Code blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text_of(page), re.M | re.S)


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder with the sample corpus and a command ``seqtag`` that is this installation."""
    shutil.copytree(ROOT / "corpora", tmp_path / "corpora")
    place = tmp_path / "nltk_data" / "corpora" / "conll2000"  # as NLTK's downloader makes it
    place.mkdir(parents=True)
    for part in ("train", "test"):
        sample = ROOT / "corpora" / "sample" / f"en-sample-{part}.chunk.txt"
        text = sample.read_text(encoding="utf-8")
        (place / f"{part}.txt").write_text(text, encoding="ascii", errors="replace")
    shim = tmp_path / "bin" / "seqtag"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m seqtag "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
def test_blocks_print_what_the_page_says(page, workplace, monkeypatch):
    """First the shell, then Python, which finds the files made there.

    Where a page shows messages of seqtag, stderr is compared as well, and the command may fail.
    """
    for library in PAGES[page]:
        pytest.importorskip(library, reason=f"needs {library}: pip install -e '.[dev]'")
    if "nltk" in PAGES[page]:
        data = importlib.import_module("nltk.data")
        monkeypatch.setattr(data, "path", [str(workplace / "nltk_data"), *data.path])
    if "spacy" in PAGES[page]:  # where seqtag is not installed, spaCy cannot find it by itself
        importlib.import_module("seqtag.integrations.spacy_factories")
    checker = doctest.OutputChecker()
    commands = 0
    for block in blocks(page, "console"):
        for command, wanted in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            commands += 1
            done = subprocess.run(
                ["sh", "-c", command], capture_output=True, text=True, check=False
            )
            shown = done.stdout
            if "seqtag: " in wanted:
                shown += done.stderr
            else:
                assert done.returncode == 0, (command, done.stderr)
            assert checker.check_output(wanted, shown, FLAGS), (command, shown)
    source = "\n".join(blocks(page, "python"))
    test = doctest.DocTestParser().get_doctest(source, {}, page, page, 0)
    results = doctest.DocTestRunner(optionflags=FLAGS).run(test)
    assert commands + results.attempted > 0
    assert results.failed == 0


def test_no_two_pages_write_the_same_file():
    """Who reads one after the other would be refused, or use the file of the first."""
    page_of: dict[str, str] = {}
    for page in PAGES:
        shell, python = ("".join(blocks(page, language)) for language in ("console", "python"))
        commands = "".join(re.findall(r"^\$ (.*\n)", shell, re.M))
        names = re.findall(r"(?:\s-o|(?<!2)>) ?([\w./-]+)", commands)
        names += re.findall(r'(?:\.save\(|tag_files\([^,]+, )"([^"]+)"', python)
        names += re.findall(r'open\("([^"]+)", "w', python)
        for name in {*names} - {"-", "/dev/null", "1"}:
            assert page_of.setdefault(name, page) == page, name
    assert len(page_of) > 30


HOW_TO = sorted(path.name for path in (ROOT / "docs" / "how-to").glob("*.md"))


@pytest.mark.parametrize("name", [name for name in HOW_TO if name != "index.md"])
def test_guides_begin_with_what_one_has_and_gets_and_a_complete_command(name):
    text = text_of(f"docs/how-to/{name}")
    begin = r"# [^\n]+\n\n\*\*You have:\*\* .+?\n\n\*\*You get:\*\* .+?\n\n(.*?)(?=^## |\Z)"
    found = re.match(begin, text, re.M | re.S)
    assert found, "expected the title, **You have:** and **You get:**"
    assert re.search(r"^```(?:console|sh|python)$", found[1], re.M), "expected a complete command"


def test_the_table_of_attributes_is_complete():
    section = text_of("docs/reference/templates.md").split("## Attributes\n")[1].split("\n## ")[0]
    named = re.findall(
        r"`(\w+)(?:\([^`]*\))?`", "".join(re.findall(r"^\|([^|]*)\|", section, re.M))
    )
    source = text_of("seqtag/features/builtin.py")
    built_in = re.findall(r'^@attribute\("(\w+)"\)', source, re.M)
    assert {*named} == {*built_in, *TABLE_ATTRIBUTES}


def test_the_list_of_settings_is_complete():
    section = text_of("docs/reference/templates.md").split("## Settings\n")[1]
    listed = section.split("The names are those of the options: ")[1].split(". ")[0]
    assert re.findall(r"`([a-z-]+)`", listed) == [*SETTINGS]


def test_the_table_of_formats_is_complete():
    section = text_of("docs/reference/formats.md").split("## Formats\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([\w-]+)` \| ([^|]+) \| ([^|]+) \|", section, re.M)
    found = {
        name: (read != "no" and "as" not in read, write == "yes") for name, read, write in rows
    }
    assert found == {
        name: (format.is_readable, format.write is not None) for name, format in FORMATS.items()
    }


def test_the_example_of_each_format_is_what_it_is_said_to_be():
    [text] = re.findall(
        r"<!-- examples -->\n\n```text\n(.*?)```", text_of("docs/reference/formats.md"), re.S
    )
    found = {}
    for line in text.splitlines():
        name, example = line.split(maxsplit=1)
        lines = [re.sub(" *⇥ *", "\t", each.strip(" ")) for each in example.split("↵")]
        layout = seqtag.sniff(lines)
        assert "form" in layout.columns
        found[name] = layout.format
    as_columns = {"conll2000", "conll2002", "conll2003", "tsv"}  # which are column files
    expected = {name: "columns" if name in as_columns else name for name in FORMATS}
    assert found == expected | {"tokens": "text"}  # which must be named


@pytest.mark.parametrize("page", ["README.md", *OTHERS])
def test_commands_have_the_options_that_a_page_names(page):
    for name, line in re.findall(r"\bseqtag ([a-z]+) ([^|&#>`\n]*)", text_of(page)):
        if name in COMMANDS:
            command = importlib.import_module(f"seqtag.cli.{name}").command
            if isinstance(command, click.Group):
                command = command.commands.get(line.split()[0], command)
            known = {option for each in command.params for option in each.opts} | {"--help"}
            assert {*re.findall(r"(?<!\S)--?[a-z][a-z-]*", line)} <= known, line


def test_figures_of_the_advice_on_settings_are_those_of_the_measurements():
    text = text_of("docs/how-to/settings.md")
    figure = r"\d\d\.\d\d"
    stored = json.loads(text_of("docs/benchmarks/options.json"))["found"]
    shown = options.in_order(stored)
    measured = {f"{each['score']:.2f}" for _, tried in shown for each in tried.values()}
    table = text.split("\n## Measured effects\n")[1].split("\n## ")[0]
    assert {*re.findall(figure, table)} == measured
    assert len(measured) > 12
    written = re.sub(
        r"^<!-- (.+?): written by .*?^<!-- end of \1 -->$", "", text, flags=re.M | re.S
    )
    assert written != text
    assert {*re.findall(figure, written)} <= measured


def test_the_readme_is_short():
    text = text_of("README.md")
    assert len(text.split()) <= 600  # as wc -w counts
    assert len(text.splitlines()) <= 180


def test_links_between_pages_lead_somewhere():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    links = [
        (page, link)
        for page in pages
        for link in re.findall(r"\]\(([^)#?\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
        if "://" not in link
    ]
    assert len(links) > 20
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(seqtag.__path__, "seqtag.")
    if info.name not in ("seqtag.__main__", "seqtag.engine.native")
    and not info.name.startswith("seqtag.engine._kernel")
)


@pytest.mark.parametrize("name", ["seqtag", *MODULES])
def test_doctests_of_the_package(name):
    if name.startswith("seqtag.integrations.spacy"):
        pytest.importorskip("spacy", reason="needs spaCy: pip install -e '.[spacy]'")
    if name.startswith("seqtag.integrations.pyinstaller."):
        pytest.importorskip("PyInstaller", reason="needs PyInstaller: pip install pyinstaller")
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in doctest.DocTestFinder().find(importlib.import_module(name)):
        runner.run(test)
    assert runner.summarize().failed == 0
