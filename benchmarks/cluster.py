"""Tagging and training on a cluster of this machine: ``python -m benchmarks.cluster PART ...``.

peers
    Raw text is tokenized and tagged on one core by ``seqtag tag``, spaCy, and NLTK, one after
    another, several times. Processor time counts, less that of a file of one line.
speeds
    Files of words are tagged by ``seqtag tag``, and by ``seqtag cluster tag`` with one and two
    workers. Times are those of the work alone, without the start of Python, of Ray and of workers,
    but for ``seqtag tag``, which starts in a moment. The machine must be idle.
mixing
    Accuracy of training on shards, by rounds.

Ray listens on all networks: run it in one of its own, as tests/batch says.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.measure import ROOT, CommandError, command, machine
from benchmarks.text import filled, rate, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

SHARDS = (1, 2, 4, 8)
ROUNDS = (1, 3, 5, 10)
FILES = 4
TIMES = 3
_SEQTAG = (sys.executable, "-m", "seqtag")
_MODEL = ("-m", "en", "--only", "upos")
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
def plain(paths: list[Path], out: Path) -> float:
    """Seconds of ``seqtag tag``, one file after another."""
    how = ("--format", "tokens", "--to", "tagged", "--threads", "1", "-q")
    args = (*_SEQTAG, "tag", *_MODEL, *how)
    out.mkdir(parents=True)
    runs = [command([*args, str(path), "-o", str(out / path.name)], 1) for path in paths]
    return sum(run.seconds for run in runs)


def cluster(paths: list[Path], out: Path, workers: int) -> float:
    """Seconds of ``seqtag cluster tag``, from the first task to the last result."""
    how = ("--format", "tokens", "--to", "tagged", "--workers", str(workers), "-q")
    command([*_SEQTAG, "cluster", "tag", *_MODEL, *how, *map(str, paths), "-o", str(out)], 1)
    last = (out / "ledger.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    return float(json.loads(last)["seconds"])


def texts_of(source: Path) -> list[str]:
    """The sentences of a treebank as they were written."""
    lines = source.read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]


def peers(source: Path, words: int) -> dict[str, Any]:
    """Words in a second of processor time, by tool; a string says why there is none."""
    own = (*_SEQTAG, "tag", "-m", "en", "--only", "upos", "--format", "text", "--to", "tagged")
    other = (sys.executable, "-m", "benchmarks.cluster", "--peer")
    commands: dict[str, tuple[Sequence[str], str]] = {
        "seqtag": ((*own, "--threads", "1", "-q", "--force"), "seqtag"),
        "spaCy": ((*other, "spacy", str(source)), "spacy"),
        "NLTK": ((*other, "nltk", str(source)), "nltk"),
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as place:
        lines = [text + "\n" for text in texts_of(source)]
        large, small = Path(place) / "large.txt", Path(place) / "small.txt"
        count = sum(len(line.split()) for line in lines)
        large.write_text("".join(lines) * max(1, words // count), encoding="utf-8")
        small.write_text(lines[0], encoding="utf-8")
        count *= max(1, words // count)
        for _ in range(TIMES):
            for name, (args, package) in commands.items():
                if find_spec(package) is None:
                    continue
                took = [
                    command([*args, str(path), "-o", f"{place}/out"], 1).cpu_seconds
                    for path in (small, large)
                ]
                seconds[name].append(took[1] - took[0])
                print(name, count / seconds[name][-1], flush=True)
    return {
        name: count / median(each) if each else f"needs {commands[name][1]}"
        for name, each in seconds.items()
    }


def spacy(source: Path) -> Callable[[Iterable[str]], Iterable[Iterable[tuple[str, str]]]]:
    """spaCy with the pipes of ``init config --pipeline tagger``, untrained: only speed counts."""
    from spacy.cli.init_config import init_config
    from spacy.util import load_model_from_config

    nlp = load_model_from_config(
        init_config(lang="en", pipeline=["tagger"], optimize="efficiency", gpu=False),
        auto_fill=True,
    )
    for number in range(_TAGS):
        nlp.get_pipe("tagger").add_label(f"T{number}")
    nlp.initialize()
    return lambda texts: (
        ((token.text, token.tag_) for token in doc) for doc in nlp.pipe(texts, batch_size=_BATCH)
    )


def nltk(source: Path) -> Callable[[Iterable[str]], Iterable[Iterable[tuple[str, str]]]]:
    """NLTK's tokenizer of words, and its tagger, which learns from the treebank in one pass."""
    from nltk.tag.perceptron import PerceptronTagger
    from nltk.tokenize import NLTKWordTokenizer

    tagger, tokenizer = PerceptronTagger(load=False), NLTKWordTokenizer()
    examples = [
        [*zip(each.words, each.column("upos"), strict=True)] for each in sentences_of(source)
    ]
    tagger.train(examples[:2000], nr_iter=1)
    return lambda texts: (tagger.tag(tokenizer.tokenize(text)) for text in texts)


