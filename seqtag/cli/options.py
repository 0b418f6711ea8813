"""Options that several commands share; those of settings are made from `seqtag.settings`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

import click
from click.shell_completion import CompletionItem

from seqtag.catalogue.fetch import locate
from seqtag.cli.base import (
    Choice,
    Whole,
    in_advanced,
    in_cluster,
    in_features,
    in_general,
    in_input,
    in_output,
    in_training,
    option,
)
from seqtag.cli.common import ATTRIBUTES, Notes, refuse
from seqtag.corpus import LIMITS, READABLE, WRITABLE, ReadOptions
from seqtag.corpus.spans import OFFSETS, TEXT_FORMATS
from seqtag.errors import CorpusError, TemplateError
from seqtag.segmentation.paragraphs import PARAGRAPHS
from seqtag.settings import SETTINGS, Setting
from seqtag.storage.output import atomic
from seqtag.tables.table import WORDS

if TYPE_CHECKING:
    from seqtag.corpus import Sentence
    from seqtag.corpus.read import SentenceStream
    from seqtag.evaluation.agreement import Agreement

Command = TypeVar("Command", bound=Callable[..., Any])


if TYPE_CHECKING:
    Parameter = click.ParamType[Any]
else:
    Parameter = click.ParamType


def combined(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return a decorator that adds several options, in this order."""

    def add(command: Command) -> Command:
        for each in reversed(options):
            command = each(command)
        return command

    return add


