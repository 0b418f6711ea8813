"""The targets by name: each takes any bytes, and raises if something does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fuzzing.command_target import command_line
from tests.fuzzing.data_targets import evaluation, outputs, scanner
from tests.fuzzing.layout_target import layouts
from tests.fuzzing.model_targets import model_bytes, models
from tests.fuzzing.serve_target import serve
from tests.fuzzing.text_targets import (
    labels,
    readers,
    templates,
    text,
    word_tables,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TARGETS: Mapping[str, Callable[[bytes], str]] = {
    "readers": readers,
    "layouts": layouts,
    "scanner": scanner,
    "text": text,
    "templates": templates,
    "labels": labels,
    "word-tables": word_tables,
    "models": models,
    "model-bytes": model_bytes,
    "outputs": outputs,
    "evaluation": evaluation,
    "serve": serve,
    "command-line": command_line,
}
"""What a target returns is ``accepted``, or the message with which the bytes are refused."""
