"""``seqtag info``."""

from __future__ import annotations

from pathlib import Path

import click

from seqtag.cli.base import Command
from seqtag.cli.common import load_model, print_json, say
from seqtag.cli.options import attributes_option, complete_models, json_option


@click.command("info", cls=Command)
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
    several = len(taggers) > 1
    if as_json:
        found = [
            {
                "labels": list(tagger.labels),
                "known_words": len(tagger.known_words),
                **tagger.sizes,
                **tagger.info,
            }
            for tagger in taggers
        ]
        print_json({"model": model, "bytes": size} | ({"parts": found} if several else found[0]))
        return 0
    say(f"{'model':<12} {model} ({size / 1e6:.2f} MB)\n")
    if several:
        say(f"{'components':<12} {', '.join(tagger.label for tagger in taggers)}\n")
    for tagger in taggers:
        lines = "".join(f"{name:<12} {value}\n" for name, value in facts_of(tagger))
        templates = "".join(f"  {line}\n" for line in tagger.info["templates"].splitlines())
        say("\n" * several + f"{lines}templates\n{templates}")
    return 0
