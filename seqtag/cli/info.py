"""``seqtag info``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from seqtag.cli.base import WEIGHTS, Command, in_output, in_weights
from seqtag.cli.common import Notes, load_model, print_json, refuse, say, say_table, usage
from seqtag.cli.options import (
    complete_models,
    complete_templates,
    general_options,
    json_option,
    reading_options,
    split_names,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.cli.options import InputOptions
    from seqtag.tagging.explain import Weight
    from seqtag.tagging.tagger import Tagger


@click.command("info", cls=Command)
@click.argument("model", metavar="[MODEL|FILE]", required=False, shell_complete=complete_models)
@in_output(
    "--against",
    metavar="MODEL|FILE",
    help="Show what of FILE would not match: columns, labels, words.",
)
@in_output("--verbose", is_flag=True, help="Show all facts and templates.")
@in_output(
    "--templates",
    is_flag=False,
    flag_value="",
    metavar="[PRESET|FILE]",
    shell_complete=complete_templates,
    help="List the presets of feature templates, or print a preset or a template file.",
)
@in_output(
    "--weights",
    metavar="CORPUS",
    help="Show the largest weights of features in this corpus, such as the training data.",
)
@in_output(
    "--transitions", is_flag=True, help="Show the largest weights of label bigrams and trigrams."
)
@in_weights(
    "--only",
    callback=split_names,
    metavar="COLUMN,...",
    help="Show only these components of a pipeline.",
)
@in_weights(
    "--label", metavar="L", help="Show only weights of this label, or of labels that end in it."
)
@in_weights(
    "--feature",
    metavar="GLOB",
    help="Show only features whose names match, such as 'suffix(2)*=ed'.",
)
@in_weights(
    "--top",
    type=click.IntRange(1),
    default=20,
    metavar="N",
    help="Number of weights to show, the largest by absolute value.",
)
@reading_options
@json_option
@general_options
@click.pass_context
def command(
    context: click.Context,
    model: str | None,
    against: str | None,
    verbose: bool,
    templates: str | None,
    weights: str | None,
    transitions: bool,
    as_json: bool,
    notes: Notes,
    reading: InputOptions,
    only: tuple[str, ...] | None,
    label: str | None,
    feature: str | None,
    top: int,
) -> int:
    """Show a model, a file, feature templates, or without any of these the installation.

    Of a model: its components, labels, training and size. A file is shown as all commands read it:
    its format and columns with their most frequent values, its sentences, and what does not fit.
    The options of the input change what is detected. Of the installation: the backend, versions,
    extras, models and foreign packages; the exit code is 1 if there is a problem.

    With --weights: features are hashed in the model, so their names come from the corpus; a feature
    that is not in it is shown as # and its key. Labels are shown as they are learned: IOBES for
    chunks that are written in IOB2, edit scripts for lemmas.

    \b
    Examples:
      seqtag info
      seqtag info names.tsv
      seqtag info names.tsv --against names.seqtag
      seqtag info english.seqtag --json
      seqtag info upos.seqtag --weights train.conllu --feature "suffix*"
      seqtag info chunks.seqtag --transitions --top 50
      seqtag info --templates pos > mine.txt
    """
    from seqtag.cli.info_file import is_corpus, show_file

    for each in context.command.params:
        is_given = context.get_parameter_source(each.name or "") is ParameterSource.COMMANDLINE
        is_of_weights = getattr(each, "group", None) == WEIGHTS
        if is_given and is_of_weights and weights is None and not transitions:
            refuse(f"expected --weights CORPUS or --transitions with {each.opts[0]}, found neither")
    is_model = model is not None and not is_corpus(model)
    if templates is not None and model is not None:
        refuse("expected a model or file, or --templates, found both; leave one out")
    elif weights is not None and transitions:
        refuse("expected --weights or --transitions, found both; leave one out")
    elif (weights is not None or transitions) and not is_model:
        refuse(f"expected a model with --weights and --transitions, found {model or 'none'}")
    elif against is not None and (model is None or is_model):
        refuse("expected a file with --against, found a model or none")
    notes.quiet |= not is_model  # what they would say of a file is shown
    if templates is not None:
        _show_templates(templates)
    elif model is None:
        from seqtag.cli.info_install import show_installation

        return show_installation(as_json=as_json)
    elif not is_model:
        show_file(model, against, reading, as_json=as_json)
    elif weights is not None or transitions:
        _show_weights(model, weights, only, label, feature, top, reading, notes, as_json=as_json)
    else:
        _show_model(model, verbose=verbose, as_json=as_json)
    return 0


def _show_templates(name: str) -> None:
    """List the presets, or print one or a file as it is parsed."""
    from seqtag.features.language import load, preset_names, preset_text

    if name:
        say(preset_text(name) or str(load(name)))
        return
    for preset in preset_names():
        templates = load(preset)
        say(f"{preset:<12}{len(templates.templates)} templates, order {templates.order}\n")


# ----------------------------------------------------------------- facts
def _show_model(name: str, *, verbose: bool, as_json: bool) -> None:
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
        return
    say(f"{'model':<12} {name} ({path.stat().st_size / 1e6:.2f} MB)\n")
    if path.parent == MODELS:
        say(f"{'license':<12} {LICENSE}\n")
    if verbose or len(taggers) == 1:
        say(_details(taggers, verbose=verbose))
    else:
        _summarize(name, taggers)


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


# ----------------------------------------------------------------- weights
def _show_weights(
    model: str,
    corpus: str | None,
    only: tuple[str, ...] | None,
    label: str | None,
    feature: str | None,
    top: int,
    reading: InputOptions,
    notes: Notes,
    *,
    as_json: bool,
) -> None:
    """Print the largest weights of features in a corpus, or of label bigrams and trigrams."""
    from seqtag.tagging.explain import names_of, transitions_of, weights_of
    from seqtag.tagging.pipeline import Chain
    from seqtag.tagging.streams import FilledSentence
    from seqtag.tagging.tagger import text_of_table

    with usage():
        taggers = Chain([load_model(model)], only).shown
    sentences = [] if corpus is None else reading.gathered([corpus], notes)
    shown = []
    for tagger in taggers:
        found: tuple[int, list[Weight]]
        if corpus is None:
            found = transitions_of(tagger.model, label, feature, top)
        else:
            known = names_of(tagger.model, map(FilledSentence, sentences))
            found = weights_of(tagger.model, known, label, feature, top)
        count, weights = found
        if as_json:
            rows = [each._asdict() for each in weights]
            part = {"part": tagger.label, "found": count, "weights": rows}
            shown.append(part | ({"tables": tagger.info["tables"]} if tagger.model.tables else {}))
            continue
        say(f"{tagger.label}: {len(weights)} of {count:,} weights\n")
        say("".join(f"table {text_of_table(table)}\n" for table in tagger.model.tables))
        say_table(
            [
                ("weight", "feature", "label"),
                *((f"{each.weight:g}", each.feature, each.label) for each in weights),
            ],
            "><<",
        )
        say("\n")
    if as_json:
        print_json(shown)
