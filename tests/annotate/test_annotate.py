"""Annotation: the file of decisions, what is sent to the page, and what is learned."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

import seqtag
from seqtag.errors import SeqtagError
from tests.command_line import posix
from tests.serve.served import server

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")

from seqtag.annotate.app import Annotation
from seqtag.annotate.decisions import Decisions
from seqtag.annotate.learner import Task, learned
from seqtag.cli.annotate import read_texts

pytestmark = posix

NAMES = ["Mira", "Tavo", "Lunet", "Oren", "Falk", "Rask"]
PLACES = ["Norvale", "Ostby", "Quern", "Tarn"]


def sentences(count, seed=1):
    """Texts, each with its spans: names and places tell themselves by the words before them."""
    rng = random.Random(seed)
    found = {}
    while len(found) < count:
        name, place, day = rng.choice(NAMES), rng.choice(PLACES), rng.randrange(1000)
        text = f"On day {day} we met {name} in {place}."
        start, at = text.index(name), text.index(place)
        found[text] = [(start, start + len(name), "PER"), (at, at + len(place), "LOC")]
    return found


def task(texts, **changes):
    return Task([*texts], ["PER", "LOC"])._replace(**changes)


@contextmanager
def opened(path, field="spans"):
    with path.open("a+b", buffering=0) as file:
        yield Decisions(file, field)


def test_decisions_are_on_the_disk_and_can_be_taken_back(tmp_path):
    path = tmp_path / "done.jsonl"
    with opened(path) as decisions:
        decisions.append({"text": "a\u2028é😀", "spans": [], "answer": "accept"})
        decisions.append({"text": "b", "spans": [], "answer": "ignore"})
        assert decisions.undo()["text"] == "b"
        decisions.append({"text": "c", "spans": [], "answer": "accept"})
        with pytest.raises(SeqtagError, match="another process annotates"):
            opened(path).__enter__()
    lines = [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]
    assert [line["text"] for line in lines] == ["a\u2028é😀", "c"]
    path.write_bytes(path.read_bytes()[:-1])
    with opened(path) as decisions:
        assert not decisions.cut and decisions.lines == lines
    path.write_bytes(path.read_bytes() + b'{"text": "never acknowl')
    with opened(path) as decisions:
        assert decisions.cut and decisions.lines == lines
        assert decisions.undo() and decisions.undo()
    assert path.read_bytes() == b""


@pytest.mark.parametrize("line", ["No decision.", '{"text": "x"}', '["text", "answer"]', "{"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_file_of_something_else_is_left_alone(tmp_path, line, end):
    path = tmp_path / "notes.txt"
    path.write_text(line + end)
    with pytest.raises(SeqtagError, match=r"notes.txt:1: expected a decision.*-o"):
        opened(path).__enter__()
    assert path.read_text() == line + end


FULL = """
import resource, signal, sys
from pathlib import Path
from seqtag.annotate.decisions import Decisions
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with Path(sys.argv[1]).open("a+b", buffering=0) as file:
    decisions = Decisions(file, "spans")
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    decisions.append({"text": "x", "spans": [], "answer": "accept"})
    try:
        decisions.append({"text": "y" * 200, "spans": [], "answer": "accept"})
    except OSError:
        decisions.append({"text": "z", "spans": [], "answer": "accept"})
"""


def test_a_full_disk_costs_no_decision(tmp_path):
    path = tmp_path / "done.jsonl"
    subprocess.run([sys.executable, "-c", FULL, path], check=True)
    assert [json.loads(line)["text"] for line in path.read_text().splitlines()] == ["x", "z"]


KILLED = """
import sys
from pathlib import Path
from seqtag.annotate.decisions import Decisions
with Path(sys.argv[1]).open("a+b", buffering=0) as file:
    decisions = Decisions(file, "spans")
    number = len(decisions.lines)
    while True:
        decisions.append({"text": "x" * (number % 999), "number": number, "spans": [], "answer": "accept"})
        number += 1
        print(number, flush=True)
