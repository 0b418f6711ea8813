"""Compare this version's speed with another installed version, case by case, in pairs.

usage: python -m benchmarks.speed --text FILE --corpora FOLDER --against PYTHON --out RESULTS

FILE is English text of at least 80 MB, none of which the models were trained on. FOLDER contains
ud-english-ewt/en_ewt-ud-{train,dev,test}.conllu. PYTHON runs the other version. The two versions
take turns, and each figure is the median of the rounds; the ratio is the median of the ratios of
the rounds. Times are processor time unless the case says otherwise. The figures are added to
RESULTS, from which ``python -m benchmarks.report`` makes a section of docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.measure import CommandError, command, machine
from benchmarks.text import filled, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MEGABYTE = 1_000_000
LINE = "Time flies like an arrow, and fruit flies like a banana.\n"
TOKENS = "Time flies like an arrow .\n"
NEW_TEXTS = 10_000  # of 12 words each


class Files(NamedTuple):
    """Inputs that all cases share.

    Attributes
    ----------
    text, twice, long
        2 MB of text, the same text two times, and 80 MB of it.
    train, dev, test
        Parts of a treebank.
    repeated
        About 1,000,000 words of CoNLL-U: the test part repeated.
    tokens
        Sentences of the test part, one per line.
    line, sentence
        A line of text; a line of tokens.
    work
        A folder for other files.
    """

    text: Path
    twice: Path
    long: Path
    train: Path
    dev: Path
    test: Path
    repeated: Path
    tokens: Path
    line: Path
    sentence: Path
    work: Path


class Case(NamedTuple):
    """What is measured: `measure(python, files)` returns a number in `unit`."""

    title: str
    unit: str
    measure: Callable[[str, Files], float]
    rounds: int = 7


def command_seconds(python: str, *args: str | Path) -> float:
    """Return the processor time of a seqtag command."""
    return command([python, "-m", "seqtag", *map(str, args)], repeat=1).cpu_seconds


def number_of(python: str, script: str, *args: str | Path) -> float:
    """Return the number that a script writes into the file named by its first argument."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "number"
        command([python, "-c", script, str(out), *map(str, args)], repeat=1, limit=1200)
        return float(out.read_text())


def words_in(path: Path) -> int:
    """Return the number of words between white space."""
    return len(path.read_text(encoding="utf-8").split())


def new_text(python: str, files: Files) -> float:
    """Words a second of text that the process sees for the first time."""
    took = tag_text(python, files.text) - tag_text(python, files.line)
    return words_in(files.text) / took


def known_text(python: str, files: Files) -> float:
    """Words a second of text that the process has already seen."""
    return words_in(files.text) / (tag_text(python, files.twice) - tag_text(python, files.text))


def tag_text(python: str, path: Path, threads: int = 1) -> float:
    """Processor seconds of raw text to CoNLL-U with all columns."""
    return command_seconds(python, *tag_command(path, threads))


def tag_command(path: Path, threads: int = 1) -> tuple[str, ...]:
    """Return the command that annotates raw text with the embedded model."""
    return ("tag", "-q", "-m", "en", "--format", "text", f"--threads={threads}", str(path))


def threads(python: str, files: Files) -> float:
    """Return how many times as fast two threads are as one, by the clock."""
    one, two = (
        command([python, "-m", "seqtag", *tag_command(files.twice, n)], repeat=1).seconds
        for n in (1, 2)
    )
    start = command([python, "-m", "seqtag", *tag_command(files.line)], repeat=1).seconds
    return (one - start) / (two - start)


SEGMENTER = """
import sys, time, seqtag
segment = seqtag.load("en").segmenter.segment
text = open(sys.argv[2], encoding="utf-8").read()
times = []
for _ in range(2):
    began = time.process_time()
    segment(text)
    times.append(time.process_time() - began)
open(sys.argv[1], "w").write(str(len(text) / times[int(sys.argv[3])]))
"""

