"""The documentation site: its navigation and reference, and what was built of them."""

from __future__ import annotations

import importlib
import inspect
import re

import pytest

import seqtag.errors
from seqtag.cli import COMMANDS
from tests.conftest import ROOT

DOCS = ROOT / "docs"
SITE = ROOT / "build" / "site"
INDEXES = ("index.md", "how-to/index.md", "reference/index.md", "explanation.md", "lecture.md")
MODULES = {
    "seqtag": None,
    "seqtag.batch": None,
    "seqtag.classifiers": None,
    "seqtag.corpus": None,
    "seqtag.evaluation": None,
    "seqtag.features": None,
    "seqtag.tagging": None,
    "seqtag.integrations.sklearn": "sklearn",
}
"""Public modules with ``__all__``, and the library that each needs."""

LISTED = {
    match
    for page in (DOCS / "reference").glob("*.md")
    for match in re.findall(r"^\.\. auto\w+:: (\S+)$", page.read_text("utf-8"), re.M)
}


def resolved(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def test_each_page_is_in_the_navigation_once():
    linked = []
    for index in INDEXES:
        found = re.findall(
            r"^- \[[^\]]+\]\(([^)#:]+\.md)\)", (DOCS / index).read_text("utf-8"), re.M
        )
        linked += [(DOCS / index).parent.joinpath(link).resolve() for link in found]
    pages = {*DOCS.rglob("*.md")} - {DOCS / "index.md", *(DOCS / "reference/commands").glob("*")}
    pages -= {DOCS / "slides.md", DOCS / "reference" / "python.md"}  # not on the site
    assert sorted(linked) == sorted(pages)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "models/en.md"])
def test_anchors_in_files_outside_the_site_exist(name):
    """The strict build checks those of pages."""
    page = ROOT / name
    for path, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text("utf-8")):
        target = page.parent / path if path else page
        headings = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.M)
        anchors = [re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings]
        assert anchor in anchors, (path, anchor)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_reference(module):
    if MODULES[module]:
        pytest.importorskip(MODULES[module])
    listed = {id(resolved(name)) for name in LISTED if not needs_a_library(name)}
    loaded = importlib.import_module(module)
    public = {name: getattr(loaded, name) for name in loaded.__all__}
    missing = [
        name
        for name, found in public.items()
        if (inspect.isclass(found) or inspect.isfunction(found)) and id(found) not in listed
    ]
    assert missing == []


def needs_a_library(name: str) -> bool:
    """Return whether the module of a name needs a library that is not here."""
    try:
        resolved(name)
    except ImportError:
        return True
    return False


def test_integrations_and_errors_are_in_the_reference():
    errors = {
        f"seqtag.errors.{name}"
        for name, found in vars(seqtag.errors).items()
        if inspect.isclass(found) and issubclass(found, seqtag.errors.SeqtagError)
    }
    integrations = {
        f"seqtag.integrations.{path.stem}.{name}"
        for path in (ROOT / "seqtag" / "integrations").glob("*.py")
        for name in re.findall(r"^class (Seq\w+)", path.read_text("utf-8"), re.M)
    }
    assert len(errors) > 5
    assert len(integrations) > 4
    assert errors | integrations <= LISTED


def test_the_reference_in_a_clone_is_current():
    pytest.importorskip("griffe", reason="the reference of Python needs the extra docs")
    reference = importlib.import_module("scripts.write_reference")
    assert reference.PAGE.read_text("utf-8") == reference.reference(), (
        "run python scripts/write_reference.py"
    )


built = pytest.mark.skipif(not SITE.is_dir(), reason="build the site first: CONTRIBUTING.md")


@built
def test_each_command_has_a_page_with_its_options():
    for name in COMMANDS:
        command = importlib.import_module(f"seqtag.cli.{name}").command
        page = (SITE / "reference" / "commands" / f"{name}.html").read_text("utf-8")
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert f'id="cmdoption-seqtag-{name}-{parameter.opts[-1].lstrip("-")}"' in page


@built
def test_links_to_figures_of_the_interactive_page_show_them():
    for page in DOCS.glob("*.md"):
        links = re.findall(
            r"^\[[^\]]+\]\((play/index\.html\?embed=[\w-]+)\)$", page.read_text("utf-8"), re.M
        )
        if not links:  # slides.md is no page
            continue
        text = (SITE / f"{page.stem}.html").read_text("utf-8")
        assert re.findall(r'<iframe src="([^"]+)"', text) == links
    model = SITE / "play" / "model.js"
    assert model.stat().st_size < 1_500_000


@built
def test_pages_fetch_nothing():
    pages = [path for path in SITE.rglob("*.html") if "_static" not in path.parts]
    assert len(pages) > 60
    fetched = re.compile(r'<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"')
    for path in pages:
        assert fetched.findall(path.read_text("utf-8")) == [], path
    for style in SITE.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import )['\"]?(?:https?:)?//", style.read_text("utf-8"))
