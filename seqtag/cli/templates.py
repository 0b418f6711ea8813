"""``seqtag templates``."""

from __future__ import annotations

import click

from seqtag.cli.base import Group
from seqtag.cli.common import say
from seqtag.cli.options import complete_templates


@click.group("templates", cls=Group)
def command() -> None:
    """List and print the feature templates.

    \b
    Examples:
      seqtag templates list
      seqtag templates show pos > mine.txt
    """


@command.command("list")
def list_presets() -> int:
    """List the presets.

    \b
    Examples:
      seqtag templates list
    """
    from seqtag.features.language import load, preset_names

    for name in preset_names():
        templates = load(name)
        say(f"{name:<12}{len(templates.templates)} templates, order {templates.order}\n")
    return 0


@command.command("show")
@click.argument("templates", metavar="PRESET|FILE", shell_complete=complete_templates)
def show(templates: str) -> int:
    """Print a preset, or a template file as it is parsed.

    \b
    Examples:
      seqtag templates show pos > mine.txt
      seqtag templates show mine.txt
    """
    from seqtag.features.language import load, preset_text

    say(preset_text(templates) or str(load(templates)))
    return 0
