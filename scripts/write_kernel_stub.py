"""Write seqtag/engine/_kernel.pyi from the compiled kernel; run it when the kernel's names change.

It needs nanobind (``pip install nanobind``) and ruff: ``python scripts/write_kernel_stub.py``.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from nanobind.stubgen import StubGen

from seqtag.engine import _kernel

STUB = Path(__file__).parents[1] / "seqtag" / "engine" / "_kernel.pyi"
RECORDS = {
    "KeyPlan": "tuple[I64, I32, I32, U64, U64, I32, int]",
    "LabelComponents": "tuple[I64, I32, int]",
    "Rows": "tuple[U64, I64, NDArray[numpy.uint16], NDArray[numpy.int8]]",
    "QuantizedWeights": "tuple[Rows, Rows, Rows, F32, F32, F32, float]",
    "TagDictionary": "tuple[int, U64, I64, NDArray[numpy.uint16]]",
    "LabelsByTags": "tuple[KeyPlan, U64, I64, NDArray[numpy.uint16]]",
    "CellStates": "tuple[I64, I32, object, object, object]",
    "State": "tuple[CellStates, CellStates, CellStates, object, int]",
    "Allowed": "tuple[I64, I32]",
    "Bigrams": "tuple[I64, I32, I32]",
    "LocalRows": "tuple[I32, I64, I64, I32]",
    "Instances": "tuple[I64, I64, I32, object, I64 | None, I32 | None, LocalRows | None, "
    "NDArray[numpy.uint8] | None, I32 | None, I64 | None, I32 | None]",
}
"""Records of `seqtag.engine.arrays`, as tuples of arrays."""

NUMBERS = {"I64": "int64", "I32": "int32", "U64": "uint64", "F32": "float32"}


def main() -> None:
    """Generate, shorten and format the stub."""
    generator = StubGen(_kernel)
    generator.put(_kernel)
    text = re.sub(
        r"Annotated\[(NDArray\[numpy\.\w+\]), dict\([^)]*\)[^\]]*\]", r"\1", generator.get()
    )
    for short, dtype in NUMBERS.items():
        text = text.replace(f"NDArray[numpy.{dtype}]", short)
    for name, fields in RECORDS.items():
        text = text.replace(fields, name)
    aliases = [f"{short} = NDArray[numpy.{dtype}]\n" for short, dtype in NUMBERS.items()]
    aliases += [f"{name} = {fields}\n" for name, fields in RECORDS.items()]
    head, rest = text.split("\n\n\n", 1)
    rest = re.sub(r"\b(list|Sequence)\b(?=[,)]| [|=]|:\n|: \.\.\.)", r"\1[object]", rest)
    rest = re.sub(r"\btuple(?!\[)", "tuple[object, ...]", rest)
    rest = re.sub(r"\bCallable(?=[,)])", "Callable[..., object]", rest)
    head = re.sub(r"from typing import .*\n", "", head)
    note = "# Written by scripts/write_kernel_stub.py.\n"
    STUB.write_text(f"{note}{head}\n\n{''.join(aliases)}\n{rest}", "utf-8")
    for command in ("check --fix --select I", "format"):
        subprocess.run(["ruff", *command.split(), "--quiet", str(STUB)], check=True)


if __name__ == "__main__":
    main()
