"""What the documentation site shows otherwise than the files: a hook of mkdocs.yml.

- Formulas between dollar signs become MathML, which browsers draw by themselves.
- Links to files of the repository that are not pages keep their text only.
- ``{{ commands }}`` becomes what ``--help`` says of all commands.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
from latex2mathml.converter import convert

from seqtag.cli import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

_CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\w$\\])\$(?! )([^$\n]+?)(?<! )\$(?![\w$])")
_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./(?!\.)[^)]*\)")


def on_page_markdown(markdown: str, **_: object) -> str:
    """The text of a page as the site shows it."""
    text = _OUTSIDE.sub(r"\1", markdown)
    pieces, end = [], 0
    for code in _CODE.finditer(text):  # no formulas there
        pieces += [_FORMULA.sub(_drawn, text[end : code.start()]), code[0]]
        end = code.end()
    shown = "".join(pieces) + _FORMULA.sub(_drawn, text[end:])
    if "{{ commands }}" in shown:
        shown = shown.replace("{{ commands }}", "\n".join(_commands()))
    return shown


def _drawn(formula: re.Match[str]) -> str:
    block, line = formula.groups()
    drawn = convert((block or line).replace(r"\arg", r"\mathrm{arg}"))
    if block:
        return drawn.replace('display="inline"', 'display="block"')
    return f"<span>{drawn}</span>"  # a line of Markdown may begin with it


def _commands() -> Iterator[str]:
    """A section for each command and its commands, with their help."""
    context = click.Context(cli, info_name="seqtag", max_content_width=90)
    waiting: list[tuple[click.Context, click.Command]] = [(context, cli)]
    while waiting:
        parent, command = waiting.pop(0)
        yield f"## {parent.command_path}\n\n```text\n{command.get_help(parent)}\n```\n"
        if isinstance(command, click.Group):
            for name in command.list_commands(parent):
                child = command.get_command(parent, name)
                if child is not None:
                    path = click.Context(child, parent, name, max_content_width=90)
                    waiting.append((path, child))
