"""Tagging and training on a cluster of this machine: ``python -m benchmarks.cluster``.

Files of words are tagged by ``seqtag tag``, by ``seqtag cluster tag`` with one and two workers, and
by peers that have processes of their own: spaCy's ``nlp.pipe`` and NLTK's tagger in Ray Data. A
peer that is not installed is left out, and why is said. Times are those of the work alone, without
the start of Python, of Ray and of workers, but for ``seqtag tag``, which starts in a moment.

Ray listens on all networks: run it in one of its own, as tests/batch says.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, CommandError, command, machine
from benchmarks.text import filled, rate, table

SHARDS = (1, 2, 4, 8)
ROUNDS = (1, 3, 5, 10)
FILES = 4
_SEQTAG = (sys.executable, "-m", "seqtag")
_NEEDS = {"spacy": ("spacy",), "nltk": ("nltk", "ray", "pyarrow")}
_TAGS = 17  # of the peers, which are hardly trained: only speed is measured
_BATCH = 1000


# ----------------------------------------------------------------- data
def sentences_of(source: Path) -> list[Any]:
    """The sentences of a corpus that have words."""
    from seqtag import read

    return [each for each in read(source) if len(each)]


def write_files(folder: Path, sentences: list[list[str]], words: int, files: int) -> list[Path]:
    """Files of so many words each, a sentence on a line, the sentences again and again.

    >>> import tempfile
    >>> paths = write_files(Path(tempfile.mkdtemp()), [["a", "b"], ["c"]], 4, 2)
    >>> [path.read_text() for path in paths]
    ['a b\\nc\\na b\\n', 'a b\\nc\\na b\\n']
    """
    lines, count = [], 0
    while count < words:
        sentence = sentences[len(lines) % len(sentences)]
        lines.append(" ".join(sentence) + "\n")
        count += len(sentence)
    paths = [folder / f"{number}.txt" for number in range(files)]
    for path in paths:
        path.write_text("".join(lines), encoding="utf-8")
    return paths


def words_in(paths: list[Path]) -> int:
    """How many words some files have."""
    return sum(len(path.read_text(encoding="utf-8").split()) for path in paths)


# ----------------------------------------------------------------- who tags
def plain(paths: list[Path], model: str, out: Path) -> float:
    """Seconds of ``seqtag tag``, one file after another."""
    how = ("--format", "tokens", "--to", "tagged", "--threads", "1", "-q")
    args = (*_SEQTAG, "tag", "-m", model, *how)
    out.mkdir(parents=True)
    runs = [command([*args, str(path), "-o", str(out / path.name)], 1) for path in paths]
    return sum(run.seconds for run in runs)


def cluster(paths: list[Path], model: str, out: Path, workers: int, *more: str) -> float:
    """Seconds of ``seqtag cluster tag``, from the first task to the last result."""
    how = ("--format", "tokens", "--to", "tagged", "--workers", str(workers), "-q", *more)
    command([*_SEQTAG, "cluster", "tag", "-m", model, *how, *map(str, paths), "-o", str(out)], 1)
    last = (out / "ledger.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    return float(json.loads(last)["seconds"])


def peer(name: str, processes: int, paths: list[Path], out: Path) -> float | str:
    """Seconds of a peer, in a process of its own; or why it was left out."""
    missing = [each for each in _NEEDS[name] if find_spec(each) is None]
    if missing:
        return f"needs {', '.join(missing)}"
    args = [sys.executable, "-m", "benchmarks.cluster", "--peer", name, str(processes), str(out)]
    done = subprocess.run([*args, *map(str, paths)], capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no message"])[-1][:200]
    return float(done.stdout.strip().splitlines()[-1])


def spacy(processes: int, out: Path, paths: list[Path]) -> float:
    """Seconds of ``nlp.pipe`` with a tagger alone, on a convolutional network, untrained."""
    import spacy as package
    from spacy.tokens import Doc

    from benchmarks.peers.spacy import _MODEL

    nlp = package.blank("en")
    tagger: Any = nlp.add_pipe("tagger", config={"model": _MODEL})
    for number in range(_TAGS):
        tagger.add_label(f"T{number}")
    nlp.initialize()
    lines = [line.split() for path in paths for line in path.read_text().splitlines()]
    began = time.perf_counter()
    docs = (Doc(nlp.vocab, words) for words in lines)
    with out.open("w", encoding="utf-8") as file:
        for doc in nlp.pipe(docs, n_process=processes, batch_size=_BATCH):
            file.write(" ".join(f"{token.text}/{token.tag_}" for token in doc) + "\n")
    return time.perf_counter() - began


class Nltk:
    """NLTK's tagger for ``map_batches``; it learns when its actor begins."""

    def __init__(self, examples: list[list[tuple[str, str]]]):
        from nltk.tag.perceptron import PerceptronTagger

        self._tagger = PerceptronTagger(load=False)
        self._tagger.train(examples, nr_iter=1)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Lines of words as lines of word/TAG."""
        tagged = [self._tagger.tag(line.split()) for line in batch["text"]]
        return {"text": [" ".join(map("/".join, each)) for each in tagged]}


def nltk(processes: int, out: Path, paths: list[Path]) -> float:
    """Seconds of NLTK's tagger in Ray Data, on so many actors and a core besides."""
    import ray

    examples = [
        [(word, f"T{len(word) % _TAGS}") for word in ("the", "dog", "sees", "a", "cat")]
    ] * 9
    how = {"include_dashboard": False, "object_store_memory": 200 * 2**20, "log_to_driver": False}
    ray.init(num_cpus=processes + 1, **how)
    rows = ray.data.read_text([str(path) for path in paths]).materialize()
    began = time.perf_counter()
    pool = ray.data.ActorPoolStrategy(size=processes)
    done = rows.map_batches(
        Nltk, fn_constructor_args=(examples,), batch_size=_BATCH, compute=pool, num_cpus=1
    )
    with out.open("w", encoding="utf-8") as file:
        file.writelines(row["text"] + "\n" for row in done.iter_rows())
    seconds = time.perf_counter() - began
    ray.shutdown()
    return seconds


