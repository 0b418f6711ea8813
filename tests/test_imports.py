"""Packages import only from lower layers, and importing seqtag is cheap."""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
from functools import partial
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from seqtag.engine import backend as backends
from seqtag.errors import BackendError
from tests.conftest import ROOT

LAYERS = """
version errors lazy
caching randomness parallel
storage
catalogue
engine
labels features.normal_forms
settings
features.attributes
tables.names tables.table
features
corpus
tables.tsv tables.learn tables.lexicon model.container
tables
model
segmentation
tagging
evaluation
training
loading
batch
report
serve
annotate
classifiers
integrations
cli
__init__
__main__
"""
"""The packages and modules of seqtag, lowest layer first; and modules that are below the rest."""

LAYER = {
    module: number
    for number, layer in enumerate(LAYERS.strip().splitlines())
    for module in layer.split()
}


def layer_of(module: str) -> int:
    """The layer of a module, or of its package."""
    return LAYER[module] if module in LAYER else LAYER[module.split(".")[0]]


KERNELS = {"engine._kernel", "engine._kernel_avx2"}

HEAVY = {"nltk", "conllu", "spacy", "click", "tqdm", "sklearn", "jinja2", "requests"}

LATE = {
    "concurrent.futures",
    "html.entities",
    "jinja2",
    "multiprocessing",
    "numpy.ma",
    "requests",
    "seqtag.tagging.explain",
    "ssl",
}
"""Modules that take long to import, and that few commands need."""

FOREIGN = {
    "catalogue": {"platformdirs", "requests", "tqdm"},
    "corpus": {"nltk", "conllu"},
    "tagging": {"conllu"},
    "training": {"tqdm"},
    "report": {"jinja2"},
    "serve": {"orjson", "prometheus_client", "starlette", "uvicorn"},
    "annotate": {"starlette"},
    "integrations": {"nltk", "conllu", "PyInstaller", "sklearn", "spacy"},
    "batch": {"ray"},
    "cli": {"click", "tqdm"},
    "__main__": {"click"},
}
"""Packages outside the standard library beside NumPy that a package may import."""


def imported(node: ast.AST, *, types: bool = True):
    """Full names of all that a syntax tree imports: lazily, by importlib, or (`types`) for types.

    A name that importlib is given as an f-string ends with ``*``: any module may be meant.
    """
    if not types and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
        name = node.args[0]
        if isinstance(name, ast.Constant):
            yield name.value
        elif isinstance(name, ast.JoinedStr) and isinstance(name.values[0], ast.Constant):
            yield f"{name.values[0].value}*"
    for child in ast.iter_child_nodes(node):
        yield from imported(child, types=types)


def graph(*, types: bool = True) -> dict[str, set[str]]:
    """For each module of seqtag, the full names it imports."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "seqtag").rglob("*.py")):
        parts = list(path.relative_to(ROOT / "seqtag").with_suffix("").parts)
        if len(parts) > 1 and parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = set(imported(ast.parse(path.read_text("utf-8")), types=types))
    return found


IMPORTS = graph()


def modules(names: set[str]) -> set[str]:
    """Modules of seqtag among imported names."""
    found = set()
    for name in names:
        parts = name.split(".")[1:]
        if name.split(".")[0] != "seqtag":
            continue
        if name.endswith("*"):
            start = name[len("seqtag.") : -1]
            found |= {each for each in IMPORTS if each.startswith(start)} - {"__main__"}
            continue
        while parts and ".".join(parts) not in {*IMPORTS, *KERNELS}:
            parts.pop()
        found.add(".".join(parts) or "__init__")
    return found


@pytest.mark.parametrize("module", sorted(IMPORTS))
def test_imports_never_point_up(module):
    for other in modules(IMPORTS[module]) - KERNELS:
        assert layer_of(other) <= layer_of(module), f"seqtag.{module} must not import {other}"


def test_imports_have_no_circle():
    edges = {module: modules(names) - {module} for module, names in IMPORTS.items()}
    TopologicalSorter(edges).prepare()


def test_only_native_knows_the_kernel():
    users = {module for module, names in IMPORTS.items() if modules(names) & KERNELS}
    assert users == {"engine.native"}


def test_the_engine_knows_no_strings_files_or_labels():
    for module, names in IMPORTS.items():
        if module.split(".")[0] == "engine":
            rooms = {other.split(".")[0] for other in modules(names)}
            assert rooms <= {"engine", "errors"}, module


RUNTIME_IMPORTS = graph(types=False)


@pytest.mark.parametrize("module", sorted(RUNTIME_IMPORTS))
def test_dependencies(module):
    foreign = {name.split(".")[0] for name in RUNTIME_IMPORTS[module]}
    allowed = FOREIGN.get(module.split(".")[0], set())
    assert foreign - {"seqtag", "numpy", *sys.stdlib_module_names} <= allowed


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


def test_tagging_a_line_imports_what_it_needs_only():
    code = f"""
