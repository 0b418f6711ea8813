"""Draw docs/architecture.svg, the flow of data, from the table of stages below.

Usage: python scripts/draw_architecture.py [--out docs/architecture.svg]

The test tests/docs/test_architecture.py draws it again, and looks in the code for every stage and
for the call that leads there.
"""

from __future__ import annotations

import argparse
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[1]


class Stage(NamedTuple):
    """A function that data pass through, its caller, and its result."""

    function: str  # module of seqtag:name
    caller: str
    gives: str


class Lane(NamedTuple):
    """The stages of one job, from top to bottom."""

    title: str
    takes: str
    stages: Sequence[Stage]


TRAIN, TAG, EVAL = "training.train:train", "cli.tag:tag_into_file", "cli.eval:command"
STREAMS = "cli.options:InputOptions.streams"
TABLE = "tagging.tables:TableTagger.tag"
GATHER, FIT_TASK = "training.train:_gather_column", "training.loop:fit_task"
FIND = "segmentation.reading:SegmentedText._find"

LANES = (
    Lane(
        "train",
        "corpus files",
        (
            Stage("training.data:open_corpus", TRAIN, "blocks of lines, or sentences"),
            Stage("training.plan:plan", GATHER, "tasks, with others for other labels"),
            Stage("training.data:Corpus.gather", GATHER, "a treebank: columns of ids"),
            Stage("training.loop:train_tasks", TRAIN, "one task after the other"),
            Stage("training.choose:choose", "training.loop:train_tasks", "the task for these data"),
            Stage("training.treebank:examples_of", FIT_TASK, "examples of the task"),
            Stage("training.problem:build_problem", FIT_TASK, "labels as ids"),
            Stage(
                "training.problem:numbered_features",
                "training.problem:build_problem",
                "rows of features",
            ),
            Stage("training.runs:fit", FIT_TASK, "a problem and its schedule"),
            Stage("training.runs:train_runs", "training.runs:fit", "a shuffled order for each run"),
            Stage("engine.epochs:learn", "training.runs:train_run", "epoch by epoch"),
            Stage(
                "engine.reference:Weights.train_epoch",
                "engine.epochs:learn",
                "averaged weights",
            ),
            Stage("model.freeze:mean", "training.runs:fit", "mean weights of all runs"),
            Stage("model.freeze:freeze", "training.problem:Problem.model", "integer weights"),
            Stage("model.bundle:save", "tagging.tagger:Tagger.save", "NAME.seqtag"),
        ),
    ),
    Lane(
        "tag",
        "any input and a model",
        (
            Stage("corpus.read:ReadOptions.open", STREAMS, "sentences"),
            Stage(
                "tagging.runtime:ModelRuntime.labels_of",
                "tagging.streams:_tagged_batches",
                "batches of sentences",
            ),
            Stage(
                "tagging.encode:rows_of_columns",
                "tagging.runtime:ModelRuntime.encode",
                "column values",
            ),
            Stage(
                "features.encoder:Encoder.encode",
                "tagging.runtime:ModelRuntime.encode",
                "type ids; hashes of new types",
            ),
            Stage(
                "engine.frozen:Decoder.decode",
                "tagging.runtime:ModelRuntime.decode_types",
                "label ids",
            ),
            Stage(
                "labels.coding:LabelCoding.decode",
                "tagging.runtime:ModelRuntime.write_labels",
                "labels in the file's scheme",
            ),
            Stage(
                "labels.column:LabelColumn.split",
                "tagging.runtime:ModelRuntime.split_label",
                "values of the label columns",
            ),
            Stage(
                "corpus.formats:render",
                "tagging.streams:FilledSentence._text_without_comments",
                "text in any format",
            ),
            Stage("storage.output:atomic", TAG, "a file or standard output"),
        ),
    ),
    Lane(
        "tag, same column format",
        "lines of a file and a model",
        (
            Stage("corpus.read:ReadOptions.open", STREAMS, "a stream"),
            Stage(
                "corpus.read:SentenceStream.block_tasks",
                "tagging.streams:tag_text",
                "blocks of lines",
            ),
            Stage("corpus.scanner:BlockScanner.scan", TABLE, "type ids; new types"),
            Stage(
                "features.encoder:Encoder.extend",
                TABLE,
                "hashes of new types",
            ),
            Stage("tagging.runtime:ModelRuntime.decode_types", TABLE, "type ids and hashes"),
            Stage(
                "engine.frozen:Decoder.decode",
                "tagging.runtime:ModelRuntime.decode_types",
                "label ids",
            ),
            Stage("tagging.tables:_Lines.write", TABLE, "the same lines, labeled"),
            Stage("storage.output:atomic", TAG, "a file or standard output"),
        ),
    ),
    Lane(
        "tag, raw text",
        "text and a pipeline",
        (
            Stage("corpus.read:ReadOptions.open", STREAMS, "a stream"),
            Stage(
                "segmentation.reading:SegmentedText",
                "tagging.pipeline:Pipeline.segmented",
                "incoming text",
            ),
            Stage(
                "segmentation.paragraphs:Marker.mark",
                "segmentation.reading:_Window.add",
                "paragraph boundaries",
            ),
            Stage(
                "segmentation.segmenter:Segmenter.segment", FIND, "token and sentence boundaries"
            ),
            Stage(
                "segmentation.multiword:Splitter.split",
                "segmentation.reading:SegmentedText._block",
                "words of multiword tokens",
            ),
            Stage(
                "segmentation.reading:SegmentedText.block_tasks",
                "tagging.streams:tag_text",
                "blocks of tokens and words",
            ),
            Stage(
                "corpus.scanner:WordBlockScanner.scan", TABLE, "type ids; on to the lane at left"
            ),
        ),
    ),
    Lane(
        "eval",
        "an annotated file and a model",
        (
            Stage("corpus.read:ReadOptions.open", STREAMS, "sentences"),
            Stage("corpus.gold:GoldLabels.read", "evaluation.scoring:score_pairs", "gold labels"),
            Stage(
                "tagging.tagger:Tagger.tag_many",
                "evaluation.scoring:score_pairs",
                "predicted labels",
            ),
            Stage("evaluation.report:evaluate", "evaluation.scoring:score_pairs", "a report"),
            Stage("evaluation.report:Report.to_text", "cli.eval:_print", "standard output"),
        ),
    ),
)

