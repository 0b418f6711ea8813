"""``seqtag inspect``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from seqtag.cli.base import INPUT, Command, option
from seqtag.cli.common import Notes, check_stdin, load_model, print_json, say, usage
from seqtag.cli.options import (
    ColumnList,
    attributes_option,
    json_option,
    quiet_option,
    reading_options,
)

if TYPE_CHECKING:
    from seqtag.cli.options import InputOptions


@click.command("inspect", cls=Command)
@click.argument("model")
@option(
    "--only",
    type=ColumnList(),
    metavar="COLUMN,...",
    help="Show only these components of a pipeline.",
)
@option(
    "--label", metavar="L", help="Show only weights of this label, or of labels that end in it."
)
@option(
    "--feature",
    metavar="GLOB",
    help="Show only features whose names match, such as 'suffix(2)*=ed'.",
)
@option(
    "--top",
    type=click.IntRange(1),
    default=20,
    metavar="N",
    help="Number of weights to show, the largest by absolute value.",
)
@option("--transitions", is_flag=True, help="Show weights of label bigrams and trigrams instead.")
@option(
    "--names",
    multiple=True,
    metavar="CORPUS",
    help="Take the names of features from this corpus.",
    group=INPUT,
)
@reading_options
@json_option
@quiet_option
@attributes_option
@click.pass_context
def command(
    context: click.Context,
    model: str,
    only: tuple[str, ...] | None,
    label: str | None,
    feature: str | None,
    top: int,
    transitions: bool,
    names: tuple[str, ...],
    reading: InputOptions,
    as_json: bool,
    quiet: bool,
) -> int:
    """Show the largest weights of a model, or of the components of a pipeline.

    Features are hashed in the model: their names come from the corpus given with --names, such as
    the training data; a feature that is not in it is shown as # and its key. Labels are shown as
    they are learned: IOBES for chunks that are written in IOB2, edit scripts for lemmas.

    \b
    Examples:
      seqtag inspect upos.seqtag --names a.conllu --label VERB --top 9
      seqtag inspect chunks.seqtag --transitions --top 50
    """
    from seqtag.tagging.explain import names_of, transitions_of, weights_of
    from seqtag.tagging.pipeline import Chain
    from seqtag.tagging.streams import FilledSentence
    from seqtag.tagging.tagger import text_of_table

    notes = Notes(quiet)
    check_stdin(context, names)
    if feature is not None and not names and not transitions:
        msg = "expected --names CORPUS with --feature, found none; features are hashed in the model"
        raise click.UsageError(msg, context)
    with usage():
        taggers = Chain([load_model(model)], only).shown
    sentences = reading.sentences(names) if names else []
    if not names and not transitions:
        notes("note: features are hashed in the model; name them with --names CORPUS")
    shown: list[dict[str, object]] = []
    for tagger in taggers:
        if transitions:
            weights = transitions_of(tagger.model, label, feature)
        else:
            known = names_of(tagger.model, tagger.seen(map(FilledSentence, sentences)))
            weights = weights_of(tagger.model, known, label, feature)
        tables = tagger.model.tables
        if as_json:
            rows = [each._asdict() for each in weights[:top]]
            found = {"part": tagger.label, "found": len(weights), "weights": rows}
            shown.append(found | ({"tables": tagger.info["tables"]} if tables else {}))
            continue
        width = max([len("feature"), *(len(each.feature) for each in weights[:top])])
        say(f"{tagger.label}: {min(top, len(weights))} of {len(weights):,} weights\n")
        say("".join(f"table {text_of_table(table)}\n" for table in tables))
        say(f"{'weight':>7}  {'feature':<{width}}  label\n")
        for each in weights[:top]:
            say(f"{each.weight:>7g}  {each.feature:<{width}}  {each.label}\n")
        say("\n")
    if as_json:
        print_json(shown)
    return 0