"""


@pytest.mark.parametrize("kills", [8, pytest.param(300, marks=pytest.mark.nightly)])
def test_a_kill_costs_no_decision(tmp_path, kills):
    path, rng = tmp_path / "done.jsonl", random.Random(4)
    for _ in range(kills):
        command = [sys.executable, "-c", KILLED, path]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            acknowledged = int(process.stdout.readline())
            time.sleep(0.02 * rng.random())
            process.kill()
            acknowledged = max([acknowledged, *map(int, process.stdout.read().split())])
        with opened(path) as decisions:
            assert [each["number"] for each in decisions.lines] == [*range(len(decisions.lines))]
            assert len(decisions.lines) >= acknowledged


def decided(texts, held_out=()):
    """Lines of decisions that are as the texts are meant."""
    for number, (text, spans) in enumerate(texts.items()):
        how = {"answer": "accept", "held_out": number in held_out}
        yield json.dumps({"text": text, "spans": spans, **how}).encode() + b"\n"


def rows(lines):
    return [json.loads(line) for line in lines]


def test_what_is_learned_chooses():
    texts = sentences(80) | {"Quern, a Falk of Tavo left Rask?": []}
    found = learned(task(texts), rows([*decided(texts, range(0, 40, 5))][:40]))
    assert found.point == (40, 1) and found.model.column.name == "ner"
    assert sorted(found.chosen) == sorted([*texts][40:])
    assert found.chosen[0] == [*texts][-1]  # as uncertain as no other
    assert learned(task(texts), []) == (None, None, ())


def at_once(function, args, _, callback, __):
    """What a pool would do later, in another process."""
    callback(function(*args))


def never(*_):
    """A pool that has no time yet."""


@contextmanager
def annotating(path, texts, learn=at_once, **changes):
    given = task(texts, **changes)
    origins = {text: {"id": text[:9]} for text in texts}
    with opened(path, given.column or "spans") as decisions:
        yield Annotation(given, origins, decisions, SimpleNamespace(apply_async=learn))


def accept(annotation, spans, answer="accept"):
    text = annotation.item["text"]
    annotation.decide({"text": text, "answer": answer, "spans": spans})
    return annotation.state()


def test_words_get_labels(tmp_path):
    path, texts = tmp_path / "done.jsonl", [f"The dog barks{mark}" for mark in ".!?;,…"]
    words = {"column": "upos", "labels": ["DET", "NOUN", "VERB"]}
    spans = [(0, 3, "DET"), (4, 7, "NOUN"), (8, 13, "VERB")]
    with annotating(path, texts, never, **words) as annotation:
        with pytest.raises(SeqtagError, match="expected spans of words"):
            accept(annotation, [(0, 7, "NOUN")])  # two words
        accept(annotation, spans)
        accept(annotation, spans, "ignore")
        accept(annotation, spans[:2])
        annotation.undo()
        assert annotation.item["spans"] == spans[:2]
        accept(annotation, spans)
    with annotating(path, texts, **words) as annotation:
        assert annotation.state()["curve"] == []
        assert accept(annotation, spans)["item"]["spans"][:3] == spans
        assert len(annotation.item["doubtful"]) == 4
    first, left_out, *_ = rows(path.read_text().splitlines())
    assert first["upos"] == ["DET", "NOUN", "VERB", None] and left_out["upos"] == []
    assert first["tokens"] == ["The", "dog", "barks", "."] and left_out["tokens"] == []


def test_a_model_labels_until_there_is_a_better_one(tmp_path):
    texts = {"Tavo went to Norvale.": [(0, 4, "LOC"), (13, 20, "PER")]} | sentences(30)
    model = seqtag.train(seqtag.from_spans(texts, texts.values()), min_count=1).only("ner")
    with annotating(tmp_path / "done.jsonl", texts, model=model) as annotation:
        assert annotation.state()["curve"] == []
        item = annotation.item
        assert item["spans"] == texts["Tavo went to Norvale."] and len(item["doubtful"]) == 5
        for _ in range(25):
            state = accept(annotation, [annotation.item["places"][0] + ("PER",)])
    assert state["curve"][-1] == (25, 1) and state["item"]["spans"] == [(0, 2, "PER")]


def test_a_learner_that_fails_is_told_and_costs_no_decision(tmp_path):
    def fail(_, __, ___, ____, failed):
        failed(MemoryError())

    with annotating(tmp_path / "done.jsonl", sentences(9), fail) as annotation:
        assert accept(annotation, [])["failure"] == "MemoryError"
        assert accept(annotation, [])["decided"] == 2


def test_decisions_are_continued_held_out_and_taken_back(tmp_path):
    texts, path = sentences(30), tmp_path / "done.jsonl"
    path.write_text('{"text": "Of another file.", "spans": [[0, 2, "X"]], "answer": "accept"}\n')
    for number in (10, 20):
        with annotating(path, texts) as annotation:
            for _ in range(10):
                state = accept(annotation, texts[annotation.item["text"]])
            assert state["decided"] == number
    done = rows(path.read_text().splitlines())[1:]
    assert len({line["text"] for line in done}) == 20
    assert [line["held_out"] for line in done] == 2 * [
        *3 * [False],
        True,
        *4 * [False],
        True,
        False,
    ]
    for line in done:
        assert line["meta"] == {"id": line["text"][:9]} and line["answer"] == "accept"
        assert [tuple(span) for span in line["spans"]] == texts[line["text"]]
    with annotating(path, texts) as annotation:
        for line in reversed(done):
            annotation.undo()
            assert (
                annotation.item.items()
                >= {name: line[name] for name in ("text", "spans", "meta")}.items()
            )
        annotation.undo()
        assert annotation.item["spans"] == [[0, 2, "X"]] and path.read_text() == ""
        with pytest.raises(LookupError):
            annotation.undo()


@pytest.mark.parametrize(
    "spans",
    [
        [(0, 99, "PER")],
        [(-3, 2, "PER")],
        [(3, 0, "PER")],
        [(0, 0, "PER")],
        [(1, 2, "PER")],
        [(0, 2, "ORG")],
        [(0, 2, ["PER"])],
        [(0, 6, "PER"), (3, 6, "LOC")],
        [(3, 6, "PER"), (0, 2, "PER")],
        [("0", "2", "PER")],
        [(0, 2)],
        7,
    ],
)
def test_what_cannot_be_is_refused(tmp_path, spans):
    with annotating(tmp_path / "a.jsonl", ["On day 1."]) as annotation:
        with pytest.raises((TypeError, ValueError)):
            accept(annotation, spans)
        assert (tmp_path / "a.jsonl").read_text() == "" and annotation.state()["decided"] == 0


def ask(where, action, value, **headers):
    """The status and the answer of a request."""
    body = value if isinstance(value, bytes) else json.dumps({"action": action, **value}).encode()
    headers = {"content-type": "application/json"} | headers
    request = urllib.request.Request(where + "api", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_the_process(tmp_path):
    file, done = tmp_path / "texts.txt", tmp_path / "texts.txt.annotated.jsonl"
    file.write_text("A dog in Tarn.\nA cat.\nA cat.\n\n")
    options = file, "--label-set", "PER,LOC"
    with server(*options, command="annotate") as (_, where):
        with pytest.raises(AssertionError, match="another process annotates"):
            server(*options, command="annotate").__enter__()
        _, first = ask(where, "open", {})
        _, second = ask(where, "open", {})
        assert first["labels"] == ["PER", "LOC"] and first["item"] == second["item"]
        text = second["item"]["text"]
        decision = {"session": second["session"], "text": text, "answer": "accept", "spans": []}
        assert ask(where, "decide", decision | {"session": first["session"]})[0] == 409
        for wrong in ({"spans": 7}, {"text": "A bird."}, {"answer": "reject"}):
            assert ask(where, "decide", decision | wrong)[0] == 400
        status, message = ask(where, "decide", decision | {"spans": [[0, 99, "PER"]]})
        assert status == 400 and "expected spans of words" in message and "99" in message
        assert ask(where, "undo", decision)[0] == 400
        assert ask(where, "", b"[1]")[0] == 400
        assert ask(where, "decide", decision, **{"content-type": "text/plain"})[0] == 403
        assert ask(where, "decide", decision, **{"sec-fetch-site": "cross-site"})[0] == 403
        assert ask(where, "decide", decision, host="example.org")[0] == 400
        assert done.read_text() == ""
        assert ask(where, "decide", decision | {"answer": "ignore"})[0] == 200
        status, last = ask(where, "undo", decision)
        assert status == 200 and last["item"]["text"] == text and done.read_text() == ""
        for _ in range(2):  # a text that is there twice is decided once
            _, last = ask(where, "decide", decision | {"text": last["item"]["text"]})
        assert last["item"] == {} and len(done.read_text().splitlines()) == 2
        assert json.loads(done.read_text().splitlines()[0])["meta"] in ({"line": 1}, {"line": 2})


def test_a_model_without_the_column_cuts_texts_alone(tmp_path):
    file = tmp_path / "texts.txt"
    file.write_text("Norvale's dogs.\n")
    options = file, "--words", "kind", "--label-set", "A,B", "-m", "en"
    with server(*options, command="annotate") as (_, where):
        _, state = ask(where, "open", {})
    assert len(state["item"]["places"]) == 4 and state["item"]["spans"] == []


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
def test_a_signal_to_the_group_ends_the_command(tmp_path):
    (tmp_path / "texts.txt").write_text("A dog in Tarn.\n")
    command = [sys.executable, "-m", "seqtag", "annotate", "texts.txt", "--label-set", "PER,LOC"]
    with subprocess.Popen(
        [*command, "--port", "0"], cwd=tmp_path, start_new_session=True, stderr=subprocess.PIPE
    ) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        deadline = time.monotonic() + 60
        while not any(os.getpgid(int(each)) == int(each) for each in children.read_text().split()):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGTERM)
        try:
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert b"stopped; 0 decisions" in said


def test_texts_of_lines_json_and_tables(tmp_path):
    files = {
        "a.txt": "\ufeffWhy?\n\n Because.\r\nWhy?\n",
        "b.jsonl": '{"text": "Why?", "id": 7}\n\n{"text": "Because."}\n',
        "c.csv": "id,body\n7,Why?\n8,Because.\n",
    }
    found = []
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        found.append(read_texts(str(tmp_path / name), "body" if name == "c.csv" else None))
    assert found == [
        {"Why?": {"line": 1}, "Because.": {"line": 3}},
        {"Why?": {"line": 1, "id": 7}, "Because.": {"line": 3}},
        {"Why?": {"line": 2, "id": "7"}, "Because.": {"line": 3, "id": "8"}},
    ]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ('{"text": "It works."}\n{"id": 2}\n', (), r"texts:2: expected an object with a text"),
        ("Why?", ("-m", "en"), "one of which the model gives"),
        (
            "Why?",
            ("--label-set", "PER,B-LOC"),
            "expected kinds of spans, such as PER, found 'B-LOC'",
        ),
    ],
)
def test_refusals(tmp_path, content, options, message):
    file = tmp_path / "texts"
    file.write_text(content)
    with pytest.raises(AssertionError, match=message):
        server(file, "--label-set", "FACILITY", *options, command="annotate").__enter__()
