"""``seqtag bundle``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from seqtag.cli.base import Command, option
from seqtag.cli.common import Notes, check_stdin, check_target, load_model, say
from seqtag.cli.options import (
    complete_files,
    force_option,
    general_options,
    output_option,
    reading_options,
    threads_option,
)

if TYPE_CHECKING:
    from seqtag.cli.options import InputOptions
    from seqtag.model.model import Model


@click.command("bundle", cls=Command)
@click.argument(
    "models", nargs=-1, required=True, metavar="MODEL...", shell_complete=complete_files
)
@output_option
@option(
    "--calibrate",
    "dev",
    multiple=True,
    metavar="DEV",
    shell_complete=complete_files,
    help="Calibrate the scores on these annotated sentences, which no model was trained on.",
)
@force_option
@reading_options
@threads_option
@general_options
def command(
    models: tuple[str, ...],
    output: str,
    dev: tuple[str, ...],
    force: bool,
    reading: InputOptions,
    threads: int,
    notes: Notes,
) -> int:
    """Combine several models in one file, which run in the order given, or calibrate one.

    Calibration maps the margin of a label to the share of correct labels at that margin: of tokens
    with a score of 0.9, about 90% are correct in text like DEV. It is a frequency, not the
    probability of a probabilistic model. `seqtag tag --probability` writes it, `seqtag eval` shows
    how well it fits other text. Labels do not change. In a pipeline, the components that DEV has
    labels for are calibrated.

    \b
    Examples:
      seqtag bundle tokens.seqtag upos.seqtag lemma.seqtag -o english.seqtag
      seqtag bundle en --calibrate dev.conllu -o calibrated.seqtag
    """
    from seqtag.model import bundle
    from seqtag.model.embedded import find_model
    from seqtag.tagging.pipeline import of_models
    from seqtag.training.calibration import calibrate

    check_stdin(dev)
    check_target(output, [*map(find_model, models), *dev], force=force, model=True)
    components: list[Model] = []
    for name in models:
        components += load_model(name).models
    reading = reading.after(each.training for each in components)
    sentences = reading.gathered(dev, "dev") if dev else []
    shown = ", ".join(str(each.column) for each in components)
    tables = []
    if dev:
        components, reliability = calibrate(of_models(components, output), sentences, threads)
        for label, each in reliability.items():
            tables.append(f"{label}, on the sentences it was calibrated on\n{each.section.text}\n")
        shown += f"; {', '.join(reliability)} calibrated"
    size = bundle.save(output, components)
    notes(f"{output}: {shown}, {size / 1e6:.1f} MB")
    for table in tables:  # whose reader may go
        say(table)
    return 0