PEERS = {"spacy": spacy, "nltk": nltk}


def peer(name: str, source: Path, path: Path, out: Path) -> None:
    """Tokenize and tag the lines of a file."""
    tag = PEERS[name](source)
    with path.open(encoding="utf-8") as texts, out.open("w", encoding="utf-8") as file:
        for sentence in tag(texts):
            file.write(" ".join(map("/".join, sentence)) + "\n")


def speeds(source: Path, words: int) -> dict[str, Any]:
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
        note("`seqtag tag`", count, plain(paths, out / "plain"))
        for workers in (1, 2):
            name = f"`seqtag cluster tag --workers {workers}`"
            try:
                note(name, count, cluster(paths, out / str(len(found)), workers))
            except CommandError as error:
                note(name, count, str(error))
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
    parts = (("peers", _peers_shown), ("speeds", _speeds_shown), ("mixing", _mixing_shown))
    return "\n".join(show(found[name]) for name, show in parts if name in found)


def _where(found: dict[str, Any]) -> str:
    where = found["machine"]
    return (
        f"{where['cpu']}, {where['cores']} cores, Python {where['python']}, {where['date']}, "
        f"load {where['load']}"
    )


def _peers_shown(found: dict[str, Any]) -> str:
    """The table of words in a second of processor time."""
    speed = found["speeds"]
    rows = [
        [name, value, ""] if isinstance(value, str) else [name, rate(value), f"{value / base:.2f}"]
        for base in [speed["seqtag"]]
        for name, value in speed.items()
    ]
    text = filled(
        "Raw text to one tag per word, with `seqtag tag -m en --only upos`, spaCy's tagger of "
        "`init config` (without its weights), and NLTK's word tokenizer and perceptron tagger: "
        f"words of {found['corpus']} in a second of processor time on one core, medians of {TIMES} "
        f"rounds on a busy machine ({_where(found)}). seqtag's model was trained on this text, so "
        "it knows all words."
    )
    return f"{text}\n{table(['', 'words per second', 'relative to seqtag'], rows)}"


def _speeds_shown(found: dict[str, Any]) -> str:
    """The table of words a second."""
    speed = found["speeds"]
    base = next((value for value in speed.values() if not isinstance(value, str)), 1.0)
    rows = [
        [name, value, ""] if isinstance(value, str) else [name, rate(value), f"{value / base:.2f}"]
        for name, value in speed.items()
    ]
    busy = float(found["machine"]["load"]) >= float(found["machine"]["cores"])
    text = filled(
        f"Workers on one machine: {found['words']:,} words in {FILES} files with "
        f"UPOS of `en`, from words to word/TAG, one run ({_where(found)})."
        + " The machine was busy with other work, and a second worker had hardly a core."
        * busy
    )
    return f"{text}\n{table(['', 'words per second', 'relative to `seqtag tag`'], rows)}"


def _mixing_shown(found: dict[str, Any]) -> str:
    """The table of shards and rounds."""
    rounds = [n for n in ROUNDS if n <= min(map(len, found["scores"].values()))]
    rows = [
        [count, *(f"{100 * scores[n - 1]:.2f}" for n in rounds)]
        for count, scores in found["scores"].items()
    ]
    text = filled(
        "The next table shows training on shards: UPOS accuracy in percent on the development set "
        f"of {found['corpus']}, by number of shards (rows) and rounds (columns), with one seed."
    )
    return f"{text}\n{table(['shards', *map(str, rounds)], rows)}"


def main() -> None:
    """Measure, and write the figures down."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help="peers, speeds, or mixing")
    parser.add_argument("--peer", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("-o", dest="output", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--train", type=Path, help="CoNLL-U to take words from, and to learn")
    parser.add_argument("--dev", type=Path, help="CoNLL-U to judge shards on")
    parser.add_argument("--corpus", default="a treebank", help="what the page calls it")
    parser.add_argument("--words", type=int, default=8_000_000)
    parser.add_argument("--rounds", type=int, default=max(ROUNDS))
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "scale" / "cluster.json")
    asked = parser.parse_args()
    if asked.peer:
        name, source, path = asked.peer
        peer(name, Path(source), Path(path), asked.output)
        return
    if asked.train is None:
        parser.error("--train is needed")
    found = json.loads(asked.out.read_text("utf-8")) if asked.out.exists() else {}
    shared = {"machine": machine(), "corpus": asked.corpus}
    if "peers" in asked.parts:
        found["peers"] = shared | {"speeds": peers(asked.train, asked.words)}
    if "speeds" in asked.parts:
        figures = speeds(asked.train, asked.words)
        found["speeds"] = shared | {"words": asked.words, "speeds": figures}
    if "mixing" in asked.parts:
        found["mixing"] = shared | {"scores": mixing(asked.train, asked.dev, asked.rounds)}
    asked.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