PEERS = {"spacy": spacy, "nltk": nltk}


def speeds(source: Path, model: str, words: int) -> dict[str, Any]:
    """Words a second of everybody, by what is said of them; a string says why there is none."""
    found: dict[str, Any] = {}

    def note(name: str, count: int, seconds: float | str) -> None:
        found[name] = seconds if isinstance(seconds, str) else count / seconds
        print(name, found[name], flush=True)

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sentences = [each.words for each in sentences_of(source)]
        paths = write_files(folder, sentences, words // FILES, FILES)
        count, out = words_in(paths), folder / "out"
        large = folder / "large.txt"
        large.write_bytes(b"".join(path.read_bytes() for path in paths))
        size = str(large.stat().st_size // FILES)
        note("`seqtag tag`", count, plain(paths, model, out / "plain"))
        for name, workers, given, more in (
            ("`seqtag cluster tag --workers 1`", 1, paths, ()),
            ("`seqtag cluster tag --workers 2`", 2, paths, ()),
            ("`--workers 2`, one file", 2, [large], ("--split", "0")),
            ("`--workers 2`, one file, `--split`", 2, [large], ("--split", size)),
        ):
            try:
                note(name, count, cluster(given, model, out / str(len(found)), workers, *more))
            except CommandError as error:
                note(name, count, str(error))
        few = write_files(folder, sentences, words // 20 // FILES, FILES)
        count = words_in(few)
        for name, who, processes in (
            ("spaCy `nlp.pipe(n_process=1)`", "spacy", 1),
            ("spaCy `nlp.pipe(n_process=2)`", "spacy", 2),
            ("NLTK in Ray Data, 1 actor", "nltk", 1),
            ("NLTK in Ray Data, 2 actors", "nltk", 2),
        ):
            note(name, count, peer(who, processes, few, folder / "peer"))
    return found


# ----------------------------------------------------------------- training over shards
def mixing(train: Path, dev: Path, rounds: int) -> dict[str, list[float]]:
    """Accuracy on dev after each round, by the number of shards: pieces of the file in order."""
    from seqtag import train_shards

    examples, judged = sentences_of(train), sentences_of(dev)
    found: dict[str, list[float]] = {}
    for count in SHARDS:
        cuts = [len(examples) * i // count for i in range(count + 1)]
        shards = [examples[a:b] for a, b in pairwise(cuts)]
        scores: list[float] = []
        train_shards(
            shards,
            dev=judged,
            label="upos",
            epochs=rounds,
            on_epoch=lambda epoch, to=scores: to.append(epoch.dev.accuracy),
        )
        found[str(count)] = scores
        print(count, "shards", scores, flush=True)
    return found


# ----------------------------------------------------------------- the page
def section(found: dict[str, Any]) -> str:
    """Markdown of what was measured."""
    if found["speeds"]:
        return _speeds_shown(found) + _mixing_shown(found)
    text = filled(
        "`python -m benchmarks.cluster` measures the figures in this section. Tagging speed has "
        "not yet been compared with that of spaCy and NLTK in Ray Data, because the machine was "
        "never idle enough for a fair comparison."
    )
    return text + _mixing_shown(found)


def _speeds_shown(found: dict[str, Any]) -> str:
    """The table of words a second."""
    speed, where = found["speeds"], found["machine"]
    base = next((value for value in speed.values() if not isinstance(value, str)), 1.0)
    rows = [
        [name, value, ""] if isinstance(value, str) else [name, rate(value), f"{value / base:.2f}"]
        for name, value in speed.items()
    ]
    return (
        f"Measured on {where['cpu']}, {where['cores']} cores, Python {where['python']}, "
        f"{where['date']}, at a load of {where['load']}: one run. {_care(where)}"
        f"{found['words']:,} words in {FILES} files with `{found['model']}`; the input is words, "
        "the output word/TAG. The peers tag a twentieth of the text.\n\n"
        + table(["", "words per second", "relative to `seqtag tag`"], rows)
    )


def _mixing_shown(found: dict[str, Any]) -> str:
    """The table of shards and rounds."""
    if not found["mixing"]:
        return ""
    rounds = [n for n in ROUNDS if n <= min(map(len, found["mixing"].values()))]
    rows = [
        [count, *(f"{100 * scores[n - 1]:.2f}" for n in rounds)]
        for count, scores in found["mixing"].items()
    ]
    text = filled(
        "The next table shows training on shards: UPOS accuracy in percent on the development set "
        f"of {found['corpus']}, by number of shards (rows) and rounds (columns), with one seed. "
        "[Train on shards](how-to/train-on-shards.md) shows means of three seeds for English."
    )
    return f"\n{text}\n{table(['shards', *map(str, rounds)], rows)}"


def _care(where: dict[str, str]) -> str:
    """How far the figures can be trusted, by what else the machine did."""
    if float(where["load"]) < float(where["cores"]):
        return ""
    return (
        "**The machine was busy with other work**, and a second worker had hardly a core to "
        "itself. The figures show orders of magnitude; the section on parameters has figures from "
        "an idle machine. "
    )


def main() -> None:
    """Measure, and write the figures down."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--train", type=Path, help="CoNLL-U to take words from, and to learn")
    parser.add_argument("--dev", type=Path, help="CoNLL-U to judge shards on; none without")
    parser.add_argument("--corpus", default="a treebank", help="what the page calls it")
    parser.add_argument("--model", default="en-ewt-upos")
    parser.add_argument("--words", type=int, default=8_000_000)
    parser.add_argument("--rounds", type=int, default=max(ROUNDS))
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "scale" / "cluster.json")
    asked = parser.parse_args()
    if asked.peer:
        name, processes, out, *paths = asked.peer
        print(PEERS[name](int(processes), Path(out), [Path(path) for path in paths]))
        return
    if asked.train is None:
        parser.error("--train is needed")
    found = {"machine": machine(), "model": asked.model, "words": asked.words}
    found |= {"corpus": asked.corpus, "speeds": speeds(asked.train, asked.model, asked.words)}
    found["mixing"] = mixing(asked.train, asked.dev, asked.rounds) if asked.dev else {}
    asked.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
