"""``seqtag calibrate``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from seqtag.cli.base import OUTPUT, Command, option
from seqtag.cli.common import Notes, check_stdin, check_target, load_model, print_json, say
from seqtag.cli.options import (
    attributes_option,
    force_option,
    json_option,
    quiet_option,
    reading_options,
    threads_option,
)

if TYPE_CHECKING:
    from seqtag.cli.options import InputOptions


@click.command("calibrate", cls=Command)
@click.argument("model")
@click.argument("files", nargs=-1, required=True, metavar="DEV...")
@option(
    "-o",
    "--output",
    required=True,
    help="Output file of the calibrated model (written atomically).",
    metavar="FILE",
    group=OUTPUT,
)
@force_option
@reading_options
@json_option
@threads_option
@quiet_option
@attributes_option
@click.pass_context
def command(
    context: click.Context,
    model: str,
    files: tuple[str, ...],
    output: str,
    force: bool,
    reading: InputOptions,
    as_json: bool,
    threads: int,
    quiet: bool,
) -> int:
    """Calibrate the scores of a model on annotated sentences that it was not trained on.

    The margin of a label is mapped to the share of correct labels at that margin: of tokens with
    a score of 0.9, about 90% are correct in text like DEV. It is a frequency, not the probability
    of a probabilistic model. `seqtag tag --probability` writes it, `seqtag eval` shows how well it
    fits other text. Labels do not change. In a pipeline, the components that DEV has labels for
    are calibrated.

    \b
    Examples:
      seqtag calibrate english.seqtag dev.conllu -o english.seqtag --force
      seqtag calibrate en dev.conllu -o calibrated.seqtag
    """
    from seqtag.model import bundle
    from seqtag.training.calibration import calibrate

    notes = Notes(quiet)
    check_stdin(context, files)
    check_target(context, output, files, force=force, model=True)
    sentences = reading.gathered(files, notes, "dev")
    done = calibrate(load_model(model), sentences, threads)
    size = bundle.save(output, done.models)
    notes(f"{output}: {', '.join(done.reliability)} calibrated, {size / 1e6:.1f} MB")
    if as_json:
        print_json({label: each.to_dict() for label, each in done.reliability.items()})
    else:
        for label, each in done.reliability.items():
            say(f"{label}, on the sentences it was calibrated on\n{each.section.text}\n")
    return 0
