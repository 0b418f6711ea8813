"""``seqtag compare``."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seqtag.catalogue.fetch import locate
from seqtag.cli.base import Command, option
from seqtag.cli.common import Notes, check_stdin, check_stdout, load_model, print_json, say
from seqtag.cli.eval import load_annotator
from seqtag.cli.options import json_option, raw_option, scoring_options
from seqtag.corpus.stream import Held
from seqtag.evaluation.significance import AnyReport, compare
from seqtag.evaluation.systems import is_scored_alone, score_system
from seqtag.loading import find_or_train
from seqtag.model.container import is_model
from seqtag.storage.output import is_read_once
from seqtag.tagging.tagger import Tagger

if TYPE_CHECKING:
    from seqtag.cli.options import InputOptions
    from seqtag.tagging.pipeline import Loaded


@click.command("compare", cls=Command)
@click.argument("gold", metavar="GOLD")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@option("--label", metavar="COLUMN", help="Column to compare.", shown="the models', or as in train")
@raw_option
@json_option
@scoring_options
def command(
    gold: str,
    a: str,
    b: str,
    label: str | None,
    raw: bool,
    reading: InputOptions,
    as_json: bool,
    threads: int,
    notes: Notes,  # noqa: ARG001  (of --quiet, which has its effect)
) -> int:
    """Compare two systems, A and B, on GOLD; each is a file that it labeled, or a model.

    The output has differences with confidence intervals and p-values, by the paired bootstrap of
    1,000 samples of the sentences.

    \b
    Examples:
      seqtag compare gold.conllu a.conllu b.conllu
      seqtag compare test.conllu en mine.seqtag
      seqtag compare test.conllu en mine.seqtag --raw
    """
    check_stdin([gold, a, b])
    check_stdout()
    [gold] = locate([gold])
    loaded: list[Loaded | None] = []
    for name in (a, b):
        path = find_or_train(name)
        is_named = str(path) != str(Path(name))  # an embedded model
        model = name != "-" and (is_named or is_model(path))
        loaded.append(load_model(name) if model else None)
    single = next((each for each in loaded if isinstance(each, Tagger)), None)
    component = None  # that of a pipeline to score by itself
    if single is not None and not raw:
        component = label or single.label
    elif any(each and is_scored_alone(each, label) for each in loaded):
        component = label
    held = Held(gold) if is_read_once(gold) else None  # for the second system
    reading = reading.after(model.training for each in loaded if each for model in each.models)

    def report(name: str, model: Loaded | None) -> AnyReport:
        with ExitStack() as files:
            source = held.again() if held else gold
            stream, *others = (
                files.enter_context(reading.open(each))
                for each in (source, *(locate([name]) if model is None else []))
            )
            return score_system(
                stream,
                others[0] if model is None else load_annotator(name) if raw else model,
                name=name,
                label=label,
                aligned=(raw and model is None) or (component is None and any(loaded)),
                raw=raw and model is not None,
                component=component,
                threads=threads,
                samples=True,
            )[0]

    reports = [report(name, each) for name, each in zip((a, b), loaded, strict=True)]
    found = compare(*reports)
    if as_json:
        print_json({"gold": gold, "a": a, "b": b, **found.to_dict()})
    else:
        say(f"A {a}\nB {b}\n\n{found.to_text()}")
    return 0
