"""Modules import only from lower layers, and importing seqtag is cheap."""

from __future__ import annotations

import ast
import importlib.machinery
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
version
errors html_tables hooks
lazy
caching randomness
parallel
storage.compression storage.encodings storage.locks storage.strict_json
storage.output
storage
catalogue.entries
catalogue.cache
catalogue.fetch
catalogue.locate
catalogue
engine.arrays
engine.checks
engine.keys engine.reference engine.clustering
engine.alternatives
engine.frozen
engine.interface
engine.native
engine.backend
engine.epochs
engine
labels.schemes features.normal_forms
labels.column labels.coding labels.spelling
labels.lemmas
labels
settings
features.attributes features.regexes
features.builtin
tables.table
features.native
features.templates
features.language
features.encoder features.items
features.index
features
corpus.warnings
corpus.stream
corpus.sentence
corpus.table
corpus.text corpus.write corpus.surface corpus.datasets tables.tsv
corpus.conllu
corpus.json_lines
corpus.formats corpus.nltk_corpora
corpus.layout
corpus.rows
corpus.column_files
corpus.sniff
corpus.read
corpus.withheld corpus.scanner
corpus
tables.learn tables.lexicon
model.known_words model.attested model.embedded model.freeze model.calibration
model.compact model.sentence_lengths
model.container
tables.model_io
model.model tables
model.bundle
model
segmentation.paragraphs segmentation.word_parts
segmentation.multiword
segmentation.characters segmentation.unpunctuated
segmentation.segmenter
segmentation.reading
segmentation
tagging.unknown_lemmas
tagging.arrays tagging.workspace tagging.document
tagging.encode
tagging.explain
tagging.runtime
tagging.tagger
tagging.tables
tagging.streams
tagging.pipeline
tagging
evaluation.counts
evaluation.text_tables
evaluation.reliability
evaluation.report
evaluation.aligned
evaluation.scoring evaluation.significance
evaluation.systems
evaluation
training.data training.calibration training.interruption
training.text_examples training.warm_start
training.problem training.checkpoints
training.runs training.candidates
training.stacking training.progress
training.auto_settings training.sentence_trial
training.word_trial
training.pipeline
training.raw_text
training.train
training.online
training.selection
training
batch.storage batch.mixing
batch.ledger batch.ray_cluster
batch.files batch.parameter_mixing batch.jobs
batch.split batch.rows
batch.ray_tagging batch.ray_training
batch
report.analysis report.segmentation
report.page
report
serve.connections serve.forms serve.work_queue
serve.annotation serve.languages
serve.models serve.udpipe
serve.server
serve
classifiers.vectors
classifiers.feature_maps classifiers.losses classifiers.margins
classifiers.linear
classifiers.perceptrons classifiers.sigmoid
classifiers
integrations.conllu integrations.nltk
integrations.crfsuite integrations.items
integrations.sklearn integrations.spacy
integrations.spacy_factories
integrations
cli.base cli.foreign
cli.common
cli.options
cli.curve cli.eval_warnings cli.info_file cli.training
cli.bundle cli.calibrate cli.classes cli.cluster_status cli.cluster_tag cli.cluster_train cli.completion cli.corpora cli.cv cli.doctor cli.eval cli.explain cli.info cli.lexicon cli.tag cli.templates cli.train cli.tune
cli.cluster cli.compare cli.report cli.serve
cli
__init__
__main__
"""
"""The modules of seqtag, lowest layer first: each imports only from layers below its own."""

LAYER = {
    module: number
    for number, layer in enumerate(LAYERS.strip().splitlines())
    for module in layer.split()
}

KERNELS = {"engine._kernel", "engine._kernel_avx2"}

HEAVY = {"nltk", "conllu", "spacy", "click", "tqdm", "sklearn", "jinja2"}

LATE = {
    "concurrent.futures",
    "html.entities",
    "jinja2",
    "multiprocessing",
    "numpy.ma",
    "seqtag.catalogue.fetch",
    "seqtag.tagging.explain",
    "ssl",
}
"""Modules that take long to import, and that few commands need."""

FOREIGN = {
    "errors": set(),
    "storage": set(),
    "catalogue": {"tomli"},
    "engine": {"numpy"},
    "features": {"numpy"},
    "labels": {"numpy"},
    "tables": {"numpy"},
    "evaluation": {"numpy"},
    "corpus": {"nltk", "conllu"},
    "model": {"numpy"},
    "segmentation": {"numpy"},
    "tagging": {"numpy", "conllu", "fsspec", "pyarrow"},
    "training": {"numpy", "tqdm"},
    "report": {"jinja2"},
    "serve": {"numpy", "starlette", "uvicorn"},
    "classifiers": {"numpy"},
    "integrations": {"nltk", "conllu", "numpy", "sklearn", "spacy"},
    "batch": {"ray", "fsspec", "numpy", "pyarrow", "pyspark"},
    "cli": {"click", "tqdm", "matplotlib", "uvicorn"},
}
"""Packages outside the standard library that a room may import."""


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


def test_every_module_has_a_layer():
    assert set(IMPORTS) == set(LAYER), "add new modules to LAYERS"


@pytest.mark.parametrize("module", sorted(IMPORTS))
def test_imports_point_down(module):
    for other in modules(IMPORTS[module]) - {module} - KERNELS:
        assert LAYER[other] < LAYER[module], f"seqtag.{module} must not import seqtag.{other}"


def test_imports_by_importlib_and_for_types_are_seen():
    code = """
