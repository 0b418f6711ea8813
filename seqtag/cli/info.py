"""``seqtag info``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from seqtag.cli.common import load_model, print_json, say
from seqtag.cli.options import json_option
from seqtag.settings import SETTINGS


@click.command("info")
@click.argument("model")
@json_option
def command(model: str, as_json: bool) -> int:
    """Show what a model is: its labels, templates, training data, scores and size."""
    from seqtag.model.embedded import find_model

    tagger = load_model(model)
    size = Path(find_model(model)).stat().st_size
    features = tagger.sizes
    facts: dict[str, Any] = {
        "model": model,
        "bytes": size,
        "labels": list(tagger.labels),
        "known_words": len(tagger.known_words),
        **features,
        **tagger.info,
    }
    if as_json:
        print_json(facts)
        return 0
    training = facts["training"]
    cut_short = " (interrupted)" if training.get("interrupted") else ""
    lines = [
        ("model", f"{model} ({size / 1e6:.2f} MB)"),
        ("made by", tagger.model.writer),
        ("label", f"{tagger.label} ({len(tagger.labels)} labels)"),
        ("columns", ", ".join(tagger.columns)),
        ("scheme", _scheme(tagger.info)),
        ("features", f"{features['features']:,} with {features['weights']:,} weights"),
        ("known words", f"{facts['known_words']:,}"),
        ("trained on", f"{training['sentences']:,} sentences, {training['tokens']:,} tokens"),
        ("corpus", f"sha256 {training['corpus_sha256'][:16]}..."),
        ("settings", _settings(training)),
        ("epochs kept", ", ".join(map(str, training["best_epochs"])) + cut_short),
    ]
    if "dev" in training:
        dev = training["dev"]
        score = f"{dev['metric']} {100 * dev['score']:.2f} ({dev['signature']})"
        lines.append(("dev score", score))
    say("".join(f"{name:<12} {value}\n" for name, value in lines))
    say("templates\n" + "".join(f"  {line}\n" for line in facts["templates"].splitlines()))
    return 0


def _settings(training: dict[str, Any]) -> str:
    names = [*(setting.attribute for setting in SETTINGS.values()), "seed", "runs"]
    return ", ".join(f"{name} {training[name]}" for name in names if name in training)


def _scheme(info: dict[str, Any]) -> str:
    if not info["scheme"]:
        return "none"
    learnt = f", learnt as {info['encoding']}" if info["encoding"] != info["scheme"] else ""
    return f"{info['scheme']}{learnt}, {'valid sequences only' if info['constrain'] else 'free'}"
