"""``seqtag annotate``."""

from __future__ import annotations

from contextlib import closing, suppress
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import click

from seqtag.cli.base import Command, in_output, option
from seqtag.cli.common import Notes, complain, refuse
from seqtag.cli.options import complete_files, general_options, port_option, text_column_option
from seqtag.cli.signals import Interruption
from seqtag.errors import install_hint


@click.command("annotate", cls=Command)
@click.argument("texts", shell_complete=complete_files)
@option("--label-set", required=True, metavar="LABELS", help="Labels joined with commas: PER,LOC.")
@option("--words", metavar="COLUMN", help="Label words, in a column so called, such as upos.")
@option("-m", "--model", metavar="MODEL", help="Model that cuts texts, and labels them at first.")
@text_column_option
@port_option
@in_output("-o", "--output", metavar="FILE", shown="TEXTS.annotated.jsonl", help="Decisions file.")
@general_options
@click.pass_context
def command(context: click.Context, /, texts: str, notes: Notes, **given: Any) -> int:
    """Annotate texts on a page in the browser; a model learns from each decision.

    TEXTS has a text on each line, or objects of JSON with a text. The page shows the text whose
    decision is worth most, with what the model finds in it. Each decision is on the disk before
    the next text is shown, in a file that seqtag train reads. Only this machine can connect.

    \b
    Examples:
      seqtag annotate texts.txt --label-set PER,LOC,ORG
      seqtag annotate texts.jsonl --words upos --label-set NOUN,VERB
    """
    try:
        from seqtag.annotate.app import Annotation, application
        from seqtag.serve.process import Settings, listening, serve
    except ImportError:
        refuse(f"annotate needs starlette, uvicorn; {install_hint('serve')}")
    from seqtag.annotate.decisions import Decisions
    from seqtag.annotate.learner import Task, prepare
    from seqtag.labels.column import column_meant
    from seqtag.labels.schemes import OUTSIDE, kind_of
    from seqtag.tagging.pipeline import Cutter, Pipeline

    words, name = given["words"], given["model"]
    given_model = Pipeline.load(name) if name else None
    known = given_model and column_meant(words or "ner", given_model.columns)
    model = given_model.only(known) if given_model and known else None  # else it cuts texts alone
    labels = [*dict.fromkeys(filter(None, map(str.strip, given["label_set"].split(","))))]
    odd = [each for each in labels if each == OUTSIDE or kind_of(each) != each]
    if odd and not words:
        refuse(
            f"expected kinds of spans, such as PER, found {odd[0]!r}; leave it out of --label-set"
        )
    if not {*labels} & {*map(kind_of, model.taggers[-1].labels if model else labels)}:
        refuse(f"expected labels, one of which the model gives, found {given['label_set']!r}")
    origins = read_texts(texts, given["text_column"])
    path = given["output"] or f"{texts}.annotated.jsonl"
    file = context.with_resource(Path(path).open("a+b", buffering=0))  # noqa: SIM115
    decisions = Decisions(file, words or "spans")
    if decisions.cut:
        notes(f"note: {path}: cut off the last line, which had no end: {decisions.cut[:60]!r}")
    shuffled = Random(0).sample([*origins], len(origins))
    task = Task(shuffled, labels, words, model, Cutter(model or name or "en"))
    learner = context.with_resource(get_context("spawn").Pool(1, prepare))  # no socket is shared
    front = application(Annotation(task, origins, decisions, learner))
    listener = context.with_resource(listening("127.0.0.1", given["port"]))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    notes(f"{address} shows {len(origins):,} different texts; decisions go to {path}")
    with suppress(Interruption):  # uvicorn raises it again at its end
        serve(Settings(complain=complain), front, listener, 1, Interruption.exit_at_once, notes)
    notes(f"stopped; {len(decisions.lines):,} decisions are in {path}")
    return 0


def read_texts(path: str, column: str | None) -> dict[str, Any]:
    """Return the texts of a file, each with its line and its other fields."""
    from seqtag.corpus.stream import ByteStream
    from seqtag.corpus.texts import texts_of_lines

    found = dict[str, Any]()
    with closing(ByteStream(path)) as stream:
        for text, fields, line, _ in texts_of_lines(stream, column):
            if text.strip():
                others = {name: value for name, value in fields.items() if value != text}
                found.setdefault(text, {"line": line} | others)
    return found