INK, GREY = "#1e293b", "#64748b"
FILL = {
    "storage": "#f1f5f9",
    "engine": "#fde2d1",
    "features": "#fdf1c7",
    "labels": "#e4f2d5",
    "corpus": "#d5f0e6",
    "model": "#f7dcea",
    "segmentation": "#e9e0d0",
    "evaluation": "#e3e8f0",
    "tagging": "#d8e9f8",
    "training": "#e5defa",
}
"""A color for each package; the module under each name says the same."""

WIDTH, PITCH, BOX, STEP, TOP = 208, 226, 40, 72, 64  # pixels


def draw(lanes: Sequence[Lane] = LANES) -> str:
    """Return the picture as the text of an SVG file."""
    height = TOP + STEP * max(len(lane.stages) for lane in lanes) + 30
    width = PITCH * len(lanes) + 6
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="DejaVu Sans, Verdana, sans-serif" '
        f'fill="{INK}">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for number, lane in enumerate(lanes):
        parts += _lane(lane, 12 + PITCH * number)
    return "\n".join([*parts, "</svg>", ""])


def _lane(lane: Lane, x: int) -> Iterator[str]:
    yield f'<text x="{x}" y="24" font-size="14" font-weight="bold">{escape(lane.title)}</text>'
    yield from _data(lane.takes, x, TOP - 16)
    for number, stage in enumerate(lane.stages):
        y = TOP + STEP * number
        module, _, name = stage.function.partition(":")
        yield (
            f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{BOX}" rx="4" '
            f'fill="{FILL[module.split(".")[0]]}" stroke="{GREY}" stroke-width="0.8"/>'
        )
        yield f'<text x="{x + 9}" y="{y + 17}" font-size="12">{escape(name)}</text>'
        yield (
            f'<text x="{x + 9}" y="{y + 32}" font-size="10.5" font-family="DejaVu Sans Mono, '
            f'monospace" fill="{GREY}">{escape(module)}</text>'
        )
        last = number + 1 == len(lane.stages)
        yield from _data(stage.gives, x, y + BOX + 16, arrow=not last)


def _data(what: str, x: int, y: int, *, arrow: bool = True) -> Iterator[str]:
    """Draw what flows, next to the arrow to the next stage."""
    if arrow:
        yield f'<path d="M{x + 14} {y - 12}v22" stroke="{GREY}" fill="none"/>'
        yield f'<path d="M{x + 10.5} {y + 9}h7l-3.5 7z" fill="{GREY}"/>'
    style = 'font-size="11" font-style="italic"'
    yield f'<text x="{x + 25}" y="{y + 4}" {style}>{escape(what)}</text>'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "architecture.svg")
    parser.parse_args().out.write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