import os, sys
from seqtag.__main__ import main
main()
print(*sorted({LATE} & set(sys.modules)), os.environ["OPENBLAS_NUM_THREADS"], file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "tag", "-q", "-m", "en", "--format", "text"],
        input="Time flies.",
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "3"},
    )
    assert done.stderr.split() == ["3"]


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
    monkeypatch.setattr(backends.importlib.util, "find_spec", lambda name: built or None)
    assert backends._choose() == found


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("gpu", "expected SEQTAG_BACKEND=native or reference, found 'gpu'"),
        (
            "native",
            "SEQTAG_BACKEND=native, but the native kernel was not built; unset SEQTAG_BACKEND, or "
            f"{backends.REINSTALL}",
        ),
    ],
)
def test_a_backend_that_is_not_there(monkeypatch, wanted, message):
    monkeypatch.setenv("SEQTAG_BACKEND", wanted)
    monkeypatch.setattr(backends.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BackendError) as error:
        backends._choose()
    assert str(error.value) == message


@pytest.fixture
def clone(tmp_path):
    """A folder with the sources of the package and without its kernel."""
    unbuilt = shutil.ignore_patterns("_kernel*", "__pycache__")
    shutil.copytree(ROOT / "seqtag", tmp_path / "seqtag", ignore=unbuilt)
    (tmp_path / "models").symlink_to(ROOT / "models")
    return tmp_path


def run_in(clone, *arguments, **variables):
    """Run Python in a clone, with its libraries but no other seqtag."""
    libraries = [path for path in sys.path if not Path(path, "seqtag", "__init__.py").is_file()]
    env = {name: value for name, value in os.environ.items() if name != "SEQTAG_BACKEND"}
    path = os.pathsep.join(map(str, [clone, *libraries]))
    return subprocess.run(
        [sys.executable, "-S", *arguments],
        cwd=clone,
        input="Time flies.",
        capture_output=True,
        text=True,
        check=False,
        env=env | {"PYTHONPATH": path} | variables,
    )


def test_without_a_kernel_the_slow_backend_is_reported_once(clone):
    reported = f"the slow reference backend is in use: {backends.NOT_BUILT}\n"
    run = partial(run_in, clone)

    probe = ("-c", "from seqtag.engine.backend import BACKEND; print(BACKEND)")
    done = run(*probe)
    assert (done.stdout, done.stderr) == ("reference\n", reported)
    assert run(*probe, SEQTAG_BACKEND="reference").stderr == ""
    tag = ("-m", "seqtag", "tag", "--only", "upos", "--to", "tagged")
    assert run(*tag).stderr.splitlines().count(f"seqtag: note: {reported.rstrip()}") == 1
    assert run(*tag, "-q").stderr == ""
    doctor = run("-m", "seqtag", "info")
    assert doctor.returncode == 1
    assert f"backend   problem: reference: {backends.NOT_BUILT}\n" in doctor.stdout
    doctor = run("-m", "seqtag", "info", SEQTAG_BACKEND="reference")
    assert f"backend   problem: reference: {backends.NOT_BUILT}\n" in doctor.stdout


def test_no_lazy_name_of_a_package_is_also_a_module_in_it():
    """`from package import name` would depend on what was imported before."""
    for path in sorted((ROOT / "seqtag").rglob("__init__.py")):
        package = ".".join(path.parent.relative_to(ROOT).parts)
        modules_in = {each.stem for each in path.parent.glob("*.py")}
        module = importlib.import_module(package)
        names = module.__all__ if hasattr(module, "__getattr__") else []
        assert not modules_in & {*names}, package
