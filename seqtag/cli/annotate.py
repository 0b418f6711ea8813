"""``seqtag annotate``."""

from __future__ import annotations

import re
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

import click

from seqtag.cli.base import Command, in_output, option
from seqtag.cli.common import Notes, complain, refuse
from seqtag.cli.options import complete_files, general_options, port_option
from seqtag.cli.signals import Interruption
from seqtag.errors import CorpusError, install_hint

_JSON = re.compile(r"[\s\ufeff]*(\[\s*)?\{")


@click.command("annotate", cls=Command)
@click.argument("texts", shell_complete=complete_files)
@option("--label-set", required=True, metavar="LABELS", help="Labels joined with commas: PER,LOC.")
@option("--words", metavar="COLUMN", help="Label words, in a column so called, such as upos.")
@option("-m", "--model", metavar="MODEL", help="Model that cuts texts, and labels them at first.")
@port_option
@in_output("-o", "--output", metavar="FILE", shown="TEXTS.annotated.jsonl", help="Decisions file.")
@general_options
@click.pass_context
def command(
    context: click.Context,
    texts: str,
    label_set: str,
    words: str | None,
    model: str | None,
    output: str | None,
    port: int,
    notes: Notes,
) -> int:
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
        from seqtag.serve.work import ServerLimits
    except ImportError:
        refuse(f"annotate needs starlette, uvicorn; {install_hint('serve')}")
    from seqtag.annotate.decisions import Decisions
    from seqtag.annotate.learner import Task
    from seqtag.tagging.pipeline import Cutter, Pipeline

    labels = [label.strip() for label in label_set.split(",") if label.strip()]
    given = Pipeline.load(model).only(words or "ner") if model else None
    known = given.taggers[-1].labels if given else labels
    if not {*labels} & {label.partition("-")[2] or label for label in known}:
        refuse(f"expected labels, one of which the model gives, found {label_set!r}")
    origins, path = read_texts(texts), output or f"{texts}.annotated.jsonl"
    file = context.with_resource(Path(path).open("a+b", buffering=0))  # noqa: SIM115
    decisions = Decisions(file, words or "spans")
    if decisions.cut:
        notes(f"note: {path}: cut off the last line, which had no end: {decisions.cut[:60]!r}")
    shuffled = Random(0).sample([*origins], len(origins))
    task = Task(shuffled, [*dict.fromkeys(labels)], words, given, Cutter(given or "en"))
    front = application(Annotation(task, origins, decisions))
    listener = context.with_resource(listening("127.0.0.1", port))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    notes(f"{address} shows {len(origins):,} different texts; decisions go to {path}")
    settings = Settings([], ServerLimits(), loopback=True, origins=(), complain=complain)
    with suppress(Interruption):  # uvicorn raises it again at its end
        serve(settings, front, listener, 1, Interruption.exit_at_once, notes)
    notes(f"stopped; {len(decisions.lines):,} decisions are in {path}")
    return 0


def read_texts(path: str) -> dict[str, Any]:
    """Return the texts of a file, each with the other fields of its object of JSON, or its line.

    Raises
    ------
    CorpusError
        If a value of JSON has no text.
    """
    from seqtag.corpus.spans import text_of
    from seqtag.corpus.stream import ByteStream, after_last_character
    from seqtag.corpus.texts import json_values

    with closing(ByteStream(path)) as stream:
        pieces = [block.text for block in stream.blocks(after_last_character)]
    content = "".join(pieces)
    lines = (({"text": line.strip()}, at, 0) for at, line in enumerate(content.split("\n"), 1))
    found = dict[str, Any]()
    for value, line, _ in json_values(pieces, path) if _JSON.match(content) else lines:
        text = text_of(value)
        if text is None or not isinstance(value, dict):
            msg = f"expected an object with a text, found {value!a:.60}; correct or remove it"
            raise CorpusError(msg, source=path, line=line)
        if text.strip():
            others = {name: each for name, each in value.items() if each != text}
            found.setdefault(text, {"line": line} | others)
    return found