def complete_files(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return that a word is completed as the name of a file."""
    return [CompletionItem(begun, type="file")]


class SettingValue(Parameter):
    """Type of the value of a setting."""

    def __init__(self, setting: Setting):
        self.setting = setting
        kinds = {int: "N", float: "NUMBER", str: "WORD"}
        self.name = "|".join(setting.choices or (kinds[setting.type], *setting.words))

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> Any:
        """Parse and check the value."""
        if not isinstance(value, str):
            return value
        try:
            return self.setting.parse(value)
        except TemplateError as error:
            return self.fail(error.message, param, context)


def setting_options(command: Command) -> Command:
    """Add an option for each setting of training."""
    for setting in reversed(SETTINGS.values()):
        kind = SettingValue(setting)
        default = f"{setting.default:g}" if setting.type is float else setting.default
        command = in_training(
            f"--{setting.name}",
            setting.attribute,
            type=kind,
            metavar=kind.name,
            shown=f"from the preset, else {default}",
            help=setting.help,
        )(command)
    return command


def split_names(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    """Return comma-separated names of columns."""
    names = tuple(name.strip() for name in value.split(",")) if value is not None else None
    if names is not None and not all(names):
        msg = f"expected column names such as form,pos,chunk, found {value!r}"
        raise click.BadParameter(msg, context, parameter)
    return names


def check_suffix(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Refuse what cannot be the ending of a name."""
    if value is not None and not re.fullmatch(r"(\.[^./\\\0]+)+", value):
        msg = f"expected an ending such as .conllu, found {value!r}"
        raise click.BadParameter(msg)
    return value


models_option = option(
    "-m",
    "--model",
    "models",
    multiple=True,
    shell_complete=complete_files,
    help="Model file or name; repeat to run several in order.",
    shown="en",
    metavar="MODEL",
)
format_option = in_input(
    "--format",
    "format",
    type=Choice(READABLE),
    default="auto",
    metavar="FORMAT",
    help=f"Format of the input: {', '.join(READABLE[1:])}.",
    shown="detected",
)
columns_option = in_input(
    "--columns",
    callback=split_names,
    help="Names of the columns of a column file, such as form,pos,chunk; _ for those not used.",
    metavar="NAME,NAME,...",
)
layout_options = combined(
    in_input(
        "--separator",
        metavar="CHARACTER|tab|space",
        help="Separator of the columns.",
        shown="detected",
    ),
    in_input(
        "--comment",
        metavar="MARK|none",
        help="Beginning of lines that are comments.",
        shown="detected",
    ),
    in_input(
        "--header/--no-header",
        default=None,
        help="Whether the first line names the columns.",
        shown="detected",
    ),
    in_input(
        "--sentences",
        metavar="blank|restart|punctuation|COLUMN|MARK",
        help="End of a sentence: a blank line, a restart of the ids, punctuation, a change in a "
        "column, a line such as EOS, or a label such as SENT.",
        shown="detected",
    ),
    in_input(
        "--outside",
        metavar="LABEL",
        help="Label of words outside of chunks.",
        shown="O or a word like it",
    ),
    in_input(
        "--scheme",
        type=Choice(("none",)),
        help="none takes labels as they are, even if they look like chunk labels.",
        shown="detected",
    ),
    in_input(
        "--names",
        callback=split_names,
        metavar="NAME,NAME,...",
        help="Names of labels that JSON lines have as numbers: that of 0, that of 1, ...",
    ),
    in_input(
        "--tokens-from",
        metavar="MODEL",
        shell_complete=complete_files,
        help="Model that cuts texts with spans into words; train stores it with what it learns.",
        shown="that of the model, else en",
    ),
    in_input(
        "--offsets",
        type=Choice([*OFFSETS]),
        help="Unit of the positions of spans; utf16 is that of JavaScript, byte of UTF-8.",
        shown="codepoint",
    ),
    in_input(
        "--overlaps",
        type=Choice(("longest",)),
        help="longest uses the longest of spans that overlap, which are refused otherwise.",
    ),
)
"""Options about column files and texts with spans."""

quiet_option = in_general(
    "-q",
    "--quiet",
    "notes",
    is_flag=True,
    callback=lambda _, __, quiet: Notes(quiet),
    help="Suppress all messages but errors.",
)
"""``--quiet``; the command gets its `Notes`."""
json_option = in_output("--json", "as_json", is_flag=True, help="Write a JSON document to stdout.")
output_option = in_output(
    "-o", "--output", required=True, metavar="FILE", help="Output file (written atomically)."
)
force_option = in_output("--force", is_flag=True, help="Overwrite the output file if it exists.")
suffix_option = in_output(
    "--suffix",
    callback=check_suffix,
    metavar=".ENDING",
    help="Ending of the files in an output folder, such as .conllu.",
    shown="that of the input",
)
threads_option = in_general(
    "--threads", type=Whole(1), default=1, help="Number of threads.", metavar="N"
)


def _load_attributes(
    context: click.Context, _: click.Parameter, files: tuple[str, ...]
) -> tuple[str, ...]:
    """Run the files that register attributes, before templates or models are read."""
    if files and not context.resilient_parsing:
        from seqtag.features.attributes import load_attributes

        for file in files:
            load_attributes(file)
        context.meta[ATTRIBUTES] = files
    return files


attributes_option = in_advanced(
    "--attributes",
    multiple=True,
    is_eager=True,
    expose_value=False,
    callback=_load_attributes,
    metavar="FILE.py",
    help="Python file that defines custom attributes. It is executed: use only files that you "
    "trust.",
)
tables_option = in_features(
    "--table",
    "tables",
    multiple=True,
    metavar="[NAME=]FILE[:lower]",
    help="Word classes, as written by seqtag classes; words with values (TSV), looked up as "
    "written, or with :lower in lower case; :lower0 also takes each digit as 0; or a list of names "
    "of several words (CSV name,type, or a name per line), looked up in lower case, or with :form "
    "as written. Presets use them automatically, templates by class(NAME)[0] or lexicon(NAME)[0].",
)
"""``--table``; `training_arguments` reads the files."""


def is_pipeline(label: str | None) -> TypeGuard[str]:
    """Return whether a value of ``--label`` names a pipeline, or a component learned from text."""
    return label is not None and ("," in label or label in ("all", "tokens", "words"))


def training_arguments(options: dict[str, Any], *, train: bool = False) -> None:
    """Turn options of training into arguments of the functions that train, in place.

    Parameters
    ----------
    options
        Values of the options by name.
    train
        Whether the function can train pipelines, and learn around unlabeled words.

    Raises
    ------
    UsageError
        If the label is a pipeline, or options about unlabeled words do not go together.
    """
    from seqtag.tables.lexicon import read_table, tables_of

    unlabeled, equals, mark = options.pop("unlabeled").partition("=")
    label = options["label"]
    if not train and is_pipeline(label):
        refuse(
            f"expected one column of words for --label here, found {label}; name one, such as "
            "upos, or train a pipeline with seqtag train and score it with seqtag eval"
        )
    elif unlabeled == "learn-around" and not train:
        refuse("expected --unlabeled error or skip here, found learn-around; seqtag train has it")
    options["unlabeled"] = unlabeled.replace("-", "_")
    if equals:
        options["unlabeled_mark"] = mark
    given = [_parts_of_table(value) for value in options["tables"]]
    options["tables"] = tables_of(
        [read_table(file, name=name or None, words=words or None) for name, file, words in given]
    )


def other_inputs(options: Mapping[str, Any]) -> list[str]:
    """Return the files to read besides the sentences; call it before `training_arguments`."""
    tables = [_parts_of_table(value)[1] for value in options["tables"]]
    return [*filter(None, [options["templates"]]), *tables]


def _parts_of_table(value: str) -> tuple[str, str, str]:
    """Split ``[NAME=]FILE[:WORDS]`` into name, file and form of words; a file is taken as it is."""
    name, equals, file = value.partition("=")
    if not equals or Path(value).exists():
        name, file = "", value
    short, _, words = file.rpartition(":")
    if words in WORDS and not Path(file).exists():
        return name, short, words
    return name, file, ""


def _checked_unlabeled(_: click.Context, __: click.Parameter, value: str) -> str:
    """Refuse values other than ``error``, ``skip``, and ``learn-around`` with a mark or without."""
    policy, equals, mark = value.partition("=")
    if policy not in ("error", "skip", "learn-around") or (equals and policy != "learn-around"):
        refuse(f"expected --unlabeled error, skip or learn-around[=MARK], found {value!r}")
    elif equals and mark in ("", "-"):
        refuse(f"expected a label after --unlabeled learn-around=, found {mark!r}")
    return value


lenient_option = in_advanced(
    "--lenient",
    is_flag=True,
    help="Skip sentences that cannot be read, and report them. These are not learned from and not "
    "scored; tag writes them unchanged, but leaves them out with --to.",
)


class InputOptions(ReadOptions):
    """Options of the command line for reading files and corpora."""

    def open(self, source: Any, *, announce: bool = True) -> SentenceStream:
        """Open a file as `ReadOptions.open` does, with a model to cut texts with spans."""
        from seqtag.tagging.pipeline import Cutter

        options = replace(self, tokens_from=Cutter(self.tokens_from or "en"))
        return ReadOptions.open(options, source, announce=announce)

    def streams(self, names: Sequence[str], part: str | None = None) -> list[SentenceStream]:
        """Open files or corpora until the command ends.

        Parameters
        ----------
        names
            Paths, or names of corpora.
        part
            Split of a corpus that is named without one; None to refuse such names.
        """
        for name in names:
            if (" " in name or not name) and not os.path.exists(name):  # noqa: PTH110  (texts may be too long)
                refuse(
                    f"expected a file, found {name!r:.60}, which is none; a text is given on "
                    f"standard input: echo {name!r:.60} | seqtag tag"
                )
        context = click.get_current_context()
        return [context.with_resource(self.open(path)) for path in locate(names, part)]

    def gathered(
        self, files: Sequence[str], part: str = "train", *, empty: bool = False
    ) -> list[Sentence]:
        """Read all sentences of some files or corpora.

        Parameters
        ----------
        files
            Paths, or names of corpora.
        part
            Split of a corpus that is named without one.
        empty
            Whether to keep sentences without words, which may mark documents.

        Raises
        ------
        CorpusError
            If there are none.
        """
        paths = locate(files, part)
        found = [each for name in paths for each in self.open(name) if empty or len(each)]
        if not any(map(len, found)):
            msg = "expected sentences to learn from, found none"
            raise CorpusError(msg, source=paths[0])
        return found


def reading_options(command: Command) -> Command:
    """Add the options about input files, and pass them to the command as ``reading``."""

    @wraps(command)
    def run(*args: Any, format: str, lenient: bool, **options: Any) -> Any:
        limits = LIMITS._replace(lenient=lenient)
        kind = "columns" if options["columns"] and format == "auto" else format
        reading = InputOptions.taken_from(options, format=kind, limits=limits)
        return command(*args, reading=reading, **options)

    for each in (lenient_option, layout_options, columns_option, format_option):
        run = each(run)
    return run  # type: ignore[return-value]


raw_option = option(
    "--raw",
    is_flag=True,
    help="Score from raw text, which a model segments: tokens, sentences, words and all labels of "
    "CoNLL-U. Files may be segmented differently.",
)
seed_option = in_advanced(
    "--seed",
    type=Whole(0, 2**32 - 1),
    default=1,
    help="Seed of the random numbers.",
    metavar="N",
)
seeds_option = in_advanced(
    "--seeds",
    type=Whole(1),
    default=1,
    help="Train with so many seeds, from --seed, and give mean and deviation of their scores.",
    metavar="K",
)
text_column_option = in_input(
    "--text-column",
    metavar="NAME|NUMBER",
    help="Column of the texts in a table with names in its first row, or its number in lines of "
    "fields between tabs; or field of objects of JSON. The other fields are kept.",
)
port_option = option(
    "--port",
    type=Whole(0, 65535),
    default=8000,
    help="Port to listen on; 0 takes a free one.",
    metavar="PORT",
)
general_options = combined(quiet_option, attributes_option)
"""``--quiet``, and ``--attributes`` of each command that uses a model."""
scoring_options = combined(reading_options, threads_option, general_options)
"""Options of each command that scores models."""


def one_label(_: click.Context, __: click.Parameter, labels: tuple[str, ...]) -> str | None:
    """Refuse several labels, of which others than the last would be ignored in silence."""
    if len(labels) > 1:
        refuse(
            f"expected --label once, found it {len(labels)} times; for a pipeline of several use "
            f"--label {','.join(dict.fromkeys(labels))}"
        )
    return labels[0] if labels else None


_label = partial(option, "--label", multiple=True, callback=one_label, metavar="COLUMN")
comparing_options = combined(
    _label(help="Column to compare.", shown="as in training"),
    in_output("--list", "listed", metavar="FILE", help="Write disagreements: TSV or *.jsonl."),
    force_option,
    json_option,
)
"""Options of commands that compare labels."""


def write_list(target: str, found: Agreement) -> None:
    """Write what ``--list`` asks for, with tabs and line ends in cells of TSV escaped."""
    names = ["file", "line", "sentence", "words", *found.labels, "before", "after"]
    escapes = str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r"})
    heading = [] if ".jsonl" in target else [{name: name for name in names}]
    with atomic(target) as out:
        for row in chain(heading, found.disagreements()):
            cells = (" ".join(x) if isinstance(x, list) else str(x) for x in row.values())
            tsv = "\t".join(cell.translate(escapes) for cell in cells)
            out.write(f"{tsv if heading else json.dumps(row, ensure_ascii=False)}\n".encode())


label_option = _label(
    shown="upos in CoNLL-U, else the last column with a name",
    help="Column to learn: upos, xpos, feats, upos+feats, lemma, chunk, ner, ... In train, "
    "several columns, such as tokens,upos,lemma, make a pipeline; all makes a pipeline of all "
    "columns of the file.",
)
templates_option = in_features(
    "--templates",
    metavar="PRESET|FILE",
    shell_complete=complete_files,
    shown="chosen by the label",
    help="Feature templates: a preset or a file. seqtag info --templates shows the presets.",
)


unlabeled_option = in_input(
    "--unlabeled",
    callback=_checked_unlabeled,
    default="error",
    metavar="error|skip|learn-around[=MARK]",
    help="What to do with sentences that have unlabeled words: refuse them, leave them out, or "
    "learn from their other words (train only). MARK is the label of such words, by default _.",
)


training_options = combined(
    label_option,
    reading_options,
    templates_option,
    tables_option,
    setting_options,
    seed_option,
    unlabeled_option,
    json_option,
    quiet_option,
)
"""Options of each command that trains."""


tagging_options = combined(
    models_option,
    force_option,
    reading_options,
    in_output(
        "--to",
        type=Choice((*WRITABLE, *TEXT_FORMATS[1:])),
        metavar="FORMAT",
        help=f"Format of the output: {', '.join(WRITABLE)}; of texts {', '.join(TEXT_FORMATS)}. "
        "tagged is word/TAG, with UPOS before XPOS; tsv has a header line, jsonl has objects.",
        shown="the input with its label columns filled; conllu for raw text",
    ),
    in_output(
        "--only",
        callback=split_names,
        metavar="COLUMN,COLUMN,...",
        help="Write only these columns, of all models (and tokens and words), such as upos,lemma.",
    ),
    in_input(
        "--paragraphs",
        type=Choice(PARAGRAPHS),
        default="auto",
        help="What ends a paragraph of raw text: a blank line, or each line break.",
    ),
    in_input(
        "--tokenizer",
        type=Choice(("model", "nltk")),
        default="model",
        help="Tokenizer of raw text: that of the model, if it has one, or NLTK's.",
    ),
    in_input(
        "--split-words",
        is_flag=True,
        help="Split given tokens of several words, such as don't, as in raw text; to CoNLL-U.",
    ),
    in_advanced(
        "--token-ranges",
        is_flag=True,
        help="Write the position of each token in the raw text to MISC, TokenRange=START:END, or "
        "with --to jsonl as a list of ranges.",
    ),
    in_output(
        "--keep",
        is_flag=True,
        help='Keep the labels of the input (all but "_") and predict only the others.',
    ),
    in_output(
        "--label-margin",
        "margin",
        is_flag=True,
        help="Write the margin of each label over the next best: Margin= in MISC, or a last "
        "column.",
    ),
    in_output(
        "--probability",
        is_flag=True,
        help="Write calibrated scores (needs a calibrated model: seqtag bundle): P= in MISC, or "
        "a last column.",
    ),
    in_output(
        "--nbest",
        type=Whole(1, 1000),
        default=1,
        metavar="K",
        help="Write the K best label sequences: Upos2=, Upos3=, ... in MISC, or as last columns.",
    ),
    threads_option,
)
"""Options of each command that tags files."""


address_option = in_cluster(
    "--address",
    metavar="HOST:PORT",
    help="Address of the cluster, as ray.init takes it.",
    shown="$RAY_ADDRESS, or this machine",
)
workers_option = in_cluster(
    "--workers",
    type=Whole(1),
    help="Number of processes on this machine, without --address.",
    shown="one per core",
    metavar="N",
)
