"""The figures of the README, made from the results that the page of benchmarks is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.curves import fit
from benchmarks.results import Results, best_of_tools, ratio
from benchmarks.tasks import TASKS
from benchmarks.text import filled, table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    Point = dict[str, float]

_RAW = ("tokens", "sentences", "words", "upos", "lemma")
_MARKS = "<!-- {}: written by python -m benchmarks.{} -->\n", "<!-- end of {} -->\n"


def put(page: Path, name: str, module: str, text: str) -> None:
    """Write text into a page between its two marks.

    Raises
    ------
    ValueError
        If the page has no such marks.
    """
    old = page.read_text(encoding="utf-8")
    begin, end = (mark.format(name, module) for mark in _MARKS)
    if not old.count(begin) == old.count(end) == 1:
        msg = f"{page}: expected the lines {begin.strip()!r} and {end.strip()!r} once each"
        raise ValueError(msg)
    before, rest = old.split(begin)
    page.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def measured(results: Results) -> str:
    """Return the figures of seqtag and its best peer, from raw text, and the tagging speed."""
    parts = [*_beside_peers(results)]
    if "raw" in results:
        parts += _from_raw_text(results["raw"])
    parts += _speeds(results)
    return "\n".join(parts).rstrip("\n") + "\n"


def _beside_peers(results: Results) -> Iterable[str]:
    """The best peer of each task."""
    rows = []
    for task in TASKS.values():
        tools = best_of_tools(results, task.name)
        if "seqtag" not in tools:
            continue
        row = tools.pop("seqtag")
        score = "F1" if task.name == "chunk" else "accuracy"
        peer, theirs = next(iter(tools.items()), ("none", None))
        times = ratio(results, task.name)
        rows.append(
            [
                f"{task.title}, {score}",
                *_pair(row["score"], theirs and theirs["score"], f" ({peer})"),
                f"{row['train_cpu_seconds']:.1f} s",
                f"{times:.1f} x" if times else "",
                f"{row['model_megabytes']:.1f} MB",
            ]
        )
    ours = [best_of_tools(results, task).get("seqtag") for task in TASKS]
    seeds = min((each["seeds"] for each in ours if each), default=1)
    of_seeds = f"means of {seeds} seeds" if seeds > 1 else "of one seed"
    yield filled(
        "Beside its peers, of which each is shown at the length of training that suits it best; "
        f"those that take features get the same. Scores of seqtag are {of_seeds}, without raw "
        "text; times are processor time of the whole command, and how many times as long "
        "CRFsuite's averaged perceptron took for as many passes over the same features. [All "
        "figures](docs/benchmarks.md)."
    )
    heading = ["test part", "seqtag", "best peer", "training", "CRFsuite ap", "model"]
    yield table(heading, rows)


def _from_raw_text(raw: Results) -> Iterable[str]:
    """seqtag and UDPipe from raw text."""
    yield filled(
        "From raw text to CoNLL-U, F1 by the rules of CoNLL 2018 on test parts; UDPipe 1 learnt "
        "from the same files with its defaults (`python -m benchmarks.raw`; [all "
        "columns](docs/benchmarks.md#from-raw-text)):"
    )
    rows, speeds, times = [], [], []
    for name, entry in raw["treebanks"].items():
        ours, theirs = entry["tools"]["seqtag"], entry["tools"].get("UDPipe", {})
        speeds.append(ours["words_per_second"])
        if "words_per_second" in theirs:
            times.append(ours["words_per_second"] / theirs["words_per_second"])
        pairs = [_pair(ours["raw"][key], theirs.get("raw", {}).get(key)) for key in _RAW]
        cells = [" / ".join(filter(None, pair)) for pair in pairs]
        seconds = [f"{each['train_seconds']:.0f} s" for each in (ours, theirs) if _timed(each)]
        rows.append([_treebank(name), *cells, " / ".join(seconds)])
    yield table(
        ["seqtag / UDPipe", "tokens", "sentences", "words", "UPOS", "lemmas", "training"], rows
    )
    versions = {name: tool.get("version", "?") for name, tool in raw["tools"].items()}
    yield filled(
        f"One core cuts and annotates {min(speeds) // 1000:.0f},000 to "
        f"{max(speeds) // 1000:.0f},000 words a second, {min(times):.0f} to {max(times):.0f} "
        f"times as many as UDPipe (seqtag {versions['seqtag']})."
    )


def _timed(figures: Results) -> bool:
    return "train_seconds" in figures


def _treebank(name: str) -> str:
    """A treebank as its makers write it: UD Turkish-IMST for ud-turkish-imst."""
    _, language, short = name.split("-")
    kept = {"armtdp": "ArmTDP", "scriptorium": "Scriptorium"}
    return f"UD {language.title()}-{kept.get(short, short.upper())}"


def _pair(ours: float, theirs: float | None, whose: str = "") -> tuple[str, str]:
    """Two scores, the better one bold; the second is empty if there is none."""
    a, b = f"{ours:.2f}", f"{theirs or 0:.2f}"
    if theirs is None:
        return a, ""
    first, second = (f"**{x}**" if float(x) > float(y) else x for x, y in ((a, b), (b, a)))
    return first, second + whose


def _speeds(results: Results) -> Iterable[str]:
    """How fast words are tagged, in memory and by the command."""
    tasks = results["peers"].get("seqtag", {}).get("tasks", {})
    found = [tasks.get(key, {}) for key in ("upos", "xpos")]
    if any("score" not in each for each in found):
        return
    rows = [
        ["`Tagger.tag_many`, lists of strings", *_millions(found, "tokens_per_second")],
        ["the same, a text not met before", *_millions(found, "first_tokens_per_second")],
        ["`seqtag tag`, CoNLL-U to CoNLL-U", *_millions(found, "file_tokens_per_second")],
        ["`seqtag tag`, one sentence", *(f"{each['start_cpu_seconds']:.2f} s" for each in found)],
    ]
    yield "Labels of tokenised English words, on one core:\n"
    yield table(["", "UPOS", "XPOS"], rows)
    yield filled(" ".join(_growth(results["growth"])))


def _millions(found: list[Results], key: str) -> list[str]:
    return [f"{each[key] / 1e6:.1f} M tokens/s" for each in found]


def _growth(growth: dict[str, list[Point]]) -> Iterable[str]:
    """Sentences on threads, long streams and long sentences."""
    if threads := growth.get("threads"):
        one, most = threads[0], threads[-1]
        times = one["tag_seconds"] / most["tag_seconds"]
        yield f"{most['size']} threads tag {times:.1f} times as fast as one."
    if tokens := growth.get("tokens"):
        last, sizes = tokens[-1], [point["size"] for point in tokens]
        slope = fit(sizes, [point["train_seconds"] for point in tokens]).slope
        yield (
            f"{last['size'] / 1e6:.0f} million tokens: the command tags them in "
            f"{last['file_seconds']:.0f} s and {last['file_megabytes']:.0f} MB, and learns from "
            f"them in {last['train_seconds']:.0f} s and {last['train_megabytes']:,.0f} MB; time "
            f"grows with exponent {slope:.2f}."
        )