CALLS = """
import sys, time, seqtag
pipeline = seqtag.load("en")
text = "The cat that I saw sat on the mat of red wool ."
annotate = pipeline if callable(pipeline) else pipeline.tag_text
annotate(text)
began = time.process_time()
for _ in range(300):
    annotate(text)
open(sys.argv[1], "w").write(str((time.process_time() - began) / 300 * 1000))
"""

PIPE = """
import sys, time, seqtag
pipeline = seqtag.load("en")
words = open(sys.argv[2], encoding="utf-8").read().split()
texts = [" ".join(words[at : at + 12]) for at in range(0, 12 * int(sys.argv[3]), 12)]
annotate = pipeline if callable(pipeline) else pipeline.tag_text
began = time.process_time()
documents = pipeline.pipe(texts) if hasattr(pipeline, "pipe") else map(annotate, texts)
count = sum(1 for _ in documents)
assert count == len(texts)
open(sys.argv[1], "w").write(str(time.process_time() - began))
"""

PASSES = """
import sys, time, seqtag
tagger = seqtag.load(sys.argv[3])
with open(sys.argv[2], encoding="utf-8") as file:
    sentences = [line.split() for line in file]
times = []
for _ in range(5):
    began = time.process_time()
    tagger.tag_many(sentences)
    times.append(time.process_time() - began)
open(sys.argv[1], "w").write(str(sorted(times[1:])[2] / times[0]))
"""

PLAIN = """
import sys
words = 0
with open(sys.argv[1], encoding="utf-8") as file, open(sys.argv[2], "w", encoding="utf-8") as out:
    for line in file:
        fields = line.rstrip("\\n").split("\\t")
        words += len(fields) > 1
        out.write("\\t".join(fields) + "\\n")
"""


def start(python: str, *args: str | Path) -> float:
    """Return the processor time of a command over that of importing numpy, each five times."""
    numpy = command([python, "-c", "import numpy"], repeat=5).cpu_seconds
    whole = command([python, "-m", "seqtag", *map(str, args)], repeat=5).cpu_seconds
    return whole / numpy


def one_column(python: str, files: Files, label: str = "upos") -> Path:
    """Return a model of one column, trained by that version on the treebank."""
    model = files.work / f"{python.replace('/', '-')}-{label}.seqtag"
    if not model.exists():
        command_seconds(python, "train", "-q", files.train, "--label", label, "-o", model)
    return model


def conllu_to_conllu(python: str, files: Files) -> float:
    """Time to tag a CoNLL-U file, over that of reading, splitting and writing it in Python."""
    plain = command(
        [python, "-c", PLAIN, str(files.repeated), str(files.work / "plain")], repeat=1
    ).cpu_seconds
    model, out = one_column(python, files), files.work / "out.conllu"
    tagged = command_seconds(python, "tag", "-q", "--force", "-m", model, files.repeated, "-o", out)
    return tagged / plain


def learn_all(python: str, files: Files) -> float:
    """Processor seconds of learning all components of a treebank."""
    model = files.work / "all.seqtag"
    args = ("train", "-q", "--force", files.train, "--label", "all", "--dev", files.dev)
    return command([python, "-m", "seqtag", *map(str, args), "-o", str(model)], 1).cpu_seconds


def embedded_megabytes(python: str, files: Files) -> float:
    """Return the size of the embedded pipeline."""
    del files
    script = (
        "import sys, seqtag, pathlib; root = pathlib.Path(seqtag.__file__).parent; "
        "found = [*root.rglob('en.seqtag'), *(root.parent / 'models').glob('en.seqtag')]; "
        "open(sys.argv[1], 'w').write(str(found[0].stat().st_size / 1e6))"
    )
    return number_of(python, script)


