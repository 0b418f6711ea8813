"""``seqtag info``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqtag.cli.common import load_model, print_json, say
from seqtag.cli.options import attributes_option, complete_models, json_option

if TYPE_CHECKING:
    from seqtag.tagging.tagger import Tagger


@click.command("info")
@click.argument("model", shell_complete=complete_models)
@json_option
@attributes_option
def command(model: str, as_json: bool) -> int:
    """Show the labels, templates, training, scores and size of a model.

    \b
    Examples:
      seqtag info en
      seqtag info english.seqtag --json
    """
    from seqtag.model.embedded import find_model
    from seqtag.tagging.pipeline import Pipeline
    from seqtag.tagging.tagger import Tagger, facts_of

    loaded = load_model(model)
    taggers = [Tagger(part) for part in loaded.models] if isinstance(loaded, Pipeline) else [loaded]
    size = Path(find_model(model)).stat().st_size
    parts = [_facts_of(tagger) for tagger in taggers]
    whole = {"model": model, "bytes": size}
    if as_json:
        print_json(whole | (parts[0] if len(parts) == 1 else {"parts": parts}))
        return 0
    say(f"{'model':<12} {model} ({size / 1e6:.2f} MB)\n")
    if len(parts) > 1:
        say(f"{'parts':<12} {', '.join(tagger.label for tagger in taggers)}\n")
    for tagger, facts in zip(taggers, parts, strict=True):
        lines = "".join(f"{name:<12} {value}\n" for name, value in facts_of(tagger))
        templates = "".join(f"  {line}\n" for line in facts["templates"].splitlines())
        say("\n" * (len(parts) > 1) + f"{lines}templates\n{templates}")
    return 0


def _facts_of(tagger: Tagger) -> dict[str, Any]:
    """Return the facts of a model for JSON."""
    return {
        "labels": list(tagger.labels),
        "known_words": len(tagger.known_words),
        **tagger.sizes,
        **tagger.info,
    }
