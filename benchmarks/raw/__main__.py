"""Measure raw text to CoNLL-U: ``python -m benchmarks.raw --corpora FOLDER``.

FOLDER holds treebanks in folders of their own, each with one file ``*-train.conllu``, ``*-dev`` and
``*-test``. Nothing is downloaded. The results go into the same JSON file as those of ``python -m
benchmarks``, and into the same page, whose section on raw text is printed. Models of UDPipe, whose
training takes most of the time, are kept with ``--cache`` and found again by what is in the files
that they were trained on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.measure import CommandError, Cost, command, machine
from benchmarks.raw import report
from benchmarks.raw.tools import TOOLS, Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FILE_WORDS = 200_000  # for the speed the raw text is repeated to about this length


class Treebank(NamedTuple):
    """The files of a treebank."""

    name: str
    language: str
    parts: dict[str, Path]

    @classmethod
    def find(cls, folder: Path) -> Iterator[Treebank]:
        """All complete ones in the folders of a folder."""
        for train in sorted(folder.glob("*/*-train.conllu")):
            parts = {
                part: train.with_name(train.name.replace("-train.", f"-{part}."))
                for part in ("train", "dev", "test")
            }
            if all(path.is_file() for path in parts.values()):
                yield cls(train.parent.name, re.match("[a-z]*", train.name)[0], parts)


class Suite:
    """Paths and limits of one run.

    Parameters
    ----------
    part
        The part to score: ``test``, or ``dev`` while something is still tried out.
    work
        Folder for models and other files, with nothing in it.
    cache
        Folder for models of UDPipe; None to keep none.
    limit
        Seconds that a training may take.
    """

    def __init__(self, part: str, work: Path, cache: Path | None, limit: float):
        self.part, self.work, self.cache, self.limit = part, work, cache, limit

    def prepare(self, treebank: Treebank) -> dict[str, Any]:
        """Write the raw text and the blank columns of a treebank, and count what it has."""
        from seqtag.corpus import read
        from seqtag.corpus.surface import raw_text_of, surface_of

        folder = self.work / treebank.name
        folder.mkdir()
        gold = treebank.parts[self.part]
        with read(gold, "conllu") as stream:
            sentences = list(stream)
        text = raw_text_of(sentences)
        words = sum(map(len, sentences))
        times = max(1, FILE_WORDS // words)
        _write(folder / "text.txt", text)
        _write(folder / "long.txt", "\n".join([text] * times))
        _write(folder / "blank.conllu", blank(gold.read_text(encoding="utf-8")))
        columns = {
            name: {value for sentence in sentences for value in sentence.column(name)} - {"_"}
            for name in ("upos", "xpos", "feats", "lemma")
        }
        return {
            "language": treebank.language,
            "sentences": sum(len(sentence) > 0 for sentence in sentences),
            "tokens": sum(len(surface_of(sentence).tokens) for sentence in sentences),
            "words": words,
            "long_words": words * times,
            "columns": [name for name, values in columns.items() if values],
        }

    def measure(self, tool: Tool, treebank: Treebank, data: dict[str, Any]) -> dict[str, Any]:
        """All figures of one tool on one treebank."""
        folder = self.work / treebank.name
        model = folder / f"{tool.name}.model"
        out = folder / f"{tool.name}.conllu"
        figures: dict[str, Any] = {}
        if tool.trains:
            figures |= self._train(tool, treebank, model)
        language = treebank.language
        command(tool.command("raw", model, folder / "text.txt", out, language), 1, self.limit)
        figures["raw"] = scores(treebank.parts[self.part], out, data["columns"])
        long = command(tool.command("raw", model, folder / "long.txt", out, language))
        figures["words_per_second"] = data["long_words"] / long.cpu_seconds
        figures["megabytes"] = long.megabytes
        if tool.trains:
            blank = folder / "blank.conllu"
            command(tool.command("gold", model, blank, out, language), 1, self.limit)
            figures["gold"] = scores(treebank.parts[self.part], out, data["columns"])
        return figures

    def _train(self, tool: Tool, treebank: Treebank, model: Path) -> dict[str, Any]:
        """Train, or find the model in the cache; its size and what training cost."""
        train, dev = treebank.parts["train"], treebank.parts["dev"]
        kept = None
        if self.cache and tool.name == "UDPipe":
            kept = self.cache / f"{cache_key(tool, train, dev)}.json"
        if kept and kept.is_file() and kept.with_suffix(".udpipe").is_file():
            shutil.copy(kept.with_suffix(".udpipe"), model)
            return json.loads(kept.read_text(encoding="utf-8")) | {"from_cache": True}
        cost: Cost = command(tool.command("train", train, dev, model), 1, self.limit)
        figures = {
            "train_seconds": cost.cpu_seconds,
            "train_megabytes": cost.megabytes,
            "model_megabytes": model.stat().st_size / 1e6,
        }
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(model, kept.with_suffix(".udpipe"))
            _write(kept, json.dumps(figures))
        return figures


def cache_key(tool: Tool, *files: Path) -> str:
    """What a model hangs on: the tool, its version and settings, and the files' contents."""
    sha = hashlib.sha256(f"{tool.name} {tool.version} {tool.settings}".encode())
    for file in files:
        sha.update(hashlib.sha256(file.read_bytes()).digest())
    return sha.hexdigest()[:32]


