"""Imports point one way, and importing seqtag is cheap."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest

from seqtag import kernels
from seqtag.errors import BackendError
from tests.conftest import ROOT

LAYERS = [
    {"errors", "parallel"},
    {"template_set", "templates", "crfpp", "attributes", "labels", "reference"},
    {"encoding", "feature_map", "frozen", "kernels", "native"},
    {"tagger", "perceptron", "evaluation", "model_file", "corpus", "aliases", "blocks", "pipeline"}
    | {
        "learning",
        "estimator",
        "classifiers",
        "vectors",
        "losses",
        "sigmoid",
        "theory",
        "selection",
        "training_data",
    },
    {"cli", "integrations", "__init__", "__main__"},
]
"""Modules (and packages) of seqtag, lowest first: each imports from its own layer and below."""

LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

ONLY = {
    "errors": set(),
    "reference": set(),
    "labels": {"errors"},
    "attributes": {"errors"},
    "model_file": {"errors"},
    "evaluation": {"errors", "labels"},
    "corpus": {"errors"},
}
"""Modules that may import no more of seqtag than this."""

KERNELS = {"_kernel", "_kernel_avx2"}

HEAVY = {"nltk", "conllu", "click", "tqdm"}


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imported(node: ast.AST, package: str):
    """Full names of all that a syntax tree imports, lazily or not, but not for type checkers."""
    if is_type_checking(node):
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        parent = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
        base = ".".join(filter(None, [parent if node.level else "", node.module]))
        yield from (f"{base}.{alias.name}" for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from imported(child, package)


def graph() -> dict[str, set[str]]:
    """For each module or package of seqtag, the full names it imports."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "seqtag").rglob("*.py")):
        relative = path.relative_to(ROOT)
        unit = relative.parts[1].removesuffix(".py")
        package = ".".join(relative.parent.parts)
        names = imported(ast.parse(path.read_text("utf-8")), package)
        found.setdefault(unit, set()).update(names)
    return found


IMPORTS = graph()


def units(names: set[str]) -> set[str]:
    """Modules and packages of seqtag among imported names; ``seqtag`` itself is ``__init__``.

    The version is a constant, and no module in this sense.
    """
    found = set()
    for name in names - {"seqtag.__version__"}:
        parts = name.split(".")
        if parts[0] == "seqtag":
            known = len(parts) > 1 and parts[1] in {*IMPORTS, *KERNELS}
            found.add(parts[1] if known else "__init__")
    return found


def test_every_module_has_a_layer():
    assert set(IMPORTS) <= set(LEVEL), "a new module: give it a place in LAYERS"


@pytest.mark.parametrize("unit", sorted(set(IMPORTS) & set(LEVEL)))
def test_imports_point_down(unit):
    for other in units(IMPORTS[unit]) - {unit} - KERNELS:
        assert LEVEL[other] <= LEVEL[unit], f"seqtag.{unit} must not import seqtag.{other}"


def test_imports_have_no_circle():
    TopologicalSorter({unit: units(names) - {unit} for unit, names in IMPORTS.items()}).prepare()


@pytest.mark.parametrize("unit", sorted(ONLY))
def test_imports_of_modules_that_stand_alone(unit):
    assert units(IMPORTS[unit]) - {unit} <= ONLY[unit]


def test_only_native_knows_the_kernel():
    assert {unit for unit, names in IMPORTS.items() if units(names) & KERNELS} == {"native"}


def foreign(unit: str) -> set[str]:
    """Packages outside seqtag and the standard library that a module imports."""
    return {name.split(".")[0] for name in IMPORTS[unit]} - {"seqtag", *sys.stdlib_module_names}


def test_reference_imports_numpy_only():
    assert {name.split(".")[0] for name in IMPORTS["reference"]} <= {
        "__future__",
        "math",
        "typing",
        "numpy",
    }
    assert foreign("reference") == {"numpy"}


def test_evaluation_sees_strings_only():
    assert foreign("evaluation") == set()


@pytest.mark.parametrize("unit", sorted(set(IMPORTS) - {"cli", "integrations", "__main__"}))
def test_dependencies(unit):
    assert foreign(unit) <= {"numpy", "nltk", "conllu", "tqdm"}


def test_importing_seqtag_is_cheap():
    code = f"import sys, seqtag; print(*sorted({HEAVY} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.stdout.split() == []


# ----------------------------------------------------------------- the choice of a backend
@pytest.mark.parametrize(
    ("wanted", "built", "found"),
    [
        ("", True, "native"),
        ("", False, "reference"),
        ("native", True, "native"),
        ("reference", True, "reference"),
        ("reference", False, "reference"),
    ],
)
def test_the_backend_is_native_where_built_unless_told_otherwise(monkeypatch, wanted, built, found):
    monkeypatch.setenv("SEQTAG_BACKEND", wanted)
    monkeypatch.setattr(kernels.importlib.util, "find_spec", lambda name: built or None)
    assert kernels._choose() == found


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("gpu", "expected SEQTAG_BACKEND=native or reference, found 'gpu'"),
        (
            "native",
            "SEQTAG_BACKEND=native, but the native kernel was not built; install a C++ compiler "
            "and reinstall seqtag, or unset SEQTAG_BACKEND",
        ),
    ],
)
def test_a_backend_that_is_not_there(monkeypatch, wanted, message):
    monkeypatch.setenv("SEQTAG_BACKEND", wanted)
    monkeypatch.setattr(kernels.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BackendError) as error:
        kernels._choose()
    assert str(error.value) == message


def test_an_unbuilt_source_tree_says_why_it_is_slow(tmp_path):
    unbuilt = shutil.ignore_patterns("_kernel*", "__pycache__")
    shutil.copytree(ROOT / "seqtag", tmp_path / "seqtag", ignore=unbuilt)
    (tmp_path / "pyproject.toml").touch()
    env = {name: value for name, value in os.environ.items() if name != "SEQTAG_BACKEND"}
    probe = "from seqtag.kernels import BACKEND; print(BACKEND)"
    command = [sys.executable, "-S", "-W", "always", "-c", probe]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False,
        env=env | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
    )  # fmt: skip
    assert done.stdout.strip() == "reference", done.stderr
    assert "the native kernel is not built" in done.stderr
    assert "pip install -e ." in done.stderr
