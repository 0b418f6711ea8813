"""One step in a process of its own: ``python -m benchmarks.run_one STEP PEER TASK ...``.

Steps:  train CORPUS MODEL SEED DEV learn and write the model folder; DEV may be empty
        start MODEL                 load, and tag the first sentence
        tag   MODEL TEST OUT        load and tag strings, timed; figures and labels go to OUT (JSON)
        file  MODEL SOURCE OUT      tag a file to a file, for tools without a command that does
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path

from benchmarks.peers import Peer, find
from benchmarks.tasks import TASKS, Task, first_sentence, parse, read, token_lines

MIN_SECONDS = 0.5  # a timed run of tagging repeats the test set until it takes this long


def tag(peer: Peer, task: Task, model: Path, test: Path, out: Path) -> None:
    """Loading and tagging in memory: the first pass, and the median of 3 more; processor time."""
    sentences, _ = read(task, test)
    peer.load(model, task)  # imports
    loads = [_seconds(lambda: peer.load(model, task)) for _ in range(3)]
    found: list[list[str]] = []
    first = _seconds(lambda: found.extend(peer.tag(sentences)))
    times = max(1, round(MIN_SECONDS / first))
    runs = [_seconds(lambda: [peer.tag(sentences) for _ in range(times)]) for _ in range(3)]
    tokens = sum(map(len, sentences))
    figures = {
        "load_seconds": statistics.median(loads),
        "first_tokens_per_second": tokens / first,
        "tokens_per_second": tokens * times / statistics.median(runs),
        "labels": found,
    }
    out.write_text(json.dumps(figures), encoding="utf-8")


def file(peer: Peer, task: Task, model: Path, source: Path, out: Path) -> None:
    """Read, tag, and write each line with its label in place; comments are dropped."""
    peer.load(model, task)
    found = token_lines(task, source)
    tagged = peer.tag([parse(task, lines)[0] for lines in found])
    where = task.fields[-1]
    with out.open("w", encoding="utf-8") as target:
        for lines, labels in zip(found, tagged, strict=True):
            for line, label in zip(lines, labels, strict=True):
                fields = line.split(task.separator)
                fields[where] = label
                target.write(task.separator.join(fields) + "\n")
            target.write("\n")


def _seconds(work) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    """Do the step that the command line names."""
    step, name, task_name, *rest = sys.argv[1:]
    peer, task = find(name), TASKS[task_name]
    if step == "train":
        corpus, model, seed, dev = rest
        peer.train(Path(corpus), Path(model), task, int(seed), Path(dev) if dev else None)
    elif step == "start":
        peer.load(Path(rest[0]), task)
        peer.tag([first_sentence(task)])
    else:
        {"tag": tag, "file": file}[step](peer, task, *map(Path, rest))


if __name__ == "__main__":
    main()
