"""Write docs/reference/python.md, the reference of Python that is readable without the site.

usage: python scripts/write_reference.py

The pages of docs/reference name the objects, in order, and their docstrings say the rest, as on the
site. griffe reads the sources, so no library that an object needs has to be installed.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import griffe

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
PAGE = REFERENCE / "python.md"
PAGES = (
    "tagging", "training", "evaluation", "corpora", "features", "classifiers", "integrations", "errors",
)  # fmt: skip
"""In the order of reference/index.md."""
_PART = re.compile(r"^(#+ .+)$|^\.\. auto\w+:: (\S+)$", re.MULTILINE)


def reference() -> str:
    """Return the page."""
    package = griffe.load(
        "seqtag",
        search_paths=[ROOT],
        docstring_parser="numpy",
        docstring_options={"warn_unknown_params": False, "warn_missing_types": False},
    )
    lines = [
        "# Python",
        "Made from the docstrings by `scripts/write_reference.py`; the site has the same objects, with "
        "links between them.",
    ]
    for page in PAGES:
        for heading, name in _PART.findall((REFERENCE / f"{page}.md").read_text("utf-8")):
            lines += [f"#{heading}"] if heading else _object(_named(package, name), name)
    return "\n\n".join(lines) + "\n"


def _named(package: Any, name: str) -> Any:
    """Return an object by its public name."""
    each = package[name.removeprefix("seqtag.")]
    if each.is_module:  # a module, and an object of that name that its package imports
        module, _, attribute = name.rpartition(".")
        value = getattr(importlib.import_module(module), attribute)
        each = package[f"{value.__module__}.{attribute}".removeprefix("seqtag.")]
    return each


def _object(each: Any, name: str) -> Iterator[str]:
    """Yield the parts of a function or class, and of its public members."""
    each = each.final_target if each.is_alias else each
    yield f"#### `{name}`"
    if not each.is_attribute:
        yield _signature(each)
    yield from _docstring(each)
    for member in each.members.values():
        if member.is_public and member.has_docstring and not member.is_class:
            yield from _object(member, f"{name.rpartition('.')[2]}.{member.name}")


def _signature(each: Any) -> str:
    """Return the signature of a function, or of making an object of a class, as code."""
    parameters = []
    separated = False
    for parameter in each.parameters:
        kind = parameter.kind
        if parameter.name in {"self", "cls"}:
            continue
        if kind is griffe.ParameterKind.keyword_only and not separated:
            parameters.append("*")
            separated = True
        stars = {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}
        separated |= kind is griffe.ParameterKind.var_positional
        text = f"{stars.get(kind, '')}{parameter.name}"
        text += f": {parameter.annotation}" if parameter.annotation else ""
        default = None if kind in stars else parameter.default
        if str(default).startswith("_setting("):  # the first argument is the default of the setting
            default = default.arguments[0]
        parameters.append(text if default is None else f"{text} = {default}")
    result = f" -> {each.returns}" if each.is_function and each.returns else ""
    line = f"{each.name}({', '.join(parameters)}){result}"
    if len(line) > 100:
        line = f"{each.name}(\n    " + ",\n    ".join(parameters) + f",\n){result}"
    return f"```python\n{line}\n```"


def _docstring(each: Any) -> Iterator[str]:
    """Yield the sections of a docstring."""
    for section in each.docstring.parsed if each.docstring else ():
        kind = section.kind.value
        if kind == "text":
            yield _markdown(section.value)
        elif kind == "examples":
            for part, text in section.value:
                code = part is griffe.DocstringSectionKind.examples
                yield f"```python\n{text}\n```" if code else _markdown(text)
        elif kind == "admonition":
            yield f"**{section.title}**"
            yield _markdown(section.value.description)
        else:
            yield f"**{kind.capitalize()}**"
            yield "\n".join(_item(item) for item in section.value)


def _item(item: Any) -> str:
    """Return a parameter, result or error as an item of a list."""
    head = [f"`{text}`" for text in (getattr(item, "name", ""), str(item.annotation or "")) if text]
    text = _markdown(item.description).replace("\n", "\n  ")
    return f"- {': '.join(part for part in (', '.join(head), text) if part)}"


def _markdown(text: str) -> str:
    """Return text of a docstring as Markdown; a paragraph with prompts becomes code."""
    text = re.sub(r":\w+:`([^`]+)`", r"`\1`", text.strip()).replace("``", "`")
    return re.sub(r"^>>> (?:.+\n?)+", lambda code: f"```python\n{code[0]}\n```", text, flags=re.M)


if __name__ == "__main__":
    PAGE.write_text(reference(), "utf-8")
