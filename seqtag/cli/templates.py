"""``seqtag templates``."""

from __future__ import annotations

import click

from seqtag.cli.common import say


@click.group("templates")
def command() -> None:
    """List and print the feature templates."""


@command.command("list")
def list_presets() -> int:
    """Name the presets."""
    from seqtag.features.language import load, preset_names

    for name in preset_names():
        templates = load(name)
        say(f"{name:<10}{len(templates.templates)} templates, order {templates.order}\n")
    return 0


@command.command("show")
@click.argument("templates", metavar="PRESET|FILE")
def show(templates: str) -> int:
    """Print a preset, or a file as it is understood."""
    from seqtag.features.language import load, preset_text

    say(preset_text(templates) or str(load(templates)))
    return 0