if TYPE_CHECKING:
    from seqtag.training.train import Options
def later(name):
    import_module("seqtag.training.train").train
    importlib.import_module(f"seqtag.cli.{name}").command
"""
    assert set(imported(ast.parse(code))) == {
        "seqtag.training.train.Options",
        "seqtag.training.train",
        "seqtag.cli.*",
    }
    assert modules({"seqtag.cli.*"}) >= {"cli.tag", "cli.train"}


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
    allowed = FOREIGN.get(module.split(".")[0], {"numpy", "click"})
    assert foreign - {"seqtag", *sys.stdlib_module_names} <= allowed


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
    monkeypatch.setattr(sys, "path", [])  # no other copy
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


def run_in(clone, *arguments, installed=(), **variables):
    """Run Python in a clone, with its libraries but no seqtag other than those `installed`."""
    libraries = [path for path in sys.path if not Path(path, "seqtag", "__init__.py").is_file()]
    env = {name: value for name, value in os.environ.items() if name != "SEQTAG_BACKEND"}
    path = os.pathsep.join(map(str, [clone, *installed, *libraries]))
    return subprocess.run(
        [sys.executable, "-S", *arguments],
        cwd=clone,
        input="Time flies.",
        capture_output=True,
        text=True,
        check=False,
        env=env | {"PYTHONPATH": path} | variables,
    )


def test_sources_that_are_imported_instead_of_an_installed_copy_are_reported(clone):
    site = clone / "site"
    (site / "seqtag" / "engine").mkdir(parents=True)
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    (site / "seqtag" / "engine" / f"_kernel{suffix}").touch()
    probe = ("-c", "import seqtag.engine.backend")
    reported = f"the slow reference backend is in use: {backends.NOT_BUILT}\n"
    # an installation in place has nothing but the kernel there
    assert run_in(clone, *probe, installed=[site]).stderr == reported

    (site / "seqtag" / "__init__.py").touch()
    reason = (
        f"the sources in {clone / 'seqtag'} are imported instead of the installed package in "
        f"{site / 'seqtag'}, which has the native kernel; start Python in another folder, or run "
        f"pip install -e . in {clone}"
    )
    done = run_in(clone, *probe, installed=[site])
    assert done.stderr == f"the slow reference backend is in use: {reason}\n"
    done = run_in(clone, *probe, installed=[site], SEQTAG_BACKEND="native")
    assert done.stderr.endswith(f"BackendError: SEQTAG_BACKEND=native, but {reason}\n")
    doctor = run_in(clone, "-m", "seqtag", "doctor", installed=[site])
    assert doctor.returncode == 1
    assert f"backend        problem: reference: {reason}\n" in doctor.stdout


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
    doctor = run("-m", "seqtag", "doctor")
    assert doctor.returncode == 1
    assert f"backend        problem: reference: {backends.NOT_BUILT}\n" in doctor.stdout
    doctor = run("-m", "seqtag", "doctor", SEQTAG_BACKEND="reference")
    assert f"backend        problem: reference: {backends.NOT_BUILT}\n" in doctor.stdout


def test_no_lazy_name_of_a_package_is_also_a_module_in_it():
    """`from package import name` would depend on what was imported before."""
    for path in sorted((ROOT / "seqtag").rglob("__init__.py")):
        package = ".".join(path.parent.relative_to(ROOT).parts)
        modules_in = {each.stem for each in path.parent.glob("*.py")}
        module = importlib.import_module(package)
        names = module.__all__ if hasattr(module, "__getattr__") else []
        assert not modules_in & {*names}, package