CASES = {
    "new-text": Case("raw English to CoNLL-U, new text, one thread", "words/s", new_text),
    "known-text": Case("the same, text met before", "words/s", known_text),
    "threads": Case("two threads over one, raw text, by the clock", "x", threads),
    "segmenter-new": Case(
        "segmenter alone, new text",
        "characters/s",
        lambda python, files: number_of(python, SEGMENTER, files.text, 0),
    ),
    "segmenter-known": Case(
        "segmenter alone, text met before",
        "characters/s",
        lambda python, files: number_of(python, SEGMENTER, files.text, 1),
    ),
    "call": Case("`Pipeline(text)`, 12 words", "ms", lambda python, _: number_of(python, CALLS)),
    "pipe": Case(
        "10,000 such texts (`pipe`; one call for each text before)",
        "s",
        lambda python, files: number_of(python, PIPE, files.text, NEW_TEXTS),
        3,
    ),
    "start-text": Case(
        "one line through `en`, over `import numpy`",
        "x",
        lambda python, files: start(python, *tag_command(files.line)),
    ),
    "start-tokens": Case(
        "one tokenized sentence, a model of one column, over `import numpy`",
        "x",
        lambda python, files: start(
            python, "tag", "-q", "--format=tokens", "-m", one_column(python, files), files.sentence
        ),
    ),
    "passes": Case(
        "first pass over later passes, gold tokens, UPOS",
        "x",
        lambda python, files: number_of(python, PASSES, files.tokens, one_column(python, files)),
    ),
    "conllu": Case(
        "CoNLL-U to CoNLL-U, over plain reading, splitting and writing in Python",
        "x",
        conllu_to_conllu,
        5,
    ),
    "tagged": Case(
        "`--format tokens --to tagged`",
        "words/s",
        lambda python, files: (
            words_in(files.tokens)
            / (
                command_seconds(
                    python,
                    *("tag", "-q", "--format=tokens", "--to=tagged"),
                    *("-m", one_column(python, files), files.tokens),
                )
                - command_seconds(
                    python,
                    *("tag", "-q", "--format=tokens", "--to=tagged"),
                    *("-m", one_column(python, files), files.sentence),
                )
            )
        ),
    ),
    "learn": Case("learning EWT, `--label all`, with a dev part", "s", learn_all, 1),
    "peak": Case(
        "peak memory, raw text of 80 MB",
        "MB",
        lambda python, files: (
            command([python, "-m", "seqtag", *tag_command(files.long)], 1, 3600).megabytes
        ),
        1,
    ),
    "size": Case("size of the embedded pipeline", "MB", embedded_megabytes, 1),
    "size-xpos": Case(
        "size of a model of XPOS",
        "MB",
        lambda python, files: one_column(python, files, "xpos").stat().st_size / 1e6,
        1,
    ),
}
"""The cases, in the order of the page."""

LESS = ("ms", "s", "MB")  # units of which less is better; ratios to another program too
RATIOS_LESS = ("start-text", "start-tokens", "conllu")


