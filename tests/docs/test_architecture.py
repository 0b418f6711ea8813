"""docs/architecture.md against the code: packages, the picture, and where changes go."""

from __future__ import annotations

import ast
import importlib.util
import re
from functools import cache, reduce
from itertools import chain

import pytest

from tests.conftest import ROOT
from tests.test_imports import LAYER

PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")


def section(title: str) -> str:
    """Return the text below a heading."""
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


@pytest.fixture(scope="module")
def script():
    path = ROOT / "scripts" / "draw_architecture.py"
    spec = importlib.util.spec_from_file_location("draw_architecture", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---------------------------------------------------------------------------------- packages
def rows() -> list[list[str]]:
    """Return the cells of the table of packages."""
    table = re.findall(r"^\| *(.*?) *\|$", section("Packages"), re.M)[2:]
    return [[cell.strip() for cell in re.split(r" *\| *", row)] for row in table]


def package(module: str) -> str:
    return module.split(".")[0]


def test_packages_are_listed_from_the_lowest_layer_up():
    highest = {package(module): layer for module, layer in LAYER.items()}  # the last is the highest
    listed = [re.findall(r"`(\w+)`", row[0]) for row in rows()]
    assert sorted(chain(*listed)) == sorted({*highest} - {"__init__", "__main__"})
    tops = [max(highest[name] for name in names) for names in listed]
    assert tops == sorted(tops)


def test_there_is_a_file_to_start_with():
    for row in rows():
        [name] = re.findall(r"`([\w/]+\.py)`", row[-1])
        assert (ROOT / "seqtag" / name).is_file()


# ------------------------------------------------------------------------------------- code
@cache
def tree(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text("utf-8"))


def definition(path: str, name: str) -> ast.AST | None:
    """Return the class, function or variable of a name, such as ``Class.method``, in a module.

    If a name is defined several times it is the last, which is the function after its overloads.
    """

    def inside(node: ast.AST | None, part: str) -> ast.AST | None:
        for child in reversed(getattr(node, "body", ())):
            if getattr(child, "name", None) == part:
                return child
            targets = getattr(child, "targets", [getattr(child, "target", None)])
            if any(getattr(target, "id", None) == part for target in targets):
                return child
        return None

    return reduce(inside, name.split("."), tree(path))


def source_of(module: str) -> str:
    path = f"seqtag/{module.replace('.', '/')}"
    return f"{path}/__init__.py" if (ROOT / path).is_dir() else f"{path}.py"


def split(function: str) -> tuple[str, str]:
    module, _, name = function.partition(":")
    return module, name


def uses(node: ast.AST, name: str) -> list[int]:
    """Return the lines where a function uses a name, or an attribute of that name."""
    return sorted(
        child.lineno
        for child in ast.walk(node)
        if getattr(child, "id", None) == name or getattr(child, "attr", None) == name
    )


# ----------------------------------------------------------------------------------- picture
def test_the_picture_is_what_the_script_draws(script):
    assert (ROOT / "docs" / "architecture.svg").read_bytes() == script.draw().encode()
    assert "(architecture.svg)" in section("Data flow")


def test_stages_are_called_by_their_callers_in_the_order_drawn(script):
    for lane in script.LANES:
        last: dict[str, int] = {}
        for stage in lane.stages:
            module, function = split(stage.function)
            assert definition(source_of(module), function), stage.function
            module, caller = split(stage.caller)
            name = function.split(".")[-1]
            lines = uses(definition(source_of(module), caller), name)
            lines = [line for line in lines if line >= last.get(stage.caller, 0)]
            assert lines, f"{stage.caller} does not use {name} where the picture has it"
            last[stage.caller] = lines[0]


# ----------------------------------------------------------------------------------- objects
def test_objects_are_where_the_page_has_them():
    found = re.findall(r"^- \*\*(\w+)\*\* \(`([\w/]+\.py)`\)", section("Objects"), re.M)
    assert len(found) >= 5
    for name, path in found:
        assert definition(f"seqtag/{path}", name), name


# ----------------------------------------------------------------------------------- changes
CHANGES = (
    "A label scheme",
    "A corpus format",
    "A step rule",
    "A setting",
    "An automatic choice",
    "An attribute",
    "A new kind of word table",
    "A model format number",
    "A pipeline component",
    "A command",
    "A new decoder output",
    "An integration",
)


def places() -> list[tuple[str, list[str]]]:
    """Return the files that changes touch, and the names to look for in them."""
    found = re.findall(r"`((?:seqtag|tests)/[^`]*)`(?::((?:[\s,]+(?:and )?`[\w.]+`)+))?", CHANGED)
    return [(path, re.findall(r"`([\w.]+)`", names)) for path, names in found]


CHANGED = section("Where changes go")


def test_all_changes_have_their_places():
    assert tuple(re.findall(r"^- \*\*(.*?)\*\*", CHANGED, re.M)) == CHANGES
    for change in CHANGED.split("\n- **")[1:]:
        assert 1 <= len(re.findall(r"^  - `(?:seqtag|tests)/", change, re.M)) <= 3, change


@pytest.mark.parametrize(("path", "names"), places())
def test_places_exist_and_hold_what_is_named(path, names):
    assert (ROOT / path).exists()
    for name in names:
        if path.endswith((".py", ".pyi")):
            assert definition(path, name), name
        else:
            assert re.search(rf"\b{name}\b", (ROOT / path).read_text("utf-8")), name
