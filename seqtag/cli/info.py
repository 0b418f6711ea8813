"""``seqtag info``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from seqtag.cli.base import Command, in_output
from seqtag.cli.common import load_model, print_json, refuse, say, say_table
from seqtag.cli.info_file import is_corpus, show_file
from seqtag.cli.info_install import show_installation
from seqtag.cli.options import (
    complete_files,
    general_options,
    json_option,
    reading_options,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.cli.common import Notes
    from seqtag.cli.options import InputOptions
    from seqtag.tagging.tagger import Tagger


@click.command("info", cls=Command)
@click.argument(
    "name", metavar="[MODEL|FILE]", required=False, default="", shell_complete=complete_files
)
@in_output("--verbose", is_flag=True, help="Show all facts and templates of a model.")
@in_output(
    "--templates",
    is_flag=False,
    flag_value="",
    metavar="[PRESET|FILE]",
    shell_complete=complete_files,
    help="List the presets of feature templates, or print a preset or a template file.",
)
@reading_options
@json_option
@general_options
def command(
    name: str,
    verbose: bool,
    templates: str | None,
    reading: InputOptions,
    as_json: bool,
    notes: Notes,
) -> int:
    """Show a model, a file, feature templates, or without any of these the installation.

    Of a model: its components, labels, training and size. A file is shown as all commands read it:
    its format and columns with their most frequent values, its sentences, and what does not fit.
    The options of the input change what is detected. Of the installation: the backend, versions
    and models; the exit code is 1 if there is a problem.

    \b
    Examples:
      seqtag info
      seqtag info names.tsv
      seqtag info english.seqtag --json
      seqtag info --templates pos > mine.txt
    """
    is_file = bool(name) and is_corpus(name)
    if templates is not None and (name or as_json or verbose):
        refuse("expected --templates alone, found other arguments; leave one out")
    if as_json and is_file:
        refuse("expected --json for a model, found a file; use seqtag.sniff in Python")
    if verbose and (is_file or not name):
        refuse("expected --verbose for a model, found none; leave it out")
    if templates is not None:
        return _show_templates(templates)
    if not name:
        return show_installation(as_json=as_json)
    if is_file:
        notes.quiet = True  # what they would say of it is shown
        return show_file(name, reading)
    return _show_model(name, verbose=verbose, as_json=as_json)


def _show_templates(templates: str) -> int:
    """List the presets, or print one or a file as it is parsed."""
    from seqtag.features.language import load, preset_names, preset_text

    if templates:
        say(preset_text(templates) or str(load(templates)))
        return 0
    for preset in preset_names():
        found = load(preset)
        say(f"{preset:<12}{len(found.templates)} templates, order {found.order}\n")
    return 0


# ----------------------------------------------------------------- facts
def _show_model(name: str, *, verbose: bool, as_json: bool) -> int:
    """Print the facts about the components of a model; of a pipeline a line each, if not all."""
    from seqtag.model.embedded import LICENSE, MODELS, find_model
    from seqtag.tagging.tagger import Tagger

    taggers = [Tagger(each) for each in load_model(name).models]
    path = find_model(name)
    if as_json:
        facts = [_facts(tagger) for tagger in taggers]
        size = path.stat().st_size
        print_json(
            {"model": name, "bytes": size} | (facts[0] if len(facts) == 1 else {"parts": facts})
        )
        return 0
    say(f"{'model':<12} {name} ({path.stat().st_size / 1e6:.2f} MB)\n")
    if path.parent == MODELS:
        say(f"{'license':<12} {LICENSE}\n")
    if verbose or len(taggers) == 1:
        say(_details(taggers, verbose=verbose))
    else:
        _summarize(name, taggers)
    return 0


def _details(taggers: Sequence[Tagger], *, verbose: bool) -> str:
    """Return all facts about taggers; templates are only counted unless `verbose`."""
    from seqtag.tagging.tagger import facts_of

    texts = []
    for tagger in taggers:
        facts, templates = facts_of(tagger), tagger.info["templates"].splitlines()
        if not verbose:
            facts.append(("templates", f"{len(templates)} (listed by --verbose)"))
        text = "".join(f"{name:<12} {value}\n" for name, value in facts)
        listed = "".join(f"  {line}\n" for line in templates)
        texts.append(f"{text}templates\n{listed}" if verbose else text)
    if len(texts) > 1:
        texts.insert(0, f"{'components':<12} {', '.join(tagger.label for tagger in taggers)}\n")
    return "\n".join(texts)


def _summarize(name: str, taggers: Sequence[Tagger]) -> None:
    """Print a line for each component of a pipeline, and how to use it."""
    from seqtag.tagging.tagger import training_size

    writers = dict.fromkeys(tagger.model.writer for tagger in taggers)
    say(f"{'made by':<12} {', '.join(writers)}\n\n")
    rows = [("component", "labels", "features", "trained on")]
    for tagger in taggers:
        counts = f"{len(tagger.labels):,}", f"{tagger.sizes['features']:,}"
        rows.append((tagger.label, *counts, training_size(tagger.model)))
    say_table(rows, "<>><")
    say("\n")
    say_table(
        [
            ("tag a file", f"seqtag tag -m {name} FILE"),
            ("one component", f"seqtag tag -m {name} --only {taggers[-1].label} FILE"),
            ("in Python", f"seqtag.load({name!r})"),
            ("all facts", f"seqtag info {name} --verbose"),
        ]
    )


def _facts(tagger: Tagger) -> dict[str, object]:
    """Return the facts about a tagger for JSON."""
    known = {"labels": list(tagger.labels), "known_words": len(tagger.known_words)}
    return {**known, **tagger.sizes, **tagger.info}
