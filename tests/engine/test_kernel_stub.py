"""The committed stub of the kernel has the names and parameters of the compiled one."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

from seqtag.engine import backend
from tests.strategies import needs_native

STUB = Path(backend.__file__).with_name("_kernel.pyi")


def parameters_in_stub(node: ast.FunctionDef) -> list[str]:
    defaults = len(node.args.defaults)
    names = [arg.arg for arg in node.args.args]
    required = names[: len(names) - defaults]
    return [*required, *(f"{name}=" for name in names[len(required) :])]


def parameters_of(function: object) -> list[str]:
    """Parameters as nanobind reports them, with ``=`` after those that have a default."""
    signature = function.__nb_signature__[0][0]
    inside, depth, fields = signature[signature.index("(") + 1 :], 0, [""]
    for char in inside:
        depth += (char in "[(") - (char in "])")
        if depth < 0:
            break
        if char == "," and depth == 0:
            fields.append("")
        else:
            fields[-1] += char
    names = [re.match(r"\s*(\w*)", field)[1] for field in fields]
    return [
        n + "=" * bool(re.search(r" = \\?\S+$", f)) for n, f in zip(names, fields, strict=True) if n
    ]


def stub_members(body: list[ast.stmt]) -> dict[str, object]:
    found: dict[str, object] = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = stub_members(node.body)
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = None if node.decorator_list else parameters_in_stub(node)
    return found


def kernel_members(owner: object) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in vars(owner).items():
        if inspect.isclass(value):
            found[name] = kernel_members(value)
        elif isinstance(value, property):
            found[name] = None
        elif hasattr(value, "__nb_signature__") and (name == "__init__" or name[0] != "_"):
            found[name] = parameters_of(value)
    return found


@needs_native
def test_the_stub_has_the_names_of_the_kernel():
    from seqtag.engine.native import _kernel

    stub = stub_members(ast.parse(STUB.read_text("utf-8")).body)
    assert stub == kernel_members(_kernel), "run python scripts/write_kernel_stub.py"
