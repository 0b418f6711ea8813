"""The exercises have answers, and the answers are right."""

from __future__ import annotations

import ast
import doctest
import re
import runpy
from itertools import pairwise

import numpy as np
import pytest

from seqtag.engine.arrays import Potentials
from seqtag.engine.reference import path_score, viterbi
from tests.conftest import ROOT

DOCS = ROOT / "docs"
QUESTIONS = (DOCS / "exercises.md").read_text(encoding="utf-8")
LECTURE = (DOCS / "from-rosenblatt-to-viterbi.md").read_text(encoding="utf-8")
TEACHING = (DOCS / "teaching.md").read_text(encoding="utf-8")
STUBS, ANSWERS = DOCS / "exercises.py", DOCS / "exercises_answers.py"

answers = runpy.run_path(str(ANSWERS))


def failures(path):
    """Failed and tried examples of a Python file."""
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(verbose=False)
    names = runpy.run_path(str(path))
    functions = [each for each in names.values() if hasattr(each, "__doc__") and callable(each)]
    for each in functions:
        for test in finder.find(each, each.__name__, module=False, globs=dict(names)):
            runner.run(test, out=lambda _: None)
    return runner.failures, runner.tries


def functions(path):
    """Name, arguments and docstring of each function."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [(node.name, ast.dump(node.args), ast.get_docstring(node)) for node in found]


def test_every_exercise_has_an_answer():
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", QUESTIONS, re.M)]
    assert numbers == list(range(1, 49))
    text = (DOCS / "exercises-answers.md").read_text(encoding="utf-8")
    written = [int(number) for number in re.findall(r"^\*\*(\d+)\.\*\*", text, re.M)]
    coded = [int(re.match(r"Exercise (\d+)", text)[1]) for _, _, text in functions(ANSWERS)]
    assert sorted(written + coded) == numbers
    for name, _, doc in functions(STUBS):
        number = re.match(r"Exercise (\d+)", doc)[1]
        assert re.search(rf"^{number}\. `{name}\(", QUESTIONS, re.M)


def test_the_answers_on_paper(monkeypatch):
    monkeypatch.chdir(ROOT)  # one of them reads corpora/sample
    found = doctest.testfile(str(DOCS / "exercises-answers.md"), module_relative=False)
    assert found.attempted > 55
    assert found.failed == 0


def test_stubs_are_the_answers_without_their_bodies():
    assert functions(STUBS) == functions(ANSWERS)
    assert failures(STUBS) == (13, 17)  # four need no answer
    assert failures(ANSWERS) == (0, 17)


@pytest.mark.parametrize("seed", range(100))
def test_answers_about_lattices_on_others(seed):
    random = np.random.RandomState(seed)
    tokens, labels = random.randint(1, 5), random.randint(2, 4)
    start, stop = random.randint(-2, 3, (2, labels))
    emission = random.randint(-2, 3, (tokens, labels))
    transition = random.randint(-2, 3, (labels, labels))
    p = Potentials(*(part.astype(float) for part in (emission, start, stop, transition)), None)
    lists = [part.tolist() for part in (start, emission, transition, stop)]
    y = answers["decode"](*lists)
    assert y == answers["best_of_all"](*lists) == viterbi(p).tolist()
    scores = sorted(path_score(p, y) for y in np.ndindex((labels,) * tokens))
    assert answers["second_best"](*lists) == scores[-2]
    pair = random.randint(0, labels, 2).tolist()
    kept = answers["decode"](lists[0], lists[1], answers["forbid"](lists[2], [(*pair,)]), lists[3])
    assert pair not in [list(each) for each in pairwise(kept)]


def test_minutes_and_points_add_up():
    sections = QUESTIONS.split("## ")[1:]
    total = np.zeros(2, int)
    for text, count in zip(sections, (19, 14, 9, 6), strict=True):
        marks = np.array([mark[1:] for mark in marks_of(text)], int)
        assert len(marks) == count
        minutes, points = re.search(r"(\d+) minutes, (\d+) points", text).groups()
        assert marks.sum(axis=0).tolist() == [int(minutes), int(points)]
        total += marks.sum(axis=0)
    assert total.tolist() == [640, 130]  # as docs/teaching.md says: about eleven hours
    assert "about eleven hours and give 130 points" in " ".join(TEACHING.split())


def marks_of(text):
    """Return section or part of the appendix, minutes, and points of each exercise."""
    marks = r"\((?:section|appendix) (\d+|[A-Z]); (\d+) min, (\d+) p\.\)"
    return re.findall(marks, " ".join(text.split()))


def test_the_lecture_names_the_exercises_of_its_sections():
    places = [place for place, _, _ in marks_of(QUESTIONS)]
    table = LECTURE.split('<a id="topics"></a>')[1].split("### Sources")[0]
    named = {}
    for row in re.findall(r"^\|.*\|$", table, re.M)[2:]:
        _, _, sections, _, numbers, _ = row.split("|")
        for number in filter(None, numbers.strip().split(", ")):
            named.setdefault(int(number), set()).update(re.findall(r"\[(\w+)\]", sections))
    assert {*named} == {*range(1, 49)}
    for number, place in enumerate(places, 1):
        assert place in named[number] or place in "DF", number
    for section, text in enumerate(LECTURE.split("\n## ")[1:14], 1):
        exercise = text.split("**Exercise.**")[1].partition("([Exercise")[2]
        numbers = [int(number) for number in re.findall(r"\d+", exercise)]
        assert str(section) in {place for n in numbers for place in [places[n - 1], *named[n]]}


def test_the_plans_name_exercises_that_exist():
    teaching = TEACHING
    assert "[48 exercises](exercises.md)" in teaching
    for minutes, plan in ((90, "## Ninety minutes"), (180, "## Three hours")):
        rows = teaching.split(plan)[1].split("## ")[0]
        assert sum(map(int, re.findall(r"^\| (\d+) \|", rows, re.M))) == minutes
    assert {int(n) for n in re.findall(r"exercises? (\d+)", teaching)} <= set(range(1, 49))
