"""``seqtag info``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from seqtag.cli.base import OUTPUT, WEIGHTS, Command, option
from seqtag.cli.common import Notes, check_stdin, load_model, print_json, say, usage
from seqtag.cli.info_file import is_corpus, show_file
from seqtag.cli.options import (
    ColumnList,
    attributes_option,
    complete_models,
    json_option,
    quiet_option,
    reading_options,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.cli.options import InputOptions
    from seqtag.corpus import Sentence
    from seqtag.tagging.explain import Weight
    from seqtag.tagging.tagger import Tagger


@click.command("info", cls=Command)
@click.argument("model", metavar="MODEL|FILE", shell_complete=complete_models)
@option(
    "--against",
    metavar="MODEL|FILE",
    help="Show what of FILE would not match: columns, labels, words.",
    group=OUTPUT,
)
@option("--verbose", is_flag=True, help="Show all facts and templates.", group=OUTPUT)
@option("--weights", is_flag=True, help="Show the largest weights.", group=OUTPUT)
@option(
    "--only",
    type=ColumnList(),
    metavar="COLUMN,...",
    help="Show only these components of a pipeline.",
    group=WEIGHTS,
)
@option(
    "--label",
    metavar="L",
    help="Show only weights of this label, or of labels that end in it.",
    group=WEIGHTS,
)
@option(
    "--feature",
    metavar="GLOB",
    help="Show only features whose names match, such as 'suffix(2)*=ed'.",
    group=WEIGHTS,
)
@option(
    "--top",
    type=click.IntRange(1),
    default=20,
    metavar="N",
    help="Number of weights to show, the largest by absolute value.",
    group=WEIGHTS,
)
@option(
    "--transitions",
    is_flag=True,
    help="Show weights of label bigrams and trigrams instead.",
    group=WEIGHTS,
)
@option(
    "--names",
    multiple=True,
    metavar="CORPUS",
    help="Take the names of features from this corpus.",
    group=WEIGHTS,
)
@reading_options
@json_option
@quiet_option
@attributes_option
@click.pass_context
def command(
    context: click.Context,
    model: str,
    against: str | None,
    verbose: bool,
    weights: bool,
    as_json: bool,
    quiet: bool,
    reading: InputOptions,
    only: tuple[str, ...] | None,
    label: str | None,
    feature: str | None,
    top: int,
    transitions: bool,
    names: tuple[str, ...],
) -> int:
    """Show what a file is, or the components, labels, training and size of a model.

    A file is shown as all commands read it: its format and columns with their most frequent
    values, its sentences, and what does not fit. The options of the input change what is detected.

    With --weights: features are hashed in the model, so their names come from the corpus given with
    --names, such as the training data; a feature that is not in it is shown as # and its key.
    Labels are shown as they are learned: IOBES for chunks that are written in IOB2, edit scripts
    for lemmas.

    \b
    Examples:
      seqtag info names.tsv
      seqtag info names.tsv --against names.seqtag
      seqtag info en
      seqtag info english.seqtag --json
      seqtag info upos.seqtag --weights --names train.conllu --feature "suffix*"
      seqtag info chunks.seqtag --weights --transitions --top 50
    """
    from seqtag.model.embedded import find_model
    from seqtag.tagging.explain import transitions_of
    from seqtag.tagging.pipeline import Chain
    from seqtag.tagging.tagger import Tagger

    for each in context.command.params:
        is_given = context.get_parameter_source(each.name or "") is ParameterSource.COMMANDLINE
        if is_given and not weights and getattr(each, "group", None) == WEIGHTS:
            msg = f"expected --weights with {each.opts[0]}, found {each.opts[0]} alone; add it"
            raise click.UsageError(msg, context)
    check_stdin(context, names)
    if feature is not None and not names and not transitions:
        msg = "expected --names CORPUS with --feature, found none; features are hashed in the model"
        raise click.UsageError(msg, context)
    is_file = not weights and is_corpus(model)
    notes = Notes(quiet or is_file)  # what they would say of a file is shown
    if is_file:
        show_file(model, against, reading, as_json=as_json)
        return 0
    if against is not None:
        msg = "expected a file with --against, found a model"
        raise click.UsageError(msg, context)
    loaded = load_model(model)
    if weights:
        with usage():
            taggers = Chain([loaded], only).shown
        if not names and not transitions:
            notes("note: features are hashed in the model; name them with --names CORPUS")
        sentences = reading.gathered(names) if names else []
        if transitions:
            found = [transitions_of(tagger.model, label, feature, top) for tagger in taggers]
        else:
            found = [_named_weights(tagger, sentences, label, feature, top) for tagger in taggers]
        _print_weights(taggers, found, as_json=as_json)
        return 0
    taggers = [Tagger(each) for each in loaded.models]
    if as_json:
        facts = [_facts(tagger) for tagger in taggers]
        size = Path(find_model(model)).stat().st_size
        print_json(
            {"model": model, "bytes": size} | (facts[0] if len(facts) == 1 else {"parts": facts})
        )
    elif verbose or len(taggers) == 1:
        say(_first_lines(model) + _details(taggers, verbose=verbose))
    else:
        say(_first_lines(model) + _summary(model, taggers))
    return 0


# ----------------------------------------------------------------- facts
def _first_lines(name: str) -> str:
    """Return the name and size of a model, and the license of an embedded one."""
    from seqtag.model.embedded import LICENSE, MODELS, find_model

    path = find_model(name)
    lines = f"{'model':<12} {name} ({path.stat().st_size / 1e6:.2f} MB)\n"
    return lines + (f"{'license':<12} {LICENSE}\n" if path.parent == MODELS else "")


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


def _summary(name: str, taggers: Sequence[Tagger]) -> str:
    """Return a line for each component of a pipeline, and how to use it."""
    from seqtag.tagging.tagger import training_size

    writers = dict.fromkeys(tagger.model.writer for tagger in taggers)
    rows = [("component", "labels", "features", "trained on")]
    for tagger in taggers:
        counts = f"{len(tagger.labels):,}", f"{tagger.sizes['features']:,}"
        rows.append((tagger.label, *counts, training_size(tagger.model)))
    width = max(len(label) for label, *_ in rows)
    table = "".join(
        f"{label:<{width}}  {labels:>6}  {features:>9}  {size}\n"
        for label, labels, features, size in rows
    )
    usage = {
        "tag a file": f"seqtag tag -m {name} FILE",
        "one component": f"seqtag tag -m {name} --only {taggers[-1].label} FILE",
        "in Python": f"seqtag.load({name!r})",
        "all facts": f"seqtag info {name} --verbose",
    }
    lines = "".join(f"{what:<13}  {how}\n" for what, how in usage.items())
    return f"{'made by':<12} {', '.join(writers)}\n\n{table}\n{lines}"


def _facts(tagger: Tagger) -> dict[str, object]:
    """Return the facts about a tagger for JSON."""
    known = {"labels": list(tagger.labels), "known_words": len(tagger.known_words)}
    return {**known, **tagger.sizes, **tagger.info}


# ----------------------------------------------------------------- weights
def _named_weights(
    tagger: Tagger,
    sentences: Sequence[Sentence],
    label: str | None,
    feature: str | None,
    top: int,
) -> tuple[int, list[Weight]]:
    """Return the number of weights and the largest, with names from sentences."""
    from seqtag.tagging.explain import names_of, weights_of
    from seqtag.tagging.streams import FilledSentence

    known = names_of(tagger.model, tagger.seen(map(FilledSentence, sentences)))
    return weights_of(tagger.model, known, label, feature, top)


def _print_weights(
    taggers: Sequence[Tagger], found: Sequence[tuple[int, list[Weight]]], *, as_json: bool
) -> None:
    """Print the number of weights of each tagger, and the largest."""
    from seqtag.tagging.tagger import text_of_table

    if as_json:
        shown = []
        for tagger, (count, weights) in zip(taggers, found, strict=True):
            rows = [each._asdict() for each in weights]
            part = {"part": tagger.label, "found": count, "weights": rows}
            shown.append(part | ({"tables": tagger.info["tables"]} if tagger.model.tables else {}))
        print_json(shown)
        return
    for tagger, (count, weights) in zip(taggers, found, strict=True):
        width = max([len("feature"), *(len(each.feature) for each in weights)])
        say(f"{tagger.label}: {len(weights)} of {count:,} weights\n")
        say("".join(f"table {text_of_table(table)}\n" for table in tagger.model.tables))
        say(f"{'weight':>7}  {'feature':<{width}}  label\n")
        for each in weights:
            say(f"{each.weight:>7g}  {each.feature:<{width}}  {each.label}\n")
        say("\n")