def blank(text: str) -> str:
    """CoNLL-U with nothing but ids, forms and SpaceAfter=No: gold tokens and words.

    >>> blank("# text = ab\\n1-2\\tab\\t_\\n1\\ta\\tA\\n1.1\\tx\\tX\\n2\\tb\\tB\\n\\n")
    '1-2\\tab\\t_\\t_\\t_\\t_\\t_\\t_\\t_\\t_\\n1\\ta\\t_\\t_\\t_\\t_\\t_\\t_\\t_\\t_\\n2\\tb\\t_\\t_\\t_\\t_\\t_\\t_\\t_\\t_\\n\\n'
    """
    lines = []
    for line in text.split("\n"):
        number, *fields = line.split("\t")
        if not fields:
            lines += [] if line else [""]
        elif "." not in number:
            misc = "SpaceAfter=No" if "SpaceAfter=No" in fields[-1].split("|") else "_"
            lines.append("\t".join([number, fields[0], *["_"] * 7, misc]))
    return "\n".join(lines)


def scores(gold: Path, found: Path, columns: list[str]) -> dict[str, float]:
    """F1 of what the treebank has, in percent, by the rules of CoNLL 2018."""
    from seqtag.corpus import read
    from seqtag.evaluation.aligned import score_aligned

    with read(gold, "conllu") as expected, read(found, "conllu") as predicted:
        report = score_aligned(expected, predicted)
    return {
        name: 100 * counts.f1
        for name, counts in report.metrics.items()
        if name in ("tokens", "sentences", "words", "alltags", *columns)
    }


def measure_all(
    suite: Suite,
    treebanks: list[Treebank],
    names: list[str],
    results: dict[str, Any],
    save: Callable[[], None],
) -> None:
    """Measure tools on treebanks, one after another, and add the figures to the results."""
    raw = results.setdefault("raw", {"tools": {}, "treebanks": {}})
    if raw.setdefault("part", suite.part) != suite.part:
        msg = (
            f"expected results on the {suite.part} part, found those on the {raw['part']} part; "
            "they do not mix"
        )
        raise SystemExit(msg)
    for name in names:
        tool = TOOLS[name]
        raw["tools"][name] = {"settings": tool.settings, "machine": machine()}
        absence = tool.absence
        raw["tools"][name] |= {"absent": absence} if absence else {"version": tool.version}
    for treebank in treebanks:
        entry = raw["treebanks"].setdefault(treebank.name, {"tools": {}})
        entry["data"] = data = suite.prepare(treebank)
        for name in names:
            if "absent" in raw["tools"][name]:
                continue
            try:
                figures = suite.measure(TOOLS[name], treebank, data)
                shown = " ".join(f"{key} {value:.2f}" for key, value in figures["raw"].items())
                note(f"{treebank.name} {name}: {shown}")
            except CommandError as error:
                figures = {"failed": str(error)}
                note(f"{treebank.name} {name}: {error}")
            entry["tools"][name] = figures
            save()


def note(text: str) -> None:
    """Say how far the run is, on standard error."""
    print(text, file=sys.stderr, flush=True)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.raw",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--corpora", type=Path, required=True, help="folder of the treebanks' folders")
    add("--treebank", action="append", help="one of them, by its folder; may be repeated")
    add("--part", choices=("test", "dev"), default="test", help="the part to score")
    add("--out", type=Path, default=Path("results.json"), help="file for the results")
    add("--merge", type=Path, help="earlier results, to keep what is not measured now")
    add("--only", action="append", choices=[*TOOLS], help="a tool; may be repeated")
    add("--cache", type=Path, help="folder to keep UDPipe's models in")
    add("--limit", type=float, default=7200, help="seconds that a training may take")
    add("--docs", type=Path, help="folder for benchmarks.md, which is written if this is given")
    options = parser.parse_args()
    found = list(Treebank.find(options.corpora))
    names = options.treebank or [treebank.name for treebank in found]
    options.treebanks = [treebank for treebank in found if treebank.name in names]
    if len(options.treebanks) < max(1, len(names)):
        here = ", ".join(treebank.name for treebank in found) or "none"
        parser.error(f"--corpora: expected treebanks (*/*-train.conllu, -dev, -test), found {here}")
    return options


def main() -> None:
    """Measure what the command line asks for."""
    options = arguments()
    results: dict[str, Any] = {}
    if options.merge:
        results = json.loads(options.merge.read_text(encoding="utf-8"))
    if options.docs and "peers" not in results:
        msg = "expected the results of python -m benchmarks with --docs, found none; give --merge"
        raise SystemExit(msg)

    def save() -> None:
        _write(options.out, json.dumps(results, indent=1) + "\n")

    with tempfile.TemporaryDirectory() as folder:
        suite = Suite(options.part, Path(folder), options.cache, options.limit)
        measure_all(suite, options.treebanks, options.only or [*TOOLS], results, save)
    save()
    print("\n".join(report.section(results["raw"])))
    if options.docs:
        from benchmarks.report import write

        write(results, options.docs)


if __name__ == "__main__":
    main()
