"""``seqtag bundle``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from seqtag.cli.base import OUTPUT, Command, option
from seqtag.cli.common import Notes, check_target, load_model
from seqtag.cli.options import attributes_option, complete_models, force_option, quiet_option

if TYPE_CHECKING:
    from seqtag.model.model import Model


@click.command("bundle", cls=Command)
@click.argument(
    "models", nargs=-1, required=True, metavar="MODEL...", shell_complete=complete_models
)
@option(
    "-o",
    "--output",
    required=True,
    help="Output file (written atomically).",
    metavar="FILE",
    group=OUTPUT,
)
@force_option
@quiet_option
@attributes_option
@click.pass_context
def command(
    context: click.Context, models: tuple[str, ...], output: str, force: bool, quiet: bool
) -> int:
    """Combine several models in one file; they run in the order given.

    \b
    Examples:
      seqtag bundle tokens.seqtag upos.seqtag lemma.seqtag -o english.seqtag
    """
    from seqtag.model import bundle
    from seqtag.model.embedded import find_model

    notes = Notes(quiet)
    check_target(context, output, list(map(find_model, models)), force=force, model=True)
    components: list[Model] = []
    for name in models:
        components += load_model(name).models
    size = bundle.save(output, components)
    notes(f"{output}: {', '.join(str(each.column) for each in components)}, {size / 1e6:.1f} MB")
    return 0