def prepare(text: Path, corpora: Path, work: Path) -> Files:
    """Write the inputs into a folder."""
    from seqtag import read

    treebank = corpora / "ud-english-ewt"
    parts = [treebank / f"en_ewt-ud-{part}.conllu" for part in ("train", "dev", "test")]
    with text.open("rb") as file:
        data = file.read(2 * MEGABYTE).decode(errors="ignore").rpartition("\n")[0].encode() + b"\n"
        rest = file.read(78 * MEGABYTE)
    words = [sentence.words for sentence in read(parts[2])]
    test = parts[2].read_bytes()
    contents = {
        "text": data,
        "twice": data + b"\n" + data,
        "long": data + rest,
        "repeated": test * max(1, MEGABYTE // sum(map(len, words))),
        "tokens": "".join(" ".join(each) + "\n" for each in words).encode(),
        "line": LINE.encode(),
        "sentence": TOKENS.encode(),
    }
    paths = {
        name: work / f"{name}.{'conllu' if name == 'repeated' else 'txt'}" for name in contents
    }
    for name, path in paths.items():
        path.write_bytes(contents[name])
    train, dev, held_out = parts
    return Files(**paths, train=train, dev=dev, test=held_out, work=work)


def compare(case: Case, pythons: dict[str, str], files: Files) -> dict[str, Any]:
    """Measure a case with both versions in turn."""
    figures: dict[str, list[float]] = {name: [] for name in pythons}
    for _ in range(case.rounds):
        for name, python in pythons.items():
            figures[name].append(case.measure(python, files))
    ratios = [b / a for a, b in zip(*figures.values(), strict=True)]
    spread = quantiles(ratios, n=4) if len(ratios) > 1 else [*ratios] * 3
    return {
        "figures": {name: median(values) for name, values in figures.items()},
        "ratio": median(ratios),
        "quartiles": [spread[0], spread[2]],
        "rounds": case.rounds,
    }


def section(results: dict[str, Any]) -> Iterator[str]:
    """Yield a section of docs/benchmarks.md."""
    before, now = results["versions"]
    on = results["machine"]
    yield f"## {now} and {before}\n"
    yield filled(
        f"In turn, on {on['cpu']}, {on['cores']} cores, {on['date']}; medians. Times are processor "
        "time except where the table says otherwise. The ratio is the median of the ratios of the "
        "rounds; in bold, it is an improvement. `python -m benchmarks.speed` measures this."
    )
    rows = []
    for name, case in CASES.items():
        found = results["cases"].get(name)
        if found is None:
            continue
        less = case.unit in LESS or name in RATIOS_LESS
        shown_figures = (shown(found["figures"][version], case.unit) for version in (before, now))
        rows.append([case.title, *shown_figures, _compared(found["ratio"], less)])
    yield table(["", before, now, "ratio"], rows)


def _compared(ratio: float, less: bool) -> str:
    """Return a ratio, in bold if it is an improvement."""
    return f"**{ratio:.2f}**" if (ratio < 1 if less else ratio > 1) else f"{ratio:.2f}"


def shown(value: float, unit: str) -> str:
    """Return a figure with its unit."""
    if unit.endswith("/s"):
        return f"{value / 1000:,.0f} k {unit}"
    return f"{value:.2f} {unit}" if value < 10 else f"{value:,.0f} {unit}"


def version_of(python: str) -> str:
    """Return the version of seqtag that a Python runs."""
    script = "import sys, seqtag; open(sys.argv[1], 'w').write(seqtag.__version__)"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "version"
        command([python, "-c", script, str(out)], repeat=1)
        return out.read_text()


def main() -> None:
    """Measure the cases that the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--text", type=Path, required=True, help="English text")
    add("--corpora", type=Path, required=True, help="folder of the treebank")
    add("--against", required=True, metavar="PYTHON", help="Python with the other version")
    add("--only", action="append", choices=list(CASES), help="a case to measure (default: all)")
    add("--out", type=Path, required=True, help="JSON file of results to add to")
    options = parser.parse_args()
    text, corpora, out = options.text.resolve(), options.corpora.resolve(), options.out.resolve()
    work = tempfile.TemporaryDirectory()
    os.chdir(work.name)  # sources in the current folder would hide an installed version
    pythons = {version_of(python): python for python in (options.against, sys.executable)}
    if len(pythons) < 2:
        parser.error("expected another version of seqtag, found the same")
    results = json.loads(out.read_text()) if out.exists() else {}
    speed = results.setdefault("speed", {"cases": {}})
    if speed.get("versions", [*pythons]) != [*pythons]:  # of the version before
        ratios = {name: case["ratio"] for name, case in speed["cases"].items()}
        version, date = speed["versions"][0], speed["machine"]["date"]
        speed["earlier"] = {"version": version, "date": date, "ratios": ratios}
        speed["cases"] = {}
    speed |= {"versions": [*pythons], "machine": machine()}
    with work as folder:
        files = prepare(text, corpora, Path(folder))
        for name in options.only or CASES:
            try:
                found = speed["cases"][name] = compare(CASES[name], pythons, files)
            except CommandError as error:
                print(f"{name}: {error}", file=sys.stderr)
                continue
            print(f"{name}: {json.dumps(found)}", file=sys.stderr, flush=True)
            out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
