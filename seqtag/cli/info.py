"""``seqtag info``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqtag.cli import names
from seqtag.cli.common import load_model, print_json, say
from seqtag.cli.options import json_option
from seqtag.settings import SETTINGS

if TYPE_CHECKING:
    from seqtag.tagging.tagger import Tagger

_FORMS = {
    "normal": "normal (quotes, dashes, width and accents do not matter)",
    "written": "as written",
}


@click.command("info")
@click.argument("model", shell_complete=names.models)
@json_option
def command(model: str, as_json: bool) -> int:
    """Show what a model is: its labels, templates, training data, scores and size.

    \b
    Examples:
      seqtag info en
      seqtag info english.seqtag --json
    """
    from seqtag.model.embedded import find_model
    from seqtag.tagging.pipeline import Pipeline
    from seqtag.tagging.tagger import Tagger

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
        say("\n" * (len(parts) > 1) + _text_of(tagger, facts))
    return 0


def _facts_of(tagger: Tagger) -> dict[str, Any]:
    """What there is to say of a model, for JSON."""
    return {
        "labels": list(tagger.labels),
        "known_words": len(tagger.known_words),
        **tagger.sizes,
        **tagger.info,
    }


def _text_of(tagger: Tagger, facts: dict[str, Any]) -> str:
    """What there is to say of a model, in lines."""
    training = facts["training"]
    cut_short = " (interrupted)" if training.get("interrupted") else ""
    lines = [
        ("made by", tagger.model.writer),
        ("label", f"{tagger.label} ({len(tagger.labels)} labels)"),
        ("columns", ", ".join(tagger.columns)),
        ("scheme", _scheme(facts)),
        ("features", f"{facts['features']:,} with {facts['weights']:,} weights"),
        ("known words", f"{facts['known_words']:,}"),
        ("forms", _FORMS[facts.get("forms", "written")]),
        ("trained on", f"{training['sentences']:,} sentences, {training['tokens']:,} tokens"),
        ("corpus", f"sha256 {training['corpus_sha256'][:16]}..."),
        ("settings", _settings(training)),
        ("epochs kept", ", ".join(map(str, training["best_epochs"])) + cut_short),
    ]
    if "dev" in training:
        dev = training["dev"]
        score = f"{dev['metric']} {100 * dev['score']:.2f} ({dev['signature']})"
        lines.append(("dev score", score))
    text = "".join(f"{name:<12} {value}\n" for name, value in lines)
    return text + "templates\n" + "".join(f"  {line}\n" for line in facts["templates"].splitlines())


def _settings(training: dict[str, Any]) -> str:
    names = [*(setting.attribute for setting in SETTINGS.values()), "seed", "runs"]
    return ", ".join(f"{name} {training[name]}" for name in names if name in training)


def _scheme(info: dict[str, Any]) -> str:
    if not info["scheme"]:
        return "none"
    learnt = f", learnt as {info['encoding']}" if info["encoding"] != info["scheme"] else ""
    return f"{info['scheme']}{learnt}, {'valid sequences only' if info['constrain'] else 'free'}"
